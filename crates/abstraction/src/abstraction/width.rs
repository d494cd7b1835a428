//! How many processors must be in view for a claim to be seen to fail.
//!
//! **(W1)** Let a claim fail in a state. [`needs`] gives sets of processors, one for each way in which
//! the claim may fail, such that for one of them the following holds: in every view in which its
//! processors are concrete (or, where only their identity matters, known by name), the claim of the
//! concrete processors fails. So if no set is larger than a view, a claim that holds in all views of
//! a state holds in the state.
//!
//! Proof, by induction on the claim. A claim fails by one of the parts of a conjunction (the sets of
//! either), by all parts of a disjunction (unions of sets of each); what is supposed is the negation
//! of a claim. `forall p` over processors fails by one processor, a witness that is in the set.
//! `forall x` over another type fails by one value x, whose sets are those of the condition for that
//! x. `exists x` over another type fails only if the condition fails for every value: unions of the
//! sets for each of them, with witnesses and stored processors of their own. They are the same for
//! all x if none depends on x, and then it does not matter how many values there are. What `exists p`
//! claims over processors is claimed of the concrete ones alone, by what is known for certain; if
//! the claim fails, so does that, in every view in which the witnesses of quantifiers around it that
//! it names are concrete: only there is it claimed of them. They are in the set. An atom is known exactly if every processor whose
//! state it reads is concrete, and if of two stored processors that it compares one is concrete or
//! known by its name; both are in the set. Whatever is not known in other ways counts against the
//! claim (`expression.rs`), so the sets need not account for it.
//!
//! Example: `exists s: 1..5 do forall q: P do l[q] != s end end` fails if for each of five values some
//! processor has it. The witnesses are five, and may all be different.

use std::collections::BTreeSet;

use murphi::ast::{BinaryOperator, Expression, ExpressionKind, Quantifier, UnaryOperator};
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;
use murphi::transform::{
    ExpressionId, Interner, Scope, Substitution, bind, each_part, name, parts,
};

use crate::View;
use crate::types::Types;

/// Processors, as expressions: bound variables and stored references.
type Processors = BTreeSet<ExpressionId>;

/// The processors that must be in view together for one way in which a claim fails.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequiredProcessors {
    /// Processors whose state is read.
    state: Processors,
    /// Processors of which only the identity is needed.
    name: Processors,
}

/// One set for each way in which a claim fails.
pub(super) type Requirements = BTreeSet<RequiredProcessors>;

/// The largest number of sets; more are merged into one.
const MOST_NEEDS: usize = 32;

/// The largest number of values of bound variables for which a condition is examined.
const MOST_INSTANCES: usize = 4096;

/// The sets of processors, one for each way in which a claim fails.
pub(super) fn needs(
    ids: &mut Interner,
    types: &Types,
    scope: &Scope,
    claim: &Expression,
) -> Result<Requirements, Diagnostic> {
    let mut counting = Counting { types, ids, bound: 0, instances: 0 };
    counting.of(&mut scope.clone(), claim, Side::Claimed)
}

/// The same sets, with further processors that must be in view.
pub(super) fn with_state(
    needs: &Requirements,
    more: impl Iterator<Item = ExpressionId>,
) -> Requirements {
    let more = RequiredProcessors { state: more.collect(), name: Processors::new() };
    together(needs, &Requirements::from([more]))
}

/// The number of processors that would have to be in view, if a view has fewer.
pub(super) fn beyond(needs: &Requirements, view: View) -> Option<usize> {
    needs.iter().filter_map(|need| need.beyond(view)).max()
}

/// Checks that a claim is about few enough processors.
pub(super) fn within(types: &Types, claim: &Expression) -> Result<(), Diagnostic> {
    let needs = needs(&mut Interner::default(), types, &Scope::new(), claim)?;
    match beyond(&needs, types.view()) {
        Some(count) => Err(too_many(claim.span, count)),
        None => Ok(()),
    }
}

pub(super) fn too_many(span: Span, count: usize) -> Diagnostic {
    let message = format!("this claim is about {count} processors at once");
    Diagnostic::error(span, message).help(format!("use --concrete {count}"))
}

impl RequiredProcessors {
    fn and(&self, other: &RequiredProcessors) -> RequiredProcessors {
        RequiredProcessors { state: &self.state | &other.state, name: &self.name | &other.name }
    }

    /// The number of processors, if the view has fewer.
    fn beyond(&self, view: View) -> Option<usize> {
        let all = (&self.state | &self.name).len();
        let most = view.concrete + u64::from(view.named);
        let is_in_view = self.state.len() as u64 <= view.concrete && all as u64 <= most;
        (!is_in_view).then_some(all)
    }
}

/// The requirements of two parts that must both fail.
fn together(left: &Requirements, right: &Requirements) -> Requirements {
    few(left.iter().flat_map(|left| right.iter().map(move |right| left.and(right))).collect())
}

/// The requirements of two parts, one of which must fail.
fn either(left: Requirements, right: Requirements) -> Requirements {
    few(left.into_iter().chain(right).collect())
}

/// Merges the sets into one, which contains each, if there are too many.
fn few(needs: Requirements) -> Requirements {
    if needs.len() <= MOST_NEEDS {
        return needs;
    }
    Requirements::from([needs
        .iter()
        .fold(RequiredProcessors::default(), |whole, need| whole.and(need))])
}

/// The position of a condition in a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// If the condition is true, so is the claim.
    Claimed,
    /// If the condition is false, the claim is true.
    Supposed,
    /// The condition is used as a value.
    Either,
}

impl Side {
    fn turned(self) -> Side {
        match self {
            Side::Claimed => Side::Supposed,
            Side::Supposed => Side::Claimed,
            Side::Either => Side::Either,
        }
    }
}

struct Counting<'a> {
    types: &'a Types,
    ids: &'a mut Interner,
    /// The number of bound variables so far.
    bound: usize,
    /// The number of instances of conditions so far.
    instances: usize,
}

type Counted = Result<Requirements, Diagnostic>;

impl Counting<'_> {
    fn of(&mut self, scope: &mut Scope, whole: &Expression, side: Side) -> Counted {
        use BinaryOperator as B;
        match &whole.kind {
            ExpressionKind::Unary(UnaryOperator::Not, inner) => {
                self.of(scope, inner, side.turned())
            }
            ExpressionKind::Binary(
                operator @ (B::And | B::LogicalAnd | B::Or | B::LogicalOr | B::Implies),
                left,
                right,
            ) => {
                let is_and = matches!(operator, B::And | B::LogicalAnd);
                let of_left = if *operator == B::Implies { side.turned() } else { side };
                let left = self.of(scope, left, of_left)?;
                let right = self.of(scope, right, side)?;
                Ok(match (is_and, side) {
                    (true, Side::Claimed) | (false, Side::Supposed) => either(left, right),
                    _ => together(&left, &right),
                })
            }
            ExpressionKind::Conditional(condition, left, right) => {
                self.conditional(scope, condition, left, right, side)
            }
            ExpressionKind::Quantified { all, quantifiers, condition } => {
                let bound = Bound { all: *all, quantifiers, condition };
                self.quantified(scope, bound, side, whole.span)
            }
            ExpressionKind::Name(name) => {
                let is_processor = scope.get(name).is_some_and(|ty| self.types.is_processor(ty));
                let state = is_processor.then(|| self.ids.id(whole)).into_iter().collect();
                Ok(Requirements::from([RequiredProcessors { state, name: Processors::new() }]))
            }
            _ => self.atom(scope, whole),
        }
    }

    /// `c ? a : b` as `(c -> a) & (!c -> b)`.
    fn conditional(
        &mut self,
        scope: &mut Scope,
        condition: &Expression,
        left: &Expression,
        right: &Expression,
        side: Side,
    ) -> Counted {
        let (if_true, if_false) = match side {
            Side::Either => (Side::Either, Side::Either),
            _ => (Side::Supposed, Side::Claimed),
        };
        let then = together(&self.of(scope, condition, if_true)?, &self.of(scope, left, side)?);
        let otherwise =
            together(&self.of(scope, condition, if_false)?, &self.of(scope, right, side)?);
        Ok(match side {
            Side::Either => together(&then, &otherwise),
            _ => either(then, otherwise),
        })
    }

    fn quantified(
        &mut self,
        scope: &mut Scope,
        bound: Bound<'_>,
        side: Side,
        span: Span,
    ) -> Counted {
        let Some((first, rest)) = bound.quantifiers.split_first() else {
            return self.of(scope, bound.condition, side);
        };
        let inner = Bound { quantifiers: rest, ..bound };
        // Whether the condition must fail for all values for the claim to fail.
        let by_all = matches!(
            (bound.all, side),
            (false, Side::Claimed) | (true, Side::Supposed) | (_, Side::Either)
        );
        if self.types.over_processors(first) {
            return match (by_all, side) {
                (_, Side::Either) => Err(unclear(span)),
                (true, _) => Ok(self.named_in(scope, bound.condition)),
                (false, _) => self.one_value(scope, first, inner, side, span),
            };
        }
        let one = self.one_value(scope, first, inner, side, span)?;
        if !by_all {
            return Ok(one);
        }
        let another = self.one_value(scope, first, inner, side, span)?;
        if one == another {
            return Ok(one);
        }
        let Some(values) = self.types.count(&first.domain) else {
            let message = "the number of processors in this claim depends on the size of a range";
            return Err(Diagnostic::error(first.span, message).help("give it a constant range"));
        };
        let mut all = together(&one, &another);
        for _ in 2..values {
            let next = self.one_value(scope, first, inner, side, span)?;
            all = together(&all, &next);
        }
        Ok(if values < 2 { one } else { all })
    }

    /// The enclosing bound processors that a condition names: it may fail for them and for no
    /// others.
    fn named_in(&mut self, scope: &Scope, condition: &Expression) -> Requirements {
        let Counting { types, ids, .. } = self;
        let mut need = RequiredProcessors::default();
        each_part(condition, &mut |part| {
            if let ExpressionKind::Name(name) = &part.kind
                && scope.get(name).is_some_and(|ty| types.is_processor(ty))
            {
                need.state.insert(ids.id(part));
            }
        });
        Requirements::from([need])
    }

    /// The requirements for one value of a bound variable, which gets its own label: the same name
    /// elsewhere is another value.
    fn one_value(
        &mut self,
        scope: &mut Scope,
        quantifier: &Quantifier,
        inner: Bound<'_>,
        side: Side,
        span: Span,
    ) -> Counted {
        self.instances += 1;
        if self.instances > MOST_INSTANCES {
            let message = "this claim is too large to count its processors";
            return Err(Diagnostic::error(span, message).help("use smaller ranges"));
        }
        self.bound += 1;
        let label = format!("{} {}", quantifier.name.text, self.bound);
        let mut apart = Substitution::default();
        apart.insert(&quantifier.name.text, name(&label, quantifier.span));
        let outer = scope.clone();
        bind(scope, std::slice::from_ref(quantifier));
        let ty = scope.get(&quantifier.name.text).cloned();
        scope.extend(ty.map(|ty| (label, ty)));
        let condition = apart.expression(inner.condition);
        let quantifiers: Vec<Quantifier> = inner.quantifiers.to_vec();
        let inner = Bound { all: inner.all, quantifiers: &quantifiers, condition: &condition };
        let needs = self.quantified(scope, inner, side, span);
        *scope = outer;
        needs
    }

    /// A condition without connectives: its parts are values.
    fn atom(&mut self, scope: &mut Scope, whole: &Expression) -> Counted {
        let mut stored = RequiredProcessors::default();
        match &whole.kind {
            ExpressionKind::Index(_, at) if self.is_stored(scope, at) => {
                stored.state.insert(self.ids.id(at));
            }
            // If both processors are abstract, it is unknown whether they are equal.
            ExpressionKind::Binary(
                BinaryOperator::Equal | BinaryOperator::NotEqual,
                left,
                right,
            ) if self.is_stored(scope, left) && self.is_stored(scope, right) => {
                stored.name.insert(self.ids.id(left));
            }
            _ => {}
        }
        let mut needs = Requirements::from([stored]);
        for part in parts(whole) {
            needs = together(&needs, &self.of(scope, part, Side::Either)?);
        }
        Ok(needs)
    }

    /// Whether this is a processor that is stored in the state.
    fn is_stored(&self, scope: &Scope, place: &Expression) -> bool {
        let is_place = match &place.kind {
            ExpressionKind::Field(..) | ExpressionKind::Index(..) => true,
            ExpressionKind::Name(name) => !scope.contains_key(name) && self.types.is_global(name),
            _ => false,
        };
        is_place && self.types.of(scope, place).is_some_and(|ty| self.types.is_processor(&ty))
    }
}

/// A condition under quantifiers of one kind.
#[derive(Clone, Copy)]
struct Bound<'a> {
    all: bool,
    quantifiers: &'a [Quantifier],
    condition: &'a Expression,
}

fn unclear(span: Span) -> Diagnostic {
    let message = "a quantifier over processors is used as a value in a claim";
    Diagnostic::error(span, message).help("use it with `->`, `&` and `|` only")
}
