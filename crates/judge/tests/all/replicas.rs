//! Traces of replicated memories, which are causal and runs of no store model: every thread has a memory
//! of its own, and the writes of others arrive late, each after those that its writer knew. What the
//! check says of thousands of such events has evidence that the kernel accepts.

use std::fmt::Write;

use evidence::{Certificate, Evidence, Witness};
use history::{History, parse_text};
use models::Model;
use oracle::Rng;
use tribunal_judge::{Budget, Engine, judge};

/// Which of two writes of an address a memory keeps.
#[derive(Clone, Copy, PartialEq)]
enum Wins {
    /// The one that arrived later: causal memory.
    Arrival,
    /// The one with the later timestamp: all memories agree in the end.
    Timestamp,
}

#[derive(Clone)]
struct Update {
    address: usize,
    value: u64,
    stamp: (u64, usize),
    /// How many writes of each thread its writer knew.
    knew: Vec<usize>,
}

/// A trace of so many threads and addresses; a share of the accesses are atomics, on addresses that one
/// thread alone writes.
fn trace(seed: u64, wins: Wins, sizes: [usize; 3], atomics: u32) -> History {
    let [threads, addresses, events] = sizes;
    let mut rng = Rng::new(seed);
    let mut sent: Vec<Vec<Update>> = vec![Vec::new(); threads];
    let mut known = vec![vec![0; threads]; threads];
    let mut memories = vec![vec![(0, (0, 0)); addresses]; threads];
    let mut clocks = vec![0; threads];
    let (mut next, mut text) = (1, String::new());
    for _ in 0..events {
        let thread = rng.below(threads);
        for other in (0..threads).filter(|&other| other != thread) {
            while rng.percent(40) {
                let arrives =
                    |u: &&Update| (0..threads).all(|t| t == other || u.knew[t] <= known[thread][t]);
                let first = sent[other].get(known[thread][other]);
                let Some(update) = first.filter(arrives) else { break };
                known[thread][other] += 1;
                clocks[thread] = clocks[thread].max(update.stamp.0);
                let cell = &mut memories[thread][update.address];
                if wins == Wins::Arrival || update.stamp > cell.1 {
                    *cell = (update.value, update.stamp);
                }
            }
        }
        let is_atomic = rng.percent(atomics);
        let address = match is_atomic {
            true => rng.below(addresses / threads) * threads + thread,
            false => rng.below(addresses),
        };
        let is_own = atomics == 0 || address % threads == thread;
        let read = memories[thread][address].0;
        let line = match (is_atomic, is_own && rng.percent(50)) {
            (true, _) => format!("{thread}: <M[{address}] == {read}; M[{address}] := {next}>"),
            (false, true) => format!("{thread}: M[{address}] := {next}"),
            (false, false) => format!("{thread}: M[{address}] == {read}"),
        };
        writeln!(text, "{line}").expect("writing to memory does not fail");
        if line.contains(":=") {
            clocks[thread] += 1;
            let stamp = (clocks[thread], thread);
            memories[thread][address] = (next, stamp);
            sent[thread].push(Update { address, value: next, stamp, knew: known[thread].clone() });
            known[thread][thread] += 1;
            next += 1;
        }
    }
    parse_text(&text).expect("the trace is well-formed")
}

/// Whether the model allows the history; the kernel accepts the evidence either way.
fn is_certified(history: &History, model: Model) -> bool {
    let outcome = judge(history, model, Engine::Auto, &Budget::unlimited()).outcome;
    let evidence = outcome.into_evidence().expect("it is decided");
    let certificate = Certificate { trace: 1, model, evidence };
    let line = certificate.to_json(history);
    assert_eq!(Certificate::from_json(&line, history).as_ref(), Ok(&certificate));
    if let Err(rejection) = certify::certify(history, &certificate) {
        panic!("{model}: {rejection}");
    }
    let is_consistent = matches!(certificate.evidence, Evidence::Consistent(_));
    if let Evidence::Consistent(Witness::Extensions { orders, .. }) = certificate.evidence {
        let accesses = orders[0].len();
        assert!(orders.iter().all(|order| order.len() == accesses && accesses >= history.len()));
    }
    is_consistent
}

#[test]
fn traces_of_replicated_memories_are_certified() {
    let mut allowed = [[0u64; 5]; 2];
    let models = [Model::Cc, Model::Ccv, Model::Cm, Model::Ccm, Model::Wccm];
    for seed in 0..12 {
        for (wins, allowed) in [Wins::Arrival, Wins::Timestamp].into_iter().zip(&mut allowed) {
            // The fewer accesses, the more models allow them.
            for (events, atomics) in [(12, 0), (40, 20), (3000, 0), (3000, 20)] {
                let history = trace(seed, wins, [4, 16, events], atomics);
                let says = models.map(|model| is_certified(&history, model));
                assert!(says[0], "what a memory has not heard of, it does not read");
                assert!(says[if wins == Wins::Arrival { 2 } else { 1 }], "{events} {atomics}");
                (0..5).for_each(|at| allowed[at] += u64::from(says[at]));
            }
        }
    }
    println!("{allowed:?}");
    assert!(allowed.iter().flatten().all(|&times| times > 3), "{allowed:?}");
    assert!(allowed[0][1] < 48 && allowed[1][2] < 48, "{allowed:?}");
}

/// Fig. 1d of Gradual Consistency Checking and store buffering of atomics, beside a run of one memory:
/// thousands of events of ccm and of wccm that are of no store model that would show it.
#[test]
fn a_long_trace_of_no_store_model_is_certified() {
    let beside = |gadget: &str| {
        let mut rng = Rng::new(7);
        let (mut memory, mut text) = ([0; 16], gadget.to_owned());
        for next in 3..4000 {
            let (thread, address) = (rng.below(4), rng.below(16));
            let read = memory[address];
            let line = match rng.below(4) {
                0 => format!("{thread}: <M[{address}] == {read}; M[{address}] := {next}>"),
                1 => format!("{thread}: M[{address}] == {read}"),
                _ => format!("{thread}: M[{address}] := {next}"),
            };
            if line.contains(":=") {
                memory[address] = next;
            }
            writeln!(text, "{line}").expect("writing to memory does not fail");
        }
        parse_text(&text).expect("the trace is well-formed")
    };
    let figure = beside(
        "8: x := 1\n8: y == 0\n8: y := 1\n8: x == 1\n9: x := 2\n9: y == 0\n9: y := 2\n9: x == 2\n",
    );
    assert!(!is_certified(&figure, Model::Sc));
    assert!(is_certified(&figure, Model::Ccm) && is_certified(&figure, Model::Ccv));
    let buffered = beside("8: <x == 0; x := 1>\n8: y == 0\n9: <y == 0; y := 1>\n9: x == 0\n");
    assert!(!is_certified(&buffered, Model::Tso));
    assert!(is_certified(&buffered, Model::Wccm) && is_certified(&buffered, Model::Ccv));
}
