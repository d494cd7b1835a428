//! A thread of a litmus test as machine code: its own instructions on its own registers.
//!
//! The thread may use every register but the stack pointer and one more, which holds the memory of
//! the run and is chosen among those it does not name. The pointer for results waits on the stack.
//! A jump back goes by way of a counter, so that a loop that nothing ends is given up.

// The macro converts every register it is given to its number.
#![allow(clippy::useless_conversion)]

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm, x64};
use litmus::{
    Binary, Constant, Fence, Flag, Instruction, Operand, Operation, Register, Size, Unary,
};

use super::code::Code;
use crate::litmus::ThreadCode;

/// The numbers of registers in machine code, by their numbers in litmus tests.
const NUMBERS: [u8; Register::COUNT] = [0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15];

/// The stack pointer.
const STACK: u8 = 4;

/// Registers that a function must leave as it finds them.
const KEPT: [u8; 6] = [3, 5, 12, 13, 14, 15];

/// The number of backward jumps of a thread before its run is abandoned: some tenths of a
/// millisecond.
const ROUNDS: i32 = 1 << 13;

/// An operand as the instruction set has it.
#[derive(Clone, Copy)]
enum Place {
    Register(u8),
    /// So far into the memory of the run.
    Memory(i32),
    Value(i64),
}

/// An instruction with a register on its right, in each size.
macro_rules! with_register {
    ($self:ident, $size:expr, $to:expr, $from:expr, $name:ident) => {{
        let (ops, base, from) = (&mut $self.ops, $self.base, $from);
        match ($to, $size) {
            (Place::Register(to), Size::Byte) => dynasm!(ops; .arch x64; $name Rb(to), Rb(from)),
            (Place::Register(to), Size::Word) => dynasm!(ops; .arch x64; $name Rw(to), Rw(from)),
            (Place::Register(to), Size::Long) => dynasm!(ops; .arch x64; $name Rd(to), Rd(from)),
            (Place::Register(to), Size::Quad) => dynasm!(ops; .arch x64; $name Rq(to), Rq(from)),
            (Place::Memory(at), Size::Byte) => {
                dynasm!(ops; .arch x64; $name BYTE [Rq(base) + at], Rb(from))
            }
            (Place::Memory(at), Size::Word) => {
                dynasm!(ops; .arch x64; $name WORD [Rq(base) + at], Rw(from))
            }
            (Place::Memory(at), Size::Long) => {
                dynasm!(ops; .arch x64; $name DWORD [Rq(base) + at], Rd(from))
            }
            (Place::Memory(at), Size::Quad) => {
                dynasm!(ops; .arch x64; $name QWORD [Rq(base) + at], Rq(from))
            }
            (Place::Value(_), _) => return Err(no_encoding()),
        }
    }};
}

/// An instruction with memory on its right.
macro_rules! with_memory {
    ($self:ident, $size:expr, $to:expr, $at:expr, $name:ident) => {{
        let (ops, base, at) = (&mut $self.ops, $self.base, $at);
        match ($to, $size) {
            (Place::Register(to), Size::Byte) => {
                dynasm!(ops; .arch x64; $name Rb(to), BYTE [Rq(base) + at])
            }
            (Place::Register(to), Size::Word) => {
                dynasm!(ops; .arch x64; $name Rw(to), WORD [Rq(base) + at])
            }
            (Place::Register(to), Size::Long) => {
                dynasm!(ops; .arch x64; $name Rd(to), DWORD [Rq(base) + at])
            }
            (Place::Register(to), Size::Quad) => {
                dynasm!(ops; .arch x64; $name Rq(to), QWORD [Rq(base) + at])
            }
            (Place::Memory(_) | Place::Value(_), _) => return Err(no_encoding()),
        }
    }};
}

/// An instruction with a value on its right, of at most 32 bits.
macro_rules! with_value {
    ($self:ident, $size:expr, $to:expr, $value:expr, $name:ident) => {{
        let (ops, base, value) = (&mut $self.ops, $self.base, $value);
        match ($to, $size) {
            (Place::Register(to), Size::Byte) => {
                dynasm!(ops; .arch x64; $name Rb(to), BYTE value as i8)
            }
            (Place::Register(to), Size::Word) => {
                dynasm!(ops; .arch x64; $name Rw(to), WORD value as i16)
            }
            (Place::Register(to), Size::Long) => {
                dynasm!(ops; .arch x64; $name Rd(to), DWORD value)
            }
            (Place::Register(to), Size::Quad) => {
                dynasm!(ops; .arch x64; $name Rq(to), DWORD value)
            }
            (Place::Memory(at), Size::Byte) => {
                dynasm!(ops; .arch x64; $name BYTE [Rq(base) + at], BYTE value as i8)
            }
            (Place::Memory(at), Size::Word) => {
                dynasm!(ops; .arch x64; $name WORD [Rq(base) + at], WORD value as i16)
            }
            (Place::Memory(at), Size::Long) => {
                dynasm!(ops; .arch x64; $name DWORD [Rq(base) + at], DWORD value)
            }
            (Place::Memory(at), Size::Quad) => {
                dynasm!(ops; .arch x64; $name QWORD [Rq(base) + at], DWORD value)
            }
            (Place::Value(_), _) => return Err(no_encoding()),
        }
    }};
}

/// An instruction with any right side.
macro_rules! with_any {
    ($self:ident, $size:expr, $to:expr, $from:expr, $name:ident) => {
        match $from {
            Place::Register(from) => with_register!($self, $size, $to, from, $name),
            Place::Memory(at) => with_memory!($self, $size, $to, at, $name),
            Place::Value(value) => {
                let value = narrow(value, $size)?;
                with_value!($self, $size, $to, value, $name)
            }
        }
    };
}

/// An instruction with one operand, or with a byte for its second.
macro_rules! alone {
    ($self:ident, $size:expr, $to:expr, $name:ident $(, $count:expr)?) => {{
        let (ops, base) = (&mut $self.ops, $self.base);
        match ($to, $size) {
            (Place::Register(to), Size::Byte) => {
                dynasm!(ops; .arch x64; $name Rb(to) $(, BYTE $count)?)
            }
            (Place::Register(to), Size::Word) => {
                dynasm!(ops; .arch x64; $name Rw(to) $(, BYTE $count)?)
            }
            (Place::Register(to), Size::Long) => {
                dynasm!(ops; .arch x64; $name Rd(to) $(, BYTE $count)?)
            }
            (Place::Register(to), Size::Quad) => {
                dynasm!(ops; .arch x64; $name Rq(to) $(, BYTE $count)?)
            }
            (Place::Memory(at), Size::Byte) => {
                dynasm!(ops; .arch x64; $name BYTE [Rq(base) + at] $(, BYTE $count)?)
            }
            (Place::Memory(at), Size::Word) => {
                dynasm!(ops; .arch x64; $name WORD [Rq(base) + at] $(, BYTE $count)?)
            }
            (Place::Memory(at), Size::Long) => {
                dynasm!(ops; .arch x64; $name DWORD [Rq(base) + at] $(, BYTE $count)?)
            }
            (Place::Memory(at), Size::Quad) => {
                dynasm!(ops; .arch x64; $name QWORD [Rq(base) + at] $(, BYTE $count)?)
            }
            (Place::Value(_), _) => return Err(no_encoding()),
        }
    }};
}

/// The code of one thread. It returns the observed registers and, if it has loops, whether the run
/// was abandoned.
pub(crate) fn assemble_litmus(course: &ThreadCode<'_>) -> Result<Code, String> {
    let named = named_registers(course);
    if named.contains(&STACK) {
        return Err("the test uses the stack pointer".to_owned());
    }
    let free = (0..16).rev().find(|number| *number != STACK && !named.contains(number));
    let base = free.ok_or("the test uses all registers, and one is needed as a base address")?;
    let mut ops = x64::Assembler::new()
        .map_err(|error| format!("cannot allocate memory for machine code: {error}"))?;
    let labels = course.thread.x86().iter().map(|_| ops.new_dynamic_label()).collect();
    let end = ops.new_dynamic_label();
    let loops = course.thread.x86().iter().enumerate().any(|(at, one)| jumps_back(at, one));
    let kept = KEPT.into_iter().filter(|number| *number == base || named.contains(number));
    let kept: Vec<u8> = kept.collect();
    let mut thread = Thread { course, ops, base, labels, end, back: Vec::new() };
    thread.begin(&kept, &named, loops);
    for (at, instruction) in course.thread.x86().iter().enumerate() {
        let label = thread.labels[at];
        dynasm!(thread.ops; .arch x64; =>label);
        thread.instruction(at, instruction)?;
    }
    thread.finish(&kept, loops)
}

/// The registers that a thread names, by number.
fn named_registers(course: &ThreadCode<'_>) -> Vec<u8> {
    let initial = course.thread.registers.iter().map(|initial| initial.register);
    let code = course.thread.x86().iter().flat_map(Instruction::registers);
    let named = initial.chain(code).chain(course.observed.iter().copied());
    let mut numbers: Vec<u8> = named.map(number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn number(register: Register) -> u8 {
    NUMBERS[usize::from(register.0)]
}

fn jumps_back(at: usize, instruction: &Instruction) -> bool {
    matches!(instruction.operation, Operation::Jump { target, .. } if target as usize <= at)
}

fn no_encoding() -> String {
    "this instruction does not exist on x86".to_owned()
}

/// A value as 32 bits, which the processor extends to its size.
fn narrow(value: i64, size: Size) -> Result<i32, String> {
    let fits = match size {
        Size::Quad => i32::try_from(value).is_ok(),
        Size::Byte | Size::Word | Size::Long => {
            let bits = size.bits();
            value >> (bits - 1) == 0 || value >> (bits - 1) == -1 || value >> bits == 0
        }
    };
    match fits {
        true => Ok(value as i32),
        false => Err(format!("${value} does not fit an instruction of {} bits", size.bits())),
    }
}

struct Thread<'a> {
    course: &'a ThreadCode<'a>,
    ops: x64::Assembler,
    /// The register that holds the memory of the run.
    base: u8,
    /// Before each instruction.
    labels: Vec<DynamicLabel>,
    end: DynamicLabel,
    /// Jumps back: where they go by way of, and where to.
    back: Vec<(DynamicLabel, DynamicLabel)>,
}

impl Thread<'_> {
    /// Saves registers, and sets the initial registers and flags.
    fn begin(&mut self, kept: &[u8], named: &[u8], loops: bool) {
        let (ops, base) = (&mut self.ops, self.base);
        for &register in kept {
            dynasm!(ops; .arch x64; push Rq(register));
        }
        dynasm!(ops; .arch x64; push rdx);
        if loops {
            dynasm!(ops; .arch x64; push DWORD ROUNDS);
        }
        // `rdi` may be the base or one of the thread's registers, which are set only now.
        dynasm!(ops; .arch x64; mov Rq(base), rdi);
        for &register in named {
            let of = |initial: &&litmus::InitialRegister| number(initial.register) == register;
            let initial = self.course.thread.registers.iter().rev().find(of);
            match initial.map_or(0, |initial| initial.value.bits()) {
                0 => dynasm!(ops; .arch x64; xor Rd(register), Rd(register)),
                value => dynasm!(ops; .arch x64; mov Rq(register), QWORD value as i64),
            }
        }
        // The stack pointer is a positive number, so this clears all flags.
        dynasm!(ops; .arch x64; test rsp, rsp);
    }

    fn instruction(&mut self, at: usize, instruction: &Instruction) -> Result<(), String> {
        let size = instruction.size;
        if instruction.locked {
            dynasm!(self.ops; .arch x64; .u8 0xf0);
        }
        match instruction.operation {
            Operation::Move { to, from } => {
                let (to, from) = (self.place(to)?, self.place(from)?);
                match (to, from, size) {
                    (Place::Register(to), Place::Value(value), Size::Quad) => {
                        dynasm!(self.ops; .arch x64; mov Rq(to), QWORD value);
                    }
                    _ => with_any!(self, size, to, from, mov),
                }
            }
            Operation::Binary { operator, to, from } => self.binary(operator, to, from, size)?,
            Operation::Unary { operator, to } => {
                let to = self.place(to)?;
                match operator {
                    Unary::Increment => alone!(self, size, to, inc),
                    Unary::Decrement => alone!(self, size, to, dec),
                    Unary::Negate => alone!(self, size, to, neg),
                    Unary::Not => alone!(self, size, to, not),
                }
            }
            Operation::Compare { operator: Binary::And, left, right } => {
                match (self.place(left)?, self.place(right)?) {
                    // There is no such instruction with memory on the right, and no need for it.
                    (Place::Register(left), right @ Place::Memory(_)) => {
                        with_register!(self, size, right, left, test);
                    }
                    (left, Place::Register(right)) => {
                        with_register!(self, size, left, right, test);
                    }
                    (left, Place::Value(value)) => {
                        let value = narrow(value, size)?;
                        with_value!(self, size, left, value, test);
                    }
                    (_, Place::Memory(_)) => return Err(no_encoding()),
                }
            }
            Operation::Compare { left, right, .. } => {
                let (left, right) = (self.place(left)?, self.place(right)?);
                with_any!(self, size, left, right, cmp);
            }
            Operation::Exchange { register, with } => {
                let with = self.place(with)?;
                with_register!(self, size, with, number(register), xchg);
            }
            Operation::ExchangeAdd { register, to } => {
                let to = self.place(to)?;
                with_register!(self, size, to, number(register), xadd);
            }
            Operation::CompareExchange { register, to } => {
                let to = self.place(to)?;
                with_register!(self, size, to, number(register), cmpxchg);
            }
            Operation::Jump { when, target } => self.jump(at, when, target as usize),
            Operation::Fence(Fence::Full) => dynasm!(self.ops; .arch x64; mfence),
            Operation::Fence(Fence::Store) => dynasm!(self.ops; .arch x64; sfence),
            Operation::Fence(Fence::Load) => dynasm!(self.ops; .arch x64; lfence),
            Operation::Nothing => dynasm!(self.ops; .arch x64; nop),
            Operation::Return => dynasm!(self.ops; .arch x64; jmp =>self.end),
        }
        Ok(())
    }

    fn place(&self, operand: Operand) -> Result<Place, String> {
        Ok(match operand {
            Operand::Immediate(Constant::Number(number)) => Place::Value(number),
            Operand::Immediate(constant) => Place::Value(constant.bits() as i64),
            Operand::Register(register) => Place::Register(number(register)),
            Operand::Memory(memory) => Place::Memory((self.course.offset)(memory)? as i32),
        })
    }

    fn binary(
        &mut self,
        operator: Binary,
        to: Operand,
        from: Operand,
        size: Size,
    ) -> Result<(), String> {
        let (to, from) = (self.place(to)?, self.place(from)?);
        let count = |from: Place| match from {
            Place::Value(count) => Ok(count as i8),
            Place::Register(_) | Place::Memory(_) => Err(no_encoding()),
        };
        match operator {
            Binary::Add => with_any!(self, size, to, from, add),
            Binary::Subtract => with_any!(self, size, to, from, sub),
            Binary::And => with_any!(self, size, to, from, and),
            Binary::Or => with_any!(self, size, to, from, or),
            Binary::Xor => with_any!(self, size, to, from, xor),
            Binary::ShiftLeft => alone!(self, size, to, shl, count(from)?),
            Binary::ShiftRight => alone!(self, size, to, shr, count(from)?),
            Binary::ShiftRightSigned => alone!(self, size, to, sar, count(from)?),
        }
        Ok(())
    }

    fn jump(&mut self, at: usize, when: Option<Flag>, target: usize) {
        let mut to = self.labels.get(target).copied().unwrap_or(self.end);
        if target <= at {
            let way = self.ops.new_dynamic_label();
            self.back.push((way, to));
            to = way;
        }
        let ops = &mut self.ops;
        match when {
            None => dynasm!(ops; .arch x64; jmp =>to),
            Some(Flag::Equal) => dynasm!(ops; .arch x64; je =>to),
            Some(Flag::NotEqual) => dynasm!(ops; .arch x64; jne =>to),
            Some(Flag::Less) => dynasm!(ops; .arch x64; jl =>to),
            Some(Flag::LessOrEqual) => dynasm!(ops; .arch x64; jle =>to),
            Some(Flag::Greater) => dynasm!(ops; .arch x64; jg =>to),
            Some(Flag::GreaterOrEqual) => dynasm!(ops; .arch x64; jge =>to),
            Some(Flag::Below) => dynasm!(ops; .arch x64; jb =>to),
            Some(Flag::BelowOrEqual) => dynasm!(ops; .arch x64; jbe =>to),
            Some(Flag::Above) => dynasm!(ops; .arch x64; ja =>to),
            Some(Flag::AboveOrEqual) => dynasm!(ops; .arch x64; jae =>to),
            Some(Flag::Sign) => dynasm!(ops; .arch x64; js =>to),
            Some(Flag::NoSign) => dynasm!(ops; .arch x64; jns =>to),
            Some(Flag::Overflow) => dynasm!(ops; .arch x64; jo =>to),
            Some(Flag::NoOverflow) => dynasm!(ops; .arch x64; jno =>to),
        }
    }

    /// Stores the results, restores the registers, and returns; then the backward jumps.
    fn finish(mut self, kept: &[u8], loops: bool) -> Result<Code, String> {
        let Thread { course, ref mut ops, base, end, ref back, .. } = self;
        let waits = if loops { 8 } else { 0 };
        dynasm!(ops; .arch x64; =>end; mov Rq(base), [rsp + waits]);
        for (result, &register) in course.observed.iter().enumerate() {
            let register = number(register);
            dynasm!(ops; .arch x64; mov [Rq(base) + 8 * result as i32], Rq(register));
        }
        let mut results = course.observed.len();
        if loops {
            // The counter is 0 if the run was abandoned.
            let at = 8 * results as i32;
            dynasm!(ops
                ; .arch x64
                ; mov rdx, Rq(base)
                ; pop rcx
                ; xor eax, eax
                ; test rcx, rcx
                ; setz al
                ; mov [rdx + at], rax
            );
            results += 1;
        }
        dynasm!(ops; .arch x64; pop rdx);
        for &register in kept.iter().rev() {
            dynasm!(ops; .arch x64; pop Rq(register));
        }
        dynasm!(ops; .arch x64; ret);
        for &(way, to) in back {
            dynasm!(ops
                ; .arch x64
                ; =>way
                ; pushfq
                ; sub QWORD [rsp + 8], 1
                ; jz >given_up
                ; popfq
                ; jmp =>to
                ; given_up:
                ; popfq
                ; jmp =>end
            );
        }
        let buffer = self.ops.finalize();
        let buffer = buffer.map_err(|_| "the machine code could not be finished".to_owned())?;
        Ok(Code::new(buffer, results, course.reach).with_loops(loops))
    }
}
