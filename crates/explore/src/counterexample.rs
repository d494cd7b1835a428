//! The way from a start state to a state, in one naming of scalarset members.
//!
//! A search stores representatives and no parents. First the way is followed back: a predecessor
//! of a state of level d is among the states of level d−1 that the store offers as candidates, and
//! is known by expanding them; of several the least packed one is taken, so that the way does not
//! depend on threads. Then it is followed forward from the start state *as it was*, not from its
//! representative: at each step the first rule is taken whose result has the next representative.
//! Since rules do not distinguish members of a scalarset, there always is one, and no name ever
//! changes. Going back costs at most as much as the search did, with hints 1/256 of it.

use murphi::machine::{Check, Machine, Outcome};
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Kind};
use crate::hash::{self, Partition};
use crate::reduction::Reduction;
use crate::result::Step;
use crate::runner::{Portion, Rules, Runner};
use crate::storage::Storage;
use crate::store::{Store, StoreError};

/// The representatives on the way to a state of level `depth`, all as they are stored, the state
/// included.
pub(crate) fn way_back<M, C, R, S>(
    runner: &mut Runner<'_, M, C, R>,
    stores: &mut [S],
    partition: Partition,
    depth: u32,
    stored: &[u8],
) -> Result<Vec<Vec<u8>>, StoreError>
where
    M: Machine,
    C: Storage,
    R: Reduction,
    S: Store,
{
    let mut way = vec![stored.to_vec()];
    for depth in (0..depth).rev() {
        let target = way.last().expect("never empty").clone();
        let hash = hash::hash(&target, hash::PLACE);
        let hint = stores[partition.owner(hash)].hint_of(&target, hash)?;
        let mut best = None;
        for store in stores.iter_mut() {
            least_predecessor(runner, store, (depth, hint), &target, &mut best)?;
        }
        match best {
            Some(Predecessor { stored, .. }) => way.push(stored),
            // Only if the machine does not do the same thing twice.
            None => break,
        }
    }
    way.reverse();
    Ok(way)
}

/// A state from which a rule leads to another, packed and as it is stored. The least one is taken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Predecessor {
    pub(crate) packed: Vec<u8>,
    pub(crate) stored: Vec<u8>,
}

/// Looks for the least predecessor of `target` among the states of this level in a store. The hint
/// is that of the target.
pub(crate) fn least_predecessor<M: Machine, C: Storage, R: Reduction, S: Store>(
    runner: &mut Runner<'_, M, C, R>,
    store: &mut S,
    (depth, hint): (u32, Option<u8>),
    target: &[u8],
    best: &mut Option<Predecessor>,
) -> Result<(), StoreError> {
    // The store knows the hints of states whose hints are those of their hashes.
    let known = hint.filter(|_| runner.hints_by_hash());
    store.candidates(depth, known, &mut |candidate| {
        runner.load(candidate);
        if hint.is_some_and(|hint| hint != runner.hint(candidate)) {
            return;
        }
        let packed = runner.packed(candidate);
        let better = best.as_ref().is_none_or(|best| packed < best.packed);
        if better && leads_to(runner, target) {
            *best = Some(Predecessor { packed, stored: candidate.to_vec() });
        }
    })
}

/// Whether the state of the runner counts and some rule leads from it to `target`.
fn leads_to<M: Machine, C: Storage, R: Reduction>(
    runner: &mut Runner<'_, M, C, R>,
    target: &[u8],
) -> bool {
    if runner.check() != Check::Holds {
        return false;
    }
    let mut packed = vec![0; target.len()];
    let found = runner.find(Rules::Applying, |portion, firing| {
        leads(portion, firing, target, &mut packed).then_some(())
    });
    found.is_some()
}

/// Whether a rule that was run led to a state with this representative; the state may be overwritten.
fn leads<C: Storage, R: Reduction>(
    portion: &mut Portion<'_, '_, C, R>,
    firing: usize,
    target: &[u8],
    packed: &mut [u8],
) -> bool {
    portion.firings()[firing].outcome == Outcome::Done && {
        portion.pack(firing, packed).is_ok() && packed == target
    }
}

/// The steps along a way of representatives, in the names of the start state, and the parameters
/// of the rule of the finding at its end in those names.
pub(crate) fn steps<M: Machine, C: Storage, R: Reduction>(
    runner: &mut Runner<'_, M, C, R>,
    way: &[Vec<u8>],
    finding: &Finding,
) -> (Vec<Step>, u64) {
    let mut steps: Vec<Step> = Vec::with_capacity(way.len());
    for (number, target) in way.iter().enumerate() {
        let found = match number {
            0 => take(runner, target, Rules::Start),
            _ => take(runner, target, Rules::Applying).or_else(|| {
                // Rules that do distinguish members: continue from the representative.
                runner.load(&way[number - 1]);
                take(runner, target, Rules::Applying)
            }),
        };
        match found {
            Some(step) => steps.push(step),
            None => break,
        }
    }
    let instance = match finding.kind {
        Kind::GuardFailed => failing(runner, finding, Outcome::GuardFailed),
        Kind::RuleFailed => failing(runner, finding, Outcome::Failed),
        _ => finding.instance,
    };
    (steps, instance)
}

/// Takes the first step to a state with this representative.
fn take<M: Machine, C: Storage, R: Reduction>(
    runner: &mut Runner<'_, M, C, R>,
    target: &[u8],
    rules: Rules,
) -> Option<Step> {
    let mut packed = vec![0; target.len()];
    let step = runner.find(rules, |portion, firing| {
        let state = portion.successor(firing).to_vec();
        leads(portion, firing, target, &mut packed).then(|| {
            let firing = portion.firings()[firing];
            Step { rule: firing.rule, instance: firing.instance, state }
        })
    })?;
    runner.go_to(&step.state);
    Some(step)
}

/// The first parameters with which the rule of the finding ends like this in the runner's state.
fn failing<M: Machine, C: Storage, R: Reduction>(
    runner: &mut Runner<'_, M, C, R>,
    finding: &Finding,
    outcome: Outcome,
) -> u64 {
    let found = runner.find(Rules::Applying, |portion, firing| {
        let firing = portion.firings()[firing];
        (firing.rule == finding.rule && firing.outcome == outcome).then_some(firing.instance)
    });
    found.unwrap_or(finding.instance)
}
