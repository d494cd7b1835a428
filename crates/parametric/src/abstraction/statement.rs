//! Statements: what is visible of them once some processors are `Other`.

use murphi::ast::{
    Branch, Case, Expression, ExpressionKind, Property, PropertyKind, Statement, StatementKind,
};
use murphi::source::Span;

use super::instance::{
    Instance, Key, Mode, NAMED, OTHER, Standing, Step, Stop, outside, overlap, reads,
};
use super::loops::writes;
use super::places::Where;
use super::processors::{Who, processor_of};
use crate::syntax::{
    assign, binary, boolean, field, is_false, is_true, name, names, not, parts, statement, when,
};

impl<'t> Instance<'t> {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Step<Vec<Statement>> {
        let mut done = Vec::new();
        for statement in statements {
            done.extend(self.statement(statement)?);
        }
        Ok(done)
    }

    /// A statement, in cases if it depends on whether a stored processor is concrete.
    fn statement(&mut self, whole: &Statement) -> Step<Vec<Statement>> {
        let before = self.clone();
        match self.attempt(whole) {
            // Better around a loop than in it.
            Err(Stop::Split(stored)) if self.is_steady(&stored) => Err(Stop::Split(stored)),
            Err(Stop::Split(stored)) => {
                *self = before;
                let base = self.clone();
                let mut cases = Vec::new();
                let mut written = Vec::new();
                for (standing, called) in outside(self.types) {
                    self.learn(&stored, *standing);
                    cases.push((called, self.statement(whole)?));
                    written.extend(self.next_branch(&base));
                }
                self.learn(&stored, Standing::Concrete);
                let mut done = self.statement(whole)?;
                self.join(&base, written);
                for (called, outside) in cases.into_iter().rev() {
                    let equal = murphi::ast::BinaryOperator::Equal;
                    let is_it = binary(equal, stored.clone(), name(called, whole.span));
                    done = chained(when(is_it, outside, done, whole.span));
                }
                Ok(done)
            }
            // An error where all is concrete: here it does not happen.
            Err(Stop::Undefined) => {
                *self = before;
                Ok(vec![assumed(boolean(false, whole.span), whole.span)])
            }
            Err(Stop::Bound(span)) => Err(Stop::refuse(
                span,
                "what another processor has here is different for each value of the loop variable",
                "write the loop so that it does not depend on another processor's state",
            )),
            other => other,
        }
    }

    /// Whether a place is the same, with the same value, throughout the loops around.
    fn is_steady(&self, place: &Expression) -> bool {
        let mentioned = names(place);
        let is_read = |written: &Key| reads(place).iter().any(|read| overlap(written, read));
        !self.bound.is_empty()
            && !self.bound.iter().any(|bound| mentioned.contains(bound))
            && !self.loop_writes.iter().any(is_read)
    }

    /// Ends one branch and begins the next: gives what was written in it.
    fn next_branch(&mut self, base: &Instance<'t>) -> Vec<Key> {
        self.leave_branch(base);
        self.log.split_off(base.log.len())
    }

    /// After all branches.
    fn join(&mut self, base: &Instance<'t>, written: Vec<Key>) {
        self.leave_branch(base);
        self.log.extend(written);
    }

    fn attempt(&mut self, whole: &Statement) -> Step<Vec<Statement>> {
        let span = whole.span;
        match &whole.kind {
            StatementKind::Assign { target, value } => self.assignment(target, value, span),
            StatementKind::Undefine(place) => {
                let found = self.place(place, Mode::Exact)?;
                self.wrote(place);
                Ok(match found {
                    Where::Visible(place) => {
                        vec![statement(StatementKind::Undefine(place), span)]
                    }
                    Where::Hidden => Vec::new(),
                    Where::Member(any) => vec![self.removed(any, span)?],
                })
            }
            StatementKind::Clear(place) => {
                let found = self.place(place, Mode::Exact)?;
                self.wrote(place);
                let ty = self.types.of(&self.scope, place);
                match found {
                    Where::Hidden => Ok(Vec::new()),
                    Where::Member(any) => Ok(vec![self.removed(any, span)?]),
                    Where::Visible(_) if ty.is_none_or(|ty| self.types.stores_processors(&ty)) => {
                        let message = "`clear` gives a processor that is not like the others";
                        Err(Stop::refuse(span, message, "use `undefine`, or assign"))
                    }
                    Where::Visible(place) => Ok(vec![statement(StatementKind::Clear(place), span)]),
                }
            }
            StatementKind::If { branches, otherwise } => {
                self.branches(branches, otherwise.as_deref().unwrap_or_default(), span)
            }
            StatementKind::Switch { value, cases, otherwise } => {
                self.switch(value, cases, otherwise.as_deref(), span)
            }
            StatementKind::For { quantifiers, body } => self.for_all(quantifiers, body, span),
            StatementKind::While { condition, body } => {
                let outer = self.enter_loop(body);
                // A choice in it would have to be another one in each round.
                self.bound.push(String::new());
                for written in writes(body) {
                    self.log.push(written);
                }
                let condition = self.condition(condition, Mode::Probe);
                let done = self.statements(body);
                for written in writes(body) {
                    self.log.push(written);
                }
                self.bound.pop();
                let body = done;
                self.loop_writes = outer;
                match condition {
                    Ok(condition) => {
                        Ok(vec![statement(StatementKind::While { condition, body: body? }, span)])
                    }
                    Err(Stop::Refuse(problem)) => Err(Stop::Refuse(problem)),
                    Err(_) => Err(Stop::refuse(
                        span,
                        "how long this loop runs depends on processors that are not concrete",
                        "use `for`",
                    )),
                }
            }
            StatementKind::Error(message) => Ok(match self.checks {
                true => vec![statement(StatementKind::Error(message.clone()), span)],
                false => vec![assumed(boolean(false, span), span)],
            }),
            StatementKind::Property(property) => self.property(property, span),
            StatementKind::MultisetAdd { value, multiset } => {
                let found = self.place(multiset, Mode::Exact)?;
                self.wrote(multiset);
                match found {
                    Where::Hidden | Where::Member(_) => Ok(Vec::new()),
                    Where::Visible(multiset) => match self.place(value, Mode::Exact)? {
                        Where::Visible(value) => {
                            let kind = StatementKind::MultisetAdd { value, multiset };
                            Ok(vec![statement(kind, span)])
                        }
                        Where::Hidden | Where::Member(_) => Err(Stop::refuse(
                            value.span,
                            "what another processor has is put into a multiset",
                            "assign it to an element of an array",
                        )),
                    },
                }
            }
            StatementKind::MultisetRemove { position, multiset } => {
                let found = self.place(multiset, Mode::Exact)?;
                self.wrote(multiset);
                match found {
                    Where::Hidden | Where::Member(_) => Ok(Vec::new()),
                    Where::Visible(multiset) => {
                        let position =
                            self.value(position, Mode::Probe).map_err(multisets(span))?;
                        let kind = StatementKind::MultisetRemove { position, multiset };
                        Ok(vec![statement(kind, span)])
                    }
                }
            }
            StatementKind::MultisetRemoveWhere(filter) => {
                let found = self.place(&filter.multiset, Mode::Exact)?;
                self.wrote(&filter.multiset);
                match found {
                    Where::Hidden | Where::Member(_) => Ok(Vec::new()),
                    Where::Visible(multiset) => {
                        let condition = self.condition(&filter.condition, Mode::Probe);
                        let mut filter = filter.clone();
                        filter.multiset = Box::new(multiset);
                        filter.condition = Box::new(condition.map_err(multisets(span))?);
                        Ok(vec![statement(StatementKind::MultisetRemoveWhere(filter), span)])
                    }
                }
            }
            StatementKind::Put(_) | StatementKind::PutText(_) => Ok(Vec::new()),
            StatementKind::Return(_) | StatementKind::Call(_) | StatementKind::Alias { .. } => {
                let message = "this statement cannot be abstracted";
                Err(Stop::refuse(span, message, "write it out"))
            }
        }
    }

    fn assignment(
        &mut self,
        target: &Expression,
        value: &Expression,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let place = match self.place(target, Mode::Exact)? {
            Where::Visible(place) => place,
            Where::Hidden => {
                self.wrote(target);
                return Ok(Vec::new());
            }
            Where::Member(any) => {
                let value = match &value.kind {
                    ExpressionKind::Undefined => boolean(false, span),
                    _ => self.value(value, Mode::Exact)?,
                };
                self.wrote(target);
                if is_true(&value) {
                    return Ok(vec![assign(any, value, span)]);
                }
                let removed = self.removed(any.clone(), span)?;
                return Ok(match is_false(&value) {
                    true => vec![removed],
                    false => when(
                        value,
                        vec![assign(any, boolean(true, span), span)],
                        vec![removed],
                        span,
                    ),
                });
            }
        };
        let undefined = |place: Expression| statement(StatementKind::Undefine(place), span);
        if self.is_processor(target) {
            let who = self.assigned_processor(value)?;
            self.wrote(target);
            return Ok(vec![match who {
                Who::Concrete(value) => {
                    self.learn(&place, Standing::Concrete);
                    assign(place, value, span)
                }
                Who::Other => {
                    self.learn(&place, Standing::Other);
                    assign(place, name(OTHER, span), span)
                }
                Who::Named => {
                    self.learn(&place, Standing::Named);
                    assign(place, name(NAMED, span), span)
                }
                Who::Outside => {
                    let message = "the processor that is stored here is one of several";
                    return Err(Stop::refuse(span, message, "store it outside of the loop"));
                }
                Who::Stored(value) => assign(place, value, span),
                Who::Undefined => undefined(place),
            }]);
        }
        let is_place = matches!(
            value.kind,
            ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..)
        );
        if !is_place || matches!(self.place(value, Mode::Exact)?, Where::Member(_)) {
            let value = match &value.kind {
                ExpressionKind::Undefined => None,
                _ => Some(self.value(value, Mode::Exact)?),
            };
            self.wrote(target);
            return Ok(vec![match value {
                Some(value) => assign(place, value, span),
                None => undefined(place),
            }]);
        }
        match self.place(value, Mode::Exact)? {
            Where::Visible(value) => {
                self.wrote(target);
                Ok(vec![assign(place, value, span)])
            }
            Where::Hidden | Where::Member(_) => {
                let ty = self.types.of(&self.scope, value);
                if let Some(fields) = ty.as_ref().and_then(|ty| self.types.fields(ty)) {
                    let mut done = Vec::new();
                    for (part, _) in fields {
                        let (to, from) =
                            (field(target.clone(), &part), field(value.clone(), &part));
                        done.extend(self.assignment(&to, &from, span)?);
                    }
                    return Ok(done);
                }
                if self.is_set(value) {
                    let done = self.set_copied(&place, value, span);
                    self.wrote(target);
                    return done;
                }
                if ty.is_none_or(|ty| !self.types.is_simple(&ty)) {
                    return Err(Stop::refuse(
                        span,
                        "an array of another processor is copied",
                        "copy its elements one by one",
                    ));
                }
                let choice = self.choice(value, Mode::Exact, true)?;
                self.wrote(target);
                Ok(vec![match &choice.name {
                    Some(parameter) => assign(place, name(parameter, span), span),
                    None => undefined(place),
                }])
            }
        }
    }

    /// One of the others leaves a set: there may be more of them in it.
    fn removed(&mut self, any: Expression, span: Span) -> Step<Statement> {
        let more = self.choose_anew(any.clone(), None)?;
        Ok(assign(any.clone(), crate::syntax::and(any, more), span))
    }

    /// A processor that is assigned: nothing is a value as well.
    fn assigned_processor(&mut self, value: &Expression) -> Step<Who> {
        let is_place = matches!(value.kind, ExpressionKind::Field(..) | ExpressionKind::Index(..));
        if is_place && matches!(self.place(value, Mode::Exact)?, Where::Hidden) {
            let choice = self.choice(value, Mode::Exact, true)?;
            return Ok(processor_of(&choice, value));
        }
        self.who(value, Mode::Exact)
    }

    fn branches(
        &mut self,
        branches: &[Branch],
        otherwise: &[Statement],
        span: Span,
    ) -> Step<Vec<Statement>> {
        let Some((first, rest)) = branches.split_first() else {
            return self.statements(otherwise);
        };
        let all = |this: &mut Self, condition: Option<Expression>| {
            let base = this.clone();
            let skips_then = condition.as_ref().is_some_and(crate::syntax::is_false);
            let then = if skips_then { Vec::new() } else { this.statements(&first.body)? };
            let written = this.next_branch(&base);
            let skips_else = condition.as_ref().is_some_and(is_true);
            let other = if skips_else { Vec::new() } else { this.rest(rest, otherwise, span)? };
            this.join(&base, written);
            Step::Ok((then, other))
        };
        // Nothing has to be chosen for a condition on which nothing visible depends.
        let mut trial = self.clone();
        if let Ok((then, other)) = all(&mut trial, None)
            && (then.is_empty() && other.is_empty()
                || only_assumes(&then)
                    && only_assumes(&other)
                    && matches!(self.condition(&first.condition, Mode::Probe), Err(Stop::Unknown)))
        {
            self.log = trial.log;
            return Ok(Vec::new());
        }
        let condition = self.condition(&first.condition, Mode::Exact)?;
        let (then, other) = all(self, Some(condition.clone()))?;
        Ok(chained(when(condition, then, other, span)))
    }

    /// The branches that come after one that is not taken.
    fn rest(
        &mut self,
        branches: &[Branch],
        otherwise: &[Statement],
        span: Span,
    ) -> Step<Vec<Statement>> {
        let before = self.clone();
        match self.branches(branches, otherwise, span) {
            // An error where all is concrete, if it comes to that.
            Err(Stop::Undefined) => {
                *self = before;
                Ok(vec![assumed(boolean(false, span), span)])
            }
            other => other,
        }
    }

    fn switch(
        &mut self,
        value: &Expression,
        cases: &[Case],
        otherwise: Option<&[Statement]>,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let all = |this: &mut Self| {
            let mut bodies = Vec::new();
            let mut written = Vec::new();
            let base = this.clone();
            let rest = otherwise.unwrap_or_default();
            for body in cases.iter().map(|case| case.body.as_slice()).chain([rest]) {
                bodies.push(this.statements(body)?);
                written.extend(this.next_branch(&base));
            }
            this.join(&base, written);
            Step::Ok(bodies)
        };
        let mut trial = self.clone();
        if let Ok(bodies) = all(&mut trial)
            && (bodies.iter().all(Vec::is_empty)
                || bodies.iter().all(|body| only_assumes(body))
                    && matches!(self.value(value, Mode::Probe), Err(Stop::Unknown)))
        {
            self.log = trial.log;
            return Ok(Vec::new());
        }
        let value = self.value(value, Mode::Exact)?;
        let mut values = Vec::new();
        for case in cases {
            let each = case.values.iter().map(|value| self.case_value(value));
            values.push(each.collect::<Step<Vec<Expression>>>()?);
        }
        let mut bodies = all(self)?;
        let rest = bodies.pop().filter(|body| !body.is_empty());
        let cases = cases.iter().zip(values).zip(bodies);
        let cases = cases.map(|((case, values), body)| Case { values, body, span: case.span });
        let cases = cases.filter(|case| rest.is_some() || !case.body.is_empty()).collect();
        let kind = StatementKind::Switch { value, cases, otherwise: rest };
        Ok(vec![statement(kind, span)])
    }

    /// What a case of a `switch` is for. It is not looked at if an earlier case applies.
    fn case_value(&mut self, value: &Expression) -> Step<Expression> {
        self.value(value, Mode::Exact).map_err(|stop| match stop {
            Stop::Undefined => Stop::refuse(
                value.span,
                "what another processor has here may be undefined where no case asks for it",
                "use `if` and `elsif`",
            ),
            other => other,
        })
    }

    fn property(&mut self, property: &Property, span: Span) -> Step<Vec<Statement>> {
        match property.kind {
            PropertyKind::Assertion => {
                if !self.checks {
                    return self.assume(&property.condition, span);
                }
                let outer = std::mem::replace(&mut self.restricts, true);
                let condition = self.condition(&property.condition, Mode::Weaker);
                self.restricts = outer;
                let condition = condition?;
                if is_true(&condition) {
                    return Ok(Vec::new());
                }
                let property = Property { condition, ..property.clone() };
                Ok(vec![statement(StatementKind::Property(property), span)])
            }
            PropertyKind::Assumption => self.assume(&property.condition, span),
            PropertyKind::Cover | PropertyKind::Liveness => Ok(Vec::new()),
        }
    }

    fn assume(&mut self, condition: &Expression, span: Span) -> Step<Vec<Statement>> {
        self.choose_indices(condition)?;
        let condition = self.condition(condition, Mode::Weaker)?;
        Ok(if is_true(&condition) { Vec::new() } else { vec![assumed(condition, span)] })
    }
}

impl Instance<'_> {
    /// Chooses the processors that a condition finds its places by, where they are not known: most
    /// likely what follows needs them too, and what is assumed of a place that is not known says
    /// nothing.
    fn choose_indices(&mut self, condition: &Expression) -> Step<()> {
        if let ExpressionKind::Index(_, at) = &condition.kind
            && matches!(at.kind, ExpressionKind::Field(..) | ExpressionKind::Index(..))
            && self.is_processor(at)
            && matches!(self.place(at, Mode::Probe), Ok(Where::Hidden))
        {
            // What is different for each value of a variable stays unknown.
            if let Err(Stop::Refuse(problem)) = self.who(at, Mode::Exact) {
                return Err(Stop::Refuse(problem));
            }
        }
        for part in parts(condition) {
            self.choose_indices(part)?;
        }
        Ok(())
    }
}

/// Whether statements only assume something. If it is not known when they do, they say nothing.
fn only_assumes(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| {
        matches!(&statement.kind, StatementKind::Property(property)
            if property.kind == PropertyKind::Assumption)
    })
}

/// An assumption.
pub(super) fn assumed(condition: Expression, span: Span) -> Statement {
    let property = Property { kind: PropertyKind::Assumption, message: None, condition };
    statement(StatementKind::Property(property), span)
}

fn multisets(span: Span) -> impl Fn(Stop) -> Stop {
    move |stop| match stop {
        Stop::Refuse(problem) => Stop::Refuse(problem),
        _ => Stop::refuse(
            span,
            "what happens to this multiset depends on processors that are not concrete",
            "keep messages in arrays",
        ),
    }
}

/// `else if` as `elsif`, and a condition over nothing turned round.
fn chained(statements: Vec<Statement>) -> Vec<Statement> {
    let chain = |whole: Statement| {
        let StatementKind::If { mut branches, otherwise: Some(mut otherwise) } = whole.kind else {
            return whole;
        };
        let is_if = otherwise.len() == 1 && matches!(otherwise[0].kind, StatementKind::If { .. });
        if is_if
            && let StatementKind::If { branches: more, otherwise: last } = otherwise.remove(0).kind
        {
            branches.extend(more);
            return Statement {
                kind: StatementKind::If { branches, otherwise: last },
                span: whole.span,
            };
        }
        Statement {
            kind: StatementKind::If { branches, otherwise: Some(otherwise) },
            span: whole.span,
        }
    };
    statements.into_iter().map(chain).collect()
}

/// The condition under which a branch is taken.
pub(super) fn path(before: &[Branch], own: Option<&Expression>) -> Expression {
    let span = own.map_or(Span::default(), |own| own.span);
    let mut condition = boolean(true, span);
    for branch in before {
        condition = crate::syntax::and(condition, not(branch.condition.clone()));
    }
    match own {
        Some(own) => crate::syntax::and(condition, own.clone()),
        None => condition,
    }
}
