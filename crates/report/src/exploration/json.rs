//! An exploration as one JSON object, for programs and for a replay.

use explore::{Recorded, Refuted, Report};
use serde::Serialize;

/// The exploration as a JSON object in one line, without the newline.
pub fn object(report: &Report) -> String {
    crate::json::line(report)
}

/// The result of a replay as a JSON object in one line, without the newline.
pub fn replayed(
    model: &str,
    file: &str,
    recorded: &Recorded,
    result: &Result<(), Refuted>,
) -> String {
    #[derive(Serialize)]
    struct Replayed<'a> {
        file: &'a str,
        holds: bool,
        model: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        place: Option<&'a str>,
        property: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
        steps: usize,
        verdict: &'a str,
    }
    let refuted = result.as_ref().err();
    crate::json::line(&Replayed {
        file,
        holds: result.is_ok(),
        model,
        place: refuted.map(|refuted| refuted.place.as_str()),
        property: &recorded.property,
        reason: refuted.map(|refuted| refuted.reason.as_str()),
        steps: recorded.steps.len(),
        verdict: &recorded.verdict,
    })
}
