//! Who waits for a bit: for bits that are not set yet, the bits that will be set with them. It holds as
//! many as there is memory for; whoever finds no room asks again in the next sweep.

use crate::memory::Meter;

/// Entries that are counted at a time.
const GROWTH: usize = 1 << 14;
/// Buckets at most.
const BUCKETS: u64 = 1 << 28;
const NONE: u32 = u32::MAX;

/// Chains of entries by the bit that is waited for. The default has room for none.
#[derive(Default)]
pub(super) struct Waiting {
    buckets: Vec<u32>,
    entries: Vec<Entry>,
    free: u32,
    counted: u64,
}

#[derive(Clone, Copy)]
struct Entry {
    bit: u64,
    waiter: u64,
    next: u32,
}

impl Waiting {
    /// For so many bits.
    pub(super) fn new(bits: u64, meter: &Meter) -> Self {
        let mut buckets = bits.clamp(1, BUCKETS).next_power_of_two();
        // A sixteenth of what is left, at most.
        while buckets > 1 && 4 * buckets > meter.left() / 16 {
            buckets /= 2;
        }
        let counted = 4 * buckets;
        let (buckets, counted) = match meter.take(counted) {
            true => (buckets, counted),
            false => (0, 0),
        };
        let buckets = vec![NONE; buckets as usize];
        Waiting { buckets, entries: Vec::new(), free: NONE, counted }
    }

    fn bucket(&self, bit: u64) -> usize {
        let mixed = bit.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.buckets.len() - 1)
    }

    /// Notes that a waiter waits for a bit, if there is room.
    pub(super) fn add(&mut self, bit: u64, waiter: u64, meter: &Meter) -> bool {
        if self.buckets.is_empty() || self.free == NONE && !self.grow(meter) {
            return false;
        }
        let (bucket, at) = (self.bucket(bit), self.free);
        let entry = &mut self.entries[at as usize];
        self.free = entry.next;
        *entry = Entry { bit, waiter, next: self.buckets[bucket] };
        self.buckets[bucket] = at;
        true
    }

    #[cold]
    fn grow(&mut self, meter: &Meter) -> bool {
        let (start, bytes) = (self.entries.len(), (GROWTH * size_of::<Entry>()) as u64);
        // What is left at the end is for messages under way.
        if start + GROWTH >= NONE as usize || meter.left() < 4 * bytes || !meter.take(bytes) {
            return false;
        }
        self.counted += bytes;
        self.entries.reserve_exact(GROWTH);
        for at in start..start + GROWTH {
            let next = if at + 1 == start + GROWTH { NONE } else { at as u32 + 1 };
            self.entries.push(Entry { bit: 0, waiter: 0, next });
        }
        self.free = start as u32;
        true
    }

    /// Takes those who wait for a bit.
    pub(super) fn take(&mut self, bit: u64, mut waiter: impl FnMut(u64)) {
        if self.buckets.is_empty() {
            return;
        }
        let bucket = self.bucket(bit);
        let (mut before, mut at) = (NONE, self.buckets[bucket]);
        while at != NONE {
            let entry = self.entries[at as usize];
            if entry.bit == bit {
                waiter(entry.waiter);
                match before {
                    NONE => self.buckets[bucket] = entry.next,
                    before => self.entries[before as usize].next = entry.next,
                }
                self.entries[at as usize].next = self.free;
                self.free = at;
            } else {
                before = at;
            }
            at = entry.next;
        }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.buckets.fill(NONE);
        let entries = self.entries.len();
        for (at, entry) in self.entries.iter_mut().enumerate() {
            entry.next = if at + 1 == entries { NONE } else { at as u32 + 1 };
        }
        self.free = if entries == 0 { NONE } else { 0 };
    }

    /// Gives the room back.
    pub(super) fn free(self, meter: &Meter) {
        meter.give(self.counted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_told_once() {
        let meter = Meter::new(None);
        let mut waiting = Waiting::new(100, &meter);
        for waiter in 0..50_000 {
            assert!(waiting.add(waiter % 777, waiter, &meter));
        }
        let told = |waiting: &mut Waiting, bit: u64| -> Vec<u64> {
            let mut all = Vec::new();
            waiting.take(bit, |waiter| all.push(waiter));
            all.sort_unstable();
            all
        };
        for bit in 0..1000 {
            let expected: Vec<u64> = (0..50_000).filter(|waiter| waiter % 777 == bit).collect();
            assert_eq!(told(&mut waiting, bit), expected);
            assert!(told(&mut waiting, bit).is_empty());
        }
        assert!(waiting.add(5, 6, &meter) && waiting.add(5, 7, &meter));
        waiting.clear();
        assert!(told(&mut waiting, 5).is_empty());
        assert!(waiting.add(5, 8, &meter));
        assert_eq!(told(&mut waiting, 5), [8]);
        waiting.free(&meter);
        assert_eq!(meter.used(), 0);
    }

    #[test]
    fn without_memory_nobody_waits() {
        let meter = Meter::new(Some(1 << 20));
        let mut waiting = Waiting::new(1 << 20, &meter);
        let added = (0..100_000).take_while(|&bit| waiting.add(bit, 0, &meter)).count();
        assert!(added < 50_000 && meter.used() <= 1 << 20, "{added}");
        assert!(!waiting.add(1, 1, &meter));
    }
}
