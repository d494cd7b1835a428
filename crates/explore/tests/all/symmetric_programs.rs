//! Symmetry does not change verdicts: random programs, searched with and without it, natively and by
//! the interpreter, and by brute force.
//!
//! Each run begins at another seed, which it prints; `FIRST_SEED` and `TRIBUNAL_TRIALS` repeat one or
//! make it longer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::brute_force::{self, Found, Kind};
use crate::sketch;
use murphi::check::Options as Reading;
use murphi::interpret::Interpreter;
use murphi::ir::{ExpressionKind, Model, StatementKind};
use murphi::machine::Machine;
use murphi::source::Source;
use murphi::walk::{self, Visitor};
use tribunal_explore::symmetry::{Canonicalizer, Symmetry};
use tribunal_explore::{BitCodec, Codec, Deadlock, Exploration, Options, System, Verdict, explore};

/// Programs with more states are passed over.
const MOST_STATES: usize = 1_500;

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
}

pub(crate) fn read(text: &str) -> Arc<Model> {
    let source = Source { name: "symmetric.m".to_owned(), text: text.to_owned() };
    match murphi::load(source, &Reading::default()) {
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
    let options = Options { threads: 1, deadlock, ..Options::default() };
    explore(&options, &system, &mut |_| (), &AtomicBool::new(false))
}

fn kind(exploration: &Exploration) -> Kind {
    match exploration.verdict {
        Verdict::Verified => Kind::Verified,
        Verdict::Violation(_) => Kind::Violation,
        Verdict::Deadlock => Kind::Deadlock,
        Verdict::Undecided(ref reason) => panic!("undecided: {reason:?}"),
    }
}

/// Compares all ways to search a program with brute force. Says what it is called, if it is small.
pub(crate) fn examine(
    text: &str,
    deadlock: Deadlock,
    mix: &mut Mix,
) -> Result<Option<Kind>, String> {
    let model = read(text);
    let interpreter = Interpreter::new(model.clone()).expect("programs are small");
    mix.programs += 1;
    let Some(expected) = brute_force::search(&interpreter, deadlock, MOST_STATES) else {
        mix.too_large += 1;
        return Ok(None);
    };
    mix.enter(&model, &expected);
    let program = native::Program::compile(&model, interpreter.layout()).expect("it compiles");
    let codec = BitCodec::new(&model, interpreter.layout());
    let mut covered = None;
    for symmetry in [Symmetry::Full, Symmetry::Off] {
        let asked = (symmetry, deadlock);
        let native = searched(&interpreter, || program.machine(), &*program, asked);
        let interpreted = searched(&interpreter, || interpreter.clone(), &codec, asked);
        let states = match symmetry {
            Symmetry::Full => expected.orbits,
            Symmetry::Off => expected.states,
        };
        for (way, found) in [("native", &native), ("interpreted", &interpreted)] {
            if kind(found) != expected.kind {
                let (found, expected) = (kind(found), expected.kind);
                return Err(format!("{way}, {symmetry:?}: {found:?} instead of {expected:?}"));
            }
            if expected.kind == Kind::Verified && found.states != states as u64 {
                let found = found.states;
                return Err(format!("{way}, {symmetry:?}: {found} instead of {states} states"));
            }
        }
        // After a violation, which covers were seen depends on the way there.
        let seen = (expected.kind == Kind::Verified).then(|| native.covered.clone());
        if native.covered != interpreted.covered || seen != *covered.get_or_insert(seen.clone()) {
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
    fn enter(&mut self, model: &Model, found: &Found) {
        let seen = Seen::of(model);
        *self.kinds.entry(found.kind).or_default() += 1;
        self.ordered += usize::from(!model.ordered.is_empty());
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

#[test]
fn random_symmetric_programs_have_one_verdict() {
    let (trials, first) = (number("TRIBUNAL_TRIALS", 150), first_seed());
    let mut mix = Mix::default();
    for seed in (0..trials).map(|trial| first.wrapping_add(trial)) {
        let (text, deadlock) = (sketch::program(seed), deadlock_of(seed));
        if let Err(why) = examine(&text, deadlock, &mut mix) {
            panic!("FIRST_SEED={seed} TRIBUNAL_TRIALS=1: deadlock {deadlock:?}: {why}\n{text}");
        }
        if (seed - first + 1) % 5_000 == 0 {
            eprintln!("seed {seed}: {mix:?}");
        }
    }
    eprintln!("FIRST_SEED={first}: {mix:?}");
    if trials >= 100 {
        let of = |kind: Kind| mix.kinds.get(&kind).copied().unwrap_or_default();
        assert!(of(Kind::Verified) * 20 > mix.programs, "hardly any is verified: {mix:?}");
        assert!(of(Kind::Violation) * 10 > mix.programs, "hardly any is wrong: {mix:?}");
        assert!(mix.reduced * 10 > mix.programs, "hardly any is reduced: {mix:?}");
        assert!(mix.failing_in_quantifier > 0 && mix.ordered > 0, "{mix:?}");
        assert!(mix.running_all > 0 && mix.excluding > 0, "{mix:?}");
    }
}
