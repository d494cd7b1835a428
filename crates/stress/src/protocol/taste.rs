//! What random clients like to do: how likely each possible step is.
//!
//! Steps that are all equally likely make walks that are all alike: no message is ever late, no
//! line stays in a cache for long. So every trace has a taste of its own, as in swarm testing
//! (Groce, Zhang, Eide, Chen, Regehr, ISSTA 2012): some steps of some processors are many times
//! less likely than others, for the whole trace. Steps that are plain hits, of which there are
//! always many, are held back so that the protocol gets to work.

use murphi::machine::Firing;

use crate::rng::Rng;

/// How clients choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clients {
    /// Every possible step is equally likely.
    Uniform,
    /// Every trace has a taste of its own.
    #[default]
    Swarm,
}

/// The likes of one trace.
pub(super) struct Taste {
    key: u64,
    /// How much steps may differ: up to a factor of 2 to this power.
    skew: u64,
    /// How much less likely a step is that only loads what is in the cache.
    hits: u32,
}

/// The weight of a step that nothing is said about.
const WEIGHT: u64 = 1 << 32;

impl Taste {
    pub(super) fn draw(clients: Clients, rng: &mut Rng) -> Self {
        match clients {
            Clients::Uniform => Taste { key: 0, skew: 0, hits: 0 },
            Clients::Swarm => Taste {
                key: rng.bits(),
                skew: [0, 3, 6, 9][rng.below(4)],
                hits: [0, 1, 2, 3][rng.below(4)],
            },
        }
    }

    /// How likely a step is, in comparison. `idle` if it changes nothing.
    pub(super) fn weight(&self, firing: &Firing, idle: bool) -> u64 {
        let mut weight = WEIGHT;
        if self.skew > 0 {
            let rule = Rng::new(self.key ^ u64::from(firing.rule) << 32).bits();
            let instance = Rng::new(rule ^ firing.instance).bits();
            weight >>= rule % (self.skew + 1);
            weight >>= instance % (self.skew / 2 + 1);
        }
        if idle {
            weight >>= self.hits;
        }
        weight.max(1)
    }
}
