//! Common slips, and what to write instead.
//!
//! Asked when the next token is not what the grammar wants; looks at a few tokens around it.

use super::Parser;
use crate::lex::{Token, TokenKind};

/// Words of other languages, and what is written here.
const WORDS: &[(&str, &str)] = &[
    ("and", "conjunction is written `&`"),
    ("or", "disjunction is written `|`"),
    ("mod", "the remainder is written `%`"),
    ("div", "division is written `/`"),
    ("implies", "implication is written `->`"),
    ("xor", "for booleans write `!=`, for numbers `^`"),
    ("elseif", "write `elsif`"),
    ("elif", "write `elsif`"),
    ("break", "Murphi has no `break`"),
    ("in", "a bound variable ranges over a type: `x: T`"),
    ("null", "the value is called `undefined`; test with `isundefined(x)`"),
    ("let", "name an expression with `alias x: e do … end`"),
];

impl Parser<'_> {
    /// What the writer may have meant.
    pub(super) fn slip(&self) -> Option<String> {
        let (here, next) = (self.token(0), self.token(1));
        let adjacent = here.span.end == next.span.start;
        let before = self.at.checked_sub(1).map(|at| self.tokens[at]);
        let follows = |kind: TokenKind| {
            before.is_some_and(|token| token.kind == kind && token.span.end == here.span.start)
        };
        let negated = |token: Token| {
            token.kind == TokenKind::Name && self.says(token.span).eq_ignore_ascii_case("not")
        };
        if before.is_some_and(negated) {
            return Some("negation is written `!`".to_string());
        }
        let help = match (here.kind, next.kind) {
            (TokenKind::Name, _) => {
                let word = self.says(here.span);
                WORDS.iter().find(|entry| entry.0.eq_ignore_ascii_case(word))?.1
            }
            (TokenKind::Slash, TokenKind::Slash) if adjacent => "comments begin with `--`",
            (TokenKind::Slash, _) if follows(TokenKind::Slash) => "comments begin with `--`",
            (TokenKind::Plus | TokenKind::Minus, TokenKind::Equal) if adjacent => {
                "write `x := x + 1` for `x += 1`"
            }
            (TokenKind::Greater, _) if follows(TokenKind::Less) => "inequality is written `!=`",
            (TokenKind::Equal, TokenKind::Greater) if adjacent => {
                "a guard is followed by `==>`, and implication is written `->`"
            }
            (TokenKind::Greater, _) if follows(TokenKind::Equal) => {
                "a guard is followed by `==>`, and implication is written `->`"
            }
            (TokenKind::Assign, _) => "values are compared with `=`; `:=` assigns",
            (TokenKind::LongArrow, _) => "`==>` belongs to a rule; implication is written `->`",
            (TokenKind::OpenBrace | TokenKind::CloseBrace, _) => "blocks are closed by `end`",
            _ => return None,
        };
        Some(help.to_string())
    }
}
