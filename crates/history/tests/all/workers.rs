//! Large traces read on several threads: the same histories and the same errors as on one.

use std::fmt::Write;

use oracle::Rng;
use tribunal_history::{Format, History, ReadOptions, ThinAir, TraceReader};

/// Everything that there is to know of the traces of a text, or of its error.
fn read(text: &str, options: ReadOptions, workers: usize) -> (Vec<History>, Option<String>) {
    let reader = TraceReader::new(text.as_bytes(), "large", options).with_workers(workers);
    let (mut histories, mut error) = (Vec::new(), None);
    for trace in reader {
        match trace {
            Ok(history) => histories.push(history),
            Err(refused) => error = Some(format!("{refused:?}\n{refused}")),
        }
    }
    (histories, error)
}

/// Reads a text on one thread and on several. Returns how many events there are and the error.
fn compare(text: &str, options: ReadOptions) -> (usize, Option<String>) {
    let (alone, error) = read(text, options, 1);
    for workers in [2, 3, 7] {
        let (together, other_error) = read(text, options, workers);
        assert_eq!(error, other_error, "{workers} workers");
        assert_eq!(alone.len(), together.len());
        for (one, other) in alone.iter().zip(&together) {
            assert!(one == other, "{workers} workers");
            let lines = |history: &History| -> Vec<u32> {
                history.event_ids().map(|event| history.line_of(event)).collect()
            };
            assert_eq!(lines(one), lines(other), "{workers} workers");
            let addresses = |history: &History| -> Vec<_> {
                let addresses = history.address_ids().map(|address| history.address(address));
                addresses.map(|a| (a.label.clone(), a.writes.clone(), a.init_line)).collect()
            };
            assert_eq!(addresses(one), addresses(other), "{workers} workers");
        }
    }
    (alone.iter().map(History::len).sum(), error)
}

fn options() -> ReadOptions {
    ReadOptions { format: Format::Text, thin_air: ThinAir::Violation, ..ReadOptions::default() }
}

/// Lines as recorders write them.
fn common_lines(count: usize, rng: &mut Rng, text: &mut String) {
    for _ in 0..count {
        let (thread, address, value) = (rng.below(20), rng.below(300), rng.below(100_000));
        let written = match rng.below(12) {
            0..=4 => writeln!(text, "{thread}: M[{address}] := {value}"),
            5..=8 => writeln!(text, "{thread}: M[a{address}] == {value}"),
            9 => writeln!(text, "{thread}: <M[{address}] == {value}; M[{address}] := {value}1>"),
            10 => writeln!(text, "{thread}: fence rw,w"),
            _ => writeln!(text, "{thread}: x{address} := {value} @ {value}:"),
        };
        written.expect("writing to a string does not fail");
    }
}

/// What may stand between common lines.
const OTHERS: [&str; 16] = [
    "\n\n",
    "# 0: M[1] := 1\n",
    "    3: M[1] := 2\n",
    "0: M[1] := 1 # a comment\n",
    "0: fence.tso\n",
    "0: M[1] == 1 as NAME\n0: M[2] := 1 dep NAME\n",
    "5: M[3] := 4\n  @ 7:9\n",
    "5: M[3] := 4\n# a comment\n@ 7:9 acq\n",
    "5: M[3]\n:= 4\n",
    "5:\n6: M[3] := 4\n",
    "6: M[3] :=\n7\n",
    "init M[ADDRESS] == 4\n",
    "final M[ADDRESS] == 4\n",
    "order M[NUMBER]: 1 < 2\n",
    "NUMBER: M[NUMBER] := 7\n",
    "4: M[1] := 2 4: M[1] := 3\n",
];

#[test]
fn a_large_trace_is_the_same_on_any_number_of_threads() {
    let mut refused = 0;
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let mut text = String::new();
        common_lines(70_000, &mut rng, &mut text);
        for number in 0..400 {
            common_lines(rng.below(400), &mut rng, &mut text);
            // Most traces have all of them but one; the seventh and the tenth make no sense.
            let other = OTHERS[rng.below(OTHERS.len())];
            if !(seed % 3 > 0 && (other.contains("5:\n") || other.contains("order"))) {
                let name = format!("n{number}");
                let other = other.replace("NAME", &name).replace("ADDRESS", &name);
                text.push_str(&other.replace("NUMBER", &(1000 + number).to_string()));
            }
        }
        let (events, error) = compare(&text, options());
        refused += u32::from(error.is_some());
        assert!(error.is_some() || events > 100_000, "{events}");
    }
    assert!((1..12).contains(&refused), "{refused}");
}

#[test]
fn an_error_in_a_large_trace_is_the_same_on_any_number_of_threads() {
    let mut rng = Rng::new(1);
    let mut text = String::new();
    common_lines(110_000, &mut rng, &mut text);
    text.push_str("check\n");
    let (mut sound, mut errors) = (0, 0);
    for round in 0..40 {
        let mut text = text.clone();
        let place = text.len() / 2 + rng.below(text.len() / 2);
        match round % 4 {
            0 => drop(text.remove(place)),
            1 => text.insert(place, ['\n', '#', '7', '@', 'x'][rng.below(5)]),
            2 => text.truncate(place),
            _ => text.replace_range(place..=place, "check"),
        }
        let (_, error) = compare(&text, options());
        sound += u32::from(error.is_none());
        errors += u32::from(error.is_some());
    }
    assert!(sound > 3 && errors > 10, "{sound} and {errors}");
}

#[test]
fn a_large_trace_is_refused_at_the_same_line_on_any_number_of_threads() {
    let mut rng = Rng::new(2);
    let mut text = String::new();
    common_lines(200_000, &mut rng, &mut text);
    let mut timed = text.clone();
    timed.push_str("3: M[1] := 1 @ 9:8\n");
    timed.push_str(&text);
    let (_, error) = compare(&timed, options());
    assert!(error.is_some_and(|error| error.contains("200001")));
    let (_, error) = compare(&text, ReadOptions { thin_air: ThinAir::Malformed, ..options() });
    assert!(error.is_some());
    // Each of these ends in another place; the last is enough.
    let ends: Vec<Option<String>> = [6 << 20, 10 << 20, 14 << 20, 1 << 30]
        .map(|memory| compare(&text, ReadOptions { memory: Some(memory), ..options() }).1)
        .into();
    assert!(ends[..3].iter().all(Option::is_some) && ends[3].is_none(), "{ends:?}");
    assert!(ends[0] != ends[1] && ends[1] != ends[2]);
}

#[test]
fn a_trace_behind_a_large_one_begins_anew() {
    let mut rng = Rng::new(3);
    let mut text = String::new();
    for _ in 0..3 {
        common_lines(80_000, &mut rng, &mut text);
        text.push_str("check\n0: M[first] := 1\n9: M[second] := 1\ncheck\n");
    }
    let (events, error) = compare(&text, options());
    assert_eq!((events, error), (3 * 80_002, None));
}

/// Values that do not count up are looked up part by part, and some were written more than once.
#[test]
fn sources_are_the_same_for_small_and_large_traces() {
    let mut rng = Rng::new(4);
    let mut text = String::new();
    let mut lines = Vec::new();
    for number in 0..300_000_u64 {
        let (thread, address) = (rng.below(8), rng.below(40));
        let value = rng.bits() >> 24 & if number % 100 == 0 { 3 } else { !0 };
        lines.push((address, value));
        let (address, value) = match rng.below(3) {
            0 => lines[rng.below(lines.len())],
            _ => (address, value),
        };
        let sign = if rng.below(2) == 0 { ":=" } else { "==" };
        writeln!(text, "{thread}: M[{address}] {sign} {value}").expect("a string");
    }
    text.push_str(
        "final M[3] == 3\ninit M[5] == 1\norder M[7]: 78 < 77\n7: M[7] := 77\n7: M[7] := 78\n",
    );
    let (histories, error) = read(&text, options(), 2);
    assert_eq!(error, None);
    // The same events by definition.
    let history = &histories[0];
    let mut writers: std::collections::BTreeMap<(usize, u64), Vec<_>> = Default::default();
    for address in history.address_ids() {
        let initial = (address.index(), history.address(address).initial);
        writers.entry(initial).or_default().push(tribunal_history::Source::Initial);
    }
    for event in history.event_ids() {
        let operation = history.operation_of(event);
        if let (Some(address), Some(value)) = (operation.address(), operation.value_written()) {
            let source = tribunal_history::Source::Write(event);
            writers.entry((address.index(), value)).or_default().push(source);
        }
    }
    let (mut several, mut none) = (0, 0);
    for event in history.event_ids() {
        let operation = history.operation_of(event);
        if let (Some(address), Some(value)) = (operation.address(), operation.value_read()) {
            let sources = writers.get(&(address.index(), value)).cloned().unwrap_or_default();
            assert_eq!(history.sources(event), sources);
            several += u32::from(sources.len() > 1);
            none += u32::from(sources.is_empty());
        }
    }
    assert!(several > 100 && none > 100, "{several} and {none}");
    let threes = history.finals()[0].sources.len();
    assert_eq!(threes, writers[&(history.finals()[0].address.index(), 3)].len());
    compare(&text, options());
}
