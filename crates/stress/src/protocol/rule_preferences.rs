//! What random clients like to do: how likely each possible step is.
//!
//! If all possible steps are always equally likely, walks are all alike: no message is ever late,
//! no line stays in a cache for long. So every trace has tastes, as in swarm testing (Groce, Zhang,
//! Eide, Chen, Regehr, ISSTA 2012). Some tastes dislike a part of the rules, and a part of the
//! instances of the others, which then happen far less often. Others have a weight for every rule,
//! and for every rule with each processor and each address, from wide to narrow: then evictions
//! may be rare and one processor late with everything. After a while a trace may change its mind,
//! so that what was held back for long comes at last. Hits, of which there are always many and
//! which change nothing, are mostly held back a little, so that the protocol gets to work.

use conform::Role;
use murphi::machine::Firing;

use super::parameters::Parameters;
use chance::Rng;

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
pub(super) struct RulePreferences {
    key: u64,
    /// For how many steps a taste lasts, and how many of these are left.
    lasts: u64,
    left: u64,
    kind: Kind,
    /// How much less likely a step is that changes nothing, as a power of two.
    hits: u32,
}

/// How a taste distinguishes steps.
#[derive(Clone, Copy)]
enum Kind {
    /// Not at all.
    Indifferent,
    /// How many of 16 rules are disliked, and how many of 16 instances of the others.
    Dislikes { rules: u64, instances: u64 },
    /// Weights of rules, and of rules with a processor or an address, are powers of two down to
    /// these.
    Weights { rules: u64, named: u64 },
}

/// The weight of a step that nothing is said about.
const WEIGHT: u64 = 1 << 16;

/// How much less likely a disliked step is, as a power of two.
const DISLIKED: u32 = 6;

/// How much less likely a step may be at most, as a power of two.
const FAINTEST: u64 = 12;

impl RulePreferences {
    pub(super) fn draw(clients: Clients, rng: &mut Rng) -> Self {
        let (lasts, left) = (u64::MAX, u64::MAX);
        let mut taste = RulePreferences { key: 0, lasts, left, kind: Kind::Indifferent, hits: 0 };
        if clients == Clients::Swarm {
            taste.lasts = [u64::MAX, 16, 64, 256][rng.below(4)];
            taste.change(rng);
        }
        taste
    }

    fn change(&mut self, rng: &mut Rng) {
        self.key = rng.bits();
        self.left = self.lasts;
        let mut one = |of: [u64; 4]| of[rng.below(4)];
        self.kind = match one([0, 1, 1, 1]) {
            0 => Kind::Dislikes { rules: one([0, 2, 4, 8]), instances: one([0, 2, 4, 8]) },
            _ => Kind::Weights { rules: one([0, 4, 8, 12]), named: one([0, 0, 4, 8]) },
        };
        self.hits = one([0, 1, 2, 3]) as u32;
    }

    /// A step was taken.
    pub(super) fn tick(&mut self, rng: &mut Rng) {
        self.left -= 1;
        if self.left == 0 {
            self.change(rng);
        }
    }

    /// How likely a step is, in comparison with others; never 0. `idle` if it changes nothing.
    pub(super) fn weight(&self, parameters: &[Parameters], firing: &Firing, idle: bool) -> u64 {
        let mut faint = if idle { u64::from(self.hits) } else { 0 };
        let number = u64::from(firing.rule);
        match self.kind {
            Kind::Indifferent | Kind::Dislikes { rules: 0, instances: 0 } => {}
            Kind::Dislikes { rules, instances } => {
                let rule = mixed(self.key ^ (number << 32));
                let instance = mixed(rule ^ firing.instance);
                if rule % 16 < rules || instance % 16 < instances {
                    faint += u64::from(DISLIKED);
                }
            }
            Kind::Weights { rules, named } => {
                let rule = mixed(self.key ^ (number << 32));
                faint += rule % (rules + 1);
                if named > 0 {
                    let parameters = &parameters[firing.rule as usize];
                    for (role, mark) in [(Role::Processor, 1 << 16), (Role::Address, 1 << 17)] {
                        for name in parameters.named(role, firing.instance) {
                            faint += mixed(rule ^ mark ^ u64::from(name)) % (named + 1);
                        }
                    }
                }
            }
        }
        WEIGHT >> faint.min(FAINTEST)
    }
}

fn mixed(key: u64) -> u64 {
    Rng::new(key).bits()
}
