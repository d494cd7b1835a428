//! Makes the [`Tables`] of a model, where they stay small.
//!
//! A *unit* is what adds to keys together: a slot that belongs to one member or to nobody; or the
//! neighbouring slots of a cell with several indices, whose hash goes to all members that the
//! cell mentions. Units are the same for all members, so that permuted states have permuted keys.
//! Neighbouring units share a group while their bits, each slot taken as wide as the widest, are
//! at most eight: then one multiplication gathers them without carries (field i of b bits is moved
//! from bit 8i to bit 64 − nb + ib, and every other partial product falls beside these bits).

use std::collections::HashMap;

use super::hash::fold;
use super::plan::{Axis, Plan, Set, for_each_combination};
use super::tables::{Group, LANES, Listed, Move, Pair, Row, Tables};

/// The most bits of a group.
const GROUP_BITS: u32 = 8;
/// The most pairs of members of a scalarset.
const MOST_PAIRS: usize = 11;
/// The most rows, and the most moves of all permutations.
const MOST_ROWS: usize = 1 << 14;
const MOST_MOVES: usize = 1 << 16;

/// A slot below indices over scalarsets, or one that may name a member.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) axes: Vec<Axis>,
    pub(super) offset: u32,
    pub(super) width: u32,
    pub(super) bits: u32,
    /// Where its decoder begins, and how many numbers that has.
    pub(super) decoder: Option<(u32, u32)>,
}

/// The tables for a state of these slots; `None` if they would be large. Without a seed all keys
/// are equal.
pub(super) fn tabulate(plan: &Plan, mut slots: Vec<Slot>, seed: u64) -> Option<Tables> {
    let small = |slot: &Slot| slot.width == 1 && slot.bits <= GROUP_BITS;
    let pairs = pairs(&plan.sets);
    let fits = plan.members <= LANES && pairs.len() <= MOST_PAIRS && !pairs.is_empty();
    if !fits || plan.size < 8 || plan.size > 1 << 16 || !slots.iter().all(small) {
        return None;
    }
    slots.sort_by_key(|slot| slot.offset);
    let maker = Maker { plan, slots: &slots, seed };
    let mut tables = Tables::default();
    maker.list_permutations(&pairs, &mut tables)?;
    maker.fill_groups(&mut tables)?;
    Some(tables)
}

struct Maker<'a> {
    plan: &'a Plan,
    slots: &'a [Slot],
    /// Where constants come from; 0 makes all of them 0.
    seed: u64,
}

/// Slots that add to keys together, at one combination of their indices.
#[derive(Debug)]
struct Unit {
    /// Its slots, of which the first is at `offset`.
    slots: std::ops::Range<usize>,
    offset: u32,
    indices: Vec<u32>,
}

fn pairs(sets: &[Set]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for set in sets {
        let end = set.first + set.size;
        for left in set.first..end {
            pairs.extend((left + 1..end).map(|right| (left, right)));
            if pairs.len() > MOST_PAIRS {
                return pairs;
            }
        }
    }
    pairs
}

impl Maker<'_> {
    fn list_permutations(&self, pairs: &[(u32, u32)], tables: &mut Tables) -> Option<()> {
        tables.renamings.push(std::array::from_fn(|value| value as u8));
        tables.by_turned = vec![0; 1 << pairs.len()];
        let mut renamings = HashMap::from([(tables.renamings[0], 0)]);
        for (number, image) in images(self.plan).into_iter().enumerate() {
            let turns = |&(left, right): &(u32, u32)| image[left as usize] > image[right as usize];
            let turned = (0..)
                .zip(pairs)
                .fold(0, |turned, (bit, pair)| turned | u32::from(turns(pair)) << bit);
            tables.by_turned[turned as usize] = number as u16;
            let start = tables.moves.len();
            self.push_moves(&image, tables, &mut renamings);
            if tables.moves.len() > MOST_MOVES {
                return None;
            }
            let moves = start as u32..tables.moves.len() as u32;
            tables.permutations.push(Listed { image, turned, moves });
        }
        for &(left, right) in pairs {
            let mut exchanged: Vec<u32> = (0..=self.plan.nobody()).collect();
            exchanged.swap(left as usize, right as usize);
            let listed = tables.permutations.iter().position(|listed| listed.image == exchanged);
            let exchange = listed.expect("all permutations are listed") as u16;
            tables.pairs.push(Pair { left: left as u8, right: right as u8, exchange });
        }
        Some(())
    }

    /// Lists what a permutation does to the bytes of a state.
    fn push_moves(
        &self,
        image: &[u32],
        tables: &mut Tables,
        renamings: &mut HashMap<[u8; 256], u16>,
    ) {
        for slot in self.slots {
            let renaming = slot.decoder.map_or(tables.renamings[0], |(decoder, numbers)| {
                let mut renaming = tables.renamings[0];
                for number in 0..numbers {
                    let member = self.plan.decoders[(decoder + number) as usize];
                    renaming[number as usize] = (number + image[member as usize] - member) as u8;
                }
                renaming
            });
            let renaming = *renamings.entry(renaming).or_insert_with(|| {
                tables.renamings.push(renaming);
                tables.renamings.len() as u16 - 1
            });
            for_each_combination(&self.plan.sets, &slot.axes, |indices, distance| {
                let place = |(axis, &member): (&Axis, &u32)| {
                    (image[member as usize] - self.plan.sets[axis.set].first) * axis.stride
                };
                let moved: u32 = slot.axes.iter().zip(indices).map(place).sum();
                if moved != distance || renaming != 0 {
                    let (from, to) = (slot.offset + distance, slot.offset + moved);
                    tables.moves.push(Move { from: from as u16, to: to as u16, renaming });
                }
            });
        }
    }

    fn fill_groups(&self, tables: &mut Tables) -> Option<()> {
        let units = self.units();
        let mut rest = &units[..];
        while let Some(first) = rest.first() {
            let fits = |&count: &usize| self.bits(&rest[..count]) <= GROUP_BITS;
            let count = (1..=rest.len()).take_while(fits).last()?;
            self.push_group(first.offset, &rest[..count], tables);
            rest = &rest[count..];
            if tables.rows.len() > MOST_ROWS {
                return None;
            }
        }
        Some(())
    }

    /// All units, in the order of their offsets.
    fn units(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut start = 0;
        while start < self.slots.len() {
            let axes = &self.slots[start].axes;
            let alike = |slot: &&Slot| axes.len() > 1 && slot.axes == *axes;
            let alike = 1 + self.slots[start + 1..].iter().take_while(alike).count();
            let fits = |&count: &usize| self.bits_of(start..start + count) <= GROUP_BITS;
            let count = (1..=alike).take_while(fits).last().unwrap_or(1);
            let (slots, first) = (start..start + count, self.slots[start].offset);
            for_each_combination(&self.plan.sets, axes, |indices, distance| {
                let (slots, indices) = (slots.clone(), indices.to_vec());
                units.push(Unit { slots, offset: first + distance, indices });
            });
            start += count;
        }
        units.sort_by_key(|unit| unit.offset);
        units
    }

    fn bits_of(&self, slots: std::ops::Range<usize>) -> u32 {
        let slots = &self.slots[slots];
        let widest = slots.iter().map(|slot| slot.bits).max().unwrap_or(0);
        (slots[slots.len() - 1].offset - slots[0].offset + 1) * widest
    }

    /// How many bits units have together as a group: each byte as many as the widest.
    fn bits(&self, units: &[Unit]) -> u32 {
        let widest = units.iter().map(|unit| self.widest(unit)).max().unwrap_or(0);
        let end = units.iter().map(|unit| self.end(unit)).max().unwrap_or(0);
        (end - units[0].offset) * widest
    }

    fn widest(&self, unit: &Unit) -> u32 {
        self.slots[unit.slots.clone()].iter().map(|slot| slot.bits).max().unwrap_or(0)
    }

    fn end(&self, unit: &Unit) -> u32 {
        let slots = &self.slots[unit.slots.clone()];
        unit.offset + slots[slots.len() - 1].offset - slots[0].offset + 1
    }

    fn push_group(&self, offset: u32, units: &[Unit], tables: &mut Tables) {
        let bits = self.bits(units);
        let widest = units.iter().map(|unit| self.widest(unit)).max().unwrap_or(1).max(1);
        let fields = bits / widest;
        let top = 64 - bits;
        let at = offset.min(self.plan.size as u32 - 8);
        let mut mask = 0;
        for unit in units {
            for slot in &self.slots[unit.slots.clone()] {
                let byte = unit.offset + slot.offset - self.slots[unit.slots.start].offset - offset;
                mask |= ((1u64 << slot.bits) - 1) << (8 * byte);
            }
        }
        let gather = (0..fields).fold(0, |sum, field| sum | 1u64 << (top - field * (8 - widest)));
        let first = tables.rows.len() as u32;
        tables.groups.push(Group { at, skip: 8 * (offset - at), mask, gather, rest: top, first });
        for value in 0..1u32 << bits {
            let byte = |at: u32| value >> ((at - offset) * widest) & ((1 << widest) - 1);
            let mut row = [0; LANES];
            for unit in units {
                self.add(unit, byte, &mut row);
            }
            tables.rows.push(row);
        }
    }

    /// Adds what a unit says, given the bytes of its slots.
    fn add(&self, unit: &Unit, byte: impl Fn(u32) -> u32, row: &mut Row) {
        let nobody = self.plan.nobody();
        let base = self.slots[unit.slots.start].offset;
        // Which slot it is, and what its slots hold, names apart.
        let mut hash = fold(unit.slots.start as u64);
        let mut mentioned = unit.indices.clone();
        for slot in &self.slots[unit.slots.clone()] {
            let number = byte(unit.offset + slot.offset - base);
            let member = match slot.decoder {
                Some((decoder, numbers)) if number < numbers => {
                    self.plan.decoders[(decoder + number) as usize]
                }
                _ => nobody,
            };
            mentioned.push(member);
            let said = if member == nobody { u64::from(number) } else { u64::MAX };
            hash = fold(hash ^ said);
        }
        // Who is mentioned twice.
        for (position, member) in mentioned.iter().enumerate() {
            let first = mentioned.iter().position(|other| other == member);
            hash = fold(hash ^ first.unwrap_or(position) as u64);
        }
        for (position, &member) in mentioned.iter().enumerate() {
            if member != nobody {
                let key = &mut row[member as usize];
                *key = key.wrapping_add(self.constant(hash, position));
            }
        }
    }

    fn constant(&self, hash: u64, position: usize) -> u16 {
        match self.seed {
            0 => 0,
            seed => (fold(hash ^ seed.rotate_left(position as u32)) >> 24) as u16,
        }
    }
}

/// The images of all permutations, the one that changes nothing first.
fn images(plan: &Plan) -> Vec<Vec<u32>> {
    let mut images = vec![(0..=plan.nobody()).collect::<Vec<u32>>()];
    for set in &plan.sets {
        // Where each member comes to be, one member after the other.
        for last in set.first as usize + 1..(set.first + set.size) as usize {
            let shorter = std::mem::take(&mut images);
            for place in (set.first as usize..=last).rev() {
                images.extend(shorter.iter().map(|image| {
                    let mut image = image.clone();
                    image.swap(place, last);
                    image
                }));
            }
        }
    }
    images
}
