//! The edges that litmus tests are made of, with the names that diy gives them.
//!
//! An edge joins two accesses. Program-order edges stay in a thread: `PodWR` goes from a write to
//! a later read of another place (d: different, s: same), `MFencedWR` has a fence between the two,
//! `DpAddrdR` an address dependency. Communication edges stay at a place: `Rfe` from a write to a
//! read of it, `Fre` from a read to the write that overwrites what it read, `Coe` (or `Wse`) from
//! a write to the next one; e: to another thread, i: within one. `Exch` joins the read and the
//! write of an atomic swap, `LxSx` those of an exclusive pair. Both ends of an edge may be annotated:
//! `PodWWPL` goes from a plain write to a releasing one.

use std::fmt;
use std::str::FromStr;

use history::{DependencyKind, FenceName, Kinds, Operation};

use super::mark::{Dialect, Mark};

/// One end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Access {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// How an access of a thread is joined to a later one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Link {
    /// Nothing but program order (`Pod`, `Pos`).
    Plain,
    /// A full fence (`MFence`).
    MFence,
    /// A fence between writes (`SFence`).
    SFence,
    /// A fence from reads to everything (`LFence`).
    LFence,
    /// A full fence, by another name (`Sync`).
    Sync,
    /// A fence between these kinds (`Fence.r.rw`), as numbers into `Link::KINDS`.
    Fence(u8, u8),
    /// A fence by the name of its instruction (`DMB.LD`, `Fence.tso`).
    Named(FenceName),
    /// An address dependency (`DpAddr`).
    Address,
    /// A data dependency (`DpData`).
    Data,
    /// A control dependency (`DpCtrl`).
    Control,
    /// A control dependency and an ISB behind it (`DpCtrlIsb`).
    ControlIsb,
    /// A control dependency and a `fence.i` behind it (`DpCtrlFenceI`).
    ControlFenceI,
}

impl Link {
    const KINDS: [(&'static str, Kinds); 3] =
        [("r", Kinds::READS), ("w", Kinds::WRITES), ("rw", Kinds::ALL)];

    /// The fences that are called what their instruction is called.
    pub const FENCES: [FenceName; 9] = [
        FenceName::Tso,
        FenceName::Instructions,
        FenceName::DmbSy,
        FenceName::DmbLd,
        FenceName::DmbSt,
        FenceName::DsbSy,
        FenceName::DsbLd,
        FenceName::DsbSt,
        FenceName::Isb,
    ];

    /// Links with a name of their own.
    const NAMED: [(&'static str, Link); 9] = [
        ("MFence", Link::MFence),
        ("SFence", Link::SFence),
        ("LFence", Link::LFence),
        ("Sync", Link::Sync),
        ("DpAddr", Link::Address),
        ("DpData", Link::Data),
        ("DpCtrl", Link::Control),
        ("DpCtrlIsb", Link::ControlIsb),
        ("DpCtrlFenceI", Link::ControlFenceI),
    ];

    /// The kinds of accesses that the fence orders, if there is a fence.
    pub fn fence(self) -> Option<(Kinds, Kinds)> {
        match self {
            Link::MFence | Link::Sync => Some((Kinds::ALL, Kinds::ALL)),
            Link::SFence => Some((Kinds::WRITES, Kinds::WRITES)),
            Link::LFence => Some((Kinds::READS, Kinds::ALL)),
            Link::Fence(before, after) => {
                Some((Link::KINDS[before as usize].1, Link::KINDS[after as usize].1))
            }
            Link::ControlIsb | Link::ControlFenceI | Link::Named(_) => {
                match self.fence_name()?.operation() {
                    Operation::Fence { before, after } => Some((before, after)),
                    _ => None,
                }
            }
            Link::Plain | Link::Address | Link::Data | Link::Control => None,
        }
    }

    /// The name of the fence, if it has one.
    pub fn fence_name(self) -> Option<FenceName> {
        match self {
            Link::MFence => Some(FenceName::Mfence),
            Link::SFence => Some(FenceName::Sfence),
            Link::LFence => Some(FenceName::Lfence),
            Link::Named(name) => Some(name),
            Link::ControlIsb => Some(FenceName::Isb),
            Link::ControlFenceI => Some(FenceName::Instructions),
            _ => None,
        }
    }

    /// How the later access depends on the earlier one, if it does.
    pub fn dependency(self) -> Option<DependencyKind> {
        match self {
            Link::Address => Some(DependencyKind::Address),
            Link::Data => Some(DependencyKind::Data),
            Link::Control | Link::ControlIsb | Link::ControlFenceI => Some(DependencyKind::Control),
            _ => None,
        }
    }

    /// The short name in the name of a test.
    pub(crate) fn short(self) -> String {
        match self {
            Link::Plain => "po".to_owned(),
            Link::Address => "addr".to_owned(),
            Link::Data => "data".to_owned(),
            Link::Control => "ctrl".to_owned(),
            Link::ControlIsb => "ctrlisb".to_owned(),
            Link::ControlFenceI => "ctrlfencei".to_owned(),
            fence => fence.to_string().to_lowercase(),
        }
    }

    pub(super) fn named(name: &str) -> Option<Link> {
        if let Some((before, after)) =
            name.strip_prefix("Fence.").and_then(|kinds| kinds.split_once('.'))
        {
            let number = |kinds| Link::KINDS.iter().position(|(name, _)| *name == kinds);
            return Some(Link::Fence(number(before)? as u8, number(after)? as u8));
        }
        let of_name = || Link::FENCES.into_iter().find(|fence| fence.set_name() == name);
        let known = Link::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, link)| link);
        known.or_else(|| of_name().map(Link::Named))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Link::Plain => f.write_str("Po"),
            Link::Fence(before, after) => {
                let name = |number: u8| Link::KINDS[number as usize].0;
                write!(f, "Fence.{}.{}", name(before), name(after))
            }
            Link::Named(name) => f.write_str(name.set_name()),
            link => {
                let named = Link::NAMED.iter().find(|&&(_, known)| known == link);
                f.write_str(named.map_or("", |(name, _)| name))
            }
        }
    }
}

/// How values go from one access to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Communication {
    /// Reads-from.
    ReadsFrom,
    /// From-read.
    FromRead,
    /// Coherence, the order of the writes of a place.
    Coherence,
}

/// An edge of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// How it joins its ends.
    pub relation: Relation,
    /// How its ends are annotated.
    pub marks: [Mark; 2],
}

/// How an edge joins two accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// From an access to a later one of its thread.
    Program {
        /// What joins them.
        link: Link,
        /// Whether they are of one place.
        same_place: bool,
        /// The earlier.
        from: Access,
        /// The later.
        to: Access,
    },
    /// From an access to another of its place.
    Communicates {
        /// How.
        how: Communication,
        /// Whether the other is of another thread.
        external: bool,
    },
    /// From the read to the write of an atomic swap.
    Exchange,
    /// From the read to the write of an exclusive pair.
    Exclusive,
}

impl From<Relation> for Edge {
    fn from(relation: Relation) -> Self {
        Edge { relation, marks: [Mark::PLAIN; 2] }
    }
}

impl Edge {
    /// The default set of edges: program order and communication.
    pub const BASIC: [Edge; 7] = {
        const fn plain(relation: Relation) -> Edge {
            Edge { relation, marks: [Mark::PLAIN; 2] }
        }
        const fn po(from: Access, to: Access) -> Edge {
            plain(Relation::Program { link: Link::Plain, same_place: false, from, to })
        }
        const fn external(how: Communication) -> Edge {
            plain(Relation::Communicates { how, external: true })
        }
        [
            po(Access::Read, Access::Read),
            po(Access::Read, Access::Write),
            po(Access::Write, Access::Read),
            po(Access::Write, Access::Write),
            external(Communication::ReadsFrom),
            external(Communication::FromRead),
            external(Communication::Coherence),
        ]
    };

    /// The access it begins at.
    pub fn from(self) -> Access {
        match self.relation {
            Relation::Program { from, .. } => from,
            Relation::Communicates { how: Communication::FromRead, .. }
            | Relation::Exchange
            | Relation::Exclusive => Access::Read,
            Relation::Communicates { .. } => Access::Write,
        }
    }

    /// The access it ends at.
    pub fn to(self) -> Access {
        match self.relation {
            Relation::Program { to, .. } => to,
            Relation::Communicates { how: Communication::ReadsFrom, .. } => Access::Read,
            Relation::Communicates { .. } | Relation::Exchange | Relation::Exclusive => {
                Access::Write
            }
        }
    }

    /// Whether it goes to another thread.
    pub fn is_external(self) -> bool {
        matches!(self.relation, Relation::Communicates { external: true, .. })
    }

    /// Whether it goes to another place.
    pub fn changes_place(self) -> bool {
        matches!(self.relation, Relation::Program { same_place: false, .. })
    }

    /// How its later end depends on its earlier one, fences aside: what joins them in a thread.
    pub fn link(self) -> Option<Link> {
        match self.relation {
            Relation::Program { link, .. } => Some(link),
            _ => None,
        }
    }

    /// Whether its ends are one instruction or one pair.
    pub fn is_atomic(self) -> bool {
        matches!(self.relation, Relation::Exchange | Relation::Exclusive)
    }

    /// The edge with annotated ends.
    #[must_use]
    pub fn marked(self, marks: [Mark; 2]) -> Edge {
        Edge { marks, ..self }
    }

    /// The short name in the name of a test.
    pub(crate) fn short(self, dialect: Dialect) -> String {
        let name = match self.relation {
            Relation::Program { link, same_place, .. } => {
                link.short() + if same_place { "s" } else { "" }
            }
            Relation::Exchange => "rmw".to_owned(),
            communication => communication.to_string().to_lowercase(),
        };
        name + &self.spelled_marks(dialect).to_lowercase()
    }

    /// Its name, as the tests of an architecture spell it.
    pub fn spelled(self, dialect: Dialect) -> String {
        format!("{}{}", self.relation, self.spelled_marks(dialect))
    }

    fn spelled_marks(self, dialect: Dialect) -> String {
        match self.marks {
            [Mark::PLAIN, Mark::PLAIN] => String::new(),
            [from, to] => [from.spelled(dialect), to.spelled(dialect)].concat(),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "R",
            Access::Write => "W",
        })
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelled(Dialect::Arm))
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Relation::Program { link, same_place, from, to } => {
                let place = if same_place { "s" } else { "d" };
                match link.dependency().is_some() {
                    true => write!(f, "{link}{place}{to}"),
                    false => write!(f, "{link}{place}{from}{to}"),
                }
            }
            Relation::Communicates { how, external } => {
                let how = match how {
                    Communication::ReadsFrom => "Rf",
                    Communication::FromRead => "Fr",
                    Communication::Coherence => "Co",
                };
                write!(f, "{how}{}", if external { "e" } else { "i" })
            }
            Relation::Exchange => f.write_str("Exch"),
            Relation::Exclusive => f.write_str("LxSx"),
        }
    }
}

/// A name that no edge has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownEdge(pub String);

impl fmt::Display for UnknownEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown edge `{}`; the edges are PodRR, PodRW, PodWR, PodWW and PosRR to PosWW, with \
             a fence MFencedWR, SFencedWW, LFencedRR, SyncdWR, Fence.w.rdWR, Fence.tsodRR, \
             DMB.SYdWR, DMB.LDdRR, DMB.STdWW, ISBdRR (s for d: same place), with a dependency \
             DpAddrdR, DpAddrdW, DpDatadW, DpCtrldW, DpCtrlIsbdR, DpCtrlFenceIdR, and Rfe, Fre, \
             Coe, Rfi, Fri, Coi, Exch, LxSx; both ends may be annotated, P plain, A or Aq acquire, \
             Q acquirePC, L or Rl release, AR both: PodWWPL, RfeLA",
            self.0
        )
    }
}

impl std::error::Error for UnknownEdge {}

impl FromStr for Edge {
    type Err = UnknownEdge;

    fn from_str(name: &str) -> Result<Self, UnknownEdge> {
        parse(name).ok_or_else(|| UnknownEdge(name.to_owned()))
    }
}

fn parse(name: &str) -> Option<Edge> {
    if let Some(relation) = parse_relation(name) {
        return Some(relation.into());
    }
    let (rest, to) = Mark::split(name)?;
    let (rest, from) = Mark::split(rest)?;
    let edge = Edge { relation: parse_relation(rest)?, marks: [from, to] };
    (from.suits(edge.from()) && to.suits(edge.to())).then_some(edge)
}

fn parse_relation(name: &str) -> Option<Relation> {
    let communicates = |how, external| Some(Relation::Communicates { how, external });
    match name {
        "Rfe" => return communicates(Communication::ReadsFrom, true),
        "Rfi" => return communicates(Communication::ReadsFrom, false),
        "Fre" => return communicates(Communication::FromRead, true),
        "Fri" => return communicates(Communication::FromRead, false),
        "Coe" | "Wse" => return communicates(Communication::Coherence, true),
        "Coi" | "Wsi" => return communicates(Communication::Coherence, false),
        "Exch" | "Rmw" | "Amo.Swp" => return Some(Relation::Exchange),
        "LxSx" => return Some(Relation::Exclusive),
        _ => {}
    }
    let (rest, to) = split_access(name)?;
    if rest.starts_with("Dp") {
        let (link, same_place) = split_place(rest)?;
        let link = Link::named(link).filter(|link| link.dependency().is_some())?;
        // A read returns a value that cannot depend on data.
        let suits = to == Access::Write || link != Link::Data;
        let from = Access::Read;
        return suits.then_some(Relation::Program { link, same_place, from, to });
    }
    let (rest, from) = split_access(rest)?;
    let (link, same_place) = split_place(rest)?;
    let link = match link {
        "Po" => Link::Plain,
        named => Link::named(named).filter(|link| link.dependency().is_none())?,
    };
    Some(Relation::Program { link, same_place, from, to })
}

fn split_access(name: &str) -> Option<(&str, Access)> {
    let rest = name.strip_suffix('R').map(|rest| (rest, Access::Read));
    rest.or_else(|| name.strip_suffix('W').map(|rest| (rest, Access::Write)))
}

fn split_place(name: &str) -> Option<(&str, bool)> {
    let different = name.strip_suffix('d').map(|rest| (rest, false));
    different.or_else(|| name.strip_suffix('s').map(|rest| (rest, true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_called_as_diy_calls_them() {
        for name in [
            "PodRR",
            "PosWW",
            "MFencedWR",
            "SFencedWW",
            "LFencedRR",
            "SyncdRW",
            "Fence.r.rwsRR",
            "DpAddrdR",
            "DpDatadW",
            "DpCtrlsW",
            "Rfe",
            "Rfi",
            "Fre",
            "Fri",
            "Coe",
            "Coi",
            "Exch",
            "LxSx",
            "DMB.SYdWR",
            "Fence.tsodRR",
            "Fence.idWW",
            "ISBdRR",
            "DpCtrlIsbdR",
            "DpCtrlFenceIsW",
            "PodWWPL",
            "PodRRQP",
            "RfeLA",
            "LxSxAL",
            "PodRWARAR",
        ] {
            assert_eq!(name.parse::<Edge>().map(|edge| edge.to_string()), Ok(name.to_owned()));
        }
        assert_eq!("Wse".parse(), "Coe".parse::<Edge>());
        assert_eq!("PodRRAP".parse::<Edge>(), "PodRRAqP".parse());
        assert_eq!("PodWWPRl".parse::<Edge>(), "PodWWPL".parse());
        for name in [
            "",
            "Pod",
            "PodRX",
            "PoxRR",
            "DpPodrR",
            "Fence.x.rdRR",
            "é",
            "DpAddrR",
            "DpDatadR",
            "PodRRL",
            "PodRRLP",
            "PodWWPA",
        ] {
            assert_eq!(name.parse::<Edge>(), Err(UnknownEdge(name.to_owned())));
        }
    }
}
