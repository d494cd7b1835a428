//! Brute force: every model by definition, and random histories to try engines on.
//!
//! [`allows`] decides a small history (about ten events) by trying everything its model's
//! definition quantifies over. [`machine_allows`] decides `sc`, `tso` and `pso` a second way, by
//! running their machines. [`Definition`] decides any model that is a file. All are written to be obviously right, not fast, and share no code
//! with the engines they are compared to.
//!
//! [`random_history`] makes histories to compare them on: runs of strong and weak machines, and
//! near misses. [`strategy`] makes them for proptest; [`smallest`] makes a failing one small;
//! [`mix_report`] measures whether a collection of them is worth anything. [`corpora`] are the
//! traces and litmus tests with known answers.
//!
//! ```
//! use models::Model;
//! use tribunal_oracle::{Shape, allows, machine_allows, random_histories};
//!
//! for (seed, history) in random_histories(&Shape::rich(), 0..100) {
//!     let verdict = allows(&history, Model::Tso);
//!     assert_eq!(verdict, machine_allows(&history, Model::Tso), "seed {seed}");
//! }
//! ```

mod annotate;
mod bytes;
mod cat;
mod causal;
mod classic;
mod combinations;
mod corpus;
mod cycle;
mod formula;
mod generate;
mod machine;
mod mirror;
mod mix;
mod ordered_cycle;
mod perturb;
mod relation;
mod runs;
mod shape;
mod sizes;
mod sketch;
mod smallest;
mod store;
mod strategy;

use history::History;
use models::{Model, Rules};

pub use annotate::annotated;
pub use cat::{Definition, Mutant, executions};
pub use chance::Rng;
pub use corpus::{corpora, large_corpus, small_corpus};
pub use formula::{Formula, SharedLiterals};
pub use generate::{random_histories, random_history};
pub use machine::machine_allows;
pub use mix::{FEATURES, Feature, Mix, mix_report};
pub use ordered_cycle::ordered_cycle;
pub use shape::{Origin, Shape};
pub use sizes::random_sized_history;
pub use smallest::smallest;
pub use strategy::strategy;

/// Whether the history satisfies the model, by trying every reads-from and every write order.
///
/// ```
/// use models::Model;
/// use tribunal_oracle::allows;
///
/// let message_passing = history::parse_text(
///     "0: M[x] := 1
///      0: M[y] := 1
///      1: M[y] == 1
///      1: M[x] == 0",
/// )?;
/// assert!(allows(&message_passing, Model::Pso));
/// assert!(!allows(&message_passing, Model::Tso));
/// # Ok::<(), history::InputError>(())
/// ```
///
/// # Panics
///
/// If the history has more than 32 events, or its reads, writes and addresses are more than 32;
/// long before that it takes too long. If the history is of mixed sizes and the model a causal one.
pub fn allows(history: &History, model: Model) -> bool {
    match model.rules() {
        Rules::Store(rules) if history.mixed().is_some() => bytes::allows(history, &rules),
        Rules::Store(rules) => store::allows(history, &rules),
        Rules::Causal(_) => {
            assert!(history.mixed().is_none(), "causal models are not defined for mixed sizes");
            causal::allows(history, model)
        }
    }
}

/// A history in the trace text format, to show when a test fails.
pub fn text(history: &History) -> String {
    let mut text = Vec::new();
    history::write_text(history, &mut text).expect("a vector takes everything");
    String::from_utf8(text).expect("a trace is text")
}
