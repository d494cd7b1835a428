//! What the fuzz targets share.
//!
//! From the root of the project, with `cargo install cargo-fuzz`:
//!
//! ```text
//! cargo fuzz run text -- -dict=fuzz/dictionaries/text -max_total_time=120
//! ```
//!
//! On a stable toolchain, set `RUSTC_BOOTSTRAP=1`: the sanitizers are nightly options.

use history::{
    CommitOptions, DiscardedAmo, Format, History, Lines, ReadOptions, ThinAir, TraceReader, write_jsonl, write_text,
};

/// Reads arbitrary bytes; whatever is read must come back equal from both writers, and whatever is
/// refused must be refused politely.
pub fn read_and_write_back(bytes: &[u8], format: Format) {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let thin_air = if first & 1 == 0 { ThinAir::Malformed } else { ThinAir::Violation };
    let options = ReadOptions {
        format,
        thin_air,
        memory: Some(64 << 20),
        axe_addresses: first & 2 != 0,
        ..ReadOptions::default()
    };
    let mut by_bytes = TraceReader::new(Dripping(bytes), "input", options);
    for trace in TraceReader::new(bytes, "input", options) {
        let dripped = by_bytes.next();
        assert_eq!(Some(&trace), dripped.as_ref(), "what arrives slowly says the same");
        match trace {
            Ok(history) => write_back(&history, thin_air),
            Err(error) => {
                let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
                assert!((1..=lines).contains(&error.line), "{error}");
                assert!((1..=bytes.len() as u64 + 1).contains(&error.column), "{error}");
                assert!(error.render(true).starts_with("\x1b[1minput:"));
            }
        }
    }
    assert!(by_bytes.next().is_none());
}

/// Reads arbitrary bytes as a commit log, with options that the first byte chooses.
pub fn read_log(bytes: &[u8], format: Format) {
    let Some((&first, bytes)) = bytes.split_first() else { return };
    let chosen = |bit: u8| first & 1 << bit != 0;
    let commits = CommitOptions {
        shared_only: chosen(1),
        keep_prefix: chosen(2),
        skip_unknown: chosen(3),
        discarded_amo: [DiscardedAmo::Refused, DiscardedAmo::Recorded, DiscardedAmo::Store]
            [usize::from(first >> 4 & 3) % 3],
        xlen: None,
    };
    let thin_air = if chosen(0) { ThinAir::Violation } else { ThinAir::Malformed };
    let memory = Some(64 << 20);
    let options = ReadOptions { format, thin_air, memory, commits, ..ReadOptions::default() };
    match TraceReader::new(bytes, "input", options).next_trace() {
        Ok(Some(history)) => write_back(&history, thin_air),
        Ok(None) => {}
        Err(error) => assert!(error.line > 0 && error.column > 0, "{error}"),
    }
}

fn write_back(history: &History, thin_air: ThinAir) {
    same_when_written(history, thin_air);
    let all = history.retain(|_| true, Lines::All).expect("nothing is lost");
    assert_eq!(all.len(), history.len());
    if let Ok(half) = history.retain(|id| id.index() % 2 == 0, Lines::Supported) {
        assert_eq!(half.len(), history.len().div_ceil(2));
        same_when_written(&half, thin_air);
    }
}

fn same_when_written(history: &History, thin_air: ThinAir) {
    let mut text = Vec::new();
    write_text(history, &mut text).expect("memory takes everything");
    assert_eq!(&read_one(&text, Format::Text, thin_air), history);
    let mut lines = Vec::new();
    write_jsonl(history, &mut lines).expect("memory takes everything");
    assert_eq!(&read_one(&lines, Format::JsonLines, thin_air), history);
}

/// The one trace of an input that was just written.
fn read_one(bytes: &[u8], format: Format, thin_air: ThinAir) -> History {
    let options = ReadOptions { format, thin_air, ..ReadOptions::default() };
    let mut traces = TraceReader::new(bytes, "written", options);
    let history = traces.next_trace().unwrap_or_else(|error| panic!("{}", error.render(false)));
    assert!(traces.next_trace().is_ok_and(|rest| rest.is_none()));
    history.expect("what was written is a trace")
}

/// Bytes that come one at a time.
struct Dripping<'b>(&'b [u8]);

impl std::io::Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(1);
        self.0.read(&mut buffer[..length])
    }
}
