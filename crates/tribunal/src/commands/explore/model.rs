//! Reads a Murphi model like a trace file (standard input, gzip and zstd included), and prints its
//! diagnostics on standard error.

use std::io::{Read, Write};

use murphi::Refusal;
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;

use crate::arguments::ColourFlag;
use crate::ending::Failure;
use crate::{input, output};

/// The largest source in bytes: spans count in 32 bits.
const GREATEST_SOURCE: u64 = 64 << 20;

/// Reads a text file. Bytes that are not UTF-8, as in old comments, are replaced.
pub(in crate::commands) fn read_text(file: &str) -> Result<String, Failure> {
    let failure =
        |error| Failure::File { name: input::shown(file).to_owned(), action: "read", error };
    let mut bytes = Vec::new();
    let limited = history::open(file)?.take(GREATEST_SOURCE + 1).read_to_end(&mut bytes);
    limited.map_err(failure)?;
    if bytes.len() as u64 > GREATEST_SOURCE {
        let name = input::shown(file);
        return Err(Failure::Usage(format!(
            "{name} is larger than 64 MiB, the largest model that is read"
        )));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Reads a source.
pub(in crate::commands) fn read_source(file: &str) -> Result<Source, Failure> {
    Ok(Source { name: input::shown(file).to_owned(), text: read_text(file)? })
}

/// Prints errors and warnings of a model.
pub(in crate::commands) fn complain(diagnostics: &[Diagnostic], source: &Source, colour: bool) {
    let text: String = diagnostics.iter().map(|one| one.render(source, colour)).collect();
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Prints warnings, unless --quiet.
pub(in crate::commands) fn warn(
    warnings: &[Diagnostic],
    source: &Source,
    quiet: bool,
    colour: ColourFlag,
) {
    if !quiet {
        complain(warnings, source, output::colours(colour, &std::io::stderr()));
    }
}

/// The failure about a model with errors.
pub(in crate::commands) fn refused(refusal: Refusal, colour: ColourFlag) -> Failure {
    Failure::Refused(Box::new(refusal), output::colours(colour, &std::io::stderr()))
}

/// `2 errors in protocol.m`
pub(in crate::commands) fn verdict_on(diagnostics: &[Diagnostic], source: &Source) -> String {
    Refusal::of(source, diagnostics.to_vec()).sentence
}
