//! Models as files: the engines for long traces say what the search over all choices says, on
//! histories with everything that a trace can say.

use cat::{Answer, CatModel, meets, solve};
use evidence::Verdict;
use history::{History, parse_text};
use oracle::{Rng, Shape, annotated, random_histories, text};
use tribunal_judge::{Budget, DecidedBy, ModelFile, judge_by_file};

/// How many histories of each shape are tried; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

fn shipped(name: &str) -> ModelFile {
    ModelFile::new(format!("{name}.cat"), CatModel::shipped(name).expect("it is shipped"))
}

/// The models whose long traces are decided.
const SHAPED: [&str; 7] = ["sc", "tso", "pso", "wmo", "coherence", "rvwmo", "rvtso"];

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

#[test]
fn a_model_without_one_of_its_rules_is_told_apart() {
    let full = include_str!("../../../../models/rvwmo.cat");
    let rules: Vec<&str> = full.lines().filter(|line| line.contains("(* rule")).collect();
    assert_eq!(rules.len(), 13);
    let whole = shipped("rvwmo");
    for rule in rules {
        let mut lines: Vec<&str> = full.lines().filter(|line| *line != rule).collect();
        let first = lines.iter().position(|line| line.contains("let ppo =")).expect("there");
        let joined = lines[first + 1].trim_start().trim_start_matches('|').to_owned();
        lines[first + 1] = &joined;
        let text_without = lines.join("\n");
        let without = CatModel::from_text("without.cat", &text_without).expect("it is read");
        let without = ModelFile::new("without.cat".to_owned(), without);
        let differs = |history: &History| {
            let says = |file| judge_by_file(history, file, &Budget::unlimited()).outcome.of_trace();
            says(&whole) != says(&without)
        };
        let mut shapes = Shape::all().into_iter();
        let found = shapes.any(|shape| {
            random_histories(&shape, 0..4_000)
                .map(|(seed, history)| annotated(&mut Rng::new(seed), &history))
                .any(|history| differs(&history))
        });
        // Three rules follow from the others: rules 1 and 8 from coherence, since `co` and `fr` are
        // in the global condition as a whole, and rule 2 since a read of another write comes after
        // that write, which overwrites what the earlier read returned.
        let follows = ["rule 1 ", "rule 2 ", "rule 8 "].iter().any(|each| rule.contains(each));
        assert_eq!(found, !follows, "the model without {rule}");
    }
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
