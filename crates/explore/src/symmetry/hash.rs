//! Mixing numbers. Nothing is decided by these hashes: where two of them collide, members tie that
//! need not, and the tie is broken exactly. So speed is all that is asked of them.

use chance::Rng;

/// Mixes the bits of a number by one wide multiplication.
#[inline(always)]
pub(super) fn fold(number: u64) -> u64 {
    let product = u128::from(number ^ 0x9e37_79b9_7f4a_7c15) * 0xd1b5_4a32_d192_ed03;
    (product as u64) ^ (product >> 64) as u64
}

/// A source of constants: random ones, or zeros, with which nearly everything collides.
#[derive(Debug)]
pub(super) enum Constants {
    Mixed(Rng),
    Zeros,
}

impl Constants {
    /// The next constant.
    pub(super) fn next(&mut self) -> u64 {
        match self {
            Constants::Mixed(random) => random.bits(),
            Constants::Zeros => 0,
        }
    }
}
