//! Where programs and histories come from: at random, from cycles of edges, from formulas.

pub(crate) mod classic;
pub(crate) mod cycle;
pub(crate) mod edge;
pub(crate) mod enumerate;
pub(crate) mod hard;
pub(crate) mod litmus;
pub(crate) mod mark;
pub(crate) mod mix;
pub(crate) mod random;
pub(crate) mod trace;

/// What the places of a generated program are called: `x`, `y`, `z`, `a` to `w`, then `x1` and so
/// on.
pub(crate) fn place_name(index: usize) -> String {
    let letter = char::from(b'a' + ((index + 23) % 26) as u8);
    match index / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}
