//! A verification as one JSON object, for programs and for a replay.

use explore::report::{Counterexample, Settings};
use serde::{Serialize, Serializer};

use super::{Lemma, Memory, Open, Sizes, Verification};

/// The verification as a JSON object in one line, without the newline.
pub fn object(verification: &Verification) -> String {
    crate::json::line(verification)
}

/// `counterexample` and what is needed to run it again are as in the JSON of an
/// [exploration](crate::exploration::json::object); `lemma` says of which composed model it is a
/// run, counted from 1.
#[derive(Serialize)]
struct Fields<'a> {
    model: &'a str,
    memory_model: &'static str,
    verdict: &'static str,
    sentence: &'a str,
    #[serde(flatten)]
    sizes: &'a Sizes,
    independent: bool,
    not_established: &'a [Open],
    assuming: &'a [String],
    lemmas: &'a [Lemma],
    #[serde(flatten)]
    settings: &'a Settings,
    #[serde(flatten)]
    events: Events<'a>,
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    lemma: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(flatten)]
    counterexample: Option<&'a Counterexample>,
    #[serde(flatten)]
    memory: Option<&'a Memory>,
    warnings: &'a [String],
}

/// The procedures that mark events, a field each.
struct Events<'a>(&'a [(&'static str, String)]);

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(kind, procedure)| (kind, procedure)))
    }
}

impl Serialize for Verification {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let broken = self.broken.as_ref();
        let fields = Fields {
            model: &self.model,
            memory_model: self.memory_model.name(),
            verdict: self.verdict.name(),
            sentence: &self.sentence,
            sizes: &self.sizes,
            independent: self.independent,
            not_established: &self.open,
            assuming: &self.assuming,
            lemmas: &self.lemmas,
            settings: &self.settings,
            events: Events(&self.events),
            exact: self.exact,
            lemma: self.told_lemma,
            property: broken.map(|broken| broken.property.as_str()),
            kind: broken.map(|broken| broken.kind.as_str()),
            counterexample: self.counterexample.as_ref(),
            memory: self.memory.as_ref(),
            warnings: &self.warnings,
        };
        fields.serialize(serializer)
    }
}
