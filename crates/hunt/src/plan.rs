//! Which test comes when: test number n of a seed is the same program, whatever was run before it
//! and on how many cores.
//!
//! A share of the tests are litmus tests, all cycles of a list in turn and then all again with
//! their places in one cache line; the others are random programs (efficient-tso-verification, §5)
//! whose knobs differ from test to test, unless they were fixed. Small programs come often: they
//! run fast, and what they find is short. O(1) a test, after the list has been made.

use std::fmt;
use std::sync::Arc;

use chance::Rng;
use rustc_hash::FxHashSet;
use stress::{Edge, KnobError, Knobs, Mix, Program, Test, cycles};

/// The abilities of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abilities {
    /// The number of threads that run at the same time.
    pub threads: usize,
    /// The most places that a program may have.
    pub places: usize,
    /// Whether it has atomic instructions.
    pub atomics: bool,
    /// Whether it has fences.
    pub fences: bool,
    /// Whether dependencies mean something to it.
    pub dependencies: bool,
    /// Whether it runs programs. What does not does as it likes, and records it.
    pub programs: bool,
    /// The number of runs of a litmus test.
    pub litmus_runs: u64,
    /// The number of runs of a random program.
    pub random_runs: u64,
}

/// The options of the tests; an option that is `None` varies from test to test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TestOptions {
    /// Where all randomness comes from.
    pub seed: u64,
    /// Threads of each test.
    pub threads: Option<usize>,
    /// Instructions of each thread of a random program.
    pub instructions: Option<usize>,
    /// Places of a random program.
    pub places: Option<usize>,
    /// Instruction mix of random programs.
    pub mix: Option<Mix>,
    /// The percentage of litmus tests.
    pub litmus: u32,
    /// The number of runs of each test.
    pub runs: Option<u64>,
}

impl Default for TestOptions {
    fn default() -> Self {
        TestOptions {
            seed: 0,
            threads: None,
            instructions: None,
            places: None,
            mix: None,
            litmus: TestOptions::LITMUS,
            runs: None,
        }
    }
}

impl TestOptions {
    /// The default percentage of litmus tests.
    pub const LITMUS: u32 = 30;
}

/// The tests of a campaign.
#[derive(Clone, Debug)]
pub struct Plan {
    wishes: TestOptions,
    abilities: Abilities,
    litmus: Arc<[Test]>,
}

/// A test to be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// The program, and for a litmus test its condition.
    pub test: Test,
    /// Which litmus test of [`Plan::litmus`] it is.
    pub litmus: Option<usize>,
    /// The number of runs.
    pub runs: u64,
    /// The seed of the target.
    pub seed: u64,
}

/// Why there is no such plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PlanError {
    /// There are no such programs.
    Knobs(KnobError),
    /// Only litmus tests are requested, and none has this number of threads.
    NoLitmus,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Knobs(error) => error.fmt(f),
            PlanError::NoLitmus => {
                write!(f, "no litmus test has this number of threads (--threads)")
            }
        }
    }
}

impl std::error::Error for PlanError {}

/// The largest number of threads of a random program, by default.
const MOST_THREADS: usize = 4;

/// Values of knobs, those that should come often more than once.
const INSTRUCTIONS: [usize; 10] = [3, 4, 4, 5, 6, 8, 8, 12, 16, 32];
const PLACES: [usize; 7] = [2, 2, 2, 3, 4, 6, 8];
const PLACES_PER_LINE: [usize; 4] = [1, 1, 2, 4];
const LOCALITY: [u32; 3] = [0, 30, 60];
const BURST: [u32; 4] = [1, 1, 1, 3];

impl Plan {
    /// A plan for a target.
    pub fn new(wishes: TestOptions, abilities: Abilities) -> Result<Self, PlanError> {
        let litmus = match abilities.programs && wishes.litmus > 0 {
            true => litmus_tests(&wishes, &abilities),
            false => Vec::new(),
        };
        if wishes.litmus >= 100 && litmus.is_empty() && abilities.programs {
            return Err(PlanError::NoLitmus);
        }
        let plan = Plan { wishes, abilities, litmus: litmus.into() };
        plan.knobs(&mut Rng::new(0)).check().map_err(PlanError::Knobs)?;
        Ok(plan)
    }

    /// The litmus tests that come in turn.
    pub fn litmus(&self) -> &[Test] {
        &self.litmus
    }

    /// The abilities of the target.
    pub fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    /// The requested options.
    pub fn wishes(&self) -> &TestOptions {
        &self.wishes
    }

    /// A test.
    ///
    /// ```
    /// use tribunal_hunt::{Abilities, Plan, TestOptions};
    ///
    /// let plan = Plan::new(TestOptions::default(), Abilities::machine(4))?;
    /// assert_eq!(plan.test(3), plan.test(3));
    /// assert_ne!(plan.test(3).test.program, plan.test(4).test.program);
    /// # Ok::<(), tribunal_hunt::PlanError>(())
    /// ```
    pub fn test(&self, number: u64) -> Planned {
        let mut rng = Rng::new(Rng::new(self.wishes.seed).bits().wrapping_add(number));
        let seed = rng.bits();
        if !self.abilities.programs {
            let test = Test::from(Program { name: format!("run-{number}"), ..Program::default() });
            return Planned { test, litmus: None, runs: self.runs(false), seed };
        }
        match self.turn(number) {
            Some(turn) => self.litmus_test(turn, seed),
            None => {
                let program = self.knobs(&mut rng).program(rng.bits());
                let mut program = program.expect("such programs were found to be possible");
                program.name = format!("random-{number}");
                let test = Test::from(program);
                Planned { test, litmus: None, runs: self.runs(false), seed }
            }
        }
    }

    /// The how-manieth litmus test it is, if it is one.
    fn turn(&self, number: u64) -> Option<u64> {
        let share = u128::from(self.wishes.litmus.min(100));
        let before = u128::from(number) * share / 100;
        let until = (u128::from(number) + 1) * share / 100;
        (until > before && !self.litmus.is_empty()).then_some(before as u64)
    }

    fn litmus_test(&self, turn: u64, seed: u64) -> Planned {
        let count = self.litmus.len() as u64;
        let (round, which) = (turn / count, (turn % count) as usize);
        let mut test = self.litmus[which].clone();
        if !round.is_multiple_of(2) && test.program.places.len() <= 8 {
            for (word, place) in (0..).zip(&mut test.program.places) {
                (place.line, place.word) = (0, word);
            }
        }
        Planned { test, litmus: Some(which), runs: self.runs(true), seed }
    }

    fn runs(&self, litmus: bool) -> u64 {
        let Abilities { litmus_runs, random_runs, .. } = self.abilities;
        self.wishes.runs.unwrap_or(if litmus { litmus_runs } else { random_runs })
    }

    fn knobs(&self, rng: &mut Rng) -> Knobs {
        let most = self.abilities.threads.clamp(2, MOST_THREADS);
        let threads = 2 + rng.below(most - 1);
        let instructions = draw(rng, &INSTRUCTIONS);
        let fits: Vec<usize> =
            PLACES.into_iter().map(|places| places.min(self.abilities.places)).collect();
        let places = draw(rng, &fits);
        let mix = draw(rng, &self.mixes());
        Knobs {
            threads: self.wishes.threads.unwrap_or(threads),
            instructions: self.wishes.instructions.unwrap_or(instructions),
            places: self.wishes.places.unwrap_or(places),
            places_per_line: draw(rng, &PLACES_PER_LINE),
            mix: self.wishes.mix.unwrap_or(mix),
            locality: draw(rng, &LOCALITY),
            burst: draw(rng, &BURST),
            dependencies: if self.abilities.dependencies { draw(rng, &[0, 25]) } else { 0 },
            annotations: 0,
        }
    }

    fn mixes(&self) -> Vec<Mix> {
        let parsed = |text: &str| text.parse().expect("it is a mix");
        match (self.abilities.atomics, self.abilities.fences) {
            (true, true) => vec![
                Mix::PLAIN,
                Mix::PLAIN,
                Mix::RACY,
                Mix::RACY,
                Mix::TSOTOOL,
                parsed("load=4,store=4,sync=1,fence=1"),
            ],
            (true, false) => vec![Mix::PLAIN, parsed("load=8,store=8,swap=1,add=1,cas=1")],
            (false, true) => vec![Mix::PLAIN, parsed("load=4,store=4,sync=1,fence=1")],
            (false, false) => vec![Mix::PLAIN],
        }
    }
}

impl Abilities {
    /// The abilities of this machine's cores. Processors always respect dependencies.
    pub fn host(cores: usize) -> Self {
        Abilities {
            threads: cores,
            dependencies: false,
            litmus_runs: 100_000,
            random_runs: 4_096,
            ..Abilities::machine(cores)
        }
    }

    /// The abilities of a command: it may refuse tests.
    pub fn exec() -> Self {
        Abilities { dependencies: false, litmus_runs: 20, random_runs: 20, ..Abilities::machine(4) }
    }

    /// The abilities of a protocol with this number of processors and addresses: loads and stores.
    pub fn protocol(processors: usize, addresses: usize) -> Self {
        Abilities {
            threads: processors,
            places: addresses,
            atomics: false,
            fences: false,
            dependencies: false,
            programs: true,
            litmus_runs: 200,
            random_runs: 50,
        }
    }

    /// The abilities of reference machines, with this number of threads.
    pub fn machine(threads: usize) -> Self {
        Abilities {
            threads,
            places: usize::MAX,
            atomics: true,
            fences: true,
            dependencies: true,
            programs: true,
            litmus_runs: 500,
            random_runs: 100,
        }
    }
}

fn draw<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.below(values.len())]
}

/// The litmus tests for a target, the simplest first: the classical families of up to six edges,
/// then with fences, at one place, with forwarding, with atomics and with dependencies.
fn litmus_tests(wishes: &TestOptions, abilities: &Abilities) -> Vec<Test> {
    let most = abilities.threads.max(2);
    let sets = edge_sets(abilities);
    let all = sets.iter().flat_map(|(edges, size)| cycles(edges, *size));
    let mut known = FxHashSet::default();
    let tests = all.filter(|cycle| known.insert(cycle.clone())).map(|cycle| cycle.test());
    let fits = |test: &Test| match (test.program.threads.len(), wishes.threads) {
        (have, Some(wanted)) => have == wanted,
        (have, None) => have <= most,
    };
    let fits = |test: &Test| fits(test) && test.program.places.len() <= abilities.places;
    tests.filter(fits).collect()
}

/// Edges to make cycles of, and up to which size.
fn edge_sets(abilities: &Abilities) -> Vec<(Vec<Edge>, usize)> {
    let with = |more: &[&str]| -> Vec<Edge> {
        let more = more.iter().map(|name| name.parse().expect("it is the name of an edge"));
        Edge::BASIC.into_iter().chain(more).collect()
    };
    let mut sets =
        vec![(with(&[]), 6), (with(&["PosRR", "PosRW", "PosWR", "PosWW"]), 3), (with(&["Rfi"]), 6)];
    if abilities.fences {
        sets.push((with(&["MFencedRR", "MFencedRW", "MFencedWR", "MFencedWW"]), 4));
    }
    if abilities.atomics {
        sets.push((with(&["Exch"]), 5));
    }
    if abilities.dependencies {
        sets.push((with(&["DpAddrdR", "DpAddrdW"]), 4));
    }
    sets
}
