//! What came of exploring a model, as plain words and numbers: [`text`] tells it to a person,
//! [`json`] to a program, and [`recorded`] reads a counterexample back from its JSON.
//!
//! Places, values and names of rules are strings here. Whoever explored the model has rendered
//! them, so nothing in this room knows how states look.

pub mod json;
pub mod recorded;
pub mod text;

/// What was asked, what was found, and what it took.
#[derive(Debug, Clone, Default)]
pub struct Exploration {
    /// The file of the model, as the user named it.
    pub model: String,
    /// What was found.
    pub verdict: Verdict,
    /// What is broken, if anything is.
    pub broken: Option<Broken>,
    /// Why there is no answer, of an undecided exploration.
    pub reason: Option<String>,
    /// What was asked.
    pub settings: Settings,
    /// What it took.
    pub totals: Totals,
    /// The run that breaks it, if it is broken and if there is one.
    pub counterexample: Option<Counterexample>,
    /// For each rule of the model, its name and how often it fired.
    pub rules: Vec<(String, u64)>,
    /// What was looked at in every state: `2 invariants`, `1 cover`.
    pub properties: Vec<String>,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verdict {
    /// Everything holds in every state that can be reached.
    Verified,
    /// A property is broken, or a rule fails.
    Violation,
    /// A state that nothing leads out of.
    Deadlock,
    /// Nothing is broken so far.
    #[default]
    Undecided,
}

impl Verdict {
    /// Its name in the contract.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Verified => "verified",
            Verdict::Violation => "violation",
            Verdict::Deadlock => "deadlock",
            Verdict::Undecided => "undecided",
        }
    }
}

/// What is broken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Broken {
    /// `invariant`, `error` (a start state or a rule fails), `property-error` (evaluating a
    /// property fails), `deadlock`, `cover`.
    pub kind: String,
    /// The name of the property, or the message of the error.
    pub property: String,
    /// A sentence for the first line of a report: `invariant "mutual exclusion" does not hold`.
    pub sentence: String,
    /// Line and column of it in the model, if it has a place there.
    pub place: Option<(usize, usize)>,
    /// The source underlined, with everything else there is to say, ready to be printed.
    pub explanation: String,
}

/// What was asked.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Constants that were given other values.
    pub constants: Vec<(String, String)>,
    /// `cmurphi` or `rumur`.
    pub dialect: String,
    /// How many rounds a loop may take.
    pub loop_limit: u64,
    /// `full` or `off`.
    pub symmetry: String,
    /// The scalarsets that are no symmetry, because the order of their members may show.
    pub asymmetric: Vec<String>,
    /// `off`, `stuck` or `stuttering`.
    pub deadlock: String,
    /// `bfs`, `dfs` or `simulate`.
    pub search: String,
    /// How many threads searched.
    pub jobs: usize,
    /// The seed, if chance was involved.
    pub seed: Option<u64>,
    /// The greatest depth, if there was one.
    pub bound: Option<u64>,
    /// Bits of each hash, if states were stored as hashes.
    pub compact: Option<u8>,
}

/// What an exploration took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    /// States that were visited: orbits, under symmetry.
    pub states: u64,
    /// Rules that were fired.
    pub rules_fired: u64,
    /// The greatest distance of a visited state from the start states.
    pub depth: u64,
    /// Seconds from the first byte of the model to the verdict.
    pub seconds: f64,
    /// Seconds of the search alone.
    pub search_seconds: f64,
    /// Memory at its highest, divided by the number of states.
    pub bytes_per_state: f64,
    /// With hashes instead of states, the probability that a state was overlooked.
    pub omission_probability: Option<f64>,
}

/// A run of the model that ends where something is wrong.
#[derive(Debug, Clone, Default)]
pub struct Counterexample {
    /// How it starts.
    pub start: Start,
    /// What happens then.
    pub steps: Vec<Step>,
}

/// How a run starts.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The name of the start state.
    pub rule: String,
    /// Its parameters.
    pub bindings: Vec<(String, String)>,
    /// Every place with its value; nothing if the start state itself fails.
    pub state: Vec<(String, String)>,
    /// The same for people: places of equal value together.
    pub folded: Vec<(String, String)>,
    /// What `put` printed.
    pub printed: Vec<String>,
    /// The message, if it fails.
    pub error: Option<String>,
}

/// A step of a run.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// The name of the rule.
    pub rule: String,
    /// Its parameters.
    pub bindings: Vec<(String, String)>,
    /// What it changed.
    pub changed: Vec<Change>,
    /// The whole state after it, where that was asked for.
    pub state: Option<Vec<(String, String)>>,
    /// What `put` printed.
    pub printed: Vec<String>,
    /// The message, if it fails.
    pub error: Option<String>,
}

/// A place whose value changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The place: `cache[Proc_1].state`.
    pub place: String,
    /// What it held; nothing if that does not matter, as for elements that came and went.
    pub before: String,
    /// What it holds now.
    pub after: String,
}
