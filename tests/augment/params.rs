//! Parameters against torchvision's own: the same draws give the same numbers.
//!
//! The tables come from `make_params` of torchvision 0.29.2 with torch 2.15, its random functions replaced by the
//! generator in tests/augment/script.rs. The last column is how often it was asked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::script::Script;
use feedline::augment::{
    Augment, Augmentation, CenterCrop, ColorJitter, CropParams, EraseValue, GaussianBlur, Grayscale,
    JitterParams, Pad, RandAugment, RandomAdjustSharpness, RandomCrop, RandomErasing, RandomGrayscale,
    RandomHSV, RandomHorizontalFlip, RandomPosterize, RandomResizedCrop, RandomSolarize, RandomVerticalFlip,
    Resize, TrivialAugmentWide,
};
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Interpolation, Op, Value};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::rng::{Draws, Rng};

/// Every draw is the same.
struct Always(u32);

impl Draws for Always {
    fn bits(&mut self) -> u32 {
        self.0
    }
}

fn draft(width: u32, height: u32) -> Draft {
    Draft::new(0, Size::new(width, height), Orientation::UPRIGHT)
}

fn ops(augment: &dyn Augment, size: Size, rng: &mut dyn Draws) -> Vec<Op> {
    let mut draft = draft(size.width, size.height);
    augment.plan(&mut draft, Vec::new(), rng);
    let ops = draft.ops().to_vec();
    draft.freeze().unwrap();
    ops
}

/// Width, height, seed, settings, (left, top, width, height), draws.
type ResizedCropRow = (u32, u32, u64, usize, (i32, i32, u32, u32), u32);

#[rustfmt::skip]
const RESIZED_CROPS: &[ResizedCropRow] = &[
    (500, 375, 0, 0, (140, 113, 151, 189), 4),
    (500, 375, 1, 1, (68, 38, 321, 317), 4),
    (500, 375, 2, 2, (0, 87, 500, 200), 20),
    (1, 1, 10, 0, (0, 0, 1, 1), 4),
    (1, 1, 11, 1, (0, 0, 1, 1), 4),
    (40, 400, 20, 0, (0, 173, 40, 53), 20),
    (40, 400, 21, 1, (0, 160, 40, 80), 20),
    (40, 400, 22, 2, (0, 192, 40, 16), 20),
    (400, 13, 30, 0, (191, 0, 17, 13), 20),
    (400, 13, 31, 1, (187, 0, 26, 13), 20),
    (400, 13, 32, 2, (180, 0, 39, 13), 20),
    (333, 500, 40, 0, (10, 223, 264, 240), 6),
    (333, 500, 41, 1, (0, 61, 331, 270), 6),
    (333, 500, 42, 2, (0, 183, 333, 133), 20),
    (64, 64, 50, 0, (12, 18, 39, 40), 4),
    (64, 64, 51, 1, (0, 22, 63, 37), 4),
    (64, 64, 52, 2, (0, 19, 64, 26), 20),
    (4000, 3000, 60, 0, (2216, 107, 1643, 1844), 6),
    (4000, 3000, 61, 1, (158, 279, 3439, 1788), 4),
    (4000, 3000, 62, 2, (0, 700, 4000, 1600), 20),
];

#[test]
fn random_resized_crop_cuts_where_torchvision_does() {
    let plain = RandomResizedCrop::new(224);
    let settings =
        [plain, plain.scale([0.5, 0.6]).ratio([0.5, 2.0]), plain.scale([0.9, 1.0]).ratio([2.5, 3.0])];
    for &(width, height, seed, setting, (x, y, w, h), draws) in RESIZED_CROPS {
        let mut script = Script::new(seed);
        let rect = settings[setting].make_params(Size::new(width, height), &mut script);
        assert_eq!((rect, script.draws), (Rect::new(x, y, w, h), draws), "{width}x{height} seed {seed}");
    }
}

/// Width, height, seed, settings, (left, top, width, height), draws.
type EraseRow = (u32, u32, u64, usize, Option<(i32, i32, u32, u32)>, u32);

#[rustfmt::skip]
const ERASES: &[EraseRow] = &[
    (500, 375, 0, 0, Some((142, 193, 147, 56)), 4),
    (500, 375, 1, 1, Some((112, 222, 277, 96)), 6),
    (1, 1, 10, 0, Some((1, 1, 0, 0)), 6),
    (1, 1, 11, 1, None, 20),
    (40, 400, 20, 0, Some((0, 120, 38, 105)), 20),
    (40, 400, 21, 1, None, 20),
    (400, 13, 30, 0, Some((175, 0, 37, 11)), 12),
    (400, 13, 31, 1, None, 20),
    (333, 500, 40, 0, Some((58, 99, 246, 198)), 4),
    (333, 500, 41, 1, Some((8, 110, 232, 88)), 6),
    (64, 64, 50, 0, Some((20, 32, 23, 22)), 4),
    (64, 64, 51, 1, Some((11, 18, 42, 16)), 6),
    (4000, 3000, 60, 0, Some((707, 204, 1644, 1908)), 4),
    (4000, 3000, 61, 1, Some((1898, 1145, 1843, 731)), 6),
];

#[test]
fn random_erasing_hides_what_torchvision_hides() {
    let narrow = RandomErasing::new(1.0).scale([0.1, 0.2]).ratio([0.3, 0.4]).value(EraseValue::RANDOM);
    let settings = [RandomErasing::new(1.0), narrow];
    for &(width, height, seed, setting, want, draws) in ERASES {
        let mut script = Script::new(seed);
        let got = settings[setting].make_params(Size::new(width, height), &mut script);
        let want = want.map(|(x, y, w, h)| Rect::new(x, y, w, h));
        assert_eq!((got.map(|(rect, _)| rect), script.draws), (want, draws), "{width}x{height} seed {seed}");
        let noise = got.is_some_and(|(_, value)| matches!(value, Value::Noise { .. }));
        assert_eq!(noise, setting == 1 && got.is_some());
    }
}

/// Width, height, seed, settings, padding, (left, top), draws.
type CropRow = (u32, u32, u64, usize, [u32; 4], (i32, i32), u32);

#[rustfmt::skip]
const CROPS: &[CropRow] = &[
    (32, 32, 0, 0, [4, 4, 4, 4], (1, 1), 2),
    (32, 32, 1, 1, [0, 0, 0, 0], (4, 2), 2),
    (32, 32, 2, 2, [1, 2, 3, 40], (11, 36), 2),
    (10, 40, 10, 0, [10, 4, 10, 4], (1, 11), 2),
    (10, 40, 11, 1, [14, 0, 14, 0], (8, 11), 2),
    (10, 40, 12, 2, [11, 2, 13, 40], (10, 12), 2),
    (28, 28, 20, 0, [4, 4, 4, 4], (3, 8), 2),
    (28, 28, 21, 1, [0, 0, 0, 0], (1, 0), 1),
    (28, 28, 22, 2, [1, 2, 3, 40], (0, 28), 2),
    (50, 60, 30, 0, [4, 4, 4, 4], (11, 17), 2),
    (50, 60, 31, 1, [0, 0, 0, 0], (19, 25), 2),
    (50, 60, 32, 2, [1, 2, 3, 40], (4, 8), 2),
];

#[test]
fn random_crop_pads_and_cuts_as_torchvision_does() {
    let plain = RandomCrop::new([28, 24]).pad_if_needed(true);
    let settings = [plain.padding(4), plain, plain.padding([1, 2, 3, 40])];
    for &(width, height, seed, setting, padding, (x, y), draws) in CROPS {
        let mut script = Script::new(seed);
        let got = settings[setting].make_params(Size::new(width, height), &mut script).unwrap();
        let want = CropParams { padding, rect: Rect::new(x, y, 24, 28) };
        assert_eq!((got, script.draws), (want, draws), "{width}x{height} seed {seed}");
    }
}

/// Seed, settings, order, factors, draws.
type JitterRow = (u64, usize, [usize; 4], [Option<f64>; 4], u32);

#[rustfmt::skip]
const JITTERS: &[JitterRow] = &[
    (0, 0, [0, 1, 3, 2], [Some(0.9209729433059692), Some(0.9069005846977234), Some(1.0486876964569092), Some(-0.08417793363332748)], 7),
    (1, 1, [1, 2, 3, 0], [None, Some(0.8828633427619934), None, Some(0.2954477071762085)], 5),
    (2, 2, [3, 0, 1, 2], [Some(1.093531608581543), None, None, Some(-0.09636516869068146)], 5),
    (3, 0, [0, 1, 3, 2], [Some(0.8769261837005615), Some(1.0952732563018799), Some(0.9038516283035278), Some(0.0007170677417889237)], 7),
    (4, 1, [1, 3, 0, 2], [None, Some(0.8278049230575562), None, Some(-0.4690864086151123)], 5),
    (5, 2, [3, 1, 0, 2], [Some(0.9283563494682312), None, None, Some(0.021367773413658142)], 5),
    (6, 0, [0, 2, 3, 1], [Some(0.8328794836997986), Some(1.2836459875106812), Some(0.7590156197547913), Some(0.08561208099126816)], 7),
    (7, 1, [1, 3, 0, 2], [None, Some(0.7727465033531189), None, Some(-0.23362058401107788)], 5),
    (8, 2, [3, 2, 0, 1], [Some(0.7631810903549194), None, None, Some(0.13910068571567535)], 5),
    (9, 0, [0, 3, 1, 2], [Some(0.7888326644897461), Some(0.6720187067985535), Some(0.6141796112060547), Some(-0.02949291467666626)], 7),
    (10, 1, [2, 1, 0, 3], [None, Some(0.7176880240440369), None, Some(0.0018453001976013184)], 5),
    (11, 2, [3, 2, 1, 0], [Some(0.5980056524276733), None, None, Some(0.25683361291885376)], 5),
];

#[test]
fn color_jitter_draws_the_order_and_then_the_factors_as_torchvision_does() {
    let settings = [
        ColorJitter::new(0.4, 0.4, 0.4, 0.1),
        ColorJitter::new(0.0, [0.5, 1.5], 0.0, 0.5),
        ColorJitter::new(2.0, 0.0, [1.0, 1.0], [-0.2, 0.3]),
    ];
    for &(seed, setting, order, factors, draws) in JITTERS {
        let mut script = Script::new(seed);
        let got = settings[setting].make_params(&mut script).unwrap();
        assert_eq!((got, script.draws), (JitterParams { order, factors }, draws), "seed {seed}");
    }
}

#[test]
fn color_jitter_applies_what_it_drew_in_that_order() {
    let jitter = ColorJitter::new(0.4, 0.4, 0.0, 0.1);
    for seed in 0..50 {
        let JitterParams { order, factors } = jitter.make_params(&mut Script::new(seed)).unwrap();
        let names = ["brightness", "contrast", "saturation", "hue"];
        let want: Vec<&str> = order.iter().filter(|&&i| factors[i].is_some()).map(|&i| names[i]).collect();
        let got = ops(&jitter, Size::new(5, 5), &mut Script::new(seed));
        assert_eq!(got.iter().map(Op::name).collect::<Vec<_>>(), want);
    }
    assert!(ops(&ColorJitter::default(), Size::new(5, 5), &mut Script::new(0)).is_empty());
}

#[test]
fn random_hsv_draws_hue_saturation_and_value_from_both_sides_of_nothing() {
    let ends = [(0, -1.0), (u32::MAX, 0.999_999_9)].map(|(bits, draw)| {
        let done = ops(&RandomHSV::default(), Size::new(5, 5), &mut Always(bits));
        let [Op::Hsv { hue, saturation, value }] = done[..] else { panic!("{done:?}") };
        let drawn = [hue / 0.015, (saturation - 1.0) / 0.7, (value - 1.0) / 0.4];
        assert!(drawn.iter().all(|got| (got - draw).abs() < 1e-6), "{drawn:?}");
        [hue, saturation, value]
    });
    assert!(ends[0].iter().zip(ends[1]).all(|(least, most)| *least < most));
    assert!(ops(&RandomHSV::new(0.0, 0.0, 0.0), Size::new(5, 5), &mut Script::new(0)).is_empty());
}

#[test]
fn an_image_of_one_pixel_survives_every_augmentation() {
    let one = Size::new(1, 1);
    let all: Vec<Box<dyn Augment>> = vec![
        Box::new(RandomResizedCrop::new(8)),
        // torchvision's crop has no rows here, and its resize fails.
        Box::new(RandomResizedCrop::new(8).scale([0.9, 1.0]).ratio([2.5, 3.0])),
        Box::new(Resize::new(8)),
        Box::new(CenterCrop::new(8)),
        Box::new(RandomCrop::new(8).pad_if_needed(true)),
        Box::new(Pad::new(3)),
        Box::new(RandomHorizontalFlip::new(1.0)),
        Box::new(RandomVerticalFlip::new(1.0)),
        Box::new(ColorJitter::new(0.4, 0.4, 0.4, 0.1)),
        Box::new(RandomHSV::new(1.0, 1.0, 1.0)),
        Box::new(Grayscale::default()),
        Box::new(RandomErasing::new(1.0)),
    ];
    for augment in all {
        augment.check().unwrap();
        for seed in 0..100 {
            ops(augment.as_ref(), one, &mut Script::new(seed));
        }
    }
}

#[test]
fn probability_0_never_happens_and_1_always_does() {
    let size = Size::new(9, 9);
    let count = |augment: &dyn Augment| {
        let mut rng = Rng::new(1, 0, 0, 0);
        (0..1000).filter(|_| !ops(augment, size, &mut rng).is_empty()).count()
    };
    assert_eq!(count(&RandomHorizontalFlip::new(0.0)) + count(&RandomVerticalFlip::new(0.0)), 0);
    assert_eq!(count(&RandomGrayscale::new(0.0)) + count(&RandomErasing::new(0.0)), 0);
    assert_eq!(count(&RandomHorizontalFlip::new(1.0)) + count(&RandomVerticalFlip::new(1.0)), 2000);
    assert_eq!(count(&RandomGrayscale::new(1.0)), 1000);
    assert!((440..560).contains(&count(&RandomHorizontalFlip::default())));
    assert!((440..560).contains(&count(&RandomVerticalFlip::default())));
    assert!((70..130).contains(&count(&RandomGrayscale::default())));
    assert!(ops(&RandomHorizontalFlip::new(1.0), size, &mut Always(u32::MAX)).len() == 1);
    assert!(ops(&RandomHorizontalFlip::new(0.0), size, &mut Always(0)).is_empty());
}

#[test]
fn crops_reach_every_place_and_areas_are_spread_evenly() {
    let of = Size::new(200, 150);
    let (mut rng, mut corners, mut small) = (Rng::new(2, 0, 0, 0), [0u32; 4], 0);
    let crop = RandomResizedCrop::new(64).scale([0.2, 0.4]);
    for _ in 0..4000 {
        let rect = crop.make_params(of, &mut rng);
        assert!(of.rect().contains(rect));
        let area = rect.size().pixels() as f64 / of.pixels() as f64;
        let ratio = f64::from(rect.width) / f64::from(rect.height);
        assert!((0.19..0.41).contains(&area) && (0.73..1.36).contains(&ratio), "{rect:?}");
        small += u32::from(area < 0.3);
        let right = i64::from(rect.x) > 200 - rect.right();
        let below = i64::from(rect.y) > 150 - rect.bottom();
        corners[usize::from(right) + 2 * usize::from(below)] += 1;
    }
    assert!((1850..2150).contains(&small), "{small}");
    assert!(corners.iter().all(|&count| (850..1150).contains(&count)), "{corners:?}");

    let (mut orders, jitter) = (std::collections::BTreeMap::new(), ColorJitter::new(0.4, 0.4, 0.4, 0.1));
    for _ in 0..4800 {
        *orders.entry(jitter.make_params(&mut rng).unwrap().order).or_insert(0) += 1;
    }
    assert_eq!(orders.len(), 24);
    assert!(orders.values().all(|count| (140..270).contains(count)), "{orders:?}");
}

#[test]
fn one_number_is_a_square_for_crops_and_a_shorter_edge_for_resize() {
    let mut resized = draft(200, 100);
    Resize::new(50).plan(&mut resized, Vec::new(), &mut Always(0));
    assert_eq!(resized.size(), Size::new(100, 50));
    Resize::new(50).max_size(60).plan(&mut resized, Vec::new(), &mut Always(0));
    assert_eq!(resized.size(), Size::new(60, 30));
    for augment in [&RandomResizedCrop::new(50) as &dyn Augment, &CenterCrop::new(50), &RandomCrop::new(50)] {
        let mut cut = draft(200, 100);
        augment.plan(&mut cut, Vec::new(), &mut Always(0));
        assert_eq!(cut.size(), Size::new(50, 50), "{}", augment.name());
    }
}

#[test]
fn a_crop_larger_than_the_image_says_what_to_do() {
    let mut small = draft(10, 40);
    RandomCrop::new(28).plan(&mut small, Vec::new(), &mut Always(0));
    assert_eq!(
        small.freeze().unwrap_err().to_string(),
        "RandomCrop: the required crop size 28x28 is larger than the input image size 10x40: \
         set pad_if_needed = true, or put a Resize ahead"
    );
    let fitting = ops(&RandomCrop::new([40, 10]), Size::new(10, 40), &mut Always(0));
    assert!(fitting.is_empty(), "nothing to draw, nothing to do");
}

#[test]
fn arguments_without_meaning_are_refused_by_name() {
    let refused: Vec<(Box<dyn Augment>, &str)> = vec![
        (Box::new(RandomHorizontalFlip::new(1.5)), "p should be a floating point value"),
        (Box::new(RandomVerticalFlip::new(-0.1)), "p should be"),
        (Box::new(RandomGrayscale::new(f32::NAN)), "p should be"),
        (Box::new(RandomResizedCrop::new(0)), "size must be from 1"),
        (Box::new(RandomResizedCrop::new(9).scale([1.0, 0.1])), "swap them"),
        (Box::new(RandomResizedCrop::new(9).ratio([0.0, 1.0])), "ratio should be between"),
        (Box::new(RandomResizedCrop::new(9).scale([f64::NAN, 1.0])), "scale should be between"),
        (Box::new(RandomErasing::new(0.5).scale([0.5, 1.5])), "scale should be between 0 and 1"),
        (Box::new(RandomErasing::new(0.5).value(f32::INFINITY)), "value must be finite"),
        (Box::new(ColorJitter::new(-0.1, 0.0, 0.0, 0.0)), "brightness is a single number"),
        (Box::new(ColorJitter::new(0.0, 0.0, 0.0, 0.6)), "hue values should be between -0.5 and 0.5"),
        (Box::new(ColorJitter::new(0.0, [1.5, 0.5], 0.0, 0.0)), "contrast values should be"),
        (Box::new(ColorJitter::new(0.0, 0.0, f64::NAN, 0.0)), "saturation values should be"),
        (Box::new(RandomHSV::new(0.1, 1.1, 0.0)), "hsv_s should be between 0 and 1"),
        (Box::new(Resize::new(8).max_size(8)), "max_size = 8 must be strictly greater"),
        (Box::new(Resize::new([8, 8]).max_size(9)), "max_size needs size to be one number"),
        (Box::new(Resize::new(8).interpolation(Interpolation::Bicubic).antialias(false)), "bicubic needs"),
        (Box::new(CenterCrop::new([0, 8])), "size must be from 1"),
        (Box::new(RandomCrop::new(70_000)), "size must be from 1"),
        (Box::new(Pad::new(70_000)), "padding must be at most"),
        (Box::new(Grayscale { num_output_channels: 1 }), "always has 3"),
        (Box::new(RandomSolarize::new(256.0)), "threshold should be at most 255"),
        (Box::new(RandomPosterize::new(9)), "bits should be in 0..=8"),
        (Box::new(RandomAdjustSharpness::new(-0.1)), "sharpness_factor should be non negative"),
        (Box::new(GaussianBlur::new(4)), "kernel_size should be odd"),
        (Box::new(GaussianBlur::new(3).sigma(0.0)), "sigma should be between"),
        (Box::new(RandAugment::new(2, 31)), "magnitude should be less than"),
        (Box::new(RandAugment::new(9, 9)), "num_ops should be at most 6"),
        (Box::new(TrivialAugmentWide::new().num_magnitude_bins(1)), "num_magnitude_bins should be from 2"),
    ];
    for (augment, want) in refused {
        let message = augment.check().unwrap_err().to_string();
        assert!(message.contains(want) && message.starts_with(augment.name()), "{message}");
    }
}

#[test]
fn every_augmentation_is_registered_under_its_torchvision_name() {
    for &name in Augmentation::NAMES {
        let arguments = match name {
            "Pad" => serde_json::json!({"padding": 2}),
            "GaussianBlur" => serde_json::json!({"kernel_size": 3}),
            "RandomAdjustSharpness" => serde_json::json!({"sharpness_factor": 2}),
            "RandomPosterize" => serde_json::json!({"bits": 2}),
            "RandomSolarize" => serde_json::json!({"threshold": 2}),
            "RandomAffine" | "RandomRotation" => serde_json::json!({"degrees": 2}),
            "CenterCrop" | "CenterCropOrPad" | "FixedSizeCrop" | "LetterBox" | "MmsegRandomCrop"
            | "PadIfSmaller" | "RandomCrop" | "RandomCropOrPad" | "RandomResizedCrop" | "Resize"
            | "ResizeKeepRatio" | "YoloPerspective" => {
                serde_json::json!({"size": 2})
            }
            "ResizeLongest" => serde_json::json!({"imgsz": 2}),
            "MmsegRandomResize" => serde_json::json!({"scale": [2, 2]}),
            "RandomResize" | "RandomSizeCrop" => serde_json::json!({"min_size": 2, "max_size": 3}),
            "RandomShortestSize" => serde_json::json!({"min_size": 2}),
            "Compose" | "OneOf" | "RandomApply" | "RandomChoice" | "RandomOrder" => {
                serde_json::json!({"transforms": [{"op": "RandomInvert"}]})
            }
            "SomeOf" => serde_json::json!({"transforms": [{"op": "RandomInvert"}], "n": 1}),
            "ScaleJitter" => serde_json::json!({"target_size": [2, 2]}),
            _ => serde_json::json!({}),
        };
        let augmentation = Augmentation::read(name, arguments).unwrap();
        assert_eq!(augmentation.name(), name);
        assert_eq!(serde_json::to_value(&augmentation).unwrap()["op"], name);
        let unknown = Augmentation::read(name, serde_json::json!({"siez": 2})).unwrap_err();
        assert!(unknown.to_string().contains("`siez`"), "{unknown}");
    }
    assert!(Augmentation::NAMES.is_sorted());
    let square: Augmentation = CenterCrop::new(Extent::One(3)).into();
    assert_eq!(square.name(), "CenterCrop");
}
