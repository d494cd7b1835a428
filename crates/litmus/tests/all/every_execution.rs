//! Small random tests for RISC-V and AArch64 have the outcomes that trying every execution finds:
//! every value for every read, every store-conditional with and without success, every order of
//! writes, each put to the definition of the model. The events and their dependencies are made here,
//! from what the instructions are to do and not from the text that the library reads.

use std::collections::BTreeSet;

use cat::{Action, Atomicity, CatEvent, CatModel, Choice, Execution, Link};
use history::{AccessOrder, DependencyKind, FenceName, Kinds, Operation};
use oracle::Rng;
use tribunal_litmus::{Architecture, Limits, outcomes_by_file, parse};

/// Something a thread does; registers and locations are numbers.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// A constant, perhaps as a release, perhaps at an address that depends on a register.
    Store {
        at: usize,
        value: u64,
        release: bool,
        by: Option<usize>,
    },
    Load {
        at: usize,
        to: usize,
        acquire: bool,
        by: Option<usize>,
    },
    /// Stores a register.
    Copy {
        at: usize,
        from: usize,
    },
    /// Stores a register if another holds 0, else a constant, without a branch. RISC-V copies.
    Pick {
        at: usize,
        from: usize,
        value: u64,
    },
    /// Branches on a register to where it goes anyway.
    Branch {
        on: usize,
    },
    /// Stores a constant unless the register holds something else than 0.
    Unless {
        at: usize,
        on: usize,
        value: u64,
    },
    Swap {
        at: usize,
        to: usize,
        value: u64,
        order: Option<AccessOrder>,
    },
    /// A load-reserved and a store-conditional.
    Pair {
        at: usize,
        to: usize,
        value: u64,
    },
    Fence(usize),
}

/// The fences of each architecture.
const RISCV_FENCES: [(&str, Fence); 5] = [
    ("fence rw,rw", Fence::Kinds(Kinds::ALL, Kinds::ALL)),
    ("fence r,rw", Fence::Kinds(Kinds::READS, Kinds::ALL)),
    ("fence rw,w", Fence::Kinds(Kinds::ALL, Kinds::WRITES)),
    ("fence.tso", Fence::Named(FenceName::Tso)),
    ("fence.i", Fence::Named(FenceName::Instructions)),
];
const ARM_FENCES: [(&str, Fence); 5] = [
    ("DMB SY", Fence::Named(FenceName::DmbSy)),
    ("DMB LD", Fence::Named(FenceName::DmbLd)),
    ("DMB ST", Fence::Named(FenceName::DmbSt)),
    ("DSB ST", Fence::Named(FenceName::DsbSt)),
    ("ISB", Fence::Named(FenceName::Isb)),
];

#[derive(Clone, Copy)]
enum Fence {
    Kinds(Kinds, Kinds),
    Named(FenceName),
}

impl Fence {
    fn action(self) -> Action {
        match self {
            Fence::Kinds(before, after) => Action::Fence { before, after, name: None },
            Fence::Named(name) => match name.operation() {
                Operation::Fence { before, after } => {
                    Action::Fence { before, after, name: Some(name) }
                }
                _ => unreachable!(),
            },
        }
    }
}

fn random_act(rng: &mut Rng, value: &mut u64) -> Act {
    let (at, register) = (rng.below(2), rng.below(2));
    let by = (rng.below(4) == 0).then_some(1 - register);
    let mut fresh = || {
        *value += 1;
        *value
    };
    match rng.below(22) {
        0..4 => Act::Store { at, value: fresh(), release: rng.below(4) == 0, by },
        4..10 => Act::Load { at, to: register, acquire: rng.below(4) == 0, by },
        10..12 => Act::Copy { at, from: register },
        12 => Act::Branch { on: register },
        13 => Act::Unless { at, on: register, value: fresh() },
        14 | 15 => {
            let orders = [
                None,
                Some(AccessOrder::Acquire),
                Some(AccessOrder::Release),
                Some(AccessOrder::AcquireRelease),
            ];
            Act::Swap { at, to: register, value: fresh(), order: orders[rng.below(4)] }
        }
        16 => Act::Pair { at, to: register, value: fresh() },
        17 | 18 => Act::Pick { at, from: register, value: fresh() },
        _ => Act::Fence(rng.below(5)),
    }
}

/// The text of an act. The locations are in registers 20 and 21, the values in 5 and 6.
fn cells(architecture: Architecture, index: usize, act: Act) -> Vec<String> {
    match architecture {
        Architecture::AArch64 => arm_cells(index, act),
        _ => riscv_cells(index, act),
    }
}

fn riscv_cells(index: usize, act: Act) -> Vec<String> {
    let register = |register: usize| format!("x{}", 5 + register);
    let location = |at: usize| format!("x{}", 20 + at);
    // The register with the address, and what computes it.
    let address = |at: usize, by: Option<usize>| match by {
        None => (Vec::new(), location(at)),
        Some(by) => {
            let by = register(by);
            let cells = vec![format!("xor x11,{by},{by}"), format!("add x11,x11,{}", location(at))];
            (cells, "x11".to_owned())
        }
    };
    match act {
        Act::Store { at, value, release, by } => {
            let (mut cells, address) = address(at, by);
            let rl = if release { ".rl" } else { "" };
            cells.push(format!("ori x10,x0,{value}"));
            cells.push(format!("sw{rl} x10,0({address})"));
            cells
        }
        Act::Load { at, to, acquire, by } => {
            let (mut cells, address) = address(at, by);
            let aq = if acquire { ".aq" } else { "" };
            cells.push(format!("lw{aq} {},0({address})", register(to)));
            cells
        }
        Act::Copy { at, from } | Act::Pick { at, from, .. } => {
            vec![format!("sw {},0({})", register(from), location(at))]
        }
        Act::Branch { on } => {
            vec![format!("bne {},x0,L{index}", register(on)), format!("L{index}:")]
        }
        Act::Unless { at, on, value } => vec![
            format!("bne {},x0,L{index}", register(on)),
            format!("li x10,{value}"),
            format!("sw x10,0({})", location(at)),
            format!("L{index}:"),
        ],
        Act::Swap { at, to, value, order } => {
            let suffix = match order {
                None => "",
                Some(AccessOrder::Acquire) => ".aq",
                Some(AccessOrder::Release) => ".rl",
                Some(_) => ".aq.rl",
            };
            vec![
                format!("li x10,{value}"),
                format!("amoswap.w{suffix} {},x10,({})", register(to), location(at)),
            ]
        }
        Act::Pair { at, to, value } => vec![
            format!("li x10,{value}"),
            format!("lr.w {},0({})", register(to), location(at)),
            format!("sc.w x12,x10,0({})", location(at)),
        ],
        Act::Fence(kind) => vec![RISCV_FENCES[kind].0.to_owned()],
    }
}

fn arm_cells(index: usize, act: Act) -> Vec<String> {
    let register = |register: usize| format!("W{}", 5 + register);
    let address = |at: usize, by: Option<usize>| match by {
        None => (Vec::new(), format!("[X{}]", 20 + at)),
        Some(by) => {
            let by = register(by);
            // Each computes 0, and the register depends on `by`.
            let zero = [
                format!("EOR W11,{by},{by}"),
                format!("BICS W11,{by},{by}"),
                format!("SUB W11,{by},{by},LSL #0"),
                format!("AND W11,WZR,{by},LSR #3"),
            ];
            (vec![zero[index % 4].clone()], format!("[X{},W11,SXTW]", 20 + at))
        }
    };
    match act {
        Act::Store { at, value, release, by } => {
            // A release has no index.
            let (mut cells, address) = address(at, by.filter(|_| !release));
            cells.push(format!("MOV W10,#{value}"));
            cells.push(format!("{} W10,{address}", if release { "STLR" } else { "STR" }));
            cells
        }
        Act::Load { at, to, acquire, by } => {
            let (mut cells, address) = address(at, by.filter(|_| !acquire));
            let name = if acquire { "LDAR" } else { "LDR" };
            cells.push(format!("{name} {},{address}", register(to)));
            cells
        }
        Act::Copy { at, from } => vec![format!("STR {},[X{}]", register(from), 20 + at)],
        Act::Pick { at, from, value } => {
            let (from, on) = (register(from), register(1 - from));
            // The change of the last operand makes the constant of it.
            let select = match index % 3 {
                0 => [format!("MOV W10,#{value}"), format!("CSEL W11,{from},W10,EQ")],
                1 => [format!("MOV W10,#{}", value - 1), format!("CSINC W11,{from},W10,EQ")],
                _ => [format!("MOV W10,#-{value}"), format!("CSNEG W11,{from},W10,EQ")],
            };
            let [constant, select] = select;
            vec![format!("CMP {on},#0"), constant, select, format!("STR W11,[X{}]", 20 + at)]
        }
        Act::Branch { on } => {
            let branch = match index % 3 {
                0 => format!("CBNZ {},L{index}", register(on)),
                1 => format!("TBNZ {},#3,L{index}", register(on)),
                _ => format!("TBZ {},#0,L{index}", register(on)),
            };
            vec![branch, format!("L{index}:")]
        }
        Act::Unless { at, on, value } => vec![
            format!("CMP {},#0", register(on)),
            format!("B.NE L{index}"),
            format!("MOV W10,#{value}"),
            format!("STR W10,[X{}]", 20 + at),
            format!("L{index}:"),
        ],
        Act::Swap { at, to, value, order } => {
            let letters = match order {
                None => "",
                Some(AccessOrder::Acquire) => "A",
                Some(AccessOrder::Release) => "L",
                Some(_) => "AL",
            };
            vec![
                format!("MOV W10,#{value}"),
                format!("SWP{letters} W10,{},[X{}]", register(to), 20 + at),
            ]
        }
        Act::Pair { at, to, value } => vec![
            format!("MOV W10,#{value}"),
            format!("LDXR {},[X{}]", register(to), 20 + at),
            format!("STXR W12,W10,[X{}]", 20 + at),
        ],
        Act::Fence(kind) => vec![ARM_FENCES[kind].0.to_owned()],
    }
}

fn text(architecture: Architecture, threads: &[Vec<Act>]) -> String {
    let letter = if architecture == Architecture::RiscV { 'x' } else { 'X' };
    let mut text = format!("{architecture} random\n{{\n");
    for thread in 0..threads.len() {
        text += &format!(" {thread}:{letter}20=x; {thread}:{letter}21=y;\n");
    }
    text += "}\n";
    let columns: Vec<Vec<String>> = threads
        .iter()
        .map(|acts| {
            let all = acts.iter().enumerate();
            all.flat_map(|(index, &act)| cells(architecture, index, act)).collect()
        })
        .collect();
    let names: Vec<String> = (0..threads.len()).map(|thread| format!("P{thread}")).collect();
    text += &format!("{} ;\n", names.join(" | "));
    for row in 0..columns.iter().map(Vec::len).max().unwrap() {
        let cells: Vec<&str> =
            columns.iter().map(|column| column.get(row).map_or("", String::as_str)).collect();
        text += &format!("{} ;\n", cells.join(" | "));
    }
    text += "locations [";
    for thread in 0..threads.len() {
        text += &format!("{thread}:{letter}5; {thread}:{letter}6;");
    }
    text + "x; y;]\nexists (x=0)\n"
}

/// A run of one thread: its events with their values, and the registers at the end.
#[derive(Clone, Default)]
struct Run {
    events: Vec<(CatEvent, u64, u64)>,
    links: Vec<(Link, usize, usize)>,
    registers: [u64; 2],
    sources: [BTreeSet<usize>; 2],
    control: BTreeSet<usize>,
    /// What picked the registers, and what the thread wrote last to each location.
    picked: [BTreeSet<usize>; 2],
    picked_at: [BTreeSet<usize>; 2],
}

impl Run {
    fn push(&mut self, event: CatEvent, read: u64, written: u64, by: Option<usize>) -> usize {
        let number = self.events.len();
        if let Some(by) = by {
            self.control.extend(&self.picked[by]);
        }
        let mut link = |kind, from: &BTreeSet<usize>| {
            self.links.extend(from.iter().map(|&from| (Link::Dependency(kind), from, number)));
        };
        if let Some(by) = by {
            link(DependencyKind::Address, &self.sources[by]);
        }
        link(DependencyKind::Control, &self.control);
        self.events.push((event, read, written));
        number
    }

    fn data(&mut self, from: usize, to: usize) {
        let sources = self.sources[from].iter();
        let kind = Link::Dependency(DependencyKind::Data);
        self.links.extend(sources.map(|&source| (kind, source, to)));
    }

    /// The data of a write are picked by these: the manual orders them as it does a write behind a
    /// branch.
    fn picks(&mut self, by: &BTreeSet<usize>, to: usize) {
        let kind = Link::Dependency(DependencyKind::Control);
        self.links.extend(by.iter().map(|&source| (kind, source, to)));
    }

    /// The registers after a read of a location, which an earlier write of the thread may have been
    /// picked for.
    fn returns(&mut self, to: usize, value: u64, by: usize, at: usize) {
        self.registers[to] = value;
        self.sources[to] = BTreeSet::from([by]);
        self.picked[to] = self.picked_at[at].clone();
    }

    /// Writes after an acquire come after what its location was picked by.
    fn acquires(&mut self, at: usize) {
        self.control.extend(&self.picked_at[at]);
    }
}

struct Oracle<'a> {
    architecture: Architecture,
    threads: &'a [Vec<Act>],
    values: Vec<u64>,
}

impl Oracle<'_> {
    fn runs(&self, thread: usize) -> Vec<Run> {
        let mut runs = vec![Run::default()];
        for (index, &act) in self.threads[thread].iter().enumerate() {
            let go_on = |run: &Run| self.act(thread as u32, 10 * index as u32, act, run);
            runs = runs.iter().flat_map(go_on).collect();
        }
        runs
    }

    /// All ways to do something after a run.
    fn act(&self, thread: u32, place: u32, act: Act, before: &Run) -> Vec<Run> {
        let is_arm = self.architecture == Architecture::AArch64;
        let event = |place, action, at| CatEvent::new(thread, place, action, at);
        let mut run = before.clone();
        match act {
            Act::Store { at, value, release, by } => {
                let by = by.filter(|_| !(is_arm && release));
                let order = release.then_some(AccessOrder::Release);
                let write = CatEvent { order, ..event(place, Action::Write, Some(at)) };
                run.push(write, 0, value, by);
                run.picked_at[at] = by.map_or(BTreeSet::new(), |by| run.picked[by].clone());
                vec![run]
            }
            Act::Copy { at, from } => {
                let value = run.registers[from];
                let to = run.push(event(place, Action::Write, Some(at)), 0, value, None);
                run.data(from, to);
                let by = run.picked[from].clone();
                run.picks(&by, to);
                run.picked_at[at] = by;
                vec![run]
            }
            Act::Pick { at, from, .. } if !is_arm => {
                self.act(thread, place, Act::Copy { at, from }, before)
            }
            Act::Pick { at, from, value } => {
                let on = 1 - from;
                let is_taken = run.registers[on] == 0;
                let value = if is_taken { run.registers[from] } else { value };
                let to = run.push(event(place, Action::Write, Some(at)), 0, value, None);
                let mut by = &run.sources[on] | &run.picked[on];
                if is_taken {
                    run.data(from, to);
                    by.extend(&run.picked[from]);
                }
                run.picks(&by, to);
                run.picked_at[at] = by;
                vec![run]
            }
            Act::Load { at, to, acquire, by } => {
                let by = by.filter(|_| !(is_arm && acquire));
                let order = acquire.then_some(AccessOrder::Acquire);
                let read = CatEvent { order, ..event(place, Action::Read, Some(at)) };
                self.guessed(|value| {
                    let mut run = before.clone();
                    let number = run.push(read, value, 0, by);
                    if acquire {
                        run.acquires(at);
                    }
                    run.returns(to, value, number, at);
                    vec![run]
                })
            }
            Act::Branch { on } => {
                run.control.extend(&run.sources[on] | &run.picked[on]);
                vec![run]
            }
            Act::Unless { at, on, value } => {
                run.control.extend(&run.sources[on] | &run.picked[on]);
                if run.registers[on] == 0 {
                    run.push(event(place, Action::Write, Some(at)), 0, value, None);
                    run.picked_at[at].clear();
                }
                vec![run]
            }
            Act::Swap { at, to, value, order } => self.guessed(|read| {
                let mut run = before.clone();
                let atomic = |action, order| CatEvent {
                    order,
                    atomicity: Atomicity::Atomic,
                    ..event(place, action, Some(at))
                };
                if !is_arm {
                    let number = run.push(atomic(Action::Update, order), read, value, None);
                    run.returns(to, read, number, at);
                    return vec![run];
                }
                let both = order == Some(AccessOrder::AcquireRelease);
                let acquires = both || order == Some(AccessOrder::Acquire);
                let releases = both || order == Some(AccessOrder::Release);
                let acquires = acquires.then_some(AccessOrder::Acquire);
                let releases = releases.then_some(AccessOrder::Release);
                let number = run.push(atomic(Action::Read, acquires), read, 0, None);
                if acquires.is_some() {
                    run.acquires(at);
                }
                let write = run.push(atomic(Action::Write, releases), 0, value, None);
                run.links.push((Link::Atomic, number, write));
                run.returns(to, read, number, at);
                run.picked_at[at].clear();
                vec![run]
            }),
            Act::Pair { at, to, value } => self.guessed(|read| {
                let exclusive = |place, action| CatEvent {
                    atomicity: Atomicity::Exclusive,
                    ..event(place, action, Some(at))
                };
                let mut failed = before.clone();
                let number = failed.push(exclusive(place, Action::Read), read, 0, None);
                failed.returns(to, read, number, at);
                let mut run = failed.clone();
                let write = run.push(exclusive(place + 1, Action::Write), 0, value, None);
                run.links.push((Link::Exclusive, number, write));
                run.picked_at[at].clear();
                vec![failed, run]
            }),
            Act::Fence(kind) => {
                let fences = if is_arm { ARM_FENCES } else { RISCV_FENCES };
                run.push(event(place, fences[kind].1.action(), None), 0, 0, None);
                vec![run]
            }
        }
    }

    fn guessed(&self, with: impl Fn(u64) -> Vec<Run>) -> Vec<Run> {
        self.values.iter().flat_map(|&value| with(value)).collect()
    }

    /// The final states under a model: registers of all threads, then x and y.
    fn states(&self, model: &CatModel) -> BTreeSet<Vec<u64>> {
        let mut found = BTreeSet::new();
        let runs: Vec<Vec<Run>> = (0..self.threads.len()).map(|thread| self.runs(thread)).collect();
        let mut chosen = vec![0; runs.len()];
        loop {
            let combined: Vec<&Run> = runs.iter().zip(&chosen).map(|(of, &at)| &of[at]).collect();
            executions(&combined, model, &mut found);
            let next = (0..chosen.len()).find(|&at| chosen[at] + 1 < runs[at].len());
            let Some(next) = next else { return found };
            chosen[next] += 1;
            chosen[..next].fill(0);
        }
    }
}

/// Every way in which the reads of these runs may have got their values, and every order of writes.
fn executions(runs: &[&Run], model: &CatModel, found: &mut BTreeSet<Vec<u64>>) {
    let mut execution = Execution {
        events: vec![CatEvent::initial(0), CatEvent::initial(1)],
        ..Execution::default()
    };
    let mut values = vec![(0, 0); 2];
    for run in runs {
        let first = execution.events.len();
        execution.events.extend(run.events.iter().map(|each| each.0));
        values.extend(run.events.iter().map(|each| (each.1, each.2)));
        let links = run.links.iter();
        execution.links.extend(links.map(|&(link, from, to)| (link, first + from, first + to)));
    }
    let count = execution.events.len();
    let event = |at: usize| execution.events[at];
    let sources: Vec<(usize, Vec<usize>)> = (0..count)
        .filter(|&read| event(read).is_read())
        .map(|read| {
            let writes = (0..count).filter(|&write| {
                let (to, from) = (event(read), event(write));
                write != read
                    && from.is_write()
                    && from.address == to.address
                    && values[write].1 == values[read].0
            });
            (read, writes.collect())
        })
        .collect();
    let writes = |address| {
        let all = (2..count).filter(move |&at| event(at).is_write());
        all.filter(move |&at| event(at).address == Some(address)).collect::<Vec<usize>>()
    };
    let orders = [permutations(&writes(0)), permutations(&writes(1))];
    execution.sources = sources;
    for reads_from in products(&execution.sources) {
        for x in &orders[0] {
            for y in &orders[1] {
                let last = |order: &[usize]| order.last().map_or(0, |&write| values[write].1);
                let registers = runs.iter().flat_map(|run| run.registers);
                let state: Vec<u64> = registers.chain([last(x), last(y)]).collect();
                let write_orders = vec![x.clone(), y.clone()];
                let choice = Choice { reads_from: reads_from.clone(), write_orders };
                if !found.contains(&state) && cat::allows(model, &execution, &choice) {
                    found.insert(state);
                }
            }
        }
    }
}

fn products(sources: &[(usize, Vec<usize>)]) -> Vec<Vec<(usize, usize)>> {
    sources.iter().fold(vec![Vec::new()], |so_far, (read, writes)| {
        let with = |one: &Vec<(usize, usize)>, write: usize| {
            one.iter().copied().chain([(*read, write)]).collect::<Vec<_>>()
        };
        let all = so_far.iter();
        all.flat_map(|one| writes.iter().map(move |&write| with(one, write))).collect()
    })
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = items.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for shorter in permutations(rest) {
        for at in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(at, first);
            all.push(longer);
        }
    }
    all
}

fn random_threads(seed: u64) -> (Vec<Vec<Act>>, Vec<u64>) {
    let mut rng = Rng::new(seed);
    let mut value = 0;
    let threads: Vec<Vec<Act>> = (0..2)
        .map(|_| (0..2 + rng.below(2)).map(|_| random_act(&mut rng, &mut value)).collect())
        .collect();
    (threads, (0..=value).collect())
}

/// How many tests are tried for each model; `TRIBUNAL_TRIALS` overrides it for long runs.
fn trials() -> u64 {
    std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(60)
}

fn compare(architecture: Architecture, names: &[&str]) {
    let models: Vec<CatModel> = names.iter().map(|name| CatModel::shipped(name).unwrap()).collect();
    let mut states = 0;
    for seed in 0..trials() {
        let (threads, values) = random_threads(seed);
        let oracle = Oracle { architecture, threads: &threads, values };
        let text = text(architecture, &threads);
        let test = parse(&text).unwrap_or_else(|problem| panic!("{}\n{text}", problem.message));
        for (model, name) in models.iter().zip(names) {
            let found = outcomes_by_file(&test, model, &Limits::NONE).unwrap();
            let mut ours = BTreeSet::new();
            found.each(|state| ours.insert(state.to_vec()));
            assert_eq!(ours, oracle.states(model), "seed {seed} under {name}:\n{text}");
            states += ours.len() as u64;
        }
    }
    assert!(states > 2 * trials(), "the tests have hardly an outcome");
}

#[test]
fn random_tests_for_riscv_have_the_outcomes_of_every_execution() {
    compare(Architecture::RiscV, &["rvwmo", "rvtso", "coherence"]);
}

#[test]
fn random_tests_for_aarch64_have_the_outcomes_of_every_execution() {
    compare(Architecture::AArch64, &["aarch64", "aarch64-2020", "ra"]);
}
