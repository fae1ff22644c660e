//! A loader as one of several ranks: which one it is, and how it learns that.

use crate::error::{Error, Result};
use crate::loader::{LoaderBuilder, Setup};
use crate::policy::LastBatch;

/// Most ranks of a run.
const MAX_RANKS: u64 = 1 << 20;

impl LoaderBuilder {
    /// Makes the loader rank `rank` of `world_size` (default 0 of 1): together the ranks show each sample of an epoch
    /// once, and each rank makes the same number of batches of the same sizes.
    ///
    /// Rank r of k takes the positions r, r + k, ... of the epoch's order. Where an augmentation mixes samples, whole
    /// partner windows go round the ranks instead, and what is left for an incomplete round is dealt one by one. What
    /// happens to a sample depends on neither number.
    ///
    /// The samples do not always divide evenly; see [`LastBatch`] for what becomes of the remainder.
    pub fn rank(mut self, rank: usize, world_size: usize) -> Self {
        (self.setup.rank, self.setup.world_size) = (rank as u64, world_size as u64);
        self
    }

    /// [`LoaderBuilder::rank`] with what the environment says in `RANK` and `WORLD_SIZE`, as torchrun and most other
    /// launchers set them; rank 0 of 1 where both are missing.
    ///
    /// # Errors
    /// [`Error::Config`] where only one of the two is set, or one is no number.
    pub fn distributed_from_env(self) -> Result<Self> {
        let word = |name: &str| std::env::var_os(name).map(|word| word.to_string_lossy().into_owned());
        let (rank, world_size) = parse(word("RANK").as_deref(), word("WORLD_SIZE").as_deref())?;
        Ok(self.rank(rank, world_size))
    }

    pub(in crate::loader) fn check_ranks(&self, samples: u64) -> Result<()> {
        let Setup { batch_size, last, rank, world_size, .. } = self.setup;
        if !(1..=MAX_RANKS).contains(&world_size) {
            return Err(Error::config(format!(
                "world_size is {world_size}, and may be 1 to {MAX_RANKS}: give the number of processes that train"
            )));
        }
        if rank >= world_size {
            return Err(Error::config(format!(
                "rank is {rank}, but world_size is {world_size}: ranks count from 0 to {}",
                world_size - 1
            )));
        }
        if last == LastBatch::Drop && batch_size as u64 > samples / world_size {
            let each =
                if world_size > 1 { format!(", {} for a rank", samples / world_size) } else { "".into() };
            return Err(Error::config(format!(
                "batch_size is {batch_size}, but the epoch has {samples} samples{each}, so every batch would be \
                 dropped: use a smaller batch_size, or last_batch partial or pad"
            )));
        }
        Ok(())
    }
}

/// Rank and world size from the words of the environment.
fn parse(rank: Option<&str>, world_size: Option<&str>) -> Result<(usize, usize)> {
    let number = |name: &str, word: &str| {
        word.trim().parse::<usize>().map_err(|_| {
            Error::config(format!(
                "{name} is `{word}` in the environment: set it to a whole number, or unset it"
            ))
        })
    };
    match (rank, world_size) {
        (Some(rank), Some(world_size)) => Ok((number("RANK", rank)?, number("WORLD_SIZE", world_size)?)),
        (None, None) => Ok((0, 1)),
        (rank, _) => {
            let (set, missing) = if rank.is_some() { ("RANK", "WORLD_SIZE") } else { ("WORLD_SIZE", "RANK") };
            Err(Error::config(format!(
                "the environment has {set} but not {missing}: set both, as torchrun does, or neither"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_both_numbers_or_none() {
        assert_eq!(parse(Some("3"), Some("8")).unwrap(), (3, 8));
        assert_eq!(parse(None, None).unwrap(), (0, 1));
        let refused = |rank, world_size| parse(rank, world_size).unwrap_err().to_string();
        assert!(refused(Some("3"), None).contains("has RANK but not WORLD_SIZE"));
        assert!(refused(None, Some("8")).contains("has WORLD_SIZE but not RANK"));
        assert!(refused(Some("x"), Some("8")).contains("RANK is `x`"));
    }
}
