//! A loader as one of several ranks: which one it is, and how it learns that.

use crate::error::{Error, Result, bail, ensure};
use crate::loader::Setup;
use crate::options::{DeviceWord, Distributed, LoaderOptions, Options};
use crate::policy::LastBatch;
use std::str::FromStr;

/// Maximum number of ranks of a run.
const MAX_RANKS: u64 = 1 << 20;

/// The rank and the number of ranks that were asked for; 0 of 1 by default.
///
/// # Errors
/// [`Error::Config`] where half of it is said, or more than all.
pub(in crate::loader) fn asked(options: &LoaderOptions) -> Result<(usize, usize)> {
    match (options.distributed, options.rank, options.world_size) {
        (None, None, None) => Ok((0, 1)),
        (None, Some(rank), Some(world_size)) => Ok((rank, world_size)),
        (Some(Distributed::Env), None, None) => of_environment(),
        (Some(Distributed::Env), ..) => Err(Error::config(
            "distributed=\"env\" takes rank and world_size from the environment: leave them out",
        )),
        (None, ..) => Err(Error::config("rank and world_size belong together: give both, or none")),
    }
}

/// Rank and number of ranks as RANK and WORLD_SIZE say them; 0 of 1 where both are missing.
pub(in crate::loader) fn of_environment() -> Result<(usize, usize)> {
    parse(word("RANK").as_deref(), word("WORLD_SIZE").as_deref())
}

/// The device that the options name; without a number it is that of `LOCAL_RANK`, where ranks come from the environment.
///
/// # Errors
/// [`Error::Config`] where `LOCAL_RANK` is no number.
pub(in crate::loader) fn device(options: &Options) -> Result<DeviceWord> {
    let named = options.device.name();
    match word("LOCAL_RANK").filter(|_| options.loader.distributed.is_some()) {
        Some(local) => Ok(named.of_local_rank(number("LOCAL_RANK", &local)?)),
        None => Ok(named),
    }
}

/// The GPU that is this process's among those of the machine, as launchers say it, whoever makes the ranks; else the first.
pub(in crate::loader) fn device_of_process() -> u32 {
    word("LOCAL_RANK").and_then(|word| word.trim().parse().ok()).unwrap_or(0)
}

fn word(name: &str) -> Option<String> {
    std::env::var_os(name).map(|word| word.to_string_lossy().into_owned())
}

fn number<T: FromStr>(name: &str, word: &str) -> Result<T> {
    word.trim().parse().map_err(|_| {
        Error::config(format!("{name} is `{word}` in the environment: set it to a whole number, or unset it"))
    })
}

pub(in crate::loader) fn check(setup: &Setup, samples: u64) -> Result<()> {
    let Setup { batch_size, last, rank, world_size, .. } = *setup;
    ensure!(
        (1..=MAX_RANKS).contains(&world_size),
        "world_size is {world_size}, and may be 1 to {MAX_RANKS}: give the number of processes that train"
    );
    if rank >= world_size {
        bail!("rank is {rank}, but world_size is {world_size}: ranks count from 0 to {}", world_size - 1);
    }
    if last == LastBatch::Drop && batch_size as u64 > samples / world_size {
        let each = if world_size > 1 { format!(", {} for a rank", samples / world_size) } else { "".into() };
        bail!(
            "batch_size is {batch_size}, but the epoch has {samples} samples{each}, so every batch would be \
             dropped: use a smaller batch_size, or last_batch partial or pad"
        );
    }
    Ok(())
}

/// Rank and world size from the words of the environment.
fn parse(rank: Option<&str>, world_size: Option<&str>) -> Result<(usize, usize)> {
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
