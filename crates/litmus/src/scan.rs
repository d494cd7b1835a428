//! Words and signs of a litmus test, with their places. Comments, which nest, are passed over.

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Span;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Letters, digits, `_` and `.`, not beginning with a digit.
    Word,
    /// Begins with a digit.
    Number,
    /// `"…"`
    Quoted,
    /// Anything else: one character, or one of [`LONG_SIGNS`].
    Sign,
    /// Nothing is left.
    End,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) span: Span,
}

/// The signs of more than one character.
const LONG_SIGNS: [&str; 6] = ["/\\", "\\/", "=>", "==", "!=", "<>"];

/// A place between two bytes.
pub(crate) fn point(at: usize) -> Span {
    Span { start: at as u32, end: at as u32 }
}

fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}

/// The tokens from a byte offset on; the last is [`Kind::End`]. Old tests have remarks in `<<` and
/// `>>` behind the condition: a test ends there.
pub(crate) fn tokens(text: &str, from: usize) -> Result<Vec<Token<'_>>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = from;
    loop {
        at = skip_blanks(text, at)?;
        let rest = &text[at..];
        let Some(first) = rest.chars().next().filter(|_| !rest.starts_with("<<")) else {
            tokens.push(Token { kind: Kind::End, text: "", span: point(at) });
            return Ok(tokens);
        };
        let (kind, end) = token(text, at, first)?;
        tokens.push(Token { kind, text: &text[at..end], span: span(at, end) });
        at = end;
    }
}

/// The token at an offset, and its end.
fn token(text: &str, at: usize, first: char) -> Result<(Kind, usize), Diagnostic> {
    let rest = &text[at..];
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    if word(first) {
        let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
        let kind = if first.is_ascii_digit() { Kind::Number } else { Kind::Word };
        return Ok((kind, at + length));
    }
    if first == '"' {
        return Ok((Kind::Quoted, quoted(text, at)?));
    }
    if LONG_SIGNS.iter().any(|sign| rest.starts_with(sign)) {
        return Ok((Kind::Sign, at + 2));
    }
    if first.is_ascii_graphic() {
        return Ok((Kind::Sign, at + 1));
    }
    let end = at + first.len_utf8();
    Err(Diagnostic::error(span(at, end), format!("unexpected `{first}`")))
}

/// Where the quoted text that begins here ends.
pub(crate) fn quoted(text: &str, at: usize) -> Result<usize, Diagnostic> {
    match text[at + 1..].find('"') {
        Some(length) => Ok(at + 1 + length + 1),
        None => Err(Diagnostic::error(span(at, at + 1), "this string is not closed")),
    }
}

/// The first offset from here on that is neither blank nor in a comment.
pub(crate) fn skip_blanks(text: &str, mut at: usize) -> Result<usize, Diagnostic> {
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        if !text[at..].starts_with("(*") {
            return Ok(at);
        }
        at = comment(text, at)?;
    }
}

/// Where the comment that begins here ends.
pub(crate) fn comment(text: &str, begin: usize) -> Result<usize, Diagnostic> {
    let bytes = text.as_bytes();
    let mut depth = 0;
    let mut at = begin;
    while at < bytes.len() {
        match &bytes[at..(at + 2).min(bytes.len())] {
            b"(*" => {
                depth += 1;
                at += 2;
            }
            b"*)" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Ok(at);
                }
            }
            _ => at += 1,
        }
    }
    let problem = Diagnostic::error(span(begin, begin + 2), "this comment is not closed");
    Err(problem.help("comments nest: every `(*` needs its `*)`"))
}
