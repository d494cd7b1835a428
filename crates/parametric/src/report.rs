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

/// The question and its answer.
#[derive(Debug, Clone)]
pub struct Report {
    /// The protocol.
    pub source: Source,
    /// How it was composed and searched.
    pub options: conform::Options,
    /// The memory model; `None` for the protocol's own invariants.
    pub memory_model: Option<MemoryModel>,
    /// The answer.
    pub verdict: Verdict<(), BrokenProtocol, Open>,
    /// The verdict as a sentence.
    pub sentence: String,
    /// The type of processors.
    pub processor: String,
    /// The number of concrete processors.
    pub concrete: u64,
    /// The claims, in the order in which they were tried.
    pub claims: Vec<ClaimSummary>,
    /// Warnings and notes.
    pub notes: Vec<String>,
    /// Assumptions that are not established and that the user has allowed (`--assume`).
    pub assumed: Vec<Unestablished>,
    /// The result of the audit, if there was one.
    pub audit: Option<Audit>,
}

/// The protocol breaks a claim of its own with some number of processors.
#[derive(Debug, Clone)]
pub struct BrokenProtocol {
    /// How many processors there are.
    pub processors: u64,
    /// The violated property, with a run of the protocol with this number of processors.
    pub finding: Finding,
}

/// Why the question is undecided.
#[derive(Debug, Clone)]
pub enum Open {
    /// An invariant cannot be claimed, or a claim was not proved.
    LeftOut,
    /// An assumption of the claims is not established.
    NotEstablished(Vec<Unestablished>),
    /// A lemma is missing.
    Missing(Option<Box<MissingLemma>>),
    /// A search ended early.
    Ended(Reason),
    /// A prepared program violates a claim, and the protocol does not.
    Unconfirmed,
    /// The audit contradicts the proof.
    Contradicted,
    /// Nothing was checked.
    Nothing,
}

/// A counterexample of the abstraction that no lemma excludes, and what to try next.
#[derive(Debug, Clone)]
pub struct MissingLemma {
    /// The counterexample; `None` if the reference interpreter cannot determine the violation.
    pub finding: Option<Finding>,
    /// The rule that a lemma could be for.
    pub rule: Option<String>,
    /// The number of concrete processors to try next.
    pub wider: u64,
}

/// A claim with its verdict, and the size of its proof.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimSummary {
    /// The claim in words.
    pub name: String,
    /// Whether it holds for any number of processors; `None` if undecided.
    pub holds: Option<bool>,
    /// States of the last search of the abstraction.
    pub states: u64,
    /// Rules fired in that search.
    pub rules_fired: u64,
    /// Depth of that search.
    pub depth: u32,
    /// Seconds of that search.
    #[serde(serialize_with = "milliseconds")]
    pub seconds: f64,
    /// The number of refinement rounds.
    pub rounds: usize,
    /// Whether one more processor was known by name.
    pub named: bool,
    /// Whether the set of lemmas is minimal.
    pub minimal: bool,
    /// The lemmas.
    pub lemmas: Vec<UsedLemma>,
    /// The concrete instances that were observed.
    pub instances: Vec<ObservedInstance>,
}

/// The report on a question, and the outcome that it is made from.
#[derive(Debug)]
pub struct Answer {
    /// The report.
    pub report: AnswerReport,
    /// The outcome of the plan.
    pub outcome: Outcome,
}

/// The abstract program of a claim, as Murphi text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmittedAbstraction {
    /// The claim.
    pub claim: String,
    /// The program in plain Murphi.
    pub text: String,
}

/// The report on a question.
#[derive(Debug, Clone)]
pub enum AnswerReport {
    /// The report on a proof for any number of processors.
    AnyNumber(Box<Report>),
    /// The report on an instance: a violation of the memory model, or a false alarm.
    Memory(Box<conform::report::Report>),
}

/// Why there is no report.
#[derive(Debug, Clone)]
pub enum Unanswered {
    /// The protocol or the lemmas are refused.
    Refused(Failure),
    /// The reference interpreter does not confirm the violation, or the protocol has no start
    /// state.
    NotConfirmed(NotConfirmed),
}

/// Carries out the plan for a question and confirms a violation. If `steps` is given, a proof is
/// audited with this number of random steps.
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

/// Makes the report on an outcome.
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
    /// The certificate of a proof; `None` unless the verdict is "verified". An error is a bug.
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

    /// The abstract programs of the claims.
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
    /// The name of the verdict in JSON.
    pub fn verdict_name(&self) -> &'static str {
        match self.verdict {
            Verdict::Holds(()) => "verified",
            Verdict::Broken(_) => "violation",
            Verdict::Undecided(_) => "undecided",
        }
    }

    /// The violation of the protocol, or of the abstraction.
    pub fn finding(&self) -> Option<&Finding> {
        match &self.verdict {
            Verdict::Broken(broken) => Some(&broken.finding),
            Verdict::Undecided(Open::Missing(Some(missing))) => missing.finding.as_ref(),
            Verdict::Holds(()) | Verdict::Undecided(_) => None,
        }
    }

    /// The assumptions that an answer needs and that are not established.
    pub fn not_established(&self) -> &[Unestablished] {
        match &self.verdict {
            Verdict::Undecided(Open::NotEstablished(doubts)) => doubts,
            _ => &[],
        }
    }

    /// Records the result of the audit.
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
    /// The diagnostics, with the text that they refer to.
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
