//! Whether the rounds of a loop over something without an order come out the same in every order.
//!
//! The body is followed once, calls included, for the places it reads and writes (`path.rs`). The
//! rounds commute if no round reads or writes what another one writes, but for writes that commute:
//! all of them the same value, all of them sums in the same direction, extrema, additions to a
//! multiset, removals of chosen positions. Then the errors of a round do not depend on other rounds
//! either, so that the loop fails in every order or in none. Sums go in one direction because a sum
//! that goes up and down may leave its range in one order and not in another; conjunctions are not
//! among them because `all & c` hides an error of `c` once `all` is false.
//!
//! What a round assigns before it reads it is not seen by other rounds. A local variable for which
//! that is so and that is used nowhere else leaves nothing behind.
//!
//! A round that counts or removes the elements of a multiset that are equal to its member
//! (`MultisetRemovePred(i: sharers, sharers[i] = p)`) leaves those of other rounds alone, so they are
//! a place of their own, as if the multiset were indexed by members. Additions are not among them:
//! whether the multiset is full when a round adds depends on what others have removed.
//!
//! A round that returns keeps later ones from running. If nothing is written and all returns are the
//! same, running all rounds first makes the order invisible. The same for an `assume`, which ends the
//! run without an error: with all rounds run, the loop fails if a round fails, and is otherwise excluded
//! if a round is. What a round does up to where it is excluded does not depend on other rounds, as what
//! a whole round does does not, and what the others add up includes what it added in every order. What
//! is left behind does not matter then, so that an `assume` may stand beside any writes that commute.
//!
//! This is a proof, not a rule of thumb: what is not understood depends on the order.

use super::path::{Meaning, Meanings, Part, Path, Root, bind_alias, may_meet, meaning_of, path};
use super::write_kind::{Uniform, WriteKind, accumulated, extremum, uniform};
use crate::ir::{
    AliasTarget, Argument, Assign, Base, Binder, Call, Domain, Expression, ExpressionKind, Frame,
    LocalId, Model, Operator, Place, Put, Statement, StatementKind, Step,
};
use crate::source::Span;

/// How many statements and expressions of a loop are looked at before it is given up.
const PATIENCE: usize = 50_000;

/// What is known about the order of the rounds of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It does not show.
    Commutes,
    /// It does not show if all rounds are run before a `return` or an `assume` takes effect.
    RunsAll,
    /// It may show.
    Depends(Dependence),
}

/// Where and why the order of rounds may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dependence {
    pub(super) span: Span,
    pub(super) reason: Reason,
}

/// Why the order of rounds may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// The last round to write this decides.
    LeftBehind,
    /// A round sees what others have written.
    Seen,
    /// A round that returns keeps others from running.
    Returns,
    /// The loop is too long to be judged.
    TooLong,
    /// The loop calls a function that calls itself, which is not followed.
    Recursion,
}

/// The code around a loop.
#[derive(Clone, Copy)]
pub(super) struct Around<'m> {
    pub(super) model: &'m Model,
    pub(super) frame: &'m Frame,
    /// The locals that are used outside the loop.
    pub(super) used_outside: &'m dyn Fn(LocalId) -> bool,
}

/// One round of a loop.
#[derive(Clone, Copy)]
pub(super) enum Body<'m> {
    Statements(&'m [Statement]),
    Condition(&'m Expression),
}

/// Judges a loop over the members of something without an order.
pub(super) fn judge<'m>(
    around: Around<'m>,
    variable: LocalId,
    body: Body<'m>,
    meanings: &Meanings,
) -> Judgement {
    let mut meanings = meanings.clone();
    meanings[variable.0 as usize] = Meaning::Member;
    let mut rounds = Rounds {
        around,
        meanings,
        accesses: Vec::new(),
        assigned: Vec::new(),
        other_members: Vec::new(),
        depth: 0,
        returns: Vec::new(),
        excludes: false,
        patience: PATIENCE,
        recursion: None,
    };
    match body {
        Body::Statements(statements) => rounds.statements(statements),
        Body::Condition(condition) => {
            rounds.expression(condition);
            // All members are looked at, whatever is excluded for one.
            rounds.excludes = false;
        }
    }
    rounds.judgement()
}

/// A place that a round reads or writes.
struct Access {
    path: Path,
    /// How it is written; `None` if it is read.
    manner: Option<WriteKind>,
    /// Values around the loop that the member of this round differs from there.
    other_members: Vec<u32>,
    /// What this round has assigned before, if it is read.
    assigned: Vec<Path>,
    span: Span,
}

impl Access {
    /// Whether what other rounds have written there was assigned again in this one before.
    fn hides(&self, written: &Path) -> bool {
        written.is_the_same_in_all_rounds()
            && self.assigned.iter().any(|assigned| assigned.covers(written))
    }

    fn says_the_same(&self, other: &Access) -> bool {
        self.path == other.path
            && self.manner == other.manner
            && self.other_members == other.other_members
            && self.assigned == other.assigned
    }
}

/// What a round returns.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Returned {
    Nothing,
    Same(Uniform),
    /// A value that may be another in each round.
    Any,
}

struct Rounds<'m> {
    around: Around<'m>,
    meanings: Meanings,
    accesses: Vec<Access>,
    /// What has been assigned on every way to here, in this round.
    assigned: Vec<Path>,
    other_members: Vec<u32>,
    /// How many calls are being followed.
    depth: usize,
    /// The values that the loop itself returns, and where.
    returns: Vec<(Returned, Span)>,
    /// Whether there is an `assume`.
    excludes: bool,
    patience: usize,
    /// Where a recursive function is called.
    recursion: Option<Span>,
}

impl<'m> Rounds<'m> {
    fn judgement(self) -> Judgement {
        let depends = |span, reason| Judgement::Depends(Dependence { span, reason });
        if let Some(span) = self.recursion {
            return depends(span, Reason::Recursion);
        }
        if self.patience == 0 {
            let first = self.accesses.first().map_or(Span { start: 0, end: 0 }, |it| it.span);
            return depends(first, Reason::TooLong);
        }
        if let Some(dependence) = self.conflict() {
            return Judgement::Depends(dependence);
        }
        let Some((first, span)) = self.returns.first() else {
            return if self.excludes { Judgement::RunsAll } else { Judgement::Commutes };
        };
        let alike = *first != Returned::Any && self.returns.iter().all(|it| it.0 == *first);
        let stays = |access: &Access| access.manner.is_some() && !self.is_temporary(&access.path);
        let writes = self.accesses.iter().any(stays);
        match alike && !writes {
            true => Judgement::RunsAll,
            false => depends(*span, Reason::Returns),
        }
    }

    /// What one round writes and another reads, or writes in a way that does not commute.
    fn conflict(&self) -> Option<Dependence> {
        let within = (self.around.model, self.around.frame);
        let writes = self.accesses.iter().filter_map(|it| Some((it, it.manner.as_ref()?)));
        let mut found: Option<Dependence> = None;
        for (write, manner) in writes {
            for other in &self.accesses {
                let commute =
                    other.manner.as_ref().is_some_and(|other| manner.commutes_with(other));
                let left = (&write.path, &write.other_members[..]);
                let mirrored = (&other.path, &other.other_members[..]);
                if commute
                    || !may_meet(within, left, &other.path)
                    || !may_meet(within, mirrored, &write.path)
                    || other.hides(&write.path)
                    || self.both_forgotten(write, other)
                {
                    continue;
                }
                let reason = match other.manner {
                    Some(_) => Reason::LeftBehind,
                    None => Reason::Seen,
                };
                let dependence = Dependence { span: other.span, reason };
                // What is seen says more than what is left behind.
                if reason == Reason::Seen {
                    return Some(dependence);
                }
                found.get_or_insert(dependence);
            }
        }
        found
    }

    /// Whether a place is a local that is not used outside the loop.
    fn is_temporary(&self, path: &Path) -> bool {
        matches!(path.root, Root::Local(local) if !(self.around.used_outside)(LocalId(local)))
    }

    /// Whether two writes leave nothing behind that anything but a read in the loop could see.
    fn both_forgotten(&self, one: &Access, other: &Access) -> bool {
        let assigns = |it: &Access| it.manner.as_ref().is_some_and(|manner| !manner.accumulates());
        assigns(one) && assigns(other) && self.is_temporary(&one.path)
    }

    fn statements(&mut self, statements: &'m [Statement]) {
        for statement in statements {
            self.patience = self.patience.saturating_sub(1);
            if self.patience > 0 {
                self.statement(statement);
            }
        }
    }

    fn statement(&mut self, statement: &'m Statement) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign(assign) => self.assign(assign, span),
            StatementKind::If { branches, otherwise } => self.branches(branches, otherwise, span),
            StatementKind::Switch { value, cases, otherwise } => {
                self.expression(value);
                let mut ends = Vec::new();
                for (candidates, body) in cases {
                    candidates.iter().for_each(|candidate| self.expression(candidate));
                    ends.push(self.branch(body));
                }
                ends.push(self.branch(otherwise));
                self.join(ends);
            }
            StatementKind::For { binder, body, .. } => {
                self.domain(&binder.domain);
                self.meanings[binder.local.0 as usize] = Meaning::Value;
                let end = self.branch(body);
                if matches!(binder.domain, Domain::Type(_)) {
                    self.assigned = end;
                }
            }
            StatementKind::While { condition, body } => {
                self.expression(condition);
                self.branch(body);
            }
            StatementKind::Alias { local, target, body } => {
                match target {
                    AliasTarget::Place(place) => self.indices(place),
                    AliasTarget::Value(value) => self.expression(value),
                }
                bind_alias(*local, target, &mut self.meanings);
                self.statements(body);
            }
            StatementKind::Call(call) => self.call(call),
            StatementKind::Return(value) => self.returned(value.as_ref(), span),
            StatementKind::Clear(place) => self.write(place, WriteKind::Cleared, span),
            StatementKind::Undefine(place) => self.write(place, WriteKind::Undefined, span),
            StatementKind::Error(_) | StatementKind::Put(Put::Text(_)) => {}
            StatementKind::Assert { condition, .. }
            | StatementKind::Cover { condition, .. }
            | StatementKind::Put(Put::Value(condition)) => self.expression(condition),
            StatementKind::Assume(condition) => {
                self.expression(condition);
                self.excludes = true;
            }
            StatementKind::MultisetAdd { value, multiset } => {
                self.expression(value);
                self.write(multiset, WriteKind::Added, span);
            }
            StatementKind::MultisetRemove { position, multiset } => {
                self.expression(position);
                self.write(multiset, WriteKind::Removed, span);
            }
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                if let Some(own) = self.own_elements(binder, condition) {
                    return self.access(own, Some(WriteKind::Assigned), span);
                }
                self.filter(&binder.domain, binder.local, condition);
                if let Domain::Multiset(multiset) = &binder.domain {
                    self.write(multiset, WriteKind::Assigned, span);
                }
            }
        }
    }

    fn branches(
        &mut self,
        branches: &'m [(Expression, Vec<Statement>)],
        otherwise: &'m [Statement],
        span: Span,
    ) {
        let model = self.around.model;
        if let Some((manner, assign)) = extremum(model, branches, otherwise)
            && path(&assign.target, &self.meanings).is_some_and(|target| !self.is_hidden(&target))
        {
            self.expression(&assign.value);
            self.indices(&assign.target);
            return self.write(&assign.target, manner, span);
        }
        let mut ends = Vec::new();
        let before = self.other_members.len();
        for (condition, body) in branches {
            self.expression(condition);
            let here = self.other_members.len();
            self.assume(condition, true);
            ends.push(self.branch(body));
            self.other_members.truncate(here);
            self.assume(condition, false);
        }
        ends.push(self.branch(otherwise));
        self.other_members.truncate(before);
        self.join(ends);
    }

    /// Takes note of values around the loop that the member of the round differs from if the
    /// condition has this value.
    fn assume(&mut self, condition: &'m Expression, holds: bool) {
        match (&condition.kind, holds) {
            (ExpressionKind::Not(inner), _) => self.assume(inner, !holds),
            (ExpressionKind::Binary(Operator::And, left, right), true)
            | (ExpressionKind::Binary(Operator::Or, left, right), false) => {
                self.assume(left, holds);
                self.assume(right, holds);
            }
            (ExpressionKind::Binary(Operator::NotEqual, left, right), true)
            | (ExpressionKind::Binary(Operator::Equal, left, right), false) => {
                let sides = (meaning_of(left, &self.meanings), meaning_of(right, &self.meanings));
                if let (Meaning::Member, Meaning::Outer(local))
                | (Meaning::Outer(local), Meaning::Member) = sides
                {
                    self.other_members.push(local);
                }
            }
            _ => {}
        }
    }

    fn returned(&mut self, value: Option<&'m Expression>, span: Span) {
        if let Some(value) = value {
            self.expression(value);
        }
        if self.depth == 0 {
            let returned = match value {
                None => Returned::Nothing,
                Some(value) => self.uniform(value).map_or(Returned::Any, Returned::Same),
            };
            self.returns.push((returned, span));
        }
    }

    /// What is assigned at the end of statements that may not be reached.
    fn branch(&mut self, body: &'m [Statement]) -> Vec<Path> {
        let before = self.assigned.clone();
        self.statements(body);
        std::mem::replace(&mut self.assigned, before)
    }

    /// Goes on with what all branches have assigned.
    fn join(&mut self, ends: Vec<Vec<Path>>) {
        let mut ends = ends.into_iter();
        let first = ends.next().unwrap_or_default();
        self.assigned = ends.fold(first, |mut all, end| {
            all.retain(|path| end.contains(path));
            all
        });
    }

    fn assign(&mut self, assign: &'m Assign, span: Span) {
        let model = self.around.model;
        let target = path(&assign.target, &self.meanings);
        let is_hidden = target.is_some_and(|target| self.is_hidden(&target));
        match accumulated(model, assign).filter(|_| !is_hidden) {
            Some((manner, terms)) => {
                self.indices(&assign.target);
                terms.into_iter().for_each(|term| self.expression(term));
                self.write(&assign.target, manner, span);
            }
            None => {
                self.expression(&assign.value);
                let manner = match &assign.value.kind {
                    ExpressionKind::Undefined => WriteKind::Undefined,
                    _ => {
                        self.uniform(&assign.value).map_or(WriteKind::Assigned, WriteKind::Uniform)
                    }
                };
                self.write(&assign.target, manner, span);
            }
        }
    }

    /// The value of an expression, if it is the same in all rounds.
    fn uniform(&self, value: &Expression) -> Option<Uniform> {
        uniform(value, &self.meanings).filter(|uniform| match uniform {
            Uniform::Place(path) => !self.is_hidden(path),
            Uniform::Constant(..) | Uniform::Outer(_) => true,
        })
    }

    fn write(&mut self, place: &'m Place, manner: WriteKind, span: Span) {
        self.indices(place);
        let Some(path) = path(place, &self.meanings) else { return };
        // What is added to what this round has assigned is this round's alone.
        let manner = match manner.accumulates() && self.is_hidden(&path) {
            true => WriteKind::Assigned,
            false => manner,
        };
        if !manner.accumulates() && !self.assigned.contains(&path) {
            self.assigned.push(path.clone());
        }
        self.access(path, Some(manner), span);
    }

    fn read(&mut self, place: &'m Place) {
        self.indices(place);
        let Some(path) = path(place, &self.meanings) else { return };
        if !self.is_hidden(&path) {
            self.access(path, None, place.span);
        }
    }

    fn access(&mut self, path: Path, manner: Option<WriteKind>, span: Span) {
        let members = path.parts.contains(&Part::Member);
        let other_members = if members { self.other_members.clone() } else { Vec::new() };
        let assigned = if manner.is_none() { self.assigned.clone() } else { Vec::new() };
        let access = Access { path, manner, other_members, assigned, span };
        let known = self.accesses.iter().any(|other| other.says_the_same(&access));
        if !known && access.path.root != Root::Fleeting {
            self.accesses.push(access);
        }
    }

    /// Whether a place was assigned in this round.
    fn is_hidden(&self, place: &Path) -> bool {
        self.assigned.iter().any(|path| path.covers(place))
    }

    fn indices(&mut self, place: &'m Place) {
        for step in &place.steps {
            match step {
                Step::Field(_) => {}
                Step::Index(index) | Step::Element(index) => self.expression(index),
            }
        }
    }

    fn expression(&mut self, expression: &'m Expression) {
        self.patience = self.patience.saturating_sub(1);
        if self.patience == 0 {
            return;
        }
        match &expression.kind {
            ExpressionKind::Read(place) | ExpressionKind::IsUndefined(place) => self.read(place),
            ExpressionKind::Call(call) => {
                // It may not be evaluated at all, so what it assigns is not assigned for certain.
                let before = self.assigned.clone();
                self.call(call);
                self.assigned = before;
            }
            ExpressionKind::MultisetCount { binder, condition } => {
                match self.own_elements(binder, condition) {
                    Some(own) => self.access(own, None, expression.span),
                    None => self.filter(&binder.domain, binder.local, condition),
                }
            }
            ExpressionKind::Quantified { binder, condition, .. } => {
                self.filter(&binder.domain, binder.local, condition);
            }
            ExpressionKind::Constant(_) | ExpressionKind::Undefined => {}
            ExpressionKind::Not(operand)
            | ExpressionKind::Negate(operand)
            | ExpressionKind::Complement(operand)
            | ExpressionKind::Convert(operand)
            | ExpressionKind::IsMember { value: operand, .. } => self.expression(operand),
            ExpressionKind::Binary(_, left, right) | ExpressionKind::Same { left, right, .. } => {
                self.expression(left);
                self.expression(right);
            }
            ExpressionKind::Conditional(condition, yes, no) => {
                [condition, yes, no].into_iter().for_each(|part| self.expression(part));
            }
        }
    }

    fn filter(&mut self, domain: &'m Domain, variable: LocalId, condition: &'m Expression) {
        self.domain(domain);
        self.meanings[variable.0 as usize] = Meaning::Value;
        self.expression(condition);
    }

    /// The elements of a multiset that are equal to the member of the round, if those are the ones
    /// that a filter is about. The multiset has to be the same one for certain, in all rounds.
    fn own_elements(&self, binder: &Binder, condition: &Expression) -> Option<Path> {
        let Domain::Multiset(multiset) = &binder.domain else { return None };
        let ExpressionKind::Binary(Operator::Equal, left, right) = &condition.kind else {
            return None;
        };
        let value = match (self.is_element(left, binder), self.is_element(right, binder)) {
            (true, false) => right,
            (false, true) => left,
            _ => return None,
        };
        let mut own = path(multiset, &self.meanings).filter(Path::is_the_same_in_all_rounds)?;
        let is_own = meaning_of(value, &self.meanings) == Meaning::Member && !self.is_hidden(&own);
        own.parts.push(Part::Member);
        is_own.then_some(own)
    }

    /// Whether an expression is the element at the position that a filter of a multiset binds.
    fn is_element(&self, expression: &Expression, binder: &Binder) -> bool {
        let (Domain::Multiset(multiset), ExpressionKind::Read(place)) =
            (&binder.domain, &expression.kind)
        else {
            return match &expression.kind {
                ExpressionKind::Convert(inner) => self.is_element(inner, binder),
                _ => false,
            };
        };
        let Some((Step::Element(position), steps)) = place.steps.split_last() else {
            return false;
        };
        let whole = Place { steps: steps.to_vec(), ..multiset.clone() };
        let is_bound = matches!(
            &position.kind,
            ExpressionKind::Read(Place { base: Base::Local(local), steps, .. })
                if *local == binder.local && steps.is_empty()
        );
        is_bound
            && place.base == multiset.base
            && path(&whole, &self.meanings) == path(multiset, &self.meanings)
    }

    fn domain(&mut self, domain: &'m Domain) {
        match domain {
            Domain::Type(_) => {}
            Domain::Range { from, to, by } => {
                [from, to, by].into_iter().for_each(|part| self.expression(part));
            }
            Domain::Multiset(place) => self.read(place),
        }
    }

    /// Follows a call. A function that is not recursive calls only functions before it, so this ends.
    fn call(&mut self, call: &'m Call) {
        let function = &self.around.model.functions[call.function.0 as usize];
        if function.is_recursive {
            self.recursion.get_or_insert(call.span);
            return;
        }
        let fleeting = Meaning::Place(Path::of(Root::Fleeting));
        let mut inside = vec![fleeting; function.frame.locals.len()];
        for (argument, meaning) in call.arguments.iter().zip(&mut inside) {
            match argument {
                Argument::Value(value) => {
                    self.expression(value);
                    *meaning = meaning_of(value, &self.meanings);
                }
                Argument::Reference(place) => {
                    self.indices(place);
                    *meaning = path(place, &self.meanings).map_or(Meaning::Value, Meaning::Place);
                }
            }
        }
        let outside = std::mem::replace(&mut self.meanings, inside);
        let before = self.assigned.clone();
        self.depth += 1;
        self.statements(&function.body);
        self.depth -= 1;
        self.meanings = outside;
        // What comes after a `return` in the middle is not reached for certain.
        if returns_early(&function.body) {
            self.assigned = before;
        }
    }
}

/// Whether there is a `return` other than as the last statement.
fn returns_early(body: &[Statement]) -> bool {
    let (last, others) = match body.split_last() {
        Some((last, others)) => (last, others),
        None => return false,
    };
    others.iter().any(has_return)
        || (has_return(last) && !matches!(last.kind, StatementKind::Return(_)))
}

/// Whether a statement may return.
fn has_return(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_) => true,
        StatementKind::If { branches, otherwise } => {
            branches.iter().any(|(_, body)| body.iter().any(has_return))
                || otherwise.iter().any(has_return)
        }
        StatementKind::Switch { cases, otherwise, .. } => {
            cases.iter().any(|(_, body)| body.iter().any(has_return))
                || otherwise.iter().any(has_return)
        }
        StatementKind::For { body, .. }
        | StatementKind::While { body, .. }
        | StatementKind::Alias { body, .. } => body.iter().any(has_return),
        _ => false,
    }
}
