//! What is kept of a violation: the program, the run, the few events that violate the model, a
//! certificate that the kernel has checked, and why, in words and as a picture.
//!
//! Everything about the minimal trace is made from its text as it is written, so that lines are
//! those of the file and the certificate fits it. Shrinking takes a judgement for each of the few
//! events that a proof leaves, and is given [`SHRINK_TIME`]; the rest is done for new shapes only.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use evidence::{AnyCertificate, Certificate, Evidence, FileCertificate, Proof, Verdict};
use history::{History, ReadOptions, ThinAir, TraceReader};
use judge::{AnyModel, Budget, Engine, ShrinkOptions, Shrunk, judge_by_file, shrink};
use report::explain::{self, FileRules};

use crate::plan::Planned;
use crate::reduce::reduce;
use crate::shape;

/// The most time for shrinking one violation.
pub(crate) const SHRINK_TIME: Duration = Duration::from_secs(2);

/// Something found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The kind of finding.
    pub kind: Kind,
    /// Findings with the same shape are one finding: for a violation its shape, for misbehaviour
    /// its description.
    pub shape: String,
    /// `SB`, `thin-air`, `misbehaved`.
    pub name: String,
    /// The number of the test.
    pub test: u64,
    /// The name of the program.
    pub program: String,
    /// Events of the minimal trace.
    pub events: usize,
    /// Events of the run.
    pub of: usize,
    /// Whether the kernel has checked the certificate.
    pub certified: bool,
    /// The files to keep: names and contents. Empty if the shape was known already.
    pub files: Vec<(&'static str, String)>,
}

/// Kinds of findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A run that the model does not allow.
    Violation,
    /// The target crashed, hung, or said something that cannot be understood.
    Misbehaved,
}

/// The test and the run that a finding is about.
pub(crate) struct FindingContext<'a> {
    pub(crate) model: &'a AnyModel,
    pub(crate) target: &'a str,
    pub(crate) number: u64,
    pub(crate) planned: &'a Planned,
    pub(crate) stop: &'a Arc<AtomicBool>,
}

impl FindingContext<'_> {
    /// A violation, shrunk; with its files, unless its shape is known.
    pub(crate) fn violation(
        &self,
        history: &History,
        proof: &Proof,
        known: impl Fn(&str) -> bool,
    ) -> Finding {
        let budget = Budget::unlimited().with_time(SHRINK_TIME).with_stop(Arc::clone(self.stop));
        // A part is to violate the model only if the whole does, also where values repeat.
        let options = ShrinkOptions { keep_sources: true };
        let shrunk = shrink(history, self.model, proof, options, &budget);
        let (shrunk, abstracted) = reduce(history, shrunk, self.model, &budget);
        let shape = shape::shape(&shrunk.history);
        let mut finding = Finding {
            kind: Kind::Violation,
            name: shape::name(&shrunk.history),
            test: self.number,
            program: self.planned.test.program.name.clone(),
            events: shrunk.history.len(),
            of: history.len(),
            certified: false,
            files: Vec::new(),
            shape,
        };
        if !known(&finding.shape) {
            self.draw(&mut finding, history, shrunk, abstracted);
        }
        finding
    }

    /// The files of a violation.
    fn draw(&self, finding: &mut Finding, history: &History, shrunk: Shrunk, abstracted: bool) {
        let rest = match abstracted {
            true => {
                "# (`init` and `order` lines replace what the dropped events establish; an atomic \
                 may be reduced to its read or write)\n"
            }
            false => "",
        };
        let header = format!(
            "# {}: {}\n# {} of the {} events of test {} ({}) on {}: these alone violate {}\n",
            finding.name,
            finding.shape,
            finding.events,
            finding.of,
            self.number,
            finding.program,
            self.target,
            self.model,
        );
        let minimal = header + rest + &trace(&shrunk.history);
        let (history_read, proof) = self.read_again(&minimal, shrunk);
        finding.files = vec![(
            "run.trace",
            format!("# test {} on {}\n", self.number, self.target) + &trace(history),
        )];
        match self.model {
            AnyModel::Model(model) => {
                finding.files.extend([
                    ("why.txt", explain::text(&history_read, *model, &proof, false)),
                    ("why.svg", explain::svg(&history_read, *model, &proof)),
                ]);
                let evidence = Evidence::Violation(proof);
                let certificate = Certificate { trace: 1, model: *model, evidence };
                finding.certified = certify::certify(&history_read, &certificate).is_ok();
                let line = AnyCertificate::Model(certificate).to_json(&history_read);
                finding.files.push(("certificate.jsonl", line + "\n"));
            }
            AnyModel::File(file) => {
                let budget = Budget::unlimited().with_time(SHRINK_TIME);
                let judgement = judge_by_file(&history_read, file, &budget);
                let (rules, proof) = FileRules::new(&history_read, file, &judgement);
                finding.files.extend([
                    ("why.txt", explain::text(&history_read, &rules, &proof, false)),
                    ("why.svg", explain::svg(&history_read, &rules, &proof)),
                ]);
                if let Some(evidence) = judgement.evidence {
                    let (model, digest) = (file.path.clone(), file.model.digest());
                    let certificate = FileCertificate { trace: 1, model, digest, evidence };
                    let checked =
                        certify::certify_by_file(&history_read, &file.model, &certificate);
                    finding.certified = checked.is_ok();
                    let line = AnyCertificate::File(certificate).to_json(&history_read);
                    finding.files.push(("certificate.jsonl", line + "\n"));
                }
            }
        }
        finding.files.push(("minimal.trace", minimal));
        finding.files.extend(self.program());
    }

    /// The minimal trace as a reader of the file sees it, with a proof about that.
    fn read_again(&self, text: &str, shrunk: Shrunk) -> (History, Proof) {
        let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
        let read = TraceReader::new(text.as_bytes(), "minimal.trace", options).next_trace();
        if let Ok(Some(history)) = read {
            let budget = Budget::unlimited().with_time(SHRINK_TIME);
            if let Verdict::Broken(proof) = self.model.refute(&history, Engine::Auto, &budget) {
                return (history, proof);
            }
        }
        (shrunk.history, shrunk.proof)
    }

    /// A target that did not do what targets do.
    pub(crate) fn misbehaviour(&self, what: &str, known: impl Fn(&str) -> bool) -> Finding {
        let shape = format!("misbehaved: {}", without_numbers(what));
        let files = match known(&shape) {
            true => Vec::new(),
            false => {
                let mut files = vec![("what.txt", format!("{what}\n"))];
                files.extend(self.program());
                files
            }
        };
        Finding {
            kind: Kind::Misbehaved,
            shape,
            name: "misbehaved".to_owned(),
            test: self.number,
            program: self.planned.test.program.name.clone(),
            events: 0,
            of: 0,
            certified: false,
            files,
        }
    }

    fn program(&self) -> Vec<(&'static str, String)> {
        let test = &self.planned.test;
        match test.program.threads.is_empty() {
            true => Vec::new(),
            false => {
                vec![("program.txt", test.to_string()), ("program.json", test.to_json() + "\n")]
            }
        }
    }
}

fn trace(history: &History) -> String {
    let mut text = Vec::new();
    // Nothing can go wrong in memory.
    let _ = history::write_text(history, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The first line of a complaint with its numbers as `#`: process ids, times and line numbers
/// differ where the reason does not.
fn without_numbers(what: &str) -> String {
    let mut text = String::new();
    for letter in what.lines().next().unwrap_or_default().chars().take(200) {
        match letter.is_ascii_digit() {
            true if text.ends_with('#') => {}
            true => text.push('#'),
            false => text.push(letter),
        }
    }
    text
}
