//! RVFI, the RISC-V formal interface, in three forms of text.
//!
//! The columns of the tracers of Ibex and of the CV32E40 cores, one file a hart:
//!
//! ```text
//! Time   Cycle  PC        Instr     Decoded instruction  Register and memory contents
//!   142     67  0000015c  c622      c.swsp  x8,12(x2)    x2:0x00002000  x8:0x1 PA:0x0000200c store:0x1
//!   144     68  0000015e  4532      c.lwsp  x10,12(x2)   x2:0x00002000 x10=0x1 PA:0x0000200c load:0x1
//! ```
//!
//! The commits of CVA6's tracer, which are those of [Spike](super::spike) without the hart, each with
//! a line of disassembly before it:
//!
//! ```text
//! core   0: 0x0000000080000010 (0x00b52023) DASM(00b52023)
//! 3 0x0000000080000010 (0x00b52023) mem 0x0000000080002000 0x0000000000000001
//! ```
//!
//! The signals by name, as a test bench prints them, in any order, with or without `rvfi_`:
//!
//! ```text
//! rvfi hart=1 cycle=67 insn=0005a503 pc_rdata=80000010 rd_addr=10 rd_wdata=1 mem_addr=80002000 mem_rmask=f mem_rdata=1
//! ```
//!
//! Instructions that trapped (`-->`, `trap=1`) count for nothing, and so do other lines.

use riscv::Register;

use super::spike;
use super::words::{CommitRecord, LineCursor, LineError};
use super::{CommitLine, Lines};

/// Reads lines of RVFI tracers.
#[derive(Default)]
pub(in crate::read) struct Rvfi;

impl Lines for Rvfi {
    const HELP: &'static str = "a line is `142 67 0000015c c622 c.swsp … PA:0x0000200c store:0x1`, \
                                `3 0x80000010 (0x00b52023) mem 0x80002000 0x1` or \
                                `rvfi insn=0005a503 pc_rdata=80000010 …`";

    fn hear(&mut self, line: &[u8], said: &mut CommitRecord) -> Result<CommitLine, LineError> {
        let mut words = LineCursor::new(line);
        words.skip_blanks();
        if spike::is_commit(words.rest()) {
            spike::commit(&mut words, said)?;
            return Ok(CommitLine::Commit);
        }
        if is_named(words.rest()) {
            return named(&mut words, said);
        }
        match columns(&mut words, said) {
            Some(()) => contents(&mut words, said),
            None => Ok(CommitLine::Nothing),
        }
    }
}

/// Time, cycle, program counter and instruction, if that is what a line begins with.
fn columns(words: &mut LineCursor<'_>, said: &mut CommitRecord) -> Option<()> {
    words.decimal()?;
    // A unit, perhaps.
    words.word();
    words.skip_blanks();
    let cycle = words.decimal()?;
    words.skip_blanks();
    let (pc, digits) = words.bare_hexadecimal().filter(|(_, digits)| matches!(digits, 8 | 16))?;
    words.skip_blanks();
    let (word, _) = words.bare_hexadecimal().filter(|(_, digits)| matches!(digits, 4 | 8))?;
    said.cycle = Some(cycle);
    (said.pc, said.pc_digits) = (Some(pc), digits);
    said.word = word as u32;
    said.complete = true;
    Some(())
}

/// Registers and memory, behind the decoded instruction.
fn contents(words: &mut LineCursor<'_>, said: &mut CommitRecord) -> Result<CommitLine, LineError> {
    let mut address = None;
    let mut stored = None;
    while !words.ended() {
        let start = words.at;
        let word = words.word();
        if word.starts_with(b"-->") {
            return Ok(CommitLine::Nothing);
        }
        let mut value = LineCursor::new(word);
        let name = word.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        value.at = name;
        let separator = value.rest().first().copied();
        value.at += usize::from(separator.is_some());
        let known = match (&word[..name], separator) {
            (b"PA" | b"store" | b"load", Some(b':')) => true,
            ([b'x' | b'f', number @ ..], Some(b'=')) => number.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        if !known {
            continue;
        }
        let wrong = LineError { at: start + value.at, expected: "a value in hexadecimal" };
        let number = masked(&mut value).ok_or(wrong)?;
        match &word[..name] {
            b"PA" => address = Some(number),
            b"store" => stored = Some(number),
            b"load" => said.loaded = Some(number),
            register => {
                let wrong = LineError { at: start, expected: "a register from x0 to x31" };
                said.writes.push((self::register(register).ok_or(wrong)?, number));
            }
        }
    }
    if let Some(address) = address {
        said.memory.push((address, stored));
    }
    Ok(CommitLine::Commit)
}

/// `x10` or `f10`.
fn register(name: &[u8]) -> Option<Register> {
    let number = LineCursor { line: name, at: 1 }.decimal().filter(|&number| number < 32)? as u8;
    match name.first() {
        Some(b'x') => Some(Register::X(number)),
        Some(b'f') => Some(Register::F(number)),
        _ => None,
    }
}

/// `0x0000002a` or `0x??????2a`.
fn masked(words: &mut LineCursor<'_>) -> Option<u64> {
    if !words.takes(b"0x") {
        return None;
    }
    while words.takes(b"?") {}
    words.bare_hexadecimal().filter(|_| words.at == words.line.len()).map(|(number, _)| number)
}

/// Whether a line gives signals by name.
fn is_named(line: &[u8]) -> bool {
    line.starts_with(b"rvfi") || line.starts_with(b"insn=")
}

/// Signals by name.
fn named(words: &mut LineCursor<'_>, said: &mut CommitRecord) -> Result<CommitLine, LineError> {
    const SEPARATORS: &[u8] = b" \t\r,;:";
    let mut masks = [0_u64; 2];
    let mut data = [0_u64; 2];
    let (mut address, mut word, mut rd, mut result) = (None, None, None, None);
    let mut committed = true;
    loop {
        while words.rest().first().is_some_and(|byte| SEPARATORS.contains(byte)) {
            words.at += 1;
        }
        let start = words.at;
        let rest = words.rest();
        if rest.is_empty() {
            break;
        }
        let length = rest.iter().take_while(|b| !SEPARATORS.contains(b) && **b != b'=').count();
        words.at += length.max(1);
        let name = rest[..length].strip_prefix(b"rvfi_").unwrap_or(&rest[..length]);
        if !words.takes(b"=") {
            continue;
        }
        let decimal = matches!(
            name,
            b"hart"
                | b"hartid"
                | b"core"
                | b"cycle"
                | b"time"
                | b"order"
                | b"rd_addr"
                | b"trap"
                | b"valid"
                | b"intr"
                | b"halt"
                | b"mode"
                | b"ixl"
                | b"rs1_addr"
                | b"rs2_addr"
        );
        let number = if words.rest().starts_with(b"0x") {
            words.hexadecimal().map(|(number, _)| (number, 0))
        } else if decimal {
            words.decimal().map(|number| (number, 0))
        } else {
            words.bare_hexadecimal()
        };
        let Some((number, digits)) = number else {
            return Err(LineError { at: words.at.max(start), expected: "a number" });
        };
        match name {
            b"hart" | b"hartid" | b"core" => said.hart = Some(number),
            b"cycle" | b"time" => said.cycle = Some(number),
            b"insn" => word = u32::try_from(number).ok(),
            b"pc_rdata" | b"pc" => {
                said.pc = Some(number);
                said.pc_digits = if digits == 8 { 8 } else { 16 };
            }
            b"rd_addr" => rd = Some(number),
            b"rd_wdata" => result = Some(number),
            b"mem_addr" => address = Some(number),
            b"mem_rmask" => masks[0] = number,
            b"mem_wmask" => masks[1] = number,
            b"mem_rdata" => data[0] = number,
            b"mem_wdata" => data[1] = number,
            b"trap" => committed &= number == 0,
            b"valid" => committed &= number != 0,
            _ => {}
        }
    }
    let Some(word) = word else {
        return Err(words.expected("`insn=` with an instruction of up to 32 bits"));
    };
    if !committed {
        return Ok(CommitLine::Nothing);
    }
    said.word = word;
    said.complete = true;
    if let (Some(rd @ 1..32), Some(result)) = (rd, result) {
        said.writes.push((Register::X(rd as u8), result));
    }
    if let (Some(address), true) = (address, masks != [0, 0]) {
        // The address may be that of the word in which the bytes of the mask are.
        let shift = (masks[0] | masks[1]).trailing_zeros().min(7);
        let moved = |data: u64| data >> (8 * shift);
        let stored = (masks[1] != 0).then_some(moved(data[1]));
        said.memory.push((address.wrapping_add(u64::from(shift)), stored));
        said.loaded = (masks[0] != 0).then_some(moved(data[0]));
    }
    Ok(CommitLine::Commit)
}
