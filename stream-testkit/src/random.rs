//! Numbers from a seed.

/// Numbers that look drawn, the same ones for the same seed (SplitMix64).
#[derive(Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn draw(&mut self) -> Draw {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Draw(mixed ^ (mixed >> 31))
    }
}

impl Iterator for Draws {
    type Item = Draw;

    fn next(&mut self) -> Option<Draw> {
        Some(self.draw())
    }
}

/// One number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Draw(u64);

impl Draw {
    /// As a number below `limit`, which is not 0.
    pub(crate) fn below(self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.0 % limit).unwrap_or_default()
    }
}
