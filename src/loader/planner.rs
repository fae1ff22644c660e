//! Planning: dice, partners, augmentations, and the frozen plan of one sample.
//!
//! What is drawn depends on the seed, the epoch, the sample's index, and its position in the epoch's order, which
//! names the window that partners come from. Threads, batch size and device have no part in it.

use super::policy::{Failure, Stage};
use crate::augment::{Augment, Dice, Mixing, Partner};
use crate::draft::{Draft, Target, op::Op};
use crate::error::{Error, Result};
use crate::geometry::{Orientation, Size};
use crate::label::{Object, Objects, Unit};
use crate::plan::{MAX_IMAGES, Plan};
use crate::rng::{Draws, Rng, mix};
use crate::sampler::Order;
use std::ops::Range;
use std::sync::Arc;

/// Most partners that one augmentation may ask for.
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

/// Tells what is known of the image `index` before it is decoded.
pub(super) type Look<'a> = dyn FnMut(u64) -> Result<Looked, Failure> + 'a;

/// An image before it is decoded.
pub(super) struct Looked {
    pub(super) stored: Size,
    pub(super) orientation: Orientation,
    /// What is seen in it, where its label says that.
    pub(super) objects: Option<Arc<Objects>>,
}

impl Looked {
    /// A made-up image with a made-up object, since some augmentations do nothing without one.
    pub(super) fn blank(stored: Size) -> Self {
        // Its mirror image lies beside it, so that it can be pasted.
        let polygons = vec![vec![[0.1, 0.2], [0.4, 0.2], [0.3, 0.7]]];
        let object = Object { bbox: [0.1, 0.2, 0.4, 0.7], polygons, ..Object::default() };
        let objects = Objects { unit: Unit::Normalized, list: vec![object], skeleton: None };
        Self { stored, orientation: Orientation::UPRIGHT, objects: Some(Arc::new(objects)) }
    }
}

/// Where a sample stands: what its dice depend on.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) epoch: u64,
    pub(super) order: &'a Order,
    /// Position in the order; names the window of partners.
    pub(super) position: u64,
    /// The sample itself; differs from the order's where it is a substitute.
    pub(super) index: u64,
    /// The size of its batch, where that is not always the same; no dice depend on it.
    pub(super) target: Option<Target>,
}

impl Place<'_> {
    /// What keys the dice. A sample that is drawn twice in an epoch is augmented anew each time.
    fn sample(&self) -> u64 {
        match self.order.repeats() {
            true => mix(mix(0x6469_6365, self.index), self.position),
            false => self.index,
        }
    }
}

/// A sample or partner being planned.
struct Guest {
    index: u64,
    position: u64,
    /// Host's op and partner number; `None` for the sample itself.
    path: Option<(u32, u32)>,
}

impl Planner {
    /// Refuses chains that could need more images than a sample may read.
    pub(super) fn check_partners(&self) -> Result<()> {
        let mut images = 1usize;
        for augment in &self.augments {
            let (name, partners) = (augment.name(), augment.partners());
            if partners > MAX_PARTNERS {
                return Err(Error::config(format!(
                    "{name} asks for {partners} partners, but {MAX_PARTNERS} is the most an augmentation may have"
                )));
            }
            images *= partners + 1;
            if images > MAX_IMAGES {
                return Err(Error::config(format!(
                    "with {name} a sample may read {images} images, but {MAX_IMAGES} is the most: use fewer \
                     augmentations that mix samples"
                )));
            }
        }
        Ok(())
    }

    /// Consecutive positions whose samples read each other's files, so that they belong on one rank.
    pub(super) fn block(&self) -> u64 {
        let mixes = !self.bare && self.augments.iter().any(|augment| augment.partners() > 0);
        if mixes { self.partner_window } else { 1 }
    }

    /// Plans the sample at `place`; `look` is asked for every image that it may read.
    pub(super) fn plan(&self, place: Place<'_>, look: &mut Look<'_>) -> Result<(Plan, Vec<Op>), PlanError> {
        let host = Guest { index: place.index, position: place.position, path: None };
        let ops = if self.bare { 0 } else { self.augments.len() };
        let draft = self.draft(&place, &host, ops, look)?;
        let drawn = draft.ops().to_vec();
        Ok((draft.freeze()?, drawn))
    }

    /// Takes `guest` through the first `ops` augmentations.
    fn draft(
        &self,
        place: &Place<'_>,
        guest: &Guest,
        ops: usize,
        look: &mut Look<'_>,
    ) -> Result<Draft, PlanError> {
        let Looked { stored, orientation, objects } = look(guest.index)?;
        let mut draft = Draft::new(guest.index, stored, orientation).with_target(place.target);
        if let Some(objects) = objects {
            draft = draft.with_objects(objects);
        }
        let closed = self.close_mosaic.is_some_and(|epoch| place.epoch >= epoch);
        for (at, augment) in self.augments[..ops].iter().enumerate() {
            let most = augment.partners();
            if closed && augment.closes() {
                continue;
            }
            let Mixing { partner, dice } = augment.mixing();
            let mut rng = self.dice(place, guest, at as u32, dice);
            let has_partners = most > 0 && self.has_partners(place, guest, partner);
            let wanted = if has_partners && augment.wants_partners(&mut rng) { most } else { 0 };
            let partners = (0..wanted as u32)
                .map(|number| self.partner(place, guest, (at as u32, number), partner, &mut rng))
                .collect::<Vec<Guest>>();
            let partners = partners
                .iter()
                .map(|partner| self.draft(place, partner, at, look))
                .collect::<Result<Vec<Draft>, PlanError>>()?;
            augment.plan(&mut draft, partners, &mut rng);
        }
        Ok(draft)
    }

    fn dice(&self, place: &Place<'_>, guest: &Guest, op: u32, dice: Dice) -> Rng {
        let sample = place.sample();
        let window = || place.order.window(guest.position, self.partner_window);
        // Who is host and who is guest makes no difference to dice that several samples share.
        let shared = match dice {
            Dice::Sample => None,
            Dice::Window => Some(mix(0x7769_6E64, window().start)),
            Dice::Pair => {
                let other = mirrored(guest.position, &window());
                Some(mix(mix(0x7061_6972, other.min(guest.position)), other.max(guest.position)))
            }
        };
        match (shared, guest.path) {
            (Some(shared), _) => Rng::new(self.seed, place.epoch, shared, op),
            (None, None) => Rng::new(self.seed, place.epoch, sample, op),
            (None, Some((host_op, partner))) => {
                Rng::for_partner(self.seed, place.epoch, sample, host_op, partner, op)
            }
        }
    }

    /// Whether there are partners of this kind for the sample.
    fn has_partners(&self, place: &Place<'_>, host: &Guest, choice: Partner) -> bool {
        let window = place.order.window(host.position, self.partner_window);
        choice != Partner::SecondHalf || host.position - window.start < (window.end - window.start) / 2
    }

    /// Partner number `number` of the host's window at its op `op`; if drawn, never the host where there are others.
    fn partner(
        &self,
        place: &Place<'_>,
        host: &Guest,
        (op, number): (u32, u32),
        choice: Partner,
        rng: &mut Rng,
    ) -> Guest {
        let window = place.order.window(host.position, self.partner_window);
        let position = match choice {
            Partner::Drawn => other_than(host.position, &window, rng),
            Partner::Previous if host.position == window.start => window.end - 1,
            Partner::Previous => host.position - 1,
            Partner::Mirrored | Partner::SecondHalf => mirrored(host.position, &window),
        };
        let path = match host.path {
            None => number,
            Some((host_op, partner)) => {
                let way = mix(mix(u64::from(host_op), u64::from(partner)), u64::from(number));
                (way as u32).max(NESTED)
            }
        };
        Guest { index: place.order.index(position), position, path: Some((op, path)) }
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
    /// An image could not be looked at.
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
    /// As the failure of the sample `index`.
    pub(super) fn into_failure(self, index: u64, key: impl FnOnce() -> String) -> Failure {
        match self {
            PlanError::Image(failure) => failure,
            PlanError::Chain(error) => Failure { stage: Stage::Plan, key: key(), index, cause: error.into() },
        }
    }

    /// As an error of the configuration.
    pub(super) fn into_error(self) -> Error {
        match self {
            PlanError::Image(failure) => failure.into_error(),
            PlanError::Chain(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::augment::{MixupMode, TimmMixup};
    use crate::sampler::{Sampler, Shuffle};

    /// Lays its partners over the sample, so that the plan's images tell who was drawn.
    struct Blend(usize);

    impl Augment for Blend {
        fn name(&self) -> &'static str {
            "Blend"
        }

        fn partners(&self) -> usize {
            self.0
        }

        fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, _rng: &mut dyn Draws) {
            for partner in partners {
                let window = draft.size().rect();
                if let Err(error) = draft.blend(partner, 0.5, window, 0.5) {
                    draft.fail(error);
                }
            }
        }
    }

    /// Crops one pixel at a drawn place, so that the plan tells the dice.
    struct Pick;

    impl Augment for Pick {
        fn name(&self) -> &'static str {
            "Pick"
        }

        fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
            let left = rng.below(60_000) as i32;
            draft.apply(Op::Crop { top: 0, left, height: 1, width: 1 });
        }
    }

    fn planner(augments: Vec<Box<dyn Augment>>) -> Planner {
        Planner { augments, seed: 5, partner_window: 16, close_mosaic: None, bare: false }
    }

    fn planned(planner: &Planner, order: &Order, position: u64) -> Plan {
        let place = Place { epoch: 0, order, position, index: order.index(position), target: None };
        let looked = planner.plan(place, &mut |_| Ok(Looked::blank(Size::new(60_000, 1))));
        looked.map_err(PlanError::into_error).unwrap().0
    }

    #[test]
    fn partners_come_from_the_window_and_are_never_the_sample() {
        let planner = planner(vec![Box::new(Blend(3))]);
        let order = Order::shuffled(100, 5, 0);
        for position in 0..100 {
            let plan = planned(&planner, &order, position);
            let window = order.window(position, 16);
            assert_eq!(plan.images.len(), 4);
            for partner in &plan.images[1..] {
                let at = order.position(partner.index).unwrap();
                assert!(window.contains(&at) && at != position, "{at} for {position} in {window:?}");
            }
        }
    }

    #[test]
    fn every_other_sample_of_the_window_is_drawn_sometime() {
        let planner = planner(vec![Box::new(Blend(9))]);
        let order = Order::sequential(16);
        let mut seen = std::collections::HashSet::new();
        for epoch in 0..50 {
            let place = Place { epoch, order: &order, position: 3, index: 3, target: None };
            let looked = planner.plan(place, &mut |_| Ok(Looked::blank(Size::new(4, 4))));
            seen.extend(looked.map_err(PlanError::into_error).unwrap().0.images[1..].iter().map(|i| i.index));
        }
        assert_eq!(seen.len(), 15);
    }

    #[test]
    fn a_sample_that_is_drawn_twice_has_other_dice_each_time() {
        let planner = planner(vec![Box::new(Pick)]);
        let order = Sampler::new(1, Shuffle::Off).weights(&[1.0]).unwrap().order(5, 0);
        let left = |position| {
            let place =
                Place { epoch: 0, order: &order, position, index: order.index(position), target: None };
            let planned = planner.plan(place, &mut |_| Ok(Looked::blank(Size::new(60_000, 1))));
            planned.map_err(PlanError::into_error).unwrap().0.layers[0].clip.x
        };
        assert_eq!(left(0), left(0));
        assert_ne!(left(0), left(1));
    }

    #[test]
    fn a_lone_sample_is_its_own_partner() {
        let planner = planner(vec![Box::new(Blend(1))]);
        let plan = planned(&planner, &Order::sequential(1), 0);
        assert_eq!(plan.images.iter().map(|image| image.index).collect::<Vec<_>>(), [0, 0]);
    }

    #[test]
    fn partners_of_partners_have_their_own_dice() {
        let planner = planner(vec![Box::new(Pick), Box::new(Blend(1)), Box::new(Blend(3))]);
        let plan = planned(&planner, &Order::sequential(1), 0);
        assert_eq!(plan.images.len(), 8);
        let mut crops: Vec<i32> = plan.layers.iter().map(|layer| layer.clip.x).collect();
        crops.sort_unstable();
        crops.dedup();
        assert_eq!(crops.len(), 8, "two of the eight images were cropped by the same dice");
    }

    #[test]
    fn in_half_mode_the_second_half_of_a_window_is_shown_as_it_is_and_mixed_into_the_first() {
        let half = TimmMixup::new(0.8, 0.0).mode(MixupMode::Half);
        let planner = planner(vec![Box::new(half)]);
        let order = Order::shuffled(45, 5, 0);
        for position in 0..45 {
            let window = order.window(position, 16);
            let images: Vec<u64> =
                planned(&planner, &order, position).images.iter().map(|image| image.index).collect();
            let [own, other] =
                [position, window.end - 1 - (position - window.start)].map(|at| order.index(at));
            match position - window.start < (window.end - window.start) / 2 {
                true => assert_eq!(images, [own, other]),
                false => assert_eq!(images, [own]),
            }
        }
    }

    #[test]
    fn chains_that_need_too_many_images_are_refused() {
        let error = planner(vec![Box::new(Blend(7)), Box::new(Blend(4))]).check_partners().unwrap_err();
        assert!(error.to_string().contains("40 images"), "{error}");
        assert!(planner(vec![Box::new(Blend(10))]).check_partners().is_err());
        assert!(planner(vec![Box::new(Blend(7)), Box::new(Blend(3))]).check_partners().is_ok());
    }
}
