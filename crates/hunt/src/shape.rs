//! What a violation looks like, whatever its threads, places and values are called.
//!
//! Two minimal traces have one shape if renaming threads, places and the values of each place makes
//! them equal: `Wa1 Rb0 | Wb1 Ra0` is store buffering. Places are called a, b, … and values 1, 2, …
//! as they first appear, 0 is the initial value; of all orders of the threads the one whose text is
//! the greatest counts (writers come first, as is the custom). `U` is an atomic update with what it
//! read and wrote, `F` a fence, `@0` a dependency on the thread's event 0, `; a=1` what is there at
//! the end, or the later of two writes. Up to [`MOST_THREADS`] threads all orders are tried; beyond, shapes may be distinguished
//! that are one.
//!
//! Shapes of the classical litmus tests have their names: the table is made from the cycles that
//! `stress` enumerates.

use std::fmt::Write;
use std::sync::OnceLock;

use history::{
    AddressId, Event, EventId, History, Kinds, Operation, OrderChain, Source, ThreadId, Value,
};
use rustc_hash::FxHashMap;
use stress::{Edge, Outcome, Test, cycles};

/// With at most this many threads, all orders are tried: 120 for five.
const MOST_THREADS: usize = 5;

/// The shape of a history, as text.
///
/// ```
/// let history = history::parse_text("7: y := 5\n7: x == 0\n3: x := 9\n3: y == 0")?;
/// assert_eq!(tribunal_hunt::shape(&history), "Wa1 Rb0 | Wb1 Ra0");
/// # Ok::<(), history::InputError>(())
/// ```
pub fn shape(history: &History) -> String {
    let threads: Vec<ThreadId> =
        history.threads().filter(|&thread| !history.thread_range(thread).is_empty()).collect();
    if threads.len() > MOST_THREADS {
        return ShapeBuilder::of(history, &threads);
    }
    let orders = permutations(threads.len()).into_iter();
    let drawn = orders.map(|order| {
        let threads: Vec<ThreadId> = order.into_iter().map(|at| threads[at]).collect();
        ShapeBuilder::of(history, &threads)
    });
    drawn.max().unwrap_or_default()
}

/// All orders of `count` things.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for new in 0..count {
        let longer = all.iter().flat_map(|order: &Vec<usize>| {
            (0..=order.len()).map(move |at| {
                let mut order = order.clone();
                order.insert(at, new);
                order
            })
        });
        all = longer.collect();
    }
    all
}

/// A shape being drawn: what has been named so far.
struct ShapeBuilder<'a> {
    history: &'a History,
    places: Vec<AddressId>,
    values: FxHashMap<(AddressId, Value), usize>,
    used: FxHashMap<AddressId, usize>,
    text: String,
}

impl<'a> ShapeBuilder<'a> {
    fn of(history: &'a History, threads: &[ThreadId]) -> String {
        let mut drawing = ShapeBuilder {
            history,
            places: Vec::new(),
            values: FxHashMap::default(),
            used: FxHashMap::default(),
            text: String::new(),
        };
        for (at, &thread) in threads.iter().enumerate() {
            drawing.text.push_str(if at == 0 { "" } else { " | " });
            for (at, event) in history.thread_events(thread).enumerate() {
                drawing.text.push_str(if at == 0 { "" } else { " " });
                drawing.event(event);
            }
        }
        drawing.remarks();
        drawing.text
    }

    fn event(&mut self, id: EventId) {
        let event = self.history.event(id);
        let word = match event.operation {
            Operation::Read { address, value } => {
                format!("R{}{}", self.place(address), self.value(address, value))
            }
            Operation::Write { address, value } => {
                format!("W{}{}", self.place(address), self.value(address, value))
            }
            Operation::ReadModifyWrite { address, read, write } => {
                let place = self.place(address);
                let read = self.value(address, read);
                format!("U{place}{read},{}", self.value(address, write))
            }
            Operation::Fence { before, after } if (before, after) == (Kinds::ALL, Kinds::ALL) => {
                "F".to_owned()
            }
            Operation::Fence { before, after } => {
                format!("F{},{}", before.letters(), after.letters())
            }
        };
        self.text.push_str(&word);
        for on in self.history.dependencies_of(id) {
            let _ = write!(self.text, "@{}", self.history.event(on).index);
        }
    }

    /// The initial, final and order facts, by place.
    fn remarks(&mut self) {
        let mut remarks = Vec::new();
        for last in self.history.finals() {
            let place = self.place(last.address);
            remarks.push(format!("{place}={}", self.value(last.address, last.value)));
        }
        for chain in self.history.orders() {
            if let Some(last) = self.last_of_all(chain) {
                // An order of all writes says no more than which was the last, if there are two.
                let place = self.place(chain.address);
                remarks.push(format!("{place}={}", self.value(chain.address, last)));
                continue;
            }
            let place = self.place(chain.address);
            let initial = self.history.address(chain.address).initial;
            let values = chain.writes.iter().map(|&write| match write {
                Source::Initial => initial,
                Source::Write(event) => written(&self.history.event(event)),
            });
            let values: Vec<Value> = values.collect();
            let names = values.into_iter().map(|value| self.value(chain.address, value));
            let names: Vec<String> = names.map(|name| name.to_string()).collect();
            remarks.push(format!("{place}:{}", names.join("<")));
        }
        remarks.sort_unstable();
        for (at, remark) in remarks.iter().enumerate() {
            let between = match (at, self.history.is_empty()) {
                (0, true) => "",
                (0, false) => " ; ",
                _ => " ",
            };
            let _ = write!(self.text, "{between}{remark}");
        }
    }

    /// The last write of two, if a chain orders them, there are no other writes, and no `final`
    /// line names it.
    fn last_of_all(&self, chain: &OrderChain) -> Option<Value> {
        let [Source::Write(one), Source::Write(last)] = *chain.writes.as_slice() else {
            return None;
        };
        let writes = &self.history.address(chain.address).writes;
        let said = self.history.finals().iter().any(|last| last.address == chain.address);
        let all = writes.len() == 2 && writes.contains(&one) && writes.contains(&last);
        (all && !said).then(|| written(&self.history.event(last)))
    }

    fn place(&mut self, address: AddressId) -> String {
        let known = self.places.iter().position(|&place| place == address);
        let at = known.unwrap_or_else(|| {
            self.places.push(address);
            self.places.len() - 1
        });
        let letter = char::from(b'a' + (at % 26) as u8);
        if at < 26 { letter.to_string() } else { format!("{letter}.{}.", at / 26) }
    }

    fn value(&mut self, address: AddressId, value: Value) -> usize {
        if value == self.history.address(address).initial {
            return 0;
        }
        let used = self.used.entry(address).or_default();
        *self.values.entry((address, value)).or_insert_with(|| {
            *used += 1;
            *used
        })
    }
}

fn written(event: &Event) -> Value {
    event.operation.value_written().unwrap_or_default()
}

/// Shapes that no cycle of two threads has, with the names of their patterns: those of coherence
/// within a thread, and of atomicity.
const OTHERS: [(&str, &str); 7] = [
    ("Wa1 Wa2 ; a=1", "CoWW"),
    ("Wa1 ; a=0", "lost-write"),
    ("Wa1 Ra0", "CoWR"),
    ("Ra1 Wa1", "CoRW1"),
    ("Ua1,1", "CoRW1"),
    ("Ua0,1 | Ua0,2", "lost-update"),
    ("Ua0,1 Ua0,2", "lost-update"),
];

/// The name of a minimal trace: that of the litmus test if its shape is one's, `thin-air` if it
/// has a value that nobody wrote, else what its threads do, as in `WW+RR`.
///
/// ```
/// let name = |text| history::parse_text(text).map(|history| tribunal_hunt::name(&history));
/// assert_eq!(name("1: x := 1\n1: y := 1\n0: y == 1\n0: x == 0")?, "MP");
/// assert_eq!(name("0: x := 1\n0: x := 2\n1: x == 2\n1: x == 1")?, "WW+RR");
/// # Ok::<(), history::InputError>(())
/// ```
pub fn name(history: &History) -> String {
    let from_nowhere =
        |event: &EventId| history.kinds_of(*event).reads && history.sources(*event).is_empty();
    if history.event_ids().any(|event| from_nowhere(&event))
        || history.finals().iter().any(|last| last.sources.is_empty())
    {
        return "thin-air".to_owned();
    }
    let shape = shape(history);
    match classical().get(&shape) {
        Some(name) => name.clone(),
        None => ends(&shape),
    }
}

/// `WW+RR` of `Wa1 Wa2 | Ra2 Ra1`.
fn ends(shape: &str) -> String {
    let events = shape.split(" ; ").next().unwrap_or_default();
    let letters = |thread: &str| -> String {
        thread.split(' ').filter_map(|event| event.chars().next()).collect()
    };
    let threads: Vec<String> = events.split(" | ").map(letters).collect();
    threads.join("+")
}

/// The shapes of litmus tests with their names.
fn classical() -> &'static FxHashMap<String, String> {
    static NAMES: OnceLock<FxHashMap<String, String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut names: FxHashMap<String, String> =
            OTHERS.iter().map(|&(shape, name)| (shape.to_owned(), name.to_owned())).collect();
        for (more, size) in SETS {
            let more = more.split_whitespace().map(|name| name.parse());
            let more = more.map(|edge| edge.expect("it is the name of an edge"));
            let edges: Vec<Edge> = Edge::BASIC.into_iter().chain(more).collect();
            for cycle in cycles(&edges, size) {
                let test = cycle.test();
                if let Some(shape) = shape_of(&test) {
                    names.entry(shape).or_insert(test.program.name);
                }
            }
        }
        names
    })
}

/// Edges beside program order and communication, and the size of cycles that get a name.
const SETS: [(&str, usize); 6] = [
    ("", 6),
    ("PosRR PosRW PosWR PosWW", 4),
    ("MFencedRR MFencedRW MFencedWR MFencedWW", 4),
    ("Exch", 5),
    ("DpAddrdR DpAddrdW", 4),
    ("MFencedWR", 6),
];

/// The shape of the outcome that a litmus test is about.
fn shape_of(test: &Test) -> Option<String> {
    let condition = test.condition.as_ref()?;
    let reads = condition.reads.iter().map(|&(_, _, value)| value).collect();
    let history = test.program.history(&Outcome { reads, finals: None }).ok()?;
    let mut text = Vec::new();
    history::write_text(&history, &mut text).ok()?;
    let mut text = String::from_utf8(text).ok()?.replace("check\n", "");
    for &(place, value) in &condition.finals {
        let label = &test.program.places.get(place as usize)?.label;
        let _ = writeln!(text, "final M[{label}] == {value}");
    }
    Some(shape(&history::parse_text(&text).ok()?))
}
