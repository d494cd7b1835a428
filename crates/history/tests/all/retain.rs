//! Sub-histories are what reading the rest of the trace would have given.

use crate::common::trace;
use proptest::prelude::*;
use tribunal_history::{
    BuildErrorKind, Builder, EventId, History, Lines, Operation, ReadOptions, Source, ThinAir,
    TraceReader, WriteName, parse_text,
};

/// The sub-history the slow way: everything that stays is asked to a builder again.
fn rebuilt(
    history: &History,
    keep: &[bool],
    finals: &[bool],
    orders: &[bool],
) -> Result<History, BuildErrorKind> {
    let mut builder = Builder::new();
    let mut used = vec![false; history.address_count()];
    for id in history.event_ids().filter(|id| keep[id.index()]) {
        let event = history.event(id);
        if let Some(address) = event.address() {
            used[address.index()] = true;
        }
        let mut at = |address| builder.address(&history.address(address).label);
        let operation = match event.operation {
            Operation::Read { address, value } => Operation::Read { address: at(address), value },
            Operation::Write { address, value } => Operation::Write { address: at(address), value },
            Operation::ReadModifyWrite { address, read, write } => {
                Operation::ReadModifyWrite { address: at(address), read, write }
            }
            fence => fence,
        };
        let label = history.thread_label(event.thread);
        let draft = match history.fence_name(id) {
            Some(name) => builder.fence(label, name, event.line).unwrap(),
            None => builder.event(label, operation, event.line).unwrap(),
        };
        if let Some(order) = history.access_order(id) {
            builder.annotate(draft, order).unwrap();
        }
        builder.times(draft, history.times(id)).unwrap();
        if let Some(name) = history.name(id) {
            builder.name(draft, name).unwrap();
        }
        let pairs =
            history.pairs().iter().filter(|&&(write, load)| write == id && keep[load.index()]);
        for &(_, load) in pairs {
            builder.pair(draft, history.name(load).unwrap()).unwrap();
        }
        let all = history.dependencies().iter().enumerate();
        for (at, &(_, read)) in all.filter(|(_, (to, read))| *to == id && keep[read.index()]) {
            for kind in history.kinds_of_dependency(at).iter() {
                builder.dependency_of_kind(draft, history.name(read).unwrap(), kind).unwrap();
            }
        }
    }
    for (f, _) in history.finals().iter().zip(finals).filter(|(_, keep)| **keep) {
        used[f.address.index()] = true;
        let address = builder.address(&history.address(f.address).label);
        builder.final_value(address, f.value, f.line).unwrap();
    }
    for (chain, _) in history.orders().iter().zip(orders).filter(|(_, keep)| **keep) {
        let left = chain.writes.iter().filter_map(|&write| match write {
            Source::Initial => Some(WriteName::Value(history.address(chain.address).initial)),
            Source::Write(id) if !keep[id.index()] => None,
            Source::Write(id) => Some(match history.name(id) {
                Some(name) => WriteName::Name(name.into()),
                None => WriteName::Value(history.event(id).operation.value_written().unwrap()),
            }),
        });
        let left: Vec<_> = left.collect();
        if left.len() >= 2 {
            used[chain.address.index()] = true;
            let address = builder.address(&history.address(chain.address).label);
            builder.order(address, left, chain.line);
        }
    }
    for id in history.address_ids().filter(|id| used[id.index()]) {
        let entry = history.address(id);
        if let Some(line) = entry.init_line {
            let address = builder.address(&entry.label);
            builder.initial(address, entry.initial, line).unwrap();
        }
    }
    builder.finish(ThinAir::Malformed).map_err(|error| error.kind)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn retaining_is_reading_what_is_left(
        trace in trace(),
        keep in proptest::collection::vec(proptest::bool::weighted(0.8), 64),
    ) {
        let history = trace.history();
        let (finals, orders) = (&keep[40..], &keep[50..]);
        let kept = history.retain(
            |id| keep[id.index()],
            Lines::Chosen { finals, orders },
        );
        match (kept, rebuilt(&history, &keep, finals, orders)) {
            (Ok(kept), Ok(rebuilt)) => {
                prop_assert_eq!(&kept, &rebuilt);
                for id in kept.event_ids() {
                    prop_assert_eq!(kept.event(id).line, rebuilt.event(id).line);
                    prop_assert_eq!(kept.event(id).index, rebuilt.event(id).index);
                    prop_assert_eq!(kept.event_at(kept.event(id).thread, kept.event(id).index as usize), Some(id));
                }
                for address in kept.address_ids() {
                    let other = rebuilt.address_by_label(&kept.address(address).label).unwrap();
                    prop_assert_eq!(&kept.address(address).writes, &rebuilt.address(other).writes);
                }
                prop_assert_eq!(kept.address_count(), rebuilt.address_count());
                prop_assert_eq!(kept.has_times(), kept.event_ids().any(|e| kept.times(e) != Default::default()));
            }
            (Err(_), Err(_)) => {}
            (kept, rebuilt) => prop_assert!(false, "{kept:?} but {rebuilt:?}"),
        }
    }

    #[test]
    fn retaining_twice_is_retaining_once(trace in trace()) {
        let once = trace.history().retain(|_| true, Lines::All).unwrap();
        prop_assert_eq!(&once.retain(|_| true, Lines::All).unwrap(), &once);
    }
}

fn keep_lines(history: &History, lines: &[u32], what: Lines<'_>) -> Result<History, String> {
    history
        .retain(|id| lines.contains(&history.event(id).line), what)
        .map_err(|error| format!("{}: {error}", error.line))
}

#[test]
fn a_read_that_loses_its_source_is_an_error_and_the_first_line_is_named() {
    let history = parse_text("0: x := 1\n0: x := 2\n2: x == 2\n1: x == 1\n1: x == 0").unwrap();
    assert_eq!(
        keep_lines(&history, &[4, 3], Lines::All).unwrap_err(),
        "3: reads 2 from M[x], but 2 was never written there (--thin-air violation reports this as a violation)"
    );
    assert_eq!(keep_lines(&history, &[1, 4, 5], Lines::All).unwrap().len(), 3);
}

#[test]
fn a_read_that_keeps_one_of_its_sources_is_no_longer_ambiguous() {
    let history = parse_text("0: x := 1\n0: x := 1\n1: x == 1").unwrap();
    assert!(!history.is_unambiguous());
    assert!(keep_lines(&history, &[2, 3], Lines::All).unwrap().is_unambiguous());
}

#[test]
fn the_caller_says_which_lines_stay() {
    let history = parse_text(
        "0: x := 1\n0: x := 2\n0: y := 1\nfinal x == 2\nfinal y == 1\norder x: 0 < 1 < 2",
    )
    .unwrap();
    let all = keep_lines(&history, &[1, 2, 3], Lines::All).unwrap();
    assert_eq!((all.finals().len(), all.orders().len()), (2, 1));
    let none = keep_lines(&history, &[1, 2, 3], Lines::None).unwrap();
    assert_eq!((none.finals().len(), none.orders().len()), (0, 0));
    assert_eq!(
        keep_lines(&history, &[1, 3], Lines::All).unwrap_err(),
        "4: the final value of M[x] is 2, but 2 was never written there (--thin-air violation reports this as a violation)"
    );
    let supported = keep_lines(&history, &[1, 3], Lines::Supported).unwrap();
    assert_eq!((supported.finals().len(), supported.orders()[0].writes.len()), (1, 2));
    let finals = Lines::Chosen { finals: &[false, true], orders: &[] };
    let chosen = keep_lines(&history, &[3], finals).unwrap();
    assert_eq!((chosen.finals().len(), chosen.orders().len()), (1, 0));
    assert_eq!(chosen.address_count(), 1);
}

#[test]
fn an_order_of_fewer_than_two_writes_goes() {
    let history = parse_text("0: x := 1\n0: x := 2\n0: x := 3\norder x: 1 < 2 < 3").unwrap();
    let two = keep_lines(&history, &[1, 3], Lines::All).unwrap();
    let write = |event| Source::Write(EventId::new(event));
    assert_eq!(two.orders()[0].writes, [write(0), write(1)]);
    assert!(keep_lines(&history, &[3], Lines::All).unwrap().orders().is_empty());
}

#[test]
fn threads_close_up_and_keep_their_labels() {
    let history = parse_text("5: x := 1\n6: x := 2\n7: x := 3\n7: x := 4").unwrap();
    let kept = keep_lines(&history, &[1, 4], Lines::All).unwrap();
    let labels: Vec<_> = kept.threads().map(|thread| kept.thread_label(thread)).collect();
    assert_eq!(labels, [5, 7]);
    assert_eq!(kept.event(EventId::new(1)).index, 0);
}

#[test]
fn a_value_out_of_thin_air_stays_one() {
    let options = ReadOptions { thin_air: ThinAir::Violation, ..ReadOptions::default() };
    let text = "0: x := 1\n0: x == 7\nfinal y == 9".as_bytes();
    let history = TraceReader::new(text, "t", options).next_trace().unwrap().unwrap();
    let kept = keep_lines(&history, &[2], Lines::All).unwrap();
    assert!(kept.sources(EventId::new(0)).is_empty());
    assert!(kept.finals()[0].sources.is_empty());
}

#[test]
fn nothing_can_be_retained() {
    let history = parse_text("init x == 1\n0: x := 1 final x == 1").unwrap();
    let kept = history.retain(|_| false, Lines::None).unwrap();
    assert_eq!((kept.len(), kept.thread_count(), kept.address_count()), (0, 0, 0));
    assert_eq!(kept, parse_text("check").unwrap());
}
