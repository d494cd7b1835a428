//! All instances of one rule.
//!
//! Transformations T8 and T13 of docs/abstraction.md: one instance for every way in which processors of
//! the rule are concrete, `Named` or `Other`, without those of which nothing shows.
//!
//! ```text
//! before: ruleset p: P do rule "store" c[p] = M ==> memory := d[p]; end
//! after:  ruleset p: P do rule "store" c[p] = M ==> memory := d[p]; end
//!         ruleset d_p: Value do rule "store, p = Other" true ==> memory := d_p; end
//! ```

use std::collections::{HashSet, VecDeque};
use std::rc::Rc;

use murphi::ast::{
    Body, Declaration, DeclarationKind, Expression, ExpressionKind, PropertyKind, Quantifier,
    Statement, StatementKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::print::print_expression;
use murphi::source::Span;
use murphi::transform::{
    and, any_statement, bind, bind_variables, boolean, changed, each_expression, is_false, is_true,
    names, names_in, root, same,
};

use super::instance::{Decision, Instance, Mode, NAMED, OTHER, ProcessorKind, Step, outside};
use super::slice;
use crate::types::Types;
use crate::{Choice, Fixed, OtherRule, RuleId};

/// A rule or start state to abstract.
pub(super) struct Source<'a> {
    pub(super) name: &'a str,
    pub(super) quantifiers: &'a [Quantifier],
    pub(super) guard: Option<&'a Expression>,
    /// Places for which a parameter is added if they are unknown, because lemmas mention them.
    pub(super) chosen: &'a [Expression],
    pub(super) body: &'a Body,
    pub(super) span: Span,
    pub(super) is_start: bool,
}

/// An instance of a rule.
#[derive(Debug, Clone)]
pub(crate) struct Built {
    pub(crate) name: String,
    pub(crate) quantifiers: Vec<Quantifier>,
    pub(crate) guard: Option<Expression>,
    pub(crate) body: Body,
    pub(crate) span: Span,
    pub(crate) others: Vec<usize>,
    pub(crate) named: Vec<usize>,
    pub(crate) choices: Vec<Choice>,
    /// Whether its guard is weaker than that of the rule.
    pub(crate) weakened: bool,
    /// Whether the complete guard of the rule is evaluated, before the conditions of lemmas.
    pub(crate) keeps_guard: bool,
}

impl Built {
    /// Whether it differs from the rule itself.
    pub(crate) fn is_abstract(&self) -> bool {
        self.weakened || !self.others.is_empty() || !self.choices.is_empty()
    }

    /// Its description, for users of the abstract program.
    pub(crate) fn described(&self, origin: RuleId) -> OtherRule {
        OtherRule {
            name: self.name.clone(),
            origin,
            others: self.others.clone(),
            named: self.named.clone(),
            choices: self.choices.clone(),
        }
    }
}

/// All instances of a rule with a visible effect, the concrete one first.
pub(super) fn instances(
    types: &Types,
    source: &Source<'_>,
    strengthening: &[Expression],
) -> Result<Vec<Built>, Diagnostic> {
    let is_processor = |number: &usize| types.over_processors(&source.quantifiers[*number]);
    let processors: Vec<usize> = (0..source.quantifiers.len()).filter(is_processor).collect();
    if processors.len() > 8 {
        let message = "this rule has too many processor parameters";
        return Err(Diagnostic::error(source.span, message));
    }
    let mentioned = Rc::new(mentioned(source, strengthening));
    let mut built = Vec::new();
    let mut seen = HashSet::new();
    for others in outsiders(types, &processors) {
        let mut pending = VecDeque::from([Vec::new()]);
        while let Some(given) = pending.pop_front() {
            let given_count = given.len();
            let mut start = Instance::new(types, given);
            start.mentioned = Rc::clone(&mentioned);
            let (made, decisions) = instance(start, source, strengthening, &others)?;
            for at in given_count..decisions.len() {
                for alternative in &decisions[at].1 {
                    let mut next = decisions[..=at].to_vec();
                    next[at].0 = *alternative;
                    pending.push_back(next);
                }
            }
            if let Some(made) = made
                && seen.insert(text_of(&made))
            {
                built.push(made);
            }
        }
    }
    Ok(built)
}

/// All names in a rule and in the conditions of its lemmas.
fn mentioned(source: &Source<'_>, strengthening: &[Expression]) -> HashSet<String> {
    let conditions = source.guard.into_iter().chain(source.chosen).chain(strengthening);
    conditions.flat_map(names).chain(names_in(&source.body.statements)).collect()
}

/// The abstract parameters of a rule, by number.
type AbstractParameters = Vec<(usize, ProcessorKind)>;

/// All ways to make processors of a rule abstract, starting with none.
fn outsiders(types: &Types, processors: &[usize]) -> Vec<AbstractParameters> {
    let mut found = vec![Vec::new()];
    for &number in processors {
        let so_far = found.clone();
        for &(processor_kinds, _) in outside(types) {
            let with = so_far.iter().cloned().map(|mut others: AbstractParameters| {
                others.push((number, processor_kinds));
                others
            });
            found.extend(with);
        }
    }
    found
}

type Decisions = Vec<(Decision, Vec<Decision>)>;

/// One instance, if it has a visible effect, and the decisions that were made in it.
fn instance(
    mut instance: Instance<'_>,
    source: &Source<'_>,
    strengthening: &[Expression],
    others: &[(usize, ProcessorKind)],
) -> Result<(Option<Built>, Decisions), Diagnostic> {
    let types = instance.types;
    instance.enter(source, others);
    let statements = instance.body(source).map_err(|stop| stop.diagnostic(source.span))?;
    let decisions = instance.decisions.clone();
    let guard =
        instance.guard(source, strengthening).map_err(|stop| stop.diagnostic(source.span))?;
    let shows = source.is_start
        || others.is_empty()
        || writes_state(types, &statements)
        || claims_something(&statements);
    // The concrete rule always remains: a program has at least one rule.
    if !shows || (is_false(&guard.condition) && !others.is_empty()) {
        return Ok((None, decisions));
    }
    let built = built(types, source, others, instance.choices(), guard, statements);
    Ok((Some(built), decisions))
}

/// The guard of an instance.
struct Guard {
    condition: Expression,
    /// Whether it is weaker than the guard of the rule.
    weakened: bool,
    /// Whether the complete guard of the rule is evaluated, before the conditions of lemmas.
    is_kept: bool,
}

impl Instance<'_> {
    /// Binds the parameters of a rule, some of which are abstract.
    fn enter(&mut self, source: &Source<'_>, others: &[(usize, ProcessorKind)]) {
        bind(&mut self.scope, source.quantifiers);
        bind_variables(&mut self.scope, &source.body.declarations);
        for (number, quantifier) in source.quantifiers.iter().enumerate() {
            if self.types.over_processors(quantifier) {
                let outsider = others.iter().find(|(other, _)| *other == number);
                let processor_kinds = outsider
                    .map_or(ProcessorKind::Concrete, |(_, processor_kinds)| *processor_kinds);
                self.processor_kinds.insert(quantifier.name.text.clone(), processor_kinds);
            }
        }
        self.all_concrete = others.is_empty();
    }

    fn body(&mut self, source: &Source<'_>) -> Step<Vec<Statement>> {
        for place in source.chosen {
            if self.belongs_to_other(place) {
                self.choice(place, Mode::Exact, true)?;
            }
        }
        let Body { declarations, statements } = source.body;
        match self.all_concrete && !self.types.leaves_something_out() {
            true => self.statements(statements),
            false => self.statements(&slice::needed(self, declarations, statements)),
        }
    }

    /// The guard; if a processor is abstract, with the conditions of the lemmas.
    fn guard(&mut self, source: &Source<'_>, strengthening: &[Expression]) -> Step<Guard> {
        self.begin_again();
        self.weakened = false;
        let whole = source.guard.cloned().unwrap_or_else(|| boolean(true, source.span));
        let mut condition = self.condition(&whole, Mode::Weaker)?;
        let is_kept = source.guard.is_none_or(|whole| same(whole, &condition));
        let weakened = self.weakened;
        if weakened || !self.all_concrete || !self.choices().is_empty() {
            for more in strengthening {
                condition = and(condition, self.condition(more, Mode::Weaker)?);
            }
        }
        Ok(Guard { condition, weakened, is_kept })
    }
}

/// An instance with the parameters and variables that it uses.
fn built(
    types: &Types,
    source: &Source<'_>,
    others: &[(usize, ProcessorKind)],
    mut choices: Vec<Choice>,
    Guard { condition, weakened, is_kept }: Guard,
    statements: Vec<Statement>,
) -> Built {
    let mut used: HashSet<String> = names(&condition).into_iter().collect();
    each_expression(&statements, &mut |part| {
        if let ExpressionKind::Name(name) = &part.kind {
            used.insert(name.clone());
        }
    });
    choices.retain(|choice| {
        let parameters = choice.parameters();
        parameters.is_empty() || parameters.iter().any(|name| used.contains(*name))
    });
    let is_kept_parameter = |(number, each): &(usize, &Quantifier)| {
        let is_other = others.iter().any(|(other, _)| other == number);
        !is_other && (others.is_empty() || used.contains(&each.name.text))
    };
    let own = source.quantifiers.iter().enumerate().filter(is_kept_parameter);
    let mut quantifiers: Vec<Quantifier> = own.map(|(_, each)| each.clone()).collect();
    quantifiers.extend(choices.iter().flat_map(|choice| choice.quantifiers(types)));
    let is_named =
        |(_, processor_kinds): &&(usize, ProcessorKind)| *processor_kinds == ProcessorKind::Named;
    Built {
        name: instance_name(source, others, &choices),
        quantifiers,
        guard: (source.guard.is_some() || !is_true(&condition)).then_some(condition),
        body: Body { declarations: used_variables(&source.body.declarations, &used), statements },
        span: source.span,
        others: others.iter().map(|(number, _)| *number).collect(),
        named: others.iter().filter(is_named).map(|(number, _)| *number).collect(),
        choices,
        weakened,
        keeps_guard: is_kept,
    }
}

fn instance_name(
    source: &Source<'_>,
    others: &[(usize, ProcessorKind)],
    choices: &[Choice],
) -> String {
    let mut parts = vec![source.name.to_owned()];
    for &(number, processor_kinds) in others {
        let called = if processor_kinds == ProcessorKind::Named { NAMED } else { OTHER };
        parts.push(format!("{} = {called}", source.quantifiers[number].name.text));
    }
    for choice in choices {
        let stands_for = print_expression(&choice.stands_for);
        match choice.fixed {
            Some(Fixed::Named) => parts.push(format!("{stands_for} = {NAMED}")),
            Some(Fixed::Other) => parts.push(format!("{stands_for} = {OTHER}")),
            Some(Fixed::Undefined) => parts.push(format!("{stands_for} undefined")),
            None => {}
        }
    }
    parts.join(", ")
}

/// Whether statements contain an assertion.
fn claims_something(statements: &[Statement]) -> bool {
    any_statement(statements, &|statement| match &statement.kind {
        StatementKind::Property(property) => property.kind != PropertyKind::Assumption,
        StatementKind::Error(_) => true,
        _ => false,
    })
}

/// Whether statements write a state variable.
fn writes_state(types: &Types, statements: &[Statement]) -> bool {
    any_statement(statements, &|statement| {
        changed(statement).and_then(root).is_some_and(|name| types.is_global(name))
    })
}

fn used_variables(declarations: &[Declaration], used: &HashSet<String>) -> Vec<Declaration> {
    let mut kept = Vec::new();
    for declaration in declarations {
        let mut declaration = declaration.clone();
        if let DeclarationKind::Variable(variables) = &mut declaration.kind {
            variables.names.retain(|name| used.contains(&name.text));
            if variables.names.is_empty() {
                continue;
            }
        }
        kept.push(declaration);
    }
    kept
}

/// The text of an instance, to find another one with the same effect.
fn text_of(built: &Built) -> String {
    let rule = crate::FlatRule {
        id: crate::RuleId(0),
        name: String::new(),
        quantifiers: built.quantifiers.clone(),
        guard: built.guard.clone(),
        body: built.body.clone(),
        span: built.span,
    };
    let items = vec![murphi::transform::rule_item(&rule)];
    murphi::print::print(&murphi::ast::Program { items })
}
