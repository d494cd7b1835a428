//! The page of an exploration or a verification: what was found, the run as a chart, the memory
//! trace, lemmas and abstractions, and how often each rule fired, beside the source.

use conform::report::Memory;
use evidence::Verdict;
use explore::Region;
use explore::report::{Broken, Change, Counterexample, Effect, RuleCoverage};
use murphi::ir::Model;
use page::{Kind, Page, html};
use parametric::EmittedAbstraction;
use parametric::report::ClaimSummary;
use serde::Serialize;

use super::chart::Chart;
use super::recognise::{Lanes, Recognised, Unrecognised};
use super::search::SearchData;
use super::states::{Shown, first_index, variable};
use crate::explain::{ExplainedModel, WhyData, why_data};
use crate::{any_number as proved, exploration, verification};

/// An exploration as a page.
pub fn explored(
    report: &explore::Report,
    model: &Model,
    lanes: &Lanes,
) -> Result<String, Unrecognised> {
    let plain = exploration::text::report(report, Default::default());
    let finding = report.finding();
    let subject = Subject {
        model,
        file: &report.model,
        verdict: report.verdict_name(),
        tone: tone(&report.verdict),
        sentence: exploration::text::verdict_line(report, false),
        details: plain.lines().skip(1).take_while(|line| line.starts_with("  ")).collect(),
        run: finding.and_then(|finding| finding.counterexample.clone()),
        broken: finding.map(|finding| &finding.broken),
        coverage: &report.rules,
        memory: None,
        proof: None,
        search: Some(SearchData::of(report, model)),
        answer: exploration::json::object(report),
    };
    subject.page(&plain, lanes)
}

/// A verification as a page.
pub fn verified(
    report: &conform::report::Report,
    model: &Model,
    lanes: &Lanes,
) -> Result<String, Unrecognised> {
    let plain = verification::text::report(report, &[], false, false);
    let run = report.run();
    let mut own = run.and_then(|run| run.without_observer());
    if let Some(state) = own.as_mut().and_then(|run| run.start.state.as_mut()) {
        // Observers have variables of their own.
        let known = |name: &str| model.globals.iter().any(|global| global.name == name);
        state.retain(|(place, _)| known(variable(place)));
    }
    let subject = Subject {
        model,
        file: &report.source.name,
        verdict: report.verdict_name(),
        tone: tone(&report.verdict),
        sentence: verification::text::verdict_line(report, false),
        details: plain.lines().skip(1).take_while(|line| line.starts_with("  ")).collect(),
        run: own,
        broken: run.map(|run| &run.finding.broken),
        coverage: &[],
        memory: report.memory(),
        proof: None,
        search: None,
        answer: verification::json::object(report),
    };
    subject.page(&plain, lanes)
}

/// A verification for any number of processors as a page, with the abstract programs it rests on.
pub fn any_number(
    report: &parametric::report::Report,
    abstractions: &[EmittedAbstraction],
    model: &Model,
    lanes: &Lanes,
) -> Result<String, Unrecognised> {
    let plain =
        proved::text::report(report, proved::text::Detail { lemmas: true, ..Default::default() });
    let proof = ProofData {
        processor: &report.processor,
        concrete: report.concrete,
        claims: &report.claims,
        abstractions,
    };
    let finding = report.finding();
    let subject = Subject {
        model,
        file: &report.source.name,
        verdict: report.verdict_name(),
        tone: tone(&report.verdict),
        sentence: proved::text::verdict_line(report, false),
        details: plain.lines().skip(1).take_while(|line| line.starts_with("  ")).collect(),
        run: finding.and_then(|finding| finding.counterexample.clone()),
        broken: finding.map(|finding| &finding.broken),
        coverage: &[],
        memory: None,
        proof: Some(proof),
        search: None,
        answer: proved::json::object(report),
    };
    subject.page(&plain, lanes)
}

fn tone<H, B, U>(verdict: &Verdict<H, B, U>) -> &'static str {
    match verdict {
        Verdict::Holds(_) => "good",
        Verdict::Broken(_) => "bad",
        Verdict::Undecided(_) => "open",
    }
}

/// The subject of a page.
struct Subject<'a> {
    model: &'a Model,
    file: &'a str,
    verdict: &'static str,
    tone: &'static str,
    sentence: String,
    /// The searches and their sizes, one line each.
    details: Vec<&'a str>,
    run: Option<Counterexample>,
    broken: Option<&'a Broken>,
    coverage: &'a [RuleCoverage],
    memory: Option<&'a Memory>,
    proof: Option<ProofData<'a>>,
    search: Option<SearchData<'a>>,
    answer: String,
}

/// The data of the script.
#[derive(Serialize)]
struct Data<'a> {
    file: &'a str,
    verdict: &'static str,
    tone: &'static str,
    sentence: &'a str,
    details: Vec<&'a str>,
    /// The report as `--json` prints it.
    answer: Option<serde_json::Value>,
    source: &'a str,
    /// The first and the last line of each rule.
    rules: Vec<(&'a str, usize, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<&'a Region>,
    coverage: &'a [RuleCoverage],
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<ProofData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<SearchData<'a>>,
    text: &'a str,
}

/// A run and its chart.
#[derive(Serialize)]
struct RunData {
    #[serde(flatten)]
    chart: Chart,
    /// How lanes and messages were recognised.
    notes: Vec<String>,
    start: String,
    /// Every place at the start; multisets as lists.
    state: Vec<(String, String)>,
    multisets: Vec<(String, Vec<String>)>,
    steps: Vec<StepData>,
    /// The places that say in which state each lane is.
    bars: Vec<Vec<String>>,
    /// The variables that are messages.
    messages: Vec<String>,
}

#[derive(Serialize)]
struct StepData {
    rule: String,
    bindings: Vec<(String, String)>,
    changes: Vec<ChangeData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    printed: Vec<String>,
}

#[derive(Serialize)]
struct ChangeData {
    place: String,
    before: String,
    after: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    added: Vec<String>,
}

/// The loads and stores of a run.
#[derive(Serialize)]
struct MemoryData<'a> {
    trace: &'a str,
    judged: Vec<String>,
    #[serde(flatten)]
    why: Option<WhyData>,
}

/// The data about a proof for any number of processors.
#[derive(Serialize)]
struct ProofData<'a> {
    /// The type of processors.
    processor: &'a str,
    /// The number of concrete processors.
    concrete: u64,
    claims: &'a [ClaimSummary],
    abstractions: &'a [EmittedAbstraction],
}

impl Subject<'_> {
    fn page(self, plain: &str, lanes: &Lanes) -> Result<String, Unrecognised> {
        let recognised = Recognised::of(self.model, lanes)?;
        let rules = recognised.lines.iter();
        let rules = rules.map(|(name, &(first, last))| (name.as_str(), first, last));
        let title = self.sentence.clone();
        let why = self.broken.map(|broken| broken.explanation.render(false));
        let data = Data {
            file: self.file,
            verdict: self.verdict,
            tone: self.tone,
            sentence: &self.sentence,
            details: self.details.iter().map(|line| line.trim()).collect(),
            answer: serde_json::from_str(&self.answer).ok(),
            source: &self.model.source.text,
            rules: rules.collect(),
            run: self.run.as_ref().map(|run| run_data(&recognised, run)),
            why: why.filter(|why| !why.is_empty()),
            region: self.run.as_ref().and_then(|run| run.region.as_ref()),
            coverage: self.coverage,
            memory: self.memory.map(memory_data),
            proof: self.proof,
            search: self.search,
            text: plain,
        };
        let page = Page { kind: Kind::Run, title: &title, text: plain, reload: None, data: &data };
        Ok(html(&page))
    }
}

fn run_data(recognised: &Recognised, run: &Counterexample) -> RunData {
    let state = Shown::start(run);
    let chart = Chart::of(recognised, run);
    let bars = chart.lanes.iter().enumerate().map(|(at, lane)| {
        let processor = (at + 1 < chart.lanes.len()).then_some(lane.as_str());
        bars(recognised, run, processor)
    });
    let bars = bars.collect();
    let bound = run.start.bindings.iter().map(|(name, value)| format!(" {name} = {value}"));
    let with: String = bound.collect();
    RunData {
        chart,
        notes: recognised.notes.clone(),
        start: format!("{}{with}", run.start.rule),
        state: run
            .start
            .state
            .iter()
            .flatten()
            .filter(|(p, _)| state.places.contains_key(p))
            .cloned()
            .collect(),
        multisets: state.multisets.into_iter().collect(),
        steps: run.steps.iter().map(step_data).collect(),
        bars,
        messages: recognised.messages.keys().cloned().collect(),
    }
}

fn step_data(step: &explore::report::Step) -> StepData {
    let (changes, error) = match &step.effect {
        Effect::Changed(changes) => (changes.iter().map(change_data).collect(), None),
        Effect::Error(message) => (Vec::new(), Some(message.clone())),
    };
    let printed = step.printed.clone();
    StepData { rule: step.rule.clone(), bindings: step.bindings.clone(), changes, error, printed }
}

fn change_data(change: &Change) -> ChangeData {
    let Change { place, before, after, removed, added } = change.clone();
    ChangeData { place, before, after, removed, added }
}

/// The most places shown as the state of a lane.
const MOST_BARS: usize = 2;

/// The places that say in which state a lane is: those called so, or the first ones that are names.
fn bars(recognised: &Recognised, run: &Counterexample, processor: Option<&str>) -> Vec<String> {
    let is_name =
        |value: &str| value.starts_with(|c: char| c.is_alphabetic()) && value != "undefined";
    let belongs = |place: &str| match processor {
        Some(processor) => {
            recognised.local.contains(variable(place)) && first_index(place) == Some(processor)
        }
        None => {
            let name = variable(place);
            !recognised.local.contains(name) && !recognised.messages.contains_key(name)
        }
    };
    let listed = run.start.state.iter().flatten().filter(|(place, _)| belongs(place));
    let named = |place: &str| {
        let last = place.rsplit(['.', '[']).next().unwrap_or(place).to_lowercase();
        last.contains("state") || last.contains("status")
    };
    let all: Vec<&(String, String)> = listed.collect();
    let states = all.iter().filter(|(place, _)| named(place));
    let mut found: Vec<String> = states.take(MOST_BARS).map(|(place, _)| place.clone()).collect();
    if found.is_empty() {
        let names = all.iter().filter(|(_, value)| is_name(value));
        found = names.take(MOST_BARS).map(|(place, _)| place.clone()).collect();
    }
    found
}

fn memory_data(memory: &Memory) -> MemoryData<'_> {
    let judged = verification::judged(memory);
    let why =
        memory.judged.outcome.broken().map(|proof| {
            why_data(&memory.history, ExplainedModel::Model(memory.judged.model), proof)
        });
    MemoryData { trace: &memory.trace, judged, why }
}
