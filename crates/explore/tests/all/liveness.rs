//! Liveness against its definition: random models whose states and steps the reference interpreter
//! lists, a fixpoint over them, and what a search says with and without symmetry, with one thread and
//! with two, by native code and by the interpreter.
//!
//! Each run begins at another seed, which it prints; `FIRST_SEED` and `TRIBUNAL_TRIALS` repeat one or
//! make it longer.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::symmetric_programs::{first_seed, number};
use crate::toys;
use murphi::goal::Goals;
use murphi::interpret::Interpreter;
use murphi::machine::{Check, Machine, Outcome, Successors};
use murphi::random::Random;
use murphi::source::Source;
use murphi::value::State;
use tribunal_explore::symmetry::Symmetry;
use tribunal_explore::{
    Bare, BitCodec, Deadlock, Engine, Exploration, Liveness, Options, StateForm, Verdict, Violation,
};

/// A random model in which nothing fails, with something that has to stay within reach.
pub(crate) fn program(seed: u64) -> String {
    let random = &mut Random::new(seed);
    let size = 2 + random.below(2);
    let mut text = format!(
        "type P: scalarset({size}); Tag: enum {{ none, lost }}; U: union {{ Tag, P }};\n\
         var st: array [P] of 0..2; n: 0..2; owner: P; who: U; next: array [P] of P;\n\
         bag: multiset [2] of P;\n\
         function busy(p: P): boolean; begin return st[p] > 0 | !isundefined(owner) & owner = p; end;\n\
         startstate begin for p: P do st[p] := 0; end; n := 0; undefine owner; who := none;\n\
         undefine next; undefine bag; end;\n"
    );
    for rule in 0..3 + random.below(5) {
        let guard = (0..1 + random.below(2)).map(|_| condition(random, "p", "q"));
        let guard = guard.collect::<Vec<_>>().join(" & ");
        let effects: String = (0..1 + random.below(2)).map(|_| effect(random)).collect();
        text += &format!(
            "ruleset p: P; q: P do rule \"r{rule}\" {guard} ==> begin {effects} end; end;\n"
        );
    }
    if random.chance(15) {
        let left_out = condition(random, "a", "b");
        text += &format!("assume exists a: P do exists b: P do !({left_out}) end end;\n");
    }
    for goal in 0..1 + random.below(2) {
        text += &liveness(random, goal);
    }
    text
}

fn liveness(random: &mut Random, goal: usize) -> String {
    // What is so at the start may be lost later.
    let one = match random.below(6) {
        0 => "st[p] = 0".to_owned(),
        1 => "n = 0".to_owned(),
        2 => "isundefined(owner)".to_owned(),
        _ => condition(random, "p", "q"),
    };
    match random.below(5) {
        0 => format!("liveness \"g{goal}\" exists p: P do exists q: P do {one} end end;\n"),
        1 => format!("liveness \"g{goal}\" forall p: P do exists q: P do {one} end end;\n"),
        2 => format!("ruleset p: P; q: P do liveness \"g{goal}\" {one}; end;\n"),
        3 => format!(
            "ruleset k := 0 to 2 by 2; p: P; q: P do liveness \"g{goal}\" n = k | {one}; end;\n"
        ),
        _ => format!(
            "ruleset u: U; q: P do liveness \"g{goal}\" \
             who = u | ismember(u, P) & st[q] = {}; end;\n",
            random.below(3)
        ),
    }
}

fn condition(random: &mut Random, p: &str, q: &str) -> String {
    let (k, l) = (random.below(3), random.below(3));
    match random.below(12) {
        0..3 => format!("st[{p}] = {k}"),
        3 => format!("st[{p}] = {k} & st[{q}] = {l}"),
        4 => format!("n = {k}"),
        5 => "isundefined(owner)".to_owned(),
        6 => format!("!isundefined(owner) & owner = {p}"),
        7 => format!("who = {p}"),
        8 => format!("{p} != {q}"),
        9 => format!("!isundefined(next[{p}]) & next[{p}] = {q}"),
        10 => format!("multisetcount(i: bag, bag[i] = {p}) = {}", random.below(2)),
        _ => format!("busy({p})"),
    }
}

fn effect(random: &mut Random) -> String {
    let k = random.below(3);
    match random.below(11) {
        0..3 => format!("st[p] := {k}; "),
        3 => format!("st[q] := {k}; "),
        4 => format!("n := {k}; "),
        5 => "owner := p; ".to_owned(),
        6 => "undefine owner; ".to_owned(),
        7 => "who := q; ".to_owned(),
        8 => "next[p] := q; ".to_owned(),
        9 => "if multisetcount(i: bag, true) < 2 then multisetadd(p, bag); end; ".to_owned(),
        _ => "multisetremovepred(i: bag, bag[i] = q); ".to_owned(),
    }
}

/// All states of a model with the goals that are within reach of each.
pub(crate) struct Truth {
    number: HashMap<Vec<u8>, usize>,
    /// For each state that counts, its distance from the start and, for each goal, whether it is
    /// within reach.
    states: Vec<Option<(usize, Vec<bool>)>>,
}

/// The truth about a model with at most so many states.
pub(crate) fn truth(interpreter: &Interpreter, most: usize) -> Option<Truth> {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let goals = Goals::of(model).expect("there are few");
    let sorted = |bytes: &[u8]| {
        let state = State::decode(model, layout, bytes).expect("the interpreter has made it");
        state.sorted(model, layout).encode(model, layout)
    };
    let mut machine = interpreter.clone();
    let mut truth = Truth { number: HashMap::new(), states: Vec::new() };
    let mut batch = Successors::new(layout.size as usize);
    Machine::start(&mut machine, &mut batch);
    let mut level: Vec<Vec<u8>> =
        batch.firings.iter().enumerate().map(|(at, _)| sorted(batch.state(at))).collect();
    let (mut steps, mut depth) = (Vec::new(), 0);
    while !level.is_empty() {
        let mut next = Vec::new();
        for state in std::mem::take(&mut level) {
            if truth.number.contains_key(&state) {
                continue;
            }
            let number = truth.states.len();
            truth.number.insert(state.clone(), number);
            if machine.check(&state) == Check::Excluded {
                truth.states.push(None);
                continue;
            }
            let mut reached = vec![false; goals.len()];
            machine.goals(&state, &mut reached).expect("nothing fails");
            truth.states.push(Some((depth, reached)));
            batch.clear();
            machine.expand(&state, &mut batch);
            for (at, firing) in batch.firings.iter().enumerate() {
                assert_eq!(firing.outcome, Outcome::Done, "nothing fails");
                steps.push((number, sorted(batch.state(at))));
                next.push(steps.last().expect("just pushed").1.clone());
            }
        }
        if truth.states.len() > most {
            return None;
        }
        (level, depth) = (next, depth + 1);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (from, to) in &steps {
            let there = truth.states[truth.number[to]].clone();
            let (Some((_, here)), Some((_, there))) = (&mut truth.states[*from], there) else {
                continue;
            };
            for (here, there) in here.iter_mut().zip(there) {
                changed |= there && !*here;
                *here |= there;
            }
        }
    }
    Some(truth)
}

/// How a model is searched.
#[derive(Debug, Clone, Copy)]
struct How {
    symmetry: Symmetry,
    threads: usize,
    natively: bool,
    form: StateForm,
}

fn search(interpreter: &Interpreter, how: How) -> Exploration {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let engine = match how.natively {
        true => Engine::new(interpreter),
        false => {
            let codec = BitCodec::new(model, layout);
            Engine::Interpreted(Box::new(interpreter.clone()), codec, native::Error::Stopped)
        }
    };
    let goals = Goals::of(model).expect("there are few");
    let How { threads, form, .. } = how;
    let options = Options { form, deadlock: Deadlock::Off, goals, ..toys::threads(threads) };
    let how = (&options, how.symmetry);
    engine.explore(interpreter, how, &Bare, &mut |_| (), &AtomicBool::new(false))
}

/// What is wrong with an answer.
pub(crate) fn judged(
    interpreter: &Interpreter,
    truth: &Truth,
    found: &Exploration,
) -> Result<(), String> {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let goals = Goals::of(model).expect("there are few");
    let counted = || truth.states.iter().flatten();
    let caught = counted().filter(|(_, reached)| reached.contains(&false));
    let nearest = caught.map(|(depth, _)| *depth).min();
    match (&found.verdict, nearest) {
        (Verdict::Holds(()), None) => match found.liveness {
            Liveness::Holds { .. } => Ok(()),
            _ => Err(format!("liveness is {:?}", found.liveness)),
        },
        (Verdict::Broken(run), Some(nearest)) => {
            let Violation::OutOfReach { property, instance } = run.violation else {
                return Err(format!("it is {:?}", run.violation));
            };
            if run.steps.len() != nearest + 1 {
                return Err(format!("{} steps instead of {nearest}", run.steps.len() - 1));
            }
            let last = &run.steps.last().expect("there is a start").state;
            let last = State::decode(model, layout, last).map_err(|error| error.to_string())?;
            let last = last.sorted(model, layout).encode(model, layout);
            let state = truth.number.get(&last).ok_or("its end is no state")?;
            let (_, reached) = truth.states[*state].as_ref().ok_or("its end is excluded")?;
            let is_goal = |&number: &usize| {
                goals.get(number).property == property && goals.get(number).instance == instance
            };
            let goal = (0..goals.len()).find(is_goal).ok_or("there is no such goal")?;
            match reached[goal] {
                true => Err(format!("goal {goal} is within reach of its end")),
                false => Ok(()),
            }
        }
        (verdict, nearest) => Err(format!("{verdict:?}, but the nearest is {nearest:?} away")),
    }
}

pub(crate) fn interpreter(text: &str) -> Interpreter {
    let source = Source { name: "random.m".to_owned(), text: text.to_owned() };
    let checked = murphi::load(source, &Default::default());
    let checked = checked.unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    Interpreter::new(Arc::new(checked.model)).expect("it is small")
}

/// How many models were of which kind.
#[derive(Debug, Default)]
struct Mix {
    too_large: u64,
    hold: u64,
    broken: u64,
    /// Broken, and not at the start.
    later: u64,
    /// With fewer orbits than states.
    reduced: u64,
    most_states: usize,
}

fn compare(seeds: std::ops::Range<u64>, one_native_in: u64) -> Mix {
    let mut mix = Mix::default();
    for seed in seeds {
        let text = program(seed);
        let interpreter = interpreter(&text);
        let Some(truth) = truth(&interpreter, 2000) else {
            mix.too_large += 1;
            continue;
        };
        mix.most_states = mix.most_states.max(truth.states.len());
        let mut states = Vec::new();
        let by_chance = seed % one_native_in == 0;
        for (symmetry, threads, natively, form) in [
            (Symmetry::Off, 1, false, StateForm::Flat),
            (Symmetry::Full, 2, false, StateForm::Tree),
            (Symmetry::Full, 1, by_chance, StateForm::Flat),
        ] {
            let how = How { symmetry, threads, natively, form };
            let found = search(&interpreter, how);
            if let Err(wrong) = judged(&interpreter, &truth, &found) {
                panic!("seed {seed}, {how:?}: {wrong}\n{text}");
            }
            states.push(found.states);
            if symmetry == Symmetry::Off {
                mix.hold += u64::from(found.violation().is_none());
                mix.broken += u64::from(found.violation().is_some());
                mix.later += u64::from(found.counterexample().len() > 1);
            }
        }
        mix.reduced += u64::from(states[1] < states[0]);
    }
    mix
}

#[test]
fn random_models_keep_within_reach_what_the_fixpoint_says() {
    let (first, trials) = (first_seed(), number("TRIBUNAL_TRIALS", 150));
    println!("FIRST_SEED={first} TRIBUNAL_TRIALS={trials}");
    println!("{:?}", compare(first..first + trials, 10));
}

#[test]
fn random_models_are_of_every_kind() {
    let mix = compare(0..300, 50);
    assert!(mix.hold > 30 && mix.broken > 100 && mix.later > 20 && mix.reduced > 100, "{mix:?}");
    assert!(mix.too_large < 60 && mix.most_states > 500, "{mix:?}");
}

fn explored(text: &str, options: Options) -> Exploration {
    let interpreter = interpreter(text);
    let goals = Goals::of(interpreter.model()).expect("there are few");
    let options = Options { goals, ..options };
    let engine = Engine::new(&interpreter);
    let how = (&options, Symmetry::Full);
    engine.explore(&interpreter, how, &Bare, &mut |_| (), &AtomicBool::new(false))
}

#[test]
fn a_goal_that_cannot_be_evaluated_is_a_failing_property() {
    let text = "type T: enum { a, b }; var x: 0..3; e: T;\n\
        startstate begin x := 0; e := a; end;\n\
        rule x < 3 ==> begin x := x + 1; if x = 2 then undefine e; end; end;\n\
        rule x = 3 ==> begin x := 0; e := b; end;\n\
        liveness \"b\" e = b;";
    let found = explored(text, Options::default());
    assert_eq!(found.violation(), Some(Violation::PropertyFailed { property: 0 }));
    assert_eq!(found.counterexample().len(), 3);
}

#[test]
fn what_does_not_keep_the_states_says_nothing_about_liveness() {
    let text = "var x: 0..3; startstate begin x := 0; end;\n\
        rule begin x := (x + 1) % 4; end; liveness \"three\" x = 3;";
    for strategy in
        [tribunal_explore::Strategy::Depth, tribunal_explore::Strategy::Compact { bits: 40 }]
    {
        let found = explored(text, Options { strategy, ..Options::default() });
        assert_eq!((found.verdict, found.liveness), (Verdict::Holds(()), Liveness::Open));
    }
    let found = explored(text, Options::default());
    assert!(matches!(found.liveness, Liveness::Holds { .. }), "{found:?}");
    let found = explored(text, Options { depth: Some(2), ..Options::default() });
    assert_eq!(found.liveness, Liveness::Open);
}
