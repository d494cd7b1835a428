//! Cycles as litmus tests of an architecture, in herdtools' format, as diy writes them.
//!
//! Each access becomes its instruction, registers are handed out as they are needed, and a dependency
//! goes through registers: `xor` of a value with itself into an address or a value, or a branch to the
//! next line. A fence that the architecture does not have becomes the weakest of its fences that orders
//! as much. What it has no instruction for is an error that names the edge.

mod program;

use std::fmt;
use std::str::FromStr;

pub use program::NotInLitmus;

use history::{AccessOrder, FenceName, Kinds, Value};

use super::cycle::{Cycle, finals};
use super::edge::{Access, Edge, Link, Relation};
use super::mark::{Dialect, Mark};
use super::place_name;

/// An architecture to write tests for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assembly {
    /// x86-64, source first.
    X86,
    /// RISC-V.
    RiscV,
    /// AArch64.
    AArch64,
}

impl Assembly {
    /// All of them, with the names that they are asked for by.
    pub const ALL: [(&'static str, Assembly); 3] =
        [("x86", Assembly::X86), ("riscv", Assembly::RiscV), ("aarch64", Assembly::AArch64)];

    /// The first word of a test.
    pub fn header(self) -> &'static str {
        match self {
            Assembly::X86 => "X86_64",
            Assembly::RiscV => "RISCV",
            Assembly::AArch64 => "AArch64",
        }
    }

    fn dialect(self) -> Dialect {
        match self {
            Assembly::RiscV => Dialect::RiscV,
            Assembly::X86 | Assembly::AArch64 => Dialect::Arm,
        }
    }

    /// The link of this architecture that orders as much as one of another.
    fn native(self, link: Link) -> Option<Link> {
        let (before, after) = match link {
            Link::Plain | Link::Address | Link::Data | Link::Control => return Some(link),
            Link::ControlIsb | Link::ControlFenceI => {
                return match self {
                    Assembly::RiscV => Some(Link::ControlFenceI),
                    Assembly::AArch64 => Some(Link::ControlIsb),
                    Assembly::X86 => None,
                };
            }
            Link::Named(FenceName::Instructions | FenceName::Isb) => {
                return match self {
                    Assembly::RiscV => Some(Link::Named(FenceName::Instructions)),
                    Assembly::AArch64 => Some(Link::Named(FenceName::Isb)),
                    Assembly::X86 => None,
                };
            }
            link => link.fence()?,
        };
        let is_tso = link == Link::Named(FenceName::Tso);
        Some(match self {
            Assembly::RiscV if is_tso => link,
            Assembly::RiscV => Link::fence_between(before, after),
            Assembly::AArch64 => match link {
                Link::Named(name) if !is_tso => Link::Named(name),
                _ if before == Kinds::READS => Link::Named(FenceName::DmbLd),
                _ if (before, after) == (Kinds::WRITES, Kinds::WRITES) => {
                    Link::Named(FenceName::DmbSt)
                }
                _ => Link::Named(FenceName::DmbSy),
            },
            Assembly::X86 if before.writes && after.reads => Link::MFence,
            Assembly::X86 if before == Kinds::READS => Link::LFence,
            Assembly::X86 => Link::SFence,
        })
    }

    /// The annotation of this architecture for one of another.
    fn native_mark(self, mark: Mark) -> Mark {
        match (self, mark.0) {
            (Assembly::X86, _) => Mark::PLAIN,
            (Assembly::RiscV, Some(AccessOrder::AcquirePc)) => Mark(Some(AccessOrder::Acquire)),
            _ => mark,
        }
    }
}

impl FromStr for Assembly {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Assembly::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known
            .map(|&(_, each)| each)
            .ok_or_else(|| format!("unknown architecture `{name}`; use x86, riscv or aarch64"))
    }
}

/// An edge that an architecture has no instruction for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotInAssembly {
    /// The architecture.
    pub assembly: Assembly,
    /// The edge.
    pub edge: Edge,
}

impl fmt::Display for NotInAssembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotInAssembly { assembly, edge } = self;
        write!(f, "{} has no instruction for the edge {edge}", assembly.header())
    }
}

impl std::error::Error for NotInAssembly {}

impl Cycle {
    /// The cycle with the fences and annotations of an architecture.
    pub fn native(&self, assembly: Assembly) -> Result<Cycle, NotInAssembly> {
        let native = |&edge: &Edge| {
            let relation = match edge.relation {
                Relation::Program { link, same_place, from, to } => {
                    let link = assembly.native(link).ok_or(NotInAssembly { assembly, edge })?;
                    let is_dependency = link.dependency().is_some();
                    if assembly == Assembly::X86 && is_dependency {
                        return Err(NotInAssembly { assembly, edge });
                    }
                    Relation::Program { link, same_place, from, to }
                }
                Relation::Exclusive if assembly == Assembly::X86 => Relation::Exchange,
                relation => relation,
            };
            Ok(Edge { relation, marks: edge.marks.map(|mark| assembly.native_mark(mark)) })
        };
        let edges: Result<Vec<Edge>, NotInAssembly> = self.edges().iter().map(native).collect();
        Ok(Cycle::new(edges?).expect("the ends of the edges are as they were"))
    }

    /// The test of the cycle for an architecture, as text.
    ///
    /// ```
    /// use tribunal_stress::{Assembly, Cycle};
    ///
    /// let cycle: Cycle = "PodWWPL RfeLA PodRRAP Fre".parse()?;
    /// let test = cycle.litmus(Assembly::RiscV)?;
    /// assert!(test.starts_with("RISCV MP+poprl+poaqp\n"), "{test}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn litmus(&self, assembly: Assembly) -> Result<String, NotInAssembly> {
        let cycle = self.native(assembly)?.starting_at_a_thread();
        let (places, values) = cycle.places_and_values();
        let dialect = assembly.dialect();
        let mut writer = Writer::new(assembly);
        let mut at = 0;
        while at < cycle.edges().len() {
            at = writer.access(cycle.edges(), &places, &values, at)?;
        }
        for (place, value) in finals(cycle.edges(), &places, &values) {
            writer.conditions.push(match assembly {
                Assembly::X86 => format!("[{}]={value}", place_name(place as usize)),
                _ => format!("{}={value}", place_name(place as usize)),
            });
        }
        let edges: Vec<String> = cycle.edges().iter().map(|edge| edge.spelled(dialect)).collect();
        Ok(writer.finish(&cycle.name_in(dialect), &edges.join(" ")))
    }
}

impl Link {
    /// The fence between two kinds.
    fn fence_between(before: Kinds, after: Kinds) -> Link {
        let named = format!("Fence.{}.{}", before.letters(), after.letters());
        Link::named(&named).expect("there is a fence between any two kinds")
    }
}

/// The test so far.
struct Writer {
    assembly: Assembly,
    /// Finished threads: initial registers and lines.
    threads: Vec<(Vec<String>, Vec<String>)>,
    initial: Vec<String>,
    code: Vec<String>,
    /// The address registers of this thread, by place.
    addresses: Vec<(u32, u32)>,
    next_register: u32,
    labels: u32,
    /// The register with what the thread read last.
    last_read: Option<u32>,
    conditions: Vec<String>,
    /// What places are called; beyond these, as generated programs call them.
    names: Vec<String>,
}

/// How an access is reached, once the lines for a dependency are written.
#[derive(Default)]
struct DependencyRegisters {
    /// A register with 0 that depends on what was read, to be added to the address.
    address: Option<u32>,
    /// The same, to be added to the value.
    data: Option<u32>,
}

impl Writer {
    fn new(assembly: Assembly) -> Self {
        Writer {
            assembly,
            threads: Vec::new(),
            initial: Vec::new(),
            code: Vec::new(),
            addresses: Vec::new(),
            next_register: 0,
            labels: 0,
            last_read: None,
            conditions: Vec::new(),
            names: Vec::new(),
        }
    }

    fn place(&self, place: u32) -> String {
        self.names.get(place as usize).cloned().unwrap_or_else(|| place_name(place as usize))
    }

    /// A register that nothing else uses; on RISC-V the first five have uses of their own.
    fn register(&mut self) -> u32 {
        self.next_register += 1;
        match self.assembly {
            Assembly::RiscV => self.next_register + 4,
            _ => self.next_register - 1,
        }
    }

    /// How a register is written as a value of 32 bits.
    fn value(&self, register: u32) -> String {
        match self.assembly {
            Assembly::RiscV => format!("x{register}"),
            Assembly::AArch64 => format!("W{register}"),
            Assembly::X86 => format!("%{}", X86_VALUES[register as usize % X86_VALUES.len()]),
        }
    }

    /// How a register is written as an address, and in initial states and conditions.
    fn whole(&self, register: u32) -> String {
        match self.assembly {
            Assembly::RiscV => format!("x{register}"),
            Assembly::AArch64 => format!("X{register}"),
            Assembly::X86 => X86_WHOLE[register as usize % X86_WHOLE.len()].to_owned(),
        }
    }

    fn address(&mut self, place: u32) -> u32 {
        if let Some(&(_, register)) = self.addresses.iter().find(|(known, _)| *known == place) {
            return register;
        }
        let register = self.register();
        let name = self.place(place);
        self.initial.push(format!("{}:{}={name};", self.threads.len(), self.whole(register)));
        self.addresses.push((place, register));
        register
    }

    /// Writes the access that an edge begins at, with what stands behind it. Returns the number of the
    /// next one.
    fn access(
        &mut self,
        edges: &[Edge],
        places: &[u32],
        values: &[Value],
        at: usize,
    ) -> Result<usize, NotInAssembly> {
        let edge = edges[at];
        let last = if edge.is_atomic() { at + 1 } else { at };
        let refused = NotInAssembly { assembly: self.assembly, edge };
        let means = match at.checked_sub(1).and_then(|before| edges[before].link()) {
            Some(link) => self.dependency(link),
            None => DependencyRegisters::default(),
        };
        let (mark, place) = (edge.marks[0], places[at]);
        let written = match (edge.from(), edge.relation) {
            (_, Relation::Exchange) => {
                self.swap(place, [values[at], values[last]], [mark, edges[last].marks[0]], &means)
            }
            (_, Relation::Exclusive) => {
                self.pair(place, [values[at], values[last]], [mark, edges[last].marks[0]], &means)
            }
            (Access::Read, _) => self.load(place, values[at], mark, &means),
            (Access::Write, _) => self.store(place, values[at], mark, &means),
        };
        written.ok_or(refused)?;
        if let Some(link) = edges[last].link() {
            self.behind(link);
        }
        if edges[last].is_external() {
            self.end_thread();
        }
        Ok(last + 1)
    }

    fn end_thread(&mut self) {
        let thread = (std::mem::take(&mut self.initial), std::mem::take(&mut self.code));
        self.threads.push(thread);
        self.addresses.clear();
        self.next_register = 0;
        self.last_read = None;
    }

    /// Writes what makes the next access depend on the last read.
    fn dependency(&mut self, link: Link) -> DependencyRegisters {
        let Some(read) = self.last_read else { return DependencyRegisters::default() };
        if !matches!(link, Link::Address | Link::Data) {
            return DependencyRegisters::default();
        }
        let zero = self.register();
        let (zero_name, read) = (self.value(zero), self.value(read));
        self.code.push(match self.assembly {
            Assembly::RiscV => format!("xor {zero_name},{read},{read}"),
            _ => format!("EOR {zero_name},{read},{read}"),
        });
        match link {
            Link::Address => DependencyRegisters { address: Some(zero), data: None },
            _ => DependencyRegisters { address: None, data: Some(zero) },
        }
    }

    /// A branch on what was read last, a fence.
    fn behind(&mut self, link: Link) {
        if let (Link::Control | Link::ControlIsb | Link::ControlFenceI, Some(read)) =
            (link, self.last_read)
        {
            let label = format!("LC{:02}", self.labels);
            self.labels += 1;
            let read = self.value(read);
            self.code.push(match self.assembly {
                Assembly::RiscV => format!("bne {read},x0,{label}"),
                _ => format!("CBNZ {read},{label}"),
            });
            self.code.push(format!("{label}:"));
        }
        let line = match (self.assembly, link.fence_name(), link.fence()) {
            (_, None, None) => return,
            (Assembly::RiscV, Some(FenceName::Tso), _) => "fence.tso".to_owned(),
            (Assembly::RiscV, Some(FenceName::Instructions), _) => "fence.i".to_owned(),
            (Assembly::RiscV, _, Some((before, after))) => {
                format!("fence {},{}", before.letters(), after.letters())
            }
            (_, Some(name), _) => match self.assembly {
                Assembly::X86 => name.spelling().to_owned(),
                _ => name.set_name().replace('.', " "),
            },
            _ => return,
        };
        self.code.push(line);
    }

    /// The address of an access, with lines that compute it; AArch64 can add a register in the access
    /// itself if that is plain.
    fn at(&mut self, place: u32, means: &DependencyRegisters, is_plain: bool) -> String {
        let base = self.address(place);
        let Some(offset) = means.address else {
            return match self.assembly {
                Assembly::RiscV => format!("0({})", self.whole(base)),
                Assembly::AArch64 => format!("[{}]", self.whole(base)),
                Assembly::X86 => format!("({})", self.place(place)),
            };
        };
        let (base, offset_name) = (self.whole(base), self.value(offset));
        match (self.assembly, is_plain) {
            (Assembly::AArch64, true) => format!("[{base},{offset_name},SXTW]"),
            (Assembly::AArch64, false) => {
                let sum = self.register();
                let sum = self.whole(sum);
                self.code.push(format!("ADD {sum},{base},{offset_name},SXTW"));
                format!("[{sum}]")
            }
            _ => {
                let sum = self.register();
                let sum = self.whole(sum);
                self.code.push(format!("add {sum},{base},{offset_name}"));
                format!("0({sum})")
            }
        }
    }

    /// A register with a value to be written.
    fn constant(&mut self, value: Value, means: &DependencyRegisters) -> String {
        let register = means.data.unwrap_or_else(|| self.register());
        let name = self.value(register);
        let line = match (self.assembly, means.data) {
            (Assembly::RiscV, None) => format!("ori {name},x0,{value}"),
            (Assembly::RiscV, Some(_)) => format!("ori {name},{name},{value}"),
            (Assembly::AArch64, None) => format!("MOV {name},#{value}"),
            (Assembly::AArch64, Some(_)) => format!("ADD {name},{name},#{value}"),
            (Assembly::X86, _) => format!("movl ${value},{name}"),
        };
        self.code.push(line);
        name
    }

    fn observe(&mut self, register: u32, value: Value) {
        let condition = format!("{}:{}={value}", self.threads.len(), self.whole(register));
        self.conditions.push(condition);
    }

    fn load(
        &mut self,
        place: u32,
        value: Value,
        mark: Mark,
        means: &DependencyRegisters,
    ) -> Option<()> {
        let at = self.at(place, means, mark == Mark::PLAIN);
        let to = self.register();
        let name = self.value(to);
        let line = match (self.assembly, mark.0) {
            (Assembly::RiscV, None) => format!("lw {name},{at}"),
            (Assembly::RiscV, Some(AccessOrder::Acquire)) => format!("lw.aq {name},{at}"),
            (Assembly::RiscV, Some(AccessOrder::AcquireRelease)) => {
                format!("amoor.w.aq.rl {name},x0,{}", at.trim_start_matches('0'))
            }
            (Assembly::AArch64, None) => format!("LDR {name},{at}"),
            (Assembly::AArch64, Some(AccessOrder::Acquire)) => format!("LDAR {name},{at}"),
            (Assembly::AArch64, Some(AccessOrder::AcquirePc)) => format!("LDAPR {name},{at}"),
            (Assembly::X86, None) => format!("movl {at},{name}"),
            _ => return None,
        };
        self.code.push(line);
        self.observe(to, value);
        self.last_read = Some(to);
        Some(())
    }

    fn store(
        &mut self,
        place: u32,
        value: Value,
        mark: Mark,
        means: &DependencyRegisters,
    ) -> Option<()> {
        let at = self.at(place, means, mark == Mark::PLAIN);
        if self.assembly == Assembly::X86 {
            self.code.push(format!("movl ${value},{at}"));
            return Some(());
        }
        let from = self.constant(value, means);
        let line = match (self.assembly, mark.0) {
            (Assembly::RiscV, None) => format!("sw {from},{at}"),
            (Assembly::RiscV, Some(AccessOrder::Release)) => format!("sw.rl {from},{at}"),
            (Assembly::RiscV, Some(AccessOrder::AcquireRelease)) => {
                format!("amoswap.w.aq.rl x0,{from},{}", at.trim_start_matches('0'))
            }
            (Assembly::AArch64, None) => format!("STR {from},{at}"),
            (Assembly::AArch64, Some(AccessOrder::Release)) => format!("STLR {from},{at}"),
            _ => return None,
        };
        self.code.push(line);
        Some(())
    }

    fn swap(
        &mut self,
        place: u32,
        values: [Value; 2],
        marks: [Mark; 2],
        means: &DependencyRegisters,
    ) -> Option<()> {
        self.exchange(["xchgl", "amoswap.w", "SWP"], place, values, marks, means)
    }

    fn fetch_add(
        &mut self,
        place: u32,
        values: [Value; 2],
        marks: [Mark; 2],
        means: &DependencyRegisters,
    ) -> Option<()> {
        self.exchange(["lock xaddl", "amoadd.w", "LDADD"], place, values, marks, means)
    }

    /// An atomic with one operand; its names on x86, RISC-V and AArch64.
    fn exchange(
        &mut self,
        names: [&str; 3],
        place: u32,
        values: [Value; 2],
        marks: [Mark; 2],
        means: &DependencyRegisters,
    ) -> Option<()> {
        let [x86, riscv, aarch64] = names;
        let at = self.at(place, means, false);
        let from = self.constant(values[1], means);
        let [acquires, releases] = marks.map(|mark| mark != Mark::PLAIN);
        if self.assembly == Assembly::X86 {
            self.code.push(format!("{x86} {from},{at}"));
            let register = X86_VALUES.iter().position(|name| from.ends_with(name))? as u32;
            self.observe(register, values[0]);
            return Some(());
        }
        let to = self.register();
        let name = self.value(to);
        let line = match self.assembly {
            Assembly::RiscV => {
                let (aq, rl) =
                    (if acquires { ".aq" } else { "" }, if releases { ".rl" } else { "" });
                format!("{riscv}{aq}{rl} {name},{from},{}", at.trim_start_matches('0'))
            }
            _ => {
                let (a, l) = (if acquires { "A" } else { "" }, if releases { "L" } else { "" });
                format!("{aarch64}{a}{l} {from},{name},{at}")
            }
        };
        self.code.push(line);
        self.observe(to, values[0]);
        self.last_read = Some(to);
        Some(())
    }

    /// Only AArch64 has one in one instruction that leaves other registers alone. `values` are what is
    /// read, expected and written.
    fn compare_and_swap(
        &mut self,
        place: u32,
        values: [Value; 3],
        marks: [Mark; 2],
        means: &DependencyRegisters,
    ) -> Option<()> {
        if self.assembly != Assembly::AArch64 {
            return None;
        }
        let at = self.at(place, means, false);
        let to = self.register();
        let name = self.value(to);
        self.code.push(format!("MOV {name},#{}", values[1]));
        let from = self.constant(values[2], means);
        let [a, l] = marks.map(|mark| mark != Mark::PLAIN);
        let (a, l) = (if a { "A" } else { "" }, if l { "L" } else { "" });
        self.code.push(format!("CAS{a}{l} {name},{from},{at}"));
        self.observe(to, values[0]);
        self.last_read = Some(to);
        Some(())
    }

    fn pair(
        &mut self,
        place: u32,
        values: [Value; 2],
        marks: [Mark; 2],
        means: &DependencyRegisters,
    ) -> Option<()> {
        let at = self.at(place, means, false);
        let (to, status) = (self.register(), self.register());
        let (name, status_name) = (self.value(to), self.value(status));
        let (acquires, releases) = (marks[0] != Mark::PLAIN, marks[1] != Mark::PLAIN);
        let (load, store) = match self.assembly {
            Assembly::RiscV => (
                if acquires { "lr.w.aq" } else { "lr.w" },
                if releases { "sc.w.rl" } else { "sc.w" },
            ),
            Assembly::AArch64 => {
                (if acquires { "LDAXR" } else { "LDXR" }, if releases { "STLXR" } else { "STXR" })
            }
            Assembly::X86 => return None,
        };
        self.code.push(format!("{load} {name},{at}"));
        let from = self.constant(values[1], means);
        self.code.push(format!("{store} {status_name},{from},{at}"));
        self.observe(to, values[0]);
        self.observe(status, 0);
        self.last_read = Some(to);
        Some(())
    }

    fn finish(self, name: &str, edges: &str) -> String {
        let head = format!("{} {name}\n\"{edges}\"\nOrig={edges}\n", self.assembly.header());
        self.text(head, String::new())
    }

    /// The test of a program, with the initial values of its places.
    fn finish_program(mut self, name: &str, initial: String) -> String {
        let name = match name {
            "" => "program".to_owned(),
            name => name.replace(char::is_whitespace, "-"),
        };
        if self.conditions.is_empty() {
            self.conditions.push("true".to_owned());
        }
        let head = format!("{} {name}\n", self.assembly.header());
        self.text(head, initial)
    }

    fn text(self, head: String, initial_values: String) -> String {
        let mut text = format!("{head}{{\n{initial_values}");
        for (initial, _) in self.threads.iter().filter(|(initial, _)| !initial.is_empty()) {
            if self.assembly != Assembly::X86 {
                text += &format!("{}\n", initial.join(" "));
            }
        }
        text += "}\n";
        let columns: Vec<Vec<String>> = self
            .threads
            .into_iter()
            .enumerate()
            .map(|(number, (_, code))| [vec![format!("P{number}")], code].concat())
            .collect();
        let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
        for row in 0..rows {
            let cells = columns.iter().map(|column| {
                let width = column.iter().map(String::len).max().unwrap_or(0);
                format!(" {:width$} ", column.get(row).map_or("", String::as_str))
            });
            text += &format!("{};\n", cells.collect::<Vec<_>>().join("|"));
        }
        text + &format!("exists ({})\n", self.conditions.join(" /\\ "))
    }
}

const X86_VALUES: [&str; 6] = ["eax", "ebx", "ecx", "edx", "esi", "edi"];
const X86_WHOLE: [&str; 6] = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi"];
