//! From tokens to the syntax tree, by recursive descent.
//!
//! The grammar is the union of CMurphi's and Rumur's; where both cannot be had, CMurphi's. It is
//! spread over `declaration`, `rule`, `statement` and `expression`; this file holds what
//! they share: looking at tokens, closing blocks, and going on after an error.
//!
//! An error is reported once and then marks everything around it as failed (`Failed`) up to the
//! next place that can go on: a statement, a declaration, a header, a rule. Nothing is reported
//! where something was just reported, so that one slip gives one message.
//!
//! Recursion is bounded by [`NESTING`], and so is the height of every tree that is returned: long
//! chains of operators do not recurse here, but they would in whatever walks the tree later.
//! Linear time, except that the guard of a rule is looked for once before it is read.

mod block;
mod declaration;
mod expression;
pub(crate) mod precedence;
mod rule;
mod slip;
mod statement;

use crate::ast::{Name, Number, Program, Text};
use crate::diagnostic::{Diagnostic, Severity};
use crate::lex::{Token, TokenKind, lex, unquote};
use crate::source::{Source, Span};

/// How deep blocks, types and expressions may be nested.
pub const NESTING: u32 = 200;

/// How many errors are reported before the parser gives up.
const ERRORS: usize = 50;

/// The program a source describes, unless it has errors; and what there is to say about it.
///
/// ```
/// use tribunal_murphi::{parse::parse, source::Source};
///
/// let text = "var x: boolean; startstate x := false end; rule !x ==> x := true end";
/// let (program, problems) = parse(&Source { name: "m.m".into(), text: text.into() });
/// assert_eq!(program.expect("it is well-formed").items.len(), 3);
/// assert_eq!(problems, []);
/// ```
pub fn parse(source: &Source) -> (Option<Program>, Vec<Diagnostic>) {
    let (tokens, diagnostics) = lex(source);
    let mut parser = Parser::new(source, tokens, diagnostics);
    if let Some(excess) = parser.diagnostics.get(ERRORS) {
        let place = excess.span;
        parser.diagnostics.truncate(ERRORS);
        parser.too_many(place);
    }
    let program = parser.program();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    let program = if diagnostics.iter().any(is_error) { None } else { Some(program) };
    (program, diagnostics)
}

/// Something could not be read. It has been reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

struct Parser<'s> {
    source: &'s Source,
    /// Closed by [`TokenKind::EndOfFile`].
    tokens: Vec<Token>,
    /// The next token.
    at: usize,
    diagnostics: Vec<Diagnostic>,
    /// Where the lexer found something wrong, ascending.
    bad_characters: Vec<u32>,
    /// The token at which something was last reported.
    reported_at: Option<usize>,
    errors: usize,
    /// How deep the recursion is.
    depth: u32,
    /// The height of the highest expression since this was last reset.
    height: u32,
    /// The words that wait for their `end`.
    open: Vec<Token>,
    /// A block whose `end` looks as if it was meant for another, and that `end`.
    suspect: Option<(Span, Span)>,
    /// The last `else if` on one line.
    else_if: Option<Span>,
}

impl<'s> Parser<'s> {
    fn new(source: &'s Source, tokens: Vec<Token>, diagnostics: Vec<Diagnostic>) -> Self {
        Parser {
            source,
            tokens,
            at: 0,
            errors: diagnostics.len(),
            bad_characters: diagnostics.iter().map(|problem| problem.span.start).collect(),
            diagnostics,
            reported_at: None,
            depth: 0,
            height: 0,
            open: Vec::new(),
            suspect: None,
            else_if: None,
        }
    }

    // Looking at tokens.

    fn token(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    fn kind(&self) -> TokenKind {
        self.token(0).kind
    }

    fn span(&self) -> Span {
        self.token(0).span
    }

    /// The token before the next one.
    fn previous(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    /// From a place to the end of what was last read.
    fn since(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    fn is(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    fn says(&self, span: Span) -> &'s str {
        self.source.slice(span)
    }

    /// Whether the next token is this word of one of the tools, in any case. It is a plain name
    /// to the lexer.
    fn is_word(&self, word: &str) -> bool {
        self.is(TokenKind::Name) && self.says(self.span()).eq_ignore_ascii_case(word)
    }

    /// Whether the next token is this word, and the one after it is of this kind.
    fn is_word_before(&self, word: &str, next: TokenKind) -> bool {
        self.token(1).kind == next && self.is_word(word)
    }

    fn same_line(&self, first: Span, second: Span) -> bool {
        let between = Span { start: first.end, end: second.start };
        !self.says(between).contains('\n')
    }

    // Taking tokens.

    fn advance(&mut self) -> Span {
        let span = self.span();
        if !self.is(TokenKind::EndOfFile) {
            self.at += 1;
        }
        span
    }

    fn take(&mut self, kind: TokenKind) -> bool {
        let here = self.is(kind);
        if here {
            self.advance();
        }
        here
    }

    fn expect(&mut self, kind: TokenKind) -> Parsed<Span> {
        if self.is(kind) { Ok(self.advance()) } else { self.unexpected(&kind.expected()) }
    }

    fn skip_semicolons(&mut self) {
        while self.take(TokenKind::Semicolon) {}
    }

    /// A name that is being declared or selected.
    fn name(&mut self) -> Parsed<Name> {
        let span = self.span();
        if self.is(TokenKind::Name) {
            self.advance();
            let text = self.identifier(span);
            return Ok(Name { text, span });
        }
        if self.kind().is_keyword() {
            let word = self.says(span);
            let problem =
                Diagnostic::error(span, format!("expected a name, found the keyword `{word}`"))
                    .help("choose another name; keywords are not case-sensitive");
            return self.fail(problem);
        }
        self.unexpected("a name")
    }

    /// The text of a name: the three predefined ones have no case.
    fn identifier(&self, span: Span) -> String {
        let text = self.says(span);
        let predefined = ["true", "false", "boolean"];
        match predefined.iter().find(|word| word.eq_ignore_ascii_case(text)) {
            Some(word) => (*word).to_string(),
            None => text.to_string(),
        }
    }

    /// Names up to a colon. Rumur takes a comma after the last name, and no names at all.
    fn names(&mut self) -> Parsed<Vec<Name>> {
        let mut names = Vec::new();
        if self.is(TokenKind::Colon) {
            let problem = Diagnostic::warning(self.span(), "this declaration has no names")
                .help("write a name before the `:`");
            self.diagnostics.push(problem);
            return Ok(names);
        }
        names.push(self.name()?);
        while self.take(TokenKind::Comma) && !self.is(TokenKind::Colon) {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn text(&mut self) -> Option<Text> {
        let span = self.span();
        if !self.take(TokenKind::Text) {
            return None;
        }
        Some(Text { text: unquote(self.says(span)), span })
    }

    /// The value of the number that is next.
    fn number(&mut self) -> Parsed<Number> {
        let span = self.expect(TokenKind::Integer)?;
        let digits = self.says(span);
        let value = match digits.get(..2) {
            Some("0x" | "0X") => i64::from_str_radix(&digits[2..], 16),
            _ => digits.parse(),
        };
        match value {
            Ok(value) => Ok(Number { value, span }),
            Err(_) => {
                let message = format!("the number `{}` is too large", shortened(digits));
                self.report(Diagnostic::error(span, message).help("the largest is 2^63 - 1"));
                Ok(Number { value: 0, span })
            }
        }
    }

    // Nesting.

    /// Does something one level deeper.
    fn nested<T>(&mut self, what: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING {
            return self.too_deep();
        }
        self.depth += 1;
        let result = what(self);
        self.depth -= 1;
        result
    }

    // Errors.

    /// Reports an error, unless one was just reported at the same token or right before it.
    fn report(&mut self, problem: Diagnostic) {
        if self.reported_at == Some(self.at) || self.errors > ERRORS || self.after_bad_characters()
        {
            return;
        }
        self.reported_at = Some(self.at);
        self.errors += 1;
        if self.errors > ERRORS {
            self.too_many(problem.span);
        } else {
            self.diagnostics.push(problem);
        }
    }

    fn too_many(&mut self, place: Span) {
        let message = format!("more than {ERRORS} errors; the rest is not shown");
        self.give_up(Diagnostic::error(place, message));
    }

    /// Whether the lexer dropped something between the token before and the next one.
    fn after_bad_characters(&self) -> bool {
        let from = self.at.checked_sub(1).map_or(0, |before| self.tokens[before].span.end);
        let to = if self.is(TokenKind::EndOfFile) { u32::MAX } else { self.span().start };
        let first = self.bad_characters.partition_point(|&start| start < from);
        self.bad_characters.get(first).is_some_and(|&start| start < to)
    }

    /// Reports an error after which there is no sense in going on.
    fn give_up(&mut self, problem: Diagnostic) {
        self.diagnostics.push(problem);
        self.errors = ERRORS + 1;
        self.at = self.tokens.len() - 1;
    }

    fn too_deep<T>(&mut self) -> Parsed<T> {
        if self.errors <= ERRORS {
            let message = format!("this is nested more than {NESTING} levels deep");
            let problem = Diagnostic::error(self.span(), message)
                .help("move a part of it into a function, a type or an alias");
            self.give_up(problem);
        }
        Err(Failed)
    }

    fn fail<T>(&mut self, problem: Diagnostic) -> Parsed<T> {
        self.report(problem);
        Err(Failed)
    }

    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let problem = self.expected(expected);
        self.fail(problem)
    }

    /// `expected …, found …` at the next token, with what is known about such slips.
    fn expected(&self, expected: &str) -> Diagnostic {
        let problem =
            Diagnostic::error(self.span(), format!("expected {expected}, found {}", self.found()));
        match self.slip() {
            Some(help) => problem.help(help),
            None => problem,
        }
    }

    /// The next token, for a message.
    fn found(&self) -> String {
        match self.kind() {
            TokenKind::EndOfFile => "the end of the file".to_string(),
            TokenKind::Text => shortened(self.says(self.span())),
            _ => format!("`{}`", shortened(self.says(self.span()))),
        }
    }

    /// Skips to a token that stops the search, or to the end. The `end` of a quantifier or record
    /// that begins on the way stops nothing.
    fn skip_to(&mut self, stops: impl Fn(TokenKind) -> bool) {
        let mut inner = 0_usize;
        while !self.is(TokenKind::EndOfFile) {
            let kind = self.kind();
            if kind.is_end() && inner > 0 {
                inner -= 1;
            } else if stops(kind) {
                return;
            } else if matches!(kind, TokenKind::Forall | TokenKind::Exists | TokenKind::Record) {
                inner += 1;
            }
            self.advance();
        }
    }
}

/// At most 40 characters.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// Tokens that only begin something at the top level, so that whatever is open must end before
/// them.
fn begins_item(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Rule
            | TokenKind::Ruleset
            | TokenKind::StartState
            | TokenKind::Function
            | TokenKind::Procedure
    )
}

/// Tokens that begin a section of declarations.
fn begins_section(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Const | TokenKind::Type | TokenKind::Var)
}
