//! What an explanation is about: a built-in model, whose row says what it keeps, or a model file,
//! whose lines do.

use std::collections::BTreeMap;
use std::fmt;

use certify::file::Reasons;
use evidence::file::{FileEvidence, FileProof, FileWhy, Link};
use evidence::{Because, Cycle, Edge, Graph, Literal, Node, Proof, Step, Verdict, Why};
use history::{History, Kinds, Mixed};
use judge::{FileJudgement, ModelFile};
use models::{Model, Rules};

use crate::names::event_of;

/// A model of either kind.
#[derive(Clone, Copy, Debug)]
pub enum ExplainedModel<'a> {
    /// A built-in model.
    Model(Model),
    /// The lines of a model file that a proof is about.
    File(&'a FileRules),
}

impl From<Model> for ExplainedModel<'_> {
    fn from(model: Model) -> Self {
        ExplainedModel::Model(model)
    }
}

impl<'a> From<&'a FileRules> for ExplainedModel<'a> {
    fn from(rules: &'a FileRules) -> Self {
        ExplainedModel::File(rules)
    }
}

impl fmt::Display for ExplainedModel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExplainedModel::Model(model) => model.fmt(f),
            ExplainedModel::File(rules) => f.pad(&rules.name),
        }
    }
}

impl ExplainedModel<'_> {
    /// The title of the model.
    pub(super) fn title(&self) -> &str {
        match self {
            ExplainedModel::Model(model) => model.title(),
            ExplainedModel::File(rules) => &rules.title,
        }
    }

    /// The guarantee of the model, in a few words.
    pub(super) fn summary(&self) -> &str {
        match self {
            ExplainedModel::Model(model) => model.summary(),
            ExplainedModel::File(rules) => &rules.broken,
        }
    }

    pub(super) fn is_causal(&self) -> bool {
        matches!(self, ExplainedModel::Model(model) if matches!(model.rules(), Rules::Causal(_)))
    }

    /// Which conditions of a file are broken, as a sentence.
    pub(super) fn broken(&self) -> Option<&str> {
        match self {
            ExplainedModel::Model(_) => None,
            ExplainedModel::File(rules) => Some(&rules.broken),
        }
    }
}

/// The lines of a model file that keep the pairs of a proof in order.
#[derive(Clone, Debug)]
pub struct FileRules {
    name: String,
    title: String,
    broken: String,
    rules: BTreeMap<(Node, Node), String>,
}

impl FileRules {
    /// The model for the explanation of a violation of a model file, and the proof in the terms of
    /// the built-in models.
    pub fn new(history: &History, file: &ModelFile, judgement: &FileJudgement) -> (Self, Proof) {
        let mut used: Vec<usize> = Vec::new();
        let mut rules = FileRules {
            name: file.path.clone(),
            title: file.model.name().to_owned(),
            broken: String::new(),
            rules: BTreeMap::new(),
        };
        let known = || judgement.proof.clone().unwrap_or_default();
        let proof = match (&judgement.evidence, history.mixed()) {
            (Some(FileEvidence::Violation(proof)), None) => {
                rules.read(history, file, proof, &mut used)
            }
            // It is about parts; what is shown is about accesses.
            (Some(FileEvidence::Violation(proof)), Some(mixed)) => {
                rules.read(history, file, proof, &mut used);
                rules.take_parts_together(mixed);
                known()
            }
            _ => known(),
        };
        if let (Verdict::Broken(refutation), true) = (&judgement.outcome, used.is_empty()) {
            used.clone_from(&refutation.axioms);
        }
        used.sort_unstable();
        used.dedup();
        let named = |&number: &usize| {
            let axiom = file.model.axioms().nth(number)?;
            Some(format!("`{}` ({})", axiom.name, file.model.line_of(axiom.place)))
        };
        let named: Vec<String> = used.iter().filter_map(named).collect();
        rules.broken = match &named[..] {
            [] => "The violation does not depend on any condition of the model.".to_owned(),
            [only] => format!("The violated condition is {only}."),
            several => format!("The violated condition is one of {}.", several.join(", ")),
        };
        (rules, proof)
    }

    fn read(
        &mut self,
        history: &History,
        file: &ModelFile,
        proof: &FileProof,
        used: &mut Vec<usize>,
    ) -> Proof {
        let location = file.model.shape().ok().and_then(|shape| shape.location_axiom());
        let mut reasons = Reasons::new(history, &file.model);
        let history = history.mixed().map_or(history, Mixed::parts);
        let mut steps = Vec::new();
        for step in &proof.steps {
            let why = match &step.why {
                FileWhy::Propagation => Why::Propagation,
                FileWhy::Axiom { axiom, links } => {
                    used.push(*axiom);
                    let is_location = location == Some(*axiom);
                    let graph = if is_location { Graph::Location } else { Graph::Global };
                    let found = reasons.of(*axiom, links, &step.clause);
                    let mut edges = Vec::new();
                    for (link, places) in links.iter().zip(&found) {
                        edges.extend(self.edges(history, file, *axiom, link, places));
                    }
                    Why::Cycle(Cycle { graph, edges })
                }
            };
            reasons.learn(&step.clause);
            let clause: Vec<Literal> = step.clause.clone();
            steps.push(Step { clause, why });
        }
        Proof { steps }
    }

    /// What orders two parts orders their accesses.
    fn take_parts_together(&mut self, mixed: &Mixed) {
        let access = |node: Node| match node {
            Node::Event(part) => Node::Event(mixed.access_of(part)),
            other => other,
        };
        let rules = std::mem::take(&mut self.rules);
        self.rules = rules.into_iter().map(|((a, b), it)| ((access(a), access(b)), it)).collect();
    }

    /// The edges that a link is, with an atomic as one node.
    fn edges(
        &mut self,
        history: &History,
        file: &ModelFile,
        axiom: usize,
        link: &Link,
        places: &[cat::Place],
    ) -> Vec<Edge> {
        let whole = |node: Node| match node {
            Node::ReadOf(event) => Node::Event(event),
            other => other,
        };
        let edge = |from, to, because| Edge { from: whole(from), to: whole(to), because };
        let is_atomicity =
            file.model.axioms().nth(axiom).is_some_and(|axiom| axiom.test == cat::Test::Empty);
        if let (true, Some(&between)) = (is_atomicity, link.through.last()) {
            // What came between is overwritten by the one and overwrites what the other read.
            let mut edges = vec![
                edge(link.from, between, Because::FromRead),
                edge(between, link.to, Because::WriteOrder),
            ];
            if whole(link.from) != whole(link.to) {
                let closing = edge(link.to, link.from, Because::ProgramOrder);
                let rule = self.rule(file, axiom, &[]);
                self.rules.insert((closing.from, closing.to), rule);
                edges.push(closing);
            }
            return edges;
        }
        if whole(link.from) == whole(link.to) {
            return Vec::new();
        }
        let last = places.last().map(|&place| file.model.text_at(place).trim());
        let because = match last {
            Some("rf" | "rfe" | "rfi") => Because::ReadsFrom,
            Some("co" | "coe" | "coi") => Because::WriteOrder,
            Some("fr" | "fre" | "fri") => Because::FromRead,
            Some(text) if is_in_time(history, link) && mentions_time(text) => Because::Time,
            _ => between_threads(history, link).unwrap_or(Because::ProgramOrder),
        };
        let edge = edge(link.from, link.to, because);
        if because == Because::ProgramOrder {
            let rule = self.rule(file, axiom, places);
            self.rules.insert((edge.from, edge.to), rule);
        }
        vec![edge]
    }

    /// `rvwmo rule 5: acquire (rvwmo.cat:18, [AQ] ; po ; [M])`: what keeps a pair in order. The line
    /// with a comment beside it says it best, else the innermost.
    fn rule(&self, file: &ModelFile, axiom: usize, places: &[cat::Place]) -> String {
        let model = &file.model;
        let commented = places.iter().rev().find(|&&place| model.comment_beside(place).is_some());
        let axiom = model.axioms().nth(axiom);
        let (what, place) = match (commented, places.last(), axiom) {
            (Some(&place), ..) => {
                let comment = model.comment_beside(place).unwrap_or_default();
                (format!("{} {comment}", self.name), place)
            }
            (None, Some(&place), Some(axiom)) => {
                (format!("`{}` of {}", axiom.name, self.name), place)
            }
            (None, None, Some(axiom)) => {
                (format!("`{}` of {}", axiom.name, self.name), axiom.place)
            }
            (None, _, None) => return self.name.clone(),
        };
        let text: Vec<&str> = model.text_at(place).split_whitespace().collect();
        let mut text = text.join(" ");
        if text.chars().count() > LONGEST {
            text = text.chars().take(LONGEST).collect::<String>() + " …";
        }
        format!("{what} ({}, {text})", model.line_of(place))
    }

    /// What keeps one event before another.
    pub(super) fn between(&self, a: Node, b: Node) -> &str {
        self.rules.get(&(a, b)).map_or(&self.name, |rule| rule)
    }
}

/// The most letters of a line of a model that are shown.
const LONGEST: usize = 60;

/// Whether the one ended before the other began.
fn is_in_time(history: &History, link: &Link) -> bool {
    let times = |node| event_of(node).map(|event| history.times(event));
    let ended = times(link.from).and_then(|times| times.end);
    let began = times(link.to).and_then(|times| times.begin);
    ended.zip(began).is_some_and(|(ended, began)| ended < began)
}

/// Whether an expression mentions `rt`.
fn mentions_time(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == "rt")
}

/// What relates accesses of different threads, whatever a file calls it.
fn between_threads(history: &History, link: &Link) -> Option<Because> {
    let (from, to) = (event_of(link.from), event_of(link.to));
    if let (Some(from), Some(to)) = (from, to)
        && history.thread_of(from) == history.thread_of(to)
    {
        return None;
    }
    let writes = |node| event_of(node).is_none_or(|event| history.kinds_of(event).writes);
    let reads = |node| event_of(node).is_some_and(|event| history.kinds_of(event) == Kinds::READS);
    match (reads(link.from), writes(link.to)) {
        (true, _) => Some(Because::FromRead),
        (false, true) => Some(Because::WriteOrder),
        (false, false) => Some(Because::ReadsFrom),
    }
}
