//! Which programs are abstracted.
//!
//! Types must not hide processors where they cannot be followed, and every claim must be about few
//! enough of them: invariants, assertions, and that guards, properties and statements can be
//! evaluated. A claim about more is refused with its place and the number.
//!
//! Statement W1 of docs/abstraction.md, which `width.rs` computes. With two concrete processors:
//!
//! ```text
//! accepted: forall p: P do forall q: P do p != q -> c[p] = I | c[q] = I end end
//! refused:  exists s: 1..5 do forall q: P do l[q] != s end end     -- about 5 processors
//! ```

use murphi::ast::{
    Body, Declaration, DeclarationKind, Domain, Expression, ExpressionKind, PropertyKind,
    Quantifier, Statement, StatementKind, TypeExpression, TypeKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;
use murphi::transform::{
    Checked, Interner, Scope, bind, bind_variables, bodies, declarations, each_expression,
    each_part, each_statement, quantified,
};

use super::width::{Requirements, beyond, needs, too_many};
use crate::types::Types;
use crate::{Prepared, View};

/// Reports every place at which a program violates the conditions of the abstraction.
pub(super) fn check(
    prepared: &Prepared,
    types: &Types,
    checked: &Checked,
) -> Result<(), Vec<Diagnostic>> {
    let mut problems = Vec::new();
    declarations(&prepared.program).for_each(|each| declared(types, each, &mut problems));
    if types.concrete() == 0 {
        let message = "the abstraction has no concrete processor";
        let help = "use --concrete 1 or more";
        problems.push(Diagnostic::error(prepared.processor.span, message).help(help));
    }
    for (_, body) in rule_bodies(checked) {
        body.declarations.iter().for_each(|each| declared(types, each, &mut problems));
    }
    each_domain(checked, &mut |ty| suits(types, ty, &mut problems));
    for claim in claims(types, checked) {
        match claim {
            Err(problem) => problems.push(problem),
            Ok((span, needs)) => {
                problems.extend(beyond(&needs, types.view()).map(|count| too_many(span, count)));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The largest number of processors that a claim is about.
pub(super) fn widest(types: &Types, checked: &Checked) -> u64 {
    let nobody = View { concrete: 0, named: false };
    let counts = claims(types, checked).into_iter().flatten();
    let counts = counts.filter_map(|(_, needs)| beyond(&needs, nobody));
    counts.max().map_or(0, |count| count as u64)
}

/// The bodies of rules and start states, with the enclosing quantifiers.
fn rule_bodies(checked: &Checked) -> impl Iterator<Item = (&Vec<Quantifier>, &Body)> {
    let program = &checked.program;
    let rules = program.rules.iter().map(|rule| (&rule.quantifiers, &rule.body));
    rules.chain(program.start_states.iter().map(|start| (&start.quantifiers, &start.item.1)))
}

/// A claim's span with the processors that it requires; an error if they cannot be counted.
type Counted = Result<(Span, Requirements), Diagnostic>;

/// All claims of a program except lemmas.
fn claims(types: &Types, checked: &Checked) -> Vec<Counted> {
    let mut claims = Claims { types, found: Vec::new() };
    for (quantifiers, body) in rule_bodies(checked) {
        let mut scope = Scope::new();
        bind(&mut scope, quantifiers);
        bind_variables(&mut scope, &body.declarations);
        claims.statements(&scope, &body.statements);
    }
    let program = &checked.program;
    for (property, evaluates) in program.properties.iter().zip(&checked.properties) {
        if property.item.kind == PropertyKind::Assertion {
            claims.of_every_state(&property.quantifiers, &property.item.condition);
        }
        claims.of_every_state(&property.quantifiers, evaluates);
    }
    for (rule, evaluates) in program.rules.iter().zip(&checked.guards) {
        claims.of_every_state(&rule.quantifiers, evaluates);
    }
    claims.found
}

/// Reports declared types in which processors cannot be abstracted.
fn declared(types: &Types, declaration: &Declaration, problems: &mut Vec<Diagnostic>) {
    match &declaration.kind {
        DeclarationKind::Type { definition, .. } => suits(types, definition, problems),
        DeclarationKind::Variable(variables) => suits(types, &variables.ty, problems),
        DeclarationKind::Constant { .. } => {}
    }
}

fn suits(types: &Types, ty: &TypeExpression, problems: &mut Vec<Diagnostic>) {
    match &ty.kind {
        TypeKind::Multiset { element, .. } if types.mentions_processors(element) => {
            let message = "a multiset whose elements refer to processors cannot be abstracted";
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

/// Calls `visit` for the types over which parameters, loops and quantifiers range.
fn each_domain(checked: &Checked, visit: &mut dyn FnMut(&TypeExpression)) {
    let mut of = |quantifiers: &[Quantifier]| {
        for quantifier in quantifiers {
            if let Domain::Type(ty) = &quantifier.domain {
                visit(ty);
            }
        }
    };
    for (quantifiers, body) in rule_bodies(checked) {
        of(quantifiers);
        each_statement(&body.statements, &mut |statement| {
            if let StatementKind::For { quantifiers, .. } = &statement.kind {
                of(quantifiers);
            }
        });
    }
    let mut bound = |part: &Expression| {
        if let ExpressionKind::Quantified { quantifiers, .. } = &part.kind {
            of(quantifiers);
        }
    };
    for (_, body) in rule_bodies(checked) {
        each_expression(&body.statements, &mut bound);
    }
    let program = &checked.program;
    let guards = program.rules.iter().filter_map(|rule| rule.guard.as_ref());
    guards.for_each(|guard| each_part(guard, &mut bound));
    program.properties.iter().for_each(|property| each_part(&property.item.condition, &mut bound));
    program.properties.iter().for_each(|property| of(&property.quantifiers));
}

/// Collects claims.
struct Claims<'a> {
    types: &'a Types,
    found: Vec<Counted>,
}

impl Claims<'_> {
    fn statements(&mut self, scope: &Scope, statements: &[Statement]) {
        for statement in statements {
            self.statement(scope, statement);
        }
    }

    fn statement(&mut self, scope: &Scope, statement: &Statement) {
        if let StatementKind::Property(property) = &statement.kind
            && matches!(property.kind, PropertyKind::Assertion | PropertyKind::Check)
        {
            self.claim(scope, &property.condition, statement.span);
        }
        let mut inner = scope.clone();
        if let StatementKind::For { quantifiers, .. } = &statement.kind {
            bind(&mut inner, quantifiers);
        }
        bodies(statement).into_iter().for_each(|body| self.statements(&inner, body));
    }

    fn claim(&mut self, scope: &Scope, condition: &Expression, span: Span) {
        self.found.push(
            needs(&mut Interner::default(), self.types, scope, condition)
                .map(|needs| (span, needs)),
        );
    }

    fn of_every_state(&mut self, quantifiers: &[Quantifier], condition: &Expression) {
        let claim = quantified(true, quantifiers.to_vec(), condition.clone());
        self.claim(&Scope::new(), &claim, condition.span);
    }
}
