//! Places as far as they are known before a run, for the rounds of a loop.
//!
//! A path is a root and the steps from there. What is asked of two paths is whether the place that
//! one round of a loop means by the first can be the place that *another* round means by the second.
//! It cannot if both are parts of different variables, different fields, different constant indices,
//! or both are indexed by the member of the round at the same step: members of two rounds differ.
//! Every other index may be any. A `var` parameter may be any place of its type.

use crate::ir::{
    AliasTarget, Base, Expression, ExpressionKind, Frame, LocalId, Model, Parameter, Place, Simple,
    Step, Storage, TypeId, TypeKind,
};

/// A place as far as it is known before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) root: Root,
    pub(super) parts: Vec<Part>,
}

/// Where a path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    Global(u32),
    /// A local of the code around the loop.
    Local(u32),
    /// What a `var` parameter of the code around the loop stands for.
    Reference(u32),
    /// Something that begins anew in each round, or never changes.
    Fleeting,
}

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Field(usize),
    At(i64),
    /// The index is the member of the round.
    Member,
    /// The index is a value that is the same in all rounds: this local of the code around.
    Outer(u32),
    Anywhere,
}

/// What a local stands for in the body of a loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The member of the round.
    Member,
    /// A value that is the same in all rounds: of this local of the code around.
    Outer(u32),
    /// A place.
    Place(Path),
    /// A value that may be another in each round.
    Value,
}

/// What the locals in sight stand for.
pub(super) type Meanings = Vec<Meaning>;

impl Path {
    pub(super) fn of(root: Root) -> Path {
        Path { root, parts: Vec::new() }
    }

    /// Whether all rounds mean the same place by it.
    pub(super) fn is_the_same_in_all_rounds(&self) -> bool {
        let same = |part: &Part| match part {
            Part::Field(_) | Part::At(_) | Part::Outer(_) => true,
            Part::Member | Part::Anywhere => false,
        };
        self.root != Root::Fleeting && self.parts.iter().all(same)
    }

    /// Whether assigning this place assigns all of the other, in the same round.
    pub(super) fn covers(&self, other: &Path) -> bool {
        self.root == other.root
            && self.parts.len() <= other.parts.len()
            && self.parts.iter().zip(&other.parts).all(|(one, other)| one == other)
            && !self.parts.contains(&Part::Anywhere)
    }
}

/// What the locals of a frame stand for before anything is bound. The first `parameters` of them are
/// parameters of a function.
pub(super) fn meanings(frame: &Frame, parameters: usize, bound: &[Parameter]) -> Meanings {
    let of = |(number, local): (usize, &crate::ir::Local)| match local.storage {
        Storage::Bound => Meaning::Outer(number as u32),
        Storage::Reference => Meaning::Place(Path::of(Root::Reference(number as u32))),
        // A parameter by value is never assigned to.
        Storage::Own if number < parameters => Meaning::Outer(number as u32),
        Storage::Own => Meaning::Place(Path::of(Root::Local(number as u32))),
    };
    let mut meanings = frame.locals.iter().enumerate().map(of).collect();
    for parameter in bound {
        if let Parameter::Alias { local, target } = parameter {
            bind_alias(*local, target, &mut meanings);
        }
    }
    meanings
}

/// Makes an alias stand for what it is an alias of.
pub(super) fn bind_alias(local: LocalId, target: &AliasTarget, meanings: &mut Meanings) {
    meanings[local.0 as usize] = match target {
        AliasTarget::Place(place) => match path(place, meanings) {
            Some(path) => Meaning::Place(path),
            None => Meaning::Value,
        },
        AliasTarget::Value(value) => meaning_of(value, meanings),
    };
}

/// What a value is, as far as it is known.
pub(super) fn meaning_of(value: &Expression, meanings: &Meanings) -> Meaning {
    match &value.kind {
        ExpressionKind::Read(Place { base: Base::Local(local), steps, .. }) if steps.is_empty() => {
            match &meanings[local.0 as usize] {
                Meaning::Place(_) => Meaning::Value,
                meaning => meaning.clone(),
            }
        }
        // Different members stay different when they become values of a union.
        ExpressionKind::Convert(inner) => meaning_of(inner, meanings),
        _ => Meaning::Value,
    }
}

/// What a place is, as far as it is known; nothing if it is part of a value that never changes.
pub(super) fn path(place: &Place, meanings: &Meanings) -> Option<Path> {
    let mut path = match place.base {
        Base::Global(global) => Path::of(Root::Global(global.0)),
        Base::Local(local) => match &meanings[local.0 as usize] {
            Meaning::Place(path) => path.clone(),
            Meaning::Member | Meaning::Outer(_) | Meaning::Value => return None,
        },
    };
    for step in &place.steps {
        path.parts.push(match step {
            Step::Field(field) => Part::Field(*field),
            Step::Index(index) => match (&index.kind, meaning_of(index, meanings)) {
                (ExpressionKind::Constant(value), _) => Part::At(*value),
                (_, Meaning::Member) => Part::Member,
                (_, Meaning::Outer(local)) => Part::Outer(local),
                _ => Part::Anywhere,
            },
            Step::Element(_) => Part::Anywhere,
        });
    }
    Some(path)
}

/// Whether a place of one round may be, or be part of, or have as a part, a place of another round.
/// `other_members` are the values around the loop that the member of the round of `left` is known to
/// differ from.
pub(super) fn may_meet(
    (model, frame): (&Model, &Frame),
    (left, other_members): (&Path, &[u32]),
    right: &Path,
) -> bool {
    if left.root != right.root {
        return may_alias(model, frame, left.root, right.root);
    }
    if left.root == Root::Fleeting {
        return false;
    }
    let apart = |(left, right): (&Part, &Part)| match (left, right) {
        (Part::Member, Part::Member) => true,
        (Part::Member, Part::Outer(local)) => other_members.contains(local),
        (Part::Field(_), Part::Field(_)) | (Part::At(_), Part::At(_)) => left != right,
        _ => false,
    };
    !left.parts.iter().zip(&right.parts).any(apart)
}

/// Whether two roots may be the same variable, or one a part of the other.
fn may_alias(model: &Model, frame: &Frame, left: Root, right: Root) -> bool {
    let ty = |root: Root| match root {
        Root::Global(global) => Some(model.globals[global as usize].ty),
        Root::Reference(local) => Some(frame.locals[local as usize].ty),
        // What a `var` parameter stands for was there before the locals of its function.
        Root::Local(_) | Root::Fleeting => None,
    };
    let is_reference = |root| matches!(root, Root::Reference(_));
    match (ty(left), ty(right)) {
        (Some(one), Some(other)) if is_reference(left) || is_reference(right) => {
            has_part(model, one, other) || has_part(model, other, one)
        }
        _ => false,
    }
}

/// Whether a value of type `whole` has a part that looks like a `part`.
pub(super) fn has_part(model: &Model, whole: TypeId, part: TypeId) -> bool {
    looks_alike(model, whole, part)
        || match model.kind(whole) {
            TypeKind::Simple(_) => false,
            TypeKind::Record(fields) => fields.iter().any(|field| has_part(model, field.ty, part)),
            TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => {
                has_part(model, *element, part)
            }
        }
}

/// Whether two types may be the same one. Types that look the same may be different, and are taken
/// to be the same.
fn looks_alike(model: &Model, left: TypeId, right: TypeId) -> bool {
    match (model.kind(left), model.kind(right)) {
        (TypeKind::Simple(Simple::Union(_)), TypeKind::Simple(Simple::Union(_))) => true,
        (TypeKind::Simple(one), TypeKind::Simple(other)) => one == other,
        (TypeKind::Record(one), TypeKind::Record(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| looks_alike(model, one.ty, other.ty))
        }
        (TypeKind::Array { index: i, element: e }, TypeKind::Array { index: j, element: f }) => {
            looks_alike(model, *i, *j) && looks_alike(model, *e, *f)
        }
        (TypeKind::Multiset { element: e, .. }, TypeKind::Multiset { element: f, .. }) => {
            looks_alike(model, *e, *f)
        }
        _ => false,
    }
}
