//! `ccv` is one order in which later wins, `cm` is one sequence a thread: the kernel's operational
//! readings of the two agree with their definitions.

use crate::common::{self, choices, claim, permutations, rejection, shown, verdict};
use evidence::{Evidence, Reader, Witness};
use history::{EventId, History, Source, ThreadId};
use models::Model;
use oracle::{Rng, Shape, random_history};
use tribunal_certify::certify;

fn accesses(history: &History) -> Vec<EventId> {
    history.event_ids().filter(|&e| !history.event(e).is_fence()).collect()
}

fn has_atomics(history: &History) -> bool {
    history.events().any(|event| event.is_atomic())
}

fn accepts(history: &History, model: Model, witness: Witness) -> bool {
    certify(history, &claim(model, Evidence::Consistent(witness))).is_ok()
}

#[test]
fn a_history_without_atomics_is_ccv_iff_it_has_an_arbitration() {
    let mut decided = [0; 2];
    for shape in Shape::all() {
        let shape = shape.with_events(5);
        for seed in 0..common::effort(100) {
            let history = random_history(&mut Rng::new(seed), &shape);
            if has_atomics(&history) {
                continue;
            }
            let orders = permutations(&accesses(&history));
            let arbitrated = choices(&history).iter().any(|reads| {
                orders.iter().any(|order| {
                    let (order, reads) = (order.clone(), reads.clone());
                    accepts(&history, Model::Ccv, Witness::Arbitration { order, reads })
                })
            });
            let allowed = oracle::allows(&history, Model::Ccv);
            assert_eq!(arbitrated, allowed, "{} {seed}:\n{}", shape.name, shown(&history));
            decided[usize::from(allowed)] += 1;
        }
    }
    assert!(decided.iter().all(|&times| times > 50), "{decided:?}");
    println!("{decided:?}");
}

/// What was read: the only candidate, or the choice.
fn source(history: &History, reads: &[(Reader, Source)], read: EventId) -> Option<Source> {
    let chosen = reads.iter().find(|(reader, _)| *reader == Reader::Event(read));
    chosen.map(|&(_, source)| source).or_else(|| history.sources(read).first().copied())
}

/// co between events, as a matrix; a read-modify-write is one.
fn causality(history: &History, reads: &[(Reader, Source)]) -> Vec<Vec<bool>> {
    let size = history.len();
    let mut co = vec![vec![false; size]; size];
    for b in history.event_ids() {
        for a in history.event_ids() {
            let read =
                history.event(b).is_read() && source(history, reads, b) == Some(Source::Write(a));
            co[a.index()][b.index()] = history.program_order(a, b) || read;
        }
    }
    for via in 0..size {
        for a in 0..size {
            for b in 0..size {
                co[a][b] |= co[a][via] && co[via][b];
            }
        }
    }
    co
}

/// A sequence of what the thread has heard of that explains its reads, by trying all.
fn view(
    history: &History,
    reads: &[(Reader, Source)],
    co: &[Vec<bool>],
    thread: ThreadId,
) -> Option<Vec<EventId>> {
    let own = |e: EventId| history.event(e).thread == thread;
    let Some(last) = accesses(history).into_iter().rfind(|&e| own(e)) else { return Some(vec![]) };
    let heard = |e: EventId| own(e) || (history.event(e).is_write() && co[e.index()][last.index()]);
    let events: Vec<EventId> = accesses(history).into_iter().filter(|&e| heard(e)).collect();
    permutations(&events).into_iter().find(|order| {
        order.iter().enumerate().all(|(now, &e)| {
            let earlier = &order[..now];
            let no_effect_before = earlier.iter().all(|a| !co[e.index()][a.index()]);
            let address = history.event(e).address();
            let seen = earlier
                .iter()
                .rfind(|&&a| history.event(a).is_write() && history.event(a).address() == address);
            let seen = seen.map_or(Source::Initial, |&write| Source::Write(write));
            let explained =
                !own(e) || !history.event(e).is_read() || source(history, reads, e) == Some(seen);
            no_effect_before && explained
        })
    })
}

fn views(history: &History, reads: &[(Reader, Source)]) -> Option<Vec<Vec<EventId>>> {
    let co = causality(history, reads);
    if (0..history.len()).any(|e| co[e][e]) {
        return None;
    }
    history.threads().map(|thread| view(history, reads, &co, thread)).collect()
}

#[test]
fn a_history_without_atomics_is_cm_iff_every_thread_has_a_view() {
    let mut decided = [0; 2];
    let mut with_atomics = 0;
    for shape in Shape::all() {
        let shape = shape.with_events(6);
        for seed in 0..common::effort(100) {
            let history = random_history(&mut Rng::new(seed), &shape);
            let allowed = oracle::allows(&history, Model::Cm);
            let place = || format!("{} {seed}:\n{}", shape.name, shown(&history));
            let mut viewed = false;
            for reads in choices(&history) {
                if let Some(views) = views(&history, &reads) {
                    let witness = Witness::Views { views, reads };
                    assert!(accepts(&history, Model::Cm, witness), "{}", place());
                    viewed = true;
                }
            }
            if has_atomics(&history) {
                // Read and write of an atomic may have to stand apart, which views do not say.
                assert!(allowed || !viewed, "{}", place());
                with_atomics += usize::from(viewed);
            } else {
                assert_eq!(viewed, allowed, "{}", place());
                decided[usize::from(allowed)] += 1;
            }
        }
    }
    assert!(decided.iter().all(|&times| times > 50) && with_atomics > 50, "{decided:?}");
    println!("{decided:?} {with_atomics}");
}

#[test]
fn views_are_never_accepted_against_a_violation() {
    let mut rejected = 0;
    for shape in Shape::all() {
        let shape = shape.with_events(6);
        for seed in 0..common::effort(100) {
            let mut rng = Rng::new(seed);
            let history = random_history(&mut rng, &shape);
            if oracle::allows(&history, Model::Cm) {
                continue;
            }
            for reads in choices(&history) {
                let co = causality(&history, &reads);
                for _ in 0..10 {
                    // What each thread has heard of, in an order that may well extend causality.
                    let views = history.threads().map(|thread| {
                        let found = view(&history, &reads, &co, thread);
                        found.unwrap_or_else(|| {
                            let mut all = accesses(&history);
                            rng.shuffle(&mut all);
                            all.sort_by_key(|e| {
                                (0..history.len()).filter(|&a| co[a][e.index()]).count()
                            });
                            all.retain(|&e| {
                                history.event(e).thread == thread || history.event(e).is_write()
                            });
                            all
                        })
                    });
                    let views = views.collect();
                    let witness = Witness::Views { views, reads: reads.clone() };
                    assert!(!accepts(&history, Model::Cm, witness), "{}", shown(&history));
                    rejected += 1;
                }
            }
        }
    }
    assert!(rejected > 500, "{rejected}");
}

/// Thread 2 sees the two writes one way, thread 3 the other.
const TWO_ORDERS: &str = "0: x := 1
                          1: x := 2
                          2: x == 1
                          2: x == 2
                          3: x == 2
                          3: x == 1";

#[test]
fn two_threads_may_have_two_views() {
    let views = r#""kind":"views","reads":[],"views":[[[0,0]],[[1,0]],
        [[0,0],[2,0],[1,0],[2,1]],[[1,0],[3,0],[0,0],[3,1]]]"#;
    assert_eq!(verdict(TWO_ORDERS, Model::Cm, views), Ok(()));
    for (right, wrong, sentence) in [
        ("[1,0],[2,1]", "[2,1],[1,0]", "the view of thread 2 has [2,1] before its cause [1,0]"),
        (
            "[[0,0],[2,0],[1,0]",
            "[[1,0],[2,0],[0,0]",
            "the view of thread 2 has [2,0] before its cause [0,0]",
        ),
        (
            "[[0,0],[2,0],[1,0]",
            "[[0,0],[1,0],[2,0]",
            "in the view of thread 2, [2,0] does not see the value that it read",
        ),
        (",[3,1]", "", "[3,1] is missing from the view of thread 3"),
        ("[[1,0]],", "[[1,0],[0,0]],", "[0,0] does not belong to the view of thread 1"),
        ("[[1,0]],", "[[1,0],[1,0]],", "[1,0] does not belong to the view of thread 1"),
        ("[[0,0]],", "", "3 views for 4 threads"),
    ] {
        assert_eq!(rejection(TWO_ORDERS, Model::Cm, &views.replacen(right, wrong, 1)), sentence);
    }
    assert!(
        rejection(TWO_ORDERS, Model::Ccv, views).contains("ccv takes no evidence of this kind")
    );
}

#[test]
fn in_an_arbitration_the_later_write_wins() {
    let trace = "0: x := 1
                 0: y := 1
                 1: x := 2
                 1: y == 1
                 1: x == 2";
    let order = r#""kind":"arbitration","reads":[],"witness":[[0,0],[0,1],[1,0],[1,1],[1,2]]"#;
    assert_eq!(verdict(trace, Model::Ccv, order), Ok(()));
    for (right, wrong, sentence) in [
        (
            "[0,0],[0,1],[1,0]",
            "[1,0],[0,0],[0,1]",
            "the value of [1,2] is overwritten by [0,0], which precedes the read",
        ),
        ("[1,1],[1,2]", "[1,2],[1,1]", "[1,1] must be performed before [1,2], by program order"),
        (
            "[0,1],[1,0],[1,1]",
            "[1,0],[1,1],[0,1]",
            "[0,1] must be performed before [1,1], by what it read",
        ),
        (",[1,2]", "", "[1,2] is never performed"),
    ] {
        assert_eq!(rejection(trace, Model::Ccv, &order.replacen(right, wrong, 1)), sentence);
    }
    assert!(rejection(trace, Model::Cm, order).contains("cm takes no evidence of this kind"));
    let atomic = trace.replace("1: x == 2", "1: <x == 2; x := 3>");
    assert_eq!(
        rejection(&atomic, Model::Ccv, order),
        "an arbitration order says nothing about read-modify-writes"
    );
    assert_eq!(verdict(&atomic, Model::Ccv, r#""kind":"choices","reads":[]"#), Ok(()));
}

#[test]
fn order_and_final_lines_bind_an_arbitration() {
    let trace = "0: x := 1
                 1: x := 2";
    let order = r#""kind":"arbitration","reads":[],"witness":[[0,0],[1,0]]"#;
    for (line, sentence) in [
        ("order x: 2 < 1", "the writes of M[x] do not follow its `order` line"),
        ("final x == 1", "[1,0] must be performed before [0,0], by an `order` or `final` line"),
        ("final x == 0", "the last write of M[x] is not the one its `final` line names"),
    ] {
        let trace = format!("{trace}\n{line}");
        assert_eq!(rejection(&trace, Model::Ccv, order), sentence);
    }
    assert_eq!(verdict(&format!("{trace}\nfinal x == 2"), Model::Ccv, order), Ok(()));
}

#[test]
fn every_ambiguous_reader_needs_one_choice() {
    let trace = "0: x := 1
                 1: x := 1
                 2: x == 1
                 final x == 1";
    let choices = |reads: &str| format!(r#""kind":"choices","reads":[{reads}]"#);
    let both = r#"[[2,0],[0,0]],[{"final":"x"},[1,0]]"#;
    for model in [Model::Ccv, Model::Ccm, Model::Wccm] {
        assert_eq!(verdict(trace, model, &choices(both)), Ok(()));
        assert_eq!(
            rejection(trace, model, &choices("[[2,0],[0,0]]")),
            "the certificate does not say which write the `final` line of M[x] read"
        );
    }
    for model in [Model::Cc, Model::Cm] {
        assert_eq!(verdict(trace, model, &choices("[[2,0],[0,0]]")), Ok(()));
        assert_eq!(
            rejection(trace, model, &choices("")),
            "the certificate does not say which write [2,0] read"
        );
        assert_eq!(
            rejection(trace, model, &choices("[[2,0],[0,0]],[[2,0],[1,0]]")),
            "the certificate says twice which write [2,0] read"
        );
        assert_eq!(
            rejection(trace, model, &choices(r#"[[2,0],"initial"]"#)),
            "[2,0] cannot have read from the initial write: address or value differ"
        );
    }
}
