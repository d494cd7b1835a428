//! Ten million states, and what each costs.

use crate::toys::{self, *};
use tribunal_explore::{Identity, Verdict};

#[test]
fn two_million_states_are_all_found() {
    let found = explore_grid(&Grid::new(7, 8), &Identity, &toys::threads(1));
    assert_eq!(found.verdict, Verdict::Holds(()));
    assert_eq!((found.states, found.rules_fired, found.depth), (2_097_152, 7 * 2_097_152, 49));
    // 28 bits are 4 bytes.
    let extra = found.bytes_per_state() - 4.0;
    println!(
        "{:.0} ns for a state, {:.1} ns for a rule, {extra:.2} bytes on top of 4",
        found.seconds * 1e9 / found.states as f64,
        found.seconds * 1e9 / found.rules_fired as f64
    );
    assert!(extra <= 8.0, "{extra} bytes");
}
