//! What a RISC-V instruction does, from its encoding: which registers it reads and writes, what it
//! does to memory, what a fence orders, where control may go, and its text; accesses and fences also
//! from their text.
//!
//! The base instruction sets RV32I and RV64I with the extensions M, A, F, D, C, Zicsr, Zifencei,
//! Zacas and Zabha. Other instructions of the families that compute on integer registers (Zba, Zbb,
//! Zicond, …) are known by the registers of their format. `table.rs` has a row an instruction.
//!
//! ```
//! use tribunal_riscv::{Access, Effect, Register, Xlen, decode};
//!
//! let load = decode(0x0085_3583, Xlen::Rv64).unwrap();
//! assert_eq!(load.text(0x8000_0000), "ld a1,8(a0)");
//! let Effect::Access(access) = load.effect else { panic!() };
//! assert_eq!((access.base, access.offset, access.size), (Register::X(10), 8, 8));
//! assert_eq!(load.writes, Some(Register::X(11)));
//! ```

#![forbid(unsafe_code)]

mod assemble;
mod compressed;
mod instruction;
mod register;
mod table;
mod text;

pub use assemble::assemble;
pub use compressed::expand;
pub use instruction::{Access, AccessKind, Effect, Fence, Instruction, Xlen, decode};
pub use register::{Register, UnknownRegister};
