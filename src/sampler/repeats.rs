//! Repeated augmentation: each sample of an order comes several times, and an epoch is about as long as before.

/// Epochs are cut to a multiple of this many rows, as those of DeiT's and timm's samplers.
const ROUND: u64 = 256;

/// Which sample of an order each position shows.
///
/// The copies of a sample follow each other, so that they go to different ranks. Where an augmentation mixes samples they
/// are a partner window apart instead: no sample is then its own partner, and windows go to different ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Repeats {
    /// How often a sample comes.
    pub(super) times: u64,
    /// Positions from one copy to the next.
    apart: u64,
    /// Positions of an epoch.
    pub(super) shown: u64,
}

impl Repeats {
    /// `times` (at least 1) copies of the samples of an order of `len`, each `apart` positions (at least 1) after the last.
    pub(super) fn new(len: u64, times: u64, apart: u64) -> Self {
        let (times, shown) = (times.max(1), if len < ROUND { len } else { len / ROUND * ROUND });
        // No further than all copies of some sample have room.
        let apart = apart.clamp(1, shown.div_ceil(times).max(1));
        Self { times, apart, shown }
    }

    /// Whose copy stands at `position`: a position of the order.
    pub(super) fn of(&self, position: u64) -> u64 {
        position / self.group() * self.apart + position % self.apart
    }

    /// Where the first copy of the order's sample at `position` stands; `None` where the epoch ends before.
    pub(super) fn first(&self, position: u64) -> Option<u64> {
        let first = (position / self.apart).checked_mul(self.group())?.checked_add(position % self.apart)?;
        Some(first).filter(|&first| first < self.shown)
    }

    /// Positions that show all copies of `apart` samples.
    fn group(&self) -> u64 {
        self.apart.saturating_mul(self.times)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::super::{Order, RankPartition, Sampler, Shuffle};
    use super::*;

    /// The rule of timm's `RepeatAugSampler` and of torchvision's reference scripts, in its own words: what rank `rank` of
    /// `ranks` shows of an epoch whose order without repetitions is `order`.
    fn by_the_rule(order: &[u64], times: usize, rank: usize, ranks: usize) -> Vec<u64> {
        let mut repeated: Vec<u64> = order.iter().flat_map(|&index| vec![index; times]).collect();
        let total = (order.len() * times).div_ceil(ranks) * ranks;
        repeated.extend_from_within(..total - order.len() * times);
        let selected = (order.len() / 256 * 256) as f64 / ranks as f64;
        repeated.into_iter().skip(rank).step_by(ranks).take(selected.floor() as usize).collect()
    }

    #[test]
    fn each_rank_shows_the_samples_that_the_rule_gives_it() {
        for len in [256u64, 300, 511, 512, 1000, 2561] {
            for shuffle in [Shuffle::Off, Shuffle::Full, Shuffle::Window(16)] {
                let plain: Vec<u64> = {
                    let order = Sampler::new(len, shuffle).order(3, 4);
                    (0..len).map(|position| order.index(position)).collect()
                };
                for times in [2usize, 3, 5] {
                    let order = Sampler::new(len, shuffle).repeats(times as u64).order(3, 4);
                    for ranks in [1usize, 2, 3, 7, 8] {
                        let partition = RankPartition::new(order.len(), ranks as u64, 1);
                        for rank in 0..ranks {
                            let own = (0..partition.at_least())
                                .map(|at| order.index(partition.position(rank as u64, at).0));
                            assert_eq!(
                                own.collect::<Vec<_>>(),
                                by_the_rule(&plain, times, rank, ranks),
                                "{len} samples {times} times, rank {rank} of {ranks}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn copies_that_are_a_window_apart_come_in_different_windows_and_on_different_ranks() {
        let order = Sampler::new(4096, Shuffle::Full).repeats(3).apart(128).order(1, 0);
        let partition = RankPartition::new(order.len(), 4, 128);
        let mut ranks_of = std::collections::BTreeMap::<u64, Vec<u64>>::new();
        for rank in 0..4 {
            for at in 0..partition.at_least() {
                let (position, _) = partition.position(rank, at);
                let index = order.index(position);
                ranks_of.entry(index).or_default().push(rank);
                let window = order.window(position, 128);
                let same = window.filter(|&other| order.index(other) == index).count();
                assert_eq!(same, 1, "a window shows a sample twice");
            }
        }
        assert_eq!(ranks_of.values().map(Vec::len).sum::<usize>(), 4096);
        for ranks in ranks_of.values().filter(|ranks| ranks.len() == 3) {
            assert!(ranks.windows(2).all(|pair| pair[0] != pair[1]), "{ranks:?}");
        }
        assert!(ranks_of.values().filter(|ranks| ranks.len() == 3).count() >= 4096 / 3 - 128);
    }

    #[test]
    fn every_position_shows_a_sample_that_there_is_and_the_first_copy_is_found() {
        for len in [1u64, 5, 100, 255, 256, 700] {
            for (times, apart) in [(1, 1), (2, 1), (3, 8), (3, 128), (7, u64::MAX), (u64::MAX, 2)] {
                let repeats = Repeats::new(len, times, apart);
                let mut firsts = std::collections::BTreeMap::new();
                for position in 0..repeats.shown {
                    let of = repeats.of(position);
                    assert!(of < len, "{of} of {len}, {times} times, {apart} apart");
                    let first = *firsts.entry(of).or_insert(position);
                    assert_eq!(repeats.first(of), Some(first));
                }
                let absent = (0..len).filter(|of| !firsts.contains_key(of));
                assert!(absent.into_iter().all(|of| repeats.first(of).is_none()));
                let most = repeats.shown.div_ceil(times) + apart.min(len);
                assert!(firsts.len() as u64 <= most, "{} samples of {len}", firsts.len());
            }
        }
    }

    #[test]
    fn repetitions_are_known_to_the_order_and_to_the_fingerprint() {
        let plain = Sampler::new(512, Shuffle::Full);
        let thrice = plain.clone().repeats(3);
        assert_ne!(plain.selection(), thrice.selection());
        assert_eq!(plain.selection(), plain.clone().repeats(1).selection());
        assert!(thrice.order(1, 1).repeats() && !plain.clone().repeats(1).order(1, 1).repeats());
        let order = thrice.order(1, 1);
        let shown = order.index(0);
        assert_eq!(order.position(shown), Some(0));
        assert_eq!([order.index(1), order.index(2)], [shown; 2]);
        assert!((0..512).any(|index| order.position(index).is_none()), "a third of the samples comes");
        assert!((0..512).all(|number| order.position(order.any(number)).is_some()));
        assert_eq!(Order::sequential(9).position(4), Some(4));
    }
}
