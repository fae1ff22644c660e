//! Which positions of an epoch's order go to which rank, and what is left of an epoch that goes on elsewhere.
//!
//! Positions are dealt in *blocks* of consecutive ones, rank after rank, in rounds of a block for each rank; what is
//! left for an incomplete round is dealt one by one. Blocks are single positions, so that rank r of k takes r, r + k,
//! ..., unless samples mix with others of their window: then a block is a window, and a window's files meet on one
//! rank. No rank gets more than one sample more than another.

/// How the positions of an epoch are dealt to ranks. Nothing of the size of the data set is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deal {
    len: u64,
    ranks: u64,
    block: u64,
    rest: Option<Rest>,
}

/// What of an epoch was dealt before it was interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// Ranks that the epoch began with.
    pub world_size: u64,
    /// Samples that each of them got.
    pub samples: u64,
    /// Samples dealt afterwards, to any number of ranks: a run may be interrupted more than once.
    pub more: u64,
}

impl Deal {
    /// Deals `len` positions to `ranks` ranks (at least one) in blocks of `block` positions (at least one).
    pub fn new(len: u64, ranks: u64, block: u64) -> Self {
        Self { len, ranks: ranks.max(1), block: block.max(1), rest: None }
    }

    /// Deals what is left when `taken` is gone, one by one, to `ranks` ranks.
    pub fn resumed(len: u64, ranks: u64, block: u64, taken: Taken) -> Self {
        let before = Self::new(len, taken.world_size, block);
        let rest = Rest::of(&before, taken);
        Self { rest: Some(rest), ..Self::new(len, ranks, block) }
    }

    /// Ranks that are dealt to.
    pub fn ranks(&self) -> u64 {
        self.ranks
    }

    /// Positions to be dealt.
    pub fn remaining(&self) -> u64 {
        self.rest.as_ref().map_or(self.len, |rest| rest.len - rest.skip)
    }

    /// Samples that every rank gets at least; some get one more.
    pub fn at_least(&self) -> u64 {
        self.remaining() / self.ranks
    }

    /// Samples that every rank gets when those that would get one less repeat one.
    pub fn at_most(&self) -> u64 {
        self.remaining().div_ceil(self.ranks)
    }

    /// The position of the `number`th sample of rank `rank`, and whether it is a repetition: behind its last sample a
    /// rank goes on at the start of the order, each rank with a position of its own.
    pub fn position(&self, rank: u64, number: u64) -> (u64, bool) {
        let position = match &self.rest {
            None => self.in_rounds(rank, number),
            Some(rest) => rest.position(rest.skip + number * self.ranks + rank),
        };
        (position % self.len.max(1), position >= self.len)
    }

    /// Which of its rank's samples the one at `position` is, where the epoch is not a resumed one: the inverse of
    /// [`Deal::position`].
    pub fn number(&self, position: u64) -> u64 {
        let (rounds, block) = (self.rounds(), self.block);
        match position.checked_sub(rounds * block * self.ranks) {
            None => position / block / self.ranks * block + position % block,
            Some(position) => rounds * block + position / self.ranks,
        }
    }

    /// May be behind the end.
    fn in_rounds(&self, rank: u64, number: u64) -> u64 {
        let (rounds, block) = (self.rounds(), self.block);
        match number.checked_sub(rounds * block) {
            None => (number / block * self.ranks + rank) * block + number % block,
            Some(number) => (rounds * block + number) * self.ranks + rank,
        }
    }

    /// Complete rounds of a block for each rank.
    fn rounds(&self) -> u64 {
        self.len / self.block.saturating_mul(self.ranks)
    }
}

/// The positions that are left, as one sequence: first the ends of the blocks whose round was interrupted, block by
/// block, then everything behind that round.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rest {
    /// Where the interrupted round begins.
    start: u64,
    /// Its blocks; 0 where no round was interrupted.
    blocks: u64,
    /// Positions of a block, and how many of each were taken.
    block: u64,
    done: u64,
    /// Length of the sequence, and how much of it was taken since.
    len: u64,
    skip: u64,
}

impl Rest {
    fn of(before: &Deal, taken: Taken) -> Self {
        let (rounds, block, ranks) = (before.rounds(), before.block, before.ranks);
        let (start, blocks, done) = match taken.samples.checked_sub(rounds.saturating_mul(block)) {
            None if !taken.samples.is_multiple_of(block) => {
                (taken.samples / block * ranks * block, ranks, taken.samples % block)
            }
            None => (taken.samples * ranks, 0, 0),
            // The remainder was dealt one by one, so what is gone is its beginning.
            Some(_) => (taken.samples.saturating_mul(ranks).min(before.len), 0, 0),
        };
        let len = before.len - start - blocks * done;
        Self { start, blocks, block, done, len, skip: taken.more.min(len) }
    }

    /// The position at `at` in the sequence; may be behind the end.
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
    fn dealt(deal: &Deal) -> Vec<u64> {
        let mut all: Vec<u64> = (0..deal.ranks())
            .flat_map(|rank| (0..deal.at_most()).map(move |number| (rank, number)))
            .map(|(rank, number)| deal.position(rank, number))
            .filter_map(|(position, repeated)| (!repeated).then_some(position))
            .collect();
        all.sort_unstable();
        all
    }

    /// The samples that each rank has when each has taken `samples`, without repetitions.
    fn first(deal: &Deal, samples: u64) -> Vec<u64> {
        let take = |rank| (0..samples).map(move |number| deal.position(rank, number));
        let all = (0..deal.ranks()).flat_map(take);
        all.filter_map(|(position, repeated)| (!repeated).then_some(position)).collect()
    }

    #[test]
    fn the_ranks_together_show_each_sample_exactly_once() {
        for ranks in 1..=17 {
            for block in [1, 3, 8, 128, u64::MAX] {
                for len in [0, 1, 5, 8, 16, 17, 100, 255, 1000, 2177] {
                    let deal = Deal::new(len, ranks, block);
                    assert!(dealt(&deal).into_iter().eq(0..len), "{len} to {ranks} in blocks of {block}");
                }
            }
        }
    }

    #[test]
    fn no_rank_gets_more_than_one_sample_more_than_another() {
        for (len, ranks, block) in [(10, 3, 1), (1000, 7, 16), (1030, 8, 128), (2, 5, 128)] {
            let deal = Deal::new(len, ranks, block);
            for rank in 0..ranks {
                let own = |number: u64| !deal.position(rank, number).1;
                let count = (0..=deal.at_most()).filter(|&number| own(number)).count() as u64;
                assert!((deal.at_least()..=deal.at_most()).contains(&count));
                assert!((0..count).all(own), "repetitions come last");
            }
        }
    }

    #[test]
    fn without_blocks_a_rank_takes_every_kth_position() {
        let deal = Deal::new(11, 4, 1);
        let of = |rank| (0..3).map(|number| deal.position(rank, number)).collect::<Vec<_>>();
        assert_eq!(of(1), [(1, false), (5, false), (9, false)]);
        assert_eq!(of(3), [(3, false), (7, false), (0, true)]);
    }

    #[test]
    fn blocks_go_round_and_the_remainder_is_dealt_one_by_one() {
        // Two rounds of two blocks of four, and three positions more.
        let deal = Deal::new(19, 2, 4);
        let of = |rank, numbers: u64| (0..numbers).map(|number| deal.position(rank, number).0).collect();
        let [left, right]: [Vec<u64>; 2] = [of(0, 10), of(1, 9)];
        assert_eq!(left, [0, 1, 2, 3, 8, 9, 10, 11, 16, 18]);
        assert_eq!(right, [4, 5, 6, 7, 12, 13, 14, 15, 17]);
    }

    #[test]
    fn the_number_of_a_position_is_the_inverse_of_the_position_of_a_number() {
        for (len, ranks, block) in
            [(50, 1, 1), (50, 3, 1), (120, 2, 16), (37, 4, 8), (20, 4, 128), (19, 2, 4)]
        {
            let deal = Deal::new(len, ranks, block);
            for (rank, number) in
                (0..ranks).flat_map(|rank| (0..deal.at_most()).map(move |number| (rank, number)))
            {
                let (position, repeated) = deal.position(rank, number);
                assert!(repeated || deal.number(position) == number, "{position} of {deal:?}");
            }
        }
        assert_eq!(Deal::new(1 << 40, 1 << 20, u64::MAX).number((3 << 20) + 7), 3);
    }

    #[test]
    fn what_is_left_at_any_point_is_the_same_for_any_number_of_ranks() {
        for (len, ranks, block) in [(50, 3, 1), (120, 2, 16), (120, 3, 16), (37, 4, 8), (20, 4, 128)] {
            let whole = Deal::new(len, ranks, block);
            for samples in 0..=whole.at_most() + 2 {
                let gone = first(&whole, samples);
                let want: Vec<u64> = (0..len).filter(|position| !gone.contains(position)).collect();
                for others in [1, 2, 3, 5, 17] {
                    let taken = Taken { world_size: ranks, samples, more: 0 };
                    let rest = Deal::resumed(len, others, block, taken);
                    assert_eq!(dealt(&rest), want, "{samples} each of {len} by {ranks}, then {others}");
                    assert_eq!(rest.remaining() as usize, want.len());
                }
            }
        }
    }

    #[test]
    fn an_epoch_may_be_interrupted_again_and_again() {
        let (len, block) = (200, 16);
        let whole = Deal::new(len, 3, block);
        let mut gone = first(&whole, 21);
        let mut taken = Taken { world_size: 3, samples: 21, more: 0 };
        for (ranks, samples) in [(2, 5), (4, 7), (1, 30)] {
            let leg = Deal::resumed(len, ranks, block, taken);
            gone.extend(first(&leg, samples));
            taken.more += ranks * samples;
        }
        gone.extend(dealt(&Deal::resumed(len, 5, block, taken)));
        gone.sort_unstable();
        assert!(gone.into_iter().eq(0..len));
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let len = 1 << 40;
        let deal = Deal::new(len, 1 << 20, u64::MAX);
        assert_eq!(deal.position(7, 3), ((3 << 20) + 7, false));
        let taken = Taken { world_size: 1 << 20, samples: u64::MAX, more: u64::MAX };
        assert_eq!(Deal::resumed(len, 3, u64::MAX, taken).remaining(), 0);
    }
}
