//! Resizes and crops against timm's own.

use super::ops;
use crate::script::Script;
use feedline::augment::{Augment, CenterCropOrPad, InterpolationChoice, RandomCropOrPad, ResizeKeepRatio};
use feedline::draft::op::{Extent, Op, PaddingMode};
use feedline::geometry::Size;

/// Width, height, seed, settings, the new width and height, how, and draws.
type SizeRow = (u32, u32, u64, usize, u32, u32, &'static str, u32);

#[rustfmt::skip]
const SIZES: &[SizeRow] = &[
    (500, 375, 0, 0, 330, 247, "bilinear", 4),
    (37, 410, 1, 0, 236, 2614, "bilinear", 4),
    (224, 224, 2, 0, 224, 224, "bicubic", 3),
    (4000, 3000, 3, 0, 321, 241, "bilinear", 4),
    (100, 99, 4, 0, 233, 230, "bilinear", 4),
    (3, 700, 5, 0, 232, 50531, "bilinear", 4),
    (500, 375, 10, 1, 183, 146, "bicubic", 4),
    (37, 410, 11, 1, 14, 160, "bicubic", 4),
    (224, 224, 12, 1, 162, 174, "bicubic", 4),
    (4000, 3000, 13, 1, 192, 154, "bicubic", 4),
    (100, 99, 14, 1, 158, 168, "bicubic", 4),
    (3, 700, 15, 1, 1, 149, "bicubic", 4),
    (500, 375, 20, 2, 121, 91, "bilinear", 0),
    (37, 410, 21, 2, 25, 275, "bilinear", 0),
    (224, 224, 22, 2, 100, 100, "bilinear", 0),
    (4000, 3000, 23, 2, 121, 91, "bilinear", 0),
    (100, 99, 24, 2, 101, 100, "bilinear", 0),
    (3, 700, 25, 2, 1, 330, "bilinear", 0),
];

#[test]
fn resize_keep_ratio_makes_the_sizes_that_timm_makes() {
    let random = ResizeKeepRatio::new(224).interpolation(InterpolationChoice::Random).random_scale_prob(0.5);
    let longest = ResizeKeepRatio::new([160, 224]).longest(1.0).interpolation(InterpolationChoice::Bicubic);
    let settings = [
        random
            .random_scale_range([0.8, 1.0])
            .random_scale_area(true)
            .random_aspect_prob(0.5)
            .random_aspect_range([0.9, 1.0 / 0.9]),
        longest.random_scale_prob(1.0).random_aspect_prob(0.5),
        ResizeKeepRatio::new(100).longest(0.3),
    ];
    for &(width, height, seed, setting, wide, high, how, draws) in SIZES {
        let mut script = Script::new(seed);
        let [op] = ops(&settings[setting], Size::new(width, height), &mut script).try_into().unwrap();
        let Op::Resize { size: Extent::Two(got), interpolation, max_size: None, antialias: true } = op else {
            panic!("{op:?}")
        };
        let written = serde_json::to_value(interpolation).unwrap();
        assert_eq!((got, written.as_str()), ([high, wide], Some(how)), "{width}x{height} seed {seed}");
        assert_eq!(script.draws, draws, "{width}x{height} seed {seed}");
    }
}

/// Width, height, seed, whether the place is random, the border (left, top, right, bottom), the crop's top and left, and draws.
type CropRow = (u32, u32, u64, bool, [u32; 4], [i32; 2], u32);

#[rustfmt::skip]
const CROPS: &[CropRow] = &[
    (500, 375, 0, false, [0, 0, 0, 0], [76, 138], 0),
    (37, 410, 1, false, [93, 0, 94, 0], [93, 0], 0),
    (224, 224, 2, false, [0, 0, 0, 0], [0, 0], 0),
    (4000, 3000, 3, false, [0, 0, 0, 0], [1388, 1888], 0),
    (100, 99, 4, false, [62, 62, 62, 63], [0, 0], 0),
    (3, 700, 5, false, [110, 0, 111, 0], [238, 0], 0),
    (225, 223, 6, false, [0, 0, 0, 1], [0, 0], 0),
    (301, 224, 7, false, [0, 0, 0, 0], [0, 38], 0),
    (500, 375, 100, true, [0, 0, 0, 0], [87, 241], 2),
    (37, 410, 101, true, [52, 0, 135, 0], [172, 0], 2),
    (224, 224, 102, true, [0, 0, 0, 0], [0, 0], 2),
    (4000, 3000, 103, true, [0, 0, 0, 0], [1703, 361], 2),
    (100, 99, 104, true, [62, 120, 62, 5], [0, 0], 2),
    (3, 700, 105, true, [202, 0, 19, 0], [144, 0], 2),
    (225, 223, 106, true, [0, 1, 0, 0], [0, 0], 2),
    (301, 224, 107, true, [0, 0, 0, 0], [0, 56], 2),
];

#[test]
fn crops_with_a_border_are_those_of_timm() {
    for &(width, height, seed, random, border, corner, draws) in CROPS {
        let mut script = Script::new(seed);
        let augment: Box<dyn Augment> = match random {
            true => Box::new(RandomCropOrPad::new(224).padding_mode(PaddingMode::Edge)),
            false => Box::new(CenterCropOrPad::new(224).padding_mode(PaddingMode::Edge)),
        };
        let (mut padded, mut cropped) = ([0; 4], [0; 2]);
        for op in ops(&*augment, Size::new(width, height), &mut script) {
            match op {
                Op::Pad { padding, padding_mode: PaddingMode::Edge, .. } => padded = padding.sides(),
                Op::Crop { top, left, height: 224, width: 224 } => cropped = [top, left],
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((padded, cropped), (border, corner), "{width}x{height} seed {seed}");
        assert_eq!(script.draws, draws, "{width}x{height} seed {seed}");
    }
}

#[test]
fn what_these_cannot_do_is_refused_by_name() {
    let ratio = ResizeKeepRatio::new(8);
    for (augment, want) in [
        (ResizeKeepRatio::new(0), "ResizeKeepRatio: size must be from 1"),
        (ratio.longest(1.5), "ResizeKeepRatio: longest should be from 0 to 1"),
        (ratio.random_scale_prob(-0.5), "ResizeKeepRatio: random_scale_prob should be from 0 to 1"),
        (ratio.random_aspect_prob(1.5), "ResizeKeepRatio: random_aspect_prob should be from 0 to 1"),
        (ratio.random_scale_range([0.0, 1.0]), "random_scale_range should be between 0.01 and 100"),
        (ratio.random_aspect_range([2.0, 1.0]), "random_aspect_range should be of kind (min, max)"),
    ] {
        let message = augment.check().unwrap_err().to_string();
        assert!(message.contains(want), "{message}");
    }
    let mut draft = feedline::draft::Draft::new(0, Size::new(9, 9), feedline::geometry::Orientation::UPRIGHT);
    let wide = CenterCropOrPad::new(60).padding_mode(PaddingMode::Reflect);
    wide.plan(&mut draft, Vec::new(), &mut Script::new(1));
    let message = draft.freeze().unwrap_err().to_string();
    assert!(
        message.contains("padding_mode reflect can add at most 8 to an edge of 9 pixels, not 26"),
        "{message}"
    );
}
