//! Which samples an epoch has, and in which order.

use crate::error::{Error, Result, ensure};
use crate::options::LoaderOptions;
use crate::policy::{Mix, MixOrder, StoppingStrategy};
use crate::sampler::{Sampler, Shuffle};
use crate::source::Source;

/// The order of epochs that was asked for.
///
/// # Errors
/// An order of nothing; a subset or weights that do not fit the source, or that cannot be read; what a mixture's order leaves
/// no room for.
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
    let order = source.mix_order().filter(|order| order.mix != Mix::Concat);
    if let Some(order) = &order {
        refuse_selections(options, order.mix)?;
        refuse_repeats(options.repeats(), order)?;
    }
    if let Some(subset) = &options.subset {
        sampler = sampler.subset(subset.read()?)?;
    }
    if let (Shuffle::Shards(_), None) = (shuffle, &options.weights) {
        sampler = sampler.shards(&source.shard_ends())?;
    }
    if let Some(order) = &order {
        sampler = sampler.mixture(order)?;
    }
    let sampler = match &options.weights {
        Some(weights) => sampler.weights(&weights.read()?)?,
        None => sampler,
    };
    Ok(sampler.repeats(options.repeats()))
}

/// A subset and weights are of one index, and not of data sets that have an order of their own.
fn refuse_selections(options: &LoaderOptions, mix: Mix) -> Result<()> {
    let word = if mix == Mix::Chain { "chain" } else { "weighted" };
    let given = [("subset", options.subset.is_some()), ("weights", options.weights.is_some())];
    match given.into_iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Error::config(format!(
            "[loader]: {name} chooses among the samples of all data sets together, and mix = \"{word}\" orders them by data \
             set: leave {name} out, or set mix to concat"
        ))),
        None => Ok(()),
    }
}

/// Repeats show the first part of an order, which has to be one of all data sets.
fn refuse_repeats(repeats: u64, order: &MixOrder) -> Result<()> {
    let MixOrder { mix, stopping_strategy, epoch_samples, .. } = order;
    let shows = match (mix, stopping_strategy, epoch_samples) {
        _ if repeats <= 1 => return Ok(()),
        (Mix::Chain, ..) => "mix = \"chain\" would never show the last data sets",
        (Mix::Weighted, StoppingStrategy::AllExhausted, None) => {
            "stopping_strategy = \"all_exhausted\" would not show each data set whole"
        }
        _ => return Ok(()),
    };
    Err(Error::config(format!(
        "[loader]: repeats = {repeats} shows the first part of an epoch's order, so that {shows}: set repeats to 1, or mix \
         otherwise (concat, or weighted with epoch_samples)"
    )))
}
