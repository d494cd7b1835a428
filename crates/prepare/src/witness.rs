//! Invariants that ask for some processor, by processors that are known to be the ones asked for.
//!
//! `exists q: P do phi(q) end` cannot be decided where only a few processors are in view: whoever is
//! asked for may be one of the others. So the program remembers one of them in a *witness*, a new
//! variable of its own, and it is claimed that phi holds of the witness; or a set of the protocol is
//! known to have somebody in it, and it is claimed that phi holds of all who are in it.
//!
//! Transformation T17 of docs/abstraction.md, of prepared programs:
//!
//! ```text
//! before: forward[owner].to := p;
//!         invariant "served"  forall p: P do waits[p] -> exists q: P do forward[q].to = p end end
//! after:  forward[owner].to := p;  witness[p] := owner;
//!         invariant "served, by witnesses"  forall p: P do waits[p] ->
//!             !isundefined(witness[p]) & forward[witness[p]].to = p end
//! ```
//!
//! Why this is sound. A witness is a new name: only the new statements write it, and only they and
//! the new claim read it. They end no rule early and are in no guard, so that a run of the program
//! without them is a run with them, or they fail, which is found like any failure. And the new claim
//! implies the old one in every state: the `exists` that is replaced stands where more of it makes
//! the invariant hold, and each of `!isundefined(w) & phi(w)` and `(exists q: T(q)) & forall q: T(q) ->
//! phi(q)` implies it. Hence it does not matter for soundness who is remembered ([`keep`]), or which
//! set is taken. That the old claim can be evaluated is claimed as ever.

mod keep;

use murphi::ast::{
    BinaryOperator as B, Declaration, DeclarationKind, Domain, Expression, ExpressionKind,
    Property, PropertyKind, Quantifier, TypeExpression, TypeKind, UnaryOperator, Variables,
};
use murphi::diagnostic::Diagnostic;
use murphi::print::{print, print_expression};
use murphi::source::Span;
use murphi::transform::{
    Flat, Flattened, Substitution, and, assembled, declarations, expression, field, flatten_all,
    identifier, implies, index, name, named_type, not, not_taken, or, quantified, text,
};

use crate::Prepared;
use crate::types::ProcessorTypes;
use keep::WitnessRecorder;

/// How one `exists` over processors of an invariant is claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The name of the invariant.
    pub invariant: String,
    /// The number of the `exists` in the invariant, from 0.
    pub site: usize,
    /// Whether the program keeps a processor for which the condition holds.
    pub kept: bool,
    /// A set whose members all satisfy the condition, over the variables around the `exists` and
    /// its own variable.
    pub set: Option<String>,
}

/// The ways to claim each `exists` of an invariant, the simplest first; none if the invariant cannot
/// be claimed by witnesses.
pub fn possible_witnesses(prepared: &Prepared, invariant: &str) -> Vec<Vec<Witness>> {
    let Ok(flattened) = flatten_all(&prepared.program) else { return Vec::new() };
    let types = prepared.types();
    let Some(property) = found(&flattened, invariant) else { return Vec::new() };
    let sites = sites(&types, property).into_iter().enumerate();
    sites
        .map(|(number, site)| {
            let way =
                |kept, set| Witness { invariant: invariant.to_owned(), site: number, kept, set };
            let sets = site.sets(&types);
            let sets = sets.iter().map(print_expression);
            let either = sets.clone().map(|set| way(true, Some(set)));
            let one = sets.map(|set| way(false, Some(set)));
            std::iter::once(way(true, None)).chain(one).chain(either).collect()
        })
        .collect()
}

/// A program that claims invariants by witnesses. The invariants themselves stay in it, and can be
/// checked for definite numbers of processors.
pub fn with_witnesses(
    prepared: &Prepared,
    witnesses: &[Witness],
) -> Result<Prepared, Vec<Diagnostic>> {
    if witnesses.is_empty() {
        return Ok(prepared.clone());
    }
    let mut flattened = flatten_all(&prepared.program)?;
    let types = prepared.types();
    let mut declarations: Vec<Declaration> = declarations(&prepared.program).cloned().collect();
    let mut witnessed = prepared.witnessed.clone();
    let mut invariants: Vec<&String> = witnesses.iter().map(|each| &each.invariant).collect();
    invariants.dedup();
    for invariant in invariants {
        let refuse = |what: &str| {
            vec![Diagnostic::error(Span::default(), format!("\"{invariant}\" {what}"))]
        };
        let Some(property) = found(&flattened, invariant).cloned() else {
            return Err(refuse("is not an invariant that a witness proves"));
        };
        let sites = sites(&types, &property);
        let mut claims: Vec<Option<Expression>> = vec![None; sites.len()];
        for witness in witnesses.iter().filter(|witness| witness.invariant == **invariant) {
            let Some(site) = sites.get(witness.site) else {
                return Err(refuse("does not quantify over that many processors"));
            };
            let mut claimed = Vec::new();
            if witness.kept {
                let taken =
                    |wish: &str| print(&assembled(&declarations, &flattened)).contains(wish);
                let ghost = not_taken("witness", taken);
                declarations.push(site.declaration(&ghost, prepared));
                WitnessRecorder::new(&types, site, &ghost).keep(&mut flattened);
                claimed.push(site.of_witness(&ghost));
            }
            if let Some(wanted) = &witness.set {
                let sets = site.sets(&types);
                let set = sets.iter().find(|set| print_expression(set) == *wanted);
                let Some(set) = set else {
                    return Err(refuse("has no set of this name for witnesses"));
                };
                claimed.push(site.of_set(set));
            }
            claims[witness.site] = claimed.into_iter().reduce(or);
        }
        let name = witnessed_name(invariant);
        let condition = replaced(&types, &property, &claims);
        let message = Some(text(&name, property.span));
        let item = Property { kind: PropertyKind::Assertion, message, condition };
        let (quantifiers, span) = (property.quantifiers.clone(), property.span);
        flattened.properties.push(Flat { quantifiers, item, span });
        witnessed.push((invariant.clone(), name));
    }
    let program = assembled(&declarations, &flattened);
    let processor = prepared.processor.clone();
    Ok(Prepared { program, processor, rules: flattened.rules, witnessed })
}

/// The name of the claim that an invariant holds by witnesses.
fn witnessed_name(invariant: &str) -> String {
    format!("{invariant}, by witnesses")
}

/// The invariant of this name, if no other property has the name, nor the name of the new claim.
/// Properties without a name are numbered as in the abstraction.
fn found<'a>(flattened: &'a Flattened, invariant: &str) -> Option<&'a Flat<Property>> {
    let claimed = witnessed_name(invariant);
    let mut found = None;
    for (number, property) in flattened.properties.iter().enumerate() {
        let called = called(number, &property.item);
        if called == claimed || (called == invariant && found.is_some()) {
            return None;
        }
        if called == invariant {
            found = Some(property);
        }
    }
    found.filter(|property| property.item.kind == PropertyKind::Assertion)
}

/// The name of a property; its number if it has none.
fn called(number: usize, property: &Property) -> String {
    property.message.as_ref().map_or(format!("Invariant {number}"), |name| name.text.clone())
}

/// Whether a type is a set of processors: an array of booleans, one for each.
fn is_set(types: &ProcessorTypes, ty: &TypeExpression) -> bool {
    let array = types.array(ty);
    array.is_some_and(|(index, element)| types.is_processor(&index) && types.is_boolean(&element))
}

/// An `exists` over processors in a position where strengthening it makes the invariant stronger.
#[derive(Debug, Clone)]
struct Site {
    /// The variables bound around it.
    around: Vec<Quantifier>,
    /// Its variable.
    own: Quantifier,
    /// Its condition.
    condition: Expression,
}

/// The positions of an invariant where a witness may be claimed, in order.
fn sites(types: &ProcessorTypes, property: &Flat<Property>) -> Vec<Site> {
    let mut sites = Vec::new();
    let mut walk = Walk {
        types,
        visit: &mut |site| {
            sites.push(site);
            None
        },
    };
    walk.condition(&property.item.condition, true, &property.quantifiers);
    sites
}

/// The condition of an invariant with its sites replaced by claims.
fn replaced(
    types: &ProcessorTypes,
    property: &Flat<Property>,
    claims: &[Option<Expression>],
) -> Expression {
    let mut claims = claims.iter();
    let mut walk = Walk { types, visit: &mut |_| claims.next().cloned().flatten() };
    walk.condition(&property.item.condition, true, &property.quantifiers)
}

/// Traverses a condition and replaces sites by the result of `visit`.
struct Walk<'a> {
    types: &'a ProcessorTypes,
    visit: &'a mut dyn FnMut(Site) -> Option<Expression>,
}

impl Walk<'_> {
    /// `more` says whether the invariant becomes weaker if the condition does.
    fn condition(&mut self, whole: &Expression, more: bool, around: &[Quantifier]) -> Expression {
        let span = whole.span;
        let kind = match &whole.kind {
            ExpressionKind::Unary(UnaryOperator::Not, inner) => {
                let inner = self.condition(inner, !more, around);
                ExpressionKind::Unary(UnaryOperator::Not, Box::new(inner))
            }
            ExpressionKind::Binary(
                operator @ (B::And | B::LogicalAnd | B::Or | B::LogicalOr | B::Implies),
                left,
                right,
            ) => {
                let of_left = if *operator == B::Implies { !more } else { more };
                let left = self.condition(left, of_left, around);
                let right = self.condition(right, more, around);
                ExpressionKind::Binary(*operator, Box::new(left), Box::new(right))
            }
            ExpressionKind::Conditional(condition, left, right) => {
                let left = Box::new(self.condition(left, more, around));
                let right = Box::new(self.condition(right, more, around));
                ExpressionKind::Conditional(condition.clone(), left, right)
            }
            ExpressionKind::Quantified { all, quantifiers, condition } => {
                return self.quantified(whole, *all, quantifiers, condition, more, around);
            }
            _ => return whole.clone(),
        };
        expression(kind, span)
    }

    fn quantified(
        &mut self,
        whole: &Expression,
        all: bool,
        quantifiers: &[Quantifier],
        condition: &Expression,
        more: bool,
        around: &[Quantifier],
    ) -> Expression {
        let inner: Vec<Quantifier> = around.iter().chain(quantifiers).cloned().collect();
        let is_type = |each: &Quantifier| matches!(each.domain, Domain::Type(_));
        let is_bound_twice =
            |at: usize| inner[..at].iter().any(|it| it.name.text == inner[at].name.text);
        if !inner.iter().all(is_type) || (0..inner.len()).any(is_bound_twice) {
            return whole.clone();
        }
        if let ([own], false, true) = (quantifiers, all, more)
            && self.types.over_processors(own)
        {
            let (around, own, condition) = (around.to_vec(), own.clone(), condition.clone());
            let claimed = (self.visit)(Site { around, own, condition });
            return claimed.unwrap_or_else(|| whole.clone());
        }
        let condition = Box::new(self.condition(condition, more, &inner));
        let quantifiers = quantifiers.to_vec();
        expression(ExpressionKind::Quantified { all, quantifiers, condition }, whole.span)
    }
}

impl Site {
    fn span(&self) -> Span {
        self.condition.span
    }

    /// `var witness: array [A] of array [P] of P`, with one index for each variable around it.
    fn declaration(&self, ghost: &str, prepared: &Prepared) -> Declaration {
        let span = self.span();
        let processor = named_type(&prepared.processor.name, span);
        let ty = self.around.iter().rev().fold(processor, |element, quantifier| {
            let Domain::Type(index) = &quantifier.domain else { return element };
            let (index, element) = (Box::new(index.clone()), Box::new(element));
            TypeExpression { kind: TypeKind::Array { index, element }, span }
        });
        let names = vec![identifier(ghost, span)];
        Declaration { kind: DeclarationKind::Variable(Variables { names, ty }), span }
    }

    /// The witness for the values of the variables around the `exists`.
    fn witness(&self, ghost: &str, value: impl Fn(&str) -> Expression) -> Expression {
        let ghost = name(ghost, self.span());
        self.around.iter().fold(ghost, |array, each| index(array, value(&each.name.text)))
    }

    /// `!isundefined(w) & phi(w)`
    fn of_witness(&self, ghost: &str) -> Expression {
        let span = self.span();
        let witness = self.witness(ghost, |variable| name(variable, span));
        let mut of_witness = Substitution::default();
        of_witness.insert(&self.own.name.text, witness.clone());
        and(is_defined(witness), of_witness.expression(&self.condition))
    }

    /// `(exists q: T(q)) & forall q: T(q) -> phi(q)`
    fn of_set(&self, set: &Expression) -> Expression {
        let over = |all, condition| quantified(all, vec![self.own.clone()], condition);
        let somebody = over(false, set.clone());
        and(somebody, over(true, implies(set.clone(), self.condition.clone())))
    }

    /// The sets of processors in the state, as conditions on the variable of the `exists`.
    fn sets(&self, types: &ProcessorTypes) -> Vec<Expression> {
        let mut state: Vec<_> = types.state().collect();
        state.sort_by_key(|(variable, _)| *variable);
        let mut sets = Vec::new();
        for (variable, ty) in state {
            self.sets_in(types, name(variable, self.span()), ty, &mut sets);
        }
        sets
    }

    fn sets_in(
        &self,
        types: &ProcessorTypes,
        place: Expression,
        ty: &TypeExpression,
        sets: &mut Vec<Expression>,
    ) {
        if is_set(types, ty) {
            sets.push(index(place.clone(), name(&self.own.name.text, place.span)));
        }
        if let Some((wanted, element)) = types.array(ty) {
            for each in &self.around {
                if matches!(&each.domain, Domain::Type(ty) if is_same(types, ty, &wanted)) {
                    let place = index(place.clone(), name(&each.name.text, place.span));
                    self.sets_in(types, place, &element, sets);
                }
            }
        }
        for (called, ty) in types.fields(ty).unwrap_or_default() {
            self.sets_in(types, field(place.clone(), &called), &ty, sets);
        }
    }
}

/// Whether two types have the same name.
fn is_same(types: &ProcessorTypes, left: &TypeExpression, right: &TypeExpression) -> bool {
    let is_named = matches!((&left.kind, &right.kind),
        (TypeKind::Named(left), TypeKind::Named(right)) if left.text == right.text);
    is_named || (types.is_processor(left) && types.is_processor(right))
}

/// `!isundefined(place)`
fn is_defined(place: Expression) -> Expression {
    let span = place.span;
    not(expression(ExpressionKind::IsUndefined(Box::new(place)), span))
}
