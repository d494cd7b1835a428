//! Commit logs of a small machine, judged by RVWMO: a machine that does what it may is consistent, a
//! fault is found, shrunk to a few instructions and reported with their program counters, and leaving out
//! what is not shared changes no verdict.

mod machine;

use evidence::Verdict;
use history::{CommitOptions, Format, History, ReadOptions, TraceReader};
use oracle::Rng;
use tribunal_judge::{
    AnyModel, Budget, Engine, ModelFile, Outcome, ShrinkOptions, judge, judge_by_file, shrink,
};

use machine::{Fault, Machine, Op};

fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

fn read(log: &str, shared_only: bool) -> History {
    let commits = CommitOptions { shared_only, keep_prefix: true, ..CommitOptions::default() };
    let options = ReadOptions { format: Format::Spike, commits, ..ReadOptions::default() };
    let trace = TraceReader::new(log.as_bytes(), "run.log", options).next_trace();
    trace.unwrap_or_else(|error| panic!("{}\n{log}", error.render(false))).unwrap()
}

/// Whether a log is allowed by RVWMO.
fn allowed(history: &History) -> bool {
    let rvwmo = ModelFile::shipped("rvwmo").unwrap();
    match judge_by_file(history, &rvwmo, &Budget::unlimited()).outcome {
        Verdict::Holds(_) => true,
        Verdict::Broken(_) => false,
        Verdict::Undecided(_) => panic!("undecided:\n{}", Format::Text.text(history)),
    }
}

const SHARED: u32 = 10;
const STACK: u32 = 11;
const ZERO: u32 = 0;

/// Where a hart's memory is.
fn prologue(hart: u32) -> Vec<Op> {
    vec![
        Op::Lui(SHARED, 0x10002),
        Op::Lui(STACK, 0x10008),
        Op::Addi(STACK, STACK, 0x100 * hart as i32),
    ]
}

/// The log of a load of eight bytes that sees two stores, and of a younger, narrow one that does not
/// see the second: the shape of NaxRiscv 147.
#[test]
fn a_younger_narrow_load_that_sees_an_older_value_than_a_wide_one_is_found() {
    let log = "\
core   0: 3 0x0000000010000000 (0x00b52023) mem 0x0000000010002000 0x11111111
core   0: 3 0x0000000010000004 (0x00c52223) mem 0x0000000010002004 0x22222222
core   1: 3 0x0000000010001000 (0x00053283) x5  0x2222222211111111 mem 0x0000000010002000
core   1: 3 0x0000000010001004 (0x00452303) x6  0x0000000000000000 mem 0x0000000010002004
core   1: 3 0x0000000010001008 (0x00054383) x7  0x0000000000000011 mem 0x0000000010002000
";
    let history = read(log, true);
    assert!(history.mixed().is_some());
    assert!(!allowed(&history));
    let under = |history: &History, model| {
        judge(history, model, Engine::Auto, &Budget::unlimited()).outcome
    };
    let Outcome::Broken(_) = under(&history, models::Model::Wmo) else {
        panic!("{}", Format::Text.text(&history));
    };
    let right = log.replace("x6  0x0000000000000000", "x6  0x0000000022222222");
    assert!(allowed(&read(&right, true)));
    // Both stores stay, since the wide load returns both.
    let rvwmo = ModelFile::shipped("rvwmo").unwrap();
    for model in [AnyModel::from(models::Model::Wmo), AnyModel::from(rvwmo)] {
        for shared_only in [false, true] {
            let small = smallest(&read(log, shared_only), model.clone());
            assert_eq!(small.len(), 4, "{}", Format::Text.text(&small));
            assert!(!allowed(&small));
            let inits = small.address_ids().filter(|&a| small.address(a).init_line.is_some());
            assert_eq!(inits.count(), 0, "{}", Format::Text.text(&small));
        }
    }
}

/// A store of eight bytes, a load of all of them, and a younger load of one that sees the bytes before
/// the store, in a log of work that has nothing to do with it.
#[test]
fn a_narrow_load_that_passes_a_wide_one_is_shrunk_to_three_instructions() {
    let mut programs: Vec<Vec<Op>> = Vec::new();
    for hart in 0..2 {
        let mut program = prologue(hart);
        program.extend(work(20));
        programs.push(program);
    }
    let mut log = Machine::new(programs, Fault::None, 1).run(4000);
    log += "\
core   0: 3 0x0000000010000100 (0x00b53023) mem 0x0000000010002000 0x2222222211111111
core   1: 3 0x0000000010001100 (0x00053283) x5  0x2222222211111111 mem 0x0000000010002000
core   1: 3 0x0000000010001104 (0x00054383) x7  0x0000000000000000 mem 0x0000000010002000
";
    let history = read(&log, false);
    assert!(history.len() > 60 && !allowed(&history));
    let rvwmo = AnyModel::from(ModelFile::shipped("rvwmo").unwrap());
    let small = smallest(&history, rvwmo);
    assert_eq!(small.len(), 3, "{}", Format::Text.text(&small));
    assert!(!allowed(&small));
}

/// The smallest part that violates the model.
fn smallest(history: &History, model: AnyModel) -> History {
    let budget = Budget::unlimited();
    let Verdict::Broken(proof) = model.refute(history, Engine::Auto, &budget) else {
        panic!("{}", Format::Text.text(history));
    };
    shrink(history, model, &proof, ShrinkOptions::default(), &budget).history
}

/// Some work on the stack of a hart: instructions that have nothing to do with the bug.
fn work(rounds: i32) -> Vec<Op> {
    let mut ops = Vec::new();
    for round in 0..rounds {
        ops.extend([
            Op::Addi(5, ZERO, round),
            Op::Store(4, 5, STACK, 8 * (round % 8)),
            Op::Load(4, 6, STACK, 8 * (round % 8)),
            Op::Add(7, 6, 5),
        ]);
    }
    ops
}

/// Hart 0 writes data, then a flag, with a fence between; hart 1 waits for the flag and reads data.
fn message_passing(rounds: i32) -> Vec<Vec<Op>> {
    let mut writer = prologue(0);
    writer.extend(work(rounds));
    writer.extend([
        Op::Addi(5, ZERO, 42),
        Op::Store(4, 5, SHARED, 0),
        Op::Fence(1, 1),
        Op::Addi(6, ZERO, 1),
        Op::Store(4, 6, SHARED, 0x40),
    ]);
    writer.extend(work(rounds));
    let mut reader = prologue(1);
    reader.extend(work(rounds));
    reader.push(Op::Addi(6, ZERO, 1));
    let again = reader.len();
    reader.extend([
        Op::Load(4, 5, SHARED, 0x40),
        Op::Bne(5, 6, again),
        Op::Fence(2, 3),
        Op::Load(4, 7, SHARED, 0),
    ]);
    vec![writer, reader]
}

/// The first log of a faulty machine that RVWMO does not allow.
fn broken(programs: &[Vec<Op>], fault: Fault) -> String {
    let mut logs = (0..200).map(|seed| Machine::new(programs.to_vec(), fault, seed).run(4000));
    logs.find(|log| !allowed(&read(log, true))).expect("the fault shows")
}

#[test]
fn a_machine_without_faults_passes_messages() {
    for seed in 0..50 {
        let log = Machine::new(message_passing(5), Fault::None, seed).run(4000);
        assert!(allowed(&read(&log, false)), "seed {seed}:\n{log}");
    }
}

#[test]
fn a_message_passing_bug_is_found_and_shrunk_to_a_handful_of_instructions() {
    let log = broken(&message_passing(20), Fault::FenceIgnored);
    let history = read(&log, false);
    assert!(history.len() > 60, "{} events", history.len());
    assert!(!allowed(&history));
    let budget = Budget::unlimited();
    let judgement = judge(&history, models::Model::Wmo, Engine::Auto, &budget);
    let Outcome::Broken(proof) = judgement.outcome else { panic!("wmo keeps these fences, too") };
    let options = ShrinkOptions::default();
    let small = shrink(&history, models::Model::Wmo, &proof, options, &budget).history;
    assert!(small.len() <= 6, "{}", Format::Text.text(&small));
    assert!(!allowed(&small));
    let text = Format::Text.text(&small);
    for instruction in ["sw t0,0(a0)", "fence w,w", "sw t1,64(a0)", "fence r,rw", "lw t2,0(a0)"] {
        assert!(text.contains(instruction), "{instruction} is in\n{text}");
    }
    assert!(small.event_ids().all(|event| small.commit(event).is_some_and(|c| c.pc.is_some())));
}

#[test]
fn dependencies_decide_what_a_stale_load_may_return() {
    // The reader's second load: after the flag, with nothing, an address or a branch between.
    let reader = |between: &[Op], base: u32| {
        let mut ops = prologue(1);
        ops.push(Op::Addi(6, ZERO, 1));
        let again = ops.len();
        ops.extend([Op::Load(4, 5, SHARED, 0x40), Op::Bne(5, 6, again)]);
        ops.extend(between);
        ops.push(Op::Load(4, 7, base, 0));
        ops
    };
    let writer = message_passing(0).swap_remove(0);
    let broken = |reader: Vec<Op>| {
        let programs = vec![writer.clone(), reader];
        let logs =
            (0..150).map(|seed| Machine::new(programs.clone(), Fault::StaleLoads, seed).run(500));
        logs.filter(|log| !allowed(&read(log, false))).count()
    };
    assert_eq!(broken(reader(&[], SHARED)), 0, "a branch does not order loads");
    let address = [Op::Xor(8, 5, 5), Op::Add(9, SHARED, 8)];
    assert!(broken(reader(&address, 9)) > 0, "an address dependency does");
    let through_stack = [
        Op::Store(4, 5, STACK, 0),
        Op::Load(4, 8, STACK, 0),
        Op::Xor(8, 8, 8),
        Op::Add(9, SHARED, 8),
    ];
    assert!(broken(reader(&through_stack, 9)) > 0, "also through memory of its own");
}

/// What may stand between two accesses of a hart, and the register that then has the base address
/// of what is shared: fences, branches, and ways through memory of its own.
fn between(rng: &mut Rng, mut value: u32) -> (Vec<Op>, u32) {
    let mut ops = Vec::new();
    let mut base = SHARED;
    for _ in 0..1 + rng.below(4) {
        match rng.below(10) {
            7 => ops.push(Op::Fence(3, 3)),
            8 => {
                ops.push(Op::Addi(14, SHARED, 0x80));
                ops.push(Op::AmoAdd(12, value, 14, rng.below(4) as u32));
            }
            9 => {
                ops.push(Op::Addi(14, SHARED, 0x80));
                ops.push(Op::LoadReserved(12, 14));
                ops.push(Op::StoreConditional(13, value, 14));
                ops.push(Op::Bne(13, 31, 0));
            }
            0..2 => {
                let sets = [(3, 3), (2, 3), (3, 1), (1, 1), (2, 1), (1, 2), (3, 2)];
                let (before, after) = sets[rng.below(sets.len())];
                ops.push(Op::Fence(before, after));
            }
            2 => ops.push(Op::Store(4, value, STACK, 0)),
            3 => {
                value = 12 + rng.below(2) as u32;
                ops.push(Op::Load(4, value, STACK, 0));
            }
            4 => {
                ops.extend([Op::Xor(8, value, value), Op::Add(9, SHARED, 8)]);
                base = 9;
            }
            5 => {
                ops.extend([Op::Xor(8, value, value), Op::Add(9, STACK, 8)]);
                ops.push(Op::Store(4, ZERO, 9, 8));
            }
            _ => ops.push(Op::Bne(value, 31, 0)),
        }
    }
    (ops, base)
}

/// Message passing with anything between the two accesses of each hart.
fn random_programs(rng: &mut Rng) -> Vec<Vec<Op>> {
    let mut writer = prologue(0);
    writer.extend([Op::Addi(5, ZERO, 42), Op::Store(4, 5, SHARED, 0)]);
    writer.extend(between(rng, 5).0);
    if rng.percent(70) {
        writer.push(Op::Fence(3, 1));
    }
    writer.extend([Op::Addi(6, ZERO, 1), Op::Store(4, 6, SHARED, 0x40)]);
    let mut reader = prologue(1);
    reader.push(Op::Addi(6, ZERO, 1));
    let again = reader.len();
    reader.extend([Op::Load(4, 5, SHARED, 0x40), Op::Bne(5, 6, again)]);
    let (ops, base) = between(rng, 5);
    reader.extend(ops);
    reader.push(match rng.below(4) {
        0 => Op::Store(4, 6, base, 0),
        _ => Op::Load(4, 7, base, 0),
    });
    let mut programs = vec![writer, reader];
    // Branches go to what follows them.
    for program in &mut programs {
        for (at, op) in program.iter_mut().enumerate() {
            if let Op::Bne(_, 31, to) = op {
                *to = at + 1;
            }
        }
    }
    programs
}

#[test]
fn what_is_left_out_changes_no_verdict_and_a_right_machine_is_never_blamed() {
    let (mut broken, mut shorter) = (0, 0);
    for seed in 0..trials() {
        let mut rng = Rng::numbered(7, seed);
        let programs = random_programs(&mut rng);
        let faults = [Fault::None, Fault::StaleLoads, Fault::StaleLoads, Fault::StaleLoads];
        let fault = faults[rng.below(faults.len())];
        let log = Machine::new(programs, fault, seed).run(2000);
        let (all, shared) = (read(&log, false), read(&log, true));
        let verdict = allowed(&all);
        assert_eq!(verdict, allowed(&shared), "seed {seed}:\n{log}");
        assert!(verdict || fault != Fault::None, "seed {seed}:\n{log}");
        broken += usize::from(!verdict);
        shorter += usize::from(shared.len() < all.len());
    }
    let trials = trials() as usize;
    assert!(broken > trials / 25 && shorter > trials / 3, "{broken} broken, {shorter} shorter");
}
