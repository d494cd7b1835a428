//! Counterexample-guided refinement: finds the lemmas that an abstraction needs for a proof.
//!
//! 1. Small concrete instances are explored (`small`). A violation there is a violation of the protocol.
//!    Whenever a rule is enabled, the values of the variables that a lemma for this rule may mention are
//!    recorded as a row (`observe`).
//! 2. The abstraction is explored, past several alarms at once; each alarm has a run. In a run, the first
//!    step of abstract processors that no recorded row supports is assumed to be impossible (`suspect`),
//!    and the facts that exclude it (`table`, `fact`) become lemmas.
//! 3. A lemma is checked like an invariant, and a lemma that fails is an alarm, too. If all steps of its
//!    run are supported, the lemma is false for more processors, and others probably are. Then the rows
//!    are closed under what follows from them for any number of processors (`closure`), and the lemmas
//!    are chosen again. If that is not possible, the row of the failed lemma is added, and facts that it
//!    contradicts are dropped.
//! 4. When no alarm is left, lemmas that the proof does not need are dropped (`minimise`).
//!
//! No guess can make the answer wrong: whatever the lemmas are, a search of the strengthened abstraction
//! without an alarm is a proof (crate `abstraction`), and a violation is reported only with a run of a
//! concrete instance.

mod answer;
mod atoms;
mod closure;
mod fact;
mod implied_rows;
mod instance;
mod lookup;
mod minimise;
mod observe;
mod probe;
mod reader;
mod result;
mod small;
mod states;
mod syntax;
mod table;
mod vocabularies;
mod vocabulary;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use abstraction::{Abstraction, Claimable, Lemma, Prepared, RuleId};
use explore::symmetry::Symmetry;
use explore::{
    CodeCache, Deadlock, Engine, Exploration, PassedOver, Progress, Reason, Step, ViolatingRun,
    Violation,
};
use murphi::interpret::Interpreter;
use murphi::print::print_expression;
use rustc_hash::{FxHashMap, FxHashSet};

use closure::Closed;
use fact::Fact;
use implied_rows::{Abstract, QueriedRow};
use observe::Observations;
use table::{Combination, Table};
use vocabularies::vocabularies;
use vocabulary::Vocabulary;

pub use instance::Unrunnable;
pub use result::{
    AbstractCounterexample, BrokenInstance, Failure, ObservedInstance, Options, Unknown, UsedLemma,
    Verdict, Verification,
};

/// The largest number of alarms that one search reports.
const ALARMS: usize = 40;

/// The largest number of facts that are added for one step.
const FACTS_OF_A_STEP: usize = 6;

/// The same if the rows are closed, so that the facts are known to hold.
const FACTS_TO_CHOOSE_FROM: usize = 20;

/// The largest number of rounds.
const MOST_ROUNDS: usize = 400;

/// Is called with a description of the current step, and the progress of its search.
pub type Listener<'a> = dyn FnMut(&str, Option<&Progress>) + 'a;

/// Verifies a prepared program for any number of processors, starting with the lemmas in `options`.
pub fn verify(
    prepared: &Prepared,
    options: &Options,
    listener: &mut Listener<'_>,
    interrupt: &AtomicBool,
) -> Result<Verification, Failure> {
    let unstrengthened = abstracted(prepared, options, &[], &[])?;
    let vocabularies = Arc::new(vocabularies(prepared, options, &unstrengthened)?);
    let given = options.lemmas.iter().map(ActiveLemma::given);
    let mut refinement = Refinement {
        prepared,
        options,
        listener,
        interrupt,
        claimable: Claimable::new(prepared, options.abstraction.view),
        observations: Observations {
            rows: vec![Default::default(); vocabularies.len()],
            states: 0,
        },
        tables: vec![None; vocabularies.len()],
        missed: vec![FxHashMap::default(); vocabularies.len()],
        undefined: None,
        vocabularies,
        active: given.collect(),
        given_up: FxHashSet::default(),
        left_out: Vec::new(),
        strengthened: unstrengthened.strengthened.clone(),
        was_closed: false,
        is_closed: false,
        rounds: 0,
        code: CodeCache::default(),
    };
    let small = refinement.look_at_small_instances()?;
    let mut verification = Verification {
        small: small.instances,
        verdict: Verdict::Undecided(Unknown::Ended(Reason::Interrupted)),
        lemmas: Vec::new(),
        abstraction: None,
        exploration: None,
        interpreter: None,
        rounds: 0,
        minimal: false,
        left_out: Vec::new(),
        notes: unstrengthened.notes.clone(),
    };
    match small.violation {
        Some(violation) => verification.verdict = violation,
        None => refinement.refine(&mut verification)?,
    }
    verification.rounds = refinement.rounds;
    Ok(verification)
}

/// Explores a model as [`verify`] does: by native code if the host can, else by the interpreter.
pub fn explore(
    interpreter: &Interpreter,
    options: &explore::Options,
    symmetry: Symmetry,
    progress: &mut dyn FnMut(&Progress),
    interrupt: &AtomicBool,
) -> Exploration {
    let watch = instance::Watch { progress, interrupt, log: None };
    instance::search(&Engine::new(interpreter), interpreter, options, symmetry, watch)
}

/// The rule of a lemma, and its condition as text.
type LemmaId = (RuleId, String);

/// A lemma in use.
#[derive(Debug, Clone)]
struct ActiveLemma {
    lemma: Lemma,
    /// The condition as text.
    text: String,
    called_for: Option<String>,
    /// The fact that it was made from; `None` if the user gave it.
    fact: Option<Fact>,
}

impl ActiveLemma {
    /// The rule and the condition.
    fn id(&self) -> LemmaId {
        (self.lemma.rule, self.text.clone())
    }

    fn given(lemma: &Lemma) -> ActiveLemma {
        let text = print_expression(&lemma.condition);
        ActiveLemma { lemma: lemma.clone(), text, called_for: None, fact: None }
    }

    fn guessed(fact: Fact) -> ActiveLemma {
        ActiveLemma {
            lemma: fact.lemma.clone(),
            text: fact.text.clone(),
            called_for: Some(fact.called_for.clone()),
            fact: Some(fact),
        }
    }
}

/// A refinement in progress.
struct Refinement<'a, 'b> {
    prepared: &'a Prepared,
    options: &'a Options,
    listener: &'a mut Listener<'b>,
    interrupt: &'a AtomicBool,
    claimable: Claimable,
    vocabularies: Arc<Vec<Vocabulary>>,
    observations: Observations,
    /// For each vocabulary, its rows as a table, once needed.
    tables: Vec<Option<Table>>,
    /// For each vocabulary, the missing combinations of suspect rows.
    missed: Vec<FxHashMap<QueriedRow, Vec<Combination>>>,
    /// Paths of terms that may be undefined, once needed.
    undefined: Option<FxHashSet<String>>,
    active: Vec<ActiveLemma>,
    /// Lemmas that turned out to be false.
    given_up: FxHashSet<LemmaId>,
    /// Claims that the abstraction cannot decide.
    left_out: Vec<String>,
    /// Claims that the abstraction strengthened: if one fails, the protocol may still satisfy it.
    strengthened: Vec<String>,
    /// Whether the closure of the rows was tried.
    was_closed: bool,
    /// Whether the rows are closed, so that every fact holds.
    is_closed: bool,
    rounds: usize,
    /// Native functions that the programs of different rounds share.
    code: CodeCache,
}

/// A violation in the abstraction.
#[derive(Debug, Clone)]
struct Alarm {
    run: Vec<Step>,
    /// The name of the violated claim, if there is one.
    claim: Option<String>,
    /// The rule that fails in the last state, if one does, with the number of its instance.
    failed: Option<(u32, u64)>,
}

impl Alarm {
    /// The steps of the run, and the failing one at its end: state, rule, instance.
    fn steps(&self) -> Vec<(&[u8], u32, u64)> {
        let steps = self
            .run
            .windows(2)
            .map(|pair| (pair[0].state.as_slice(), pair[1].rule, pair[1].instance));
        let last = self.run.last().map(|step| step.state.as_slice());
        let failed = last.zip(self.failed).map(|(state, (rule, number))| (state, rule, number));
        steps.chain(failed).collect()
    }
}

impl Refinement<'_, '_> {
    /// Refines until there is an answer.
    fn refine(&mut self, verification: &mut Verification) -> Result<(), Failure> {
        loop {
            self.rounds += 1;
            let current = self.abstract_with(&lemmas(&self.active))?;
            let task = format!("refinement round {}, lemmas: {}", self.rounds, self.active.len());
            let exploration = self.search(&current, &task, ALARMS);
            let alarms = match &exploration.verdict {
                explore::Verdict::Holds(()) => {
                    return self.minimised(current, exploration, verification);
                }
                explore::Verdict::Undecided(reason) => {
                    verification.verdict = Verdict::Undecided(Unknown::Ended(reason.clone()));
                    self.record(verification, current, exploration);
                    return Ok(());
                }
                _ => alarms(&current, &exploration),
            };
            let stuck = match self.exclude(&current, &alarms) {
                true => None,
                false => self.reconsider(&current, &alarms)?,
            };
            if self.interrupt.load(Relaxed) || self.rounds >= MOST_ROUNDS {
                verification.verdict = Verdict::Undecided(Unknown::Ended(Reason::Interrupted));
                self.record(verification, current, exploration);
                return Ok(());
            }
            if let Some((alarm, found_in)) = stuck {
                let current = found_in.unwrap_or(current);
                verification.verdict = match self.concretised(&alarm)? {
                    Some(violation) => violation,
                    None => {
                        Verdict::Undecided(Unknown::Missing(Box::new(self.stuck(&current, alarm))))
                    }
                };
                self.record(verification, current, exploration);
                return Ok(());
            }
        }
    }

    /// Handles alarms whose steps are all supported. Returns an alarm that remains and, unless it
    /// is the current one, its abstraction.
    fn reconsider(
        &mut self,
        current: &Abstract,
        alarms: &[Alarm],
    ) -> Result<Option<(Alarm, Option<Abstract>)>, Failure> {
        let was_closed = std::mem::replace(&mut self.was_closed, true);
        let closed = if was_closed { Closed::Unknown } else { self.close()? };
        self.is_closed |= matches!(closed, Closed::Right);
        Ok(match closed {
            Closed::Right => None,
            Closed::StateViolation(alarm, found_in) => Some((alarm, Some(*found_in))),
            Closed::Unknown => self.drop_failed(current, alarms).err().map(|alarm| (alarm, None)),
        })
    }

    fn abstract_with(&self, lemmas: &[Lemma]) -> Result<Abstract, Failure> {
        let abstraction = abstracted(self.prepared, self.options, lemmas, &self.left_out)?;
        let name = format!("{} for any number of processors", self.options.name);
        let interpreter =
            instance::interpreter(&abstraction.program, &name, &self.options.language)?;
        Ok(Abstract::new(abstraction, interpreter, &self.vocabularies, self.prepared))
    }

    fn search(&mut self, current: &Abstract, task: &str, pass_over: usize) -> Exploration {
        // Deadlock is not claimed: abstract processors can always move.
        let search = self.options.search.clone();
        let search = explore::Options { deadlock: Deadlock::Off, pass_over, ..search };
        let listener = &mut self.listener;
        let watch = instance::Watch {
            progress: &mut |now| listener(task, Some(now)),
            interrupt: self.interrupt,
            log: None,
        };
        let engine = Engine::sharing(&current.interpreter, &self.code);
        instance::search(&engine, &current.interpreter, &search, self.options.symmetry, watch)
    }

    fn stuck(&self, current: &Abstract, alarm: Alarm) -> AbstractCounterexample {
        let Alarm { run, claim, failed } = alarm;
        let is_abstract = |step: &&Step| current.other_rule(step.rule).is_some();
        let last = run.iter().skip(1).rfind(is_abstract);
        let rule = last.and_then(|step| {
            let (origin, _) = current.abstraction.origins[step.rule as usize];
            Some(self.prepared.rules.get(origin.0)?.name.clone())
        });
        AbstractCounterexample { run, claim, failed, rule }
    }

    fn record(&self, verification: &mut Verification, current: Abstract, exploration: Exploration) {
        verification.lemmas = self.active.iter().map(|active| self.kept(active)).collect();
        verification.interpreter = Some(current.interpreter);
        verification.abstraction = Some(current.abstraction);
        verification.exploration = Some(exploration);
        verification.left_out = self.left_out.clone();
    }

    fn kept(&self, active: &ActiveLemma) -> UsedLemma {
        UsedLemma {
            lemma: active.lemma.clone(),
            rule: self.prepared.rules[active.lemma.rule.0].name.clone(),
            condition: active.text.clone(),
            text: result::lemma_text(self.prepared, &active.lemma),
            called_for: active.called_for.clone(),
        }
    }
}

fn abstracted(
    prepared: &Prepared,
    options: &Options,
    lemmas: &[Lemma],
    left_out: &[String],
) -> Result<Abstraction, Failure> {
    let how = abstraction::Options { leave_out: left_out.to_vec(), ..options.abstraction.clone() };
    abstraction::abstraction(prepared, &how, lemmas).map_err(Failure::Unsuitable)
}

/// The lemmas in use.
fn lemmas(active: &[ActiveLemma]) -> Vec<Lemma> {
    active.iter().map(|active| active.lemma.clone()).collect()
}

/// The alarms of a search, the nearest first.
fn alarms(current: &Abstract, exploration: &Exploration) -> Vec<Alarm> {
    let model = current.interpreter.model();
    let name = |property: u32| Some(model.properties[property as usize].name.clone());
    let Some(ViolatingRun { violation, steps: run }) = exploration.verdict.broken().cloned() else {
        return Vec::new();
    };
    let passed = exploration.passed_over.iter().map(|PassedOver { property, run }| Alarm {
        run: run.clone(),
        claim: name(*property),
        failed: None,
    });
    let first = match violation {
        Violation::Broken { property } | Violation::PropertyFailed { property } => {
            Alarm { run, claim: name(property), failed: None }
        }
        Violation::GuardFailed { rule, instance } | Violation::RuleFailed { rule, instance } => {
            Alarm { run, claim: None, failed: Some((rule, instance)) }
        }
        Violation::StartFailed { .. } => Alarm { run, claim: None, failed: None },
        // Deadlock and liveness of the abstraction are not checked.
        Violation::Deadlock | Violation::OutOfReach { .. } => return Vec::new(),
    };
    std::iter::once(first).chain(passed).collect()
}
