//! A thread of an x86 as a [`Program`]: its steps, as the machines of the built-in models run them.

use super::thread::{Operand, Program, Registers, Request, Sources, ThreadAction};
use crate::compute::{self, Cells};
use crate::lower::{self, CELLS, Source, Step, Target};
use crate::test::{Fence, Size, Thread};
use history::{FenceName, Operation};

pub(crate) struct X86 {
    steps: Vec<Step>,
    initial: Cells,
}

impl X86 {
    pub(crate) fn new(thread: &Thread) -> Self {
        X86 { steps: lower::steps(thread), initial: lower::initial_cells(thread) }
    }

    fn cells(registers: &Registers) -> Cells {
        let mut cells = [0; CELLS];
        cells.copy_from_slice(&registers.values);
        cells
    }

    /// Puts back the registers after a step that used and changed some of them.
    fn keep(step: &Step, registers: &mut Registers, cells: Cells, also: Sources) {
        let sources = sources_of(compute::uses(step).0, registers) | also;
        registers.values.copy_from_slice(&cells);
        let changed = compute::changes(step);
        for (cell, known) in registers.sources.iter_mut().enumerate() {
            if changed & (1 << cell) != 0 {
                *known = sources;
            }
        }
    }
}

/// What the cells of a set depend on.
fn sources_of(cells: u32, registers: &Registers) -> Sources {
    let all = registers.sources.iter().enumerate();
    all.filter(|(cell, _)| cells & (1 << cell) != 0)
        .fold(Sources::NONE, |so_far, (_, each)| so_far | *each)
}

fn request(at: Target, size: Size, registers: &Registers) -> Request {
    let address = match at {
        Target::Location(id) => Operand { value: lower::address(id), sources: Sources::NONE },
        Target::Computed(memory) => {
            let used = [memory.base, memory.index.map(|(index, _)| index)];
            let cells = used.into_iter().flatten().fold(0, |cells, each| cells | 1 << each.0);
            let value = compute::address(&X86::cells(registers), memory);
            Operand { value, sources: sources_of(cells, registers) }
        }
    };
    Request { address, size, order: None }
}

impl Program for X86 {
    fn start(&self) -> Registers {
        Registers::new(self.initial.to_vec())
    }

    fn act(&self, step: u32, registers: &mut Registers) -> ThreadAction {
        match self.steps[step as usize] {
            Step::Load { at, size, .. } => {
                ThreadAction::Load { request: request(at, size, registers), exclusive: false }
            }
            Step::Store { from, at, size } => {
                let value = match from {
                    Source::Value(value) => Operand { value, sources: Sources::NONE },
                    Source::Cell(cell) => Operand {
                        value: registers.values[cell as usize],
                        sources: registers.sources[cell as usize],
                    },
                };
                ThreadAction::Store { request: request(at, size, registers), value }
            }
            Step::Modify { at, size, .. } => ThreadAction::Modify {
                request: request(at, size, registers),
                returns_nothing: false,
            },
            Step::Fence(fence) => {
                let name = match fence {
                    Fence::Full => FenceName::Mfence,
                    Fence::Store => FenceName::Sfence,
                    Fence::Load => FenceName::Lfence,
                };
                named_fence(name)
            }
            Step::End => ThreadAction::End,
            ref jump @ Step::Jump { when: Some(_), .. } => {
                let sources = sources_of(compute::uses(jump).0, registers);
                let mut next = step;
                compute::run(&mut X86::cells(registers), jump, &mut next);
                ThreadAction::Branched { sources, next }
            }
            ref computing => {
                let (mut cells, mut next) = (X86::cells(registers), step);
                compute::run(&mut cells, computing, &mut next);
                X86::keep(computing, registers, cells, Sources::NONE);
                ThreadAction::Computed { next }
            }
        }
    }

    fn loaded(&self, step: u32, registers: &mut Registers, value: u64, from: Sources) {
        let step = &self.steps[step as usize];
        let Step::Load { to, size, .. } = *step else { return };
        let kept = match size {
            Size::Byte | Size::Word => registers.sources[to as usize],
            Size::Long | Size::Quad => Sources::NONE,
        };
        let mut cells = X86::cells(registers);
        compute::set(&mut cells, to, value, size);
        registers.values.copy_from_slice(&cells);
        registers.sources[to as usize] = kept | from;
    }

    fn stored(&self, _: u32, _: &mut Registers, _: Option<usize>) {}

    fn modified(
        &self,
        step: u32,
        registers: &mut Registers,
        value: u64,
        from: Sources,
    ) -> Option<Operand> {
        let step = &self.steps[step as usize];
        let Step::Modify { change, size, .. } = *step else { return None };
        let sources = sources_of(compute::uses(step).0, registers);
        let mut cells = X86::cells(registers);
        let written = compute::modify(&mut cells, change, value, size);
        X86::keep(step, registers, cells, from);
        Some(Operand { value: written, sources })
    }

    fn has_atomics_as_one(&self) -> bool {
        false
    }

    fn ignores_sizes(&self) -> bool {
        true
    }
}

/// A fence with a name.
pub(super) fn named_fence(name: FenceName) -> ThreadAction {
    match name.operation() {
        Operation::Fence { before, after } => {
            ThreadAction::Fence { before, after, name: Some(name) }
        }
        _ => unreachable!("a fence is a fence"),
    }
}
