//! Where a run stands, small enough to be saved at every batch, and going on from there.

use crate::error::{Error, Result, bail};
use crate::loader::epoch::fingerprint::Fingerprints;
use crate::loader::epoch::plan::EpochPlan;
use crate::loader::worker::context::Context;
use crate::sampler::{Consumed, RankPartition, Shuffle};
use serde::{Deserialize, Serialize};

/// The version of [`State`] that this crate writes, and the only one that it reads.
pub const STATE_VERSION: u32 = 2;

/// Where a run stands: everything that [`resume`](crate::loader::Loader::resume) needs, as plain data for JSON or any other
/// format of serde.
///
/// It is the same on all ranks, and of a few hundred bytes whatever the data set's size. It names what the run was
/// made of, so that a loader of other data, of another recipe or with another seed refuses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct State {
    /// [`STATE_VERSION`] at the time of writing.
    pub version: u32,
    /// The epoch that runs.
    pub epoch: u64,
    /// Batches that each rank was handed since the epoch's start or, where `before` is set, since it was resumed.
    pub steps: u64,
    /// Rows of a batch.
    pub batch_size: u64,
    /// Number of ranks.
    pub world_size: u64,
    /// What was dealt before, where the epoch was resumed with other batches or other ranks than it began with.
    pub before: Option<Consumed>,
    /// The seed of all dice and orders.
    pub seed: u64,
    /// Samples of an epoch.
    pub samples: u64,
    /// How an epoch is ordered.
    pub shuffle: Shuffle,
    /// Consecutive positions that went to one rank: the partner window, or 1 where no augmentation mixes samples.
    pub block: u64,
    /// Fingerprint of the source: keys and classes of all its samples.
    pub source: String,
    /// Fingerprint of subset and weights.
    pub selection: String,
    /// Fingerprint of the recipe: the plans that it makes of images that do not exist, and the output.
    pub recipe: String,
}

/// Where a run stands `steps` batches into this plan.
pub(in crate::loader) fn state(context: &Context, plan: &EpochPlan, steps: u64) -> State {
    let Fingerprints { source, selection, recipe } = context.fingerprints();
    State {
        version: STATE_VERSION,
        epoch: plan.epoch,
        steps,
        batch_size: plan.batch_size as u64,
        world_size: plan.partition.ranks(),
        before: plan.consumed,
        seed: plan.seed,
        samples: plan.order.len(),
        shuffle: context.sampler.shuffle(),
        block: context.planner.block(),
        source: source.clone(),
        selection: selection.clone(),
        recipe: recipe.clone(),
    }
}

/// What is left of the epoch that `state` was taken in, where `plan` is the whole of it, and the first batch of that.
pub(in crate::loader) fn rest(mut plan: EpochPlan, block: u64, state: &State) -> (EpochPlan, usize) {
    let same = state.batch_size == plan.batch_size as u64 && state.world_size == plan.partition.ranks();
    let (consumed, first) = match (same, state.before) {
        (true, before) => (before, usize::try_from(state.steps).unwrap_or(usize::MAX)),
        (false, None) => {
            let samples = state.steps.saturating_mul(state.batch_size);
            (Some(Consumed { world_size: state.world_size, samples, more: 0 }), 0)
        }
        (false, Some(before)) => {
            let rows = state.steps.saturating_mul(state.batch_size).saturating_mul(state.world_size);
            (Some(Consumed { more: before.more.saturating_add(rows), ..before }), 0)
        }
    };
    if let Some(consumed) = consumed {
        let (len, ranks) = (plan.order.len(), plan.partition.ranks());
        let partition = RankPartition::resumed(len, ranks, block, consumed);
        plan = EpochPlan { partition, found: std::sync::Arc::default(), ..plan };
    }
    (EpochPlan { consumed, ..plan }, first)
}

/// Refuses a state that does not fit a loader of this context, seed and block.
///
/// # Errors
/// [`Error::Config`] naming the field.
pub(in crate::loader) fn check(state: &State, context: &Context, (seed, block): (u64, u64)) -> Result<()> {
    let Fingerprints { source, selection, recipe } = context.fingerprints();
    let same = |name: &str, theirs: &dyn std::fmt::Debug, ours: &dyn std::fmt::Debug, remedy: &str| {
        let (theirs, ours) = (format!("{theirs:?}"), format!("{ours:?}"));
        if theirs == ours {
            return Ok(());
        }
        Err(Error::config(format!(
            "the state cannot be resumed: its {name} is {theirs}, and this loader's is {ours}; {remedy}"
        )))
    };
    let as_saved = "build the loader as it was when the state was saved, or start the epoch anew";
    if state.version < STATE_VERSION {
        bail!(
            "the state cannot be resumed: its version is {}, written by an older feedline, and this one's is \
             {STATE_VERSION}; finish the epoch with the older one, or start at the next epoch with epoch({})",
            state.version,
            state.epoch.saturating_add(1)
        );
    }
    same("version", &state.version, &STATE_VERSION, "use the feedline that saved it")?;
    same("seed", &state.seed, &seed, as_saved)?;
    same("samples", &state.samples, &context.sampler.len(), as_saved)?;
    same("shuffle", &state.shuffle, &context.sampler.shuffle(), as_saved)?;
    same("block", &state.block, &block, "set the same partner_window and augmentations")?;
    same("source", &state.source, source, "open the same files with the same classes, in the same order")?;
    same("selection", &state.selection, selection, "give the same subset, weights and repeats")?;
    same("recipe", &state.recipe, recipe, "set the same augmentations and output")?;
    let zero = [("batch_size", state.batch_size), ("world_size", state.world_size)];
    match zero.iter().find(|(_, count)| *count == 0) {
        Some((name, _)) => Err(Error::config(format!(
            "the state cannot be resumed: its {name} is 0; use a state that Epoch::state made"
        ))),
        None => Ok(()),
    }
}
