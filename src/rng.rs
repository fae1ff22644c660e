//! A counter-based random generator: what a sample draws depends on its key alone.
//!
//! Philox 4x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011). There is no
//! state to carry from sample to sample, so any sample of any epoch can be replayed on any thread or rank.

mod beta;
mod normal;

pub use beta::{beta, dirichlet};
pub(crate) use normal::normal_quantile;
pub use normal::{inverse_normal, normal};

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// What a key is for. Keys of different domains are folded with different tags, so that no two purposes share draws.
///
/// The tags are four letters each, and part of what a seed means: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Domain {
    /// The order of an epoch.
    Order = 0x6f72_6465,
    /// Draws with replacement, by weights.
    Draws = 0x6472_6177,
    /// The order of runs of records that lie together.
    Runs = 0x7275_6e73,
    /// The order of shards.
    Shards = 0x7368_6172,
    /// The data sets of a mixture.
    Mixture = 0x6d69_7874,
    /// The size of a batch.
    Sizes = 0x7369_7a65,
    /// A sample at one of several positions of an epoch.
    Position = 0x6469_6365,
    /// What all samples of a partner window share.
    Window = 0x7769_6e64,
    /// What the two samples of a pair share.
    Pair = 0x7061_6972,
    /// Partners in the mix of a host.
    Partner = 0x7061_7274,
    /// Samples in place of one that failed.
    Substitute = 0x7375_6273,
    /// What stands in a container of augmentations.
    Branch = 0x6272_616e,
    /// One of several views of a sample.
    View = 0x7669_6577,
}

impl Domain {
    /// The domain's tag, a word of a key.
    pub const fn tag(self) -> u64 {
        self as u64
    }
}

/// One block of Philox 4x32-10.
pub fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let low = u64::from(MULTIPLIERS[0]) * u64::from(counter[0]);
        let high = u64::from(MULTIPLIERS[1]) * u64::from(counter[2]);
        counter = [
            (high >> 32) as u32 ^ counter[1] ^ key[0],
            high as u32,
            (low >> 32) as u32 ^ counter[3] ^ key[1],
            low as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// The source of an augmentation's draws; tests use scripted numbers instead.
pub trait Draws {
    /// 32 uniform bits.
    fn bits(&mut self) -> u32;

    /// Uniform in [0, 1), a multiple of 2^-24 as torch's float32 generator gives.
    fn uniform(&mut self) -> f32 {
        (self.bits() >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    /// Uniform in [low, high), with the arithmetic of torch's `uniform_` on the CPU: the difference in f32, the product
    /// and the sum in f64, rounded once at the end.
    fn uniform_between(&mut self, low: f32, high: f32) -> f32 {
        (f64::from(self.uniform()) * f64::from(high - low) + f64::from(low)) as f32
    }

    /// A whole number in 0..bound (0 if `bound` is 0); no value is more than 2^-32 too likely.
    fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(bound)) >> 32) as u32
    }

    /// True with probability `p`.
    fn chance(&mut self, p: f32) -> bool {
        self.uniform() < p
    }

    /// Whether a transform runs that does so with probability `p`.
    fn applies(&mut self, p: f32) -> bool {
        self.chance(p)
    }
}

/// The draws of a transform that has been chosen, and runs whatever its probability is.
pub struct Certain<'a>(pub &'a mut dyn Draws);

impl Draws for Certain<'_> {
    fn bits(&mut self) -> u32 {
        self.0.bits()
    }

    fn applies(&mut self, _p: f32) -> bool {
        true
    }
}

/// The generator of one augmentation of one sample.
#[derive(Clone, Debug)]
pub struct Rng {
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    used: usize,
}

impl Rng {
    /// The generator keyed by seed, epoch, sample and the op's position in the chain.
    pub fn new(seed: u64, epoch: u64, sample: u64, op: u32) -> Self {
        Self::keyed(mix(mix(0, seed), epoch), sample, op)
    }

    /// The generator of partner number `partner` of host `sample` at its op `host_op`, for the partner's own op `op`.
    pub fn for_partner(seed: u64, epoch: u64, sample: u64, host_op: u32, partner: u32, op: u32) -> Self {
        let path = (u64::from(host_op) << 32) | u64::from(partner);
        Self::keyed(mix(mix(mix(mix(0, seed), epoch), path ^ Domain::Partner.tag()), sample), sample, op)
    }

    /// The same for an op that stands in a container: `branch` names the way there, and is 0 for the chain itself.
    pub fn in_branch(self, branch: u64) -> Self {
        if branch == 0 {
            return self;
        }
        let key = u64::from(self.key[0]) | (u64::from(self.key[1]) << 32);
        let key = mix(key, branch);
        Self { key: [key as u32, (key >> 32) as u32], ..self }
    }

    fn keyed(key: u64, sample: u64, op: u32) -> Self {
        Self {
            key: [key as u32, (key >> 32) as u32],
            counter: [0, op, sample as u32, (sample >> 32) as u32],
            block: [0; 4],
            used: 4,
        }
    }
}

impl Draws for Rng {
    fn bits(&mut self) -> u32 {
        if self.used == 4 {
            self.block = philox(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }
}

/// Folds one more word into a key: the finaliser of SplitMix64, a bijection of either argument.
pub fn mix(key: u64, word: u64) -> u64 {
    let mut z = key.rotate_left(23) ^ word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_the_published_test_vectors() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn each_part_of_the_key_changes_the_draws() {
        let first = |mut rng: Rng| rng.bits();
        let base = first(Rng::new(1, 2, 3, 4));
        assert_eq!(base, first(Rng::new(1, 2, 3, 4)));
        for other in [Rng::new(2, 2, 3, 4), Rng::new(1, 3, 3, 4), Rng::new(1, 2, 4, 4), Rng::new(1, 2, 3, 5)]
        {
            assert_ne!(base, first(other));
        }
        assert_ne!(first(Rng::for_partner(1, 2, 3, 4, 0, 0)), first(Rng::for_partner(1, 2, 3, 4, 1, 0)));
        assert_ne!(first(Rng::new(1, 2, 3, 0)), first(Rng::for_partner(1, 2, 3, 0, 0, 0)));
        assert_eq!(base, first(Rng::new(1, 2, 3, 4).in_branch(0)));
        assert_ne!(base, first(Rng::new(1, 2, 3, 4).in_branch(1)));
        assert_ne!(first(Rng::new(1, 2, 3, 4).in_branch(2)), first(Rng::new(1, 2, 3, 4).in_branch(1)));
    }

    #[test]
    fn every_domain_keeps_its_tag() {
        let tags = [
            (Domain::Order, b"orde"),
            (Domain::Draws, b"draw"),
            (Domain::Runs, b"runs"),
            (Domain::Shards, b"shar"),
            (Domain::Sizes, b"size"),
            (Domain::Position, b"dice"),
            (Domain::Window, b"wind"),
            (Domain::Pair, b"pair"),
            (Domain::Partner, b"part"),
            (Domain::Substitute, b"subs"),
            (Domain::Branch, b"bran"),
        ];
        for (domain, letters) in tags {
            assert_eq!(domain.tag(), u64::from(u32::from_be_bytes(*letters)), "{domain:?}");
        }
    }

    #[test]
    fn a_uniform_draw_is_rounded_once_as_torch_does() {
        struct Bits(u32);
        impl Draws for Bits {
            fn bits(&mut self) -> u32 {
                self.0
            }
        }
        // From torch 2.15, where arithmetic in f32 alone would be one unit in the last place off.
        for (draw, low, high, want) in [
            (12_710_949, 0.08, 1.0, 0x3f46_eadb),
            (12_710_949, -0.1, 0.1, 0x3d53_0d43),
            (12_325_960, 0.6, 1.4, 0x3f98_081d),
        ] {
            assert_eq!(Bits(draw << 8).uniform_between(low, high).to_bits(), want);
        }
    }

    #[test]
    fn draws_stay_in_their_ranges_and_reach_both_ends() {
        let mut rng = Rng::new(9, 0, 0, 0);
        let mut seen = [0u32; 5];
        for _ in 0..2000 {
            let u = rng.uniform_between(-2.0, 3.0);
            assert!((-2.0..3.0).contains(&u));
            seen[rng.below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (300..500).contains(&count)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
        assert!(!rng.chance(0.0) && rng.chance(1.0));
    }
}
