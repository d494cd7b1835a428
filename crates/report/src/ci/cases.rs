//! Cases from answers: of traces, explorations and verifications.

use std::time::Duration;

use evidence::{Node, Proof, Verdict, Why};
use explore::report::Finding;
use history::History;
use judge::live::LiveAnswer;
use judge::stream::{Answer, Asked, Interrupted, Judged, Trace, UnreadableTrace};
use judge::{FileJudgement, Outcome, Undecided};

use super::{Case, Complaint};
use crate::check::{Style, interrupted_line, lines, live_lines, unread_lines};
use crate::explain::{self, FileRules};
use crate::{exploration as explored, verification as verified};

/// `trace 2: tso`.
fn name(trace: u64, model: &str) -> String {
    format!("trace {trace}: {model}")
}

/// The text of an answer, without colours.
const PLAIN: Style =
    Style { json: false, quiet: false, stats: false, witness: false, colour: false };

/// The case of an answer about a trace. A violation is explained in full.
pub fn judged(judged: &Judged) -> Case {
    let Trace { file, number, history } = &*judged.trace;
    let complaint = match (&judged.answer, &judged.asked) {
        (Answer::Model(judgement), _) => match &judgement.outcome {
            Outcome::Holds(_) => None,
            Outcome::Broken(proof) => {
                let text = explain::text(history, judgement.model, proof, false);
                Some(violation(file, history, proof, text))
            }
            Outcome::Undecided(why) => Some(undecided(why)),
        },
        (Answer::File(judgement), Asked::File(model)) => match &judgement.outcome {
            Verdict::Holds(_) => None,
            Verdict::Broken(_) => Some(by_file(file, history, model, judgement)),
            Verdict::Undecided(why) => Some(undecided(why)),
        },
        (Answer::Gradual(_) | Answer::File(_), _) => {
            let line = || lines(judged, PLAIN).trim_end().to_owned();
            match judged.verdict() {
                Verdict::Holds(()) => None,
                Verdict::Broken(()) => {
                    Some(Complaint::violation("no model allows the trace", line()))
                }
                Verdict::Undecided(()) => {
                    Some(Complaint::undecided("no model is known to allow the trace", line()))
                }
            }
        }
    };
    let case = Case::passed(&**file, name(*number, judged.asked.name())).took(judged.time);
    Case { complaint, ..case }
}

fn by_file(
    file: &str,
    history: &History,
    model: &judge::ModelFile,
    judgement: &FileJudgement,
) -> Complaint {
    let (rules, proof) = FileRules::new(history, model, judgement);
    let text = explain::text(history, &rules, &proof, false);
    violation(file, history, &proof, text)
}

/// A violation, at the first line of its last cycle.
fn violation(file: &str, history: &History, proof: &Proof, text: String) -> Complaint {
    let message = text.lines().next().unwrap_or("violation").to_owned();
    let cycle = proof.steps.iter().rev().find_map(|step| match &step.why {
        Why::Cycle(cycle) | Why::Derivation { cycle, .. } => Some(cycle),
        Why::Propagation => None,
    });
    let lines = cycle.iter().flat_map(|cycle| &cycle.edges).filter_map(|edge| match edge.from {
        Node::Event(event) | Node::ReadOf(event) => Some(u64::from(history.line_of(event))),
        Node::Initial(_) => None,
    });
    let unwritten = || history.event_ids().find(|&event| history.reads_unwritten(event));
    let line = lines.min().or_else(|| unwritten().map(|event| history.line_of(event).into()));
    Complaint::violation(message, text).at(file, line, None)
}

fn undecided(why: &Undecided) -> Complaint {
    Complaint::undecided(crate::reason(&why.reason), why.established.clone())
}

/// The cases of a trace that could not be read: one for everything that was asked if it is larger
/// than its budget, else one.
pub fn unread(unread: &UnreadableTrace, asked: &[Asked]) -> Vec<Case> {
    let UnreadableTrace { file, number, error } = unread;
    let text = error.render(false);
    if unread.is_too_large() {
        let case = |asked: &Asked| {
            let one = std::slice::from_ref(asked);
            let line = unread_lines(unread, one, PLAIN);
            let complaint = Complaint::undecided(line.trim_end(), text.clone());
            let complaint = complaint.at(file, Some(error.line), Some(error.column));
            Case::failed(&**file, name(number.unwrap_or(1), asked.name()), complaint)
        };
        return asked.iter().map(case).collect();
    }
    let complaint = Complaint::malformed(error.to_string(), text);
    let complaint = complaint.at(file, Some(error.line), Some(error.column));
    let name = number.map_or_else(|| "read".to_owned(), |number| format!("trace {number}"));
    vec![Case::failed(&**file, name, complaint)]
}

/// The case of a question that an interruption left without an answer.
pub fn interrupted(interrupted: &Interrupted) -> Case {
    let line = interrupted_line(interrupted, PLAIN).trim_end().to_owned();
    let case = Case::passed(&*interrupted.file, name(interrupted.number, interrupted.asked.name()));
    Case { complaint: Some(Complaint::undecided("interrupted", line)), ..case }
}

/// The case of a trace that was judged while it grew.
pub fn watched(file: &str, watched: &LiveAnswer) -> Case {
    let finished = &watched.finished;
    let complaint = match &finished.verdict {
        Verdict::Holds(()) => None,
        Verdict::Broken(found) => {
            let text = explain::text(&found.history, finished.model, &found.proof, false);
            Some(violation(file, &found.history, &found.proof, text))
        }
        Verdict::Undecided(why) => {
            let line = live_lines(file, watched, PLAIN).trim_end().to_owned();
            Some(Complaint::undecided(crate::reason(&why.reason), line))
        }
    };
    let case = Case::passed(file, name(watched.trace, finished.model.name()));
    Case { complaint, ..case.took(watched.time) }
}

/// The case of a model that was explored.
pub fn exploration(report: &explore::Report) -> Case {
    let text = explored::text::report(report, explored::text::Detail::default());
    let complaint = complaint_of(&report.verdict, &report.model, report.finding(), text);
    let case = Case::passed(&report.model, "explore");
    Case { complaint, ..case.took(Duration::from_secs_f64(report.totals.seconds.max(0.0))) }
}

/// The case of a protocol that was verified.
pub fn verification(report: &conform::report::Report) -> Case {
    let text = verified::text::report(report, &[], false, false);
    // Of a composed model there is no place in the protocol.
    let run = report.run().filter(|run| run.composed.is_none());
    let finding = run.map(|run| &run.finding);
    let complaint = complaint_of(&report.verdict, &report.source.name, finding, text);
    let name = format!("verify {}", report.options.memory_model.name());
    Case { complaint, ..Case::passed(&report.source.name, name) }
}

/// The case of a protocol that was verified for any number of processors.
pub fn any_number(report: &parametric::report::Report) -> Case {
    let text = crate::any_number::text::report(report, crate::any_number::text::Detail::default());
    let finding = report.verdict.broken().map(|broken| &broken.finding);
    let complaint = complaint_of(&report.verdict, &report.source.name, finding, text);
    let what = report.memory_model.map_or("invariants", |model| model.name());
    let name = format!("verify {what} for any number of processors");
    Case { complaint, ..Case::passed(&report.source.name, name) }
}

/// The complaint of a verdict, in the words of its report.
fn complaint_of<H, B, U>(
    verdict: &Verdict<H, B, U>,
    file: &str,
    finding: Option<&Finding>,
    text: String,
) -> Option<Complaint> {
    let first = text.lines().next().unwrap_or_default();
    let message = first.strip_prefix(file).map_or(first, |rest| rest.trim_start_matches(": "));
    let message = message.to_owned();
    let complaint = match verdict {
        Verdict::Holds(_) => return None,
        Verdict::Broken(_) => Complaint::violation(message, text),
        Verdict::Undecided(_) => Complaint::undecided(message, text),
    };
    let place = finding.and_then(|finding| finding.broken.place);
    let (line, column) = place.map_or((None, None), |(line, column)| (Some(line), Some(column)));
    Some(complaint.at(file, line.map(|line| line as u64), column.map(|column| column as u64)))
}
