//! The question that a refinement answers, its options, and its result: the verdict with the lemmas, the
//! instances that were observed, and the last search.

use abstraction::{Abstraction, Lemma, Prepared};
use explore::symmetry::Symmetry;
use explore::{Exploration, Reason, Step};
use murphi::ast::{Domain, Quantifier};
use murphi::check;
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use murphi::ir::Model;
use murphi::print::print_expression;
use murphi::transform::rule_title;
use murphi::value::State;
use serde::Serialize;

use super::instance::Unrunnable;

/// The options of a refinement.
#[derive(Debug, Clone)]
pub struct Options {
    /// The name of the program.
    pub name: String,
    /// How it is abstracted.
    pub abstraction: abstraction::Options,
    /// The options of the checker.
    pub language: check::Options,
    /// The options of searches. Deadlock is checked in concrete instances only.
    pub search: explore::Options,
    /// The symmetry reduction of searches.
    pub symmetry: Symmetry,
    /// Lemmas to start with. They are checked like all others, and never dropped.
    pub lemmas: Vec<Lemma>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            name: "the protocol".to_owned(),
            abstraction: abstraction::Options::default(),
            language: check::Options::default(),
            search: explore::Options::default(),
            symmetry: Symmetry::Full,
            lemmas: Vec::new(),
        }
    }
}

/// The result of a refinement.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The verdict.
    pub verdict: Verdict,
    /// The concrete instances that were observed first.
    pub small: Vec<ObservedInstance>,
    /// The lemmas in use at the end.
    pub lemmas: Vec<UsedLemma>,
    /// The abstraction with these lemmas, if one was made.
    pub abstraction: Option<Abstraction>,
    /// The abstraction as a machine.
    pub interpreter: Option<Interpreter>,
    /// The last search of the abstraction.
    pub exploration: Option<Exploration>,
    /// The number of refinement rounds.
    pub rounds: usize,
    /// Whether the set of lemmas is minimal.
    pub minimal: bool,
    /// Invariants that are undecided: they quantify over processors with `exists`, and the
    /// abstraction only knows the concrete ones.
    pub left_out: Vec<String>,
    /// Notes about the abstraction for the user.
    pub notes: Vec<Diagnostic>,
}

/// Holds for any number of processors (at least the number of concrete ones), violated with a
/// definite number, or undecided.
pub type Verdict = evidence::Verdict<(), BrokenInstance, Unknown>;

/// An instance that violates a claim.
#[derive(Debug, Clone)]
pub struct BrokenInstance {
    /// The number of processors.
    pub processors: u64,
    /// The instance.
    pub interpreter: Box<Interpreter>,
    /// The search that found the violation.
    pub exploration: Box<Exploration>,
}

/// Why a question is undecided.
#[derive(Debug, Clone)]
pub enum Unknown {
    /// The abstraction violates a claim, and no candidate lemma excludes the run.
    Missing(Box<AbstractCounterexample>),
    /// A search ended early.
    Ended(Reason),
}

/// A run of the abstraction that no lemma excludes.
#[derive(Debug, Clone)]
pub struct AbstractCounterexample {
    /// The run of the abstraction.
    pub run: Vec<Step>,
    /// The claim that it violates, if it violates one.
    pub claim: Option<String>,
    /// The rule that fails in its last state, if one does, with the number of its instance.
    pub failed: Option<(u32, u64)>,
    /// The last rule that an abstract processor fires: a lemma for it may help.
    pub rule: Option<String>,
}

/// A concrete instance that was observed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObservedInstance {
    /// The number of processors.
    pub processors: u64,
    /// Whether it was observed by random walks instead of a search.
    #[serde(skip)]
    pub walked: bool,
    /// The number of states that were visited.
    pub states: u64,
    /// Whether these are all reachable states.
    pub complete: bool,
    /// The time of the search.
    #[serde(skip)]
    pub seconds: f64,
}

/// A lemma that is in use.
#[derive(Debug, Clone, Serialize)]
pub struct UsedLemma {
    /// The lemma.
    #[serde(skip)]
    pub lemma: Lemma,
    /// The name of its rule.
    pub rule: String,
    /// The condition, which holds whenever the rule is enabled.
    pub condition: String,
    /// The lemma as a Murphi invariant, which can be parsed again.
    #[serde(rename = "invariant")]
    pub text: String,
    /// The abstract step that it excludes; `None` if the user gave the lemma.
    pub called_for: Option<String>,
}

/// Why there is no result.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The program cannot be abstracted, for these reasons.
    Unsuitable(Vec<Diagnostic>),
    /// An instance, or the abstraction, cannot be run.
    Unrunnable(Unrunnable),
}

impl From<Unrunnable> for Failure {
    fn from(why: Unrunnable) -> Self {
        Failure::Unrunnable(why)
    }
}

/// The lemma as a Murphi invariant.
pub(super) fn lemma_text(prepared: &Prepared, lemma: &Lemma) -> String {
    let rule = &prepared.rules[lemma.rule.0];
    let title = rule_title(&prepared.rules, rule).replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!("invariant \"lemma for {title}\"\n");
    let all: Vec<&Quantifier> = rule.quantifiers.iter().chain(&lemma.witnesses).collect();
    let mut conditions = Vec::new();
    for (at, witness) in lemma.witnesses.iter().enumerate() {
        let before = &all[..rule.quantifiers.len() + at];
        let alike = before.iter().filter(|other| same_domain(&other.domain, &witness.domain));
        conditions
            .extend(alike.map(|other| format!("{} != {}", witness.name.text, other.name.text)));
    }
    conditions.extend(rule.guard.as_ref().map(|guard| format!("({})", print_expression(guard))));
    let condition = print_expression(&lemma.condition);
    let mut indent = 2;
    for quantifier in &all {
        let (name, domain) = (&quantifier.name.text, domain_text(&quantifier.domain));
        text += &format!("{:indent$}forall {name}: {domain} do\n", "");
        indent += 2;
    }
    if conditions.is_empty() {
        text += &format!("{:indent$}{condition}\n", "");
    } else {
        let joined = conditions.join(" & ");
        text += &format!("{:indent$}{joined}\n{:indent$}-> ({condition})\n", "", "");
    }
    indent -= 2;
    if !all.is_empty() {
        text += &format!("{:indent$}{}\n", "", vec!["end"; all.len()].join(" "));
    }
    text.pop();
    text.push(';');
    text
}

fn same_domain(left: &Domain, right: &Domain) -> bool {
    domain_text(left) == domain_text(right)
}

fn domain_text(domain: &Domain) -> String {
    match domain {
        Domain::Type(ty) => match &ty.kind {
            murphi::ast::TypeKind::Named(name) => name.text.clone(),
            murphi::ast::TypeKind::Range(low, high) => {
                format!("{}..{}", print_expression(low), print_expression(high))
            }
            _ => "boolean".to_owned(),
        },
        Domain::Range { from, to, .. } => {
            format!("{}..{}", print_expression(from), print_expression(to))
        }
    }
}

/// The rule that is fired in a state, with its parameters, in one line.
pub(super) fn step_sentence(
    interpreter: &Interpreter,
    state: &[u8],
    rule: u32,
    number: u64,
) -> String {
    let model: &Model = interpreter.model();
    let name = &model.rules[rule as usize].name;
    let Ok(state) = State::decode(model, interpreter.layout(), state) else {
        return format!("rule \"{name}\"");
    };
    let bindings = interpreter.bindings(&state, rule as usize, number);
    let bindings: Vec<String> =
        bindings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    match bindings.is_empty() {
        true => format!("rule \"{name}\""),
        false => format!("rule \"{name}\"  {}", bindings.join(", ")),
    }
}
