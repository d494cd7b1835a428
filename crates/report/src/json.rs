//! JSON of what is printed: one object in one line.

use serde::{Serialize, Serializer};

/// Something as JSON in one line, without the newline.
pub(crate) fn line(value: &impl Serialize) -> String {
    // What is printed has strings for keys, and nothing in it refuses to be serialised.
    serde_json::to_string(value).expect("a report has a JSON form")
}

/// Seconds to the millisecond.
pub(crate) fn milliseconds<S: Serializer>(seconds: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((seconds * 1e3).round() / 1e3)
}
