//! Twins: members that can be exchanged with each other, all else in place, without changing the
//! state. It does not matter in which order twins come.
//!
//! Being twins is an equivalence, so to know that some members are all twins it is enough to
//! compare each with the next. If nothing but their own rows mentions two members, their rows
//! decide; otherwise they are exchanged and the states compared.

use super::keys::{Keys, same_rows};
use super::plan::Plan;
use super::relabel::{self, Spare};

/// What is known about who is whose twin in a state.
#[derive(Debug, Default)]
pub(super) struct Twins {
    known: Classes,
    /// The state with two members exchanged.
    exchanged: Vec<u8>,
    image: Vec<u32>,
}

/// A state whose members are compared.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) plan: &'a Plan,
    pub(super) keys: &'a Keys,
    /// The state with its multisets sorted, padded.
    pub(super) state: &'a [u8],
}

impl Twins {
    /// Turns to another state.
    pub(super) fn reset(&mut self, plan: &Plan) {
        self.known.reset(plan.members);
    }

    /// Whether exchanging two members of a scalarset changes nothing.
    pub(super) fn are_twins(
        &mut self,
        subject: Subject,
        left: u32,
        right: u32,
        spare: &mut Spare,
    ) -> bool {
        if self.known.same(left, right) {
            return true;
        }
        let Subject { plan, keys, state } = subject;
        let twins = match keys.is_linked(left) || keys.is_linked(right) {
            true => self.stays_when_exchanged(subject, left, right, spare),
            false => same_rows(plan, left, right, state),
        };
        if twins {
            self.known.unite(left, right);
        }
        twins
    }

    fn stays_when_exchanged(
        &mut self,
        Subject { plan, state, .. }: Subject,
        left: u32,
        right: u32,
        spare: &mut Spare,
    ) -> bool {
        self.image.clear();
        self.image.extend(0..=plan.nobody());
        self.image.swap(left as usize, right as usize);
        self.exchanged.clear();
        self.exchanged.extend_from_slice(state);
        relabel::relabel(plan, &self.image, state, &mut self.exchanged, spare);
        self.exchanged == state
    }
}

/// Classes of members that grow together.
#[derive(Debug, Default)]
pub(super) struct Classes {
    parents: Vec<u32>,
}

impl Classes {
    /// Each member is a class.
    pub(super) fn reset(&mut self, members: usize) {
        self.parents.clear();
        self.parents.extend(0..members as u32);
    }

    /// Whether two members are in the same class.
    pub(super) fn same(&mut self, left: u32, right: u32) -> bool {
        self.representative(left) == self.representative(right)
    }

    /// Makes the classes of two members one.
    pub(super) fn unite(&mut self, left: u32, right: u32) {
        let (left, right) = (self.representative(left), self.representative(right));
        self.parents[right as usize] = left;
    }

    fn representative(&mut self, member: u32) -> u32 {
        let mut current = member as usize;
        while self.parents[current] as usize != current {
            self.parents[current] = self.parents[self.parents[current] as usize];
            current = self.parents[current] as usize;
        }
        current as u32
    }
}
