//! JSON of what is printed: one object in one line.

use serde::Serialize;

/// Something as JSON in one line, without the newline.
pub(crate) fn line(value: &impl Serialize) -> String {
    // What is printed has strings for keys, and nothing in it refuses to be serialised.
    serde_json::to_string(value).expect("a report has a JSON form")
}
