//! Compressed instructions (C, with the loads and stores of Zcb), as the instruction of 32 bits that
//! each stands for.

use crate::instruction::Xlen;

/// The fields of a word of 16 bits.
#[derive(Clone, Copy)]
struct Half(u32);

impl Half {
    fn bits(self, from: u32, count: u32) -> u32 {
        (self.0 >> from) & ((1 << count) - 1)
    }

    /// A field of bits that lie apart: (where it is, how many bits, where they go).
    fn gather(self, parts: &[(u32, u32, u32)]) -> u32 {
        parts.iter().fold(0, |all, &(from, count, to)| all | self.bits(from, count) << to)
    }

    fn rd(self) -> u32 {
        self.bits(7, 5)
    }

    fn rs2(self) -> u32 {
        self.bits(2, 5)
    }

    /// The registers `x8` to `x15`.
    fn short(self, from: u32) -> u32 {
        self.bits(from, 3) + 8
    }

    fn immediate(self) -> u32 {
        sign(self.gather(&[(2, 5, 0), (12, 1, 5)]), 6)
    }
}

/// The value of so many bits, extended by its sign to 32.
fn sign(value: u32, count: u32) -> u32 {
    let shift = 32 - count;
    (((value << shift) as i32) >> shift) as u32
}

fn i_type(opcode: u32, funct3: u32, rd: u32, rs1: u32, immediate: u32) -> u32 {
    opcode | rd << 7 | funct3 << 12 | rs1 << 15 | (immediate & 0xfff) << 20
}

fn s_type(opcode: u32, funct3: u32, rs1: u32, rs2: u32, offset: u32) -> u32 {
    opcode | (offset & 31) << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | (offset >> 5 & 127) << 25
}

fn r_type(opcode: u32, funct3: u32, funct7: u32, rd: u32, rs1: u32, rs2: u32) -> u32 {
    opcode | rd << 7 | funct3 << 12 | rs1 << 15 | rs2 << 20 | funct7 << 25
}

fn jump(rd: u32, offset: u32) -> u32 {
    0x6f | rd << 7
        | (offset >> 12 & 255) << 12
        | (offset >> 11 & 1) << 20
        | (offset >> 1 & 1023) << 21
        | (offset >> 20 & 1) << 31
}

fn branch(funct3: u32, rs1: u32, offset: u32) -> u32 {
    0x63 | (offset >> 11 & 1) << 7
        | (offset >> 1 & 15) << 8
        | funct3 << 12
        | rs1 << 15
        | (offset >> 5 & 63) << 25
        | (offset >> 12 & 1) << 31
}

const LOAD: u32 = 0x03;
const LOAD_FLOAT: u32 = 0x07;
const STORE: u32 = 0x23;
const STORE_FLOAT: u32 = 0x27;
const OP_IMM: u32 = 0x13;
const OP_IMM_32: u32 = 0x1b;
const OP: u32 = 0x33;
const OP_32: u32 = 0x3b;

/// The instruction of 32 bits that a compressed one stands for; `None` if it is none.
///
/// ```
/// use tribunal_riscv::{Xlen, decode, expand};
///
/// let word = expand(0x6588, Xlen::Rv64).unwrap();
/// assert_eq!(decode(word, Xlen::Rv64).unwrap().text(0), "ld a0,8(a1)");
/// ```
pub fn expand(word: u16, xlen: Xlen) -> Option<u32> {
    let half = Half(u32::from(word));
    match half.bits(0, 2) {
        0 => quadrant_0(half, xlen),
        1 => quadrant_1(half, xlen),
        2 => quadrant_2(half, xlen),
        _ => None,
    }
}

/// Loads and stores with short registers.
fn quadrant_0(half: Half, xlen: Xlen) -> Option<u32> {
    let wide = xlen == Xlen::Rv64;
    let (base, register) = (half.short(7), half.short(2));
    let word_offset = half.gather(&[(6, 1, 2), (10, 3, 3), (5, 1, 6)]);
    let double_offset = half.gather(&[(10, 3, 3), (5, 2, 6)]);
    Some(match half.bits(13, 3) {
        0 => {
            let offset = half.gather(&[(6, 1, 2), (5, 1, 3), (11, 2, 4), (7, 4, 6)]);
            if offset == 0 {
                return None;
            }
            i_type(OP_IMM, 0, register, 2, offset)
        }
        1 => i_type(LOAD_FLOAT, 3, register, base, double_offset),
        2 => i_type(LOAD, 2, register, base, word_offset),
        3 if wide => i_type(LOAD, 3, register, base, double_offset),
        3 => i_type(LOAD_FLOAT, 2, register, base, word_offset),
        4 => return zcb_access(half),
        5 => s_type(STORE_FLOAT, 3, base, register, double_offset),
        6 => s_type(STORE, 2, base, register, word_offset),
        _ if wide => s_type(STORE, 3, base, register, double_offset),
        _ => s_type(STORE_FLOAT, 2, base, register, word_offset),
    })
}

/// Zcb: `c.lbu`, `c.lhu`, `c.lh`, `c.sb`, `c.sh`.
fn zcb_access(half: Half) -> Option<u32> {
    let (base, register) = (half.short(7), half.short(2));
    let byte_offset = half.gather(&[(6, 1, 0), (5, 1, 1)]);
    let half_offset = half.bits(5, 1) << 1;
    match (half.bits(10, 3), half.bits(6, 1)) {
        (0, _) => Some(i_type(LOAD, 4, register, base, byte_offset)),
        (1, 0) => Some(i_type(LOAD, 5, register, base, half_offset)),
        (1, 1) => Some(i_type(LOAD, 1, register, base, half_offset)),
        (2, _) => Some(s_type(STORE, 0, base, register, byte_offset)),
        (3, 0) => Some(s_type(STORE, 1, base, register, half_offset)),
        _ => None,
    }
}

/// Arithmetic, jumps and branches.
fn quadrant_1(half: Half, xlen: Xlen) -> Option<u32> {
    let wide = xlen == Xlen::Rv64;
    let rd = half.rd();
    let jump_offset = || {
        let offset = half.gather(&[
            (3, 3, 1),
            (11, 1, 4),
            (2, 1, 5),
            (7, 1, 6),
            (6, 1, 7),
            (9, 2, 8),
            (8, 1, 10),
            (12, 1, 11),
        ]);
        sign(offset, 12)
    };
    let branch_offset = || {
        let parts = [(3, 2, 1), (10, 2, 3), (2, 1, 5), (5, 2, 6), (12, 1, 8)];
        sign(half.gather(&parts), 9)
    };
    Some(match half.bits(13, 3) {
        0 => i_type(OP_IMM, 0, rd, rd, half.immediate()),
        1 if wide && rd == 0 => return None,
        1 if wide => i_type(OP_IMM_32, 0, rd, rd, half.immediate()),
        1 => jump(1, jump_offset()),
        2 => i_type(OP_IMM, 0, rd, 0, half.immediate()),
        3 if rd == 2 => {
            let parts = [(6, 1, 4), (2, 1, 5), (5, 1, 6), (3, 2, 7), (12, 1, 9)];
            let offset = sign(half.gather(&parts), 10);
            if offset == 0 {
                return None;
            }
            i_type(OP_IMM, 0, 2, 2, offset)
        }
        3 => {
            let upper = half.immediate();
            if upper == 0 {
                return None;
            }
            0x37 | rd << 7 | upper << 12
        }
        4 => return arithmetic(half, xlen),
        5 => jump(0, jump_offset()),
        6 => branch(0, half.short(7), branch_offset()),
        _ => branch(1, half.short(7), branch_offset()),
    })
}

/// Shifts and operations on two short registers.
fn arithmetic(half: Half, xlen: Xlen) -> Option<u32> {
    let wide = xlen == Xlen::Rv64;
    let (rd, rs2) = (half.short(7), half.short(2));
    let shift = half.gather(&[(2, 5, 0), (12, 1, 5)]);
    if half.bits(10, 2) < 2 && !wide && shift > 31 {
        return None;
    }
    let op = |funct3, funct7| Some(r_type(OP, funct3, funct7, rd, rd, rs2));
    let op_32 = |funct7| wide.then(|| r_type(OP_32, 0, funct7, rd, rd, rs2));
    match (half.bits(10, 2), half.bits(12, 1), half.bits(5, 2)) {
        (0, _, _) => Some(i_type(OP_IMM, 5, rd, rd, shift)),
        (1, _, _) => Some(i_type(OP_IMM, 5, rd, rd, shift | 0x400)),
        (2, _, _) => Some(i_type(OP_IMM, 7, rd, rd, half.immediate())),
        (_, 0, 0) => op(0, 0x20),
        (_, 0, 1) => op(4, 0),
        (_, 0, 2) => op(6, 0),
        (_, 0, _) => op(7, 0),
        (_, _, 0) => op_32(0x20),
        (_, _, 1) => op_32(0),
        // Zcb: c.mul
        (_, _, 2) => op(0, 1),
        // Zcb: c.zext.b; the others are extensions and c.not, which read and write one register.
        (_, _, _) => match half.bits(2, 3) {
            0 => Some(i_type(OP_IMM, 7, rd, rd, 0xff)),
            1 => Some(i_type(OP_IMM, 1, rd, rd, 0x604)),
            2 => Some(r_type(if wide { OP_32 } else { OP }, 4, 4, rd, rd, 0)),
            3 => Some(i_type(OP_IMM, 1, rd, rd, 0x605)),
            4 if wide => Some(r_type(OP_32, 0, 4, rd, rd, 0)),
            5 => Some(i_type(OP_IMM, 4, rd, rd, 0xfff)),
            _ => None,
        },
    }
}

/// Accesses of the stack, moves and jumps by register.
fn quadrant_2(half: Half, xlen: Xlen) -> Option<u32> {
    let wide = xlen == Xlen::Rv64;
    let (rd, rs2) = (half.rd(), half.rs2());
    let word_offset = half.gather(&[(4, 3, 2), (12, 1, 5), (2, 2, 6)]);
    let double_offset = half.gather(&[(5, 2, 3), (12, 1, 5), (2, 3, 6)]);
    let store_word = half.gather(&[(9, 4, 2), (7, 2, 6)]);
    let store_double = half.gather(&[(10, 3, 3), (7, 3, 6)]);
    Some(match half.bits(13, 3) {
        0 => {
            let shift = half.gather(&[(2, 5, 0), (12, 1, 5)]);
            if !wide && shift > 31 {
                return None;
            }
            i_type(OP_IMM, 1, rd, rd, shift)
        }
        1 => i_type(LOAD_FLOAT, 3, rd, 2, double_offset),
        2 if rd == 0 => return None,
        2 => i_type(LOAD, 2, rd, 2, word_offset),
        3 if wide && rd == 0 => return None,
        3 if wide => i_type(LOAD, 3, rd, 2, double_offset),
        3 => i_type(LOAD_FLOAT, 2, rd, 2, word_offset),
        4 => match (half.bits(12, 1), rd, rs2) {
            (0, 0, 0) => return None,
            (0, _, 0) => i_type(0x67, 0, 0, rd, 0),
            (0, _, _) => r_type(OP, 0, 0, rd, 0, rs2),
            (_, 0, 0) => 0x0010_0073,
            (_, _, 0) => i_type(0x67, 0, 1, rd, 0),
            (_, _, _) => r_type(OP, 0, 0, rd, rd, rs2),
        },
        5 => s_type(STORE_FLOAT, 3, 2, rs2, store_double),
        6 => s_type(STORE, 2, 2, rs2, store_word),
        _ if wide => s_type(STORE, 3, 2, rs2, store_double),
        _ => s_type(STORE_FLOAT, 2, 2, rs2, store_word),
    })
}
