//! Renaming the members of scalarsets in a state, and sorting its multisets.
//!
//! Renaming moves the blocks of arrays, rewrites the slots that name members, and does the same
//! inside the elements of multisets; then multisets are sorted, inner ones first. It costs about
//! as much as copying the state, plus the sorting.

use super::bytes::load;
use super::multiset;
use super::plan::{Block, NOBODY, Names, Plan, Region};

/// Renames members in `bytes` (a padded state): `image` gives the new name of each, within its
/// scalarset. Multisets are sorted afterwards.
pub(super) fn relabel(plan: &Plan, image: &[u32], bytes: &mut [u8], spare: &mut Spare) {
    relabel_region(plan, plan.state(), image, 0, bytes, spare);
}

/// Sorts all multisets of a padded state.
pub(super) fn sort_multisets(plan: &Plan, bytes: &mut [u8], spare: &mut Spare) {
    sort_region(plan, plan.state(), 0, bytes, spare);
}

/// Room to work in.
#[derive(Debug, Default)]
pub(super) struct Spare {
    /// Regions as they were before their blocks moved, outer ones first.
    before: Vec<u8>,
    sorting: multiset::Room,
}

fn relabel_region(
    plan: &Plan,
    region: &Region,
    image: &[u32],
    base: usize,
    bytes: &mut [u8],
    spare: &mut Spare,
) {
    if !region.blocks.is_empty() {
        let start = spare.before.len();
        spare.before.extend_from_slice(&bytes[base..base + region.size]);
        for block in &region.blocks {
            move_block(plan, block, image, &spare.before[start..], &mut bytes[base..]);
        }
        spare.before.truncate(start);
    }
    for names in &region.names {
        rename(plan, names, image, base, bytes);
    }
    for bag in &region.bags {
        for &offset in &bag.offsets {
            let at = base + offset as usize;
            let count = (load(bytes, at) & bag.count_mask) as usize;
            let first = at + bag.elements as usize;
            for position in 0..count {
                let element = first + position * bag.stride as usize;
                let region = &plan.regions[bag.element];
                relabel_region(plan, region, image, element, bytes, spare);
            }
            multiset::sort(bytes, first, bag.stride as usize, count, &mut spare.sorting);
        }
    }
}

fn sort_region(plan: &Plan, region: &Region, base: usize, bytes: &mut [u8], spare: &mut Spare) {
    for bag in &region.bags {
        let element_region = &plan.regions[bag.element];
        for &offset in &bag.offsets {
            let at = base + offset as usize;
            let count = (load(bytes, at) & bag.count_mask) as usize;
            let first = at + bag.elements as usize;
            if !element_region.bags.is_empty() {
                for position in 0..count {
                    let element = first + position * bag.stride as usize;
                    sort_region(plan, element_region, element, bytes, spare);
                }
            }
            multiset::sort(bytes, first, bag.stride as usize, count, &mut spare.sorting);
        }
    }
}

fn move_block(plan: &Plan, block: &Block, image: &[u32], before: &[u8], after: &mut [u8]) {
    match block.axes.as_slice() {
        [] => {}
        [axis] => {
            let set = plan.sets[axis.set];
            let (offset, stride) = (block.offset as usize, axis.stride as usize);
            for (from, &to) in image[set.members()].iter().enumerate() {
                let to = (to - set.first) as usize;
                if to != from {
                    let (from, to) = (offset + from * stride, offset + to * stride);
                    copy(before, from, after, to, block.length as usize);
                }
            }
        }
        _ => move_nested(plan, block, image, 0, (block.offset, block.offset), before, after),
    }
}

/// Moves the blocks below the axes from `depth` on; recursion ends at the innermost axis.
fn move_nested(
    plan: &Plan,
    block: &Block,
    image: &[u32],
    depth: usize,
    (from, to): (u32, u32),
    before: &[u8],
    after: &mut [u8],
) {
    let Some(axis) = block.axes.get(depth) else {
        if from != to {
            copy(before, from as usize, after, to as usize, block.length as usize);
        }
        return;
    };
    let set = plan.sets[axis.set];
    for (member, &new) in (0..).zip(&image[set.members()]) {
        let from = from + member * axis.stride;
        let to = to + (new - set.first) * axis.stride;
        move_nested(plan, block, image, depth + 1, (from, to), before, after);
    }
}

/// Copies a few bytes: blocks are often a single slot, for which a call would cost more.
#[inline(always)]
fn copy(before: &[u8], from: usize, after: &mut [u8], to: usize, length: usize) {
    match length {
        1 => after[to] = before[from],
        2 => after[to..to + 2].copy_from_slice(&before[from..from + 2]),
        4 => after[to..to + 4].copy_from_slice(&before[from..from + 4]),
        8 => after[to..to + 8].copy_from_slice(&before[from..from + 8]),
        _ => after[to..to + length].copy_from_slice(&before[from..from + length]),
    }
}

fn rename(plan: &Plan, names: &Names, image: &[u32], base: usize, bytes: &mut [u8]) {
    let decoder = &plan.decoders[names.decoder as usize..];
    // The numbers of the members of a scalarset follow each other, also within a union.
    let renamed = |number: u64| match decoder[number as usize] {
        NOBODY => number,
        member => number + u64::from(image[member as usize]) - u64::from(member),
    };
    for &offset in &names.offsets {
        let at = base + offset as usize;
        match names.width {
            1 => bytes[at] = renamed(u64::from(bytes[at])) as u8,
            width => {
                let mut number = [0; 8];
                let slot = &mut bytes[at..at + width as usize];
                number[..slot.len()].copy_from_slice(slot);
                let number = renamed(u64::from_le_bytes(number)).to_le_bytes();
                slot.copy_from_slice(&number[..slot.len()]);
            }
        }
    }
}
