//! The loop from a protocol to a verdict for any number of processors.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use abstraction::{Lemma, Prepared, View, abstraction, prepare};
use explore::symmetry::Symmetry;
use murphi::interpret::Interpreter;
use murphi::parse::parse;
use murphi::source::Source;
use recheck::read_lemmas;
use tribunal_refine::{
    BrokenInstance, Options, Unknown, UsedLemma, Verdict, Verification, explore as search_all,
    verify,
};

fn source(name: &str, text: &str) -> Source {
    Source { name: name.to_owned(), text: text.to_owned() }
}

fn prepared(text: &str) -> Prepared {
    let source = source("m.m", text);
    let (program, problems) = parse(&source);
    let refused = |problems: Vec<murphi::diagnostic::Diagnostic>| -> Prepared {
        panic!("{}", problems.iter().map(|each| each.render(&source, false)).collect::<String>())
    };
    match program {
        Some(program) => prepare(&program, None).unwrap_or_else(refused),
        None => refused(problems),
    }
}

fn refined(prepared: &Prepared, options: &Options) -> Verification {
    let interrupt = AtomicBool::new(false);
    verify(prepared, options, &mut |_, _| (), &interrupt).unwrap()
}

fn protocol(name: &str) -> String {
    let path = format!("{}/../../protocols/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn german_is_verified_by_lemmas_that_can_be_given_again() {
    let prepared = prepared(&protocol("german.m"));
    let found = refined(&prepared, &Options::default());
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
    assert!(found.minimal && !found.lemmas.is_empty());
    assert!(found.lemmas.iter().all(|kept| kept.called_for.is_some()));
    let text: String = found.lemmas.iter().map(|kept| kept.text.clone() + "\n").collect();
    let lemmas = read_lemmas(&source("lemmas.m", &text), &prepared).unwrap();
    let again = refined(&prepared, &Options { lemmas, ..Options::default() });
    assert!(matches!(again.verdict, Verdict::Holds(())), "{:?}", again.verdict);
    assert_eq!((again.rounds, again.lemmas.len()), (1, found.lemmas.len()));
    // None of them can be left out: without any, others have to be found.
    let lemmas = again.lemmas[1..].iter().map(|kept| kept.lemma.clone()).collect();
    let fewer = refined(&prepared, &Options { lemmas, ..Options::default() });
    assert!(fewer.rounds > 1);
}

/// In MI no two forwarded requests have the same requester, who need not be in view.
#[test]
fn facts_that_compare_two_stored_processors_need_a_name() {
    let prepared = prepared(&protocol("mi.m"));
    assert!(prepared.stores_several_processors());
    let with = |named: bool| {
        let view = View { concrete: 2, named };
        let abstraction = abstraction::Options { view, ..Default::default() };
        refined(&prepared, &Options { abstraction, ..Options::default() })
    };
    let found = with(true);
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
    let compares = |kept: &UsedLemma| {
        let compared = "forward[other_processor][a].requester";
        kept.condition.matches("].requester").count() > 1 && kept.condition.contains(compared)
    };
    assert!(found.lemmas.iter().any(compares), "{:#?}", found.lemmas);
    let without = with(false);
    assert!(
        matches!(without.verdict, Verdict::Undecided(Unknown::Missing(_))),
        "{:?}",
        without.verdict
    );
}

/// In MI many a fact holds with three processors and not with four. Once it is known what follows
/// from what was observed, all facts are right.
#[test]
fn no_fact_is_given_up_once_it_is_known_what_follows() {
    let prepared = prepared(&protocol("mi.m"));
    let view = View { concrete: 2, named: true };
    let abstraction = abstraction::Options { view, ..Default::default() };
    let options = Options { abstraction, ..Options::default() };
    let (mut is_known, mut given_up, mut found_after) = (false, 0, 0);
    let mut listener = |what: &str, _: Option<&explore::Progress>| {
        is_known |= what == "closure of the observations";
        given_up += usize::from(what.starts_with("- "));
        found_after += usize::from(is_known && what.starts_with("+ "));
    };
    let found = verify(&prepared, &options, &mut listener, &AtomicBool::new(false)).unwrap();
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
    assert!(is_known);
    assert_eq!(given_up, 0);
    assert!(found_after >= found.lemmas.len(), "{found_after} lemmas were found");
}

/// Lemmas are left out by looking at what their rules do in states that are known; a search from the
/// start must come to the same.
#[test]
fn without_any_one_lemma_something_is_wrong() {
    let prepared = prepared(&protocol("mi.m"));
    let view = View { concrete: 2, named: true };
    let mut how = abstraction::Options { view, ..Default::default() };
    let found = refined(&prepared, &Options { abstraction: how.clone(), ..Options::default() });
    assert!(found.minimal);
    how.leave_out = found.left_out.clone();
    let lemmas: Vec<Lemma> = found.lemmas.iter().map(|kept| kept.lemma.clone()).collect();
    assert!(is_verified(&prepared, &how, &lemmas));
    for left_out in 0..lemmas.len() {
        let mut fewer = lemmas.clone();
        fewer.remove(left_out);
        assert!(!is_verified(&prepared, &how, &fewer), "{}", found.lemmas[left_out].text);
    }
}

/// Whether nothing is wrong in an abstraction that is strengthened by lemmas.
fn is_verified(prepared: &Prepared, how: &abstraction::Options, lemmas: &[Lemma]) -> bool {
    let strengthened = abstraction(prepared, how, lemmas).unwrap();
    let text = murphi::print::print(&strengthened.program);
    let checked = murphi::load(source("abstraction.m", &text), &Default::default()).unwrap();
    let interpreter = Interpreter::new(Arc::new(checked.model)).unwrap();
    let search = explore::Options { deadlock: explore::Deadlock::Off, ..Default::default() };
    let never = AtomicBool::new(false);
    let found = search_all(&interpreter, &search, Symmetry::Full, &mut |_| (), &never);
    found.verdict == explore::Verdict::Holds(())
}

#[test]
fn broken_variants_are_refuted_by_small_instances() {
    for (name, processors) in [
        ("german-grants-before-acks.m", 2),
        ("german-shared-copy-survives.m", 2),
        ("german-write-back-lost.m", 2),
    ] {
        let found = refined(&prepared(&protocol(&format!("broken/{name}"))), &Options::default());
        let Verdict::Broken(BrokenInstance { processors: with, exploration, .. }) = &found.verdict
        else {
            panic!("{name}: {:?}", found.verdict);
        };
        assert_eq!(*with, processors, "{name}");
        assert!(exploration.counterexample().len() > 1, "{name}");
    }
}

/// A token goes round; who has it may write.
const TOKEN: &str = "
    type P: scalarset(3); Activity: enum { idle, writing };
    var holder: P; activity: array [P] of Activity; shared: boolean;
    ruleset p: P do
      startstate begin
        holder := p; shared := false;
        for q: P do activity[q] := idle; end;
      end;
    end;
    ruleset p: P do
      rule \"begin\" holder = p & !shared ==> begin activity[p] := writing; shared := true; end;
      rule \"end\" activity[p] = writing ==> begin activity[p] := idle; shared := false; end;
    end;
    ruleset p: P; q: P do
      rule \"pass\" holder = p & !shared ==> begin holder := q; end;
    end;
    invariant \"one writer\"
      forall p: P do forall q: P do
        p != q & activity[p] = writing -> activity[q] = idle
      end end;
    invariant \"the writer has the token\" forall p: P do activity[p] = writing -> holder = p end;";

#[test]
fn others_are_kept_from_what_they_never_do() {
    let prepared = prepared(TOKEN);
    let found = refined(&prepared, &Options::default());
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
    // An other that ends is a writer, so nobody else is one.
    assert!(found.lemmas.iter().any(|kept| kept.rule == "end"), "{:?}", found.lemmas);
}

#[test]
fn a_claim_about_a_set_of_processors_is_one_about_the_concrete_ones() {
    let text = "
        type P: scalarset(2);
        var inside: array [P] of boolean; free: boolean;
        startstate begin for p: P do inside[p] := false; end; free := true; end;
        ruleset p: P do
          rule \"enter\" free ==> begin inside[p] := true; free := false; end;
          rule \"leave\" inside[p] ==> begin inside[p] := false; free := true; end;
        end;
        invariant \"alone\"
          forall p: P do forall q: P do p != q -> !(inside[p] & inside[q]) end end;";
    let found = refined(&prepared(text), &Options::default());
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
}

/// What a call brings in is a variable of the rule, also where it was brought in by a loop.
#[test]
fn a_function_with_a_variable_is_called_in_two_loops() {
    let text = "
        type P: scalarset(2); Level: 0..3;
        var level: array [P] of Level; raised: boolean;
        function above(given: Level): Level;
        var more: Level;
        begin
          more := given;
          if more < 3 then more := more + 1; end;
          return more;
        end;
        startstate begin for p: P do level[p] := 0; end; raised := false; end;
        ruleset p: P do
          rule \"raise\" level[p] < 3 ==> begin
            for i: 0..1 do level[p] := above(level[p]); end;
            for i: 0..1 do level[p] := above(level[p]); end;
            raised := true;
          end;
        end;
        invariant \"all the way\" forall p: P do level[p] = 0 | level[p] = 3 end;";
    let found = refined(&prepared(text), &without_deadlock());
    assert!(matches!(found.verdict, Verdict::Holds(())), "{:?}", found.verdict);
}

/// When all are there, nothing happens any more.
fn without_deadlock() -> Options {
    let search = explore::Options { deadlock: explore::Deadlock::Off, ..Default::default() };
    Options { search, ..Options::default() }
}

#[test]
fn an_interrupted_search_answers_nothing() {
    let interrupt = AtomicBool::new(true);
    let prepared = prepared(TOKEN);
    let found = verify(&prepared, &Options::default(), &mut |_, _| (), &interrupt).unwrap();
    assert!(matches!(found.verdict, Verdict::Undecided(Unknown::Ended(_))), "{:?}", found.verdict);
}

#[test]
fn what_only_more_processors_do_is_found_with_more_processors() {
    // Three that meet are too many.
    let text = "
        type P: scalarset(2); Count: enum { none, one, two, three };
        var here: array [P] of boolean; met: Count;
        startstate begin for p: P do here[p] := false; end; met := none; end;
        ruleset p: P do
          rule \"come\" !here[p] ==> begin
            here[p] := true;
            switch met case none: met := one; case one: met := two; else met := three; end;
          end;
        end;
        invariant \"not too many\" met != three;";
    let found = refined(&prepared(text), &without_deadlock());
    let Verdict::Broken(BrokenInstance { processors, .. }) = found.verdict else {
        panic!("{:?}", found.verdict);
    };
    assert_eq!(processors, 3);
}
