//! Who is remembered as a witness: whoever a statement has just made the condition hold of.
//!
//! A statement that writes a place which the condition reads says of which processor: `forward[owner]
//! .to := p` is about `owner`. What is known of the places that were written just before is put into
//! the condition: `forward[owner].to = p` becomes `p = p`. Unless that is false, the processor
//! becomes the witness where it is true. For whom it is a witness (the variables around the `exists`)
//! is read from the place that is written or from an equation of the condition.
//!
//! Nothing of this has to be right for the claim to be sound: a witness that is not one makes the
//! claim fail.

use std::collections::HashMap;

use murphi::ast::{
    BinaryOperator as B, Expression, ExpressionKind, Quantifier, Statement, StatementKind,
    UnaryOperator,
};
use murphi::print::print_expression;
use murphi::transform::{
    Flattened, Scope, Substitution, and, assign, bind, boolean, changed, each_part, implies,
    is_false, is_place, names, not, or, parts, rebuilt, when,
};

use super::{Site, is_defined};
use crate::types::ProcessorTypes;

/// Adds statements that set a witness.
pub(super) struct WitnessRecorder<'a> {
    types: &'a ProcessorTypes,
    site: &'a Site,
    ghost: &'a str,
    /// The places that the condition reads of its variable.
    reads: Vec<Expression>,
    /// The names bound in the condition.
    scope: Scope,
}

/// The values of the variables of a site.
type Bindings = HashMap<String, Expression>;

impl<'a> WitnessRecorder<'a> {
    pub(super) fn new(types: &'a ProcessorTypes, site: &'a Site, ghost: &'a str) -> Self {
        let mut reads = Vec::new();
        read_places(&site.condition, &mut reads);
        reads.retain(|place| names(place).contains(&site.own.name.text));
        let mut scope = Scope::new();
        bind(&mut scope, &site.around);
        bind(&mut scope, std::slice::from_ref(&site.own));
        WitnessRecorder { types, site, ghost, reads, scope }
    }

    /// Adds statements to all rules and start states.
    pub(super) fn keep(&self, flattened: &mut Flattened) {
        let rules = flattened.rules.iter_mut().map(|rule| &mut rule.body);
        let starts = flattened.start_states.iter_mut().map(|start| &mut start.item.1);
        for body in rules.chain(starts) {
            body.statements = self.statements(&[], &body.statements);
        }
    }

    fn statements(&self, loops: &[String], statements: &[Statement]) -> Vec<Statement> {
        let mut done = Vec::new();
        let mut rest = statements;
        while let Some((first, behind)) = rest.split_first() {
            let run = self.run(rest);
            if run == 0 {
                done.push(self.inside(loops, first));
                rest = behind;
                continue;
            }
            done.extend_from_slice(&rest[..run]);
            done.extend(self.update(loops, &rest[..run]));
            rest = &rest[run..];
        }
        done
    }

    /// A statement with its nested statements rewritten.
    fn inside(&self, loops: &[String], whole: &Statement) -> Statement {
        let mut whole = whole.clone();
        let keep = |body: &mut Vec<Statement>| *body = self.statements(loops, body);
        match &mut whole.kind {
            StatementKind::If { branches, otherwise } => {
                branches.iter_mut().for_each(|branch| keep(&mut branch.body));
                otherwise.iter_mut().for_each(keep);
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                cases.iter_mut().for_each(|case| keep(&mut case.body));
                otherwise.iter_mut().for_each(keep);
            }
            StatementKind::While { body, .. } => keep(body),
            StatementKind::For { quantifiers, body } => {
                let over = |each: &&Quantifier| self.types.over_processors(each);
                let own = quantifiers.iter().filter(over).map(|each| each.name.text.clone());
                let loops: Vec<String> = loops.iter().cloned().chain(own).collect();
                *body = self.statements(&loops, body);
            }
            _ => {}
        }
        whole
    }

    /// The number of the next statements that write places which the condition reads of the same
    /// processor.
    fn run(&self, statements: &[Statement]) -> usize {
        let of = |statement: &Statement| {
            let bindings = self.bindings(changed(statement)?)?;
            bindings.get(&self.site.own.name.text).map(print_expression)
        };
        let Some(first) = statements.first().and_then(of) else { return 0 };
        statements.iter().take_while(|statement| of(statement).as_ref() == Some(&first)).count()
    }

    /// The values of the site's variables where a place is written.
    fn bindings(&self, written: &Expression) -> Option<Bindings> {
        self.reads.iter().find_map(|read| {
            let mut bindings = Bindings::new();
            let is_met = self.meets(read, written, &mut bindings);
            (is_met && bindings.contains_key(&self.site.own.name.text)).then_some(bindings)
        })
    }

    /// Whether a read place is the written one, a part of it, or contains it.
    fn meets(&self, read: &Expression, written: &Expression, bindings: &mut Bindings) -> bool {
        let (read, written) = (path(read), path(written));
        let common = read.len().min(written.len());
        common > 0
            && read[..common].iter().zip(&written[..common]).all(|(read, written)| {
                match (read, written) {
                    (Step::Name(read), Step::Name(written)) => read == written,
                    (Step::At(read), Step::At(written)) => match &read.kind {
                        ExpressionKind::Name(variable) if self.scope.contains_key(variable) => {
                            let known = bindings.entry(variable.clone());
                            let known = known.or_insert_with(|| (*written).clone());
                            print_expression(known) == print_expression(written)
                        }
                        _ => print_expression(read) == print_expression(written),
                    },
                    _ => false,
                }
            })
    }

    /// The statement that sets the witness to the processor that some statements are about.
    fn update(&self, loops: &[String], run: &[Statement]) -> Vec<Statement> {
        self.update_of(loops, run).unwrap_or_default()
    }

    fn update_of(&self, loops: &[String], run: &[Statement]) -> Option<Vec<Statement>> {
        let last = run.last()?;
        let mut bindings = Bindings::new();
        for written in run.iter().filter_map(changed) {
            for (variable, value) in self.bindings(written)? {
                bindings.entry(variable).or_insert(value);
            }
        }
        let values = values(run);
        for each in &self.site.around {
            if !bindings.contains_key(&each.name.text) {
                let value = self.solved(&each.name.text, &bindings, &values)?;
                bindings.insert(each.name.text.clone(), value);
            }
        }
        // The result must not depend on which of several processors comes last.
        if bindings.values().flat_map(names).any(|name| loops.contains(&name)) {
            return None;
        }
        let condition =
            self.folded(&substitution(&bindings).expression(&self.site.condition), &values);
        let condition = truth(condition);
        if is_false(&condition) {
            return None;
        }
        let target = self.site.witness(self.ghost, |variable| bindings[variable].clone());
        let value = bindings[&self.site.own.name.text].clone();
        let mut guard = boolean(true, last.span);
        for place in self.stored(&bindings) {
            if !matches!(values.get(&print_expression(&place)), Some(Some(_))) {
                guard = and(guard, is_defined(place));
            }
        }
        let remember = vec![assign(target, value, last.span)];
        Some(when(and(guard, condition), remember, Vec::new(), last.span))
    }

    /// The processors in the state that the condition reads, or whose witness is set.
    fn stored(&self, bindings: &Bindings) -> Vec<Expression> {
        let substitution = substitution(bindings);
        let mut places: Vec<Expression> = Vec::new();
        let mut note = |place: Expression| {
            if !places.contains(&place) && !matches!(place.kind, ExpressionKind::Name(_)) {
                places.push(place);
            }
        };
        for each in &self.site.around {
            let value = &bindings[&each.name.text];
            if is_place(value) {
                note(value.clone());
            }
        }
        each_part(&self.site.condition, &mut |part| {
            let ty = is_place(part).then(|| self.types.of(&self.scope, part)).flatten();
            if ty.is_some_and(|ty| self.types.is_processor(&ty)) {
                note(substitution.expression(part));
            }
        });
        places
    }

    /// The value of a variable according to an equation of the condition.
    fn solved(&self, variable: &str, bindings: &Bindings, values: &Values) -> Option<Expression> {
        let mut found = None;
        each_part(&self.site.condition, &mut |part| {
            let ExpressionKind::Binary(B::Equal, left, right) = &part.kind else { return };
            for (side, other) in [(left, right), (right, left)] {
                let is_it = matches!(&side.kind, ExpressionKind::Name(name) if name == variable);
                let is_bound =
                    |name: &String| !self.scope.contains_key(name) || bindings.contains_key(name);
                if is_it && found.is_none() && names(other).iter().all(is_bound) {
                    found = Some((**other).clone());
                }
            }
        });
        let place = substitution(bindings).expression(&found?);
        match values.get(&print_expression(&place)) {
            Some(value) => value.clone(),
            None => Some(place),
        }
    }

    /// A condition with the known values of places inserted. An undefined value is
    /// [`ExpressionKind::Undefined`].
    fn folded(&self, whole: &Expression, values: &Values) -> Expression {
        let span = whole.span;
        if is_place(whole)
            && let Some(known) = values.get(&print_expression(whole))
        {
            let undefined = Expression { kind: ExpressionKind::Undefined, span };
            return known.clone().unwrap_or(undefined);
        }
        let inner = |part: &Expression| self.folded(part, values);
        match &whole.kind {
            ExpressionKind::Unary(UnaryOperator::Not, part) => not(truth(inner(part))),
            ExpressionKind::Binary(B::And | B::LogicalAnd, left, right) => {
                and(truth(inner(left)), truth(inner(right)))
            }
            ExpressionKind::Binary(B::Or | B::LogicalOr, left, right) => {
                or(truth(inner(left)), truth(inner(right)))
            }
            ExpressionKind::Binary(B::Implies, left, right) => {
                implies(truth(inner(left)), truth(inner(right)))
            }
            ExpressionKind::Binary(operator @ (B::Equal | B::NotEqual), left, right) => {
                let (left, right) = (inner(left), inner(right));
                match self.are_equal(&left, &right) {
                    Some(equal) => boolean(equal == (*operator == B::Equal), span),
                    None if is_undefined(&left) || is_undefined(&right) => boolean(false, span),
                    None => murphi::transform::binary(*operator, left, right),
                }
            }
            ExpressionKind::IsUndefined(place) => match values.get(&print_expression(place)) {
                Some(known) => boolean(known.is_none(), span),
                None => whole.clone(),
            },
            _ => rebuilt(whole, &mut |part| self.folded(part, values)),
        }
    }

    /// Whether two values are equal, if that is evident.
    fn are_equal(&self, left: &Expression, right: &Expression) -> Option<bool> {
        if is_undefined(left) || is_undefined(right) {
            return None;
        }
        let is_constant = |value: &Expression| match &value.kind {
            ExpressionKind::Name(name) => {
                self.types.is_member(name) || matches!(name.as_str(), "true" | "false")
            }
            ExpressionKind::Integer(_) => true,
            _ => false,
        };
        let is_same = print_expression(left) == print_expression(right);
        (is_same || (is_constant(left) && is_constant(right))).then_some(is_same)
    }
}

/// The values of places that have just been written; `None` if undefined.
type Values = HashMap<String, Option<Expression>>;

fn values(run: &[Statement]) -> Values {
    let value = |statement: &Statement| match &statement.kind {
        StatementKind::Assign { target, value } => {
            Some((print_expression(target), Some(value.clone())))
        }
        StatementKind::Undefine(place) => Some((print_expression(place), None)),
        _ => None,
    };
    run.iter().filter_map(value).collect()
}

fn substitution(bindings: &Bindings) -> Substitution {
    let mut substitution = Substitution::default();
    for (variable, value) in bindings {
        substitution.insert(variable, value.clone());
    }
    substitution
}

/// A condition whose undefined parts count as false.
fn truth(condition: Expression) -> Expression {
    if is_undefined(&condition) { boolean(false, condition.span) } else { condition }
}

fn is_undefined(value: &Expression) -> bool {
    matches!(value.kind, ExpressionKind::Undefined)
}

/// The places that an expression reads, without their prefixes.
fn read_places(whole: &Expression, places: &mut Vec<Expression>) {
    let way = path(whole);
    if way.len() < 2 {
        parts(whole).into_iter().for_each(|part| read_places(part, places));
        return;
    }
    places.push(whole.clone());
    for step in way {
        if let Step::At(at) = step {
            read_places(at, places);
        }
    }
}

/// A step of the path to a place.
enum Step<'a> {
    /// A variable or a field.
    Name(&'a str),
    /// An element.
    At(&'a Expression),
}

/// The path to a place, starting with its variable; empty if the expression is not a place.
fn path(place: &Expression) -> Vec<Step<'_>> {
    let (inner, step) = match &place.kind {
        ExpressionKind::Name(name) => return vec![Step::Name(name)],
        ExpressionKind::Field(inner, field) => (inner, Step::Name(&field.text)),
        ExpressionKind::Index(inner, at) => (inner, Step::At(at)),
        _ => return Vec::new(),
    };
    let mut path = path(inner);
    if !path.is_empty() {
        path.push(step);
    }
    path
}
