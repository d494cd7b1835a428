//! Which outcomes can this test have? Litmus tests of herdtools for x86, RISC-V and AArch64, as data,
//! and all their final states under a memory model.
//!
//! [`parse`] reads a test, for `X86` (destination first), `X86_64` (source first), `RISCV` or
//! `AArch64`; what is wrong with a text comes back as a diagnostic that points at it. A [`Litmus`]
//! is plain data: threads of [`Instruction`]s or [`RiscInstruction`]s on registers, locations and
//! labels, whatever the spelling was, so that an assembler or a simulator can take it from there;
//! [`Litmus::to_text`] writes it again.
//!
//! [`outcomes_of`] enumerates under any model, [`fn@outcomes`] by the machines that x86 has. Neither
//! lists executions: sc, tso and pso are machines whose states are visited once each, coherence is
//! one machine for every location, and a model that is a file is asked about choices, many at once.
//! What an [`Outcomes`] holds is a set of final states; each of them can be turned into an
//! [`Execution`], a history with a witness that the kernel of `certify` replays. An [`Answer`] is
//! all that is reported about a test under a model, in herd7's layout or as JSON.
//!
//! ```
//! use models::Model;
//! use tribunal_litmus::{Limits, outcomes, parse};
//!
//! let test = parse(
//!     r"X86_64 SB
//!     { }
//!      P0            | P1            ;
//!      movl $1,(x)   | movl $1,(y)   ;
//!      movl (y),%eax | movl (x),%eax ;
//!     exists (0:rax=0 /\ 1:rax=0)",
//! )
//! .expect("the test is well-formed");
//! let tso = outcomes(&test, Model::Tso, &Limits::NONE).expect("there is no limit");
//! assert_eq!(tso.count(), 4);
//! assert_eq!(tso.count_where(&test.condition.proposition), 1);
//! let sc = outcomes(&test, Model::Sc, &Limits::NONE).expect("there is no limit");
//! assert_eq!(sc.count_where(&test.condition.proposition), 0);
//! ```
//!
//! How a test becomes outcomes, file by file: `scan` and `parse/` read it into `test`; `lower`
//! makes steps of instructions that touch memory at most once, `compute` runs what is between, and
//! `flow` knows what a thread may still do. `buffers` (sc, tso, pso) or `runs` and `coherence` are
//! the machines, `search` visits their states, and `diagram` keeps sets of outcomes. `axiomatic` is
//! for models that are files.

mod answer;
mod axiomatic;
mod buffers;
mod coherence;
mod compute;
mod condition;
mod count;
mod diagram;
mod files;
mod flow;
mod histogram;
pub mod layout;
mod lower;
mod model;
mod outcomes;
mod page;
mod parse;
mod print;
mod runs;
mod scan;
mod search;
mod test;
mod variables;
mod widths;
mod witness;

pub use answer::{
    Answer, ShownValue, Style, Unanswered, Values, bounded, holds_as_promised, micros, values,
};
pub use axiomatic::Reached;
pub use condition::{Condition, Node, Proposition, Quantifier};
pub use files::{FileError, listed_files, read_text};
pub use histogram::Histogram;
pub use model::LitmusModel;
pub use outcomes::{MODELS, Outcomes, State, outcomes, outcomes_by_file, outcomes_of};
pub use page::{LitmusPage, MOST_STATES};
pub use parse::parse;
pub use search::{Limits, Stopped};
pub use test::{
    Architecture, Array, AtomicChange, Binary, BranchCondition, Code, Comparison, Constant,
    Extension, Fence, Flag, InitialRegister, Instruction, Litmus, Location, LocationId, Memory,
    Operand, Operation, Place, Register, RiscAddress, RiscFence, RiscInstruction, RiscOperation,
    RiscOperator, RiscSource, SelectChange, Shift, Size, Thread, Type, Unary,
};
pub use widths::{location_kinds, mixed_widths, observed_kinds};
pub use witness::Execution;
