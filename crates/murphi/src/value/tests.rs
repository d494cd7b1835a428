//! Values to bytes and back, and what people see of them, on types made by hand or at random.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Change, Malformed, State, Value};
use crate::ir::{Field, Model, Simple, Type, TypeId, TypeKind, Variable};
use crate::layout::Layout;
use crate::random::{self, Random};
use crate::source::{Source, Span};

fn model(types: Vec<(Option<&str>, TypeKind)>, globals: Vec<(&str, TypeId)>) -> Model {
    let basic = [(None, simple(Simple::Boolean)), (None, simple(Simple::Integer))];
    let all = basic.into_iter().chain(types);
    let ty = |(name, kind): (Option<&str>, TypeKind)| Type { name: name.map(str::to_owned), kind };
    let global =
        |(name, ty): (&str, TypeId)| Variable { name: name.to_owned(), ty, span: Span::default() };
    Model {
        source: Arc::new(Source { name: "test.m".to_owned(), text: String::new() }),
        language: crate::check::Options::default(),
        types: all.map(ty).collect(),
        globals: globals.into_iter().map(global).collect(),
        functions: Vec::new(),
        rules: Vec::new(),
        start_states: Vec::new(),
        properties: Vec::new(),
        loop_limit: 1000,
        call_limit: 1000,
        undefined_members: true,
        covers: Vec::new(),
        ordered: Vec::new(),
        elements_have_order: false,
        tried: Vec::new(),
        recast: Vec::new(),
    }
}

fn simple(simple: Simple) -> TypeKind {
    TypeKind::Simple(simple)
}

fn field(name: &str, ty: TypeId) -> Field {
    Field { name: name.to_owned(), ty }
}

/// Two processes with a cache line each, and a network.
fn coherence() -> Model {
    let states = ["I", "S", "M"].map(str::to_owned).to_vec();
    model(
        vec![
            (Some("Proc"), simple(Simple::Scalarset(2))),
            (Some("Home"), simple(Simple::Enumeration(vec!["Directory".to_owned()]))),
            (Some("Node"), simple(Simple::Union(vec![TypeId(3), TypeId(2)]))),
            (None, simple(Simple::Enumeration(states))),
            (None, simple(Simple::Range { low: -1, high: 300 })),
            (None, TypeKind::Record(vec![field("state", TypeId(5)), field("data", TypeId(6))])),
            (None, TypeKind::Array { index: TypeId(2), element: TypeId(7) }),
            (None, TypeKind::Record(vec![field("to", TypeId(4)), field("ack", Model::BOOLEAN)])),
            (None, TypeKind::Multiset { capacity: 3, element: TypeId(9) }),
            (None, TypeKind::Array { index: TypeId(4), element: Model::BOOLEAN }),
        ],
        vec![("cache", TypeId(8)), ("net", TypeId(10)), ("known", TypeId(11))],
    )
}

fn number(value: i64) -> Value {
    Value::Simple(Some(value))
}

fn message(to: i64, ack: i64) -> Value {
    Value::Record(vec![number(to), number(ack)])
}

fn line(state: i64, data: Option<i64>) -> Value {
    Value::Record(vec![number(state), Value::Simple(data)])
}

fn coherence_state(net: Vec<Value>) -> State {
    let cache = Value::Array(vec![line(0, None), line(2, Some(300))]);
    let known = Value::Array(vec![number(1), number(0), Value::Simple(None)]);
    State(vec![cache, Value::Multiset(net), known])
}

#[test]
fn a_listing_names_every_component_in_the_words_of_the_source() {
    let state = coherence_state(vec![message(0, 1), message(2, 0)]);
    let listing = state.listing(&coherence());
    let lines: Vec<String> =
        listing.into_iter().map(|(path, value)| format!("{path} = {value}")).collect();
    assert_eq!(
        lines,
        [
            "cache[Proc_1].state = I",
            "cache[Proc_1].data = undefined",
            "cache[Proc_2].state = M",
            "cache[Proc_2].data = 300",
            "net{0} = {to: Directory, ack: true}",
            "net{1} = {to: Proc_2, ack: false}",
            "known[Directory] = true",
            "known[Proc_1] = false",
            "known[Proc_2] = undefined",
        ]
    );
}

#[test]
fn an_empty_multiset_is_listed_as_empty() {
    let listing = coherence_state(Vec::new()).listing(&coherence());
    assert!(listing.contains(&("net".to_owned(), "empty".to_owned())));
}

#[test]
fn a_whole_value_is_rendered_on_one_line() {
    let model = coherence();
    let state = coherence_state(vec![message(1, 1)]);
    let render = |global: usize| state.0[global].render(&model, model.globals[global].ty);
    assert_eq!(render(0), "[Proc_1: {state: I, data: undefined}, Proc_2: {state: M, data: 300}]");
    assert_eq!(render(1), "{| {to: Proc_1, ack: true} |}");
    assert_eq!(Value::Multiset(Vec::new()).render(&model, TypeId(10)), "{| |}");
}

#[test]
fn changes_reports_only_what_is_different() {
    let before = coherence_state(vec![message(0, 1), message(2, 0)]);
    let mut after = coherence_state(vec![message(2, 0), message(1, 0)]);
    after.0[0] = Value::Array(vec![line(1, None), line(2, Some(299))]);
    let changes = before.changes(&after, &coherence());
    let lines: Vec<String> = changes.iter().map(Change::to_string).collect();
    assert_eq!(
        lines,
        [
            "cache[Proc_1].state: S",
            "cache[Proc_2].data: 299",
            "net: -{to: Directory, ack: true} +{to: Proc_1, ack: false}",
        ]
    );
}

#[test]
fn the_order_of_a_multiset_is_no_change() {
    let before = coherence_state(vec![message(0, 1), message(2, 0), message(0, 1)]);
    let after = coherence_state(vec![message(2, 0), message(0, 1), message(0, 1)]);
    assert_eq!(before.changes(&after, &coherence()), []);
    assert!(before.0[1].same(&after.0[1]));
    assert!(!before.0[1].same(&coherence_state(vec![message(2, 0), message(0, 1)]).0[1]));
}

#[test]
fn the_all_zero_state_is_the_undefined_one() {
    let model = coherence();
    let layout = Layout::of(&model).expect("it is small");
    let zeros = vec![0; layout.size as usize];
    assert_eq!(State::decode(&model, &layout, &zeros), Ok(State::undefined(&model)));
}

#[test]
fn bytes_that_are_no_state_are_refused() {
    let model = coherence();
    let layout = Layout::of(&model).expect("it is small");
    let size = layout.size as usize;
    let short = State::decode(&model, &layout, &vec![0; size - 1]);
    assert_eq!(short, Err(Malformed::Size { expected: size, found: size - 1 }));
    let mut bytes = vec![0; size];
    bytes[0] = 4;
    let slot = State::decode(&model, &layout, &bytes);
    assert_eq!(slot, Err(Malformed::Slot { offset: 0, number: 4 }));
    bytes[0] = 0;
    bytes[layout.globals[1] as usize] = 4;
    let count = State::decode(&model, &layout, &bytes);
    let offset = layout.globals[1] as usize;
    assert_eq!(count, Err(Malformed::Slot { offset, number: 4 }));
}

#[test]
fn clearing_gives_the_least_values_and_empty_multisets() {
    let model = coherence();
    let cleared = Value::least(&model, TypeId(8));
    assert_eq!(cleared, Value::Array(vec![line(0, Some(-1)), line(0, Some(-1))]));
    assert_eq!(Value::least(&model, TypeId(10)), Value::Multiset(Vec::new()));
}

/// Types of all kinds and widths, nested at random.
fn random_model(random: &mut Random) -> Model {
    let ranges =
        [(0, 3), (-1, 253), (0, 254), (-300, 300), (0, 65_534), (0, 65_535), (-5, 1 << 40)];
    let mut types: Vec<(Option<&str>, TypeKind)> =
        ranges.into_iter().map(|(low, high)| (None, simple(Simple::Range { low, high }))).collect();
    types.push((None, simple(Simple::Range { low: i64::MIN, high: i64::MAX - 1 })));
    types.push((None, simple(Simple::Scalarset(3))));
    types.push((None, simple(Simple::Enumeration(vec!["a".to_owned(), "b".to_owned()]))));
    types.push((None, simple(Simple::Union(vec![TypeId(10), TypeId(11)]))));
    for _ in 0..8 {
        let any = |random: &mut Random, types: &[(Option<&str>, TypeKind)]| match random
            .below(types.len() + 1)
        {
            0 => Model::BOOLEAN,
            at => TypeId(at as u32 + 1),
        };
        let element = any(random, &types);
        let kind = match random.below(3) {
            0 => {
                let count = random.below(4);
                let fields = (0..count).map(|_| field("f", any(random, &types)));
                TypeKind::Record(fields.collect())
            }
            1 => {
                let index = [2, 10, 11, 12][random.below(4)];
                TypeKind::Array { index: TypeId(index), element }
            }
            _ => TypeKind::Multiset { capacity: [1, 2, 5][random.below(3)], element },
        };
        types.push((None, kind));
    }
    let count = types.len() as u32 + 2;
    let globals = (2..count).map(|ty| ("v", TypeId(ty))).collect();
    model(types, globals)
}

proptest! {
    #[test]
    fn values_survive_the_way_through_bytes(seed: u64) {
        let random = &mut Random::new(seed);
        let model = random_model(random);
        if let Ok(layout) = Layout::of(&model) && layout.size < 1 << 16 {
            let state = random::state(&model, random);
            let bytes = state.encode(&model, &layout);
            prop_assert_eq!(State::decode(&model, &layout, &bytes), Ok(state));
        }
    }

    #[test]
    fn sorting_makes_states_equal_exactly_if_they_are_the_same(seed: u64) {
        let random = &mut Random::new(seed);
        let model = random_model(random);
        if let Ok(layout) = Layout::of(&model) && layout.size < 1 << 12 {
            let state = random::state(&model, random);
            let mut shuffled = state.clone();
            for value in &mut shuffled.0 {
                shuffle(value, random);
            }
            prop_assert!(state.0.iter().zip(&shuffled.0).all(|(left, right)| left.same(right)));
            prop_assert_eq!(state.sorted(&model, &layout), shuffled.sorted(&model, &layout));
            prop_assert_eq!(state.changes(&shuffled, &model), []);
            let other = random::state(&model, random);
            let same = state.0.iter().zip(&other.0).all(|(left, right)| left.same(right));
            let equal = state.sorted(&model, &layout) == other.sorted(&model, &layout);
            prop_assert_eq!(same, equal);
        }
    }
}

fn shuffle(value: &mut Value, random: &mut Random) {
    match value {
        Value::Simple(_) | Value::Removed(_) => {}
        Value::Record(values) | Value::Array(values) => {
            for value in values {
                shuffle(value, random);
            }
        }
        Value::Multiset(values) => {
            for value in values.iter_mut() {
                shuffle(value, random);
            }
            for end in (1..values.len()).rev() {
                let at = random.below(end + 1);
                values.swap(at, end);
            }
        }
    }
}
