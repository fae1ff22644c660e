//! Programs as plain data: how many launches there are, and what is refused.

use super::schedule::Kernel;
use super::{Program, Sample, Surface};
use crate::draft::Draft;
use crate::draft::op::{Extent, Interpolation, Op, Value};
use crate::error::Cause;
use crate::geometry::{Orientation, Rect, Size};
use crate::output::{DType, Layout, Output};
use crate::plan::{LayerSource, MAX_RUNS, Plan, Run, Sampled, Span};

const STORED: Size = Size::new(500, 375);

fn resize() -> Op {
    let size = Extent::Two([224, 224]);
    Op::Resize { size, interpolation: Interpolation::Bilinear, max_size: None, antialias: true }
}

fn draft(ops: &[Op]) -> Draft {
    let mut draft = Draft::new(0, STORED, Orientation::UPRIGHT);
    ops.iter().for_each(|op| draft.apply(op.clone()));
    draft
}

fn plan(ops: &[Op]) -> Plan {
    draft(ops).freeze().expect("a plan")
}

fn surface() -> Surface {
    Surface { ptr: 1 << 20, pitch: 1500, region: STORED.rect(), stored: STORED }
}

fn build(plans: &[Plan]) -> Result<Program, Cause> {
    let surfaces = [surface(); 2];
    let sample =
        |plan| -> Sample<'_> { Sample { plan, surfaces: &surfaces[..plan.images.len()], output: 1 << 30 } };
    let output = Output { size: plans[0].size(), dtype: DType::F16, layout: Layout::Nchw, normalize: None };
    Program::build(&plans.iter().map(sample).collect::<Vec<_>>(), &output, 0)
}

fn kernels(plans: &[Plan]) -> Vec<Kernel> {
    let program = build(plans).expect("a program");
    program.launches.iter().map(|launch| launch.kernel).collect()
}

#[test]
fn a_batch_of_crops_takes_two_launches_and_one_more_where_more_is_done() {
    let jitter = [resize(), Op::Hflip {}, Op::Brightness { factor: 1.2 }, Op::Hue { factor: 0.1 }];
    let erase = Op::Erase { i: 3, j: 3, h: 50, w: 50, v: Value::One(0.0) };
    let plans = [plan(&[resize()]), plan(&jitter), plan(&[resize(), erase])];
    assert_eq!(kernels(&plans[..1]), [Kernel::Taps, Kernel::Crop]);
    assert_eq!(kernels(&plans[1..]), [Kernel::Taps, Kernel::Render]);
    assert_eq!(kernels(&plans), [Kernel::Taps, Kernel::Crop, Kernel::Render]);
    let launches = build(&plans).expect("a program").launches;
    assert_eq!((launches[1].grid, launches[2].grid), ([49, 1], [49, 2]));
    let crop = Op::Crop { top: 70, left: 80, height: 224, width: 224 };
    assert_eq!(kernels(&[plan(&[crop])]), [Kernel::Render], "what is not resampled needs no taps");
}

#[test]
fn what_is_more_than_a_crop_is_left_to_the_general_kernel() {
    let to = |height, width| {
        let size = Extent::Two([height, width]);
        Op::Resize { size, interpolation: Interpolation::Bilinear, max_size: None, antialias: true }
    };
    let crop = Op::Crop { top: 20, left: 30, height: 301, width: 299 };
    for ops in [vec![crop.clone(), resize()], vec![resize(), Op::Hflip {}], vec![to(39, 36), Op::Vflip {}]] {
        assert_eq!(kernels(&[plan(&ops)]), [Kernel::Taps, Kernel::Crop], "{ops:?}");
    }
    let grey = Op::Saturation { factor: 0.0 };
    for ops in [
        vec![Op::Hflip {}, resize()],
        vec![to(224, 223)],
        vec![to(4, 4)],
        vec![to(1300, 1312)],
        vec![resize(), grey.clone()],
        vec![grey, resize()],
        vec![crop.clone(), Op::Crop { top: -1, left: 0, height: 301, width: 299 }, resize()],
        vec![resize(), Op::Crop { top: 0, left: -4, height: 224, width: 224 }],
        vec![resize(), Op::Erase { i: 3, j: 3, h: 50, w: 50, v: Value::One(0.0) }],
    ] {
        let used = kernels(&[plan(&ops)]);
        assert!(used.ends_with(&[Kernel::Render]) && !used.contains(&Kernel::Crop), "{ops:?}: {used:?}");
    }
    let turned = Draft::new(0, STORED, Orientation::from_exif(3));
    let turned = [resize()].into_iter().fold(turned, |mut turned, op| {
        turned.apply(op);
        turned
    });
    assert_eq!(kernels(&[turned.freeze().expect("a plan")]), [Kernel::Taps, Kernel::Render]);
}

#[test]
fn a_statistic_adds_a_pass_for_all_samples_that_wait_for_one() {
    let contrast = Op::Contrast { factor: 0.5 };
    let behind = plan(&[resize(), contrast.clone()]);
    assert_eq!(kernels(&[behind.clone(), behind.clone()]), [Kernel::Taps, Kernel::Render, Kernel::Render]);
    let ahead = plan(&[contrast.clone(), resize()]);
    assert_eq!(kernels(&[ahead]), [Kernel::Taps, Kernel::Measure, Kernel::Render]);
    let twice = plan(&[resize(), contrast.clone(), contrast]);
    assert_eq!(kernels(&[twice, behind]), [Kernel::Taps, Kernel::Render, Kernel::Render, Kernel::Render]);
}

#[test]
fn a_mix_is_one_pass_and_an_erased_one_has_its_own_kernel() {
    let mixed = |ops: &[Op]| {
        let mut mixed = draft(ops);
        let size = mixed.size();
        mixed.blend(draft(&[resize()]), 0.3, size.rect(), 0.3).expect("one size");
        mixed.freeze().expect("a plan")
    };
    let erase = Op::Erase { i: 3, j: 3, h: 50, w: 50, v: Value::Noise { key: [1, 2] } };
    assert_eq!(kernels(&[mixed(&[resize()])]), [Kernel::Taps, Kernel::Blend]);
    assert_eq!(kernels(&[mixed(&[resize(), erase])]), [Kernel::Taps, Kernel::BlendErased]);
}

#[test]
fn of_a_partner_that_was_cropped_away_a_mask_has_nothing() {
    let mut mixed = draft(&[resize()]);
    mixed.blend(draft(&[resize()]), 1.0, Rect::new(150, 150, 50, 50), 0.05).expect("one size");
    mixed.apply(Op::Crop { top: 0, left: 0, height: 100, width: 100 });
    let plan = mixed.freeze().expect("a plan");
    assert_eq!(kernels(&[plan.for_masks(255)]), [Kernel::Render]);
}

#[test]
fn what_the_kernels_cannot_do_is_refused_in_words() {
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan(&[resize()]);
        change(&mut plan);
        build(&[plan]).expect_err("refused").to_string()
    };
    assert!(refused(&|plan| plan.layers[0].mask = Some(0)).contains("outside"));
    let rows = |row: Span| {
        move |plan: &mut Plan| {
            (plan.layers[0].mask, plan.mask_rows) = (Some(0), vec![row; 224]);
            plan.runs = vec![Run { start: 0, len: 9 }; 2];
        }
    };
    assert!(refused(&rows(Span { start: 1, len: 2 })).contains("outside"));
    assert!(refused(&|plan| plan.runs = vec![Run::default(); MAX_RUNS + 1]).contains("larger"));
    let mut masked = plan(&[resize()]);
    rows(Span { start: 0, len: 2 })(&mut masked);
    assert!(build(&[masked]).is_ok());
    let sampled = |change: fn(&mut Sampled)| {
        refused(&move |plan| change(plan.layers[0].sampled_mut().expect("an image")))
    };
    assert!(sampled(|shown| shown.from = LayerSource::Pass(0)).contains("a bug"));
    assert!(sampled(|shown| shown.clip = Rect::new(1, 0, 500, 375)).contains("decoded"));
    assert!(refused(&|plan| plan.passes[0].inputs.len = 2).contains("outside"));
    assert!(refused(&|plan| plan.passes.clear()).contains("no pass"));
}

#[test]
fn a_batch_of_nothing_has_nothing_to_launch() {
    let output = Output { size: STORED, dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
    let program = Program::build(&[], &output, 0).expect("a program");
    assert_eq!((program.launches.len(), program.scratch_bytes), (0, 0));
}

#[test]
fn the_tables_of_a_batch_stay_small() {
    let one = build(&[plan(&[resize()])]).expect("a program");
    // Two axes of 224 outputs: a start of 4 bytes, and up to three groups of four weights.
    assert!(one.tables.len() < 1024, "{}", one.tables.len());
    assert!(one.scratch_bytes < 13_000, "{}", one.scratch_bytes);
}
