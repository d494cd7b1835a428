//! What a trace can say that a built-in model has no words for.
//!
//! Annotations of accesses mean nothing to the built-in models, and a named fence orders what its
//! sets before and after say. Two things would be judged wrongly like that: a pair of load-reserved
//! and store-conditional, which nothing may come between, and the reads that `fence.tso` orders where
//! a model does not. Models as files know both.

use history::{FenceName, History};
use models::{Keeps, Model, Rules};

/// Why a built-in model cannot judge this history, in a sentence.
pub(crate) fn unsupported(history: &History, model: Model) -> Option<String> {
    let what = if history.mixed().is_some() && matches!(model.rules(), Rules::Causal(_)) {
        "overlapping accesses of different sizes"
    } else if !history.pairs().is_empty() {
        "pairs of load-reserved and store-conditional (`pair`)"
    } else if history.has_annotations() && !orders_reads(model) && has_fence_tso(history) {
        "`fence.tso`"
    } else {
        return None;
    };
    Some(match model.rules() {
        Rules::Store(_) => format!(
            "the trace has {what}, which the built-in {model} does not define; use the model \
             file: `--model {model}.cat`"
        ),
        Rules::Causal(_) => format!("the trace has {what}, which {model} does not define"),
    })
}

/// Whether what `fence.tso` orders beyond its sets is kept anyway, or means nothing to the model.
fn orders_reads(model: Model) -> bool {
    match model.rules() {
        Rules::Store(rules) => !rules.global || rules.read_read == Keeps::Always,
        Rules::Causal(_) => true,
    }
}

fn has_fence_tso(history: &History) -> bool {
    history.event_ids().any(|event| history.fence_name(event) == Some(FenceName::Tso))
}
