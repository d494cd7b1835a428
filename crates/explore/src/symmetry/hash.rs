//! Mixing numbers. Nothing is decided by these hashes: where two of them collide, members tie that
//! need not, and the tie is broken exactly. So speed is all that is asked of them.

/// Mixes the bits of a number by one wide multiplication.
#[inline(always)]
pub(super) fn fold(number: u64) -> u64 {
    let product = u128::from(number ^ 0x9e37_79b9_7f4a_7c15) * 0xd1b5_4a32_d192_ed03;
    (product as u64) ^ (product >> 64) as u64
}

/// A source of constants: splitmix64, or zeros, with which nearly everything collides.
#[derive(Debug)]
pub(super) enum Constants {
    Mixed(u64),
    Zeros,
}

impl Constants {
    /// The next constant.
    pub(super) fn next(&mut self) -> u64 {
        let Constants::Mixed(state) = self else { return 0 };
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
