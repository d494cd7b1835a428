//! A few processors as they are, and one that stands for all others (Chou, Mannava and Park, "A
//! simple method for parameterized verification of cache coherence protocols"; Krstić,
//! "Parametrized system verification with guard strengthening and parameter abstraction").
//!
//! Each rule has an instance for every way in which some of its processors are `Other`. Whatever
//! belongs to `Other` is not kept: writing it does nothing, and reading it gives anything, which is
//! a parameter of the instance. Guards are weakened where they depend on what is not known. So
//! every step of the protocol, looked at with any few processors in view, is a step of the result
//! or changes nothing there. Instances of which nothing shows are left out.
//!
//! Beside the concrete processors one more may be known by its name (`Named`): nothing of its own is
//! kept either, but references to it are told from those to others, so that two of them can be
//! compared.
//!
//! Assertions are checked where all processors of a rule are concrete and assumed where they are
//! not: the step in question is one of both kinds, in different views. This needs a view of all
//! processors that an assertion speaks of, which [`limits`] sees to.

mod expression;
mod instance;
mod limits;
mod loops;
mod order;
mod places;
mod processors;
mod quantify;
mod rule;
mod set_choice;
mod sets;
mod slice;
mod statement;
mod width;

use murphi::ast::{Expression, Property, PropertyKind, Quantifier, TypeExpression};
use murphi::check::Dialect;
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;
use murphi::transform::{
    Checked, FlatRule, Flattened, bind, boolean, explicit_errors, flatten_all, identifier, is_true,
    named_type, path, quantified, text,
};

use crate::emit::{Parts, assemble};
use crate::types::Types;
use crate::{Abstraction, Lemma, OtherRule, Prepared, RuleId, View, lemma};

use instance::{Instance, Mode, Stop};
pub use instance::{NAMED, OTHER};
pub(crate) use rule::Built;
use rule::{Source, instances};

/// How to abstract.
#[derive(Debug, Clone)]
pub struct Options {
    /// What is kept of processors.
    pub view: View,
    /// Invariants that are not to be claimed, by name.
    pub leave_out: Vec<String>,
    /// Whether it is kept of a set (an array of booleans) if any of the others is in it.
    pub sets: bool,
    /// What is kept of the state, if not all: these places, whatever their indices.
    pub only: Option<Vec<Expression>>,
    /// Facts that are known to hold. They strengthen rules like lemmas, and are not claimed.
    pub proved: Vec<Lemma>,
    /// What becomes of run-time errors.
    pub errors: RunTimeErrors,
    /// Whether copying an undefined value is one of them.
    pub dialect: Dialect,
}

/// What becomes of run-time errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunTimeErrors {
    /// That there are none is claimed.
    #[default]
    Claimed,
    /// A step that fails is taken not to happen: what is claimed is about runs without errors.
    Ignored,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            view: View { concrete: 2, named: false },
            leave_out: Vec::new(),
            sets: true,
            only: None,
            proved: Vec::new(),
            errors: RunTimeErrors::Claimed,
            dialect: Dialect::default(),
        }
    }
}

/// Abstracts a program, or says why that would not be sound.
pub fn abstraction(
    prepared: &Prepared,
    options: &Options,
    lemmas: &[Lemma],
) -> Result<Abstraction, Vec<Diagnostic>> {
    let types = Types::new(&prepared.program, &prepared.processor.name);
    let types = types.with_view(options.view);
    let types = if options.sets { types } else { types.without_sets() };
    let types = match &options.only {
        Some(only) => types.with_only(only.iter().map(path).collect()),
        None => types,
    };
    let checked = checked(&types, flatten_all(&prepared.program)?, options)?;
    limits::check(prepared, &types, &checked, options.view)?;
    let flattened = &checked.program;
    let mut problems = Vec::new();
    let mut parts = Parts::default();
    for start in &flattened.start_states {
        let name = start.item.0.as_ref().map_or("start", |name| &name.text);
        let source = Source {
            name,
            quantifiers: &start.quantifiers,
            guard: None,
            chosen: &[],
            body: &start.item.1,
            span: start.span,
            is_start: true,
        };
        match instances(&types, &source, &[]) {
            Ok(built) => parts.starts.extend(built),
            Err(problem) => problems.push(problem),
        }
    }
    let mut checks = Vec::new();
    let mut rules = Vec::new();
    let mut origins = Vec::new();
    for (rule, evaluates) in flattened.rules.iter().zip(&checked.guards) {
        let of_rule = |lemma: &&Lemma| lemma.rule == rule.id;
        let strengthening: Vec<_> = lemmas
            .iter()
            .chain(&options.proved)
            .filter(of_rule)
            .map(|lemma| lemma::strengthening(lemma, rule))
            .collect();
        let proved = options.proved.iter().filter(of_rule);
        let chosen: Vec<_> =
            proved.flat_map(|lemma| lemma::places_in_common(lemma, rule, &types)).collect();
        let source = Source {
            name: &rule.name,
            quantifiers: &rule.quantifiers,
            guard: rule.guard.as_ref(),
            chosen: &chosen,
            body: &rule.body,
            span: rule.span,
            is_start: false,
        };
        match instances(&types, &source, &strengthening) {
            Ok(built) => {
                if !evaluates_guard(&types, rule, &built) {
                    let name = format!("the guard of \"{}\" can be evaluated", rule.name);
                    let can_be = Claim {
                        kind: PropertyKind::Check,
                        name: name.replace('"', "'"),
                        quantifiers: &rule.quantifiers,
                        condition: evaluates,
                        span: rule.span,
                    };
                    match claim(&types, &can_be) {
                        Ok((made, _)) => checks.extend(made),
                        Err(problem) => problems.push(problem),
                    }
                }
                for each in &built {
                    let number = each.is_abstract().then_some(rules.len());
                    origins.push((rule.id, number));
                    if number.is_some() {
                        rules.push(other_rule(each, rule.id));
                    }
                }
                parts.rules.extend(built);
            }
            Err(problem) => problems.push(problem),
        }
    }
    let mut strengthened = Vec::new();
    let mut notes = Vec::new();
    for (number, property) in flattened.properties.iter().enumerate() {
        let item = &property.item;
        let called =
            item.message.as_ref().map_or(format!("Invariant {number}"), |name| name.text.clone());
        if matches!(item.kind, PropertyKind::Cover | PropertyKind::Liveness) {
            let message = format!("\"{called}\" is not looked at: it is no invariant");
            notes.push(Diagnostic::warning(property.span, message));
            continue;
        }
        let can_be = Claim {
            kind: PropertyKind::Check,
            name: format!("'{called}' can be evaluated"),
            quantifiers: &property.quantifiers,
            condition: &checked.properties[number],
            span: property.span,
        };
        match claim(&types, &can_be) {
            Ok((made, _)) => checks.extend(made),
            Err(problem) => problems.push(problem),
        }
        if options.leave_out.contains(&called) {
            continue;
        }
        let claimed = Claim {
            kind: item.kind,
            name: called.clone(),
            quantifiers: &property.quantifiers,
            condition: &item.condition,
            span: property.span,
        };
        match claim(&types, &claimed) {
            Ok((made, restricted)) => {
                if restricted && item.kind == PropertyKind::Assertion {
                    strengthened.push(called);
                }
                parts.properties.extend(made);
            }
            Err(problem) => problems.push(problem),
        }
    }
    let mut claims = Vec::new();
    for (number, lemma) in lemmas.iter().enumerate() {
        match lemma_claim(&types, prepared, lemma, number, options.view) {
            Ok((name, made)) => {
                claims.push(name);
                parts.properties.extend(made);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let named = |check: &Property| check.message.as_ref().map(|name| name.text.clone());
    let names = checks.iter().filter_map(named).collect();
    parts.properties.extend(checks);
    let checks = names;
    let (program, portable) = assemble(prepared, &types, options.view, &parts);
    let view = options.view;
    Ok(Abstraction { program, portable, view, rules, origins, claims, checks, strengthened, notes })
}

/// How many processors have to be concrete for every claim of a program to be about few enough of
/// them. What is refused in any view is not counted.
pub fn least_view(prepared: &Prepared, dialect: Dialect) -> u64 {
    let types = Types::new(&prepared.program, &prepared.processor.name);
    let options = Options { dialect, ..Options::default() };
    let checked =
        flatten_all(&prepared.program).and_then(|flattened| checked(&types, flattened, &options));
    checked.map_or(0, |checked| limits::widest(&types, &checked))
}

/// The program with its errors explicit, if they are claimed not to occur.
fn checked(
    types: &Types,
    program: Flattened,
    options: &Options,
) -> Result<Checked, Vec<Diagnostic>> {
    if options.errors == RunTimeErrors::Claimed {
        return explicit_errors(types, &program, options.dialect);
    }
    let fine = |span: Span| boolean(true, span);
    let guards = program.rules.iter().map(|rule| fine(rule.span)).collect();
    let properties = program.properties.iter().map(|property| fine(property.span)).collect();
    Ok(Checked { program, guards, properties })
}

/// Whether a rule's guard is evaluated as it is, for all its processors: then it fails by itself.
fn evaluates_guard(types: &Types, rule: &FlatRule, built: &[Built]) -> bool {
    let processors = rule.quantifiers.iter().filter(|each| types.over_processors(each)).count();
    let is_whole = |built: &Built| built.others.is_empty() && built.keeps_guard;
    processors as u64 <= types.concrete() && built.iter().any(is_whole)
}

/// Which lemmas speak of few enough processors to be looked at where they are concrete.
#[derive(Debug)]
pub struct Claimable {
    types: Types,
    view: View,
}

impl Claimable {
    /// Lemmas about a program, in a view.
    pub fn new(prepared: &Prepared, view: View) -> Claimable {
        Claimable { types: Types::new(&prepared.program, &prepared.processor.name), view }
    }

    /// Whether a lemma can be claimed.
    pub fn allows(&self, prepared: &Prepared, lemma: &Lemma) -> bool {
        let rule = prepared.rules.get(lemma.rule.0);
        let claim = |rule| lemma::claim(lemma, rule);
        rule.is_some_and(|rule| width::within(&self.types, &claim(rule), self.view).is_ok())
    }
}

fn other_rule(built: &Built, origin: RuleId) -> OtherRule {
    OtherRule {
        name: built.name.clone(),
        origin,
        others: built.others.clone(),
        named: built.named.clone(),
        choices: built.choices.clone(),
    }
}

/// A property to be claimed of the concrete processors.
struct Claim<'a> {
    kind: PropertyKind,
    name: String,
    quantifiers: &'a [Quantifier],
    condition: &'a murphi::ast::Expression,
    span: Span,
}

/// A property of the concrete processors, unless it says nothing of them; and whether it was made
/// stronger.
fn claim(types: &Types, claim: &Claim<'_>) -> Result<(Option<Property>, bool), Diagnostic> {
    let mut instance = Instance::new(types, Vec::new());
    instance.restricts = claim.kind != PropertyKind::Assumption;
    let whole = quantified(true, claim.quantifiers.to_vec(), claim.condition.clone());
    let condition =
        instance.condition(&whole, Mode::Weaker).map_err(|stop| refused(stop, claim.span))?;
    let says_something = !is_true(&condition);
    let message = Some(text(&claim.name, claim.span));
    let property = Property { kind: claim.kind, message, condition };
    Ok((says_something.then_some(property), instance.restricted))
}

fn lemma_claim(
    types: &Types,
    prepared: &Prepared,
    lemma: &Lemma,
    number: usize,
    view: View,
) -> Result<(String, Option<Property>), Diagnostic> {
    let Some(rule) = prepared.rules.get(lemma.rule.0) else {
        let message = format!("there is no rule {} for a lemma", lemma.rule.0);
        return Err(Diagnostic::error(lemma.condition.span, message));
    };
    let name = format!("lemma {} for \"{}\"", number + 1, rule.name).replace('"', "'");
    let whole = lemma::claim(lemma, rule);
    width::within(types, &whole, view)?;
    let claimed = Claim {
        kind: PropertyKind::Assertion,
        name: name.clone(),
        quantifiers: &[],
        condition: &whole,
        span: lemma.condition.span,
    };
    let (property, _) = claim(types, &claimed)?;
    Ok((name, property))
}

/// What to tell when something stopped that should not have.
fn refused(stop: Stop, span: Span) -> Diagnostic {
    match stop {
        Stop::Refuse(problem) => *problem,
        Stop::Bound(span) | Stop::Split(murphi::ast::Expression { span, .. }) => {
            Diagnostic::error(span, "this depends on processors in a way that is not understood")
        }
        Stop::Unknown | Stop::Undefined => {
            Diagnostic::error(span, "this depends on processors in a way that is not understood")
        }
    }
}

/// Binds the parameters of a rule.
fn enter(instance: &mut Instance<'_>, quantifiers: &[Quantifier]) {
    bind(&mut instance.scope, quantifiers);
}

/// The parameters for a choice.
fn parameters(types: &Types, choice: &crate::Choice) -> Vec<Quantifier> {
    let span = choice.stands_for.span;
    let quantifier = |name: &String, ty: TypeExpression| {
        let domain = murphi::ast::Domain::Type(ty);
        Quantifier { name: identifier(name, span), domain, span }
    };
    let named = choice.name.iter().map(|name| quantifier(name, choice.ty.clone()));
    let boolean = |name: &String| quantifier(name, named_type("boolean", span));
    let mut found: Vec<Quantifier> = named.collect();
    if let Some(set) = &choice.set {
        for chosen in std::iter::once(&set.members).chain(&set.gaps) {
            found.push(boolean(&chosen.none));
            found.extend(chosen.each.iter().map(|name| types.processor_quantifier(name)));
        }
        found.push(boolean(&set.others));
    }
    found
}
