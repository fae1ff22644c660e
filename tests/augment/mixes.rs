//! Parameters of the mixes and of the detection set: the numbers that torchvision's, timm's and Ultralytics' arithmetic
//! gives for the same draws.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::augment::{
    Augment, Augmentation, CopyPaste, CutMix, LetterBox, MixUp, MixupParams, Mosaic, ResizeLongest,
    TimmMixup, YoloCutMix, YoloMixUp, YoloPerspective,
};
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Op};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::plan::label_ops::{LabelOpKind, ObjectFilter};
use feedline::plan::{Layer, LayerSource};
use feedline::rng::{Draws, Rng};
use std::collections::VecDeque;

/// Uniform numbers in a given order.
struct Script(VecDeque<f64>);

impl Script {
    fn new(uniforms: &[f64]) -> Self {
        Self(uniforms.iter().copied().collect())
    }
}

impl Draws for Script {
    fn bits(&mut self) -> u32 {
        (self.0.pop_front().expect("a draw too many") * 16_777_216.0) as u32 * 256
    }
}

fn draft(width: u32, height: u32) -> Draft {
    Draft::new(0, Size::new(width, height), Orientation::UPRIGHT)
}

/// Index of the image that a layer shows.
fn image_of(layer: &Layer) -> u32 {
    match layer.sampled().unwrap().from {
        LayerSource::Image(image) => image,
        LayerSource::Pass(pass) => panic!("it shows pass {pass}"),
    }
}

#[test]
fn a_cut_mix_shows_torchvisions_rectangle_and_weighs_what_is_left() {
    // From torchvision 0.29.2 with its draws replaced: size, lambda, middle, left, top, right, bottom, lambda adjusted.
    let rows = [
        ([224, 224], 0.622_901_694_889_701_9, [189, 166], [121, 98, 224, 224], 0.741_350_446_428_571_4),
        ([224, 224], 7.077_911_883_850_536e-7, [166, 13], [55, 0, 224, 124], 0.582_350_127_551_020_3),
        ([224, 224], 0.951_588_659_837_428_4, [139, 26], [115, 2, 163, 50], 0.954_081_632_653_061_2),
        ([224, 224], 1.0, [222, 196], [222, 196, 222, 196], 1.0),
        ([130, 97], 0.389_437_311_586_769, [113, 16], [63, 0, 130, 53], 0.718_398_096_748_612_2),
        ([130, 97], 0.893_856_424_717_636_2, [42, 21], [21, 6, 63, 36], 0.900_079_302_141_157_8),
        ([130, 97], 0.0, [76, 2], [11, 0, 130, 50], 0.528_152_260_111_023),
        ([3, 5], 0.126_160_582_186_012_83, [1, 2], [0, 0, 2, 4], 0.466_666_666_666_666_7),
        ([3, 5], 0.946_374_809_317_909_4, [0, 2], [0, 2, 0, 2], 1.0),
        ([1, 1], 0.787_738_303_980_434_2, [0, 0], [0, 0, 0, 0], 1.0),
        ([480, 640], 3.738_895_359_261_693e-5, [247, 165], [8, 0, 480, 484], 0.256_354_166_666_666_66),
        ([480, 640], 0.0, [74, 57], [0, 0, 314, 377], 0.614_654_947_916_666_7),
    ];
    for ([width, height], lambda, middle, [left, top, right, bottom], adjusted) in rows {
        let (area, left_over) = CutMix::cut(Size::new(width, height), lambda, middle);
        let want = Rect::new(left, top, (right - left) as u32, (bottom - top) as u32);
        assert!(area == want || (area.is_empty() && want.is_empty()), "{area:?} and not {want:?}");
        assert!((left_over - adjusted).abs() < 1e-12);
    }
}

#[test]
fn timms_rectangle_halves_whole_edges_and_is_cut_at_the_sample() {
    let mut rng = Rng::new(4, 0, 0, 0);
    for _ in 0..2000 {
        let of = Size::new(1 + rng.below(300), 1 + rng.below(300));
        let (lambda, x, y) = (f64::from(rng.uniform()), rng.below(of.width), rng.below(of.height));
        let ends = |edge: u32, middle: u32| {
            let cut = (f64::from(edge) * (1.0 - lambda).sqrt()).floor() as i64;
            let clip = |at: i64| at.clamp(0, i64::from(edge));
            (clip(i64::from(middle) - cut / 2), clip(i64::from(middle) + cut / 2))
        };
        let ((left, right), (top, bottom)) = (ends(of.width, x), ends(of.height, y));
        let got = TimmMixup::cut(of, lambda, [x, y]);
        assert_eq!(got.size().pixels() as i64, (right - left) * (bottom - top));
        if !got.is_empty() {
            assert_eq!(
                (i64::from(got.x), i64::from(got.y), got.right(), got.bottom()),
                (left, top, right, bottom)
            );
        }
    }
}

#[test]
fn timm_draws_which_mix_only_where_both_may_be() {
    let of = Size::new(100, 50);
    let params = |op: TimmMixup, first: f64| {
        let mut draws = Rng::new(6, 0, 0, 0);
        let mut rest: Vec<f64> = (0..40).map(|_| f64::from(draws.uniform())).collect();
        rest.insert(0, first);
        op.make_params(of, &mut Script::new(&rest))
    };
    assert!(matches!(params(TimmMixup::new(0.8, 1.0), 0.4), MixupParams::Cut(..)));
    assert!(matches!(params(TimmMixup::new(0.8, 1.0), 0.6), MixupParams::Mix(_)));
    assert!(matches!(params(TimmMixup::new(0.0, 1.0), 0.6), MixupParams::Cut(..)));
    assert!(matches!(params(TimmMixup::new(0.8, 0.0), 0.4), MixupParams::Mix(_)));
    let MixupParams::Cut(area, share) = params(TimmMixup::new(0.0, 1.0), 0.5) else { panic!("no rectangle") };
    assert!((share - (1.0 - area.size().pixels() as f64 / 5000.0)).abs() < 1e-12);
    let uncorrected = TimmMixup { correct_lam: false, ..TimmMixup::new(0.0, 1.0) };
    let MixupParams::Cut(same, lambda) = params(uncorrected, 0.5) else { panic!("no rectangle") };
    assert!(same == area && (lambda - share).abs() > 1e-9);
}

#[test]
fn a_letter_box_fits_as_pythons_rounding_does() {
    // Height, width; height, width of the box; its options; what the arithmetic gives in Python.
    let usual = |height, width| LetterBox::new([height, width]);
    let rows = [
        ([480, 640], usual(640, 640), [640, 480], [0, 80, 0, 80]),
        ([427, 640], usual(640, 640), [640, 427], [0, 106, 0, 107]),
        ([427, 640], usual(640, 640).center(false), [640, 427], [0, 0, 0, 213]),
        ([427, 640], LetterBox { auto: true, ..usual(640, 640) }, [640, 427], [0, 10, 0, 11]),
        ([375, 500], usual(640, 640), [640, 480], [0, 80, 0, 80]),
        ([375, 500], usual(640, 640).scaleup(false), [500, 375], [70, 132, 70, 133]),
        ([1, 1000], usual(640, 640), [640, 1], [0, 319, 0, 320]),
        ([333, 500], usual(320, 416), [416, 277], [0, 21, 0, 22]),
        ([300, 201], usual(640, 480), [429, 640], [25, 0, 26, 0]),
        ([300, 201], usual(640, 480).scaleup(false), [201, 300], [139, 170, 140, 170]),
        ([300, 201], LetterBox { auto: true, ..usual(640, 480) }, [429, 640], [9, 0, 10, 0]),
    ];
    for ([height, width], letter_box, [to_width, to_height], border) in rows {
        let params = letter_box.make_params(Size::new(width, height));
        assert_eq!(params, (Size::new(to_width, to_height), border), "{height} {width} {letter_box:?}");
        let mut sample = draft(width, height);
        letter_box.plan(&mut sample, Vec::new(), &mut Script::new(&[]));
        let [left, top, right, bottom] = border;
        assert_eq!(sample.size(), Size::new(left + to_width + right, top + to_height + bottom));
    }
}

#[test]
fn the_longer_edge_is_met_and_the_shorter_rounded_up() {
    for (have, edge, want) in [
        ((640, 480), 640, (640, 480)),
        ((4000, 3000), 640, (640, 480)),
        ((1000, 333), 640, (640, 214)),
        ((9999, 1), 640, (640, 1)),
        ((500, 501), 320, (320, 320)),
    ] {
        let mut sample = draft(have.0, have.1);
        ResizeLongest::new(edge).plan(&mut sample, Vec::new(), &mut Script::new(&[]));
        assert_eq!(sample.size(), Size::new(want.0, want.1));
    }
}

#[test]
fn a_mosaic_draws_the_points_row_first_and_lays_its_tiles_round_it() {
    let mosaic = Mosaic::new(100);
    assert_eq!(mosaic.make_params(&mut Script::new(&[0.25, 0.75])), [125, 75]);
    assert_eq!(mosaic.make_params(&mut Script::new(&[0.0, 0.999])), [149, 50]);
    let mut host = draft(200, 100);
    let partners = vec![draft(50, 100), draft(100, 40), draft(10, 10)];
    mosaic.plan(&mut host, partners, &mut Script::new(&[0.25, 0.75]));
    let plan = host.freeze().unwrap();
    assert_eq!(plan.size(), Size::new(200, 200));
    let windows: Vec<(u32, Rect)> =
        plan.layers[1..].iter().map(|layer| (image_of(layer), layer.window)).collect();
    let want = [
        (0, Rect::new(25, 25, 100, 50)),
        (1, Rect::new(125, 0, 50, 75)),
        (2, Rect::new(25, 75, 100, 40)),
        (3, Rect::new(125, 75, 75, 100)),
    ];
    assert_eq!(windows, want);
}

#[test]
fn a_mosaic_of_nine_keeps_the_sample_whole_and_lets_no_tile_hide_another() {
    let mut host = draft(80, 60);
    let sizes = [(100, 40), (100, 20), (30, 100), (100, 100), (20, 30), (9, 90), (70, 100), (100, 100)];
    let partners = sizes.map(|(width, height)| draft(width, height)).into();
    Mosaic::new(100).n(9).plan(&mut host, partners, &mut Script::new(&[]));
    let plan = host.freeze().unwrap();
    assert_eq!((plan.size(), plan.passes.len()), (Size::new(200, 200), 1));
    let windows: Vec<(u32, Rect)> =
        plan.layers[1..].iter().map(|layer| (image_of(layer), layer.window)).collect();
    // The sample becomes 100x75 at (50, 50); the partners' longer edges become 100 as well.
    let want = [
        (0, Rect::new(50, 50, 100, 75)),
        (1, Rect::new(0, 10, 50, 40)),
        (2, Rect::new(50, 30, 100, 20)),
        (3, Rect::new(150, 0, 30, 50)),
        (4, Rect::new(0, 50, 50, 75)),
        (5, Rect::new(150, 50, 50, 75)),
        (6, Rect::new(40, 125, 10, 75)),
        (7, Rect::new(65, 125, 70, 75)),
        (8, Rect::new(150, 125, 50, 75)),
    ];
    assert_eq!(windows, want);
}

#[test]
fn without_partners_there_is_no_mosaic_and_the_map_is_of_a_letter_box() {
    let mut sample = draft(2000, 1000);
    Mosaic::new(64).plan(&mut sample, Vec::new(), &mut Script::new(&[]));
    assert!(sample.ops().is_empty() && !sample.is_composed());
    let [mut draws, mut again] = [(); 2].map(|()| Rng::new(1, 0, 0, 0));
    YoloPerspective::new(64).plan(&mut sample, Vec::new(), &mut draws);
    let matrix = YoloPerspective::new(64).make_params(Size::new(64, 64), &mut again).matrix;
    let [Op::Resize { size, .. }, Op::Pad { padding, .. }, Op::WarpPerspective { matrix: drawn, .. }] =
        sample.ops()
    else {
        panic!("{:?}", sample.ops())
    };
    assert_eq!((*size, padding.sides(), *drawn), (Extent::Two([32, 64]), [0, 16, 0, 16], matrix));
    let plan = sample.freeze().unwrap();
    assert_eq!((plan.passes.len(), plan.layers.len()), (1, 2), "one colour, and the image sampled once");
}

/// Points through the five maps one after another, as whole sentences.
#[test]
fn a_perspective_moves_points_as_its_five_parts_do() {
    let op = YoloPerspective::new([80, 120]).degrees(30.0).shear(10.0).perspective(0.001);
    let mut rng = Rng::new(2, 0, 0, 0);
    for _ in 0..100 {
        let uniforms: [f64; 8] = std::array::from_fn(|_| f64::from(rng.uniform()));
        let params = op.make_params(Size::new(200, 160), &mut Script::new(&uniforms));
        let drawn = |i: usize, middle: f64, by: f64| middle - by + 2.0 * by * uniforms[i];
        let (px, py) = (drawn(0, 0.0, 0.001), drawn(1, 0.0, 0.001));
        let (angle, scale) = (drawn(2, 0.0, 30.0).to_radians(), drawn(3, 1.0, 0.5));
        let (shear_x, shear_y) = (drawn(4, 0.0, 10.0).to_radians(), drawn(5, 0.0, 10.0).to_radians());
        let (right, down) = (drawn(6, 0.5, 0.1) * 120.0, drawn(7, 0.5, 0.1) * 80.0);
        assert!((params.scale - scale).abs() < 1e-12);
        for [x, y] in [[0.0, 0.0], [200.0, 0.0], [37.0, 91.0]] {
            let (x0, y0) = (x - 100.0, y - 80.0);
            let depth = px * x0 + py * y0 + 1.0;
            // A positive angle turns counterclockwise on the screen.
            let (x1, y1) = (
                scale * (angle.cos() * x0 + angle.sin() * y0),
                scale * (angle.cos() * y0 - angle.sin() * x0),
            );
            let (x2, y2) = (x1 + shear_x.tan() * y1, y1 + shear_y.tan() * x1);
            let want = [x2 / depth + right, y2 / depth + down];
            let [u, v, w] = params.matrix.map(|row| row[0] * x + row[1] * y + row[2]);
            assert!((u / w - want[0]).abs() < 1e-9 && (v / w - want[1]).abs() < 1e-9);
        }
    }
}

#[test]
fn the_boxes_of_a_perspective_are_compared_with_those_ahead_of_it() {
    let mut sample = draft(64, 64);
    let mut draws = Script::new(&[0.5, 0.5, 0.5, 0.75, 0.5, 0.5, 0.5, 0.5]);
    YoloPerspective::new(64).plan(&mut sample, Vec::new(), &mut draws);
    let plan = sample.freeze().unwrap();
    let kinds: Vec<LabelOpKind> = plan.label_ops.iter().map(|moved| moved.kind).collect();
    let [
        LabelOpKind::Mark,
        LabelOpKind::Map(m),
        LabelOpKind::Clip(clip),
        LabelOpKind::Rebox,
        LabelOpKind::Keep(keep),
    ] = kinds[..]
    else {
        panic!("{kinds:?}")
    };
    assert_eq!(clip, Rect::new(0, 0, 64, 64));
    let want = [1.25, 0.0, -8.0, 0.0, 1.25, -8.0, 0.0, 0.0, 1.0];
    assert!(m.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-9), "{m:?}");
    let candidates =
        ObjectFilter::Candidates { size: 2.0, aspect: 100.0, area: 0.1, area_of_polygons: 0.01, scale: 1.25 };
    assert_eq!(keep, candidates);
}

#[test]
fn a_detection_mix_is_about_half_and_half_and_keeps_both_labels() {
    for seed in 0..50 {
        let mut host = draft(30, 20);
        YoloMixUp::new(1.0).plan(&mut host, vec![draft(30, 20)], &mut Rng::new(seed, 0, 0, 0));
        let plan = host.freeze().unwrap();
        let share = plan.inputs[1].weight;
        assert!((0.2..0.8).contains(&share));
        assert_eq!((plan.images.len(), plan.labels.len(), plan.labels[1].share), (2, 2, share));
    }
}

#[test]
fn a_detection_cut_shows_torchvisions_rectangle_at_a_lambda_of_about_a_half() {
    for seed in 0..50 {
        let mut host = draft(300, 200);
        YoloCutMix::new(1.0).plan(&mut host, vec![draft(300, 200)], &mut Rng::new(seed, 0, 0, 0));
        let window = YoloCutMix::new(1.0).make_params(Size::new(300, 200), &mut Rng::new(seed, 0, 0, 0));
        let plan = host.freeze().unwrap();
        assert_eq!((plan.inputs[1].window, plan.inputs[1].weight), (window, 1.0));
        let part = window.size().pixels() as f32 / 60_000.0;
        assert_eq!(plan.labels.iter().map(|label| label.share).collect::<Vec<_>>(), [1.0 - part, part]);
        assert!(
            plan.label_ops.iter().all(|moved| !matches!(moved.kind, LabelOpKind::Weigh(_))),
            "objects count in full"
        );
        assert!(window.width <= 255 && window.height <= 170, "lambda is far from a half");
    }
}

#[test]
fn arguments_without_a_meaning_are_refused() {
    let error = |op: Augmentation| op.check().unwrap_err().to_string();
    assert!(error(Mosaic::default().n(5).into()).contains("n should be 4 or 9"));
    assert!(error(Mosaic::new(1).into()).contains("imgsz"));
    assert!(error(Mosaic::new(640).p(1.5).into()).contains("interval"));
    assert!(error(YoloPerspective::new(640).scale(1.0).into()).contains("scale"));
    assert!(error(YoloPerspective::new(640).perspective(0.1).into()).contains("perspective"));
    assert!(error(LetterBox { stride: 0, ..LetterBox::new(640) }.into()).contains("stride is 0"));
    assert!(error(CopyPaste::new(1.1).into()).contains("interval"));
    assert!(error(YoloCutMix::new(-0.1).into()).contains("interval"));
    assert!(error(MixUp::new(0.0).into()).contains("alpha"));
    assert!(error(CutMix::new(-1.0).into()).contains("alpha"));
    assert!(error(TimmMixup::new(0.0, 0.0).into()).contains("must be greater than 0"));
    for name in Augmentation::NAMES {
        assert!(Augmentation::NAMES.iter().filter(|other| other == &name).count() == 1);
    }
}
