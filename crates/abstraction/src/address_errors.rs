//! Which errors show where one address stands for all.
//!
//! In the program with one address (T15), whatever is done at that address is done as it was
//! written, so that run-time errors in it are made explicit and claimed when its processors are
//! abstracted. What is left out is what is done at other addresses, and what is asked of all or some
//! addresses at once. An error that shows only there would be lost, so a program with such a check is
//! refused: a check that names two addresses (parameters or variables of loops), one that asks for all
//! addresses, or one of a local variable that holds an address. Every other check is about one
//! address at most, and is seen where that address is the one in view.
//!
//! ```text
//! refused: ruleset a, b: Address do rule t[level[a] + level[b]] ==> …
//! refused: rule exists a: Address do t[level[a]] end ==> …
//! fine:    ruleset a: Address do rule t[level[a]] ==> …
//! ```

use murphi::ast::{
    BinaryOperator, Body, DeclarationKind, Expression, ExpressionKind, PropertyKind, Quantifier,
    Statement, StatementKind, UnaryOperator,
};
use murphi::check::Dialect;
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;
use murphi::transform::{each_part, explicit_errors, flatten_all, is_true, names, same};
use prepare::{Prepared, ProcessorTypes};

/// Refuses a program, prepared for the abstraction of addresses, in which an error may show only at
/// two addresses together.
pub(crate) fn shows_at_one_address(
    prepared: &Prepared,
    dialect: Dialect,
) -> Result<(), Vec<Diagnostic>> {
    let types = prepared.types();
    let checked = explicit_errors(&types, &flatten_all(&prepared.program)?, dialect)?;
    let mut checks = Checks { types: &types, held: Vec::new(), problems: Vec::new() };
    for (rule, evaluates) in checked.program.rules.iter().zip(&checked.guards) {
        let bound = checks.addresses(&rule.quantifiers);
        checks.check(&bound, evaluates, rule.guard.as_ref().map_or(rule.span, |guard| guard.span));
        checks.body(&bound, &rule.body);
    }
    for start in &checked.program.start_states {
        let bound = checks.addresses(&start.quantifiers);
        checks.body(&bound, &start.item.1);
    }
    if checks.problems.is_empty() { Ok(()) } else { Err(checks.problems) }
}

struct Checks<'a> {
    /// The types of the program; "processors" are its addresses.
    types: &'a ProcessorTypes,
    /// Local variables that hold addresses.
    held: Vec<String>,
    problems: Vec<Diagnostic>,
}

impl Checks<'_> {
    /// Those of these variables that are addresses.
    fn addresses(&self, quantifiers: &[Quantifier]) -> Vec<String> {
        let addresses = quantifiers.iter().filter(|each| self.types.over_processors(each));
        addresses.map(|each| each.name.text.clone()).collect()
    }

    fn body(&mut self, bound: &[String], body: &Body) {
        self.held.clear();
        for declaration in &body.declarations {
            if let DeclarationKind::Variable(variables) = &declaration.kind
                && self.types.stores_processors(&variables.ty)
            {
                self.held.extend(variables.names.iter().map(|name| name.text.clone()));
            }
        }
        self.statements(bound, &body.statements);
    }

    fn statements(&mut self, bound: &[String], statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Property(property) if property.kind == PropertyKind::Check => {
                    self.check(bound, &property.condition, statement.span);
                }
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|branch| self.statements(bound, &branch.body));
                    otherwise.iter().for_each(|body| self.statements(bound, body));
                }
                StatementKind::Switch { cases, otherwise, .. } => {
                    cases.iter().for_each(|case| self.statements(bound, &case.body));
                    otherwise.iter().for_each(|body| self.statements(bound, body));
                }
                StatementKind::For { quantifiers, body } => {
                    let bound = [bound, &self.addresses(quantifiers)].concat();
                    self.statements(&bound, body);
                }
                StatementKind::While { body, .. } | StatementKind::Alias { body, .. } => {
                    self.statements(bound, body);
                }
                _ => {}
            }
        }
    }

    fn check(&mut self, bound: &[String], condition: &Expression, span: Span) {
        if is_true(condition) || (bound.is_empty() && says_all_are_defined(condition)) {
            return;
        }
        let named = names(condition);
        let holds_address = named.iter().any(|name| self.held.contains(name));
        let addresses = bound.iter().filter(|address| named.contains(address)).count();
        if addresses > 1 || holds_address || self.asks_for_all(condition) {
            let message = "this may fail by what is so at several addresses, so one address cannot \
                           stand for the others";
            self.problems.push(Diagnostic::error(span, message));
        }
    }

    fn asks_for_all(&self, condition: &Expression) -> bool {
        let mut found = false;
        each_part(condition, &mut |part| {
            if let ExpressionKind::Quantified { quantifiers, .. } = &part.kind {
                found |= !self.addresses(quantifiers).is_empty();
            }
        });
        found
    }
}

/// `forall … do !isundefined(place) end`: what a start state leaves behind (E3), which is asked again
/// of the program with one address if that relies on it. Or that something is defined or not.
fn says_all_are_defined(condition: &Expression) -> bool {
    let mut inner = condition;
    while let ExpressionKind::Quantified { all: true, condition, .. } = &inner.kind {
        inner = condition;
    }
    let defined = |whole: &Expression| match &whole.kind {
        ExpressionKind::Unary(UnaryOperator::Not, inner) => match &inner.kind {
            ExpressionKind::IsUndefined(place) => Some((**place).clone()),
            _ => None,
        },
        _ => None,
    };
    match &inner.kind {
        ExpressionKind::Binary(BinaryOperator::Or, left, right) => match &left.kind {
            ExpressionKind::IsUndefined(place) => {
                defined(right).is_some_and(|other| same(place, &other))
            }
            _ => false,
        },
        _ => defined(inner).is_some() && !std::ptr::eq(inner, condition),
    }
}
