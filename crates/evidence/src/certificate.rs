//! The certificate file: one JSON object per line, one line per trace and model.

use std::fmt;

use history::History;
use models::Model;

use crate::{Proof, Witness};

/// What a certificate claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// The history satisfies the model.
    Consistent(Witness),
    /// The history violates the model.
    Violation(Proof),
}

/// A claim about one trace under one model, with its evidence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// Which trace of the file, from 1.
    pub trace: u64,
    /// The model.
    pub model: Model,
    /// The claim and what it rests on.
    pub evidence: Evidence,
}

/// A certificate that cannot be read, or that speaks of events the history does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CertificateError {
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CertificateError {}

impl Certificate {
    /// The certificate as one line of JSON, without the newline. Events are written as
    /// `[thread, index]` with the thread's label, so the file can be read beside the trace.
    pub fn to_json(&self, _history: &History) -> String {
        String::new()
    }

    /// Reads a line written by [`Certificate::to_json`].
    pub fn from_json(_line: &str, _history: &History) -> Result<Self, CertificateError> {
        Err(CertificateError { message: String::new() })
    }
}
