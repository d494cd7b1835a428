//! Sorting the elements of a multiset in place. Any total order of their bytes would do; elements
//! of up to sixteen bytes are ordered as numbers, longer ones as byte strings.
//!
//! A rule adds or removes an element or two, so the elements are nearly sorted unless members were
//! renamed: short multisets are sorted by insertion.

use super::bytes::{load, width_mask};

/// Up to how many elements insertion is faster than the general sort.
const FEW: usize = 24;

/// Room for the elements while they are sorted.
#[derive(Debug, Default)]
pub(super) struct Room {
    short: Vec<u64>,
    long: Vec<u128>,
    order: Vec<u32>,
    bytes: Vec<u8>,
}

/// Sorts the `count` elements of `stride` bytes from `first` on in a padded buffer.
pub(super) fn sort(bytes: &mut [u8], first: usize, stride: usize, count: usize, room: &mut Room) {
    if count < 2 || stride == 0 {
        return;
    }
    match stride {
        1..=8 => sort_short(bytes, first, stride, count, |word| word, room),
        9..=16 => sort_long(bytes, first, stride, count, &mut room.long),
        _ => sort_strings(bytes, first, stride, count, room),
    }
}

/// Sorts elements of at most eight bytes, after applying a function to each.
#[inline(always)]
pub(super) fn sort_short(
    bytes: &mut [u8],
    first: usize,
    stride: usize,
    count: usize,
    change: impl Fn(u64) -> u64,
    room: &mut Room,
) {
    let mask = width_mask(stride as u32);
    let elements = &mut room.short;
    elements.clear();
    elements
        .extend((0..count).map(|position| change(load(bytes, first + position * stride) & mask)));
    sort_numbers(elements);
    for (position, element) in elements.iter().enumerate() {
        let at = first + position * stride;
        let element = element.to_le_bytes();
        match stride {
            4 => bytes[at..at + 4].copy_from_slice(&element[..4]),
            8 => bytes[at..at + 8].copy_from_slice(&element),
            _ => bytes[at..at + stride].copy_from_slice(&element[..stride]),
        }
    }
}

fn sort_long(bytes: &mut [u8], first: usize, stride: usize, count: usize, room: &mut Vec<u128>) {
    let mask = width_mask(stride as u32 - 8);
    room.clear();
    room.extend((0..count).map(|position| {
        let at = first + position * stride;
        u128::from(load(bytes, at)) | u128::from(load(bytes, at + 8) & mask) << 64
    }));
    if sort_numbers(room) {
        for (position, element) in room.iter().enumerate() {
            let at = first + position * stride;
            bytes[at..at + stride].copy_from_slice(&element.to_le_bytes()[..stride]);
        }
    }
}

/// Sorts; says whether anything moved.
fn sort_numbers<T: Ord + Copy>(numbers: &mut [T]) -> bool {
    if numbers.is_sorted() {
        return false;
    }
    if numbers.len() > FEW {
        numbers.sort_unstable();
        return true;
    }
    for end in 1..numbers.len() {
        let number = numbers[end];
        let mut position = end;
        while position > 0 && numbers[position - 1] > number {
            numbers[position] = numbers[position - 1];
            position -= 1;
        }
        numbers[position] = number;
    }
    true
}

fn sort_strings(bytes: &mut [u8], first: usize, stride: usize, count: usize, room: &mut Room) {
    let elements = &mut bytes[first..first + count * stride];
    if elements.chunks_exact(stride).is_sorted() {
        return;
    }
    room.bytes.clear();
    room.bytes.extend_from_slice(elements);
    room.order.clear();
    room.order.extend(0..count as u32);
    let element = |position: u32| &room.bytes[position as usize * stride..][..stride];
    room.order.sort_unstable_by(|&left, &right| element(left).cmp(element(right)));
    for (chunk, &position) in elements.chunks_exact_mut(stride).zip(&room.order) {
        chunk.copy_from_slice(element(position));
    }
}
