//! Mistakes that are made on purpose in a verification, to see whether they are noticed.

use tribunal_conform::Options;

use crate::mix::treats_values_alike;
use crate::protocol::{Protocol, Rule, Start};

/// A mistake that is made on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sabotage {
    Nothing,
    /// Data independence and free values are taken for granted.
    IndependenceAssumed,
    /// Only cycles of one processor are looked for.
    ShortCyclesOnly,
    /// What is loaded while stores are pending is not looked at.
    PendingLeftOut,
    /// Start states that are not all of one value are left out.
    StartsLeftOut,
    /// The last rule is left out.
    RuleLeftOut,
    /// Nothing is stored if there is more than one value.
    ValuesLeftOut,
}

impl Sabotage {
    pub(crate) const ALL: [Sabotage; 6] = [
        Sabotage::IndependenceAssumed,
        Sabotage::ShortCyclesOnly,
        Sabotage::PendingLeftOut,
        Sabotage::StartsLeftOut,
        Sabotage::RuleLeftOut,
        Sabotage::ValuesLeftOut,
    ];

    /// Whether the mistake may make a difference to what is said of a protocol.
    pub(crate) fn concerns(self, protocol: &Protocol) -> bool {
        match self {
            Sabotage::Nothing => false,
            Sabotage::IndependenceAssumed => !treats_values_alike(protocol),
            Sabotage::ShortCyclesOnly => protocol.addresses > 1 && protocol.shape == "buffered",
            Sabotage::PendingLeftOut => protocol.shape == "buffered",
            Sabotage::StartsLeftOut => {
                protocol.start == Start::Unequal && protocol.mentions("cache[")
            }
            Sabotage::RuleLeftOut | Sabotage::ValuesLeftOut => !protocol.twists.is_empty(),
        }
    }

    /// The protocol that is asked about instead of this one, and how.
    pub(crate) fn done(self, protocol: &Protocol, options: &mut Options) -> Protocol {
        let mut asked = protocol.clone();
        match self {
            Sabotage::Nothing => {}
            Sabotage::IndependenceAssumed => options.assume_independence = true,
            Sabotage::ShortCyclesOnly => options.only = Some(1),
            Sabotage::PendingLeftOut if asked.shape == "buffered" => {
                let loads = |rule: &&mut Rule| matches!(rule.name, "load" | "peek");
                asked.rules.iter_mut().filter(loads).for_each(|rule| {
                    rule.guard.push("forall r: Proc do count[r] = 0 end".to_owned());
                });
            }
            Sabotage::PendingLeftOut => {}
            Sabotage::StartsLeftOut => {
                if matches!(asked.start, Start::Unequal | Start::EachAddress) {
                    asked.start = Start::Any;
                }
            }
            Sabotage::RuleLeftOut => drop(asked.rules.pop()),
            Sabotage::ValuesLeftOut => {
                let stores = |rule: &&mut Rule| rule.parameters.contains(&"v: Value");
                asked.rules.iter_mut().filter(stores).for_each(|rule| {
                    rule.guard.push("forall w: Value do w = v end".to_owned());
                });
            }
        }
        asked
    }
}
