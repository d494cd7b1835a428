//! Why a history violates a model: as text, as a graph, as a picture.
//!
//! All of them tell the same argument, made once from the proof: only what the contradiction
//! needs, step by step, with what each link of each cycle rests on. What it is about is a built-in
//! model, or the [`FileRules`] of a model file.

mod argument;
mod build;
mod dot;
mod grounds;
mod keeps;
mod page;
mod picture;
mod refute;
mod shown;
mod svg;
mod text;
mod told;
mod words;

use evidence::Proof;
use history::History;

pub use page::{
    Attached, PageAndGist, WhyData, consistent as consistent_page, violation as violation_page,
    why_data,
};
pub use told::{ExplainedModel, FileRules};

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
