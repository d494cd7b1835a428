//! Accesses of mixed sizes: every engine agrees with the definition, byte by byte, and the kernel
//! accepts the evidence.

use certify::certify;
use evidence::{Certificate, Evidence};
use history::{History, Misaligned, ReadOptions, TraceReader, parse_text};
use models::Model;
use oracle::{Rng, allows, random_sized_history, text};
use tribunal_judge::{
    Budget, DecidedBy, Engine, ModelFile, Outcome, ShrinkOptions, judge, judge_by_file, shrink,
};

const STORE_MODELS: [Model; 6] =
    [Model::Sc, Model::Tso, Model::Pso, Model::Wmo, Model::Rmo, Model::Coherence];

/// How many random histories to try; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

/// What an engine says, once the kernel has accepted its evidence, also after it has been written
/// down and read again; `None` if it is undecided.
fn certified(history: &History, model: Model, engine: Engine) -> Option<bool> {
    let judgement = judge(history, model, engine, &Budget::unlimited());
    let (consistent, evidence) = match judgement.outcome {
        Outcome::Holds(witness) => (true, Evidence::Consistent(witness)),
        Outcome::Broken(proof) => (false, Evidence::Violation(proof)),
        Outcome::Undecided(_) => {
            let complete = matches!(engine, Engine::Auto | Engine::Sat);
            assert!(!complete, "{engine:?} is undecided under {model}:\n{}", text(history));
            return None;
        }
    };
    let line = Certificate { trace: 1, model, evidence }.to_json(history);
    let certificate = Certificate::from_json(&line, history).unwrap();
    if let Err(rejection) = certify(history, &certificate) {
        panic!(
            "the kernel rejects what {engine:?} says under {model}: {rejection}\n{}\n{line}",
            text(history)
        );
    }
    Some(consistent)
}

#[test]
fn every_engine_agrees_with_the_definition_by_bytes() {
    // By model: how many were allowed, forbidden; and by engine how many it decided.
    let mut verdicts = [[0u64; 2]; STORE_MODELS.len()];
    let mut decided = vec![0u64; Engine::ALL.len()];
    for seed in 0..trials() {
        let history = random_sized_history(seed);
        for (model, counts) in STORE_MODELS.into_iter().zip(&mut verdicts) {
            let expected = allows(&history, model);
            counts[usize::from(expected)] += 1;
            for (&(engine, ..), count) in Engine::ALL.iter().zip(&mut decided) {
                let Some(answer) = certified(&history, model, engine) else { continue };
                *count += 1;
                let said = text(&history);
                assert_eq!(answer, expected, "{engine:?} under {model}, seed {seed}:\n{said}");
            }
        }
    }
    let enough = trials() / 20;
    assert!(verdicts.iter().flatten().all(|&count| count > enough), "{verdicts:?}");
    assert!(decided.iter().filter(|&&count| count > trials()).count() >= 4, "{decided:?}");
}

/// What the models say, one letter each: sc, tso, pso, wmo, rmo, coherence.
fn verdicts(trace: &str) -> String {
    let history = parse_text(trace).unwrap();
    let letter = |model| match certified(&history, model, Engine::Auto) {
        Some(true) => 'y',
        Some(false) => 'n',
        None => '?',
    };
    STORE_MODELS.into_iter().map(letter).collect()
}

#[test]
fn a_younger_byte_does_not_see_an_older_value_than_an_older_word() {
    // Core bugs of this shape: a narrow load passes an older wide one of the same address.
    let trace = "0: M[0x1000:8] := 0x0101010101010101\n\
                 1: M[0x1000:8] == 0x0101010101010101\n\
                 1: M[0x1000:1] == 0";
    assert_eq!(verdicts(trace), "nnnnyn");
}

#[test]
fn a_load_is_not_torn() {
    let trace = "0: M[0x10:4] := 0x01010101\n1: M[0x10:4] == 0x0101\n1: M[0x10:2] == 0x0101";
    assert_eq!(verdicts(trace), "nnnnnn");
}

#[test]
fn bytes_come_from_the_own_buffer_and_from_memory() {
    // Each thread sees its own byte before the other's: store buffering within a word.
    let trace = "0: M[0x10:1] := 1\n0: M[0x10:2] == 0x0001\n\
                 1: M[0x11:1] := 1\n1: M[0x10:2] == 0x0100";
    assert_eq!(verdicts(trace), "nyyyyy");
}

#[test]
fn overlapping_writes_have_one_order() {
    let trace = "0: M[0x10:2] := 0x0101\n1: M[0x10:2] := 0x0202\n\
                 2: M[0x10:1] == 1\n2: M[0x10:1] == 2\n3: M[0x11:1] == 2\n3: M[0x11:1] == 1";
    assert_eq!(verdicts(trace), "nnnnyn");
}

#[test]
fn an_exchange_covers_all_its_bytes() {
    let trace = "0: <M[0x10:4] == 0; M[0x10:4] := 0x01010101>\n1: M[0x12:1] := 2\n\
                 2: M[0x10:4] == 0x00020000\n2: M[0x10:4] == 0x01010101";
    assert_eq!(verdicts(trace), "nnnnnn");
}

/// A run of a machine with store buffers for these threads, in recorded order: accesses of 1, 2, 4
/// and 8 bytes in a few cache lines. The byte of every store counts up, so values repeat after 255.
struct SizedRun {
    rng: Rng,
    memory: Vec<u8>,
    buffers: Vec<Vec<(usize, u64, u64)>>,
    lines: Vec<String>,
    stores: u64,
}

const BYTES: usize = 128;

impl SizedRun {
    fn new(seed: u64, threads: usize) -> Self {
        let (rng, memory) = (Rng::new(seed), vec![0; BYTES]);
        let buffers = vec![Vec::new(); threads];
        Self { rng, memory, buffers, lines: Vec::new(), stores: 0 }
    }

    fn load(&self, thread: usize, at: usize, size: usize) -> u64 {
        let mut memory = self.memory.clone();
        for &(at, size, value) in &self.buffers[thread] {
            memory[at..at + size as usize].copy_from_slice(&value.to_le_bytes()[..size as usize]);
        }
        memory[at..at + size].iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    fn drain(&mut self, thread: usize) {
        if !self.buffers[thread].is_empty() {
            let (at, size, value) = self.buffers[thread].remove(0);
            let bytes = &value.to_le_bytes()[..size as usize];
            self.memory[at..at + size as usize].copy_from_slice(bytes);
        }
    }

    fn step(&mut self, buffered: bool) {
        let thread = self.rng.below(self.buffers.len());
        let size = 1 << self.rng.below(4);
        let at = self.rng.below(BYTES / size) * size;
        if self.rng.percent(50) {
            let value = self.load(thread, at, size);
            self.lines.push(format!("{thread}: M[{at:#x}:{size}] == {value:#x}"));
        } else {
            self.stores += 1;
            let byte = 1 + self.stores % 255;
            let value = (0..size).fold(0, |value, _| value << 8 | byte);
            self.lines.push(format!("{thread}: M[{at:#x}:{size}] := {value:#x}"));
            self.buffers[thread].push((at, size as u64, value));
        }
        while !buffered && !self.buffers[thread].is_empty() || self.buffers[thread].len() > 4 {
            self.drain(thread);
        }
        if self.rng.percent(40) {
            let thread = self.rng.below(self.buffers.len());
            self.drain(thread);
        }
    }

    fn history(&self) -> History {
        parse_text(&self.lines.join("\n")).unwrap()
    }
}

#[test]
fn long_runs_in_recorded_order_are_decided_by_it() {
    let mut run = SizedRun::new(1, 4);
    for _ in 0..30_000 {
        run.step(false);
    }
    let history = run.history();
    for model in STORE_MODELS {
        let judgement = judge(&history, model, Engine::Auto, &Budget::unlimited());
        assert!(matches!(judgement.outcome, Outcome::Holds(_)), "{model}");
        assert_eq!(judgement.decided_by, DecidedBy::Recorded, "{model}");
    }
    assert_eq!(certified(&history, Model::Tso, Engine::Auto), Some(true));
}

#[test]
fn runs_with_store_buffers_are_decided() {
    for seed in 0..3 {
        let mut run = SizedRun::new(seed, 4);
        for _ in 0..400 {
            run.step(true);
        }
        let history = run.history();
        for model in [Model::Tso, Model::Pso, Model::Wmo, Model::Coherence] {
            assert_eq!(
                certified(&history, model, Engine::Auto),
                Some(true),
                "{model}, seed {seed}"
            );
        }
        assert_eq!(certified(&history, Model::Sc, Engine::Auto), Some(false), "seed {seed}");
    }
}

#[test]
fn a_narrow_load_that_passes_a_wide_one_is_found_in_a_long_run_and_shrunk() {
    let mut run = SizedRun::new(7, 4);
    run.lines.push("0: M[0x100:8] := 0x1111111111111111".into());
    for _ in 0..300 {
        run.step(false);
    }
    // Thread 0 stores eight bytes again; thread 1 loads them, and then one of them as it was before.
    run.lines.push("0: M[0x100:8] := 0xfefefefefefefefe".into());
    run.lines.push("1: M[0x100:8] == 0xfefefefefefefefe".into());
    run.lines.push("1: M[0x100:1] == 0x11".into());
    for _ in 0..300 {
        run.step(false);
    }
    let history = run.history();
    for model in [Model::Sc, Model::Tso, Model::Pso, Model::Wmo, Model::Coherence] {
        let judgement = judge(&history, model, Engine::Auto, &Budget::unlimited());
        let Outcome::Broken(proof) = judgement.outcome else { panic!("{model} is broken") };
        let shrunk =
            shrink(&history, model, &proof, ShrinkOptions::default(), &Budget::unlimited());
        assert!(shrunk.history.len() <= 4, "{model}:\n{}", text(&shrunk.history));
        assert_eq!(certified(&shrunk.history, model, Engine::Auto), Some(false), "{model}");
    }
}

#[test]
fn files_of_the_built_in_models_say_what_these_say() {
    let models = [Model::Sc, Model::Tso, Model::Pso, Model::Wmo];
    let files = models.map(|model| ModelFile::shipped(&model.to_string()).unwrap());
    let mut verdicts = [[0u64; 2]; 4];
    for seed in 0..trials() / 5 {
        let history = random_sized_history(seed);
        for ((model, file), counts) in models.into_iter().zip(&files).zip(&mut verdicts) {
            let expected = if allows(&history, model) { "consistent" } else { "violation" };
            let said = judge_by_file(&history, file, &Budget::unlimited()).outcome.of_trace();
            assert_eq!(said, expected, "{model}, seed {seed}:\n{}", text(&history));
            counts[usize::from(said == "violation")] += 1;
        }
    }
    assert!(verdicts.iter().flatten().all(|&count| count > trials() / 100), "{verdicts:?}");
}

#[test]
fn models_of_architectures_judge_mixed_sizes() {
    let rvwmo = ModelFile::shipped("rvwmo").unwrap();
    let said = |trace: &str| {
        let history = parse_text(trace).unwrap();
        judge_by_file(&history, &rvwmo, &Budget::unlimited()).outcome.of_trace()
    };
    // A younger byte sees an older value than an older doubleword: rule 2 by bytes.
    let load_load = "0: M[0x1000:8] := 0x0101010101010101\n\
                     1: M[0x1000:8] == 0x0101010101010101\n1: M[0x1000:1] == 0";
    assert_eq!(said(load_load), "violation");
    // Message passing through bytes of one word, with fences and without.
    let passing = |before: &str, behind: &str| {
        format!(
            "0: M[0x1000:4] := 1\n{before}0: M[0x1004:4] := 1\n\
             1: M[0x1004:1] == 1\n{behind}1: M[0x1000:2] == 0\n"
        )
    };
    assert_eq!(said(&passing("", "")), "consistent");
    assert_eq!(said(&passing("0: fence w,w\n", "1: fence r,r\n")), "violation");
}

/// A line of a trace with a misaligned load or store, written as its bytes.
fn bytes_written_out(line: &str) -> String {
    let parts = || {
        let (head, rest) = line.split_once("M[0x")?;
        if head.contains('<') || head == "init " {
            return None; // an exchange is one access, and initial values are those of bytes
        }
        let (range, rest) = rest.split_once("] ")?;
        let (start, size) = range.split_once(':')?;
        let (start, size) = (u64::from_str_radix(start, 16).ok()?, size.parse::<u64>().ok()?);
        if size.is_power_of_two() && start.is_multiple_of(size) {
            return None;
        }
        let (sign, rest) = rest.split_at(3);
        let (value, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        let value = match value.strip_prefix("0x") {
            Some(digits) => u128::from_str_radix(digits, 16).ok()?,
            None => value.parse().ok()?,
        };
        Some((head, start, size, sign, value, tail))
    };
    let Some((head, start, size, sign, value, tail)) = parts() else { return format!("{line}\n") };
    let byte = |at: u64| {
        let value = value >> (8 * at) & 0xff;
        format!("{head}M[{:#x}:1] {sign}{value} {tail}\n", start + at)
    };
    (0..size).map(byte).collect()
}

fn read_split(trace: &str) -> Option<History> {
    let options = ReadOptions { misaligned: Misaligned::Split, ..ReadOptions::default() };
    TraceReader::new(trace.as_bytes(), "trace", options).next_trace().ok()?
}

/// The trace without its `init` lines, which may be said of accesses or of bytes.
fn without_inits(history: &History) -> String {
    let trace = text(history);
    let lines = trace.lines().filter(|line| !line.starts_with("init"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// `--misaligned split` is the trace with the bytes written out, and allows no less than `atomic`.
#[test]
fn misaligned_accesses_that_are_split_are_their_bytes() {
    let mut split = 0;
    for seed in 0..trials() {
        let whole = random_sized_history(seed);
        let trace = text(&whole);
        let written_out: String = trace.lines().map(bytes_written_out).collect();
        // Names and `order` lines speak of whole accesses.
        let is_named = trace.contains(" as ") || trace.contains("order");
        let count = written_out.lines().count();
        // Brute force looks at every order of the writes of each byte.
        if is_named || count == trace.lines().count() || count > 10 {
            continue;
        }
        split += 1;
        let expected = parse_text(&written_out).unwrap();
        let history = read_split(&trace).unwrap();
        assert_eq!(without_inits(&history), without_inits(&expected), "seed {seed}:\n{trace}");
        for model in STORE_MODELS {
            let said = certified(&history, model, Engine::Auto);
            assert_eq!(said, Some(allows(&expected, model)), "{model}, seed {seed}:\n{trace}");
            let as_one = allows(&whole, model);
            assert!(!as_one || said == Some(true), "{model}, seed {seed}:\n{trace}");
        }
    }
    assert!(split > trials() / 50, "{split} split");
    let torn = "0: M[0x11:2] := 0x0101\n1: M[0x11:2] == 0x0001\n1: M[0x11:1] == 1";
    assert_eq!(verdicts(torn), "nnnnnn");
    let history = read_split(torn).unwrap();
    for model in STORE_MODELS {
        assert_eq!(certified(&history, model, Engine::Auto), Some(true), "{model}");
    }
}

#[test]
fn what_depends_on_a_misaligned_load_depends_on_its_bytes() {
    let trace = "0: M[0x11:2] == 0x0101 as a\n0: M[0x20:1] := 1 addr a\n\
                 1: M[0x20:1] == 1 as b\n1: M[0x11:2] := 0x0101 data b";
    let history = read_split(trace).unwrap();
    assert_eq!(
        text(&history),
        "0: M[0x11:1] == 1 as a\n0: M[0x12:1] == 1 as a'1\n0: M[0x20:1] := 1 dep a,a'1\n\
         1: M[0x20:1] == 1 as b\n1: M[0x11:1] := 1 data b\n1: M[0x12:1] := 1 data b\ncheck\n"
    );
    let rvwmo = ModelFile::shipped("rvwmo").unwrap();
    let said = judge_by_file(&history, &rvwmo, &Budget::unlimited()).outcome.of_trace();
    assert_eq!(said, "violation");
}

#[test]
fn atomics_and_pairs_are_not_split_and_an_order_of_what_is_split_is_an_error() {
    let trace = "0: <M[0x11:2] == 0; M[0x11:2] := 0x0101>\n1: M[0x21:2] == 0 as l\n\
                 1: M[0x21:2] := 0x0202 pair l\n2: M[0x11:2] == 0x0101\n\
                 final M[0x11:2] == 0x0101";
    assert_eq!(read_split(trace).unwrap().len(), 5);
    let order = "0: M[0x11:2] := 0x0101\n1: M[0x11:2] := 0x0202\norder M[0x11:2]: 257 < 514";
    assert!(parse_text(order).is_ok() && read_split(order).is_none());
}
