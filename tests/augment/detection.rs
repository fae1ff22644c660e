//! Augmentations of images with objects against torchvision's: the same draws give the same parameters.
//!
//! The tables come from `make_params` of torchvision 0.29.2 with torch 2.15, its random functions replaced by the
//! generator in tests/augment/script.rs. The last column is how often it was asked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::script::Script;
use crate::spread::{assert_even, assert_follows};
use feedline::augment::{
    Augment, Augmentation, MmsegRandomCrop, MmsegRandomResize, RandomIoUCrop, RandomResize,
    RandomShortestSize, RandomSizeCrop, RandomZoomOut, Resize, SanitizeBoundingBoxes, ScaleJitter,
};
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Op};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::label::{Object, Objects, Unit};
use feedline::rng::{Draws, Rng};
use std::sync::Arc;

/// Width, height, seed, setting, new width and height, draws.
type Sized = (u32, u32, u64, usize, [u32; 2], u32);

#[rustfmt::skip]
const JITTERED: &[Sized] = &[
    (500, 375, 0, 0, [159, 119], 1),
    (500, 375, 1, 0, [578, 433], 1),
    (500, 375, 3, 1, [871, 653], 1),
    (500, 375, 4, 1, [1030, 772], 1),
    (40, 400, 10, 0, [56, 565], 1),
    (40, 400, 11, 0, [90, 900], 1),
    (40, 400, 13, 1, [107, 1078], 1),
    (40, 400, 14, 1, [123, 1237], 1),
    (640, 480, 20, 0, [1253, 940], 1),
    (640, 480, 21, 0, [457, 342], 1),
    (640, 480, 23, 1, [825, 618], 1),
    (640, 480, 24, 1, [984, 738], 1),
    (7, 5, 30, 0, [584, 417], 1),
    (7, 5, 31, 0, [1004, 717], 1),
    (7, 5, 33, 1, [1032, 737], 1),
    (7, 5, 34, 1, [1191, 851], 1),
    (1333, 800, 40, 0, [1131, 679], 1),
    (1333, 800, 41, 0, [335, 201], 1),
    (1333, 800, 43, 1, [1240, 744], 1),
    (1333, 800, 44, 1, [938, 563], 1),
];

#[rustfmt::skip]
const SHORTENED: &[Sized] = &[
    (500, 375, 0, 0, [341, 256], 1),
    (500, 375, 1, 0, [341, 256], 1),
    (500, 375, 3, 1, [640, 480], 1),
    (500, 375, 4, 1, [700, 525], 1),
    (40, 400, 10, 0, [256, 2560], 1),
    (40, 400, 11, 0, [256, 2560], 1),
    (40, 400, 13, 1, [70, 700], 1),
    (40, 400, 14, 1, [70, 700], 1),
    (640, 480, 20, 0, [341, 256], 1),
    (640, 480, 21, 0, [341, 256], 1),
    (640, 480, 23, 1, [640, 480], 1),
    (640, 480, 24, 1, [682, 512], 1),
    (7, 5, 30, 0, [358, 256], 1),
    (7, 5, 31, 0, [358, 256], 1),
    (7, 5, 33, 1, [700, 500], 1),
    (7, 5, 34, 1, [700, 500], 1),
    (1333, 800, 40, 0, [426, 256], 1),
    (1333, 800, 41, 0, [426, 256], 1),
    (1333, 800, 43, 1, [700, 420], 1),
    (1333, 800, 44, 1, [700, 420], 1),
];

/// Width, height, seed, setting, border, draws.
type Zoomed = (u32, u32, u64, usize, [u32; 4], u32);

#[rustfmt::skip]
const ZOOMED: &[Zoomed] = &[
    (500, 375, 0, 0, [11, 52, 106, 35], 3),
    (500, 375, 1, 0, [322, 308, 312, 168], 3),
    (500, 375, 3, 1, [90, 152, 188, 56], 3),
    (500, 375, 4, 1, [266, 212, 98, 61], 3),
    (40, 400, 10, 0, [11, 22, 52, 611], 3),
    (40, 400, 11, 0, [60, 82, 44, 965], 3),
    (40, 400, 13, 1, [12, 51, 19, 261], 3),
    (40, 400, 14, 1, [30, 79, 8, 302], 3),
    (640, 480, 20, 0, [480, 656, 1398, 752], 3),
    (640, 480, 21, 0, [411, 236, 209, 229], 3),
    (640, 480, 23, 1, [155, 144, 169, 99], 3),
    (640, 480, 24, 1, [384, 207, 50, 118], 3),
    (7, 5, 30, 0, [2, 5, 6, 1], 3),
    (7, 5, 31, 0, [11, 10, 5, 1], 3),
    (7, 5, 33, 1, [2, 0, 3, 3], 3),
    (7, 5, 34, 1, [5, 0, 1, 4], 3),
    (1333, 800, 40, 0, [1440, 688, 2072, 1419], 3),
    (1333, 800, 41, 0, [729, 197, 163, 338], 3),
    (1333, 800, 43, 1, [807, 348, 468, 417], 3),
    (1333, 800, 44, 1, [34, 250, 804, 253], 3),
];

/// Left, top, width, height and which of [`boxes`] are kept.
type Cut = Option<(i32, i32, u32, u32, [bool; 3])>;

/// Width, height, seed, setting, crop, draws.
type CutRow = (u32, u32, u64, usize, Cut, u32);

#[rustfmt::skip]
const CUT: &[CutRow] = &[
    (500, 375, 0, 0, Some((126, 39, 185, 271, [false, true, false])), 5),
    (500, 375, 1, 0, Some((150, 52, 219, 308, [false, true, false])), 13),
    (500, 375, 3, 1, Some((231, 227, 171, 141, [false, false, true])), 11),
    (500, 375, 4, 1, Some((87, 5, 233, 183, [false, true, false])), 5),
    (400, 400, 10, 0, Some((159, 42, 148, 293, [false, true, true])), 51),
    (400, 400, 11, 0, None, 1),
    (400, 400, 13, 1, Some((170, 47, 189, 180, [false, true, false])), 25),
    (400, 400, 14, 1, Some((44, 64, 144, 161, [true, false, false])), 32),
    (640, 480, 20, 0, None, 1),
    (640, 480, 21, 0, Some((148, 9, 397, 394, [false, true, true])), 31),
    (640, 480, 23, 1, Some((414, 248, 217, 190, [false, false, true])), 5),
    (640, 480, 24, 1, Some((412, 262, 114, 98, [false, false, true])), 59),
    (70, 50, 30, 0, Some((28, 2, 37, 46, [false, true, true])), 5),
    (70, 50, 31, 0, Some((18, 13, 43, 24, [false, true, true])), 279),
    (70, 50, 33, 1, Some((20, 15, 34, 29, [false, false, true])), 7),
    (70, 50, 34, 1, Some((0, 13, 23, 20, [true, false, false])), 11),
    (1333, 800, 40, 0, None, 1),
    (1333, 800, 41, 0, Some((377, 29, 480, 546, [false, true, false])), 9),
    (1333, 800, 43, 1, Some((706, 29, 438, 439, [false, true, false])), 48),
    (1333, 800, 44, 1, Some((894, 337, 328, 363, [false, false, true])), 23),
];

fn check_sizes(rows: &[Sized], drawn: impl Fn(usize, Size, &mut Script) -> Size) {
    for &(width, height, seed, setting, [new_width, new_height], draws) in rows {
        let mut script = Script::new(seed);
        let got = drawn(setting, Size::new(width, height), &mut script);
        assert_eq!(
            (got, script.draws),
            (Size::new(new_width, new_height), draws),
            "{width}x{height}, seed {seed}"
        );
    }
}

#[test]
fn scale_jitter_draws_the_sizes_of_torchvision() {
    let settings = [ScaleJitter::new([640, 512]), ScaleJitter::new([1024, 1024]).scale_range([0.8, 1.25])];
    check_sizes(JITTERED, |setting, of, script| settings[setting].make_params(of, script));
}

#[test]
fn random_shortest_size_draws_the_sizes_of_torchvision() {
    let settings =
        [RandomShortestSize::new(256), RandomShortestSize::new([480, 512, 544, 576, 608]).max_size(700)];
    check_sizes(SHORTENED, |setting, of, script| settings[setting].make_params(of, script));
}

#[test]
fn random_resize_draws_every_length_but_the_last_equally_often() {
    let resize = RandomResize::new(100, 108);
    let mut counts = [0u32; 8];
    for seed in 0..8000 {
        // The same draw by torch's definition: a whole number from the first up to, and without, the last.
        let length = resize.make_params(&mut feedline::rng::Rng::new(seed, 0, 0, 0));
        counts[(length - 100) as usize] += 1;
    }
    let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi_square < 24.3, "{counts:?}: chance of 0.001 for 7 degrees of freedom");
}

#[test]
fn mmsegs_resize_keeps_both_edges_within_the_drawn_scale_whichever_way_the_image_lies() {
    let resize = MmsegRandomResize::new([2048, 512]).ratio_range([0.5, 2.0]).keep_ratio(true);
    for (seed, of) in (0..).zip([[500, 375], [375, 500], [683, 512], [4000, 90], [1, 1]].repeat(50)) {
        let [w, h] = of;
        let got = resize.make_params(Size::new(w, h), &mut Script::new(seed));
        let ratio = 0.5 + 1.5 * f64::from(Script::new(seed).uniform());
        let (long, short) = ((2048.0 * ratio).floor(), (512.0 * ratio).floor());
        // The largest factor at which both edges fit, by trying.
        let (w, h) = (f64::from(w), f64::from(h));
        let fits = |factor: f64| w.max(h) * factor <= long && w.min(h) * factor <= short;
        let (mut low, mut high) = (0.0, 1e6);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if fits(middle) { low = middle } else { high = middle }
        }
        let close = |got: u32, edge: f64| (f64::from(got) - edge * low).abs() <= 0.5 + 1e-6 || got == 1;
        assert!(close(got.width, w) && close(got.height, h), "{of:?}, seed {seed}: {got:?}");
    }
}

#[test]
fn random_zoom_out_draws_the_borders_of_torchvision() {
    let settings = [RandomZoomOut::new(), RandomZoomOut::new().side_range([1.5, 2.0])];
    for &(width, height, seed, setting, border, draws) in ZOOMED {
        let mut script = Script::new(seed);
        let got = settings[setting].make_params(Size::new(width, height), &mut script);
        assert_eq!((got, script.draws), (border, draws), "{width}x{height}, seed {seed}");
    }
}

/// What the images of [`CUT`] show.
fn boxes(of: Size) -> [[f32; 4]; 3] {
    let parts = [[0.1, 0.2, 0.3, 0.9], [0.4, 0.1, 0.8, 0.5], [0.55, 0.5, 0.95, 0.9]];
    let [w, h] = [of.width, of.height].map(f64::from);
    parts.map(|[l, t, r, b]: [f64; 4]| [l * w, t * h, r * w, b * h].map(|edge| edge as f32))
}

fn labelled(of: Size) -> Draft {
    let each = (0..).zip(boxes(of));
    let list = each.map(|(class, bbox)| Object { class, bbox, ..Object::default() }).collect();
    let objects = Objects { list, ..Objects::default() };
    Draft::new(0, of, Orientation::UPRIGHT).with_objects(Arc::new(objects))
}

fn iou_crops() -> [RandomIoUCrop; 2] {
    let narrow = RandomIoUCrop {
        min_scale: 0.1,
        max_scale: 0.6,
        min_aspect_ratio: 0.75,
        max_aspect_ratio: 1.5,
        sampler_options: vec![0.05, 0.2, 0.4],
        trials: 10,
    };
    [RandomIoUCrop::new(), narrow]
}

#[test]
fn random_iou_crop_draws_the_crops_of_torchvision_and_keeps_the_same_objects() {
    for &(width, height, seed, setting, cut, draws) in CUT {
        let (of, mut script) = (Size::new(width, height), Script::new(seed));
        let mut draft = labelled(of);
        iou_crops()[setting].plan(&mut draft, Vec::new(), &mut script);
        let (x, y, w, h, kept) = cut.unwrap_or((0, 0, width, height, [true; 3]));
        assert_eq!((draft.size(), script.draws), (Size::new(w, h), draws), "{width}x{height}, seed {seed}");
        let left: Vec<i64> = draft.objects().iter().map(|seen| seen.class).collect();
        let want: Vec<i64> = (0..3).filter(|&class| kept[class as usize]).collect();
        assert_eq!(left, want, "{width}x{height}, seed {seed}");
        let moved = |bbox: [f32; 4]| {
            let place =
                |edge: f32, from: i32, to: u32| (f64::from(edge) - f64::from(from)).clamp(0.0, f64::from(to));
            let [l, t, r, b] = bbox;
            [place(l, x, w), place(t, y, h), place(r, x, w), place(b, y, h)]
        };
        for seen in draft.objects() {
            assert_eq!(seen.bbox, moved(boxes(of)[seen.class as usize]));
        }
        draft.freeze().unwrap();
    }
}

#[test]
fn every_crop_overlaps_with_the_centred_objects_as_much_as_was_asked_for() {
    let crop = RandomIoUCrop { sampler_options: vec![0.3], ..RandomIoUCrop::new() };
    let of = Size::new(300, 200);
    let whole: Vec<[f64; 4]> = boxes(of).iter().map(|bbox| bbox.map(f64::from)).collect();
    for seed in 0..300 {
        let Some(rect) = crop.make_params(of, &whole, &mut Script::new(seed)) else { panic!("seed {seed}") };
        assert!(of.rect().contains(rect));
        let best = whole.iter().map(|bbox| overlap(rect, bbox)).fold(0.0, f64::max);
        assert!(best >= 0.3 - 1e-6, "seed {seed}: {best}");
    }
}

fn overlap(rect: Rect, bbox: &[f64; 4]) -> f64 {
    let part =
        |low: f64, high: f64, from: i32, to: i64| (high.min(to as f64) - low.max(f64::from(from))).max(0.0);
    let [l, t, r, b] = *bbox;
    let common = part(l, r, rect.x, rect.right()) * part(t, b, rect.y, rect.bottom());
    common / ((r - l) * (b - t) + rect.size().pixels() as f64 - common)
}

#[test]
fn an_image_without_objects_and_options_that_never_fit_leave_it_as_it_is() {
    let of = Size::new(90, 60);
    assert_eq!(RandomIoUCrop::new().make_params(of, &[], &mut Script::new(0)), None);
    let never = RandomIoUCrop { sampler_options: vec![0.99], ..RandomIoUCrop::new() };
    let mut script = Script::new(0);
    assert_eq!(never.make_params(of, &[[1.0, 1.0, 3.0, 3.0]], &mut script), None);
    assert!(script.draws < 100 * (1 + 40 * 4) + 1, "a hundred options, and no more");
}

#[test]
fn a_zoom_moves_the_boxes_with_the_image_and_a_jitter_scales_them() {
    let of = Size::new(100, 80);
    let mut draft = labelled(of);
    RandomZoomOut::new().p(1.0).fill([1, 2, 3]).plan(&mut draft, Vec::new(), &mut Script::new(5));
    let [left, top, ..] = RandomZoomOut::new().make_params(of, &mut after_one(5));
    for (seen, bbox) in draft.objects().iter().zip(boxes(of)) {
        let shift = [left, top, left, top].map(f64::from);
        let want: Vec<f64> = bbox.iter().zip(shift).map(|(edge, by)| f64::from(*edge) + by).collect();
        assert_eq!(seen.bbox.as_slice(), want);
    }
    let before = draft.size();
    ScaleJitter::new([50, 50]).scale_range([1.0, 1.0]).plan(&mut draft, Vec::new(), &mut Script::new(1));
    let fits = draft.size();
    assert!(fits.width.max(fits.height) == 50 && before.width > fits.width, "{fits}");
    SanitizeBoundingBoxes::default().plan(&mut draft, Vec::new(), &mut Script::new(1));
    draft.freeze().unwrap();
}

/// A script that has given the draw for the chance.
fn after_one(seed: u64) -> Script {
    let mut script = Script::new(seed);
    script.bits();
    script
}

#[test]
fn no_image_is_too_small_for_a_size_and_none_becomes_empty() {
    for augment in [
        Box::new(ScaleJitter::new([8, 8]).scale_range([0.0, 0.1])) as Box<dyn Augment>,
        Box::new(RandomShortestSize::new(1).max_size(2)),
        Box::new(RandomZoomOut::new().p(1.0)),
        Box::new(RandomIoUCrop::new()),
    ] {
        augment.check().unwrap();
        for (seed, size) in (0..).zip([Size::new(1, 1), Size::new(1, 900), Size::new(900, 1)].repeat(20)) {
            let mut draft = labelled(size);
            augment.plan(&mut draft, Vec::new(), &mut Script::new(seed));
            draft.freeze().unwrap();
        }
    }
}

#[test]
fn crops_of_random_size_have_edges_and_places_of_equal_chance() {
    let mut rng = Rng::new(11, 0, 0, 0);
    let crop = RandomSizeCrop::new(384, 600);
    let (mut widths, mut heights, mut lefts) = (vec![0; 217], vec![0; 117], Vec::new());
    for _ in 0..20_000 {
        // The height is bounded by the image, the width by the argument.
        let of = Size::new(900, 500);
        let rect = crop.make_params(of, &mut rng);
        assert!(of.rect().contains(rect), "{rect:?}");
        widths[rect.width as usize - 384] += 1;
        heights[rect.height as usize - 384] += 1;
        lefts.push((f64::from(rect.x) + f64::from(rng.uniform())) / f64::from(901 - rect.width));
    }
    assert_even("width", &widths);
    assert_even("height", &heights);
    assert_follows("left", lefts, |share| share.clamp(0.0, 1.0));
    let small = crop.make_params(Size::new(300, 384), &mut rng);
    assert_eq!(small, Rect::new(0, 0, 300, 384), "an edge that is too short is kept");
}

#[test]
fn arguments_without_meaning_are_refused_by_name() {
    let refused: Vec<(Augmentation, &str)> = vec![
        (ScaleJitter::new([0, 8]).into(), "ScaleJitter: size must be from 1"),
        (ScaleJitter::new([8, 8]).scale_range([2.0, 1.0]).into(), "scale_range should be of kind (min, max)"),
        (RandomShortestSize::new([]).into(), "min_size is empty"),
        (RandomShortestSize::new(8).max_size(0).into(), "size must be from 1"),
        (RandomResize::new(8, 8).into(), "max_size = 8 is never reached"),
        (RandomResize::new(0, 8).into(), "size must be from 1"),
        (MmsegRandomCrop::new(0).into(), "size must be from 1"),
        (MmsegRandomCrop::new(8).cat_max_ratio(1.5).into(), "cat_max_ratio should be between"),
        (MmsegRandomCrop::new(8).cat_max_ratio(f64::NAN).into(), "cat_max_ratio should be between"),
        (MmsegRandomResize::new([8, 0]).into(), "size must be from 1"),
        (MmsegRandomResize::new([8, 8]).ratio_range([0.0, 1.0]).into(), "ratio_range should be between"),
        (RandomSizeCrop::new(0, 8).into(), "size must be from 1"),
        (RandomSizeCrop::new(9, 8).into(), "swap them"),
        (RandomZoomOut::new().side_range([0.5, 2.0]).into(), "side_range should be between 1"),
        (RandomZoomOut::new().p(1.5).into(), "p should be"),
        (
            RandomIoUCrop { max_scale: 1.5, ..RandomIoUCrop::new() }.into(),
            "min_scale and max_scale should be",
        ),
        (RandomIoUCrop { min_aspect_ratio: 3.0, ..RandomIoUCrop::new() }.into(), "swap them"),
        (
            RandomIoUCrop { sampler_options: vec![], ..RandomIoUCrop::new() }.into(),
            "sampler_options should be",
        ),
    ];
    for (augment, message) in refused {
        let said = augment.check().unwrap_err().to_string();
        assert!(said.contains(message) && said.contains(augment.name()), "{said}");
    }
}

/// A box that a crop has cut lies at the edge of every canvas that the crop is resized to, whatever rounding makes of it.
#[test]
fn boxes_that_were_cut_at_an_edge_stay_when_the_canvas_is_resized() {
    for edge in 2..700u32 {
        let list = vec![Object { bbox: [0.5, 0.5, 1000.0, 1000.0], ..Object::default() }];
        let objects = Objects { unit: Unit::Pixels, list, skeleton: None };
        let mut draft =
            Draft::new(0, Size::new(1000, 1000), Orientation::UPRIGHT).with_objects(Arc::new(objects));
        draft.apply(Op::Crop { top: 0, left: 0, height: edge, width: edge });
        SanitizeBoundingBoxes::default().plan(&mut draft, Vec::new(), &mut Script::new(1));
        Resize::new(Extent::Two([640, 640])).plan(&mut draft, Vec::new(), &mut Script::new(1));
        SanitizeBoundingBoxes::default().plan(&mut draft, Vec::new(), &mut Script::new(1));
        assert_eq!(draft.objects().len(), 1, "{edge}");
    }
}
