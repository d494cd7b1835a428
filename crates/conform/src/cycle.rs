//! Finds the ordering cycle (the paper's nice cycle) in a memory trace.
//!
//! The last state of a lemma says which processors take part in the cycle, and at which addresses
//! each enters and leaves it. The events of the cycle are the ones at which the automaton Check
//! changes its state.

use murphi::interpret::Interpreter;
use murphi::ir::TypeKind;
use murphi::value::{State, Value, render_simple};

use crate::events::Protocol;
use crate::trace::{MemoryEvent, MemoryTrace};

/// An ordering cycle: processors and addresses in turn, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NiceCycle {
    /// For each processor, the numbers (from 0) of its two events in the trace. The first precedes
    /// the second in program order; the second precedes the first event of the next processor in
    /// the order of an address.
    pub parts: Vec<(usize, usize)>,
}

/// The part of one processor: where it enters and leaves the cycle.
struct Part {
    processor: String,
    enters: String,
    leaves: String,
}

/// Finds the cycle of a lemma's last state in the trace that leads to it.
pub(crate) fn find(
    protocol: &Protocol,
    lemma: &Interpreter,
    last: &State,
    trace: &MemoryTrace,
) -> Option<NiceCycle> {
    let mut rest = parts(protocol, lemma, last)?;
    let mut cycle = NiceCycle { parts: Vec::new() };
    let mut next = 0;
    while !rest.is_empty() {
        let part = rest.remove(next);
        cycle.parts.push(events(&part, &trace.events)?);
        next = match rest.is_empty() {
            true => 0,
            false => rest.iter().position(|other| other.enters == part.leaves)?,
        };
    }
    (!cycle.parts.is_empty()).then_some(cycle)
}

fn parts(protocol: &Protocol, lemma: &Interpreter, last: &State) -> Option<Vec<Part>> {
    let model = lemma.model();
    let variable = |name: &str| {
        let name = format!("{}{name}", protocol.prefix);
        let at = model.globals.iter().position(|global| global.name == name)?;
        let TypeKind::Array { index, element } = *model.kind(model.globals[at].ty) else {
            return None;
        };
        match &last.0[at] {
            Value::Array(values) => Some((index, element, values)),
            _ => None,
        }
    };
    let (processors, addresses, enters) = variable("enters")?;
    let (_, _, leaves) = variable("leaves")?;
    let mut parts = Vec::new();
    for (at, (enters, leaves)) in enters.iter().zip(leaves).enumerate() {
        if let (Value::Simple(Some(enters)), Value::Simple(Some(leaves))) = (enters, leaves) {
            let processor = model.lowest(processors) + at as i64;
            parts.push(Part {
                processor: render_simple(model, processors, processor),
                enters: render_simple(model, addresses, *enters),
                leaves: render_simple(model, addresses, *leaves),
            });
        }
    }
    Some(parts)
}

/// The two events of one processor at which Check changes its state.
fn events(part: &Part, events: &[MemoryEvent]) -> Option<(usize, usize)> {
    let own = |event: &MemoryEvent| event.processor == part.processor;
    let enters =
        |event: &MemoryEvent| own(event) && event.address == part.enters && event.class != 0;
    let leaves = |event: &MemoryEvent| {
        let old = event.class == 0 || (event.is_store && event.class == 1);
        own(event) && event.address == part.leaves && old
    };
    let first = events.iter().position(enters)?;
    let second = events.iter().skip(first + 1).position(leaves)?;
    Some((first, first + 1 + second))
}

impl NiceCycle {
    /// The cycle as text, one edge per line.
    pub fn describe(&self, trace: &MemoryTrace) -> Vec<String> {
        let line = |event: usize| trace.events[event].line();
        let mut lines = Vec::new();
        for (number, &(first, second)) in self.parts.iter().enumerate() {
            let next = self.parts[(number + 1) % self.parts.len()].0;
            let address = &trace.events[second].address;
            lines.push(format!("{} before {} in program order", line(first), line(second)));
            lines.push(format!("{} before {} in the order of {address}", line(second), line(next)));
        }
        lines
    }
}
