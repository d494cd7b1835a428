//! Instructions as steps that touch memory at most once.
//!
//! `add $1,(x)` reads and then writes: two steps between which other threads may act. With `lock`
//! it is one. What is left of an instruction after its accesses is computing on registers, among
//! which are the flags and two scratch registers.

use crate::test::{
    Binary, Constant, Fence, Flag, Instruction, Litmus, Location, LocationId, Memory, Operand,
    Operation, Register, Size, Thread, Unary,
};

/// A register of a thread, numbered: the sixteen, the flags (the carry apart, because `inc` leaves
/// it alone), two scratch registers.
pub(crate) type Cell = u8;
pub(crate) const FLAGS: Cell = Register::COUNT as Cell;
pub(crate) const CARRY: Cell = FLAGS + 1;
pub(crate) const SCRATCH: Cell = CARRY + 1;
const SUM: Cell = SCRATCH + 1;
/// The number of cells of a thread.
pub(crate) const CELLS: usize = SUM as usize + 1;

/// Something whose value is known without asking memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Source {
    Value(u64),
    Cell(Cell),
}

/// Where an access goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Location(LocationId),
    /// Depends on registers; `displacement` has the address of the location in it.
    Computed(Memory),
}

/// One step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Load {
        to: Cell,
        at: Target,
        size: Size,
    },
    Store {
        from: Source,
        at: Target,
        size: Size,
    },
    /// Reads and writes at once.
    Modify {
        change: Change,
        at: Target,
        size: Size,
    },
    Move {
        to: Cell,
        from: Source,
        size: Size,
    },
    /// Computes, and writes the result unless it is only for the flags.
    Binary {
        operator: Binary,
        to: Option<Cell>,
        left: Source,
        right: Source,
        size: Size,
    },
    Unary {
        operator: Unary,
        to: Cell,
        from: Source,
        size: Size,
    },
    Jump {
        when: Option<Flag>,
        target: u32,
    },
    Fence(Fence),
    End,
}

/// The effect of an atomic step on the value that it reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Change {
    Binary(Binary, Source),
    Unary(Unary),
    Exchange(Cell),
    ExchangeAdd(Cell),
    CompareExchange(Cell),
}

/// The addresses that locations are given: all fit in 32 bits, and no test is likely to compute
/// one by accident.
const FIRST_ADDRESS: u64 = 0x6c69_0000;
const APART: u64 = 64;

/// The address of a location.
pub(crate) fn address(id: LocationId) -> u64 {
    FIRST_ADDRESS + u64::from(id.0) * APART
}

/// The location at an address.
pub(crate) fn location_at(address: u64, locations: &[Location]) -> Option<LocationId> {
    location_around(address, locations).and_then(|(id, offset)| (offset == 0).then_some(id))
}

/// The location that contains an address, and the offset in it. The elements of an array are one behind
/// the other from the address of the first, where nothing else is: each has an address of its own to
/// spare.
pub(crate) fn location_around(address: u64, locations: &[Location]) -> Option<(LocationId, u8)> {
    let offset = address.checked_sub(FIRST_ADDRESS)?;
    let id = LocationId(u32::try_from(offset / APART).ok()?);
    let Some(array) = &locations.get(id.0 as usize)?.array else {
        return Some((id, (offset % APART) as u8));
    };
    let (inside, bytes) = (address - self::address(array.first), array.size.bits() / 8);
    let index = u32::try_from(inside / u64::from(bytes)).ok()?;
    let rest = (inside % u64::from(bytes)) as u8;
    (index < array.count).then_some((LocationId(array.first.0 + index), rest))
}

/// A constant as a machine word.
pub(crate) fn word(constant: Constant) -> u64 {
    match constant {
        Constant::Number(number) => number as u64,
        Constant::Address(id) => address(id),
    }
}

/// The steps of a thread; the last is [`Step::End`].
pub(crate) fn steps(thread: &Thread) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut starts = Vec::with_capacity(thread.x86().len() + 1);
    let mut jumps = Vec::new();
    for instruction in thread.x86() {
        starts.push(steps.len() as u32);
        match instruction.operation {
            Operation::Jump { when, target } => {
                jumps.push((steps.len(), target as usize));
                steps.push(Step::Jump { when, target });
            }
            Operation::Return => {
                jumps.push((steps.len(), thread.x86().len()));
                steps.push(Step::Jump { when: None, target: 0 });
            }
            _ => lower(instruction, &mut steps),
        }
    }
    starts.push(steps.len() as u32);
    for (jump, to) in jumps {
        if let Step::Jump { target, .. } = &mut steps[jump] {
            *target = starts[to];
        }
    }
    steps.push(Step::End);
    steps
}

/// The initial values of a thread's cells.
pub(crate) fn initial_cells(thread: &Thread) -> [u64; CELLS] {
    let mut cells = [0; CELLS];
    for initial in &thread.registers {
        cells[initial.register.0 as usize] = word(initial.value);
    }
    cells
}

/// What memory holds at first.
pub(crate) fn initial_memory(test: &Litmus) -> Vec<u64> {
    let sizes = crate::widths::of_locations(test);
    let values = test.locations.iter().map(|location| word(location.initial));
    values.zip(sizes).map(|(value, kind)| kind.size.cut(value)).collect()
}

fn target(memory: Memory) -> Target {
    match memory {
        Memory { location: Some(id), base: None, index: None, displacement: 0 } => {
            Target::Location(id)
        }
        Memory { location, displacement, .. } => {
            let start = location.map_or(0, address) as i64;
            let displacement = displacement.wrapping_add(start);
            Target::Computed(Memory { location: None, displacement, ..memory })
        }
    }
}

/// An operand without memory: memory is read into the scratch register first.
fn source(operand: Operand, size: Size, steps: &mut Vec<Step>) -> Source {
    match operand {
        Operand::Immediate(constant) => Source::Value(word(constant)),
        Operand::Register(register) => Source::Cell(register.0),
        Operand::Memory(memory) => {
            steps.push(Step::Load { to: SCRATCH, at: target(memory), size });
            Source::Cell(SCRATCH)
        }
    }
}

fn lower(instruction: &Instruction, steps: &mut Vec<Step>) {
    let size = instruction.size;
    match instruction.operation {
        Operation::Move { to: Operand::Register(to), from: Operand::Memory(from) } => {
            steps.push(Step::Load { to: to.0, at: target(from), size });
        }
        Operation::Move { to, from } => {
            let from = source(from, size, steps);
            write(to, from, size, steps);
        }
        Operation::Binary { operator, to, from } => {
            if let (true, Operand::Memory(memory)) = (instruction.locked, to) {
                let from = source(from, size, steps);
                let change = Change::Binary(operator, from);
                steps.push(Step::Modify { change, at: target(memory), size });
                return;
            }
            let right = source(from, size, steps);
            let left = source(to, size, steps);
            let result = result_cell(to);
            steps.push(Step::Binary { operator, to: Some(result), left, right, size });
            write_back(to, size, steps);
        }
        Operation::Unary { operator, to } => {
            if let (true, Operand::Memory(memory)) = (instruction.locked, to) {
                let change = Change::Unary(operator);
                steps.push(Step::Modify { change, at: target(memory), size });
                return;
            }
            let from = source(to, size, steps);
            steps.push(Step::Unary { operator, to: result_cell(to), from, size });
            write_back(to, size, steps);
        }
        Operation::Compare { operator, left, right } => {
            let left = source(left, size, steps);
            let right = source(right, size, steps);
            steps.push(Step::Binary { operator, to: None, left, right, size });
        }
        Operation::Exchange { register, with } => exchange(register, with, size, steps),
        Operation::ExchangeAdd { register, to } => {
            exchange_add(instruction.locked, register, to, size, steps);
        }
        Operation::CompareExchange { register, to } => {
            compare_exchange(instruction.locked, register, to, size, steps);
        }
        Operation::Fence(fence) => steps.push(Step::Fence(fence)),
        Operation::Jump { .. } | Operation::Nothing | Operation::Return => {}
    }
}

/// Where a result is computed: in place, or on its way to memory.
fn result_cell(to: Operand) -> Cell {
    match to {
        Operand::Register(register) => register.0,
        Operand::Immediate(_) | Operand::Memory(_) => SCRATCH,
    }
}

fn write_back(to: Operand, size: Size, steps: &mut Vec<Step>) {
    if let Operand::Memory(memory) = to {
        steps.push(Step::Store { from: Source::Cell(SCRATCH), at: target(memory), size });
    }
}

fn write(to: Operand, from: Source, size: Size, steps: &mut Vec<Step>) {
    match to {
        Operand::Register(register) => steps.push(Step::Move { to: register.0, from, size }),
        Operand::Memory(memory) => steps.push(Step::Store { from, at: target(memory), size }),
        Operand::Immediate(_) => {}
    }
}

fn exchange(register: Register, with: Operand, size: Size, steps: &mut Vec<Step>) {
    match with {
        Operand::Memory(memory) => {
            let change = Change::Exchange(register.0);
            steps.push(Step::Modify { change, at: target(memory), size });
        }
        Operand::Register(other) => {
            steps.push(Step::Move { to: SCRATCH, from: Source::Cell(other.0), size: Size::Quad });
            steps.push(Step::Move { to: other.0, from: Source::Cell(register.0), size });
            steps.push(Step::Move { to: register.0, from: Source::Cell(SCRATCH), size });
        }
        Operand::Immediate(_) => {}
    }
}

fn exchange_add(locked: bool, register: Register, to: Operand, size: Size, steps: &mut Vec<Step>) {
    if let (true, Operand::Memory(memory)) = (locked, to) {
        let change = Change::ExchangeAdd(register.0);
        steps.push(Step::Modify { change, at: target(memory), size });
        return;
    }
    let old = source(to, size, steps);
    steps.push(Step::Move { to: SCRATCH, from: old, size: Size::Quad });
    let (old, right) = (Source::Cell(SCRATCH), Source::Cell(register.0));
    steps.push(Step::Binary { operator: Binary::Add, to: Some(SUM), left: old, right, size });
    // The register may be part of the address, so it changes last; but of two registers that are
    // one, the sum is what stays.
    if let Operand::Memory(_) = to {
        write(to, Source::Cell(SUM), size, steps);
        steps.push(Step::Move { to: register.0, from: old, size });
    } else {
        steps.push(Step::Move { to: register.0, from: old, size });
        write(to, Source::Cell(SUM), size, steps);
    }
}

fn compare_exchange(
    locked: bool,
    register: Register,
    to: Operand,
    size: Size,
    steps: &mut Vec<Step>,
) {
    let Operand::Memory(memory) = to else { return };
    let at = target(memory);
    if locked {
        let change = Change::CompareExchange(register.0);
        steps.push(Step::Modify { change, at, size });
        return;
    }
    let accumulator = Register::ACCUMULATOR.0;
    let (left, right) = (Source::Cell(accumulator), Source::Cell(SCRATCH));
    steps.push(Step::Load { to: SCRATCH, at, size });
    steps.push(Step::Binary { operator: Binary::Subtract, to: None, left, right, size });
    let failed = steps.len() as u32 + 3;
    steps.push(Step::Jump { when: Some(Flag::NotEqual), target: failed });
    steps.push(Step::Store { from: Source::Cell(register.0), at, size });
    steps.push(Step::Jump { when: None, target: failed + 1 });
    steps.push(Step::Move { to: accumulator, from: right, size });
}
