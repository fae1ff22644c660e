//! Random choices of a case, all from its seed.

/// SplitMix64: a good stream from any seed.
#[derive(Clone, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    /// The choices of `about` in the case with this seed; those of one noun do not move when another gets more.
    pub(crate) fn new(seed: u64, about: &str) -> Self {
        let tag = about.bytes().fold(0xCBF2_9CE4_8422_2325u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
        });
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ tag)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound.max(1) as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True once in `count` times.
    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())].clone()
    }

    /// A number from 0 to 1 with few digits.
    pub(crate) fn part(&mut self) -> f64 {
        self.below(101) as f64 / 100.0
    }
}
