//! Numbers of orbits that are known, and shapes that are hard for canonical forms.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::symmetry_support::{Oracle, Random, Types, Value, random_permutations, shuffled};
use murphi::ir::Model;
use tribunal_explore::symmetry::{Canonicalizer, Scratch, Symmetry};

/// How many canonical forms the states have that give every variable every value (undefined
/// apart): `slots` lists, for each simple slot of the state in order, how many values it has.
fn orbits(types: &Types, build: impl Fn(&[u64]) -> Vec<Value>, slots: &[u64]) -> usize {
    let layout = types.layout();
    let oracle = Oracle { model: &types.model, layout: &layout };
    let canonicalizer = Canonicalizer::new(&types.model, &layout, Symmetry::Full);
    let scratch = &mut Scratch::new(&canonicalizer);
    let mut forms = HashSet::new();
    let mut digits = vec![0; slots.len()];
    loop {
        let mut state = oracle.encode(&build(&digits));
        canonicalizer.canonicalize(scratch, &mut state);
        forms.insert(state);
        let mut position = 0;
        while position < digits.len() && digits[position] + 1 == slots[position] {
            digits[position] = 0;
            position += 1;
        }
        if position == digits.len() {
            return forms.len();
        }
        digits[position] += 1;
    }
}

fn simple(value: u64) -> Value {
    Value::Simple(value + 1)
}

/// Nested arrays of the given shape.
fn nested(digits: &[u64], shape: &[usize]) -> Value {
    match shape {
        [] => simple(digits[0]),
        [length, inner @ ..] => {
            let part = digits.len() / length;
            Value::Parts(digits.chunks(part).map(|part| nested(part, inner)).collect())
        }
    }
}

#[test]
fn relations_on_one_scalarset() {
    // OEIS A000595: binary relations on n unlabelled points.
    for (size, expected) in [(1, 2), (2, 10), (3, 104), (4, 3044)] {
        let mut types = Types::new();
        let point = types.scalarset(size);
        let row = types.array(point, Model::BOOLEAN);
        let matrix = types.array(point, row);
        types.global(matrix);
        let size = size as usize;
        let build = |digits: &[u64]| vec![nested(digits, &[size, size])];
        assert_eq!(orbits(&types, build, &vec![2; size * size]), expected);
    }
}

#[test]
fn relations_between_two_scalarsets_of_the_same_size() {
    // OEIS A002724: binary n × n matrices up to permutations of rows and of columns.
    for (size, expected) in [(1, 2), (2, 7), (3, 36), (4, 317)] {
        let mut types = Types::new();
        let (left, right) = (types.scalarset(size), types.scalarset(size));
        let row = types.array(right, Model::BOOLEAN);
        let matrix = types.array(left, row);
        types.global(matrix);
        let size = size as usize;
        let build = |digits: &[u64]| vec![nested(digits, &[size, size])];
        assert_eq!(orbits(&types, build, &vec![2; size * size]), expected);
    }
}

#[test]
fn ternary_relations() {
    // OEIS A000662: ternary relations on n unlabelled points.
    let mut types = Types::new();
    let point = types.scalarset(2);
    let line = types.array(point, Model::BOOLEAN);
    let plane = types.array(point, line);
    let cube = types.array(point, plane);
    types.global(cube);
    let build = |digits: &[u64]| vec![nested(digits, &[2, 2, 2])];
    assert_eq!(orbits(&types, build, &[2; 8]), 136);
}

#[test]
fn functions_from_a_scalarset_to_itself() {
    // OEIS A001372: mappings from n unlabelled points to themselves; every pointer structure.
    for (size, expected) in [(2, 3), (3, 7), (4, 19), (5, 47), (6, 130)] {
        let mut types = Types::new();
        let point = types.scalarset(size);
        let next = types.array(point, point);
        types.global(next);
        let size = size as usize;
        let build = |digits: &[u64]| vec![nested(digits, &[size])];
        assert_eq!(orbits(&types, build, &vec![size as u64; size]), expected);
    }
}

#[test]
fn functions_into_a_scalarset_without_arrays() {
    // Each way to share out n places: Stirling numbers, at most three parts of five places.
    let mut types = Types::new();
    let data = types.scalarset(3);
    let place = types.range(0, 4);
    let places = types.array(place, data);
    types.global(places);
    let build = |digits: &[u64]| vec![nested(digits, &[5])];
    assert_eq!(orbits(&types, build, &[3; 5]), 1 + 15 + 25);
}

#[test]
fn multisets_of_members_are_partitions() {
    // Partitions of 5 into at most 4 parts.
    let mut types = Types::new();
    let point = types.scalarset(4);
    let bag = types.multiset(5, point);
    types.global(bag);
    let build =
        |digits: &[u64]| vec![Value::Multiset(digits.iter().map(|&digit| simple(digit)).collect())];
    assert_eq!(orbits(&types, build, &[4; 5]), 6);
}

#[test]
fn multisets_of_pairs_are_multigraphs() {
    let mut types = Types::new();
    let point = types.scalarset(3);
    let pair = types.record(&[point, point]);
    let bag = types.multiset(2, pair);
    types.global(bag);
    let build = |digits: &[u64]| {
        let pairs = digits.chunks(2);
        let pairs =
            pairs.map(|pair| Value::Parts(pair.iter().map(|&digit| simple(digit)).collect()));
        vec![Value::Multiset(pairs.collect())]
    };
    // Two loops: same or different point. A loop and an arc: at its source, its target, elsewhere.
    // Two arcs: parallel, opposite, a path, out of one point, into one point.
    assert_eq!(orbits(&types, build, &[3; 4]), 2 + 3 + 5);
}

#[test]
fn unions_keep_their_scalarsets_apart() {
    // Two places that hold a constant, one of three P or one of two Q: the pairs of kinds are
    // 3 × 3, and PP and QQ are same or different.
    let mut types = Types::new();
    let (p, q, constant) = (types.scalarset(3), types.scalarset(2), types.enumeration(1));
    let any = types.union(&[constant, p, q]);
    let pair = types.record(&[any, any]);
    types.global(pair);
    let build = |digits: &[u64]| vec![Value::Parts(digits.iter().map(|&d| simple(d)).collect())];
    assert_eq!(orbits(&types, build, &[6; 2]), 9 + 2);
}

/// Canonicalises permutations of a state given by its values; all must agree, within the time.
fn agree(types: &Types, values: &[Value], rounds: usize, limit: Duration) {
    let layout = types.layout();
    let oracle = Oracle { model: &types.model, layout: &layout };
    let canonicalizer = Canonicalizer::new(&types.model, &layout, Symmetry::Full);
    let scratch = &mut Scratch::new(&canonicalizer);
    let random = &mut Random(99);
    let mut expected = oracle.encode(values);
    let started = Instant::now();
    canonicalizer.canonicalize(scratch, &mut expected);
    for _ in 0..rounds {
        let permutations = random_permutations(&oracle.scalarsets(), random);
        let other = shuffled(&oracle.permute(values, &permutations), random);
        let mut form = oracle.encode(&other);
        canonicalizer.canonicalize(scratch, &mut form);
        assert_eq!(form, expected);
    }
    assert!(started.elapsed() < limit, "took {:?}", started.elapsed());
}

fn pointers(next: impl Fn(u64) -> u64, size: u32) -> (Types, Vec<Value>) {
    let mut types = Types::new();
    let point = types.scalarset(size);
    let array = types.array(point, point);
    types.global(array);
    (types, vec![Value::Parts((0..u64::from(size)).map(|point| simple(next(point))).collect())])
}

#[test]
fn sixty_four_members_in_one_cycle() {
    let (types, values) = pointers(|point| (point + 1) % 64, 64);
    agree(&types, &values, 5, Duration::from_secs(20));
}

#[test]
fn sixty_four_members_in_pairs() {
    let (types, values) = pointers(|point| point ^ 1, 64);
    agree(&types, &values, 5, Duration::from_secs(20));
}

#[test]
fn sixty_four_members_in_cycles_of_eight() {
    let (types, values) = pointers(|point| point / 8 * 8 + (point + 1) % 8, 64);
    agree(&types, &values, 5, Duration::from_secs(20));
}

#[test]
fn sixty_four_members_of_which_most_are_alike() {
    let (types, values) = pointers(|point| if point < 40 { 63 } else { point / 2 }, 64);
    agree(&types, &values, 20, Duration::from_secs(20));
}

#[test]
fn three_hundred_members_need_wider_slots() {
    let (types, values) = pointers(|point| point * point % 300, 300);
    agree(&types, &values, 3, Duration::from_secs(20));
}

/// An undirected graph as a matrix.
fn graph(size: u32, adjacent: impl Fn(u64, u64) -> bool) -> (Types, Vec<Value>) {
    let mut types = Types::new();
    let point = types.scalarset(size);
    let row = types.array(point, Model::BOOLEAN);
    let matrix = types.array(point, row);
    types.global(matrix);
    let row = |left: u64| {
        let cells = (0..u64::from(size)).map(|right| simple(u64::from(adjacent(left, right))));
        Value::Parts(cells.collect())
    };
    (types, vec![Value::Parts((0..u64::from(size)).map(row).collect())])
}

#[test]
fn strongly_regular_graphs_are_told_apart() {
    // The Shrikhande graph and the 4 × 4 rook's graph: colours alone see no difference.
    let rook =
        |left: u64, right: u64| left != right && (left / 4 == right / 4 || left % 4 == right % 4);
    let shrikhande = |left: u64, right: u64| {
        let row = (4 + left / 4 - right / 4) % 4;
        let column = (4 + left % 4 - right % 4) % 4;
        matches!((row, column), (0, 1 | 3) | (1 | 3, 0) | (1, 1) | (3, 3))
    };
    let form = |(types, values): (Types, Vec<Value>)| {
        agree(&types, &values, 10, Duration::from_secs(20));
        let layout = types.layout();
        let canonicalizer = Canonicalizer::new(&types.model, &layout, Symmetry::Full);
        let mut state = Oracle { model: &types.model, layout: &layout }.encode(&values);
        canonicalizer.canonicalize(&mut Scratch::new(&canonicalizer), &mut state);
        state
    };
    assert_ne!(form(graph(16, rook)), form(graph(16, shrikhande)));
}

#[test]
fn hypercubes_and_cycles_as_matrices() {
    let (types, values) = graph(32, |left, right| (left ^ right).is_power_of_two());
    agree(&types, &values, 5, Duration::from_secs(20));
    let (types, values) =
        graph(30, |left, right| (left + 1) % 30 == right || (right + 1) % 30 == left);
    agree(&types, &values, 5, Duration::from_secs(20));
}

#[test]
fn addresses_with_like_owners() {
    // Four addresses, each with an owner and three sharers of its own, all alike.
    let mut types = Types::new();
    let (address, process) = (types.scalarset(4), types.scalarset(16));
    let sharers = types.array(process, Model::BOOLEAN);
    let entry = types.record(&[process, sharers]);
    let directory = types.array(address, entry);
    types.global(directory);
    let entry = |address: u64| {
        let sharer =
            |process: u64| simple(u64::from(process / 4 == address && process != address * 4));
        Value::Parts(vec![simple(address * 4), Value::Parts((0..16).map(sharer).collect())])
    };
    let values = vec![Value::Parts((0..4).map(entry).collect())];
    agree(&types, &values, 20, Duration::from_secs(20));
}

#[test]
fn a_full_network_of_like_messages() {
    let mut types = Types::new();
    let (process, kind) = (types.scalarset(8), types.enumeration(5));
    let message = types.record(&[kind, process, process]);
    let network = types.multiset(50, message);
    types.global(network);
    let message = |number: u64| {
        Value::Parts(vec![simple(number % 2), simple(number % 8), simple(number * 3 % 8)])
    };
    let values = vec![Value::Multiset((0..50).map(message).collect())];
    agree(&types, &values, 50, Duration::from_secs(20));
}
