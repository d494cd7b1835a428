//! Why a history violates a model: as text, as a graph, as a picture.
//!
//! All of them tell the same argument, made once from the proof: only what the contradiction
//! needs, step by step, with what each link of each cycle rests on.

mod argument;
mod build;
mod dot;
mod grounds;
mod keeps;
mod picture;
mod refute;
mod shown;
mod svg;
mod text;
mod words;

use evidence::Proof;
use history::History;
use models::Model;

/// The explanation as text: the events that matter, then the argument step by step. With escape
/// codes for a terminal if `colour` is set.
pub fn text(history: &History, model: Model, proof: &Proof, colour: bool) -> String {
    text::write(history, model, &build::argument(history, model, proof), colour)
}

/// The explanation as a graph for Graphviz: a cluster per thread, the cycle in red.
pub fn dot(history: &History, model: Model, proof: &Proof) -> String {
    dot::write(history, model, &build::argument(history, model, proof))
}

/// The explanation as a self-contained SVG picture, with the argument in words below.
pub fn svg(history: &History, model: Model, proof: &Proof) -> String {
    svg::write(history, model, &build::argument(history, model, proof))
}
