//! Renaming the members of scalarsets in a state, and sorting its multisets.
//!
//! Renaming moves the blocks of arrays, rewrites the slots that name members, and does the same
//! inside the elements of multisets; then multisets are sorted, inner ones first. It costs about
//! as much as copying the state, plus the sorting.

use std::ops::Range;

use super::bytes::load;
use super::multiset;
use super::plan::{Axis, Bag, Block, Names, Plan, Region};

/// Renames members in `bytes`, a padded state that is also given as it was `before`: `image` has
/// the new name of each member, within its scalarset, and of nobody. Multisets are sorted
/// afterwards.
pub(super) fn relabel(
    plan: &Plan,
    image: &[u32],
    before: &[u8],
    bytes: &mut [u8],
    spare: &mut Spare,
) {
    move_blocks(plan, image, before, bytes);
    rename_region(plan, plan.state(), image, 0, bytes, spare);
}

/// Moves what members of scalarsets own, outside multisets.
pub(super) fn move_blocks(plan: &Plan, image: &[u32], before: &[u8], bytes: &mut [u8]) {
    for block in &plan.state().blocks {
        move_block(plan, block, image, before, bytes);
    }
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

/// Renames what is left when the blocks of a region have moved.
fn rename_region(
    plan: &Plan,
    region: &Region,
    image: &[u32],
    base: usize,
    bytes: &mut [u8],
    spare: &mut Spare,
) {
    for names in &region.names {
        rename(plan, names, image, base, bytes);
    }
    rename_bags(plan, region, image, base, bytes, spare);
}

/// Renames in the multisets of a region, and sorts them.
pub(super) fn rename_bags(
    plan: &Plan,
    region: &Region,
    image: &[u32],
    base: usize,
    bytes: &mut [u8],
    spare: &mut Spare,
) {
    for bag in &region.bags {
        for &offset in &bag.offsets {
            let at = base + offset as usize;
            let count = (load(bytes, at) & bag.count_mask) as usize;
            if count == 0 {
                continue;
            }
            let (first, stride) = (at + bag.elements as usize, bag.stride as usize);
            let element = &plan.regions[bag.element];
            if bag.short.is_some() {
                let renamed = |word: u64| renamed_word(plan, element, image, word);
                multiset::sort_short(bytes, first, stride, count, renamed, &mut spare.sorting);
                continue;
            }
            for position in 0..count {
                relabel_element(plan, element, image, first + position * stride, bytes, spare);
            }
            multiset::sort(bytes, first, stride, count, &mut spare.sorting);
        }
    }
}

fn relabel_element(
    plan: &Plan,
    element: &Region,
    image: &[u32],
    base: usize,
    bytes: &mut [u8],
    spare: &mut Spare,
) {
    if !element.blocks.is_empty() {
        let start = spare.before.len();
        spare.before.extend_from_slice(&bytes[base..base + element.size]);
        for block in &element.blocks {
            move_block(plan, block, image, &spare.before[start..], &mut bytes[base..]);
        }
        spare.before.truncate(start);
    }
    rename_region(plan, element, image, base, bytes, spare);
}

/// Renames in an element of one cell that fits in a word.
#[inline(always)]
fn renamed_word(plan: &Plan, element: &Region, image: &[u32], word: u64) -> u64 {
    element.names.iter().fold(word, |word, names| {
        names.offsets.iter().fold(word, |word, offset| {
            let shift = 8 * offset;
            let number = (word >> shift) & names.mask;
            let member = plan.decoders[names.decoder as usize + number as usize];
            let change = u64::from(image[member as usize]).wrapping_sub(u64::from(member));
            word.wrapping_add(change << shift)
        })
    })
}

fn sort_region(plan: &Plan, region: &Region, base: usize, bytes: &mut [u8], spare: &mut Spare) {
    for bag in &region.bags {
        for &offset in &bag.offsets {
            sort_bag(plan, bag, base + offset as usize, bytes, spare);
        }
    }
}

/// Sorts one of the multisets of a padded state; returns where its elements are.
pub(super) fn sort_multiset(
    plan: &Plan,
    (bag, instance): (u32, u32),
    bytes: &mut [u8],
    spare: &mut Spare,
) -> Range<usize> {
    let bag = &plan.state().bags[bag as usize];
    let at = bag.offsets[instance as usize] as usize;
    sort_bag(plan, bag, at, bytes, spare);
    let (first, count) = (at + bag.elements as usize, load(bytes, at) & bag.count_mask);
    first..first + count as usize * bag.stride as usize
}

fn sort_bag(plan: &Plan, bag: &Bag, at: usize, bytes: &mut [u8], spare: &mut Spare) {
    let element_region = &plan.regions[bag.element];
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

fn move_block(plan: &Plan, block: &Block, image: &[u32], before: &[u8], after: &mut [u8]) {
    let offset = block.offset as usize;
    move_along(plan, block, &block.axes, image, (offset, offset), before, after);
}

/// Moves the blocks below `axes`, of which there are as many as nested arrays.
fn move_along(
    plan: &Plan,
    block: &Block,
    axes: &[Axis],
    image: &[u32],
    (from, to): (usize, usize),
    before: &[u8],
    after: &mut [u8],
) {
    let Some((axis, inner)) = axes.split_first() else { return };
    let set = plan.sets[axis.set];
    let stride = axis.stride as usize;
    let moves = image[set.members()]
        .iter()
        .enumerate()
        .map(|(member, &new)| (from + member * stride, to + (new - set.first) as usize * stride));
    if inner.is_empty() {
        for (from, to) in moves {
            if from != to {
                copy(before, from, after, to, block.length as usize);
            }
        }
    } else {
        for move_ in moves {
            move_along(plan, block, inner, image, move_, before, after);
        }
    }
}

/// Copies a few bytes: blocks are often a slot or two, for which a call would cost more.
#[inline(always)]
fn copy(before: &[u8], from: usize, after: &mut [u8], to: usize, length: usize) {
    let (before, after) = (&before[from..from + length], &mut after[to..to + length]);
    match length {
        1 => after[0] = before[0],
        2 => after[..2].copy_from_slice(&before[..2]),
        3 => {
            after[..2].copy_from_slice(&before[..2]);
            after[2] = before[2];
        }
        4..=8 => {
            after[..4].copy_from_slice(&before[..4]);
            after[length - 4..].copy_from_slice(&before[length - 4..]);
        }
        _ => after.copy_from_slice(before),
    }
}

fn rename(plan: &Plan, names: &Names, image: &[u32], base: usize, bytes: &mut [u8]) {
    let decoder = &plan.decoders[names.decoder as usize..];
    // The numbers of the members of a scalarset follow each other, also within a union.
    let renamed = |number: u64| {
        let member = decoder[number as usize];
        number + u64::from(image[member as usize]) - u64::from(member)
    };
    if names.width == 1 {
        for &offset in &names.offsets {
            let slot = &mut bytes[base + offset as usize];
            *slot = renamed(u64::from(*slot)) as u8;
        }
        return;
    }
    for &offset in &names.offsets {
        rename_slot(plan, names.decoder, names.width, image, base as u32 + offset, bytes);
    }
}

/// Renames in one slot.
#[inline(always)]
pub(super) fn rename_slot(
    plan: &Plan,
    decoder: u32,
    width: u32,
    image: &[u32],
    at: u32,
    bytes: &mut [u8],
) {
    let renamed = |number: u64| {
        let member = plan.decoders[decoder as usize + number as usize];
        number + u64::from(image[member as usize]) - u64::from(member)
    };
    let at = at as usize;
    if width == 1 {
        bytes[at] = renamed(u64::from(bytes[at])) as u8;
        return;
    }
    let slot = &mut bytes[at..at + width as usize];
    let mut number = [0; 8];
    number[..slot.len()].copy_from_slice(slot);
    let number = renamed(u64::from_le_bytes(number)).to_le_bytes();
    slot.copy_from_slice(&number[..slot.len()]);
}
