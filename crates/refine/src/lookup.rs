//! Decides whether some observed row of a rule agrees with a partially known row.
//!
//! Of a step of abstract processors only some values are known. Few different subsets of the values are
//! ever asked for, so for each subset the rows are stored restricted to it, as hashes. A hash collision
//! takes a row for observed that was not, which is a wrong guess, and guesses cannot make an answer
//! wrong. A query without a match is answered later if a matching row is added.

use rustc_hash::{FxHashMap, FxHashSet};

use super::atoms::{Atom, Category};
use super::implied_rows::Cube;
use super::reader::Label;
use super::vocabulary::Vocabulary;

/// The category of an atom whose value is unknown.
const UNKNOWN: Category = 255;

/// The categories of a row, one for each atom of the look-up.
type Categories = Box<[Category]>;

/// The number of a query that waits for a row.
pub(super) type QueryId = u32;

/// The rows of one rule.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    atoms: Vec<Atom>,
    /// The atoms that compare two stored processors.
    pairs: Vec<usize>,
    rows: Vec<Categories>,
    is_row: FxHashSet<u64>,
    questions: Vec<Question>,
    /// The number of a question, by its known atoms.
    question_of: FxHashMap<Box<[u16]>, usize>,
    /// The queries, by the hash of their row.
    asked: FxHashMap<u64, Vec<Place>>,
}

/// Queries with the same known atoms.
#[derive(Debug, Default)]
struct Question {
    /// The numbers of the known atoms.
    known: Box<[u16]>,
    /// The hashes of the observed rows, restricted to the known atoms.
    seen: FxHashSet<u64>,
    /// The waiting queries, by the hash that answers them.
    wanted: FxHashMap<u64, Vec<usize>>,
    waiting: Vec<Waiting>,
}

/// The queries for the same partial row.
#[derive(Debug)]
struct Waiting {
    askers: Vec<QueryId>,
    /// Whether a matching row was observed.
    is_over: bool,
}

impl Waiting {
    /// Adds a query unless it is already answered.
    fn wait(&mut self, asker: QueryId) -> bool {
        if !self.is_over && self.askers.last() != Some(&asker) {
            self.askers.push(asker);
        }
        self.is_over
    }
}

/// The place of a query in its question.
#[derive(Debug, Clone, Copy)]
struct Place {
    question: usize,
    waiting: usize,
}

impl Lookup {
    /// Starts without rows, for these atoms.
    pub(super) fn new(vocabulary: &Vocabulary, atoms: Vec<Atom>) -> Lookup {
        let pairs = (0..atoms.len()).filter(|&at| atoms[at].is_pair(vocabulary)).collect();
        Lookup { atoms, pairs, ..Lookup::default() }
    }

    /// The memory in use, in bytes (estimate).
    pub(super) fn bytes(&self) -> usize {
        let waiting: usize = self.questions.iter().map(|question| question.waiting.len()).sum();
        // For each row, one hash per question; queries, waiting lists, and a few askers.
        self.rows.len() * (self.atoms.len() + 16 * self.questions.len()) + 200 * waiting
    }

    /// Adds a row. Queries that it answers are added to `woken`.
    pub(super) fn add(&mut self, vocabulary: &Vocabulary, row: &[Label], woken: &mut Vec<QueryId>) {
        let categories = self.categories(vocabulary, row, &Cube::default());
        if !self.is_row.insert(hash_of(categories.iter())) {
            return;
        }
        for question in &mut self.questions {
            let Some(hash) = question.hash(&categories).filter(|hash| question.seen.insert(*hash))
            else {
                continue;
            };
            for waiting in question.wanted.remove(&hash).unwrap_or_default() {
                let waiting = &mut question.waiting[waiting];
                waiting.is_over = true;
                woken.append(&mut waiting.askers);
            }
        }
        self.rows.push(categories);
    }

    /// Whether some observed row agrees with the known part of this one. If not, the query waits
    /// for one that does.
    pub(super) fn ask(
        &mut self,
        vocabulary: &Vocabulary,
        row: &[Label],
        cube: &Cube,
        asker: QueryId,
    ) -> bool {
        // Most queries repeat an earlier one.
        let key = hash_of(row.iter()) ^ cube.hash();
        if !self.asked.contains_key(&key) {
            let categories = self.categories(vocabulary, row, cube);
            let places = self.parts(categories).iter().map(|part| self.place(part)).collect();
            self.asked.insert(key, places);
        }
        let Lookup { asked, questions, .. } = self;
        let wait = |place: &Place| questions[place.question].waiting[place.waiting].wait(asker);
        asked[&key].iter().all(wait)
    }

    /// Splits a query into those that can be answered together. A view with one processor known by
    /// name can compare one pair of stored processors at a time, so each pair is a query of its
    /// own.
    fn parts(&self, categories: Categories) -> Vec<Categories> {
        let is_known = |at: &usize| categories[*at] != UNKNOWN;
        let pairs: Vec<usize> = self.pairs.iter().copied().filter(is_known).collect();
        if pairs.len() < 2 {
            return vec![categories];
        }
        let mut without = categories.clone();
        pairs.iter().for_each(|&pair| without[pair] = UNKNOWN);
        let with = |&pair: &usize| {
            let mut part = without.clone();
            part[pair] = categories[pair];
            part
        };
        pairs.iter().map(with).collect()
    }

    /// The place of a query; it is made if it is new.
    fn place(&mut self, categories: &[Category]) -> Place {
        let number = self.question(categories);
        let question = &mut self.questions[number];
        let waiting = question.waiting.len();
        let hash = question.hash(categories);
        let is_over = hash.is_some_and(|hash| question.seen.contains(&hash));
        if let (Some(hash), false) = (hash, is_over) {
            question.wanted.entry(hash).or_default().push(waiting);
        }
        question.waiting.push(Waiting { askers: Vec::new(), is_over });
        Place { question: number, waiting }
    }

    /// The categories of a row.
    fn categories(&self, vocabulary: &Vocabulary, row: &[Label], cube: &Cube) -> Categories {
        let category = |atom: &Atom| cube.category(*atom, vocabulary, row).unwrap_or(UNKNOWN);
        self.atoms.iter().map(category).collect()
    }

    /// The number of the question with these known atoms; it is made if it is new.
    fn question(&mut self, categories: &[Category]) -> usize {
        let is_known = |at: &u16| categories[usize::from(*at)] != UNKNOWN;
        let known: Box<[u16]> = (0..categories.len() as u16).filter(is_known).collect();
        if let Some(&question) = self.question_of.get(&known) {
            return question;
        }
        let number = self.questions.len();
        let mut question = Question { known: known.clone(), ..Question::default() };
        question.seen = self.rows.iter().filter_map(|row| question.hash(row)).collect();
        self.questions.push(question);
        self.question_of.insert(known, number);
        number
    }
}

impl Question {
    /// The hash of a row restricted to the atoms of a question; `None` if one of them is unknown.
    fn hash(&self, row: &[Category]) -> Option<u64> {
        let categories = || self.known.iter().map(|&atom| &row[usize::from(atom)]);
        let is_known = !categories().any(|category| *category == UNKNOWN);
        is_known.then(|| hash_of(categories()))
    }
}

fn hash_of<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    for byte in bytes {
        hash = (hash.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    hash ^ hash >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atoms::atoms;
    use crate::reader::{FIRST_CONSTANT, UNKNOWN as UNKNOWN_LABEL};
    use crate::table::tests::vocabulary;

    /// Random rows and questions, some of whose terms are not known: the answers are those of a look
    /// at every row, and everybody is woken when a row comes that agrees, not before.
    #[test]
    fn rows_are_found_and_waited_for() {
        let vocabulary = vocabulary(4);
        let mut numbers = chance::Rng::new(11);
        let (mut in_vain, mut at_once, mut woken_up) = (0, 0, 0);
        for _ in 0..300 {
            let mut lookup = Lookup::new(&vocabulary, atoms(&vocabulary));
            let mut rows: Vec<Vec<Label>> = Vec::new();
            let mut waiting: Vec<(QueryId, Vec<Label>)> = Vec::new();
            let agrees = |row: &[Label], asked: &[Label]| {
                let pairs = row.iter().zip(asked);
                pairs.into_iter().all(|(row, asked)| *asked == UNKNOWN_LABEL || row == asked)
            };
            for asker in 0..40 {
                let mut row: Vec<Label> =
                    (0..4).map(|_| FIRST_CONSTANT + numbers.below(3) as Label).collect();
                let hidden = numbers.below(6);
                row.get_mut(hidden).into_iter().for_each(|label| *label = UNKNOWN_LABEL);
                if numbers.below(2) == 0 {
                    let mut woken = Vec::new();
                    lookup.add(&vocabulary, &row, &mut woken);
                    woken.sort_unstable();
                    let (content, rest): (Vec<_>, Vec<_>) =
                        waiting.into_iter().partition(|(_, asked)| agrees(&row, asked));
                    waiting = rest;
                    let expected: Vec<QueryId> = content.iter().map(|(asker, _)| *asker).collect();
                    assert_eq!(woken, expected, "{row:?}");
                    woken_up += woken.len();
                    rows.push(row);
                } else {
                    let found = lookup.ask(&vocabulary, &row, &Cube::default(), asker);
                    assert_eq!(found, rows.iter().any(|seen| agrees(seen, &row)), "{row:?}");
                    if found {
                        at_once += 1;
                    } else {
                        in_vain += 1;
                        waiting.push((asker, row));
                    }
                }
            }
        }
        assert!(in_vain > 100 && at_once > 100 && woken_up > 100);
    }
}
