//! Programs as text and JSON: what is printed reads as the same program, and what cannot be read
//! is refused with its place.

use history::{AccessOrder, AddressLabel, Kinds};
use proptest::prelude::*;
use tribunal_stress::{
    Action, Condition, Instruction, Place, Program, Test, parse_programs, parse_programs_json,
};

fn kinds() -> impl Strategy<Value = Kinds> {
    (any::<bool>(), any::<bool>()).prop_map(|(reads, writes)| Kinds { reads, writes })
}

fn action(places: u32) -> impl Strategy<Value = Action> {
    let place = 0..places;
    let value = prop_oneof![0..4u64, any::<u64>()];
    prop_oneof![
        place.clone().prop_map(|place| Action::Load { place }),
        (place.clone(), value.clone()).prop_map(|(place, value)| Action::Store { place, value }),
        (place.clone(), value.clone()).prop_map(|(place, value)| Action::Swap { place, value }),
        (place.clone(), value.clone())
            .prop_map(|(place, amount)| Action::FetchAdd { place, amount }),
        (place, value.clone(), value).prop_map(|(place, expected, new)| Action::CompareAndSwap {
            place,
            expected,
            new
        }),
        (kinds(), kinds()).prop_map(|(before, after)| Action::Fence { before, after }),
    ]
}

/// Any program, of threads that may be empty, and places that may be unused and lie anywhere.
fn test() -> impl Strategy<Value = Test> {
    (1..5u32)
        .prop_flat_map(|places| {
            let seats = prop::collection::hash_set((0..4u32, 0..8u8), places as usize);
            let seats = prop_oneof![seats.prop_map(Some), Just(None)];
            let initials = prop::collection::vec(0..3u64, places as usize);
            let thread = prop::collection::vec((action(places), any::<u32>()), 0..5);
            let threads = prop::collection::vec(thread, 0..4);
            let condition = prop::option::of(any::<u64>());
            (seats, initials, threads, condition, "[A-Za-z0-9+ .]{0,6}", any::<bool>())
        })
        .prop_map(|(seats, initials, threads, condition, name, numbered)| {
            let mut seats = seats.map(Vec::from_iter);
            if let Some(seats) = &mut seats {
                seats.sort_unstable();
            }
            let place = |(at, initial): (usize, u64)| Place {
                label: match numbered {
                    true => AddressLabel::Number(at as u64 * 8),
                    false => AddressLabel::Name(["x", "M", "sync", "end.1"][at].into()),
                },
                initial,
                line: seats.as_ref().map_or(at as u32, |seats| seats[at].0),
                word: seats.as_ref().map_or(0, |seats| seats[at].1),
            };
            let places = initials.into_iter().enumerate().map(place).collect();
            let mut program = Program { name: name.trim().to_owned(), places, threads: Vec::new() };
            for drawn in threads {
                let mut thread: Vec<Instruction> = Vec::new();
                for (action, dependencies) in drawn {
                    let reads = |&on: &u32| thread[on as usize].action.reads();
                    let earlier = (0..thread.len() as u32).filter(|on| dependencies >> on & 1 == 1);
                    let depends_on = earlier.filter(reads).collect();
                    let order = AccessOrder::ALL.into_iter().nth((dependencies % 11) as usize);
                    let order = order.filter(|_| action.place().is_some());
                    thread.push(Instruction { action, depends_on, order });
                }
                program.threads.push(thread);
            }
            let condition = condition.map(|bits| Condition {
                reads: program
                    .readers()
                    .enumerate()
                    .filter(|(at, _)| bits >> at & 1 == 1)
                    .map(|(at, (thread, index, _))| (thread as u32, index as u32, at as u64))
                    .collect(),
                finals: (0..program.places.len() as u32)
                    .filter(|place| bits >> (32 + place) & 1 == 1)
                    .map(|place| (place, bits))
                    .collect(),
            });
            Test { program, condition }
        })
}

proptest! {
    #[test]
    fn what_is_printed_reads_as_the_same_program(test in test()) {
        prop_assert_eq!(test.program.check(), Ok(()));
        let text = test.to_string();
        let read = parse_programs("test", &text).unwrap_or_else(|e| panic!("{}", e.render(false)));
        prop_assert_eq!(&read, &[test], "{}", text);
    }

    #[test]
    fn what_is_written_as_json_reads_as_the_same_program(test in test()) {
        let line = test.to_json();
        prop_assert!(!line.contains('\n'));
        prop_assert_eq!(parse_programs_json("test", &line).unwrap(), [test]);
    }

    #[test]
    fn programs_that_follow_each_other_are_distinguished(tests in prop::collection::vec(test(), 0..4)) {
        let text: String = tests.iter().map(Test::to_string).collect();
        prop_assert_eq!(&parse_programs("test", &text).unwrap(), &tests);
        let lines: String = tests.iter().map(|test| test.to_json() + "\n").collect();
        prop_assert_eq!(parse_programs_json("test", &lines).unwrap(), tests);
    }

    #[test]
    fn anything_is_read_or_refused_with_a_place(text in "[0-9a-zM:=?<>;,#{}\\[\\] \n\"]{0,60}") {
        for result in [parse_programs("test", &text), parse_programs_json("test", &text)] {
            if let Err(error) = result {
                prop_assert!(error.line >= 1 && error.line <= text.lines().count() as u64);
                prop_assert!(error.render(false).starts_with("test:"));
            }
        }
    }
}

fn refusal(text: &str) -> String {
    parse_programs("p", text).unwrap_err().render(false)
}

#[test]
fn a_mistake_is_shown_with_its_place_and_a_remedy() {
    assert_eq!(
        refusal("0: M[x] := 1\n0: M[y] == 0\n"),
        "p:2:9: expected `?` or `:=`, found `=`
  |
2 | 0: M[y] == 0
  |         ^ expected `?` or `:=`
  = help: `M[x] ?` is a load, `M[x] := 1` is a store
"
    );
    assert_eq!(
        refusal("0: x ? as a\n1: y := 1 dep a"),
        "p:2:15: `a` is not an earlier instruction of this thread
  |
2 | 1: y := 1 dep a
  |               ^
"
    );
}

#[test]
fn every_mistake_has_its_own_sentence() {
    for (text, sentence) in [
        ("0 x := 1", "p:1:3: expected `:`, found `x`"),
        ("zero: x ?", "p:1:1: expected a thread number, `program`"),
        ("0: ? x", "p:1:4: expected an instruction, found `?`"),
        ("0: x := ", "p:1:9: expected a value, found the end of the line"),
        ("0: x := 18446744073709551616", "p:1:9: the number does not fit 64 bits"),
        ("0: x := 0x", "p:1:9: expected a value, found `0x`"),
        ("0: <x ?; y := 1>", "p:1:10: an atomic reads and writes one address"),
        ("0: <x ? 1; x += 1>", "p:1:14: expected `:=`, found `+`"),
        ("0: fence x,r", "p:1:10: expected `r`, `w` or `rw`, found `x`"),
        ("0: x := 1 as a dep a", "p:1:20: `a` is a store or fence and returns no value"),
        ("0: x ? as a\n0: x ? as a", "p:2:11: the name `a` is taken"),
        ("0: x ? as a as b", "p:1:13: a second name for one event"),
        (
            "0: x ? x",
            "p:1:8: expected `as`, `dep`, an annotation or the end of the line, found `x`",
        ),
        ("0: y := 1 dep b", "p:1:15: no instruction is called `b` so far"),
        ("init x == 1\ninit x == 2", "p:2:1: a second `init` for M[x]"),
        ("place x line 0 word 8", "p:1:21: a cache line has the words 0 to 7"),
        ("place x line 0 word 1\nplace y line 0 word 1", "p:2:1: another address has this word"),
        ("place x line 0 word 1\nplace x line 0 word 2", "p:2:1: a second `place`"),
        ("70000: x ?", "p:1:1: a program has at most 65536 threads"),
        (
            "0: x ? as a\nexists a == 0, a == 1",
            "p:2:1: the outcome names one instruction or address twice",
        ),
        ("exists M[x] == 1", "p:1:8: no instruction accesses M[x]"),
        ("end end", "p:1:5: expected the end of the line, found `end`"),
        ("0: M[é] ?", "p:1:6: expected an address, found `é`"),
    ] {
        let refused = refusal(text);
        assert!(refused.starts_with(sentence), "{text}: {refused}");
    }
}

#[test]
fn mistakes_in_json_have_their_own_sentences() {
    let program = |instruction: &str| {
        format!(r#"{{"places":[{{"addr":"x","line":0,"word":0}}],"threads":[[{instruction}]]}}"#)
    };
    for (text, sentence) in [
        (program(r#"{"op":"jump"}"#), "unknown op `jump`; use `read`"),
        (program(r#"{"op":"write","addr":"x"}"#), "`write` needs `value`"),
        (program(r#"{"op":"read","addr":"x","value":1}"#), "`read` takes no `value`"),
        (program(r#"{"op":"read","addr":"y"}"#), "`places` has no \"y\""),
        (program(r#"{"op":"read","addr":"x","deps":[0]}"#), "depends on one that is not"),
        (program(r#"{"op":"fence","before":"x","after":"r"}"#), "`x` is not \"r\""),
        (program(r#"{"op":"read","adr":"x"}"#), "not a valid JSON object: unknown field `adr`"),
        ("{".to_owned(), "not a valid JSON object: EOF"),
    ] {
        let refused = parse_programs_json("p", &text).unwrap_err().to_string();
        assert!(refused.contains(sentence) && refused.starts_with("p:1:"), "{text}: {refused}");
    }
}
