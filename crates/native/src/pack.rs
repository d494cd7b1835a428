//! States as few bits: every slot as wide as its numbers need, one after the other.
//!
//! The bits of slot k follow those of slot k−1, least significant first; byte i of the packed form
//! holds bits 8i … 8i+7. No slot crosses a multiple of eight bytes of the unpacked state, so eight
//! bytes at a time are squeezed by a mask of the bits in use: one instruction where the processor
//! has it (`pext` and `pdep`), else a few for each slot.

use murphi::ir::Model;
use murphi::layout::Layout;

/// How the states of a model are packed.
#[derive(Debug)]
pub(crate) struct Packing {
    /// For each eight bytes of a state, the bits in use.
    masks: Vec<u64>,
    bytes: usize,
    has_bmi2: bool,
}

impl Packing {
    pub(crate) fn of(model: &Model, layout: &Layout) -> Self {
        let mut masks = vec![0u64; layout.size as usize / 8];
        let mut bits = 0u64;
        for leaf in layout.leaves(model) {
            let mask = u64::MAX.checked_shr(64 - leaf.bits).unwrap_or(0);
            masks[leaf.offset as usize / 8] |= mask << (leaf.offset % 8 * 8);
            bits += u64::from(leaf.bits);
        }
        Packing { masks, bytes: bits.div_ceil(8) as usize, has_bmi2: has_bmi2() }
    }

    /// Bytes of a packed state.
    pub(crate) fn size(&self) -> usize {
        self.bytes
    }

    pub(crate) fn pack(&self, state: &[u8], out: &mut [u8]) {
        assert_eq!(state.len(), self.masks.len() * 8, "the state of another model");
        assert_eq!(out.len(), self.bytes, "room for a packed state of another model");
        #[cfg(target_arch = "x86_64")]
        if self.has_bmi2 {
            // SAFETY: the processor was asked.
            return unsafe { pack_bmi2(&self.masks, state, out) };
        }
        pack_with(&self.masks, state, out, gather);
    }

    pub(crate) fn unpack(&self, packed: &[u8], state: &mut [u8]) {
        assert_eq!(packed.len(), self.bytes, "the packed state of another model");
        assert_eq!(state.len(), self.masks.len() * 8, "room for a state of another model");
        #[cfg(target_arch = "x86_64")]
        if self.has_bmi2 {
            // SAFETY: the processor was asked.
            return unsafe { unpack_bmi2(&self.masks, packed, state) };
        }
        unpack_with(&self.masks, packed, state, scatter);
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
fn pack_bmi2(masks: &[u64], state: &[u8], out: &mut [u8]) {
    pack_with(masks, state, out, |word, mask| std::arch::x86_64::_pext_u64(word, mask));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn unpack_bmi2(masks: &[u64], packed: &[u8], state: &mut [u8]) {
    unpack_with(masks, packed, state, |bits, mask| std::arch::x86_64::_pdep_u64(bits, mask));
}

#[inline(always)]
fn pack_with(masks: &[u64], state: &[u8], out: &mut [u8], gather: impl Fn(u64, u64) -> u64) {
    let (mut pending, mut filled, mut at) = (0u64, 0u32, 0);
    let (words, _) = state.as_chunks::<8>();
    for (word, &mask) in words.iter().zip(masks) {
        let bits = gather(u64::from_le_bytes(*word), mask);
        let width = mask.count_ones();
        pending |= bits << filled;
        if filled + width >= 64 {
            out[at..at + 8].copy_from_slice(&pending.to_le_bytes());
            at += 8;
            pending = bits.checked_shr(64 - filled).unwrap_or(0);
            filled = filled + width - 64;
        } else {
            filled += width;
        }
    }
    let rest = filled.div_ceil(8) as usize;
    out[at..at + rest].copy_from_slice(&pending.to_le_bytes()[..rest]);
}

#[inline(always)]
fn unpack_with(masks: &[u64], packed: &[u8], state: &mut [u8], scatter: impl Fn(u64, u64) -> u64) {
    let mut position = 0usize;
    let (words, _) = state.as_chunks_mut::<8>();
    for (word, &mask) in words.iter_mut().zip(masks) {
        let bits = bits_at(packed, position);
        *word = scatter(bits, mask).to_le_bytes();
        position += mask.count_ones() as usize;
    }
}

/// 64 bits from a bit position on; beyond the end they are 0.
#[inline(always)]
fn bits_at(packed: &[u8], position: usize) -> u64 {
    let (byte, shift) = (position / 8, position % 8);
    let window = match packed.get(byte..byte + 16) {
        Some(window) => u128::from_le_bytes(window.try_into().expect("it has 16 bytes")),
        None => {
            let mut window = [0; 16];
            let rest = packed.get(byte..).unwrap_or(&[]);
            window[..rest.len()].copy_from_slice(rest);
            u128::from_le_bytes(window)
        }
    };
    (window >> shift) as u64
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

    fn packing(masks: Vec<u64>, has_bmi2: bool) -> Packing {
        let bits: u32 = masks.iter().map(|mask| mask.count_ones()).sum();
        Packing { masks, bytes: bits.div_ceil(8) as usize, has_bmi2 }
    }

    #[test]
    fn bits_follow_each_other_least_significant_first() {
        let packing = packing(vec![0x07_03_01, 0xFF], false);
        let mut state = vec![0u8; 16];
        state[..3].copy_from_slice(&[1, 2, 5]);
        state[8] = 0xA5;
        let mut packed = vec![0; packing.size()];
        packing.pack(&state, &mut packed);
        // 1, then 2 in two bits, then 5 in three bits, then 0xA5 in eight.
        let expected = 0b1u32 | 0b10 << 1 | 0b101 << 3 | 0xA5 << 6;
        assert_eq!(packed, expected.to_le_bytes()[..2]);
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
            let state: Vec<u8> = masks.iter().flat_map(|mask| (next() & mask).to_le_bytes()).collect();
            let mut all = Vec::new();
            for has_bmi2 in [false, has_bmi2()] {
                let packing = packing(masks.clone(), has_bmi2);
                let mut packed = vec![0xFF; packing.size()];
                packing.pack(&state, &mut packed);
                let mut unpacked = vec![0xFF; state.len()];
                packing.unpack(&packed, &mut unpacked);
                assert_eq!(unpacked, state);
                all.push(packed);
            }
            assert_eq!(all[0], all[1]);
        }
    }
}
