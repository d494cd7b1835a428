//! Which accesses can be left out without a change of the verdict (`--shared-only`): those of memory
//! that only one hart touches, and of memory that nobody writes.
//!
//! Such memory takes part in no communication, so it could matter in two ways only.
//!
//! *Its own values.* A hart reads back what it wrote last, in program order; memory that nobody
//! writes always reads the same. Both are checked here, by replaying the log hart by hart. Where that
//! fails, the memory is kept, and the model says what is wrong.
//!
//! *As a step between others.* Preserved program order may lead from a shared access to a private
//! one and on to a shared one. Through dependencies: whoever loads from left-out memory depends on
//! what was stored there and on what the address depends on (rules 9 to 12), and an address
//! dependency of a left-out access holds back all later writes (rule 13), as a control dependency
//! does; `assemble` follows both. Through acquire and release: they order the two shared accesses
//! themselves. Through fences: a fence before the private access and one behind it, or a fence and a
//! dependency, may order what neither orders alone; [`is_transparent`] says whether the fences of a
//! hart cannot do that, and else nothing of this hart is left out. Memory that is accessed by an AMO
//! or by LR and SC is kept, since these are ordered by themselves.

use riscv::{Effect, Fence};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dependencies::chunks;
use super::run::{Action, Commit, Run};

/// What is known of eight bytes of memory.
#[derive(Clone, Copy)]
struct Chunk {
    /// The hart that touches it, as long as it is one.
    owner: u16,
    shared: bool,
    written: bool,
    kept: bool,
    /// What it holds, and which bytes of that are known.
    bytes: u64,
    known: u8,
}

/// The memory and the harts of which nothing is left out.
pub(super) struct LeftOut {
    chunks: FxHashMap<u64, Chunk>,
    transparent: Vec<bool>,
    everything_kept: bool,
}

impl LeftOut {
    /// What can be left out of a part of a run; nothing but loads of unknown values if memory is
    /// not asked for.
    pub(super) fn new(run: &Run, part: &[Commit], shared_only: bool) -> Self {
        let transparent = (0..run.harts.len()).map(|hart| {
            let fences = fences(run, part, hart as u16);
            is_transparent(&fences)
        });
        let mut left_out = LeftOut {
            chunks: FxHashMap::default(),
            transparent: transparent.collect(),
            everything_kept: !shared_only,
        };
        if shared_only {
            for commit in part.iter().filter(|commit| commit.accesses()) {
                left_out.touch(commit);
            }
            for commit in part.iter().filter(|commit| commit.accesses()) {
                left_out.replay(commit);
            }
            left_out.spread(part);
        }
        left_out
    }

    fn touch(&mut self, commit: &Commit) {
        let plain = matches!(commit.action, Action::Load | Action::LoadOfUnknown | Action::Store);
        let (first, last) = chunks(commit.address, commit.size);
        for number in first..=last {
            let chunk = self.chunks.entry(number).or_insert(Chunk {
                owner: commit.hart,
                shared: false,
                written: false,
                kept: false,
                bytes: 0,
                known: 0,
            });
            chunk.shared |= chunk.owner != commit.hart;
            chunk.written |= commit.writes();
            chunk.kept |= !plain;
        }
    }

    /// Reads and writes memory that is private or never written. A private one is replayed in
    /// program order, since all its accesses are of one hart.
    fn replay(&mut self, commit: &Commit) {
        for at in 0..commit.size {
            let address = commit.address + u64::from(at);
            let Some(chunk) = self.chunks.get_mut(&(address >> 3)) else { continue };
            let shift = (address & 7) as u32;
            let bit = 1_u8 << shift;
            let of = |value: u64| value >> (8 * u32::from(at)) & 0xff;
            if commit.reads() {
                let held = chunk.bytes >> (8 * shift) & 0xff;
                chunk.kept |= chunk.known & bit != 0 && held != of(commit.read);
            }
            if commit.action != Action::LoadOfUnknown {
                let value = if commit.writes() { of(commit.written) } else { of(commit.read) };
                chunk.bytes = chunk.bytes & !(0xff << (8 * shift)) | value << (8 * shift);
                chunk.known |= bit;
            }
        }
    }

    /// An access of two chunks is left out if both are: what is kept spreads to the other.
    fn spread(&mut self, part: &[Commit]) {
        let mut across: Vec<(u64, u64)> = Vec::new();
        for commit in part.iter().filter(|commit| commit.accesses()) {
            let (first, last) = chunks(commit.address, commit.size);
            if first != last {
                across.push((first, last));
            }
        }
        across.sort_unstable();
        across.dedup();
        let mut changed = true;
        while changed {
            changed = false;
            for (a, b) in &across {
                let keep = [a, b].into_iter().any(|number| !self.goes(*number));
                for number in [a, b] {
                    if let Some(chunk) = self.chunks.get_mut(number).filter(|_| keep) {
                        changed |= !chunk.kept;
                        chunk.kept = true;
                    }
                }
            }
        }
    }

    /// Whether eight bytes are left out.
    fn goes(&self, number: u64) -> bool {
        let Some(chunk) = self.chunks.get(&number) else { return false };
        let private = !chunk.shared && self.transparent[usize::from(chunk.owner)];
        !chunk.kept && (private || !chunk.written)
    }

    /// Whether an access is left out.
    pub(super) fn contains(&self, commit: &Commit) -> bool {
        if !self.transparent[usize::from(commit.hart)] {
            return false;
        }
        if commit.action == Action::LoadOfUnknown {
            return true;
        }
        let (first, last) = chunks(commit.address, commit.size);
        !self.everything_kept && commit.accesses() && (first..=last).all(|each| self.goes(each))
    }
}

/// The fences of a hart, each once.
fn fences(run: &Run, part: &[Commit], hart: u16) -> Vec<Fence> {
    let mut codes = FxHashSet::default();
    let mine = part.iter().filter(|each| each.hart == hart && each.action == Action::Fence);
    codes.extend(mine.map(|commit| commit.code));
    let mut fences: Vec<Fence> = codes
        .into_iter()
        .filter_map(|code| match run.code.get(code as usize)?.effect {
            Effect::Fence(fence) => Some(fence),
            _ => None,
        })
        .collect();
    fences.sort_unstable_by_key(|fence| {
        let sets = [fence.before_reads, fence.before_writes, fence.after_reads, fence.after_writes];
        (sets, fence.tso)
    });
    fences.dedup();
    fences
}

/// Whether plain private accesses between these fences order nothing that would not be ordered
/// without them.
///
/// A chain enters private accesses at a read or a write, by a fence or by a dependency of an earlier
/// read. Between them it goes from reads to reads and writes, and from writes to writes. It leaves by
/// a fence, or by a dependency of a read.
fn is_transparent(fences: &[Fence]) -> bool {
    const KINDS: [bool; 2] = [false, true];
    let leads = |from: bool, to: bool| !from || to;
    let by_fences = |enter: Fence, leave: Fence| {
        let mut chains = KINDS.iter().flat_map(|&a| KINDS.map(|inside| (a, inside)));
        chains.all(|(a, inside)| {
            let mut ends = KINDS.iter().flat_map(|&last| KINDS.map(|c| (last, c)));
            !enter.orders(a, inside)
                || ends.all(|(last, c)| {
                    !(leads(inside, last) && leave.orders(last, c))
                        || enter.orders(a, c)
                        || leave.orders(a, c)
                })
        })
    };
    let by_dependency_then = |leave: Fence| {
        let mut ends = KINDS.iter().flat_map(|&last| KINDS.map(|c| (last, c)));
        ends.all(|(last, c)| !leave.orders(last, c) || leave.orders(false, c))
    };
    let then_by_dependency =
        |enter: Fence| KINDS.iter().all(|&a| !enter.orders(a, false) || enter.orders(a, true));
    fences.iter().all(|&fence| by_dependency_then(fence) && then_by_dependency(fence))
        && fences.iter().all(|&a| fences.iter().all(|&b| by_fences(a, b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence(before: &str, after: &str) -> Fence {
        Fence {
            before_reads: before.contains('r'),
            before_writes: before.contains('w'),
            after_reads: after.contains('r'),
            after_writes: after.contains('w'),
            tso: false,
        }
    }

    #[test]
    fn fences_of_compilers_hide_nothing_that_private_accesses_would_order() {
        let compilers = [fence("rw", "rw"), fence("r", "rw"), fence("rw", "w")];
        assert!(is_transparent(&compilers));
        assert!(is_transparent(&[Fence { tso: true, ..fence("rw", "rw") }]));
        assert!(is_transparent(&[]));
    }

    #[test]
    fn two_half_fences_around_a_private_access_order_more_than_each() {
        // a: read; fence r,w; private write; fence w,r; c: read
        assert!(!is_transparent(&[fence("r", "w"), fence("w", "r")]));
        // a: read that a private write depends on; fence w,w; c: write
        assert!(!is_transparent(&[fence("w", "w")]));
        // a: write; fence w,r; private read that c, a write, depends on
        assert!(!is_transparent(&[fence("w", "r")]));
    }
}
