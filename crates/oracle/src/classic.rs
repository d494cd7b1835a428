//! The examples of the literature, and what random changes make of them.

use history::{Operation, parse_text};

use crate::perturb::{Values, blur};
use crate::shape::Shape;
use crate::sketch::Sketch;
use chance::Rng;

/// Classic histories. Values are from 100, so that they do not clash with random ones.
const CLASSICS: [&str; 18] = [
    // Store buffering.
    "0: x := 101\n0: y == 0\n1: y := 101\n1: x == 0",
    // The same with atomics, and with one atomic and a fence.
    "0: <x == 0; x := 101>\n0: y == 0\n1: <y == 0; y := 101>\n1: x == 0",
    "0: x := 101\n0: fence w,r\n0: y == 0\n1: <y == 0; y := 101>\n1: x == 0",
    // Message passing.
    "0: x := 101\n0: y := 101\n1: y == 101\n1: x == 0",
    // Load buffering.
    "0: x == 101\n0: y := 101\n1: y == 101\n1: x := 101",
    // Independent reads of independent writes.
    "0: x := 101\n1: y := 101\n2: x == 101\n2: y == 0\n3: y == 101\n3: x == 0",
    // Write-to-read causality.
    "0: x := 101\n1: x == 101\n1: y := 101\n2: y == 101\n2: x == 0",
    // 2+2W, its write order seen by reads.
    "0: x := 101\n0: y := 102\n0: y == 101\n1: y := 101\n1: x := 102\n1: x == 101",
    // Coherence: reads and writes of one address.
    "0: x := 101\n1: x == 101\n1: x == 0",
    "0: x := 101\n0: x == 102\n1: x := 102\n1: x == 101",
    "0: x := 101\n1: x := 102\n2: x == 101\n2: x == 102\n3: x == 102\n3: x == 101",
    // Two increments of one value.
    "0: <x == 0; x := 101>\n1: <x == 0; x := 102>",
    // A write between the halves of an increment.
    "0: x := 101\n0: y == 0\n1: <x == 0; x := 102>\n1: y := 101\n1: x == 102",
    // Gradual consistency checking, Fig. 1b, 1c, 1d.
    "0: z := 101\n0: x := 101\n0: y := 101\n1: x := 102\n1: z == 0\n1: y == 101\n1: x == 102",
    "0: x := 101\n0: x := 102\n0: y == 101\n1: y := 101\n1: y := 102\n1: x == 101",
    "0: x := 101\n0: y == 0\n0: y := 101\n0: x == 101\n1: x := 102\n1: y == 0\n1: y := 102\n1: x == 102",
    // The same with atomics, which need no second write.
    "0: x := 101\n0: y == 0\n0: <x == 101; x := 103>\n1: x := 102\n1: y := 102\n1: x == 102",
    // Efficient algorithms for verifying memory consistency, Fig. 2.
    "0: y := 191\n0: x := 101\n0: x == 102\n1: x := 102\n2: y := 192\n2: x == 102\n2: y == 192\n3: y == 192\n3: y == 191",
];

/// A random change of a random classic that fits the shape.
pub(crate) fn random_classic(rng: &mut Rng, shape: &Shape) -> Sketch {
    let fitting: Vec<Sketch> = CLASSICS
        .iter()
        .map(|text| Sketch::of(&parse_text(text).expect("a classic is well-formed")))
        .filter(|sketch| fits(sketch, shape))
        .collect();
    let mut sketch = rng.pick(&fitting).cloned().unwrap_or_default();
    let mut values = Values::new(rng.percent(shape.repeated));
    blur(rng, shape, &mut sketch, &mut values);
    sketch
}

fn fits(sketch: &Sketch, shape: &Shape) -> bool {
    sketch.places().len() <= shape.events
        && sketch.threads.len() <= shape.threads
        && sketch.addresses.len() <= shape.addresses
        && sketch.places().into_iter().all(|place| match sketch.step(place).operation {
            Operation::Read { .. } | Operation::Write { .. } => true,
            Operation::ReadModifyWrite { .. } => shape.atomics > 0,
            Operation::Fence { .. } => shape.fences > 0,
        })
}
