//! The canonical form of a state that differs little from one whose keys are known.
//!
//! A search expands one representative after the other, the *base*, and canonicalises its
//! successors. A rule changes a few words, so the keys of a successor are those of the base with
//! the items of these words [exchanged](super::touch), and only multisets in these words may be out
//! of order. Where members change their places, names are rewritten in the words that hold any in
//! the base or were changed. The result is the one that a look at the whole state gives, to the
//! bit: keys are sums, and everything after the keys is the same.

use super::bytes::{PADDING, changed_words, copy_words, load};
use super::keys::Keys;
use super::plan::Plan;
use super::relabel::{self, Spare};
use super::touch::{Item, Touched};

/// A representative, and what is known about it.
#[derive(Debug, Default)]
pub(super) struct Base {
    /// The representative, padded; empty if there is none yet.
    pub(super) state: Vec<u8>,
    pub(super) keys: Keys,
    /// The words of it that name a member outside multisets, once somebody has asked for them.
    naming: Option<Vec<u32>>,
}

/// What differs between a base and a successor.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// The words that differ, each once.
    pub(super) words: Vec<u32>,
    /// The multisets with a slot in one of these words: which kind, and which of that kind.
    pub(super) bags: Vec<(u32, u32)>,
    /// For each item and for each word, the last round in which it was met.
    items_met: Vec<u32>,
    words_met: Vec<u32>,
    round: u32,
}

impl Difference {
    /// Finds the words in which a state differs from the padded state `before`, copies them to
    /// `after`, which is padded and equal to `before`, and takes `keys` from those of `before` to
    /// those of `after`. All of these words are among `changed`, if that is given.
    #[inline(always)]
    pub(super) fn read(
        &mut self,
        plan: &Plan,
        (before, state): (&[u8], &[u8]),
        changed: Option<&[u32]>,
        after: &mut [u8],
        keys: &mut Keys,
    ) {
        self.words.clear();
        self.bags.clear();
        match changed {
            Some(changed) => {
                let differs = |&&word: &&u32| {
                    load(before, 8 * word as usize) != load(state, 8 * word as usize)
                };
                self.words.extend(changed.iter().filter(differs));
            }
            None => changed_words(&before[..plan.size], state, &mut self.words),
        }
        copy_words(&self.words, state, after);
        if self.round == u32::MAX || self.items_met.len() != plan.touch.items.len() {
            self.items_met = vec![0; plan.touch.items.len()];
            self.words_met = vec![0; plan.size.div_ceil(8)];
            self.round = 0;
        }
        self.round += 1;
        for &word in &self.words {
            self.words_met[word as usize] = self.round;
            let at = 8 * word as usize;
            let differing = load(before, at) ^ load(after, at);
            for &Touched { item: number, bits } in plan.touch.items_of(word) {
                if bits & differing == 0 {
                    continue;
                }
                if std::mem::replace(&mut self.items_met[number as usize], self.round) == self.round
                {
                    continue;
                }
                let item = plan.touch.items[number as usize];
                if let Item::Bag { bag, instance } = item {
                    self.bags.push((bag, instance));
                }
                if !plan.sets.is_empty() {
                    keys.advance(plan, item, before, after);
                }
            }
        }
    }

    /// Sorts the multisets in which `state` differs from the base, and adds the words in which they
    /// differ then.
    pub(super) fn sort_multisets(
        &mut self,
        plan: &Plan,
        base: &[u8],
        state: &mut [u8],
        spare: &mut Spare,
    ) {
        for &bag in &self.bags {
            let bytes = relabel::sort_multiset(plan, bag, state, spare);
            for word in bytes.start / 8..bytes.end.div_ceil(8) {
                let differs = load(base, 8 * word) != load(state, 8 * word);
                if differs && self.words_met[word] != self.round {
                    self.words_met[word] = self.round;
                    self.words.push(word as u32);
                }
            }
        }
    }

    fn has(&self, word: u32) -> bool {
        self.words_met[word as usize] == self.round
    }
}

impl Base {
    /// Makes another representative the base, which differs from the one before in no other words
    /// than `changed`, if that is given. `source` is a copy of the base, before and after.
    pub(super) fn replace(
        &mut self,
        plan: &Plan,
        state: &[u8],
        changed: Option<&[u32]>,
        source: &mut [u8],
        room: &mut Difference,
    ) {
        self.naming = None;
        if self.state.is_empty() {
            self.state.resize(plan.size + PADDING, 0);
            self.state[..plan.size].copy_from_slice(state);
            source.copy_from_slice(&self.state);
            self.keys.read(plan, &self.state);
            return;
        }
        room.read(plan, (&self.state, state), changed, source, &mut self.keys);
        copy_words(&room.words, state, &mut self.state);
    }

    /// Renames members in a padded successor of the base, as [`relabel::relabel`] does, from
    /// `source`, where names are rewritten, to `target`.
    pub(super) fn relabel(
        &mut self,
        plan: &Plan,
        image: &[u32],
        difference: &Difference,
        source: &mut [u8],
        target: &mut Vec<u8>,
        spare: &mut Spare,
    ) {
        let state = &self.state;
        let names = |&&(word, mask): &&(u32, u64)| load(state, 8 * word as usize) & mask != 0;
        let naming = self.naming.get_or_insert_with(|| {
            plan.touch.naming.iter().filter(names).map(|&(word, _)| word).collect()
        });
        let unchanged = naming.iter().filter(|&&word| !difference.has(word));
        for &word in unchanged.chain(&difference.words) {
            for name in plan.touch.names_of(word) {
                relabel::rename_slot(plan, name.decoder, name.width, image, name.at, source);
            }
        }
        target.clear();
        target.extend_from_slice(source);
        relabel::move_blocks(plan, image, source, target);
        relabel::rename_bags(plan, plan.state(), image, 0, target, spare);
    }
}
