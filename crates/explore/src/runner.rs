//! One thread's machine with the room it works in: a state, and the batch of its successors.

use murphi::machine::{Check, Machine, Outcome, Successors};

use crate::System;
use crate::pack::Codec;
use crate::reduction::Reduction;

/// A machine, the state it is in, and where its rules lead from there.
pub(crate) struct Runner<'a, M, C, R: Reduction> {
    pub(crate) machine: M,
    codec: &'a C,
    reduction: &'a R,
    scratch: R::Scratch,
    /// The unpacked state.
    pub(crate) state: Vec<u8>,
    /// What was found by the last call of `start` or `expand`.
    pub(crate) successors: Successors,
}

impl<'a, M: Machine, C: Codec, R: Reduction> Runner<'a, M, C, R> {
    pub(crate) fn new<F: Fn() -> M>(system: &System<'a, F, C, R>) -> Self {
        Runner {
            machine: (system.machine)(),
            codec: system.codec,
            reduction: system.reduction,
            scratch: system.reduction.scratch(),
            state: vec![0; system.state_size],
            successors: Successors::new(system.state_size),
        }
    }

    /// Goes to a packed state.
    #[inline(always)]
    pub(crate) fn load(&mut self, packed: &[u8]) {
        self.codec.unpack(packed, &mut self.state);
    }

    /// Looks at the properties of the state.
    #[inline(always)]
    pub(crate) fn check(&mut self) -> Check {
        self.machine.check(&self.state)
    }

    /// Runs the start states.
    pub(crate) fn start(&mut self) {
        self.successors.clear();
        self.machine.start(&mut self.successors);
    }

    /// Runs the rules that apply in the state.
    #[inline(always)]
    pub(crate) fn expand(&mut self) {
        self.successors.clear();
        self.machine.expand(&self.state, &mut self.successors);
    }

    /// Whether a rule has changed the state.
    #[inline(always)]
    pub(crate) fn changes(&self, firing: usize) -> bool {
        self.successors.state(firing) != &self.state[..]
    }

    /// The successors that are states.
    pub(crate) fn done(&self) -> impl Iterator<Item = usize> {
        let firings = self.successors.firings.iter().enumerate();
        firings.filter(|(_, firing)| firing.outcome == Outcome::Done).map(|(number, _)| number)
    }

    /// Replaces a successor by its representative and packs it.
    #[inline(always)]
    pub(crate) fn pack(&mut self, firing: usize, packed: &mut [u8]) {
        let size = self.successors.size;
        let state = &mut self.successors.states[firing * size..(firing + 1) * size];
        self.reduction.canonicalize(&mut self.scratch, state);
        self.codec.pack(state, packed);
    }

    /// Goes to a successor.
    pub(crate) fn follow(&mut self, firing: usize) {
        self.state.copy_from_slice(self.successors.state(firing));
    }
}
