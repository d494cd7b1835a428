//! How many pairs of writes the causal models order, against the definitions written out, and the
//! causal checks on traces large and special enough for their fast paths.

use evidence::{Certificate, Evidence};
use history::{EventId, History, Source, parse_text};
use models::Model;
use oracle::{Rng, Shape, random_histories, text};
use tribunal_judge::{Budget, Engine, Judgement, Outcome, judge};

fn verdict(history: &History, model: Model) -> Judgement {
    judge(history, model, Engine::Auto, &Budget::unlimited())
}

/// A relation between events, as a matrix.
type Matrix = Vec<Vec<bool>>;

fn close(relation: &mut Matrix) {
    for via in 0..relation.len() {
        let later = relation[via].clone();
        for row in relation.iter_mut().filter(|row| row[via]) {
            row.iter_mut().zip(&later).for_each(|(to, &reached)| *to |= reached);
        }
    }
}

/// A history of unique values without read-modify-writes, as the definitions see it.
struct Definitions<'h> {
    history: &'h History,
    co: Matrix,
}

impl<'h> Definitions<'h> {
    fn new(history: &'h History) -> Self {
        let size = history.len();
        let mut co = vec![vec![false; size]; size];
        for a in history.event_ids() {
            for b in history.event_ids() {
                co[a.index()][b.index()] |= history.program_order(a, b);
            }
            if let [Source::Write(write)] = history.sources(a) {
                co[write.index()][a.index()] = true;
            }
        }
        close(&mut co);
        Definitions { history, co }
    }

    fn are_writes_of_one_address(&self, a: EventId, b: EventId) -> bool {
        let history = self.history;
        let is_write = |event: EventId| history.kinds_of(event).writes;
        a != b && is_write(a) && is_write(b) && history.address_of(a) == history.address_of(b)
    }

    /// (w1, w2) if w1 comes before a read of w2 that passes a test.
    fn conflicts(
        &self,
        relation: &Matrix,
        counts: impl Fn(EventId) -> bool,
    ) -> Vec<(EventId, EventId)> {
        let mut pairs = Vec::new();
        for read in self.history.event_ids().filter(|&read| counts(read)) {
            let [Source::Write(source)] = *self.history.sources(read) else { continue };
            let before = self.history.event_ids().filter(|w| relation[w.index()][read.index()]);
            let others = before.filter(|&w| self.are_writes_of_one_address(w, source));
            pairs.extend(others.map(|write| (write, source)));
        }
        pairs
    }

    /// hb_o.
    fn happens_before(&self, o: EventId) -> Matrix {
        let past = |e: EventId| e == o || self.co[e.index()][o.index()];
        let mut hb: Matrix = vec![vec![false; self.co.len()]; self.co.len()];
        for a in self.history.event_ids().filter(|&a| past(a) && a != o) {
            for b in self.history.event_ids().filter(|&b| past(b)) {
                hb[a.index()][b.index()] = self.co[a.index()][b.index()];
            }
        }
        loop {
            let own = |read: EventId| read == o || self.history.program_order(read, o);
            let mut news = self.conflicts(&hb, own);
            news.retain(|&(a, b)| !hb[a.index()][b.index()]);
            if news.is_empty() {
                return hb;
            }
            for (a, b) in news {
                hb[a.index()][b.index()] = true;
            }
            close(&mut hb);
        }
    }

    fn open_pairs(&self, ordered: &Matrix) -> u64 {
        let mut open = 0;
        for a in self.history.event_ids() {
            for b in self.history.event_ids().filter(|&b| b > a) {
                let is_ordered = ordered[a.index()][b.index()] || ordered[b.index()][a.index()];
                open += u64::from(self.are_writes_of_one_address(a, b) && !is_ordered);
            }
        }
        open
    }

    /// What po ∪ rf ∪ cf leaves open.
    fn open_after_ccv(&self) -> u64 {
        let mut relation = self.co.clone();
        for (a, b) in self.conflicts(&self.co, |_| true) {
            relation[a.index()][b.index()] = true;
        }
        close(&mut relation);
        self.open_pairs(&relation)
    }

    /// What pww leaves open.
    fn open_after_ccm(&self) -> u64 {
        let size = self.history.len();
        let mut hb = vec![vec![false; size]; size];
        for o in self.history.event_ids() {
            for (row, more) in hb.iter_mut().zip(self.happens_before(o)) {
                row.iter_mut().zip(more).for_each(|(to, also)| *to |= also);
            }
        }
        close(&mut hb);
        let mut pww = hb.clone();
        for a in self.history.event_ids() {
            for b in self.history.event_ids() {
                pww[a.index()][b.index()] &= self.are_writes_of_one_address(a, b);
            }
        }
        for (a, b) in self.conflicts(&hb, |_| true) {
            pww[a.index()][b.index()] = true;
        }
        close(&mut pww);
        self.open_pairs(&pww)
    }
}

#[test]
fn open_pairs_are_those_of_the_definitions() {
    let mut compared = [0, 0];
    for shape in [Shape::plain(), Shape::causal()] {
        for (seed, history) in random_histories(&shape.with_events(16), 0..300) {
            let is_plain = |e: EventId| history.kinds_of(e) != history::Kinds::ALL;
            let is_bare = history.orders().is_empty() && history.finals().is_empty();
            if !is_bare || !history.is_unambiguous() || !history.event_ids().all(is_plain) {
                continue;
            }
            let definitions = Definitions::new(&history);
            for (i, model) in [Model::Ccv, Model::Ccm].into_iter().enumerate() {
                let verdict = verdict(&history, model);
                if !matches!(verdict.outcome, Outcome::Holds(_)) {
                    continue;
                }
                let open = match model {
                    Model::Ccv => definitions.open_after_ccv(),
                    _ => definitions.open_after_ccm(),
                };
                let found = verdict.stats.unordered_write_pairs;
                assert_eq!(found, Some(open), "{seed} {model}\n{}", text(&history));
                compared[i] += 1;
            }
        }
    }
    assert!(compared.iter().all(|&count| count > 50), "{compared:?}");
}

#[test]
fn ccm_leaves_open_what_is_concurrent_and_ccv_what_was_not_read_as_well() {
    // Both reads see 2 last, so 1 came before it for ccm by what thread 2 observed; for ccv
    // because the read of 1 comes before that of 2. Nobody saw 3.
    let history = parse_text(
        "0: x := 1
         1: x := 2
         2: x == 1
         2: x == 2
         3: x := 3",
    )
    .expect("the trace is well-formed");
    for model in [Model::Ccv, Model::Ccm, Model::Wccm] {
        let stats = verdict(&history, model).stats;
        assert_eq!(stats.write_pairs, Some(3), "{model}");
        assert_eq!(stats.unordered_write_pairs, Some(2), "{model}");
    }
    for model in [Model::Cc, Model::Cm] {
        let stats = verdict(&history, model).stats;
        assert_eq!((stats.write_pairs, stats.unordered_write_pairs), (None, None), "{model}");
    }
}

const MODELS: [Model; 5] = [Model::Cc, Model::Ccv, Model::Cm, Model::Ccm, Model::Wccm];

/// The verdict, with evidence that the kernel accepts.
fn is_consistent(history: &History, model: Model) -> bool {
    let outcome = verdict(history, model).outcome;
    let is_consistent = matches!(outcome, Outcome::Holds(_));
    let evidence = match outcome {
        Outcome::Holds(witness) => Evidence::Consistent(witness),
        Outcome::Broken(proof) => Evidence::Violation(proof),
        Outcome::Undecided(undecided) => panic!("{model}: {undecided:?}"),
    };
    let certificate = Certificate { trace: 1, model, evidence };
    if let Err(rejection) = certify::certify(history, &certificate) {
        panic!("{model}: {rejection}");
    }
    is_consistent
}

/// A trace of one sequential memory, with some lines at its end.
fn sequential(threads: usize, addresses: usize, events: usize, end: &str) -> History {
    let mut rng = Rng::new((threads * addresses + events) as u64);
    let mut memory = vec![0; addresses];
    let mut lines = String::new();
    for value in 1..=events {
        let (thread, at) = (rng.below(threads), rng.below(addresses));
        let held = memory[at];
        match rng.below(10) {
            0..3 => lines += &format!("{thread}: <M[{at}] == {held}; M[{at}] := {value}>\n"),
            3..6 => lines += &format!("{thread}: M[{at}] := {value}\n"),
            6..7 => lines += &format!("{thread}: sync\n"),
            _ => lines += &format!("{thread}: M[{at}] == {held}\n"),
        }
        if lines.lines().next_back().is_some_and(|line| line.contains(":=")) {
            memory[at] = value;
        }
    }
    parse_text(&(lines + end)).expect("the trace is well-formed")
}

#[test]
fn many_threads_and_many_addresses_satisfy_every_model() {
    for (threads, addresses) in [(40, 3), (3, 400), (25, 25), (1, 10)] {
        let history = sequential(threads, addresses, 1_500, "");
        for model in MODELS {
            assert!(is_consistent(&history, model), "{threads} {addresses} {model}");
        }
    }
}

/// What is appended to a long trace, and the verdicts on cc, ccv, cm, ccm, wccm.
const ENDINGS: [(&str, [bool; 5]); 5] = [
    (
        "0: x := 1
         0: x := 2
         0: y := 1
         1: y == 1
         1: x == 1",
        [false; 5],
    ),
    (
        "0: x := 1
         1: x := 2
         2: x == 1
         2: x == 2
         3: x == 2
         3: x == 1",
        [true, false, true, false, false],
    ),
    (
        "0: z := 1
         0: x := 1
         0: y := 1
         1: x := 2
         1: z == 0
         1: y == 1
         1: x == 2",
        [true, true, false, false, true],
    ),
    (
        "0: x := 1
         0: sync
         0: y == 0
         1: y := 1
         1: sync
         1: x == 0",
        [true, true, true, false, false],
    ),
    (
        "0: <x == 0; x := 1>
         1: <x == 0; x := 2>",
        [true, false, true, false, false],
    ),
];

#[test]
fn a_violation_at_the_end_of_a_long_trace_is_found_and_proved() {
    for (threads, addresses) in [(4, 4), (12, 40)] {
        for (end, expected) in ENDINGS {
            let history = sequential(threads, addresses, 2_000, end);
            let found = MODELS.map(|model| is_consistent(&history, model));
            assert_eq!(found, expected, "{threads} {addresses}\n{end}");
        }
    }
}

#[test]
fn pollers_of_one_flag_are_no_burden() {
    // Seven threads spin on a flag until it is set, and then read what it guards.
    let mut lines = String::new();
    for poller in 1..8 {
        lines += &format!("{poller}: flag == 0\n").repeat(3_000);
        lines += &format!("{poller}: flag == 1\n").repeat(3_000);
        lines += &format!("{poller}: data == 7\n");
    }
    lines += "0: data := 7\n0: flag := 1\n";
    let history = parse_text(&lines).expect("the trace is well-formed");
    for model in MODELS {
        let verdict = verdict(&history, model);
        assert!(matches!(verdict.outcome, Outcome::Holds(_)), "{model}");
        assert!(verdict.stats.inferred_edges < 100, "{model}: {:?}", verdict.stats);
    }
}
