//! Test programs: what each thread is asked to do.
//!
//! A program is straight-line code. It says nothing of what its reads return; that is the
//! [`Outcome`](crate::Outcome) of a run.

use std::fmt;

use history::lexicon::is_name;
use history::{AccessOrder, AddressLabel, Kinds, MAX_THREADS, Value};

/// A test program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The name; may be empty.
    pub name: String,
    /// The memory it works on. Instructions name a place by its index here.
    pub places: Vec<Place>,
    /// What each thread does, in program order.
    pub threads: Vec<Vec<Instruction>>,
}

/// A word of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its address in traces.
    pub label: AddressLabel,
    /// The initial value.
    pub initial: Value,
    /// The cache line it lies in: places of one line share it falsely.
    pub line: u32,
    /// Which word of that line.
    pub word: u8,
}

/// Words of 8 bytes in a cache line.
pub(crate) const WORDS_PER_LINE: u8 = 8;

/// One instruction of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The action.
    pub action: Action,
    /// Earlier instructions of the same thread, by index, on whose results the instruction depends
    /// (address, data or control).
    pub depends_on: Vec<u32>,
    /// How the access is annotated: acquire, release.
    pub order: Option<AccessOrder>,
}

/// The action of an instruction. `place` is an index into [`Program::places`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Reads a place.
    Load {
        /// Where.
        place: u32,
    },
    /// Writes a place.
    Store {
        /// Where.
        place: u32,
        /// What.
        value: Value,
    },
    /// Writes a place and returns its former value, atomically.
    Swap {
        /// Where.
        place: u32,
        /// The written value.
        value: Value,
    },
    /// Adds to a place (wrapping) and returns its former value, atomically.
    FetchAdd {
        /// Where.
        place: u32,
        /// The added value.
        amount: Value,
    },
    /// Writes a place if it holds the expected value, and returns its former value, atomically. If
    /// it holds another value, the action is a load.
    CompareAndSwap {
        /// Where.
        place: u32,
        /// What must be there.
        expected: Value,
        /// The new value.
        new: Value,
    },
    /// Orders earlier accesses of the kinds in `before` before later ones in `after`.
    Fence {
        /// Which earlier accesses.
        before: Kinds,
        /// Which later accesses.
        after: Kinds,
    },
}

impl Action {
    /// A full fence.
    pub const SYNC: Action = Action::Fence { before: Kinds::ALL, after: Kinds::ALL };

    /// The place accessed; `None` for a fence.
    pub fn place(self) -> Option<u32> {
        match self {
            Action::Load { place }
            | Action::Store { place, .. }
            | Action::Swap { place, .. }
            | Action::FetchAdd { place, .. }
            | Action::CompareAndSwap { place, .. } => Some(place),
            Action::Fence { .. } => None,
        }
    }

    /// Whether it returns a value.
    pub fn reads(self) -> bool {
        !matches!(self, Action::Store { .. } | Action::Fence { .. })
    }

    /// The value that the action writes if it reads this one (a plain store ignores it).
    pub fn written(self, read: Value) -> Option<Value> {
        match self {
            Action::Store { value, .. } | Action::Swap { value, .. } => Some(value),
            Action::FetchAdd { amount, .. } => Some(read.wrapping_add(amount)),
            Action::CompareAndSwap { expected, new, .. } => (read == expected).then_some(new),
            Action::Load { .. } | Action::Fence { .. } => None,
        }
    }
}

impl Instruction {
    /// An instruction that depends on no other.
    pub fn plain(action: Action) -> Self {
        Instruction { action, depends_on: Vec::new(), order: None }
    }
}

impl Place {
    /// A place with a name that holds 0, alone in its cache line.
    pub fn named(name: &str, line: u32) -> Self {
        Place { label: AddressLabel::Name(name.into()), initial: 0, line, word: 0 }
    }
}

impl Program {
    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The instructions that return a value, thread by thread in program order: an
    /// [`Outcome`](crate::Outcome) has a value for each.
    pub fn readers(&self) -> impl Iterator<Item = (usize, usize, Action)> + '_ {
        self.threads
            .iter()
            .enumerate()
            .flat_map(|(thread, instructions)| {
                let numbered = instructions.iter().enumerate();
                numbered.map(move |(index, instruction)| (thread, index, instruction.action))
            })
            .filter(|&(_, _, action)| action.reads())
    }

    /// Whether every place named exists, places do not overlap and have labels of their own, and
    /// dependencies point back to instructions that return something.
    pub fn check(&self) -> Result<(), ProgramError> {
        if self.threads.len() > MAX_THREADS {
            return Err(ProgramError::TooManyThreads);
        }
        self.check_places()?;
        for (thread, instructions) in self.threads.iter().enumerate() {
            for (index, instruction) in instructions.iter().enumerate() {
                let missing = |place| place as usize >= self.places.len();
                if instruction.action.place().is_some_and(missing) {
                    return Err(ProgramError::NoSuchPlace { thread, index });
                }
                let good =
                    |&on: &u32| (on as usize) < index && instructions[on as usize].action.reads();
                if !instruction.depends_on.iter().all(good) {
                    return Err(ProgramError::Dependency { thread, index });
                }
                if instruction.order.is_some() && instruction.action.place().is_none() {
                    return Err(ProgramError::AnnotatedFence { thread, index });
                }
            }
        }
        Ok(())
    }

    fn check_places(&self) -> Result<(), ProgramError> {
        let mut seats: Vec<(u32, u8)> = self.places.iter().map(|p| (p.line, p.word)).collect();
        seats.sort_unstable();
        if seats.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ProgramError::Overlap);
        }
        if let Some(place) = self.places.iter().position(|p| p.word >= WORDS_PER_LINE) {
            return Err(ProgramError::Word { place });
        }
        let mut labels: Vec<&AddressLabel> = self.places.iter().map(|p| &p.label).collect();
        labels.sort_unstable();
        if let Some(pair) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ProgramError::SameLabel { label: pair[0].clone() });
        }
        let wrong = |label: &AddressLabel| match label {
            AddressLabel::Name(name) => !is_name(name),
            AddressLabel::Number(_) => false,
            // Test programs access words.
            AddressLabel::Bytes(_) => true,
        };
        match labels.into_iter().find(|label| wrong(label)) {
            Some(label) => Err(ProgramError::Label { label: label.clone() }),
            None => Ok(()),
        }
    }
}

/// The name of a program in a line of text: without line ends, and without `#`, which would start a
/// comment.
pub(crate) fn title(text: &str) -> String {
    let title = text.replace(|c: char| c.is_control() || c == '#', " ");
    title.trim().to_owned()
}

/// Why something is not a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProgramError {
    /// It has more threads than a trace may have.
    TooManyThreads,
    /// Two places have one label.
    SameLabel {
        /// Which.
        label: AddressLabel,
    },
    /// A place has a label that traces cannot say.
    Label {
        /// Which.
        label: AddressLabel,
    },
    /// Two places have the same word of the same line.
    Overlap,
    /// A place lies beyond its cache line.
    Word {
        /// Which place.
        place: usize,
    },
    /// An instruction accesses a place that does not exist.
    NoSuchPlace {
        /// Of which thread.
        thread: usize,
        /// Which instruction.
        index: usize,
    },
    /// An instruction depends on one that is not before it, or returns nothing.
    Dependency {
        /// Of which thread.
        thread: usize,
        /// Which instruction.
        index: usize,
    },
    /// A fence is annotated.
    AnnotatedFence {
        /// Of which thread.
        thread: usize,
        /// Which instruction.
        index: usize,
    },
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::TooManyThreads => {
                write!(f, "a program has at most {MAX_THREADS} threads")
            }
            ProgramError::SameLabel { label } => write!(f, "two addresses are called `{label}`"),
            ProgramError::Label { label } => write!(
                f,
                "`{label}` is not a valid address name: names start with a letter or `_`, \
                 followed by letters, digits, `_`, `.`, `$` or `'`"
            ),
            ProgramError::Overlap => {
                write!(f, "two addresses are in the same word of a cache line")
            }
            ProgramError::Word { place } => {
                write!(f, "address {place} is beyond its cache line (words 0 to 7)")
            }
            ProgramError::NoSuchPlace { thread, index } => {
                write!(
                    f,
                    "instruction {index} of thread {thread} accesses an address that is not \
                     declared"
                )
            }
            ProgramError::AnnotatedFence { thread, index } => write!(
                f,
                "instruction {index} of thread {thread} is a fence, and only accesses are annotated"
            ),
            ProgramError::Dependency { thread, index } => write!(
                f,
                "instruction {index} of thread {thread} depends on one that is not an earlier \
                 reading instruction of its thread"
            ),
        }
    }
}

impl std::error::Error for ProgramError {}
