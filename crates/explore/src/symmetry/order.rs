//! Putting the members of scalarsets in the order of their keys or colours.

use super::plan::Plan;

/// Up to how many members comparing each with each is faster than sorting.
const FEW: usize = 16;

/// The permutation that puts members in the order of their keys; those with equal keys stay in the
/// order they have. Nobody stays nobody. Says whether all keys of each scalarset differ.
pub(super) fn image_of_keys(
    plan: &Plan,
    keys: &[u64],
    image: &mut [u32],
    order: &mut Vec<u32>,
) -> bool {
    let mut differ = true;
    for set in &plan.sets {
        let (keys, image) = (&keys[set.members()], &mut image[set.members()]);
        differ &= match keys.len() <= FEW {
            true => rank_few(keys, set.first, image),
            false => rank_many(keys, set.first, image, order),
        };
    }
    differ
}

/// Ranks by counting the smaller keys: no branches to guess.
fn rank_few(keys: &[u64], first: u32, image: &mut [u32]) -> bool {
    let mut equal = 0;
    for (member, (&key, image)) in keys.iter().zip(image).enumerate() {
        let (before, after) = keys.split_at(member);
        let mut rank = first;
        for &other in before {
            rank += u32::from(other <= key);
            equal |= u32::from(other == key);
        }
        for &other in after {
            rank += u32::from(other < key);
        }
        *image = rank;
    }
    equal == 0
}

fn rank_many(keys: &[u64], first: u32, image: &mut [u32], order: &mut Vec<u32>) -> bool {
    order.clear();
    order.extend(0..keys.len() as u32);
    order.sort_unstable_by_key(|&member| (keys[member as usize], member));
    for (rank, &member) in (first..).zip(order.iter()) {
        image[member as usize] = rank;
    }
    order.windows(2).all(|pair| keys[pair[0] as usize] != keys[pair[1] as usize])
}

/// The permutation that puts the members of each scalarset in the order of a ranking.
pub(super) fn ranking_to_image(ranking: &[(u64, u32)], image: &mut Vec<u32>) {
    image.resize(ranking.len() + 1, 0);
    image[ranking.len()] = ranking.len() as u32;
    for (position, &(_, member)) in (0..).zip(ranking) {
        image[member as usize] = position;
    }
}

/// For each place in the order, which member a permutation puts there.
pub(super) fn inverse(image: &[u32], order: &mut Vec<u32>) {
    order.resize(image.len(), 0);
    for (member, &place) in (0..).zip(image) {
        order[place as usize] = member;
    }
}

/// Sorts members by colour.
pub(super) fn sort(members: &mut [(u64, u32)]) {
    if members.len() > FEW {
        members.sort_unstable();
        return;
    }
    for end in 1..members.len() {
        let member = members[end];
        let mut position = end;
        while position > 0 && members[position - 1].0 > member.0 {
            members[position] = members[position - 1];
            position -= 1;
        }
        members[position] = member;
    }
}
