//! How an access of a cycle is annotated, with the letters of diy: `PodWWPL`, `RfeRlAq`.

use history::AccessOrder;

use super::edge::Access;

/// An annotation: acquire, acquirePC, release, or acquire and release.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Mark(pub Option<AccessOrder>);

/// Whose letters are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// `A`, `L`
    Arm,
    /// `Aq`, `Rl`
    RiscV,
}

impl Mark {
    /// No annotation.
    pub const PLAIN: Mark = Mark(None);

    /// Letters, with who writes them; of nobody for all.
    const LETTERS: [(&'static str, Option<Dialect>, Mark); 7] = [
        ("P", None, Mark::PLAIN),
        ("A", Some(Dialect::Arm), Mark(Some(AccessOrder::Acquire))),
        ("Aq", Some(Dialect::RiscV), Mark(Some(AccessOrder::Acquire))),
        ("L", Some(Dialect::Arm), Mark(Some(AccessOrder::Release))),
        ("Rl", Some(Dialect::RiscV), Mark(Some(AccessOrder::Release))),
        ("Q", None, Mark(Some(AccessOrder::AcquirePc))),
        ("AR", None, Mark(Some(AccessOrder::AcquireRelease))),
    ];

    /// Its letters.
    pub fn spelled(self, dialect: Dialect) -> &'static str {
        let is_meant = |&&(_, whose, mark): &&(&str, Option<Dialect>, Mark)| {
            mark == self && whose.is_none_or(|whose| whose == dialect)
        };
        Mark::LETTERS.iter().find(is_meant).map_or("P", |(letters, ..)| letters)
    }

    /// Whether an access can be annotated so: reads acquire, writes release.
    pub fn suits(self, access: Access) -> bool {
        match self.0 {
            Some(AccessOrder::Acquire | AccessOrder::AcquirePc) => access == Access::Read,
            Some(AccessOrder::Release) => access == Access::Write,
            None | Some(AccessOrder::AcquireRelease | AccessOrder::Sequential) => true,
        }
    }

    /// The mark that a name ends with, and what stands before it.
    pub(super) fn split(name: &str) -> Option<(&str, Mark)> {
        let ends = |&(letters, _, mark): &(&str, Option<Dialect>, Mark)| {
            Some((name.strip_suffix(letters)?, mark))
        };
        Mark::LETTERS.iter().filter_map(ends).min_by_key(|(rest, _)| rest.len())
    }
}
