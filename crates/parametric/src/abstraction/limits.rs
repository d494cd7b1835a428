//! Under which conditions the construction is sound.
//!
//! A step that goes wrong in the protocol must go wrong in some view of it. An assertion is checked
//! where the processors of its rule are concrete, and is exact there if the others it speaks of are
//! too: loop variables, bound ones, and stored ones that something is indexed by. So there must not
//! be more of them than concrete processors. The same goes for invariants and lemmas, with the
//! processors that they claim something for all of.

use std::collections::HashSet;

use murphi::ast::{
    BinaryOperator, DeclarationKind, Expression, ExpressionKind, Item, Property, PropertyKind,
    Statement, StatementKind, TypeExpression, TypeKind, UnaryOperator,
};
use murphi::diagnostic::Diagnostic;
use murphi::print::print_expression;
use murphi::source::Span;

use super::{Options, Wide};
use crate::Prepared;
use crate::rules::Flattened;
use crate::syntax::{boolean, changed, own_expressions, quantified};
use crate::types::{Scope, Types, bind};

/// Says where a program does not meet the conditions. What may be assumed because no view is wide
/// enough for it becomes an assumption.
pub(super) fn check(
    prepared: &Prepared,
    types: &Types,
    flattened: &mut Flattened,
    options: &Options,
) -> Result<(), Vec<Diagnostic>> {
    let concrete = options.concrete;
    let mut problems = Vec::new();
    for item in &prepared.program.items {
        let Item::Declaration(declaration) = item else { continue };
        match &declaration.kind {
            DeclarationKind::Type { definition, .. } => suits(types, definition, &mut problems),
            DeclarationKind::Variable(variables) => suits(types, &variables.ty, &mut problems),
            DeclarationKind::Constant { .. } => {}
        }
    }
    if concrete == 0 {
        let message = "no processor would stay as it is";
        let help = "keep at least one of them";
        problems.push(Diagnostic::error(prepared.processor.span, message).help(help));
    }
    let rules = flattened.rules.iter_mut().map(|rule| (&rule.quantifiers, &mut rule.body));
    let starts = flattened.start_states.iter_mut();
    let starts = starts.map(|start| (&start.quantifiers, &mut start.item.1));
    for (quantifiers, body) in rules.chain(starts) {
        let mut scope = Scope::new();
        bind(&mut scope, quantifiers);
        let of_rule: Vec<String> = quantifiers
            .iter()
            .filter(|each| types.over_processors(each))
            .map(|each| each.name.text.clone())
            .collect();
        let mut counter = Counter { types, scope, of_rule, options, problems: &mut problems };
        counter.statements(&mut body.statements);
    }
    for property in &flattened.properties {
        if property.item.kind == PropertyKind::Assertion {
            let quantifiers = property.quantifiers.clone();
            let whole = quantified(true, quantifiers, property.item.condition.clone());
            problems.extend(within(types, &whole, concrete).err());
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// No type has processors where they cannot be abstracted.
fn suits(types: &Types, ty: &TypeExpression, problems: &mut Vec<Diagnostic>) {
    match &ty.kind {
        TypeKind::Multiset { element, .. } if types.mentions_processors(element) => {
            let message = "a multiset of things that refer to processors cannot be abstracted";
            let help = "keep messages in arrays, by sender or destination";
            problems.push(Diagnostic::error(ty.span, message).help(help));
        }
        TypeKind::Union(members) if members.iter().any(|each| types.mentions_processors(each)) => {
            let message = "a union with processors cannot be abstracted";
            problems.push(Diagnostic::error(ty.span, message).help("use two variables"));
        }
        TypeKind::Record(fields) => {
            fields.iter().for_each(|field| suits(types, &field.ty, problems));
        }
        TypeKind::Array { index, element } => {
            suits(types, index, problems);
            suits(types, element, problems);
        }
        _ => {}
    }
}

/// A claim speaks of few enough processors.
pub(super) fn within(types: &Types, claim: &Expression, concrete: u64) -> Result<(), Diagnostic> {
    let mut scope = Scope::new();
    let count = spoken_of(types, &mut scope, claim);
    if count as u64 <= concrete {
        return Ok(());
    }
    Err(too_many(claim.span, count))
}

fn too_many(span: Span, count: usize) -> Diagnostic {
    let message = format!("this speaks of {count} processors at once");
    Diagnostic::error(span, message).help(format!("keep at least {count} processors concrete"))
}

struct Counter<'a> {
    types: &'a Types,
    scope: Scope,
    of_rule: Vec<String>,
    options: &'a Options,
    problems: &'a mut Vec<Diagnostic>,
}

impl Counter<'_> {
    fn statements(&mut self, statements: &mut [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        let count = self.spoken_of(statement);
        if count as u64 > self.options.concrete {
            match self.options.wide {
                Wide::Refused => self.problems.push(too_many(statement.span, count)),
                Wide::Assumed => assume(statement),
            }
        }
        match &mut statement.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter_mut().for_each(|branch| self.statements(&mut branch.body));
                otherwise.iter_mut().for_each(|body| self.statements(body));
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                cases.iter_mut().for_each(|case| self.statements(&mut case.body));
                otherwise.iter_mut().for_each(|body| self.statements(body));
            }
            StatementKind::For { quantifiers, body } => {
                let outer = self.scope.clone();
                bind(&mut self.scope, quantifiers);
                self.statements(body);
                self.scope = outer;
            }
            StatementKind::While { body, .. } => self.statements(body),
            _ => {}
        }
    }

    /// How many processors must be in view to see a statement go wrong.
    fn spoken_of(&mut self, statement: &Statement) -> usize {
        let is_claim = match &statement.kind {
            StatementKind::Property(property) => property.kind == PropertyKind::Assertion,
            StatementKind::Error(_) => true,
            _ => false,
        };
        let mut spoken: HashSet<String> = HashSet::new();
        let mut bound = 0;
        // What is only written is not looked at: what matters of it are its indices.
        let target = changed(statement);
        let is_target =
            |expression: &Expression| target.is_some_and(|target| std::ptr::eq(target, expression));
        let mut looked_at = Vec::new();
        for expression in own_expressions(statement) {
            match is_target(expression) {
                true => looked_at.extend(inner_indices(expression)),
                false => looked_at.push(expression),
            }
        }
        let side = if is_claim { Side::Claimed } else { Side::Either };
        for expression in looked_at {
            bound = bound.max(gather(self.types, &mut self.scope, expression, side, &mut spoken));
        }
        if is_claim {
            spoken.extend(self.of_rule.iter().cloned());
        }
        spoken.len() + bound
    }
}

/// Makes an assumption of what is claimed.
fn assume(statement: &mut Statement) {
    let span = statement.span;
    match &mut statement.kind {
        StatementKind::Property(property) => property.kind = PropertyKind::Assumption,
        StatementKind::Error(_) => {
            let condition = boolean(false, span);
            let property = Property { kind: PropertyKind::Assumption, message: None, condition };
            statement.kind = StatementKind::Property(property);
        }
        _ => {}
    }
}

/// The indices of a place that are more than a name.
fn inner_indices(place: &Expression) -> Vec<&Expression> {
    match &place.kind {
        ExpressionKind::Field(inner, _) => inner_indices(inner),
        ExpressionKind::Index(inner, at) => {
            let mut found = inner_indices(inner);
            if !matches!(at.kind, ExpressionKind::Name(_)) {
                found.push(at);
            }
            found
        }
        _ => Vec::new(),
    }
}

/// How many processors a closed claim speaks of.
fn spoken_of(types: &Types, scope: &mut Scope, claim: &Expression) -> usize {
    let mut spoken = HashSet::new();
    let bound = gather(types, scope, claim, Side::Claimed, &mut spoken);
    spoken.len() + bound
}

/// On which side of a claim a condition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// If it is true, so is the claim.
    Claimed,
    /// If it is false, the claim is true.
    Supposed,
    /// Neither is known.
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

/// Collects the processors that an expression speaks of, except for bound ones, and gives the
/// greatest number of those at a time. What is claimed of some processor, or supposed of all of
/// them, is not counted: there the concrete ones stand for all, and whatever is not known of them
/// is taken to speak against the claim.
fn gather(
    types: &Types,
    scope: &mut Scope,
    whole: &Expression,
    side: Side,
    spoken: &mut HashSet<String>,
) -> usize {
    use BinaryOperator as B;
    let parts = match &whole.kind {
        ExpressionKind::Unary(UnaryOperator::Not, inner) => {
            vec![(&**inner, side.turned())]
        }
        ExpressionKind::Binary(B::And | B::Or | B::LogicalAnd | B::LogicalOr, left, right) => {
            vec![(&**left, side), (&**right, side)]
        }
        ExpressionKind::Binary(B::Implies, left, right) => {
            vec![(&**left, side.turned()), (&**right, side)]
        }
        ExpressionKind::Name(name) => {
            if scope.get(name).is_some_and(|ty| types.is_processor(ty)) {
                spoken.insert(name.clone());
            }
            Vec::new()
        }
        ExpressionKind::Index(array, at) => {
            let is_stored =
                matches!(at.kind, ExpressionKind::Field(..) | ExpressionKind::Index(..))
                    || matches!(&at.kind, ExpressionKind::Name(name) if types.is_global(name));
            let by_processor = types.of(scope, at).is_some_and(|ty| types.is_processor(&ty));
            if is_stored && by_processor {
                spoken.insert(print_expression(at));
            }
            vec![(&**array, Side::Either), (&**at, Side::Either)]
        }
        ExpressionKind::Quantified { all, quantifiers, condition } => {
            let restricted = matches!((all, side), (false, Side::Claimed) | (true, Side::Supposed));
            if restricted && quantifiers.iter().any(|each| types.over_processors(each)) {
                return 0;
            }
            let outer = scope.clone();
            bind(scope, quantifiers);
            let mut own = 0;
            for quantifier in quantifiers {
                if types.over_processors(quantifier) {
                    // Bound ones are counted here and not as something spoken of.
                    own += 1;
                    scope.remove(&quantifier.name.text);
                }
            }
            let inner = gather(types, scope, condition, side, spoken);
            *scope = outer;
            return own + inner;
        }
        _ => crate::syntax::parts(whole).into_iter().map(|part| (part, Side::Either)).collect(),
    };
    let most = parts.into_iter().map(|(part, side)| gather(types, scope, part, side, spoken));
    most.max().unwrap_or(0)
}
