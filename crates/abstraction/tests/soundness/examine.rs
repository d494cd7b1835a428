//! One random program, looked at in every way: each step of an instance is a step of the
//! abstraction, what is called safe is safe, and what is called wrong is wrong.

use std::collections::{HashSet, VecDeque};

use chance::Rng;
use murphi::ast::Program;
use murphi::interpret::End;
use murphi::value::State;
use parametric::{MissingStep, Simulation};
use recheck::read_lemmas;
use tribunal_abstraction::{Abstraction, Prepared, Processor, View, find_processor};

use crate::judge::{Found, Said, abstracted, by_the_loop, instance, read, runnable, said, source};
use crate::sabotage::Sabotage;
use crate::sketch::{self, Sketch};

/// The most processors of an instance.
const MOST: u64 = 4;

/// How often what happened.
#[derive(Debug, Default, Clone)]
pub(crate) struct Mix {
    pub(crate) programs: usize,
    /// Cannot be abstracted.
    pub(crate) refused: usize,
    /// Wrong with so many processors, and not with fewer.
    pub(crate) wrong_first_with: [usize; 6],
    /// Called safe without lemmas, and with lemmas at random.
    pub(crate) safe: usize,
    pub(crate) safe_by_random_lemmas: usize,
    /// Not called safe although nothing is wrong.
    pub(crate) open: usize,
    pub(crate) too_large: usize,
    /// Steps that were looked at, in views of them.
    pub(crate) steps: usize,
    /// Verdicts of a verification.
    pub(crate) verified: usize,
    pub(crate) verified_with_lemmas: usize,
    pub(crate) violated: usize,
    pub(crate) violated_with_three_or_more: usize,
    pub(crate) undecided: usize,
}

impl Mix {
    pub(crate) fn add(&mut self, other: &Mix) {
        for (sum, each) in self.wrong_first_with.iter_mut().zip(other.wrong_first_with) {
            *sum += each;
        }
        let pairs = [
            (&mut self.programs, other.programs),
            (&mut self.refused, other.refused),
            (&mut self.safe, other.safe),
            (&mut self.safe_by_random_lemmas, other.safe_by_random_lemmas),
            (&mut self.open, other.open),
            (&mut self.too_large, other.too_large),
            (&mut self.steps, other.steps),
            (&mut self.verified, other.verified),
            (&mut self.verified_with_lemmas, other.verified_with_lemmas),
            (&mut self.violated, other.violated),
            (&mut self.violated_with_three_or_more, other.violated_with_three_or_more),
            (&mut self.undecided, other.undecided),
        ];
        pairs.into_iter().for_each(|(sum, each)| *sum += each);
    }
}

/// How thoroughly a program is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) view: View,
    pub(crate) lemmas: u64,
    pub(crate) verify: bool,
    pub(crate) sabotage: Sabotage,
}

/// What is wrong with how a program is treated, if anything is.
pub(crate) fn examine(sketch: &Sketch, plan: Plan, mix: &mut Mix) -> Result<(), String> {
    let program = read(&sketch.text());
    let processor = find_processor(&program, Some("P")).expect("there are processors");
    mix.programs += 1;
    // What speaks of three processors needs three.
    let attempt = |view| abstracted(&program, view, |_| Vec::new()).map(|found| (view, found));
    let found = match attempt(plan.view) {
        Err(why) if why.contains("this claim is about") => {
            attempt(View { concrete: plan.view.concrete + 1, ..plan.view })
        }
        found => found,
    };
    let (view, (prepared, mut made)) = match found {
        Err(_) => {
            mix.refused += 1;
            return Ok(());
        }
        Ok(found) => found,
    };
    plan.sabotage.done(&mut made);
    runnable(&made.program).map_err(|why| format!("no program: {why}"))?;
    mix.steps += steps_are_seen(&prepared, &made, view)?;
    let wrong = (view.concrete..=MOST)
        .find(|&count| matches!(instance(&program, &processor, count), Found::Wrong(_)));
    if let Some(count) = wrong {
        mix.wrong_first_with[count as usize] += 1;
    }
    let called_safe = |how: &str| match wrong {
        Some(count) => Err(format!("wrong with {count} processors, but called safe {how}")),
        None => Ok(()),
    };
    match said(&program, view, plan.sabotage, |_| Vec::new()) {
        Said::Holds => {
            mix.safe += 1;
            called_safe("without lemmas")?;
        }
        Said::Open => {
            mix.open += usize::from(wrong.is_none());
            let text = sketch::lemmas(&mut Rng::new(plan.lemmas), sketch);
            let given =
                |prepared: &Prepared| read_lemmas(&source(&text), prepared).unwrap_or_default();
            match said(&program, view, plan.sabotage, given) {
                Said::Holds => {
                    mix.safe_by_random_lemmas += 1;
                    called_safe(&format!("with\n{text}"))?;
                }
                Said::Broken(why) => return Err(format!("no program: {why}")),
                _ => {}
            }
        }
        Said::Broken(why) => return Err(format!("no program: {why}")),
        Said::TooLarge => mix.too_large += 1,
        Said::Refused => {}
    }
    match plan.verify {
        true => verified(&program, &processor, &prepared, view, wrong, mix),
        false => Ok(()),
    }
}

/// The whole way to a verdict.
fn verified(
    program: &Program,
    processor: &Processor,
    prepared: &Prepared,
    view: View,
    wrong: Option<u64>,
    mix: &mut Mix,
) -> Result<(), String> {
    let found = match by_the_loop(prepared, view, Vec::new()) {
        Ok(found) => found,
        Err(refine::Failure::Unsuitable(_)) => return Ok(()),
        Err(refine::Failure::Unrunnable(why)) => return Err(format!("no program: {why:?}")),
    };
    match found.verdict {
        refine::Verdict::Holds(()) => {
            mix.verified += 1;
            mix.verified_with_lemmas += usize::from(!found.lemmas.is_empty());
            // Nothing is said about what was left out.
            match wrong {
                Some(count) if found.left_out.is_empty() => {
                    Err(format!("wrong with {count} processors, but verified"))
                }
                _ => Ok(()),
            }
        }
        refine::Verdict::Broken(refine::BrokenInstance { processors, .. }) => {
            mix.violated += 1;
            mix.violated_with_three_or_more += usize::from(processors >= 3);
            // A counter may be more than its set: then the program as it was written is asked, and
            // what it does not confirm is not message.
            let is_counting = format!("{program:?}").contains("\"count\"");
            match instance(program, processor, processors) {
                Found::Nothing if !is_counting => {
                    Err(format!("nothing is wrong with {processors} processors"))
                }
                _ => Ok(()),
            }
        }
        refine::Verdict::Undecided(_) => {
            mix.undecided += 1;
            Ok(())
        }
    }
}

/// Every step of an instance with one or two more processors than stay concrete, up to so many
/// states, is in every view a step of the abstraction or changes nothing. What fails is an alarm in
/// some view.
fn steps_are_seen(prepared: &Prepared, made: &Abstraction, view: View) -> Result<usize, String> {
    let mut steps = 0;
    let sizes = [(view.concrete + 1, 60), (view.concrete + 2, 20)];
    for (count, most) in sizes.into_iter().filter(|(count, _)| *count <= MOST) {
        let simulation = Simulation::new(prepared, made, count, &Default::default())
            .ok_or("an instance cannot be run")?;
        let message =
            |unseen: MissingStep| format!("with {count} processors a step is not seen: {unseen:?}");
        let mut visited: HashSet<String> = HashSet::new();
        let mut pending: VecDeque<State> = simulation.starts().map_err(message)?.into();
        while let Some(state) = pending.pop_front() {
            if visited.len() >= most || !visited.insert(format!("{state:?}")) {
                continue;
            }
            for (rule, end) in simulation.steps(&state) {
                steps += simulation.views();
                simulation.sees(&state, rule, &end).map_err(message)?;
                if let End::Done(after) = end {
                    pending.push_back(after);
                }
            }
        }
    }
    Ok(steps)
}

/// A smaller program that is treated wrongly, and how.
pub(crate) fn reduced(sketch: &Sketch, plan: Plan, why: String) -> (Sketch, String) {
    let (mut best, mut reason) = (sketch.clone(), why);
    'again: loop {
        for smaller in best.smaller() {
            if let Err(why) = examine(&smaller, plan, &mut Mix::default()) {
                (best, reason) = (smaller, why);
                continue 'again;
            }
        }
        return (best, reason);
    }
}
