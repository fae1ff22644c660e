//! Which samples an epoch has, and in which order.

use crate::error::{Result, ensure};
use crate::options::LoaderOptions;
use crate::sampler::{Sampler, Shuffle};
use crate::source::Source;

/// The order of epochs that was asked for.
///
/// # Errors
/// An order of nothing; a subset or weights that do not fit the source, or that cannot be read.
pub(in crate::loader) fn sampler(options: &LoaderOptions, source: &dyn Source) -> Result<Sampler> {
    let shuffle = match (options.shuffle_window, options.shuffle_shards) {
        (Some(samples), _) => Shuffle::Window(samples),
        (None, Some(shards)) => Shuffle::Shards(shards),
        (None, None) => options.shuffle().into(),
    };
    ensure!(
        shuffle != Shuffle::Window(0),
        "shuffle: a window of 0 samples holds nothing: give the samples of a run"
    );
    ensure!(shuffle != Shuffle::Shards(0), "shuffle: 0 shards at a time hold nothing: mix at least 1");
    let mut sampler = Sampler::new(source.len() as u64, shuffle);
    if let Some(subset) = &options.subset {
        sampler = sampler.subset(subset.read()?)?;
    }
    if let (Shuffle::Shards(_), None) = (shuffle, &options.weights) {
        sampler = sampler.shards(&source.shard_ends())?;
    }
    let sampler = match &options.weights {
        Some(weights) => sampler.weights(&weights.read()?)?,
        None => sampler,
    };
    Ok(sampler.repeats(options.repeats()))
}
