//! Does a memory model allow this history?
//!
//! [`judge`] takes a history and a model and returns a [`Judgement`] with its evidence inside. It is
//! pure: no input or output, no clock but the [`Budget`] it is given, and the same question gets
//! the same answer with the same evidence.
//!
//! ```
//! use tribunal_judge::{Budget, Engine, Outcome, judge};
//!
//! let history = history::parse_text(
//!     "0: x := 1
//!      0: y == 0
//!      1: y := 1
//!      1: x == 0",
//! )?;
//! let under = |model| judge(&history, model, Engine::Auto, &Budget::unlimited()).outcome;
//! assert!(matches!(under(models::Model::Sc), Outcome::Broken(_)));
//! assert!(matches!(under(models::Model::Tso), Outcome::Holds(_)));
//! # Ok::<(), history::InputError>(())
//! ```

mod any_model;
pub mod axe;
mod budget;
mod by_file;
mod causal;
mod gradual;
pub mod live;
mod mixed;
mod session;
mod shrink;
mod store;
pub mod stream;
mod unsupported;
mod verdict;

pub use any_model::{AnyModel, Refuted};
pub use budget::{Budget, Limits};
pub use by_file::{FileJudgement, FileOutcome, ModelFile, Reach, judge_by_file};
pub use gradual::{Gradual, judge_gradually};
pub use session::{Finished, Session, Status, Violation};
pub use shrink::{ShrinkOptions, Shrunk, shrink};
pub use verdict::{DecidedBy, Engine, Judgement, Outcome, Reason, Stats, Undecided, UnknownEngine};

use history::History;
use models::{Model, Rules};

/// Decides whether `history` satisfies `model` with the given engine.
pub fn judge(history: &History, model: Model, engine: Engine, budget: &Budget) -> Judgement {
    if let Some(sentence) = unsupported::unsupported(history, model) {
        let outcome = verdict::undecided(Reason::Engine(sentence), "");
        return Judgement {
            model,
            outcome,
            decided_by: DecidedBy::Saturation,
            stats: Stats::default(),
        };
    }
    match model.rules() {
        Rules::Causal(rules) => causal::decide(history, model, rules, budget),
        Rules::Store(rules) if let Some(parts) = history.mixed() => {
            mixed::decide(history, parts, model, rules, engine, budget)
        }
        Rules::Store(rules) => store::decide(history, model, rules, engine, budget),
    }
}
