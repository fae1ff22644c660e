//! Partners and the plans of single samples.

use super::*;
use crate::augment::{MixupMode, TimmMixup};
use crate::draft::Draft;
use crate::rng::Draws;
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
    Planner { augments, views: Vec::new(), seed: 5, partner_window: 16, mixing_off_epoch: None, bare: false }
}

fn planned(planner: &Planner, order: &Order, position: u64) -> Plan {
    let sample = SampleContext { epoch: 0, order, position, index: order.index(position), target: None };
    let planned = planner.plan(sample, 0, &mut |_: u64| Ok(ImageInfo::made_up(Size::new(60_000, 1))));
    planned.map_err(PlanError::into_error).unwrap().plan
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
        let planned = planner.plan(sample, 0, &mut |_: u64| Ok(ImageInfo::made_up(Size::new(4, 4))));
        seen.extend(planned.map_err(PlanError::into_error).unwrap().plan.images[1..].iter().map(|i| i.index));
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
        let planned = planner.plan(sample, 0, &mut |_: u64| Ok(ImageInfo::made_up(Size::new(60_000, 1))));
        planned.map_err(PlanError::into_error).unwrap().plan.layers[0].sampled().unwrap().clip.x
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

mod in_containers {
    use super::*;
    use crate::augment::{
        Augmentation, ColorJitter, Compose, Container, CutMix, MixUp, Mosaic, OneOf, RandomApply,
        RandomChoice, RandomCrop, RandomHorizontalFlip, RandomInvert, RandomOrder, SomeOf,
    };

    fn jitter() -> Augmentation {
        ColorJitter::new(0.9, 0.0, 0.0, 0.0).into()
    }

    fn chain(augments: impl IntoIterator<Item = Augmentation>) -> Planner {
        let boxed = augments.into_iter().map(|augment| Box::new(augment) as Box<dyn Augment>);
        planner(boxed.collect())
    }

    fn ops(planner: &Planner, index: u64) -> Planned {
        let order = Order::sequential(64);
        let sample = SampleContext { epoch: 0, order: &order, position: index, index, target: None };
        let planned = planner.plan(sample, 0, &mut |_: u64| Ok(ImageInfo::made_up(Size::new(400, 300))));
        planned.map_err(PlanError::into_error).unwrap()
    }

    fn factors(ops: &[Op]) -> Vec<f64> {
        let factor = |op: &Op| match op {
            Op::Brightness { factor } => Some(*factor),
            _ => None,
        };
        ops.iter().filter_map(factor).collect()
    }

    #[test]
    fn a_change_in_one_branch_draws_nothing_anew_in_another_or_after_the_container() {
        let with = |first: Augmentation| {
            chain([RandomOrder::new([first, jitter()]).into(), jitter(), RandomCrop::new(8).into()])
        };
        let one = with(RandomInvert::new(0.0).into());
        let other = with(Compose::new([RandomHorizontalFlip::new(0.0).into(), jitter().with_p(0.0)]).into());
        for index in 0..20 {
            let (one, other) = (ops(&one, index), ops(&other, index));
            assert_eq!(factors(&one.ops), factors(&other.ops));
            assert_eq!((factors(&one.ops).len(), one.ops.last()), (2, other.ops.last()));
            assert_ne!(factors(&one.ops)[0], factors(&one.ops)[1]);
        }
    }

    #[test]
    fn dice_depend_on_all_of_the_way_and_on_how_often_a_transform_has_run() {
        let same = || Augmentation::from(Compose::new([jitter(), jitter()]));
        let nested = chain([jitter(), same(), Compose::new([same(), same()]).into(), same()]);
        let mut all = factors(&ops(&nested, 3).ops);
        assert_eq!(all.len(), 9);
        all.extend(factors(&ops(&chain([SomeOf::new([jitter()], 5).replace(true).into()]), 3).ops));
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        assert_eq!(all.len(), 14, "two of the transforms drew the same");
    }

    #[test]
    fn what_is_not_chosen_does_nothing_and_what_is_chosen_is_told() {
        let planner = chain([RandomChoice::new([
            Compose::new([RandomInvert::new(1.0).into(), RandomHorizontalFlip::new(1.0).into()]).into(),
            jitter(),
        ])
        .into()]);
        let mut seen = [0; 2];
        for index in 0..64 {
            let Planned { ops, choices, .. } = ops(&planner, index);
            assert_eq!((choices[0].place.as_str(), choices[0].op), ("augment[0]", "RandomChoice"));
            match choices[0].chosen[..] {
                [0] => assert_eq!(ops, [Op::Invert {}, Op::Hflip {}]),
                _ => assert!(matches!(ops[..], [Op::Brightness { .. }]), "{ops:?}"),
            }
            if choices[0].chosen == [0] {
                assert_eq!(choices[1].place, "augment[0].transforms[0]");
                assert_eq!(choices[1].chosen, [0, 1]);
            }
            seen[choices[0].chosen[0]] += 1;
        }
        assert!(seen.iter().all(|&count| count > 15), "{seen:?}");
    }

    #[test]
    fn partners_follow_the_branch_of_their_host_with_dice_of_their_own() {
        let planner = chain([
            RandomCrop::new(200).into(),
            RandomApply::new([jitter(), MixUp::new(1.0).into()]).p(1.0).into(),
        ]);
        for index in 0..8 {
            let Planned { plan, .. } = ops(&planner, index);
            assert_eq!(plan.images.len(), 2);
            let steps: Vec<_> = plan.steps.iter().map(|step| step.args).collect();
            assert_eq!(steps.len(), 2, "the partner was jittered as well");
            assert_ne!(steps[0], steps[1]);
            let crops: Vec<_> = plan.layers.iter().map(|layer| layer.sampled().unwrap().clip).collect();
            assert_ne!(crops[0], crops[1]);
        }
    }

    #[test]
    fn a_choice_between_mixes_is_that_of_the_window() {
        let mixes = RandomChoice::new([MixUp::new(1.0).into(), CutMix::new(1.0).into()]);
        let planner = chain([RandomCrop::new(200).into(), mixes.into()]);
        let mut kinds = std::collections::HashSet::new();
        for window in 0..4 {
            let chosen: Vec<_> =
                (0..16).map(|index| ops(&planner, 16 * window + index).choices[0].chosen.clone()).collect();
            assert!(chosen.iter().all(|other| *other == chosen[0]), "{chosen:?}");
            kinds.insert(chosen[0].clone());
        }
        assert_eq!(kinds.len(), 2, "both are chosen for some window");
    }

    #[test]
    fn what_closes_in_a_container_is_left_out_alone() {
        let mut planner =
            chain([RandomApply::new([Mosaic::new(64).into(), RandomInvert::new(1.0).into()]).p(1.0).into()]);
        assert_eq!(ops(&planner, 0).plan.images.len(), 4);
        planner.mixing_off_epoch = Some(0);
        let Planned { plan, ops, .. } = ops(&planner, 0);
        assert_eq!((plan.images.len(), ops), (1, vec![Op::Invert {}]));
    }

    #[test]
    fn the_images_of_a_choice_are_those_of_its_largest_branch() {
        let mix = || Augmentation::from(MixUp::new(1.0));
        let mosaic = || Augmentation::from(Mosaic::new(64));
        let images = |augment: Augmentation| containers::images_of(&augment).unwrap();
        assert_eq!(images(RandomChoice::new([mix(), mosaic()]).into()), 4);
        assert_eq!(images(OneOf::new([mix(), mosaic()]).into()), 4);
        assert_eq!(images(RandomApply::new([mix(), mosaic()]).into()), 8);
        assert_eq!(images(RandomApply::new([mix(), mosaic()]).p(0.0).into()), 1);
        assert_eq!(images(SomeOf::new([jitter(), mix(), mosaic()], 2).into()), 8);
        assert_eq!(images(SomeOf::new([mix(), mosaic()], 3).replace(true).into()), 64);
        assert_eq!(images(mosaic().with_p(0.1)), 4);
        let many = chain([SomeOf::new([mosaic()], 40).replace(true).into()]);
        assert!(many.check_partners().unwrap_err().to_string().contains("with SomeOf"));
    }

    #[test]
    fn every_way_through_a_tree_is_tried() {
        let choice = |a, b| Augmentation::from(RandomChoice::new([a, b]));
        let (a, b, c) = (RandomInvert::new(1.0), RandomHorizontalFlip::new(1.0), jitter().with_p(0.001));
        let planner = chain([choice(choice(a.into(), b.into()), c), RandomApply::new([jitter()]).into()]);
        assert_eq!(planner.ways(0), 4);
        let order = Order::sequential(4);
        let sample = SampleContext { epoch: 0, order: &order, position: 0, index: 0, target: None };
        let mut names = Vec::new();
        for way in 0..planner.ways(0) {
            let made_up = &mut |_: u64| Ok(ImageInfo::made_up(Size::new(4, 4)));
            let planned = planner.plan_way(sample, (0, Some(way)), made_up);
            names.push(
                planned.map_err(PlanError::into_error).unwrap().ops.iter().map(Op::name).collect::<Vec<_>>(),
            );
        }
        assert_eq!(
            names,
            [vec!["invert"], vec!["hflip", "brightness"], vec![], vec!["brightness", "brightness"]]
        );
    }

    #[test]
    fn trees_that_would_run_without_end_are_refused_at_once() {
        let nest = |inner: Augmentation, levels: usize, outer: &dyn Fn(Augmentation) -> Augmentation| {
            (0..levels).fold(inner, |tree, _| outer(tree))
        };
        let began = std::time::Instant::now();
        let again = |tree| SomeOf::new([tree], 64).replace(true).into();
        let refused = chain([nest(jitter(), 8, &again)]).check_partners().unwrap_err().to_string();
        assert!(refused.starts_with("with SomeOf ") && refused.contains("256 is the most"), "{refused}");
        let all = |tree| SomeOf::new([vec![jitter(); 6], vec![tree]].concat(), 7).into();
        let planner = chain([nest(jitter(), 8, &all)]);
        planner.check_partners().unwrap();
        assert_eq!(planner.ways(0), 1);
        let one = |tree| OneOf::new([jitter(), tree]).into();
        let planner = chain([nest(jitter(), 8, &one)]);
        assert_eq!(planner.ways(0), 17);
        ops(&planner, 0);
        assert!(began.elapsed().as_secs() < 5);
    }

    #[test]
    fn images_that_come_by_two_mixes_of_one_container_have_dice_of_their_own() {
        let planner = chain([
            RandomCrop::new(20).into(),
            Compose::new([Mosaic::new(64).into(), MixUp::new(1.0).into(), MixUp::new(1.0).into()]).into(),
        ]);
        let order = Order::sequential(1);
        let sample = SampleContext { epoch: 0, order: &order, position: 0, index: 0, target: None };
        let planned =
            planner.plan(sample, 0, &mut |_: u64| Ok(ImageInfo::made_up(Size::new(60_000, 50_000))));
        let plan = planned.map_err(PlanError::into_error).unwrap().plan;
        assert_eq!(plan.images.len(), 16);
        let mut crops: Vec<(i32, i32)> = plan
            .layers
            .iter()
            .filter_map(|layer| layer.sampled())
            .filter(|sampled| matches!(sampled.from, crate::plan::LayerSource::Image(_)))
            .map(|sampled| (sampled.clip.x, sampled.clip.y))
            .collect();
        crops.sort_unstable();
        crops.dedup();
        assert_eq!(crops.len(), 16, "two of the images were cropped by the same dice");
    }

    #[test]
    fn an_error_has_the_place_of_the_transform_that_made_it() {
        let error = |planner: &Planner, sizes: &dyn Fn(u64) -> u32| {
            let order = Order::sequential(16);
            let sample = SampleContext { epoch: 0, order: &order, position: 0, index: 0, target: None };
            let planned = planner
                .plan(sample, 0, &mut |index| Ok(ImageInfo::made_up(Size::new(sizes(index), sizes(index)))));
            planned.map_err(PlanError::into_error).unwrap_err().to_string()
        };
        let apply = |inner: [Augmentation; 2]| Augmentation::from(RandomApply::new(inner).p(1.0));
        let mixed = || Augmentation::from(MixUp::new(1.0));
        let inside = chain([jitter(), apply([jitter(), apply([jitter(), RandomCrop::new(100).into()])])]);
        let own = error(&inside, &|_| 30);
        assert!(own.starts_with("augment[1].transforms[1].transforms[1]: "), "{own}");
        let ahead = chain([RandomCrop::new(100).into(), apply([jitter(), mixed()])]);
        let of_partner = error(&ahead, &|index| if index == 0 { 200 } else { 30 });
        assert!(!of_partner.contains("augment["), "{of_partner}");
        let beside = chain([jitter(), apply([apply([jitter(), RandomCrop::new(100).into()]), mixed()])]);
        let of_partner = error(&beside, &|index| if index == 0 { 200 } else { 30 });
        assert!(of_partner.starts_with("augment[1].transforms[0].transforms[1]: "), "{of_partner}");
    }

    #[test]
    fn a_probability_beside_the_arguments_is_no_level_of_a_place() {
        let (mostly, hardly) = (1.0 - f32::EPSILON, f32::EPSILON);
        let pair = |last: Augmentation| Compose::new([jitter().with_p(mostly), last.with_p(mostly)]);
        let outer = |p| chain([Augmentation::from(pair(RandomInvert::new(1.0).into())).with_p(p)]);
        let chosen = |p| {
            let choices = ops(&outer(p), 0).choices;
            choices.into_iter().map(|Choice { place, op, chosen }| (place, op, chosen)).collect::<Vec<_>>()
        };
        let of = |place: &str, op, chosen: &[usize]| (place.to_owned(), op, chosen.to_vec());
        let all = [of("augment[0]", "Compose", &[0, 1]), of("augment[0].transforms[0]", "ColorJitter", &[0])];
        assert_eq!(chosen(mostly)[..2], all);
        assert_eq!(chosen(hardly), [of("augment[0]", "Compose", &[])]);
        let large = pair(RandomCrop::new(500).into());
        let planner = chain([jitter().with_p(mostly), Augmentation::from(large).with_p(mostly)]);
        let order = Order::sequential(1);
        let sample = SampleContext { epoch: 0, order: &order, position: 0, index: 0, target: None };
        let planned = planner.plan(sample, 0, &mut |_: u64| Ok(ImageInfo::made_up(Size::new(400, 300))));
        let error = planned.map_err(PlanError::into_error).unwrap_err().to_string();
        assert!(error.starts_with("augment[1].transforms[1]: RandomCrop"), "{error}");
    }

    #[test]
    fn a_choice_that_is_not_there_is_an_error_and_no_panic() {
        struct Wild(Vec<Augmentation>);

        impl Augment for Wild {
            fn container(&self) -> Option<&dyn Container> {
                Some(self)
            }

            fn plan(&self, _draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {}
        }

        impl Container for Wild {
            fn transforms(&self) -> &[Augmentation] {
                &self.0
            }

            fn choose(&self, _rng: &mut dyn Draws) -> Vec<usize> {
                vec![0, 7]
            }

            fn choices(&self) -> Vec<Vec<usize>> {
                vec![vec![7]]
            }
        }

        let planner = planner(vec![Box::new(Wild(vec![jitter()]))]);
        planner.check_partners().unwrap();
        let order = Order::sequential(1);
        let sample = SampleContext { epoch: 0, order: &order, position: 0, index: 0, target: None };
        for way in [None, Some(0)] {
            let planned =
                planner.plan_way(sample, (0, way), &mut |_: u64| Ok(ImageInfo::made_up(Size::new(4, 4))));
            let error = planned.map_err(PlanError::into_error).unwrap_err().to_string();
            assert!(error.starts_with("augment[0]: a container has 1 transforms"), "{error}");
        }
    }
}
