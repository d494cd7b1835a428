//! Sessions against the judge of whole histories: what a session says is never wrong, whatever the
//! order in which events come and however little it keeps.

use std::time::Duration;

use history::{History, Operation};
use models::Model;
use oracle::{Shape, random_histories, text};

use super::{Finished, Session, Sizes, Status};
use crate::{Budget, Engine, Limits, Outcome, Reason, judge};
use chance::Rng;
use evidence::Verdict;

/// So little that everything is forgotten, opened and closed all the time.
const TINY: Sizes = Sizes {
    recent: 6,
    open: 12,
    reopened: 2,
    first_wait: 1,
    wait: 4,
    searched: 6,
    kept_open: 1,
    pending: 1,
};
const SMALL: Sizes = Sizes {
    recent: 12,
    open: 64,
    reopened: 3,
    first_wait: 2,
    wait: 8,
    searched: 12,
    kept_open: 3,
    pending: 2,
};

/// So little that parts are closed while reads wait for their writes.
const WAITING: Sizes = Sizes { first_wait: 1, wait: 3, kept_open: 6, reopened: 1, ..SMALL };

/// An order in which the events may have been recorded: program order in each thread, else random,
/// or that of a witness with a few pairs swapped.
fn recorded(history: &History, rng: &mut Rng) -> Vec<history::EventId> {
    let mut next: Vec<usize> = history.threads().map(|t| history.thread_range(t).start).collect();
    let mut order = Vec::new();
    while order.len() < history.len() {
        let thread = rng.below(next.len());
        let range = history.thread_range(history::ThreadId::new(thread));
        if next[thread] < range.end {
            order.push(history::EventId::new(next[thread]));
            next[thread] += 1;
        }
    }
    order
}

fn fed(history: &History, order: &[history::EventId], model: Model, sizes: Sizes) -> Session {
    let mut session = Session::with_sizes(model, Limits::default(), sizes);
    for id in history.address_ids() {
        let known = session.address(&history.address(id).label);
        assert!(session.initial(known, history.address(id).initial));
    }
    for (line, &event) in (1..).zip(order) {
        let thread = history.thread_label(history.thread_of(event));
        session.event(thread, history.event(event).operation, history.times(event), line);
    }
    session
}

fn finished(session: Session, history: &History) -> Finished {
    let finals: Vec<_> = history.finals().iter().map(|f| (f.address, f.value)).collect();
    session.finish_with(&finals)
}

/// What nothing can be said of: what a session cannot be determined.
fn can_be_fed(history: &History) -> bool {
    history.dependencies().is_empty() && history.orders().is_empty() && !history.has_annotations()
}

/// The mix: what the judge says, and what the sessions say.
#[derive(Default, Debug)]
struct Mix {
    consistent: [u32; 2],
    violation: [u32; 2],
    /// Violations of what had come that later events made up for.
    mended: u32,
}

/// Whether what had come violates the model, whoever is still to write what was read.
fn is_broken(history: &History, came: &[history::EventId], model: Model) -> bool {
    let mut builder = history::Builder::new();
    for id in history.address_ids() {
        let known = builder.address(&history.address(id).label);
        builder.initial(known, history.address(id).initial, 0).unwrap();
    }
    let others_wrote = |read: history::EventId, source: &history::Source| match source {
        history::Source::Initial => true,
        history::Source::Write(write) => *write != read && came.contains(write),
    };
    for (line, &event) in (1..).zip(came) {
        let is_sourced = history.sources(event).iter().any(|s| others_wrote(event, s));
        let operation = match history.event(event).operation {
            Operation::Read { .. } if !is_sourced => continue,
            Operation::ReadModifyWrite { address, write, .. } if !is_sourced => {
                Operation::Write { address, value: write }
            }
            operation => operation,
        };
        let thread = history.thread_label(history.thread_of(event));
        let draft = builder.event(thread, operation, line).unwrap();
        builder.times(draft, history.times(event)).unwrap();
    }
    let came = builder.finish(history::ThinAir::Malformed).unwrap();
    matches!(judge(&came, model, Engine::Auto, &Budget::unlimited()).outcome, Outcome::Broken(_))
}

#[test]
fn what_a_session_says_is_what_the_judge_says() {
    let trials: u64 =
        std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    let mut mix = Mix::default();
    for shape in Shape::all().into_iter().chain(Shape::all().into_iter().map(|s| s.with_events(20)))
    {
        for (seed, history) in random_histories(&shape, 0..trials) {
            if !can_be_fed(&history) {
                continue;
            }
            let order = recorded(&history, &mut Rng::new(seed));
            for model in Model::ALL {
                let budget = Budget::unlimited();
                let truth = judge(&history, model, Engine::Auto, &budget).outcome;
                let large = Sizes::of(1 << 30);
                let all = [(TINY, false), (SMALL, false), (WAITING, false), (large, true)];
                for (sizes, exact) in all {
                    let session = fed(&history, &order, model, sizes);
                    let early = session.status();
                    let consistent = session.consistent() as usize;
                    let first = !is_broken(&history, &order[..consistent], model);
                    assert!(first, "{consistent} events: {model}, {sizes:?}\n{}", text(&history));
                    let said = finished(session, &history);
                    let context = || format!("{model}, seed {seed}, {sizes:?}\n{}", text(&history));
                    match (&truth, &said.verdict) {
                        (Outcome::Holds(_), Verdict::Broken(violation)) => {
                            // A write that was recorded late may make up for what came before it.
                            let came = &order[..violation.events as usize];
                            assert!(
                                is_broken(&history, came, model),
                                "{}\n{came:?}\n{}",
                                context(),
                                text(&violation.history)
                            );
                            mix.mended += 1;
                        }
                        (Outcome::Broken(_), Verdict::Holds(())) => panic!("{}", context()),
                        (_, Verdict::Undecided(why)) => {
                            assert!(
                                !exact || matches!(truth, Outcome::Undecided(_)),
                                "{why:?} {}",
                                context()
                            );
                        }
                        (Outcome::Holds(_), _) => mix.consistent[usize::from(exact)] += 1,
                        (Outcome::Broken(_), _) => mix.violation[usize::from(exact)] += 1,
                        (Outcome::Undecided(_), _) => {}
                    }
                    if early == Status::Violation {
                        assert!(matches!(said.verdict, Verdict::Broken(_)), "{}", context());
                    }
                    if let Verdict::Broken(violation) = said.verdict {
                        certified(&violation, model, &context());
                    }
                }
            }
        }
    }
    // Sessions that keep next to nothing must still find some of each.
    assert!(mix.consistent.iter().chain(&mix.violation).all(|&count| count > 100), "{mix:?}");
}

/// The kernel accepts the evidence of a violation, and its events are some that came.
fn certified(violation: &super::Violation, model: Model, context: &str) {
    let evidence = evidence::Evidence::Violation(violation.proof.clone());
    let certificate = evidence::Certificate { trace: 1, model, evidence };
    if let Err(why) = certify::certify(&violation.history, &certificate) {
        panic!("{why}: {context}");
    }
}

/// A random run of a machine with store buffers of this size, recorded when stores are issued. A
/// thread takes so many steps in a row, on average, and its buffer waits while others run.
fn machine(
    threads: usize,
    addresses: u64,
    buffer: usize,
    burst: usize,
    steps: usize,
    seed: u64,
) -> Vec<(u64, Operation)> {
    let mut rng = Rng::new(seed);
    let mut thread = 0;
    let mut memory = vec![0; addresses as usize];
    let mut buffers = vec![std::collections::VecDeque::new(); threads];
    let mut events = Vec::new();
    let mut value = 0;
    for _ in 0..steps {
        if rng.below(burst) == 0 {
            thread = rng.below(threads);
        }
        let at = rng.below(addresses as usize);
        let address = history::AddressId::new(at);
        match rng.below(3) {
            0 => {
                value += 1;
                buffers[thread].push_back((at, value));
                events.push((thread as u64, Operation::Write { address, value }));
            }
            1 => {
                let own = buffers[thread].iter().rev().find(|(to, _)| *to == at);
                let value = own.map_or(memory[at], |&(_, value)| value);
                events.push((thread as u64, Operation::Read { address, value }));
            }
            _ => {}
        }
        if (buffers[thread].len() > buffer || rng.below(4) == 0)
            && let Some((to, value)) = buffers[thread].pop_front()
        {
            memory[to] = value;
        }
    }
    events
}

fn watched(model: Model, addresses: u64, events: &[(u64, Operation)]) -> Session {
    let mut session = Session::new(model, Limits::default());
    (0..addresses).for_each(|n| _ = session.address(&history::AddressLabel::Number(n)));
    for (line, &(thread, operation)) in (1..).zip(events) {
        session.event(thread, operation, history::Times::default(), line);
    }
    session
}

#[test]
fn a_long_run_is_explained_in_bounded_room() {
    let runs = [
        (Model::Sc, 0, 1),
        (Model::Tso, 0, 1),
        (Model::Tso, 8, 1),
        (Model::Pso, 8, 1),
        (Model::Tso, 8, 200),
        (Model::Pso, 8, 200),
    ];
    for (model, buffer, burst) in runs {
        let events = machine(8, 64, buffer, burst, 600_000, 1);
        let session = watched(model, 64, &events);
        assert!(session.recent.len() <= session.sizes.recent);
        assert!(session.open.len() < 100_000, "{model} {buffer} {burst}: {}", session.open.len());
        let finished = session.finish();
        assert!(
            matches!(finished.verdict, Verdict::Holds(())),
            "{model} {buffer} {burst}: {finished:?}"
        );
    }
}

/// Each store is recorded behind the next load of what the one before it stored, so there is no
/// moment without a load that waits.
#[test]
fn what_is_explained_is_closed_although_some_load_waits_all_the_time() {
    let at = history::AddressId::new;
    let store = |value| (1, Operation::Write { address: at(0), value });
    let load = |value| (0, Operation::Read { address: at(0), value });
    let events: Vec<_> = (2..150_000).flat_map(|value| [load(value), store(value - 1)]).collect();
    let events: Vec<_> = [load(1)].into_iter().chain(events).collect();
    for model in [Model::Wmo, Model::Tso] {
        let session = watched(model, 1, &events);
        assert!(session.open.len() < 100_000, "{model}: {}", session.open.len());
        assert!(session.unexplained.is_none());
        let mut session = session;
        let (thread, last) = store(149_999);
        session.event(thread, last, history::Times::default(), 300_000);
        let finished = session.finish();
        assert!(matches!(finished.verdict, Verdict::Holds(())), "{model}: {finished:?}");
    }
}

#[test]
fn a_violation_in_a_long_run_is_found_soon() {
    for (model, buffer) in [(Model::Sc, 0), (Model::Tso, 8)] {
        let mut events = machine(8, 64, buffer, 1, 1_200_000, 2);
        let middle = events.len() / 2;
        // A thread sees what it saw before its last two reads of an address.
        let reads = |at: usize| match events[at] {
            (0, Operation::Read { address, value }) if address.index() == 3 => Some((at, value)),
            _ => None,
        };
        let mut earlier: Vec<_> = (0..middle).rev().filter_map(reads).collect();
        earlier.dedup_by_key(|read| read.1);
        let stale = earlier[2].1;
        let (at, _) = (middle..events.len()).find_map(reads).unwrap();
        events[at].1 = Operation::Read { address: history::AddressId::new(3), value: stale };
        let session = watched(model, 64, &events);
        let violation =
            session.violation().unwrap_or_else(|| panic!("{model}: {:?}", session.status()));
        let late = violation.events - at as u64;
        assert!(late < 100_000, "{model}: {late} events late");
        certified(violation, model, "in a long run");
        assert!(violation.history.events().any(|event| event.line as usize == at + 1));
    }
}

/// A total time is one for all questions together: what each takes is gone, and when nothing is left,
/// nothing is asked any more and the answer says what is known.
#[test]
fn a_total_time_is_spent_by_all_questions_together() {
    let total = Duration::from_secs(3600);
    let mut session = Session::new(Model::Sc, Limits::default()).with_total_time(total);
    session.store(0, 0, 1);
    assert_eq!((session.load(0, 0, 1), session.left), (Status::Explained, Some(total)));
    // Two reads that came before the write, though they were recorded after it.
    session.store(1, 2, 2);
    session.load(0, 2, 0);
    let first = session.left.expect("it is limited");
    session.load(2, 2, 0);
    session.ask();
    assert!(first < total && session.left < Some(first), "{first:?} {:?}", session.left);
    assert!(matches!(session.finish().verdict, Verdict::Holds(())));

    let mut session = Session::new(Model::Sc, Limits::default()).with_total_time(Duration::ZERO);
    session.store(0, 0, 1);
    session.store(0, 0, 2);
    assert_eq!(session.load(1, 0, 1), Status::Unexplained);
    session.load(1, 0, 2);
    let Verdict::Undecided(undecided) = session.finish().verdict else { panic!("not undecided") };
    assert_eq!(undecided.reason, Reason::Time);
    let established = "no violation is certain; everything before line 1 is explained";
    assert_eq!(undecided.established, established);
}
