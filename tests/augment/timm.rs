//! timm's augmentations against timm's own: the same draws give the same parameters, and draws are spread as timm's are.
//!
//! The tables come from timm 1.0.19, its random functions replaced by the generator in tests/augment/script.rs. The last
//! column is how often it was asked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod aug_mix;
mod sizes;

use crate::script::Script;
use crate::spread::{self, assert_even, assert_follows};
use feedline::augment::{Augment, EraseMode, InterpolationChoice, TimmRandAugment, TimmRandomErasing};
use feedline::draft::Draft;
use feedline::draft::op::{Fill, Interpolation, Op, Value};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::rng::{Draws, Rng};
use serde_json::Value as Json;

fn ops(augment: &dyn Augment, size: Size, rng: &mut dyn Draws) -> Vec<Op> {
    let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
    augment.check().unwrap();
    augment.plan(&mut draft, Vec::new(), rng);
    let ops = draft.ops().to_vec();
    draft.freeze().unwrap();
    ops
}

/// Width, height, seed, settings, (left, top, width, height) of each rectangle, draws.
type EraseRow = (u32, u32, u64, usize, &'static [(i32, i32, u32, u32)], u32);

#[rustfmt::skip]
const ERASES: &[EraseRow] = &[
    (500, 375, 0, 0, &[(158, 105, 87, 112)], 5),
    (500, 375, 1, 1, &[(308, 90, 113, 139), (319, 16, 120, 130), (326, 138, 84, 118)], 13),
    (500, 375, 2, 2, &[(165, 59, 124, 89), (451, 63, 26, 51), (220, 117, 91, 149), (64, 100, 123, 76)], 18),
    (500, 375, 3, 3, &[(150, 187, 106, 73), (298, 167, 76, 73), (330, 55, 64, 158), (335, 56, 64, 149), (198, 63, 50, 100), (184, 53, 99, 96)], 26),
    (1, 1, 10, 0, &[(1, 0, 0, 0)], 5),
    (1, 1, 11, 1, &[(1, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0)], 13),
    (1, 1, 12, 2, &[(1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0), (0, 0, 0, 0)], 18),
    (1, 1, 13, 3, &[(1, 1, 0, 0), (0, 0, 0, 0), (1, 1, 0, 0), (1, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 0)], 34),
    (40, 400, 20, 0, &[(12, 132, 19, 26)], 7),
    (40, 400, 21, 1, &[(0, 112, 33, 17), (18, 84, 22, 43), (5, 277, 32, 52)], 17),
    (40, 400, 22, 2, &[(2, 133, 31, 101)], 6),
    (40, 400, 23, 3, &[(5, 313, 11, 34), (26, 272, 5, 7), (3, 373, 16, 10), (21, 176, 11, 29), (1, 331, 17, 24), (2, 94, 28, 11), (4, 196, 16, 26), (20, 335, 9, 10), (5, 56, 15, 25)], 38),
    (333, 500, 30, 0, &[(180, 228, 89, 232)], 5),
    (333, 500, 31, 1, &[(35, 266, 99, 181), (124, 118, 106, 161), (132, 259, 175, 103)], 13),
    (333, 500, 32, 2, &[(109, 89, 160, 341)], 6),
    (333, 500, 33, 3, &[(181, 457, 15, 31), (74, 107, 47, 90), (107, 127, 25, 84), (178, 257, 75, 62), (97, 302, 59, 70), (146, 122, 46, 41), (12, 161, 42, 110), (103, 225, 21, 18), (190, 94, 23, 67), (158, 404, 80, 26)], 42),
    (224, 224, 40, 0, &[(101, 103, 106, 70)], 5),
    (224, 224, 41, 1, &[(38, 101, 83, 69), (21, 78, 44, 47), (29, 64, 66, 46)], 13),
    (224, 224, 42, 2, &[(3, 84, 74, 101)], 6),
    (224, 224, 43, 3, &[(194, 17, 24, 31), (160, 150, 18, 44), (110, 124, 22, 35), (142, 137, 10, 28), (124, 99, 36, 36), (184, 59, 11, 21), (148, 61, 61, 24), (2, 14, 48, 29), (168, 57, 56, 24), (115, 54, 18, 40), (159, 93, 47, 21)], 46),
    (4000, 3000, 50, 0, &[(2870, 502, 1056, 1962)], 5),
    (4000, 3000, 51, 1, &[(1165, 700, 986, 1495), (1962, 1151, 1141, 859), (1462, 124, 1272, 1061)], 13),
    (4000, 3000, 52, 2, &[(1102, 1417, 1392, 1225), (1251, 89, 1698, 923)], 10),
    (4000, 3000, 53, 3, &[(1234, 525, 595, 501), (1128, 985, 180, 539), (2596, 15, 509, 405), (2294, 2131, 411, 378), (3273, 869, 608, 511), (655, 842, 884, 337), (2856, 552, 267, 168), (2227, 1802, 795, 356), (1321, 933, 512, 374), (1771, 1854, 379, 504), (1876, 371, 385, 391), (822, 1748, 403, 626)], 50),
];

#[test]
fn timm_random_erasing_hides_what_timm_hides() {
    let one = TimmRandomErasing::new(1.0);
    let three = one.min_area(0.1).max_area(0.4).min_aspect(0.5).max_aspect(2.0).min_count(3);
    let settings = [one, three, one.max_count(4), one.min_count(2).max_count(16)];
    for &(width, height, seed, setting, want, draws) in ERASES {
        let mut script = Script::new(seed);
        let done = ops(&settings[setting], Size::new(width, height), &mut script);
        let rect = |op: &Op| match *op {
            Op::Erase { i, j, h, w, v: Value::One(0.0) } => (j, i, w, h),
            _ => panic!("{op:?}"),
        };
        let got: Vec<_> = done.iter().map(rect).collect();
        assert_eq!((got.as_slice(), script.draws), (want, draws), "{width}x{height} seed {seed}");
    }
}

#[test]
fn each_mode_fills_a_rectangle_with_what_it_says() {
    let of = Size::new(200, 100);
    let erasing = TimmRandomErasing::new(1.0).max_count(3);
    let fills = |mode: EraseMode| -> Vec<Value> {
        let mut rng = Rng::new(4, 0, 0, 0);
        (0..2000).flat_map(|_| erasing.mode(mode).make_params(of, &mut rng)).map(|(_, value)| value).collect()
    };
    assert!(fills(EraseMode::Const).iter().all(|fill| *fill == Value::One(0.0)));
    let colours = fills(EraseMode::Rand).into_iter().flat_map(|fill| match fill {
        Value::Rgb(rgb) => rgb.map(f64::from),
        _ => panic!("{fill:?}"),
    });
    assert_follows("rand", colours.collect(), spread::normal);
    let mut keys = std::collections::BTreeSet::new();
    for fill in fills(EraseMode::Pixel) {
        let Value::Noise { key } = fill else { panic!("{fill:?}") };
        assert!(keys.insert(key), "two rectangles with the same noise");
    }
}

#[test]
fn rectangles_are_spread_as_timms_are() {
    let of = Size::new(4000, 4000);
    let erasing = TimmRandomErasing::new(1.0).max_count(4);
    let (mut rng, mut counts, mut areas, mut shapes) = (Rng::new(5, 0, 0, 0), [0; 4], Vec::new(), Vec::new());
    for _ in 0..20_000 {
        let boxes = erasing.make_params(of, &mut rng);
        counts[boxes.len() - 1] += 1;
        for (Rect { width, height, .. }, _) in &boxes {
            let area = f64::from(*width) * f64::from(*height) / of.pixels() as f64;
            areas.push((area * boxes.len() as f64 - 0.02) / (1.0 / 3.0 - 0.02));
            shapes.push((f64::from(*height) / f64::from(*width)).ln() / (1.0f64 / 0.3).ln() * 0.5 + 0.5);
        }
    }
    assert_even("number of rectangles", &counts);
    // A single wide rectangle of a third of the area does not fit, and is drawn anew; it is too rare to show.
    assert_follows("area", areas, |share| share.clamp(0.0, 1.0));
    assert_follows("shape", shapes, |share| share.clamp(0.0, 1.0));
    let erased = (0..20_000).filter(|_| !ops(&TimmRandomErasing::new(0.3), of, &mut rng).is_empty()).count();
    assert!((5_700..6_300).contains(&erased), "{erased}");
}

#[test]
fn what_timm_random_erasing_cannot_do_is_refused_by_name() {
    let erasing = TimmRandomErasing::default();
    for (erasing, want) in [
        (TimmRandomErasing::new(1.5), "probability should be from 0 to 1"),
        (erasing.min_area(0.5), "min_area and max_area should be of kind (min, max)"),
        (erasing.max_area(1.5), "min_area and max_area should be between 0 and 1"),
        (erasing.min_aspect(0.0), "min_aspect and max_aspect should be between"),
        (erasing.max_aspect(0.1), "swap them"),
        (erasing.min_count(0), "min_count and max_count should be from 1 to 16"),
        (erasing.max_count(17), "min_count and max_count should be from 1 to 16"),
        (erasing.min_count(3).max_count(2), "swap them"),
    ] {
        let message = erasing.check().unwrap_err().to_string();
        assert!(message.contains(want) && message.starts_with("TimmRandomErasing: "), "{message}");
    }
}

/// Width, height, seed, settings, what is done, draws. Of Pillow's warps these are the arguments of `Image.transform`, which
/// its own `Image.rotate` was seen to call (Pillow 13.0).
type PolicyRow = (u32, u32, u64, usize, &'static str, u32);

#[rustfmt::skip]
const POLICIES: &[PolicyRow] = &[
    (224, 224, 0, 0, r#"[{"op": "equalize"}]"#, 5),
    (500, 375, 1, 0, r#"[{"op": "saturation", "factor": 0.15285382292674088}]"#, 6),
    (37, 410, 2, 0, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, 14.305737232343844, 0.0, 1.0, 0.0], "resample": "bilinear", "fillcolor": [128, 128, 128]}]"#, 7),
    (1, 1, 3, 0, r#"[{"op": "posterize", "bits": 1}]"#, 5),
    (300, 200, 4, 0, r#"[{"op": "sharpness", "factor": 1.725961050182888}]"#, 6),
    (224, 160, 5, 0, r#"[{"op": "invert"}]"#, 5),
    (224, 224, 6, 0, r#"[{"op": "contrast", "factor": 1.8575281882199342}]"#, 6),
    (500, 375, 7, 0, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, 146.61168611681265], "resample": "bilinear", "fillcolor": [128, 128, 128]}]"#, 7),
    (37, 410, 8, 0, r#"[{"op": "solarize", "threshold": 20}]"#, 5),
    (1, 1, 9, 0, r#"[{"op": "pillow_affine", "data": [1.0, 0.2498908300882399, 0.0, 0.0, 1.0, 0.0], "resample": "bilinear", "fillcolor": [128, 128, 128]}]"#, 7),
    (300, 200, 10, 0, r#"[{"op": "saturation", "factor": 0.22510113356082995}]"#, 6),
    (224, 160, 11, 0, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, -86.46625035915676, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "contrast", "factor": 1.7652157651564426}]"#, 9),
    (224, 224, 12, 0, r#"[{"op": "pillow_affine", "data": [0.901586845300629, -0.432598151152844, 59.47326625544808, 0.432598151152844, 0.901586845300629, -37.42871960278899], "resample": "bicubic", "fillcolor": [128, 128, 128]}]"#, 7),
    (500, 375, 13, 0, r#"[{"op": "contrast", "factor": 0.23426683962596806}]"#, 6),
    (37, 410, 14, 0, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, 14.101467767941553, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}]"#, 7),
    (1, 1, 15, 0, r#"[{"op": "pillow_affine", "data": [0.904222786542596, 0.427061063897357, -0.16564192521997656, -0.427061063897357, 0.904222786542596, 0.2614191386773805], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "pillow_affine", "data": [0.866025403784438, 0.5, -0.18301270189221897, -0.5, 0.866025403784438, 0.316987298107781], "resample": "bicubic", "fillcolor": [128, 128, 128]}]"#, 10),
    (300, 200, 16, 0, r#"[{"op": "contrast", "factor": 0.24577969101096242}]"#, 6),
    (224, 160, 17, 0, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, 59.955899394224204], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "autocontrast"}]"#, 8),
    (224, 224, 100, 1, r#"[{"op": "contrast", "factor": 1.36}, {"op": "pillow_affine", "data": [1.0, 0.0, -70.56, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "pillow_affine", "data": [1.0, 0.0, 70.56, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}]"#, 10),
    (500, 375, 101, 1, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, -157.5, 0.0, 1.0, 0.0], "resample": "bilinear", "fillcolor": [128, 128, 128]}, {"op": "posterize", "bits": 2}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, -118.125], "resample": "bilinear", "fillcolor": [128, 128, 128]}]"#, 10),
    (37, 410, 102, 1, r#"[{"op": "posterize", "bits": 2}, {"op": "sharpness", "factor": 1.36}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, -129.15], "resample": "bicubic", "fillcolor": [128, 128, 128]}]"#, 8),
    (1, 1, 103, 1, r#"[{"op": "brightness", "factor": 1.36}, {"op": "autocontrast"}]"#, 6),
    (300, 200, 104, 1, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, 63.0], "resample": "bilinear", "fillcolor": [128, 128, 128]}, {"op": "saturation", "factor": 1.36}, {"op": "equalize"}]"#, 8),
    (224, 160, 105, 1, r#"[{"op": "posterize", "bits": 2}, {"op": "pillow_affine", "data": [1.0, 0.0, 70.56, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}]"#, 8),
    (224, 224, 200, 2, r#"[{"op": "brightness", "factor": 1.0595518797636032}]"#, 10),
    (500, 375, 201, 2, r#"[{"op": "solarize_add", "addition": 71}, {"op": "sharpness", "factor": 1.7707477807998657}]"#, 11),
    (37, 410, 202, 2, r#"[{"op": "solarize_add", "addition": 128}]"#, 9),
    (1, 1, 203, 2, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.21086438298225402, 1.0, 0.0], "resample": "bicubic", "fillcolor": [124, 116, 104]}, {"op": "solarize", "threshold": 79}]"#, 12),
    (300, 200, 204, 2, r#"[{"op": "solarize_add", "addition": 41}, {"op": "solarize", "threshold": 142}]"#, 10),
    (224, 160, 205, 2, r#"[{"op": "sharpness", "factor": 0.4353793650865555}]"#, 10),
    (224, 224, 300, 3, r#"[{"op": "contrast", "factor": 1.198025143939229}, {"op": "solarize_add", "addition": 51}, {"op": "saturation", "factor": 1.2225149315899997}, {"op": "pillow_affine", "data": [1.0, 0.0, 9.708041358821538, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "pillow_affine", "data": [1.0, 0.0, -27.46222882042476, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "solarize_add", "addition": 32}]"#, 14),
    (500, 375, 301, 3, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, -15.29143637494883, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, -0.24307494819066894, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "contrast", "factor": 1.1696352479992693}, {"op": "pillow_affine", "data": [1.0, 0.0, 68.08628174022712, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "solarize", "threshold": 126}, {"op": "solarize", "threshold": 144}]"#, 15),
    (37, 410, 302, 3, r#"[{"op": "posterize", "bits": 2}, {"op": "pillow_affine", "data": [0.944262814023464, -0.329192554673536, 68.51561164864079, 0.329192554673536, 0.944262814023464, 5.336060863729472], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "brightness", "factor": 1.1861111551767416}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, -0.1910692337065735, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "pillow_affine", "data": [1.0, 0.09652699784885009, 0.0, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "solarize", "threshold": 177}]"#, 15),
    (1, 1, 303, 3, r#"[{"op": "brightness", "factor": 1.6269854410040254}, {"op": "brightness", "factor": 1.0508966047338175}, {"op": "brightness", "factor": 1.2720049971590268}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, -0.15117299431202486, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "invert"}, {"op": "posterize", "bits": 2}]"#, 13),
    (300, 200, 304, 3, r#"[{"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, 22.879275121269405], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "autocontrast"}, {"op": "sharpness", "factor": 0.5769195006309787}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.2215491652207208, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "contrast", "factor": 1.1812780908381302}, {"op": "pillow_affine", "data": [0.915333289954806, -0.40269711732332, 52.96971823911109, 0.40269711732332, 0.915333289954806, -51.93789659397859], "resample": "bicubic", "fillcolor": [128, 128, 128]}]"#, 15),
    (224, 160, 305, 3, r#"[{"op": "posterize", "bits": 3}, {"op": "solarize_add", "addition": 76}, {"op": "sharpness", "factor": 1.073936062811163}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, -0.2124553617953355, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, 17.826006249686912], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "invert"}]"#, 14),
];

/// Whether two values of JSON are the same but for the last digits of numbers, since noise has nine digits in common.
fn alike(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => {
            let [a, b] = [a, b].map(|number| number.as_f64().unwrap());
            (a - b).abs() <= 1e-7 * a.abs().max(1.0)
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            b.iter().all(|(key, b)| a.get(key).is_some_and(|a| alike(a, b)))
        }
        _ => a == b,
    }
}

#[test]
fn timm_rand_augment_does_what_timm_does() {
    let of = |config: &str| TimmRandAugment::from_config(config).unwrap().fill([128; 3]);
    let settings = [
        of("rand-m9-mstd0.5-inc1"),
        of("rand-m7-n3-p0.8"),
        of("rand-m15-n4-mstd101-mmax20-inc1").fill([124, 116, 104]),
        of("rand-m6-n6-p1-mstd1.5").translate_pct(0.2).interpolation(Interpolation::Bicubic),
    ];
    for &(width, height, seed, setting, want, draws) in POLICIES {
        let mut script = Script::new(seed);
        let done = ops(&settings[setting], Size::new(width, height), &mut script);
        let (got, wanted) = (serde_json::to_value(&done).unwrap(), serde_json::from_str(want).unwrap());
        assert!(alike(&got, &wanted), "{width}x{height} seed {seed}: {got} and not {want}");
        assert_eq!(script.draws, draws, "{width}x{height} seed {seed}");
    }
}

#[test]
fn a_config_says_what_the_arguments_say() {
    let by_hand = TimmRandAugment::new(9.0).magnitude_std(0.5).increasing(true);
    assert_eq!(TimmRandAugment::from_config("rand-m9-mstd0.5-inc1").unwrap(), by_hand);
    assert_eq!(TimmRandAugment::from_config("rand").unwrap(), TimmRandAugment::default());
    let written =
        TimmRandAugment { config: Some("rand-m9-mstd0.5-inc1".into()), ..TimmRandAugment::default() };
    let of = Size::new(90, 60);
    for seed in 0..200 {
        let plan = |augment: &TimmRandAugment| ops(augment, of, &mut Script::new(seed));
        assert_eq!(plan(&written), plan(&by_hand), "seed {seed}");
    }
}

#[test]
fn what_timm_rand_augment_cannot_do_is_refused_by_name() {
    let text = |config: &str| TimmRandAugment { config: Some(config.into()), ..TimmRandAugment::default() };
    for (augment, want) in [
        (TimmRandAugment::new(-1.0), "magnitude should be from 0 to 100"),
        (TimmRandAugment::new(f64::NAN), "magnitude should be from 0 to 100"),
        (TimmRandAugment::new(9.0).num_layers(7), "num_layers should be from 0 to 6"),
        (TimmRandAugment::new(9.0).prob(1.1), "prob should be from 0 to 1"),
        (TimmRandAugment::new(9.0).magnitude_std(-0.5), "magnitude_std should be at least 0"),
        (TimmRandAugment::new(9.0).magnitude_max(0.0), "magnitude_max should be from 1 to 100"),
        (TimmRandAugment::new(9.0).translate_pct(1.5), "translate_pct should be from 0 to 1"),
        (TimmRandAugment::new(9.0).interpolation(Interpolation::Nearest), "bilinear, bicubic or random"),
        (text("augmix-m3"), "begins with `augmix`"),
        (text("rand-m9.5"), "a key and a whole number"),
        (text("rand-mstd"), "`mstd`, which should be a key and a number"),
        (text("rand-inc0"), "write inc1, or leave it out"),
        (text("rand-tweights"), "unknown section `tweights`"),
        (text("rand-m200"), "magnitude should be from 0 to 100"),
        (TimmRandAugment { magnitude: 9.0, ..text("rand-m9") }, "leave out the one or the other"),
    ] {
        let message = augment.check().unwrap_err().to_string();
        assert!(message.contains(want) && message.starts_with("TimmRandAugment: "), "{message}");
    }
}

/// Pulls what is drawn out of many plans.
fn drawn(augment: &TimmRandAugment, plans: u64) -> Vec<Op> {
    let of = Size::new(1000, 1000);
    (0..plans).flat_map(|sample| augment.make_params(of, &mut Rng::new(8, 0, sample, 0)).unwrap()).collect()
}

#[test]
fn operations_magnitudes_and_interpolations_are_spread_as_timms_are() {
    let augment = TimmRandAugment::from_config("rand-m5-p1-mstd1-inc1").unwrap();
    let done = drawn(&augment, 20_000);
    assert_eq!(done.len(), 40_000, "at these magnitudes every operation changes something");
    let mut names = std::collections::BTreeMap::new();
    done.iter().for_each(|op| *names.entry(op.name()).or_insert(0u32) += 1);
    // Four warps of one name, and a turn through the middle, which has the same.
    let counts: Vec<u32> = names.values().copied().collect();
    let shares: Vec<f64> =
        names.keys().map(|name| if *name == "pillow_affine" { 5.0 / 15.0 } else { 1.0 / 15.0 }).collect();
    assert_eq!(names.len(), 11, "{names:?}");
    spread::assert_shares("operations", &counts, &shares);

    let factors: Vec<f64> = done
        .iter()
        .filter_map(|op| match op {
            Op::Brightness { factor } | Op::Contrast { factor } | Op::Sharpness { factor } => Some(*factor),
            _ => None,
        })
        .collect();
    let above = factors.iter().filter(|factor| **factor > 1.0).count() as u32;
    spread::assert_even("directions", &[above, factors.len() as u32 - above]);
    // A tenth of the magnitude times 0.9, which is normal around 5 and five deviations away from its ends.
    let magnitudes = factors.iter().map(|factor| (factor - 1.0).abs() / 0.09 - 5.0).collect();
    assert_follows("magnitudes", magnitudes, spread::normal);

    let cubic = |op: &&Op| matches!(op, Op::PillowAffine { resample: Interpolation::Bicubic, .. });
    let warps = names["pillow_affine"];
    let cubic = done.iter().filter(cubic).count() as u32;
    spread::assert_even("interpolations", &[cubic, warps - cubic]);
    let fills = |op: &Op| !matches!(op, Op::PillowAffine { fillcolor, .. } if *fillcolor != Fill::Grey(128));
    assert!(done.iter().all(fills));

    let uniform = augment.clone().magnitude_std(101.0);
    let magnitudes = drawn(&uniform, 20_000).into_iter().filter_map(|op| match op {
        Op::Saturation { factor } => Some((factor - 1.0).abs() / 0.45),
        _ => None,
    });
    assert_follows("uniform magnitudes", magnitudes.collect(), |share| share.clamp(0.0, 1.0));
    let half = drawn(&augment.prob(0.5), 20_000).len() as u32;
    spread::assert_even("probability", &[half, 40_000 - half]);
}

#[test]
fn random_interpolation_is_bilinear_or_bicubic_and_is_drawn_after_the_crop() {
    let of = Size::new(200, 100);
    let fixed = feedline::augment::RandomResizedCrop::new(32);
    let random = fixed.interpolation(InterpolationChoice::Random);
    let mut cubic = 0;
    for seed in 0..4000 {
        let plan = |augment: &dyn Augment| ops(augment, of, &mut Rng::new(seed, 0, 0, 0));
        let (mut got, want) = (plan(&random), plan(&fixed));
        let [Op::ResizedCrop { interpolation, .. }] = got.as_mut_slice() else { panic!("{got:?}") };
        cubic += u32::from(*interpolation == Interpolation::Bicubic);
        assert_ne!(*interpolation, Interpolation::Nearest);
        *interpolation = Interpolation::Bilinear;
        assert_eq!(got, want, "the same crop");
    }
    spread::assert_even("interpolations", &[cubic, 4000 - cubic]);
    let refused = random.antialias(false).check().unwrap_err().to_string();
    assert!(refused.contains("bicubic needs antialias"), "{refused}");
}
