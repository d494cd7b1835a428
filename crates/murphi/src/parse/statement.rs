//! Statements.
//!
//! Statements are separated by `;`, which may also follow the last one and be repeated. After an
//! error the next statement is looked for.

use super::{Failed, Parsed, Parser, begins_item};
use crate::ast::{
    Alias, Body, Branch, Call, Case, Declaration, Expression, ExpressionKind, MultisetFilter,
    Property, PropertyKind, Statement, StatementKind,
};
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind;
use crate::source::Span;

/// Whether declarations must be distinguished from statements by `begin`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// In rules and start states.
    Required,
    /// In functions, as Rumur has it.
    Optional,
}

impl Parser<'_> {
    /// Declarations, `begin`, statements.
    pub(super) fn body(&mut self, begin: Begin) -> Body {
        let declarations = self.local_declarations();
        let says_begin = self.take(TokenKind::Begin);
        if !says_begin && !declarations.is_empty() && begin == Begin::Required {
            let problem = self.expected("`begin` after the declarations");
            self.report(problem);
        }
        Body { declarations, statements: self.statements() }
    }

    fn local_declarations(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while self.at_section() {
            self.section(&mut declarations);
            self.skip_semicolons();
        }
        declarations
    }

    /// Statements up to something that cannot be one.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        loop {
            // Without a `;` before it, `invariant` is the next rule: an end is missing.
            if self.is(TokenKind::Invariant) && !statements.is_empty() {
                return statements;
            }
            self.skip_semicolons();
            if self.misplaced() {
                continue;
            }
            if self.at_end_of_statements() {
                return statements;
            }
            let before = self.at;
            match self.statement() {
                Ok(statement) => {
                    statements.push(statement);
                    self.separator();
                }
                Err(Failed) => self.next_statement(before),
            }
        }
    }

    /// Reports and skips `begin` and declarations where only statements can be.
    fn misplaced(&mut self) -> bool {
        let problem = match self.kind() {
            TokenKind::Begin => self
                .expected("a statement")
                .help("`begin` comes once, after the declarations and before the statements"),
            TokenKind::Const | TokenKind::Type | TokenKind::Var => {
                self.expected("a statement").help("declarations come before `begin`")
            }
            _ => return false,
        };
        self.report(problem);
        if self.take(TokenKind::Begin) {
            return true;
        }
        self.section(&mut Vec::new());
        true
    }

    /// The `;` after a statement, unless it was the last.
    fn separator(&mut self) {
        if matches!(self.kind(), TokenKind::Semicolon | TokenKind::Invariant)
            || self.at_end_of_statements()
        {
            return;
        }
        let mut problem = self.expected("`;`");
        let previous = self.previous();
        if problem.help.is_none() && !self.same_line(previous, self.span()) {
            problem = problem.related(previous, "a `;` is missing after this");
        }
        self.report(problem);
        if !self.begins_statement() {
            self.next_statement(self.at);
        }
    }

    /// Goes to where the next statement may begin, at least one token after `before`.
    fn next_statement(&mut self, before: usize) {
        if self.at == before && !self.at_end_of_statements() {
            self.advance();
        }
        self.skip_to(|kind| {
            kind.is_end()
                || begins_item(kind)
                || matches!(
                    kind,
                    TokenKind::Semicolon
                        | TokenKind::Else
                        | TokenKind::Elsif
                        | TokenKind::Case
                        | TokenKind::If
                        | TokenKind::Switch
                        | TokenKind::For
                        | TokenKind::While
                        | TokenKind::Clear
                        | TokenKind::Undefine
                        | TokenKind::Put
                        | TokenKind::Return
                        | TokenKind::Invariant
                )
        });
    }

    fn begins_statement(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Name
                | TokenKind::Alias
                | TokenKind::Assert
                | TokenKind::Clear
                | TokenKind::Error
                | TokenKind::For
                | TokenKind::If
                | TokenKind::Invariant
                | TokenKind::Put
                | TokenKind::Return
                | TokenKind::Switch
                | TokenKind::Undefine
                | TokenKind::While
        )
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.span();
        let kind = self.statement_kind()?;
        Ok(Statement { kind, span: self.since(start) })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        let opener = self.token(0);
        match opener.kind {
            TokenKind::If => Ok(self.if_statement()),
            TokenKind::Switch => Ok(self.switch()),
            TokenKind::For => Ok(self.for_statement()),
            TokenKind::While => {
                self.advance();
                let condition = self.header(TokenKind::Do, Self::expression);
                let body = self.block(opener, Self::statements);
                Ok(StatementKind::While { condition, body })
            }
            TokenKind::Alias => {
                let aliases = self.alias_header();
                let body = self.block(opener, Self::statements);
                Ok(StatementKind::Alias { aliases, body })
            }
            TokenKind::Return => {
                self.advance();
                let value = if self.begins_expression() { Some(self.expression()?) } else { None };
                Ok(StatementKind::Return(value))
            }
            TokenKind::Clear => {
                self.advance();
                Ok(StatementKind::Clear(self.designator()?))
            }
            TokenKind::Undefine => {
                self.advance();
                Ok(StatementKind::Undefine(self.designator()?))
            }
            TokenKind::Error => {
                self.advance();
                match self.text() {
                    Some(message) => Ok(StatementKind::Error(message)),
                    None => self.unexpected("a string in quotes"),
                }
            }
            TokenKind::Put => {
                self.advance();
                match self.text() {
                    Some(text) => Ok(StatementKind::PutText(text)),
                    None => Ok(StatementKind::Put(self.expression()?)),
                }
            }
            TokenKind::Name if self.property_kind().is_none() => self.named_statement(),
            _ => match self.property_kind() {
                Some(kind) => Ok(StatementKind::Property(self.property(kind)?)),
                None => self.unexpected("a statement"),
            },
        }
    }

    // Blocks.

    /// What stands between a word and `then` or `do`, which is taken. A wrong word in its place is
    /// reported and skipped.
    pub(super) fn header<T: Placeholder>(
        &mut self,
        closer: TokenKind,
        content: impl FnOnce(&mut Self) -> Parsed<T>,
    ) -> T {
        let content = match content(self) {
            Ok(content) => content,
            Err(Failed) => {
                self.skip_to(|kind| {
                    ends_header(kind) || kind.is_end() || kind == TokenKind::Semicolon
                });
                T::placeholder()
            }
        };
        let colon_does = closer == TokenKind::Do && self.is(TokenKind::Colon);
        if !self.is(closer) && !colon_does {
            let problem = self.expected(&closer.expected());
            self.report(problem);
        }
        if self.is(closer) || colon_does || ends_header(self.kind()) {
            self.advance();
        }
        content
    }

    fn if_statement(&mut self) -> StatementKind {
        let opener = self.token(0);
        self.advance();
        let condition = self.header(TokenKind::Then, Self::expression);
        let (branches, otherwise) = self.block(opener, |parser| {
            let mut branches = vec![Branch { condition, body: parser.statements() }];
            while parser.take(TokenKind::Elsif) {
                let condition = parser.header(TokenKind::Then, Self::expression);
                branches.push(Branch { condition, body: parser.statements() });
            }
            (branches, parser.otherwise())
        });
        StatementKind::If { branches, otherwise }
    }

    fn otherwise(&mut self) -> Option<Vec<Statement>> {
        let start = self.span();
        if !self.take(TokenKind::Else) {
            return None;
        }
        if self.is(TokenKind::If) && self.same_line(start, self.span()) {
            self.else_if = Some(start.to(self.span()));
        }
        let statements = self.statements();
        if matches!(self.kind(), TokenKind::Else | TokenKind::Elsif | TokenKind::Case) {
            let problem = self.expected("`end`").help("nothing but `end` can follow `else`");
            self.report(problem);
        }
        Some(statements)
    }

    fn switch(&mut self) -> StatementKind {
        let opener = self.token(0);
        self.advance();
        let value = self.expression().unwrap_or_else(|Failed| {
            self.skip_to(|kind| kind.is_end() || kind == TokenKind::Case);
            Expression::placeholder()
        });
        let (cases, otherwise) = self.block(opener, |parser| {
            let mut cases = Vec::new();
            if !parser.at_end_of_statements() {
                let problem = parser.expected("`case`").help("`case` directly follows the value");
                parser.report(problem);
                parser.statements();
            }
            while parser.is(TokenKind::Case) {
                cases.push(parser.case());
            }
            (cases, parser.otherwise())
        });
        StatementKind::Switch { value, cases, otherwise }
    }

    fn case(&mut self) -> Case {
        let start = self.advance();
        let values = self.expressions(TokenKind::Colon).unwrap_or_else(|Failed| {
            self.skip_to(|kind| {
                kind.is_end()
                    || matches!(kind, TokenKind::Colon | TokenKind::Semicolon | TokenKind::Case)
            });
            Vec::new()
        });
        self.take(TokenKind::Colon);
        let span = self.since(start);
        Case { values, body: self.statements(), span }
    }

    fn for_statement(&mut self) -> StatementKind {
        let opener = self.token(0);
        self.advance();
        let quantifiers = self.header(TokenKind::Do, Self::quantifiers);
        let body = self.block(opener, Self::statements);
        StatementKind::For { quantifiers, body }
    }

    /// `alias x: e; y: f do`. CMurphi wants `;` between aliases, Rumur does not.
    pub(super) fn alias_header(&mut self) -> Vec<Alias> {
        self.advance();
        self.header(TokenKind::Do, |parser| {
            let mut aliases = Vec::new();
            while parser.is(TokenKind::Name) || aliases.is_empty() && !parser.is(TokenKind::Do) {
                let names = parser.names()?;
                parser.expect(TokenKind::Colon)?;
                let value = parser.expression()?;
                aliases.extend(names.into_iter().map(|name| Alias { name, value: value.clone() }));
                parser.wrong_comma("aliases are separated by `;`");
                parser.skip_semicolons();
            }
            Ok(aliases)
        })
    }

    /// Reports and skips a comma in place of a semicolon.
    pub(super) fn wrong_comma(&mut self, help: &str) -> bool {
        let here = self.is(TokenKind::Comma);
        if here {
            let problem = self.expected("`;`").help(help);
            self.report(problem);
            self.advance();
        }
        here
    }

    // Properties.

    /// What the next word claims. `assume`, `cover` and `liveness` are words of Rumur only: names
    /// wherever they can be.
    pub(super) fn property_kind(&self) -> Option<PropertyKind> {
        match self.kind() {
            TokenKind::Assert | TokenKind::Invariant => return Some(PropertyKind::Assertion),
            TokenKind::Name => {}
            _ => return None,
        }
        let used_as_name = matches!(
            self.token(1).kind,
            TokenKind::Assign
                | TokenKind::Dot
                | TokenKind::OpenBracket
                | TokenKind::Colon
                | TokenKind::Comma
        );
        let words = [
            ("assume", PropertyKind::Assumption),
            ("cover", PropertyKind::Cover),
            ("liveness", PropertyKind::Liveness),
        ];
        let word = words.iter().find(|entry| !used_as_name && self.is_word(entry.0))?;
        Some(word.1)
    }

    /// A claim with its message before or after it.
    pub(super) fn property(&mut self, kind: PropertyKind) -> Parsed<Property> {
        self.advance();
        let before = self.text();
        let condition = self.expression()?;
        let message = before.or_else(|| self.text());
        Ok(Property { kind, message, condition })
    }

    // Statements that begin with a name.

    fn named_statement(&mut self) -> Parsed<StatementKind> {
        if self.token(1).kind == TokenKind::OpenParenthesis {
            return self.call_statement();
        }
        let target = self.designator()?;
        if !self.is(TokenKind::Assign) {
            let problem = self.not_an_assignment(&target);
            self.report(problem);
            if !matches!(self.kind(), TokenKind::Equal | TokenKind::EqualEqual) {
                return Err(Failed);
            }
        }
        self.advance();
        let value = self.expression()?;
        Ok(StatementKind::Assign { target, value })
    }

    fn not_an_assignment(&self, target: &Expression) -> Diagnostic {
        let problem = self.expected("`:=`");
        let name = match &target.kind {
            ExpressionKind::Name(name) => name.as_str(),
            _ => "",
        };
        match self.kind() {
            TokenKind::Equal | TokenKind::EqualEqual => {
                problem.help("assignment is written `:=`; `=` compares")
            }
            TokenKind::Colon | TokenKind::Comma => problem.help("declarations come before `begin`"),
            _ if name.eq_ignore_ascii_case("elseif") || name.eq_ignore_ascii_case("elif") => {
                problem.help("write `elsif`")
            }
            _ => problem,
        }
    }

    fn call_statement(&mut self) -> Parsed<StatementKind> {
        if self.is_word("MultisetAdd") {
            let (value, multiset) = self.pair()?;
            return Ok(StatementKind::MultisetAdd { value, multiset });
        }
        if self.is_word("MultisetRemove") {
            let (position, multiset) = self.pair()?;
            return Ok(StatementKind::MultisetRemove { position, multiset });
        }
        if self.is_word("MultisetRemovePred") {
            return Ok(StatementKind::MultisetRemoveWhere(self.multiset_filter()?));
        }
        let name = self.name()?;
        let arguments = self.arguments()?;
        self.no_parts()?;
        Ok(StatementKind::Call(Call { name, arguments }))
    }

    /// `word(a, b)`.
    fn pair(&mut self) -> Parsed<(Expression, Expression)> {
        self.advance();
        self.expect(TokenKind::OpenParenthesis)?;
        let first = self.expression()?;
        self.expect(TokenKind::Comma)?;
        let second = self.designator()?;
        self.expect(TokenKind::CloseParenthesis)?;
        Ok((first, second))
    }

    /// `word(x: m, condition)`.
    pub(super) fn multiset_filter(&mut self) -> Parsed<MultisetFilter> {
        self.advance();
        self.expect(TokenKind::OpenParenthesis)?;
        let name = self.name()?;
        self.expect(TokenKind::Colon)?;
        let multiset = Box::new(self.designator()?);
        self.expect(TokenKind::Comma)?;
        let condition = Box::new(self.expression()?);
        self.expect(TokenKind::CloseParenthesis)?;
        Ok(MultisetFilter { name, multiset, condition })
    }
}

/// Words that end a header, right or wrong.
fn ends_header(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Then | TokenKind::Do | TokenKind::Begin | TokenKind::LongArrow)
}

/// What stands for something that could not be read. It is never seen: a program with errors is
/// not returned.
pub(super) trait Placeholder {
    fn placeholder() -> Self;
}

impl Placeholder for Expression {
    fn placeholder() -> Self {
        Expression { kind: ExpressionKind::Undefined, span: Span::default() }
    }
}

impl<T> Placeholder for Vec<T> {
    fn placeholder() -> Self {
        Vec::new()
    }
}
