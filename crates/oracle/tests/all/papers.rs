//! The examples of the papers, judged by their definitions.

use history::parse_text;
use models::Model;
use tribunal_oracle::allows;

/// The models that allow a history, by name, in the order of the table.
fn allowed_by(text: &str) -> String {
    let history = parse_text(text).expect("a trace");
    let names: Vec<&str> =
        Model::ALL.into_iter().filter(|&model| allows(&history, model)).map(Model::name).collect();
    names.join(" ")
}

/// Zennou, Bouajjani, Enea, Erradi: Gradual Consistency Checking, CAV 2019.
mod gradual_consistency_checking {
    use super::allowed_by;

    #[test]
    fn figure_1a_is_causal_memory_but_not_convergent() {
        let verdict = allowed_by(
            "0: M[x] := 1
             0: M[x] == 2
             1: M[x] := 2
             1: M[x] == 1",
        );
        assert_eq!(verdict, "cm cc");
    }

    #[test]
    fn figure_1b_is_tso_and_convergent_but_not_causal_memory() {
        let verdict = allowed_by(
            "0: M[z] := 1
             0: M[x] := 1
             0: M[y] := 1
             1: M[x] := 2
             1: M[z] == 0
             1: M[y] == 1
             1: M[x] == 2",
        );
        assert_eq!(verdict, "tso pso wmo rmo coherence wccm ccv cc");
    }

    #[test]
    fn figure_1c_is_causal_memory_and_convergent_but_not_both_at_once() {
        let verdict = allowed_by(
            "0: M[x] := 1
             0: M[x] := 2
             0: M[y] == 1
             1: M[y] := 1
             1: M[y] := 2
             1: M[x] == 1",
        );
        assert_eq!(verdict, "tso pso wmo rmo coherence wccm cm ccv cc");
    }

    #[test]
    fn figure_1d_is_convergent_causal_memory_but_not_sequentially_consistent() {
        let verdict = allowed_by(
            "0: M[x] := 1
             0: M[y] == 0
             0: M[y] := 1
             0: M[x] == 1
             1: M[x] := 2
             1: M[y] == 0
             1: M[y] := 2
             1: M[x] == 2",
        );
        assert_eq!(verdict, "tso pso wmo rmo coherence ccm wccm cm ccv cc");
    }

    /// The paper's caption says that CCM and wCCM admit it. By its definitions neither does: the
    /// initial writes come before all others in program order, so pww has them first, and rw[pww]
    /// has the reads of 0 before the writes they missed.
    #[test]
    fn figure_3_is_neither_convergent_causal_memory_nor_its_weak_form() {
        let verdict = allowed_by(
            "0: M[x] := 1
             1: M[y] := 1
             2: M[x] == 1
             2: M[y] == 0
             3: M[y] == 1
             3: M[x] == 0",
        );
        assert_eq!(verdict, "wmo rmo coherence cm ccv cc");
    }

    /// What Figure 3 was meant to show: two writes of x that nothing orders, and for each order of
    /// them a cycle of independent reads that forbids it.
    #[test]
    fn without_atomics_and_fences_too_weak_convergent_causal_memory_is_weaker_than_tso() {
        let verdict = allowed_by(
            "0: M[x] := 1
             1: M[x] := 2
             2: M[y] := 1
             3: M[z] := 1
             4: M[x] == 2
             4: M[y] == 0
             5: M[y] == 1
             5: M[x] == 1
             6: M[x] == 1
             6: M[z] == 0
             7: M[z] == 1
             7: M[x] == 2",
        );
        assert_eq!(verdict, "wmo rmo coherence ccm wccm cm ccv cc");
    }
}

/// Manovit, Hangal: Efficient Algorithms for Verifying Memory Consistency, SPAA 2005.
mod efficient_tso_verification {
    use super::allowed_by;

    #[test]
    fn figure_2_violates_tso() {
        let verdict = allowed_by(
            "1: M[B] := 91
             1: M[A] := 1
             1: M[A] == 2
             2: M[A] := 2
             3: M[B] := 92
             3: M[A] == 2
             3: M[B] == 92
             4: M[B] == 92
             4: M[B] == 91",
        );
        assert_eq!(verdict, "pso wmo rmo coherence cm ccv cc");
    }
}
