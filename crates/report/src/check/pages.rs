//! Judged traces as pages: one for each violation, or for the order that explains a trace, and an
//! index that lists them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use evidence::{Proof, Verdict};
use judge::stream::{Answer, Asked, Judged, Trace};
use judge::{AnyModel, FileJudgement, Judgement, Limits, Outcome, ShrinkOptions, shrink};
use page::{Kind, Page, html};
use serde::Serialize;

use super::{Style, Tally, lines};
use crate::explain::{
    ExplainedModel, FileRules, PageAndGist, PageContext, consistent_page, violation_page,
};
use crate::shrunk_text;

/// The time limit for shrinking a trace.
const SHRINKING: Duration = Duration::from_secs(10);

/// Larger certificates are left to `--certificate`, so that pages stay small.
const LARGEST_CERTIFICATE: usize = 6 << 20;

/// The most pages beside an index.
pub const MOST_PAGES: usize = 1_000;

/// A page about one trace and one model.
#[derive(Clone, Debug)]
pub struct TracePage {
    /// The name of the model.
    pub model: String,
    /// Whether it is about a violation.
    pub is_violation: bool,
    /// Why, in a sentence.
    pub gist: String,
    /// The page.
    pub html: String,
}

/// The pages about an answer: one for a model that was decided, and one for each violated model
/// where all were asked. A smaller part of a violation is looked for within the limits, for at most
/// ten seconds.
pub fn trace_pages(judged: &Judged, limits: &Limits, stop: &Arc<AtomicBool>) -> Vec<TracePage> {
    let time = limits.time.map_or(SHRINKING, |time| time.min(SHRINKING));
    let limits = Limits { time: Some(time), memory: limits.memory };
    let maker = PageMaker { judged, limits: &limits, stop };
    match &judged.answer {
        Answer::Model(judgement) => maker.by_model(judgement).into_iter().collect(),
        Answer::Gradual(gradual) => {
            let broken = |judgement: &&Judgement| matches!(judgement.outcome, Outcome::Broken(_));
            gradual.judgements.iter().filter(broken).filter_map(|j| maker.by_model(j)).collect()
        }
        Answer::File(judgement) => maker.by_file(judgement).into_iter().collect(),
    }
}

struct PageMaker<'a> {
    judged: &'a Judged,
    limits: &'a Limits,
    stop: &'a Arc<AtomicBool>,
}

impl PageMaker<'_> {
    fn trace(&self) -> &Trace {
        &self.judged.trace
    }

    fn by_model(&self, judgement: &Judgement) -> Option<TracePage> {
        let model = judgement.model;
        let history = &self.trace().history;
        let alone = Judged {
            asked: Asked::Model(model),
            answer: Answer::Model(judgement.clone()),
            ..self.judged.clone()
        };
        let PageAndGist { gist, html } = match &judgement.outcome {
            Outcome::Broken(proof) => {
                let attached = self.attached(&alone, Some((&AnyModel::Model(model), proof)));
                violation_page(history, ExplainedModel::Model(model), proof, &attached)
            }
            Outcome::Holds(witness) => {
                let attached = self.attached(&alone, None);
                consistent_page(history, ExplainedModel::Model(model), Some(witness), &attached)
            }
            Outcome::Undecided(_) => return None,
        };
        let is_violation = matches!(judgement.outcome, Outcome::Broken(_));
        Some(TracePage { model: model.name().to_owned(), is_violation, gist, html })
    }

    fn by_file(&self, judgement: &FileJudgement) -> Option<TracePage> {
        let Asked::File(file) = &self.judged.asked else { return None };
        let history = &self.trace().history;
        let (rules, proof) = FileRules::new(history, file, judgement);
        let PageAndGist { gist, html } = match &judgement.outcome {
            Verdict::Broken(_) => {
                let memory_model = AnyModel::File(Arc::clone(file));
                let attached = self.attached(self.judged, Some((&memory_model, &proof)));
                violation_page(history, ExplainedModel::File(&rules), &proof, &attached)
            }
            Verdict::Holds(_) => {
                let attached = self.attached(self.judged, None);
                consistent_page(history, ExplainedModel::File(&rules), None, &attached)
            }
            Verdict::Undecided(_) => return None,
        };
        let is_violation = matches!(judgement.outcome, Verdict::Broken(_));
        Some(TracePage { model: file.path.clone(), is_violation, gist, html })
    }

    /// What can be saved from a page.
    fn attached(&self, judged: &Judged, violation: Option<(&AnyModel, &Proof)>) -> PageContext {
        let Trace { file, number, history } = self.trace();
        let minimal = violation.map(|(memory_model, proof)| {
            let budget = self.limits.budget(self.stop);
            let shrunk = shrink(history, memory_model, proof, ShrinkOptions::default(), &budget);
            shrunk_text((file, *number), history, memory_model.name(), &shrunk)
        });
        let mut certificate = Vec::new();
        for line in judged.clone().certificates(self.limits, self.stop) {
            // Writing to memory does not fail.
            let _ = line.write(history, &mut certificate);
            certificate.push(b'\n');
        }
        let is_small = !certificate.is_empty() && certificate.len() <= LARGEST_CERTIFICATE;
        let certificate = String::from_utf8(certificate).ok().filter(|_| is_small);
        let style = Style { json: true, ..Style::default() };
        PageContext {
            file: file.to_string(),
            trace: *number,
            answer: lines(judged, style),
            minimal,
            certificate,
        }
    }
}

/// A violation in an index.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// The name of the file.
    pub file: String,
    /// The number of the trace in it, from 1.
    pub trace: u64,
    /// The name of the model.
    pub model: String,
    /// The number of events of the trace.
    pub events: usize,
    /// Its page, beside the index; nothing if it has none.
    pub page: Option<String>,
    /// Why, in a line.
    pub gist: String,
}

/// The page that lists violations, with the number of traces for each verdict.
pub fn index_page(tally: &Tally, listed: &[Listed]) -> String {
    #[derive(Serialize)]
    struct Row<'a> {
        name: &'a str,
        consistent: usize,
        violation: usize,
        undecided: usize,
    }
    #[derive(Serialize)]
    struct Data<'a> {
        tone: &'static str,
        verdict: &'static str,
        title: &'static str,
        subject: String,
        models: Vec<Row<'a>>,
        rows: &'a [Listed],
        note: Option<String>,
        text: &'a str,
    }
    let row = |(asked, counts): &'_ (Asked, [usize; 3])| (asked.name().to_owned(), *counts);
    let rows: Vec<(String, [usize; 3])> = tally.rows.iter().map(row).collect();
    let models = rows.iter().map(|(name, [consistent, violation, undecided])| Row {
        name,
        consistent: *consistent,
        violation: *violation,
        undecided: *undecided,
    });
    let (tone, verdict) = match tally.verdict() {
        Verdict::Holds(()) => ("good", "consistent"),
        Verdict::Broken(()) => ("bad", "violation"),
        Verdict::Undecided(()) => ("open", "undecided"),
    };
    let left_out = listed.iter().filter(|row| row.page.is_none()).count();
    let note = (left_out > 0)
        .then(|| format!("{left_out} violations have no page: the first {MOST_PAGES} get one."));
    let mut text = tally.summary() + "\n";
    for row in listed {
        text += &format!("{} #{}: {}: {}\n", row.file, row.trace, row.model, row.gist);
    }
    let data = Data {
        tone,
        verdict,
        title: "Checked traces",
        subject: tally.summary(),
        models: models.collect(),
        rows: listed,
        note,
        text: &text,
    };
    html(&Page {
        kind: Kind::Index,
        title: "Checked traces",
        text: &text,
        reload: None,
        data: &data,
    })
}
