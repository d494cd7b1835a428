//! What is printed about certificates of traces: one line each, for people or as JSON.

use certify::stream::Finding;
use evidence::Verdict;
use serde::Serialize;

use crate::json;

/// The fields of a finding, in the order in which they are printed.
#[derive(Serialize)]
struct Object<'a> {
    file: &'a str,
    holds: Option<bool>,
    #[serde(flatten)]
    model: json::MemoryModelName<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    trace: u64,
    verdict: Option<&'static str>,
}

/// A line about a certificate for a trace of this file, without the newline.
pub fn certificate_line(file: &str, finding: &Finding, as_json: bool) -> String {
    let Finding { trace, model, claim, result } = finding;
    if as_json {
        let (holds, reason) = match result {
            Verdict::Holds(()) => (Some(true), None),
            Verdict::Broken(reason) => (Some(false), Some(&**reason)),
            Verdict::Undecided(reason) => (None, Some(&**reason)),
        };
        let (model, verdict) = (model.to_string(), *claim);
        let model = json::MemoryModelName::new(&model);
        return json::line(&Object { file, holds, model, reason, trace: *trace, verdict });
    }
    let claim = claim.map_or(String::new(), |claim| format!(" {claim}:"));
    let result = match result {
        Verdict::Holds(()) => "holds".to_owned(),
        Verdict::Broken(reason) => format!("rejected: {reason}"),
        Verdict::Undecided(reason) => format!("not checked: {reason} (raise --memory)"),
    };
    format!("{file} #{trace}: {model}:{claim} certificate {result}")
}
