//! Random racy programs, with the knobs of TSOtool (efficient-tso-verification, §1 and §5).
//!
//! Every store, swap and compare-and-swap writes a value that nothing else writes, and every
//! fetch-and-add has a result of its own, whatever order the machine runs them in: what is written
//! to a place is a multiple of more than all that is ever added to it, and where few additions are
//! made to a place each adds a power of two, so that even two that were torn apart are distinguished.
//! The value of a read then identifies the write it saw. O(instructions).

use std::fmt;

use history::{AccessOrder, AddressLabel, Kinds, MAX_THREADS, Value};

use super::mix::{Kind, Mix};
use super::place_name;
use crate::program::{Action, Instruction, Place, Program, WORDS_PER_LINE};
use chance::Rng;

/// What random programs look like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Knobs {
    /// Threads.
    pub threads: usize,
    /// Instructions of each thread.
    pub instructions: usize,
    /// Places.
    pub places: usize,
    /// How many places lie in one cache line (1 to 8): more than one is false sharing.
    pub places_per_line: usize,
    /// How often which instruction is drawn.
    pub mix: Mix,
    /// How often in a hundred an access stays in the cache line of the one before it.
    pub locality: u32,
    /// How many instructions of one kind follow each other, on average.
    pub burst: u32,
    /// How many in a hundred instructions depend on an earlier read.
    pub dependencies: u32,
    /// How many in a hundred accesses are annotated.
    pub annotations: u32,
}

impl Default for Knobs {
    fn default() -> Self {
        Knobs {
            threads: 4,
            instructions: 24,
            places: 6,
            places_per_line: 2,
            mix: Mix::default(),
            locality: 30,
            burst: 1,
            dependencies: 0,
            annotations: 0,
        }
    }
}

/// The most instructions of a random program.
const MAX_INSTRUCTIONS: usize = 1 << 26;

/// Why there are no such programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KnobError {
    /// Not one thread, or more than a trace may have.
    Threads,
    /// No instructions, or more than `MAX_INSTRUCTIONS`.
    Instructions,
    /// No places, or more than 2^24.
    Places,
    /// None or more than eight places in a line.
    PlacesPerLine,
    /// A burst of no instructions.
    Burst,
}

impl fmt::Display for KnobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KnobError::Threads => write!(f, "a program has 1 to {MAX_THREADS} threads"),
            KnobError::Instructions => {
                write!(f, "a program has 1 to {MAX_INSTRUCTIONS} instructions in all")
            }
            KnobError::Places => write!(f, "a program has 1 to {} addresses", 1 << 24),
            KnobError::PlacesPerLine => {
                write!(f, "a cache line holds 1 to {WORDS_PER_LINE} addresses")
            }
            KnobError::Burst => write!(f, "a burst has at least one instruction"),
        }
    }
}

impl std::error::Error for KnobError {}

impl Knobs {
    /// Whether there are such programs.
    pub fn check(&self) -> Result<(), KnobError> {
        let total = self.threads.saturating_mul(self.instructions);
        match self {
            _ if !(1..=MAX_THREADS).contains(&self.threads) => Err(KnobError::Threads),
            _ if !(1..=MAX_INSTRUCTIONS).contains(&total) => Err(KnobError::Instructions),
            _ if !(1..=1 << 24).contains(&self.places) => Err(KnobError::Places),
            _ if !(1..=WORDS_PER_LINE.into()).contains(&self.places_per_line) => {
                Err(KnobError::PlacesPerLine)
            }
            _ if self.burst == 0 => Err(KnobError::Burst),
            _ => Ok(()),
        }
    }

    /// The random program of a seed.
    ///
    /// ```
    /// use tribunal_stress::Knobs;
    ///
    /// let knobs = Knobs { threads: 2, instructions: 100, ..Knobs::default() };
    /// let program = knobs.program(7)?;
    /// assert_eq!(program.len(), 200);
    /// assert_eq!(program, knobs.program(7)?);
    /// # Ok::<(), tribunal_stress::KnobError>(())
    /// ```
    pub fn program(&self, seed: u64) -> Result<Program, KnobError> {
        self.check()?;
        let mut rng = Rng::new(seed);
        let drawn: Vec<Vec<DrawnInstruction>> =
            (0..self.threads).map(|_| self.thread(&mut rng)).collect();
        let mut values = Values::new(self.places, drawn.iter().flatten());
        let mut threads: Vec<Vec<Instruction>> = drawn
            .iter()
            .map(|thread| thread.iter().map(|drawn| values.instruction(&mut rng, drawn)).collect())
            .collect();
        values.expect(&mut rng, &mut threads);
        for thread in &mut threads {
            self.add_dependencies(&mut rng, thread);
            self.annotate(&mut rng, thread);
        }
        let program = Program { name: format!("random-{seed}"), places: self.seats(), threads };
        debug_assert_eq!(program.check(), Ok(()));
        Ok(program)
    }

    fn seats(&self) -> Vec<Place> {
        let place = |index: usize| Place {
            label: AddressLabel::Name(place_name(index).into()),
            initial: 0,
            line: (index / self.places_per_line) as u32,
            word: (index % self.places_per_line) as u8,
        };
        (0..self.places).map(place).collect()
    }

    /// Kinds and places of a thread's instructions.
    fn thread(&self, rng: &mut Rng) -> Vec<DrawnInstruction> {
        let mut thread: Vec<DrawnInstruction> = Vec::with_capacity(self.instructions);
        let mut place = rng.below(self.places);
        for _ in 0..self.instructions {
            let again = rng.below(self.burst as usize) > 0;
            let kind = match thread.last() {
                Some(last) if again => last.kind,
                _ => self.mix.draw(rng),
            };
            if rng.percent(self.locality) {
                let first = place / self.places_per_line * self.places_per_line;
                let here = self.places_per_line.min(self.places - first);
                place = first + rng.below(here);
            } else {
                place = rng.below(self.places);
            }
            thread.push(DrawnInstruction { kind, place: place as u32 });
        }
        thread
    }

    fn add_dependencies(&self, rng: &mut Rng, thread: &mut [Instruction]) {
        let mut read = None;
        for (index, instruction) in (0..).zip(thread) {
            let is_access = instruction.action.place().is_some();
            if is_access && self.dependencies > 0 && rng.percent(self.dependencies) {
                instruction.depends_on.extend(read);
            }
            if instruction.action.reads() {
                read = Some(index);
            }
        }
    }
}

impl Knobs {
    /// Reads acquire, writes release, atomics do either or both.
    fn annotate(&self, rng: &mut Rng, thread: &mut [Instruction]) {
        use AccessOrder::{Acquire, AcquirePc, AcquireRelease, Release};
        for instruction in thread {
            if self.annotations == 0 || !rng.percent(self.annotations) {
                continue;
            }
            let orders: &[AccessOrder] = match instruction.action {
                Action::Fence { .. } => &[],
                Action::Load { .. } => &[Acquire, Acquire, AcquirePc],
                Action::Store { .. } => &[Release],
                _ => &[Acquire, Release, AcquireRelease],
            };
            instruction.order = rng.pick(orders).copied();
        }
    }
}

/// An instruction before it has its values.
struct DrawnInstruction {
    kind: Kind,
    place: u32,
}

/// What instructions write, place by place.
struct Values {
    /// What all values written to a place are multiples of.
    stride: Vec<Value>,
    written: Vec<Value>,
    added: Vec<u32>,
    powers: Vec<bool>,
}

/// So many additions to a place still add powers of two.
const MAX_POWERS: u32 = 16;

impl Values {
    fn new<'a>(places: usize, drawn: impl Iterator<Item = &'a DrawnInstruction>) -> Self {
        let mut additions = vec![0u32; places];
        for drawn in drawn.filter(|drawn| drawn.kind == Kind::Add) {
            additions[drawn.place as usize] += 1;
        }
        let powers: Vec<bool> = additions.iter().map(|&count| count <= MAX_POWERS).collect();
        let stride = additions.iter().zip(&powers).map(|(&count, &powers)| match powers {
            true => 1 << count,
            false => Value::from(count) + 1,
        });
        Values {
            stride: stride.collect(),
            written: vec![0; places],
            added: vec![0; places],
            powers,
        }
    }

    /// A value that nothing else writes to the place.
    fn fresh(&mut self, place: u32) -> Value {
        let place = place as usize;
        self.written[place] += self.stride[place];
        self.written[place]
    }

    fn amount(&mut self, place: u32) -> Value {
        let place = place as usize;
        self.added[place] += 1;
        if self.powers[place] { 1 << (self.added[place] - 1) } else { 1 }
    }

    fn instruction(&mut self, rng: &mut Rng, drawn: &DrawnInstruction) -> Instruction {
        let place = drawn.place;
        Instruction::plain(match drawn.kind {
            Kind::Load => Action::Load { place },
            Kind::Store => Action::Store { place, value: self.fresh(place) },
            Kind::Swap => Action::Swap { place, value: self.fresh(place) },
            Kind::Add => Action::FetchAdd { place, amount: self.amount(place) },
            Kind::CompareAndSwap => {
                Action::CompareAndSwap { place, expected: 0, new: self.fresh(place) }
            }
            Kind::Sync => Action::SYNC,
            Kind::Fence => {
                let kinds = [Kinds::READS, Kinds::WRITES, Kinds::ALL];
                let mut draw = || *rng.pick(&kinds).unwrap_or(&Kinds::ALL);
                Action::Fence { before: draw(), after: draw() }
            }
        })
    }

    /// Has every compare-and-swap expect something that may be there: what is there at first, or
    /// what someone writes.
    fn expect(&self, rng: &mut Rng, threads: &mut [Vec<Instruction>]) {
        for instruction in threads.iter_mut().flatten() {
            if let Action::CompareAndSwap { place, expected, new } = &mut instruction.action {
                let stride = self.stride[*place as usize];
                let values = (self.written[*place as usize] / stride) as usize;
                // Its own value is not there before it has written it.
                let mut value = rng.below(values) as Value * stride;
                if value >= *new {
                    value += stride;
                }
                *expected = value;
            }
        }
    }
}
