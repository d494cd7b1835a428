//! From tokens to the lines of one file.
//!
//! The grammar is that of herdtools' cat, as far as it defines sets, relations, functions and
//! axioms. From the loosest to the tightest: `|`, `;`, `\`, `&`, the product `S * T`, complement
//! `~`, the postfix operators, application. So `a ; b \ c` is `a ; (b \ c)`, as there. What only
//! prints (`show`, `unshow`, `flag …`) is read and passed over. What the language has beyond that
//! (variants, enumerations, `match`, procedures) is refused at its place.
//!
//! Parsing stops at the first error of a file: what follows one in a language without separators
//! says little.

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::{Source, Span};

use crate::lex::{Token, TokenKind, lex};
use crate::syntax::{
    AxiomSyntax, Binary, Binding, Expression, ExpressionKind, Instruction, Name, Place, Test, Unary,
};

/// How deep expressions may be nested, so that nothing that walks over them runs out of stack.
const DEEPEST: usize = 100;
/// How many postfix operators may follow each other.
const MOST_POSTFIX: usize = 10;

/// A line of a file: an instruction, or the name of a file to include.
pub(crate) enum Line {
    Instruction(Instruction),
    Include { file: String, place: Place },
}

/// A file that was read.
pub(crate) struct Parsed {
    /// The architecture and what the file calls its model: the words before the first line.
    pub(crate) title: Vec<String>,
    pub(crate) lines: Vec<Line>,
}

/// Words that begin a line or stand inside of one, and are no names of sets or relations.
const KEYWORDS: [&str; 38] = [
    "acyclic",
    "and",
    "as",
    "assert",
    "begin",
    "call",
    "catdep",
    "debug",
    "default",
    "do",
    "else",
    "empty",
    "end",
    "enum",
    "flag",
    "forall",
    "from",
    "fun",
    "if",
    "in",
    "include",
    "instructions",
    "irreflexive",
    "let",
    "match",
    "not",
    "procedure",
    "rec",
    "show",
    "subset",
    "then",
    "try",
    "undefined_unless",
    "unshow",
    "variant",
    "when",
    "with",
    "yield",
];

/// Why a line that begins with a keyword is not taken.
const REFUSED: [(&str, &str); 13] = [
    ("if", "conditions on variants are not supported"),
    ("enum", "enumerations are not supported"),
    ("procedure", "procedures are not supported"),
    ("call", "procedures are not supported"),
    ("forall", "`forall` over sets of sets is not supported"),
    ("match", "`match` is not supported"),
    ("fun", "functions without a name are not supported"),
    ("instructions", "declarations of bell files are not supported"),
    ("default", "declarations of bell files are not supported"),
    ("debug", "`debug` is not supported"),
    ("catdep", "dependencies that the model computes itself (`catdep`) are not supported"),
    ("undefined_unless", "`undefined_unless` is not supported"),
    ("assert", "`assert` is not supported"),
];

/// Reads a file of a model.
pub(crate) fn parse(source: &Source, file: u32) -> Result<Parsed, Vec<Diagnostic>> {
    let (tokens, problems) = lex(source);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut parser = Parser { source, file, tokens: &tokens, at: 0, depth: 0 };
    parser.file().map_err(|problem| vec![problem])
}

struct Parser<'a> {
    source: &'a Source,
    file: u32,
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

type Result1<T> = Result<T, Diagnostic>;

impl<'a> Parser<'a> {
    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn text(&self) -> &'a str {
        self.source.slice(self.token().span)
    }

    fn place(&self, span: Span) -> Place {
        Place { file: self.file, span }
    }

    /// Where the token before this one ended.
    fn end_of_last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn is(&self, text: &str) -> bool {
        self.text() == text && matches!(self.token().kind, TokenKind::Symbol | TokenKind::Name)
    }

    fn is_keyword(&self) -> bool {
        self.token().kind == TokenKind::Name && KEYWORDS.contains(&self.text())
    }

    fn is_name(&self) -> bool {
        self.token().kind == TokenKind::Name && !self.is_keyword()
    }

    fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::EndOfFile {
            self.at += 1;
        }
        token
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, text: &str) -> Result1<()> {
        if self.take(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.token().kind {
            TokenKind::EndOfFile => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text()),
        };
        Diagnostic::error(self.token().span, format!("expected {what}, found {found}"))
    }

    fn file(&mut self) -> Result1<Parsed> {
        let title = self.title();
        let mut lines = Vec::new();
        while self.token().kind != TokenKind::EndOfFile {
            lines.extend(self.line()?);
        }
        Ok(Parsed { title, lines })
    }

    /// The names and texts before the first line: `RISCV "title"`, `X86 TSO`, `"title"`.
    fn title(&mut self) -> Vec<String> {
        let start = self.at;
        while self.at < start + 2 && (self.is_name() || self.token().kind == TokenKind::Text) {
            self.advance();
        }
        let words = self.tokens[start..self.at].iter().map(|token| self.source.slice(token.span));
        words.map(|word| word.trim_matches('"').to_owned()).collect()
    }

    fn line(&mut self) -> Result1<Option<Line>> {
        match self.text() {
            "let" => self.definition().map(Some),
            "acyclic" | "irreflexive" | "empty" | "~" => {
                Ok(Some(Line::Instruction(Instruction::Axiom(self.axiom()?))))
            }
            "flag" => {
                self.advance();
                self.axiom().map(|_| None)
            }
            "show" | "unshow" => self.show().map(|()| None),
            "include" => self.include().map(Some),
            "with" => self.with_from().map(|()| None),
            _ => Err(self.refused().unwrap_or_else(|| {
                self.expected("`let`, `acyclic`, `irreflexive`, `empty`, `include` or `show`")
            })),
        }
    }

    /// What to say of a keyword that is known and not supported.
    fn refused(&self) -> Option<Diagnostic> {
        let (_, reason) = REFUSED.iter().find(|(word, _)| self.is(word))?;
        Some(Diagnostic::error(self.token().span, *reason))
    }

    fn definition(&mut self) -> Result1<Line> {
        self.advance();
        let (recursive, bindings) = self.bindings()?;
        // `let x = e in` before a line is the same as without `in`.
        self.take("in");
        Ok(Line::Instruction(Instruction::Let { recursive, bindings }))
    }

    fn bindings(&mut self) -> Result1<(bool, Vec<Binding>)> {
        let recursive = self.take("rec");
        let mut bindings = vec![self.binding()?];
        while self.take("and") {
            bindings.push(self.binding()?);
        }
        if self.is("when") {
            return Err(Diagnostic::error(self.token().span, "`when` is not supported"));
        }
        Ok((recursive, bindings))
    }

    fn binding(&mut self) -> Result1<Binding> {
        let name = self.name("a name to define")?;
        let parameters = if self.take("(") {
            let mut parameters = Vec::new();
            while !self.take(")") {
                if !parameters.is_empty() {
                    self.expect(",")?;
                }
                parameters.push(self.name("a parameter")?);
            }
            Some(parameters)
        } else if self.is_name() {
            Some(vec![self.name("a parameter")?])
        } else {
            None
        };
        self.expect("=")?;
        Ok(Binding { name, parameters, body: self.expression()? })
    }

    fn name(&mut self, what: &str) -> Result1<Name> {
        if !self.is_name() {
            return Err(self.expected(what));
        }
        let text = self.text().to_owned();
        let span = self.advance().span;
        let place = self.place(span);
        Ok(Name { text, place })
    }

    fn axiom(&mut self) -> Result1<AxiomSyntax> {
        let start = self.token().span;
        let negated = self.take("~");
        let test = match self.text() {
            "acyclic" => Test::Acyclic,
            "irreflexive" => Test::Irreflexive,
            "empty" => Test::Empty,
            _ => return Err(self.expected("`acyclic`, `irreflexive` or `empty`")),
        };
        self.advance();
        let body = self.expression()?;
        let name = self.optional_name()?;
        Ok(AxiomSyntax {
            test,
            negated,
            body,
            name,
            place: self.place(start.to(self.end_of_last())),
        })
    }

    /// `as name`
    fn optional_name(&mut self) -> Result1<Option<String>> {
        if !self.take("as") {
            return Ok(None);
        }
        Ok(Some(self.name("the name of the condition")?.text))
    }

    /// `show e as name`, `show a, b, c`, `unshow a`: what a picture has, which is not ours to draw.
    fn show(&mut self) -> Result1<()> {
        self.advance();
        self.expression()?;
        while self.take(",") {
            self.expression()?;
        }
        self.optional_name().map(|_| ())
    }

    fn include(&mut self) -> Result1<Line> {
        self.advance();
        if self.token().kind != TokenKind::Text {
            return Err(self.expected("the name of a file in quotes"));
        }
        let file = self.text().trim_matches('"').to_owned();
        let span = self.advance().span;
        let place = self.place(span);
        Ok(Line::Include { file, place })
    }

    /// `with co from generate_cos(…)`: co is one of the coherence orders, which it is anyway.
    fn with_from(&mut self) -> Result1<()> {
        self.advance();
        let name = self.name("`co`")?;
        self.expect("from")?;
        let span = self.token().span;
        let generator = self.expression()?;
        let is_coherence = matches!(
            &generator.kind,
            ExpressionKind::Apply { function, .. } if function.text == "generate_cos"
        );
        if name.text == "co" && is_coherence {
            return Ok(());
        }
        let message = "only `with co from generate_cos(…)` is supported";
        Err(Diagnostic::error(span.to(self.end_of_last()), message))
    }
}

/// The operators between two operands, from the loosest to the tightest.
const OPERATORS: [(&str, Binary); 5] = [
    ("|", Binary::Union),
    (";", Binary::Sequence),
    ("\\", Binary::Difference),
    ("&", Binary::Intersection),
    ("*", Binary::Product),
];

/// Operands with operators between them as one expression: the tightest operators first, and runs of
/// one operator together.
fn grouped(mut operands: Vec<Expression>, mut between: Vec<Binary>) -> Expression {
    for &(_, operator) in OPERATORS.iter().rev() {
        let mut rest = operands.into_iter();
        let mut groups: Vec<Vec<Expression>> = vec![rest.next().into_iter().collect()];
        let mut left = Vec::new();
        for (symbol, operand) in between.into_iter().zip(rest) {
            match groups.last_mut() {
                Some(group) if symbol == operator => group.push(operand),
                _ => {
                    left.push(symbol);
                    groups.push(vec![operand]);
                }
            }
        }
        operands = groups.into_iter().filter_map(|group| joined(operator, group)).collect();
        between = left;
    }
    operands.swap_remove(0)
}

/// The operands of a run of one operator as one expression.
fn joined(operator: Binary, mut operands: Vec<Expression>) -> Option<Expression> {
    let (first, last) = (operands.first()?.place, operands.last()?.place);
    if operands.len() == 1 {
        return operands.pop();
    }
    let place = Place { file: first.file, span: first.span.to(last.span) };
    Some(Expression { kind: ExpressionKind::Binary(operator, operands), place })
}

/// Expressions.
impl Parser<'_> {
    fn expression(&mut self) -> Result1<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("this is nested more than {DEEPEST} levels deep");
            return Err(Diagnostic::error(self.token().span, message));
        }
        let expression = self.let_or_operators();
        self.depth -= 1;
        expression
    }

    fn let_or_operators(&mut self) -> Result1<Expression> {
        let start = self.token().span;
        if self.take("let") {
            let (recursive, bindings) = self.bindings()?;
            self.expect("in")?;
            let body = Box::new(self.expression()?);
            return Ok(self.node(start, ExpressionKind::Let { recursive, bindings, body }));
        }
        if self.take("try") {
            let first = Box::new(self.expression()?);
            self.expect("with")?;
            let otherwise = Box::new(self.expression()?);
            return Ok(self.node(start, ExpressionKind::Try { first, otherwise }));
        }
        self.operators()
    }

    fn node(&self, start: Span, kind: ExpressionKind) -> Expression {
        Expression { kind, place: self.place(start.to(self.end_of_last())) }
    }

    /// Operands with operators between them, grouped by how tightly the operators bind.
    fn operators(&mut self) -> Result1<Expression> {
        let mut operands = vec![self.prefix()?];
        let mut between = Vec::new();
        while let Some(&(symbol, operator)) = OPERATORS.iter().find(|(symbol, _)| self.is(symbol)) {
            self.take(symbol);
            between.push(operator);
            operands.push(self.prefix()?);
        }
        if self.is("++") {
            return Err(Diagnostic::error(
                self.token().span,
                "sets of sets (`++`) are not supported",
            ));
        }
        Ok(grouped(operands, between))
    }

    fn prefix(&mut self) -> Result1<Expression> {
        let start = self.token().span;
        let mut complements = 0;
        while self.take("~") {
            complements += 1;
        }
        let inner = self.postfix()?;
        // An even number of them is none.
        if complements % 2 == 0 {
            return Ok(inner);
        }
        Ok(self.node(start, ExpressionKind::Unary(Unary::Complement, inner.into())))
    }

    fn postfix(&mut self) -> Result1<Expression> {
        const POSTFIX: [(&str, Unary); 7] = [
            ("^-1", Unary::Inverse),
            ("^+", Unary::Plus),
            ("^*", Unary::Star),
            ("^?", Unary::Optional),
            ("+", Unary::Plus),
            ("*", Unary::Star),
            ("?", Unary::Optional),
        ];
        let start = self.token().span;
        let mut inner = self.application()?;
        let mut count = 0;
        while let Some(&(symbol, operator)) = POSTFIX.iter().find(|(symbol, _)| self.is(symbol)) {
            // `S * T` is a product, `r*` a closure: what follows distinguishes them.
            if symbol == "*" && self.operand_follows() {
                break;
            }
            self.advance();
            count += 1;
            if count > MOST_POSTFIX {
                let message = format!("more than {MOST_POSTFIX} operators in a row");
                return Err(Diagnostic::error(self.token().span, message));
            }
            inner = self.node(start, ExpressionKind::Unary(operator, inner.into()));
        }
        Ok(inner)
    }

    /// Whether the token after this one begins an operand.
    fn operand_follows(&mut self) -> bool {
        self.at += 1;
        let follows =
            self.is_name() || ["(", "[", "{", "_", "0", "~"].iter().any(|each| self.is(each));
        self.at -= 1;
        follows
    }

    /// `f(a, b)`, `f a`, or something simple.
    fn application(&mut self) -> Result1<Expression> {
        let start = self.token().span;
        if !self.is_name() {
            return self.simple();
        }
        let function = self.name("a name")?;
        let arguments = if self.take("(") {
            let mut arguments = Vec::new();
            while !self.take(")") {
                if !arguments.is_empty() {
                    self.expect(",")?;
                }
                arguments.push(self.expression()?);
            }
            arguments
        } else if self.is_name() || ["[", "{", "_", "0"].iter().any(|each| self.is(each)) {
            vec![self.simple()?]
        } else {
            return Ok(self.node(start, ExpressionKind::Name(function.text)));
        };
        Ok(self.node(start, ExpressionKind::Apply { function, arguments }))
    }

    fn simple(&mut self) -> Result1<Expression> {
        let start = self.token().span;
        if self.is_name() {
            let name = self.name("a name")?;
            return Ok(self.node(start, ExpressionKind::Name(name.text)));
        }
        if self.take("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(Expression { place: self.place(start.to(self.end_of_last())), ..inner });
        }
        if self.take("begin") {
            let inner = self.expression()?;
            self.expect("end")?;
            return Ok(inner);
        }
        if self.take("[") {
            let inner = self.expression()?;
            self.expect("]")?;
            return Ok(self.node(start, ExpressionKind::Identity(inner.into())));
        }
        if self.take("{") {
            if !self.take("}") {
                return Err(Diagnostic::error(start, "sets of sets and tags are not supported"));
            }
            return Ok(self.node(start, ExpressionKind::Empty));
        }
        if self.take("_") {
            return Ok(self.node(start, ExpressionKind::Universe));
        }
        if self.take("0") {
            return Ok(self.node(start, ExpressionKind::Empty));
        }
        if self.token().kind == TokenKind::Tag {
            return Err(Diagnostic::error(start, "tags and enumerations are not supported"));
        }
        Err(self.refused().unwrap_or_else(|| self.expected("a set or a relation")))
    }
}
