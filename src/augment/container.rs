//! Containers: augmentations that consist of others, and say which of them run for a sample.

use super::Augmentation;
use super::prelude::*;
use crate::error::Error;
use crate::rng::Certain;
use std::collections::BTreeSet;

/// Most augmentations of a chain, those in containers included.
pub(crate) const MAX_AUGMENTATIONS: usize = 64;
/// Most containers that may stand in one another.
pub(crate) const MAX_DEPTH: usize = 8;

/// An augmentation that consists of others. The loader runs those that [`Container::choose`] names, each with dice of its
/// own, which are keyed by its position in the tree of the chain: a change in one branch draws nothing anew in another.
pub trait Container {
    /// What it consists of.
    fn transforms(&self) -> &[Augmentation];

    /// Which of its transforms run this time, by their indices, in this order. An index that stands there twice runs
    /// twice, with other dice; one that is too large is an error of the sample.
    fn choose(&self, rng: &mut dyn Draws) -> Vec<usize>;

    /// Choices in which each transform that can run is found at least once, and none where that can be: all of them are
    /// planned when a loader is built, and the longest is as long as any can be.
    fn choices(&self) -> Vec<Vec<usize>>;

    /// Whether what it chooses runs whatever its own probability is.
    fn is_certain(&self) -> bool {
        false
    }

    /// Whether it is a level of the tree as recipes write it, so that places name its transforms by their indices.
    fn is_level(&self) -> bool {
        true
    }
}

/// Refuses a container of nothing or of too many others, and one with a transform that refuses its arguments.
pub(super) fn check(name: &str, transforms: &[Augmentation]) -> Result<()> {
    ensure!(
        !transforms.is_empty(),
        "{name}: transforms is empty: list at least one transform, as {{ op = \"RandomHorizontalFlip\" }}"
    );
    ensure!(depth(transforms) < MAX_DEPTH, "{name}: {}", too_deep());
    check_transforms(transforms)
}

/// Refuses a transform that refuses its arguments.
pub(crate) fn check_transforms(transforms: &[Augmentation]) -> Result<()> {
    for (index, transform) in transforms.iter().enumerate() {
        transform.check().map_err(|error| within(&place(index), error))?;
    }
    Ok(())
}

pub(crate) fn too_deep() -> String {
    format!("containers stand in one another more than {MAX_DEPTH} deep: use fewer levels")
}

/// How many containers the deepest of these transforms stands in, from these on.
fn depth(transforms: &[Augmentation]) -> usize {
    let of = |transform: &Augmentation| match (transform, transform.container()) {
        (Augmentation::WithProbability(_), Some(inner)) => depth(inner.transforms()),
        (_, Some(inner)) => 1 + depth(inner.transforms()),
        (_, None) => 0,
    };
    transforms.iter().map(of).max().unwrap_or(0)
}

/// Refuses a chain with an augmentation that refuses its arguments.
pub(crate) fn check_chain<'a>(chain: impl Iterator<Item = &'a dyn Augment>) -> Result<()> {
    for (index, augment) in chain.enumerate() {
        augment.check().map_err(|error| match augment.container() {
            Some(_) => within(&format!("augment[{index}]"), error),
            None => error,
        })?;
    }
    Ok(())
}

/// How many augmentations there are in a list, containers and what stands in them included.
pub(crate) fn count(transforms: &[Augmentation]) -> usize {
    let of = |transform: &Augmentation| match (transform, transform.container()) {
        (Augmentation::WithProbability(_), Some(inner)) => count(inner.transforms()),
        (_, Some(inner)) => 1 + count(inner.transforms()),
        (_, None) => 1,
    };
    transforms.iter().map(of).sum()
}

/// How messages name the transform `index` of a container.
pub(crate) fn place(index: usize) -> String {
    format!("transforms[{index}]")
}

/// A configuration error with the place in the tree that it is about: `augment[2].transforms[0]: ...`.
pub(crate) fn within(place: &str, error: Error) -> Error {
    match error {
        Error::Config(message) => Error::Config(placed(place, &message)),
        other => other,
    }
}

/// A message with the place that it is about, which may name a place in that place already.
pub(crate) fn placed(place: &str, message: &str) -> String {
    let joint = if message.starts_with("transforms[") { "." } else { ": " };
    format!("{place}{joint}{message}")
}

/// Runs what is chosen, all with the same dice and without partners.
pub(super) fn run(container: &dyn Container, draft: &mut Draft, rng: &mut dyn Draws) {
    for index in container.choose(rng) {
        match container.transforms().get(index) {
            Some(transform) if container.is_certain() => {
                transform.plan(draft, Vec::new(), &mut Certain(&mut *rng));
            }
            Some(transform) => transform.plan(draft, Vec::new(), &mut *rng),
            None => draft.fail(out_of_range(index, container.transforms().len())),
        }
    }
}

/// The error of a container that chooses what it has not.
pub(crate) fn out_of_range(index: usize, count: usize) -> Error {
    Error::config(format!(
        "a container has {count} transforms and chose the one with index {index}: mend its choose()"
    ))
}

/// The name of an augmentation that mixes samples: of a container, that of the first in it that can run.
pub(crate) fn mixer(augment: &dyn Augment) -> Option<&'static str> {
    match augment.container() {
        Some(container) => runnable(container).find_map(|transform| mixer(transform)),
        None => (augment.partners() > 0).then(|| augment.name()),
    }
}

/// The most partners that any of its transforms needs.
pub(super) fn partners(container: &dyn Container) -> usize {
    runnable(container).map(Augment::partners).max().unwrap_or(0)
}

/// The transforms that can run, each once.
fn runnable(container: &dyn Container) -> impl Iterator<Item = &Augmentation> {
    let transforms = container.transforms();
    let indices: BTreeSet<usize> = container.choices().into_iter().flatten().collect();
    indices.into_iter().filter_map(|index| transforms.get(index))
}

/// All of `count` transforms, in their order.
pub(super) fn all(count: usize) -> Vec<usize> {
    (0..count).collect()
}

/// All of `count` transforms, none, or both choices, by what the probability `p` of all allows.
pub(super) fn all_or_none(count: usize, p: f32) -> Vec<Vec<usize>> {
    let none = (p < 1.0).then(Vec::new);
    none.into_iter().chain((p > 0.0).then(|| all(count))).collect()
}

/// Each transform that has a weight, none, or both choices, by what the probability `p` of any allows.
pub(super) fn one_each(weights: &[f32], p: f32) -> Vec<Vec<usize>> {
    let each = (0..weights.len()).filter(|&index| p > 0.0 && weights[index] > 0.0).map(|index| vec![index]);
    (p < 1.0).then(Vec::new).into_iter().chain(each).collect()
}

/// An index with a probability proportional to its weight.
pub(super) fn weighted(weights: &[f32], rng: &mut dyn Draws) -> usize {
    let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
    let mut rest = f64::from(rng.uniform()) * total;
    for (index, &weight) in weights.iter().enumerate() {
        rest -= f64::from(weight);
        if rest < 0.0 {
            return index;
        }
    }
    // Only rounding leads here: the last that can be chosen.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}

/// `count` of the indices below `of`, none twice, in a random order.
pub(super) fn drawn(of: usize, count: usize, rng: &mut dyn Draws) -> Vec<usize> {
    let mut indices = all(of);
    for at in 0..count.min(of) {
        indices.swap(at, at + rng.below((of - at) as u32) as usize);
    }
    indices.truncate(count);
    indices
}

/// What a container shares with all others: everything but its arguments.
macro_rules! as_container {
    () => {
        fn container(&self) -> Option<&dyn Container> {
            Some(self)
        }

        fn partners(&self) -> usize {
            container::partners(self)
        }

        fn closes(&self) -> bool {
            false // those of its transforms that close do
        }

        fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
            container::run(self, draft, rng);
        }
    };
}
pub(super) use as_container;
