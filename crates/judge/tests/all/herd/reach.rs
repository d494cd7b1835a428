//! The final states of a test that each model lets happen: those for which some choice of runs,
//! recorded as a history with the final values of memory, satisfies the model.
//!
//! A history says what was read and not from where, so that the judge answers the whole question:
//! is there an execution with these values?

use std::collections::BTreeSet;

use certify::certify;
use evidence::{Certificate, Evidence};
use history::{AddressId, Builder, History, Operation, ThinAir, Value};
use models::Model;
use tribunal_judge::{Budget, Engine, Outcome, judge};

use super::litmus::Litmus;
use super::run::{Run, Values, all_runs};
use super::tokens::Place;

/// The values of the observed places, in their order.
pub(crate) type State = Vec<Value>;

/// What can be reached, model by model, and how many verdicts it took to know.
pub(crate) struct Reached {
    pub(crate) states: Vec<BTreeSet<State>>,
    pub(crate) verdicts: usize,
}

pub(crate) fn reachable(litmus: &Litmus, models: &[Model]) -> Result<Reached, String> {
    let (runs, values) = all_runs(litmus)?;
    let finals = observed_memory(litmus, &values);
    let choices: Vec<usize> =
        runs.iter().map(Vec::len).chain(finals.iter().map(|(_, values)| values.len())).collect();
    let mut reached = Reached { states: vec![BTreeSet::new(); models.len()], verdicts: 0 };
    let mut choice = Some(vec![0; choices.len()]);
    while let Some(indices) = choice {
        let (of_threads, of_finals) = indices.split_at(runs.len());
        let chosen: Vec<&Run> = runs.iter().zip(of_threads).map(|(runs, &i)| &runs[i]).collect();
        let memory: Vec<(AddressId, Value)> =
            finals.iter().zip(of_finals).map(|((a, values), &i)| (*a, values[i])).collect();
        reached.add(litmus, models, &chosen, &memory);
        choice = next(indices, &choices);
    }
    Ok(reached)
}

/// The locations that a state shows, and what each may hold at the end.
fn observed_memory(litmus: &Litmus, values: &Values) -> Vec<(AddressId, Vec<Value>)> {
    let names = litmus.locations.names();
    (0..names.len())
        .filter(|&a| litmus.observed.contains(&Place::Memory(names[a].clone())))
        .map(|a| (AddressId::new(a), values[a].iter().copied().collect()))
        .collect()
}

/// The choice after this one, counting with as many digits in each place as there are choices.
fn next(mut indices: Vec<usize>, choices: &[usize]) -> Option<Vec<usize>> {
    for (index, &choices) in indices.iter_mut().zip(choices) {
        *index += 1;
        if *index < choices {
            return Some(indices);
        }
        *index = 0;
    }
    None
}

impl Reached {
    /// Adds the state of these runs and this final memory for each model that allows them.
    fn add(
        &mut self,
        litmus: &Litmus,
        models: &[Model],
        runs: &[&Run],
        memory: &[(AddressId, Value)],
    ) {
        let state = state(litmus, runs, memory);
        let history = recorded(litmus, runs, memory);
        for (&model, states) in models.iter().zip(&mut self.states) {
            if !states.contains(&state) {
                self.verdicts += 1;
                if allows(&history, model) {
                    states.insert(state.clone());
                }
            }
        }
    }
}

fn state(litmus: &Litmus, runs: &[&Run], memory: &[(AddressId, Value)]) -> State {
    let names = litmus.locations.names();
    let value = |place: &Place| match place {
        Place::Register(thread, register) => {
            runs.get(*thread).and_then(|run| run.registers.get(register)).copied().unwrap_or(0)
        }
        Place::Memory(name) => {
            let at = memory.iter().find(|(address, _)| names[address.index()] == *name);
            at.expect("observed memory has a final value").1
        }
    };
    litmus.observed.iter().map(value).collect()
}

/// The history of these runs as a tester would have recorded it.
fn recorded(litmus: &Litmus, runs: &[&Run], memory: &[(AddressId, Value)]) -> History {
    let mut builder = Builder::new();
    for (a, name) in litmus.locations.names().iter().enumerate() {
        let address = builder.address_named(name);
        assert_eq!(address.index(), a, "addresses are numbered as locations are");
        let value = litmus.initial(&Place::Memory(name.clone()));
        builder.initial(address, value, 0).expect("each location is declared once");
    }
    let mut event = |thread, operation: Operation| {
        builder.event(thread, operation, 0).expect("a litmus test is small");
    };
    for (thread, run) in runs.iter().enumerate() {
        run.events.iter().for_each(|&operation| event(thread as u64, operation));
    }
    for &(address, value) in memory {
        builder.final_value(address, value, 0).expect("each location is observed once");
    }
    // A run may read what only another run of some thread would write.
    builder.finish(ThinAir::Violation).expect("nothing else can be wrong")
}

/// What the default engine says, once the kernel has accepted its evidence.
fn allows(history: &History, model: Model) -> bool {
    let (answer, evidence) = match judge(history, model, Engine::Auto, &Budget::unlimited()).outcome
    {
        Outcome::Holds(witness) => (true, Evidence::Consistent(witness)),
        Outcome::Broken(proof) => (false, Evidence::Violation(proof)),
        Outcome::Undecided(undecided) => panic!("{undecided:?} under {model}:\n{}", text(history)),
    };
    let certificate = Certificate { trace: 1, model, evidence };
    if let Err(rejection) = certify(history, &certificate) {
        panic!(
            "the kernel rejects the evidence under {model}: {rejection}\n{}\n{}",
            text(history),
            certificate.to_json(history)
        );
    }
    answer
}

fn text(history: &History) -> String {
    let mut out = Vec::new();
    history::write_text(history, &mut out).expect("a vector can be written");
    String::from_utf8(out).expect("traces are text")
}
