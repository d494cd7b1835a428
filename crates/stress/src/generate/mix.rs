//! How often a random program has which instruction.

use std::fmt;
use std::str::FromStr;

use chance::Rng;

/// A kind of instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Load,
    Store,
    Swap,
    Add,
    CompareAndSwap,
    Sync,
    Fence,
}

/// Weights: how often each kind of instruction is drawn.
///
/// ```
/// let mix: tribunal_stress::Mix = "load=2,store=1,swap=1".parse()?;
/// assert_eq!(mix.to_string(), "load=2,store=1,swap=1");
/// # Ok::<(), tribunal_stress::MixError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mix([u32; Mix::KINDS.len()]);

impl Mix {
    const KINDS: [(&'static str, Kind); 7] = [
        ("load", Kind::Load),
        ("store", Kind::Store),
        ("swap", Kind::Swap),
        ("add", Kind::Add),
        ("cas", Kind::CompareAndSwap),
        ("sync", Kind::Sync),
        ("fence", Kind::Fence),
    ];

    /// Mostly loads and stores: atomics and fences keep a machine from showing what it can do.
    pub const RACY: Mix = Mix([40, 40, 4, 4, 4, 4, 4]);

    /// The mix of efficient-tso-verification (§5): 33.3 % loads, 33.3 % stores, 30 % atomics and
    /// 1.7 % fences (and 1.7 % that access no memory, left out here).
    pub const TSOTOOL: Mix = Mix([333, 333, 100, 100, 100, 17, 0]);

    /// Loads and stores only.
    pub const PLAIN: Mix = Mix([1, 1, 0, 0, 0, 0, 0]);

    /// Draws a kind.
    pub(crate) fn draw(&self, rng: &mut Rng) -> Kind {
        let total: usize = self.0.iter().map(|&weight| weight as usize).sum();
        let mut left = rng.below(total.max(1));
        for (&weight, (_, kind)) in self.0.iter().zip(Mix::KINDS) {
            if left < weight as usize {
                return kind;
            }
            left -= weight as usize;
        }
        Kind::Load
    }
}

impl Default for Mix {
    fn default() -> Self {
        Mix::RACY
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weights = self.0.iter().zip(Mix::KINDS).filter(|&(&weight, _)| weight > 0);
        for (at, (weight, (name, _))) in weights.enumerate() {
            write!(f, "{}{name}={weight}", if at == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Why a text is no mix.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MixError(String);

impl fmt::Display for MixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; a mix is `racy`, `tsotool`, `plain`, or weights like load=4,store=4,swap=1 of \
             load, store, swap, add, cas, sync, fence",
            self.0
        )
    }
}

impl std::error::Error for MixError {}

impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Self, MixError> {
        match text {
            "racy" => return Ok(Mix::RACY),
            "tsotool" => return Ok(Mix::TSOTOOL),
            "plain" => return Ok(Mix::PLAIN),
            _ => {}
        }
        let mut mix = Mix([0; Mix::KINDS.len()]);
        for part in text.split(',') {
            let wrong = || MixError(format!("`{part}` is not a weight"));
            let (name, weight) = part.split_once('=').ok_or_else(wrong)?;
            let kind = Mix::KINDS.iter().position(|(known, _)| *known == name.trim());
            let kind = kind.ok_or_else(wrong)?;
            mix.0[kind] = weight.trim().parse().map_err(|_| wrong())?;
        }
        if mix.0.iter().all(|&weight| weight == 0) {
            return Err(MixError("all weights are 0".to_owned()));
        }
        Ok(mix)
    }
}
