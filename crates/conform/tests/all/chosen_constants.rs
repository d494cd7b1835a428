//! Constants that a user chooses: every composition has those that the protocol was read with.

use crate::support::{constants, model, verified};
use murphi::source::Source;
use tribunal_conform::{Options, Verdict, Verification, ViolationKind, compositions};

/// A memory that also loads what was there before if `Stale` is 2 and `Other` is 1.
fn protocol(declared: &str) -> Source {
    let source = model("stale-if-chosen");
    let text = source.text.replace("const Stale, Other: 1;", declared);
    assert!(text.contains(declared), "{declared}");
    Source { text, ..source }
}

fn chosen(declared: &str, overrides: &[(&str, &str)]) -> Verification {
    verified(&protocol(declared), &constants(overrides))
}

fn is_broken(found: &Verification) -> bool {
    match &found.verdict {
        Verdict::Broken(ViolationKind::MemoryModel(_)) => true,
        Verdict::Holds(()) => false,
        verdict => panic!("{verdict:?}"),
    }
}

#[test]
fn a_constant_that_is_declared_together_with_another_is_chosen_alone() {
    let together = "const Stale, Other: 1;";
    assert!(!is_broken(&chosen(together, &[])));
    assert!(is_broken(&chosen(together, &[("Stale", "2")])));
    assert!(!is_broken(&chosen(together, &[("Stale", "2"), ("Other", "2")])));
}

#[test]
fn the_last_choice_for_a_constant_counts() {
    let apart = "const Stale: 1; Other: 1;";
    assert!(is_broken(&chosen(apart, &[("Stale", "1"), ("Stale", "2")])));
    assert!(!is_broken(&chosen(apart, &[("Stale", "2"), ("Stale", "1")])));
}

#[test]
fn constants_are_written_as_they_were_chosen() {
    let source = protocol("const Stale: 1; Other: 1; Truth: false; Least: 0;");
    let least = i64::MIN.to_string();
    let overrides = [("Stale", "+2"), ("Truth", "TRUE"), ("Least", &*least)];
    let composed = compositions(&source, &Options { only: Some(1), ..constants(&overrides) });
    let (_, text) = &composed.expect("it marks its loads and stores")[0];
    for declared in ["Stale: 2;", "Other: 1;", "Truth: true;", &format!("Least: {least};")] {
        assert!(text.contains(declared), "{declared} is not in\n{text}");
    }
}
