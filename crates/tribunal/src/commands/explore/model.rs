//! The model: its text read as a trace file would be (standard input, gzip and zstd included),
//! and what is wrong with it printed on standard error, every complaint with its source underlined.

use std::io::{Read, Write};

use murphi::Refusal;
use murphi::diagnostic::Diagnostic;
use murphi::source::Source;

use crate::arguments::ColourFlag;
use crate::ending::Failure;
use crate::{input, output};

/// The most bytes of a source: far beyond any model, and spans count in 32 bits.
const GREATEST_SOURCE: u64 = 64 << 20;

/// Reads a text file. Bytes that are not UTF-8, as old comments have, are replaced.
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

/// Prints what is wrong with a model, or looks as if it were.
pub(in crate::commands) fn complain(diagnostics: &[Diagnostic], source: &Source, colour: bool) {
    let text: String = diagnostics.iter().map(|one| one.render(source, colour)).collect();
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Warns of what looks like a mistake in a model, unless nobody wants to know.
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

/// A model is not taken.
pub(in crate::commands) fn refused(refusal: Refusal, colour: ColourFlag) -> Failure {
    Failure::Refused(Box::new(refusal), output::colours(colour, &std::io::stderr()))
}

/// `2 errors in protocol.m`
pub(in crate::commands) fn verdict_on(diagnostics: &[Diagnostic], source: &Source) -> String {
    Refusal::of(source, diagnostics.to_vec()).sentence
}
