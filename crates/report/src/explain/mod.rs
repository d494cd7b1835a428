//! Why a history violates a model: as text, as JSON, as a graph, as a picture.
//!
//! All of them show the same argument, made once from the proof: only what the contradiction
//! needs, step by step, with what each link of each cycle rests on. What it is about is a built-in
//! model, or the [`FileRules`] of a model file.

mod argument;
mod build;
mod dot;
mod explained_model;
mod grounds;
mod json;
mod order_rule;
mod page;
mod picture;
mod refute;
mod shown;
mod svg;
mod text;
mod words;

use evidence::Proof;
use history::History;

pub use explained_model::{ExplainedModel, FileRules};
pub use page::{
    PageAndGist, PageContext, WhyData, consistent as consistent_page, violation as violation_page,
    why_data,
};

/// The explanation as text: the events that matter, then the argument step by step. With escape
/// codes for a terminal if `colour` is set.
pub fn text<'a>(
    history: &History,
    model: impl Into<ExplainedModel<'a>>,
    proof: &Proof,
    colour: bool,
) -> String {
    let model = model.into();
    text::write(history, model, &build::argument(history, model, proof), colour)
}

/// The explanation as a JSON object in one line, without the newline; `of` is the file and the number
/// of the trace there. The fields are those of docs/interface.md.
pub fn json<'a>(
    history: &History,
    model: impl Into<ExplainedModel<'a>>,
    proof: &Proof,
    of: (&str, u64),
) -> String {
    let model = model.into();
    json::write(history, model, &build::argument(history, model, proof), of)
}

/// The explanation as a graph for Graphviz: a cluster per thread, the cycle in red.
pub fn dot<'a>(history: &History, model: impl Into<ExplainedModel<'a>>, proof: &Proof) -> String {
    let model = model.into();
    dot::write(history, model, &build::argument(history, model, proof))
}

/// The explanation as a self-contained SVG picture, with the argument in words below.
pub fn svg<'a>(history: &History, model: impl Into<ExplainedModel<'a>>, proof: &Proof) -> String {
    let model = model.into();
    svg::write(history, model, &build::argument(history, model, proof))
}
