//! How wide the places of a test are, and how their values are shown.
//!
//! A location is as wide as its declared type and its widest access. Accesses of several widths to one
//! location of an x86 are taken, as herd7 takes them, as accesses of all of it.
//!
//! What a state shows of a place, and what a condition compares, is another matter: as much as the type
//! of the place has room for, and a place without a declared type is an `int`, whatever it holds. This
//! is how herd7 and litmus7 have it; `0:x5=0xffffffff` is true of a register of RISC-V that holds -1.

use crate::test::{
    Architecture, Constant, Instruction, Litmus, Location, LocationId, Operand, Operation, Place,
    Register, RiscSource, Size, Type,
};

/// What each location is.
pub fn location_kinds(test: &Litmus) -> Vec<Type> {
    of_locations(test)
}

/// What each of [`Litmus::observed`] is.
pub fn observed_kinds(test: &Litmus) -> Vec<Type> {
    test.observed().into_iter().map(|place| of_place(test, place)).collect()
}

pub(crate) fn of_locations(test: &Litmus) -> Vec<Type> {
    let mut widest: Vec<Option<Size>> = vec![None; test.locations.len()];
    for (id, size) in accesses(test) {
        let known = &mut widest[id.0 as usize];
        *known = (*known).max(Some(size));
    }
    let kinds = test.locations.iter().zip(widest);
    // What is not declared is an `int`, also where only bytes of it are accessed.
    let least = if test.architecture.is_x86() { None } else { Some(Size::Long) };
    let kind = |(location, widest): (&Location, Option<Size>)| match location.kind {
        // An element is as wide as its array says.
        Some(kind) if location.array.is_some() => kind,
        None => declared_or(None, widest.max(least)),
        kind => declared_or(kind, widest),
    };
    kinds.map(kind).collect()
}

/// What is shown of a place and compared.
pub(crate) fn of_place(test: &Litmus, place: Place) -> Type {
    let declared = match place {
        Place::Memory(id) => test.locations[id.0 as usize].kind,
        Place::Register(thread, register) => {
            let registers = &test.threads[thread as usize].registers;
            registers.iter().find(|initial| initial.register == register).and_then(|it| it.kind)
        }
    };
    declared.unwrap_or(Type::INT)
}

/// How much of a register its thread uses; nothing if it does not name it.
pub(crate) fn used_of(test: &Litmus, thread: u32, register: Register) -> Option<Size> {
    let thread = &test.threads[thread as usize];
    let used = thread.x86().iter().filter(|instruction| names(instruction, register));
    let risc = thread.risc().iter().filter(|one| one.registers().any(|each| each == register));
    match test.architecture {
        // All of a register is written whatever the instruction.
        Architecture::RiscV => Some(Size::Quad),
        // Narrow accesses of AArch64 are of 32-bit registers.
        _ => used.map(|used| used.size).chain(risc.map(|one| one.size.max(Size::Long))).max(),
    }
}

/// Locations of an x86 whose accesses are not all of one width. Those of the others are taken apart.
pub fn mixed_widths(test: &Litmus) -> Vec<LocationId> {
    if !test.architecture.is_x86() {
        return Vec::new();
    }
    let mut seen: Vec<Option<Size>> =
        test.locations.iter().map(|location| location.kind.map(|kind| kind.size)).collect();
    let mut mixed = Vec::new();
    for (id, size) in accesses(test) {
        let known = seen[id.0 as usize].get_or_insert(size);
        if *known != size && !mixed.contains(&id) {
            mixed.push(id);
        }
    }
    mixed
}

fn declared_or(kind: Option<Type>, widest: Option<Size>) -> Type {
    let plain = Type { size: widest.unwrap_or(Size::Long), ..Type::INT };
    match kind {
        // An access that is wider than its location would be cut short; herd7 does not.
        Some(kind) => Type { size: kind.size.max(widest.unwrap_or(kind.size)), ..kind },
        None => plain,
    }
}

/// Accesses that go to a location by its name or by a register that holds its address at first, with
/// their widths.
fn accesses(test: &Litmus) -> impl Iterator<Item = (LocationId, Size)> + '_ {
    let by_register = test.threads.iter().flat_map(|thread| {
        thread.risc().iter().filter_map(|one| match one.address()?.base {
            RiscSource::Register(base, _) => {
                let initial = thread.registers.iter().find(|each| each.register == base)?;
                match initial.value {
                    Constant::Address(id) => Some((id, one.size)),
                    Constant::Number(_) => None,
                }
            }
            RiscSource::Number(_) | RiscSource::Shifted { .. } => None,
        })
    });
    by_register.chain(accesses_by_name(test))
}

fn accesses_by_name(test: &Litmus) -> impl Iterator<Item = (LocationId, Size)> + '_ {
    let code = test.threads.iter().flat_map(|thread| thread.x86());
    code.flat_map(|instruction| {
        let operands = instruction.operation.operands().into_iter().flatten();
        operands.filter_map(|operand| match operand {
            Operand::Memory(memory) => Some((memory.location?, instruction.size)),
            _ => None,
        })
    })
}

fn names(instruction: &Instruction, register: Register) -> bool {
    let direct = match instruction.operation {
        Operation::Exchange { register: named, .. }
        | Operation::ExchangeAdd { register: named, .. } => named == register,
        Operation::CompareExchange { register: named, .. } => {
            named == register || register == Register::ACCUMULATOR
        }
        _ => false,
    };
    let named = Some(Operand::Register(register));
    direct || instruction.operation.operands().contains(&named)
}
