//! States as few bits: every slot as wide as its numbers need, one after the other.
//!
//! The bits of slot k follow those of slot k−1, least significant first; byte i of the packed form
//! holds bits 8i … 8i+7. No slot crosses a multiple of eight bytes of the unpacked state, so eight
//! bytes at a time are squeezed by a mask of the bits in use: one instruction where the processor
//! has it (`pext` and `pdep`), else a few for each slot.
//!
//! Packing moves bits and does nothing else, so what a step changes in the packed state is what it
//! changes in the state, packed. A rule writes one to three words of eight bytes; only these are
//! squeezed, and the rest comes from the packed state before.

use murphi::ir::Model;
use murphi::layout::Layout;
use murphi::machine::{Step, line_bits};

/// How the states of a model are packed.
#[derive(Debug)]
pub(crate) struct Packing {
    /// Bytes of a state, a multiple of 8.
    unpacked: usize,
    /// Bytes of a packed state.
    packed: usize,
    pack: Plan,
    unpack: Plan,
    changes: Option<Changes>,
    has_bmi2: bool,
}

/// Where the bits of each word of a state are in the packed state.
#[derive(Debug, Default)]
struct Changes {
    /// For each word its parts. There are two at most; the mask of one that there is not is 0.
    parts: Vec<[ChangedPart; 2]>,
}

/// Some bits of a word of the state, all in the same word of the packed state.
#[derive(Debug, Default)]
struct ChangedPart {
    mask: u64,
    /// The number of the packed word, and where they begin in it.
    word: u32,
    shift: u32,
}

/// Packed states that are changed word by word have at most so many words.
const MOST_WORDS: usize = 16;

/// Words to write, each put together from parts of words that are read.
///
/// All words are eight bytes. The last one of a packed state may overlap the one before, so that
/// none reaches beyond the end; a packed state of less than eight bytes is one word.
#[derive(Debug, Default)]
struct Plan {
    /// Where each word goes, in bytes, and where its parts end among all parts.
    words: Vec<(u32, u32)>,
    parts: Vec<Part>,
}

/// Some bits of a word.
#[derive(Debug)]
struct Part {
    /// Which, in the unpacked word.
    mask: u64,
    /// Where the other word begins, in bytes.
    from: u32,
    /// Where they begin in the packed word.
    shift: u32,
}

impl Packing {
    pub(crate) fn of(model: &Model, layout: &Layout) -> Self {
        let mut masks = vec![0u64; layout.size as usize / 8];
        for leaf in layout.leaves(model) {
            masks[leaf.offset as usize / 8] |= ones(leaf.bits) << (leaf.offset % 8 * 8);
        }
        Packing::of_masks(&masks, has_bmi2())
    }

    /// For each eight bytes of a state, the bits in use.
    fn of_masks(masks: &[u64], has_bmi2: bool) -> Self {
        let bits: usize = masks.iter().map(|mask| mask.count_ones() as usize).sum();
        let packed = bits.div_ceil(8);
        Packing {
            unpacked: masks.len() * 8,
            packed,
            pack: Plan::to_pack(masks, packed),
            unpack: Plan::to_unpack(masks, packed),
            changes: Changes::of(masks, packed),
            has_bmi2,
        }
    }

    /// Bytes of a packed state.
    pub(crate) fn size(&self) -> usize {
        self.packed
    }

    #[inline]
    pub(crate) fn pack(&self, state: &[u8], out: &mut [u8]) {
        assert_eq!(state.len(), self.unpacked, "the state of another model");
        assert_eq!(out.len(), self.packed, "room for a packed state of another model");
        if self.packed < 8 {
            let mut word = [0; 8];
            self.pack_words(state, &mut word);
            out.copy_from_slice(&word[..self.packed]);
        } else {
            self.pack_words(state, out);
        }
    }

    fn pack_words(&self, state: &[u8], out: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        if self.has_bmi2 {
            // SAFETY: the processor was asked.
            return unsafe { pack_bmi2(&self.pack, state, out) };
        }
        self.pack.run(state, out, |word, part| gather(word, part.mask) << part.shift);
    }

    /// Packs the state that a step led to, unless it is the one before. Says whether it is another.
    #[inline]
    pub(crate) fn pack_step(&self, step: &Step<'_>, out: &mut [u8]) -> bool {
        assert_eq!(step.before.len(), self.unpacked, "the state of another model");
        assert_eq!(step.after.len(), self.unpacked, "the state of another model");
        assert_eq!(step.packed.len(), self.packed, "the packed state of another model");
        assert_eq!(out.len(), self.packed, "room for a packed state of another model");
        #[cfg(target_arch = "x86_64")]
        if let Some(changes) = &self.changes
            && self.has_bmi2
        {
            // SAFETY: the processor was asked.
            return unsafe { pack_step_bmi2(changes, step, out) };
        }
        let has_changed = step.before != step.after;
        if has_changed {
            self.pack(step.after, out);
        }
        has_changed
    }

    #[inline]
    pub(crate) fn unpack(&self, packed: &[u8], state: &mut [u8]) {
        assert_eq!(packed.len(), self.packed, "the packed state of another model");
        assert_eq!(state.len(), self.unpacked, "room for a state of another model");
        if self.packed < 8 {
            let mut word = [0; 8];
            word[..self.packed].copy_from_slice(packed);
            self.unpack_words(&word, state);
        } else {
            self.unpack_words(packed, state);
        }
    }

    fn unpack_words(&self, packed: &[u8], state: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        if self.has_bmi2 {
            // SAFETY: the processor was asked.
            return unsafe { unpack_bmi2(&self.unpack, packed, state) };
        }
        self.unpack.run(packed, state, |word, part| scatter(word >> part.shift, part.mask));
    }
}

fn has_bmi2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn pack_bmi2(plan: &Plan, state: &[u8], out: &mut [u8]) {
    plan.run(state, out, |word, part| std::arch::x86_64::_pext_u64(word, part.mask) << part.shift);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn unpack_bmi2(plan: &Plan, packed: &[u8], state: &mut [u8]) {
    plan.run(packed, state, |word, part| {
        std::arch::x86_64::_pdep_u64(word >> part.shift, part.mask)
    });
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn pack_step_bmi2(changes: &Changes, step: &Step<'_>, out: &mut [u8]) -> bool {
    changes.run(step, out, |word, mask| std::arch::x86_64::_pext_u64(word, mask))
}

impl Changes {
    /// Nothing if a line of a state is more than a word, or a packed state has less than a word or
    /// more than [`MOST_WORDS`].
    fn of(masks: &[u64], packed: usize) -> Option<Changes> {
        if line_bits(masks.len() * 8) > 3 || !(8..=MOST_WORDS * 8).contains(&packed) {
            return None;
        }
        let (mut changes, mut position) = (Changes::default(), 0);
        for &mask in masks {
            let width = mask.count_ones() as usize;
            let mut done = 0;
            let parts = [(); 2].map(|()| {
                let shift = position % 64;
                let kept = (64 - shift).min(width - done);
                let part = ChangedPart {
                    mask: bits_of(mask, done, kept),
                    word: (position / 64) as u32,
                    shift: shift as u32,
                };
                (done, position) = (done + kept, position + kept);
                part
            });
            changes.parts.push(parts);
        }
        Some(changes)
    }

    #[inline(always)]
    fn run(&self, step: &Step<'_>, out: &mut [u8], squeeze: impl Fn(u64, u64) -> u64) -> bool {
        let (before, after) = (step.before.as_chunks::<8>().0, step.after.as_chunks::<8>().0);
        let mut words = [0; MOST_WORDS];
        let (whole, rest) = step.packed.as_chunks::<8>();
        for (word, bytes) in words.iter_mut().zip(whole) {
            *word = u64::from_le_bytes(*bytes);
        }
        let spare = 64 - 8 * rest.len() as u32;
        if !rest.is_empty() {
            let last = step.packed.last_chunk().expect("there is a whole word");
            words[whole.len()] = u64::from_le_bytes(*last) >> spare;
        }
        let mut written = step.written.unwrap_or(u64::MAX);
        written &= ones(self.parts.len() as u32);
        let mut has_changed = 0;
        while written != 0 {
            let word = written.trailing_zeros() as usize;
            written &= written - 1;
            let change = u64::from_le_bytes(before[word]) ^ u64::from_le_bytes(after[word]);
            has_changed |= change;
            for part in &self.parts[word] {
                let moved = squeeze(change, part.mask) << (part.shift % 64);
                words[part.word as usize % MOST_WORDS] ^= moved;
            }
        }
        if has_changed == 0 {
            return false;
        }
        let (whole, rest) = out.as_chunks_mut::<8>();
        for (bytes, word) in whole.iter_mut().zip(&words) {
            *bytes = word.to_le_bytes();
        }
        if !rest.is_empty() {
            // The last eight bytes, some of them for the second time.
            let [low, high] = [words[whole.len() - 1], words[whole.len()]];
            let last = low >> (64 - spare) | high << spare;
            *out.last_chunk_mut().expect("there is a whole word") = last.to_le_bytes();
        }
        true
    }
}

impl Plan {
    fn to_pack(masks: &[u64], packed: usize) -> Self {
        let mut plan = Plan::default();
        let ends = masks.iter().scan(0, |end, mask| {
            *end += mask.count_ones() as usize;
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        for number in 0..packed.div_ceil(8) {
            let at = word_at(number * 8, packed);
            let (first, last) = (at * 8, at * 8 + 64);
            for word in ends.partition_point(|&end| end <= first)..masks.len() {
                let begin = ends[word] - masks[word].count_ones() as usize;
                if begin >= last {
                    break;
                }
                // The bits before the packed word, and those after it, are in parts of others.
                let skipped = first.saturating_sub(begin);
                let kept = ends[word].min(last) - begin.max(first);
                if kept > 0 {
                    plan.parts.push(Part {
                        mask: bits_of(masks[word], skipped, kept),
                        from: word as u32 * 8,
                        shift: begin.saturating_sub(first) as u32,
                    });
                }
            }
            plan.words.push((at as u32, plan.parts.len() as u32));
        }
        plan
    }

    fn to_unpack(masks: &[u64], packed: usize) -> Self {
        let mut plan = Plan::default();
        let mut position = 0;
        for (word, &mask) in masks.iter().enumerate() {
            let width = mask.count_ones() as usize;
            let mut done = 0;
            while done < width {
                let at = word_at((position + done) / 8, packed);
                let shift = position + done - at * 8;
                let kept = (64 - shift).min(width - done);
                let mask = bits_of(mask, done, kept);
                plan.parts.push(Part { mask, from: at as u32, shift: shift as u32 });
                done += kept;
            }
            plan.words.push((word as u32 * 8, plan.parts.len() as u32));
            position += width;
        }
        plan
    }

    #[inline(always)]
    fn run(&self, from: &[u8], to: &mut [u8], part_of: impl Fn(u64, &Part) -> u64) {
        let mut begin = 0;
        for &(at, end) in &self.words {
            let mut word = 0;
            for part in &self.parts[begin..end as usize] {
                let bytes = from[part.from as usize..].first_chunk().expect("a word is inside");
                word |= part_of(u64::from_le_bytes(*bytes), part);
            }
            *to[at as usize..].first_chunk_mut().expect("a word is inside") = word.to_le_bytes();
            begin = end as usize;
        }
    }
}

/// Where a word that begins at this byte is read or written, so that it does not reach beyond the
/// end.
fn word_at(byte: usize, size: usize) -> usize {
    byte.min(size.saturating_sub(8))
}

/// The bits of a mask after the lowest `skipped`, `kept` of them.
fn bits_of(mask: u64, skipped: usize, kept: usize) -> u64 {
    scatter(ones(kept as u32) << skipped, mask)
}

/// The bits of `word` under `mask`, moved together.
fn gather(word: u64, mask: u64) -> u64 {
    let (mut bits, mut filled, mut mask) = (0, 0, mask);
    while mask != 0 {
        let (skip, run) = first_run(mask);
        bits |= (word >> skip & ones(run)) << filled;
        filled += run;
        mask &= !(ones(run) << skip);
    }
    bits
}

/// Bits moved apart to where `mask` has them.
fn scatter(bits: u64, mask: u64) -> u64 {
    let (mut word, mut used, mut mask) = (0, 0, mask);
    while mask != 0 {
        let (skip, run) = first_run(mask);
        word |= (bits >> used & ones(run)) << skip;
        used += run;
        mask &= !(ones(run) << skip);
    }
    word
}

/// Where the lowest run of ones begins and how long it is.
fn first_run(mask: u64) -> (u32, u32) {
    let skip = mask.trailing_zeros();
    (skip, (mask >> skip).trailing_ones())
}

fn ones(count: u32) -> u64 {
    u64::MAX.checked_shr(64 - count).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_follow_each_other_least_significant_first() {
        let packing = Packing::of_masks(&[0x07_03_01, 0xFF], false);
        let mut state = vec![0u8; 16];
        state[..3].copy_from_slice(&[1, 2, 5]);
        state[8] = 0xA5;
        let mut packed = vec![0; packing.size()];
        packing.pack(&state, &mut packed);
        // 1, then 2 in two bits, then 5 in three bits, then 0xA5 in eight.
        let expected = 0b1u32 | 0b10 << 1 | 0b101 << 3 | 0xA5 << 6;
        assert_eq!(packed, expected.to_le_bytes()[..2]);
    }

    /// Changes some words of a state.
    fn steps_are_packed_like_states(
        packing: &Packing,
        masks: &[u64],
        state: &[u8],
        next: &mut impl FnMut() -> u64,
    ) {
        let packed_state = |state: &[u8]| {
            let mut packed = vec![0; packing.size()];
            packing.pack(state, &mut packed);
            packed
        };
        let before = packed_state(state);
        for _ in 0..20 {
            let mut after = state.to_vec();
            let mut written = 0;
            for (word, mask) in masks.iter().enumerate() {
                let chosen = next() % 4;
                if chosen < 2 {
                    written |= 1 << word;
                }
                if chosen == 0 {
                    let bytes = (next() & next() & mask).to_le_bytes();
                    after[word * 8..word * 8 + 8].copy_from_slice(&bytes);
                }
            }
            for written in [Some(written), Some(written | 1 << 63), None] {
                let step = Step { before: state, packed: &before, after: &after, written };
                let mut packed = vec![0xFF; packing.size()];
                assert_eq!(packing.pack_step(&step, &mut packed), after != state);
                if after != state {
                    assert_eq!(packed, packed_state(&after));
                }
            }
        }
    }

    #[test]
    fn unpacking_reverses_packing_with_and_without_the_instruction() {
        let mut random = 0x9E37_79B9_7F4A_7C15u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for words in 0..20 {
            let masks: Vec<u64> = (0..words)
                .map(|_| match next() % 5 {
                    0 => 0,
                    1 => u64::MAX,
                    _ => next() & next(),
                })
                .collect();
            let state: Vec<u8> =
                masks.iter().flat_map(|mask| (next() & mask).to_le_bytes()).collect();
            let mut all = Vec::new();
            for has_bmi2 in [false, has_bmi2()] {
                let packing = Packing::of_masks(&masks, has_bmi2);
                let mut packed = vec![0xFF; packing.size()];
                packing.pack(&state, &mut packed);
                let mut unpacked = vec![0xFF; state.len()];
                packing.unpack(&packed, &mut unpacked);
                assert_eq!(unpacked, state);
                steps_are_packed_like_states(&packing, &masks, &state, &mut next);
                all.push(packed);
            }
            assert_eq!(all[0], all[1]);
        }
    }
}
