//! What a person sees: text, JSON, DOT and SVG.
//!
//! A verdict becomes a line ([`summary_line`] for people, [`verdict_json`] for programs; [`check`]
//! for many), a
//! violation becomes a few lines ([`cycle_lines`]) or an explanation ([`explain`]), the models
//! become a table ([`models_table`]), and what came of exploring a model becomes a report
//! ([`exploration`]), as does verifying one against its memory model ([`verification`]), for any
//! number of processors ([`any_number`]), and checking the certificate of such a verdict
//! ([`certificate`]); all of them are cases that CI systems show ([`ci`]). Nothing here decides anything or reads or writes files.
//!
//! ```
//! use judge::{Budget, Engine, Outcome};
//! use models::Model;
//!
//! let history = history::parse_text(
//!     "0: M[x] := 1
//!      0: M[y] == 0
//!      1: M[y] := 1
//!      1: M[x] == 0",
//! )?;
//! let verdict = judge::judge(&history, Model::Sc, Engine::Auto, &Budget::unlimited());
//! let Outcome::Broken(proof) = &verdict.outcome else { panic!("store buffering is not sc") };
//! let text = tribunal_report::explain::text(&history, Model::Sc, proof, false);
//! assert!(text.contains("M[y] == 0 (thread 0, line 2) read the initial value"));
//! # Ok::<(), history::InputError>(())
//! ```

pub mod any_number;
pub mod certificate;
pub mod check;
pub mod ci;
pub mod explain;
pub mod exploration;
pub mod run;
pub mod verification;

mod brief;
mod catalogue;
mod certified;
mod diagnostics_json;
mod json;
mod model_file;
mod names;
mod shrunk;
mod style;
mod verdict;

pub use brief::cycle_lines;
pub use catalogue::{models_json, models_table};
pub use certified::certificate_line;
pub use diagnostics_json::{diagnostics_json, refusal_json};
pub use model_file::{model_file_json, model_file_text};
pub use names::{count, event_text};
pub use shrunk::shrunk_text;
pub use verdict::{Fields, Line, reason, summary_line, verdict_json};

#[cfg(test)]
#[allow(dead_code)] // each test takes from it what it needs
#[path = "../tests/all/common/mod.rs"]
mod common;
