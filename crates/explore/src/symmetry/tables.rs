//! Canonical forms of small states by tables.
//!
//! Most models that people explore have few members, in slots of one byte, and no multisets. Then
//! everything that canonicalisation computes can be looked up. The slots are cut into *groups* of
//! at most eight bits; for each value of a group there is a row with what it adds to the key of
//! each member, so reading the keys is one addition of a row for each group. The outcomes of all
//! comparisons of keys, as bits, number the permutation, and for each permutation there is the
//! list of bytes that it moves or renames.
//!
//! Where keys are equal, members that can be exchanged without changing the state keep their
//! order, and of all permutations that agree with the keys otherwise the one with the least result
//! is taken. All of this depends on the orbit only: a permuted state has permuted keys. Keys have
//! 16 bits, and two that are equal by chance cost time and nothing else.
//!
//! [`tabulate`](super::tabulate) makes the tables, or says that a model is too large for them.

use super::bytes::load;

/// How many members there may be: the keys of all of them are one row.
pub(super) const LANES: usize = 8;
/// How many permutations are tried when keys are equal; the general way is faster with more.
const TRIED: usize = 32;

/// What is added to the keys.
pub(super) type Row = [u16; LANES];

/// The tables of a model.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) groups: Vec<Group>,
    /// The rows of all groups, one for each value of each group.
    pub(super) rows: Vec<Row>,
    /// All pairs of members of a scalarset, the lower one first.
    pub(super) pairs: Vec<Pair>,
    /// The permutation by the pairs that it turns round, as bits.
    pub(super) by_turned: Vec<u16>,
    /// The first changes nothing.
    pub(super) permutations: Vec<Listed>,
    pub(super) moves: Vec<Move>,
    /// Renamings of the values of a slot. The first changes nothing.
    pub(super) renamings: Vec<[u8; 256]>,
}

/// Up to eight bytes of a state that are looked up together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    /// Where to load eight bytes, and by how much to shift them.
    pub(super) at: u32,
    pub(super) skip: u32,
    /// The bits in use, after the shift.
    pub(super) mask: u64,
    /// Multiplication by this gathers the bits in use at the top of the word.
    pub(super) gather: u64,
    /// The bits of the word that are not part of the gathered number.
    pub(super) rest: u32,
    /// Where its rows begin.
    pub(super) first: u32,
}

/// Two members of a scalarset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) left: u8,
    pub(super) right: u8,
    /// The permutation that exchanges them.
    pub(super) exchange: u16,
}

/// A permutation.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// For each member whom it becomes, and for nobody.
    pub(super) image: Vec<u32>,
    /// The pairs that it turns round, as bits.
    pub(super) turned: u32,
    /// Its part of the moves.
    pub(super) moves: std::ops::Range<u32>,
}

/// A byte that a permutation moves or renames.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    pub(super) from: u16,
    pub(super) to: u16,
    pub(super) renaming: u16,
}

/// Room to work in.
#[derive(Debug, Default)]
pub(super) struct Room {
    before: Vec<u8>,
    trial: Vec<u8>,
}

/// What a state was decided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Keys,
    Twins,
    Trial { tried: usize },
}

impl Tables {
    /// Canonicalises a state; says how, and by which permutation. `None`, with the state as it
    /// was, if there is too much to try.
    #[inline(always)]
    pub(super) fn canonicalize(
        &self,
        room: &mut Room,
        state: &mut [u8],
    ) -> Option<(Decision, usize)> {
        let keys = self.keys(state);
        let (mut turned, mut tied) = (0u32, 0u32);
        for (number, pair) in self.pairs.iter().enumerate() {
            let left = keys[usize::from(pair.left) % LANES];
            let right = keys[usize::from(pair.right) % LANES];
            turned |= u32::from(left > right) << number;
            tied |= u32::from(left == right) << number;
        }
        if tied != 0 {
            return self.break_ties(room, state, turned, tied);
        }
        let permutation = usize::from(self.by_turned[turned as usize]);
        self.apply(permutation, room, state);
        Some((Decision::Keys, permutation))
    }

    /// The keys of all members.
    #[inline(always)]
    fn keys(&self, state: &[u8]) -> Row {
        let mut keys = [0; LANES];
        for group in &self.groups {
            let word = load(state, group.at as usize) >> group.skip & group.mask;
            let value = word.wrapping_mul(group.gather) >> group.rest;
            let row = &self.rows[group.first as usize + value as usize];
            for (key, part) in keys.iter_mut().zip(row) {
                *key = part.wrapping_add(*key);
            }
        }
        keys
    }

    #[inline(always)]
    fn apply(&self, permutation: usize, room: &mut Room, state: &mut [u8]) {
        if permutation != 0 {
            room.before.clear();
            room.before.extend_from_slice(state);
            self.carry_out(permutation, &room.before, state);
        }
    }

    /// Permutes `before`; `after` is a copy of it.
    #[inline(always)]
    fn carry_out(&self, permutation: usize, before: &[u8], after: &mut [u8]) {
        for step in self.moves_of(permutation) {
            after[usize::from(step.to)] = self.moved(step, before);
        }
    }

    #[inline(always)]
    fn moves_of(&self, permutation: usize) -> &[Move] {
        let range = &self.permutations[permutation].moves;
        &self.moves[range.start as usize..range.end as usize]
    }

    /// The byte that a move writes.
    #[inline(always)]
    fn moved(&self, step: &Move, before: &[u8]) -> u8 {
        let byte = before[usize::from(step.from)];
        self.renamings[usize::from(step.renaming)][usize::from(byte)]
    }

    /// Decides where the keys of the pairs `tied` are equal.
    fn break_ties(
        &self,
        room: &mut Room,
        state: &mut [u8],
        turned: u32,
        tied: u32,
    ) -> Option<(Decision, usize)> {
        let mut twins = 0;
        for (number, pair) in self.pairs.iter().enumerate() {
            let is_tied = tied >> number & 1 != 0;
            twins |= u32::from(is_tied && self.stays(usize::from(pair.exchange), state)) << number;
        }
        if twins == tied {
            let permutation = usize::from(self.by_turned[turned as usize]);
            self.apply(permutation, room, state);
            return Some((Decision::Twins, permutation));
        }
        // Twins keep their order, others are tried in every order.
        let open = tied & !twins;
        let agrees = |listed: &Listed| (listed.turned ^ turned) & !open == 0;
        let candidates = || (0..).zip(&self.permutations).filter(|(_, listed)| agrees(listed));
        let tried = candidates().take(TRIED + 1).count();
        if tried > TRIED {
            return None;
        }
        let Room { before, trial } = room;
        before.clear();
        before.extend_from_slice(state);
        let mut best = None;
        for (permutation, _) in candidates() {
            trial.clear();
            trial.extend_from_slice(before);
            self.carry_out(permutation, before, trial);
            if best.is_none() || trial[..] < state[..] {
                state.copy_from_slice(trial);
                best = Some(permutation);
            }
        }
        best.map(|permutation| (Decision::Trial { tried }, permutation))
    }

    /// Whether a permutation does not change a state.
    fn stays(&self, permutation: usize, state: &[u8]) -> bool {
        let moves = self.moves_of(permutation);
        moves.iter().all(|step| state[usize::from(step.to)] == self.moved(step, state))
    }
}
