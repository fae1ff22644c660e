//! Dice that another library can be given as well.

use feedline::rng::Draws;

/// A congruential generator, small enough to be written again in Python, that counts its draws.
pub(crate) struct Script {
    state: u64,
    pub(crate) draws: u32,
}

impl Script {
    pub(crate) fn new(seed: u64) -> Self {
        Script { state: seed, draws: 0 }
    }
}

impl Draws for Script {
    fn bits(&mut self) -> u32 {
        self.draws += 1;
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 32) as u32
    }
}
