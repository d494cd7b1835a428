//! Decides from the source whether a protocol only copies its values: causality and data
//! independence.
//!
//! The method of "Verifying sequential consistency … by model checking" (§3) needs that values
//! only come from stores (causality) and that no decision depends on them (data independence).
//! Both follow if everything of the value type is only ever copied. The analysis checks this in the
//! typed model, and reports each place where it is not evident. Such a report means "not
//! established", not "false"; `foundations.rs` decides what it means for a verdict. The cost is
//! linear in the size of the model; recursion follows its nesting, which is bounded.
//!
//! The property that is established: replace each value in a run by a symbol, one for each parameter
//! of the value type that a rule chooses, and one for each value that a start state chooses or
//! names. For every assignment of values to the symbols, the run is one of the protocol, with the
//! same symbols in its states, loads and stores. So the following uses are allowed: copies of values,
//! of whole records and of arrays; `isundefined`; anything in invariants and assertions, which do not
//! change a run (assumptions do: they exclude states); values named in start states; and one guard
//! `place = v` for each parameter `v` of a rule, which only names the symbol in the place (the
//! ⟨R, i, j, k⟩ of the paper): for every assignment, the rule is enabled with exactly one `v`, which
//! is a copy and not a choice. Since types of equal structure are equal in the language, the analysis
//! also checks that both sides of a copy are data. Every lemma checks that values are stored before
//! they are loaded; `free_values.rs` decides whether each store has a symbol of its own.

#[cfg(test)]
mod tests;

use murphi::diagnostic::Diagnostic;
use murphi::ir::{
    AliasTarget, Argument, Assign, Base, Binder, Call, Domain, Expression, ExpressionKind,
    FunctionId, LocalId, Model, Operator, Parameter, Place, PropertyKind, Put, Rule, Simple,
    Statement, StatementKind, Step, TypeId, TypeKind,
};
use murphi::source::Span;

use crate::compose::carries;
use crate::foundations::{Foundation, Unestablished};

/// How a protocol treats its values.
#[derive(Debug, Clone)]
pub(crate) struct Treatment {
    /// What could not be established, by its place.
    pub(crate) doubts: Vec<Unestablished>,
    /// For each start state, where its values come from.
    pub(crate) first: Vec<FirstValues>,
    /// The values that start states name.
    pub(crate) literals: Vec<Span>,
    /// For each rule, the parameters of the value type that it chooses. A guard gives the others
    /// the value of a place.
    pub(crate) chosen: Vec<Vec<LocalId>>,
}

/// Where the values of a start state come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FirstValues {
    /// How many values it chooses.
    pub(crate) chosen: usize,
    /// The different values that it names. What is cleared has the lowest.
    pub(crate) named: Vec<i64>,
    /// Whether there may be others: from functions, or computed.
    pub(crate) others: bool,
}

/// How a model treats the values of a type with a name.
pub(crate) fn treatment(model: &Model, value: TypeId, name: &str) -> Treatment {
    let mut analysis = Analysis {
        model,
        value,
        name,
        starting: None,
        found: Vec::new(),
        literals: Vec::new(),
        plain: Vec::new(),
        calls_others: false,
    };
    for function in &model.functions {
        let is_plain =
            analysis.is_plain(|analysis| analysis.block(&function.body, function.result));
        analysis.plain.push(is_plain);
    }
    let chosen = model.rules.iter().map(|rule| analysis.rule(rule)).collect();
    for property in model.properties.iter().filter(|one| one.kind == PropertyKind::Assumption) {
        analysis.parameters(&property.parameters);
        analysis.decision(&property.condition);
    }
    let mut first = Vec::new();
    for rule in &model.start_states {
        analysis.starting = Some(FirstValues::default());
        let mut chosen = 0;
        let is_plain = analysis.is_plain(|analysis| chosen = analysis.rule(rule).len());
        let values = analysis.starting.take().unwrap_or_default();
        first.push(FirstValues { chosen, others: !is_plain, ..values });
    }
    let (mut doubts, literals) = (analysis.found, analysis.literals);
    doubts.sort_by_key(|doubt| (doubt.diagnostic.span.start, doubt.diagnostic.span.end));
    doubts.dedup();
    Treatment { doubts, first, literals, chosen }
}

struct Analysis<'a> {
    model: &'a Model,
    value: TypeId,
    /// What the type of values is called.
    name: &'a str,
    /// What the start state that is being looked at has named so far.
    starting: Option<FirstValues>,
    found: Vec<Unestablished>,
    literals: Vec<Span>,
    /// For each function so far, whether nothing is in doubt about it and what it calls.
    plain: Vec<bool>,
    /// Whether a function that is not plain was called.
    calls_others: bool,
}

impl Analysis<'_> {
    fn doubt(&mut self, about: Foundation, span: Span, message: String, help: &str) {
        let diagnostic = Diagnostic::warning(span, message).help(help);
        self.found.push(Unestablished { about, diagnostic });
    }

    /// Whether nothing is in doubt about something, and what it calls.
    fn is_plain(&mut self, look: impl FnOnce(&mut Self)) -> bool {
        let known = self.found.len();
        self.calls_others = false;
        look(self);
        self.found.len() == known && !self.calls_others
    }

    /// A value that a start state names.
    fn names(&mut self, value: i64) {
        if let Some(first) = &mut self.starting
            && !first.named.contains(&value)
        {
            first.named.push(value);
        }
    }

    /// A decision that depends on data.
    fn decides(&mut self, span: Span) {
        let message = format!(
            "data independence is not established: a decision depends on a `{}`",
            self.name
        );
        let help = "the protocol may copy values, but not compare them or compute with them";
        self.doubt(Foundation::DataIndependence, span, message, help);
    }

    /// A value that no store has written.
    fn conjures(&mut self, span: Span) {
        let message =
            format!("causality is not established: this `{}` comes from no store", self.name);
        let help = "`undefine` variables without data, and choose values by parameters of rules";
        self.doubt(Foundation::Causality, span, message, help);
    }

    /// Data that leaves its type, or something that enters it.
    fn escapes(&mut self, span: Span) {
        let message = format!(
            "data independence is not established: a `{}` becomes a value of another type, or \
             the reverse",
            self.name
        );
        let help = "declare every variable that holds data with this type";
        self.doubt(Foundation::DataIndependence, span, message, help);
    }

    /// Looks at a rule. The result are the parameters of the value type that it chooses.
    fn rule(&mut self, rule: &Rule) -> Vec<LocalId> {
        let mut chosen = self.parameters(&rule.parameters);
        if let Some(guard) = &rule.guard {
            self.guard(guard, &mut chosen);
        }
        self.block(&rule.body, None);
        chosen
    }

    /// Parameters of a rule or a property. The result are those of the value type.
    fn parameters(&mut self, parameters: &[Parameter]) -> Vec<LocalId> {
        let mut values = Vec::new();
        for parameter in parameters {
            match parameter {
                Parameter::Each(Binder { local, domain: Domain::Type(ty), .. })
                    if *ty == self.value =>
                {
                    values.push(*local);
                }
                Parameter::Each(binder) => self.domain(binder),
                Parameter::Alias { target, .. } => self.alias(target),
            }
        }
        values
    }

    /// A guard. Each of the parameters `chosen` may be said once to equal what is somewhere: then
    /// it is chosen no more.
    fn guard(&mut self, guard: &Expression, chosen: &mut Vec<LocalId>) {
        match &guard.kind {
            ExpressionKind::Binary(Operator::And, left, right) => {
                self.guard(left, chosen);
                self.guard(right, chosen);
            }
            ExpressionKind::Binary(Operator::Equal, left, right) => {
                for (parameter, place) in [(left, right), (right, left)] {
                    let Some(at) = chosen.iter().position(|&local| is_local(parameter, local))
                    else {
                        continue;
                    };
                    if place.ty == self.value && matches!(place.kind, ExpressionKind::Read(_)) {
                        chosen.remove(at);
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
                if carries(self.model, place.ty, self.value, true) {
                    match self.starting {
                        Some(_) => self.names(self.model.lowest(self.value)),
                        None => self.conjures(statement.span),
                    }
                }
            }
            StatementKind::Undefine(place) => self.place(place),
            StatementKind::Assume(condition) => self.decision(condition),
            StatementKind::MultisetAdd { value, multiset } => {
                self.place(multiset);
                let element = match self.model.kind(multiset.ty) {
                    TypeKind::Multiset { element, .. } => *element,
                    _ => value.ty,
                };
                self.moves(value, element);
            }
            StatementKind::MultisetRemove { position, multiset } => {
                self.place(multiset);
                self.decision(position);
            }
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                self.domain(binder);
                self.decision(condition);
            }
            // They observe and do not act, but for functions that they call.
            StatementKind::Assert { condition: seen, .. }
            | StatementKind::Cover { condition: seen, .. }
            | StatementKind::Put(Put::Value(seen)) => {
                if has_call(seen) {
                    self.decision(seen);
                }
            }
            StatementKind::Return(None) | StatementKind::Error(_) | StatementKind::Put(_) => {}
        }
    }

    /// An expression that becomes the value of something of type `ty`.
    fn moves(&mut self, expression: &Expression, ty: TypeId) {
        let model = self.model;
        let carried = |ty: TypeId| carries(model, ty, self.value, false);
        match (&expression.kind, carried(ty), carried(expression.ty)) {
            (ExpressionKind::Undefined, ..) => {}
            (ExpressionKind::Constant(constant), true, _) => match self.starting {
                Some(_) => {
                    self.names(*constant);
                    self.literals.push(expression.span);
                }
                None => self.conjures(expression.span),
            },
            (_, true, true) if self.alike(ty, expression.ty) => self.copied(expression),
            (_, false, false) => self.decision(expression),
            (_, true, _) | (_, false, true) => self.escapes(expression.span),
        }
    }

    /// Whether two types have data at the same places. Types that look the same are the same type of
    /// the language, and one may call data what the other does not.
    fn alike(&self, left: TypeId, right: TypeId) -> bool {
        if left == right || left == self.value || right == self.value {
            return left == right;
        }
        match (self.model.kind(left), self.model.kind(right)) {
            (TypeKind::Record(one), TypeKind::Record(other)) => {
                let fields = one.iter().zip(other);
                one.len() == other.len()
                    && fields.into_iter().all(|(one, other)| self.alike(one.ty, other.ty))
            }
            (TypeKind::Array { element: one, .. }, TypeKind::Array { element: other, .. })
            | (
                TypeKind::Multiset { element: one, .. },
                TypeKind::Multiset { element: other, .. },
            ) => self.alike(*one, *other),
            _ => true,
        }
    }

    /// Whether going through a type goes through all values.
    fn has_values(&self, ty: TypeId) -> bool {
        match self.model.simple(ty) {
            Some(Simple::Union(members)) => members.contains(&self.value),
            _ => ty == self.value,
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
            // A value that leaves a union may be any: nothing keeps track of what entered.
            _ => self.escapes(expression.span),
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
        self.calls_others |= !self.plain[call.function.0 as usize];
        for (argument, parameter) in call.arguments.iter().zip(&callee.frame.locals) {
            match argument {
                Argument::Value(expression) => self.moves(expression, parameter.ty),
                Argument::Reference(place) => {
                    self.place(place);
                    if !self.alike(place.ty, parameter.ty) {
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
            Domain::Type(ty) if self.has_values(*ty) => self.decides(binder.span),
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

/// Whether a function is called in an expression.
fn has_call(expression: &Expression) -> bool {
    let in_place = |place: &Place| {
        place.steps.iter().any(|step| match step {
            Step::Field(_) => false,
            Step::Index(index) | Step::Element(index) => has_call(index),
        })
    };
    match &expression.kind {
        ExpressionKind::Call(_) => true,
        ExpressionKind::Constant(_) | ExpressionKind::Undefined => false,
        ExpressionKind::Read(place) | ExpressionKind::IsUndefined(place) => in_place(place),
        ExpressionKind::Not(inner)
        | ExpressionKind::Negate(inner)
        | ExpressionKind::Complement(inner)
        | ExpressionKind::Convert(inner)
        | ExpressionKind::IsMember { value: inner, .. }
        | ExpressionKind::Quantified { condition: inner, .. }
        | ExpressionKind::MultisetCount { condition: inner, .. } => has_call(inner),
        ExpressionKind::Binary(_, left, right) | ExpressionKind::Same { left, right, .. } => {
            has_call(left) || has_call(right)
        }
        ExpressionKind::Conditional(condition, left, right) => {
            [condition, left, right].into_iter().any(|part| has_call(part))
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
