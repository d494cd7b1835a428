//! Traces of few values: an execution of a machine is recognised in seconds although nobody knows who
//! read from whom, and a search that is too large for its budget says so.

use certify::certify;
use chance::Rng;
use evidence::{Certificate, Evidence};
use history::{AddressId, Builder, History, Operation, ThinAir};
use models::Model;
use tribunal_judge::{Budget, DecidedBy, Engine, Outcome, Reason, judge};

/// A random run of the machine of sc on two addresses with the values 0 and 1, written down thread by
/// thread, so that the recorded order says nothing.
fn two_valued(events: usize, threads: usize, seed: u64) -> History {
    let mut rng = Rng::new(seed);
    let mut builder = Builder::new();
    let addresses: Vec<AddressId> = (0..2).map(|n| builder.address_numbered(n)).collect();
    let mut memory = [0, 0];
    let mut by_thread = vec![Vec::new(); threads];
    for _ in 0..events {
        let at = rng.below(2);
        let address = addresses[at];
        let operation = match rng.below(2) {
            0 => Operation::Read { address, value: memory[at] },
            _ => {
                memory[at] = rng.below(2) as u64;
                Operation::Write { address, value: memory[at] }
            }
        };
        by_thread[rng.below(threads)].push(operation);
    }
    let mut line = 0;
    for (thread, operations) in by_thread.into_iter().enumerate() {
        for operation in operations {
            line += 1;
            builder.event(thread as u64, operation, line).unwrap();
        }
    }
    builder.finish(ThinAir::Malformed).unwrap()
}

#[test]
fn runs_of_400_events_with_two_values_are_recognised() {
    for seed in 0..8 {
        let history = two_valued(400, 8, seed);
        for model in [Model::Sc, Model::Tso, Model::Rmo] {
            let judged = judge(&history, model, Engine::Auto, &Budget::unlimited());
            assert_eq!(judged.decided_by, DecidedBy::Frontiers, "{model}, seed {seed}");
            let Outcome::Holds(witness) = judged.outcome else { panic!("{model}, seed {seed}") };
            let evidence = Evidence::Consistent(witness);
            certify(&history, &Certificate { trace: 1, model, evidence }).unwrap();
        }
    }
}

#[test]
fn a_search_that_outgrows_its_memory_is_undecided() {
    let history = two_valued(400, 8, 1);
    let budget = Budget::unlimited().with_memory(8 << 20);
    let judged = judge(&history, Model::Sc, Engine::Sat, &budget);
    let Outcome::Undecided(why) = judged.outcome else { panic!("{:?}", judged.outcome) };
    assert_eq!(why.reason, Reason::Memory);
    assert!(why.established.starts_with("saturation found no violation"), "{}", why.established);
}
