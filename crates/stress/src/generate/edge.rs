//! The edges that litmus tests are made of, with the names that diy gives them.
//!
//! An edge joins two accesses. Program-order edges stay in a thread: `PodWR` goes from a write to
//! a later read of another place (d: different, s: same), `MFencedWR` has a fence between the two,
//! `DpAddrdR` an address dependency. Communication edges stay at a place: `Rfe` from a write to a
//! read of it, `Fre` from a read to the write that overwrites what it read, `Coe` (or `Wse`) from
//! a write to the next one; e: to another thread, i: within one. `Exch` joins the read and the
//! write of an atomic swap.

use std::fmt;
use std::str::FromStr;

use history::Kinds;

/// What one end of an edge is.
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
    /// An address dependency (`DpAddr`).
    Address,
    /// A data dependency (`DpData`).
    Data,
    /// A control dependency (`DpCtrl`).
    Control,
}

impl Link {
    const KINDS: [(&'static str, Kinds); 3] =
        [("r", Kinds::READS), ("w", Kinds::WRITES), ("rw", Kinds::ALL)];

    /// Links with a name of their own.
    const NAMED: [(&'static str, Link); 7] = [
        ("MFence", Link::MFence),
        ("SFence", Link::SFence),
        ("LFence", Link::LFence),
        ("Sync", Link::Sync),
        ("DpAddr", Link::Address),
        ("DpData", Link::Data),
        ("DpCtrl", Link::Control),
    ];

    /// What the fence orders, if there is one.
    pub(crate) fn fence(self) -> Option<(Kinds, Kinds)> {
        match self {
            Link::MFence | Link::Sync => Some((Kinds::ALL, Kinds::ALL)),
            Link::SFence => Some((Kinds::WRITES, Kinds::WRITES)),
            Link::LFence => Some((Kinds::READS, Kinds::ALL)),
            Link::Fence(before, after) => {
                Some((Link::KINDS[before as usize].1, Link::KINDS[after as usize].1))
            }
            Link::Plain | Link::Address | Link::Data | Link::Control => None,
        }
    }

    /// Whether the later access depends on the earlier one.
    pub(crate) fn is_dependency(self) -> bool {
        matches!(self, Link::Address | Link::Data | Link::Control)
    }

    /// What it is called in the name of a test.
    pub(crate) fn short(self) -> String {
        match self {
            Link::Plain => "po".to_owned(),
            Link::Address => "addr".to_owned(),
            Link::Data => "data".to_owned(),
            Link::Control => "ctrl".to_owned(),
            fence => fence.to_string().to_lowercase(),
        }
    }

    fn named(name: &str) -> Option<Link> {
        if let Some(kinds) = name.strip_prefix("Fence.") {
            let (before, after) = kinds.split_once('.')?;
            let number = |kinds| Link::KINDS.iter().position(|(name, _)| *name == kinds);
            return Some(Link::Fence(number(before)? as u8, number(after)? as u8));
        }
        Link::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, link)| link)
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
pub enum Edge {
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
}

impl Edge {
    /// What a set of edges is if nothing else is said: program order and communication.
    pub const BASIC: [Edge; 7] = {
        const fn po(from: Access, to: Access) -> Edge {
            Edge::Program { link: Link::Plain, same_place: false, from, to }
        }
        const fn external(how: Communication) -> Edge {
            Edge::Communicates { how, external: true }
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
        match self {
            Edge::Program { from, .. } => from,
            Edge::Communicates { how: Communication::FromRead, .. } | Edge::Exchange => {
                Access::Read
            }
            Edge::Communicates { .. } => Access::Write,
        }
    }

    /// The access it ends at.
    pub fn to(self) -> Access {
        match self {
            Edge::Program { to, .. } => to,
            Edge::Communicates { how: Communication::ReadsFrom, .. } => Access::Read,
            Edge::Communicates { .. } | Edge::Exchange => Access::Write,
        }
    }

    /// Whether it goes to another thread.
    pub fn is_external(self) -> bool {
        matches!(self, Edge::Communicates { external: true, .. })
    }

    /// Whether it goes to another place.
    pub fn changes_place(self) -> bool {
        matches!(self, Edge::Program { same_place: false, .. })
    }

    /// What it is called in the name of a test.
    pub(crate) fn short(self) -> String {
        match self {
            Edge::Program { link, same_place, .. } => {
                link.short() + if same_place { "s" } else { "" }
            }
            Edge::Exchange => "rmw".to_owned(),
            communication => communication.to_string().to_lowercase(),
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
        match *self {
            Edge::Program { link, same_place, from, to } => {
                let place = if same_place { "s" } else { "d" };
                match link.is_dependency() {
                    true => write!(f, "{link}{place}{to}"),
                    false => write!(f, "{link}{place}{from}{to}"),
                }
            }
            Edge::Communicates { how, external } => {
                let how = match how {
                    Communication::ReadsFrom => "Rf",
                    Communication::FromRead => "Fr",
                    Communication::Coherence => "Co",
                };
                write!(f, "{how}{}", if external { "e" } else { "i" })
            }
            Edge::Exchange => f.write_str("Exch"),
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
            "there is no edge `{}`; there are PodRR, PodRW, PodWR, PodWW and PosRR to PosWW, with \
             a fence MFencedWR, SFencedWW, LFencedRR, SyncdWR, Fence.w.rdWR (s for d: same place), \
             with a dependency DpAddrdR, DpAddrdW, DpDatadW, DpCtrldW, and Rfe, Fre, Coe, Rfi, \
             Fri, Coi, Exch",
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
    let communicates = |how, external| Some(Edge::Communicates { how, external });
    match name {
        "Rfe" => return communicates(Communication::ReadsFrom, true),
        "Rfi" => return communicates(Communication::ReadsFrom, false),
        "Fre" => return communicates(Communication::FromRead, true),
        "Fri" => return communicates(Communication::FromRead, false),
        "Coe" | "Wse" => return communicates(Communication::Coherence, true),
        "Coi" | "Wsi" => return communicates(Communication::Coherence, false),
        "Exch" | "Rmw" => return Some(Edge::Exchange),
        _ => {}
    }
    let (rest, to) = split_access(name)?;
    if rest.starts_with("Dp") {
        let (link, same_place) = split_place(rest)?;
        let link = Link::named(link).filter(|link| link.is_dependency())?;
        return Some(Edge::Program { link, same_place, from: Access::Read, to });
    }
    let (rest, from) = split_access(rest)?;
    let (link, same_place) = split_place(rest)?;
    let link = match link {
        "Po" => Link::Plain,
        named => Link::named(named)?,
    };
    Some(Edge::Program { link, same_place, from, to })
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
        ] {
            assert_eq!(name.parse::<Edge>().map(|edge| edge.to_string()), Ok(name.to_owned()));
        }
        assert_eq!("Wse".parse(), "Coe".parse::<Edge>());
        for name in ["", "Pod", "PodRX", "PoxRR", "DpPodrR", "Fence.x.rdRR", "é", "DpAddrR"] {
            assert_eq!(name.parse::<Edge>(), Err(UnknownEdge(name.to_owned())));
        }
    }
}
