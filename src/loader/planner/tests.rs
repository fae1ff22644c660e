//! Partners and the plans of single samples.

use super::*;
use crate::augment::{MixupMode, TimmMixup};
use crate::sampler::{Sampler, Shuffle};

/// Lays its partners over the sample, so that the images of the plan are those that were drawn.
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
    let sample = SampleContext { epoch: 0, order, position, index: order.index(position), target: None };
    let planned = planner.plan(sample, &mut |_| Ok(ImageInfo::made_up(Size::new(60_000, 1))));
    planned.map_err(PlanError::into_error).unwrap().0
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
        let sample = SampleContext { epoch, order: &order, position: 3, index: 3, target: None };
        let planned = planner.plan(sample, &mut |_| Ok(ImageInfo::made_up(Size::new(4, 4))));
        seen.extend(planned.map_err(PlanError::into_error).unwrap().0.images[1..].iter().map(|i| i.index));
    }
    assert_eq!(seen.len(), 15);
}

#[test]
fn a_sample_that_is_drawn_twice_has_other_dice_each_time() {
    let planner = planner(vec![Box::new(Pick)]);
    let order = Sampler::new(1, Shuffle::Off).weights(&[1.0]).unwrap().order(5, 0);
    let left = |position| {
        let sample =
            SampleContext { epoch: 0, order: &order, position, index: order.index(position), target: None };
        let planned = planner.plan(sample, &mut |_| Ok(ImageInfo::made_up(Size::new(60_000, 1))));
        planned.map_err(PlanError::into_error).unwrap().0.layers[0].sampled().unwrap().clip.x
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
    let mut crops: Vec<i32> = plan.layers.iter().map(|layer| layer.sampled().unwrap().clip.x).collect();
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
        let [own, other] = [position, window.end - 1 - (position - window.start)].map(|at| order.index(at));
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
