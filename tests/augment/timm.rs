//! timm's augmentations against timm's own: the same draws give the same parameters, and draws are spread as timm's are.
//!
//! The tables come from timm 1.0.19, its random functions replaced by the generator in tests/augment/script.rs. The last
//! column is how often it was asked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod spread;

use crate::script::Script;
use feedline::augment::{Augment, EraseMode, TimmRandomErasing};
use feedline::draft::Draft;
use feedline::draft::op::{Op, Value};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::rng::{Draws, Rng};
use spread::{assert_even, assert_follows};

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
