//! Loops over scalarsets in which one round reads what another one has written.
//!
//! The body is followed twice, in order, calls included: first for the places it writes that the
//! loop variable does not pick, then for reads of them that may see what an earlier round has left.
//! What was assigned earlier in the same round hides that, so a variable may be used for the time of
//! a round. Sums, products, conjunctions, disjunctions, extrema, additions to and removals from a
//! multiset come out the same in every order, as long as nothing else reads or writes the place;
//! assertions and `put` are not looked at. It is a rule of thumb: two names for one place are taken
//! to be different places, and indices that are not constant to be the same.
//!
//! The cost is the length of the body, with what it calls, times the number of places it writes; a
//! body that takes too long is not judged.

use crate::ir::{
    AliasTarget, Argument, Assign, Base, Call, Domain, Expression, ExpressionKind, Frame, LocalId,
    Model, Operator, Parameter, Place, Statement, StatementKind, Step, Storage,
};
use crate::source::Span;

/// How many statements and expressions of a loop are looked at before it is given up.
const PATIENCE: usize = 20_000;

/// A place as far as it is known before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    root: Root,
    parts: Vec<Part>,
    /// Whether the loop variable has a part in which place it is.
    by_member: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    Global(u32),
    /// A local of the code around the loop.
    Local(u32),
    /// Something that begins anew in each round, or never changes.
    Fleeting,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Field(usize),
    At(i64),
    Anywhere,
}

/// How a place is written, if in a way that comes out the same in every order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// It is given a value, whatever it was.
    Assigned,
    Sum,
    Product,
    And,
    Or,
    ExclusiveOr,
    Least,
    Greatest,
    Added,
    Removed,
}

/// What the locals in sight stand for.
pub(super) type Meanings = Vec<Path>;

impl Path {
    fn of(root: Root) -> Path {
        Path { root, parts: Vec::new(), by_member: false }
    }

    fn overlaps(&self, other: &Path) -> bool {
        let apart = |(one, other): (&Part, &Part)| match (one, other) {
            (Part::Anywhere, _) | (_, Part::Anywhere) => false,
            (one, other) => one != other,
        };
        self.root == other.root && !self.parts.iter().zip(&other.parts).any(apart)
    }

    /// Whether assigning this place assigns all of the other.
    fn covers(&self, other: &Path) -> bool {
        self.root == other.root
            && self.parts.len() <= other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(one, other)| one == other)
            && !self.parts.contains(&Part::Anywhere)
    }
}

/// What the locals of a frame stand for before anything is bound.
pub(super) fn meanings(frame: &Frame, parameters: &[Parameter]) -> Meanings {
    let locals = frame.locals.iter().enumerate().map(|(number, local)| match local.storage {
        Storage::Own | Storage::Reference => Path::of(Root::Local(number as u32)),
        Storage::Bound => Path::of(Root::Fleeting),
    });
    let mut meanings = locals.collect();
    for parameter in parameters {
        if let Parameter::Alias { local, target } = parameter {
            bind_alias(*local, target, &mut meanings);
        }
    }
    meanings
}

/// Makes an alias stand for what it is an alias of.
pub(super) fn bind_alias(local: LocalId, target: &AliasTarget, meanings: &mut Meanings) {
    meanings[local.0 as usize] = match target {
        AliasTarget::Place(place) => path(place, meanings),
        AliasTarget::Value(value) => {
            Path { by_member: mentions(value, meanings), ..Path::of(Root::Fleeting) }
        }
    };
}

/// Where the body of a loop over the members of a scalarset reads what another round may have
/// written.
pub(super) fn dependence(
    model: &Model,
    variable: LocalId,
    body: &[Statement],
    meanings: &Meanings,
) -> Option<Span> {
    let mut meanings = meanings.clone();
    meanings[variable.0 as usize].by_member = true;
    let mut rounds = Rounds {
        model,
        meanings,
        written: Vec::new(),
        judging: false,
        assigned: Vec::new(),
        ignored: None,
        patience: PATIENCE,
        found: None,
    };
    rounds.statements(body);
    rounds.assigned.clear();
    rounds.judging = true;
    if !rounds.written.is_empty() {
        rounds.statements(body);
    }
    rounds.found.filter(|_| rounds.patience > 0)
}

struct Rounds<'m> {
    model: &'m Model,
    meanings: Meanings,
    /// The places that are written, found the first time.
    written: Vec<(Path, Manner)>,
    /// Whether this is the second time.
    judging: bool,
    /// What has been assigned on every way to here, in this round.
    assigned: Vec<Path>,
    /// What a filter goes through.
    ignored: Option<Path>,
    patience: usize,
    found: Option<Span>,
}

impl<'m> Rounds<'m> {
    fn statements(&mut self, statements: &'m [Statement]) {
        for statement in statements {
            self.patience = self.patience.saturating_sub(1);
            if self.patience > 0 && self.found.is_none() {
                self.statement(statement);
            }
        }
    }

    fn statement(&mut self, statement: &'m Statement) {
        match &statement.kind {
            StatementKind::Assign(assign) => self.assign(assign, statement.span),
            StatementKind::If { branches, otherwise } => {
                if let Some((manner, assign)) = self.extremum(branches, otherwise) {
                    self.expression(&assign.value);
                    self.write(&assign.target, manner, statement.span);
                    return;
                }
                let mut ends = Vec::new();
                for (condition, body) in branches {
                    self.expression(condition);
                    ends.push(self.branch(body));
                }
                ends.push(self.branch(otherwise));
                self.join(ends);
            }
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
            StatementKind::For { binder, body } => {
                self.domain(&binder.domain);
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
            StatementKind::Return(Some(value)) | StatementKind::Assume(value) => {
                self.expression(value);
            }
            StatementKind::Clear(place) | StatementKind::Undefine(place) => {
                self.write(place, Manner::Assigned, statement.span);
            }
            StatementKind::MultisetAdd { value, multiset } => {
                self.expression(value);
                self.write(multiset, Manner::Added, statement.span);
            }
            StatementKind::MultisetRemove { position, multiset } => {
                self.expression(position);
                self.write(multiset, Manner::Removed, statement.span);
            }
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                if let Domain::Multiset(multiset) = &binder.domain {
                    self.write(multiset, Manner::Removed, statement.span);
                    let outer = self.ignored.replace(path(multiset, &self.meanings));
                    self.expression(condition);
                    self.ignored = outer;
                }
            }
            StatementKind::Return(None)
            | StatementKind::Error(_)
            | StatementKind::Assert { .. }
            | StatementKind::Cover(_)
            | StatementKind::Put(_) => {}
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
        let target = path(&assign.target, &self.meanings);
        let mut rest = Vec::new();
        let manner = accumulated(&assign.value, &target, &self.meanings, &mut rest);
        match manner {
            Some(manner) if !self.assigned.iter().any(|path| path.covers(&target)) => {
                rest.into_iter().for_each(|part| self.expression(part));
                self.write(&assign.target, manner, span);
            }
            _ => {
                self.expression(&assign.value);
                self.write(&assign.target, Manner::Assigned, span);
            }
        }
    }

    /// `if e < v then v := e end`, which leaves the least in `v`, and the like.
    fn extremum(
        &self,
        branches: &'m [(Expression, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> Option<(Manner, &'m Assign)> {
        let [(condition, body)] = branches else { return None };
        let [Statement { kind: StatementKind::Assign(assign), .. }] = body.as_slice() else {
            return None;
        };
        let ExpressionKind::Binary(operator, left, right) = &condition.kind else { return None };
        let target = path(&assign.target, &self.meanings);
        let is_target = |side: &Expression| match &side.kind {
            ExpressionKind::Read(place) => path(place, &self.meanings) == target,
            _ => false,
        };
        let text = |span: Span| &self.model.source.text[span.start as usize..span.end as usize];
        let is_value = |side: &Expression| text(side.span) == text(assign.value.span);
        let value_is_left = match otherwise.is_empty() {
            true if is_value(left) && is_target(right) => true,
            true if is_target(left) && is_value(right) => false,
            _ => return None,
        };
        match (operator, value_is_left) {
            (Operator::Less | Operator::LessOrEqual, true)
            | (Operator::Greater | Operator::GreaterOrEqual, false) => {
                Some((Manner::Least, assign))
            }
            (Operator::Less | Operator::LessOrEqual, false)
            | (Operator::Greater | Operator::GreaterOrEqual, true) => {
                Some((Manner::Greatest, assign))
            }
            _ => None,
        }
    }

    fn write(&mut self, place: &'m Place, manner: Manner, span: Span) {
        self.indices(place);
        let path = path(place, &self.meanings);
        if path.by_member || path.root == Root::Fleeting {
            return;
        }
        if !self.judging {
            let write = (path.clone(), manner);
            if !self.written.contains(&write) {
                self.written.push(write);
            }
        } else if manner != Manner::Assigned {
            let mixed = self.written.iter().any(|(other, how)| {
                *how != manner && other.overlaps(&path) && !self.is_hidden(other)
            });
            self.find(mixed, span);
        }
        if manner == Manner::Assigned && !self.assigned.contains(&path) {
            self.assigned.push(path);
        }
    }

    fn read(&mut self, place: &'m Place) {
        self.indices(place);
        let path = path(place, &self.meanings);
        let ignored = self.ignored.as_ref().is_some_and(|ignored| ignored.overlaps(&path));
        if self.judging && !path.by_member && !ignored {
            let mut written = self.written.iter().map(|(written, _)| written);
            let seen = written.any(|written| written.overlaps(&path) && !self.is_hidden(written));
            self.find(seen, place.span);
        }
    }

    /// Whether what other rounds have written there was assigned again in this one.
    fn is_hidden(&self, written: &Path) -> bool {
        self.assigned.iter().any(|path| path.covers(written))
    }

    fn find(&mut self, found: bool, span: Span) {
        if found && self.found.is_none() {
            self.found = Some(span);
        }
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
        if self.patience == 0 || self.found.is_some() {
            return;
        }
        match &expression.kind {
            ExpressionKind::Read(place) | ExpressionKind::IsUndefined(place) => self.read(place),
            ExpressionKind::Call(call) => self.call(call),
            ExpressionKind::Quantified { binder, condition, .. }
            | ExpressionKind::MultisetCount { binder, condition } => {
                self.domain(&binder.domain);
                self.expression(condition);
            }
            _ => for_each_operand(expression, |operand| self.expression(operand)),
        }
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

    /// Follows a call. A function calls only functions before it, so this ends.
    fn call(&mut self, call: &'m Call) {
        let function = &self.model.functions[call.function.0 as usize];
        let mut inside = vec![Path::of(Root::Fleeting); function.frame.locals.len()];
        for (argument, meaning) in call.arguments.iter().zip(&mut inside) {
            match argument {
                Argument::Value(value) => {
                    self.expression(value);
                    meaning.by_member = mentions(value, &self.meanings);
                }
                Argument::Reference(place) => {
                    self.indices(place);
                    *meaning = path(place, &self.meanings);
                }
            }
        }
        let outside = std::mem::replace(&mut self.meanings, inside);
        self.statements(&function.body);
        self.meanings = outside;
    }
}

/// What a place is, as far as it is known.
fn path(place: &Place, meanings: &Meanings) -> Path {
    let mut path = match place.base {
        Base::Global(global) => Path::of(Root::Global(global.0)),
        Base::Local(local) => meanings[local.0 as usize].clone(),
    };
    for step in &place.steps {
        path.parts.push(match step {
            Step::Field(field) => Part::Field(*field),
            Step::Index(index) | Step::Element(index) => {
                path.by_member |= mentions(index, meanings);
                match index.kind {
                    ExpressionKind::Constant(value) => Part::At(value),
                    _ => Part::Anywhere,
                }
            }
        });
    }
    path
}

/// Whether a value depends on the loop variable by more than what the state is.
fn mentions(expression: &Expression, meanings: &Meanings) -> bool {
    match &expression.kind {
        ExpressionKind::Read(place) | ExpressionKind::IsUndefined(place) => {
            path(place, meanings).by_member
        }
        ExpressionKind::Call(call) => call.arguments.iter().any(|argument| match argument {
            Argument::Value(value) => mentions(value, meanings),
            Argument::Reference(place) => path(place, meanings).by_member,
        }),
        ExpressionKind::Quantified { condition, .. }
        | ExpressionKind::MultisetCount { condition, .. } => mentions(condition, meanings),
        _ => {
            let mut found = false;
            for_each_operand(expression, |operand| found = found || mentions(operand, meanings));
            found
        }
    }
}

/// The operands of an expression that has nothing else in it.
fn for_each_operand<'m>(expression: &'m Expression, mut each: impl FnMut(&'m Expression)) {
    match &expression.kind {
        ExpressionKind::Not(operand)
        | ExpressionKind::Negate(operand)
        | ExpressionKind::Complement(operand)
        | ExpressionKind::Convert(operand)
        | ExpressionKind::IsMember { value: operand, .. } => each(operand),
        ExpressionKind::Binary(_, left, right) | ExpressionKind::Same { left, right, .. } => {
            each(left);
            each(right);
        }
        ExpressionKind::Conditional(condition, yes, no) => {
            [condition, yes, no].into_iter().for_each(|part| each(part));
        }
        _ => {}
    }
}

/// How `value` combines what is at `target` with other things, if it does so in a way that comes
/// out the same in every order. The other things are added to `rest`.
fn accumulated<'m>(
    value: &'m Expression,
    target: &Path,
    meanings: &Meanings,
    rest: &mut Vec<&'m Expression>,
) -> Option<Manner> {
    let mut manner = None;
    let mut value = value;
    loop {
        let ExpressionKind::Binary(operator, left, right) = &value.kind else {
            let is_target = match &value.kind {
                ExpressionKind::Read(place) => path(place, meanings) == *target,
                _ => false,
            };
            return manner.filter(|_| is_target);
        };
        let this = match operator {
            Operator::Add | Operator::Subtract => Manner::Sum,
            Operator::Multiply => Manner::Product,
            Operator::And | Operator::BitAnd => Manner::And,
            Operator::Or | Operator::BitOr => Manner::Or,
            Operator::BitXor => Manner::ExclusiveOr,
            _ => return None,
        };
        if manner.is_some_and(|manner| manner != this) {
            return None;
        }
        manner = Some(this);
        // The target is at the far left, or it is the right operand at once.
        let at_right = match &right.kind {
            ExpressionKind::Read(place) => path(place, meanings) == *target,
            _ => false,
        };
        if at_right && *operator != Operator::Subtract {
            rest.push(left);
            return manner;
        }
        rest.push(right);
        value = left;
    }
}
