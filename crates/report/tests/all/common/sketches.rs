//! The violations that the tests explain.

use evidence::{Graph, Rule};
use models::Model;

use super::Sketch;

/// Store buffering.
pub(crate) fn store_buffering() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         0: M[y] == 0
         1: M[y] := 1
         1: M[x] == 0",
    );
    (Model::Sc, sketch.lemma("", Graph::Global, "0.1 fr 1.0 po 1.1 fr 0.0 po 0.1"))
}

/// Message passing.
pub(crate) fn message_passing() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         0: M[y] := 1
         1: M[y] == 1
         1: M[x] == 0",
    );
    (Model::Tso, sketch.lemma("", Graph::Global, "0.0 po 0.1 rf 1.0 po 1.1 fr 0.0"))
}

/// Store buffering in spite of fences, in a longer run.
pub(crate) fn fences() -> (Model, Sketch) {
    let mut trace = String::new();
    for value in 1..=12 {
        trace += &format!("0: M[z] := {value}\n");
    }
    trace += "0: M[x] := 1\n0: sync\n0: M[z] := 13\n0: M[y] == 0\n0: M[z] := 14\n";
    trace += "1: M[y] := 1\n1: fence w,r\n1: M[x] == 0\n";
    let walk = "0.12 fence 0.15 fr 1.0 fence 1.2 fr 0.12";
    (Model::Tso, Sketch::new(&trace).lemma("", Graph::Global, walk))
}

/// Independent reads of independent writes.
pub(crate) fn independent_reads() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         1: M[y] := 1
         2: M[x] == 1
         2: M[y] == 0
         3: M[y] == 1
         3: M[x] == 0",
    );
    let walk = "0.0 rf 2.0 po 2.1 fr 1.0 rf 3.0 po 3.1 fr 0.0";
    (Model::Tso, sketch.lemma("", Graph::Global, walk))
}

/// Coherence of two reads.
pub(crate) fn coherent_reads() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "init M[x] == 5
         0: M[x] := 1
         1: M[x] == 1
         1: M[x] == 5",
    );
    (Model::Coherence, sketch.lemma("", Graph::Location, "0.0 rf 1.0 po 1.1 fr 0.0"))
}

/// Two atomics that both read the initial value.
pub(crate) fn atomics() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: <M[lock] == 0; M[lock] := 1>
         1: <M[lock] == 0; M[lock] := 2>",
    );
    (Model::Rmo, sketch.lemma("", Graph::Location, "0.0 fr 1.0 fr 0.0"))
}

/// 2+2W with its outcome in `final` lines.
pub(crate) fn two_plus_two_writes() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         0: M[y] := 2
         1: M[y] := 1
         1: M[x] := 2
         final M[x] == 1
         final M[y] == 1",
    );
    (Model::Tso, sketch.lemma("", Graph::Global, "0.0 po 0.1 ww 1.0 po 1.1 ww 0.0"))
}

/// 2+2W with two observers, which take a lemma each.
pub(crate) fn two_lemmas() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         0: M[y] := 2
         1: M[y] := 1
         1: M[x] := 2
         2: M[x] == 2
         2: M[x] == 1
         3: M[y] == 2
         3: M[y] == 1",
    )
    .lemma("1.1<0.0", Graph::Location, "1.1 rf 2.0 po 2.1 fr 1.1")
    .lemma("0.1<1.0", Graph::Location, "0.1 rf 3.0 po 3.1 fr 0.1")
    .lemma("", Graph::Global, "0.0 po 0.1 ww 1.0 po 1.1 ww 0.0");
    (Model::Tso, sketch)
}

/// A from-read that rests on a lemma, which rests on another.
pub(crate) fn lemma_upon_lemma() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         0: M[y] := 1
         1: M[y] == 1
         1: M[x] := 2
         2: M[x] == 2
         2: M[z] := 1
         3: M[z] == 1
         3: M[x] := 3
         4: M[x] == 3
         4: M[x] == 1",
    )
    .lemma("0.0<1.1", Graph::Global, "1.1 ww 0.0 po 0.1 rf 1.0 po 1.1")
    .lemma("1.1<3.1", Graph::Global, "3.1 ww 1.1 rf 2.0 po 2.1 rf 3.0 po 3.1")
    .lemma("0.0<3.1", Graph::Global, "3.1 ww 0.0 ww 1.1 ww 3.1")
    .lemma("", Graph::Global, "3.1 rf 4.0 po 4.1 fr 3.1");
    (Model::Tso, sketch)
}

/// A ring of eight threads.
pub(crate) fn ring_of_eight() -> (Model, Sketch) {
    let mut trace = String::new();
    let mut walk = String::new();
    for thread in 0..8 {
        let next = (thread + 1) % 8;
        trace += &format!("{thread}: M[x{thread}] := 1\n{thread}: M[x{next}] == 0\n");
        walk += &format!("{thread}.0 po {thread}.1 fr ");
    }
    (Model::Sc, Sketch::new(&trace).lemma("", Graph::Global, &(walk + "0.0")))
}

/// Two writers and many readers: each order of x with each order of y closes a cycle, so cases
/// must be distinguished.
pub(crate) fn four_cases() -> (Model, Sketch) {
    let mut trace = String::from("0: M[x] := 1\n1: M[x] := 2\n2: M[y] := 1\n3: M[y] := 2\n");
    let reader =
        |x: u32, y: u32, x_first: bool| 4 + (x - 1) * 2 + (y - 1) + u32::from(!x_first) * 4;
    for x_first in [true, false] {
        for (x, y) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
            let thread = reader(x, y, x_first);
            let (first, second) = match x_first {
                true => (format!("M[x] == {x}"), format!("M[y] == {y}")),
                false => (format!("M[y] == {y}"), format!("M[x] == {x}")),
            };
            trace += &format!("{thread}: {first}\n{thread}: {second}\n");
        }
    }
    let mut sketch = Sketch::new(&trace);
    for (x, y) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        // x before its other and y before its other: then this walk closes.
        let (other_x, other_y) = (3 - x, 3 - y);
        let there = reader(other_x, y, true);
        let back = reader(x, other_y, false);
        let (x_late, y_late) = (other_x - 1, 2 + other_y - 1);
        let walk = format!(
            "{back}.1 fr {x_late}.0 rf {there}.0 po {there}.1 fr {y_late}.0 rf {back}.0 po {back}.1"
        );
        let clause = format!("{}.0<{}.0 {}.0<{}.0", x_late, x - 1, y_late, 2 + y - 1);
        sketch = sketch.lemma(&clause, Graph::Global, &walk);
    }
    (Model::Sc, sketch.propagation("1.0<0.0").propagation(""))
}

/// A value written twice: neither candidate can have been read.
pub(crate) fn ambiguous_read() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[y] := 1
         0: M[x] := 1
         1: M[z] := 1
         1: M[x] := 1
         2: M[x] == 1
         2: M[y] == 0
         2: M[z] == 0",
    )
    .lemma("2.0!=0.1", Graph::Global, "0.0 po 0.1 rf 2.0 po 2.1 fr 0.0")
    .lemma("2.0!=1.1", Graph::Global, "1.0 po 1.1 rf 2.0 po 2.1 po 2.2 fr 1.0")
    .propagation("");
    (Model::Tso, sketch)
}

/// A value nobody wrote.
pub(crate) fn thin_air() -> (Model, Sketch) {
    (Model::Tso, Sketch::new("0: M[x] := 1\n1: M[x] == 7").propagation(""))
}

/// Dependencies in a circle.
pub(crate) fn out_of_thin_air() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] == 1 as a
         0: M[y] := 1 dep a
         1: M[y] == 1 as b
         1: M[x] := 1 dep b",
    );
    (Model::Rmo, sketch.lemma("", Graph::ThinAir, "0.0 dep 0.1 rf 1.0 dep 1.1 rf 0.0"))
}

/// Reads kept in order by their times.
pub(crate) fn times() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         0: sync
         0: M[y] := 1
         1: M[y] == 1 @ 100 : 120
         1: M[x] == 0 @ 130 : 140",
    );
    (Model::Wmo, sketch.lemma("", Graph::Global, "0.0 fence 0.2 rf 1.0 time 1.1 fr 0.0"))
}

/// A read of something its causal past overwrote.
pub(crate) fn causal_overwrite() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         0: M[x] := 2
         1: M[x] == 2
         1: M[y] := 1
         2: M[y] == 1
         2: M[x] == 1",
    )
    .derive(("2.1", Rule::Overwritten, "0.1"), "2.1", "0.0 po 0.1")
    .lemma("", Graph::Global, "2.1 d0 0.1 rf 1.0 po 1.1 rf 2.0 po 2.1");
    (Model::Cc, sketch)
}

/// Two threads that see two writes in opposite orders.
pub(crate) fn causal_conflict() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         0: M[x] == 2
         1: M[x] := 2
         1: M[x] == 1",
    )
    .derive(("0.0", Rule::Conflict, "1.0"), "0.1", "0.0 po 0.1")
    .derive(("1.0", Rule::Conflict, "0.0"), "1.1", "1.0 po 1.1")
    .lemma("", Graph::Global, "0.0 d0 1.0 d1 0.0");
    (Model::Ccv, sketch)
}

/// A thread whose own view has no order.
pub(crate) fn causal_view() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[z] := 1
         0: M[x] := 1
         0: M[y] := 1
         1: M[x] := 2
         1: M[z] == 0
         1: M[y] == 1
         1: M[x] == 2",
    )
    .derive(("0.1", Rule::Observed, "1.0"), "1.3", "0.1 po 0.2 rf 1.2 po 1.3")
    .in_the_eyes_of("1.3")
    .derive(("0.0", Rule::Observed, "init.z"), "1.1", "0.0 po 0.1 d0 1.0 po 1.1")
    .in_the_eyes_of("1.3")
    .lemma("", Graph::Global, "init.z po 0.0 d1 init.z");
    (Model::Cm, sketch)
}

/// An atomic with a write squeezed between it and what it read.
pub(crate) fn causal_atomic() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[x] := 1
         0: M[x] := 2
         0: M[y] := 1
         1: M[y] == 1
         1: <M[x] == 1; M[x] := 3>",
    )
    .derive(("1.1", Rule::Atomic, "0.1"), "1.1", "0.0 po 0.1")
    .lemma("", Graph::Global, "1.1 d0 0.1 po 0.2 rf 1.0 po r:1.1 po 1.1");
    (Model::Ccm, sketch)
}

/// Long names and large values, and an order line.
pub(crate) fn long_names() -> (Model, Sketch) {
    let sketch = Sketch::new(
        "0: M[18446744073709551615] := 18446744073709551614
         0: M[descriptor_ring_producer_index_0] == 0
         1: <M[descriptor_ring_producer_index_0] == 0; M[descriptor_ring_producer_index_0] := 4294967296>
         1: M[18446744073709551615] := 7
         2: M[18446744073709551615] == 7
         order M[18446744073709551615]: 7 < 18446744073709551614",
    );
    let walk = "0.0 po 0.1 fr 1.0 po 1.1 ww 0.0";
    (Model::Sc, sketch.lemma("", Graph::Global, walk))
}

/// Every sketch with the name of its expected files.
pub(crate) fn all() -> Vec<(&'static str, (Model, Sketch))> {
    vec![
        ("store-buffering", store_buffering()),
        ("message-passing", message_passing()),
        ("fences", fences()),
        ("independent-reads", independent_reads()),
        ("coherent-reads", coherent_reads()),
        ("atomics", atomics()),
        ("two-plus-two-writes", two_plus_two_writes()),
        ("two-lemmas", two_lemmas()),
        ("lemma-upon-lemma", lemma_upon_lemma()),
        ("ring-of-eight", ring_of_eight()),
        ("four-cases", four_cases()),
        ("ambiguous-read", ambiguous_read()),
        ("thin-air", thin_air()),
        ("out-of-thin-air", out_of_thin_air()),
        ("times", times()),
        ("causal-overwrite", causal_overwrite()),
        ("causal-conflict", causal_conflict()),
        ("causal-view", causal_view()),
        ("causal-atomic", causal_atomic()),
        ("long-names", long_names()),
    ]
}
