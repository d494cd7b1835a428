//! Chini, Saivasan: A Framework for Consistency Algorithms (FSTTCS 2020).

use std::time::{Duration, Instant};

use history::History;
use models::Model::{self, Pso, Sc, Tso};
use oracle::{Formula, SharedLiterals};
use tribunal_judge::{Engine, Outcome};

use super::{verdict, verdict_by};

fn is_consistent(history: &History, model: Model) -> bool {
    matches!(verdict(history, model).outcome, Outcome::Holds(_))
}

/// All 8 clauses over 3 variables: unsatisfiable.
fn all_clauses() -> Formula {
    let clauses =
        (0..8).map(|signs| [1, 2, 3].map(|v| if signs >> (v - 1) & 1 == 1 { -v } else { v }));
    Formula::new(clauses)
}

/// (x)(¬x) and an unrelated clause: unsatisfiable.
fn contradiction() -> Formula {
    Formula::new([[1, 1, 1], [-1, -1, -1], [2, 3, 4]])
}

#[test]
fn lemma_10_figure_1_is_sc_iff_the_formula_is_satisfiable() {
    for seed in 0..40 {
        let formula = Formula::random(4, 14 + seed as usize % 10, seed);
        let history = formula.history(Model::Sc, SharedLiterals::No);
        assert_eq!(is_consistent(&history, Sc), formula.is_satisfiable(), "{formula:?}");
    }
}

#[test]
fn lemma_11_figure_2_is_tso_and_pso_iff_the_formula_is_satisfiable() {
    for seed in 0..40 {
        let formula = Formula::random(4, 14 + seed as usize % 10, seed);
        let history = formula.history(Model::Tso, SharedLiterals::No);
        for model in [Sc, Tso, Pso] {
            assert_eq!(is_consistent(&history, model), formula.is_satisfiable(), "{formula:?}");
        }
    }
}

/// "Let L denote the set of literals" reads as if clauses share the addresses of their literals.
/// Then Lemma 10 fails: the clauses (a ∨ b ∨ c) and (b ∨ a ∨ d) ask the reads of a and b for both
/// orders when a and b are false, though c and d satisfy them. Each occurrence of a literal needs
/// its own address, as the bound of 3m literals suggests.
#[test]
fn figure_1_with_shared_literals_is_wrong() {
    let formula = Formula::new([[1, 2, 3], [2, 1, 4], [-1, -1, -1], [-2, -2, -2]]);
    assert!(formula.is_satisfiable());
    assert!(is_consistent(&formula.history(Model::Sc, SharedLiterals::No), Sc));
    assert!(!is_consistent(&formula.history(Model::Sc, SharedLiterals::Yes), Sc));
}

#[test]
fn small_unsatisfiable_formulas_are_decided_well_under_a_second() {
    for formula in [all_clauses(), contradiction()] {
        let history = formula.history(Model::Sc, SharedLiterals::No);
        let start = Instant::now();
        assert!(!is_consistent(&history, Sc), "{formula:?}");
        // Debug builds and loaded machines included; the release build takes milliseconds.
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
    let history = contradiction().history(Model::Sc, SharedLiterals::No);
    assert_eq!((history.len(), history.thread_count()), (80, 35));
}

#[test]
fn theorem_1_the_dynamic_programme_agrees_and_refuses_politely() {
    for seed in 0..20 {
        let formula = Formula::random(2, 2, seed);
        let history = formula.history(Model::Sc, SharedLiterals::No);
        match verdict_by(&history, Sc, Engine::Subsets).outcome {
            Outcome::Holds(_) => assert!(formula.is_satisfiable()),
            Outcome::Broken(_) => assert!(!formula.is_satisfiable()),
            Outcome::Undecided(undecided) => panic!("{undecided:?}"),
        }
    }
    let large = all_clauses().history(Model::Sc, SharedLiterals::No);
    let outcome = verdict_by(&large, Sc, Engine::Subsets).outcome;
    assert!(matches!(outcome, Outcome::Undecided(_)), "{outcome:?}");
}
