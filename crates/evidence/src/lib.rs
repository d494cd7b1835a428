//! What a verdict rests on, as plain data: a [`Witness`] that the history is consistent, or a
//! [`Proof`] that it is not, and the certificate file that carries either.
//!
//! Nothing here decides anything. `judge` writes evidence, `certify` checks it, `report` shows it.
//!
//! # Store models (sc, tso, pso, wmo, rmo, coherence)
//!
//! A witness is a total order of events for the model's machine to replay. A proof is a list of
//! clauses over [`Atom`]s, the last one empty. Each clause is either a *lemma*, shown by a cycle
//! that its negation would close, or follows from the clauses before it by unit propagation. The
//! inference rules of saturation need no steps of their own: "w must come before v, else this
//! cycle" is a lemma of one literal.
//!
//! # Models that are files
//!
//! [`file`](mod@file) has witnesses and proofs in terms of the conditions of a file.
//!
//! # Causal models (cc, ccv, cm, ccm, wccm)
//!
//! Their relations are least fixpoints, so a lemma lists the [`Derived`] edges it needs, each with
//! the rule and path that gives it, and then a cycle.

mod certificate;
pub mod file;
mod proof;
mod verdict;

pub use certificate::{
    AnyCertificate, Certificate, CertificateError, Evidence, FileCertificate, Subject,
};
pub use proof::{
    Atom, Because, Cycle, Derived, Edge, Graph, Literal, Node, Proof, Reader, Rule, Step, Why,
    Witness,
};
pub use verdict::Verdict;
