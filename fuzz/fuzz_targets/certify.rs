//! A trace and, as its last line, a certificate about it. Whatever they say, the kernel answers;
//! and where the trace is small enough to try everything, what it accepts is true.
//!
//! ```text
//! cargo fuzz run certify -- -dict=fuzz/dictionaries/certify -max_total_time=120
//! ```

#![no_main]

use certify::certify;
use evidence::{Certificate, Evidence};
use history::{Format, History, ReadOptions, ThinAir, TraceReader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Some((trace, line)) = text.rsplit_once('\n') else { return };
    let Some(history) = read(trace) else { return };
    let _ = Certificate::header(line);
    let Ok(certificate) = Certificate::from_json(line, &history) else { return };
    let written = certificate.to_json(&history);
    assert_eq!(Certificate::from_json(&written, &history).as_ref(), Ok(&certificate));
    if certify(&history, &certificate).is_ok() && history.len() <= 6 {
        let consistent = matches!(certificate.evidence, Evidence::Consistent(_));
        assert_eq!(oracle::allows(&history, certificate.model), consistent);
    }
});

/// The first trace of a text, whose reads may be of values that nobody wrote.
fn read(text: &str) -> Option<History> {
    let options = ReadOptions {
        format: Format::Text,
        thin_air: ThinAir::Violation,
        memory: Some(64 << 20),
        ..ReadOptions::default()
    };
    TraceReader::new(text.as_bytes(), "input", options).next_trace().ok().flatten()
}
