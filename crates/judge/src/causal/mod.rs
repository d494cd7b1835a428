//! Causal models.

use history::History;
use models::{CausalRules, Model};

use crate::{Budget, Verdict};

pub(crate) fn decide(
    _history: &History,
    _model: Model,
    _rules: CausalRules,
    _budget: &Budget,
) -> Verdict {
    unimplemented!()
}
