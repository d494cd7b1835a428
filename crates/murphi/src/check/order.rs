//! Where the order of what has no order may show.
//!
//! The members of a scalarset have no order, but a program may still distinguish them by the order in
//! which a loop goes through them, or by `clear`, which (in Rumur's dialect) gives the first. Then
//! states that differ by a permutation of members have different futures, and a search must not take
//! them for one. Every such place is found here and entered in [`Model::ordered`](crate::ir::Model),
//! with a warning; a search goes on without the symmetry of that scalarset. Quantifiers and filters
//! of multisets are evaluated for all members, so their order shows only in what their conditions
//! write.
//!
//! Where only the code of a start state shows the order (`for v: Value do memory := v end`), there is
//! no warning: if rules commute with renaming, what is reachable from a renamed start state is what is
//! reachable from the start state, renamed. So a search that takes renamed states for one visits the
//! same states, up to renaming, whichever of them it starts at.
//!
//! The other direction is what verdicts rest on: where nothing is found, running a rule and renaming
//! members may be exchanged. By induction on the program: an expression without loops only compares
//! members for equality and uses them as indices; quantifiers and filters give a value, an error or an
//! exclusion that does not depend on the order of evaluation (see [`ir`](crate::ir)); and loops over
//! members commute ([`rounds`]) or run all rounds before they return.
//!
//! Where only loops are in the way that bodies of rules run, and neither guards nor properties do, a
//! search can still find out by trying: a rule that is run in a renamed state is the rule run in the
//! state itself, with these loops in another order, renamed. If all orders lead to the same state
//! wherever the rule is run, running and renaming may be exchanged there. Such loops are entered in
//! [`Model::tried`](crate::ir::Model).

mod conditions;
mod path;
mod positions;
mod rounds;
mod write_kind;

use std::collections::HashSet;

use super::Checker;
use crate::diagnostic::Diagnostic;
use crate::ir::{
    AliasTarget, Base, Binder, Domain, Expression, ExpressionKind, Frame, LocalId, Model, Ordered,
    Parameter, Place, Rule, Simple, Statement, StatementKind, TypeId, TypeKind,
};
use crate::source::Span;
use crate::walk::{self, Visitor};
use path::{Meanings, bind_alias, meanings};
use positions::Renewals;
use rounds::{Around, Body, Dependence, Judgement, Reason, judge};

impl Checker<'_> {
    /// Finds where the order of members may show, warns of it, and marks loops that run all rounds.
    pub(super) fn find_dependence_on_order(&mut self) {
        let model = &self.model;
        let mut found = Vec::new();
        let in_conditions = conditions::functions(model);
        for (function, in_condition) in model.functions.iter().zip(in_conditions) {
            let meanings = meanings(&function.frame, function.parameters, &[]);
            let mut here = look_at(model, &function.frame, &[], &function.body, meanings);
            if in_condition {
                here.iter_mut().for_each(Found::never_try);
            }
            let vouched = self.options.vouched.as_deref();
            if vouched.is_some_and(|prefix| function.name.starts_with(prefix)) {
                here.retain(|found| !matches!(found, Found::Filter(_)));
            }
            found.extend(here);
        }
        let in_rule = |rule: &Rule| {
            let meanings = meanings(&rule.frame, 0, &rule.parameters);
            look_at(model, &rule.frame, &rule.parameters, &rule.body, meanings)
        };
        found.extend(model.rules.iter().flat_map(in_rule));
        let at_start: Vec<Found> = model.start_states.iter().flat_map(in_rule).collect();
        let shown = positions_that_show(model);
        let mut run_all = HashSet::new();
        let found = found.into_iter().map(|found| (found, false));
        for (found, at_start) in found.chain(at_start.into_iter().map(|found| (found, true))) {
            match found {
                Found::RunsAll(binder) => {
                    run_all.insert(binder);
                }
                Found::Loop { domain, dependence, .. } if at_start => {
                    self.enter_type(domain, dependence.span, Shows::AtStart);
                }
                Found::Loop { binder, domain, dependence, tried } => {
                    self.enter_loop((binder, tried), domain, dependence);
                }
                Found::Filter(span) => self.enter_elements(
                    span,
                    "this condition has side effects for each element of a multiset, whose \
                     elements have no order",
                    "use a condition without side effects",
                ),
                // `clear` has its own warning.
                Found::Cleared(ty, span) => {
                    self.enter_type(
                        ty,
                        span,
                        if at_start { Shows::AtStart } else { Shows::InRules },
                    );
                }
            }
        }
        for span in shown {
            self.enter_elements(
                span,
                "this position may no longer belong to the multiset it was chosen from; in \
                 another multiset it would depend on the order of the elements, which they do not \
                 have",
                "use the position only in the multiset it was chosen from, and change one element \
                 at a time",
            );
        }
        let model = &mut self.model;
        let rules = model.rules.iter_mut().chain(&mut model.start_states);
        let bodies = rules.map(|rule| &mut rule.body);
        let functions = model.functions.iter_mut().map(|function| &mut function.body);
        bodies.chain(functions).for_each(|body| mark(body, &run_all));
    }

    /// Enters the scalarsets that values of a type are members of.
    fn enter_type(&mut self, ty: TypeId, span: Span, shows: Shows) {
        let (at_start, tried) = (shows == Shows::AtStart, shows == Shows::IfTried);
        for scalarset in scalarsets(&self.model, ty) {
            self.model.ordered.push(Ordered { scalarset, span, at_start, tried });
        }
    }

    /// Where the order of elements shows, renaming members shows: it changes that order.
    fn enter_elements(&mut self, span: Span, message: &str, help: &str) {
        self.model.elements_have_order = true;
        let all = (0..self.model.types.len() as u32).map(TypeId);
        let simple: Vec<TypeId> =
            all.filter(|&ty| matches!(self.model.simple(ty), Some(Simple::Scalarset(_)))).collect();
        simple.into_iter().for_each(|ty| self.enter_type(ty, span, Shows::InRules));
        let help = format!(
            "{help}; otherwise elements are kept in the order in which they were added, and no \
             scalarset is used for symmetry reduction"
        );
        self.warn(Diagnostic::warning(span, message).help(help));
    }

    fn enter_loop(
        &mut self,
        (binder, tried): (Span, bool),
        domain: TypeId,
        dependence: Dependence,
    ) {
        let Dependence { span, reason } = dependence;
        let name = self.type_name(domain);
        self.enter_type(domain, span, if tried { Shows::IfTried } else { Shows::InRules });
        self.model.tried.extend(tried.then_some(binder));
        let looped = |message: String, help: &str| {
            let help = format!("{help}; otherwise `{name}` is not used for symmetry reduction");
            Diagnostic::warning(span, message).related(binder, "the loop").help(help)
        };
        let warning = match reason {
            Reason::LeftBehind => looped(
                format!(
                    "the result of this loop depends on the order of `{name}`, whose members \
                         have no order"
                ),
                "choose the member by a `ruleset` parameter, or let the iterations only \
                 accumulate (count, sum)",
            ),
            Reason::Seen => looped(
                format!(
                    "this may depend on earlier iterations of the loop over `{name}`, whose \
                     members have no order"
                ),
                "let the iterations only accumulate (count, sum), or choose the members by \
                 `ruleset` parameters",
            ),
            Reason::Returns => looped(
                format!(
                    "which iteration returns depends on the order of `{name}`, whose members \
                         have no order"
                ),
                "choose the member by a `ruleset` parameter, or return the same value in all \
                 iterations without side effects",
            ),
            Reason::TooLong => looped(
                format!("this loop over `{name}` is too long to analyse whether its order matters"),
                "call shorter functions",
            ),
            Reason::Recursion => looped(
                format!(
                    "this loop over `{name}` calls a recursive function, so it cannot be decided \
                     whether its order matters"
                ),
                "call functions that are not recursive",
            ),
        };
        self.warn(warning);
    }
}

/// Where positions of multisets are used so that the order of elements shows.
fn positions_that_show(model: &Model) -> Vec<Span> {
    let renewals = Renewals::of(model);
    let rules = model.rules.iter().chain(&model.start_states);
    let functions = model.functions.iter().filter_map(|function| {
        positions::in_function(model, (&function.frame, function.parameters), &function.body)
    });
    let properties = model.properties.iter().filter_map(|property| {
        positions::in_condition(model, &property.frame, &property.parameters, &property.condition)
    });
    let rules = rules.filter_map(|rule| positions::in_rule(model, rule, &renewals));
    rules.chain(functions).chain(properties).collect()
}

/// The scalarsets of at least two members that values of a simple type belong to, and those inside a
/// type that `clear` sets to their first members.
fn scalarsets(model: &Model, ty: TypeId) -> Vec<TypeId> {
    match model.kind(ty) {
        TypeKind::Simple(Simple::Scalarset(size)) if *size > 1 => vec![ty],
        TypeKind::Simple(Simple::Union(members)) => {
            members.iter().flat_map(|&member| scalarsets(model, member)).collect()
        }
        TypeKind::Simple(_) | TypeKind::Multiset { .. } => Vec::new(),
        TypeKind::Record(fields) => {
            fields.iter().flat_map(|field| scalarsets(model, field.ty)).collect()
        }
        TypeKind::Array { element, .. } => scalarsets(model, *element),
    }
}

/// Where the order of members may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    AtStart,
    InRules,
    /// In a loop of rules that can be run in every order.
    IfTried,
}

/// What was found about a loop.
enum Found {
    /// This loop runs all rounds, whatever one of them returns or excludes.
    RunsAll(Span),
    /// The order of the domain of this loop may show. Whether it can be run in every order, to see.
    Loop { binder: Span, domain: TypeId, dependence: Dependence, tried: bool },
    /// The order of the elements of a multiset may show.
    Filter(Span),
    /// The first member is distinguished from the others.
    Cleared(TypeId, Span),
}

impl Found {
    /// The loop cannot be run in every order.
    fn never_try(&mut self) {
        if let Found::Loop { tried, .. } = self {
            *tried = false;
        }
    }
}

fn look_at(
    model: &Model,
    frame: &Frame,
    parameters: &[Parameter],
    body: &[Statement],
    meanings: Meanings,
) -> Vec<Found> {
    let mut uses = Uses::of(frame);
    walk::parameters(parameters, &mut uses);
    walk::statements(body, &mut uses);
    let mut finder = Finder { model, frame, uses, meanings, found: Vec::new() };
    walk::statements(body, &mut finder);
    finder.found
}

/// How often each local of a frame is mentioned.
struct Uses(Vec<usize>);

impl Uses {
    fn of(frame: &Frame) -> Uses {
        Uses(vec![0; frame.locals.len()])
    }
}

impl Visitor for Uses {
    fn place(&mut self, place: &Place) {
        if let Base::Local(local) = place.base {
            self.0[local.0 as usize] += 1;
        }
    }
}

struct Finder<'m> {
    model: &'m Model,
    frame: &'m Frame,
    uses: Uses,
    meanings: Meanings,
    found: Vec<Found>,
}

impl Finder<'_> {
    fn judge(&self, variable: LocalId, body: Body<'_>) -> Judgement {
        let mut inside = Uses::of(self.frame);
        match body {
            Body::Statements(statements) => walk::statements(statements, &mut inside),
            Body::Condition(condition) => walk::expression(condition, &mut inside),
        }
        let used_outside =
            |LocalId(local): LocalId| self.uses.0[local as usize] > inside.0[local as usize];
        let around = Around { model: self.model, frame: self.frame, used_outside: &used_outside };
        judge(around, variable, body, &self.meanings)
    }

    /// Looks at a loop, or at a quantifier, of which there is no trying: all members are looked at
    /// anyway.
    fn look(&mut self, binder: &Binder, body: Body<'_>) {
        let Domain::Type(domain) = binder.domain else { return };
        if !self.model.is_unordered(domain) {
            return;
        }
        match self.judge(binder.local, body) {
            Judgement::Commutes => {}
            Judgement::RunsAll => self.found.push(Found::RunsAll(binder.span)),
            Judgement::Depends(mut dependence) => {
                if dependence.reason == Reason::TooLong {
                    dependence.span = binder.span;
                }
                let tried = matches!(body, Body::Statements(_));
                self.found.push(Found::Loop { binder: binder.span, domain, dependence, tried });
            }
        }
    }

    fn filter(&mut self, binder: &Binder, condition: &Expression) {
        if let Judgement::Depends(_) = self.judge(binder.local, Body::Condition(condition)) {
            self.found.push(Found::Filter(condition.span));
        }
    }
}

impl Visitor for Finder<'_> {
    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::For { binder, body, .. } => self.look(binder, Body::Statements(body)),
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                self.filter(binder, condition);
            }
            StatementKind::Clear(place) if !scalarsets(self.model, place.ty).is_empty() => {
                self.found.push(Found::Cleared(place.ty, place.span));
            }
            _ => {}
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Quantified { binder, condition, .. } => {
                self.look(binder, Body::Condition(condition));
            }
            ExpressionKind::MultisetCount { binder, condition } => self.filter(binder, condition),
            _ => {}
        }
    }

    fn alias(&mut self, local: LocalId, target: &AliasTarget) {
        bind_alias(local, target, &mut self.meanings);
    }
}

/// Marks the loops that run all rounds.
fn mark(statements: &mut [Statement], run_all: &HashSet<Span>) {
    for statement in statements {
        match &mut statement.kind {
            StatementKind::For { binder, body, runs_all } => {
                *runs_all = run_all.contains(&binder.span);
                mark(body, run_all);
            }
            StatementKind::While { body, .. } | StatementKind::Alias { body, .. } => {
                mark(body, run_all);
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter_mut().for_each(|(_, body)| mark(body, run_all));
                mark(otherwise, run_all);
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                cases.iter_mut().for_each(|(_, body)| mark(body, run_all));
                mark(otherwise, run_all);
            }
            _ => {}
        }
    }
}
