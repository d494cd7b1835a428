//! The certificate file: JSON lines. The first line is the question; each other line is the proof
//! of one claim.
//!
//! Programs and lemmas are Murphi text, so that a certificate can be read, and its abstract
//! programs can be given to other tools. docs/any-processors.md describes every field.

use std::fmt;

use conform::EventNames;
use murphi::check;
use serde::{Deserialize, Serialize};

/// The format that the first line names.
pub const FORMAT: &str = "any-processors";

/// The only assumption that a certificate may make.
pub const INDEPENDENCE: &str = "data-independence";

/// A question about a protocol, with proofs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// What was asked.
    pub question: Question,
    /// The proofs of the claims that the question needs.
    pub proofs: Vec<Proof>,
}

/// A question about a protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// [`FORMAT`].
    pub certificate: String,
    /// 1.
    pub version: u64,
    /// The name of the protocol.
    pub name: String,
    /// The FNV-1a hash of its text, 64 bits, in hexadecimal.
    pub digest: String,
    /// Its text.
    pub protocol: String,
    /// Constants with overridden values.
    pub constants: Vec<(String, String)>,
    /// `cmurphi` or `rumur`.
    pub dialect: String,
    /// The largest number of iterations of a `while` loop.
    pub loop_limit: u64,
    /// `sc` or `tso`; without it, the protocol's own invariants.
    pub memory_model: Option<String>,
    /// The procedures that mark events.
    pub load: String,
    /// See `load`.
    pub store: String,
    /// See `load`.
    pub commit: Option<String>,
    /// For `sc`: the only cycle length that was asked for.
    pub only: Option<u64>,
    /// For `tso`: whether the exact observer comes first.
    pub exact: bool,
    /// The type of processors, if it was given.
    pub processors: Option<String>,
    /// Assumptions that are not established: `data-independence`.
    pub assume: Vec<String>,
    /// The plan of the proof, for readers.
    pub plan: Vec<String>,
}

/// The proof of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The name of the claim.
    pub claim: String,
    /// The abstraction of addresses to one, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_address: Option<OneAddress>,
    /// How invariants with `exists` over processors are claimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub witnesses: Vec<Witness>,
    /// The abstraction of processors.
    pub processors: Layer,
}

/// How one `exists` over processors of an invariant is claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// The name of the invariant.
    pub invariant: String,
    /// The number of the `exists` in the invariant, from 0.
    pub site: usize,
    /// Whether the program keeps a processor for which the condition holds.
    pub kept: bool,
    /// A set whose members all satisfy the condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
}

/// An abstraction of processors: of the program that is claimed to hold for any number of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// The number of concrete processors.
    pub concrete: u64,
    /// Whether one more is known by name.
    pub named: bool,
    /// The lemmas, as Murphi invariants.
    pub lemmas: Vec<String>,
    /// The names of all invariants of the abstract program, lemmas included.
    pub invariants: Vec<String>,
    /// The invariants which claim that a guard or an invariant can be evaluated.
    pub checks: Vec<String>,
    /// The abstract program.
    pub abstraction: String,
}

/// The abstraction of addresses to one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneAddress {
    /// The exclusions: what a processor does at one address at a time.
    pub exclusions: Vec<ExclusionProof>,
    /// Lemmas about addresses, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lemmas: Option<AddressLemmas>,
    /// The program with one address.
    pub program: String,
}

/// The proof of exclusions: conditions that hold of a processor at one address at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExclusionProof {
    /// The conditions, over `processor` and `address`.
    pub conditions: Vec<String>,
    /// The proof for any number of processors.
    pub processors: Layer,
}

/// Lemmas about addresses. The program with one address claims them of that address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressLemmas {
    /// The number of processors that the program declares.
    pub processors: u64,
    /// The lemmas, as Murphi invariants.
    pub lemmas: Vec<String>,
}

/// Why a file is not a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.reason)
    }
}

/// Whether a text begins like a certificate of this kind.
pub fn is_certificate(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Beginning {
        certificate: String,
    }
    let first = text.lines().next().unwrap_or_default();
    serde_json::from_str::<Beginning>(first).is_ok_and(|found| found.certificate == FORMAT)
}

impl Certificate {
    /// Reads a certificate.
    pub fn read(text: &str) -> Result<Certificate, Malformed> {
        let mut lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
        let malformed = |line, reason: String| Malformed { line, reason };
        let (_, first) = lines.next().ok_or_else(|| malformed(1, "the file is empty".into()))?;
        let question: Question =
            serde_json::from_str(first).map_err(|error| malformed(1, error.to_string()))?;
        if question.certificate != FORMAT || question.version != 1 {
            let reason = format!("not a certificate of format \"{FORMAT}\", version 1");
            return Err(malformed(1, reason));
        }
        let mut proofs = Vec::new();
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let proof = serde_json::from_str(line);
            proofs.push(proof.map_err(|error| malformed(number, error.to_string()))?);
        }
        Ok(Certificate { question, proofs })
    }

    /// The text of the file.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string(&self.question)? + "\n";
        for proof in &self.proofs {
            text += &(serde_json::to_string(proof)? + "\n");
        }
        Ok(text)
    }
}

impl Question {
    /// Whether the certificate assumes data independence.
    pub(crate) fn assumes_independence(&self) -> bool {
        self.assume.iter().any(|assumed| assumed == INDEPENDENCE)
    }

    /// The command-line flags with which the protocol was read, as far as they differ from the
    /// defaults. The claim is about the protocol read with these flags.
    pub fn flags(&self) -> Vec<String> {
        let (names, language) = (EventNames::default(), check::Options::default());
        let constants =
            self.constants.iter().map(|(name, value)| format!("--const {name}={value}"));
        let mut flags: Vec<String> = constants.collect();
        let mut flag = |differs: bool, text: String| flags.extend(differs.then_some(text));
        flag(self.dialect != "cmurphi", format!("--dialect {}", self.dialect));
        let is_limited = self.loop_limit != language.loop_limit;
        flag(is_limited, format!("--loop-limit {}", self.loop_limit));
        if let Some(processors) = &self.processors {
            flag(true, format!("--processors {processors}"));
        }
        if self.memory_model.is_some() {
            flag(self.load != names.load, format!("--load {}", self.load));
            flag(self.store != names.store, format!("--store {}", self.store));
            let commit = self.commit.as_deref().unwrap_or_default();
            flag(self.commit.is_some(), format!("--commit {commit}"));
        }
        flags
    }

    /// The hash of a text.
    pub fn digest_of(text: &str) -> String {
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
    }
}
