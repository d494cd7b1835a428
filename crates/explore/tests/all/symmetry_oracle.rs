//! Canonical forms of random states of random types, against orbits by definition.

use std::collections::HashMap;

use crate::symmetry_support::{Oracle, Random, Types, random_permutations, shuffled, sorted};
use murphi::ir::{Model, TypeId, TypeKind};
use murphi::layout::Layout;
use tribunal_explore::symmetry::{Canonicalizer, Scratch, Symmetry};

/// A few scalarsets, everything that can be built from them, and state variables of it.
fn random_types(random: &mut Random) -> Types {
    let mut types = Types::new();
    let mut simple = vec![Model::BOOLEAN];
    let mut indices = Vec::new();
    for sizes in [&[2, 3, 3, 4, 4][..], &[1, 2, 2, 3][..]] {
        if simple.len() == 1 || random.below(2) == 0 {
            let size = sizes[random.below(sizes.len() as u64) as usize];
            simple.push(types.scalarset(size));
            indices.push(simple[simple.len() - 1]);
        }
    }
    simple.push(types.enumeration(2));
    if random.below(2) == 0 {
        let members: Vec<TypeId> = simple[1..].to_vec();
        let union = types.union(&members);
        simple.push(union);
        indices.push(union);
    }
    indices.push(types.range(5, 6));
    if random.below(8) == 0 {
        // A slot of two bytes, and alignment with it.
        simple.push(types.range(0, 300));
    }
    let mut all = simple.clone();
    for _ in 0..2 + random.below(4) {
        let part = |random: &mut Random| all[random.below(all.len() as u64) as usize];
        let ty = match random.below(6) {
            0 | 1 => {
                let fields: Vec<TypeId> = (0..1 + random.below(3)).map(|_| part(random)).collect();
                types.record(&fields)
            }
            2..=4 => {
                let element = part(random);
                types.array(indices[random.below(indices.len() as u64) as usize], element)
            }
            _ => {
                let element = part(random);
                types.multiset(2 + random.below(3) as u32, element)
            }
        };
        // States stay small enough to have orbits of some size.
        if leaves(&types, ty) <= 30 {
            all.push(ty);
        }
    }
    for _ in 0..1 + random.below(3) {
        let recent = all.len().min(3) as u64;
        let ty = all[all.len() - 1 - random.below(recent) as usize];
        types.global(ty);
    }
    types
}

fn leaves(types: &Types, ty: TypeId) -> u64 {
    match types.model.kind(ty) {
        TypeKind::Simple(_) => 1,
        TypeKind::Record(fields) => fields.iter().map(|field| leaves(types, field.ty)).sum(),
        TypeKind::Array { index, element } => types.model.count(*index) * leaves(types, *element),
        TypeKind::Multiset { capacity, element } => u64::from(*capacity) * leaves(types, *element),
    }
}

fn canonical(canonicalizer: &Canonicalizer, scratch: &mut Scratch, state: &[u8]) -> Vec<u8> {
    let mut state = state.to_vec();
    canonicalizer.canonicalize(scratch, &mut state);
    state
}

/// Compares with the oracle, both with the tables that small states have and without.
fn compare(types: &Types, random: &mut Random, states: usize, collide: bool) {
    let layout: Layout = types.layout();
    let canonicalizer = || match collide {
        true => Canonicalizer::with_colliding_hashes(&types.model, &layout),
        false => Canonicalizer::new(&types.model, &layout, Symmetry::Full),
    };
    compare_one(types, &layout, random, states, &canonicalizer());
    compare_one(types, &layout, random, states, &canonicalizer().without_tables());
}

/// Canonicalises random states of one model and permutations of them; compares with the oracle.
fn compare_one(
    types: &Types,
    layout: &Layout,
    random: &mut Random,
    states: usize,
    canonicalizer: &Canonicalizer,
) {
    let oracle = Oracle { model: &types.model, layout };
    let scratch = &mut Scratch::new(canonicalizer);
    let scalarsets = oracle.scalarsets();
    let mut orbit_of = HashMap::new();
    let mut canonical_of = HashMap::new();
    for number in 0..states {
        let values = oracle.random(random, 1 + number as u64 % 3);
        let state = oracle.encode(&values);
        let least = oracle.least(&values);
        let form = canonical(canonicalizer, scratch, &state);
        // The canonical form is in the orbit, and is its own.
        assert_eq!(oracle.least(&oracle.decode(&form)), least);
        assert_eq!(oracle.encode(&oracle.decode(&form)), form, "unused bytes are zero");
        assert_eq!(canonical(canonicalizer, scratch, &form), form);
        // It is the same for all of the orbit.
        for _ in 0..4 {
            let permutations = random_permutations(&scalarsets, random);
            let other = shuffled(&oracle.permute(&values, &permutations), random);
            let other = oracle.encode(&other);
            let other_form = canonical(canonicalizer, scratch, &other);
            assert_eq!(
                other_form, form,
                "{:?}\nstate {state:?}\nother {other:?}",
                types.model.types
            );
        }
        // And it is no other orbit's.
        assert_eq!(orbit_of.entry(form.clone()).or_insert_with(|| least.clone()), &least);
        assert_eq!(canonical_of.entry(least).or_insert_with(|| form.clone()), &form);
        // The permutation that is reported leads there, and back.
        let mut tracked = state.clone();
        let permutation = canonicalizer.canonicalize_tracked(scratch, &mut tracked);
        assert_eq!(tracked, form);
        let mut applied = state.clone();
        canonicalizer.apply(&permutation, &mut applied);
        assert_eq!(applied, form);
        let images = scalarsets.iter().map(|&(ty, size)| {
            (ty, (0..size).map(|member| permutation.image(ty, member)).collect())
        });
        let by_definition = oracle.permute(&values, &images.collect());
        assert_eq!(sorted(&oracle.decode(&form)), sorted(&by_definition));
        canonicalizer.apply(&permutation.inverse(), &mut applied);
        assert_eq!(sorted(&oracle.decode(&applied)), sorted(&values));
        assert!(permutation.then(&permutation.inverse()).is_identity());
    }
}

#[test]
fn canonical_forms_are_equal_exactly_within_an_orbit() {
    let random = &mut Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..400 {
        let types = random_types(random);
        compare(&types, random, 12, false);
    }
}

#[test]
fn nothing_rests_on_hashes_being_different() {
    let random = &mut Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..400 {
        let types = random_types(random);
        compare(&types, random, 12, true);
    }
}

/// The words in which two states differ, and some others.
fn some_words(left: &[u8], right: &[u8], random: &mut Random) -> Vec<u32> {
    let words = (0..).zip(left.chunks(8).zip(right.chunks(8)));
    let chosen = words.filter(|(_, (left, right))| left != right || random.below(4) == 0);
    chosen.map(|(word, _)| word).collect()
}

/// In how many of some walks through states of a model the canonical form that is found by what
/// changed differs from that of the whole state, or differs from the state before where it is said
/// not to.
fn mistaken_walks(types: &Types, canonicalizer: &Canonicalizer, random: &mut Random) -> usize {
    let layout = types.layout();
    let oracle = Oracle { model: &types.model, layout: &layout };
    let (whole, stepwise) = (&mut Scratch::new(canonicalizer), &mut Scratch::new(canonicalizer));
    let walk = |_: &usize| {
        let mut base = canonical(canonicalizer, whole, &oracle.encode(&oracle.random(random, 2)));
        let mut expanded: Option<Vec<u8>> = None;
        (0..12).any(|_| {
            // Some of the bytes of another state, of which slots are whole.
            let other = oracle.encode(&oracle.random(random, 2));
            let mut values = oracle.decode(&base);
            let from = random.below(values.len() as u64) as usize;
            values[from] = oracle.decode(&other)[from].clone();
            let state = oracle.encode(&values);
            let known = expanded.take().filter(|_| random.below(2) == 0);
            let known = known.map(|before| some_words(&before, &base, random));
            canonicalizer.expand(stepwise, &base, known.as_deref());
            expanded = Some(base.clone());
            let expected = canonical(canonicalizer, whole, &state);
            let mut successor = state.clone();
            let known = some_words(&base, &state, random);
            let known = (random.below(2) == 0).then_some(&known[..]);
            let (form, changed) =
                canonicalizer.canonical_successor(stepwise, &mut successor, known);
            let mut words = base.chunks(8).zip(form.chunks(8)).enumerate();
            let covered = changed.is_none_or(|changed| {
                words.all(|(word, (old, new))| old == new || changed.contains(&(word as u32)))
            });
            let mistaken = form != expected || !covered;
            base = expected;
            mistaken
        })
    };
    (0..10).filter(walk).count()
}

#[test]
fn canonical_forms_by_what_changed_are_those_of_the_whole_state() {
    let random = &mut Random(0x1234_5678_9abc_def1);
    for number in 0..400 {
        let types = random_types(random);
        let layout = types.layout();
        let canonicalizer = match number % 3 {
            0 => Canonicalizer::with_colliding_hashes(&types.model, &layout),
            1 => Canonicalizer::new(&types.model, &layout, Symmetry::Full),
            _ => Canonicalizer::new(&types.model, &layout, Symmetry::Off),
        };
        let canonicalizer = canonicalizer.without_tables();
        assert_eq!(mistaken_walks(&types, &canonicalizer, random), 0, "{:?}", types.model.types);
    }
}

#[test]
fn a_change_that_is_overlooked_is_noticed() {
    let random = &mut Random(0x1234_5678_9abc_def1);
    let noticed = (0..100).filter(|_| {
        let types = random_types(random);
        let layout = types.layout();
        let canonicalizer = Canonicalizer::new(&types.model, &layout, Symmetry::Full);
        let canonicalizer = canonicalizer.without_tables().overlooking();
        mistaken_walks(&types, &canonicalizer, random) > 0
    });
    let noticed = noticed.count();
    assert!(noticed > 20, "noticed in {noticed} of 100 models");
}

#[test]
fn without_symmetry_only_the_order_of_multisets_is_forgotten() {
    let random = &mut Random(77);
    for _ in 0..100 {
        let types = random_types(random);
        let layout = types.layout();
        let oracle = Oracle { model: &types.model, layout: &layout };
        let canonicalizer = Canonicalizer::new(&types.model, &layout, Symmetry::Off);
        let scratch = &mut Scratch::new(&canonicalizer);
        for _ in 0..10 {
            let values = oracle.random(random, 2);
            let form = canonical(&canonicalizer, scratch, &oracle.encode(&values));
            assert_eq!(sorted(&oracle.decode(&form)), sorted(&values));
            let other = oracle.encode(&shuffled(&values, random));
            assert_eq!(canonical(&canonicalizer, scratch, &other), form);
        }
    }
}
