//! Which positions of an epoch's order belong to which rank, and what remains of an epoch that is resumed.
//!
//! Positions are handed out in *blocks* of consecutive ones, rank after rank, in rounds of one block per rank; the
//! incomplete last round is handed out one position at a time. Blocks are single positions, so that rank r of k takes
//! r, r + k, ..., unless samples mix with others of their window: then a block is a window, and the files of a window are
//! read by one rank. No rank gets more than one sample more than another.

/// How the positions of an epoch are divided among ranks. Its size does not depend on that of the data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankPartition {
    len: u64,
    ranks: u64,
    block: u64,
    remaining: Option<Remaining>,
}

/// What of an epoch had been consumed when it was interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consumed {
    /// Ranks that the epoch began with.
    pub world_size: u64,
    /// Samples that each of them got.
    pub samples: u64,
    /// Samples consumed after that, by any number of ranks: a run may be interrupted more than once.
    pub more: u64,
}

impl RankPartition {
    /// Divides `len` positions among `ranks` ranks (at least one) in blocks of `block` positions (at least one).
    pub fn new(len: u64, ranks: u64, block: u64) -> Self {
        Self { len, ranks: ranks.max(1), block: block.max(1), remaining: None }
    }

    /// Divides what remains after `consumed` among `ranks` ranks, one position at a time.
    pub fn resumed(len: u64, ranks: u64, block: u64, consumed: Consumed) -> Self {
        let before = Self::new(len, consumed.world_size, block);
        let remaining = Remaining::of(&before, consumed);
        Self { remaining: Some(remaining), ..Self::new(len, ranks, block) }
    }

    /// The number of ranks.
    pub fn ranks(&self) -> u64 {
        self.ranks
    }

    /// The number of positions that are divided.
    pub fn remaining(&self) -> u64 {
        self.remaining.as_ref().map_or(self.len, |remaining| remaining.len - remaining.skip)
    }

    /// Samples that every rank gets at least; some get one more.
    pub fn at_least(&self) -> u64 {
        self.remaining() / self.ranks
    }

    /// Samples that every rank gets when those that would get one less repeat one.
    pub fn at_most(&self) -> u64 {
        self.remaining().div_ceil(self.ranks)
    }

    /// The position of rank `rank`'s sample `index`, counted from 0, and whether it is a repetition: after its last
    /// sample a rank goes on at the start of the order, each rank at a position of its own.
    pub fn position(&self, rank: u64, index: u64) -> (u64, bool) {
        let position = match &self.remaining {
            None => self.in_rounds(rank, index),
            Some(remaining) => remaining.position(remaining.skip + index * self.ranks + rank),
        };
        (position % self.len.max(1), position >= self.len)
    }

    /// Which of its rank's samples the one at `position` is, counted from 0, in an epoch that was not resumed: the
    /// inverse of [`RankPartition::position`].
    pub fn index_in_rank(&self, position: u64) -> u64 {
        let (rounds, block) = (self.rounds(), self.block);
        match position.checked_sub(rounds * block * self.ranks) {
            None => position / block / self.ranks * block + position % block,
            Some(position) => rounds * block + position / self.ranks,
        }
    }

    /// The rank that the sample at `position` is of, in an epoch that was not resumed.
    pub fn rank_of(&self, position: u64) -> u64 {
        match position.checked_sub(self.rounds() * self.block * self.ranks) {
            None => position / self.block % self.ranks,
            Some(position) => position % self.ranks,
        }
    }

    /// May be past the end.
    fn in_rounds(&self, rank: u64, index: u64) -> u64 {
        let (rounds, block) = (self.rounds(), self.block);
        match index.checked_sub(rounds * block) {
            None => (index / block * self.ranks + rank) * block + index % block,
            Some(index) => (rounds * block + index) * self.ranks + rank,
        }
    }

    /// Complete rounds of a block for each rank.
    fn rounds(&self) -> u64 {
        self.len / self.block.saturating_mul(self.ranks)
    }
}

/// The positions that remain, as one sequence: first the ends of the blocks whose round was interrupted, block by block,
/// then everything after that round.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Remaining {
    /// Where the interrupted round begins.
    start: u64,
    /// Its blocks; 0 where no round was interrupted.
    blocks: u64,
    /// Positions of a block, and how many of each had been consumed.
    block: u64,
    done: u64,
    /// Length of the sequence, and how much of it has been consumed since.
    len: u64,
    skip: u64,
}

impl Remaining {
    fn of(before: &RankPartition, consumed: Consumed) -> Self {
        let (rounds, block, ranks) = (before.rounds(), before.block, before.ranks);
        let (start, blocks, done) = match consumed.samples.checked_sub(rounds.saturating_mul(block)) {
            None if !consumed.samples.is_multiple_of(block) => {
                (consumed.samples / block * ranks * block, ranks, consumed.samples % block)
            }
            None => (consumed.samples * ranks, 0, 0),
            // The remainder was handed out one position at a time, so its beginning is consumed.
            Some(_) => (consumed.samples.saturating_mul(ranks).min(before.len), 0, 0),
        };
        let len = before.len - start - blocks * done;
        Self { start, blocks, block, done, len, skip: consumed.more.min(len) }
    }

    /// The position at `at` in the sequence; may be past the end.
    fn position(&self, at: u64) -> u64 {
        let left = self.block - self.done;
        match at.checked_sub(self.blocks * left) {
            None => self.start + at / left * self.block + self.done + at % left,
            Some(at) => self.start + self.blocks * self.block + at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that the ranks get without repetitions, sorted.
    fn handed_out(partition: &RankPartition) -> Vec<u64> {
        let mut all: Vec<u64> = (0..partition.ranks())
            .flat_map(|rank| (0..partition.at_most()).map(move |index| (rank, index)))
            .map(|(rank, index)| partition.position(rank, index))
            .filter_map(|(position, repeated)| (!repeated).then_some(position))
            .collect();
        all.sort_unstable();
        all
    }

    /// The samples that each rank has when each has consumed `samples`, without repetitions.
    fn first(partition: &RankPartition, samples: u64) -> Vec<u64> {
        let take = |rank| (0..samples).map(move |index| partition.position(rank, index));
        let all = (0..partition.ranks()).flat_map(take);
        all.filter_map(|(position, repeated)| (!repeated).then_some(position)).collect()
    }

    #[test]
    fn the_ranks_together_show_each_sample_exactly_once() {
        for ranks in 1..=17 {
            for block in [1, 3, 8, 128, u64::MAX] {
                for len in [0, 1, 5, 8, 16, 17, 100, 255, 1000, 2177] {
                    let partition = RankPartition::new(len, ranks, block);
                    assert!(
                        handed_out(&partition).into_iter().eq(0..len),
                        "{len} to {ranks} in blocks of {block}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_rank_gets_more_than_one_sample_more_than_another() {
        for (len, ranks, block) in [(10, 3, 1), (1000, 7, 16), (1030, 8, 128), (2, 5, 128)] {
            let partition = RankPartition::new(len, ranks, block);
            for rank in 0..ranks {
                let own = |index: u64| !partition.position(rank, index).1;
                let count = (0..=partition.at_most()).filter(|&index| own(index)).count() as u64;
                assert!((partition.at_least()..=partition.at_most()).contains(&count));
                assert!((0..count).all(own), "repetitions come last");
            }
        }
    }

    #[test]
    fn without_blocks_a_rank_takes_every_kth_position() {
        let partition = RankPartition::new(11, 4, 1);
        let of = |rank| (0..3).map(|index| partition.position(rank, index)).collect::<Vec<_>>();
        assert_eq!(of(1), [(1, false), (5, false), (9, false)]);
        assert_eq!(of(3), [(3, false), (7, false), (0, true)]);
    }

    #[test]
    fn blocks_go_round_and_the_remainder_is_handed_out_one_by_one() {
        // Two rounds of two blocks of four, and three positions more.
        let partition = RankPartition::new(19, 2, 4);
        let of = |rank, count: u64| (0..count).map(|index| partition.position(rank, index).0).collect();
        let [left, right]: [Vec<u64>; 2] = [of(0, 10), of(1, 9)];
        assert_eq!(left, [0, 1, 2, 3, 8, 9, 10, 11, 16, 18]);
        assert_eq!(right, [4, 5, 6, 7, 12, 13, 14, 15, 17]);
    }

    #[test]
    fn the_index_of_a_position_is_the_inverse_of_the_position_of_an_index() {
        for (len, ranks, block) in
            [(50, 1, 1), (50, 3, 1), (120, 2, 16), (37, 4, 8), (20, 4, 128), (19, 2, 4)]
        {
            let partition = RankPartition::new(len, ranks, block);
            for (rank, index) in
                (0..ranks).flat_map(|rank| (0..partition.at_most()).map(move |index| (rank, index)))
            {
                let (position, repeated) = partition.position(rank, index);
                let found = (partition.rank_of(position), partition.index_in_rank(position));
                assert!(repeated || found == (rank, index), "{position} of {partition:?}");
            }
        }
        assert_eq!(RankPartition::new(1 << 40, 1 << 20, u64::MAX).index_in_rank((3 << 20) + 7), 3);
    }

    #[test]
    fn what_remains_at_any_point_is_the_same_for_any_number_of_ranks() {
        for (len, ranks, block) in [(50, 3, 1), (120, 2, 16), (120, 3, 16), (37, 4, 8), (20, 4, 128)] {
            let whole = RankPartition::new(len, ranks, block);
            for samples in 0..=whole.at_most() + 2 {
                let gone = first(&whole, samples);
                let want: Vec<u64> = (0..len).filter(|position| !gone.contains(position)).collect();
                for others in [1, 2, 3, 5, 17] {
                    let consumed = Consumed { world_size: ranks, samples, more: 0 };
                    let remaining = RankPartition::resumed(len, others, block, consumed);
                    assert_eq!(
                        handed_out(&remaining),
                        want,
                        "{samples} each of {len} by {ranks}, then {others}"
                    );
                    assert_eq!(remaining.remaining() as usize, want.len());
                }
            }
        }
    }

    #[test]
    fn an_epoch_may_be_interrupted_again_and_again() {
        let (len, block) = (200, 16);
        let whole = RankPartition::new(len, 3, block);
        let mut gone = first(&whole, 21);
        let mut consumed = Consumed { world_size: 3, samples: 21, more: 0 };
        for (ranks, samples) in [(2, 5), (4, 7), (1, 30)] {
            let part = RankPartition::resumed(len, ranks, block, consumed);
            gone.extend(first(&part, samples));
            consumed.more += ranks * samples;
        }
        gone.extend(handed_out(&RankPartition::resumed(len, 5, block, consumed)));
        gone.sort_unstable();
        assert!(gone.into_iter().eq(0..len));
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let len = 1 << 40;
        let partition = RankPartition::new(len, 1 << 20, u64::MAX);
        assert_eq!(partition.position(7, 3), ((3 << 20) + 7, false));
        let consumed = Consumed { world_size: 1 << 20, samples: u64::MAX, more: u64::MAX };
        assert_eq!(RankPartition::resumed(len, 3, u64::MAX, consumed).remaining(), 0);
    }
}
