//! What is missing from a table, compared with looking at every combination.

use super::*;
use crate::fact::Fact;
use crate::reader::FIRST_CONSTANT;
use crate::vocabulary::{Origin, Sort, Term, name};

/// Terms `x0`, `x1`, … with the values A, B and C.
pub(crate) fn vocabulary(terms: usize) -> Vocabulary {
    let term = |number: usize| {
        let text = format!("x{number}");
        let constants = ["A", "B", "C"].map(str::to_owned).to_vec();
        Term {
            origin: Origin::Place { global: text.clone(), steps: Vec::new() },
            expression: name(&text),
            text,
            sort: Sort { constants, ..Sort::default() },
            uses: 0,
        }
    };
    Vocabulary { rule: 0, variables: Vec::new(), terms: (0..terms).map(term).collect() }
}

/// A small generator of numbers: the same ones every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    fn row(&mut self, terms: usize) -> Vec<Label> {
        (0..terms).map(|_| FIRST_CONSTANT + self.below(3) as Label).collect()
    }
}

/// All sets of so many terms whose values in `row` no row of the table has together.
fn by_brute_force(rows: &[Vec<Label>], row: &[Label], size: usize) -> Vec<Vec<usize>> {
    let subsets = (0..1usize << row.len()).filter(|set| set.count_ones() as usize == size);
    let members =
        |set: usize| (0..row.len()).filter(move |at| set & 1 << at != 0).collect::<Vec<usize>>();
    let is_missing = |places: &Vec<usize>| {
        !rows.iter().any(|found| places.iter().all(|&at| found[at] == row[at]))
    };
    subsets.map(members).filter(is_missing).collect()
}

#[test]
fn the_smallest_missing_combinations_are_found() {
    let mut numbers = Numbers(7);
    let mut sizes = [0; 4];
    for round in 0..400 {
        let terms = 3 + (round % 4);
        let vocabulary = vocabulary(terms);
        let count = 1 + numbers.below(60) as usize;
        let observed: Vec<Vec<Label>> = (0..count).map(|_| numbers.row(terms)).collect();
        let mut rows = Rows::default();
        for row in &observed {
            rows.add(row);
        }
        let table = Table::new(&vocabulary, &rows, &vec![false; vocabulary.terms.len()]);
        let row = numbers.row(terms);
        let found = table.missing(&vocabulary, &row, &Cube::default());
        let mut places: Vec<Vec<usize>> = found
            .iter()
            .map(|combination| {
                let place = |(atom, _): &(Atom, Category)| match atom {
                    Atom::Value(term) => *term,
                    _ => unreachable!("constants are not compared"),
                };
                combination.iter().map(place).collect()
            })
            .collect();
        places.sort();
        let size = (1..=3).find(|&size| !by_brute_force(&observed, &row, size).is_empty());
        match size {
            Some(size) => {
                let mut expected = by_brute_force(&observed, &row, size);
                expected.sort();
                assert_eq!(places, expected, "{observed:?} {row:?}");
                sizes[size] += 1;
            }
            None => {
                assert_eq!(found.is_empty(), observed.contains(&row));
                for combination in &found {
                    assert!(combination.len() > 3);
                }
                sizes[0] += 1;
            }
        }
        for combination in &found {
            let Some(fact) = Fact::new(0, &vocabulary, &table, combination, "") else {
                panic!("a combination of values can be written");
            };
            assert!(fact.is_false(&vocabulary, &row, &Cube::default()), "{}", fact.text);
            for row in &observed {
                assert!(!fact.is_false(&vocabulary, row, &Cube::default()), "{}", fact.text);
            }
        }
    }
    assert!(sizes.iter().all(|&rounds| rounds > 10), "every size occurs: {sizes:?}");
}

#[test]
fn a_fact_reads_as_murphi() {
    let vocabulary = vocabulary(2);
    let (a, b, c) = (FIRST_CONSTANT, FIRST_CONSTANT + 1, FIRST_CONSTANT + 2);
    let mut rows = Rows::default();
    for row in [[a, a], [a, b], [b, c]] {
        assert!(rows.add(&row));
        assert!(!rows.add(&row), "a row counts once");
    }
    let table = Table::new(&vocabulary, &rows, &vec![false; vocabulary.terms.len()]);
    let facts = |row: [Label; 2]| -> Vec<String> {
        let missing = table.missing(&vocabulary, &row, &Cube::default());
        let fact = |found| Fact::new(0, &vocabulary, &table, found, "").map(|fact| fact.text);
        missing.iter().filter_map(fact).collect()
    };
    assert_eq!(facts([c, a]), ["x0 != C"]);
    assert_eq!(facts([b, a]), ["x0 = B -> x1 = C"]);
    assert_eq!(facts([a, c]), ["x0 = A -> x1 != C"]);
    assert!(facts([a, b]).is_empty());
}

#[test]
fn of_a_rule_that_never_applied_nothing_need_be_missing() {
    let vocabulary = vocabulary(0);
    let table = Table::new(&vocabulary, &Rows::default(), &[]);
    assert!(table.missing(&vocabulary, &[], &Cube::default()).is_empty());
}
