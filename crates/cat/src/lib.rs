//! A memory model is a file: the cat language of herdtools, read, checked and asked about histories.
//!
//! A model defines relations between the events of an execution, starting from program order (`po`),
//! reads-from (`rf`) and coherence order (`co`), and asks that some of them have no cycle, or are
//! empty. [`CatModel`] is such a file, with everything it includes. [`solve`] decides whether some
//! `rf` and `co` of a history meet all of its axioms; it takes every model of the language, and
//! histories of some tens of events. [`meets`] checks what it found by the definition, with code
//! that shares nothing with it but the parser and the list of events. Litmus tests make executions of
//! their own: [`Execution`] is plain data, and [`Candidates`] answers for whoever makes choices.
//!
//! ```
//! use tribunal_cat::{Answer, CatModel, meets, solve};
//!
//! // Total store order without forwarding of the own store buffer is too strong …
//! let model = CatModel::from_text(
//!     "mine.cat",
//!     "let ppo = po \\ ([W] ; po ; [R])
//!      acyclic ppo | rf | co | fr as global",
//! )?;
//! // … to let a thread read its own store early:
//! let history = history::parse_text(
//!     "0: M[x] := 1
//!      0: M[x] == 1
//!      0: M[y] == 0
//!      1: M[y] := 1
//!      1: M[y] == 1
//!      1: M[x] == 0",
//! )?;
//! assert!(matches!(solve(&model, &history, |_| true), Answer::Violation(_)));
//! let tso = CatModel::shipped("tso").expect("tso is shipped");
//! let Answer::Consistent(witness) = solve(&tso, &history, |_| true) else { panic!() };
//! assert!(meets(&tso, &history, &witness));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! How a file becomes an answer: `load` follows includes, `lex` and `parse` read each file into
//! `syntax`, `idioms` rewrites a few forms of published files, `elaborate` makes a `graph` of sets and relations of it; `execution` says what a history
//! fixes, `bounds` evaluates the graph with what is known, `solve` searches, and `definition` checks.

mod base;
mod bits;
mod bounds;
mod choices;
mod definition;
mod elaborate;
mod execution;
mod graph;
mod idioms;
mod lex;
mod load;
mod parse;
mod shape;
mod shipped;
mod solve;
pub mod syntax;
mod witness;

pub use definition::{allows, broken_axioms, meets};
pub use execution::{Action, Atomicity, CatEvent, Execution, Knowledge, Link};
pub use load::{Axiom, CatError, CatModel};
pub use shape::{EventSort, Global, HalvesOrder, Location, PairAxiom, Path, SetTest, Shape, Step};
pub use shipped::{shipped_models, shipped_text};
pub use solve::{Answer, Candidates, Effort, Refutation, solve};
pub use syntax::{Place, Test};
pub use witness::{Choice, Witness};
