//! Errors of the library as exceptions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tribunal::diagnostics::Refusal;
use tribunal::history::InputError as Unreadable;

pyo3::create_exception!(
    tribunal,
    InputError,
    PyValueError,
    "Input that makes no sense: `file`, `line` and `column` (from 1; 0 if unknown) say where, and the \
     text shows the place underlined."
);
pyo3::create_exception!(
    tribunal,
    Misuse,
    PyValueError,
    "A call of a Session that makes no sense. It has changed nothing."
);
pyo3::create_exception!(
    tribunal,
    Interrupted,
    pyo3::exceptions::PyKeyboardInterrupt,
    "Ctrl-C while the engines were at work."
);

/// An exception with its place.
pub(crate) fn input_error(py: Python<'_>, text: &str, file: &str, place: (u64, u64)) -> PyErr {
    let error = InputError::new_err(text.trim_end().to_owned());
    let value = error.value(py);
    let (line, column) = place;
    let set = value.setattr("file", file);
    let set = set.and_then(|()| value.setattr("line", line));
    match set.and_then(|()| value.setattr("column", column)) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// What is wrong with a trace.
pub(crate) fn unreadable(py: Python<'_>, error: &Unreadable) -> PyErr {
    input_error(py, &error.render(false), &error.file, (error.line, error.column))
}

/// What is wrong with a model.
pub(crate) fn refused(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let place = refusal.problems.first().map(|problem| refusal.source.position(problem.span.start));
    let (line, column) = place.unwrap_or((0, 0));
    let text = format!("{}{refusal}", refusal.render(false));
    input_error(py, &text, &refusal.source.name, (line as u64, column as u64))
}

/// Anything else that is said in a sentence.
pub(crate) fn value_error<E: std::fmt::Display>(error: E) -> PyErr {
    PyValueError::new_err(error.to_string())
}
