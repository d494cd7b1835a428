//! What random clients like to do: how likely each possible step is.
//!
//! If all possible steps are always equally likely, walks are all alike: no message is ever late,
//! no line stays in a cache for long. So every trace has tastes, as in swarm testing (Groce, Zhang,
//! Eide, Chen, Regehr, ISSTA 2012): some rules, and some instances of the others, are disliked, and
//! then happen far less often. After a while a trace may change its mind, so that what was held
//! back for long comes at last. Hits, of which there are always many and which change nothing, are
//! held back a little, so that the protocol gets to work.

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

/// The likes of one trace, for the time being.
pub(super) struct Taste {
    key: u64,
    /// For how many steps a taste lasts, and how many of these are left.
    lasts: u64,
    left: u64,
    /// How many of 16 rules are disliked, and how many of 16 instances of the others.
    rules: u64,
    instances: u64,
    /// How much less likely a step is that changes nothing, as a power of two.
    hits: u32,
}

/// The weight of a step that nothing is said about.
const WEIGHT: u64 = 1 << 16;

/// How much less likely a disliked step is, as a power of two.
const DISLIKED: u32 = 6;

impl Taste {
    pub(super) fn draw(clients: Clients, rng: &mut Rng) -> Self {
        let (lasts, left) = (u64::MAX, u64::MAX);
        let mut taste = Taste { key: 0, lasts, left, rules: 0, instances: 0, hits: 0 };
        if clients == Clients::Swarm {
            taste.lasts = [u64::MAX, 16, 64, 256][rng.below(4)];
            taste.change(rng);
        }
        taste
    }

    fn change(&mut self, rng: &mut Rng) {
        self.key = rng.bits();
        self.left = self.lasts;
        self.rules = [0, 2, 4, 8][rng.below(4)];
        self.instances = [0, 2, 4, 8][rng.below(4)];
        self.hits = [0, 1, 2, 3][rng.below(4)];
    }

    /// A step was taken.
    pub(super) fn tick(&mut self, rng: &mut Rng) {
        self.left -= 1;
        if self.left == 0 {
            self.change(rng);
        }
    }

    /// How likely a step is, in comparison with others. `idle` if it changes nothing.
    pub(super) fn weight(&self, firing: &Firing, idle: bool) -> u64 {
        let mut weight = WEIGHT;
        if self.rules + self.instances > 0 {
            let rule = Rng::new(self.key ^ (u64::from(firing.rule) << 32)).bits();
            let instance = Rng::new(rule ^ firing.instance).bits();
            if rule % 16 < self.rules || instance % 16 < self.instances {
                weight >>= DISLIKED;
            }
        }
        if idle {
            weight >>= self.hits;
        }
        weight
    }
}
