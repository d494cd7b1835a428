//! Searches the lemmas of a memory model, one after the other, and handles alarms.
//!
//! An alarm is a state in which an observer's claim is violated. `alarm.rs` judges whether its run
//! violates the memory model. If not, the observer was too strict for this run, and the search
//! continues past that state: one search collects many alarms, and they are judged in the order of
//! their distance.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use explore::{Deadlock, Exploration, PassedOver, Progress, Step, Violation};
use judge::Outcome;
use murphi::diagnostic::Diagnostic;
use murphi::interpret::Interpreter;
use murphi::value::State;

use super::plan::plan;
use super::{Counterexample, Lemma, MemoryModel, Options, Unknown, Verdict, ViolationKind};
use crate::alarm::{self, Judged};
use crate::compose::Composition;
use crate::cycle;
use crate::events::Protocol;
use crate::failure::{self, Failure};
use crate::foundations::{Foundation, Foundations, Premises, Unestablished};
use crate::misuse;
use crate::own_run;
use crate::run::{self, Search};
use crate::trace::NotRepeatable;

/// A verification in progress.
pub(super) struct Trial<'a> {
    pub(super) protocol: &'a Protocol,
    pub(super) options: &'a Options,
    watch: &'a mut dyn FnMut(&str, &Progress),
    interrupt: &'a AtomicBool,
    pub(super) foundations: &'a mut Foundations,
    pub(super) lemmas: Vec<Lemma>,
    /// The place of an error in a composition that the protocol alone does not detect.
    pub(super) broken: Option<Diagnostic>,
    /// The assumptions that a verdict "verified" needs.
    pub(super) rests_on: Vec<Premises>,
    /// The number of searches so far.
    searches: usize,
}

/// The result of a verification.
pub(super) struct TrialResult {
    pub(super) lemmas: Vec<Lemma>,
    pub(super) verdict: Verdict,
    pub(super) broken: Option<Diagnostic>,
    /// The assumptions that a verdict "verified" needs, and those that were not established but
    /// allowed.
    pub(super) rests_on: Vec<Premises>,
    pub(super) assumed: Vec<Unestablished>,
}

/// How the search of a lemma ended.
enum Ending {
    Holds,
    Final(Verdict),
    /// An observer rejects runs that the protocol may have only with values other than its own.
    OtherValues(Unestablished),
}

impl<'a> Trial<'a> {
    pub(super) fn new(
        protocol: &'a Protocol,
        options: &'a Options,
        watch: &'a mut dyn FnMut(&str, &Progress),
        interrupt: &'a AtomicBool,
        foundations: &'a mut Foundations,
    ) -> Self {
        Trial {
            protocol,
            options,
            watch,
            interrupt,
            foundations,
            lemmas: Vec::new(),
            broken: None,
            rests_on: Vec::new(),
            searches: 0,
        }
    }

    /// Runs the verification.
    pub(super) fn hold(mut self) -> Result<TrialResult, Failure> {
        let verdict = self.verdict()?;
        let assumed = match self.options.assume_independence {
            true => self.foundations.assuming_independence(&self.rests_on).1,
            false => Vec::new(),
        };
        let Trial { lemmas, broken, rests_on, .. } = self;
        Ok(TrialResult { lemmas, verdict, broken, rests_on, assumed })
    }

    fn verdict(&mut self) -> Result<Verdict, Failure> {
        let verdict = match self.memory_model()? {
            Ending::Final(Verdict::Broken(ViolationKind::Protocol)) => return self.explained(),
            Ending::Final(verdict) => verdict,
            Ending::OtherValues(doubt) => return self.with_own_values_only(doubt),
            Ending::Holds if self.options.protocol => self.protocol_itself()?,
            Ending::Holds => Verdict::Holds(()),
        };
        self.founded(verdict)
    }

    /// Searches the lemmas of the memory model until one fails; for `tso`, where each is an attempt
    /// to prove the same, until one holds.
    fn memory_model(&mut self) -> Result<Ending, Failure> {
        let planned = plan(self.protocol, self.options);
        let last = planned.len();
        let (mut false_alarm, mut other_values) = (None, None);
        for (number, (name, composition)) in planned.into_iter().enumerate() {
            let is_attempt = self.options.memory_model == MemoryModel::Tso && number + 1 < last;
            let ending = match is_attempt {
                true => self.attempt(name, &composition)?,
                false => self.lemma(name, &composition)?,
            };
            match (ending, self.options.memory_model) {
                (Some(Ending::Holds), MemoryModel::Sc) | (None, _) => {}
                // A longer cycle may still be a violation.
                (Some(Ending::Final(Verdict::Undecided(Unknown::FalseAlarm(found)))), _) => {
                    false_alarm.get_or_insert(found);
                }
                (Some(Ending::OtherValues(doubt)), _) => {
                    other_values.get_or_insert(doubt);
                }
                (Some(ending), _) => return Ok(ending),
            }
        }
        Ok(match (false_alarm, other_values) {
            (Some(found), _) => Ending::Final(Verdict::Undecided(Unknown::FalseAlarm(found))),
            (None, Some(doubt)) => Ending::OtherValues(doubt),
            (None, None) => Ending::Holds,
        })
    }

    /// Searches the protocol without observers: its properties, errors and deadlocks.
    pub(super) fn protocol_itself(&mut self) -> Result<Verdict, Failure> {
        let name = match self.options.search.deadlock {
            Deadlock::Off => "invariants and assertions of the protocol".to_owned(),
            _ => "invariants, assertions and deadlock freedom of the protocol".to_owned(),
        };
        let model = Arc::clone(&self.protocol.model);
        let interpreter = Interpreter::new(model).map_err(|_| Failure::TooLarge)?;
        let search = self.options.search.clone();
        let exploration = self.search(&name, &interpreter, &search);
        let rests_on = Premises::NOTHING;
        let lemma = Lemma { name, interpreter, exploration, passed_over: 0, rests_on };
        let verdict = match &lemma.exploration.verdict {
            explore::Verdict::Holds(()) if self.options.covers && lemma.misses_cover() => {
                Verdict::Broken(ViolationKind::Protocol)
            }
            explore::Verdict::Holds(()) => Verdict::Holds(()),
            explore::Verdict::Broken(_) => Verdict::Broken(ViolationKind::Protocol),
            explore::Verdict::Undecided(reason) => {
                Verdict::Undecided(Unknown::Ended(reason.clone()))
            }
        };
        self.lemmas.push(lemma);
        Ok(verdict)
    }

    /// Searches a lemma whose alarms are not judged; `None` if it has one.
    fn attempt(
        &mut self,
        name: String,
        composition: &Composition,
    ) -> Result<Option<Ending>, Failure> {
        let interpreter = self.composed(composition)?;
        let exploration = self.observed(&name, &interpreter, 0);
        let is_alarm = !alarms(&exploration).is_empty();
        let ending = (!is_alarm).then(|| ended(&exploration));
        let rests_on = composition.rests_on;
        self.lemmas.push(Lemma { name, interpreter, exploration, passed_over: 0, rests_on });
        Ok(ending)
    }

    /// Searches a lemma and judges its first alarm. If the memory model allows its run, the search
    /// continues past it.
    fn lemma(
        &mut self,
        name: String,
        composition: &Composition,
    ) -> Result<Option<Ending>, Failure> {
        let interpreter = self.composed(composition)?;
        let exploration = self.observed(&name, &interpreter, 0);
        let rests_on = composition.rests_on;
        let mut lemma = Lemma { name, interpreter, exploration, passed_over: 0, rests_on };
        let ending = match alarms(&lemma.exploration).first() {
            None => ended(&lemma.exploration),
            Some(alarm) => {
                match self.counterexample(&lemma.interpreter, alarm, alarm::EXTENSION_OF_ONE) {
                    Ok(found) => self.beyond(&mut lemma, Box::new(found))?,
                    Err(Failure::NotRepeatable(_)) if !self.is_data_independent() => {
                        Ending::OtherValues(self.of_other_values(&alarm.run))
                    }
                    Err(failure) => return Err(failure),
                }
            }
        };
        self.lemmas.push(lemma);
        Ok(Some(ending))
    }

    /// Handles an alarm that was judged. If the memory model allows its run, another search
    /// collects more alarms, and they are judged, the nearest first, until one is a violation. A
    /// state that is passed over may also be reached by a run that is a violation, so if none is,
    /// the question is undecided. Of several false alarms, one that is due to a wrong commit is
    /// reported, because the user can correct it.
    fn beyond(&mut self, lemma: &mut Lemma, first: Box<Counterexample>) -> Result<Ending, Failure> {
        if self.is_violation(&lemma.interpreter, &first) {
            return Ok(Ending::Final(Verdict::Broken(ViolationKind::MemoryModel(first))));
        }
        let mut other_values = is_refused(&first).then(|| self.of_other_values(&first.run));
        if self.options.pass_over == 0 || self.interrupt.load(Relaxed) {
            let verdict = Verdict::Undecided(Unknown::FalseAlarm(first));
            return Ok(other_values.map_or(Ending::Final(verdict), Ending::OtherValues));
        }
        let Lemma { name, interpreter, .. } = &*lemma;
        let exploration = self.observed(name, interpreter, self.options.pass_over);
        let mut false_alarm = first;
        let mut violation = None;
        let mut passed_over = 0;
        for alarm in &exploration.passed_over {
            if self.interrupt.load(Relaxed) {
                break;
            }
            // A run that cannot be repeated shows nothing.
            match self.counterexample(interpreter, alarm, alarm::EXTENSION_OF_MANY).map(Box::new) {
                Ok(found) if self.is_violation(interpreter, &found) => {
                    violation = Some(found);
                    break;
                }
                Ok(found) if is_refused(&found) => {
                    other_values.get_or_insert_with(|| self.of_other_values(&found.run));
                }
                Ok(found) if false_alarm.misuse.is_none() && found.misuse.is_some() => {
                    false_alarm = found;
                }
                _ => {}
            }
            passed_over += 1;
        }
        let fails = match exploration.violation() {
            Some(violation) => !matches!(violation, Violation::Broken { .. } | Violation::Deadlock),
            None => false,
        };
        let ending = match (violation, other_values) {
            (Some(found), _) => Ending::Final(Verdict::Broken(ViolationKind::MemoryModel(found))),
            (None, _) if fails => Ending::Final(Verdict::Broken(ViolationKind::Protocol)),
            (None, Some(doubt)) => Ending::OtherValues(doubt),
            (None, None) => Ending::Final(Verdict::Undecided(Unknown::FalseAlarm(false_alarm))),
        };
        (lemma.exploration, lemma.passed_over) = (exploration, passed_over);
        Ok(ending)
    }

    /// Whether the memory model forbids a run, and the protocol has the run with its own values:
    /// data independence implies this, and if it is not established the protocol repeats the run.
    fn is_violation(&self, lemma: &Interpreter, found: &Counterexample) -> bool {
        let is_own = || {
            let memory_model = self.options.memory_model;
            self.is_data_independent()
                || own_run::is_violation(self.protocol, lemma, &found.run, memory_model)
        };
        is_refused(found) && is_own()
    }

    /// Whether the protocol takes the same steps with other values, or the user allows to assume
    /// it.
    fn is_data_independent(&self) -> bool {
        let in_doubt = |about: Foundation| self.foundations.doubts_about(about);
        self.options.assume_independence
            || !(in_doubt(Foundation::Causality) || in_doubt(Foundation::DataIndependence))
    }

    /// The assumption that a run which an observer rejects is not established to be a run of the
    /// protocol, with the rule of its last step.
    fn of_other_values(&self, run: &[Step]) -> Unestablished {
        let last = run.last().map(|step| step.rule as usize);
        let rule = last.and_then(|rule| self.protocol.model.rules.get(rule));
        let message = "an observer rejects a run that ends here, but it is not established that the \
                       protocol can take this run with its own values";
        let help = "the protocol may copy values, but not compare them or compute with them";
        let span = rule.map(|rule| rule.span).unwrap_or_default();
        let diagnostic = Diagnostic::warning(span, message).help(help);
        Unestablished { about: Foundation::OtherValues, diagnostic }
    }

    pub(super) fn composed(&self, composition: &Composition) -> Result<Interpreter, Failure> {
        let model = failure::composed(self.protocol, &composition.program)?;
        Interpreter::new(Arc::new(model)).map_err(|_| Failure::TooLarge)
    }

    /// Searches a composition. An observer's assumptions may leave a state without successors, so
    /// deadlocks mean nothing.
    pub(super) fn observed(
        &mut self,
        name: &str,
        interpreter: &Interpreter,
        pass_over: usize,
    ) -> Exploration {
        let search = self.options.search.clone();
        let search = explore::Options { deadlock: Deadlock::Off, pass_over, ..search };
        self.search(name, interpreter, &search)
    }

    fn search(
        &mut self,
        name: &str,
        interpreter: &Interpreter,
        options: &explore::Options,
    ) -> Exploration {
        let Options { symmetry, forgiving, .. } = *self.options;
        let options = &self.kept(interpreter, options);
        let search = Search { options, symmetry, forgiving, interrupt: self.interrupt };
        run::search(interpreter, &search, &mut |progress| (self.watch)(name, progress))
    }

    /// The options of the next search, with a directory of its own for checkpoints, if there are
    /// any. A search that collects alarms saves none: a checkpoint would not contain their runs.
    fn kept(&mut self, interpreter: &Interpreter, options: &explore::Options) -> explore::Options {
        self.searches += 1;
        let mut options = options.clone();
        let (deadlock, pass_over) = (options.deadlock, options.pass_over);
        if let Some(disk) = &mut options.disk {
            let kept = disk.checkpoint.take().filter(|_| pass_over == 0);
            disk.checkpoint = kept.map(|kept| {
                let mut identity = kept.identity.clone();
                let text = &interpreter.model().source.text;
                identity.push(("program".to_owned(), explore::digest(text.as_bytes())));
                identity.push(("deadlock of the program".to_owned(), deadlock.name().to_owned()));
                kept.of_search(self.searches, identity)
            });
        }
        options
    }

    /// The run of an alarm with its memory trace, judged.
    fn counterexample(
        &self,
        interpreter: &Interpreter,
        found: &PassedOver,
        patience: usize,
    ) -> Result<Counterexample, Failure> {
        let claim = interpreter.model().properties[found.property as usize].name.clone();
        let memory_model = self.options.memory_model;
        let Judged { run, trace, history, verdict } =
            alarm::judge_run(self.protocol, interpreter, &found.run, memory_model, patience)
                .map_err(|NotRepeatable(why)| Failure::NotRepeatable(why))?;
        let last = run.last().and_then(|step| {
            State::decode(interpreter.model(), interpreter.layout(), &step.state).ok()
        });
        let cycle = match memory_model {
            MemoryModel::Sc => {
                last.and_then(|last| cycle::find(self.protocol, interpreter, &last, &trace))
            }
            MemoryModel::Tso => None,
        };
        let misuse = misuse::find(&trace, memory_model);
        let (lemma, judged) = (self.lemmas.len(), verdict);
        Ok(Counterexample { lemma, claim, run, trace, cycle, history, judged, misuse })
    }
}

/// Whether the trace checker rejects the trace of a run.
fn is_refused(found: &Counterexample) -> bool {
    matches!(found.judged.outcome, Outcome::Broken(_))
}

/// The states in which an observer's claim is violated, the nearest first.
fn alarms(exploration: &Exploration) -> Vec<PassedOver> {
    match exploration.violation() {
        Some(Violation::Broken { property }) => match exploration.passed_over.is_empty() {
            true => vec![PassedOver { property, run: exploration.counterexample().to_vec() }],
            false => exploration.passed_over.clone(),
        },
        _ => Vec::new(),
    }
}

/// How a search without an alarm ended.
fn ended(exploration: &Exploration) -> Ending {
    match &exploration.verdict {
        explore::Verdict::Holds(()) if exploration.states == 0 => {
            Ending::Final(Verdict::Undecided(Unknown::NoStart))
        }
        explore::Verdict::Holds(()) => Ending::Holds,
        explore::Verdict::Undecided(reason) => {
            Ending::Final(Verdict::Undecided(Unknown::Ended(reason.clone())))
        }
        explore::Verdict::Broken(_) => Ending::Final(Verdict::Broken(ViolationKind::Protocol)),
    }
}
