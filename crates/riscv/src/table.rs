//! The instructions of 32 bits, a row each: which bits say that it is this one, and how its
//! operands are encoded. Everything else follows from the row.

/// How an instruction has its operands, and with that what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// `rd, rs1, rs2`
    Register,
    /// `rd, rs1, immediate`
    Immediate,
    /// `rd, rs1, shift amount`
    Shift,
    /// `rd, upper immediate`
    Upper,
    Jal,
    Jalr,
    Branch,
    /// `rd, offset(rs1)`; of so many bytes, extended by their sign or not.
    Load(u8, bool),
    LoadFloat(u8),
    Store(u8),
    StoreFloat(u8),
    Fence,
    FenceTso,
    FenceInstructions,
    /// `rd, csr, rs1`
    Csr,
    /// `rd, csr, immediate`
    CsrImmediate,
    /// Without operands.
    System,
    /// `rs1, rs2`, neither of which becomes the address of an access.
    FenceOfTranslations,
    /// `rd, (rs1)`
    LoadReserved,
    /// `rd, rs2, (rs1)`
    StoreConditional,
    Amo,
    /// An AMO that also reads `rd`.
    AmoCompare,
    /// `fd, fs1, fs2, fs3, rounding`
    FloatFused,
    /// `fd, fs1, fs2, rounding`
    FloatRounded,
    /// `fd, fs1, fs2`
    Float,
    /// `fd, fs1, rounding`
    FloatUnary,
    /// `rd, fs1, fs2`
    FloatCompare,
    /// `rd, fs1, rounding`
    FloatToInteger,
    /// `rd, fs1`
    FloatMove,
    /// `fd, rs1, rounding`
    IntegerToFloat,
    /// `fd, rs1`
    IntegerMove,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) mask: u32,
    pub(crate) bits: u32,
    pub(crate) form: Form,
    /// Only where registers have 64 bits.
    pub(crate) wide: bool,
}

const FUNCT3: u32 = 0x707f;
const FUNCT7: u32 = 0xfe00_707f;
const SHIFT6: u32 = 0xfc00_707f;
const ROUNDED: u32 = 0xfe00_007f;
const UNARY_ROUNDED: u32 = 0xfff0_007f;
const UNARY: u32 = 0xfff0_707f;
const FUSED: u32 = 0x0600_007f;
/// `aq` and `rl` are no part of the instruction.
const ATOMIC: u32 = 0xf800_707f;
const ATOMIC_LOAD: u32 = 0xf9f0_707f;
const WHOLE: u32 = 0xffff_ffff;

const fn row(name: &'static str, mask: u32, bits: u32, form: Form) -> Row {
    Row { name, mask, bits, form, wide: false }
}

const fn wide(name: &'static str, mask: u32, bits: u32, form: Form) -> Row {
    Row { name, mask, bits, form, wide: true }
}

use Form::{
    Amo, AmoCompare, Branch, Csr, CsrImmediate, Fence, FenceInstructions, FenceOfTranslations,
    FenceTso, Float, FloatCompare, FloatFused, FloatMove, FloatRounded, FloatToInteger, FloatUnary,
    Immediate, IntegerMove, IntegerToFloat, Jal, Jalr, Load, LoadFloat, LoadReserved, Register,
    Shift, Store, StoreConditional, StoreFloat, System, Upper,
};

/// All of them. Where two rows fit, the first counts.
pub(crate) const TABLE: &[Row] = &[
    // RV32I and RV64I
    row("lui", 0x7f, 0x37, Upper),
    row("auipc", 0x7f, 0x17, Upper),
    row("jal", 0x7f, 0x6f, Jal),
    row("jalr", FUNCT3, 0x67, Jalr),
    row("beq", FUNCT3, 0x0063, Branch),
    row("bne", FUNCT3, 0x1063, Branch),
    row("blt", FUNCT3, 0x4063, Branch),
    row("bge", FUNCT3, 0x5063, Branch),
    row("bltu", FUNCT3, 0x6063, Branch),
    row("bgeu", FUNCT3, 0x7063, Branch),
    row("lb", FUNCT3, 0x0003, Load(1, true)),
    row("lh", FUNCT3, 0x1003, Load(2, true)),
    row("lw", FUNCT3, 0x2003, Load(4, true)),
    wide("ld", FUNCT3, 0x3003, Load(8, true)),
    row("lbu", FUNCT3, 0x4003, Load(1, false)),
    row("lhu", FUNCT3, 0x5003, Load(2, false)),
    wide("lwu", FUNCT3, 0x6003, Load(4, false)),
    row("sb", FUNCT3, 0x0023, Store(1)),
    row("sh", FUNCT3, 0x1023, Store(2)),
    row("sw", FUNCT3, 0x2023, Store(4)),
    wide("sd", FUNCT3, 0x3023, Store(8)),
    row("addi", FUNCT3, 0x0013, Immediate),
    row("slti", FUNCT3, 0x2013, Immediate),
    row("sltiu", FUNCT3, 0x3013, Immediate),
    row("xori", FUNCT3, 0x4013, Immediate),
    row("ori", FUNCT3, 0x6013, Immediate),
    row("andi", FUNCT3, 0x7013, Immediate),
    row("slli", FUNCT7, 0x1013, Shift),
    row("srli", FUNCT7, 0x5013, Shift),
    row("srai", FUNCT7, 0x4000_5013, Shift),
    wide("slli", SHIFT6, 0x1013, Shift),
    wide("srli", SHIFT6, 0x5013, Shift),
    wide("srai", SHIFT6, 0x4000_5013, Shift),
    row("add", FUNCT7, 0x0033, Register),
    row("sub", FUNCT7, 0x4000_0033, Register),
    row("sll", FUNCT7, 0x1033, Register),
    row("slt", FUNCT7, 0x2033, Register),
    row("sltu", FUNCT7, 0x3033, Register),
    row("xor", FUNCT7, 0x4033, Register),
    row("srl", FUNCT7, 0x5033, Register),
    row("sra", FUNCT7, 0x4000_5033, Register),
    row("or", FUNCT7, 0x6033, Register),
    row("and", FUNCT7, 0x7033, Register),
    wide("addiw", FUNCT3, 0x001b, Immediate),
    wide("slliw", FUNCT7, 0x101b, Shift),
    wide("srliw", FUNCT7, 0x501b, Shift),
    wide("sraiw", FUNCT7, 0x4000_501b, Shift),
    wide("addw", FUNCT7, 0x003b, Register),
    wide("subw", FUNCT7, 0x4000_003b, Register),
    wide("sllw", FUNCT7, 0x103b, Register),
    wide("srlw", FUNCT7, 0x503b, Register),
    wide("sraw", FUNCT7, 0x4000_503b, Register),
    row("fence.tso", 0xfff0_707f, 0x8330_000f, FenceTso),
    row("fence", FUNCT3, 0x000f, Fence),
    row("fence.i", FUNCT3, 0x100f, FenceInstructions),
    row("ecall", WHOLE, 0x0000_0073, System),
    row("ebreak", WHOLE, 0x0010_0073, System),
    row("sret", WHOLE, 0x1020_0073, System),
    row("mret", WHOLE, 0x3020_0073, System),
    row("wfi", WHOLE, 0x1050_0073, System),
    row("sfence.vma", 0xfe00_7fff, 0x1200_0073, FenceOfTranslations),
    // Zicsr
    row("csrrw", FUNCT3, 0x1073, Csr),
    row("csrrs", FUNCT3, 0x2073, Csr),
    row("csrrc", FUNCT3, 0x3073, Csr),
    row("csrrwi", FUNCT3, 0x5073, CsrImmediate),
    row("csrrsi", FUNCT3, 0x6073, CsrImmediate),
    row("csrrci", FUNCT3, 0x7073, CsrImmediate),
    // M
    row("mul", FUNCT7, 0x0200_0033, Register),
    row("mulh", FUNCT7, 0x0200_1033, Register),
    row("mulhsu", FUNCT7, 0x0200_2033, Register),
    row("mulhu", FUNCT7, 0x0200_3033, Register),
    row("div", FUNCT7, 0x0200_4033, Register),
    row("divu", FUNCT7, 0x0200_5033, Register),
    row("rem", FUNCT7, 0x0200_6033, Register),
    row("remu", FUNCT7, 0x0200_7033, Register),
    wide("mulw", FUNCT7, 0x0200_003b, Register),
    wide("divw", FUNCT7, 0x0200_403b, Register),
    wide("divuw", FUNCT7, 0x0200_503b, Register),
    wide("remw", FUNCT7, 0x0200_603b, Register),
    wide("remuw", FUNCT7, 0x0200_703b, Register),
    // A, Zacas and Zabha
    row("lr.w", ATOMIC_LOAD, 0x1000_202f, LoadReserved),
    row("sc.w", ATOMIC, 0x1800_202f, StoreConditional),
    wide("lr.d", ATOMIC_LOAD, 0x1000_302f, LoadReserved),
    wide("sc.d", ATOMIC, 0x1800_302f, StoreConditional),
    row("amoadd.w", ATOMIC, 0x0000_202f, Amo),
    row("amoswap.w", ATOMIC, 0x0800_202f, Amo),
    row("amocas.w", ATOMIC, 0x2800_202f, AmoCompare),
    row("amoxor.w", ATOMIC, 0x2000_202f, Amo),
    row("amoor.w", ATOMIC, 0x4000_202f, Amo),
    row("amoand.w", ATOMIC, 0x6000_202f, Amo),
    row("amomin.w", ATOMIC, 0x8000_202f, Amo),
    row("amomax.w", ATOMIC, 0xa000_202f, Amo),
    row("amominu.w", ATOMIC, 0xc000_202f, Amo),
    row("amomaxu.w", ATOMIC, 0xe000_202f, Amo),
    wide("amoadd.d", ATOMIC, 0x0000_302f, Amo),
    wide("amoswap.d", ATOMIC, 0x0800_302f, Amo),
    wide("amocas.d", ATOMIC, 0x2800_302f, AmoCompare),
    wide("amoxor.d", ATOMIC, 0x2000_302f, Amo),
    wide("amoor.d", ATOMIC, 0x4000_302f, Amo),
    wide("amoand.d", ATOMIC, 0x6000_302f, Amo),
    wide("amomin.d", ATOMIC, 0x8000_302f, Amo),
    wide("amomax.d", ATOMIC, 0xa000_302f, Amo),
    wide("amominu.d", ATOMIC, 0xc000_302f, Amo),
    wide("amomaxu.d", ATOMIC, 0xe000_302f, Amo),
    row("amoadd.b", ATOMIC, 0x0000_002f, Amo),
    row("amoswap.b", ATOMIC, 0x0800_002f, Amo),
    row("amocas.b", ATOMIC, 0x2800_002f, AmoCompare),
    row("amoxor.b", ATOMIC, 0x2000_002f, Amo),
    row("amoor.b", ATOMIC, 0x4000_002f, Amo),
    row("amoand.b", ATOMIC, 0x6000_002f, Amo),
    row("amomin.b", ATOMIC, 0x8000_002f, Amo),
    row("amomax.b", ATOMIC, 0xa000_002f, Amo),
    row("amominu.b", ATOMIC, 0xc000_002f, Amo),
    row("amomaxu.b", ATOMIC, 0xe000_002f, Amo),
    row("amoadd.h", ATOMIC, 0x0000_102f, Amo),
    row("amoswap.h", ATOMIC, 0x0800_102f, Amo),
    row("amocas.h", ATOMIC, 0x2800_102f, AmoCompare),
    row("amoxor.h", ATOMIC, 0x2000_102f, Amo),
    row("amoor.h", ATOMIC, 0x4000_102f, Amo),
    row("amoand.h", ATOMIC, 0x6000_102f, Amo),
    row("amomin.h", ATOMIC, 0x8000_102f, Amo),
    row("amomax.h", ATOMIC, 0xa000_102f, Amo),
    row("amominu.h", ATOMIC, 0xc000_102f, Amo),
    row("amomaxu.h", ATOMIC, 0xe000_102f, Amo),
    // F
    row("flw", FUNCT3, 0x2007, LoadFloat(4)),
    row("fsw", FUNCT3, 0x2027, StoreFloat(4)),
    row("fmadd.s", FUSED, 0x0000_0043, FloatFused),
    row("fmsub.s", FUSED, 0x0000_0047, FloatFused),
    row("fnmsub.s", FUSED, 0x0000_004b, FloatFused),
    row("fnmadd.s", FUSED, 0x0000_004f, FloatFused),
    row("fadd.s", ROUNDED, 0x0000_0053, FloatRounded),
    row("fsub.s", ROUNDED, 0x0800_0053, FloatRounded),
    row("fmul.s", ROUNDED, 0x1000_0053, FloatRounded),
    row("fdiv.s", ROUNDED, 0x1800_0053, FloatRounded),
    row("fsqrt.s", UNARY_ROUNDED, 0x5800_0053, FloatUnary),
    row("fsgnj.s", FUNCT7, 0x2000_0053, Float),
    row("fsgnjn.s", FUNCT7, 0x2000_1053, Float),
    row("fsgnjx.s", FUNCT7, 0x2000_2053, Float),
    row("fmin.s", FUNCT7, 0x2800_0053, Float),
    row("fmax.s", FUNCT7, 0x2800_1053, Float),
    row("fcvt.w.s", UNARY_ROUNDED, 0xc000_0053, FloatToInteger),
    row("fcvt.wu.s", UNARY_ROUNDED, 0xc010_0053, FloatToInteger),
    wide("fcvt.l.s", UNARY_ROUNDED, 0xc020_0053, FloatToInteger),
    wide("fcvt.lu.s", UNARY_ROUNDED, 0xc030_0053, FloatToInteger),
    row("fmv.x.w", UNARY, 0xe000_0053, FloatMove),
    row("fclass.s", UNARY, 0xe000_1053, FloatMove),
    row("feq.s", FUNCT7, 0xa000_2053, FloatCompare),
    row("flt.s", FUNCT7, 0xa000_1053, FloatCompare),
    row("fle.s", FUNCT7, 0xa000_0053, FloatCompare),
    row("fcvt.s.w", UNARY_ROUNDED, 0xd000_0053, IntegerToFloat),
    row("fcvt.s.wu", UNARY_ROUNDED, 0xd010_0053, IntegerToFloat),
    wide("fcvt.s.l", UNARY_ROUNDED, 0xd020_0053, IntegerToFloat),
    wide("fcvt.s.lu", UNARY_ROUNDED, 0xd030_0053, IntegerToFloat),
    row("fmv.w.x", UNARY, 0xf000_0053, IntegerMove),
    // D
    row("fld", FUNCT3, 0x3007, LoadFloat(8)),
    row("fsd", FUNCT3, 0x3027, StoreFloat(8)),
    row("fmadd.d", FUSED, 0x0200_0043, FloatFused),
    row("fmsub.d", FUSED, 0x0200_0047, FloatFused),
    row("fnmsub.d", FUSED, 0x0200_004b, FloatFused),
    row("fnmadd.d", FUSED, 0x0200_004f, FloatFused),
    row("fadd.d", ROUNDED, 0x0200_0053, FloatRounded),
    row("fsub.d", ROUNDED, 0x0a00_0053, FloatRounded),
    row("fmul.d", ROUNDED, 0x1200_0053, FloatRounded),
    row("fdiv.d", ROUNDED, 0x1a00_0053, FloatRounded),
    row("fsqrt.d", UNARY_ROUNDED, 0x5a00_0053, FloatUnary),
    row("fsgnj.d", FUNCT7, 0x2200_0053, Float),
    row("fsgnjn.d", FUNCT7, 0x2200_1053, Float),
    row("fsgnjx.d", FUNCT7, 0x2200_2053, Float),
    row("fmin.d", FUNCT7, 0x2a00_0053, Float),
    row("fmax.d", FUNCT7, 0x2a00_1053, Float),
    row("fcvt.s.d", UNARY_ROUNDED, 0x4010_0053, FloatUnary),
    row("fcvt.d.s", UNARY_ROUNDED, 0x4200_0053, FloatUnary),
    row("feq.d", FUNCT7, 0xa200_2053, FloatCompare),
    row("flt.d", FUNCT7, 0xa200_1053, FloatCompare),
    row("fle.d", FUNCT7, 0xa200_0053, FloatCompare),
    row("fclass.d", UNARY, 0xe200_1053, FloatMove),
    row("fcvt.w.d", UNARY_ROUNDED, 0xc200_0053, FloatToInteger),
    row("fcvt.wu.d", UNARY_ROUNDED, 0xc210_0053, FloatToInteger),
    wide("fcvt.l.d", UNARY_ROUNDED, 0xc220_0053, FloatToInteger),
    wide("fcvt.lu.d", UNARY_ROUNDED, 0xc230_0053, FloatToInteger),
    wide("fmv.x.d", UNARY, 0xe200_0053, FloatMove),
    row("fcvt.d.w", UNARY_ROUNDED, 0xd200_0053, IntegerToFloat),
    row("fcvt.d.wu", UNARY_ROUNDED, 0xd210_0053, IntegerToFloat),
    wide("fcvt.d.l", UNARY_ROUNDED, 0xd220_0053, IntegerToFloat),
    wide("fcvt.d.lu", UNARY_ROUNDED, 0xd230_0053, IntegerToFloat),
    wide("fmv.d.x", UNARY, 0xf200_0053, IntegerMove),
    // What else computes on integer registers, by the format of its family.
    row(".op-imm", 0x7f, 0x13, Immediate),
    row(".op", 0x7f, 0x33, Register),
    wide(".op-imm-32", 0x7f, 0x1b, Immediate),
    wide(".op-32", 0x7f, 0x3b, Register),
];
