//! States for people: one line for each simple variable, or only what a step changed.
//!
//! A path such as `cache[Proc_1].state` names one simple component and no other: fields follow a
//! dot, indices stand in brackets in the words of the index type. The elements of a multiset have
//! no order that means anything, so an element is one line as a whole, `net{0}`, and a change of a
//! multiset is reported as the elements that went and those that came.

use std::fmt;

use super::{State, Value, multiset_difference, render_index};
use crate::ir::{Model, TypeId, TypeKind};

/// What is different in one place between two states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A simple variable has another value.
    Simple {
        /// Which.
        path: String,
        /// Its value in the earlier state.
        before: String,
        /// Its value in the later state.
        after: String,
    },
    /// A multiset lost or gained elements.
    Multiset {
        /// Which.
        path: String,
        /// The elements it lost.
        removed: Vec<String>,
        /// The elements it gained.
        added: Vec<String>,
    },
}

impl Change {
    /// What changed.
    pub fn path(&self) -> &str {
        match self {
            Change::Simple { path, .. } | Change::Multiset { path, .. } => path,
        }
    }

    /// What it is now: the value of a simple variable, or `+{…} -{…}` for a multiset.
    pub fn result(&self) -> String {
        match self {
            Change::Simple { after, .. } => after.clone(),
            Change::Multiset { removed, added, .. } => {
                let removed = removed.iter().map(|element| format!("-{element}"));
                let added = added.iter().map(|element| format!("+{element}"));
                removed.chain(added).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.path(), self.result())
    }
}

impl State {
    /// Every simple variable and every element of a multiset: its path and its value. An empty
    /// multiset is listed by its own path as `empty`.
    pub fn listing(&self, model: &Model) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        for (value, global) in self.0.iter().zip(&model.globals) {
            list(model, global.ty, value, &global.name, &mut lines);
        }
        lines
    }

    /// What is different in `later`, in the order of [`State::listing`].
    pub fn changes(&self, later: &State, model: &Model) -> Vec<Change> {
        let mut changes = Vec::new();
        for ((before, after), global) in self.0.iter().zip(&later.0).zip(&model.globals) {
            compare(model, global.ty, (before, after), &global.name, &mut changes);
        }
        changes
    }
}

impl Value {
    /// What is different in `later`, a value of the same type at the same path.
    pub fn changes(&self, later: &Value, model: &Model, ty: TypeId, path: &str) -> Vec<Change> {
        let mut changes = Vec::new();
        compare(model, ty, (self, later), path, &mut changes);
        changes
    }
}

fn list(model: &Model, ty: TypeId, value: &Value, path: &str, lines: &mut Vec<(String, String)>) {
    match (value, model.kind(ty)) {
        (Value::Multiset(values), TypeKind::Multiset { element, .. }) => {
            if values.is_empty() {
                lines.push((path.to_owned(), "empty".to_owned()));
            }
            for (at, value) in values.iter().enumerate() {
                lines.push((format!("{path}{{{at}}}"), value.render(model, *element)));
            }
        }
        (Value::Simple(_), _) => lines.push((path.to_owned(), value.render(model, ty))),
        (Value::Record(values) | Value::Array(values), _) => {
            for (at, value) in values.iter().enumerate() {
                let (path, ty) = component(model, ty, path, at);
                list(model, ty, value, &path, lines);
            }
        }
        (value, kind) => panic!("{value:?} is not of type {kind:?}"),
    }
}

fn compare(
    model: &Model,
    ty: TypeId,
    (before, after): (&Value, &Value),
    path: &str,
    changes: &mut Vec<Change>,
) {
    match (before, after, model.kind(ty)) {
        (Value::Multiset(before), Value::Multiset(after), TypeKind::Multiset { element, .. }) => {
            let (removed, added) = multiset_difference(before, after);
            if !removed.is_empty() || !added.is_empty() {
                let render = |values: Vec<&Value>| {
                    values.iter().map(|value| value.render(model, *element)).collect()
                };
                let (removed, added) = (render(removed), render(added));
                changes.push(Change::Multiset { path: path.to_owned(), removed, added });
            }
        }
        (Value::Simple(_), Value::Simple(_), _) => {
            if before != after {
                changes.push(Change::Simple {
                    path: path.to_owned(),
                    before: before.render(model, ty),
                    after: after.render(model, ty),
                });
            }
        }
        (Value::Record(before), Value::Record(after), _)
        | (Value::Array(before), Value::Array(after), _) => {
            for (at, pair) in before.iter().zip(after).enumerate() {
                // Naming a component costs more than comparing it, and most did not change.
                if pair.0 != pair.1 {
                    let (path, ty) = component(model, ty, path, at);
                    compare(model, ty, pair, &path, changes);
                }
            }
        }
        (before, _, kind) => panic!("{before:?} is not of type {kind:?}"),
    }
}

/// The path and the type of a component of a value: of a record by the number of the field, of an
/// array by place from 0, of a multiset by position.
pub(crate) fn component(model: &Model, ty: TypeId, path: &str, at: usize) -> (String, TypeId) {
    match model.kind(ty) {
        TypeKind::Record(fields) => (format!("{path}.{}", fields[at].name), fields[at].ty),
        TypeKind::Array { index, element } => {
            (format!("{path}[{}]", render_index(model, *index, at)), *element)
        }
        TypeKind::Multiset { element, .. } => (format!("{path}{{{at}}}"), *element),
        TypeKind::Simple(_) => (path.to_owned(), ty),
    }
}
