//! Loops over scalarsets whose result depends on the order of the members.
//!
//! A scalarset has no order, so a loop over one must not depend on it; CMurphi warns of every such
//! loop. This warns where the order shows: a member is stored where the next round stores another
//! one, or is returned, or a round reads what another one has written ([`rounds`]). That is a rule
//! of thumb, meant to have few false alarms.

use super::Checker;
use super::rounds::{self, Meanings};
use crate::diagnostic::Diagnostic;
use crate::ir::{
    AliasTarget, Argument, Base, Binder, Call, Domain, Expression, ExpressionKind, LocalId, Place,
    Simple, Statement, StatementKind, Step,
};
use crate::source::Span;

impl Checker<'_> {
    /// Warns of loops over scalarsets whose effect depends on the order of the rounds.
    pub(super) fn warn_of_dependence_on_order(&mut self) {
        let mut warnings = Vec::new();
        for function in &self.model.functions {
            let meanings = rounds::meanings(&function.frame, &[]);
            self.look_at_loops(&function.body, meanings, &mut warnings);
        }
        for rule in self.model.rules.iter().chain(&self.model.start_states) {
            let meanings = rounds::meanings(&rule.frame, &rule.parameters);
            self.look_at_loops(&rule.body, meanings, &mut warnings);
        }
        self.diagnostics.extend(warnings);
    }

    /// Looks at all loops in some statements.
    fn look_at_loops(
        &self,
        statements: &[Statement],
        mut meanings: Meanings,
        warnings: &mut Vec<Diagnostic>,
    ) {
        let mut pending: Vec<&Statement> = statements.iter().rev().collect();
        while let Some(statement) = pending.pop() {
            match &statement.kind {
                StatementKind::For { binder, body } => {
                    warnings.extend(self.warning_of_loop(binder, body, &meanings));
                    pending.extend(body.iter().rev());
                }
                StatementKind::While { body, .. } => pending.extend(body.iter().rev()),
                StatementKind::If { branches, otherwise } => {
                    pending.extend(otherwise.iter().rev());
                    let bodies = branches.iter().rev().flat_map(|(_, body)| body.iter().rev());
                    pending.extend(bodies);
                }
                StatementKind::Switch { cases, otherwise, .. } => {
                    pending.extend(otherwise.iter().rev());
                    let bodies = cases.iter().rev().flat_map(|(_, body)| body.iter().rev());
                    pending.extend(bodies);
                }
                StatementKind::Alias { local, target, body } => {
                    rounds::bind_alias(*local, target, &mut meanings);
                    pending.extend(body.iter().rev());
                }
                _ => {}
            }
        }
    }

    fn warning_of_loop(
        &self,
        binder: &Binder,
        body: &[Statement],
        meanings: &Meanings,
    ) -> Option<Diagnostic> {
        let Domain::Type(ty) = binder.domain else {
            return None;
        };
        let scalarset = match self.model.simple(ty) {
            Some(Simple::Scalarset(size)) => *size > 1,
            Some(Simple::Union(_)) => self.scalarset_inside(ty).is_some(),
            _ => false,
        };
        if !scalarset {
            return None;
        }
        let name = self.type_name(ty);
        if let Some(span) = dependence(body, &mut vec![binder.local]) {
            let message =
                format!("what this leaves behind depends on the order of `{name}`, which has none");
            let help = "choose the member by `ruleset`, or make sure that there is only one";
            return Some(Diagnostic::warning(span, message).help(help));
        }
        let span = rounds::dependence(&self.model, binder.local, body, meanings)?;
        let message = format!(
            "this may see what other rounds of the loop over `{name}` have left, in an order that \
             `{name}` does not have"
        );
        let help = "let rounds only add up, or choose the members by `ruleset`";
        let warning = Diagnostic::warning(span, message).related(binder.span, "the loop");
        Some(warning.help(help))
    }
}

/// Where a member is stored at a place that does not depend on it, or returned. Aliases of what
/// depends on it are added to `members`.
fn dependence(statements: &[Statement], members: &mut Vec<LocalId>) -> Option<Span> {
    statements.iter().find_map(|statement| match &statement.kind {
        StatementKind::Assign(assign) => {
            let stored = is_member(&assign.value, members);
            (stored && !place_mentions(&assign.target, members)).then_some(statement.span)
        }
        StatementKind::Return(Some(value)) => mentions(value, members).then_some(statement.span),
        StatementKind::If { branches, otherwise } => branches
            .iter()
            .find_map(|(_, body)| dependence(body, members))
            .or_else(|| dependence(otherwise, members)),
        StatementKind::Switch { cases, otherwise, .. } => cases
            .iter()
            .find_map(|(_, body)| dependence(body, members))
            .or_else(|| dependence(otherwise, members)),
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
            dependence(body, members)
        }
        StatementKind::Alias { local, target, body } => {
            let depends = match target {
                AliasTarget::Place(place) => place_mentions(place, members),
                AliasTarget::Value(value) => mentions(value, members),
            };
            if depends {
                members.push(*local);
            }
            dependence(body, members)
        }
        _ => None,
    })
}

/// Whether an expression is the member itself.
fn is_member(expression: &Expression, members: &[LocalId]) -> bool {
    match &expression.kind {
        ExpressionKind::Read(place) => {
            place.steps.is_empty()
                && matches!(place.base, Base::Local(local) if members.contains(&local))
        }
        ExpressionKind::Convert(inner) => is_member(inner, members),
        _ => false,
    }
}

fn place_mentions(place: &Place, members: &[LocalId]) -> bool {
    let base = matches!(place.base, Base::Local(local) if members.contains(&local));
    base || place.steps.iter().any(|step| match step {
        Step::Field(_) => false,
        Step::Index(index) | Step::Element(index) => mentions(index, members),
    })
}

fn mentions(expression: &Expression, members: &[LocalId]) -> bool {
    match &expression.kind {
        ExpressionKind::Constant(_) | ExpressionKind::Undefined => false,
        ExpressionKind::Read(place) | ExpressionKind::IsUndefined(place) => {
            place_mentions(place, members)
        }
        ExpressionKind::Not(inner)
        | ExpressionKind::Negate(inner)
        | ExpressionKind::Complement(inner)
        | ExpressionKind::Convert(inner)
        | ExpressionKind::IsMember { value: inner, .. } => mentions(inner, members),
        ExpressionKind::Binary(_, left, right) | ExpressionKind::Same { left, right, .. } => {
            mentions(left, members) || mentions(right, members)
        }
        ExpressionKind::Conditional(condition, left, right) => {
            [condition, left, right].into_iter().any(|part| mentions(part, members))
        }
        ExpressionKind::Quantified { binder, condition, .. }
        | ExpressionKind::MultisetCount { binder, condition } => {
            domain_mentions(&binder.domain, members) || mentions(condition, members)
        }
        ExpressionKind::Call(call) => call_mentions(call, members),
    }
}

fn domain_mentions(domain: &Domain, members: &[LocalId]) -> bool {
    match domain {
        Domain::Type(_) => false,
        Domain::Range { from, to, by } => {
            [from, to, by].into_iter().any(|part| mentions(part, members))
        }
        Domain::Multiset(place) => place_mentions(place, members),
    }
}

fn call_mentions(call: &Call, members: &[LocalId]) -> bool {
    call.arguments.iter().any(|argument| match argument {
        Argument::Value(value) => mentions(value, members),
        Argument::Reference(place) => place_mentions(place, members),
    })
}
