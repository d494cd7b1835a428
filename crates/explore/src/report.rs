//! What came of exploring a model, as data. [`confirmed`] makes it from what a search found, and has the
//! reference interpreter confirm each step of a counterexample; the `report` crate shows it to a
//! person; serialised, it is the JSON that programs read.

mod breach;
mod confirm;
mod fold;
mod fold_step;
mod reconstruct;
mod values;
mod words;

use std::sync::Arc;

use diagnostics::diagnostic::Diagnostic;
use diagnostics::source::Source;
use evidence::Verdict;
use murphi::check::Dialect;
use serde::{Serialize, Serializer};

use crate::symmetry::Symmetry;
use crate::{Checkpoint, Deadlock, Depths, Nearest, Reason, Region, Size};

pub(crate) use confirm::asymmetric;
pub(crate) use confirm::confirmed_watching;
pub use confirm::{confirmed, misses_cover, unchecked};
pub use reconstruct::Contradiction;
pub(crate) use reconstruct::{changes, kind_name, property_of, with};
pub use words::{counted, grouped};

/// What was asked, what was found, and what it took.
#[derive(Debug, Clone)]
pub struct Report {
    /// The file of the model, as the user named it.
    pub model: String,
    /// What was found.
    pub verdict: Verdict<(), Finding, Open>,
    /// What was asked.
    pub settings: Settings,
    /// What it took.
    pub totals: Totals,
    /// For each rule of the model, how often it fired.
    pub rules: Vec<RuleCoverage>,
    /// What was looked at in every state: `2 invariants hold`, `1 cover is reached`.
    pub properties: Vec<String>,
    /// What the search can go on from, if it was ended early and keeps checkpoints.
    pub checkpoint: Option<Checkpoint>,
    /// Of a breadth-first search, how many states are how far away.
    pub depths: Depths,
    /// States and memory over time, in seconds since the search began.
    pub growth: Vec<(f64, Size)>,
}

impl Report {
    /// What is wrong with the model, if something is.
    pub fn finding(&self) -> Option<&Finding> {
        self.verdict.broken()
    }

    /// The verdict in a word, as JSON has it.
    pub fn verdict_name(&self) -> &'static str {
        match &self.verdict {
            Verdict::Holds(()) => "verified",
            Verdict::Broken(finding) if finding.broken.kind == "deadlock" => "deadlock",
            Verdict::Broken(_) => "violation",
            Verdict::Undecided(_) => "undecided",
        }
    }
}

/// What is wrong with a model.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    /// What is broken.
    pub broken: Broken,
    /// The run that breaks it; nothing if it is something that no run does.
    pub counterexample: Option<Counterexample>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Open {
    /// The search was ended early.
    Ended {
        /// Why.
        reason: Reason,
        /// The greatest depth, if there was one.
        bound: Option<u64>,
        /// Liveness properties, of which nothing is known: `liveness "name"`.
        unchecked: Vec<String>,
    },
    /// These liveness properties are not decided; everything else holds.
    Liveness {
        /// `liveness "name"`.
        properties: Vec<String>,
        /// Why not.
        why: Unestablished,
    },
    /// Assumptions exclude every start state, so that nothing was looked at.
    NoStart,
}

/// Why a liveness property is not decided though every state was visited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unestablished {
    /// Nobody asked.
    NotAsked,
    /// This kind of search does not keep what it takes; the words say why.
    Unsuited(String),
    /// It was ended early.
    Ended(Reason),
}

/// What is broken.
#[derive(Debug, Clone, Default)]
pub struct Broken {
    /// `invariant`, `liveness`, `error` (a start state or a rule fails), `property-error` (evaluating a
    /// property fails), `deadlock`, `cover`.
    pub kind: String,
    /// The name of the property, or the message of the error.
    pub property: String,
    /// A sentence for the first line of a report: `invariant "mutual exclusion" does not hold`.
    pub sentence: String,
    /// Line and column of it in the model, if it has a place there.
    pub place: Option<(usize, usize)>,
    /// Everything else there is to say.
    pub explanation: Explanation,
}

/// Why something is broken.
#[derive(Debug, Clone, Default)]
pub enum Explanation {
    /// There is no more to say.
    #[default]
    Nothing,
    /// A place in the source, and what stands there in the last state, with its values.
    Place {
        /// The source.
        source: Arc<Source>,
        /// What is wrong, and where.
        diagnostic: Box<Diagnostic>,
        /// Parts of the condition with their values.
        values: Vec<(String, String)>,
    },
    /// Plain lines.
    Lines(String),
}

impl Explanation {
    /// The source underlined, and what else there is to say; each line ended by a newline.
    pub fn render(&self, colour: bool) -> String {
        match self {
            Explanation::Nothing => String::new(),
            Explanation::Place { source, diagnostic, values } => {
                let mut text = diagnostic.render(source, colour);
                if !values.is_empty() {
                    text.push_str(&format!("where {}\n", reconstruct::listed(values)));
                }
                text
            }
            Explanation::Lines(text) => text.clone(),
        }
    }
}

/// What was asked.
#[derive(Debug, Clone, Serialize)]
pub struct Settings {
    /// Which states count as the same.
    #[serde(serialize_with = "symmetry_name")]
    pub symmetry: Symmetry,
    /// The scalarsets that are no symmetry, because the order of their members may show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asymmetric: Vec<String>,
    /// What counts as a deadlock.
    #[serde(serialize_with = "deadlock_name")]
    pub deadlock: Deadlock,
    /// In which order states were visited.
    pub search: SearchOrder,
    /// How many threads searched.
    pub jobs: usize,
    /// How many processes searched, if they were a cluster; each has so many threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    /// The seed, if chance was involved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The greatest depth, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<u64>,
    /// Bits of each hash, if states were stored as hashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compact: Option<u8>,
    /// The condition that a best-first search went towards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub towards: Option<String>,
    /// Subranges and enumerations that were treated as scalarsets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub symmetric: Vec<String>,
    /// Conditions that were to stay within reach, beside those of the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub liveness: Vec<String>,
    /// Constants that were given other values.
    #[serde(serialize_with = "as_object")]
    pub constants: Vec<(String, String)>,
    /// Whose reading of the language was followed.
    #[serde(serialize_with = "dialect_name")]
    pub dialect: Dialect,
    /// How many rounds a loop may take.
    pub loop_limit: u64,
    /// How many calls of functions that call themselves may be open, if there are such functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_limit: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            symmetry: Symmetry::Full,
            asymmetric: Vec::new(),
            deadlock: Deadlock::Stuttering,
            search: SearchOrder::Bfs,
            jobs: 1,
            processes: None,
            seed: None,
            bound: None,
            compact: None,
            towards: None,
            symmetric: Vec::new(),
            liveness: Vec::new(),
            constants: Vec::new(),
            dialect: Dialect::default(),
            loop_limit: murphi::check::Options::default().loop_limit,
            call_limit: None,
        }
    }
}

/// In which order states were visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchOrder {
    /// Breadth-first.
    Bfs,
    /// Depth-first.
    Dfs,
    /// Best-first.
    Best,
    /// Random walks.
    Simulate,
}

/// What an exploration took.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Totals {
    /// States that were visited: orbits, under symmetry.
    pub states: u64,
    /// Rules that were fired.
    pub rules_fired: u64,
    /// The greatest distance of a visited state from the start states.
    pub depth: u64,
    /// Seconds from the first byte of the model to the verdict.
    #[serde(serialize_with = "milliseconds")]
    pub seconds: f64,
    /// Seconds of the search alone.
    #[serde(skip)]
    pub search_seconds: f64,
    /// Seconds that deciding liveness took after the search, if there was something to decide.
    #[serde(serialize_with = "optional_milliseconds", skip_serializing_if = "Option::is_none")]
    pub liveness_seconds: Option<f64>,
    /// Memory at its highest, divided by the number of states.
    #[serde(serialize_with = "tenths")]
    pub bytes_per_state: f64,
    /// Of a best-first search, how near to the condition it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
    /// With states on disk, bytes there divided by the number of states.
    #[serde(serialize_with = "optional_tenths", skip_serializing_if = "Option::is_none")]
    pub disk_bytes_per_state: Option<f64>,
    /// With hashes instead of states, the probability that a state was overlooked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omission_probability: Option<f64>,
}

/// How often a rule fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleCoverage {
    /// Its name.
    pub rule: String,
    /// How often.
    pub fired: u64,
}

/// A run of the model that ends where something is wrong.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Counterexample {
    /// How it starts.
    pub start: Start,
    /// What happens then.
    #[serde(rename = "counterexample")]
    pub steps: Vec<Step>,
    /// States that can still be reached, if a liveness property is out of reach at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
}

/// How a run starts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Start {
    /// The name of the start state.
    pub rule: String,
    /// Its parameters.
    #[serde(serialize_with = "as_object")]
    pub bindings: Vec<(String, String)>,
    /// The message, if it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Every place with its value; nothing if the start state itself fails.
    #[serde(serialize_with = "as_optional_object", skip_serializing_if = "Option::is_none")]
    pub state: Option<Vec<(String, String)>>,
    /// The expressions that are watched, with their values after it.
    #[serde(serialize_with = "as_object", skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<(String, String)>,
    /// The same for people: places of equal value together.
    #[serde(skip)]
    pub folded: Vec<(String, String)>,
    /// What `put` printed.
    #[serde(skip)]
    pub printed: Vec<String>,
}

/// A step of a run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Step {
    /// The name of the rule.
    pub rule: String,
    /// Its parameters.
    #[serde(serialize_with = "as_object")]
    pub bindings: Vec<(String, String)>,
    /// What came of it.
    #[serde(flatten)]
    pub effect: Effect,
    /// The changes for people: a message that comes or goes as one.
    #[serde(skip)]
    pub folded: Vec<Change>,
    /// The whole state after it, where that was asked for.
    #[serde(serialize_with = "as_optional_object", skip_serializing_if = "Option::is_none")]
    pub state: Option<Vec<(String, String)>>,
    /// The expressions that are watched, with their values after it.
    #[serde(serialize_with = "as_object", skip_serializing_if = "Vec::is_empty")]
    pub watched: Vec<(String, String)>,
    /// What `put` printed.
    #[serde(skip)]
    pub printed: Vec<String>,
}

/// What a step did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It changed these places.
    #[serde(serialize_with = "changes_as_object")]
    Changed(Vec<Change>),
    /// It failed, with this message.
    Error(String),
}

impl Default for Effect {
    fn default() -> Self {
        Effect::Changed(Vec::new())
    }
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
    /// Of a multiset, the elements that are gone.
    pub removed: Vec<String>,
    /// Of a multiset, the elements that are new.
    pub added: Vec<String>,
}

/// The fields are those of docs/interface.md: the result, what is needed to run the counterexample
/// again (`constants`, `dialect`, `loop_limit`, `call_limit`, `deadlock`, and `start`, the start
/// state in full), how the search was done, and `rule_coverage`. A step that fails has `error`
/// instead of `changed`.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            model: &'a str,
            /// The same, under the name that files have in every command.
            file: &'a str,
            verdict: &'static str,
            #[serde(flatten)]
            broken: Option<BrokenFields<'a>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            reason: Option<String>,
            #[serde(flatten)]
            totals: &'a Totals,
            #[serde(flatten)]
            settings: &'a Settings,
            #[serde(skip_serializing_if = "Option::is_none")]
            checkpoint: Option<&'a Checkpoint>,
            #[serde(flatten)]
            counterexample: Option<&'a Counterexample>,
            rule_coverage: &'a [RuleCoverage],
        }
        #[derive(Serialize)]
        struct BrokenFields<'a> {
            property: &'a str,
            kind: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            line: Option<usize>,
            #[serde(skip_serializing_if = "Option::is_none")]
            column: Option<usize>,
        }
        let finding = self.finding();
        let broken = finding.map(|Finding { broken, .. }| BrokenFields {
            property: &broken.property,
            kind: &broken.kind,
            line: broken.place.map(|(line, _)| line),
            column: broken.place.map(|(_, column)| column),
        });
        let reason = match &self.verdict {
            Verdict::Undecided(open) => Some(open.to_string()),
            Verdict::Holds(()) | Verdict::Broken(_) => None,
        };
        let fields = Fields {
            model: &self.model,
            file: &self.model,
            verdict: self.verdict_name(),
            broken,
            reason,
            totals: &self.totals,
            settings: &self.settings,
            checkpoint: self.checkpoint.as_ref(),
            counterexample: finding.and_then(|finding| finding.counterexample.as_ref()),
            rule_coverage: &self.rules,
        };
        fields.serialize(serializer)
    }
}

fn symmetry_name<S: Serializer>(symmetry: &Symmetry, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(symmetry.name())
}

fn deadlock_name<S: Serializer>(deadlock: &Deadlock, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(deadlock.name())
}

fn dialect_name<S: Serializer>(dialect: &Dialect, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(dialect.name())
}

/// Seconds to the millisecond, as JSON has them.
pub fn milliseconds<S: Serializer>(seconds: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((seconds * 1e3).round() / 1e3)
}

fn optional_milliseconds<S: Serializer>(seconds: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    milliseconds(&seconds.unwrap_or_default(), to)
}

fn tenths<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((number * 10.0).round() / 10.0)
}

fn optional_tenths<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    tenths(&number.unwrap_or_default(), to)
}

pub(crate) fn as_object<S: Serializer>(
    fields: &[(String, String)],
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_map(fields.iter().map(|(name, value)| (name, value)))
}

fn as_optional_object<S: Serializer>(
    fields: &Option<Vec<(String, String)>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    as_object(fields.as_deref().unwrap_or_default(), to)
}

fn changes_as_object<S: Serializer>(changes: &[Change], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(changes.iter().map(|change| (&change.place, &change.after)))
}
