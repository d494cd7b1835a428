//! From characters to tokens.
//!
//! Names of cat contain dots and hyphens (`po-loc`, `fence.r.rw`), so `a-b` is one name and `a \ b`
//! the difference. Comments are `(* … *)`, which nest, and `//` or `#` up to the end of the line.
//! A bad character is reported once and skipped; there is always a list of tokens, closed by
//! [`TokenKind::EndOfFile`]. One pass, linear time.

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::{Source, Span};

/// A piece of the source with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or a keyword.
    Name,
    /// A quoted text, quotes included.
    Text,
    /// A tag, `'name`.
    Tag,
    /// An operator or a bracket; its text says which.
    Symbol,
    /// After everything else.
    EndOfFile,
}

/// Symbols, longest first where one begins like another.
const SYMBOLS: [&str; 25] = [
    "^-1", "^+", "^*", "^?", "||", "&&", "++", "->", "(", ")", "{", "}", "[", "]", "_", "0", "|",
    "&", "*", "~", "+", "\\", "?", "=", ";",
];

/// The tokens of a source, and what is wrong with its characters.
pub(crate) fn lex(source: &Source) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer { text: &source.text, at: 0, tokens: Vec::new(), problems: Vec::new() };
    while lexer.skip_blanks() {
        lexer.token();
    }
    let end = Span { start: source.text.len() as u32, end: source.text.len() as u32 };
    lexer.tokens.push(Token { kind: TokenKind::EndOfFile, span: end });
    (lexer.tokens, lexer.problems)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    problems: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span_of(&self, length: usize) -> Span {
        Span { start: self.at as u32, end: (self.at + length) as u32 }
    }

    /// Skips white space and comments; whether anything is left.
    fn skip_blanks(&mut self) -> bool {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            if blanks > 0 {
                self.at += blanks;
            } else if rest.starts_with("(*") {
                self.skip_comment();
            } else if rest.starts_with("//") || rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return !rest.is_empty();
            }
        }
    }

    /// Skips `(* … *)`, which may contain others.
    fn skip_comment(&mut self) {
        let opened = self.span_of(2);
        let mut depth = 0_usize;
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            match bytes.get(self.at..self.at + 2) {
                Some(b"(*") => (depth, self.at) = (depth + 1, self.at + 2),
                Some(b"*)") => (depth, self.at) = (depth - 1, self.at + 2),
                _ => self.at += 1,
            }
            if depth == 0 {
                return;
            }
        }
        let problem = Diagnostic::error(opened, "this comment is not closed");
        self.problems.push(problem.help("close it with `*)`"));
    }

    fn token(&mut self) {
        let rest = self.rest();
        let name = name_length(rest);
        let (kind, length) = if name > 0 {
            (TokenKind::Name, name)
        } else if let Some(tag) = rest.strip_prefix('\'').map(name_length).filter(|&tag| tag > 0) {
            (TokenKind::Tag, 1 + tag)
        } else if let Some(text) = rest.strip_prefix('"') {
            match text.find(['"', '\n']).filter(|&end| text[end..].starts_with('"')) {
                Some(end) => (TokenKind::Text, end + 2),
                None => return self.bad(1, "this string is not closed on its line"),
            }
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (TokenKind::Symbol, symbol.len())
        } else if rest.starts_with(',') {
            (TokenKind::Symbol, 1)
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            return self.bad(length, "unexpected character in a cat model");
        };
        self.tokens.push(Token { kind, span: self.span_of(length) });
        self.at += length;
    }

    fn bad(&mut self, length: usize, message: &str) {
        self.problems.push(Diagnostic::error(self.span_of(length), message));
        self.at += length;
    }
}

/// How many bytes of the text are a name: a letter, perhaps after `_`, then letters, digits, `_`,
/// `.`, `-`, and perhaps a prime. 0 if it does not begin with one.
fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let start = usize::from(bytes.first() == Some(&b'_'));
    if !bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
        return 0;
    }
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let length = start + bytes[start..].iter().take_while(|byte| is_inside(byte)).count();
    length + usize::from(bytes.get(length) == Some(&b'\''))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let source = Source { name: "m.cat".into(), text: text.into() };
        let (tokens, problems) = lex(&source);
        assert!(problems.is_empty(), "{problems:?}");
        tokens.iter().map(|token| source.slice(token.span).to_owned()).collect()
    }

    #[test]
    fn names_have_dots_and_hyphens_and_inverse_is_one_symbol() {
        let expected = ["po-loc", "\\", "fence.r.rw", "^-1", ";", "_", "*", "_W", "x'", ""];
        assert_eq!(texts("po-loc\\fence.r.rw^-1;_*_W x'"), expected);
    }

    #[test]
    fn comments_nest_and_lines_end_them() {
        assert_eq!(texts("a (* b (* c *) d *) e # f\n// g\nh"), ["a", "e", "h", ""]);
    }

    #[test]
    fn what_does_not_end_is_reported_where_it_begins() {
        for (text, start) in [("a (* b (* c *)", 2), ("a \"b\nc", 2), ("a $ b", 2), ("a é", 2)] {
            let (_, problems) = lex(&Source { name: "m.cat".into(), text: text.into() });
            assert_eq!(problems.len(), 1, "{text}");
            assert_eq!(problems[0].span.start, start, "{text}");
        }
    }
}
