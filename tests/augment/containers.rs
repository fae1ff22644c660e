//! What containers choose, as often as the library that each comes from would.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::augment::{
    Augment, Augmentation, ColorJitter, Compose, Container, CopyPaste, MixUp, OneOf, RandomApply,
    RandomChoice, RandomHorizontalFlip, RandomInvert, RandomOrder, RandomPhotometricDistort,
    RandomVerticalFlip, SomeOf,
};
use feedline::draft::Draft;
use feedline::draft::op::Op;
use feedline::geometry::{Orientation, Size};
use feedline::rng::Rng;
use std::collections::HashMap;

const SAMPLES: u64 = 20_000;

/// Refuses counts whose chi-square is one of a hundred thousand, or that hold what is not expected.
fn check(container: &dyn Container, expected: &[(&[usize], f64)]) {
    let mut counts: HashMap<Vec<usize>, f64> = HashMap::new();
    for sample in 0..SAMPLES {
        *counts.entry(container.choose(&mut Rng::new(7, 0, sample, 0))).or_default() += 1.0;
    }
    let sum: f64 = expected.iter().map(|(_, p)| p).sum();
    assert!((sum - 1.0).abs() < 1e-9, "the expected probabilities sum to {sum}");
    let mut chi_square = 0.0;
    for (chosen, p) in expected {
        let (got, want) = (counts.remove(*chosen).unwrap_or(0.0), p * SAMPLES as f64);
        chi_square += (got - want).powi(2) / want;
    }
    assert!(counts.is_empty(), "not expected: {counts:?}");
    // The quantile by Wilson and Hilferty's approximation; 4.265 is that of the normal distribution.
    let freedom = (expected.len() - 1).max(1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    let bound = freedom * (1.0 - spread + 4.265 * spread.sqrt()).powi(3);
    assert!(chi_square < bound, "chi-square {chi_square} of at most {bound}");
}

fn three() -> [Augmentation; 3] {
    [
        RandomInvert::new(0.5).into(),
        RandomHorizontalFlip::new(0.25).into(),
        ColorJitter::new(0.4, 0.0, 0.0, 0.0).into(),
    ]
}

fn ops(augment: &dyn Augment, seed: u64) -> Vec<Op> {
    let mut draft = Draft::new(0, Size::new(40, 30), Orientation::UPRIGHT);
    augment.plan(&mut draft, Vec::new(), &mut Rng::new(seed, 0, 0, 0));
    draft.ops().to_vec()
}

#[test]
fn each_container_chooses_as_often_as_its_library() {
    let (empty, all): (&[usize], &[usize]) = (&[], &[0, 1, 2]);
    check(&Compose::new(three()), &[(all, 1.0)]);
    check(&RandomApply::new(three()), &[(all, 0.5), (empty, 0.5)]);
    check(&RandomApply::new(three()).p(0.8), &[(all, 0.8), (empty, 0.2)]);
    let thirds = [(&[0][..], 1.0 / 3.0), (&[1], 1.0 / 3.0), (&[2], 1.0 / 3.0)];
    check(&RandomChoice::new(three()), &thirds);
    check(&RandomChoice::new(three()).p([0.6, 0.0, 0.4]), &[(&[0], 0.6), (&[2], 0.4)]);
    let orders: [&[usize]; 6] = [&[0, 1, 2], &[0, 2, 1], &[1, 0, 2], &[1, 2, 0], &[2, 0, 1], &[2, 1, 0]];
    check(&RandomOrder::new(three()), &orders.map(|order| (order, 1.0 / 6.0)));
    // The weights are p, which are 0.5, 0.25 and 1.
    let weighted = [(empty, 0.5), (&[0], 1.0 / 7.0), (&[1], 0.5 / 7.0), (&[2], 2.0 / 7.0)];
    check(&OneOf::new(three()), &weighted);
    let pairs: [&[usize]; 3] = [&[0, 1], &[0, 2], &[1, 2]];
    check(&SomeOf::new(three(), 2), &pairs.map(|pair| (pair, 1.0 / 3.0)));
    let twice = [&[0, 0][..], &[1, 1], &[2, 2]].map(|same| (same, 0.1));
    let mixed = pairs.map(|pair| (pair, 0.2));
    check(&SomeOf::new(three(), 2).replace(true).p(0.9), &[&twice[..], &mixed, &[(empty, 0.1)]].concat());
}

#[test]
fn the_choices_that_are_tried_are_those_that_can_be_drawn() {
    let choices = |container: &dyn Container| container.choices();
    assert_eq!(choices(&RandomApply::new(three()).p(1.0)), [[0, 1, 2]]);
    assert_eq!(choices(&RandomApply::new(three()).p(0.0)), [[0usize; 0]]);
    assert_eq!(choices(&RandomChoice::new(three()).p([0.0, 0.5, 0.5])), [[1], [2]]);
    assert_eq!(choices(&RandomOrder::new(three())), [[0, 1, 2], [2, 1, 0]]);
    assert_eq!(choices(&OneOf::new(three()).p(0.3)), [vec![], vec![0], vec![1], vec![2]]);
    assert_eq!(choices(&SomeOf::new(three(), 2)), [[0, 1], [0, 2]]);
    assert_eq!(choices(&SomeOf::new(three(), 3)), [[0, 1, 2]]);
    assert_eq!(choices(&SomeOf::new(three(), 2).replace(true)), [[0, 1], [0, 2], [0, 0], [1, 1], [2, 2]]);
}

#[test]
fn the_chosen_one_of_one_of_always_does_something() {
    let flips = [RandomHorizontalFlip::new(0.01).into(), RandomVerticalFlip::new(0.03).into()];
    let one = OneOf::new(flips).p(1.0);
    let vertical = (0..400).filter(|&seed| ops(&one, seed) == [Op::Vflip {}]).count();
    assert!((0..400).all(|seed| ops(&one, seed).len() == 1));
    assert!((250..350).contains(&vertical), "{vertical} of 400, and 300 are expected");
    let jitter = Augmentation::from(ColorJitter::new(0.4, 0.0, 0.0, 0.0)).with_p(0.001);
    assert!((0..50).all(|seed| ops(&OneOf::new([jitter.clone()]).p(1.0), seed).len() == 1));
    // Here p is the probability of each part or object, and stays what it is.
    let distort = RandomPhotometricDistort { p: 0.0, ..Default::default() };
    assert!(ops(&OneOf::new([distort.into()]).p(1.0), 0).is_empty());
    check(
        &OneOf::new([CopyPaste::new(0.25).into(), RandomInvert::new(0.5).into()]).p(1.0),
        &[(&[0], 2.0 / 3.0), (&[1], 1.0 / 3.0)],
    );
    let inner = RandomApply::new([RandomInvert::new(1.0).into()]).p(0.001);
    assert_eq!(ops(&OneOf::new([inner.into()]).p(1.0), 0), [Op::Invert {}]);
}

#[test]
fn a_probability_can_be_given_to_any_transform() {
    let jitter = Augmentation::from(ColorJitter::new(0.4, 0.0, 0.0, 0.0));
    let run = (0..1000).filter(|&seed| !ops(&jitter.clone().with_p(0.3), seed).is_empty()).count();
    assert!((240..360).contains(&run), "{run} of 1000, and 300 are expected");
    assert_eq!(jitter.clone().with_p(1.0), jitter);
    let sometimes = jitter.with_p(0.3);
    assert_eq!(sometimes.name(), "ColorJitter");
    let written = serde_json::to_value(&sometimes).unwrap();
    assert_eq!((written["op"].as_str(), written["brightness"].as_f64()), (Some("ColorJitter"), Some(0.4)));
    assert_eq!(serde_json::from_value::<Augmentation>(written).unwrap(), sometimes);
    // An f32 keeps its digits.
    let mixed = Augmentation::from(Compose::new([RandomInvert::new(0.7).into()])).with_p(0.3);
    let text = serde_json::to_string(&mixed).unwrap();
    assert!(text.contains("0.7") && text.contains("0.3") && !text.contains("000"), "{text}");
    assert_eq!(serde_json::from_str::<Augmentation>(&text).unwrap(), mixed);
}

#[test]
fn partners_of_what_runs_many_times_over_are_known_at_once() {
    let again = |tree: Augmentation| Augmentation::from(SomeOf::new([tree], 64).replace(true));
    let tree = |leaf: Augmentation| (0..5).fold(leaf, |tree, _| again(tree));
    let began = std::time::Instant::now();
    assert_eq!(tree(RandomInvert::new(0.5).into()).partners(), 0);
    assert!(began.elapsed().as_secs() < 2, "each transform was asked as often as it may run");
    assert_eq!(tree(MixUp::new(1.0).into()).partners(), 1);
}

#[test]
fn containers_that_mean_nothing_are_refused_with_the_place_and_the_remedy() {
    let refused = |augment: Augmentation| augment.check().unwrap_err().to_string();
    let bad = || Augmentation::from(RandomInvert::new(2.0));
    let nested = RandomChoice::new([RandomInvert::new(1.0).into(), RandomApply::new([bad()]).into()]);
    assert!(refused(nested.into()).starts_with("transforms[1].transforms[0]: RandomInvert: p should be"));
    assert!(refused(bad().with_p(3.0)).starts_with("RandomInvert: p should be"));
    let own = |augment: Augmentation| refused(augment.with_p(0.5));
    for with_own in [
        RandomHorizontalFlip::new(0.5).into(),
        RandomChoice::new(three()).into(),
        three()[2].clone().with_p(0.2),
    ] {
        assert!(own(with_own).contains("it has a p already"));
    }
    let deep = (0..9).fold(Augmentation::from(RandomInvert::new(0.5)), |tree, _| Compose::new([tree]).into());
    assert!(refused(deep).contains("more than 8 deep"));
    assert!(refused(Compose::new([]).into()).contains("list at least one transform"));
    assert!(
        refused(RandomChoice::new(three()).p([0.5, 0.5]).into()).contains("2 probabilities for 3 transforms")
    );
    let sum = refused(RandomChoice::new(three()).p([0.5, 0.25, 0.0]).into());
    assert!(sum.contains("sum to 0.75 and not to 1: divide each by 0.75"), "{sum}");
    assert!(refused(RandomChoice::new(three()).p([1.5, -0.5, 0.0]).into()).contains("from 0 to 1"));
    assert!(refused(OneOf::new([RandomInvert::new(0.0).into()]).into()).contains("p above 0"));
    assert!(refused(SomeOf::new(three(), 4).into()).contains("choose at most 3, or set replace"));
    assert!(refused(SomeOf::new(three(), 0).into()).contains("n should be from 1"));
    RandomChoice::new(three()).p([0.1, 0.2, 0.7]).check().unwrap();
}
