//! Which states can it reach? Packed states, symmetry, the visited set, search, counterexamples.
