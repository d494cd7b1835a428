//! An instruction as text, in the syntax of the GNU disassembler without aliases. A compressed
//! instruction is shown as the one that it stands for, control and status registers by number.

use crate::instruction::{Effect, Fence, Instruction};
use crate::register::Register;
use crate::table::Form;

impl Instruction {
    /// Its text, where `pc` is its address.
    ///
    /// ```
    /// use tribunal_riscv::{Xlen, decode};
    ///
    /// let text = |word| decode(word, Xlen::Rv64).unwrap().text(0x1000);
    /// assert_eq!(text(0x0c55_a52f), "amoswap.w.aq a0,t0,(a1)");
    /// assert_eq!(text(0x0330_000f), "fence rw,rw");
    /// assert_eq!(text(0xfe05_1ee3), "bne a0,zero,0xffc");
    /// ```
    pub fn text(&self, pc: u64) -> String {
        let name = self.full_name();
        let operands = self.operands(pc);
        if operands.is_empty() { name } else { format!("{name} {operands}") }
    }

    /// Its name with its annotation.
    fn full_name(&self) -> String {
        let suffix = match self.effect {
            Effect::Access(access) => match (access.acquire, access.release) {
                (false, false) => "",
                (true, false) => ".aq",
                (false, true) => ".rl",
                (true, true) => ".aqrl",
            },
            _ => "",
        };
        format!("{}{suffix}", self.name)
    }

    fn operands(&self, pc: u64) -> String {
        let fields = self.fields;
        let x = |number| Register::X(number);
        let f = |number| Register::F(number);
        let (rd, rs1, rs2) = (fields.rd(), fields.rs1(), fields.rs2());
        let target = |offset: i64| format!("{:#x}", pc.wrapping_add(offset as u64));
        match self.form {
            Form::Register => format!("{},{},{}", x(rd), x(rs1), x(rs2)),
            Form::Immediate => format!("{},{},{}", x(rd), x(rs1), fields.immediate()),
            Form::Shift => format!("{},{},{:#x}", x(rd), x(rs1), fields.bits(20, 6)),
            Form::Upper => format!("{},{:#x}", x(rd), fields.0 >> 12),
            Form::Jal => format!("{},{}", x(rd), target(fields.jump_offset())),
            Form::Jalr => format!("{},{}({})", x(rd), fields.immediate(), x(rs1)),
            Form::Branch => format!("{},{},{}", x(rs1), x(rs2), target(fields.branch_offset())),
            Form::Load(..) => format!("{},{}({})", x(rd), fields.immediate(), x(rs1)),
            Form::LoadFloat(_) => format!("{},{}({})", f(rd), fields.immediate(), x(rs1)),
            Form::Store(_) => format!("{},{}({})", x(rs2), fields.store_offset(), x(rs1)),
            Form::StoreFloat(_) => format!("{},{}({})", f(rs2), fields.store_offset(), x(rs1)),
            Form::Fence => format!("{},{}", kinds(fields.bits(24, 4)), kinds(fields.bits(20, 4))),
            Form::FenceTso | Form::FenceInstructions | Form::System => String::new(),
            Form::FenceOfTranslations => format!("{},{}", x(rs1), x(rs2)),
            Form::Csr => format!("{},{:#x},{}", x(rd), fields.bits(20, 12), x(rs1)),
            Form::CsrImmediate => format!("{},{:#x},{rs1}", x(rd), fields.bits(20, 12)),
            Form::LoadReserved => format!("{},({})", x(rd), x(rs1)),
            Form::StoreConditional | Form::Amo | Form::AmoCompare => {
                format!("{},{},({})", x(rd), x(rs2), x(rs1))
            }
            Form::FloatFused => {
                let sources = [f(rs1), f(rs2), f(fields.rs3())];
                format!("{},{},{},{}{}", f(rd), sources[0], sources[1], sources[2], self.rounding())
            }
            Form::FloatRounded => format!("{},{},{}{}", f(rd), f(rs1), f(rs2), self.rounding()),
            Form::Float => format!("{},{},{}", f(rd), f(rs1), f(rs2)),
            Form::FloatUnary => format!("{},{}{}", f(rd), f(rs1), self.rounding()),
            Form::FloatCompare => format!("{},{},{}", x(rd), f(rs1), f(rs2)),
            Form::FloatToInteger => format!("{},{}{}", x(rd), f(rs1), self.rounding()),
            Form::FloatMove => format!("{},{}", x(rd), f(rs1)),
            Form::IntegerToFloat => format!("{},{}{}", f(rd), x(rs1), self.rounding()),
            Form::IntegerMove => format!("{},{}", f(rd), x(rs1)),
        }
    }

    /// How it rounds, if it does not round as `frm` says.
    fn rounding(&self) -> &'static str {
        match self.fields.bits(12, 3) {
            0 => ",rne",
            1 => ",rtz",
            2 => ",rdn",
            3 => ",rup",
            4 => ",rmm",
            7 => "",
            _ => ",unknown",
        }
    }
}

/// The kinds of accesses that a fence orders, of devices and of memory.
fn kinds(bits: u32) -> String {
    let letters = [(8, 'i'), (4, 'o'), (2, 'r'), (1, 'w')];
    let text: String = letters.iter().filter(|(bit, _)| bits & bit != 0).map(|&(_, c)| c).collect();
    if text.is_empty() { "unknown".to_owned() } else { text }
}

impl Fence {
    /// Whether it orders an earlier access, a write or else a read, before a later one.
    pub fn orders(self, earlier_writes: bool, later_writes: bool) -> bool {
        let before = if earlier_writes { self.before_writes } else { self.before_reads };
        let after = if later_writes { self.after_writes } else { self.after_reads };
        before && after && !(self.tso && earlier_writes && !later_writes)
    }
}
