//! The certificate file: one JSON object per line, one line per trace and model.
//!
//! ```text
//! {"tribunal":1,"trace":1,"model":"tso","verdict":"consistent","events":4,
//!  "witness":[[0,1],[1,1],[0,0],[1,0]]}
//! {"tribunal":1,"trace":1,"model":"sc","verdict":"violation","events":4,
//!  "proof":[{"clause":[],"cycle":{"graph":"global","edges":[
//!   [[0,0],[0,1],"program-order"],[[0,1],[1,0],"from-read"],
//!   [[1,0],[1,1],"program-order"],[[1,1],[0,0],"from-read"]]}}]}
//! ```
//!
//! (each on one line). Events are `[thread, index]` by the labels of the trace, so that the file
//! can be read beside it. The `shape` module declares every field, `labels` translates between
//! labels and the ids of a history, `plain` reads the lines of large consistent traces quickly.
//! Reading and writing are linear in the size of the line. What is written is made on the way out,
//! an event or a step at a time.

mod file;
mod labels;
mod plain;
mod shape;

use std::fmt;
use std::io;

use history::History;
use models::Model;

use crate::{Proof, Witness};
pub use file::FileCertificate;
use labels::{Labels, Written};
use shape::Shape;

/// The version of the format, in the field `tribunal`.
const VERSION: u64 = 1;

/// What a certificate claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// The history satisfies the model.
    Consistent(Witness),
    /// The history violates the model.
    Violation(Proof),
}

/// A claim about one trace under one model, with its evidence.
///
/// ```
/// use tribunal_evidence::{Certificate, Evidence, Witness};
/// # use history::{AddressLabel, Builder, EventId, Operation, ThinAir};
/// # let mut builder = Builder::new();
/// # let x = builder.address(&AddressLabel::Name("x".into()));
/// # builder.event(7, Operation::Write { address: x, value: 1 }, 1)?;
/// # builder.event(9, Operation::Read { address: x, value: 0 }, 2)?;
/// # let history = builder.finish(ThinAir::Malformed)?;
/// // 7: M[x] := 1
/// // 9: M[x] == 0
/// let order = vec![EventId::new(1), EventId::new(0)];
/// let certificate = Certificate {
///     trace: 1,
///     model: "tso".parse()?,
///     evidence: Evidence::Consistent(Witness::Order(order)),
/// };
/// let line = certificate.to_json(&history);
/// assert_eq!(
///     line,
///     r#"{"tribunal":1,"trace":1,"model":"tso","verdict":"consistent","events":2,"witness":[[9,0],[7,0]]}"#
/// );
/// assert_eq!(Certificate::from_json(&line, &history)?, certificate);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// Which trace of the file, from 1.
    pub trace: u64,
    /// The model.
    pub model: Model,
    /// The claim and what it rests on.
    pub evidence: Evidence,
}

/// What a certificate is about: a trace by its number, from 1, and a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A built-in model.
    Model(Model),
    /// The model of a file: what it was called, and the digest of its text.
    File {
        /// Its path, or the name of a shipped model.
        name: String,
        /// The digest.
        digest: String,
    },
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Model(model) => model.fmt(f),
            Subject::File { name, .. } => f.pad(name),
        }
    }
}

/// A certificate about a model of either kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnyCertificate {
    /// About a built-in model.
    Model(Certificate),
    /// About the model of a file.
    File(FileCertificate),
}

impl AnyCertificate {
    /// Writes the certificate as one line of JSON, without the newline. The events and addresses it
    /// names must be those of the history.
    pub fn write(&self, history: &History, out: impl io::Write) -> io::Result<()> {
        match self {
            AnyCertificate::Model(certificate) => certificate.write(history, out),
            AnyCertificate::File(certificate) => certificate.write(history, out),
        }
    }

    /// The line that [`AnyCertificate::write`] writes.
    pub fn to_json(&self, history: &History) -> String {
        match self {
            AnyCertificate::Model(certificate) => certificate.to_json(history),
            AnyCertificate::File(certificate) => certificate.to_json(history),
        }
    }
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

fn error<T>(message: impl Into<String>) -> Result<T, CertificateError> {
    Err(CertificateError { message: message.into() })
}

fn known_version(version: u64) -> Result<(), CertificateError> {
    match version {
        VERSION => Ok(()),
        other => {
            error(format!("this certificate has version {other}; only version {VERSION} is known"))
        }
    }
}

fn same_length(events: u64, history: &History) -> Result<(), CertificateError> {
    match history.len() as u64 {
        length if length == events => Ok(()),
        length => error(format!(
            "the certificate is about a trace of {events} events, but this one has {length}"
        )),
    }
}

impl From<serde_json::Error> for CertificateError {
    fn from(e: serde_json::Error) -> Self {
        Self {
            message: format!(
                "not a certificate of `tribunal check --certificate` (is the trace file the first \
                 argument?): {e}"
            ),
        }
    }
}

impl Certificate {
    /// Writes the certificate as one line of JSON, without the newline. The events and addresses it
    /// names must be those of the history.
    pub fn write(&self, history: &History, out: impl io::Write) -> io::Result<()> {
        let labels = Labels::new(history);
        let mut line = Written {
            tribunal: VERSION,
            trace: self.trace,
            model: self.model.name().into(),
            verdict: shape::Verdict::Consistent,
            events: history.len() as u64,
            kind: None,
            witness: None,
            views: None,
            orders: None,
            atomicity: None,
            reads: None,
            proof: None,
        };
        match &self.evidence {
            Evidence::Consistent(witness) => labels.write_witness(witness, &mut line),
            Evidence::Violation(proof) => {
                line.verdict = shape::Verdict::Violation;
                labels.write_proof(proof, &mut line);
            }
        }
        Ok(serde_json::to_writer(out, &line)?)
    }

    /// The line that [`Certificate::write`] writes.
    pub fn to_json(&self, history: &History) -> String {
        let mut line = Vec::new();
        self.write(history, &mut line).expect("there is no output to fail");
        String::from_utf8(line).expect("JSON is text")
    }

    /// Which trace of its file a line is about, from 1, and the model: what a reader has to know
    /// before it can call [`Certificate::from_json`] or [`FileCertificate::from_json`]. The whole
    /// line is JSON if this succeeds.
    pub fn header(line: &str) -> Result<(u64, Subject), CertificateError> {
        let header: shape::Header = serde_json::from_str(line)?;
        known_version(header.tribunal)?;
        let name = header.model.into_string();
        if let Some(digest) = header.digest {
            return Ok((header.trace, Subject::File { name, digest }));
        }
        match name.parse() {
            Ok(model) => Ok((header.trace, Subject::Model(model))),
            Err(unknown) => error(format!("{unknown}")),
        }
    }

    /// The same from the beginning of the line alone, if it begins as [`Certificate::write`] has it:
    /// what follows may still turn out to be no certificate.
    pub fn quick_header(line: &str) -> Result<(u64, Subject), CertificateError> {
        match plain::header(line) {
            Some((trace, model, _)) => Ok((trace, Subject::Model(model))),
            None => Self::header(line),
        }
    }

    /// Reads a line written by [`Certificate::write`] about this history.
    pub fn from_json(line: &str, history: &History) -> Result<Self, CertificateError> {
        let labels = Labels::new(history);
        if let Some(certificate) = plain::order(line, history.len(), &labels) {
            return Ok(certificate);
        }
        // The whole line is read below.
        let (trace, Subject::Model(model)) = Self::quick_header(line)? else {
            return error("the certificate is about a model that is a file");
        };
        let shape: Shape = serde_json::from_str(line)?;
        same_length(shape.events, history)?;
        let evidence = match shape.verdict {
            shape::Verdict::Consistent => Evidence::Consistent(labels.read_witness(shape)?),
            shape::Verdict::Violation => Evidence::Violation(labels.read_proof(shape)?),
        };
        Ok(Self { trace, model, evidence })
    }
}
