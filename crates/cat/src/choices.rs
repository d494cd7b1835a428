//! What an execution leaves open, settled one choice at a time.
//!
//! First who read what where several writes have the value, then the order of two writes of an
//! address. Orders of writes are transitive, so each choice of one settles what follows from it.

use crate::bits::Matrix;
use crate::execution::{Bounds, Execution, Knowledge};

/// What the execution says, once for each way in which its last writes may be meant; none if it
/// contradicts itself.
pub(crate) fn starts(execution: &Execution) -> Vec<Knowledge> {
    let size = execution.size();
    let mut reads_from = Bounds { must: Matrix::empty(size), may: Matrix::empty(size) };
    for (read, sources) in &execution.sources {
        for &write in sources {
            reads_from.may.insert(write, *read);
        }
        match sources[..] {
            [only] => reads_from.must.insert(only, *read),
            // A value that nobody wrote: no execution has it.
            [] => return Vec::new(),
            _ => {}
        }
    }
    let mut coherence = Bounds { must: Matrix::empty(size), may: Matrix::empty(size) };
    let writes = execution.writes();
    for of_address in &writes {
        for &a in of_address {
            of_address.iter().filter(|&&b| a != b).for_each(|&b| coherence.may.insert(a, b));
        }
    }
    let mut all = vec![Knowledge { reads_from, coherence }];
    let initial = writes.iter().flat_map(|of| of.iter().skip(1).map(|&write| (of[0], write)));
    for (before, after) in initial.chain(execution.ordered_writes.iter().copied()) {
        all = all.into_iter().filter_map(|each| order(each, before, after)).collect();
    }
    for (address, candidates) in &execution.last_writes {
        let further = all.iter().flat_map(|knowledge| {
            candidates.iter().filter_map(|&write| last(&writes[*address], knowledge, write))
        });
        all = further.collect();
    }
    all
}

/// The same with one write before another, and what follows from that; `None` if it cannot be.
pub(crate) fn order(mut knowledge: Knowledge, before: usize, after: usize) -> Option<Knowledge> {
    let coherence = &mut knowledge.coherence;
    if coherence.must.has(before, after) {
        return Some(knowledge);
    }
    if !coherence.may.has(before, after) {
        return None;
    }
    coherence.must.insert(before, after);
    coherence.must = coherence.must.closure();
    if !coherence.must.is_irreflexive() {
        return None;
    }
    for (a, b) in coherence.must.inverse().pairs() {
        coherence.may.remove(a, b);
    }
    Some(knowledge)
}

/// The same with a write after all other writes of its address, which are these.
pub(crate) fn last(writes: &[usize], knowledge: &Knowledge, last: usize) -> Option<Knowledge> {
    let mut others = writes.iter().filter(|&&write| write != last);
    others.try_fold(knowledge.clone(), |so_far, &write| order(so_far, write, last))
}

/// The same with a read that took its value from this write.
pub(crate) fn read_from(
    sources: &[usize],
    knowledge: &Knowledge,
    read: usize,
    chosen: usize,
) -> Knowledge {
    let mut settled = knowledge.clone();
    for &write in sources.iter().filter(|&&write| write != chosen) {
        settled.reads_from.may.remove(write, read);
    }
    settled.reads_from.must.insert(chosen, read);
    settled
}

/// The first open choice, made in every way; nothing if all are made.
pub(crate) fn refine(execution: &Execution, knowledge: &Knowledge) -> Vec<Knowledge> {
    let open_read = execution.sources.iter().find(|(read, sources)| {
        !sources.iter().any(|&write| knowledge.reads_from.must.has(write, *read))
    });
    if let Some((read, sources)) = open_read {
        let possible = sources.iter().filter(|&&write| knowledge.reads_from.may.has(write, *read));
        return possible.map(|&write| read_from(sources, knowledge, *read, write)).collect();
    }
    let open_pair =
        knowledge.coherence.may.pairs().find(|&(a, b)| !knowledge.coherence.must.has(a, b));
    let Some((a, b)) = open_pair else { return Vec::new() };
    [(a, b), (b, a)].into_iter().filter_map(|(a, b)| order(knowledge.clone(), a, b)).collect()
}
