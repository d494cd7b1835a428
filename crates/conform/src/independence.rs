//! Does a protocol treat its data as cargo? Causality and data independence, from the source.
//!
//! The method of "Verifying sequential consistency … by model checking" (§3) needs that values
//! only come from stores (causality) and that no decision depends on them (data independence).
//! Both follow if everything of the value type is only ever copied. This is what is looked for in
//! the typed model: each place where it is not evident becomes a warning that underlines it.
//! Nothing is refused, since a warning means "not established", not "false". Linear in the size
//! of the model; recursion follows its nesting, which is bounded.
//!
//! Allowed are copies of values, whole records and arrays; `isundefined`; anything in invariants
//! and assertions, which observe and do not act; the lowest value in start states; and one guard
//! `place = v` for each parameter `v` of a rule, which only names the value that is there (the
//! ⟨R, i, j, k⟩ of the paper). That values are stored before they are loaded is not looked for
//! here: every lemma checks it.

#[cfg(test)]
mod tests;

use murphi::diagnostic::Diagnostic;
use murphi::ir::{
    AliasTarget, Argument, Assign, Base, Binder, Call, Domain, Expression, ExpressionKind,
    FunctionId, LocalId, Model, Operator, Parameter, Place, Rule, Statement, StatementKind, Step,
    TypeId,
};
use murphi::source::Span;

use crate::compose::carries;
use crate::events::Protocol;

/// What could not be established, by its place.
pub(crate) fn doubts(protocol: &Protocol) -> Vec<Diagnostic> {
    let model = &*protocol.model;
    let mut analysis = Analysis {
        model,
        value: protocol.value.ty,
        name: &protocol.value.text,
        starting: false,
        found: Vec::new(),
    };
    for function in &model.functions {
        analysis.block(&function.body, function.result);
    }
    for rule in &model.rules {
        analysis.rule(rule);
    }
    analysis.starting = true;
    for rule in &model.start_states {
        analysis.rule(rule);
    }
    let mut found = analysis.found;
    found.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end));
    found.dedup();
    found
}

struct Analysis<'a> {
    model: &'a Model,
    value: TypeId,
    /// What the type of values is called.
    name: &'a str,
    /// Whether start states are being looked at.
    starting: bool,
    found: Vec<Diagnostic>,
}

impl Analysis<'_> {
    fn doubt(&mut self, span: Span, message: String, help: &str) {
        self.found.push(Diagnostic::warning(span, message).help(help));
    }

    /// A decision that depends on data.
    fn decides(&mut self, span: Span) {
        let message = format!(
            "data independence is not established: a decision depends on a `{}`",
            self.name
        );
        let help = "values may be copied, but not compared or computed with";
        self.doubt(span, message, help);
    }

    /// A value that no store has written.
    fn conjures(&mut self, span: Span) {
        let message =
            format!("causality is not established: this `{}` comes from no store", self.name);
        let help = "`undefine` what holds no data, and let values enter as parameters of rules";
        self.doubt(span, message, help);
    }

    /// Data that leaves its type, or something that enters it.
    fn escapes(&mut self, span: Span) {
        let message = format!(
            "data independence is not established: data is taken for something else than `{}`, or \
             the reverse",
            self.name
        );
        self.doubt(span, message, "declare everything that holds data by this type");
    }

    fn rule(&mut self, rule: &Rule) {
        let mut named = Vec::new();
        for parameter in &rule.parameters {
            match parameter {
                Parameter::Each(Binder { local, domain: Domain::Type(ty), .. })
                    if *ty == self.value =>
                {
                    named.push(*local);
                }
                Parameter::Each(binder) => self.domain(binder),
                Parameter::Alias { target, .. } => self.alias(target),
            }
        }
        if let Some(guard) = &rule.guard {
            self.guard(guard, &mut named);
        }
        self.block(&rule.body, None);
    }

    /// A guard. Each of the parameters `named` may be said once to equal what is somewhere.
    fn guard(&mut self, guard: &Expression, named: &mut Vec<LocalId>) {
        match &guard.kind {
            ExpressionKind::Binary(Operator::And, left, right) => {
                self.guard(left, named);
                self.guard(right, named);
            }
            ExpressionKind::Binary(Operator::Equal, left, right) => {
                for (parameter, place) in [(left, right), (right, left)] {
                    let Some(at) = named.iter().position(|&local| is_local(parameter, local))
                    else {
                        continue;
                    };
                    if place.ty == self.value && matches!(place.kind, ExpressionKind::Read(_)) {
                        named.remove(at);
                        return self.copied(place);
                    }
                }
                self.decision(guard);
            }
            _ => self.decision(guard),
        }
    }

    fn block(&mut self, statements: &[Statement], result: Option<TypeId>) {
        for statement in statements {
            self.statement(statement, result);
        }
    }

    fn statement(&mut self, statement: &Statement, result: Option<TypeId>) {
        match &statement.kind {
            StatementKind::Assign(Assign { target, value, .. }) => {
                self.place(target);
                self.moves(value, target.ty);
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.decision(condition);
                    self.block(body, result);
                }
                self.block(otherwise, result);
            }
            StatementKind::Switch { value, cases, otherwise } => {
                self.decision(value);
                for (values, body) in cases {
                    values.iter().for_each(|value| self.decision(value));
                    self.block(body, result);
                }
                self.block(otherwise, result);
            }
            StatementKind::For { binder, body, .. } => {
                self.domain(binder);
                self.block(body, result);
            }
            StatementKind::While { condition, body } => {
                self.decision(condition);
                self.block(body, result);
            }
            StatementKind::Alias { target, body, .. } => {
                self.alias(target);
                self.block(body, result);
            }
            StatementKind::Call(call) => self.call(call),
            StatementKind::Return(Some(value)) => match result {
                Some(ty) => self.moves(value, ty),
                None => self.decision(value),
            },
            StatementKind::Clear(place) => {
                self.place(place);
                if !self.starting && carries(self.model, place.ty, self.value, true) {
                    self.conjures(statement.span);
                }
            }
            StatementKind::Undefine(place) => self.place(place),
            StatementKind::Assume(condition) => self.decision(condition),
            StatementKind::MultisetAdd { value, multiset } => {
                self.place(multiset);
                self.moves(value, value.ty);
            }
            StatementKind::MultisetRemove { position, multiset } => {
                self.place(multiset);
                self.decision(position);
            }
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                self.domain(binder);
                self.decision(condition);
            }
            // They observe and do not act.
            StatementKind::Assert { .. } | StatementKind::Cover { .. } | StatementKind::Put(_) => {}
            StatementKind::Return(None) | StatementKind::Error(_) => {}
        }
    }

    /// An expression that becomes the value of something of type `ty`.
    fn moves(&mut self, expression: &Expression, ty: TypeId) {
        let model = self.model;
        let carried = |ty: TypeId| carries(model, ty, self.value, false);
        match (&expression.kind, carried(ty), carried(expression.ty)) {
            (ExpressionKind::Undefined, ..) => {}
            (ExpressionKind::Constant(constant), true, _) => {
                if !self.starting || *constant != model.lowest(self.value) {
                    self.conjures(expression.span);
                }
            }
            (_, true, true) => self.copied(expression),
            (_, false, false) => self.decision(expression),
            (_, true, false) | (_, false, true) => self.escapes(expression.span),
        }
    }

    /// An expression with data in it that is copied as it is.
    fn copied(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Read(place) => self.place(place),
            ExpressionKind::Undefined => {}
            ExpressionKind::Conditional(condition, left, right) => {
                self.decision(condition);
                self.moves(left, expression.ty);
                self.moves(right, expression.ty);
            }
            ExpressionKind::Call(call) => self.call(call),
            ExpressionKind::Convert(inner) => self.copied(inner),
            _ => self.decides(expression.span),
        }
    }

    /// An expression whose value matters: there must be no data in it.
    fn decision(&mut self, expression: &Expression) {
        if carries(self.model, expression.ty, self.value, false) {
            return self.decides(expression.span);
        }
        match &expression.kind {
            ExpressionKind::Constant(_) | ExpressionKind::Undefined => {}
            ExpressionKind::Read(place) | ExpressionKind::IsUndefined(place) => self.place(place),
            ExpressionKind::Not(inner)
            | ExpressionKind::Negate(inner)
            | ExpressionKind::Complement(inner)
            | ExpressionKind::Convert(inner)
            | ExpressionKind::IsMember { value: inner, .. } => self.decision(inner),
            ExpressionKind::Binary(_, left, right) | ExpressionKind::Same { left, right, .. } => {
                let carried = |side: &Expression| carries(self.model, side.ty, self.value, false);
                if carried(left) || carried(right) {
                    return self.decides(expression.span);
                }
                self.decision(left);
                self.decision(right);
            }
            ExpressionKind::Conditional(condition, left, right) => {
                self.decision(condition);
                self.decision(left);
                self.decision(right);
            }
            ExpressionKind::Quantified { binder, condition, .. }
            | ExpressionKind::MultisetCount { binder, condition } => {
                self.domain(binder);
                self.decision(condition);
            }
            ExpressionKind::Call(call) => self.call(call),
        }
    }

    fn call(&mut self, call: &Call) {
        let callee = &self.model.functions[call.function.0 as usize];
        for (argument, parameter) in call.arguments.iter().zip(&callee.frame.locals) {
            match argument {
                Argument::Value(expression) => self.moves(expression, parameter.ty),
                Argument::Reference(place) => {
                    self.place(place);
                    let carried = |ty: TypeId| carries(self.model, ty, self.value, false);
                    if carried(place.ty) != carried(parameter.ty) {
                        self.escapes(place.span);
                    }
                }
            }
        }
    }

    fn place(&mut self, place: &Place) {
        for step in &place.steps {
            match step {
                Step::Field(_) => {}
                Step::Index(index) | Step::Element(index) => self.decision(index),
            }
        }
    }

    fn alias(&mut self, target: &AliasTarget) {
        match target {
            AliasTarget::Place(place) => self.place(place),
            AliasTarget::Value(value) => self.moves(value, value.ty),
        }
    }

    /// Something that goes through all values goes through them in an order.
    fn domain(&mut self, binder: &Binder) {
        match &binder.domain {
            Domain::Type(ty) if *ty == self.value => self.decides(binder.span),
            Domain::Type(_) => {}
            Domain::Range { from, to, by } => {
                for end in [from, to, by] {
                    self.decision(end);
                }
            }
            Domain::Multiset(place) => self.place(place),
        }
    }
}

/// Whether an expression is a local, and nothing but that.
pub(crate) fn is_local(expression: &Expression, local: LocalId) -> bool {
    matches!(
        &expression.kind,
        ExpressionKind::Read(Place { base: Base::Local(found), steps, .. })
            if *found == local && steps.is_empty()
    )
}

/// Whether a rule, or a function, calls a procedure in a statement.
pub(crate) fn is_called(model: &Model, callee: FunctionId) -> bool {
    let rules = model.rules.iter().map(|rule| &rule.body);
    let mut bodies = rules.chain(model.functions.iter().map(|function| &function.body));
    bodies.any(|body| body.iter().any(|statement| calls(statement, callee)))
}

fn calls(statement: &Statement, callee: FunctionId) -> bool {
    let any = |body: &[Statement]| body.iter().any(|statement| calls(statement, callee));
    match &statement.kind {
        StatementKind::Call(call) => call.function == callee,
        StatementKind::If { branches, otherwise } => {
            branches.iter().any(|(_, body)| any(body)) || any(otherwise)
        }
        StatementKind::Switch { cases, otherwise, .. } => {
            cases.iter().any(|(_, body)| any(body)) || any(otherwise)
        }
        StatementKind::For { body, .. }
        | StatementKind::While { body, .. }
        | StatementKind::Alias { body, .. } => any(body),
        _ => false,
    }
}
