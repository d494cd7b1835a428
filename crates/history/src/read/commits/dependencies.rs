//! Syntactic dependencies through the registers of a hart, as the chapter on RVWMO of the
//! unprivileged manual defines them.
//!
//! A register depends on the accesses whose results went into it, through any arithmetic; whoever
//! overwrites it ends that. These sets are nodes of a graph that share their parts: joining two
//! costs one node, and only an access lists what is in its set. Everything before a fence that
//! orders reads before all that follows is forgotten, since the fence says the same.
//!
//! Control dependencies concern all later writes, so the sources of a hart are one growing list, kept
//! short by what is implied anyway (rules by their numbers in the manual):
//!
//! - A write lists only sources that are new since the last write of the same bytes: that write
//!   comes before this one (rule 1).
//! - A source that loads the same bytes again, with no write of its hart between and the same
//!   dependencies of its address, stands for the earlier one: either rule 2 orders the two, or both
//!   read from one write, and what is ordered before the one is ordered before the other.

use riscv::{Effect, Fence, Instruction, Register};
use rustc_hash::FxHashMap;

/// A set of accesses; none if 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Set(u32);

impl Set {
    pub(super) const NONE: Set = Set(0);
}

#[derive(Clone, Copy)]
enum Node {
    /// One access, as the number of its event.
    Access(u32),
    Join(Set, Set),
}

/// What may stand for an earlier source of control dependencies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Loaded {
    pub(super) address: u64,
    pub(super) size: u8,
    /// What its address depends on.
    pub(super) by: Set,
}

/// A source of control dependencies.
#[derive(Clone, Copy)]
struct Source {
    event: u32,
    /// Whether a later one stands for it.
    superseded: bool,
}

/// The dependencies of a hart.
pub(super) struct Dependencies {
    nodes: Vec<Node>,
    registers: [Set; Register::COUNT],
    /// Of control and status registers; those of floating-point numbers are one.
    status: FxHashMap<u16, Set>,
    /// What left-out memory depends on, by eight bytes.
    memory: FxHashMap<u64, Set>,
    control: Vec<Source>,
    /// What is in `control`, by event, as positions.
    controlling: FxHashMap<u32, usize>,
    /// The loads among the sources, by the bytes they load: position and load.
    loaded: FxHashMap<(u64, u8), (usize, Set)>,
    /// How each load event loaded, until the next fence.
    loads: FxHashMap<u32, Loaded>,
    /// By the bytes of a write: how many sources there were at the last write of them.
    written: FxHashMap<(u64, u8), usize>,
    /// The last write, by eight bytes.
    wrote: FxHashMap<u64, u32>,
    /// Whether a store-conditional is a source, which fences of reads do not order.
    conditional: bool,
}

const FLOAT_STATUS: u16 = 3;

/// `fflags`, `frm` and `fcsr` are parts of one register.
fn status(number: u16) -> u16 {
    if matches!(number, 1..=3) { FLOAT_STATUS } else { number }
}

impl Dependencies {
    pub(super) fn new() -> Self {
        Dependencies {
            nodes: vec![Node::Join(Set::NONE, Set::NONE)],
            registers: [Set::NONE; Register::COUNT],
            status: FxHashMap::default(),
            memory: FxHashMap::default(),
            control: Vec::new(),
            controlling: FxHashMap::default(),
            loaded: FxHashMap::default(),
            loads: FxHashMap::default(),
            written: FxHashMap::default(),
            wrote: FxHashMap::default(),
            conditional: false,
        }
    }

    fn node(&mut self, node: Node) -> Set {
        self.nodes.push(node);
        Set(self.nodes.len() as u32 - 1)
    }

    /// The set of one access.
    pub(super) fn only(&mut self, event: u32) -> Set {
        self.node(Node::Access(event))
    }

    pub(super) fn join(&mut self, a: Set, b: Set) -> Set {
        match (a, b) {
            (Set::NONE, other) | (other, Set::NONE) => other,
            (a, b) if a == b => a,
            (a, b) => self.node(Node::Join(a, b)),
        }
    }

    pub(super) fn of(&self, register: Register) -> Set {
        if register == Register::ZERO {
            return Set::NONE;
        }
        self.registers[register.index()]
    }

    pub(super) fn set(&mut self, register: Option<Register>, set: Set) {
        if let Some(register) = register {
            self.registers[register.index()] = set;
        }
    }

    /// The accesses of a set, sorted.
    pub(super) fn list(&self, set: Set) -> Vec<u32> {
        let mut list = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![set];
        while let Some(set) = open.pop() {
            if set == Set::NONE || !seen.insert(set.0) {
                continue;
            }
            match self.nodes[set.0 as usize] {
                Node::Access(event) => list.push(event),
                Node::Join(a, b) => open.extend([a, b]),
            }
        }
        list.sort_unstable();
        list.dedup();
        list
    }

    /// A register set_success_register whether a store-conditional succeeded.
    pub(super) fn set_success_register(&mut self, register: Option<Register>, event: u32) {
        if register.is_some() {
            let set = self.only(event);
            self.set(register, set);
            self.conditional = true;
        }
    }

    /// A fence orders earlier accesses before later ones. If that is all earlier sources before all
    /// that may follow, they are forgotten.
    pub(super) fn fence(&mut self, fence: Fence) {
        let reads = fence.orders(false, false) && fence.orders(false, true);
        let writes = fence.orders(true, false) && fence.orders(true, true);
        if reads && (writes || !self.conditional) {
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.nodes.truncate(1);
        self.registers = [Set::NONE; Register::COUNT];
        self.status.clear();
        self.memory.clear();
        self.control.clear();
        self.controlling.clear();
        self.loaded.clear();
        self.loads.clear();
        self.written.clear();
        self.wrote.clear();
        self.conditional = false;
    }

    /// What an instruction does that accesses no memory.
    pub(super) fn computes(&mut self, instruction: &Instruction) {
        let mut all = Set::NONE;
        for register in instruction.reads() {
            all = self.join(all, self.of(register));
        }
        match instruction.effect {
            Effect::Branch => self.branches(all),
            Effect::Jump => {
                self.branches(all);
                self.set(instruction.writes, Set::NONE);
            }
            Effect::Csr { number } => {
                let number = status(number);
                let old = self.status.get(&number).copied().unwrap_or_default();
                // `csrrw` overwrites, the others change.
                let overwrites = instruction.name.starts_with("csrrw") && number != FLOAT_STATUS;
                let new = if overwrites { all } else { self.join(old, all) };
                self.status.insert(number, new);
                self.set(instruction.writes, old);
            }
            _ => {
                if instruction.rounds_dynamically() || instruction.raises_float_flags() {
                    let flags = self.status.get(&FLOAT_STATUS).copied().unwrap_or_default();
                    if instruction.raises_float_flags() && all != Set::NONE {
                        let raised = self.join(flags, all);
                        self.status.insert(FLOAT_STATUS, raised);
                    }
                    if instruction.rounds_dynamically() {
                        all = self.join(all, flags);
                    }
                }
                self.set(instruction.writes, all);
            }
        }
    }

    /// A load has become an event.
    pub(super) fn loads(&mut self, event: u32, loaded: Loaded) {
        self.loads.insert(event, loaded);
    }

    /// Later writes are controlled by this.
    pub(super) fn branches(&mut self, set: Set) {
        if set == Set::NONE {
            return;
        }
        for event in self.list(set) {
            if self.controlling.contains_key(&event) {
                continue;
            }
            let position = self.control.len();
            self.control.push(Source { event, superseded: false });
            self.controlling.insert(event, position);
            if let Some(&Loaded { address, size, by }) = self.loads.get(&event) {
                let before = self.loaded.insert((address, size), (position, by));
                if let Some((earlier, its)) = before
                    && its == by
                    && self.control[earlier].event < event
                    && !self.wrote_since(self.control[earlier].event, address, size)
                {
                    self.control[earlier].superseded = true;
                }
            }
        }
    }

    /// What controls this write of these bytes and is not implied by an earlier one.
    pub(super) fn controls(&mut self, event: u32, address: u64, size: u8) -> Vec<u32> {
        let from = self.written.insert((address, size), self.control.len()).unwrap_or(0);
        let new = self.control[from..].iter().filter(|source| !source.superseded);
        let list = new.map(|source| source.event).collect();
        let (first, last) = chunks(address, size);
        for chunk in first..=last {
            self.wrote.insert(chunk, event);
        }
        list
    }

    /// Whether the hart has written near these bytes since an event.
    fn wrote_since(&self, event: u32, address: u64, size: u8) -> bool {
        let (first, last) = chunks(address, size);
        (first..=last).any(|chunk| self.wrote.get(&chunk).is_some_and(|&write| write > event))
    }

    /// What left-out memory depends on.
    pub(super) fn of_memory(&mut self, address: u64, size: u8) -> Set {
        let (first, last) = chunks(address, size);
        let mut all = Set::NONE;
        for chunk in first..=last {
            let part = self.memory.get(&chunk).copied().unwrap_or_default();
            all = self.join(all, part);
        }
        all
    }

    /// Left-out memory is written.
    pub(super) fn writes_memory(&mut self, address: u64, size: u8, set: Set) {
        let (first, last) = chunks(address, size);
        for chunk in first..=last {
            let whole = size == 8 && first == last;
            let old = self.memory.get(&chunk).copied().unwrap_or_default();
            let new = if whole { set } else { self.join(old, set) };
            self.memory.insert(chunk, new);
        }
    }
}

/// The pieces of eight bytes that an access touches.
pub(super) fn chunks(address: u64, size: u8) -> (u64, u64) {
    (address >> 3, address.saturating_add(u64::from(size.max(1)) - 1) >> 3)
}
