//! What Whisper writes: its trace (`--logfile`), and the memory events of its consistency checks
//! (`--commandlog`).
//!
//! The trace has a line for each register or place of memory that an instruction changed, all but
//! the last with a `+` at the end: number, hart, mode, program counter, instruction, what changed
//! (`r`, `f`, `v`, `c`: a register; `m`: memory), its number or address, the new value, the
//! disassembly, and the address of an access in brackets, virtual or virtual and physical.
//!
//! ```text
//! #7 0  M 0000000080000010 0005a503 r 000000000000000a 0000000000000001 lw x10, 0x0(x11) [0x80002000]
//! #8 0  M 0000000080000014 00b52023 m 0000000080002000 0000000000000001 sw x11, 0x0(x10) [0x80002000]
//! ```
//!
//! A memory event says when an access of the instruction with this number took place. The numbers of
//! a hart are program order. `step` says that an instruction was committed; if a hart has such lines,
//! others do not count. There is nothing about fences, annotations and dependencies, so a model is
//! asked about the accesses alone.
//!
//! ```text
//! hart=0 time=12 mread 7 0x80002000 4 0x1 e
//! hart=0 time=15 mbinsert 8 0x80002000 4 0x1
//! hart=0 time=16 step 1 8
//! ```

use std::collections::{BTreeMap, BTreeSet};

use riscv::Register;

use super::words::{CommitRecord, LineCursor, LineError, Plain};
use super::{CommitLine, Lines};

/// Reads lines of Whisper.
#[derive(Default)]
pub(in crate::read) struct Whisper {
    /// The number of lines so far.
    line: u64,
    /// By hart, number of the instruction, address and size.
    events: BTreeMap<(u64, u64, u64, u8), Event>,
    committed: BTreeSet<(u64, u64)>,
    /// The harts with `step` lines.
    stepping: BTreeSet<u64>,
}

#[derive(Clone, Copy, Default)]
struct Event {
    read: Option<u64>,
    written: Option<u64>,
    time: Option<u64>,
    line: u64,
}

impl Lines for Whisper {
    const HELP: &'static str = "a line is `#7 0 M 80000010 0005a503 r 0a 00000001 lw x10, 0(x11) \
                                [0x80002000]` or `hart=0 time=12 mread 7 0x80002000 4 0x1 e`";

    fn hear(&mut self, line: &[u8], said: &mut CommitRecord) -> Result<CommitLine, LineError> {
        self.line += 1;
        let mut words = LineCursor::new(line);
        words.skip_blanks();
        match words.rest() {
            [b'#', b'0'..=b'9', ..] => traced(&mut words, said),
            [b'h', b'a', b'r', b't', b'=', ..] | [b't', b'i', b'm', b'e', b'=', ..] => {
                self.event(&mut words)?;
                Ok(CommitLine::Nothing)
            }
            _ => Ok(CommitLine::Nothing),
        }
    }

    fn rest(&mut self, said: &mut CommitRecord) -> Option<u64> {
        loop {
            let ((hart, tag, address, size), event) = self.events.pop_first()?;
            if self.stepping.contains(&hart) && !self.committed.contains(&(hart, tag)) {
                continue;
            }
            said.hart = Some(hart);
            said.cycle = event.time;
            said.plain = Some(Plain { address, size, read: event.read, written: event.written });
            return Some(event.line);
        }
    }
}

/// A line of the trace.
fn traced(words: &mut LineCursor<'_>, said: &mut CommitRecord) -> Result<CommitLine, LineError> {
    words.at += 1;
    words.decimal().ok_or_else(|| words.expected("a number"))?;
    words.skip_blanks();
    said.hart = Some(words.decimal().ok_or_else(|| words.expected("a hart"))?);
    words.skip_blanks();
    words.word();
    words.skip_blanks();
    let (pc, digits) = words.bare_hexadecimal().ok_or_else(|| words.expected("an address"))?;
    (said.pc, said.pc_digits) = (Some(pc), if digits <= 8 { 8 } else { 16 });
    words.skip_blanks();
    let start = words.at;
    let word = words.bare_hexadecimal().and_then(|(word, _)| u32::try_from(word).ok());
    said.word = word.ok_or(LineError { at: start, expected: "an instruction of up to 32 bits" })?;
    said.complete = true;
    words.skip_blanks();
    let resource = words.word();
    words.skip_blanks();
    match resource {
        b"r" | b"f" | b"m" => {
            let (number, _) =
                words.bare_hexadecimal().ok_or_else(|| words.expected("a register or address"))?;
            words.skip_blanks();
            let (value, _) = words.bare_hexadecimal().ok_or_else(|| words.expected("a value"))?;
            match (resource, number) {
                (b"m", address) => said.memory.push((address, Some(value))),
                (b"r", 0) => {}
                (b"r", 1..32) => said.writes.push((Register::X(number as u8), value)),
                (b"f", 0..32) => said.writes.push((Register::F(number as u8), value)),
                _ => return Err(words.expected("a register from 0 to 1f")),
            }
        }
        b"v" | b"c" => {}
        _ => return Err(words.expected("`r`, `f`, `v`, `c` or `m`")),
    }
    let rest = words.rest().trim_ascii_end();
    let (rest, more) = match rest.strip_suffix(b"+") {
        Some(rest) => (rest.trim_ascii_end(), true),
        None => (rest, false),
    };
    if rest.ends_with(b"(exception)") || rest.ends_with(b"(interrupted)") {
        return Ok(CommitLine::Nothing);
    }
    // Where memory changed, its address is known.
    let stored = said.memory.iter().any(|(_, value)| value.is_some());
    let bracket = rest.strip_suffix(b"]").and_then(|text| {
        let start = text.iter().rposition(|&byte| byte == b'[')?;
        Some(&text[start + 1..])
    });
    if let (Some(inside), false) = (bracket, stored || !said.memory.is_empty()) {
        let mut address = LineCursor::new(inside);
        let first = address.hexadecimal();
        let physical = if address.takes(b":") { address.hexadecimal() } else { None };
        if let Some((number, _)) = physical.or(first) {
            said.memory.push((number, None));
        }
    }
    Ok(if more { CommitLine::More } else { CommitLine::Commit })
}

impl Whisper {
    /// A line of the command log.
    fn event(&mut self, words: &mut LineCursor<'_>) -> Result<(), LineError> {
        let (mut hart, mut time) = (0, None);
        loop {
            words.skip_blanks();
            if words.takes(b"hart=") {
                hart = words.number().ok_or_else(|| words.expected("a hart"))?;
            } else if words.takes(b"time=") {
                time = Some(words.number().ok_or_else(|| words.expected("a time"))?);
            } else {
                break;
            }
        }
        let reads = match words.word() {
            b"mread" | b"memory_model_read" => true,
            b"mbinsert"
            | b"merge_buffer_insert"
            | b"mbbypass"
            | b"mbypass"
            | b"merge_buffer_bypass" => false,
            b"step" => {
                self.step(words, hart);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let mut number = |expected| {
            words.skip_blanks();
            words.number().ok_or_else(|| words.expected(expected))
        };
        let tag = number("the number of an instruction")?;
        let address = number("an address")?;
        let size = number("a size of 1, 2, 4 or 8 bytes")?;
        if !matches!(size, 1 | 2 | 4 | 8) {
            return Err(words.expected("a size of 1, 2, 4 or 8 bytes"));
        }
        let value = number("a value of up to 64 bits")?;
        let event = self.events.entry((hart, tag, address, size as u8)).or_default();
        let side = if reads { &mut event.read } else { &mut event.written };
        *side = Some(value);
        event.time = time;
        event.line = self.line;
        Ok(())
    }

    /// `step 1 TAG`
    fn step(&mut self, words: &mut LineCursor<'_>, hart: u64) {
        words.skip_blanks();
        if words.decimal().is_none() {
            return;
        }
        words.skip_blanks();
        if let Some(tag) = words.number() {
            self.stepping.insert(hart);
            self.committed.insert((hart, tag));
        }
    }
}
