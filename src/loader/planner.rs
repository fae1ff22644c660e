//! Planning: dice, partners, augmentations, and the frozen plan of one sample.
//!
//! What is drawn depends on the seed, the epoch, the sample's index, and its position in the epoch's order, which
//! names the window that partners come from. Threads, batch size and device have no part in it.

use super::report::errors::Failure;
use crate::augment::{Augment, Mixing, Partner as PartnerChoice, RngScope};
use crate::draft::{Draft, Target, op::Op};
use crate::error::{Error, Result, bail};
use crate::geometry::{Orientation, Size};
use crate::label::{Object, Objects, Unit};
use crate::plan::{MAX_IMAGES, Plan};
use crate::rng::{Domain, Draws, Rng, mix};
use crate::sampler::Order;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of partners that one augmentation may ask for.
const MAX_PARTNERS: usize = 9;
/// Ways to partners of partners start here, above all partner numbers, so that their dice never meet.
const NESTED: u32 = 16;

/// The chain of augmentations and what keys its dice.
pub(super) struct Planner {
    pub(super) augments: Vec<Box<dyn Augment>>,
    pub(super) seed: u64,
    pub(super) partner_window: u64,
    /// The epoch from which on nothing is mixed.
    pub(super) close_mosaic: Option<u64>,
    /// Nothing is drawn and nothing is done: images are shown as they are.
    pub(super) bare: bool,
}

/// Gives what is known of the image `index` before it is decoded.
pub(super) type LoadHeader<'a> = dyn FnMut(u64) -> Result<ImageInfo, Failure> + 'a;

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

/// A partner being planned, or the sample itself.
struct Partner {
    index: u64,
    position: u64,
    /// The host's op, and the index among its partners; `None` for the sample itself.
    path: Option<(u32, u32)>,
}

impl Planner {
    /// Refuses chains that could need more images than a sample may read.
    pub(super) fn check_partners(&self) -> Result<()> {
        let mut images = 1usize;
        for augment in &self.augments {
            let (name, partners) = (augment.name(), augment.partners());
            if partners > MAX_PARTNERS {
                bail!(
                    "{name} asks for {partners} partners, but {MAX_PARTNERS} is the most an augmentation may have"
                );
            }
            images *= partners + 1;
            if images > MAX_IMAGES {
                bail!(
                    "with {name} a sample may read {images} images, but {MAX_IMAGES} is the most: use fewer \
                     augmentations that mix samples"
                );
            }
        }
        Ok(())
    }

    /// Consecutive positions whose samples read each other's files, so that they belong on one rank.
    pub(super) fn block(&self) -> u64 {
        let mixes = !self.bare && self.augments.iter().any(|augment| augment.partners() > 0);
        if mixes { self.partner_window } else { 1 }
    }

    /// Plans `sample`; `load_header` is called for every image that it may read.
    pub(super) fn plan(
        &self,
        sample: SampleContext<'_>,
        load_header: &mut LoadHeader<'_>,
    ) -> Result<(Plan, Vec<Op>), PlanError> {
        let host = Partner { index: sample.index, position: sample.position, path: None };
        let ops = if self.bare { 0 } else { self.augments.len() };
        let draft = self.draft(&sample, &host, ops, load_header)?;
        let drawn = draft.ops().to_vec();
        Ok((draft.freeze()?, drawn))
    }

    /// Takes `shown`, the sample or a partner of it, through the first `ops` augmentations.
    fn draft(
        &self,
        sample: &SampleContext<'_>,
        shown: &Partner,
        ops: usize,
        load_header: &mut LoadHeader<'_>,
    ) -> Result<Draft, PlanError> {
        let ImageInfo { stored, orientation, objects } = load_header(shown.index)?;
        let mut draft = Draft::new(shown.index, stored, orientation).with_target(sample.target);
        if let Some(objects) = objects {
            draft = draft.with_objects(objects);
        }
        let closed = self.close_mosaic.is_some_and(|epoch| sample.epoch >= epoch);
        for (at, augment) in self.augments[..ops].iter().enumerate() {
            let most = augment.partners();
            if closed && augment.closes() {
                continue;
            }
            let Mixing { partner: choice, rng: scope } = augment.mixing();
            let mut rng = self.rng(sample, shown, at as u32, scope);
            let has_partners = most > 0 && self.has_partners(sample, shown, choice);
            let wanted = if has_partners && augment.wants_partners(&mut rng) { most } else { 0 };
            let partners = (0..wanted as u32)
                .map(|number| self.partner(sample, shown, (at as u32, number), choice, &mut rng))
                .collect::<Vec<Partner>>();
            let partners = partners
                .iter()
                .map(|partner| self.draft(sample, partner, at, load_header))
                .collect::<Result<Vec<Draft>, PlanError>>()?;
            augment.plan(&mut draft, partners, &mut rng);
        }
        Ok(draft)
    }

    /// The generator of one augmentation for one sample, or for all samples that share its draws.
    fn rng(&self, sample: &SampleContext<'_>, shown: &Partner, op: u32, scope: RngScope) -> Rng {
        let key = sample.key();
        let window = || sample.order.window(shown.position, self.partner_window);
        // Shared draws are the same for all samples that share them, whichever is the host.
        let shared = match scope {
            RngScope::Sample => None,
            RngScope::Window => Some(mix(Domain::Window.tag(), window().start)),
            RngScope::Pair => {
                let other = mirrored(shown.position, &window());
                Some(mix(mix(Domain::Pair.tag(), other.min(shown.position)), other.max(shown.position)))
            }
        };
        match (shared, shown.path) {
            (Some(shared), _) => Rng::new(self.seed, sample.epoch, shared, op),
            (None, None) => Rng::new(self.seed, sample.epoch, key, op),
            (None, Some((host_op, partner))) => {
                Rng::for_partner(self.seed, sample.epoch, key, host_op, partner, op)
            }
        }
    }

    /// Whether there are partners of this kind for the sample.
    fn has_partners(&self, sample: &SampleContext<'_>, host: &Partner, choice: PartnerChoice) -> bool {
        let window = sample.order.window(host.position, self.partner_window);
        choice != PartnerChoice::SecondHalf || host.position - window.start < (window.end - window.start) / 2
    }

    /// The partner `number` from the host's window at its op `op`; if drawn, never the host where there are others.
    fn partner(
        &self,
        sample: &SampleContext<'_>,
        host: &Partner,
        (op, number): (u32, u32),
        choice: PartnerChoice,
        rng: &mut Rng,
    ) -> Partner {
        let window = sample.order.window(host.position, self.partner_window);
        let position = match choice {
            PartnerChoice::Drawn => other_than(host.position, &window, rng),
            PartnerChoice::Previous if host.position == window.start => window.end - 1,
            PartnerChoice::Previous => host.position - 1,
            PartnerChoice::Mirrored | PartnerChoice::SecondHalf => mirrored(host.position, &window),
        };
        let path = match host.path {
            None => number,
            Some((host_op, partner)) => {
                let way = mix(mix(u64::from(host_op), u64::from(partner)), u64::from(number));
                (way as u32).max(NESTED)
            }
        };
        Partner { index: sample.order.index(position), position, path: Some((op, path)) }
    }
}

/// As far from the window's end as `own` is from its start.
fn mirrored(own: u64, window: &Range<u64>) -> u64 {
    window.end - 1 - (own - window.start)
}

fn other_than(own: u64, window: &Range<u64>, rng: &mut Rng) -> u64 {
    let others = window.end - window.start - 1;
    if others == 0 {
        return own;
    }
    let drawn = window.start + u64::from(rng.below(u32::try_from(others).unwrap_or(u32::MAX)));
    if drawn >= own { drawn + 1 } else { drawn }
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
