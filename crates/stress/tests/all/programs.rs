//! Programs run by protocols: what comes out is what the reference machines allow, no instruction
//! is left out or made up, and what cannot be run is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use conform::{RecordOptions, record};
use history::History;
use judge::{Budget, Engine, judge};
use models::Model;
use murphi::source::Source;
use tribunal_stress::protocol::{Programs, Protocol};
use tribunal_stress::{
    Cycle, Exhaustive, Knobs, MemoryModel, Mix, Outcome, Program, RunResult, Runs, Target,
    TargetError, parse_programs,
};

fn programs(source: &Source, constants: &[(&str, &str)]) -> Programs {
    let mut options = RecordOptions::default();
    let constants = constants.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    options.language.constants = constants.collect();
    Programs::new(Protocol::new(record(source, &options).unwrap()).unwrap()).unwrap()
}

fn shipped(file: &str) -> Programs {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
    let source = Source { name: file.to_owned(), text: std::fs::read_to_string(path).unwrap() };
    programs(&source, &[("ProcessorCount", "2"), ("AddressCount", "2")])
}

fn program(text: &str) -> Program {
    parse_programs("test", text).unwrap().remove(0).program
}

fn litmus(cycle: &str) -> Program {
    cycle.parse::<Cycle>().unwrap().test().program
}

/// The outcomes of so many runs, how often each, and the beginnings of runs that did not end.
fn outcomes(
    target: &mut dyn Target,
    program: &Program,
    count: u64,
    seed: u64,
) -> (BTreeMap<Outcome, u64>, Vec<History>) {
    let (mut outcomes, mut beginnings) = (BTreeMap::new(), Vec::new());
    let runs = Runs { count, seed, stop: &AtomicBool::new(false) };
    let ran = target.run(program, runs, &mut |ran| {
        match ran {
            RunResult::Outcome(outcome, times) => *outcomes.entry(outcome).or_default() += times,
            RunResult::Unfinished(history) => beginnings.push(*history.unwrap()),
            RunResult::Recorded(_) => panic!("protocols record no histories of programs"),
        }
        ControlFlow::Continue(())
    });
    ran.unwrap();
    (outcomes, beginnings)
}

/// What a reference machine can read, in every possible way.
fn allowed(model: MemoryModel, program: &Program) -> BTreeSet<Vec<u64>> {
    let mut machine = Exhaustive::new(model, Exhaustive::DEFAULT_STATES);
    outcomes(&mut machine, program, 1, 0).0.into_keys().map(|outcome| outcome.reads).collect()
}

const CYCLES: [&str; 4] =
    ["PodWR Fre PodWR Fre", "PodWW Rfe PodRR Fre", "PodRW Rfe PodRW Rfe", "PodWW Coe PodWR Fre"];

#[test]
fn a_protocol_reads_what_a_reference_machine_can_read_and_most_of_it() {
    let sc = ["mi.m", "msi.m", "mesi.m", "moesi.m", "piranha.m", "lazy-caching.m"];
    let tso = ["msi-store-buffer.m", "tso-cc.m"].map(|file| (file, MemoryModel::Tso));
    for (file, model) in sc.map(|file| (file, MemoryModel::Sc)).into_iter().chain(tso) {
        let mut target = shipped(file);
        for cycle in CYCLES {
            let program = litmus(cycle);
            let allowed = allowed(model, &program);
            let (seen, unfinished) = outcomes(&mut target, &program, 200, 1);
            assert!(unfinished.is_empty(), "{file} runs {cycle}");
            assert_eq!(seen.values().sum::<u64>(), 200);
            let seen: BTreeSet<Vec<u64>> = seen.into_keys().map(|outcome| outcome.reads).collect();
            assert!(seen.is_subset(&allowed), "{file}, {cycle}: {seen:?} of {allowed:?}");
            assert!(2 * seen.len() >= allowed.len(), "{file}, {cycle}: {seen:?} of {allowed:?}");
        }
    }
}

#[test]
fn store_buffers_show_in_the_test_that_is_named_after_them() {
    let (seen, _) = outcomes(&mut shipped("msi-store-buffer.m"), &litmus(CYCLES[0]), 200, 1);
    assert!(seen.keys().any(|outcome| outcome.reads == [0, 0]), "{seen:?}");
}

#[test]
fn long_programs_come_to_an_end_too() {
    let knobs =
        Knobs { threads: 2, instructions: 60, places: 2, mix: Mix::PLAIN, ..Knobs::default() };
    for file in ["msi.m", "tso-cc.m"] {
        let (seen, unfinished) = outcomes(&mut shipped(file), &knobs.program(3).unwrap(), 5, 1);
        assert_eq!((seen.values().sum::<u64>(), unfinished.len()), (5, 0), "{file}");
    }
}

#[test]
fn runs_depend_on_the_seed_and_on_nothing_else() {
    let (mut target, program) = (shipped("msi.m"), litmus(CYCLES[0]));
    let first = outcomes(&mut target, &program, 50, 7).0;
    assert_eq!(first, outcomes(&mut shipped("msi.m"), &program, 50, 7).0);
    assert_ne!(first, outcomes(&mut target, &program, 50, 8).0);
}

#[test]
fn values_are_those_of_the_program() {
    let program = program(
        "program P\ninit M[x] == 5\n0: M[x] := 70\n0: M[y] ?\n1: M[y] := 80\n1: M[x] ?\nend\n",
    );
    let (seen, _) = outcomes(&mut shipped("msi.m"), &program, 100, 1);
    let allowed: [&[u64]; 3] = [&[0, 70], &[80, 5], &[80, 70]];
    assert!(seen.keys().all(|outcome| allowed.contains(&&*outcome.reads)), "{seen:?}");
    assert_eq!(seen.len(), 3);
}

#[test]
fn a_broken_protocol_is_caught_by_a_program() {
    let mut target = shipped("broken/piranha-owner-not-cleared.m");
    let knobs =
        Knobs { threads: 2, instructions: 8, places: 2, mix: Mix::PLAIN, ..Knobs::default() };
    let caught = (0..50).any(|seed| {
        let program = knobs.program(seed).unwrap();
        let (seen, _) = outcomes(&mut target, &program, 50, seed);
        seen.keys().any(|outcome| {
            let history = program.history(outcome).unwrap();
            let verdict = judge(&history, Model::Sc, Engine::Auto, &Budget::unlimited());
            matches!(verdict.outcome, judge::Outcome::Broken(_))
        })
    });
    assert!(caught);
}

#[test]
fn what_a_protocol_does_not_have_is_refused() {
    let mut target = shipped("msi.m");
    let mut refused = |text: &str| {
        let runs = Runs { count: 1, seed: 0, stop: &AtomicBool::new(false) };
        match target.run(&program(text), runs, &mut |_| ControlFlow::Continue(())) {
            Err(TargetError::Unsuitable(why)) => why,
            other => panic!("{text}: {other:?}"),
        }
    };
    assert!(refused("0: <M[x] ?; M[x] := 1>\n").contains("atomic"));
    assert!(refused("0: M[x] := 1\n0: sync\n").contains("instruction 1 of thread 0 is a fence"));
    assert!(refused("0: M[x] ?\n1: M[x] ?\n2: M[x] ?\n").contains("3 threads"));
    assert!(refused("0: M[x] ?\n0: M[y] ?\n0: M[z] ?\n").contains("3 addresses"));
}

const MEMORY: &str = "
    type Proc: scalarset(2); Addr: scalarset(2); Value: 0..1;
    var memory: array [Addr] of Value; turns: 0..3;
    procedure Load(p: Proc; a: Addr; v: Value); begin end;
    procedure Store(p: Proc; a: Addr; v: Value); begin end;
    startstate begin for a: Addr do memory[a] := 0; end; turns := 0; end;
    ruleset p: Proc; a: Addr do rule begin Load(p, a, memory[a]); end; end;";

#[test]
fn a_run_without_an_end_is_handed_over_as_far_as_it_came() {
    // Three stores, and no more.
    let text = format!(
        "{MEMORY} ruleset p: Proc; a: Addr; v: Value do
           rule turns < 3 ==> begin memory[a] := v; Store(p, a, v); turns := turns + 1; end;
         end;
         ruleset a: Addr do rule begin memory[a] := memory[a]; end; end;
         rule turns > 0 ==> begin turns := turns; end;"
    );
    let mut target = programs(&Source { name: "three.m".into(), text }, &[]);
    let program =
        program("0: M[x] := 1\n0: M[x] := 2\n0: M[x] := 3\n0: M[x] := 4\n0: M[x] ?\n1: M[x] ?\n");
    let (mut seen, mut beginnings) = (0, Vec::new());
    let runs = Runs { count: 5, seed: 0, stop: &AtomicBool::new(false) };
    let ran = target.run(&program, runs, &mut |ran| {
        match ran {
            RunResult::Unfinished(history) => beginnings.push(*history.unwrap()),
            _ => seen += 1,
        }
        ControlFlow::Continue(())
    });
    // After three stores only loads lead on, and they change nothing: the protocol is stuck.
    assert!(matches!(ran, Err(TargetError::Misbehaved(what)) if what.starts_with("deadlock")));
    assert_eq!((seen, beginnings.len()), (0, 5));
    for beginning in beginnings {
        let events = beginning.len();
        assert!((1..=4).contains(&events), "{events} events");
        let verdict = judge(&beginning, Model::Sc, Engine::Auto, &Budget::unlimited());
        assert!(matches!(verdict.outcome, judge::Outcome::Holds(_)));
    }
}
