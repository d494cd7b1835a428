//! Symmetry does not change verdicts: random programs, searched with and without it, natively and by
//! the interpreter, and by brute force.
//!
//! Each run begins at another seed, which it prints; `FIRST_SEED` and `TRIBUNAL_TRIALS` repeat one or
//! make it longer, and `TRIBUNAL_WORKERS` is with how many threads. A seed names a program. How many
//! of the programs are of which kind, and whether mistakes are noticed, is asked of fixed seeds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::brute_force::{self, Found, Kind};
use crate::sketch;
use crate::toys;
use murphi::check::{Options as Language, Reading};
use murphi::interpret::Interpreter;
use murphi::ir::{ExpressionKind, Model, PropertyKind, StatementKind};
use murphi::machine::Machine;
use murphi::source::Source;
use murphi::walk::{self, Visitor};
use tribunal_explore::symmetry::{Canonicalizer, Symmetry};
use tribunal_explore::{
    BitCodec, Codec, Deadlock, Exploration, Options, Reduction, StateForm, System, Verdict,
    ViolatingRun, Violation, explore,
};

/// Programs with more states are passed over.
const MOST_STATES: usize = 300;

/// Of so many programs, one runs natively, too: to compile a program takes longer than to search it.
const ONE_NATIVE_IN: u64 = 4;

/// Whether native code is made of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Natively {
    Yes,
    No,
}

/// A mistake that is made on purpose, to see whether it is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    Nothing,
    /// That the order of members may show is not looked at.
    OrderForgotten,
    /// A loop that looks for a member ends with the first one that is found.
    LoopsThatStop,
    /// The last rule does not exist.
    RuleLeftOut,
    /// Assumptions are taken for invariants that always hold.
    AssumptionsForgotten,
}

impl Sabotage {
    const ALL: [Sabotage; 4] = [
        Sabotage::OrderForgotten,
        Sabotage::LoopsThatStop,
        Sabotage::RuleLeftOut,
        Sabotage::AssumptionsForgotten,
    ];

    /// The model that is searched instead of this one.
    fn done(self, model: &Arc<Model>) -> Arc<Model> {
        let mut asked = Model::clone(model);
        match self {
            Sabotage::Nothing => return Arc::clone(model),
            Sabotage::OrderForgotten => asked.ordered.clear(),
            Sabotage::LoopsThatStop => {
                asked.rules.iter_mut().for_each(|rule| stop_early(&mut rule.body));
                asked.functions.iter_mut().for_each(|function| stop_early(&mut function.body));
            }
            Sabotage::RuleLeftOut => drop(asked.rules.pop()),
            Sabotage::AssumptionsForgotten => {
                asked.properties.retain(|property| property.kind != PropertyKind::Assumption);
            }
        }
        Arc::new(asked)
    }
}

/// Makes loops end with the first `return`.
fn stop_early(body: &mut [murphi::ir::Statement]) {
    for statement in body {
        match &mut statement.kind {
            StatementKind::For { body, runs_all, .. } => {
                *runs_all = false;
                stop_early(body);
            }
            StatementKind::If { branches, otherwise } => {
                branches.iter_mut().for_each(|(_, body)| stop_early(body));
                stop_early(otherwise);
            }
            StatementKind::While { body, .. } | StatementKind::Alias { body, .. } => {
                stop_early(body);
            }
            _ => {}
        }
    }
}

/// A number from the environment.
pub(crate) fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Where to begin: another place each time, unless `FIRST_SEED` says.
pub(crate) fn first_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    number("FIRST_SEED", now.map_or(0, |now| now.as_nanos() as u64 % 1_000_000_000_000))
}

/// What kinds of programs there were.
#[derive(Debug, Default)]
pub(crate) struct Mix {
    programs: usize,
    too_large: usize,
    kinds: BTreeMap<Kind, usize>,
    /// With a scalarset whose order may show.
    ordered: usize,
    /// With a loop that runs all rounds before it returns or is excluded.
    running_all: usize,
    /// With a loop that is excluded after all rounds have been run.
    excluding: usize,
    /// Wrong by an error inside a quantifier over members.
    failing_in_quantifier: usize,
    /// With fewer orbits than states.
    reduced: usize,
    /// With at least 50 states.
    large: usize,
    most_states: usize,
    /// Run natively as well.
    native: usize,
    /// Run in all orders of members, with the order showing or not.
    trying: usize,
    order_shown: usize,
    /// With these constructs.
    words: BTreeMap<&'static str, usize>,
}

/// Constructs that are counted.
const WORDS: [&str; 18] = [
    "forall",
    "exists",
    "for ",
    "return",
    "MultisetCount",
    "MultisetRemovePred",
    "choose",
    "ismember",
    "assume",
    "cover",
    "switch",
    "while",
    "alias",
    "up(st",
    "grid[",
    "dir.",
    "scalarset(2); Tag",
    "Q: scalarset",
];

impl Mix {
    fn add(&mut self, other: &Mix) {
        for (kind, count) in &other.kinds {
            *self.kinds.entry(*kind).or_default() += count;
        }
        for (word, count) in &other.words {
            *self.words.entry(word).or_default() += count;
        }
        let pairs = [
            (&mut self.programs, other.programs),
            (&mut self.too_large, other.too_large),
            (&mut self.ordered, other.ordered),
            (&mut self.running_all, other.running_all),
            (&mut self.excluding, other.excluding),
            (&mut self.failing_in_quantifier, other.failing_in_quantifier),
            (&mut self.reduced, other.reduced),
            (&mut self.large, other.large),
            (&mut self.native, other.native),
            (&mut self.trying, other.trying),
            (&mut self.order_shown, other.order_shown),
        ];
        pairs.into_iter().for_each(|(sum, each)| *sum += each);
        self.most_states = self.most_states.max(other.most_states);
    }
}

/// Every other program is read strictly: there, comparing something undefined is an error.
fn language(text: &str) -> Language {
    let reading = if text.len().is_multiple_of(2) { Reading::Strict } else { Reading::Whole };
    Language { reading, ..Language::default() }
}

pub(crate) fn read(text: &str) -> Arc<Model> {
    let source = Source { name: "symmetric.m".to_owned(), text: text.to_owned() };
    match murphi::load(source, &language(text)) {
        Ok(checked) => Arc::new(checked.model),
        Err(why) => panic!("not a program: {}\n{text}", why[0].message),
    }
}

fn searched<M: Machine>(
    interpreter: &Interpreter,
    machine: impl Fn() -> M + Sync,
    codec: &impl Codec,
    (symmetry, deadlock): (Symmetry, Deadlock),
) -> Exploration {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let reduction = &Canonicalizer::new(model, layout, symmetry);
    let (state_size, rules) = (layout.size as usize, model.rules.len());
    let system = System { machine, codec, reduction, state_size, rules };
    let search =
        |options: &Options| explore(options, &system, &mut |_| (), &AtomicBool::new(false));
    let flat = Options { threads: 1, deadlock, form: StateForm::Flat, ..Options::default() };
    let found = search(&flat);
    let tree = |threads| search(&Options { threads, form: StateForm::Tree, ..flat.clone() });
    let (one, two) = (tree(1), tree(2));
    assert_eq!(one.verdict, two.verdict, "the counterexample depends on threads");
    assert_same(&found, &one);
    assert_same(&found, &two);
    let whole = Canonicalizer::new(model, layout, symmetry).without_tables();
    let stepwise = System { reduction: &whole, ..system };
    let search =
        |options: &Options| explore(options, &stepwise, &mut |_| (), &AtomicBool::new(false));
    let large = search(&Options { form: StateForm::Tree, ..flat });
    assert_eq!((kind(&found), found.depth), (kind(&large), large.depth));
    if kind(&found) == Kind::Verified {
        assert_eq!((found.states, found.rules_fired), (large.states, large.rules_fired));
    }
    found
}

/// Searches a program natively, where rules are run in all orders of members; nothing if the order
/// shows, unless it is not compared what they lead to.
pub(crate) fn searched_trying(
    interpreter: &Interpreter,
    program: &Arc<native::Program>,
    deadlock: Deadlock,
    compares: bool,
) -> Option<Exploration> {
    let (model, layout) = (interpreter.model(), interpreter.layout());
    let (reduction, codec) = (&Canonicalizer::trying(model, layout), &**program);
    let (state_size, rules) = (layout.size as usize, model.rules.len());
    let shows = Arc::new(AtomicBool::new(false));
    let machine = || {
        let mut machine = program.machine();
        if compares {
            machine.try_orders(&shows);
        }
        machine
    };
    let system = System { machine, codec, reduction, state_size, rules };
    let options = Options { deadlock, ..toys::threads(1) };
    let found = explore(&options, &system, &mut |_| (), &AtomicBool::new(false));
    let again = Options { threads: 2, form: StateForm::Tree, ..options };
    let again = explore(&again, &system, &mut |_| (), &AtomicBool::new(false));
    (!shows.load(Relaxed)).then(|| {
        if compares {
            assert_same(&found, &again);
        }
        found
    })
}

/// Whether a search found what it should: this kind of verdict, and if all is well so many states.
pub(crate) fn agrees(
    way: &str,
    found: &Exploration,
    (expected, states): (Kind, usize),
) -> Result<(), String> {
    if kind(found) != expected {
        let found = kind(found);
        return Err(format!("{way}: {found:?} instead of {expected:?}"));
    }
    if expected == Kind::Verified && found.states != states as u64 {
        return Err(format!("{way}: {} instead of {states} states", found.states));
    }
    Ok(())
}

/// The form of states changes nothing but which of several shortest counterexamples is found.
fn assert_same(flat: &Exploration, tree: &Exploration) {
    let steps = |it: &Exploration| match &it.verdict {
        Verdict::Broken(run) => Some(run.steps.len()),
        _ => None,
    };
    let told = |it: &Exploration| {
        (kind(it), steps(it), it.states, it.rules_fired, it.depth, it.firings.clone())
    };
    assert_eq!(told(flat), told(tree));
    // Which states of the last level are expanded before a violation is found depends on the order in
    // which they are searched, and with it what they cover.
    if kind(flat) == Kind::Verified {
        assert_eq!(flat.covered, tree.covered);
    }
}

/// A reduction that does not tell half of the words that a rule has changed.
struct Withholding(Canonicalizer);

impl Reduction for Withholding {
    type Scratch = <Canonicalizer as Reduction>::Scratch;

    fn scratch(&self) -> Self::Scratch {
        self.0.scratch()
    }

    fn canonicalize(&self, scratch: &mut Self::Scratch, state: &mut [u8]) {
        self.0.canonicalize(scratch, state);
    }

    fn expand(&self, scratch: &mut Self::Scratch, representative: &[u8], changed: Option<&[u32]>) {
        self.0.expand(scratch, representative, changed);
    }

    fn canonical_successor<'s>(
        &self,
        scratch: &'s mut Self::Scratch,
        state: &'s mut [u8],
        changed: Option<&'s [u32]>,
    ) -> (&'s [u8], Option<&'s [u32]>) {
        let (state, changed) = self.0.canonical_successor(scratch, state, changed);
        (state, changed.map(|words| &words[..words.len() / 2]))
    }
}

/// How many states a program has with a reduction, stored in some form.
fn states_with<R: Reduction>(
    text: &str,
    form: StateForm,
    reduction: impl Fn(Canonicalizer) -> R,
) -> u64 {
    let model = read(text);
    let interpreter = Interpreter::new(model.clone()).expect("programs are small");
    let layout = interpreter.layout();
    let codec = &BitCodec::new(&model, layout);
    let (state_size, rules) = (layout.size as usize, model.rules.len());
    let full = Canonicalizer::new(&model, layout, Symmetry::Full).without_tables();
    let (machine, reduction) = (|| interpreter.clone(), &reduction(full));
    let options = Options {
        deadlock: Deadlock::Off,
        form,
        states: Some(MOST_STATES as u64),
        ..Options::default()
    };
    let system = System { machine, codec, reduction, state_size, rules };
    explore(&options, &system, &mut |_| (), &AtomicBool::new(false)).states
}

#[test]
fn a_tree_that_is_not_told_what_changed_is_noticed() {
    let noticed = (0..100).filter(|&seed| {
        let text = sketch::program(seed);
        let states = |wrong: bool| match wrong {
            true => states_with(&text, StateForm::Tree, Withholding),
            false => states_with(&text, StateForm::Tree, |full| full),
        };
        states(false) != states(true)
    });
    let noticed = noticed.count();
    assert!(noticed > 20, "noticed in {noticed} of 100 programs");
}

/// Members that point at each other, in rows, outside of them and in a multiset.
const POINTERS: &str = "\
type P: scalarset(4);
var next: array [P] of P; at: array [P] of 0..1; head: P; bag: multiset [2] of P;
startstate begin for p: P do at[p] := 0; end; end;
ruleset p: P; q: P do
  rule \"point\" p != q & isundefined(next[p]) ==> begin next[p] := q; end;
end;
ruleset p: P do
  rule \"move\" at[p] = 0 ==> begin at[p] := 1; end;
  rule \"head\" isundefined(head) ==> begin head := p; end;
  rule \"put\" MultisetCount(i: bag, true) < 2 ==> begin MultisetAdd(p, bag); end;
end;
";

#[test]
fn a_tree_that_mistakes_permutations_for_each_other_is_noticed() {
    let states = |form| states_with(POINTERS, form, |full| full);
    let confused = states_with(POINTERS, StateForm::Tree, Canonicalizer::confusing);
    assert_eq!(states(StateForm::Tree), states(StateForm::Flat));
    assert_ne!(states(StateForm::Tree), confused);
}

fn kind(exploration: &Exploration) -> Kind {
    match exploration.verdict {
        Verdict::Holds(()) => Kind::Verified,
        Verdict::Broken(ViolatingRun { violation: Violation::Deadlock, .. }) => Kind::Deadlock,
        Verdict::Broken(_) => Kind::Violation,
        Verdict::Undecided(ref reason) => panic!("undecided: {reason:?}"),
    }
}

/// Compares all ways to search a program with brute force. Says what it is called, if it is small.
pub(crate) fn examine(
    text: &str,
    deadlock: Deadlock,
    mix: &mut Mix,
) -> Result<Option<Kind>, String> {
    examine_sabotaged(text, deadlock, (Natively::Yes, Sabotage::Nothing), mix)
}

/// The same with a mistake, natively or not.
fn examine_sabotaged(
    text: &str,
    deadlock: Deadlock,
    (natively, sabotage): (Natively, Sabotage),
    mix: &mut Mix,
) -> Result<Option<Kind>, String> {
    let model = read(text);
    let interpreter = Interpreter::new(model.clone()).expect("programs are small");
    mix.programs += 1;
    let Some(expected) = brute_force::search(&interpreter, deadlock, MOST_STATES) else {
        mix.too_large += 1;
        return Ok(None);
    };
    mix.enter(&model, &expected, text);
    let model = sabotage.done(&model);
    let interpreter = Interpreter::new(model.clone()).expect("programs are small");
    let program = (natively == Natively::Yes)
        .then(|| native::Program::compile(&model, interpreter.layout()).expect("it compiles"));
    mix.native += usize::from(program.is_some());
    if let Some(program) = program.as_ref().filter(|program| program.has_tried_loops()) {
        mix.trying += 1;
        let found = searched_trying(&interpreter, program, deadlock, true);
        mix.order_shown += usize::from(found.is_none());
        if let Some(found) = found {
            agrees("in all orders", &found, (expected.kind, expected.tried_orbits))?;
        }
    }
    let codec = BitCodec::new(&model, interpreter.layout());
    let mut covered = None;
    for symmetry in [Symmetry::Full, Symmetry::Off] {
        let asked = (symmetry, deadlock);
        let native = program
            .as_ref()
            .map(|program| searched(&interpreter, || program.machine(), &**program, asked));
        let interpreted = searched(&interpreter, || interpreter.clone(), &codec, asked);
        let states = match symmetry {
            Symmetry::Full => expected.orbits,
            Symmetry::Off => expected.states,
        };
        let ways = native.iter().map(|found| ("native", found));
        for (way, found) in ways.chain([("interpreted", &interpreted)]) {
            agrees(&format!("{way}, {symmetry:?}"), found, (expected.kind, states))?;
        }
        // After a violation, which covers were seen depends on the way there.
        let seen = (expected.kind == Kind::Verified).then(|| interpreted.covered.clone());
        let differ = native.is_some_and(|native| native.covered != interpreted.covered);
        if differ || seen != *covered.get_or_insert(seen.clone()) {
            return Err(format!("{symmetry:?}: covers differ"));
        }
    }
    Ok(Some(expected.kind))
}

/// Which covers are seen, in all ways to search a program.
pub(crate) fn covered(text: &str) -> Vec<Vec<bool>> {
    let model = read(text);
    let interpreter = Interpreter::new(model.clone()).expect("programs are small");
    let program = native::Program::compile(&model, interpreter.layout()).expect("it compiles");
    let codec = BitCodec::new(&model, interpreter.layout());
    let asked = [Symmetry::Full, Symmetry::Off].map(|symmetry| (symmetry, Deadlock::Off));
    let native = asked.map(|it| searched(&interpreter, || program.machine(), &*program, it));
    let interpreted = asked.map(|it| searched(&interpreter, || interpreter.clone(), &codec, it));
    native.into_iter().chain(interpreted).map(|found| found.covered).collect()
}

impl Mix {
    fn enter(&mut self, model: &Model, found: &Found, text: &str) {
        let seen = Seen::of(model);
        for word in WORDS {
            *self.words.entry(word).or_default() += usize::from(text.contains(word));
        }
        *self.kinds.entry(found.kind).or_default() += 1;
        self.ordered += usize::from(model.ordered.iter().any(|ordered| !ordered.at_start));
        self.running_all += usize::from(seen.runs_all);
        self.excluding += usize::from(seen.excludes);
        self.reduced += usize::from(found.orbits < found.states);
        self.large += usize::from(found.states >= 50);
        self.most_states = self.most_states.max(found.states);
        self.failing_in_quantifier += usize::from(found.error.as_ref().is_some_and(|error| {
            let calls = error.calls.iter().map(|call| call.span).chain([error.span]);
            let inside = |at: murphi::source::Span| {
                seen.quantified.iter().any(|span| span.start < at.start && at.end < span.end)
            };
            calls.into_iter().any(inside)
        }));
    }
}

/// What is in a program.
#[derive(Default)]
struct Seen {
    runs_all: bool,
    /// A loop that runs all rounds has an `assume`.
    excludes: bool,
    /// Quantifiers over what has no order.
    quantified: Vec<murphi::source::Span>,
    unordered: Vec<bool>,
}

impl Seen {
    fn of(model: &Model) -> Seen {
        let all = (0..model.types.len() as u32).map(murphi::ir::TypeId);
        let unordered = all.map(|ty| model.is_unordered(ty)).collect();
        let mut seen = Seen { unordered, ..Seen::default() };
        for rule in &model.rules {
            walk::statements(&rule.body, &mut seen);
            rule.guard.iter().for_each(|guard| walk::expression(guard, &mut seen));
        }
        for function in &model.functions {
            walk::statements(&function.body, &mut seen);
        }
        for property in &model.properties {
            walk::expression(&property.condition, &mut seen);
        }
        seen
    }
}

impl Visitor for Seen {
    fn statement(&mut self, statement: &murphi::ir::Statement) {
        if let StatementKind::For { runs_all: true, body, .. } = &statement.kind {
            self.runs_all = true;
            let assumes = |it: &murphi::ir::Statement| matches!(it.kind, StatementKind::Assume(_));
            self.excludes |= body.iter().any(assumes);
        }
    }

    fn expression(&mut self, expression: &murphi::ir::Expression) {
        if let ExpressionKind::Quantified { binder, .. } = &expression.kind
            && let murphi::ir::Domain::Type(ty) = binder.domain
            && self.unordered[ty.0 as usize]
        {
            self.quantified.push(expression.span);
        }
    }
}

fn deadlock_of(seed: u64) -> Deadlock {
    match seed % 4 {
        0 => Deadlock::Stuttering,
        1 => Deadlock::Stuck,
        _ => Deadlock::Off,
    }
}

/// Looks at the program of a seed.
fn try_seed(seed: u64, sabotage: Sabotage, mix: &mut Mix) -> Result<(), String> {
    let (text, deadlock) = (sketch::program(seed), deadlock_of(seed));
    let natively =
        if (seed / 4).is_multiple_of(ONE_NATIVE_IN) { Natively::Yes } else { Natively::No };
    match examine_sabotaged(&text, deadlock, (natively, sabotage), mix) {
        Ok(_) => Ok(()),
        Err(why) => Err(format!(
            "FIRST_SEED={seed} TRIBUNAL_TRIALS=1: deadlock {deadlock:?}: {why}\n{text}"
        )),
    }
}

#[test]
fn random_symmetric_programs_have_one_verdict() {
    let (trials, first) = (number("TRIBUNAL_TRIALS", 400), first_seed());
    let next = AtomicU64::new(0);
    let work = || {
        let mut mix = Mix::default();
        loop {
            let trial = next.fetch_add(1, Relaxed);
            if trial >= trials {
                return mix;
            }
            if let Err(why) = try_seed(first.wrapping_add(trial), Sabotage::Nothing, &mut mix) {
                panic!("{why}");
            }
            if (trial + 1).is_multiple_of(10_000) {
                eprintln!("{} done; of one worker: {mix:?}", trial + 1);
            }
        }
    };
    let mut mix = Mix::default();
    std::thread::scope(|scope| {
        let workers = number("TRIBUNAL_WORKERS", 1).max(1);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            mix.add(&worker.join().expect("no verdict differs"));
        }
    });
    eprintln!("FIRST_SEED={first}: {mix:?}");
}

#[test]
fn random_symmetric_programs_are_of_every_kind() {
    let mut mix = Mix::default();
    for seed in 0..300 {
        try_seed(seed, Sabotage::Nothing, &mut mix).expect("no verdict differs");
    }
    eprintln!("{mix:?}");
    let of = |kind: Kind| mix.kinds.get(&kind).copied().unwrap_or_default();
    assert!(of(Kind::Verified) * 10 > mix.programs, "hardly any is verified: {mix:?}");
    assert!(of(Kind::Violation) * 5 > mix.programs, "hardly any is wrong: {mix:?}");
    assert!(mix.reduced * 5 > mix.programs, "hardly any is reduced: {mix:?}");
    assert!(mix.failing_in_quantifier > 20 && mix.ordered > 20, "{mix:?}");
    assert!(mix.running_all > 20 && mix.excluding > 5, "{mix:?}");
    assert!(mix.order_shown > 0 && mix.trying > mix.order_shown, "{mix:?}");
    assert!(mix.words.values().all(|&count| count >= 4), "a construct is rare: {mix:?}");
}

/// How many programs are asked whether they show a mistake, and how many do at least.
const NOTICED: [(Sabotage, u64, usize); 4] = [
    (Sabotage::OrderForgotten, 300, 8),
    (Sabotage::LoopsThatStop, 600, 3),
    (Sabotage::RuleLeftOut, 100, 10),
    (Sabotage::AssumptionsForgotten, 200, 8),
];

#[test]
fn mistakes_in_symmetry_are_noticed() {
    assert_eq!(NOTICED.map(|(sabotage, ..)| sabotage), Sabotage::ALL);
    let mut missed = Vec::new();
    for (sabotage, seeds, least) in NOTICED {
        let mut mix = Mix::default();
        let noticed: Vec<u64> =
            (0..seeds).filter(|&seed| try_seed(seed, sabotage, &mut mix).is_err()).collect();
        eprintln!("{sabotage:?} is noticed by {} of {seeds}: {noticed:?}", noticed.len());
        missed.extend((noticed.len() < least).then_some(sabotage));
    }
    assert!(missed.is_empty(), "{missed:?} are not noticed often enough");
}
