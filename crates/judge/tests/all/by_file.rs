//! Models as files: the engines for long traces say what the search over all choices says, on
//! histories with everything that a trace can say.

use cat::{Answer, CatModel, meets, solve};
use certify::certify_by_file;
use evidence::{FileCertificate, Verdict};
use history::{EventId, History, Source, Value, parse_text};
use oracle::{Rng, Shape, annotated, random_histories, text};
use tribunal_judge::{Budget, DecidedBy, ModelFile, judge_by_file};

/// How many histories of each shape are tried; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

fn shipped(name: &str) -> ModelFile {
    ModelFile::new(format!("{name}.cat"), CatModel::shipped(name).expect("it is shipped"))
}

/// The models whose long traces are decided.
const SHAPED: [&str; 12] = [
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
    "lin",
];

/// What the search over all choices says.
fn searched(file: &ModelFile, history: &History) -> bool {
    match solve(&file.model, history, |effort| effort.evaluations < 1_000_000) {
        Answer::Consistent(_) => true,
        Answer::Violation(_) => false,
        Answer::Undecided(_) => panic!("undecided:\n{}", text(history)),
    }
}

/// What the engines for long traces say; `None` if it was not they who answered.
fn engines(file: &ModelFile, history: &History, seed: u64) -> Option<bool> {
    let judgement = judge_by_file(history, file, &Budget::unlimited());
    if judgement.decided_by == DecidedBy::Choices {
        return None;
    }
    match judgement.outcome {
        Verdict::Holds(witness) => {
            let is_right = meets(&file.model, history, &witness);
            assert!(is_right, "{}, seed {seed}: a wrong witness of\n{}", file.path, text(history));
            Some(true)
        }
        Verdict::Broken(_) => Some(false),
        Verdict::Undecided(why) => panic!("{}, seed {seed}: {why:?}\n{}", file.path, text(history)),
    }
}

#[test]
fn hardware_models_are_decided_for_long_traces() {
    let others: Vec<&str> = cat::shipped_models().filter(|name| !SHAPED.contains(name)).collect();
    assert_eq!(others, ["ra"]);
    for name in SHAPED {
        assert!(shipped(name).model.shape().is_ok(), "{name}");
    }
}

/// Today's model of Arm without one of its lines is no longer known to be coherent.
#[test]
fn coherence_that_is_not_asked_for_is_not_assumed() {
    let full = include_str!("../../../../models/aarch64.cat");
    for line in ["as read-then-write", "as write-then-write", "as write-then-read"] {
        let text: Vec<&str> = full.lines().filter(|each| !each.contains(line)).collect();
        let model = CatModel::from_text("without.cat", &text.join("\n")).expect("it is read");
        assert!(model.shape().is_err(), "{line}");
    }
    let changes = [
        ("| hazard-ordered-before |", "|"),
        ("[R] ; po-loc ; [R] ; fre ; [W]", "[R] ; po-loc ; [R & Acq] ; fre ; [W]"),
        ("[M] ; po-loc ; [W]", "[R] ; po-loc ; [W]"),
        ("irreflexive [R] ; (po-loc | rmw)", "irreflexive [R] ; po-loc"),
        ("[W] ; po-loc ; [R] ; fri", "[W & Rel] ; po-loc ; [R] ; fri"),
        ("\\ (fri ; [W] ; coi)", "\\ (fri ; [W & Rel] ; coi)"),
    ];
    for (from, to) in changes {
        assert!(full.contains(from), "{from}");
        let model =
            CatModel::from_text("changed.cat", &full.replace(from, to)).expect("it is read");
        assert!(model.shape().is_err(), "{from}");
    }
}

fn agree_on(make: impl Fn(u64, History) -> History) {
    let files = SHAPED.map(shipped);
    let mut answers = [[0u64; 2]; SHAPED.len()];
    let (mut decided, mut asked) = (0, 0);
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..trials()) {
            let history = make(seed, history);
            for (at, file) in files.iter().enumerate() {
                asked += 1;
                let Some(answer) = engines(file, &history, seed) else { continue };
                decided += 1;
                let expected = searched(file, &history);
                assert_eq!(answer, expected, "{}, seed {seed}:\n{}", file.path, text(&history));
                answers[at][usize::from(answer)] += 1;
            }
        }
    }
    assert!(answers.iter().flatten().all(|&count| count > trials() / 10), "{answers:?}");
    assert!(decided * 10 > asked * 6, "{decided} of {asked}");
}

#[test]
fn engines_for_long_traces_agree_with_the_search() {
    agree_on(|_, history| history);
}

#[test]
fn engines_for_long_traces_agree_with_the_search_on_annotations() {
    agree_on(|seed, history| annotated(&mut Rng::new(seed ^ 0xa550), &history));
}

/// All reads, all writes and all atomics annotated alike, so that a model keeps whole kinds of events
/// in order, and others not.
fn annotated_by_kind(seed: u64, history: &History) -> History {
    let mut rng = Rng::new(seed ^ 0x4b1d);
    let [read, write, atomic] =
        [(); 3].map(|()| ["", " acq", " rel", " acqrel", " sc"][rng.below(5)]);
    let lines: Vec<String> = text(history)
        .lines()
        .map(|line| match (line.contains(": <"), line.contains("=="), line.contains(":=")) {
            _ if !line.starts_with(|first: char| first.is_ascii_digit()) => line.to_owned(),
            (true, ..) => format!("{line}{atomic}"),
            (_, true, _) => format!("{line}{read}"),
            (_, _, true) => format!("{line}{write}"),
            _ => line.to_owned(),
        })
        .collect();
    let annotated = lines.join("\n");
    parse_text(&annotated).unwrap_or_else(|error| panic!("{error}\n{annotated}"))
}

#[test]
fn engines_for_long_traces_agree_with_the_search_on_annotated_kinds() {
    agree_on(|seed, history| annotated_by_kind(seed, &history));
}

/// Every read releases and every write acquires: all is kept but reads before writes.
#[test]
fn reads_are_not_kept_before_writes_because_all_else_is() {
    let trace = "0: y == 1 rel\n0: x := 1 acq\n1: <x == 1; x := 21> sc\n1: <y == 0; y := 1> acqrel";
    let history = parse_text(trace).unwrap();
    let file = shipped("rvwmo");
    assert!(searched(&file, &history));
    assert_eq!(engines(&file, &history, 0), Some(true));
}

/// For each rule of rvwmo that does not follow from the others, a trace that needs it.
const NEEDED: [(&str, &str); 10] = [
    (
        "rule 3:",
        "0: x := 1\n0: sync\n0: y := 1\n1: y == 1 as l\n1: y := 2 pair l\n1: y == 2 as a\n1: x == 0 addr a",
    ),
    ("rule 4:", "0: x := 1\n0: sync\n0: y := 1\n1: y == 1\n1: fence r,r\n1: x == 0"),
    ("rule 5:", "0: x := 1\n0: sync\n0: y := 1\n1: y == 1 acq\n1: x == 0"),
    ("rule 6:", "0: x := 1\n0: y := 1 rel\n1: y == 1\n1: sync\n1: x == 0"),
    (
        "rule 7:",
        "0: x == 5 as a\n0: x := 1 rel pair a\n0: y == 0 acq as b\n0: y := 3 pair b\n\
         1: y == 3 as c\n1: y := 4 rel pair c\n1: x == 0 acq as d\n1: x := 5 pair d",
    ),
    ("rule 9:", "0: x := 1\n0: sync\n0: y := 1\n1: y == 1 as a\n1: x == 0 addr a"),
    ("rule 10:", "0: x == 1 as a\n0: y := 1 data a\n1: y == 1 as b\n1: x := 1 data b"),
    ("rule 11:", "0: x == 1 as a\n0: y := 1 ctrl a\n1: y == 1 as b\n1: x := 1 ctrl b"),
    (
        "rule 12:",
        "0: x := 1\n0: sync\n0: y := 1\n\
         1: y == 1 as a\n1: z := 1 data a\n1: z == 1 as b\n1: x == 0 addr b",
    ),
    ("rule 13:", "0: x == 1 as a\n0: z == 0 addr a\n0: y := 1\n1: y == 1 as b\n1: x := 1 data b"),
];

/// rvwmo without the line of a rule.
fn rvwmo_without(rule: &str) -> ModelFile {
    let full = include_str!("../../../../models/rvwmo.cat");
    let mut lines: Vec<String> =
        full.lines().filter(|line| !line.contains(rule)).map(str::to_owned).collect();
    assert_eq!(lines.len() + 1, full.lines().count(), "{rule}");
    let first = lines.iter().position(|line| line.contains("let ppo =")).expect("it is there") + 1;
    lines[first] = lines[first].trim_start().trim_start_matches('|').to_owned();
    let model = CatModel::from_text("without.cat", &lines.join("\n")).expect("it is read");
    ModelFile::new("without.cat".to_owned(), model)
}

#[test]
fn a_model_without_one_of_its_rules_is_distinguished() {
    let whole = shipped("rvwmo");
    for (rule, trace) in NEEDED {
        let history = parse_text(trace).unwrap();
        let without = rvwmo_without(rule);
        for (file, allows) in [(&whole, false), (&without, true)] {
            assert_eq!(engines(file, &history, 0), Some(allows), "{rule}\n{trace}");
            assert_eq!(searched(file, &history), allows, "{rule}\n{trace}");
        }
    }
}

#[test]
fn rules_that_follow_from_the_others_change_nothing() {
    // Rules 1 and 8 follow from coherence, since `co` and `fr` are in the global condition as a
    // whole; rule 2, since a read of another write comes after that write, which overwrites what the
    // earlier read returned.
    let whole = shipped("rvwmo");
    for rule in ["rule 1:", "rule 2:", "rule 8:"] {
        let without = rvwmo_without(rule);
        for shape in Shape::all() {
            for (seed, history) in random_histories(&shape, 0..trials() / 4) {
                let history = annotated(&mut Rng::new(seed), &history);
                let expected = searched(&whole, &history);
                assert_eq!(searched(&without, &history), expected, "{rule}\n{}", text(&history));
            }
        }
    }
}

/// Linearizability by its definition: some order of all accesses, thread by thread and in real time,
/// in which every read returns what was written last.
struct Linearization<'h> {
    history: &'h History,
    placed: Vec<EventId>,
}

impl Linearization<'_> {
    fn exists(&mut self) -> bool {
        let history = self.history;
        let is_open = |event: &EventId| !self.placed.contains(event);
        let accesses = history.event_ids().filter(|&event| history.address_of(event).is_some());
        let open: Vec<EventId> = accesses.filter(is_open).collect();
        if open.is_empty() {
            return self.is_explained();
        }
        let comes_first = |&event: &EventId| {
            let began = history.times(event).begin;
            !open.iter().any(|&other| {
                let ended = history.times(other).end;
                history.program_order(other, event)
                    || ended.zip(began).is_some_and(|(ended, began)| ended < began)
            })
        };
        open.iter().filter(|event| comes_first(event)).any(|&event| {
            self.placed.push(event);
            let exists = self.exists();
            self.placed.pop();
            exists
        })
    }

    /// Whether the order of all accesses explains the values, and the lines of the trace.
    fn is_explained(&self) -> bool {
        let history = self.history;
        let mut memory: Vec<(Source, Value)> = history
            .address_ids()
            .map(|address| (Source::Initial, history.address(address).initial))
            .collect();
        let mut place = vec![0; history.len()];
        for (at, &event) in self.placed.iter().enumerate() {
            let operation = history.event(event).operation;
            let Some(address) = operation.address() else { continue };
            let held = &mut memory[address.index()];
            if operation.value_read().is_some_and(|value| value != held.1) {
                return false;
            }
            if let Some(value) = operation.value_written() {
                *held = (Source::Write(event), value);
            }
            place[event.index()] = at + 1;
        }
        let at = |source: Source| match source {
            Source::Initial => 0,
            Source::Write(write) => place[write.index()],
        };
        let mut finals = history.finals().iter();
        finals.all(|line| memory[line.address.index()].1 == line.value)
            && history.orders().iter().all(|line| line.writes.is_sorted_by_key(|&write| at(write)))
    }
}

#[test]
fn lin_is_linearizability() {
    let lin = shipped("lin");
    let mut answers = [0; 2];
    let (mut timed, mut told_apart) = (0, 0);
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..trials()) {
            if history.len() > 9 || !history.pairs().is_empty() {
                continue;
            }
            let expected = Linearization { history: &history, placed: Vec::new() }.exists();
            let found = engines(&lin, &history, seed).unwrap_or_else(|| searched(&lin, &history));
            assert_eq!(found, expected, "seed {seed}:\n{}", text(&history));
            answers[usize::from(found)] += 1;
            timed += usize::from(history.has_times());
            let without = history.clone().without_times();
            let sc = engines(&shipped("sc"), &without, seed);
            told_apart += usize::from(sc.is_some_and(|sc| sc != found));
        }
    }
    println!("{answers:?}, {timed} with times, {told_apart} distinguished from sc");
    assert!(answers.iter().all(|&count| count > 50) && timed > 50 && told_apart > 5);
}

#[test]
fn real_time_is_kept_between_threads_and_an_open_end_keeps_nothing() {
    let lin = shipped("lin");
    let says = |trace: &str| engines(&lin, &parse_text(trace).unwrap(), 0);
    assert_eq!(says("0: x := 1 @ 1:2\n1: x == 0 @ 3:4"), Some(false));
    assert_eq!(says("0: x := 1 @ 1:3\n1: x == 0 @ 3:4"), Some(true));
    assert_eq!(says("0: x := 1 @ 1:\n1: x == 0 @ 3:4\n1: x == 1 @ 5:6"), Some(true));
    assert_eq!(says("0: x := 1 @ 5:\n1: x == 1 @ 3:4"), Some(false));
}

#[test]
fn models_as_people_write_them_are_decided_for_long_traces() {
    let location = "acyclic po-loc | amo | rf | co | fr as location\nempty rmw & (fre ; coe)\n";
    for kept in [
        "po & (R * M | W * W) | po ; [MFENCE] ; po | amo",
        "po \\ (W * R) | fencerel(MFENCE) | rmw",
        "(po & (R * M | W * W & loc)) | po & rt & (R * M) | mfence",
        "[A] ; po | po ; [L] | [L] ; po ; [A] | addr | data | (addr ; po ; [W]) | rmw",
        "po-loc & (M * W) | (po & addr) | [R] ; po ; [ISB] ; po ; [R]",
    ] {
        let head = "include \"x86fences.cat\"\n";
        let text_of = format!("{head}{location}acyclic {kept} | rfe | co | fr as global");
        agrees_with_the_search(&text_of);
    }
}

/// The conditions of a file, on random annotated histories: the engines for long traces say what the
/// search says, and the kernel accepts their evidence.
fn agrees_with_the_search(text_of: &str) {
    let model = CatModel::from_text("my.cat", text_of).unwrap();
    assert!(model.shape().is_ok(), "{text_of}");
    let file = ModelFile::new("my.cat".to_owned(), model);
    let (mut decided, mut answers, mut with_atomics) = (0, [0; 2], 0);
    for shape in Shape::all() {
        for (seed, history) in random_histories(&shape, 0..trials() / 5) {
            let history = annotated(&mut Rng::new(seed), &history);
            let Some(answer) = engines(&file, &history, seed) else { continue };
            decided += 1;
            assert_eq!(answer, searched(&file, &history), "{text_of}\n{}", text(&history));
            answers[usize::from(answer)] += 1;
            with_atomics += usize::from(history.event_ids().any(|e| history.event(e).is_atomic()));
            if let Some(evidence) = judge_by_file(&history, &file, &Budget::unlimited()).evidence {
                let (model, digest) = (file.path.clone(), file.model.digest());
                let certificate = FileCertificate { trace: 1, model, digest, evidence };
                let checked = certify_by_file(&history, &file.model, &certificate);
                checked.unwrap_or_else(|why| panic!("{why}: {text_of}\n{}", text(&history)));
            }
        }
    }
    assert!(decided > 0 && answers.iter().all(|&count| count > 0), "{text_of}: {answers:?}");
    assert!(with_atomics > decided / 20, "{text_of}: {with_atomics} of {decided} have atomics");
}

/// As herdtools' own files do it: `amo` is in the global condition only, and an end of rule 2 may be a
/// write that is taken away by `po-loc?`.
#[test]
fn halves_of_atomics_may_be_ordered_by_the_global_condition_alone() {
    let head = "acyclic co | rf | fr | po-loc as Coherence\nempty rmw & (fre ; coe) as Atomic\n";
    for kept in [
        "[M] ; po-loc ; [W] | [R] ; po ; [R] | rmw",
        "[M] ; po-loc ; [W] | (([R] ; (po-loc \\ (po-loc? ; [W] ; po-loc)) ; [R]) \\ (rf^-1 ; rf))
            | [X] ; rfi ; [R] | [Acq | AcqRel | Sc] ; po ; [M] | [M] ; po ; [Rel | AcqRel | Sc]
            | rmw | addr | data ; [W] | ctrl ; [W] | (addr | data) ; [W] ; rfi ; [R] ; sm",
        "po ; sm | amo",
    ] {
        agrees_with_the_search(&format!("{head}acyclic co | rfe | (fr ; sm) | {kept} as Model"));
    }
}

/// As the files for Armv8 of 2018 to 2021 do it: transitive relations by recursion, orders between threads
/// only, and tags that traces do not have.
#[test]
fn recursive_closures_are_decided_for_long_traces() {
    agrees_with_the_search(
        "let lrs = [W] ; (po-loc \\ (po-loc ; [W] ; po-loc)) ; [R]
        let ca = fr | co
        let tags = [R & T] ; (iico_data | iico_ctrl)+ ; [M \\ T]
        let rec kept = po-loc ; [W] ; si | addr | data | ctrl ; [W] | (ctrl | addr ; po) ; [ISB] ; po ; [R]
          | addr ; po ; [W] | (addr | data) ; lrs | rmw | [range(rmw)] ; lrs ; [A | Q]
          | po ; [DMB.SY] ; po | po ; ([A] ; amo ; [L]) ; po | [L] ; po ; [A] | [A | Q] ; po | po ; [L]
          | tags | kept ; kept
        let rec order = (rfe | fre | coe) ; si | kept | order ; order
        acyclic po-loc | ca | rf as internal
        irreflexive order as external
        empty rmw & (fre ; coe) as atomic",
    );
}

/// A load whose value only its own store-conditional wrote.
#[test]
fn a_load_cannot_read_the_store_of_its_pair() {
    let text = "acyclic co | rf | fr | po-loc
        empty rmw & (fre ; coe)
        acyclic co | rfe | fr | [M] ; po-loc ; [W] | rmw";
    let file = ModelFile::new("my.cat".to_owned(), CatModel::from_text("my.cat", text).unwrap());
    let history = parse_text("0: x == 2 as e\n0: x := 2 pair e\n1: x == 2").unwrap();
    let judgement = judge_by_file(&history, &file, &Budget::unlimited());
    assert_eq!(judgement.outcome.of_trace(), "violation");
    let (model, digest) = (file.path.clone(), file.model.digest());
    let evidence = judgement.evidence.unwrap();
    let certificate = FileCertificate { trace: 1, model, digest, evidence };
    certify_by_file(&history, &file.model, &certificate).unwrap();
}

#[test]
fn a_condition_of_another_form_is_named_where_a_trace_is_too_long() {
    let model = CatModel::from_text("my.cat", "irreflexive po ; rf ; co ; fr as strange").unwrap();
    let file = ModelFile::new("my.cat".to_owned(), model);
    let long: String = (0..600).map(|value| format!("0: x := {value}\n")).collect();
    let history = parse_text(&long).unwrap();
    let judgement = judge_by_file(&history, &file, &Budget::unlimited());
    let Verdict::Undecided(why) = judgement.outcome else { panic!("decided") };
    let why = format!("{:?}", why.reason);
    assert!(why.contains("`strange` (my.cat:1)") && why.contains("600"), "{why}");
}

/// A model that says nothing of the halves of an atomic still has no atomic that reads its own write, as
/// in herd7; the kernel rejects an execution where one does.
#[test]
fn no_atomic_reads_what_it_writes() {
    let text = "acyclic po-loc | rf | co | fr
        acyclic po | rfe | co | fr
        empty rmw & (fre ; coe)";
    let model = CatModel::from_text("halves.cat", text).expect("it is a model");
    let file = ModelFile::new("halves.cat".to_owned(), model);
    // What else may have written the value decides; this model lets each of two atomics read the other.
    let traces = [
        ("0: <M[x] == 1; M[x] := 1>", "violation"),
        ("0: <M[x] == 1; M[x] := 1>\n1: M[x] := 1", "consistent"),
        ("0: <M[x] == 1; M[x] := 1>\n0: M[x] := 1", "violation"),
        ("0: <M[x] == 1; M[x] := 1>\n1: <M[x] == 1; M[x] := 1>", "consistent"),
        ("init M[x] == 1\n0: <M[x] == 1; M[x] := 1>", "consistent"),
    ];
    for (trace, expected) in traces {
        let history = parse_text(trace).expect("it is a trace");
        let judgement = judge_by_file(&history, &file, &Budget::unlimited());
        assert_eq!(judgement.outcome.of_trace(), expected, "{trace}");
        let (model, digest) = (file.path.clone(), file.model.digest());
        let evidence = judgement.evidence.expect("short traces have evidence");
        let certificate = FileCertificate { trace: 1, model, digest, evidence };
        certify_by_file(&history, &file.model, &certificate).expect("it holds");
    }
}
