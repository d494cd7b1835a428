//! Loops. One that goes through all processors does for the concrete ones what it says. What it
//! does for the others must not show, or must be the same however often and in whatever order it is
//! done: then it is done once, or not at all, by choice.
//!
//! Transformation T12 of docs/abstraction.md.
//!
//! ```text
//! before: for q: P do if s[q] then ack := true; inv[q] := true; end; end
//! after:  the same for the concrete ones, and  if s[Other] then ack := true; end
//! ```

use murphi::ast::{
    Branch, Expression, ExpressionKind, PropertyKind, Quantifier, Statement, StatementKind,
};
use murphi::source::Span;
use murphi::transform::{
    Path, and, as_branches, assign, bind, boolean, changed, each_statement, is_true, name, names,
    overlap, own_expressions, parts, path, same, statement, when,
};

use super::instance::{Instance, Mode, NAMED, OTHER, Obstacle, ProcessorKind, Step, reads};
use super::order;
use super::places::Visibility;
use super::processors::ProcessorValue;
use super::statement::taken_if;

/// The iterations of a loop for abstract processors.
#[derive(Clone, Copy)]
struct Round<'a> {
    /// The loop variable.
    variable: &'a str,
    /// The whole body of the loop.
    whole: &'a [Statement],
    /// Whether the statement is executed in every iteration.
    always: bool,
}

impl Instance<'_> {
    /// Records the paths that a loop writes; returns those recorded before.
    pub(super) fn enter_loop(&mut self, body: &[Statement]) -> Vec<Path> {
        let outer = self.loop_writes.clone();
        self.loop_writes.extend(writes(body));
        outer
    }

    pub(super) fn for_all(
        &mut self,
        quantifiers: &[Quantifier],
        body: &[Statement],
        span: Span,
    ) -> Step<Vec<Statement>> {
        let Some((first, rest)) = quantifiers.split_first() else {
            return self.statements(body);
        };
        let inner = match rest.is_empty() {
            true => body.to_vec(),
            false => {
                let quantifiers = rest.to_vec();
                let kind = StatementKind::For { quantifiers, body: body.to_vec() };
                vec![statement(kind, span)]
            }
        };
        let variable = first.name.text.clone();
        let outer_scope = self.scope.clone();
        bind(&mut self.scope, std::slice::from_ref(first));
        self.bound.push(variable.clone());
        let outer_writes = self.enter_loop(&inner);
        let result = self.rounds(first, &variable, &inner, span);
        self.loop_writes = outer_writes;
        self.bound.pop();
        self.scope = outer_scope;
        for written in writes(&inner) {
            self.log.push(written);
        }
        result
    }

    fn rounds(
        &mut self,
        quantifier: &Quantifier,
        variable: &str,
        body: &[Statement],
        span: Span,
    ) -> Step<Vec<Statement>> {
        // Facts learned in one iteration do not hold in the next.
        for written in writes(body) {
            self.log.push(written);
        }
        let quantifier = &self.bounded(quantifier, Mode::Exact)?;
        let looped = |body: Vec<Statement>| match body.is_empty() {
            true => Vec::new(),
            false => {
                let kind = StatementKind::For { quantifiers: vec![quantifier.clone()], body };
                vec![statement(kind, span)]
            }
        };
        if !self.types.over_processors(quantifier) {
            return Ok(looped(self.statements(body)?));
        }
        let shadowed = self.processor_kinds.insert(variable.to_owned(), ProcessorKind::Concrete);
        let before = self.clone();
        let concrete = self.statements(body);
        self.leave_branch(&before);
        self.processor_kinds.insert(variable.to_owned(), ProcessorKind::Outside);
        let others = concrete.and_then(|concrete| {
            Ok((concrete, self.by_others(Round { variable, whole: body, always: true }, body)?))
        });
        self.leave_branch(&before);
        self.restore(variable, shadowed);
        let (concrete, others) = others?;
        if let Some(span) = order::dependence(variable, body) {
            return Err(Obstacle::refuse(
                span,
                "one iteration of a loop over processors may read here what another iteration \
                 writes",
                "let each iteration read only variables of its own processor, or variables that \
                 the loop does not change",
            ));
        }
        let mut done = looped(concrete);
        done.extend(others);
        Ok(done)
    }

    /// The visible effect of the iterations for abstract processors.
    fn by_others(&mut self, round: Round<'_>, statements: &[Statement]) -> Step<Vec<Statement>> {
        let mut done = Vec::new();
        for each in statements {
            done.extend(self.by_other(round, each)?);
        }
        Ok(done)
    }

    fn by_other(&mut self, round: Round<'_>, each: &Statement) -> Step<Vec<Statement>> {
        let span = each.span;
        match &each.kind {
            StatementKind::Assign { target, value } => {
                self.by_other_assigned(round, target, Some(value), each)
            }
            StatementKind::Undefine(target) => self.by_other_assigned(round, target, None, each),
            StatementKind::If { branches, otherwise } => {
                self.by_other_branches(round, branches, otherwise.as_deref(), span)
            }
            StatementKind::Switch { value, cases, otherwise } => {
                let branches = as_branches(value, cases);
                self.by_other_branches(round, &branches, otherwise.as_deref(), span)
            }
            StatementKind::Property(property) if property.kind != PropertyKind::Assumption => {
                match self.is_seen_elsewhere(round, &property.condition)? {
                    true => Ok(Vec::new()),
                    false => self.property(property, span),
                }
            }
            StatementKind::Error(message) => {
                match self.is_seen_elsewhere(round, &boolean(false, span))? {
                    true => Ok(Vec::new()),
                    false => self.error(message, span),
                }
            }
            StatementKind::Property(_) | StatementKind::Put(_) | StatementKind::PutText(_) => {
                Ok(Vec::new())
            }
            StatementKind::For { quantifiers, body } => {
                // The number of iterations of an inner loop may differ for each processor.
                let is_of_round =
                    |bound: &Expression| names(bound).iter().any(|name| name == round.variable);
                let depends = own_expressions(each).into_iter().any(is_of_round);
                let round = Round { always: round.always && !depends, ..round };
                let outer = self.scope.clone();
                bind(&mut self.scope, quantifiers);
                let mut shadowed = Vec::new();
                for quantifier in quantifiers {
                    let own = &quantifier.name.text;
                    self.bound.push(own.clone());
                    if self.types.over_processors(quantifier) {
                        let before =
                            self.processor_kinds.insert(own.clone(), ProcessorKind::Concrete);
                        shadowed.push((own.clone(), before));
                    }
                }
                let mut shown = self.by_others(round, body);
                for (own, _) in &shadowed {
                    self.processor_kinds.insert(own.clone(), ProcessorKind::Outside);
                }
                if !shadowed.is_empty() && shown.as_ref().is_ok_and(Vec::is_empty) {
                    shown = self.by_others(round, body);
                }
                for (own, before) in shadowed {
                    self.restore(&own, before);
                }
                self.bound.truncate(self.bound.len() - quantifiers.len());
                self.scope = outer;
                match shown?.is_empty() {
                    true => Ok(Vec::new()),
                    false => Err(shows(span)),
                }
            }
            _ => {
                let hidden = match changed(each) {
                    Some(target) => {
                        matches!(self.place(target, Mode::Probe), Ok(Visibility::Hidden))
                    }
                    None => false,
                };
                if hidden { Ok(Vec::new()) } else { Err(shows(span)) }
            }
        }
    }

    /// Whether an assertion in the iteration of an abstract processor is checked in another view:
    /// it is about that processor, or a view is wide enough for it, too.
    fn is_seen_elsewhere(&self, round: Round<'_>, claim: &Expression) -> Step<bool> {
        Ok(names(claim).iter().any(|name| name == round.variable) || !self.is_wide(claim)?)
    }

    fn by_other_branches(
        &mut self,
        round: Round<'_>,
        branches: &[Branch],
        otherwise: Option<&[Statement]>,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let round = Round { always: false, ..round };
        let mut done = Vec::new();
        for (number, branch) in branches.iter().enumerate() {
            let body = self.by_others(round, &branch.body)?;
            if !body.is_empty() {
                let condition = taken_if(&branches[..number], Some(&branch.condition));
                done.extend(self.by_choice(round, &condition, body, span)?);
            }
        }
        let body = self.by_others(round, otherwise.unwrap_or_default())?;
        if !body.is_empty() {
            let condition = taken_if(branches, None);
            done.extend(self.by_choice(round, &condition, body, span)?);
        }
        Ok(done)
    }

    /// A statement that is executed if some abstract processor satisfies a condition.
    fn by_choice(
        &mut self,
        round: Round<'_>,
        condition: &Expression,
        body: Vec<Statement>,
        span: Span,
    ) -> Step<Vec<Statement>> {
        let Round { variable, whole, .. } = round;
        let depends = |known: &Expression| shared_reads(whole, known, OTHER);
        if let Some(known) = self.some_others(variable, condition)
            && !depends(&known)
        {
            return Ok(when(known, body, Vec::new(), span));
        }
        // There may be no abstract processor, so the statement may be skipped even if the condition
        // holds.
        let chosen = self.choose_anew(self.some_other(variable, condition), Some(variable))?;
        let guard = match self.condition(condition, Mode::Weaker) {
            Ok(known) if !depends(&known) && !names(&known).contains(&variable.to_owned()) => {
                and(known, chosen)
            }
            _ => chosen,
        };
        Ok(when(guard, body, Vec::new(), span))
    }

    /// The set after every abstract processor has assigned its own element.
    fn by_other_member(
        &mut self,
        round: Round<'_>,
        any: Expression,
        value: Option<&Expression>,
        each: &Statement,
    ) -> Step<Vec<Statement>> {
        let Round { variable, whole, always } = round;
        let span = each.span;
        let value = value.cloned().unwrap_or_else(|| boolean(false, span));
        if shared_reads(whole, &value, variable) {
            return Err(shows(span));
        }
        if !always {
            let after = match is_true(&value) {
                true => value,
                false => self.choose_anew(self.some_other(variable, &value), Some(variable))?,
            };
            return Ok(vec![assign(any, after, span)]);
        }
        if let Some(known) = self.some_others(variable, &value) {
            return Ok(vec![assign(any, known, span)]);
        }
        let possible = self.condition(&value, Mode::Weaker).map_err(|_| shows(span))?;
        if names(&possible).contains(&variable.to_owned()) {
            return Err(shows(span));
        }
        let chosen = self.choose_anew(self.some_other(variable, &value), Some(variable))?;
        Ok(vec![assign(any, and(possible, chosen), span)])
    }

    fn by_other_assigned(
        &mut self,
        round: Round<'_>,
        target: &Expression,
        value: Option<&Expression>,
        each: &Statement,
    ) -> Step<Vec<Statement>> {
        let Round { variable, whole, always } = round;
        let place = match self.place(target, Mode::Probe) {
            Ok(Visibility::Hidden) => return Ok(Vec::new()),
            Ok(Visibility::Visible(place)) => place,
            Ok(Visibility::Member(any)) => return self.by_other_member(round, any, value, each),
            Err(Obstacle::Refuse(problem)) => return Err(Obstacle::Refuse(problem)),
            Err(_) => return Err(shows(each.span)),
        };
        let mentions = |whole: &Expression| {
            let found = names(whole);
            let is_own = |bound: &String| always && !self.processor_kinds.contains_key(bound);
            let mut bound = self.bound.iter().filter(|bound| !is_own(bound));
            bound.any(|bound| found.contains(bound)) || found.contains(&variable.to_owned())
        };
        if mentions(target) || value.is_some_and(mentions) {
            return Err(shows(each.span));
        }
        // The written place does not depend on the loop variable, and no other statement writes it.
        let written = writes(whole);
        let depends = |read: &Path| written.iter().any(|write| overlap(read, write));
        if value.is_some_and(|value| reads(value).iter().any(depends)) {
            return Err(shows(each.span));
        }
        let mut is_alone = true;
        each_statement(whole, &mut |other| {
            if changed(other).is_some_and(|other| overlap(&path(other), &path(target))) {
                is_alone &= does_same(other, each);
            }
        });
        if !is_alone {
            return Err(shows(each.span));
        }
        // The iterations of concrete processors have the same effect.
        if always {
            return Ok(Vec::new());
        }
        let Some(value) = value else {
            return Ok(vec![statement(StatementKind::Undefine(place), each.span)]);
        };
        let value = match self.is_processor(target) {
            true => match self.processor_value(value, Mode::Probe) {
                Ok(ProcessorValue::Concrete(value) | ProcessorValue::Stored(value)) => Ok(value),
                Ok(ProcessorValue::Other) => Ok(name(OTHER, each.span)),
                Ok(ProcessorValue::Named) => Ok(name(NAMED, each.span)),
                _ => Err(Obstacle::Unknown),
            },
            false => self.value(value, Mode::Probe),
        };
        match value {
            Ok(value) => Ok(vec![assign(place, value, each.span)]),
            Err(_) => Err(shows(each.span)),
        }
    }
}

/// Whether two statements assign the same value to the same place.
fn does_same(left: &Statement, right: &Statement) -> bool {
    match (&left.kind, &right.kind) {
        (
            StatementKind::Assign { target, value },
            StatementKind::Assign { target: other, value: other_value },
        ) => same(target, other) && same(value, other_value),
        (StatementKind::Undefine(place), StatementKind::Undefine(other)) => same(place, other),
        _ => false,
    }
}

/// Whether a condition reads a place that the loop writes, other than elements of its own
/// processor.
fn shared_reads(whole: &[Statement], known: &Expression, own: &str) -> bool {
    let written = writes(whole);
    shared(known, own).iter().any(|read| written.iter().any(|write| overlap(read, write)))
}

/// The paths that an expression reads, except elements of `own`.
fn shared(whole: &Expression, own: &str) -> Vec<Path> {
    match &whole.kind {
        ExpressionKind::Index(_, at) if matches!(&at.kind, ExpressionKind::Name(name) if name == own) => {
            Vec::new()
        }
        ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..) => {
            reads(whole)
        }
        _ => parts(whole).into_iter().flat_map(|part| shared(part, own)).collect(),
    }
}

/// The paths that statements write.
pub(super) fn writes(statements: &[Statement]) -> Vec<Path> {
    let mut found = Vec::new();
    each_statement(statements, &mut |statement| {
        found.extend(changed(statement).map(path));
    });
    found
}

fn shows(span: Span) -> Obstacle {
    Obstacle::refuse(
        span,
        "each iteration changes a shared variable, so the result depends on the number of \
         processors",
        "a loop over processors may change the variables of each processor, or assign one value \
         that does not depend on the processor",
    )
}
