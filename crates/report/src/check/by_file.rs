//! What is printed about a trace that was judged by the model of a file.

use evidence::Verdict;
use history::{EventId, History};
use judge::stream::{Asked, Judged, Trace};
use judge::{FileJudgement, ModelFile};
use serde::Serialize;

use super::Style;
use crate::verdict::{Evidence, cycle, decorated, reason};
use crate::{count, cycle_lines, json};

/// The fields of a verdict, in the order in which they are printed.
#[derive(Serialize)]
struct Object<'a> {
    file: &'a str,
    trace: u64,
    #[serde(flatten)]
    model: json::MemoryModelName<'a>,
    verdict: &'static str,
    decided_by: &'static str,
    events: usize,
    threads: usize,
    addresses: usize,
    #[serde(flatten)]
    took: json::CheckTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    axioms: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_orders: Option<Vec<Vec<(u64, u32)>>>,
    #[serde(flatten)]
    cycle: Option<Evidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    established: Option<&'a str>,
}

/// Whole lines about an answer.
pub(super) fn lines(judged: &Judged, judgement: &FileJudgement, style: Style) -> String {
    let FileJudgement { outcome, decided_by, .. } = judgement;
    let Asked::File(file) = &judged.asked else { return String::new() };
    if style.json {
        return json::line(&object(judged, file, judgement, style)) + "\n";
    }
    let Trace { file: name, number, history } = &*judged.trace;
    let verdict = decorated(outcome, style.colour);
    let mut text = format!(
        "{name} #{number}: {}: {verdict} ({}, {}, {})",
        file.path,
        crate::verdict::engine(outcome, decided_by),
        count(history.len(), "event"),
        crate::verdict::duration(judged.micros())
    );
    match outcome {
        Verdict::Undecided(undecided) => {
            text += &format!(": {}", reason(&undecided.reason));
            if !undecided.established.is_empty() {
                text += &format!("; {}", undecided.established);
            }
        }
        Verdict::Broken(refutation) if !style.quiet => {
            text += "\n  ";
            text += &why(file, &refutation.axioms);
            for line in judgement.proof.iter().flat_map(|proof| cycle_lines(history, proof)) {
                text += &format!("\n  {line}");
            }
        }
        Verdict::Broken(_) | Verdict::Holds(_) => {}
    }
    text + "\n"
}

/// Why there is no execution, in a sentence.
fn why(file: &ModelFile, axioms: &[usize]) -> String {
    let named = |&number: &usize| {
        let axiom = file.model.axioms().nth(number)?;
        Some(format!("{} ({})", axiom.name, file.model.line_of(axiom.place)))
    };
    let named: Vec<String> = axioms.iter().filter_map(named).collect();
    match &named[..] {
        [] => "a read returns a value that was never written, or `order` and `final` lines \
             contradict each other"
            .to_owned(),
        [only] => format!("no choice of reads-from and coherence order satisfies {only}"),
        several => format!(
            "no choice of reads-from and coherence order satisfies all of {}",
            several.join(", ")
        ),
    }
}

fn object<'a>(
    judged: &'a Judged,
    file: &'a ModelFile,
    judgement: &'a FileJudgement,
    style: Style,
) -> Object<'a> {
    let Trace { file: name, number, history } = &*judged.trace;
    let FileJudgement { outcome, decided_by, .. } = judgement;
    let mut object = Object {
        file: name,
        trace: *number,
        model: json::MemoryModelName::new(&file.path),
        verdict: outcome.of_trace(),
        decided_by: decided_by.name(),
        events: history.len(),
        threads: history.thread_count(),
        addresses: history.address_count(),
        took: json::CheckTime::micros(judged.micros()),
        axioms: None,
        cycle: judgement.proof.as_ref().map(|proof| cycle(history, proof)),
        write_orders: None,
        reason: None,
        established: None,
    };
    match outcome {
        Verdict::Holds(witness) if style.witness => {
            let orders = witness.write_orders.iter();
            object.write_orders = Some(
                orders
                    .map(|order| order.iter().map(|&each| pair(history, each)).collect())
                    .collect(),
            );
        }
        Verdict::Holds(_) => {}
        Verdict::Broken(refutation) => {
            let axioms = file.model.axioms().enumerate();
            let broken = axioms.filter(|(number, _)| refutation.axioms.contains(number));
            object.axioms = Some(broken.map(|(_, axiom)| axiom.name).collect());
        }
        Verdict::Undecided(undecided) => {
            object.reason = Some(reason(&undecided.reason));
            object.established = Some(&undecided.established);
        }
    }
    object
}

/// An event as thread and index.
fn pair(history: &History, event: EventId) -> (u64, u32) {
    let event = history.event(event);
    (history.thread_label(event.thread), event.index)
}
