//! The top level: functions, rules, start states, properties, and groups of them.
//!
//! CMurphi wants declarations, then functions, then rules, with `;` between them; Rumur lets them
//! mix and the `;` go. Both are taken.

use super::expression::continues_expression;
use super::statement::Begin;
use super::{Failed, Parsed, Parser, begins_item, begins_section};
use crate::ast::{
    Body, Expression, Function, FunctionDefinition, Item, Name, Parameter, Program, Rule, RuleKind,
    TypeExpression,
};
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind;

/// What stands between the name of a rule and its body.
enum Guard {
    /// A condition and `==>`.
    Condition,
    /// Something before `begin` that is no declaration: a condition without `==>`.
    Unmarked,
    Absent,
}

impl Parser<'_> {
    pub(super) fn program(&mut self) -> Program {
        let mut items = Vec::new();
        loop {
            self.skip_semicolons();
            if self.is(TokenKind::EndOfFile) {
                return Program { items };
            }
            if self.at_section() {
                let mut declarations = Vec::new();
                self.section(&mut declarations);
                items.extend(declarations.into_iter().map(Item::Declaration));
                continue;
            }
            match self.function_or_rule() {
                Ok(item) => items.push(item),
                Err(Failed) => self.next_item(),
            }
        }
    }

    fn function_or_rule(&mut self) -> Parsed<Item> {
        if matches!(self.kind(), TokenKind::Function | TokenKind::Procedure) {
            return Ok(Item::Function(self.function()));
        }
        if self.is_word("externfun") || self.is_word("externproc") {
            return Ok(Item::Function(self.external()));
        }
        Ok(Item::Rule(self.rule()?))
    }

    /// After an error, goes to where the next item may begin. A superfluous `end` is skipped alone.
    fn next_item(&mut self) {
        if self.kind().is_end() {
            self.advance();
            return;
        }
        self.skip_to(|kind| {
            begins_section(kind)
                || begins_item(kind)
                || matches!(kind, TokenKind::Invariant | TokenKind::Semicolon)
        });
    }

    /// Whether the next token is one of the words that begin something at the top level, but are
    /// names to the lexer.
    pub(super) fn at_word_of_rules(&self) -> bool {
        let words = ["choose", "externfun", "externproc", "pctl", "traceuntil"];
        self.property_kind().is_some() || words.iter().any(|word| self.is_word(word))
    }

    // Functions.

    fn function(&mut self) -> Function {
        let opener = self.token(0);
        self.advance();
        let (name, parameters, result) = self.signature();
        self.skip_semicolons();
        let body = self.block(opener, |parser| parser.body(Begin::Optional));
        let definition = FunctionDefinition::Body(body);
        Function { name, parameters, result, definition, span: self.since(opener.span) }
    }

    /// `externfun f(x: T): U "file";`.
    fn external(&mut self) -> Function {
        let start = self.advance();
        let (name, parameters, result) = self.signature();
        let definition = FunctionDefinition::External(self.text());
        Function { name, parameters, result, definition, span: self.since(start) }
    }

    fn signature(&mut self) -> (Name, Vec<Parameter>, Option<TypeExpression>) {
        let span = self.span();
        let name = self.name().unwrap_or_else(|Failed| {
            self.skip_to(|kind| kind == TokenKind::OpenParenthesis || ends_signature(kind));
            Name { text: String::new(), span }
        });
        let parameters = self.parenthesised_parameters().unwrap_or_else(|Failed| {
            self.skip_to(|kind| kind == TokenKind::CloseParenthesis || ends_signature(kind));
            self.take(TokenKind::CloseParenthesis);
            Vec::new()
        });
        let mut result = None;
        if self.take(TokenKind::Colon) {
            match self.type_expression() {
                Ok(ty) => result = Some(ty),
                Err(Failed) => self.skip_to(ends_signature),
            }
        }
        (name, parameters, result)
    }

    fn parenthesised_parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.expect(TokenKind::OpenParenthesis)?;
        let mut parameters = Vec::new();
        while !self.take(TokenKind::CloseParenthesis) {
            parameters.push(self.parameter()?);
            self.wrong_comma("parameters of different types are separated by `;`");
            self.skip_semicolons();
        }
        Ok(parameters)
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let start = self.span();
        let by_reference = self.take(TokenKind::Var);
        if !self.is(TokenKind::Name) && !self.kind().is_keyword() {
            return self.unexpected("a parameter or `)`");
        }
        let names = self.names()?;
        self.expect(TokenKind::Colon)?;
        let ty = self.type_expression()?;
        Ok(Parameter { by_reference, names, ty, span: self.since(start) })
    }

    // Rules.

    /// Rules up to something that cannot be one.
    fn rules(&mut self) -> Vec<Rule> {
        let mut rules = Vec::new();
        loop {
            self.skip_semicolons();
            let kind = self.kind();
            if kind.is_end() || begins_section(kind) || kind == TokenKind::EndOfFile {
                return rules;
            }
            if matches!(kind, TokenKind::Function | TokenKind::Procedure) {
                return rules;
            }
            match self.rule() {
                Ok(rule) => rules.push(rule),
                Err(Failed) => self.skip_to(|kind| {
                    begins_item(kind)
                        || begins_section(kind)
                        || kind.is_end()
                        || matches!(kind, TokenKind::Semicolon | TokenKind::Invariant)
                }),
            }
        }
    }

    fn rule(&mut self) -> Parsed<Rule> {
        let opener = self.token(0);
        let kind = match opener.kind {
            TokenKind::Rule => self.simple_rule(),
            TokenKind::StartState => {
                self.advance();
                let name = self.text();
                let body = self.block(opener, |parser| parser.body(Begin::Required));
                RuleKind::StartState { name, body }
            }
            TokenKind::Ruleset => {
                self.advance();
                let quantifiers = self.header(TokenKind::Do, Self::quantifiers);
                let rules = self.block(opener, Self::rules);
                RuleKind::Ruleset { quantifiers, rules }
            }
            TokenKind::Alias => {
                let aliases = self.alias_header();
                let rules = self.block(opener, Self::rules);
                RuleKind::Alias { aliases, rules }
            }
            _ if self.is_word_before("choose", TokenKind::Name) => self.choose()?,
            _ => match self.property_kind() {
                Some(kind) => {
                    let property = self.property(kind)?;
                    self.end_of_property()?;
                    RuleKind::Property(property)
                }
                None => {
                    let problem = self.no_item();
                    return self.fail(problem);
                }
            },
        };
        Ok(Rule { kind, span: self.since(opener.span) })
    }

    /// Whatever follows a property must begin something else.
    fn end_of_property(&mut self) -> Parsed<()> {
        let kind = self.kind();
        let follows = kind.is_keyword()
            || matches!(kind, TokenKind::Semicolon | TokenKind::EndOfFile)
            || self.at_word_of_rules();
        if follows { Ok(()) } else { self.unexpected("`;`") }
    }

    fn no_item(&self) -> Diagnostic {
        let kind = self.kind();
        for word in ["pctl", "traceuntil"] {
            if self.is_word(word) {
                let message = format!("`{word}` properties are not supported");
                return Diagnostic::error(self.span(), message)
                    .help("properties are `invariant`, `assume`, `cover` and `liveness`");
            }
        }
        if kind.is_end() {
            let word = self.says(self.span());
            return Diagnostic::error(self.span(), format!("this `{word}` closes nothing"));
        }
        let problem = self.expected("a declaration, function or rule");
        match kind {
            _ if problem.help.is_some() => problem,
            TokenKind::Begin => problem.help("is the header of a rule or function missing?"),
            TokenKind::Name => {
                problem.help("variables are declared after `var`, and statements are part of rules")
            }
            _ => problem,
        }
    }

    fn simple_rule(&mut self) -> RuleKind {
        let opener = self.token(0);
        self.advance();
        let priority = if self.at_priority() { self.number().ok() } else { None };
        let name = self.text();
        let guard = match self.find_guard() {
            Guard::Absent => None,
            Guard::Condition | Guard::Unmarked => Some(self.guard()),
        };
        let body: Body = self.block(opener, |parser| parser.body(Begin::Required));
        RuleKind::Simple { priority, name, guard, body }
    }

    /// Whether the next number is CMurphi's priority rather than the beginning of a condition.
    fn at_priority(&self) -> bool {
        use TokenKind::{LongArrow, Minus, OpenParenthesis, Plus};
        let next = self.token(1).kind;
        let ends = !continues_expression(next) && next != LongArrow;
        self.is(TokenKind::Integer) && (ends || matches!(next, Plus | Minus | OpenParenthesis))
    }

    /// Looks ahead for `==>`. A rule without it has its statements right after its name.
    fn find_guard(&self) -> Guard {
        let starts_body = self.is(TokenKind::Begin) || self.at_section();
        for token in &self.tokens[self.at..] {
            match token.kind {
                TokenKind::LongArrow => return Guard::Condition,
                TokenKind::Begin if !starts_body => return Guard::Unmarked,
                TokenKind::Begin | TokenKind::EndRule | TokenKind::EndOfFile => break,
                kind if begins_item(kind) => break,
                _ => {}
            }
        }
        Guard::Absent
    }

    /// A condition and `==>`.
    fn guard(&mut self) -> Expression {
        if self.is(TokenKind::LongArrow) {
            let problem = self.expected("a condition").help("without a condition, leave out `==>`");
            self.report(problem);
        }
        self.header(TokenKind::LongArrow, Self::expression)
    }

    /// `choose x: m do … end`.
    fn choose(&mut self) -> Parsed<RuleKind> {
        let opener = self.token(0);
        self.advance();
        let name = self.name()?;
        self.expect(TokenKind::Colon)?;
        let multiset = self.header(TokenKind::Do, Self::designator);
        let rules = self.block(opener, Self::rules);
        Ok(RuleKind::Choose { name, multiset, rules })
    }
}

/// Where a function goes on after an error in its first line.
fn ends_signature(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Semicolon | TokenKind::Begin)
        || begins_section(kind)
        || begins_item(kind)
        || kind.is_end()
}
