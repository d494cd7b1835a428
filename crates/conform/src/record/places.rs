//! The places in a state that hold the events of the last step, the values that are offered to the
//! next step, and the values that the protocol keeps; and how they are read and written.

use murphi::interpret::Interpreter;
use murphi::ir::{GlobalId, Model, TypeId, TypeKind};
use murphi::layout::Layout;

use super::{EventKind, RecordedEvent, Recording};
use crate::events::Protocol;

/// The places in a state.
#[derive(Debug, Clone)]
pub(super) struct Places {
    /// The number of events of the last step.
    recorded: Slot,
    /// The events, one after the other: the size of each, and the offsets of its parts.
    first: usize,
    length: usize,
    stride: usize,
    parts: [Slot; 4],
    /// The hidden variables for fresh values.
    offered: Vec<Slot>,
    /// The places in which the protocol keeps values.
    data: Vec<Slot>,
}

impl Places {
    /// Finds the places by the names of the recorder. `offered` are the hidden variables for fresh
    /// values.
    pub(super) fn of(
        interpreter: &Interpreter,
        protocol: &Protocol,
        value: TypeId,
        offered: &[GlobalId],
    ) -> Places {
        let (model, layout) = (interpreter.model(), interpreter.layout());
        let global = |name: &str| {
            let name = format!("{}{name}", protocol.prefix);
            let at = model.globals.iter().position(|global| global.name == name);
            at.expect("the recorder declares its variables")
        };
        let slot = |at: usize| Slot {
            offset: layout.globals[at] as usize,
            width: layout.of_type(model.globals[at].ty).size as usize,
        };
        let events = global("events");
        let first = layout.globals[events] as usize;
        let array = layout.of_type(model.globals[events].ty);
        let TypeKind::Array { element, .. } = model.kind(model.globals[events].ty) else {
            unreachable!("the recorder declares an array of events")
        };
        let TypeKind::Record(fields) = model.kind(*element) else {
            unreachable!("an event is a record")
        };
        let offsets = &layout.of_type(*element).fields;
        let part = |at: usize| Slot {
            offset: first + offsets[at] as usize,
            width: layout.of_type(fields[at].ty).size as usize,
        };
        Places {
            recorded: slot(global("recorded")),
            first,
            length: array.size as usize,
            stride: array.stride as usize,
            parts: [part(0), part(1), part(2), part(3)],
            offered: offered.iter().map(|global| slot(global.0 as usize)).collect(),
            data: data(model, layout, value, &protocol.prefix),
        }
    }
}

/// The places in which the protocol's variables hold values.
fn data(model: &Model, layout: &Layout, value: TypeId, prefix: &str) -> Vec<Slot> {
    let mut leaves = Vec::new();
    for (global, &offset) in model.globals.iter().zip(&layout.globals) {
        if !global.name.starts_with(prefix) {
            layout.push_leaves(model, global.ty, offset, &mut leaves);
        }
    }
    let data = leaves.iter().filter(|leaf| leaf.ty == Some(value));
    data.map(|leaf| Slot { offset: leaf.offset as usize, width: leaf.width as usize }).collect()
}

/// A number in a state: 0 if undefined, else the number plus one.
#[derive(Debug, Clone, Copy)]
struct Slot {
    offset: usize,
    width: usize,
}

impl Slot {
    fn get(self, state: &[u8]) -> u64 {
        let mut bytes = [0; 8];
        bytes[..self.width].copy_from_slice(&state[self.offset..self.offset + self.width]);
        u64::from_le_bytes(bytes)
    }

    fn put(self, state: &mut [u8], number: u64) {
        let bytes = number.to_le_bytes();
        state[self.offset..self.offset + self.width].copy_from_slice(&bytes[..self.width]);
    }

    fn moved(self, by: usize) -> Slot {
        Slot { offset: self.offset + by, ..self }
    }
}

impl Recording {
    /// Whether the step that led to a state had memory events.
    pub fn has_events(&self, state: &[u8]) -> bool {
        self.places.recorded.get(state) > 1
    }

    /// The events of the step that led to a state, in their order.
    pub fn read_events(&self, state: &[u8], events: &mut Vec<RecordedEvent>) {
        let Places { recorded, stride, parts, .. } = self.places;
        let count = recorded.get(state).saturating_sub(1) as usize;
        for number in 0..count {
            let [kind, processor, address, value] =
                parts.map(|part| part.moved(number * stride).get(state));
            let kind = match kind {
                1 => EventKind::Load,
                2 => EventKind::Store,
                _ => EventKind::Commit,
            };
            let (processor, address) = ((processor - 1) as u32, (address - 1) as u32);
            events.push(RecordedEvent { kind, processor, address, value: value - 1 });
        }
    }

    /// Removes the events of the last step from the state, and returns them in their order.
    pub fn take_events(&self, state: &mut [u8], events: &mut Vec<RecordedEvent>) {
        self.read_events(state, events);
        self.forget_events(state);
    }

    /// Empties the array of events.
    pub fn forget_events(&self, state: &mut [u8]) {
        if self.has_events(state) {
            let Places { recorded, first, length, .. } = self.places;
            recorded.put(state, 1);
            state[first..first + length].fill(0);
        }
    }

    /// The largest number of values that a step takes.
    pub fn offers(&self) -> usize {
        self.places.offered.len()
    }

    /// Sets the value that the next step takes; `number` is below [`Recording::offers`].
    pub fn offer(&self, state: &mut [u8], number: usize, value: u64) {
        self.places.offered[number].put(state, value + 1);
    }

    /// How many of the offered values a rule takes.
    pub fn takes(&self, rule: u32) -> usize {
        self.taken[rule as usize]
    }

    /// The values that the protocol keeps in a state, without duplicates.
    pub fn values_in(&self, state: &[u8]) -> Vec<u64> {
        let slots = self.places.data.iter().map(|slot| slot.get(state));
        let mut values: Vec<u64> = slots.filter_map(|slot| slot.checked_sub(1)).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}
