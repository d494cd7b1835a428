//! What gem5 prints of the instructions that a RISC-V system executes (`--debug-flags=Exec`), in the
//! order in which its CPU models commit them.
//!
//! ```text
//!   2500: system.cpu0: T0 : 0x10094 @main+4    : sw a5, 0(a4)      : MemWrite :  D=0x000000000000002a A=0x80002000
//!   3000: system.cpu1 T0 : @main+8    : c_lw a0, 0(a1)             : MemRead :  D=0x0000000000000001 A=0x80002040
//!   3500: system.cpu0: T0 : 0x10098    : amoadd_w_aq a0, a1, (a2)
//!   3500: system.cpu0: T0 : 0x10098. 0 :   amoadd_w[l] a0, a1, (a2) : MemRead :  D=0x0000000000000001 A=0x80002040
//!   3500: system.cpu0: T0 : 0x10098. 1 :   0x04b6252f fence         : No_OpClass :
//! ```
//!
//! Tick, CPU and thread of it, program counter or symbol, disassembly, class, result (`D=`) and address
//! (`A=`). The encoding is not there, so that accesses and fences are assembled again from their text;
//! of other instructions only the result counts, which the operand of a later atomic may need. Their
//! sources are not followed, since gem5 does not print all of them for compressed instructions: there
//! are no dependencies. An atomic is printed as an instruction, which has `aq` and `rl`, and as
//! micro-operations, of which one has the result. Other lines are of the simulator.

use riscv::{AccessKind, Effect, Instruction, Register, Xlen, assemble, decode};
use rustc_hash::{FxHashMap, FxHashSet};

use super::words::{CommitRecord, LineCursor, LineError};
use super::{CommitLine, Lines};

/// Reads lines of gem5.
#[derive(Default)]
pub(in crate::read) struct Gem5 {
    cpus: FxHashMap<Vec<u8>, Cpu>,
    /// The harts that have a CPU.
    taken: FxHashSet<u64>,
}

struct Cpu {
    hart: u64,
    /// The instruction whose micro-operations come: where it is, and its encoding if it accesses memory.
    instruction: Option<(Vec<u8>, Option<u32>)>,
}

/// The parts of a line.
struct Parts<'l> {
    tick: u64,
    /// The name of the CPU and its thread.
    cpu: (&'l [u8], u64),
    /// The program counter or symbol, without the number of a micro-operation.
    place: &'l [u8],
    is_micro: bool,
    /// The disassembly, and where it begins in the line.
    text: &'l [u8],
    at: usize,
    /// What was executed: class, result, address. An instruction that only introduces its
    /// micro-operations has none.
    executed: Option<&'l [u8]>,
}

const ACCESS: &str = "a load, a store, an atomic or a fence of RISC-V";
const MACRO: &str = "the instruction in a line before its micro-operations (debug flag ExecMacro)";
const COMPARE: &str = "an atomic other than `amocas`: the log does not say whether that one wrote";
const RESULT: &str = "an access with its result, `D=` (debug flags ExecResult and -ExecFaulting)";
const CONDITIONAL: &str =
    "a register other than `zero`: else the log does not say whether the store succeeded";

impl Lines for Gem5 {
    const HELP: &'static str = "a line is `2500: system.cpu0: T0 : 0x10094 : sw a5, 0(a4) : \
                                MemWrite : D=0x2a A=0x80002000`, as `--debug-flags=Exec` prints it \
                                for RISC-V";

    fn hear(&mut self, line: &[u8], said: &mut CommitRecord) -> Result<CommitLine, LineError> {
        let Some(parts) = parts(line) else { return Ok(CommitLine::Nothing) };
        let cpu = self.cpu(parts.cpu);
        let text = std::str::from_utf8(parts.text).unwrap_or_default();
        let Some(executed) = parts.executed else {
            cpu.instruction = Some((parts.place.to_vec(), assemble(text)));
            return Ok(CommitLine::Nothing);
        };
        said.hart = Some(cpu.hart);
        said.cycle = Some(parts.tick);
        said.pc = LineCursor::new(parts.place).hexadecimal().map(|(pc, _)| pc);
        said.pc_digits = 16;
        let (result, address) = (field(executed, b"D="), field(executed, b"A="));
        // The order that an atomic keeps is in its `aq` and `rl`.
        if parts.is_micro && parts.text.ends_with(b" fence") {
            return Ok(CommitLine::Nothing);
        }
        // The micro-operation of an atomic is called `amoadd_w[l]`.
        let mut word = assemble(&text.replacen("[l]", "", 1));
        let wrong = |expected| LineError { at: parts.at, expected };
        if parts.is_micro && word.is_some_and(is_atomic) {
            let whole = cpu.instruction.as_ref().filter(|(place, _)| place == parts.place);
            word = Some(whole.and_then(|(_, word)| *word).ok_or(wrong(MACRO))?);
        }
        match word.and_then(|word| Some((word, decode(word, Xlen::Rv64)?))) {
            Some((word, instruction)) => {
                said.word = word;
                effects(&instruction, result, address, said).map_err(wrong)?;
            }
            None if address.is_some() => return Err(wrong(ACCESS)),
            None => computed(text, result, said),
        }
        Ok(CommitLine::Commit)
    }
}

impl Gem5 {
    /// The CPU of this name. Its hart has the last number in the name, if no other CPU has it. CPUs
    /// that gem5 switches to during a run go on with the harts of those that they replace.
    fn cpu(&mut self, (name, thread): (&[u8], u64)) -> &mut Cpu {
        let mut key = match name.windows(11).position(|part| part == b"switch_cpus") {
            Some(at) => {
                let (before, after) = (&name[..at], &name[at + 11..]);
                let after =
                    if after.starts_with(b"_1") && after.len() > 2 { &after[2..] } else { after };
                [before, b"cpu", after].concat()
            }
            None => name.to_vec(),
        };
        key.extend_from_slice(format!(" T{thread}").as_bytes());
        let taken = &mut self.taken;
        self.cpus.entry(key).or_insert_with(|| {
            let digits = |byte: &u8| byte.is_ascii_digit();
            let end = name.iter().rposition(&digits).map_or(0, |at| at + 1);
            let start = name[..end].iter().rposition(|byte| !digits(byte)).map_or(0, |at| at + 1);
            let wanted = LineCursor::new(&name[start..end]).decimal().unwrap_or(0);
            let hart = if taken.contains(&wanted) {
                (0..).find(|number| !taken.contains(number)).unwrap_or(wanted)
            } else {
                wanted
            };
            taken.insert(hart);
            Cpu { hart, instruction: None }
        })
    }
}

/// The parts of a line, if it is about an instruction.
fn parts(line: &[u8]) -> Option<Parts<'_>> {
    let mut words = LineCursor::new(line);
    words.skip_blanks();
    let tick = words.decimal().filter(|_| words.takes(b":"))?;
    words.skip_blanks();
    let name = words.word();
    let name = name.strip_suffix(b":").unwrap_or(name);
    let mut thread = 0;
    loop {
        words.skip_blanks();
        let start = words.at;
        match words.word() {
            // An address space, and whether it was speculative, in some versions.
            [b'A', number @ ..] if is_number(number) => {}
            b"+" | b"-" => {}
            [b'T', number @ ..] if is_number(number) => {
                thread = LineCursor::new(number).decimal()?;
                words.skip_blanks();
                words.takes(b":").then_some(())?;
            }
            [b'0', b'x', ..] | [b'@', ..] => {
                words.at = start;
                break;
            }
            _ => return None,
        }
    }
    let length = separator(words.rest())?;
    let (place, is_micro) = place(&words.rest()[..length]);
    words.at += length + 3;
    words.skip_blanks();
    let at = words.at;
    let rest = words.rest();
    let (text, executed) = match separator(rest) {
        Some(length) => (&rest[..length], Some(&rest[length + 3..])),
        None => match rest.trim_ascii_end().strip_suffix(b" :") {
            Some(text) => (text, Some(&b""[..])),
            None => (rest, None),
        },
    };
    let text = text.trim_ascii_end();
    Some(Parts { tick, cpu: (name, thread), place, is_micro, text, at, executed })
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Where ` : ` is.
fn separator(text: &[u8]) -> Option<usize> {
    text.windows(3).position(|three| three == b" : ")
}

/// `0x10098. 1`: a place, and whether a number of a micro-operation follows it. Of an instruction three
/// blanks follow, which distinguishes a symbol with dots from a micro-operation.
fn place(text: &[u8]) -> (&[u8], bool) {
    let place = text.trim_ascii_end();
    let digits = place.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let number = place[..place.len() - digits].trim_ascii_end();
    match number.strip_suffix(b".") {
        Some(before) if digits > 0 && text.len() == place.len() => (before, true),
        _ => (place, false),
    }
}

/// The value of a field in hexadecimal; `None` for the results of vectors.
fn field(executed: &[u8], name: &[u8]) -> Option<u64> {
    let mut fields = executed.split(|byte| byte.is_ascii_whitespace());
    let value = fields.find_map(|field| field.strip_prefix(name))?;
    let mut words = LineCursor::new(value);
    words.hexadecimal().filter(|_| words.at == value.len()).map(|(number, _)| number)
}

fn is_atomic(word: u32) -> bool {
    word & 0x7f == 0x2f
}

/// What an access or a fence did. The result of a store is what it stored, that of a conditional one
/// whether it succeeded, that of an atomic what it read.
fn effects(
    instruction: &Instruction,
    result: Option<u64>,
    address: Option<u64>,
    said: &mut CommitRecord,
) -> Result<(), &'static str> {
    let Effect::Access(access) = instruction.effect else { return Ok(()) };
    let result = result.ok_or(RESULT)?;
    let mut stored = None;
    match access.kind {
        AccessKind::Store => stored = Some(result),
        AccessKind::StoreConditional if instruction.writes.is_none() => return Err(CONDITIONAL),
        AccessKind::AmoCompare => return Err(COMPARE),
        AccessKind::StoreConditional => {}
        AccessKind::Load | AccessKind::LoadReserved | AccessKind::Amo => {
            said.loaded = Some(result);
        }
    }
    if let Some(register) = instruction.writes {
        said.writes.push((register, result));
    }
    if let Some(address) = address {
        said.memory.push((address, stored));
    }
    Ok(())
}

/// What another instruction left in a register: the first operand, but for calls. Where it is not
/// clear which register changed, what is known of all of them is forgotten.
fn computed(text: &str, result: Option<u64>, said: &mut CommitRecord) {
    let (name, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let first = operands.split(',').next().unwrap_or_default().trim();
    let written = match name {
        "c_jalr" | "c_jal" => Some(Register::X(1)),
        _ => first.parse().ok(),
    };
    match (result, written) {
        (Some(result), Some(register)) if register != Register::ZERO => {
            said.writes.push((register, result));
        }
        (Some(_), None) => said.forgets = true,
        // A system call changes registers, and the log does not say which.
        (None, None) => {
            said.forgets = matches!(name, "ecall" | "ebreak" | "c_ebreak" | "mret" | "sret");
        }
        _ => {}
    }
}
