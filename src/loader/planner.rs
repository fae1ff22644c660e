//! Planning: dice, partners, augmentations, and the frozen plan of one sample.
//!
//! What is drawn depends on the seed, the epoch, the sample's index, and its position in the epoch's order, which
//! names the window that partners come from. Threads, batch size and device have no part in it.

mod containers;
mod partner;
mod walk;

use super::report::errors::Failure;
use crate::augment::View;
use crate::augment::{Augment, Augmentation};
use crate::draft::{Target, op::Op};
use crate::error::{Error, Result, ensure};
use crate::geometry::{Orientation, Size};
use crate::label::{Object, Objects, Unit};
use crate::plan::{MAX_IMAGES, Plan};
use crate::rng::{Domain, mix};
use crate::sampler::Order;
use std::sync::Arc;
use walk::{Walk, Walked};

/// The most augmentations that may run for a sample, counted as often as they run.
const MAX_RUNS: usize = 256;

/// The chain of augmentations and what keys its dice.
pub(super) struct Planner {
    /// Of all views.
    pub(super) augments: Vec<Box<dyn Augment>>,
    /// What follows in each view; none where a sample has one view without a chain of its own.
    pub(super) views: Vec<ViewChain>,
    pub(super) seed: u64,
    pub(super) partner_window: u64,
    /// The epoch from which on nothing is mixed.
    pub(super) mixing_off_epoch: Option<u64>,
    /// Nothing is drawn and nothing is done: images are shown as they are.
    pub(super) bare: bool,
}

/// A view's own augmentations, and what keys their dice.
pub(super) struct ViewChain {
    /// Which of the described views it is.
    pub(super) entry: usize,
    /// Which of those that the description stands for.
    pub(super) copy: usize,
    pub(super) augments: Arc<[Augmentation]>,
}

impl ViewChain {
    /// The chains of all views, in their order.
    pub(super) fn of(views: &[View]) -> Vec<Self> {
        let copies = |(entry, view): (usize, &View)| {
            let augments: Arc<[Augmentation]> = view.transforms.iter().cloned().collect();
            (0..view.count).map(move |copy| Self { entry, copy, augments: Arc::clone(&augments) })
        };
        views.iter().enumerate().flat_map(copies).collect()
    }
}

/// What is to be done to one sample.
#[derive(Debug)]
#[non_exhaustive]
pub struct Planned {
    /// The plan that a device carries out.
    pub plan: Plan,
    /// The ops that were drawn; normalise apart, which is the output's.
    pub ops: Vec<Op>,
    /// What the containers of the chain have chosen, in the order of their turns.
    pub choices: Vec<Choice>,
    /// The partners that were mixed into the sample, in the order in which augmentations took them.
    pub partners: Vec<PlannedPartner>,
}

/// A partner, as it was mixed into a sample: with dice of its own, so that it is not what the epoch shows of it elsewhere.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlannedPartner {
    /// Its index in the source.
    pub index: u64,
    /// The ops that were drawn for it.
    pub ops: Vec<Op>,
}

/// What a container has chosen for a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The container's place in the chain, as a recipe has it and messages name it: `augment[2].transforms[0]`.
    pub place: String,
    /// The container's name.
    pub op: &'static str,
    /// The indices of the transforms that run, in this order.
    pub chosen: Vec<usize>,
}

/// What is known of images before they are decoded.
pub(super) trait Images {
    /// Of the image `index`.
    fn info(&mut self, index: u64) -> Result<ImageInfo, Failure>;

    /// The class of each pixel of the sample that `plan` makes, row by row; `None` where no masks are made, and where none of
    /// its images has one.
    fn classes(&mut self, _plan: &Plan) -> Result<Option<Vec<u8>>, Failure> {
        Ok(None)
    }
}

impl<F: FnMut(u64) -> Result<ImageInfo, Failure>> Images for F {
    fn info(&mut self, index: u64) -> Result<ImageInfo, Failure> {
        self(index)
    }
}

/// An image before it is decoded.
pub(super) struct ImageInfo {
    pub(super) stored: Size,
    pub(super) orientation: Orientation,
    /// What is seen in it, where its label says that.
    pub(super) objects: Option<Arc<Objects>>,
}

impl ImageInfo {
    /// A made-up image with a made-up object, since some augmentations do nothing without one.
    pub(super) fn made_up(stored: Size) -> Self {
        // Its mirror image lies beside it, so that it can be pasted.
        let polygons = vec![vec![[0.1, 0.2], [0.4, 0.2], [0.3, 0.7]]];
        let object = Object { bbox: [0.1, 0.2, 0.4, 0.7], polygons, ..Object::default() };
        let objects = Objects { unit: Unit::Normalized, list: vec![object], skeleton: None };
        Self { stored, orientation: Orientation::UPRIGHT, objects: Some(Arc::new(objects)) }
    }
}

/// What the dice of a sample depend on.
#[derive(Clone, Copy)]
pub(super) struct SampleContext<'a> {
    pub(super) epoch: u64,
    pub(super) order: &'a Order,
    /// Position in the order; names the window of partners.
    pub(super) position: u64,
    /// The sample itself; differs from the order's where it is a substitute.
    pub(super) index: u64,
    /// The size of its batch, where that is not always the same; no dice depend on it.
    pub(super) target: Option<Target>,
}

impl SampleContext<'_> {
    /// What keys the dice. A sample that is drawn twice in an epoch is augmented anew each time.
    fn key(&self) -> u64 {
        match self.order.repeats() {
            true => mix(mix(Domain::Position.tag(), self.index), self.position),
            false => self.index,
        }
    }
}

impl Planner {
    /// Refuses chains that could need more images than a sample may read, or run without end.
    pub(super) fn check_partners(&self) -> Result<()> {
        (0..self.view_count()).try_for_each(|view| self.check_partners_of(view))
    }

    fn check_partners_of(&self, view: usize) -> Result<()> {
        let (mut images, mut runs) = (1usize, 0usize);
        for augment in self.chain(view) {
            let name = augment.name();
            runs = runs.saturating_add(containers::runs_of(augment));
            ensure!(
                runs <= MAX_RUNS,
                "with {name} {runs} augmentations may run for a sample, but {MAX_RUNS} is the most: choose fewer in its \
                 containers"
            );
            images = images.saturating_mul(containers::images_of(augment)?);
            ensure!(
                images <= MAX_IMAGES,
                "with {name} a sample may read {images} images, but {MAX_IMAGES} is the most: use fewer augmentations that mix \
                 samples"
            );
        }
        Ok(())
    }

    /// Consecutive positions whose samples read each other's files, so that they belong on one rank.
    pub(super) fn block(&self) -> u64 {
        if self.mixes_samples() { self.partner_window } else { 1 }
    }

    /// Whether an augmentation takes partners.
    pub(super) fn mixes_samples(&self) -> bool {
        let mut views = 0..self.view_count();
        !self.bare && views.any(|view| self.chain(view).any(|augment| augment.partners() > 0))
    }

    /// Views of a sample.
    pub(super) fn view_count(&self) -> usize {
        self.views.len().max(1)
    }

    /// All augmentations of a view.
    pub(super) fn chain(&self, view: usize) -> impl Iterator<Item = &dyn Augment> {
        let own = self.views.get(view).into_iter().flat_map(|view| view.augments.iter());
        let all = self.augments.iter().map(|augment| &**augment);
        all.chain(own.map(|augment| augment as &dyn Augment))
    }

    /// Plans a view of `sample`; `images` is asked for every image that it may read.
    pub(super) fn plan(
        &self,
        sample: SampleContext<'_>,
        view: usize,
        images: &mut dyn Images,
    ) -> Result<Planned, PlanError> {
        self.plan_way(sample, (view, None), images)
    }

    /// How many ways through the chain of a view there are to try until each transform of each container was planned; 0
    /// where the chain has no containers.
    pub(super) fn ways(&self, view: usize) -> usize {
        let containers = self.chain(view).filter(|augment| !self.bare && augment.container().is_some());
        containers.map(containers::ways_of).max().unwrap_or(0)
    }

    /// The same as [`Planner::plan`] where containers choose what one of these ways says; `None` lets them draw.
    pub(super) fn plan_way(
        &self,
        sample: SampleContext<'_>,
        (view, way): (usize, Option<usize>),
        images: &mut dyn Images,
    ) -> Result<Planned, PlanError> {
        finished(Walk::new(self, &sample, images).sample(view, way)?)
    }

    /// The same where each augmentation runs that can, however small its probability is.
    pub(super) fn plan_all_that_can_run(
        &self,
        sample: SampleContext<'_>,
        (view, way): (usize, Option<usize>),
        images: &mut dyn Images,
    ) -> Result<Planned, PlanError> {
        finished(Walk::new(self, &sample, images).of_all_that_can_run().sample(view, way)?)
    }
}

fn finished(Walked { mut draft, choices, partners }: Walked) -> Result<Planned, PlanError> {
    draft.fill_batch();
    let ops = draft.ops().to_vec();
    Ok(Planned { plan: draft.freeze()?, ops, choices, partners })
}

/// Why there is no plan.
pub(super) enum PlanError {
    /// The header of an image could not be loaded.
    Image(Failure),
    /// The augmentations ask for the impossible.
    Chain(Error),
}

impl From<Failure> for PlanError {
    fn from(failure: Failure) -> Self {
        PlanError::Image(failure)
    }
}

impl From<Error> for PlanError {
    fn from(error: Error) -> Self {
        PlanError::Chain(error)
    }
}

impl PlanError {
    /// As an error of the configuration.
    pub(super) fn into_error(self) -> Error {
        match self {
            PlanError::Image(failure) => failure.into_error(),
            PlanError::Chain(error) => error,
        }
    }
}

#[cfg(test)]
mod tests;
