//! The automatic policies against torchvision's own: the same draws give the same operations and magnitudes.
//!
//! The tables come from torchvision 0.29.2 with torch 2.15, its random functions replaced by the generator in
//! tests/augment/script.rs and its operations by a list of what was asked for. The last column is how often the generator was
//! asked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::script::Script;
use feedline::augment::PolicyOp::{self, *};
use feedline::augment::{
    Augment, AutoAugment, AutoAugmentPolicy, DistortParams, Drawn, RandAugment, RandomPhotometricDistort,
    TrivialAugmentWide,
};
use feedline::draft::Draft;
use feedline::draft::op::Op;
use feedline::geometry::{Orientation, Size};
use feedline::rng::{Draws, Rng};

/// Width, height, seed, what is done, draws.
type Row = (u32, u32, u64, &'static [(PolicyOp, f64)], u32);

#[rustfmt::skip]
const RAND: &[Row] = &[
    (500, 375, 0, &[(ShearX, -0.09000000357627869), (Contrast, -0.26999998092651367)], 4),
    (224, 224, 1, &[(Rotate, 9.0), (Sharpness, -0.26999998092651367)], 4),
    (37, 410, 2, &[(Posterize, 7.0), (AutoContrast, 0.0)], 2),
    (500, 375, 3, &[(ShearX, -0.09000000357627869), (Posterize, 7.0)], 3),
    (224, 224, 4, &[(Brightness, 0.26999998092651367), (Posterize, 7.0)], 3),
    (37, 410, 5, &[(Solarize, 0.699999988079071), (ShearX, 0.09000000357627869)], 3),
    (500, 375, 6, &[(ShearY, 0.09000000357627869), (AutoContrast, 0.0)], 3),
    (224, 224, 7, &[(Brightness, 0.26999998092651367), (AutoContrast, 0.0)], 3),
    (37, 410, 8, &[(Solarize, 0.699999988079071), (Rotate, 9.0)], 3),
    (500, 375, 9, &[(ShearY, 0.09000000357627869), (Equalize, 0.0)], 3),
    (224, 224, 10, &[(Color, -0.26999998092651367), (Identity, 0.0)], 3),
    (37, 410, 11, &[(AutoContrast, 0.0), (Contrast, -0.26999998092651367)], 3),
];

#[rustfmt::skip]
const RAND_STRONG: &[Row] = &[
    (500, 375, 20, &[(Equalize, 0.0), (TranslateX, -211.48036193847656), (Identity, 0.0)], 4),
    (224, 224, 21, &[(TranslateY, 94.74320220947266), (Color, -0.8399999737739563), (Identity, 0.0)], 5),
    (37, 410, 22, &[(Sharpness, -0.8399999737739563), (Color, 0.8399999737739563), (Brightness, -0.8399999737739563)], 6),
    (500, 375, 23, &[(Identity, 0.0), (Brightness, 0.8399999737739563), (Equalize, 0.0)], 4),
    (224, 224, 24, &[(Rotate, 28.0), (Contrast, 0.8399999737739563), (TranslateX, -94.74320220947266)], 6),
    (37, 410, 25, &[(Sharpness, -0.8399999737739563), (Sharpness, 0.8399999737739563), (Sharpness, -0.8399999737739563)], 6),
];

#[rustfmt::skip]
const TRIVIAL: &[Row] = &[
    (500, 375, 40, &[(AutoContrast, 0.0)], 1),
    (224, 224, 41, &[(TranslateX, -26.66666603088379)], 3),
    (37, 410, 42, &[(Color, -0.1979999989271164)], 3),
    (500, 375, 43, &[(AutoContrast, 0.0)], 1),
    (224, 224, 44, &[(TranslateX, -1.0666667222976685)], 3),
    (37, 410, 45, &[(Contrast, 0.42899999022483826)], 3),
    (500, 375, 46, &[(Equalize, 0.0)], 1),
    (224, 224, 47, &[(TranslateY, 8.533333778381348)], 3),
    (37, 410, 48, &[(Contrast, 0.6600000262260437)], 3),
    (500, 375, 49, &[(Equalize, 0.0)], 1),
    (224, 224, 50, &[(TranslateY, 15.999999046325684)], 3),
    (37, 410, 51, &[(Sharpness, 0.8910000324249268)], 3),
    (500, 375, 52, &[(Identity, 0.0)], 1),
    (224, 224, 53, &[(Rotate, 99.0)], 3),
    (37, 410, 54, &[(Sharpness, 0.0989999994635582)], 3),
    (500, 375, 55, &[(Identity, 0.0)], 1),
    (224, 224, 56, &[(Rotate, -126.0)], 3),
    (37, 410, 57, &[(Posterize, 6.0)], 2),
    (500, 375, 58, &[(ShearX, -0.7590000033378601)], 3),
    (224, 224, 59, &[(Brightness, -0.13199999928474426)], 3),
    (37, 410, 60, &[(Posterize, 5.0)], 2),
    (500, 375, 61, &[(ShearX, -0.9900000095367432)], 3),
    (224, 224, 62, &[(Brightness, -0.3630000054836273)], 3),
    (37, 410, 63, &[(Solarize, 0.20000001788139343)], 2),
];

#[rustfmt::skip]
const IMAGENET: &[Row] = &[
    (500, 375, 70, &[(Rotate, -26.66666603088379)], 4),
    (224, 224, 71, &[(Color, 0.3999999761581421), (Contrast, 0.7999999523162842)], 5),
    (37, 410, 72, &[(Invert, 0.0), (Equalize, 0.0)], 3),
    (500, 375, 73, &[], 3),
    (224, 224, 74, &[(Rotate, 26.66666603088379), (Color, 0.19999998807907104)], 5),
    (37, 410, 75, &[(Contrast, -0.7999999523162842)], 4),
    (500, 375, 76, &[(Posterize, 6.0), (Equalize, 0.0)], 3),
    (224, 224, 77, &[(Color, 0.7999999523162842)], 4),
    (37, 410, 78, &[], 3),
    (500, 375, 79, &[(Solarize, 0.1111111119389534)], 3),
    (224, 224, 80, &[(Color, -0.7999999523162842)], 4),
    (37, 410, 81, &[(Posterize, 4.0), (Rotate, 30.0)], 4),
];

#[rustfmt::skip]
const CIFAR10: &[Row] = &[
    (500, 375, 90, &[(TranslateY, 169.9395751953125)], 4),
    (224, 224, 91, &[(Equalize, 0.0)], 3),
    (37, 410, 92, &[(AutoContrast, 0.0)], 3),
    (500, 375, 93, &[(AutoContrast, 0.0), (Equalize, 0.0)], 3),
    (224, 224, 94, &[], 3),
    (37, 410, 95, &[(TranslateY, 185.80059814453125), (TranslateY, 185.80059814453125)], 5),
    (500, 375, 96, &[(AutoContrast, 0.0), (Equalize, 0.0)], 3),
    (224, 224, 97, &[(Brightness, 0.6000000238418579)], 4),
    (37, 410, 98, &[(AutoContrast, 0.0)], 3),
    (500, 375, 99, &[], 3),
];

#[rustfmt::skip]
const SVHN: &[Row] = &[
    (500, 375, 110, &[], 3),
    (224, 224, 111, &[(Equalize, 0.0), (Rotate, -10.0)], 4),
    (37, 410, 112, &[(Rotate, -13.333333015441895)], 4),
    (500, 375, 113, &[(ShearY, -0.2666666805744171), (Invert, 0.0)], 4),
    (224, 224, 114, &[(ShearX, 0.13333334028720856)], 4),
    (37, 410, 115, &[(TranslateX, -5.5891242027282715)], 4),
    (500, 375, 116, &[(Equalize, 0.0), (Solarize, 0.3333333432674408)], 3),
    (224, 224, 117, &[(Invert, 0.0)], 3),
    (37, 410, 118, &[], 3),
    (500, 375, 119, &[(Invert, 0.0)], 3),
];

#[rustfmt::skip]
const DISTORTS: &[(u64, DistortParams, u32)] = &[
    (0, DistortParams { brightness: Some(0.9004247188568115), contrast: None, saturation: Some(0.8836257457733154), hue: None, contrast_before: true, permutation: Some([1, 0, 2]) }, 10),
    (1, DistortParams { brightness: Some(1.0023518800735474), contrast: None, saturation: Some(1.2954477071762085), hue: None, contrast_before: false, permutation: Some([2, 1, 0]) }, 10),
    (2, DistortParams { brightness: None, contrast: None, saturation: None, hue: Some(-0.029273033142089844), contrast_before: true, permutation: Some([2, 1, 0]) }, 9),
    (3, DistortParams { brightness: Some(0.956206202507019), contrast: None, saturation: Some(1.1190916299819946), hue: Some(0.00035853387089446187), contrast_before: true, permutation: None }, 9),
    (4, DistortParams { brightness: Some(1.0581333637237549), contrast: None, saturation: Some(0.5309135913848877), hue: Some(0.047841038554906845), contrast_before: true, permutation: None }, 9),
    (5, DistortParams { brightness: None, contrast: Some(1.3205037117004395), saturation: Some(0.9427355527877808), hue: Some(-0.004676461219787598), contrast_before: false, permutation: Some([0, 1, 2]) }, 11),
    (6, DistortParams { brightness: Some(1.0119876861572266), contrast: None, saturation: Some(1.3545575141906738), hue: Some(0.04280604049563408), contrast_before: false, permutation: None }, 9),
    (7, DistortParams { brightness: Some(1.1139148473739624), contrast: None, saturation: Some(0.7663794159889221), hue: Some(-0.009711462073028088), contrast_before: true, permutation: None }, 9),
];

fn compare(rows: &[Row], draw: impl Fn(Size, &mut dyn Draws) -> Vec<Drawn>) {
    for &(width, height, seed, want, draws) in rows {
        let mut script = Script::new(seed);
        let drawn = draw(Size::new(width, height), &mut script);
        assert_eq!((drawn.as_slice(), script.draws), (want, draws), "{width}x{height} seed {seed}");
    }
}

#[test]
fn rand_augment_does_what_torchvision_does() {
    compare(RAND, |size, rng| RandAugment::default().make_params(size, rng));
    compare(RAND_STRONG, |size, rng| RandAugment::new(3, 14).num_magnitude_bins(16).make_params(size, rng));
}

#[test]
fn trivial_augment_does_what_torchvision_does() {
    compare(TRIVIAL, |size, rng| vec![TrivialAugmentWide::new().make_params(size, rng)]);
}

#[test]
fn auto_augment_does_what_torchvision_does() {
    for (policy, rows) in [
        (AutoAugmentPolicy::ImageNet, IMAGENET),
        (AutoAugmentPolicy::Cifar10, CIFAR10),
        (AutoAugmentPolicy::Svhn, SVHN),
    ] {
        compare(rows, |size, rng| AutoAugment::new(policy).make_params(size, rng));
    }
}

#[test]
fn photometric_distort_draws_what_torchvision_does() {
    for &(seed, want, draws) in DISTORTS {
        let mut script = Script::new(seed);
        let drawn = RandomPhotometricDistort::default().make_params(&mut script);
        assert_eq!((drawn, script.draws), (want, draws), "seed {seed}");
    }
}

#[test]
fn a_shear_turns_round_the_corner_by_the_angle_of_its_magnitude() {
    let row = IMAGENET.iter().chain(SVHN).find(|row| matches!(row.3, [(ShearX, _), ..])).unwrap();
    let mut draft = Draft::new(0, Size::new(row.0, row.1), Orientation::UPRIGHT);
    AutoAugment::new(AutoAugmentPolicy::Svhn).plan(&mut draft, Vec::new(), &mut Script::new(row.2));
    let Some(&Op::Affine { shear, center, .. }) = draft.ops().first() else { panic!("{:?}", draft.ops()) };
    assert_eq!(center, Some([0.0; 2]));
    assert_eq!(shear.both(), [row.3[0].1.atan().to_degrees(), 0.0]);
}

#[test]
fn every_policy_can_be_planned_for_any_image() {
    let policies: [&dyn Augment; 3] =
        [&RandAugment::new(6, 30), &TrivialAugmentWide::new(), &AutoAugment::default()];
    for case in 0..300 {
        for policy in policies {
            let mut rng = Rng::new(3, 0, case, 0);
            let size = Size::new(1 + rng.below(300), 1 + rng.below(300));
            let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
            policy.plan(&mut draft, Vec::new(), &mut rng);
            assert_eq!(draft.size(), size);
            draft.freeze().unwrap();
        }
    }
}
