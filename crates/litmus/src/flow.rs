//! What the rest of a thread may still do, for every step: which registers it reads and changes,
//! which locations it reads and writes. Fixpoints over the steps, computed once for a test.

use crate::compute;
use crate::lower::{Step, Target};
use crate::test::LocationId;

/// A set of locations: a bit for each, the last standing for all beyond it.
pub(crate) type Locations = u64;

/// The bit of a location.
pub(crate) fn bit(id: LocationId) -> Locations {
    1 << id.0.min(63)
}

/// What may happen from a step on.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct FlowFacts {
    /// Registers whose present value may be read, by an instruction or by an observer at the end.
    pub(crate) live: u32,
    /// Observed registers that nothing reads or changes any more: their value is final.
    pub(crate) settled: u32,
    /// Locations that may be read.
    pub(crate) reads: Locations,
    /// Locations that may be written.
    pub(crate) writes: Locations,
}

/// What may happen from each step on, when these registers are observed at the end.
pub(crate) fn rest(steps: &[Step], observed: u32) -> Vec<FlowFacts> {
    let mut rest = vec![FlowFacts::default(); steps.len()];
    // Registers that instructions may read before they are overwritten, and may change at all.
    let mut read = vec![0_u32; steps.len()];
    let mut changed = vec![0_u32; steps.len()];
    let mut again = true;
    while again {
        again = false;
        for (index, step) in steps.iter().enumerate().rev() {
            let mut here = FlowFacts::default();
            let (mut read_here, mut changed_here) = (0, 0);
            for next in successors(steps, index) {
                let next_rest = rest[next];
                here.live |= next_rest.live;
                here.reads |= next_rest.reads;
                here.writes |= next_rest.writes;
                read_here |= read[next];
                changed_here |= changed[next];
            }
            if *step == Step::End {
                here.live = observed;
            }
            let (uses, overwrites) = compute::uses(step);
            here.live = here.live & !overwrites | uses;
            read_here = read_here & !overwrites | uses;
            changed_here |= compute::changes(step);
            let (reads, writes) = accesses(step);
            here.reads |= reads;
            here.writes |= writes;
            again |=
                here != rest[index] || read[index] != read_here || changed[index] != changed_here;
            (rest[index], read[index], changed[index]) = (here, read_here, changed_here);
        }
    }
    for (index, rest) in rest.iter_mut().enumerate() {
        rest.settled = observed & !read[index] & !changed[index];
    }
    rest
}

/// The steps that may follow.
fn successors(steps: &[Step], index: usize) -> impl Iterator<Item = usize> {
    let falls = match steps[index] {
        Step::End | Step::Jump { when: None, .. } => None,
        _ => Some(index + 1),
    };
    let jumps = match steps[index] {
        Step::Jump { target, .. } => Some(target as usize),
        _ => None,
    };
    falls.into_iter().chain(jumps)
}

/// The locations that a step may read and write.
fn accesses(step: &Step) -> (Locations, Locations) {
    let of = |target: Target| match target {
        Target::Location(id) => bit(id),
        Target::Computed(_) => Locations::MAX,
    };
    match *step {
        Step::Load { at, .. } => (of(at), 0),
        Step::Store { at, .. } => (0, of(at)),
        Step::Modify { at, .. } => (of(at), of(at)),
        _ => (0, 0),
    }
}
