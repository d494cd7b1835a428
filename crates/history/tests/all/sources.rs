//! Who may have written what was read: the tables agree with asking every write.

use proptest::collection::vec;
use proptest::prelude::*;
use tribunal_history::{
    AddressId, Builder, EventId, History, Operation, Source, ThinAir, Value, parse_text,
};

/// Every write of the address with that value, the initial one first.
fn asked(history: &History, address: AddressId, value: Value) -> Vec<Source> {
    let initial = history.address(address).initial == value;
    let written = history.event_ids().filter(|&write| {
        let operation = history.event(write).operation;
        operation.address() == Some(address) && operation.value_written() == Some(value)
    });
    let initial = initial.then_some(Source::Initial);
    initial.into_iter().chain(written.map(Source::Write)).collect()
}

fn agrees(history: &History) {
    for id in history.event_ids() {
        let operation = history.event(id).operation;
        let expected = match (operation.address(), operation.value_read()) {
            (Some(address), Some(value)) => asked(history, address, value),
            _ => Vec::new(),
        };
        assert_eq!(history.sources(id), expected, "{id:?}");
        let only = if let [only] = *expected { Some(only) } else { None };
        assert_eq!(history.only_source(id), only, "{id:?}");
        assert_eq!(history.thread_of(id), history.event(id).thread);
        assert_eq!(history.address_of(id), operation.address());
        assert_eq!(history.kinds_of(id), operation.kinds());
    }
    for address in history.address_ids() {
        let writes =
            |&id: &EventId| history.kinds_of(id).writes && history.address_of(id) == Some(address);
        let expected: Vec<EventId> = history.event_ids().filter(writes).collect();
        assert_eq!(history.address(address).writes, expected);
    }
    for f in history.finals() {
        assert_eq!(f.sources, asked(history, f.address, f.value));
    }
}

/// How the values of a trace are spread.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// One counter for all addresses.
    Together,
    /// One counter for each address.
    Apart,
    /// Anywhere.
    Far,
    /// The same few everywhere.
    Few,
    /// One counter, but some values a second time.
    Repeating,
}

fn shape() -> impl Strategy<Value = Shape> {
    use Shape::{Apart, Far, Few, Repeating, Together};
    prop_oneof![Just(Together), Just(Apart), Just(Far), Just(Few), Just(Repeating)]
}

fn history(
    shape: Shape,
    initial: &[Option<u64>],
    recipes: &[(u64, usize, u8, u64, prop::sample::Index)],
    base: u64,
) -> History {
    let mut builder = Builder::new();
    let addresses: Vec<AddressId> =
        (0..initial.len()).map(|a| builder.address_numbered(a as u64 * 1000)).collect();
    for (&address, initial) in addresses.iter().zip(initial) {
        if let &Some(value) = initial {
            builder.initial(address, value, 0).unwrap();
        }
    }
    let mut counters = vec![base; addresses.len()];
    let mut count = base;
    let mut values = vec![0, base];
    for &(thread, a, kind, random, index) in recipes {
        let a = a % addresses.len();
        let address = addresses[a];
        count = count.wrapping_add(1);
        counters[a] = counters[a].wrapping_add(1);
        let write = match shape {
            Shape::Together => count,
            Shape::Apart => counters[a],
            Shape::Far => random,
            Shape::Few => random % 4,
            Shape::Repeating => count - count % 3,
        };
        let value = values[index.index(values.len())];
        let operation = match kind {
            0 | 1 => Operation::Read { address, value },
            2 | 3 => Operation::Write { address, value: write },
            4 => Operation::ReadModifyWrite { address, read: value, write },
            5 => Operation::ReadModifyWrite { address, read: write, write },
            _ => Operation::SYNC,
        };
        values.push(write);
        builder.event(thread, operation, 0).unwrap();
    }
    for &address in &addresses {
        builder.final_value(address, values[values.len() / 2], 0).unwrap();
    }
    builder.finish(ThinAir::Violation).unwrap()
}

proptest! {
    #[test]
    fn sources_are_all_writes_of_the_value(
        shape in shape(),
        initial in vec(prop_oneof![Just(None), (0..5u64).prop_map(Some)], 1..6),
        recipes in vec(
            (0..4u64, 0..6usize, 0..7u8, any::<u64>(), any::<prop::sample::Index>()),
            0..120,
        ),
        base in prop_oneof![Just(0), Just(1), Just(1 << 40), Just(u64::MAX), Just(u64::MAX - 50)],
    ) {
        agrees(&history(shape, &initial, &recipes, base));
    }
}

#[test]
fn the_first_and_the_last_value_there_is() {
    let last = u64::MAX;
    agrees(&parse_text(&format!("0: x := {last}\n0: x == 0\n1: x == {last}")).unwrap());
    agrees(&parse_text(&format!("0: x := {last}\n0: x := 0\n1: x == 0\n1: x == {last}")).unwrap());
}

#[test]
fn a_read_before_its_write_in_the_trace() {
    for value in ["1", "0x123456789abcdef"] {
        let text =
            format!("0: x == {value}\n0: <x == {value}; x := 7>\n1: x := {value}\n1: y := 2");
        agrees(&parse_text(&text).unwrap());
    }
}

#[test]
fn an_atomic_that_reads_what_it_writes() {
    agrees(&parse_text("0: <x == 1; x := 1>").unwrap());
    agrees(&parse_text("0: <x == 0; x := 0>").unwrap());
}
