//! Accesses and fences from their text, for logs that have the text of instructions and not their
//! encodings: the other way round than `text.rs`, from the same table. Instructions that do neither
//! are not known here.
//!
//! Assemblers and simulators spell names differently: `amoadd.w.aq` is `amoadd_w_aq` in gem5, and a
//! compressed instruction (`c.lwsp a0,8(sp)`) is the one that it stands for.

use crate::register::Register;
use crate::table::{Form, Row, TABLE};

/// The encoding of an access or a fence; of a compressed one, that of the instruction it stands for.
///
/// ```
/// use tribunal_riscv::{Xlen, assemble, decode};
///
/// let word = assemble("c_ldsp a1, 8(sp)").unwrap();
/// assert_eq!(decode(word, Xlen::Rv64).unwrap().text(0), "ld a1,8(sp)");
/// assert_eq!(assemble("add a0, a0, a1"), None);
/// ```
pub fn assemble(text: &str) -> Option<u32> {
    let text = text.trim();
    let (name, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let (row, annotation) = named(name)?;
    let operands: Vec<&str> = match operands.trim() {
        "" => Vec::new(),
        operands => operands.split(',').map(str::trim).collect(),
    };
    let fields = match (row.form, operands.as_slice()) {
        (Form::Load(..) | Form::LoadFloat(_), [to, at]) => {
            let (offset, base) = offset(at)?;
            destination(register(to, matches!(row.form, Form::LoadFloat(_)))?)
                | base << 15
                | offset << 20
        }
        (Form::Store(_) | Form::StoreFloat(_), [from, at]) => {
            let (offset, base) = offset(at)?;
            let from = register(from, matches!(row.form, Form::StoreFloat(_)))?;
            base << 15 | from << 20 | (offset >> 5) << 25 | (offset & 31) << 7
        }
        (Form::LoadReserved, [to, at]) => destination(register(to, false)?) | base(at)? << 15,
        (Form::StoreConditional | Form::Amo | Form::AmoCompare, [to, from, at]) => {
            destination(register(to, false)?) | register(from, false)? << 20 | base(at)? << 15
        }
        (Form::Fence, [before, after]) => kinds(before)? << 24 | kinds(after)? << 20,
        (Form::FenceTso | Form::FenceInstructions, []) => 0,
        _ => return None,
    };
    Some(row.bits | fields | annotation)
}

/// The row of an access or a fence by its name, and the bits `aq` and `rl`.
fn named(name: &str) -> Option<(&'static Row, u32)> {
    let name = name.to_ascii_lowercase().replace('_', ".");
    let (name, is_compressed) = match name.strip_prefix("c.") {
        Some(rest) => (rest, true),
        None => (name.as_str(), false),
    };
    let suffixes = [(".aqrl", 3 << 25), (".aq", 1 << 26), (".rl", 1 << 25)];
    let annotated = suffixes.iter().find_map(|&(end, bits)| Some((name.strip_suffix(end)?, bits)));
    let (name, annotation) = annotated.unwrap_or((name, 0));
    let row = |name: &str| TABLE.iter().find(|row| row.name == name && is_known(row.form));
    let found = row(name).or_else(|| row(name.strip_suffix("sp").filter(|_| is_compressed)?))?;
    let may_be_annotated = matches!(
        found.form,
        Form::LoadReserved | Form::StoreConditional | Form::Amo | Form::AmoCompare
    );
    (annotation == 0 || may_be_annotated).then_some((found, annotation))
}

fn is_known(form: Form) -> bool {
    matches!(
        form,
        Form::Load(..)
            | Form::LoadFloat(_)
            | Form::Store(_)
            | Form::StoreFloat(_)
            | Form::LoadReserved
            | Form::StoreConditional
            | Form::Amo
            | Form::AmoCompare
            | Form::Fence
            | Form::FenceTso
            | Form::FenceInstructions
    )
}

fn destination(number: u32) -> u32 {
    number << 7
}

/// The number of an integer or of a floating-point register.
fn register(name: &str, floating: bool) -> Option<u32> {
    match name.parse().ok()? {
        Register::X(number) if !floating => Some(number.into()),
        Register::F(number) if floating => Some(number.into()),
        _ => None,
    }
}

/// `8(sp)`: an offset of 12 bits and a register.
fn offset(text: &str) -> Option<(u32, u32)> {
    let (offset, base) = text.strip_suffix(')')?.split_once('(')?;
    let offset: i32 = offset.trim().parse().ok()?;
    let fits = (-2048..2048).contains(&offset);
    fits.then_some((offset as u32 & 0xfff, register(base.trim(), false)?))
}

/// `(a0)`
fn base(text: &str) -> Option<u32> {
    register(text.strip_prefix('(')?.strip_suffix(')')?.trim(), false)
}

/// `rw` of a fence.
fn kinds(text: &str) -> Option<u32> {
    let bit = |letter| match letter {
        'i' => Some(8),
        'o' => Some(4),
        'r' => Some(2),
        'w' => Some(1),
        _ => None,
    };
    text.chars().try_fold(0, |bits, letter| Some(bits | bit(letter)?)).filter(|&bits| bits != 0)
}
