//! What happens when it runs: racy test programs, and what they read when something runs them.
//!
//! A [`Program`] says what each thread does; an [`Outcome`] says what its reads returned in one
//! run. Together they are a history, which the judge can be asked about. An [`Experiment`] runs a
//! program many times on a [`Target`] and counts its outcomes.
//!
//! ```
//! use tribunal_stress::{Action, Instruction, Outcome, Place, Program};
//!
//! // Store buffering: each thread writes one place and reads the other.
//! let thread = |mine, other| {
//!     let store = Action::Store { place: mine, value: 1 };
//!     let load = Action::Load { place: other };
//!     vec![Instruction::plain(store), Instruction::plain(load)]
//! };
//! let program = Program {
//!     name: "SB".into(),
//!     places: vec![Place::named("x", 0), Place::named("y", 1)],
//!     threads: vec![thread(0, 1), thread(1, 0)],
//! };
//! program.check()?;
//! let history = program.history(&Outcome { reads: vec![0, 0], finals: None })?;
//! assert_eq!(history.len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod condition;
mod exec;
mod experiment;
mod files;
mod generate;
mod json;
mod machine;
mod name;
mod outcome;
mod packets;
mod program;
pub mod protocol;
mod target;
mod text;

pub use condition::{Condition, Test};
pub use exec::Exec;
pub use experiment::{Counted, Effort, Experiment};
pub use files::{ProgramFileError, read_programs};
pub use generate::cycle::{Cycle, CycleError};
pub use generate::edge::{Access, Communication, Edge, Link, Relation, UnknownEdge};
pub use generate::enumerate::{Cycles, MAX_CYCLE_SIZE, cycles};
pub use generate::hard::Formula;
pub use generate::litmus::{Assembly, NotInAssembly, NotInLitmus};
pub use generate::mark::{Dialect, Mark};
pub use generate::mix::{Mix, MixError};
pub use generate::random::{KnobError, Knobs};
pub use json::parse_programs_json;
pub use machine::{Bug, Exhaustive, Machine, MemoryModel, NoMachine, UnknownBug};
pub use name::{TargetName, UnknownTarget};
pub use outcome::{Outcome, OutcomeError};
pub use packets::{PacketCounts, PacketError, PacketPrograms};
pub use program::{Action, Instruction, Place, Program, ProgramError};
pub use target::{RunResult, Runs, Target, TargetError};
pub use text::parse_programs;
