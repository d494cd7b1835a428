//! Each violation of `common::sketches`, explained, against files under `tests/expected`.

#[allow(dead_code)] // each test takes from it what it needs
use crate::common::{Sketch, expect, sketches};
use evidence::Graph;
use models::Model;
use tribunal_report::explain;

#[test]
fn explanations_as_text() {
    for (name, (model, sketch)) in sketches::all() {
        let text = explain::text(&sketch.history, model, &sketch.proof, false);
        expect(&format!("{name}.txt"), &text);
    }
}

#[test]
fn explanations_as_pictures() {
    for (name, (model, sketch)) in sketches::all() {
        let svg = explain::svg(&sketch.history, model, &sketch.proof);
        expect(&format!("{name}.svg"), &svg);
    }
}

#[test]
fn explanations_as_graphs() {
    for (name, (model, sketch)) in sketches::all() {
        let dot = explain::dot(&sketch.history, model, &sketch.proof);
        expect(&format!("{name}.dot"), &dot);
    }
}

/// Whether every tag is closed, in order, and every `&` starts an entity.
fn is_well_formed(xml: &str) -> bool {
    let mut open = Vec::new();
    for piece in xml.split('<').skip(1) {
        let Some((tag, text)) = piece.split_once('>') else { return false };
        let name = tag.split_whitespace().next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) => return false,
            Some(_) => {}
            None if !tag.ends_with('/') => open.push(name),
            None => {}
        }
        let entities = ["amp;", "lt;", "gt;", "quot;"];
        if text.split('&').skip(1).any(|rest| !entities.iter().any(|e| rest.starts_with(e))) {
            return false;
        }
    }
    open.is_empty()
}

#[test]
fn pictures_are_well_formed() {
    for (name, (model, sketch)) in sketches::all() {
        let svg = explain::svg(&sketch.history, model, &sketch.proof);
        assert!(is_well_formed(&svg), "{name}");
    }
}

#[test]
fn colour_is_only_added_when_asked_for() {
    let (model, sketch) = sketches::two_lemmas();
    let plain = explain::text(&sketch.history, model, &sketch.proof, false);
    let coloured = explain::text(&sketch.history, model, &sketch.proof, true);
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains("\x1b[1;31m"));
    let mut stripped = coloured;
    for code in ["\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[2m"] {
        stripped = stripped.replace(code, "");
    }
    assert_eq!(stripped, plain);
}

#[test]
fn a_long_chain_of_lemmas_is_distinguished_from_its_end() {
    // Writes 1, 2, …, each known to come after the one before, and all in a circle.
    let count = 500;
    let trace: String = (0..count).map(|t| format!("{t}: M[x] := {}\n", t + 1)).collect();
    let mut sketch = Sketch::new(&trace);
    let mut circle = String::new();
    for thread in 0..count {
        let next = (thread + 1) % count;
        let clause = format!("{thread}.0<{next}.0");
        let walk = match thread {
            0 => format!("{next}.0 ww {thread}.0 ww {next}.0"),
            _ => format!("{next}.0 ww {thread}.0 ww {}.0 ww {thread}.0 ww {next}.0", thread - 1),
        };
        sketch = sketch.lemma(&clause, Graph::Global, &walk);
        circle += &format!("{thread}.0 ww ");
    }
    let sketch = sketch.lemma("", Graph::Global, &(circle + "0.0"));
    let text = explain::text(&sketch.history, Model::Sc, &sketch.proof, false);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("each of these 500 events"), "{text}");
    assert!(text.contains("460 earlier steps are not shown"), "{text}");
    assert!(text.contains("by 440 more such steps"), "{text}");
    assert!(text.len() < 100_000);
    assert!(explain::svg(&sketch.history, Model::Sc, &sketch.proof).len() < 300_000);
}

#[test]
fn a_large_search_is_summarised() {
    // Seven pairs of writes, each combination of their orders excluded on its own.
    let pairs: u32 = 7;
    let mut trace = String::new();
    for pair in 0..pairs {
        let (a, b) = (2 * pair, 2 * pair + 1);
        trace += &format!("{a}: M[x{pair}] := 1\n{b}: M[x{pair}] := 2\n");
    }
    let mut sketch = Sketch::new(&trace);
    for combination in 0..1u32 << pairs {
        let literal = |pair: u32| match combination >> pair & 1 {
            0 => format!("{}.0<{}.0", 2 * pair, 2 * pair + 1),
            _ => format!("{}.0<{}.0", 2 * pair + 1, 2 * pair),
        };
        let clause: Vec<String> = (0..pairs).map(literal).collect();
        sketch = sketch.lemma(&clause.join(" "), Graph::Global, "0.0 ww 1.0 ww 0.0");
    }
    let sketch = sketch.propagation("");
    let text = explain::text(&sketch.history, Model::Sc, &sketch.proof, false);
    assert!(text.contains("7 facts were open, 128 combinations"), "{text}");
    assert!(text.contains("The simplest of the excluded combinations"), "{text}");
    assert!(text.len() < 10_000);
}

#[test]
fn a_proof_without_an_empty_clause_is_said_to_show_nothing() {
    let sketch = Sketch::new("0: M[x] := 1\n1: M[x] := 2").propagation("0.0<1.0");
    let text = explain::text(&sketch.history, Model::Sc, &sketch.proof, false);
    assert!(text.contains("The proof does not end in a contradiction."));
    assert!(is_well_formed(&explain::svg(&sketch.history, Model::Sc, &sketch.proof)));
}

#[test]
fn a_final_value_that_nobody_wrote_has_no_events_to_draw() {
    let sketch = Sketch::new("0: M[x] := 1\nfinal M[x] == 7").propagation("");
    let text = explain::text(&sketch.history, Model::Cc, &sketch.proof, false);
    assert!(
        text.contains(
            "The final M[x] == 7 (line 2) is 7, but that value was never written to M[x]."
        ),
        "{text}"
    );
    assert!(is_well_formed(&explain::svg(&sketch.history, Model::Cc, &sketch.proof)));
    assert!(explain::dot(&sketch.history, Model::Cc, &sketch.proof).ends_with("}\n"));
}

/// The proof is about the parts of accesses, the explanation about the accesses.
#[test]
fn violations_of_a_file_with_accesses_of_mixed_sizes_are_explained() {
    let stale = "0: M[0x10:2] := 0x0101\n0: M[0x10:1] == 0";
    let atomic = "1: M[0x12:2] := 0x0102
        1: <M[0x12:2] == 0x0103; M[0x12:2] := 0x0101>
        0: M[0x11:4] := 0x01020302
        1: M[0x11:4] := 0x01020202
        final M[0x12:1] == 1";
    for (model, trace, last, rule) in [
        ("sc", stale, "line 2", "`interleaving` of sc (sc.cat:4, po)"),
        ("tso", stale, "line 2", "`coherence`"),
        ("rvwmo", stale, "line 2", "`coherence` of rvwmo (rvwmo.cat:32, po-loc)"),
        ("sc", atomic, "line 4", "`interleaving` of sc (sc.cat:4, po)"),
    ] {
        let history = history::parse_text(trace).unwrap();
        let file = judge::ModelFile::shipped(model).unwrap();
        let judgement = judge::judge_by_file(&history, &file, &judge::Budget::unlimited());
        let (rules, proof) = explain::FileRules::new(&history, &file, &judgement);
        let text = explain::text(&history, &rules, &proof, false).replace("\n  ", " ");
        assert!(text.contains(last) && text.contains(rule), "{text}");
    }
}
