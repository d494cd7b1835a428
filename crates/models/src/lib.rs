//! What each memory model requires: each one as a row of data.
//!
//! Two families share the table. A *store model* says which program order its memory keeps, and
//! asks for a total order of the writes of each address under which everything is acyclic. A
//! *causal model* says how much of a common order the threads must see. The engines read these
//! rows; a new model of either family is a new row, not new code.
//!
//! ```
//! use tribunal_models::{Keeps, Model, implies};
//!
//! let tso: Model = "TSO".parse()?;
//! let rules = tso.store_rules().expect("tso is a store model");
//! assert_eq!(rules.write_read, Keeps::Never);
//! assert!(implies(Model::Sc, tso));
//! # Ok::<(), tribunal_models::UnknownModel>(())
//! ```

mod lattice;
mod table;

pub use lattice::{IMPLICATIONS, Implication, implies, strongest_first};
pub use table::{CausalRules, Keeps, Model, Rules, StoreRules, UnknownModel};
