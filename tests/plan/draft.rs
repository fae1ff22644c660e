//! What a frozen plan means, against doing the ops one after another on a whole input.
//!
//! The oracle needs no colours. A pixel is a number that remembers everything that was ever done to it; two pixels are
//! equal only if the same ops saw the same pixels in the same order.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod history;

use feedline::draft::Draft;
use feedline::draft::op::{Chain, Extent, Fill, Interpolation, Op, Padding, PaddingMode, Value};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::plan::{LayerSource, Measured, Method, Plan, Sampled};
use feedline::rng::{Draws, Rng};
use history::{Canvas, by_ops, by_plan};

fn draft(size: Size, orientation: u32) -> Draft {
    Draft::new(7, Orientation(orientation).apply_size(size), Orientation(orientation))
}

fn plan(size: Size, ops: &[Op]) -> Plan {
    frozen(size, ops).unwrap()
}

fn frozen(size: Size, ops: &[Op]) -> Result<Plan, String> {
    let mut draft = draft(size, 0);
    ops.iter().for_each(|op| draft.apply(op.clone()));
    draft.freeze().map_err(|error| error.to_string())
}

fn crop(left: i32, top: i32, width: u32, height: u32) -> Op {
    Op::Crop { top, left, height, width }
}

fn resize(height: u32, width: u32) -> Op {
    let size = Extent::Two([height, width]);
    Op::Resize { size, interpolation: Interpolation::Bilinear, max_size: None, antialias: true }
}

fn pad(padding: [u32; 4], level: u8) -> Op {
    Op::Pad { padding: Padding::Sides(padding), fill: Fill::Grey(level), padding_mode: PaddingMode::Constant }
}

fn erase(i: i32, j: i32, h: u32, w: u32) -> Op {
    Op::Erase { i, j, h, w, v: Value::One(2.0) }
}

const CONTRAST: Op = Op::Contrast { factor: 0.5 };
const SIZE: Size = Size::new(12, 9);

/// One op that suits a canvas of `size`; cuts reach over the edge now and then.
fn any_op(size: Size, rng: &mut Rng) -> Op {
    let mut up_to = |bound: u32| rng.below(bound + 1);
    let (width, height) = (1 + up_to(size.width + 1), 1 + up_to(size.height + 1));
    let (left, top) = (up_to(size.width) as i32 - 2, up_to(size.height) as i32 - 2);
    let fill = Fill::Rgb([up_to(2) as u8, up_to(1) as u8, 0]);
    let factor = f64::from(up_to(3)) / 2.0;
    match up_to(13) {
        0 => resize(1 + up_to(9), 1 + up_to(9)),
        1 => Op::Resize {
            size: Extent::One(1 + up_to(9)),
            interpolation: Interpolation::Nearest,
            max_size: None,
            antialias: true,
        },
        2 => Op::CenterCrop { output_size: Extent::Two([height, width]) },
        3 => {
            let padding = Padding::Sides([up_to(2), up_to(2), up_to(2), up_to(2)]);
            let modes =
                [PaddingMode::Constant, PaddingMode::Edge, PaddingMode::Symmetric, PaddingMode::Reflect];
            // What a small canvas can be padded with.
            let modes = &modes[..size.width.min(size.height).min(3) as usize + 1];
            Op::Pad { padding, fill, padding_mode: modes[up_to(modes.len() as u32 - 1) as usize] }
        }
        4 | 5 => Op::Hflip {},
        6 => Op::Vflip {},
        7 => Op::Brightness { factor },
        8 | 9 => Op::Contrast { factor },
        10 => Op::Grayscale { num_output_channels: 3 },
        _ => crop(left, top, width, height),
    }
}

/// One op that may follow normalise or an erase.
fn any_last_op(size: Size, rng: &mut Rng) -> Op {
    let mut up_to = |bound: u32| rng.below(bound + 1);
    match up_to(4) {
        0 => Op::Hflip {},
        1 => Op::Vflip {},
        2 => {
            let (width, height) = (1 + up_to(size.width - 1), 1 + up_to(size.height - 1));
            crop(up_to(size.width - width) as i32, up_to(size.height - height) as i32, width, height)
        }
        _ => erase(
            up_to(size.height) as i32 - 2,
            up_to(size.width) as i32 - 2,
            up_to(size.height),
            up_to(size.width),
        ),
    }
}

/// What one of the plan's layers shows of an image or pass.
fn shown(plan: &Plan, layer: usize) -> Sampled {
    *plan.layers[layer].sampled().unwrap()
}

#[test]
fn a_plan_does_what_its_ops_do_one_after_another() {
    let mut rng = Rng::new(5, 0, 0, 0);
    let mut passes = [0usize; 8];
    for round in 0..30_000u32 {
        let size = Size::new(1 + rng.below(12), 1 + rng.below(12));
        let mut draft = draft(size, round % 8);
        let mut canvas = Canvas::source(size);
        let (first, last) = (rng.below(7), rng.below(4));
        for position in 0..first + last {
            let chosen = if position < first { any_op } else { any_last_op };
            let op = chosen(draft.size(), &mut rng);
            by_ops(&mut canvas, &op);
            draft.apply(op);
        }
        let ops = draft.ops().to_vec();
        // Refused are too many statistics, and an erase ahead of a cut that needs a finished image.
        let Ok(plan) = draft.freeze() else { continue };
        passes[plan.passes.len()] += 1;
        assert_eq!(by_plan(&plan), canvas, "{size} turned {}: {ops:?}\n{plan:#?}", round % 8);
    }
    assert!(passes.iter().sum::<usize>() > 29_000, "nearly all chains can be planned: {passes:?}");
    assert!(passes[1..5].iter().all(|&chains| chains > 100), "chains of all lengths are met: {passes:?}");
}

#[test]
fn absurd_numbers_are_refused_and_do_not_panic() {
    let numbers = [0, 1, 7, 65_535, 65_536, i32::MAX as u32, u32::MAX];
    let mut rng = Rng::new(6, 0, 0, 0);
    for _ in 0..20_000 {
        let mut draft = draft(Size::new(65_535, 3), rng.below(8));
        for _ in 0..5 {
            let mut n = || numbers[rng.below(numbers.len() as u32) as usize];
            let op = match n() % 5 {
                0 => crop(n() as i32, (n() as i32).wrapping_neg(), n(), n()),
                1 => pad([n(), n(), n(), n()], 9),
                2 => resize(n(), n()),
                3 => Op::CenterCrop { output_size: Extent::Two([n(), n()]) },
                _ => erase(n() as i32, (n() as i32).wrapping_neg(), n(), n()),
            };
            draft.apply(op);
        }
        if let Ok(plan) = draft.freeze() {
            assert!(plan.images[0].stored.rect().contains(feedline::device::region(&plan, 0)));
        }
    }
}

#[test]
fn a_crop_then_a_resize_is_one_stage_and_two_resizes_are_two() {
    assert_eq!(plan(SIZE, &[crop(1, 1, 8, 6), Op::Hflip {}, resize(4, 4), Op::Vflip {}]).passes.len(), 1);
    let two = plan(SIZE, &[resize(8, 8), resize(4, 4)]);
    assert_eq!(two.passes.len(), 2);
    assert_eq!(shown(&two, 1).from, LayerSource::Pass(0));
    assert_eq!(plan(SIZE, &[resize(8, 8), resize(8, 8)]).passes.len(), 1);
    // What a border hides again leaves no trace.
    assert_eq!(plan(SIZE, &[pad([4; 4], 114), crop(5, 5, 6, 6), resize(3, 3)]).layers.len(), 1);
}

#[test]
fn contrast_measures_the_image_at_its_place_in_the_chain() {
    let before = plan(SIZE, &[CONTRAST, crop(2, 1, 5, 4), resize(3, 3)]);
    assert_eq!((before.stats[0].of, before.stats[0].rect), (Measured::Layer(0), SIZE.rect()));
    assert_eq!(shown(&before, 0).clip, Rect::new(2, 1, 5, 4));
    let after = plan(SIZE, &[crop(2, 1, 5, 4), CONTRAST, resize(3, 3)]);
    assert_eq!((after.stats[0].of, after.stats[0].rect), (Measured::Layer(0), Rect::new(2, 1, 5, 4)));
    let last = plan(SIZE, &[crop(2, 1, 5, 4), resize(3, 3), CONTRAST]);
    assert_eq!((last.stats[0].of, last.stats[0].rect), (Measured::BlendInput(0), Rect::new(0, 0, 3, 3)));
    let behind = plan(SIZE, &[Op::Brightness { factor: 0.5 }, CONTRAST, CONTRAST]);
    assert_eq!((behind.stats[0].steps.len, behind.stats[1].steps.len), (1, 2));
}

#[test]
fn a_flip_ahead_of_a_resize_turns_the_source_and_one_behind_it_turns_the_window() {
    let ahead = shown(&plan(SIZE, &[Op::Hflip {}, resize(4, 4)]), 0);
    assert_eq!((ahead.orientation, ahead.mirror), (Orientation::MIRROR_X, [false, false]));
    let behind = shown(&plan(SIZE, &[resize(4, 4), Op::Hflip {}]), 0);
    assert_eq!((behind.orientation, behind.mirror), (Orientation::UPRIGHT, [true, false]));
    let cut = shown(&plan(SIZE, &[crop(2, 0, 5, 9), Op::Hflip {}, resize(4, 4)]), 0);
    assert_eq!(cut.clip, Rect::new(12 - 2 - 5, 0, 5, 9));
}

#[test]
fn erases_follow_crops_and_flips() {
    let ops = [erase(2, 3, 2, 4), crop(4, 1, 6, 5), Op::Hflip {}, Op::Vflip {}];
    // Columns 3..7 become 0..3 after the crop, 3..6 mirrored; rows 2..4 become 1..3, 2..4 mirrored.
    assert_eq!(plan(SIZE, &ops).erases[0].window, Rect::new(3, 2, 3, 2));
    assert!(plan(SIZE, &[erase(0, 0, 2, 2), crop(6, 4, 3, 3)]).erases.is_empty());
    assert!(plan(SIZE, &[erase(3, 3, 0, 2)]).erases.is_empty());
}

#[test]
fn an_op_behind_the_finished_sample_is_refused_with_the_remedy() {
    let normalize = Op::Normalize { mean: [0.5; 3], std: [0.5; 3] };
    let late = frozen(SIZE, &[normalize.clone(), resize(4, 4)]).unwrap_err();
    assert_eq!(
        late,
        "resize comes after normalize, which works on the finished sample: move normalize to the end"
    );
    assert!(frozen(SIZE, &[erase(0, 0, 2, 2), CONTRAST]).unwrap_err().contains("move erase to the end"));
    assert!(frozen(SIZE, &[erase(0, 0, 2, 2), normalize.clone()]).unwrap_err().contains("move erase"));
    let border = frozen(SIZE, &[normalize.clone(), crop(-1, 0, 4, 4)]).unwrap_err();
    assert!(border.contains("adds black") && border.contains("move normalize to the end"), "{border}");
    let wide = Op::CenterCrop { output_size: Extent::One(20) };
    assert!(frozen(SIZE, &[normalize.clone(), wide]).unwrap_err().starts_with("center_crop reaches beyond"));
    assert!(frozen(SIZE, &[normalize, Op::Hflip {}, crop(1, 1, 4, 4), erase(0, 0, 1, 1)]).is_ok());
    assert!(frozen(SIZE, &[Op::Contrast { factor: -1.0 }]).unwrap_err().starts_with("contrast: "));
    let hsv = |hue, saturation, value| frozen(SIZE, &[Op::Hsv { hue, saturation, value }]).unwrap_err();
    assert_eq!(hsv(1.5, 1.0, 1.0), "hsv: the hue must be in -1..=1, but is 1.5");
    assert_eq!(hsv(0.0, -0.1, 1.0), "hsv: the saturation must be in 0..=64, but is -0.1");
    assert!(hsv(0.0, 1.0, f64::NAN).starts_with("hsv: the value"));
    assert!(frozen(SIZE, &[Op::Hue { factor: 0.6 }]).unwrap_err().starts_with("hue: "));
}

#[test]
fn the_region_to_decode_covers_what_is_read_and_no_more() {
    let stored = Size::new(40, 30);
    for turn in 0..8 {
        let orientation = Orientation(turn);
        let seen = orientation.apply_size(stored);
        let mut draft = Draft::new(0, stored, orientation);
        draft.apply(crop(3, 5, 10, 8));
        draft.apply(resize(4, 4));
        let wanted = orientation.to_stored(Rect::new(3, 5, 10, 8), seen);
        assert_eq!(feedline::device::region(&draft.freeze().unwrap(), 0), wanted);

        let mut measured = Draft::new(0, stored, orientation);
        measured.apply(crop(2, 2, 20, 20));
        measured.apply(CONTRAST);
        measured.apply(Op::Hflip {});
        measured.apply(crop(3, 5, 10, 8));
        let wanted = orientation.to_stored(Rect::new(2, 2, 20, 20), seen);
        assert_eq!(feedline::device::region(&measured.freeze().unwrap(), 0), wanted);
    }
    let nothing = plan(stored, &[crop(-20, 0, 10, 10)]);
    assert!(feedline::device::region(&nothing, 0).is_empty() && nothing.layers.is_empty());
}

/// A sample that is jittered, and then the sum of four chains of three such ops.
fn summed(op: &Op) -> Draft {
    let mut draft = draft(SIZE, 0);
    let chains = vec![Chain { weight: 0.25, ops: vec![op.clone(); 3] }; 4];
    let jitter = [Op::Brightness { factor: 0.5 }, CONTRAST, Op::Hue { factor: 0.1 }, Op::Autocontrast {}];
    jitter.into_iter().chain([Op::SumChains { chains, blend: Some(0.5) }]).for_each(|op| draft.apply(op));
    draft
}

#[test]
fn chains_of_twelve_ops_have_room_behind_a_jitter_and_in_mixes_whatever_they_are() {
    let data = [1.0, 0.1, 0.0, 0.0, 1.0, 0.0];
    let (resample, fillcolor) = (Interpolation::Bicubic, Fill::Grey(128));
    for (op, stats) in [
        (Op::Sharpness { factor: 0.5 }, 0),
        (Op::Equalize {}, 12),
        (CONTRAST, 12),
        (Op::PillowAffine { data, resample, fillcolor }, 0),
    ] {
        let mixed = |count: usize, mut host: Draft, other: &dyn Fn() -> Draft| {
            (1..count).for_each(|_| host.blend(other(), 0.5, host.size().rect(), 0.5).unwrap());
            host
        };
        // What the jitter measures is measured once, and not for each chain.
        let alone = summed(&op).freeze().unwrap();
        assert_eq!(alone.stats.len(), 2 + stats);
        let all =
            mixed(2, mixed(4, summed(&op), &|| summed(&op)), &|| mixed(4, summed(&op), &|| summed(&op)));
        let plan = all.freeze().unwrap();
        assert_eq!((plan.images.len(), plan.stats.len()), (8, 8 * (2 + stats)));
    }
}

#[test]
fn more_statistics_than_a_pass_has_room_for_are_refused() {
    let measured = |count: usize| frozen(SIZE, &vec![Op::Autocontrast {}; count]);
    assert_eq!(measured(16).unwrap().stats.len(), 16);
    let refused = measured(17).unwrap_err();
    assert_eq!(refused, "a pass of a sample needs 17 statistics and may have 16: use fewer augmentations");
    let apart =
        [vec![Op::Autocontrast {}; 16], vec![Op::Sharpness { factor: 0.5 }, Op::Equalize {}]].concat();
    assert_eq!(frozen(SIZE, &apart).unwrap().stats.len(), 17);
}

/// What the inputs of the last pass weigh at a pixel, by the image of their only layer.
fn weights(plan: &Plan, x: i32, y: i32) -> Vec<f64> {
    let pass = plan.passes.last().unwrap();
    let mut weights = vec![0.0; plan.images.len()];
    for input in &plan.inputs[pass.inputs.range()] {
        if !input.window.contains(Rect::new(x, y, 1, 1)) {
            continue;
        }
        weights.iter_mut().for_each(|weight| *weight *= 1.0 - f64::from(input.weight));
        let layer = shown(plan, input.layers.start as usize);
        assert!(matches!(layer.method, Method::Upright(_)));
        let LayerSource::Image(image) = layer.from else { panic!("it shows {:?}", layer.from) };
        weights[image as usize] += f64::from(input.weight);
    }
    weights
}

#[test]
fn shares_of_nested_mixes_weigh_as_if_each_mix_were_made_by_itself() {
    let whole = SIZE.rect();
    let single = || draft(SIZE, 0);
    let mut inner = single();
    inner.blend(single(), 0.25, whole, 0.25).unwrap();
    inner.blend(single(), 0.5, whole, 0.5).unwrap();
    let mut outer = single();
    outer.blend(inner, 0.4, Rect::new(0, 0, 6, 9), 0.2).unwrap();
    let plan = outer.freeze().unwrap();
    let close = |got: Vec<f64>, want: [f64; 4]| {
        assert!(got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-6), "{got:?} {want:?}");
    };
    close(weights(&plan, 2, 2), [0.6, 0.4 * 0.375, 0.4 * 0.125, 0.4 * 0.5]);
    close(weights(&plan, 8, 2), [1.0, 0.0, 0.0, 0.0]);
    let labels = plan.labels.iter().map(|label| f64::from(label.share)).collect();
    close(labels, [0.8, 0.2 * 0.375, 0.2 * 0.125, 0.2 * 0.5]);
}

#[test]
fn a_mix_keeps_the_stages_and_the_order_of_both_sides() {
    let mut partner = draft(SIZE, 0);
    for op in [resize(5, 5), resize(9, 12), CONTRAST] {
        partner.apply(op);
    }
    let mut host = draft(SIZE, 0);
    host.apply(resize(4, 4));
    host.apply(resize(9, 12));
    host.blend(partner, 0.5, SIZE.rect(), 0.5).unwrap();
    host.apply(CONTRAST);
    let plan = host.freeze().unwrap();
    assert_eq!((plan.passes.len(), plan.images.len()), (3, 2));
    let shown: Vec<LayerSource> = (0..plan.layers.len()).map(|at| shown(&plan, at).from).collect();
    use LayerSource::{Image, Pass};
    assert_eq!(shown, [Image(0), Image(1), Pass(0), Pass(1)]);
    let measured: Vec<Measured> = plan.stats.iter().map(|stat| stat.of).collect();
    assert_eq!(measured, [Measured::BlendInput(3), Measured::Pass(2)]);

    let mut small = draft(SIZE, 0);
    small.apply(crop(0, 0, 4, 4));
    let error = draft(SIZE, 0).blend(small, 0.5, SIZE.rect(), 0.5).unwrap_err().to_string();
    assert!(error.contains("4x4") && error.contains("put a crop or a resize ahead of the mix"));
}

#[test]
fn canvases_beyond_any_memory_are_refused_before_they_are_rendered() {
    let refused = |ops: &[Op]| frozen(Size::new(1, 65_535), ops).is_err_and(|e| e.contains("crop first"));
    assert!(refused(&[resize(65_535, 65_535)]));
    assert!(refused(&[resize(65_535, 65_535), CONTRAST, resize(4, 4)]), "a pass on the way");
    assert!(refused(&[pad([65_534, 0, 0, 0], 0)]));
    assert!(refused(&[resize(4, 65_535)]), "rows between the passes");
    assert!(!refused(&[resize(65_535, 65_535), crop(9, 9, 4, 4)]), "only what is shown is rendered");
}
