//! The events of m3, the Memory Marionette Model, as its bridge to a core records them.
//!
//! ```text
//! event kCreateMemop; hart_id 0; rob_id 8; rv_instruction 370947; branch_mask 0; timestamp 90; is_load true;
//! event kAddMemopAddress; hart_id 0; rob_id 8; memop_size 2; address 2147491840; memop_id 0; timestamp 100;
//! event kPerformLoad; hart_id 0; rob_id 8; load_rtl_data 1; timestamp 104;
//! event kCommitMemop; hart_id 0; rob_id 8; timestamp 110;
//! ```
//!
//! An instruction that accesses memory is created with its encoding, gets its address, and its data
//! (`kPerformLoad`, `kAddStoreData`), under the number of its entry in the reorder buffer, until it is
//! committed. Commits are program order; what is never committed was on a wrong path. Events of
//! branches and cache lines say nothing about values and are skipped. All numbers are decimal.
//!
//! Other instructions are not in the log, so dependencies through registers are not known, and a
//! model is asked about accesses, annotations and fences alone.

use rustc_hash::FxHashMap;

use super::words::{CommitRecord, LineCursor, LineError};
use super::{CommitLine, Lines};

/// Reads events of m3.
#[derive(Default)]
pub(in crate::read) struct M3 {
    /// By hart and entry of the reorder buffer.
    pending: FxHashMap<(u64, u64), Pending>,
}

/// An instruction that is not committed yet.
#[derive(Clone, Copy, Default)]
struct Pending {
    word: u32,
    address: Option<u64>,
    loaded: Option<u64>,
    stored: Option<u64>,
}

impl Lines for M3 {
    const HELP: &'static str = "a line is `event kPerformLoad; hart_id 0; rob_id 8; load_rtl_data 1; \
                                timestamp 104;`";

    fn hear(&mut self, line: &[u8], said: &mut CommitRecord) -> Result<CommitLine, LineError> {
        let mut words = LineCursor::new(line);
        words.skip_blanks();
        if !words.takes(b"event ") {
            return Ok(CommitLine::Nothing);
        }
        words.skip_blanks();
        let kind = word(&mut words);
        let fields = Fields::read(&mut words)?;
        let end = words.at;
        let missing = |expected| LineError { at: end, expected };
        let counts = matches!(
            kind,
            b"kCreateMemop"
                | b"kAddMemopAddress"
                | b"kPerformLoad"
                | b"kAddStoreData"
                | b"kCommitMemop"
        );
        if !counts {
            return Ok(CommitLine::Nothing);
        }
        let hart = fields.hart.ok_or(missing("`hart_id` and its number"))?;
        let entry = fields.entry.ok_or(missing("`rob_id` and its number"))?;
        let key = (hart, entry);
        if kind == b"kCreateMemop" {
            let word = fields.word.and_then(|word| u32::try_from(word).ok());
            let word = word.ok_or(missing("`rv_instruction` and an instruction of 32 bits"))?;
            self.pending.insert(key, Pending { word, ..Pending::default() });
            return Ok(CommitLine::Nothing);
        }
        // What was created before the log begins is not known.
        let Some(pending) = self.pending.get_mut(&key) else { return Ok(CommitLine::Nothing) };
        match kind {
            b"kAddMemopAddress" => {
                pending.address = Some(fields.address.ok_or(missing("`address` and its number"))?);
            }
            b"kPerformLoad" => {
                let loaded = fields.loaded.ok_or(missing("`load_rtl_data` and its number"))?;
                pending.loaded = Some(loaded);
            }
            b"kAddStoreData" => {
                let stored = fields.stored.ok_or(missing("`store_data` and its number"))?;
                pending.stored = Some(stored);
            }
            _ => {
                let done = *pending;
                self.pending.remove(&key);
                said.hart = Some(hart);
                said.cycle = fields.time;
                finish(done, said);
                return Ok(CommitLine::Commit);
            }
        }
        Ok(CommitLine::Nothing)
    }
}

/// What a committed instruction did.
fn finish(done: Pending, said: &mut CommitRecord) {
    said.word = done.word;
    said.loaded = done.loaded;
    said.operand = done.stored;
    if let Some(address) = done.address {
        said.memory.push((address, None));
    }
}

/// What comes next up to a blank or a semicolon.
fn word<'l>(words: &mut LineCursor<'l>) -> &'l [u8] {
    let rest = words.rest();
    let length =
        rest.iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b';').count();
    words.at += length;
    &rest[..length]
}

/// The fields of an event that count.
#[derive(Default)]
struct Fields {
    hart: Option<u64>,
    entry: Option<u64>,
    word: Option<u64>,
    address: Option<u64>,
    loaded: Option<u64>,
    stored: Option<u64>,
    time: Option<u64>,
}

impl Fields {
    /// `; key number; key number; …`
    fn read(words: &mut LineCursor<'_>) -> Result<Self, LineError> {
        let mut fields = Fields::default();
        loop {
            words.skip_blanks();
            while words.takes(b";") {
                words.skip_blanks();
            }
            let key = word(words);
            if key.is_empty() {
                return Ok(fields);
            }
            words.skip_blanks();
            let field = match key {
                b"hart_id" => &mut fields.hart,
                b"rob_id" => &mut fields.entry,
                b"rv_instruction" => &mut fields.word,
                b"address" => &mut fields.address,
                b"load_rtl_data" => &mut fields.loaded,
                b"store_data" => &mut fields.stored,
                b"timestamp" => &mut fields.time,
                _ => {
                    word(words);
                    continue;
                }
            };
            *field = Some(words.number().ok_or_else(|| words.expected("a number"))?);
        }
    }
}
