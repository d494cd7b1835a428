//! Under which conditions the construction is sound.
//!
//! A step that goes wrong in the protocol must go wrong in some view of it. An assertion is checked
//! where the processors of its rule are concrete, and is exact there if the others it speaks of are
//! too: the loop variables around it, bound ones, stored ones that something is indexed by, and one
//! of two stored ones that are compared, because two that are both `Other` may or may not be the
//! same. So there must not be more of them than concrete processors. The same goes for invariants
//! and lemmas, with the processors that they claim something for all of. Where a claim fails only if
//! several parts of it do, the processors of all of them have to be in view.

use std::collections::BTreeSet;

use murphi::ast::{
    BinaryOperator, DeclarationKind, Expression, ExpressionKind, Item, PropertyKind, Quantifier,
    Statement, StatementKind, TypeExpression, TypeKind, UnaryOperator,
};
use murphi::diagnostic::Diagnostic;
use murphi::print::print_expression;
use murphi::source::Span;
use murphi::transform::{
    Flattened, Scope, Substitution, bind, changed, each_statement, name, own_expressions,
    quantified,
};

use super::{Options, Wide};
use crate::types::Types;
use crate::{Prepared, View};

/// Says where a program does not meet the conditions.
pub(super) fn check(
    prepared: &Prepared,
    types: &Types,
    flattened: &Flattened,
    options: &Options,
) -> Result<(), Vec<Diagnostic>> {
    let view = options.view;
    let mut problems = Vec::new();
    for item in &prepared.program.items {
        let Item::Declaration(declaration) = item else { continue };
        match &declaration.kind {
            DeclarationKind::Type { definition, .. } => suits(types, definition, &mut problems),
            DeclarationKind::Variable(variables) => suits(types, &variables.ty, &mut problems),
            DeclarationKind::Constant { .. } => {}
        }
    }
    if view.concrete == 0 {
        let message = "no processor would stay as it is";
        let help = "keep at least one of them";
        problems.push(Diagnostic::error(prepared.processor.span, message).help(help));
    }
    let rules = flattened.rules.iter().map(|rule| (&rule.quantifiers, &rule.body));
    let starts = flattened.start_states.iter().map(|start| (&start.quantifiers, &start.item.1));
    for (quantifiers, body) in rules.chain(starts) {
        let mut scope = Scope::new();
        bind(&mut scope, quantifiers);
        for declaration in &body.declarations {
            if let DeclarationKind::Variable(variables) = &declaration.kind {
                suits(types, &variables.ty, &mut problems);
                let own =
                    variables.names.iter().map(|name| (name.text.clone(), variables.ty.clone()));
                scope.extend(own);
            }
        }
        let of_rule: Vec<String> = quantifiers
            .iter()
            .filter(|each| types.over_processors(each))
            .map(|each| each.name.text.clone())
            .collect();
        let around = of_rule;
        let mut counter = Counter { types, scope, around, options, problems: &mut problems };
        counter.statements(&body.statements);
    }
    for property in &flattened.properties {
        if property.item.kind == PropertyKind::Assertion {
            let quantifiers = property.quantifiers.clone();
            let whole = quantified(true, quantifiers, property.item.condition.clone());
            problems.extend(within(types, &whole, view).err());
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
pub(super) fn within(types: &Types, claim: &Expression, view: View) -> Result<(), Diagnostic> {
    let mut scope = Scope::new();
    let mut spoken = Spoken { types, is_claim: true, unclear: None, bound: 0 };
    let needs = spoken.of(&mut scope, claim, Side::Claimed);
    match (spoken.unclear, beyond(&needs, view)) {
        (Some(span), _) => Err(unclear(span)),
        (None, Some(count)) => Err(too_many(claim.span, count)),
        (None, None) => Ok(()),
    }
}

fn too_many(span: Span, count: usize) -> Diagnostic {
    let message = format!("this speaks of {count} processors at once");
    Diagnostic::error(span, message).help(format!("keep at least {count} processors concrete"))
}

fn unclear(span: Span) -> Diagnostic {
    let message = "what is so of some or of all processors is used as a value in a claim";
    Diagnostic::error(span, message).help("say what follows from it, with `->`, `&` and `|`")
}

struct Counter<'a> {
    types: &'a Types,
    scope: Scope,
    /// The processors of the rule and of the loops around.
    around: Vec<String>,
    options: &'a Options,
    problems: &'a mut Vec<Diagnostic>,
}

impl Counter<'_> {
    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let needs = self.spoken_of(statement);
        let is_tolerated = self.options.wide == Wide::Tolerated && !is_claim(statement);
        let count = beyond(&needs, self.options.view).or_else(|| self.unseen(statement, &needs));
        if let Some(count) = count
            && !is_tolerated
        {
            self.problems.push(too_many(statement.span, count));
        }
        match &statement.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|branch| self.statements(&branch.body));
                otherwise.iter().for_each(|body| self.statements(body));
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                cases.iter().for_each(|case| self.statements(&case.body));
                otherwise.iter().for_each(|body| self.statements(body));
            }
            StatementKind::For { quantifiers, body } => {
                let (scope, count) = (self.scope.clone(), self.around.len());
                bind(&mut self.scope, quantifiers);
                let over = quantifiers.iter().filter(|each| self.types.over_processors(each));
                self.around.extend(over.map(|each| each.name.text.clone()));
                self.statements(body);
                self.around.truncate(count);
                self.scope = scope;
            }
            StatementKind::While { body, .. } => self.statements(body),
            _ => {}
        }
    }

    /// How many processors must be in view to see that a statement is run at all, if that is more
    /// than there are. A statement of which nothing shows is left out, whatever it looks at: those who
    /// own what it writes have to be in view besides those that it looks at.
    fn unseen(&self, whole: &Statement, needs: &[Need]) -> Option<usize> {
        let view = self.options.view;
        if !may_fail(whole) {
            return None;
        }
        let mut least: Option<usize> = None;
        each_statement(std::slice::from_ref(whole), &mut |statement| {
            let Some(target) = changed(statement) else { return };
            let owners = self.owners(target);
            let count = needs.iter().map(|need| (&need.state | &owners).len()).max();
            least = least.into_iter().chain(count).min();
        });
        least.filter(|least| *least as u64 > view.concrete)
    }

    /// The processors that a place belongs to. A local variable may end up with any of those around.
    fn owners(&self, place: &Expression) -> Texts {
        match &place.kind {
            ExpressionKind::Field(inner, _) => self.owners(inner),
            ExpressionKind::Index(inner, at) => {
                let mut found = self.owners(inner);
                let ty = self.types.of(&self.scope, at);
                let is_processor = ty.is_some_and(|ty| self.types.is_processor(&ty));
                found.extend(is_processor.then(|| print_expression(at)));
                found
            }
            ExpressionKind::Name(name) if self.scope.contains_key(name) => {
                self.around.iter().cloned().collect()
            }
            _ => Texts::new(),
        }
    }

    /// The processors that must be in view to see a statement go wrong.
    fn spoken_of(&mut self, statement: &Statement) -> Vec<Need> {
        let is_claim = is_claim(statement);
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
        let mut spoken = Spoken { types: self.types, is_claim, unclear: None, bound: 0 };
        let around = if is_claim { self.around.clone() } else { Vec::new() };
        let mut needs = vec![Need { state: around.into_iter().collect(), name: Texts::new() }];
        for expression in looked_at {
            needs = together(needs, spoken.of(&mut self.scope, expression, side));
        }
        self.problems.extend(spoken.unclear.map(unclear));
        needs
    }
}

/// Whether a statement looks at something that may not be there, or may be too much.
fn may_fail(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Assign { value, .. } => !matches!(
            value.kind,
            ExpressionKind::Integer(_) | ExpressionKind::Name(_) | ExpressionKind::Undefined
        ),
        StatementKind::If { .. } | StatementKind::Switch { .. } | StatementKind::While { .. } => {
            true
        }
        _ => false,
    }
}

/// Whether a statement says that something is so, or goes wrong by itself.
fn is_claim(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Property(property) => property.kind == PropertyKind::Assertion,
        StatementKind::Error(_) => true,
        _ => false,
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

/// Processors, by their texts.
type Texts = BTreeSet<String>;

/// Processors that have to be in view at once for one way in which a claim fails.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    /// Those whose state matters.
    state: Texts,
    /// Those of which it matters who they are, and perhaps nothing else.
    name: Texts,
}

impl Need {
    fn and(&self, other: &Need) -> Need {
        Need { state: &self.state | &other.state, name: &self.name | &other.name }
    }

    /// How many processors there are, if they are more than are in view.
    fn beyond(&self, view: View) -> Option<usize> {
        let all = (&self.state | &self.name).len();
        let most = view.concrete + u64::from(view.named);
        let is_in_view = self.state.len() as u64 <= view.concrete && all as u64 <= most;
        (!is_in_view).then_some(all)
    }
}

/// How many processors would have to be in view, if that is more than there are.
fn beyond(needs: &[Need], view: View) -> Option<usize> {
    needs.iter().filter_map(|need| need.beyond(view)).max()
}

/// The needs of two parts that have to fail both.
fn together(left: Vec<Need>, right: Vec<Need>) -> Vec<Need> {
    let pairs = left.iter().flat_map(|left| right.iter().map(move |right| left.and(right)));
    few(pairs.collect())
}

/// The needs of two parts of which one has to fail.
fn either(left: Vec<Need>, right: Vec<Need>) -> Vec<Need> {
    few(left.into_iter().chain(right).collect())
}

/// Not more of them than can be handled: together they are one that is greater than each.
fn few(needs: BTreeSet<Need>) -> Vec<Need> {
    if needs.len() <= 32 {
        return needs.into_iter().collect();
    }
    vec![needs.iter().fold(Need::default(), |whole, need| whole.and(need))]
}

/// Collects the processors that expressions speak of.
struct Spoken<'a> {
    types: &'a Types,
    is_claim: bool,
    /// Where a claim uses what is so of some processor in a way that is neither claimed nor supposed.
    unclear: Option<Span>,
    /// How many bound variables there have been.
    bound: usize,
}

impl Spoken<'_> {
    /// The processors that have to be in view to see that a condition fails, one set for each way in
    /// which it does. What is claimed of some processor, or supposed of all of them, needs none:
    /// there the concrete ones stand for all, and whatever is not known of them is taken to speak
    /// against the claim.
    fn of(&mut self, scope: &mut Scope, whole: &Expression, side: Side) -> Vec<Need> {
        use BinaryOperator as B;
        let none = || vec![Need::default()];
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
                let (left, right) = (self.of(scope, left, of_left), self.of(scope, right, side));
                match (is_and, side) {
                    (true, Side::Claimed) | (false, Side::Supposed) => either(left, right),
                    _ => together(left, right),
                }
            }
            ExpressionKind::Conditional(condition, left, right) => {
                let mut needs = self.of(scope, condition, side);
                for (part, side) in [(condition, side.turned()), (left, side), (right, side)] {
                    needs = together(needs, self.of(scope, part, side));
                }
                needs
            }
            ExpressionKind::Name(name) => {
                let is_processor = scope.get(name).is_some_and(|ty| self.types.is_processor(ty));
                let need = is_processor.then(|| name.clone());
                vec![Need { state: need.into_iter().collect(), name: Texts::new() }]
            }
            ExpressionKind::Quantified { all, quantifiers, condition } => {
                let types = self.types;
                let over = |each: &&Quantifier| types.over_processors(each);
                let is_about_processors = quantifiers.iter().any(|each| over(&each));
                let restricted =
                    matches!((all, side), (false, Side::Claimed) | (true, Side::Supposed));
                if restricted && is_about_processors {
                    return none();
                }
                if self.is_claim && side == Side::Either && is_about_processors {
                    self.unclear.get_or_insert(whole.span);
                }
                let outer = scope.clone();
                bind(scope, quantifiers);
                // The same name elsewhere is another processor.
                let mut apart = Substitution::default();
                for quantifier in quantifiers.iter().filter(over) {
                    self.bound += 1;
                    let label = format!("{} {}", quantifier.name.text, self.bound);
                    apart.insert(&quantifier.name.text, name(&label, quantifier.span));
                    let ty = scope.get(&quantifier.name.text).cloned();
                    scope.extend(ty.map(|ty| (label, ty)));
                }
                let needs = self.of(scope, &apart.expression(condition), side);
                *scope = outer;
                needs
            }
            _ => {
                let mut needs = none();
                let mut stored = Need::default();
                match &whole.kind {
                    ExpressionKind::Index(_, at) if self.is_stored(scope, at) => {
                        stored.state.insert(print_expression(at));
                    }
                    // If both are abstract, it is not known whether they are the same.
                    ExpressionKind::Binary(B::Equal | B::NotEqual, left, right)
                        if self.is_stored(scope, left) && self.is_stored(scope, right) =>
                    {
                        stored.name.insert(print_expression(left));
                    }
                    _ => {}
                }
                for part in murphi::transform::parts(whole) {
                    needs = together(needs, self.of(scope, part, Side::Either));
                }
                together(needs, vec![stored])
            }
        }
    }

    /// Whether this is a processor that is stored somewhere in the state.
    fn is_stored(&self, scope: &Scope, place: &Expression) -> bool {
        let is_place = match &place.kind {
            ExpressionKind::Field(..) | ExpressionKind::Index(..) => true,
            ExpressionKind::Name(name) => !scope.contains_key(name) && self.types.is_global(name),
            _ => false,
        };
        is_place && self.types.of(scope, place).is_some_and(|ty| self.types.is_processor(&ty))
    }
}
