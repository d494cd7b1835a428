//! Colour refinement (Weisfeiler and Leman): colours of vertices are mixed along edges until they
//! distinguish no more members.
//!
//! A colour depends on the structure around a vertex and not on names, so exchangeable members
//! keep equal colours. The reverse does not hold, and colours are hashes: what they leave tied is
//! for [`search`](super::search) to decide.

use super::graph::Graph;
use super::hash::fold;
use super::order;
use super::plan::Plan;

/// A colouring of the vertices, with the members of each scalarset ranked by colour.
#[derive(Debug, Default, Clone)]
pub(super) struct Colouring {
    pub(super) colours: Vec<u64>,
    /// For each scalarset its members by colour, scalarsets in a row.
    pub(super) ranking: Vec<(u64, u32)>,
    /// How many different colours members have.
    pub(super) classes: usize,
}

/// Set in the colours of individualised members only, so that these are in no other cell whatever
/// hashes do.
const OWN: u64 = 1 << 63;

fn colour(number: u64) -> u64 {
    fold(number) & !OWN
}

impl Colouring {
    /// The colouring by keys of members, and of elements that are vertices.
    pub(super) fn of_keys(&mut self, plan: &Plan, graph: &Graph) {
        self.colours.clear();
        for (set, seed) in plan.sets.iter().zip(&plan.set_seeds) {
            let keys = &graph.keys[set.members()];
            self.colours.extend(keys.iter().map(|key| colour(key ^ seed)));
        }
        self.colours.extend(graph.keys[plan.members..].iter().map(|&key| colour(key)));
        self.rank(plan);
    }

    /// A copy without new room.
    pub(super) fn copy_from(&mut self, other: &Colouring) {
        self.colours.clone_from(&other.colours);
        self.ranking.clone_from(&other.ranking);
        self.classes = other.classes;
    }

    /// Whether no two members have the same colour.
    pub(super) fn is_discrete(&self, plan: &Plan) -> bool {
        self.classes == plan.members
    }

    /// Gives a member the colour with this number among those that are nobody else's, for good.
    pub(super) fn individualize(&mut self, member: u32, number: usize) {
        self.colours[member as usize] = OWN | number as u64;
    }

    /// Mixes until no more members are distinguished.
    pub(super) fn refine(&mut self, plan: &Plan, graph: &Graph, room: &mut Room) {
        let mut told_apart = 0;
        loop {
            self.mix(graph, &mut room.sums);
            self.rank(plan);
            let classes = self.classes + self.element_classes(plan, room);
            if self.is_discrete(plan) || classes <= told_apart {
                return;
            }
            told_apart = classes;
        }
    }

    /// A hash of the colours of all members.
    pub(super) fn trace(&self, plan: &Plan) -> u64 {
        let colours = &self.colours[..plan.members];
        colours.iter().fold(0, |sum: u64, &colour| sum.wrapping_add(fold(colour)))
    }

    fn mix(&mut self, graph: &Graph, sums: &mut Vec<u64>) {
        sums.clear();
        sums.resize(self.colours.len(), 0);
        let mut start = 0;
        for edge in &graph.edges {
            let mentions = &graph.mentions[start..edge.end as usize];
            start = edge.end as usize;
            let mut hash = edge.hash;
            for mention in mentions {
                let colour = self.colours[mention.vertex as usize];
                hash = hash.wrapping_add(fold(colour ^ mention.role));
            }
            let hash = fold(hash);
            for mention in mentions {
                let sum = &mut sums[mention.vertex as usize];
                *sum = sum.wrapping_add(fold(hash ^ mention.role));
            }
        }
        for (colour, &sum) in self.colours.iter_mut().zip(sums.iter()) {
            if *colour & OWN == 0 {
                *colour = self::colour(colour.rotate_left(29).wrapping_add(sum));
            }
        }
    }

    fn rank(&mut self, plan: &Plan) {
        self.ranking.clear();
        self.ranking.extend(self.colours[..plan.members].iter().copied().zip(0..));
        self.classes = 0;
        for set in &plan.sets {
            let members = &mut self.ranking[set.members()];
            order::sort(members);
            let ties = members.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
            self.classes += members.len() - ties;
        }
    }

    /// How many different colours elements of multisets have, where they are vertices.
    fn element_classes(&self, plan: &Plan, room: &mut Room) -> usize {
        room.elements.clear();
        room.elements.extend(&self.colours[plan.members..]);
        room.elements.sort_unstable();
        room.elements.dedup();
        room.elements.len()
    }
}

/// Room to work in.
#[derive(Debug, Default)]
pub(super) struct Room {
    sums: Vec<u64>,
    elements: Vec<u64>,
}
