//! The argument as the script unfolds it: steps within steps, each link with its sentence.

use serde::Serialize;

use super::super::argument::{
    Argument, Case, Contradiction, Ending, Ground, Item, Link, Reason, Step, Walk,
};
use super::super::picture::link_label;
use super::super::svg::node_number;
use super::super::words::{NO_BREAK, Words, capitalised};

/// One item of an argument.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(in crate::explain) enum ItemData {
    Step(StepData),
    LeftOut { count: usize },
    Cases { question: String, cases: Vec<CaseData> },
    End(EndData),
}

/// A case of a case distinction.
#[derive(Serialize)]
pub(in crate::explain) struct CaseData {
    label: String,
    assumes: String,
    items: Vec<ItemData>,
}

/// A fact and why it holds.
#[derive(Serialize)]
pub(in crate::explain) struct StepData {
    label: String,
    claim: String,
    reason: String,
    derived: Vec<StepData>,
    links: Vec<LinkData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closing: Option<String>,
}

/// How it ends.
#[derive(Serialize)]
pub(in crate::explain) struct EndData {
    sentences: Vec<String>,
    derived: Vec<StepData>,
    links: Vec<LinkData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closing: Option<String>,
}

/// Why one node comes before another.
#[derive(Serialize)]
pub(in crate::explain) struct LinkData {
    from: i64,
    to: i64,
    label: &'static str,
    text: String,
    /// The steps that it rests on.
    steps: Vec<String>,
}

/// The cycles that end the branches of an argument.
pub(super) fn cycles(argument: &Argument) -> Vec<&Walk> {
    argument.branches().into_iter().map(|branch| branch.cycle).collect()
}

// Recursion is as deep as cases nest, which is bounded.
pub(in crate::explain) fn items(words: Words<'_>, items: &[Item]) -> Vec<ItemData> {
    let case = |case: &Case| CaseData {
        label: case.label.clone(),
        assumes: plain(&format!("{}.", capitalised(words.literal(case.assumes)))),
        items: self::items(words, &case.items),
    };
    let item = |item: &Item| match item {
        Item::Step(one) => ItemData::Step(step(words, one)),
        Item::LeftOut(count) => ItemData::LeftOut { count: *count },
        Item::Cases(cases) => ItemData::Cases {
            question: plain(&words.question(cases)),
            cases: cases.iter().map(case).collect(),
        },
        Item::End(ending) => ItemData::End(end(words, ending)),
    };
    items.iter().map(item).collect()
}

// Recursion is one deep: a step within a step has no steps within.
fn step(words: Words<'_>, of: &Step) -> StepData {
    let (derived, links, closing) = match &of.reason {
        Reason::Otherwise(contradiction) => self::contradiction(words, contradiction),
        Reason::Rule { path, .. } => (Vec::new(), walk(words, path), None),
        Reason::LastCandidate { .. } => (Vec::new(), Vec::new(), None),
    };
    StepData {
        label: of.label.clone(),
        claim: plain(&format!("{}.", capitalised(words.claim(of)))),
        reason: plain(&capitalised(words.reason(of))),
        derived,
        links,
        closing,
    }
}

fn contradiction(
    words: Words<'_>,
    of: &Contradiction,
) -> (Vec<StepData>, Vec<LinkData>, Option<String>) {
    let derived = of.derived.iter().map(|derived| step(words, derived)).collect();
    (derived, walk(words, &of.cycle), Some(plain(&words.closing(&of.cycle))))
}

fn end(words: Words<'_>, ending: &Ending) -> EndData {
    let sentences = words.ending(ending).into_iter().map(|text| plain(&capitalised(text)));
    let (derived, links, closing) = match ending {
        Ending::Cycle(cycle) => {
            (Vec::new(), walk(words, cycle), Some(plain(&words.closing(cycle))))
        }
        Ending::Search(search) => match &search.example {
            Some((_, example)) => contradiction(words, example),
            None => (Vec::new(), Vec::new(), None),
        },
        _ => (Vec::new(), Vec::new(), None),
    };
    EndData { sentences: sentences.collect(), derived, links, closing }
}

fn walk(words: Words<'_>, walk: &Walk) -> Vec<LinkData> {
    let link = |link: &Link| LinkData {
        from: node_number(link.from),
        to: node_number(link.to),
        label: link_label(&link.kind),
        text: plain(&words.link(walk.graph, link)),
        steps: steps(link),
    };
    walk.links.iter().map(link).collect()
}

/// The steps that a link rests on, each once.
fn steps(link: &Link) -> Vec<String> {
    let derived = match &link.kind {
        super::super::argument::LinkKind::Derived(label, _) => Some(label.clone()),
        _ => None,
    };
    let grounds = link.grounds().filter_map(|ground| match ground {
        Ground::Step(label) => Some(label.clone()),
        _ => None,
    });
    let mut steps: Vec<String> = derived.into_iter().chain(grounds).collect();
    steps.dedup();
    steps
}

/// Browsers break lines between the words of a name where they must.
pub(in crate::explain) fn plain(text: &str) -> String {
    text.replace(NO_BREAK, " ")
}
