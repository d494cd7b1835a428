//! From the syntax tree back to Murphi.
//!
//! The text is plain: what both CMurphi and Rumur accept is written in the form that both accept,
//! one statement a line, with no more parentheses than the precedence asks for (and one pair in
//! `!(!a)` and `-(-a)`, which CMurphi would read as something else). Reading the text again gives
//! the same tree, spans aside.

use std::fmt::Write as _;

use crate::ast::{
    Alias, BinaryOperator, Body, Call, Declaration, DeclarationKind, Domain, Expression,
    ExpressionKind, Function, FunctionDefinition, Item, MultisetFilter, Name, Parameter, Program,
    Property, PropertyKind, Quantifier, Rule, RuleKind, Statement, StatementKind, Text,
    TypeExpression, TypeKind, UnaryOperator, Variables,
};
use crate::lex::quote;
use crate::parse::precedence::Precedence;

/// The program as a source text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer { text: String::new(), indent: 0 };
    let mut section = "";
    for item in &program.items {
        match item {
            Item::Declaration(declaration) => printer.declaration(declaration, &mut section),
            Item::Function(function) => {
                section = "";
                printer.text.push('\n');
                printer.function(function);
            }
            Item::Rule(rule) => {
                section = "";
                printer.text.push('\n');
                printer.rule(rule);
            }
        }
    }
    printer.text
}

/// An expression as a source text.
pub fn print_expression(expression: &Expression) -> String {
    let mut text = String::new();
    write_expression(&mut text, expression, Precedence::Conditional);
    text
}

struct Printer {
    text: String,
    indent: usize,
}

impl Printer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.indent);
    }

    fn indented(&mut self, content: impl FnOnce(&mut Self)) {
        self.indent += 1;
        content(self);
        self.indent -= 1;
    }

    // Declarations.

    /// A declaration, after the word of its section unless that was the last one written.
    fn declaration(&mut self, declaration: &Declaration, section: &mut &'static str) {
        let (word, text) = match &declaration.kind {
            DeclarationKind::Constant { names, value } => {
                ("const", format!("{}: {}", list(names), print_expression(value)))
            }
            DeclarationKind::Type { names, definition } => {
                ("type", format!("{}: {}", list(names), self.type_text(definition)))
            }
            DeclarationKind::Variable(variables) => ("var", self.variables(variables)),
        };
        if *section != word {
            self.line(word);
            *section = word;
        }
        self.indented(|printer| printer.line(&format!("{text};")));
    }

    fn variables(&self, variables: &Variables) -> String {
        format!("{}: {}", list(&variables.names), self.type_text(&variables.ty))
    }

    fn type_text(&self, ty: &TypeExpression) -> String {
        let mut text = String::new();
        write_type(&mut text, ty);
        text
    }

    fn function(&mut self, function: &Function) {
        let external = matches!(function.definition, FunctionDefinition::External(_));
        let word = match (&function.result, external) {
            (Some(_), false) => "function",
            (None, false) => "procedure",
            (Some(_), true) => "externfun",
            (None, true) => "externproc",
        };
        let parameters: Vec<String> = function.parameters.iter().map(parameter).collect();
        let mut line = format!("{word} {}({})", function.name.text, parameters.join("; "));
        if let Some(result) = &function.result {
            let _ = write!(line, ": {}", self.type_text(result));
        }
        match &function.definition {
            FunctionDefinition::External(file) => {
                let file = file.as_ref().map(|file| format!(" {}", quote(&file.text)));
                self.line(&format!("{line}{};", file.unwrap_or_default()));
            }
            FunctionDefinition::Body(body) => {
                self.line(&format!("{line};"));
                self.body(body);
            }
        }
    }

    fn body(&mut self, body: &Body) {
        let mut section = "";
        for declaration in &body.declarations {
            self.declaration(declaration, &mut section);
        }
        self.line("begin");
        self.statements(&body.statements);
        self.line("end;");
    }

    // Rules.

    fn rules(&mut self, header: &str, rules: &[Rule]) {
        self.line(&format!("{header} do"));
        self.indented(|printer| {
            for rule in rules {
                printer.rule(rule);
            }
        });
        self.line("end;");
    }

    fn rule(&mut self, rule: &Rule) {
        match &rule.kind {
            RuleKind::StartState { name, body } => {
                self.line(&format!("startstate{}", before(name)));
                self.body(body);
            }
            RuleKind::Simple { priority, name, guard, body } => {
                let priority = priority.map(|number| format!(" {}", number.value));
                self.line(&format!("rule{}{}", priority.unwrap_or_default(), before(name)));
                if let Some(guard) = guard {
                    let mut text = print_expression(guard);
                    // A number right after `rule` would be a priority.
                    if name.is_none() && text.starts_with(|first: char| first.is_ascii_digit()) {
                        text = format!("({text})");
                    }
                    self.indented(|printer| printer.line(&format!("{text} ==>")));
                }
                self.body(body);
            }
            RuleKind::Ruleset { quantifiers, rules } => {
                self.rules(&format!("ruleset {}", quantifier_list(quantifiers)), rules);
            }
            RuleKind::Alias { aliases, rules } => {
                self.rules(&format!("alias {}", alias_list(aliases)), rules);
            }
            RuleKind::Choose { name, multiset, rules } => {
                self.rules(&format!("choose {}: {}", name.text, print_expression(multiset)), rules);
            }
            RuleKind::Property(property) => {
                let word = property_word(property.kind, "invariant");
                let condition = print_expression(&property.condition);
                self.line(&format!("{word}{} {condition};", before(&property.message)));
            }
        }
    }

    // Statements.

    fn statements(&mut self, statements: &[Statement]) {
        self.indented(|printer| {
            for statement in statements {
                printer.statement(&statement.kind);
            }
        });
    }

    fn block(&mut self, header: &str, statements: &[Statement]) {
        self.line(header);
        self.statements(statements);
        self.line("end;");
    }

    fn otherwise(&mut self, otherwise: Option<&Vec<Statement>>) {
        if let Some(statements) = otherwise {
            self.line("else");
            self.statements(statements);
        }
        self.line("end;");
    }

    fn statement(&mut self, statement: &StatementKind) {
        match statement {
            StatementKind::If { branches, otherwise } => {
                for (at, branch) in branches.iter().enumerate() {
                    let word = if at == 0 { "if" } else { "elsif" };
                    self.line(&format!("{word} {} then", print_expression(&branch.condition)));
                    self.statements(&branch.body);
                }
                self.otherwise(otherwise.as_ref());
            }
            StatementKind::Switch { value, cases, otherwise } => {
                self.line(&format!("switch {}", print_expression(value)));
                for case in cases {
                    self.line(&format!("case {}:", expression_list(&case.values)));
                    self.statements(&case.body);
                }
                self.otherwise(otherwise.as_ref());
            }
            StatementKind::For { quantifiers, body } => {
                self.block(&format!("for {} do", quantifier_list(quantifiers)), body);
            }
            StatementKind::While { condition, body } => {
                self.block(&format!("while {} do", print_expression(condition)), body);
            }
            StatementKind::Alias { aliases, body } => {
                self.block(&format!("alias {} do", alias_list(aliases)), body);
            }
            simple => self.line(&format!("{};", simple_statement(simple))),
        }
    }
}

/// A statement that contains no others.
fn simple_statement(statement: &StatementKind) -> String {
    let text = print_expression;
    match statement {
        StatementKind::Assign { target, value } => format!("{} := {}", text(target), text(value)),
        StatementKind::Call(call) => call_text(call),
        StatementKind::Return(None) => "return".to_string(),
        StatementKind::Return(Some(value)) => format!("return {}", text(value)),
        StatementKind::Clear(place) => format!("clear {}", text(place)),
        StatementKind::Undefine(place) => format!("undefine {}", text(place)),
        StatementKind::Error(message) => format!("error {}", quote(&message.text)),
        StatementKind::Property(property) => property_statement(property),
        StatementKind::PutText(message) => format!("put {}", quote(&message.text)),
        StatementKind::Put(value) => format!("put {}", text(value)),
        StatementKind::MultisetAdd { value, multiset } => {
            format!("MultisetAdd({}, {})", text(value), text(multiset))
        }
        StatementKind::MultisetRemove { position, multiset } => {
            format!("MultisetRemove({}, {})", text(position), text(multiset))
        }
        StatementKind::MultisetRemoveWhere(filter) => {
            format!("MultisetRemovePred({})", filter_text(filter))
        }
        StatementKind::If { .. }
        | StatementKind::Switch { .. }
        | StatementKind::For { .. }
        | StatementKind::While { .. }
        | StatementKind::Alias { .. } => String::new(),
    }
}

fn property_statement(property: &Property) -> String {
    let word = property_word(property.kind, "assert");
    format!("{word} {}{}", print_expression(&property.condition), before(&property.message))
}

fn property_word(kind: PropertyKind, assertion: &'static str) -> &'static str {
    match kind {
        PropertyKind::Assertion | PropertyKind::Check => assertion,
        PropertyKind::Assumption => "assume",
        PropertyKind::Cover => "cover",
        PropertyKind::Liveness => "liveness",
    }
}

// Lists.

fn list(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
    names.join(", ")
}

fn expression_list(expressions: &[Expression]) -> String {
    let expressions: Vec<String> = expressions.iter().map(print_expression).collect();
    expressions.join(", ")
}

fn quantifier_list(quantifiers: &[Quantifier]) -> String {
    let quantifiers: Vec<String> = quantifiers.iter().map(quantifier).collect();
    quantifiers.join("; ")
}

fn alias_list(aliases: &[Alias]) -> String {
    let alias = |alias: &Alias| format!("{}: {}", alias.name.text, print_expression(&alias.value));
    let aliases: Vec<String> = aliases.iter().map(alias).collect();
    aliases.join("; ")
}

fn parameter(parameter: &Parameter) -> String {
    let word = if parameter.by_reference { "var " } else { "" };
    let mut text = format!("{word}{}: ", list(&parameter.names));
    write_type(&mut text, &parameter.ty);
    text
}

fn quantifier(quantifier: &Quantifier) -> String {
    let name = &quantifier.name.text;
    match &quantifier.domain {
        Domain::Type(ty) => {
            let mut text = format!("{name}: ");
            write_type(&mut text, ty);
            text
        }
        Domain::Range { from, to, by } => {
            let by = by.as_ref().map(|by| format!(" by {}", print_expression(by)));
            let (from, to) = (print_expression(from), print_expression(to));
            format!("{name} := {from} to {to}{}", by.unwrap_or_default())
        }
    }
}

fn call_text(call: &Call) -> String {
    format!("{}({})", call.name.text, expression_list(&call.arguments))
}

fn filter_text(filter: &MultisetFilter) -> String {
    let (multiset, condition) =
        (print_expression(&filter.multiset), print_expression(&filter.condition));
    format!("{}: {multiset}, {condition}", filter.name.text)
}

/// A text with a blank before it, if there is one.
fn before(text: &Option<Text>) -> String {
    text.as_ref().map(|text| format!(" {}", quote(&text.text))).unwrap_or_default()
}

// Types.

fn write_type(text: &mut String, ty: &TypeExpression) {
    match &ty.kind {
        TypeKind::Named(name) => text.push_str(&name.text),
        TypeKind::Range(low, high) => {
            write_expression(text, low, Precedence::Conditional);
            text.push_str("..");
            write_expression(text, high, Precedence::Conditional);
        }
        TypeKind::Enumeration(members) => {
            let _ = write!(text, "enum {{ {} }}", list(members));
        }
        TypeKind::Record(fields) => {
            text.push_str("record ");
            for field in fields {
                let _ = write!(text, "{}: ", list(&field.names));
                write_type(text, &field.ty);
                text.push_str("; ");
            }
            text.push_str("end");
        }
        TypeKind::Array { index, element } => {
            text.push_str("array [");
            write_type(text, index);
            text.push_str("] of ");
            write_type(text, element);
        }
        TypeKind::Multiset { capacity, element } => {
            let _ = write!(text, "multiset [{}] of ", print_expression(capacity));
            write_type(text, element);
        }
        TypeKind::Scalarset(size) => {
            let _ = write!(text, "scalarset({})", print_expression(size));
        }
        TypeKind::Union(members) => {
            text.push_str("union { ");
            for (at, member) in members.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                write_type(text, member);
            }
            text.push_str(" }");
        }
        TypeKind::Real(digits, exponent) => {
            let (digits, exponent) = (print_expression(digits), print_expression(exponent));
            let _ = write!(text, "real({digits}, {exponent})");
        }
    }
}

// Expressions.

/// Writes an expression where operators must be at least this tight.
fn write_expression(text: &mut String, expression: &Expression, loosest: Precedence) {
    let precedence = precedence(&expression.kind);
    if precedence < loosest {
        text.push('(');
        write_kind(text, &expression.kind, precedence);
        text.push(')');
    } else {
        write_kind(text, &expression.kind, precedence);
    }
}

fn precedence(kind: &ExpressionKind) -> Precedence {
    match kind {
        ExpressionKind::Conditional(..) => Precedence::Conditional,
        ExpressionKind::Binary(operator, ..) => Precedence::of(*operator),
        ExpressionKind::Unary(operator, _) => Precedence::of_unary(*operator),
        ExpressionKind::Integer(value) if *value < 0 => Precedence::Sign,
        _ => Precedence::Closed,
    }
}

fn write_kind(text: &mut String, kind: &ExpressionKind, precedence: Precedence) {
    let tighter = precedence.tighter();
    match kind {
        ExpressionKind::Integer(value) => {
            let _ = write!(text, "{value}");
        }
        ExpressionKind::Real(digits) => text.push_str(digits),
        ExpressionKind::Name(name) => text.push_str(name),
        ExpressionKind::Undefined => text.push_str("undefined"),
        ExpressionKind::Field(record, field) => {
            write_expression(text, record, Precedence::Closed);
            let _ = write!(text, ".{}", field.text);
        }
        ExpressionKind::Index(array, index) => {
            write_expression(text, array, Precedence::Closed);
            let _ = write!(text, "[{}]", print_expression(index));
        }
        ExpressionKind::Call(call) => text.push_str(&call_text(call)),
        ExpressionKind::Unary(operator, operand) => {
            text.push_str(unary_symbol(*operator));
            // Apart: `--` begins a comment. Without parentheses, which would nest.
            if matches!(operand.kind, ExpressionKind::Unary(..)) {
                text.push(' ');
                write_expression(text, operand, precedence);
            } else {
                write_expression(text, operand, tighter);
            }
        }
        ExpressionKind::Binary(operator, left, right) => {
            write_expression(text, left, if precedence.chains() { precedence } else { tighter });
            let _ = write!(text, " {} ", binary_symbol(*operator));
            write_expression(text, right, tighter);
        }
        ExpressionKind::Conditional(condition, then, otherwise) => {
            write_expression(text, condition, tighter);
            text.push_str(" ? ");
            write_expression(text, then, Precedence::Conditional);
            text.push_str(" : ");
            write_expression(text, otherwise, tighter);
        }
        ExpressionKind::Quantified { all, quantifiers, condition } => {
            let word = if *all { "forall" } else { "exists" };
            let (quantifiers, condition) =
                (quantifier_list(quantifiers), print_expression(condition));
            let _ = write!(text, "{word} {quantifiers} do {condition} end");
        }
        ExpressionKind::IsUndefined(place) => {
            let _ = write!(text, "isundefined({})", print_expression(place));
        }
        ExpressionKind::IsMember(value, member) => {
            let _ = write!(text, "ismember({}, ", print_expression(value));
            write_type(text, member);
            text.push(')');
        }
        ExpressionKind::MultisetCount(filter) => {
            let _ = write!(text, "MultisetCount({})", filter_text(filter));
        }
    }
}

fn unary_symbol(operator: UnaryOperator) -> &'static str {
    match operator {
        UnaryOperator::Not => "!",
        UnaryOperator::Plus => "+",
        UnaryOperator::Negate => "-",
        UnaryOperator::Complement => "~",
    }
}

fn binary_symbol(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Implies => "->",
        BinaryOperator::LogicalOr => "||",
        BinaryOperator::LogicalAnd => "&&",
        BinaryOperator::Or => "|",
        BinaryOperator::Xor => "^",
        BinaryOperator::And => "&",
        BinaryOperator::Equal => "=",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessOrEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterOrEqual => ">=",
        BinaryOperator::ShiftLeft => "<<",
        BinaryOperator::ShiftRight => ">>",
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Remainder => "%",
    }
}
