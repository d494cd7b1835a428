//! From characters to tokens.
//!
//! A token is a kind and a [`Span`]; what a name, a number or a text says is read from the source
//! when it is needed. Keywords are recognised in any case, names are case-sensitive. Words that
//! only one of CMurphi and Rumur reserves (`choose`, `cover`, `union`, …) are plain names here: the
//! parser recognises them where they can be nothing else, so that a model of the other tool may
//! still use them. White space and comments, `-- …` and `/* … */` without nesting, are dropped.
//!
//! Bad characters are reported and skipped, so there is always a list of tokens, closed by
//! [`TokenKind::EndOfFile`]. One pass, linear time.

use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};

/// A piece of the source with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
}

/// Declares the kinds that have one spelling, with the table of the spellings.
macro_rules! spelled {
    ($( $(#[$doc:meta])* $kind:ident $spelling:literal )*) => {
        /// What a token is. Those that are not described are the keyword or symbol they name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum TokenKind {
            /// An identifier, or a word that is a keyword in some places.
            Name,
            /// A number, decimal or hexadecimal.
            Integer,
            /// A number with a decimal point.
            Real,
            /// A quoted text.
            Text,
            /// After everything else.
            EndOfFile,
            $( #[doc = concat!("`", $spelling, "`")] $kind, )*
        }

        /// Every kind that has one spelling. Words come first and are sorted.
        const SPELLINGS: &[(&str, TokenKind)] = &[$( ($spelling, TokenKind::$kind), )*];
    };
}

spelled! {
    Alias "alias"
    Array "array"
    Assert "assert"
    Begin "begin"
    By "by"
    Case "case"
    Clear "clear"
    Const "const"
    Do "do"
    Else "else"
    Elsif "elsif"
    End "end"
    EndAlias "endalias"
    EndChoose "endchoose"
    EndExists "endexists"
    EndFor "endfor"
    EndForall "endforall"
    EndFunction "endfunction"
    EndIf "endif"
    EndProcedure "endprocedure"
    EndRecord "endrecord"
    EndRule "endrule"
    EndRuleset "endruleset"
    EndStartState "endstartstate"
    EndSwitch "endswitch"
    EndWhile "endwhile"
    Enum "enum"
    Error "error"
    Exists "exists"
    For "for"
    Forall "forall"
    Function "function"
    If "if"
    Invariant "invariant"
    IsUndefined "isundefined"
    Of "of"
    Procedure "procedure"
    Put "put"
    Record "record"
    Return "return"
    Rule "rule"
    Ruleset "ruleset"
    Scalarset "scalarset"
    StartState "startstate"
    Switch "switch"
    Then "then"
    To "to"
    Type "type"
    Undefine "undefine"
    Undefined "undefined"
    Var "var"
    While "while"

    LongArrow "==>"
    Arrow "->"
    Assign ":="
    DotDot ".."
    NotEqual "!="
    LessOrEqual "<="
    GreaterOrEqual ">="
    EqualEqual "=="
    AndAnd "&&"
    OrOr "||"
    ShiftLeft "<<"
    ShiftRight ">>"
    Equal "="
    Less "<"
    Greater ">"
    Plus "+"
    Minus "-"
    Star "*"
    Slash "/"
    Percent "%"
    Not "!"
    Tilde "~"
    And "&"
    Or "|"
    Caret "^"
    Question "?"
    Colon ":"
    Semicolon ";"
    Comma ","
    Dot "."
    OpenParenthesis "("
    CloseParenthesis ")"
    OpenBracket "["
    CloseBracket "]"
    OpenBrace "{"
    CloseBrace "}"
}

/// Characters outside ASCII that Rumur takes for a token.
const MATHEMATICAL: &[(char, TokenKind)] = &[
    ('∀', TokenKind::Forall),
    ('∃', TokenKind::Exists),
    ('≔', TokenKind::Assign),
    ('≥', TokenKind::GreaterOrEqual),
    ('≤', TokenKind::LessOrEqual),
    ('≠', TokenKind::NotEqual),
    ('→', TokenKind::Arrow),
    ('⇒', TokenKind::LongArrow),
    ('¬', TokenKind::Not),
    ('∧', TokenKind::AndAnd),
    ('∨', TokenKind::OrOr),
    ('÷', TokenKind::Slash),
    ('∕', TokenKind::Slash),
    ('×', TokenKind::Star),
    ('−', TokenKind::Minus),
];

impl TokenKind {
    /// Whether it is a keyword.
    pub fn is_keyword(self) -> bool {
        (self as usize) >= TokenKind::Alias as usize && (self as usize) <= TokenKind::While as usize
    }

    /// Whether it is `end` or one of its longer forms.
    pub fn is_end(self) -> bool {
        (self as usize) >= TokenKind::End as usize
            && (self as usize) <= TokenKind::EndWhile as usize
    }

    /// How it is written, in backquotes, or what it is called if it has no one spelling.
    pub fn expected(self) -> String {
        match self {
            TokenKind::Name => "a name".to_string(),
            TokenKind::Integer | TokenKind::Real => "a number".to_string(),
            TokenKind::Text => "a string in quotes".to_string(),
            TokenKind::EndOfFile => "the end of the file".to_string(),
            kind => match SPELLINGS.iter().find(|entry| entry.1 == kind) {
                Some((spelling, _)) => format!("`{spelling}`"),
                None => String::new(),
            },
        }
    }
}

/// How many of [`SPELLINGS`] are words.
const WORDS: usize = TokenKind::While as usize - TokenKind::Alias as usize + 1;

/// The longest keyword.
const LONGEST_WORD: usize = "endstartstate".len();

/// The tokens of a source, and what is wrong with its characters.
pub fn lex(source: &Source) -> (Vec<Token>, Vec<Diagnostic>) {
    let mut lexer = Lexer {
        text: &source.text,
        bytes: source.text.as_bytes(),
        at: 0,
        tokens: Vec::with_capacity(source.text.len() / 4),
        diagnostics: Vec::new(),
    };
    if u32::try_from(source.text.len()).is_err() {
        let everything = Span { start: 0, end: 0 };
        lexer.diagnostics.push(Diagnostic::error(everything, "the file is larger than 4 GiB"));
        lexer.at = lexer.bytes.len();
    }
    lexer.run();
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'s> {
    text: &'s str,
    bytes: &'s [u8],
    at: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        if self.text.starts_with('\u{FEFF}') {
            self.at = '\u{FEFF}'.len_utf8();
        }
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => self.at += 1,
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
                b'0'..=b'9' => self.number(),
                b'"' => self.quoted(1, &["\""]),
                b'-' if self.peek(1) == Some(b'-') => self.line_comment(),
                b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
                _ if self.letter_outside_ascii().is_some() => self.word(),
                _ => self.symbol(),
            }
        }
        // The end of the file is right after the last token, where something is missing.
        self.at = self.tokens.last().map_or(self.at, |token| token.span.end as usize);
        self.push(TokenKind::EndOfFile, self.at);
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// From `start` to where the lexer is. Offsets fit: longer files are not lexed.
    fn span(&self, start: usize) -> Span {
        let offset = |at: usize| u32::try_from(at).unwrap_or(0);
        Span { start: offset(start), end: offset(self.at) }
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&belongs) {
            self.at += 1;
        }
    }

    /// A keyword or name. Letters outside ASCII are taken as a part of it, and reported.
    fn word(&mut self) {
        let start = self.at;
        let is_ascii = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        self.skip_while(is_ascii);
        let mut foreign = false;
        while let Some(letter) = self.letter_outside_ascii() {
            foreign = true;
            self.at += letter.len_utf8();
            self.skip_while(is_ascii);
        }
        let kind = keyword(&self.bytes[start..self.at]).unwrap_or(TokenKind::Name);
        self.push(kind, start);
        let word = &self.text[start..self.at];
        if foreign || word.starts_with('_') {
            let problem = Diagnostic::error(self.span(start), format!("`{word}` is not a name"))
                .help("names are made of the letters a to z, digits and `_`, a letter first");
            self.diagnostics.push(problem);
        }
    }

    fn letter_outside_ascii(&self) -> Option<char> {
        if self.peek(0)?.is_ascii() {
            return None;
        }
        let character = self.text[self.at..].chars().next()?;
        if character.is_alphabetic() && !is_known(character) { Some(character) } else { None }
    }

    fn number(&mut self) {
        let start = self.at;
        let hexadecimal = self.bytes[start] == b'0'
            && matches!(self.peek(1), Some(b'x' | b'X'))
            && self.peek(2).is_some_and(|byte| byte.is_ascii_hexdigit());
        if hexadecimal {
            self.at += 2;
            self.skip_while(|byte| byte.is_ascii_hexdigit());
            return self.push(TokenKind::Integer, start);
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        let has_fraction =
            self.peek(0) == Some(b'.') && self.peek(1).is_some_and(|byte| byte.is_ascii_digit());
        if has_fraction {
            self.at += 1;
            self.skip_while(|byte| byte.is_ascii_digit());
        }
        self.push(if has_fraction { TokenKind::Real } else { TokenKind::Integer }, start);
    }

    /// A text up to one of the closing quotes, on one line. A backslash takes the next character
    /// with it.
    fn quoted(&mut self, opening: usize, closing: &[&str]) {
        let start = self.at;
        self.at += opening;
        loop {
            let rest = &self.bytes[self.at..];
            if let Some(quote) = closing.iter().find(|quote| rest.starts_with(quote.as_bytes())) {
                self.at += quote.len();
                break;
            }
            match rest {
                [] | [b'\n', ..] => {
                    let problem = Diagnostic::error(self.span(start), "this string is not closed")
                        .help("end it with `\"` on the same line");
                    self.diagnostics.push(problem);
                    break;
                }
                [b'\\', next, ..] if next.is_ascii() && *next != b'\n' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.push(TokenKind::Text, start);
    }

    fn line_comment(&mut self) {
        self.skip_while(|byte| byte != b'\n');
    }

    fn block_comment(&mut self) {
        let start = self.at;
        self.at += 2;
        let rest = &self.bytes[self.at..];
        match rest.windows(2).position(|pair| pair == b"*/") {
            Some(length) => self.at += length + 2,
            None => {
                let opening = self.span(start);
                self.at = self.bytes.len();
                let problem = Diagnostic::error(opening, "this comment is not closed");
                self.diagnostics.push(problem.help("end it with `*/`"));
            }
        }
    }

    fn symbol(&mut self) {
        let start = self.at;
        let rest = &self.bytes[start..];
        let symbols = &SPELLINGS[WORDS..];
        if let Some((spelling, kind)) =
            symbols.iter().find(|(spelling, _)| rest.starts_with(spelling.as_bytes()))
        {
            self.at += spelling.len();
            return self.push(*kind, start);
        }
        let Some(character) = self.text[start..].chars().next() else { return };
        if character == '“' {
            return self.quoted(character.len_utf8(), &["”", "\""]);
        }
        match MATHEMATICAL.iter().find(|entry| entry.0 == character) {
            Some((_, kind)) => {
                self.at += character.len_utf8();
                self.push(*kind, start);
            }
            None => self.bad_characters(character),
        }
    }

    /// Skips and reports a run of characters that begin no token.
    fn bad_characters(&mut self, first: char) {
        let start = self.at;
        for character in self.text[start..].chars() {
            let goes_on = character == first || !character.is_ascii() && !is_known(character);
            if !goes_on || character.is_alphabetic() {
                break;
            }
            self.at += character.len_utf8();
        }
        let message = match self.text[start..self.at].chars().count() {
            1 if first.is_control() => "unexpected character".to_string(),
            1 => format!("unexpected character `{first}`"),
            _ => "unexpected characters".to_string(),
        };
        let problem = Diagnostic::error(self.span(start), message);
        self.diagnostics.push(match first {
            '\'' | '`' | '‘' | '’' => problem.help("strings are quoted with `\"`"),
            '#' => problem.help("comments begin with `--`"),
            _ => problem,
        });
    }
}

/// Whether a character outside ASCII begins a token.
fn is_known(character: char) -> bool {
    character == '“' || MATHEMATICAL.iter().any(|entry| entry.0 == character)
}

/// The keyword a word is, if it is one.
fn keyword(word: &[u8]) -> Option<TokenKind> {
    let mut lower = [0; LONGEST_WORD];
    let lower = lower.get_mut(..word.len())?;
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    let words = &SPELLINGS[..WORDS];
    let at = words.binary_search_by(|(spelling, _)| spelling.as_bytes().cmp(lower)).ok()?;
    Some(words[at].1)
}

/// What a quoted text says: without its quotes, `\"`, `\\`, `\n` and `\t` resolved.
pub fn unquote(quoted: &str) -> String {
    let inner = quoted.strip_prefix(['"', '“']).unwrap_or(quoted);
    let inner = match quoted.strip_prefix('"') {
        Some(_) => inner.strip_suffix('"'),
        None => inner.strip_suffix(['”', '"']),
    }
    .unwrap_or(inner);
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some(quoted @ ('"' | '\\' | '”')) => text.push(quoted),
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    text
}

/// The other direction of [`unquote`]: the text between quotes, on one line.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let source = Source { name: "test".to_string(), text: text.to_string() };
        let (tokens, problems) = lex(&source);
        assert_eq!(problems, []);
        tokens.iter().map(|token| token.kind).collect()
    }

    #[test]
    fn the_words_are_sorted_and_none_is_longer_than_the_buffer() {
        let words = &SPELLINGS[..WORDS];
        assert!(words.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(words.iter().map(|word| word.0.len()).max(), Some(LONGEST_WORD));
        assert!(
            SPELLINGS[WORDS..].iter().all(|symbol| !symbol.0.as_bytes()[0].is_ascii_alphabetic())
        );
    }

    #[test]
    fn no_symbol_hides_a_longer_one_after_it() {
        let symbols = &SPELLINGS[WORDS..];
        for (at, (longer, _)) in symbols.iter().enumerate() {
            assert!(
                symbols[..at].iter().all(|(earlier, _)| !longer.starts_with(earlier)),
                "{longer}"
            );
        }
    }

    #[test]
    fn a_range_of_numbers_is_not_a_fraction() {
        use TokenKind::{DotDot, EndOfFile, Integer, Real};
        assert_eq!(kinds("1..3 1.5 0x1F"), [Integer, DotDot, Integer, Real, Integer, EndOfFile]);
    }

    #[test]
    fn keywords_have_no_case_and_comments_no_tokens() {
        use TokenKind::{End, EndOfFile, Name, Rule};
        assert_eq!(
            kinds("RULE rUle ruleX -- end\n/* end /* */ End"),
            [Rule, Rule, Name, End, EndOfFile]
        );
    }

    #[test]
    fn quoting_and_unquoting_are_inverse() {
        for text in ["", "a \"b\" \\ c", "\\n", "line\nline\t", "“x”", "\\"] {
            assert_eq!(unquote(&quote(text)), text);
        }
        assert_eq!(unquote("“said”"), "said");
        assert_eq!(unquote("\"50\\% \\x\""), "50\\% \\x");
    }
}
