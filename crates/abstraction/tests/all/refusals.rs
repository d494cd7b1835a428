//! What is refused, and in which words.

use crate::support::parsed;
use murphi::source::Source;
use recheck::read_lemmas;
use tribunal_abstraction::{Options, abstraction, prepare};

/// A small model around some rules.
fn model(rules: &str) -> Source {
    let text = format!(
        "const N: 2;
         type P: scalarset(N); Count: 0..N;
           Seen: record who: P; end;
         var owner: P; here: array [P] of boolean; seen: array [P] of P; total: Count;
           level: 0..3; box: multiset [2] of 0..1;
         startstate begin
           for p: P do here[p] := false; end;
           total := 0; level := 0;
         end;
         {rules}"
    );
    Source { name: "small.m".into(), text }
}

/// What is said about a model.
fn refusal(source: &Source) -> String {
    let problems = match prepare(&parsed(source), Some("P")) {
        Ok(prepared) => match abstraction(&prepared, &Options::default(), &[]) {
            Ok(_) => panic!("this should be refused:\n{}", source.text),
            Err(problems) => problems,
        },
        Err(problems) => problems,
    };
    problems.iter().map(|problem| problem.render(source, false)).collect()
}

#[track_caller]
fn assert_refused(rules: &str, words: &str) {
    let said = refusal(&model(rules));
    assert!(said.contains(words), "{said}");
}

#[test]
fn what_depends_on_the_number_of_processors() {
    assert_refused(
        "rule level < N ==> begin level := 1; end;",
        "depends on the number of processors",
    );
}

#[test]
fn counters_that_do_more_than_count() {
    assert_refused(
        "ruleset p: P do rule total > 1 ==> begin here[p] := true; end; end;",
        "use of a counter of processors is not supported",
    );
    assert_refused(
        "ruleset p: P do rule begin total := total + 2; end; end;",
        "use of a counter of processors is not supported",
    );
    assert_refused("rule begin total := total + 1; end;", "which processor is counted");
}

/// That one processor is never counted is asserted before the loop, of the counter that is meant
/// there.
#[test]
fn counters_that_become_others_in_a_loop() {
    let text = "
        const N: 2;
        type P: scalarset(N); Count: 0..N-1; Half: enum { left, right };
        var here: array [P] of boolean; half: Half; total: array [Half] of Count;
        startstate begin
          for p: P do here[p] := false; end;
          half := left; total[left] := 0; total[right] := 0;
        end;
        ruleset p: P do
          rule \"count\" begin
            for q: P do
              half := right;
              if q != p & here[q] then total[half] := total[half] + 1; end;
            end;
          end;
        end;";
    let said = refusal(&Source { name: "halves.m".into(), text: text.into() });
    assert!(said.contains("cannot count all processors"), "{said}");
}

#[test]
fn calls_where_nothing_can_be_done_before() {
    let next = "function next(): 0..3; begin level := 1; return level; end;";
    assert_refused(
        &format!("{next} rule begin for i := 0 to next() do level := i; end; end;"),
        "this call cannot be inlined",
    );
    assert_refused(
        &format!("{next} rule begin switch level case next(): level := 0; end; end;"),
        "this call cannot be inlined",
    );
}

#[test]
fn loops_in_which_the_number_of_rounds_shows() {
    assert_refused(
        "rule begin for p: P do if here[p] then level := level + 1; end; end; end;",
        "depends on the number of processors",
    );
    assert_refused(
        "rule begin for p: P do if here[p] then owner := p; end; end; end;",
        "depends on the number of processors",
    );
}

#[test]
fn more_processors_at_once_than_stay_concrete() {
    assert_refused(
        "invariant \"three\" forall p: P do forall q: P do forall r: P do
           here[p] & here[q] -> here[r] end end end;",
        "this claim is about 3 processors at once",
    );
    assert_refused(
        "ruleset p: P; q: P do rule begin assert here[seen[p]] | here[p] | here[q] \"x\"; end; end;",
        "this claim is about 3 processors at once",
    );
}

#[test]
fn multisets_to_choose_from() {
    assert_refused(
        "choose x: box do rule begin level := 1; end; end;",
        "`choose` is not supported",
    );
}

#[test]
fn types_that_are_no_scalarset() {
    let source = model("rule begin level := 1; end;");
    let problem = prepare(&parsed(&source), Some("Count")).expect_err("it is a range");
    assert!(problem[0].message.contains("not declared as a scalarset"));
}

#[test]
fn lemmas_that_are_none() {
    let source = model("ruleset p: P do rule \"go\" begin here[p] := true; end; end;");
    let prepared = prepare(&parsed(&source), Some("P")).expect("it can be prepared");
    let said = |text: &str| {
        let source = Source { name: "lemmas.m".into(), text: text.into() };
        read_lemmas(&source, &prepared).expect_err("it is no lemma")[0].message.clone()
    };
    assert!(said("var x: boolean;").contains("contains invariants only"));
    assert!(said("invariant \"x\" true;").contains("for which rule"));
    assert!(said("invariant \"lemma for stay\" true;").contains("the protocol has no rule"));
    assert!(said("invariant \"lemma for go\" level = 0;").contains("over its parameters, p"));
    // Three processors at once are one too many.
    let text = "invariant \"lemma for go\" forall p: P; q: P; r: P do here[q] | here[r] end;";
    let source = Source { name: "lemmas.m".into(), text: text.into() };
    let lemmas = read_lemmas(&source, &prepared).expect("it is a lemma");
    let problems = abstraction(&prepared, &Options::default(), &lemmas).expect_err("too many");
    assert!(problems[0].message.contains("3 processors"));
}
