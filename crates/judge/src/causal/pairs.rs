//! Pairs of writes of one address: how many there are, and how many an order leaves open.
//!
//! The share that a partial store order leaves open is what a search would have to guess (Gradual
//! Consistency Checking, section 5.1: 6.6 % after `ccm`, 57.75 % after `ccv`). What a write knows of
//! the other chains of its address only grows along a chain, so counting costs O(writes · threads).

use history::AddressId;

use super::clocks::Clocks;
use super::operations::Operations;

/// Pairs of writes of one address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WritePairs {
    pub(super) all: u64,
    /// Those that are not ordered.
    pub(super) unordered: u64,
}

impl WritePairs {
    /// The pairs that an acyclic relation with these clocks orders.
    pub(super) fn ordered_by(ops: &Operations, clocks: &Clocks) -> Self {
        // A write counts itself.
        let mut counted = 0;
        for address in (0..ops.address_count()).map(AddressId::new) {
            known_counts(ops, clocks, address, |_, counts| {
                counted += counts.iter().map(|&count| u64::from(count)).sum::<u64>();
            });
        }
        Self::counted(ops, counted)
    }

    /// From how many writes of its address come before or are a write, summed over all.
    pub(super) fn counted(ops: &Operations, counted: u64) -> Self {
        let all = all_pairs(ops);
        WritePairs { all, unordered: (all + ops.write_count() as u64).saturating_sub(counted) }
    }
}

/// How many pairs of writes of one address there are.
pub(super) fn all_pairs(ops: &Operations) -> u64 {
    let sizes = (0..ops.address_count()).map(|x| ops.places_of(AddressId::new(x)).len() as u64);
    sizes.map(|size| size * size.saturating_sub(1) / 2).sum()
}

/// Calls `visit` with the place of every write of an address and, for each chain of the address,
/// how many of its writes come before or are it.
pub(super) fn known_counts(
    ops: &Operations,
    clocks: &Clocks,
    address: AddressId,
    mut visit: impl FnMut(usize, &[u32]),
) {
    let chains = ops.chains_of(address);
    let mut counts = vec![0_u32; chains.len()];
    // The rank of the first write of each chain that is not known.
    let mut next_ranks = Vec::with_capacity(chains.len());
    for chain in chains.clone() {
        counts.fill(0);
        next_ranks.clear();
        next_ranks.extend(chains.clone().map(|c| ops.rank_at(ops.chain(c).places().start)));
        for place in ops.chain(chain).places() {
            let view = clocks.view(ops, ops.write_at(place));
            let known = counts.iter_mut().zip(&mut next_ranks);
            for (other, (count, next_rank)) in chains.clone().zip(known) {
                let seen = view.count(ops.chain(other).thread);
                if *next_rank >= seen {
                    continue;
                }
                let places = ops.chain(other).places();
                while *next_rank < seen {
                    *count += 1;
                    let next = places.start + *count as usize;
                    *next_rank = if next < places.end { ops.rank_at(next) } else { u32::MAX };
                }
            }
            visit(place, &counts);
        }
    }
}
