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

/// What to verify, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// What the program is called.
    pub name: String,
    /// How it is abstracted.
    pub abstraction: abstraction::Options,
    /// How the program is read.
    pub language: check::Options,
    /// How it is searched. What is a deadlock is about small concrete instances: the abstraction
    /// says nothing about them.
    pub search: explore::Options,
    /// Which states count as the same.
    pub symmetry: Symmetry,
    /// Lemmas to begin with. They are checked like all others, and not given up.
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

/// What was found out.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The answer.
    pub verdict: Verdict,
    /// The concrete instances that were looked at first.
    pub small: Vec<ObservedInstance>,
    /// The lemmas in use at the end.
    pub lemmas: Vec<UsedLemma>,
    /// The abstraction with these lemmas, if there was one.
    pub abstraction: Option<Abstraction>,
    /// The abstraction, ready to be run.
    pub interpreter: Option<Interpreter>,
    /// What the last search of it found.
    pub exploration: Option<Exploration>,
    /// How often it was searched for alarms.
    pub rounds: usize,
    /// Whether no lemma can be left out.
    pub minimal: bool,
    /// Invariants that nothing is known about: they speak of some processor, and the abstraction can
    /// only ask whether a concrete one is it.
    pub left_out: Vec<String>,
    /// What to say to the user about the abstraction.
    pub notes: Vec<Diagnostic>,
}

/// The answer: it holds for any number of processors, at least as many as are concrete; or it does
/// not hold with some number of them; or nothing is known.
pub type Verdict = evidence::Verdict<(), BrokenInstance, Unknown>;

/// The program with so many processors, which is wrong.
#[derive(Debug, Clone)]
pub struct BrokenInstance {
    /// How many.
    pub processors: u64,
    /// The instance.
    pub interpreter: Box<Interpreter>,
    /// What was found in it.
    pub exploration: Box<Exploration>,
}

/// Why nothing is known.
#[derive(Debug, Clone)]
pub enum Unknown {
    /// The abstraction does something wrong that no candidate for a lemma excludes.
    Missing(Box<AbstractCounterexample>),
    /// A search was ended early.
    Ended(Reason),
}

/// A run of the abstraction that nothing is known against.
#[derive(Debug, Clone)]
pub struct AbstractCounterexample {
    /// The run of the abstraction.
    pub run: Vec<Step>,
    /// The claim that it breaks, if it does.
    pub claim: Option<String>,
    /// The rule that fails in its last state, with its parameters, if one does.
    pub failed: Option<(u32, u64)>,
    /// The rule of the concrete program that others run last in it: a lemma for it may help.
    pub rule: Option<String>,
}

/// A concrete instance that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObservedInstance {
    /// How many processors it has.
    pub processors: u64,
    /// Whether it was walked through at random.
    #[serde(skip)]
    pub walked: bool,
    /// How many states were reached.
    pub states: u64,
    /// Whether that is all of them.
    pub complete: bool,
    /// How long it took.
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
    /// What it says whenever the rule applies.
    pub condition: String,
    /// The lemma as an invariant in Murphi, which can be read again.
    #[serde(rename = "invariant")]
    pub text: String,
    /// The step of the abstraction that called for it; `None` if the user gave it.
    pub called_for: Option<String>,
}

/// Why there is no answer at all.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The program cannot be abstracted, for these reasons.
    Unsuitable(Vec<Diagnostic>),
    /// An instance of it, or its abstraction, cannot be run.
    Unrunnable(Unrunnable),
}

impl From<Unrunnable> for Failure {
    fn from(why: Unrunnable) -> Self {
        Failure::Unrunnable(why)
    }
}

/// A lemma as an invariant.
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

/// Which rule is run in a state, with what, in one line.
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
