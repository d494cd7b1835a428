//! The [units](crate::units) of a state: what belongs to each member, by the outermost scalarset
//! index that leads to it, and what belongs to nobody.
//!
//! Inner indices, names and multisets are inside a unit, so what a unit becomes when members are
//! renamed follows from the unit and the permutation.

use crate::units::{Ranges, Units};

use super::plan::{Block, Plan, for_each_combination};
use super::touch::bag_size;

/// Bytes of a unit, unless something that must stay together has more.
const LONGEST: u32 = 512;
/// Members need so many bytes on average, or units are mostly empty.
const LEAST: usize = 48;

/// The most units.
const MOST: usize = 32;
/// The most members: a permutation of them is a word.
pub(super) const MOST_MEMBERS: usize = 16;

/// The units of the states of a plan, if they pay.
pub(super) fn worthwhile(plan: &Plan) -> Option<Units> {
    let owned: u32 = parts(plan)
        .iter()
        .filter(|part| part.owner.is_some())
        .flat_map(|part| part.ranges.iter().map(|&(_, length)| length))
        .sum();
    (owned as usize >= plan.members * LEAST).then(|| of(plan)).flatten()
}

/// The units of the states of a plan, unless there are too many.
pub(super) fn of(plan: &Plan) -> Option<Units> {
    let parts = parts(plan);
    let few = plan.members <= MOST_MEMBERS && (2..=MOST).contains(&parts.len());
    few.then(|| Units::of(plan.size, parts))
}

/// What belongs to each member, then what belongs to nobody.
fn parts(plan: &Plan) -> Vec<Ranges> {
    let mut parts = Vec::new();
    let mut kinds = 0;
    let mut owned = vec![false; plan.size];
    for (number, set) in plan.sets.iter().enumerate() {
        let blocks = plan.state().blocks.iter().filter(|block| block.axes[0].set == number);
        for kind in kinds_of(blocks) {
            for member in 0..set.size {
                let place = |block: &&Block| ranges(plan, block, member);
                let ranges: Vec<(u32, u32)> = kind.iter().flat_map(place).collect();
                for &(at, length) in &ranges {
                    owned[at as usize..(at + length) as usize].fill(true);
                }
                parts.push(Ranges { kind: kinds, owner: Some(set.first + member), ranges });
            }
            kinds += 1;
        }
    }
    for ranges in nobodys(plan, &owned) {
        parts.push(Ranges { kind: kinds, owner: None, ranges });
        kinds += 1;
    }
    parts
}

/// Blocks in groups of about equal size.
fn kinds_of<'p>(blocks: impl Iterator<Item = &'p Block>) -> Vec<Vec<&'p Block>> {
    let (mut kinds, mut room): (Vec<Vec<&Block>>, u32) = (Vec::new(), 0);
    for block in blocks {
        // All below the first index of the first member.
        let bytes = block.axes.get(1).map_or(block.length, |_| block.axes[0].stride);
        match kinds.last_mut() {
            Some(kind) if bytes <= room => {
                kind.push(block);
                room -= bytes;
            }
            _ => {
                kinds.push(vec![block]);
                room = LONGEST.saturating_sub(bytes);
            }
        }
    }
    kinds
}

/// The bytes of a block that belong to a member of its outermost scalarset.
fn ranges(plan: &Plan, block: &Block, member: u32) -> Vec<(u32, u32)> {
    let (outermost, inner) = block.axes.split_first().expect("a block moves along an axis");
    let first = block.offset + member * outermost.stride;
    let mut ranges = Vec::new();
    for_each_combination(&plan.sets, inner, |_, distance| {
        ranges.push((first + distance, block.length));
    });
    ranges
}

/// What belongs to nobody, cut so that no multiset is cut.
fn nobodys(plan: &Plan, owned: &[bool]) -> Vec<Vec<(u32, u32)>> {
    // Bytes that belong to the same multiset as the one before them.
    let mut together = vec![false; plan.size];
    for bag in &plan.state().bags {
        for &offset in &bag.offsets {
            together[offset as usize + 1..(offset + bag_size(bag)) as usize].fill(true);
        }
    }
    let (mut units, mut bytes): (Vec<Vec<(u32, u32)>>, u32) = (Vec::new(), LONGEST);
    for at in (0u32..).take(plan.size).filter(|&at| !owned[at as usize]) {
        let together = together[at as usize];
        // Slots are whole words or parts of one.
        if bytes >= LONGEST && !together && at.is_multiple_of(8) || units.is_empty() {
            units.push(Vec::new());
            bytes = 0;
        }
        bytes += 1;
        let unit = units.last_mut().expect("one was just pushed");
        match unit.last_mut() {
            Some(last) if last.0 + last.1 == at => last.1 += 1,
            _ => unit.push((at, 1)),
        }
    }
    units
}
