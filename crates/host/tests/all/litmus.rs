//! Litmus tests on this machine: every instruction computes what the models say it computes, and
//! races end as tso allows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use chance::Rng;
use litmus::{Limits, Litmus, outcomes, parse};
use models::Model;
use stress::{Runs, TargetError};
use tribunal_host::{Host, Observation};

/// The states that came, and how many runs were given up.
type RunResult = (BTreeMap<Vec<u64>, u64>, u64);

fn run(host: &mut Host, test: &Litmus, count: u64) -> Result<RunResult, TargetError> {
    let stop = AtomicBool::new(false);
    let (mut states, mut given_up) = (BTreeMap::new(), 0);
    host.litmus(test, Runs { count, seed: 3, stop: &stop }, &mut |seen| {
        match seen {
            Observation::State(state, times) => *states.entry(state.to_vec()).or_default() += times,
            Observation::GivenUp(times) => given_up += times,
        }
        ControlFlow::Continue(())
    })?;
    assert_eq!(states.values().sum::<u64>() + given_up, count);
    Ok((states, given_up))
}

/// A host, or a remark why there is none here.
fn host() -> Option<Host> {
    Host::new().inspect_err(|why| eprintln!("skipped: {why}")).ok()
}

/// Runs a test and compares with tso.
fn compare(host: &mut Host, test: &Litmus, count: u64) -> RunResult {
    let ran = run(host, test, count).unwrap_or_else(|why| panic!("{why}\n{}", test.to_text()));
    let allowed = outcomes(test, Model::Tso, &Limits::NONE).unwrap();
    for state in ran.0.keys() {
        let spelled = allowed.spelled(state);
        assert!(allowed.contains(state), "{spelled}\n{}", test.to_text());
    }
    ran
}

const SIZES: [char; 4] = ['b', 'w', 'l', 'q'];
const LOCATIONS: [&str; 4] = ["a", "b", "c", "d"];

/// Their names, narrow to wide, as instructions of each size call them.
const REGISTERS: [[&str; 4]; 14] = [
    ["al", "ax", "eax", "rax"],
    ["bl", "bx", "ebx", "rbx"],
    ["cl", "cx", "ecx", "rcx"],
    ["dl", "dx", "edx", "rdx"],
    ["sil", "si", "esi", "rsi"],
    ["dil", "di", "edi", "rdi"],
    ["bpl", "bp", "ebp", "rbp"],
    ["r8b", "r8w", "r8d", "r8"],
    ["r9b", "r9w", "r9d", "r9"],
    ["r10b", "r10w", "r10d", "r10"],
    ["r11b", "r11w", "r11d", "r11"],
    ["r12b", "r12w", "r12d", "r12"],
    ["r14b", "r14w", "r14d", "r14"],
    ["r15b", "r15w", "r15d", "r15"],
];

const JUMPS: [&str; 15] = [
    "jmp", "je", "jne", "jl", "jle", "jg", "jge", "jb", "jbe", "ja", "jae", "js", "jns", "jo",
    "jno",
];

/// One thread of many instructions of all kinds and sizes; either shifts or jumps.
fn one_thread(rng: &mut Rng) -> String {
    let mut text = String::from("X86_64 random\n{ int8_t a; int16_t b; int32_t c; int64_t d;\n");
    for register in REGISTERS {
        if rng.percent(50) {
            writeln!(text, "int64_t 0:{}={};", register[3], rng.bits() as i64).unwrap();
        }
    }
    text.push_str("}\n P0 ;\n");
    let shifts = rng.percent(30);
    for index in 0..20 {
        instruction(rng, shifts, index, &mut text);
    }
    for index in 0..20 {
        writeln!(text, "L{index}: ;").unwrap();
    }
    text.push_str("locations [a; b; c; d;");
    for register in REGISTERS {
        write!(text, " 0:{};", register[3]).unwrap();
    }
    text.push_str("]\nforall (true)\n");
    text
}

fn instruction(rng: &mut Rng, shifts: bool, index: usize, text: &mut String) {
    let size = rng.below(4);
    let suffix = SIZES[size];
    let register = |rng: &mut Rng| format!("%{}", REGISTERS[rng.below(REGISTERS.len())][size]);
    let memory = format!("({})", LOCATIONS[size]);
    let any = |rng: &mut Rng| if rng.percent(50) { memory.clone() } else { register(rng) };
    let value = |rng: &mut Rng| match rng.below(3) {
        0 => format!("${}", rng.below(4) as i64 - 2),
        // As wide as the size has, but what is extended from 32 bits.
        _ => format!("${}", (rng.bits() as i64) >> (64 - (8_u32 << size).min(32))),
    };
    // Two operands, of which at most one is memory; the source comes first.
    let two = |rng: &mut Rng| match rng.below(3) {
        0 => format!("{},{}", value(rng), any(rng)),
        1 => format!("{},{}", register(rng), any(rng)),
        _ => format!("{},{}", any(rng), register(rng)),
    };
    let pick = |rng: &mut Rng, from: &[&'static str]| from[rng.below(from.len())];
    let lock = |rng: &mut Rng, to: &str| match to.starts_with('(') && rng.percent(50) {
        true => "lock ",
        false => "",
    };
    let line = match rng.below(12) {
        0..2 => format!("mov{suffix} {}", two(rng)),
        2..4 => {
            let name = pick(rng, &["add", "sub", "and", "or", "xor"]);
            let operands = two(rng);
            let to = operands.split(',').next_back().unwrap_or_default().to_owned();
            format!("{}{name}{suffix} {operands}", lock(rng, &to))
        }
        4 => {
            let (name, to) = (pick(rng, &["inc", "dec", "neg", "not"]), any(rng));
            format!("{}{name}{suffix} {to}", lock(rng, &to))
        }
        5 => format!("{}{suffix} {}", pick(rng, &["cmp", "test"]), two(rng)),
        6 => format!("xchg{suffix} {},{}", register(rng), any(rng)),
        7 => {
            let to = any(rng);
            format!("{}xadd{suffix} {},{to}", lock(rng, &to), register(rng))
        }
        8 => format!("{}cmpxchg{suffix} {},{memory}", lock(rng, &memory), register(rng)),
        9 => pick(rng, &["mfence", "sfence", "lfence", "nop"]).to_owned(),
        _ if shifts => {
            let name = pick(rng, &["shl", "shr", "sar"]);
            format!("{name}{suffix} ${},{}", rng.below(40), any(rng))
        }
        10 => format!("movabs ${},%{}", rng.bits() as i64, REGISTERS[rng.below(14)][3]),
        _ => {
            let target = index + rng.below(20 - index);
            format!("{} L{}", pick(rng, &JUMPS), target)
        }
    };
    // A label stands behind everything that jumps to it.
    writeln!(text, " {line} ;").unwrap();
}

#[test]
fn every_instruction_computes_here_what_the_models_say() {
    let Some(mut host) = host() else { return };
    let mut rng = Rng::new(11);
    for _ in 0..400 {
        let text = one_thread(&mut rng);
        let test = parse(&text).unwrap_or_else(|problem| panic!("{}\n{text}", problem.message));
        let (states, _) = compare(&mut host, &test, 2);
        assert_eq!(states.len(), 1, "{text}");
    }
}

/// The examples of the project, each in a few thousand runs.
#[test]
fn the_examples_end_as_tso_allows() {
    let Some(mut host) = host() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/litmus");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "litmus") {
            let test = parse(&std::fs::read_to_string(path).unwrap()).unwrap();
            let (states, _) = compare(&mut host, &test, 5000);
            assert!(!states.is_empty(), "{}", test.name);
            compared += 1;
        }
    }
    assert!(compared >= 13);
}

#[test]
fn a_loop_that_nothing_ends_is_given_up() {
    let Some(mut host) = host() else { return };
    let test = "X86_64 endless\n{ }\n P0 | P1 ;\n L: movl (x),%eax | movl $2,(x) ;\n\
                cmpl $1,%eax | ;\n jne L | ;\nexists (0:rax=1)";
    let (states, given_up) = run(&mut host, &parse(test).unwrap(), 3000).unwrap();
    assert_eq!((states.len(), given_up), (0, 3000));
}

#[test]
fn what_has_another_meaning_here_is_refused_with_the_reason() {
    let Some(mut host) = host() else { return };
    for (init, code, why) in [
        ("0:rax=x;", "movq %rbx,%rax ; movl (%rax),%ecx ;", "computes an address"),
        ("int64_t x;", "movl $1,(x) ;", "32 bits of `x`, which has 64"),
        ("x=0;", "movl $1,%esp ;", "stack pointer"),
        ("", "movq $4294967296,(x) ;", "does not fit"),
        ("x=0;", "shll $1,%eax ; je L ; L: nop ;", "jumps after a shift"),
    ] {
        let text = format!("X86_64 odd\n{{ {init} }}\n P0 ;\n {code}\nexists (x=1)");
        let test = parse(&text).unwrap_or_else(|problem| panic!("{}\n{text}", problem.message));
        match run(&mut host, &test, 10) {
            Err(TargetError::Unsuitable(reason)) => assert!(reason.contains(why), "{reason}"),
            other => panic!("{other:?}\n{text}"),
        }
    }
    // An address that stays where it is can be used.
    let text = "X86_64 even\n{ 0:rax=x; }\n P0 ;\n movl $7,(%rax) ;\nforall (x=7 /\\ 0:rax=x)";
    let (states, _) = compare(&mut host, &parse(text).unwrap(), 10);
    assert_eq!(states.len(), 1);
}
