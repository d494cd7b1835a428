//! The loop: abstract, search, look at what goes wrong, add a lemma that was seen to hold in small
//! instances, and again.
//!
//! 1. Small concrete instances are explored ([`small`]). What is wrong there is really wrong. On the
//!    way it is written down what is so whenever a rule applies ([`observe`]).
//! 2. The abstraction is explored, past several alarms at once. Each comes with a run. The first
//!    step of it that claims something about the abstracted processors which no observation
//!    supports is held to be impossible ([`suspect`]), and the facts that exclude it
//!    ([`table`], [`fact`]) become lemmas.
//! 3. A lemma that fails itself is treated like any other alarm. If all steps of its run are as
//!    observed, it is believed that the lemma is wrong with more processors: what it met counts as
//!    observed from then on, and facts that it contradicts are given up.
//! 4. When nothing is wrong any more, lemmas that are not needed are dropped ([`minimise`]).
//!
//! Nothing that is guessed here can make the answer wrong: whatever the lemmas are, a search of the
//! abstraction that finds nothing is a proof (see the crate's documentation), and a violation is
//! told only with a run of a concrete instance.

mod atoms;
mod fact;
mod instance;
mod minimise;
mod observe;
mod probe;
mod reader;
mod result;
mod small;
mod suspect;
mod syntax;
mod table;
mod vocabulary;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use explore::symmetry::Symmetry;
use explore::{Deadlock, Exploration, PassedOver, Progress, Reason, Step, Violation};
use murphi::ast::{TypeExpression, TypeKind};
use murphi::interpret::Interpreter;
use murphi::ir::{Model, TypeId};
use murphi::print::print_expression;
use rustc_hash::FxHashSet;

use crate::{Lemma, Prepared, RuleId, abstraction};
use fact::Fact;
use observe::Observations;
use suspect::Abstract;
use table::Table;
use vocabulary::Vocabulary;

pub use instance::Unrunnable;
pub use result::{Failure, Kept, Options, Small, Stuck, Verdict, Verification};

/// How many alarms are looked at in one search.
const ALARMS: usize = 40;

/// How many facts are taken from one step.
const FACTS_OF_A_STEP: usize = 6;

/// How many rounds there are at most.
const MOST_ROUNDS: usize = 200;

/// What hears how far it has got: what is being done, and the search that does it.
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
    let given = options.lemmas.iter().map(Standing::given);
    let mut refinement = Refinement {
        prepared,
        options,
        listener,
        interrupt,
        observations: Observations {
            rows: vec![Default::default(); vocabularies.len()],
            states: 0,
        },
        tables: vec![None; vocabularies.len()],
        vocabularies,
        standing: given.collect(),
        given_up: FxHashSet::default(),
        left_out: Vec::new(),
        rounds: 0,
    };
    let small = refinement.look_at_small_instances()?;
    let mut verification = Verification {
        small: small.instances,
        verdict: Verdict::Undecided(Reason::Interrupted),
        lemmas: Vec::new(),
        abstraction: None,
        exploration: None,
        interpreter: None,
        rounds: 0,
        minimal: false,
        left_out: Vec::new(),
        notes: prepared.notes.iter().chain(&unstrengthened.notes).cloned().collect(),
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
    instance::search(interpreter, options, symmetry, watch)
}

/// A lemma in use.
#[derive(Debug, Clone)]
struct Standing {
    lemma: Lemma,
    /// The condition as a text.
    text: String,
    called_for: Option<String>,
    /// The fact that it is, unless the user gave it.
    fact: Option<Fact>,
}

impl Standing {
    fn given(lemma: &Lemma) -> Standing {
        let text = print_expression(&lemma.condition);
        Standing { lemma: lemma.clone(), text, called_for: None, fact: None }
    }

    fn guessed(fact: Fact) -> Standing {
        Standing {
            lemma: fact.lemma.clone(),
            text: fact.text.clone(),
            called_for: Some(fact.called_for.clone()),
            fact: Some(fact),
        }
    }
}

/// A verification under way.
struct Refinement<'a, 'b> {
    prepared: &'a Prepared,
    options: &'a Options,
    listener: &'a mut Listener<'b>,
    interrupt: &'a AtomicBool,
    vocabularies: Arc<Vec<Vocabulary>>,
    observations: Observations,
    /// For each vocabulary its rows in columns, once they are needed.
    tables: Vec<Option<Table>>,
    standing: Vec<Standing>,
    /// Facts that turned out not to hold: rule and text.
    given_up: FxHashSet<(RuleId, String)>,
    /// Claims that the abstraction cannot decide.
    left_out: Vec<String>,
    rounds: usize,
}

/// Something that went wrong in the abstraction.
#[derive(Debug, Clone)]
struct Alarm {
    run: Vec<Step>,
    /// The name of the claim that is broken, if it is one.
    claim: Option<String>,
    /// The rule that failed in the last state, if one did.
    failed: Option<(u32, u64)>,
}

impl Refinement<'_, '_> {
    /// Rounds until there is an answer.
    fn refine(&mut self, verification: &mut Verification) -> Result<(), Failure> {
        loop {
            self.rounds += 1;
            let lemmas: Vec<Lemma> =
                self.standing.iter().map(|standing| standing.lemma.clone()).collect();
            let current = self.abstract_with(&lemmas)?;
            let task = format!("round {}, {} lemmas", self.rounds, lemmas.len());
            let exploration = self.search(&current, &task, ALARMS);
            let alarms = match &exploration.verdict {
                explore::Verdict::Verified => {
                    return self.minimised(current, exploration, verification);
                }
                explore::Verdict::Undecided(reason) => {
                    verification.verdict = Verdict::Undecided(reason.clone());
                    self.tell(verification, current, exploration);
                    return Ok(());
                }
                _ => alarms(&current, &exploration),
            };
            let progress = self.answer(&current, &alarms);
            if self.interrupt.load(Relaxed) || self.rounds >= MOST_ROUNDS {
                verification.verdict = Verdict::Undecided(Reason::Interrupted);
                self.tell(verification, current, exploration);
                return Ok(());
            }
            if let Err(alarm) = progress {
                verification.verdict = match self.concretised(&alarm)? {
                    Some(violation) => violation,
                    None => Verdict::Missing(Box::new(self.stuck(&current, alarm))),
                };
                self.tell(verification, current, exploration);
                return Ok(());
            }
        }
    }

    /// Adds lemmas that exclude the alarms. If there are none, gives lemmas up. If neither can be
    /// done about any of them, the one that matters most is the answer.
    fn answer(&mut self, current: &Abstract, alarms: &[Alarm]) -> Result<(), Alarm> {
        let before = self.standing.clone();
        let mut is_progress = false;
        for alarm in alarms {
            let Some(facts) = self.facts_against(current, alarm, before.len()) else { continue };
            is_progress = true;
            for fact in facts {
                if self.known(&fact).is_none() {
                    (self.listener)(&format!("+ {}: {}", fact.called_for, fact.text), None);
                    self.standing.push(Standing::guessed(fact));
                }
            }
        }
        if is_progress {
            return Ok(());
        }
        let mut stuck = None;
        for alarm in alarms {
            let failed = alarm.claim.as_ref().and_then(|claim| {
                current.abstraction.claims.iter().position(|candidate| candidate == claim)
            });
            match failed {
                Some(lemma) => is_progress |= self.give_up(current, alarm, &before[lemma]),
                None => stuck = stuck.or(Some(alarm)),
            }
        }
        match (is_progress, stuck.or(alarms.first())) {
            (false, Some(alarm)) if self.leave_out(current, alarm) => Ok(()),
            (false, Some(alarm)) => Err(alarm.clone()),
            _ => Ok(()),
        }
    }

    /// Leaves out the claim that an alarm breaks, if the abstraction had to make it stronger than it
    /// is.
    fn leave_out(&mut self, current: &Abstract, alarm: &Alarm) -> bool {
        let strengthened = &current.abstraction.strengthened;
        match alarm.claim.as_ref().filter(|claim| strengthened.contains(claim)) {
            Some(claim) => {
                self.left_out.push(claim.clone());
                true
            }
            None => false,
        }
    }

    /// The number of the lemma that says the same.
    fn known(&self, fact: &Fact) -> Option<usize> {
        let same = |standing: &Standing| {
            standing.lemma.rule == fact.lemma.rule && standing.text == fact.text
        };
        self.standing.iter().position(same)
    }

    /// The facts that exclude the first impossible step of a run. `None` if every step is as
    /// observed, or nothing can be said about it that is not said already by one of the first
    /// `tried` lemmas, in vain.
    fn facts_against(
        &mut self,
        current: &Abstract,
        alarm: &Alarm,
        tried: usize,
    ) -> Option<Vec<Fact>> {
        let steps = alarm.run.windows(2).map(|pair| {
            (pair[0].state.as_slice(), pair[1].rule, pair[1].instance)
        });
        let last = alarm.run.last().map(|step| step.state.as_slice());
        let failed = last.zip(alarm.failed).map(|(state, (rule, number))| (state, rule, number));
        let steps: Vec<(&[u8], u32, u64)> = steps.chain(failed).collect();
        for (state, rule, number) in steps {
            let Some(suspect) = current.suspect(state, rule, number) else { continue };
            let vocabulary = Arc::clone(&self.vocabularies);
            let vocabulary = &vocabulary[suspect.vocabulary];
            let called_for = self.sentence(current, state, rule, number);
            let table = self.table(suspect.vocabulary);
            let mut combinations: Vec<_> = suspect
                .rows
                .iter()
                .flat_map(|row| table.missing(vocabulary, row, &suspect))
                .collect();
            // The fewer atoms, the more general. The sort keeps the ranks of equals.
            combinations.sort_by_key(Vec::len);
            let shortest = combinations.first().map_or(0, Vec::len);
            let mut facts: Vec<Fact> = Vec::new();
            for combination in combinations.iter().take_while(|found| found.len() == shortest) {
                let fact =
                    Fact::new(suspect.vocabulary, vocabulary, table, combination, &called_for);
                let Some(fact) = fact else { continue };
                let is_new = !facts.iter().any(|known| known.text == fact.text);
                if is_new {
                    facts.push(fact);
                }
                if facts.len() >= FACTS_OF_A_STEP {
                    break;
                }
            }
            facts.retain(|fact| {
                !self.given_up.contains(&(fact.lemma.rule, fact.text.clone()))
            });
            // What was claimed and did not exclude the step says nothing here.
            facts.retain(|fact| self.known(fact).is_none_or(|at| at >= tried));
            if !facts.is_empty() {
                return Some(facts);
            }
        }
        None
    }

    /// Takes what a failed lemma met for something that happens, and drops every fact that it
    /// contradicts. Whether anything was dropped.
    fn give_up(&mut self, current: &Abstract, alarm: &Alarm, lemma: &Standing) -> bool {
        let Some(last) = alarm.run.last() else { return false };
        let rule = lemma.lemma.rule;
        (self.listener)(&format!("- {}", lemma.text), None);
        let mut met = Vec::new();
        for (number, (origin, other)) in current.abstraction.origins.iter().enumerate() {
            if *origin != rule || other.is_some() {
                continue;
            }
            for instance in current.applying(&last.state, number as u32) {
                met.extend(current.rows(&last.state, number as u32, instance));
            }
        }
        let vocabularies = Arc::clone(&self.vocabularies);
        let mut dropped = false;
        for suspect in &met {
            let vocabulary = &vocabularies[suspect.vocabulary];
            let is_contradicted = |standing: &Standing, row: &[u8]| {
                standing.fact.as_ref().is_some_and(|fact| {
                    fact.vocabulary == suspect.vocabulary && fact.is_false(vocabulary, row)
                })
            };
            for row in &suspect.rows {
                if !self.standing.iter().any(|standing| is_contradicted(standing, row)) {
                    continue;
                }
                self.observations.rows[suspect.vocabulary].add(row);
                self.tables[suspect.vocabulary] = None;
                let before = self.standing.len();
                self.standing.retain(|standing| !is_contradicted(standing, row));
                dropped |= self.standing.len() < before;
            }
        }
        // Where the row does not show it, the lemma itself is what was wrong.
        let is_it = |standing: &Standing| standing.lemma.rule == rule && standing.text == lemma.text;
        if lemma.fact.is_some() && self.standing.iter().any(is_it) {
            self.standing.retain(|standing| !is_it(standing));
            self.given_up.insert((rule, lemma.text.clone()));
            dropped = true;
        }
        dropped
    }

    fn table(&mut self, number: usize) -> &Table {
        let (vocabularies, rows) = (&self.vocabularies, &self.observations.rows);
        self.tables[number].get_or_insert_with(|| Table::new(&vocabularies[number], &rows[number]))
    }

    /// Which rule was run, with what, in one line.
    fn sentence(&self, current: &Abstract, state: &[u8], rule: u32, number: u64) -> String {
        result::step_sentence(&current.interpreter, state, rule, number)
    }

    fn abstract_with(&self, lemmas: &[Lemma]) -> Result<Abstract, Failure> {
        let abstraction = abstracted(self.prepared, self.options, lemmas, &self.left_out)?;
        let name = format!("{} for any number of processors", self.options.name);
        let interpreter =
            instance::interpreter(&abstraction.program, &name, &self.options.language)?;
        let rules = self.prepared.rules.len();
        Ok(Abstract::new(abstraction, interpreter, &self.vocabularies, rules))
    }

    fn search(&mut self, current: &Abstract, task: &str, pass_over: usize) -> Exploration {
        // Nothing is claimed about deadlocks: what others may do keeps the abstraction going.
        let search = self.options.search.clone();
        let search = explore::Options { deadlock: Deadlock::Off, pass_over, ..search };
        let listener = &mut self.listener;
        let watch = instance::Watch {
            progress: &mut |now| listener(task, Some(now)),
            interrupt: self.interrupt,
            log: None,
        };
        instance::search(&current.interpreter, &search, self.options.symmetry, watch)
    }

    fn stuck(&self, current: &Abstract, alarm: Alarm) -> Stuck {
        let Alarm { run, claim, failed } = alarm;
        let is_abstract = |step: &&Step| current.other_rule(step.rule).is_some();
        let last = run.iter().skip(1).filter(is_abstract).next_back();
        let rule = last.and_then(|step| {
            let (origin, _) = current.abstraction.origins[step.rule as usize];
            Some(self.prepared.rules.get(origin.0)?.name.clone())
        });
        Stuck { run, claim, failed, rule }
    }

    fn tell(&self, verification: &mut Verification, current: Abstract, exploration: Exploration) {
        verification.lemmas = self.standing.iter().map(|standing| self.kept(standing)).collect();
        verification.interpreter = Some(current.interpreter);
        verification.abstraction = Some(current.abstraction);
        verification.exploration = Some(exploration);
        verification.left_out = self.left_out.clone();
    }

    fn kept(&self, standing: &Standing) -> Kept {
        Kept {
            lemma: standing.lemma.clone(),
            rule: self.prepared.rules[standing.lemma.rule.0].name.clone(),
            condition: standing.text.clone(),
            text: result::lemma_text(self.prepared, &standing.lemma),
            called_for: standing.called_for.clone(),
        }
    }
}

fn abstracted(
    prepared: &Prepared,
    options: &Options,
    lemmas: &[Lemma],
    left_out: &[String],
) -> Result<crate::Abstraction, Failure> {
    let how = abstraction::Options { concrete: options.concrete, leave_out: left_out.to_vec() };
    abstraction::abstraction(prepared, &how, lemmas).map_err(Failure::Unsuitable)
}

/// Where the abstraction went wrong, the nearest first.
fn alarms(current: &Abstract, exploration: &Exploration) -> Vec<Alarm> {
    let model = current.interpreter.model();
    let name = |property: u32| Some(model.properties[property as usize].name.clone());
    let run = exploration.counterexample.clone();
    let explore::Verdict::Violation(violation) = exploration.verdict else { return Vec::new() };
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
    };
    std::iter::once(first).chain(passed).collect()
}

/// A vocabulary for every rule of which something is abstract.
fn vocabularies(
    prepared: &Prepared,
    options: &Options,
    abstraction: &crate::Abstraction,
) -> Result<Vec<Vocabulary>, Failure> {
    let program =
        crate::with_processors(&prepared.program, &prepared.processor, options.concrete + 1);
    let interpreter = instance::interpreter(&program, &options.name, &options.language)?;
    let model = interpreter.model();
    let mut found: Vec<Vocabulary> = Vec::new();
    for origin in (0..prepared.rules.len()).map(RuleId) {
        let of_it: Vec<_> = abstraction.rules.iter().filter(|rule| rule.origin == origin).collect();
        if of_it.is_empty() {
            continue;
        }
        let processor = &prepared.processor.name;
        let Some(mut vocabulary) = Vocabulary::of(model, origin.0, processor, options.concrete)
        else {
            continue;
        };
        let mut choices = FxHashSet::default();
        for choice in of_it.iter().flat_map(|rule| &rule.choices).filter(|choice| choice.initial) {
            choices.insert(print_expression(&choice.stands_for));
            if vocabulary.equation(&choice.stands_for).is_some() {
                continue;
            }
            if let Some(sort) = type_of(model, &choice.ty)
                .and_then(|ty| vocabulary::sort(model, ty))
                .filter(|sort| sort.sets.is_empty())
            {
                vocabulary.add_probe(&choice.stands_for, sort);
            }
        }
        vocabulary.terms.retain(|term| {
            let is_visible = of_it
                .iter()
                .any(|rule| rule.others.iter().all(|other| term.uses & 1 << other == 0));
            is_visible || choices.contains(&term.text)
        });
        found.push(vocabulary);
    }
    Ok(found)
}

/// The type of a choice.
fn type_of(model: &Model, ty: &TypeExpression) -> Option<TypeId> {
    match &ty.kind {
        TypeKind::Named(name) if name.text == "boolean" => Some(Model::BOOLEAN),
        TypeKind::Named(name) => {
            let named = |ty: &murphi::ir::Type| ty.name.as_deref() == Some(&name.text);
            model.types.iter().position(named).map(|number| TypeId(number as u32))
        }
        _ => None,
    }
}
