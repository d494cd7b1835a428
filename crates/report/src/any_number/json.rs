//! A verification for any number of processors as one JSON object.

use explore::report::{Counterexample, Settings};
use serde::{Serialize, Serializer};

use super::{AnyNumber, Audit, Claim};
use crate::verification::Open;

/// The verification as a JSON object in one line, without the newline.
pub fn object(found: &AnyNumber) -> String {
    crate::json::line(found)
}

#[derive(Serialize)]
struct Fields<'a> {
    model: &'a str,
    memory_model: Option<&'a str>,
    verdict: &'static str,
    sentence: &'a str,
    any_processors: bool,
    processor_type: &'a str,
    concrete: u64,
    claims: &'a [Claim],
    not_established: &'a [Open],
    assuming: &'a [String],
    #[serde(flatten)]
    settings: &'a Settings,
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    processors: Option<u64>,
    #[serde(flatten)]
    counterexample: Option<&'a Counterexample>,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<Audit>,
}

impl Serialize for AnyNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let broken = self.broken.as_ref();
        let fields = Fields {
            model: &self.model,
            memory_model: self.memory_model.as_deref(),
            verdict: self.verdict.name(),
            sentence: &self.sentence,
            any_processors: true,
            processor_type: &self.processor,
            concrete: self.concrete,
            claims: &self.claims,
            not_established: &self.open,
            assuming: &self.assuming,
            settings: &self.settings,
            property: broken.map(|broken| broken.property.as_str()),
            kind: broken.map(|broken| broken.kind.as_str()),
            processors: self.processors,
            counterexample: self.counterexample.as_ref(),
            notes: &self.notes,
            audit: self.audit,
        };
        fields.serialize(serializer)
    }
}
