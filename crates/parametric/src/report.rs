//! The report on a question, as data: [`answer`] carries out a plan, confirms a violation, audits the
//! proof on request, and returns a [`Report`]. Crate `report` prints it as text and JSON.

mod claims;
mod sentence;

use std::fmt;

use conform::report::Unanswered as NotConfirmed;
use conform::{MemoryModel, Unestablished};
use evidence::Verdict;
use explore::report::{Finding, confirmed, milliseconds};
use explore::{Reason, Stop};
use murphi::Refusal;
use murphi::source::Source;
use recheck::Certificate;
use refine::{ObservedInstance, Unrunnable, UsedLemma};
use serde::Serialize;

use crate::audit::audit;
use crate::carry_out::carry_out;
use crate::certificate::certificate;
use crate::emit::emit;
use crate::outcome::{Audit, End, Found, Outcome};
use crate::plan::Plan;
use crate::question::{Failure, Listener, Question};

/// What was asked and what was found.
#[derive(Debug, Clone)]
pub struct Report {
    /// The protocol.
    pub source: Source,
    /// How it was composed and searched.
    pub options: conform::Options,
    /// The memory model, or nothing if it is the protocol's own claims.
    pub memory_model: Option<MemoryModel>,
    /// The answer.
    pub verdict: Verdict<(), BrokenProtocol, Open>,
    /// The answer in words.
    pub sentence: String,
    /// The type of processors.
    pub processor: String,
    /// How many processors stay as they are.
    pub concrete: u64,
    /// What was claimed, one after the other.
    pub claims: Vec<ClaimSummary>,
    /// What to know about it.
    pub notes: Vec<String>,
    /// What is not established and was assumed because the user said so.
    pub assumed: Vec<Unestablished>,
    /// How the verdict was tried out, if it was.
    pub audit: Option<Audit>,
}

/// The protocol breaks a claim of its own with some number of processors.
#[derive(Debug, Clone)]
pub struct BrokenProtocol {
    /// How many processors there are.
    pub processors: u64,
    /// What is broken, and the run of the protocol with so many.
    pub finding: Finding,
}

/// Why nothing is known.
#[derive(Debug, Clone)]
pub enum Open {
    /// Not every invariant can be claimed, or not every claim was shown.
    LeftOut,
    /// What the claims rest on is not established.
    NotEstablished(Vec<Unestablished>),
    /// A lemma is missing.
    Missing(Option<Box<MissingLemma>>),
    /// A search was ended early.
    Ended(Reason),
    /// A prepared program is wrong, and the protocol is not.
    Unconfirmed,
    /// The audit contradicts the proof.
    Contradicted,
    /// Nothing was looked at.
    Nothing,
}

/// A run of the abstraction that no lemma excludes, and what may help.
#[derive(Debug, Clone)]
pub struct MissingLemma {
    /// What goes wrong, and the run; nothing if what goes wrong cannot be determined.
    pub finding: Option<Finding>,
    /// The rule that a lemma may be for.
    pub rule: Option<String>,
    /// How many processors to keep as they are instead.
    pub wider: u64,
}

/// Something that was claimed, and what it took.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimSummary {
    /// What.
    pub name: String,
    /// Whether it holds for any number; nothing if that is not known.
    pub holds: Option<bool>,
    /// States, rules fired and depth of the last search of the abstraction, and its time.
    pub states: u64,
    /// See `states`.
    pub rules_fired: u64,
    /// See `states`.
    pub depth: u32,
    /// See `states`.
    #[serde(serialize_with = "milliseconds")]
    pub seconds: f64,
    /// How often the abstraction was searched for alarms.
    pub rounds: usize,
    /// Whether one more processor was known by its name.
    pub named: bool,
    /// Whether no lemma can be left out.
    pub minimal: bool,
    /// The lemmas.
    pub lemmas: Vec<UsedLemma>,
    /// The concrete instances that were looked at.
    pub instances: Vec<ObservedInstance>,
}

/// What came of a plan.
#[derive(Debug)]
pub struct Answer {
    /// What to say about it.
    pub report: AnswerReport,
    /// What was found.
    pub outcome: Outcome,
}

/// The abstract program of a claim, as a text that other tools read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmittedAbstraction {
    /// The claim.
    pub claim: String,
    /// The program in plain Murphi.
    pub text: String,
}

/// What to say about an answer.
#[derive(Debug, Clone)]
pub enum AnswerReport {
    /// About any number of processors.
    AnyNumber(Box<Report>),
    /// The memory model is violated with some number of processors, or an observer objects.
    Memory(Box<conform::report::Report>),
}

/// Why there is no answer.
#[derive(Debug, Clone)]
pub enum Unanswered {
    /// The protocol, or the lemmas to begin with, cannot be taken.
    Refused(Failure),
    /// What was found is not confirmed, or there is no start state.
    NotConfirmed(NotConfirmed),
}

/// Carries a plan out, and has what was found confirmed. If `steps` are given, a verdict is tried out
/// with so many random steps.
pub fn answer(
    question: &Question<'_>,
    plan: &Plan,
    steps: Option<u64>,
    listener: &mut Listener<'_>,
    stop: &Stop,
) -> Result<Answer, Unanswered> {
    let outcome = carry_out(question, plan, listener, stop.flag()).map_err(Unanswered::Refused)?;
    let steps = steps.filter(|_| outcome.holds(plan));
    let audited = steps.map(|steps| audit(question, &outcome, steps, listener, stop.flag()));
    let answer = summarise(question, plan, &outcome, stop).map_err(Unanswered::NotConfirmed)?;
    let answer = match (answer, audited) {
        (AnswerReport::AnyNumber(mut report), Some(audited)) => {
            report.audited(audited);
            AnswerReport::AnyNumber(report)
        }
        (answer, _) => answer,
    };
    Ok(Answer { report: answer, outcome })
}

/// Makes the report on what came of a plan.
fn summarise(
    question: &Question<'_>,
    plan: &Plan,
    outcome: &Outcome,
    stop: &Stop,
) -> Result<AnswerReport, NotConfirmed> {
    let asked = |verdict, sentence| claims::report(question, outcome, verdict, sentence);
    let not_established = || {
        let sentence = conform::report::undecided(&outcome.open, question.source);
        asked(Verdict::Undecided(Open::NotEstablished(outcome.open.clone())), sentence)
    };
    let report = match &outcome.end {
        End::NoStart if outcome.open.is_empty() => return Err(NotConfirmed::NoStart),
        End::NoStart => not_established(),
        End::Found(Found::Memory { source, options, verification }) => {
            let report = conform::report::report(source, options, verification, stop)?;
            return Ok(AnswerReport::Memory(Box::new(report)));
        }
        End::Found(Found::Own { processors, interpreter, exploration }) => {
            let run =
                confirmed(interpreter, exploration, false).map_err(NotConfirmed::Contradicted)?;
            let finding = match run.verdict {
                Verdict::Broken(finding) => finding,
                Verdict::Holds(()) | Verdict::Undecided(_) => Finding::default(),
            };
            let sentence = sentence::broken(*processors, &finding);
            asked(Verdict::Broken(BrokenProtocol { processors: *processors, finding }), sentence)
        }
        End::Unconfirmed { processors } => {
            let sentence = sentence::unconfirmed(*processors);
            asked(Verdict::Undecided(Open::Unconfirmed), sentence)
        }
        End::Claims if outcome.is_verified() && !outcome.open.is_empty() => not_established(),
        End::Claims => claims::summarise(question, plan, outcome, stop),
    };
    Ok(AnswerReport::AnyNumber(Box::new(report)))
}

impl Answer {
    /// What the verdict rests on, if it is "verified". The error is a sentence; it is a bug.
    pub fn certificate(
        &self,
        question: &Question<'_>,
        plan: &Plan,
    ) -> Result<Option<Certificate>, String> {
        match &self.report {
            AnswerReport::AnyNumber(report)
                if matches!(report.verdict, Verdict::Undecided(Open::Contradicted)) =>
            {
                Ok(None)
            }
            _ => certificate(question, plan, &self.outcome),
        }
    }

    /// The abstractions of the claims.
    pub fn abstractions(&self, question: &Question<'_>) -> Vec<EmittedAbstraction> {
        let End::Claims = self.outcome.end else { return Vec::new() };
        let shown = self.outcome.shown.iter();
        let abstracted =
            shown.filter_map(|shown| Some((&shown.claim, shown.found.abstraction.as_ref()?)));
        let emitted = |(claim, abstraction): (&crate::Claim, _)| EmittedAbstraction {
            claim: claim.name.clone(),
            text: emit(abstraction, &claim.prepared, &question.source.name),
        };
        abstracted.map(emitted).collect()
    }
}

impl Report {
    /// The verdict in a word, as JSON has it.
    pub fn verdict_name(&self) -> &'static str {
        match self.verdict {
            Verdict::Holds(()) => "verified",
            Verdict::Broken(_) => "violation",
            Verdict::Undecided(_) => "undecided",
        }
    }

    /// What is broken at the end of a run of the protocol, or of the abstraction.
    pub fn finding(&self) -> Option<&Finding> {
        match &self.verdict {
            Verdict::Broken(broken) => Some(&broken.finding),
            Verdict::Undecided(Open::Missing(Some(missing))) => missing.finding.as_ref(),
            Verdict::Holds(()) | Verdict::Undecided(_) => None,
        }
    }

    /// What the answer would rest on and is not established.
    pub fn not_established(&self) -> &[Unestablished] {
        match &self.verdict {
            Verdict::Undecided(Open::NotEstablished(doubts)) => doubts,
            _ => &[],
        }
    }

    /// What trying the verdict out has shown.
    fn audited(&mut self, audited: Result<Audit, String>) {
        match audited {
            Ok(audit) => {
                self.sentence += &sentence::searched(&audit);
                self.notes.push(sentence::audited(&audit));
                self.audit = Some(audit);
            }
            Err(contradiction) => {
                self.verdict = Verdict::Undecided(Open::Contradicted);
                self.sentence = sentence::contradicted(&contradiction);
            }
        }
    }
}

impl Failure {
    /// What is wrong, and with which text.
    pub fn refusal(self, source: &Source) -> Refusal {
        match self {
            Failure::Composition(why) => why.refusal(source),
            Failure::Unsuitable(source, problems) | Failure::Lemmas(source, problems) => {
                Refusal::of(&source, problems)
            }
            Failure::Unrunnable(Unrunnable::Refused(source, problems)) => {
                let sentence = "an instance of the protocol, or its abstraction, is not a valid \
                                model";
                Refusal { source, problems, sentence: sentence.to_owned() }
            }
            Failure::Unrunnable(Unrunnable::TooLarge) => Refusal::whole(
                source,
                "a state of the abstraction is too large; use smaller constants",
            ),
        }
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::Refused(_) => f.write_str("the protocol cannot be abstracted"),
            Unanswered::NotConfirmed(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for Unanswered {}
