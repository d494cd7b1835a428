//! The file: JSON lines. The first is the question, each of the others the proof of one claim.
//!
//! Programs and lemmas are kept as Murphi text, so that a certificate can be read, and its abstract
//! programs given to other tools. docs/any-processors.md describes every field.

use std::fmt;

use conform::EventNames;
use murphi::check;
use serde::{Deserialize, Serialize};

/// What the first line says it is.
pub const FORMAT: &str = "any-processors";

/// What may be assumed.
pub const INDEPENDENCE: &str = "data-independence";

/// A protocol with what was asked of it, and proofs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// What was asked.
    pub question: Question,
    /// A proof of each claim that is needed.
    pub proofs: Vec<Proof>,
}

/// What was asked, of which protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// [`FORMAT`].
    pub certificate: String,
    /// 1.
    pub version: u64,
    /// What the protocol is called.
    pub name: String,
    /// FNV-1a of its text, 64 bits, in hexadecimal.
    pub digest: String,
    /// Its text.
    pub protocol: String,
    /// Constants with new values.
    pub constants: Vec<(String, String)>,
    /// `cmurphi` or `rumur`.
    pub dialect: String,
    /// How many rounds a `while` loop may take.
    pub loop_limit: u64,
    /// `sc` or `tso`; without one, the protocol's own invariants.
    pub memory_model: Option<String>,
    /// The procedures that mark events.
    pub load: String,
    /// See `load`.
    pub store: String,
    /// See `load`.
    pub commit: Option<String>,
    /// For `sc`: the only length of a cycle that was asked about.
    pub only: Option<u64>,
    /// For `tso`: whether the exact observer comes first.
    pub exact: bool,
    /// The type of processors, if it was given.
    pub processors: Option<String>,
    /// What is assumed without being established: `data-independence`.
    pub assume: Vec<String>,
    /// What was to be done, for whoever reads it.
    pub plan: Vec<String>,
}

/// The proof of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// What is claimed.
    pub claim: String,
    /// How one address comes to stand for all, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_address: Option<OneAddress>,
    /// How invariants that ask for some processor are claimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub witnesses: Vec<Witness>,
    /// How any number of processors is abstracted.
    pub processors: Layer,
}

/// How one `exists` over processors of an invariant is claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// The name of the invariant.
    pub invariant: String,
    /// Which `exists` of it, from 0.
    pub site: usize,
    /// Whether a processor is remembered of which the condition holds.
    pub kept: bool,
    /// A set all of whose members meet the condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<String>,
}

/// An abstraction of processors, of the program that is claimed to hold for any number of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// How many processors stay concrete.
    pub concrete: u64,
    /// Whether one more is known by its name.
    pub named: bool,
    /// The lemmas, as Murphi invariants.
    pub lemmas: Vec<String>,
    /// The names of all invariants of the abstract program, lemmas included.
    pub invariants: Vec<String>,
    /// Those of them that say that a guard or an invariant can be evaluated.
    pub checks: Vec<String>,
    /// The abstract program.
    pub abstraction: String,
}

/// How one address comes to stand for all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneAddress {
    /// What a processor does at one address at a time.
    pub exclusions: Vec<ExclusionProof>,
    /// Lemmas about addresses, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lemmas: Option<AddressLemmas>,
    /// The program with one address.
    pub program: String,
}

/// That some things are so of a processor at one address at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExclusionProof {
    /// The conditions, over `processor` and `address`.
    pub conditions: Vec<String>,
    /// How it is shown for any number of processors.
    pub processors: Layer,
}

/// Lemmas about addresses. The program with one address claims them of its own one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressLemmas {
    /// How many processors the program says it has.
    pub processors: u64,
    /// The lemmas, as Murphi invariants.
    pub lemmas: Vec<String>,
}

/// Why a file is no certificate: the line, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
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
    /// Whether data independence is assumed where it is not established.
    pub(crate) fn assumes_independence(&self) -> bool {
        self.assume.iter().any(|assumed| assumed == INDEPENDENCE)
    }

    /// The flags of the command line that say how the protocol was to be read, other than those that
    /// say the same as none. A claim is one about the protocol read so.
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

    /// The digest of a text.
    pub fn digest_of(text: &str) -> String {
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
    }
}
