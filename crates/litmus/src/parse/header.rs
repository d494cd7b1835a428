//! The lines above the initial state: architecture, name, a quoted description, `Key=value` lines.

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Span;

use crate::scan;
use crate::test::Architecture;

/// What was read, and where the initial state begins.
pub(super) struct Header {
    pub(super) architecture: Architecture,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) metadata: Vec<(String, String)>,
    pub(super) end: usize,
}

/// Architectures of herdtools that are not read here.
const OTHERS: [&str; 12] =
    ["ARM", "PPC", "MIPS", "C", "LISA", "Bell", "BPF", "JAVA", "Java", "PTX", "GPU_PTX", "ASL"];

pub(super) fn read(text: &str) -> Result<Header, Diagnostic> {
    let start = scan::skip_blanks(text, 0)?;
    let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let line = &text[start..line_end];
    let word_end = start + line.find(|c: char| c.is_whitespace()).unwrap_or(line.len());
    let architecture = architecture(&text[start..word_end], start)?;
    let name_end = text[word_end..line_end].find("(*").map_or(line_end, |at| word_end + at);
    let name = text[word_end..name_end].trim().to_owned();
    if name.is_empty() {
        let problem = Diagnostic::error(scan::point(word_end), "the test has no name");
        return Err(problem.help("a test begins with its architecture and its name: `X86_64 SB`"));
    }
    let mut header =
        Header { architecture, name, description: None, metadata: Vec::new(), end: name_end };
    header.lines(text)?;
    Ok(header)
}

fn architecture(word: &str, start: usize) -> Result<Architecture, Diagnostic> {
    if let Some(known) = super::architecture(word) {
        return Ok(known);
    }
    let span = Span { start: start as u32, end: (start + word.len()) as u32 };
    let message = if OTHERS.contains(&word) {
        format!("tests for {word} are not supported")
    } else if word.is_empty() {
        "not a litmus test: the file is empty".to_owned()
    } else {
        "not a litmus test: it does not begin with an architecture".to_owned()
    };
    Err(Diagnostic::error(span, message)
        .help("the architectures are X86, X86_64, RISCV and AArch64"))
}

impl Header {
    /// Everything up to the brace of the initial state.
    fn lines(&mut self, text: &str) -> Result<(), Diagnostic> {
        loop {
            self.end = scan::skip_blanks(text, self.end)?;
            let rest = &text[self.end..];
            if rest.starts_with('{') {
                return Ok(());
            }
            if rest.is_empty() {
                let problem =
                    Diagnostic::error(scan::point(self.end), "the test has no initial state");
                return Err(problem.help("expected `{`, the initial values, and `}`"));
            }
            if rest.starts_with('"') {
                let end = scan::quoted(text, self.end)?;
                let inside = &text[self.end + 1..end - 1];
                self.description.get_or_insert_with(|| inside.to_owned());
                self.end = end;
                continue;
            }
            let length = rest.find(['\n', '{']).unwrap_or(rest.len());
            if let Some((key, value)) = rest[..length].split_once('=') {
                self.metadata.push((key.trim().to_owned(), value.trim().to_owned()));
            }
            self.end += length;
        }
    }
}
