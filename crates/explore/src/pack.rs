//! Bit-packed states: what is stored and sent, as opposed to the aligned states rules work on.
//!
//! The packed form is the slots of a state in the order of the layout, each with as many bits as
//! its numbers need, the least significant first: byte i holds bits 8i … 8i+7, and the last byte
//! is filled up with zeros. Two states are equal exactly if their packed forms are. Packing and
//! unpacking walk a table with one entry for each slot and move 32 bits at a time; a slot costs
//! about a nanosecond. Slots are read as little-endian numbers, as rules write them.

use murphi::ir::Model;
use murphi::layout::{Layout, Leaf};
pub use murphi::machine::Codec;

/// The portable [`Codec`].
#[derive(Debug, Clone)]
pub struct BitCodec {
    fields: Vec<Field>,
    packed_size: usize,
}

/// At most 32 bits of a slot.
#[derive(Debug, Clone, Copy)]
struct Field {
    offset: u32,
    width: u8,
    bits: u8,
}

impl BitCodec {
    /// The codec of a model's states.
    pub fn new(model: &Model, layout: &Layout) -> Self {
        BitCodec::of_leaves(&layout.leaves(model))
    }

    /// The codec of states with these slots.
    pub fn of_leaves(leaves: &[Leaf]) -> Self {
        let mut fields = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            if leaf.bits > 32 {
                // A slot of 8 bytes: its two halves.
                fields.push(Field { offset: leaf.offset, width: 4, bits: 32 });
                let bits = (leaf.bits - 32) as u8;
                fields.push(Field { offset: leaf.offset + 4, width: 4, bits });
            } else {
                let (width, bits) = (leaf.width as u8, leaf.bits as u8);
                fields.push(Field { offset: leaf.offset, width, bits });
            }
        }
        let bits: u64 = leaves.iter().map(|leaf| u64::from(leaf.bits)).sum();
        BitCodec { fields, packed_size: bits.div_ceil(8) as usize }
    }
}

impl Codec for BitCodec {
    fn packed_size(&self) -> usize {
        self.packed_size
    }

    fn pack(&self, state: &[u8], packed: &mut [u8]) {
        let (mut bits, mut filled, mut at) = (0u64, 0u32, 0usize);
        for field in &self.fields {
            bits |= u64::from(field.load(state)) << filled;
            filled += u32::from(field.bits);
            if filled >= 32 {
                packed[at..at + 4].copy_from_slice(&(bits as u32).to_le_bytes());
                at += 4;
                bits >>= 32;
                filled -= 32;
            }
        }
        let rest = &mut packed[at..self.packed_size];
        let length = rest.len();
        rest.copy_from_slice(&bits.to_le_bytes()[..length]);
    }

    fn unpack(&self, packed: &[u8], state: &mut [u8]) {
        let (mut bits, mut filled, mut at) = (0u64, 0u32, 0usize);
        for field in &self.fields {
            if filled < u32::from(field.bits) {
                bits |= u64::from(four_bytes(packed, at)) << filled;
                at += 4;
                filled += 32;
            }
            let mask = (1u64 << field.bits) - 1;
            field.store(state, (bits & mask) as u32);
            bits >>= field.bits;
            filled -= u32::from(field.bits);
        }
    }
}

impl Field {
    #[inline(always)]
    fn load(self, state: &[u8]) -> u32 {
        let at = self.offset as usize;
        match self.width {
            1 => u32::from(state[at]),
            2 => u32::from(u16::from_le_bytes([state[at], state[at + 1]])),
            _ => four_bytes(state, at),
        }
    }

    #[inline(always)]
    fn store(self, state: &mut [u8], value: u32) {
        let at = self.offset as usize;
        match self.width {
            1 => state[at] = value as u8,
            2 => state[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes()),
            _ => state[at..at + 4].copy_from_slice(&value.to_le_bytes()),
        }
    }
}

/// The number in four bytes, of which those beyond the end are zero.
#[inline(always)]
fn four_bytes(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(four) => u32::from_le_bytes([four[0], four[1], four[2], four[3]]),
        None => {
            let mut four = [0; 4];
            let rest = bytes.get(at..).unwrap_or(&[]);
            four[..rest.len()].copy_from_slice(rest);
            u32::from_le_bytes(four)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Slots of these bit counts, each at a multiple of its width.
    fn leaves(bits: &[u32]) -> (Vec<Leaf>, usize) {
        let mut leaves = Vec::new();
        let mut end = 0u32;
        for &bits in bits {
            let width = (bits.div_ceil(8)).next_power_of_two();
            let offset = end.next_multiple_of(width);
            leaves.push(Leaf { offset, width, bits, ty: None });
            end = offset + width;
        }
        (leaves, end.next_multiple_of(8) as usize)
    }

    #[test]
    fn slots_are_packed_least_significant_bit_first() {
        let (leaves, size) = leaves(&[1, 3, 8, 12]);
        let codec = BitCodec::of_leaves(&leaves);
        assert_eq!(codec.packed_size(), 3);
        let mut state = vec![0; size];
        (state[0], state[1], state[2]) = (1, 0b101, 0xab);
        state[4..6].copy_from_slice(&0xcdeu16.to_le_bytes());
        let mut packed = vec![0; 3];
        codec.pack(&state, &mut packed);
        assert_eq!(packed, [0b1011 | 0xb0, 0xea, 0xcd]);
    }

    proptest! {
        #[test]
        fn unpacking_undoes_packing(slots in prop::collection::vec((1u32..=64, any::<u64>()), 0..40)) {
            let bits: Vec<u32> = slots.iter().map(|slot| slot.0).collect();
            let (leaves, size) = leaves(&bits);
            let codec = BitCodec::of_leaves(&leaves);
            let mut state = vec![0; size];
            for (leaf, slot) in leaves.iter().zip(&slots) {
                let value = slot.1 >> (64 - leaf.bits);
                let (at, width) = (leaf.offset as usize, leaf.width as usize);
                state[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            }
            let mut packed = vec![0xff; codec.packed_size()];
            codec.pack(&state, &mut packed);
            let mut unpacked = vec![0; size];
            codec.unpack(&packed, &mut unpacked);
            prop_assert_eq!(&unpacked, &state);
            // Bit by bit, as the format is defined.
            let mut at = 0;
            for (leaf, slot) in leaves.iter().zip(&slots) {
                let value = slot.1 >> (64 - leaf.bits);
                for bit in 0..leaf.bits {
                    prop_assert_eq!(u64::from(packed[at / 8] >> (at % 8) & 1), value >> bit & 1);
                    at += 1;
                }
            }
        }
    }
}
