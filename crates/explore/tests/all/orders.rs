//! Scalarsets whose order may show in loops: whether it does is tried in all orders while a search
//! goes on, and the symmetry is kept where it does not.

use std::sync::atomic::AtomicBool;

use crate::brute_force;
use crate::cluster::together;
use crate::disk::{Directory, keeping, on_disk};
use crate::symmetric_programs::{agrees, read, searched_trying};
use crate::toys;
use murphi::interpret::Interpreter;
use murphi::random::Random;
use murphi::source::Source;
use tribunal_explore::symmetry::Symmetry;
use tribunal_explore::{Deadlock, Event, Loaded, Options, Question, Report};

/// A directory whose messages go through a parameter that keeps the last destination.
const DIRECTORY: &str = "
    type P: scalarset(3); U: union { P, enum { home } }; M: record goal: U; end;
    var inbox: array [P] of 0..2; sharers: multiset [3] of U; last: U; noise: boolean;
    procedure send(m: M); begin
      alias goal: m.goal do for p: P do if goal = p & inbox[p] < 2 then inbox[p] := inbox[p] + 1; end; end; end;
    end;
    procedure multicast(var m: M; from: U); begin
      for u: U do
        if u != from & MultisetCount(i: sharers, sharers[i] = u) > 0 then m.goal := u; send(m); end;
      end;
    end;
    startstate begin for p: P do inbox[p] := 0; end; undefine sharers; last := home; noise := false; end;
    ruleset p: P do
      rule \"share\" MultisetCount(i: sharers, sharers[i] = p) = 0 ==> begin MultisetAdd(p, sharers); end;
      rule \"receive\" inbox[p] > 0 ==> begin inbox[p] := inbox[p] - 1; end;
      rule \"invalidate\" MultisetCount(i: sharers, true) > 1 ==> var m: M; begin
        m.goal := home; multicast(m, p); undefine sharers; AFTER
      end;
    end;
    BESIDE\n";

struct Explored {
    report: Report,
    warned: usize,
    held_back: usize,
    /// Of a search of all states: states, orbits, orbits if the order does not show.
    expected: [usize; 3],
}

fn explored(after: &str, beside: &str, options: Options, symmetry: Symmetry) -> Explored {
    let text = DIRECTORY.replace("AFTER", after).replace("BESIDE", beside);
    let expected = brute_force::search(
        &Interpreter::new(read(&text)).expect("it is small"),
        Deadlock::Off,
        20_000,
    );
    let expected = expected.expect("there are few states");
    let source = Source { name: "directory.m".to_owned(), text };
    let loaded = Loaded::new(&source, &Default::default()).expect("it is right");
    let mut question = Question { options, symmetry, ..Question::default() };
    loaded.identify(&mut question);
    let mut warned = 0;
    let mut events = |event: Event<'_>| {
        if let Event::OrderMayShow(places) = event {
            warned += places.len();
        }
    };
    let report = loaded.explore(&question, &mut events, &AtomicBool::new(false));
    let report = report.expect("the interpreter agrees");
    let expected = [expected.states, expected.orbits, expected.tried_orbits];
    Explored { report, warned, held_back: loaded.order_warnings.len(), expected }
}

fn options(threads: usize) -> Options {
    Options { deadlock: Deadlock::Off, ..toys::threads(threads) }
}

#[test]
fn a_destination_that_is_left_behind_and_not_used_keeps_the_symmetry() {
    for threads in [1, 2] {
        let found = explored("", "", options(threads), Symmetry::Full);
        let [states, orbits, tried] = found.expected;
        assert!(states == orbits && 3 * tried < states, "{:?}", found.expected);
        assert_eq!(found.report.totals.states, tried as u64);
        assert_eq!(found.report.settings.asymmetric, Vec::<String>::new());
        assert_eq!((found.warned, found.held_back), (0, 1));
    }
    let off = explored("", "", options(1), Symmetry::Off);
    assert_eq!(off.report.totals.states, off.expected[0] as u64);
}

#[test]
fn an_order_that_shows_after_a_while_ends_the_symmetry() {
    for threads in [1, 2] {
        let found = explored(SHOWS, "", options(threads), Symmetry::Full);
        let [states, orbits, tried] = found.expected;
        assert!(states == orbits && tried < states, "{:?}", found.expected);
        assert_eq!(found.report.totals.states, states as u64);
        assert_eq!(found.report.settings.asymmetric, ["P"]);
        assert_eq!((found.warned, found.held_back), (1, 1));
    }
}

/// The rule whose order shows after a while.
const SHOWS: &str = "if noise then last := m.goal; end; noise := !noise;";

#[test]
fn several_processes_try_orders_together() {
    for (after, which) in [("", 2), (SHOWS, 0)] {
        for shape in [(1, 1), (2, 1), (3, 2)] {
            let search = |options: &Options| explored(after, "", options.clone(), Symmetry::Full);
            for found in together(shape, &options(shape.1), search) {
                assert_eq!(found.report.totals.states, found.expected[which] as u64, "{shape:?}");
                assert_eq!(found.report.settings.asymmetric.is_empty(), which == 2);
            }
        }
    }
}

/// A search in pieces, by one process and by two: it goes on trying orders, and begins anew where they
/// show.
#[test]
fn orders_are_tried_across_checkpoints() {
    for (after, which) in [("", 2), (SHOWS, 0)] {
        let directory = Directory::new();
        let mut last = None;
        for (piece, level) in (1..).enumerate() {
            let until = Options { deadlock: Deadlock::Off, ..on_disk(&directory.0, 1, 5) };
            let until = keeping(&until, piece > 0, Some(level));
            let search = |options: &Options| explored(after, "", options.clone(), Symmetry::Full);
            let found = match piece % 2 {
                0 => search(&until),
                _ => together((2, 1), &until, search).remove(0),
            };
            let is_over = matches!(found.report.verdict, evidence::Verdict::Holds(_));
            last = Some(found);
            if is_over {
                break;
            }
        }
        let found = last.expect("there is a piece");
        assert_eq!(found.report.totals.states, found.expected[which] as u64);
        assert_eq!(found.report.settings.asymmetric.is_empty(), which == 2);
    }
}

#[test]
fn what_a_guard_or_a_property_runs_is_not_tried() {
    let beside = |condition: &str| {
        format!(
            "function one(): U; var found: U; begin
               found := home;
               for u: U do if MultisetCount(i: sharers, sharers[i] = u) > 0 then found := u; end; end;
               return found;
             end;
             {condition}"
        )
    };
    for condition in
        ["rule one() != home ==> begin noise := !noise; end;", "invariant one() = one();"]
    {
        let found = explored("", &beside(condition), options(1), Symmetry::Full);
        assert_eq!(found.report.totals.states, found.expected[0] as u64, "{condition}");
        assert_eq!(found.report.settings.asymmetric, ["P"], "{condition}");
        assert_eq!((found.warned, found.held_back), (0, 0), "{condition}");
    }
}

/// A program with a loop whose order shows or not, and with little else.
fn looping(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut one = |of: &[&'static str]| of[random.below(of.len())];
    let size = one(&["2", "3", "3"]);
    let statements = [
        "m := q;",
        "if mark[q] = 1 then m := q; end;",
        "if mark[q] = 1 then n := 3 - n; end;",
        "if n = 0 then mark[q] := 1 - mark[q]; end; n := 1;",
        "if isundefined(ref) & mark[q] = 1 then ref := q; end;",
        "if MultisetCount(i: bag, true) < 3 & mark[q] = 1 then MultisetAdd(q, bag); end;",
        "if mark[q] = 1 then mark[q] := 0; return; end;",
        "assert n < 3 | mark[q] = 0;",
        "mark[q] := n % 2;",
        "n := mark[q];",
        "if mark[q] = 1 then return; end; mark[q] := 1;",
        "m := q; keep(m);",
        "if !isundefined(m) then assume mark[m] = 0; end; m := q;",
    ];
    let body: Vec<&str> = (0..2).map(|_| one(&statements)).collect();
    let after = one(&[
        "",
        "",
        "if !isundefined(m) then ref := m; end;",
        "if !isundefined(m) then mark[m] := 0; end;",
        "if isundefined(m) then n := 2; end;",
    ]);
    format!(
        "type P: scalarset({size});
         var mark: array [P] of 0..1; n: 0..3; ref: P; bag: multiset [3] of P;
         procedure keep(p: P); begin
           if MultisetCount(i: bag, bag[i] = p) = 0 & n != 1 then MultisetAdd(p, bag); end; end;
         procedure go(var m: P); begin for q: P do {} end; end;
         startstate begin for p: P do mark[p] := 0; end; n := 0; undefine ref; undefine bag; end;
         ruleset p: P do
           rule \"mark\" mark[p] = 0 ==> begin mark[p] := 1; end;
           rule \"name\" isundefined(ref) & n = 0 ==> begin ref := p; end;
         end;
         rule \"empty\" MultisetCount(i: bag, true) > 1 ==> begin undefine bag; undefine ref; end;
         rule \"more\" n < 3 ==> begin n := n + 1; end;
         rule \"go\" true ==> var m: P; begin undefine m; go(m); {after} end;\n",
        body.join(" ")
    )
}

#[test]
fn random_loops_show_their_order_or_keep_the_symmetry() {
    let (mut tried, mut shown, mut kept, mut noticed) = (0, 0, 0, 0);
    for seed in 0..150 {
        let text = looping(seed);
        let model = read(&text);
        let interpreter = Interpreter::new(model.clone()).expect("it is small");
        let program = native::Program::compile(&model, interpreter.layout()).expect("it compiles");
        if !program.has_tried_loops() {
            continue;
        }
        tried += 1;
        let expected = brute_force::search(&interpreter, Deadlock::Off, 3000);
        let expected = expected.expect("there are few states");
        let of_trying = (expected.kind, expected.tried_orbits);
        match searched_trying(&interpreter, &program, Deadlock::Off, true) {
            None => shown += 1,
            Some(found) => {
                kept += usize::from(expected.tried_orbits < expected.states);
                agrees("in all orders", &found, of_trying)
                    .unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
            }
        }
        // What would be said if orders were not compared.
        let blind = searched_trying(&interpreter, &program, Deadlock::Off, false);
        let blind = blind.expect("nothing is compared");
        noticed += usize::from(agrees("unseen", &blind, of_trying).is_err());
    }
    eprintln!(
        "{tried} are tried: {shown} show their order, {kept} are reduced, {noticed} would be wrong"
    );
    assert!(tried > 80 && shown > 20 && kept > 10 && noticed > 5);
}
