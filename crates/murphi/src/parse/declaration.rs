//! Constants, types, variables.
//!
//! A section (`const`, `type`, `var`) is any number of declarations. CMurphi wants a `;` after
//! each, Rumur does not; both are taken.

use super::expression::continues_expression;
use super::{Failed, Parsed, Parser, begins_item, begins_section};
use crate::ast::{Declaration, DeclarationKind, Name, TypeExpression, TypeKind, Variables};
use crate::diagnostic::Diagnostic;
use crate::lex::TokenKind;

/// What to do instead of `x: T = 1`.
const FIRST_VALUE: &str = "a variable gets its initial value in a `startstate`";

impl Parser<'_> {
    pub(super) fn at_section(&self) -> bool {
        begins_section(self.kind())
    }

    /// A keyword and the declarations after it.
    pub(super) fn section(&mut self, declarations: &mut Vec<Declaration>) {
        let section = self.kind();
        self.advance();
        while self.at_declaration() {
            let before = self.at;
            match self.declaration(section) {
                Ok(declaration) => declarations.push(declaration),
                Err(Failed) => self.next_declaration(before),
            }
            self.skip_semicolons();
        }
    }

    /// Goes to where the next declaration or field may begin, at least one token after `before`.
    fn next_declaration(&mut self, before: usize) {
        if self.at == before {
            self.advance();
        }
        self.skip_to(|kind| {
            matches!(kind, TokenKind::Semicolon | TokenKind::Begin | TokenKind::Invariant)
                || kind.is_end()
                || begins_section(kind)
                || begins_item(kind)
        });
    }

    /// Whether a declaration of the section goes on here, rather than a statement or a rule.
    fn at_declaration(&self) -> bool {
        let next = self.token(1).kind;
        match self.kind() {
            TokenKind::Colon => true,
            TokenKind::Name if self.names_come_next() => true,
            TokenKind::Name => {
                let statement = matches!(
                    next,
                    TokenKind::Assign
                        | TokenKind::OpenBracket
                        | TokenKind::Dot
                        | TokenKind::OpenParenthesis
                );
                !statement && !self.at_word_of_rules()
            }
            // A keyword in place of a name.
            kind => kind.is_keyword() && next == TokenKind::Colon,
        }
    }

    fn names_come_next(&self) -> bool {
        matches!(self.token(1).kind, TokenKind::Colon | TokenKind::Comma)
    }

    fn declaration(&mut self, section: TokenKind) -> Parsed<Declaration> {
        let start = self.span();
        let names = self.names()?;
        if let Some(help) = self.initial_value(section) {
            let problem = self.expected("`:`").help(help);
            return self.fail(problem);
        }
        self.expect(TokenKind::Colon)?;
        let kind = match section {
            TokenKind::Const => DeclarationKind::Constant { names, value: self.expression()? },
            TokenKind::Type => DeclarationKind::Type { names, definition: self.type_expression()? },
            _ => DeclarationKind::Variable(Variables { names, ty: self.type_expression()? }),
        };
        let span = self.since(start);
        self.end_of_declaration(section);
        Ok(Declaration { kind, span })
    }

    /// What to write instead of a value in a declaration, if one is next.
    fn initial_value(&self, section: TokenKind) -> Option<&'static str> {
        match (self.kind(), section) {
            (TokenKind::Equal | TokenKind::Assign, TokenKind::Var) => Some(FIRST_VALUE),
            (TokenKind::Equal | TokenKind::Assign, _) => Some("write `name: value`"),
            _ => None,
        }
    }

    /// Something that can neither go on with a declaration nor follow it is a slip.
    fn end_of_declaration(&mut self, section: TokenKind) {
        let kind = self.kind();
        let follows = kind.is_keyword()
            || matches!(kind, TokenKind::Semicolon | TokenKind::Name | TokenKind::Colon)
            || kind == TokenKind::EndOfFile;
        if follows {
            return;
        }
        let mut problem = self.expected("`;`");
        if let Some(help) = self.initial_value(section) {
            problem = problem.help(help);
        }
        self.report(problem);
        self.skip_to(|kind| {
            kind == TokenKind::Semicolon || kind.is_keyword() && kind != TokenKind::Of
        });
    }

    // Types.

    pub(super) fn type_expression(&mut self) -> Parsed<TypeExpression> {
        let start = self.span();
        let kind = self.nested(Self::type_kind)?;
        Ok(TypeExpression { kind, span: self.since(start) })
    }

    fn type_kind(&mut self) -> Parsed<TypeKind> {
        match self.kind() {
            TokenKind::Enum => self.enumeration(),
            TokenKind::Record => Ok(self.record()),
            TokenKind::Array => self.array(),
            TokenKind::Scalarset => {
                self.advance();
                self.expect(TokenKind::OpenParenthesis)?;
                let size = Box::new(self.expression()?);
                self.expect(TokenKind::CloseParenthesis)?;
                Ok(TypeKind::Scalarset(size))
            }
            _ if self.is_word_before("union", TokenKind::OpenBrace) => self.union(),
            _ if self.is_word_before("multiset", TokenKind::OpenBracket) => self.multiset(),
            _ if self.is_word_before("real", TokenKind::OpenParenthesis) => self.real(),
            TokenKind::Name if !continues_expression(self.token(1).kind) => {
                Ok(TypeKind::Named(self.name()?))
            }
            _ if self.begins_expression() => self.range(),
            _ => self.unexpected("a type"),
        }
    }

    fn range(&mut self) -> Parsed<TypeKind> {
        let equal = self.token(1);
        let low = Box::new(self.expression()?);
        if equal.kind == TokenKind::Equal && !self.is(TokenKind::DotDot) {
            let problem = Diagnostic::error(equal.span, "expected `;`, found `=`");
            return self.fail(problem.help(FIRST_VALUE));
        }
        self.expect(TokenKind::DotDot)?;
        Ok(TypeKind::Range(low, Box::new(self.expression()?)))
    }

    fn enumeration(&mut self) -> Parsed<TypeKind> {
        self.advance();
        self.expect(TokenKind::OpenBrace)?;
        let mut members: Vec<Name> = Vec::new();
        let mut reported = false;
        while !self.is(TokenKind::CloseBrace) {
            members.push(self.name()?);
            if self.is(TokenKind::Name) {
                if !std::mem::replace(&mut reported, true) {
                    let problem = self.expected("`,` or `}`");
                    self.report(problem.help("members of an enumeration are separated by `,`"));
                }
            } else if !self.take(TokenKind::Comma) && !self.is(TokenKind::CloseBrace) {
                return self.unexpected("`,` or `}`");
            }
        }
        self.advance();
        Ok(TypeKind::Enumeration(members))
    }

    fn record(&mut self) -> TypeKind {
        let opener = self.token(0);
        self.advance();
        TypeKind::Record(self.block(opener, |parser| {
            let mut fields = Vec::new();
            while parser.is(TokenKind::Name)
                || parser.is(TokenKind::Colon)
                || parser.kind().is_keyword() && parser.token(1).kind == TokenKind::Colon
            {
                let before = parser.at;
                match parser.field() {
                    Ok(field) => fields.push(field),
                    Err(Failed) => parser.next_declaration(before),
                }
                parser.skip_semicolons();
            }
            fields
        }))
    }

    fn field(&mut self) -> Parsed<Variables> {
        let names = self.names()?;
        self.expect(TokenKind::Colon)?;
        let ty = self.type_expression()?;
        Ok(Variables { names, ty })
    }

    fn array(&mut self) -> Parsed<TypeKind> {
        self.advance();
        self.expect(TokenKind::OpenBracket)?;
        let index = Box::new(self.type_expression()?);
        self.expect(TokenKind::CloseBracket)?;
        self.expect(TokenKind::Of)?;
        Ok(TypeKind::Array { index, element: Box::new(self.type_expression()?) })
    }

    fn multiset(&mut self) -> Parsed<TypeKind> {
        self.advance();
        self.expect(TokenKind::OpenBracket)?;
        let capacity = Box::new(self.expression()?);
        self.expect(TokenKind::CloseBracket)?;
        self.expect(TokenKind::Of)?;
        Ok(TypeKind::Multiset { capacity, element: Box::new(self.type_expression()?) })
    }

    fn union(&mut self) -> Parsed<TypeKind> {
        self.advance();
        self.expect(TokenKind::OpenBrace)?;
        let mut members = Vec::new();
        while !self.is(TokenKind::CloseBrace) {
            members.push(self.type_expression()?);
            if !self.take(TokenKind::Comma) && !self.is(TokenKind::CloseBrace) {
                return self.unexpected("`,` or `}`");
            }
        }
        self.advance();
        Ok(TypeKind::Union(members))
    }

    fn real(&mut self) -> Parsed<TypeKind> {
        self.advance();
        self.expect(TokenKind::OpenParenthesis)?;
        let digits = Box::new(self.expression()?);
        self.expect(TokenKind::Comma)?;
        let exponent = Box::new(self.expression()?);
        self.expect(TokenKind::CloseParenthesis)?;
        Ok(TypeKind::Real(digits, exponent))
    }
}
