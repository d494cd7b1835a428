//! Sets of outcomes as decision diagrams.
//!
//! An outcome gives a value to each of some variables. A set of them is a graph: a node asks for
//! one variable, has an edge for each value that some outcome gives it, and variables are asked in
//! order. Equal subgraphs are one node, so that a set is a number, equality of sets is equality of
//! numbers, and sets that would not fit in memory one by one often do. All outcomes of a set have
//! the same variables.
//!
//! Union, product and fixing a variable take time in the product of the sizes of the graphs at
//! worst; results are remembered.

use rustc_hash::FxHashMap;

/// A set of outcomes.
pub(crate) type Set = u32;
/// No outcome.
pub(crate) const NONE: Set = 0;
/// One outcome, without variables.
pub(crate) const UNIT: Set = 1;

/// A value of a variable, numbered by [`Diagrams::value`].
type ValueId = u32;

struct Node {
    variable: u32,
    start: u32,
    end: u32,
}

/// The sets that have been built.
pub(crate) struct Diagrams {
    nodes: Vec<Node>,
    edges: Vec<(ValueId, Set)>,
    /// Nodes by their hash; nodes with equal hash are chained.
    table: FxHashMap<u64, Set>,
    chain: Vec<Set>,
    unions: FxHashMap<(Set, Set), Set>,
    fixed: FxHashMap<(u32, ValueId, Set), Set>,
    products: FxHashMap<(Set, Set), Set>,
    values: Vec<u64>,
    value_ids: FxHashMap<u64, ValueId>,
}

impl Default for Diagrams {
    fn default() -> Self {
        let terminal = || Node { variable: u32::MAX, start: 0, end: 0 };
        Diagrams {
            nodes: vec![terminal(), terminal()],
            edges: Vec::new(),
            table: FxHashMap::default(),
            chain: vec![NONE, NONE],
            unions: FxHashMap::default(),
            fixed: FxHashMap::default(),
            products: FxHashMap::default(),
            values: Vec::new(),
            value_ids: FxHashMap::default(),
        }
    }
}

impl Diagrams {
    fn value_id(&mut self, value: u64) -> ValueId {
        let next = self.values.len() as ValueId;
        let id = *self.value_ids.entry(value).or_insert(next);
        if id == next {
            self.values.push(value);
        }
        id
    }

    fn variable(&self, set: Set) -> u32 {
        self.nodes[set as usize].variable
    }

    fn edges(&self, set: Set) -> &[(ValueId, Set)] {
        let node = &self.nodes[set as usize];
        &self.edges[node.start as usize..node.end as usize]
    }

    /// The values of a set's first variable, each with the outcomes that have it.
    pub(crate) fn choices(&self, set: Set) -> impl Iterator<Item = (u64, Set)> + '_ {
        self.edges(set).iter().map(|edge| (self.values[edge.0 as usize], edge.1))
    }

    /// The size in bytes (estimate).
    pub(crate) fn bytes(&self) -> usize {
        let remembered = self.unions.len() + self.fixed.len() + self.products.len();
        self.nodes.len() * 40 + self.edges.len() * 8 + remembered * 24
    }

    /// Forgets results of operations, not sets.
    pub(crate) fn forget(&mut self) {
        self.unions.clear();
        self.fixed.clear();
        self.products.clear();
    }

    fn node(&mut self, variable: u32, edges: &[(ValueId, Set)]) -> Set {
        if edges.is_empty() {
            return NONE;
        }
        let hash = hash(variable, edges);
        let first = self.table.get(&hash).copied();
        let mut candidate = first.unwrap_or(NONE);
        while candidate != NONE {
            if self.variable(candidate) == variable && self.edges(candidate) == edges {
                return candidate;
            }
            candidate = self.chain[candidate as usize];
        }
        let set = self.nodes.len() as Set;
        let start = self.edges.len() as u32;
        self.edges.extend_from_slice(edges);
        self.nodes.push(Node { variable, start, end: self.edges.len() as u32 });
        self.chain.push(first.unwrap_or(NONE));
        self.table.insert(hash, set);
        set
    }

    /// The outcomes of a set, each with this value for a variable it does not have yet.
    pub(crate) fn with(&mut self, set: Set, variable: u32, value: u64) -> Set {
        let value = self.value_id(value);
        self.fix(set, variable, value)
    }

    fn fix(&mut self, set: Set, variable: u32, value: ValueId) -> Set {
        if set == NONE {
            return NONE;
        }
        if self.variable(set) > variable {
            return self.node(variable, &[(value, set)]);
        }
        if let Some(&known) = self.fixed.get(&(variable, value, set)) {
            return known;
        }
        let mut edges = self.edges(set).to_vec();
        for edge in &mut edges {
            edge.1 = self.fix(edge.1, variable, value);
        }
        let result = self.node(self.variable(set), &edges);
        self.fixed.insert((variable, value, set), result);
        result
    }

    /// The union of two sets with the same variables.
    pub(crate) fn union(&mut self, one: Set, other: Set) -> Set {
        if one == other || other == NONE {
            return one;
        }
        if one == NONE {
            return other;
        }
        let key = (one.min(other), one.max(other));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let variable = self.variable(one);
        debug_assert_eq!(variable, self.variable(other), "sets have the same variables");
        let mut merged = Vec::with_capacity(self.edges(one).len() + self.edges(other).len());
        let (mut i, mut j) = (0, 0);
        loop {
            let left = self.edges(one).get(i).copied();
            let right = self.edges(other).get(j).copied();
            match (left, right) {
                (Some(left), Some(right)) if left.0 == right.0 => {
                    let both = self.union(left.1, right.1);
                    merged.push((left.0, both));
                    (i, j) = (i + 1, j + 1);
                }
                (Some(left), right) if right.is_none_or(|right| left.0 < right.0) => {
                    merged.push(left);
                    i += 1;
                }
                (_, Some(right)) => {
                    merged.push(right);
                    j += 1;
                }
                (_, None) => break,
            }
        }
        let result = self.node(variable, &merged);
        self.unions.insert(key, result);
        result
    }

    /// Every outcome of one set with every outcome of another that has other variables.
    pub(crate) fn product(&mut self, one: Set, other: Set) -> Set {
        if one == NONE || other == NONE {
            return NONE;
        }
        if one == UNIT {
            return other;
        }
        if other == UNIT {
            return one;
        }
        let (upper, lower) =
            if self.variable(one) < self.variable(other) { (one, other) } else { (other, one) };
        if let Some(&known) = self.products.get(&(upper, lower)) {
            return known;
        }
        let mut edges = self.edges(upper).to_vec();
        for edge in &mut edges {
            edge.1 = self.product(edge.1, lower);
        }
        let result = self.node(self.variable(upper), &edges);
        self.products.insert((upper, lower), result);
        result
    }

    /// Whether the set has an outcome with these values for all its variables.
    pub(crate) fn contains(&self, mut set: Set, value: impl Fn(u32) -> u64) -> bool {
        while set > UNIT {
            let wanted = value(self.variable(set));
            let edges = self.edges(set).iter();
            let found = edges.copied().find(|edge| self.values[edge.0 as usize] == wanted);
            let Some((_, next)) = found else { return false };
            set = next;
        }
        set == UNIT
    }

    /// The outcomes with this value for a variable, without the variable.
    fn choose(
        &mut self,
        set: Set,
        variable: u32,
        value: ValueId,
        known: &mut FxHashMap<Set, Set>,
    ) -> Set {
        if self.variable(set) > variable {
            return NONE;
        }
        if self.variable(set) == variable {
            let chosen = self.edges(set).iter().find(|edge| edge.0 == value);
            return chosen.map_or(NONE, |edge| edge.1);
        }
        if let Some(&known) = known.get(&set) {
            return known;
        }
        let mut edges = self.edges(set).to_vec();
        for edge in &mut edges {
            edge.1 = self.choose(edge.1, variable, value, known);
        }
        edges.retain(|edge| edge.1 != NONE);
        let result = self.node(self.variable(set), &edges);
        known.insert(set, result);
        result
    }

    /// The values that outcomes give a variable.
    fn values_of(&self, set: Set, variable: u32) -> Vec<ValueId> {
        let mut values = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut rest = vec![set];
        while let Some(set) = rest.pop() {
            if self.variable(set) > variable || !seen.insert(set) {
                continue;
            }
            for &(value, next) in self.edges(set) {
                if self.variable(set) == variable {
                    values.push(value);
                } else {
                    rest.push(next);
                }
            }
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The same outcomes, with `order[i]` asked `i`-th and called `first + i`, where `first` lies
    /// beyond all variables of the set.
    pub(crate) fn reordered(&mut self, set: Set, order: &[u32], first: u32) -> Set {
        let mut known = FxHashMap::default();
        self.reorder(set, order, first, &mut known)
    }

    fn reorder(
        &mut self,
        set: Set,
        order: &[u32],
        name: u32,
        known: &mut FxHashMap<Set, Set>,
    ) -> Set {
        let Some((&variable, rest)) = order.split_first() else { return set };
        if set == NONE {
            return NONE;
        }
        if let Some(&known) = known.get(&set) {
            return known;
        }
        let mut edges = Vec::new();
        for value in self.values_of(set, variable) {
            let chosen = self.choose(set, variable, value, &mut FxHashMap::default());
            edges.push((value, self.reorder(chosen, rest, name + 1, known)));
        }
        let result = self.node(name, &edges);
        known.insert(set, result);
        result
    }

    /// The number of outcomes.
    pub(crate) fn count(&self, set: Set) -> u128 {
        let mut counts: FxHashMap<Set, u128> = FxHashMap::default();
        counts.insert(NONE, 0);
        counts.insert(UNIT, 1);
        let mut rest = vec![set];
        while let Some(&set) = rest.last() {
            if counts.contains_key(&set) {
                rest.pop();
                continue;
            }
            let next = self.edges(set).iter().map(|edge| edge.1);
            let unknown: Vec<Set> = next.filter(|next| !counts.contains_key(next)).collect();
            if unknown.is_empty() {
                let sum = self.edges(set).iter().map(|edge| counts[&edge.1]);
                let sum = sum.fold(0_u128, u128::saturating_add);
                counts.insert(set, sum);
                rest.pop();
            } else {
                rest.extend(unknown);
            }
        }
        counts[&set]
    }

    /// Calls this with all outcomes, as values in the order of their variables, until it returns
    /// false; the values of a variable come in the order of this key.
    pub(crate) fn each<K: Ord>(
        &self,
        set: Set,
        key: impl Fn(usize, u64) -> K,
        mut each: impl FnMut(&[u64]) -> bool,
    ) {
        let mut sorted: FxHashMap<Set, Vec<(u64, Set)>> = FxHashMap::default();
        // For each variable above: its node, and the number of edges taken.
        let mut stack: Vec<(Set, usize)> = Vec::new();
        let mut row = Vec::new();
        let mut here = set;
        loop {
            while here > UNIT {
                let level = stack.len();
                let edges = sorted.entry(here).or_insert_with(|| {
                    let mut edges: Vec<(u64, Set)> = self.choices(here).collect();
                    edges.sort_by_key(|edge| key(level, edge.0));
                    edges
                });
                stack.push((here, 1));
                row.push(edges[0].0);
                here = edges[0].1;
            }
            if here == UNIT && !each(&row) {
                return;
            }
            loop {
                let Some((node, taken)) = stack.last_mut() else { return };
                row.pop();
                if let Some(&(value, next)) = sorted[node].get(*taken) {
                    *taken += 1;
                    row.push(value);
                    here = next;
                    break;
                }
                stack.pop();
            }
        }
    }
}

fn hash(variable: u32, edges: &[(ValueId, Set)]) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    variable.hash(&mut hasher);
    edges.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    type Rows = BTreeSet<Vec<u64>>;

    /// A set with variables 0, 1, …, built in an order that is not theirs.
    fn set(diagrams: &mut Diagrams, rows: &Rows) -> Set {
        let mut set = NONE;
        for row in rows {
            let mut one = UNIT;
            for variable in [1, 2, 0] {
                one = diagrams.with(one, variable, row[variable as usize]);
            }
            set = diagrams.union(set, one);
        }
        set
    }

    fn rows(diagrams: &Diagrams, set: Set) -> Vec<Vec<u64>> {
        let mut rows = Vec::new();
        diagrams.each(
            set,
            |_, value| value,
            |row| {
                rows.push(row.to_vec());
                true
            },
        );
        rows
    }

    fn some_rows(seed: u64) -> Rows {
        let digit = |shift: u32, i: u64| (seed.wrapping_mul(i * 2 + 1) >> shift) % 3;
        (0..9).map(|i| vec![digit(20, i), digit(30, i), digit(40, i)]).collect()
    }

    #[test]
    fn sets_of_rows_come_back_sorted_and_equal_sets_are_one() {
        for seed in (1..200).map(|n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
            let (some, more) = (some_rows(seed), some_rows(seed.rotate_left(17)));
            let mut diagrams = Diagrams::default();
            let (one, other) = (set(&mut diagrams, &some), set(&mut diagrams, &more));
            let both = diagrams.union(one, other);
            let expected: Rows = some.union(&more).cloned().collect();
            assert_eq!(rows(&diagrams, both), Vec::from_iter(expected.clone()));
            assert_eq!(both, set(&mut diagrams, &expected));
            assert_eq!(diagrams.count(both), expected.len() as u128);
            for row in more {
                let found = diagrams.contains(one, |variable| row[variable as usize]);
                assert_eq!(found, some.contains(&row));
            }
        }
    }

    #[test]
    fn variables_can_be_asked_in_another_order() {
        let mut diagrams = Diagrams::default();
        let original = some_rows(0x1234_5678_9ABC_DEF1);
        let built = set(&mut diagrams, &original);
        let reordered = diagrams.reordered(built, &[2, 0, 1], 3);
        let expected: Rows = original.iter().map(|row| vec![row[2], row[0], row[1]]).collect();
        assert_eq!(rows(&diagrams, reordered), Vec::from_iter(expected));
    }

    #[test]
    fn a_product_has_every_pair() {
        let mut diagrams = Diagrams::default();
        let (one, two) = (diagrams.with(UNIT, 1, 1), diagrams.with(UNIT, 1, 2));
        let middle = diagrams.union(one, two);
        let (five, six) = (diagrams.with(UNIT, 0, 5), diagrams.with(UNIT, 0, 6));
        let upper = diagrams.union(five, six);
        let product = diagrams.product(middle, upper);
        assert_eq!(rows(&diagrams, product), [[5, 1], [5, 2], [6, 1], [6, 2]].map(Vec::from));
        assert_eq!(diagrams.product(product, NONE), NONE);
    }
}
