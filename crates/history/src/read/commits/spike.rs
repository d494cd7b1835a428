//! Commit logs of Spike (`spike --log-commits`), in the forms that its versions have printed them,
//! and of simulators that print the same.
//!
//! ```text
//! core   0: 3 0x0000000080000000 (0x00000297) x5  0x0000000080000000
//! core   1: 3 0x0000000080000010 (0x0005a503) x10 0x0000000000000001 mem 0x0000000080002000
//! core   0: 3 0x0000000080000014 (0x00b52023) mem 0x0000000080002000 0x00000001
//! 3 0x0000000080000018 (0x00000013) x 5 0x0000000000000000        (before 2020: no hart)
//! core   0: 0x0000000080000000 (0x00000297) auipc   t0, 0x0       (`-l`: skipped)
//! core   0: exception trap_load_access_fault, epc 0x…             (skipped, as is the line after)
//! ```
//!
//! A commit has the hart, the privilege, the program counter, the instruction, then registers with
//! their new values and `mem` with an address, for stores also with what was stored. An AMO has both.
//! Control and status registers (`c768_mstatus 0x…`) and vector registers count for nothing here.
//! Other lines are of the simulator.

use riscv::Register;

use super::words::{CommitRecord, LineCursor, LineError};
use super::{CommitLine, Lines};

/// Reads lines of Spike.
#[derive(Default)]
pub(in crate::read) struct Spike;

impl Lines for Spike {
    const HELP: &'static str = "a commit is `core   0: 3 0x80000000 (0x00b52023) mem 0x80002000 \
                                0x00000001`; other lines are skipped";

    fn hear(&mut self, line: &[u8], said: &mut CommitRecord) -> Result<CommitLine, LineError> {
        let mut words = LineCursor::new(line);
        words.skip_blanks();
        let hart = if words.takes(b"core") {
            words.skip_blanks();
            let Some(hart) = words.decimal() else { return Ok(CommitLine::Nothing) };
            if !words.takes(b":") {
                return Ok(CommitLine::Nothing);
            }
            words.skip_blanks();
            Some(hart)
        } else {
            None
        };
        if !is_commit(words.rest()) {
            return Ok(CommitLine::Nothing);
        }
        said.hart = hart;
        commit(&mut words, said)?;
        Ok(CommitLine::Commit)
    }
}

/// Whether a privilege and an address come next. What Spike says else after `core 0:` begins with an
/// address (the disassembly of `-l`) or a word.
pub(super) fn is_commit(rest: &[u8]) -> bool {
    matches!(rest, [b'0'..=b'3', b' ', b'0', b'x', ..])
}

/// A commit from its privilege on.
pub(super) fn commit(words: &mut LineCursor<'_>, said: &mut CommitRecord) -> Result<(), LineError> {
    const COMMIT: &str = "an address in hexadecimal";
    said.complete = true;
    words.at += 2;
    let (pc, digits) = words.hexadecimal().ok_or_else(|| words.expected(COMMIT))?;
    (said.pc, said.pc_digits) = (Some(pc), digits);
    words.skip_blanks();
    if !words.takes(b"(") {
        return Err(words.expected("`(` and the instruction"));
    }
    let start = words.at;
    let word = words.hexadecimal().and_then(|(word, _)| u32::try_from(word).ok());
    said.word = word.ok_or(LineError { at: start, expected: "an instruction of up to 32 bits" })?;
    if !words.takes(b")") {
        return Err(words.expected("`)`"));
    }
    while !words.ended() {
        effect(words, said)?;
    }
    Ok(())
}

/// A register with its value, or an access.
fn effect(words: &mut LineCursor<'_>, said: &mut CommitRecord) -> Result<(), LineError> {
    const EFFECT: &str = "a register, `mem` or the end of the line";
    let start = words.at;
    if words.takes(b"mem") {
        words.skip_blanks();
        let address = words.hexadecimal().ok_or_else(|| words.expected("an address"))?.0;
        words.skip_blanks();
        let value = if words.rest().starts_with(b"0x") { Some(wide(words)?) } else { None };
        said.memory.push((address, value.map(|value| value.0)));
        return Ok(());
    }
    match words.rest().first() {
        Some(&kind @ (b'x' | b'f')) => {
            words.at += 1;
            words.skip_blanks();
            let number = words.decimal().filter(|&number| number < 32);
            let number = number.ok_or(LineError { at: start, expected: EFFECT })? as u8;
            words.skip_blanks();
            let (value, _) = wide(words)?;
            let register = if kind == b'x' { Register::X(number) } else { Register::F(number) };
            said.writes.push((register, value));
            Ok(())
        }
        // `c768_mstatus 0x…`, `v2 0x…`, and `e32 m1 l4` of vectors.
        Some(b'c' | b'v' | b'e' | b'm' | b'l') => {
            let word = words.word();
            if word.len() < 2 || !word[1..].iter().any(u8::is_ascii_digit) {
                return Err(LineError { at: start, expected: EFFECT });
            }
            words.skip_blanks();
            if words.rest().starts_with(b"0x") {
                wide(words)?;
            }
            Ok(())
        }
        _ => Err(LineError { at: start, expected: EFFECT }),
    }
}

/// A value in hexadecimal, of which the lowest 64 bits count: registers may be wider.
fn wide(words: &mut LineCursor<'_>) -> Result<(u64, usize), LineError> {
    let start = words.at;
    let wrong = LineError { at: start, expected: "a value in hexadecimal" };
    if !words.takes(b"0x") {
        return Err(wrong);
    }
    let digits = words.rest().iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    words.at += digits.saturating_sub(16);
    words.bare_hexadecimal().ok_or(wrong)
}
