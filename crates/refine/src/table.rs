//! All observed rows of one rule, and the combinations of values that none of them has.
//!
//! For every atom and category there is a bit set of rows. A combination of categories that no row has is
//! a candidate for a fact; the fewer atoms, the more general the fact. Given a row that is assumed to be
//! impossible, [`Table::missing`] finds the smallest combinations of its categories that no row has, by
//! intersecting bit sets.

use rustc_hash::{FxHashMap, FxHashSet};

use super::atoms::{Atom, Category, Definedness, atoms};
use super::implied_rows::Cube;
use super::reader::{Label, UNDEFINED};
use super::vocabulary::Vocabulary;

/// The largest number of combinations of three atoms that are tried.
const MOST_TRIPLES: usize = 3_000_000;

/// A set of rows.
type Bits = Vec<u64>;

/// The rows of one rule.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    rows: FxHashSet<Box<[Label]>>,
}

impl Rows {
    /// Adds a row. Returns whether it is new.
    pub(crate) fn add(&mut self, row: &[Label]) -> bool {
        if self.rows.contains(row) {
            return false;
        }
        self.rows.insert(row.into())
    }

    /// The rows, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Label]> {
        self.rows.iter().map(|row| &**row)
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// For each term of the vocabulary, whether it is undefined in some row.
    pub(crate) fn undefined(&self, vocabulary: &Vocabulary) -> Vec<bool> {
        let variables = vocabulary.variables.len();
        let mut undefined = vec![false; vocabulary.terms.len()];
        for row in &self.rows {
            for (seen, label) in undefined.iter_mut().zip(&row[variables..]) {
                *seen |= *label == UNDEFINED;
            }
        }
        undefined
    }
}

/// Some atoms with their categories.
pub(crate) type Combination = Vec<(Atom, Category)>;

/// The rows of one atom.
#[derive(Debug, Clone, Default)]
struct Column {
    of: FxHashMap<Category, Bits>,
    /// The rows in which the atom's value has to be computed and is unknown; these are in the sets
    /// of all categories, too.
    unknown: Bits,
    is_unknown_somewhere: bool,
    /// Whether no lemma may use the atom.
    is_forbidden: bool,
}

impl Column {
    fn set(&self, category: Category) -> &Bits {
        self.of.get(&category).unwrap_or(&self.unknown)
    }
}

/// The rows of a rule, as one bit set for each atom and category.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    atoms: Vec<Atom>,
    /// For each atom, the rows that have or may have each category.
    columns: Vec<Column>,
    rows: usize,
    /// For each term, when it is defined.
    presence: Vec<Definedness>,
}

impl Table {
    /// Builds the table. Its answers do not depend on the order of rows. `elsewhere` says which
    /// terms may be undefined where the rule is not enabled.
    pub(crate) fn new(vocabulary: &Vocabulary, rows: &Rows, elsewhere: &[bool]) -> Table {
        let mut sorted: Vec<&[Label]> = rows.rows.iter().map(|row| &**row).collect();
        sorted.sort_unstable();
        let words = sorted.len().div_ceil(64);
        let atoms = atoms(vocabulary);
        let column = Column { unknown: vec![0; words], ..Column::default() };
        let mut columns = vec![column; atoms.len()];
        for (number, row) in sorted.iter().enumerate() {
            for (atom, column) in atoms.iter().zip(&mut columns) {
                let bits = match atom.category(vocabulary, row, 0) {
                    Some(category) => column.of.entry(category).or_insert_with(|| vec![0; words]),
                    None if atom.is_probe(vocabulary) => {
                        column.is_unknown_somewhere = true;
                        &mut column.unknown
                    }
                    // Two abstract processors were compared: another view, in which one of them is
                    // known by name, decides this.
                    None => continue,
                };
                bits[number / 64] |= 1 << (number % 64);
            }
        }
        for Column { of, unknown, .. } in &mut columns {
            for bits in of.values_mut() {
                bits.iter_mut().zip(&*unknown).for_each(|(known, unknown)| *known |= unknown);
            }
        }
        let here = rows.undefined(vocabulary);
        let presence =
            here.iter().zip(elsewhere).map(|(here, elsewhere)| match (here, elsewhere) {
                (true, _) => Definedness::Sometimes,
                (false, true) => Definedness::Here,
                (false, false) => Definedness::Always,
            });
        let presence = presence.collect();
        Table { atoms, columns, rows: sorted.len(), presence }
    }

    /// Excludes atoms that no lemma may use; they would hide other combinations.
    pub(crate) fn forbid(&mut self, is_forbidden: &dyn Fn(Atom) -> bool) {
        for (atom, column) in self.atoms.iter().zip(&mut self.columns) {
            column.is_forbidden = is_forbidden(*atom);
        }
    }

    /// When a term is defined.
    pub(crate) fn presence(&self, term: usize) -> Definedness {
        self.presence[term]
    }

    /// The categories of an atom in the rows that satisfy all of `given`, in ascending order.
    pub(crate) fn categories(&self, atom: Atom, given: &[(Atom, Category)]) -> Vec<Category> {
        let Some(column) = self.column(atom) else { return Vec::new() };
        let Some(within) = self.rows_with(given) else { return Vec::new() };
        let meets = |bits: &Bits| bits.iter().zip(&within).any(|(left, right)| left & right != 0);
        let met = column.of.iter().filter(|(_, bits)| meets(bits));
        let mut found: Vec<Category> = met.map(|(category, _)| *category).collect();
        found.sort_unstable();
        found
    }

    /// The smallest combinations of the categories of `row` that no row of the table has, those
    /// least likely to be missing by chance first. Empty if the table has the whole row.
    pub(crate) fn missing(
        &self,
        vocabulary: &Vocabulary,
        row: &[Label],
        cube: &Cube,
    ) -> Vec<Combination> {
        let known = self.atoms.iter().enumerate().filter_map(|(at, atom)| {
            // A term that cannot always be evaluated cannot be used.
            let column = &self.columns[at];
            let is_sayable = !column.is_unknown_somewhere && !column.is_forbidden;
            let category = cube.category(*atom, vocabulary, row);
            Some((at, category.filter(|_| is_sayable)?))
        });
        let is_pair = |&(at, _): &(usize, Category)| self.atoms[at].is_pair(vocabulary);
        let (pairs, rest): (Vec<_>, Vec<_>) = known.partition(is_pair);
        if pairs.is_empty() {
            return self.missing_at_once(&rest);
        }
        // A view can compare one pair of stored processors at a time, so each pair is tried alone.
        let mut found: Vec<Combination> = Vec::new();
        for pair in pairs {
            let mut known = rest.clone();
            known.push(pair);
            for combination in self.missing_at_once(&known) {
                if !found.contains(&combination) {
                    found.push(combination);
                }
            }
        }
        found
    }

    fn missing_at_once(&self, known: &[(usize, Category)]) -> Vec<Combination> {
        let named = |places: &[usize]| -> Combination {
            places.iter().map(|&place| (self.atoms[known[place].0], known[place].1)).collect()
        };
        let single: Vec<usize> = (0..known.len())
            .filter(|&place| count(self.columns[known[place].0].set(known[place].1)) == 0)
            .collect();
        if !single.is_empty() {
            return single.into_iter().map(|place| named(&[place])).collect();
        }
        let sets: Vec<&Bits> =
            known.iter().map(|(at, category)| self.columns[*at].set(*category)).collect();
        // Most rows are in the table: there is nothing to find.
        if self.some_row_has(&sets) {
            return Vec::new();
        }
        let counts: Vec<u64> = sets.iter().map(|set| count(set)).collect();
        // An atom with the same category in every row does not restrict the rows.
        let relevant: Vec<usize> =
            (0..known.len()).filter(|&place| counts[place] < self.rows as u64).collect();
        let pairs = self.missing_pairs(&relevant, &sets);
        if !pairs.is_empty() {
            return ranked(pairs, &counts).iter().map(|pair| named(pair)).collect();
        }
        let triples = self.missing_triples(&relevant, &sets);
        if !triples.is_empty() {
            return ranked(triples, &counts).iter().map(|triple| named(triple)).collect();
        }
        // For a rule that was never observed, no combination may be expressible.
        let whole = self.missing_whole(&relevant, &sets, &counts).filter(|all| !all.is_empty());
        whole.map(|all| vec![named(&all)]).unwrap_or_default()
    }

    /// Whether some row is in all of these sets.
    fn some_row_has(&self, sets: &[&Bits]) -> bool {
        let mut bits = self.all();
        for set in sets {
            let mut any = 0;
            for (left, right) in bits.iter_mut().zip(*set) {
                *left &= right;
                any |= *left;
            }
            if any == 0 {
                return false;
            }
        }
        bits.iter().any(|word| *word != 0)
    }

    fn missing_pairs(&self, places: &[usize], sets: &[&Bits]) -> Vec<Vec<usize>> {
        let mut pairs = Vec::new();
        for (number, &left) in places.iter().enumerate() {
            for &right in &places[..number] {
                if disjoint(sets[left], sets[right]) {
                    pairs.push(vec![right, left]);
                }
            }
        }
        pairs
    }

    fn missing_triples(&self, places: &[usize], sets: &[&Bits]) -> Vec<Vec<usize>> {
        let mut triples = Vec::new();
        let mut looked_at = 0;
        let mut both = Vec::new();
        for (number, &first) in places.iter().enumerate() {
            for (earlier, &second) in places[..number].iter().enumerate() {
                both.clear();
                both.extend(sets[first].iter().zip(sets[second]).map(|(left, right)| left & right));
                looked_at += earlier;
                if looked_at > MOST_TRIPLES {
                    return triples;
                }
                for &third in &places[..earlier] {
                    if disjoint(&both, sets[third]) {
                        triples.push(vec![third, second, first]);
                    }
                }
            }
        }
        triples
    }

    /// The whole row, if no row of the table has it, reduced greedily to few atoms.
    fn missing_whole(
        &self,
        places: &[usize],
        sets: &[&Bits],
        counts: &[u64],
    ) -> Option<Vec<usize>> {
        let mut places = places.to_vec();
        places.sort_by_key(|&place| counts[place]);
        let meet = |chosen: &[usize]| {
            let mut bits = self.all();
            for &place in chosen {
                bits.iter_mut().zip(sets[place]).for_each(|(left, right)| *left &= right);
            }
            count(&bits)
        };
        if meet(&places) != 0 {
            return None;
        }
        let mut at = places.len();
        while at > 0 {
            at -= 1;
            let mut without = places.clone();
            without.remove(at);
            if meet(&without) == 0 {
                places = without;
            }
        }
        places.sort_unstable();
        Some(places)
    }

    fn column(&self, atom: Atom) -> Option<&Column> {
        let at = self.atoms.iter().position(|candidate| *candidate == atom)?;
        Some(&self.columns[at])
    }

    fn rows_with(&self, given: &[(Atom, Category)]) -> Option<Bits> {
        let mut bits = self.all();
        for (atom, category) in given {
            let set = self.column(*atom)?.set(*category);
            bits.iter_mut().zip(set).for_each(|(left, right)| *left &= right);
        }
        Some(bits)
    }

    fn all(&self) -> Bits {
        let mut bits = vec![u64::MAX; self.rows.div_ceil(64)];
        if let (Some(last), rest @ 1..) = (bits.last_mut(), self.rows % 64) {
            *last = (1 << rest) - 1;
        }
        bits
    }
}

fn count(bits: &Bits) -> u64 {
    bits.iter().map(|word| u64::from(word.count_ones())).sum()
}

fn disjoint(left: &Bits, right: &Bits) -> bool {
    left.iter().zip(right).all(|(left, right)| left & right == 0)
}

/// Rarer parts are less likely to be missing together by chance.
fn ranked(mut combinations: Vec<Vec<usize>>, counts: &[u64]) -> Vec<Vec<usize>> {
    let weight = |places: &Vec<usize>| -> f64 {
        places.iter().map(|&place| (counts[place] as f64).ln()).sum()
    };
    combinations.sort_by(|left, right| weight(right).total_cmp(&weight(left)));
    combinations
}

#[cfg(test)]
pub(super) mod tests;
