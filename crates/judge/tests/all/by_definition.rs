//! Every engine that takes model files, the built-in models beside them, and brute force from the
//! definition of the file agree on random histories with everything that a trace can say; and
//! leaving anything out of a file shows on some of these histories.

use std::collections::{BTreeMap, BTreeSet};

use crate::recorded::interleaved;
use cat::{Answer, meets, solve};
use certify::certify_by_file;
use evidence::{FileCertificate, Verdict};
use history::{History, parse_text};
use models::Model;
use oracle::{Definition, Rng, Shape, annotated, executions, ordered_cycle, random_history, text};
use tribunal_judge::{Budget, Engine, ModelFile, Outcome, judge, judge_by_file};

/// The models that are compared.
const MODELS: [&str; 13] = [
    "sc",
    "tso",
    "pso",
    "wmo",
    "rmo",
    "coherence",
    "rvwmo",
    "rvtso",
    "aarch64",
    "aarch64-2020",
    "x86",
    "ra",
    "lin",
];

/// How many histories to try; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(250)
}

/// The seed of the first history; another one every day, so that CI looks at new histories.
fn first_seed() -> u64 {
    let day = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| now.as_secs() / 86_400 * 1_000_000)
    };
    let first = std::env::var("FIRST_SEED").ok().and_then(|n| n.parse().ok());
    let first = first.unwrap_or_else(day);
    println!("FIRST_SEED={first}");
    first
}

/// A cycle of accesses that an architecture keeps in order, or a history of one of the shapes in
/// turn, most of them with annotations; half of all with their lines in an order that mixes threads.
fn history(seed: u64) -> History {
    // The few that have very many executions would take most of the time.
    const MOST_EXECUTIONS: usize = 300;
    (0..)
        .map(|number| random(Rng::numbered(seed, number), seed))
        .find(|history| executions(history) <= MOST_EXECUTIONS)
        .expect("most have few")
}

fn random(mut rng: Rng, seed: u64) -> History {
    let shapes = Shape::all();
    let shape = &shapes[seed as usize % shapes.len()];
    let history = match rng.below(6) {
        0..3 => ordered_cycle(&mut rng),
        3 => random_history(&mut rng, shape),
        _ => {
            let history = random_history(&mut rng, shape);
            annotated(&mut rng, &history)
        }
    };
    if rng.percent(50) { history } else { interleaved(&history, seed) }
}

/// A model as a file, its definition, and the built-in one of its name.
struct Asked {
    file: ModelFile,
    definition: Definition,
    built_in: Option<Model>,
}

fn asked(name: &'static str) -> Asked {
    let built_in = name.parse().ok();
    let file = ModelFile::shipped(name).expect("it is shipped");
    Asked { file, definition: Definition::shipped(name).expect("it is there"), built_in }
}

/// Who answered how often, and how often a history was allowed.
#[derive(Default, Debug)]
struct Tally {
    allowed: u64,
    certified: u64,
    by: BTreeMap<String, u64>,
    unmet: BTreeMap<String, u64>,
}

impl Asked {
    /// Compares all answers about a history.
    fn compare(&self, history: &History, tally: &mut Tally) -> Result<(), String> {
        let unmet = self.definition.unmet(history);
        let expected = unmet.is_none();
        tally.allowed += u64::from(expected);
        if let Some(unmet) = unmet {
            let why = if unmet.is_empty() { "several".to_owned() } else { unmet.join("+") };
            *tally.unmet.entry(why).or_default() += 1;
        }
        let mut answers = vec![self.by_search(history)?];
        answers.extend(self.by_file(history, tally)?);
        answers.extend(self.by_built_in(history));
        match answers.iter().find(|(_, answer)| *answer != expected) {
            None => Ok(()),
            Some((engine, answer)) => Err(format!("{engine} says {answer}, not {expected}")),
        }
    }

    fn by_search(&self, history: &History) -> Result<(String, bool), String> {
        let answer = match solve(&self.file.model, history, |effort| effort.evaluations < 1_000_000)
        {
            Answer::Consistent(witness) if meets(&self.file.model, history, &witness) => true,
            Answer::Consistent(_) => return Err("the search has a wrong witness".to_owned()),
            Answer::Violation(_) => false,
            Answer::Undecided(_) => return Err("the search is undecided".to_owned()),
        };
        Ok(("the search".to_owned(), answer))
    }

    fn by_file(
        &self,
        history: &History,
        tally: &mut Tally,
    ) -> Result<Option<(String, bool)>, String> {
        let judgement = judge_by_file(history, &self.file, &Budget::unlimited());
        let engine = format!("{:?}", judgement.decided_by);
        *tally.by.entry(engine.clone()).or_default() += 1;
        if let Some(evidence) = judgement.evidence {
            let (model, digest) = (self.file.path.clone(), self.file.model.digest());
            let certificate = FileCertificate { trace: 1, model, digest, evidence };
            if let Err(rejection) = certify_by_file(history, &self.file.model, &certificate) {
                return Err(format!("the certificate of {engine} is rejected: {rejection}"));
            }
            tally.certified += 1;
        }
        match judgement.outcome {
            Verdict::Holds(witness) if meets(&self.file.model, history, &witness) => {
                Ok(Some((engine, true)))
            }
            Verdict::Holds(_) => Err(format!("{engine} has a wrong witness")),
            Verdict::Broken(_) => Ok(Some((engine, false))),
            Verdict::Undecided(why) => Err(format!("{engine} is undecided: {why:?}")),
        }
    }

    fn by_built_in(&self, history: &History) -> Vec<(String, bool)> {
        let Some(model) = self.built_in else { return Vec::new() };
        let mut answers = Vec::new();
        for &(engine, ..) in Engine::ALL {
            let answer = match judge(history, model, engine, &Budget::unlimited()).outcome {
                Outcome::Holds(_) => true,
                Outcome::Broken(_) => false,
                Outcome::Undecided(_) => continue,
            };
            answers.push((format!("{engine:?} of the built-in model"), answer));
        }
        // None answers where a trace says what no built-in model knows.
        if !answers.is_empty() {
            answers.push(("the other oracle".to_owned(), oracle::allows(history, model)));
        }
        answers
    }
}

#[test]
fn every_engine_agrees_with_the_definition_of_each_shipped_model() {
    let first = first_seed();
    let mut wrong = Vec::new();
    for name in MODELS {
        let asked = asked(name);
        let mut tally = Tally::default();
        let began = std::time::Instant::now();
        for seed in first..first + trials() {
            let history = history(seed);
            if let Err(why) = asked.compare(&history, &mut tally) {
                wrong.push(format!("{name}, seed {seed}: {why}\n{}", text(&history)));
            }
        }
        println!("{name}: {tally:?}, {:.1?}", began.elapsed());
        let share = 100 * tally.allowed / trials();
        assert!((10..=90).contains(&share), "{name} allows {share} % of the histories");
        if tally.certified < trials() {
            let rest = trials() - tally.certified;
            wrong.push(format!("{name}: {rest} verdicts without a certificate that holds"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n"));
}

/// `wmo` is the weaker of the two but for times, which rvwmo does not know (docs/models.md).
#[test]
fn without_times_wmo_allows_what_rvwmo_allows() {
    let [wmo, rvwmo] = ["wmo", "rvwmo"].map(|name| Definition::shipped(name).unwrap());
    let first = first_seed();
    let timed = "0: x := 1\n0: fence w,w\n0: y := 1\n1: y == 1 @ 10:20\n1: x == 0 @ 30:40";
    let timed = parse_text(timed).unwrap();
    assert!(!wmo.allows(&timed) && rvwmo.allows(&timed));
    let (mut both, mut forbidden) = (0u64, 0u64);
    for seed in first..first + 4 * trials() {
        let history = history(seed).without_times();
        let allowed = [&wmo, &rvwmo].map(|model| model.allows(&history));
        match allowed {
            [true, true] => both += 1,
            [true, false] => forbidden += 1,
            [false, false] => {}
            [false, true] => panic!("only rvwmo allows seed {seed}:\n{}", text(&history)),
        }
    }
    println!("{both} allowed by both, {forbidden} forbidden by rvwmo alone");
    assert!(both > trials() / 4 && forbidden > trials() / 4);
}

/// Parts of a model that follow from the rest of it, so that no history distinguishes the model
/// without them. All are by argument, and none is distinguished by 3,500 random histories:
///
/// * fences between kinds of accesses whose order the model keeps anyway (tso, pso, rvtso);
/// * `amo` on either side of `together`, since the global condition has `amo` itself;
/// * `amo^-1` on its right side: what comes before the write of an atomic, and so before whatever
///   comes after that write, need not come before its read. What comes after the read by program
///   order comes after the write by `amo^-1` on the left side, and what overwrites the value read
///   comes after the write by coherence order, since nothing comes between the two;
/// * `amo` in the global condition: the write of an atomic comes after what its read read, by
///   coherence order, and after what the read is ordered after, by `together`;
/// * `amo` in one of two conditions (locations and thin air, or rule 3 of rvwmo) that keep an atomic
///   from reading its own write;
/// * `co` in the condition of locations, and pairs of an access and a later write of its address in
///   the global one (`[W] ; po-loc ; [W]`, rules 1 and 8 of rvwmo): each implies the other. Two writes
///   of a thread and address are in coherence order by either, and a read comes before the write by
///   `fr`;
/// * rule 2 of rvwmo: the later read returns a write that overwrites what the earlier one returned
///   (`fr`), of another thread (`rfe`), or else the thread would have a write between the two reads;
/// * what Ztso keeps anyway, and the global condition of rvwmo, which is a part of that of Ztso;
/// * `X` in rules 3 and 7 of rvtso: an AMO is in order with all that is before and behind it, there;
/// * `_ * X` of x86, as `amo^-1` above;
/// * `id` of ra: it is about an atomic that is a single event, as in litmus tests for RISC-V, and
///   those of traces are two.
const FOLLOWS: &[(&str, &[&str])] = &[
    (
        "tso",
        &[
            "fence-from(R, R, Fence.r.r)",
            "fence-from(R, W, Fence.r.w)",
            "fence-from(R, M, Fence.r.rw)",
            "fence-from(W, W, Fence.w.w)",
            "fence-from(M, W, Fence.rw.w)",
            "fence-from(R, R, Fence.tso)",
            "amo",
            "amo",
            "amo^-1",
            "co",
            "amo",
        ],
    ),
    (
        "pso",
        &[
            "fence-from(R, R, Fence.r.r)",
            "fence-from(R, W, Fence.r.w)",
            "fence-from(R, M, Fence.r.rw)",
            "fence-from(R, R, Fence.tso)",
            "amo",
            "amo",
            "amo^-1",
            "co",
            "[W] ; po-loc ; [W]",
            "amo",
        ],
    ),
    ("wmo", &["amo", "amo", "amo^-1", "co", "[W] ; po-loc ; [W]", "amo"]),
    ("rmo", &["amo", "amo", "amo^-1", "amo", "amo", "amo"]),
    (
        "rvwmo",
        &[
            "amo",
            "amo",
            "amo^-1",
            "[M] ; po-loc ; [W]",
            "lxsx",
            "([R] ; read-twice ; [R]) \\ (rf^-1 ; rf)",
            "amo",
            "co",
            "amo",
        ],
    ),
    (
        "rvtso",
        &[
            "X",
            "fence-from(R, R, Fence.r.r)",
            "fence-from(R, W, Fence.r.w)",
            "fence-from(R, M, Fence.r.rw)",
            "fence-from(W, W, Fence.w.w)",
            "fence-from(M, W, Fence.rw.w)",
            "fence-from(R, R, Fence.tso)",
            "amo",
            "amo",
            "amo^-1",
            "[M] ; po-loc ; [W]",
            "X",
            "lxsx",
            "addr",
            "data ; [W]",
            "ctrl ; [W]",
            "(addr | data) ; [W] ; rfi ; [R]",
            "addr",
            "data",
            "addr ; [M] ; po ; [W]",
            "([R] ; read-twice ; [R]) \\ (rf^-1 ; rf)",
            "amo",
            "co",
            "acyclic kept | amo | rfe | co | fr as global",
            "kept",
            "amo",
            "rfe",
            "co",
            "fr",
            "amo",
        ],
    ),
    ("x86", &["_ * X"]),
    ("ra", &["id"]),
];

/// Seeds of histories that distinguish each model from itself without any of its other parts. With
/// `TRIBUNAL_TRIALS` the test looks for new ones among so many and prints them.
const TELLING: &[u64] = &[
    1, 4, 6, 8, 12, 22, 25, 33, 34, 39, 42, 44, 45, 47, 54, 57, 58, 65, 68, 69, 77, 78, 101, 117,
    127, 147, 170, 175, 208, 210, 257, 272, 280, 290, 332, 340, 361, 385, 386, 409, 421, 428, 457,
    470, 489, 513, 535, 548, 565, 627, 656, 696, 889, 1006, 1030, 1042, 1104, 1348, 1420, 1532,
    1924, 2017, 2076, 2092, 2469,
];

/// Histories that distinguish what is left.
const BY_HAND: [&str; 7] = [
    "0: x := 1\n0: dmb.sy\n0: y := 1\n1: <y == 1; y := 2>\n1: y == 2 acq\n1: x == 0",
    "0: x := 1\n0: dmb.sy\n0: y := 1\n1: <y == 1; y := 2>\n1: y == 2 acqpc\n1: x == 0",
    "0: x == 1 as a\n0: y := 1 data a\n0: y := 2\n1: y == 2 as b\n1: x := 1 data b",
    "0: x := 1\n0: sync\n0: y := 1\n1: y == 1 as a\n1: z := 1 addr a\n1: z == 1 as b\n1: x == 0 addr b",
    // rvwmo, rule 3: another thread reads what the AMO overwrites.
    "0: <x == 0; x := 1>\n0: x == 1 as a\n0: y == 0 addr a\n1: y := 1\n1: sync\n1: x == 0",
    // rvtso, rule 7: a store-conditional that releases, then a load-reserved that acquires, and a load
    // before the store-conditional of that one.
    "0: x == 0 as l\n0: x := 1 rel pair l\n0: y == 0 acq as m\n0: z == 0\n0: y := 2 pair m\n\
     1: z := 1\n1: sync\n1: x == 0",
    // wmo: reads of one address with a write of the thread between them; the later one has times.
    "0: x := 1\n0: fence w,w\n0: y := 1\n1: y == 1\n1: y := 2\n1: y == 2 @ 10:20\n1: x == 0 @ 30:40",
];

#[test]
fn whatever_is_left_out_of_a_model_shows_on_some_history() {
    let searched = std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse::<u64>().ok());
    let seeds = searched.map_or_else(|| TELLING.to_vec(), |trials| (0..trials).collect());
    let by_hand = BY_HAND.iter().map(|text| parse_text(text).unwrap());
    let random = seeds.iter().map(|&seed| history(seed));
    let histories: Vec<History> = by_hand.chain(random).collect();
    let (mut same, mut distinguishing) = (Vec::new(), BTreeSet::new());
    // `lin` is `sc` and a relation of its own, which `by_file` tests.
    for name in MODELS.into_iter().filter(|&name| name != "lin") {
        let whole = Definition::shipped(name).expect("it is there");
        let mut verdicts: Vec<Option<bool>> = vec![None; histories.len()];
        for mutant in whole.mutants() {
            let without = Definition::of(&mutant.text).expect("it is read");
            let mut distinguishes = |at: usize| {
                let expected = *verdicts[at].get_or_insert_with(|| whole.allows(&histories[at]));
                expected != without.allows(&histories[at])
            };
            // Those that distinguished others first, so that few are needed.
            let known = distinguishing.iter().copied().find(|&at| distinguishes(at));
            match known.or_else(|| (0..histories.len()).find(|&at| distinguishes(at))) {
                Some(at) => drop(distinguishing.insert(at)),
                None => same.push((name, mutant.without)),
            }
        }
    }
    let same: Vec<(&str, &str)> = same.iter().map(|(name, part)| (*name, part.as_str())).collect();
    let random = distinguishing.into_iter().filter_map(|at: usize| at.checked_sub(BY_HAND.len()));
    let distinguishing: Vec<u64> = random.map(|at| seeds[at]).collect();
    println!("distinguished by {distinguishing:?}, not distinguished:");
    same.iter().for_each(|pair| println!("    {pair:?},"));
    let follows = FOLLOWS.iter().flat_map(|(name, parts)| parts.iter().map(|part| (*name, *part)));
    assert_eq!(same, follows.collect::<Vec<_>>());
}
