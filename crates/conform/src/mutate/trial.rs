//! Applies the checks of the protocol to each mutant: its own properties, deadlock, the memory
//! model.
//!
//! The three checks are independent, so that the report can say how many mutants each of them
//! detects; the last two are applied to the mutant without its properties. A check that the
//! protocol itself fails is skipped: its answer would say nothing about the change.
//!
//! Without its properties a mutant may have very many states. Once a check has detected it, the
//! others get a small part of the budget: the numbers for each check are lower bounds.
//!
//! A mutant that passes every check and has the same number of states and depth as the protocol,
//! and the same number of firings of each rule, looks equivalent to it. This is a strong hint and
//! not a proof.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use explore::{Deadlock, Exploration, Reason};
use murphi::ast::{Item, Program, Rule, RuleKind};
use murphi::check;
use murphi::interpret::{Interpreter, RuntimeErrorKind};
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;

use super::answer::{Answer, answer, because};
use super::claims::without_claims;
use super::fate::{Fate, Findings};
use super::interpret_first;
use super::report::{Entry, Report};
use super::{Mutant, mutants};
use crate::alarm;
use crate::compose::HAS_ROOM;
use crate::events;
use crate::failure::Failure;
use crate::run::failure;
use crate::verify::{self, MemoryModel, Unknown, Verdict, Verification, ViolationKind};

/// The options of mutation testing.
#[derive(Debug, Clone)]
pub struct Options {
    /// The options of the checks. The budgets in [`explore::Options`] apply to each search; for a
    /// mutant that is already killed, one eighth of them.
    pub verify: verify::Options,
    /// The number of mutants that are tried at the same time; at least 1.
    pub jobs: usize,
    /// The numbers of the mutants to try; empty for all.
    pub only: Vec<usize>,
    /// Whether to skip the remaining checks of a mutant that one check has detected. The survivors
    /// are the same; the number that each check detects is then a lower bound.
    pub survivors: bool,
}

impl Default for Options {
    fn default() -> Self {
        let mut verify = verify::Options::default();
        // The limit is memory and not time, so that the answers are the same on every machine. It
        // suffices for some million small states.
        verify.search.memory = Some(64 << 20);
        Options { verify, jobs: 1, only: Vec::new(), survivors: false }
    }
}

/// The progress of mutation testing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The number of mutants that have been tried.
    pub done: usize,
    /// The number of mutants.
    pub total: usize,
    /// The number and classification of the last one.
    pub last: Option<(usize, Fate)>,
}

/// The answers of the protocol itself.
#[derive(Debug, Clone)]
pub(super) struct Baseline {
    pub(super) findings: Findings,
    exploration: Exploration,
}

/// Tries every mutant of a protocol. `progress` is called after each; setting `interrupt` leaves
/// the rest undecided.
pub fn run(
    source: &Source,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
    interrupt: &AtomicBool,
) -> Result<Report, Failure> {
    let (program, problems) = parse(source);
    let Some(program) = program else { return Err(Failure::Unsuitable(problems)) };
    crate::verify::compositions(source, &options.verify)?;
    let judge = Judge { name: &source.name, options, interrupt };
    let baseline = judge.baseline(&program).map_err(Failure::NotRepeatable)?;
    let mut mutants = mutants(&program, &options.verify.events);
    if let Some(&number) = options.only.iter().find(|at| !(1..=mutants.len()).contains(at)) {
        return Err(Failure::NoSuchMutant { number, mutants: mutants.len() });
    }
    if !options.only.is_empty() {
        mutants.retain(|mutant| options.only.contains(&mutant.number));
    }
    let fates = judge.all(&mutants, &baseline, progress);
    let entries = mutants.into_iter().zip(fates);
    let entries = entries.map(|(mutant, (fate, findings))| Entry { mutant, fate, findings });
    Ok(Report { baseline: baseline.findings, entries: entries.collect() })
}

/// The classification of one mutant.
pub fn classify(
    source: &Source,
    mutant: &Mutant,
    options: &Options,
    interrupt: &AtomicBool,
) -> Result<Fate, Failure> {
    let (program, problems) = parse(source);
    let Some(program) = program else { return Err(Failure::Unsuitable(problems)) };
    let judge = Judge { name: &source.name, options, interrupt };
    let baseline = judge.baseline(&program).map_err(Failure::NotRepeatable)?;
    Ok(judge.fate(&mutant.program, &baseline).0)
}

/// Applies the checks.
struct Judge<'a> {
    name: &'a str,
    options: &'a Options,
    interrupt: &'a AtomicBool,
}

/// A search of a program, and its answer.
struct Searched {
    answer: Answer,
    exploration: Exploration,
}

impl Judge<'_> {
    /// The answers of the protocol; an error says why there are none.
    fn baseline(&self, program: &Program) -> Result<Baseline, String> {
        let bare = without_claims(program);
        let (claims, deadlock, exploration) = self.itself(program, &bare, true)?;
        let findings = Findings {
            claims,
            deadlock,
            memory_model: self.memory_model(&bare, false),
            states: is_complete(&exploration).then_some(exploration.states),
            silenced: Vec::new(),
            same_totals: true,
        };
        Ok(Baseline { findings, exploration })
    }

    fn all(
        &self,
        mutants: &[Mutant],
        baseline: &Baseline,
        progress: &mut dyn FnMut(&Progress),
    ) -> Vec<(Fate, Option<Findings>)> {
        let total = mutants.len();
        let next = AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        let mut fates = vec![None; total];
        progress(&Progress { done: 0, total, last: None });
        thread::scope(|scope| {
            for _ in 0..self.options.jobs.clamp(1, total.max(1)) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some(at) = claim(next, total) {
                        let fate = self.fate(&mutants[at].program, baseline);
                        if sender.send((at, fate)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for (done, (at, fate)) in receiver.iter().enumerate() {
                let last = Some((mutants[at].number, fate.0.clone()));
                progress(&Progress { done: done + 1, total, last });
                fates[at] = Some(fate);
            }
        });
        let lost = || (Fate::Undecided("not checked".to_owned()), None);
        fates.into_iter().map(|fate| fate.unwrap_or_else(lost)).collect()
    }

    fn fate(&self, program: &Program, baseline: &Baseline) -> (Fate, Option<Findings>) {
        if self.interrupt.load(Ordering::Relaxed) {
            return (Fate::Undecided(because(&Reason::Interrupted)), None);
        }
        match self.findings(program, baseline) {
            Ok(findings) => (Fate::of(&findings), Some(findings)),
            Err(refusal) => (Fate::Refused(refusal), None),
        }
    }

    /// The answers of a mutant; an error says why it is not a valid program.
    fn findings(&self, program: &Program, baseline: &Baseline) -> Result<Findings, String> {
        let bare = without_claims(program);
        let own = &baseline.findings;
        let ask_deadlock = own.deadlock == Answer::Passes;
        let (claims, deadlock, found) = self.itself(program, &bare, ask_deadlock)?;
        let memory_model = match own.memory_model {
            Answer::Passes => {
                let is_killed = [&claims, &deadlock].into_iter().any(Answer::kills);
                match is_killed && self.options.survivors {
                    true => Answer::NotAsked,
                    false => self.memory_model(&bare, is_killed),
                }
            }
            _ => Answer::NotAsked,
        };
        let complete = is_complete(&found);
        let before = &baseline.exploration;
        let same_totals = complete
            && (found.states, found.depth) == (before.states, before.depth)
            && found.firings == before.firings;
        let fell_silent = before.firings.iter().zip(&found.firings).enumerate();
        let fell_silent = fell_silent.filter(|(_, (before, now))| **before > 0 && **now == 0);
        let silenced = fell_silent.filter(|_| complete).map(|(rule, _)| rule_name(program, rule));
        Ok(Findings {
            claims: if own.claims == Answer::Passes { claims } else { Answer::NotAsked },
            deadlock,
            memory_model,
            states: complete.then_some(found.states),
            silenced: silenced.collect(),
            same_totals,
        })
    }

    /// The answers about the properties and deadlocks of a program, and the search for its
    /// properties. One search answers both if it finds nothing.
    fn itself(
        &self,
        program: &Program,
        bare: &Program,
        ask_deadlock: bool,
    ) -> Result<(Answer, Answer, Exploration), String> {
        let deadlock = self.options.verify.search.deadlock;
        let (whole, rest) = (self.budget(false), self.budget(true));
        if !ask_deadlock {
            let claims = self.search(program, Deadlock::Off, &whole)?;
            return Ok((claims.answer, Answer::NotAsked, claims.exploration));
        }
        let both = self.search(program, deadlock, &whole)?;
        match both.answer {
            Answer::Passes | Answer::Unknown(_) => {
                Ok((both.answer.clone(), both.answer, both.exploration))
            }
            answer if self.options.survivors => {
                let (claims, deadlock) = match answer {
                    Answer::Deadlock => (Answer::NotAsked, Answer::Deadlock),
                    claims => (claims, Answer::NotAsked),
                };
                Ok((claims, deadlock, both.exploration))
            }
            Answer::Deadlock => {
                let claims = self.search(program, Deadlock::Off, &rest)?;
                Ok((claims.answer, Answer::Deadlock, claims.exploration))
            }
            claims => Ok((claims, self.search(bare, deadlock, &rest)?.answer, both.exploration)),
        }
    }

    /// The options of a search; smaller if the mutant is already killed.
    fn budget(&self, is_killed: bool) -> explore::Options {
        let mut search = self.options.verify.search.clone();
        if is_killed {
            search.time = search.time.map(|time| time / 8);
            search.memory = search.memory.map(|memory| memory / 8);
        }
        search
    }

    /// Explores a program without observers.
    fn search(
        &self,
        program: &Program,
        deadlock: Deadlock,
        budget: &explore::Options,
    ) -> Result<Searched, String> {
        let interpreter = self.load(print(program))?;
        let options = explore::Options { deadlock, ..budget.clone() };
        let symmetry = self.options.verify.symmetry;
        let exploration = interpret_first::search(&interpreter, &options, symmetry, self.interrupt);
        Ok(Searched { answer: answer(&interpreter, &exploration), exploration })
    }

    fn load(&self, text: String) -> Result<Interpreter, String> {
        let source = Source { name: self.name.to_owned(), text };
        let checked = murphi::load(source, &self.options.verify.language).map_err(|problems| {
            problems.first().map(|problem| problem.message.clone()).unwrap_or_default()
        })?;
        Interpreter::new(Arc::new(checked.model)).map_err(|_| TOO_LARGE.to_owned())
    }

    /// Checks the memory model. Lemmas that a short interpreted search decides are done;
    /// [`verify`](crate::verify) decides each of the others.
    fn memory_model(&self, bare: &Program, is_killed: bool) -> Answer {
        let source = Source { name: self.name.to_owned(), text: print(bare) };
        let search = self.budget(is_killed);
        let own = &self.options.verify;
        // The check asks what the observers detect, whatever their verdicts assume.
        let assume_independence = true;
        let own = verify::Options { assume_independence, ..own.clone() };
        let mut options = verify::Options { protocol: false, search, ..own };
        let lemmas = match verify::compositions(&source, &options) {
            Ok(lemmas) => lemmas,
            Err(failure) => return Answer::Unknown(without_answer(failure)),
        };
        let is_tso = options.memory_model == MemoryModel::Tso;
        let last = lemmas.len();
        for (number, (_, text)) in lemmas.into_iter().enumerate() {
            if is_tso {
                options.exact = options.exact || number > 0;
            } else {
                options.only = self.options.verify.only.or(Some(number as u64 + 1));
            }
            let answer = match self.short_search(&source, text) {
                Some(Answer::Invariant(_)) if is_tso && number + 1 < last => continue,
                Some(answer @ (Answer::Passes | Answer::Violation(_))) => answer,
                _ => self.verify(&source, &options),
            };
            // For `tso`, one lemma that holds is sufficient.
            if is_tso || answer != Answer::Passes {
                return answer;
            }
        }
        Answer::Passes
    }

    /// The answer about the composition of a lemma, if a short search suffices. An alarm whose
    /// trace the trace checker rejects is a violation; other alarms are reported as violated
    /// invariants.
    fn short_search(&self, protocol: &Source, text: String) -> Option<Answer> {
        let source = Source { name: self.name.to_owned(), text };
        // The constants are part of its text.
        let language = &self.options.verify.language;
        let language = check::Options { constants: Vec::new(), ..language.clone() };
        let model = murphi::load(source, &language).ok()?.model;
        let interpreter = Interpreter::new(Arc::new(model)).ok()?;
        let search = self.options.verify.search.clone();
        let search = explore::Options { deadlock: Deadlock::Off, ..search };
        let symmetry = self.options.verify.symmetry;
        let found = interpret_first::short_search(&interpreter, &search, symmetry, self.interrupt)?;
        match answer(&interpreter, &found) {
            Answer::Error(_) => Some(self.broken(&interpreter, &found)),
            Answer::Invariant(claim) if self.is_refused(protocol, &interpreter, &found) => {
                Some(Answer::Violation(claim))
            }
            answer => Some(answer),
        }
    }

    /// Whether the trace checker rejects the memory trace of an alarm.
    fn is_refused(&self, source: &Source, interpreter: &Interpreter, found: &Exploration) -> bool {
        let verify::Options { language, events, memory_model, .. } = &self.options.verify;
        let Ok(protocol) = events::find(source, language, events) else { return false };
        let run = found.counterexample();
        alarm::judge_run(&protocol, interpreter, run, *memory_model, alarm::EXTENSION_OF_ONE)
            .is_ok_and(|judged| judged.is_violation())
    }

    fn verify(&self, source: &Source, options: &verify::Options) -> Answer {
        match verify::verify(source, options, &mut |_, _| (), self.interrupt) {
            Ok(verification) => self.meaning(&verification),
            Err(failure) => Answer::Unknown(without_answer(failure)),
        }
    }

    fn meaning(&self, verification: &Verification) -> Answer {
        match &verification.verdict {
            Verdict::Holds(()) => Answer::Passes,
            Verdict::Broken(ViolationKind::MemoryModel(found)) => {
                Answer::Violation(found.claim.clone())
            }
            Verdict::Undecided(Unknown::FalseAlarm(found)) if found.claim == HAS_ROOM => {
                Answer::Unknown("the observer ran out of room".to_owned())
            }
            Verdict::Undecided(Unknown::FalseAlarm(found)) => Answer::Alarm(found.claim.clone()),
            Verdict::Undecided(Unknown::NotEstablished(doubts)) => {
                let first = doubts.first().map(|doubt| doubt.diagnostic.message.clone());
                Answer::Unknown(first.unwrap_or_default())
            }
            Verdict::Undecided(Unknown::Ended(reason)) => Answer::Unknown(because(reason)),
            Verdict::Undecided(Unknown::NoStart) => Answer::Unknown("no start state".to_owned()),
            Verdict::Broken(ViolationKind::Protocol) => match verification.lemmas.last() {
                Some(lemma) => self.broken(&lemma.interpreter, &lemma.exploration),
                None => Answer::Unknown("a lemma failed".to_owned()),
            },
        }
    }

    /// A run-time error of a composition. A load that returns no value at all, which the protocol
    /// alone does not detect, violates every memory model.
    fn broken(&self, interpreter: &Interpreter, exploration: &Exploration) -> Answer {
        let Some(error) = failure(interpreter, exploration) else {
            return Answer::Unknown("a lemma failed".to_owned());
        };
        let load = &self.options.verify.events.load;
        let in_load = error.calls.iter().any(|call| call.function == *load);
        if error.kind == RuntimeErrorKind::Undefined && in_load {
            return Answer::Violation("a load returns an undefined value".to_owned());
        }
        Answer::Unknown(error.message)
    }
}

const TOO_LARGE: &str = "its states are too large";

/// Why there is no answer about the memory model.
fn without_answer(failure: Failure) -> String {
    match failure {
        Failure::Unsuitable(_) => "it cannot be verified".to_owned(),
        Failure::Composition(..) => {
            "the composition with an observer is not a valid model".to_owned()
        }
        Failure::TooLarge => TOO_LARGE.to_owned(),
        Failure::NotRepeatable(why) => why,
        failure @ Failure::NoSuchMutant { .. } => failure.to_string(),
    }
}

fn is_complete(exploration: &Exploration) -> bool {
    exploration.verdict == explore::Verdict::Holds(())
}

/// The name of the rule with this number in the typed model, which numbers them in the order of the
/// source.
fn rule_name(program: &Program, number: usize) -> String {
    let mut names = Vec::new();
    for item in &program.items {
        if let Item::Rule(rule) = item {
            collect_names(rule, &mut names);
        }
    }
    names.into_iter().nth(number).flatten().unwrap_or_else(|| format!("rule {}", number + 1))
}

fn collect_names(rule: &Rule, names: &mut Vec<Option<String>>) {
    match &rule.kind {
        RuleKind::Simple { name, .. } => names.push(name.as_ref().map(|name| name.text.clone())),
        RuleKind::Ruleset { rules, .. }
        | RuleKind::Alias { rules, .. }
        | RuleKind::Choose { rules, .. } => {
            rules.iter().for_each(|rule| collect_names(rule, names));
        }
        RuleKind::StartState { .. } | RuleKind::Property(_) => {}
    }
}

/// Takes the next task.
fn claim(next: &AtomicUsize, total: usize) -> Option<usize> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    (at < total).then_some(at)
}
