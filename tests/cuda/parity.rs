//! The CUDA renderer against the CPU renderer: the same bits for every chain, mix, number format and layout.

mod crops;
mod damage;

use crate::any_op::{any_op, folding_warp};
use crate::pasting::any_polygons;
use crate::scenario::{Outcome, Scenario};
use feedline::color::Normalize;
use feedline::device::cuda::Renderer;
use feedline::device::cuda::layout::{Batch, RenderJob, TableJob};
use feedline::device::{cpu, region};
use feedline::draft::op::{Extent, Fill, Interpolation, Op, Value};
use feedline::draft::{Draft, Tile};
use feedline::error::Cause;
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::Image;
use feedline::output::{DType, Layout, Output};
use feedline::plan::Plan;
use feedline::rng::{Draws, Rng};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("any chain of ops renders to the CPU's bits", chains).weighty().on_gpu(),
    Scenario::new("a statistic behind another renders to the CPU's bits", statistics).on_gpu(),
    Scenario::new("any mix of samples renders to the CPU's bits", mixes).weighty().on_gpu(),
    Scenario::new("any mosaic renders to the CPU's bits", mosaics).weighty().on_gpu(),
    Scenario::new("every size around a tile's edges renders to the CPU's bits", edges).weighty().on_gpu(),
    Scenario::new("any plain crop renders to the CPU's bits", crops::any).weighty().on_gpu(),
    Scenario::new("crops that shrink by a lot render to the CPU's bits", crops::shrinking).weighty().on_gpu(),
    Scenario::new("pictures that end with their memory render to the CPU's bits", ends).on_gpu(),
    Scenario::new("shrinking by a lot renders to the CPU's bits", shrinking).weighty().on_gpu(),
    Scenario::new("numbers of any size round to the CPU's bits", rounding).on_gpu(),
    Scenario::new("a plan with one field changed is refused or touches no other memory", damaged).weighty(),
    Scenario::new("a colour step or a table of unknown code is reported, and not guessed", unknown).on_gpu(),
];

pub(crate) const FORMATS: [DType; 4] = [DType::F32, DType::F16, DType::Bf16, DType::U8];
pub(crate) const LAYOUTS: [Layout; 2] = [Layout::Nchw, Layout::Nhwc];

/// The same error without its promises to other threads, which a scenario's error does not make.
pub(crate) fn plain(cause: Cause) -> Box<dyn std::error::Error> {
    cause
}

/// A sample to be rendered on both devices: its plan, and what was decoded for it.
pub(crate) struct Case {
    plan: Plan,
    images: Vec<Image>,
    says: String,
}

/// The parts of the images that the plan reads, as a decoder gives them, with noise, flat parts and extremes.
fn decoded(plan: &Plan, rng: &mut Rng) -> Vec<Image> {
    let image = |number: usize| {
        let (stored, region) = (plan.images[number].stored, region(plan, number));
        let mut image = Image::default();
        image.reset(stored, region);
        // Some rows have room behind them, as a decoder's may.
        image.stride += 4 * rng.below(3) as usize + rng.below(2) as usize;
        image.data.resize(image.stride * region.height as usize + Image::TAIL, 0);
        let mut kind = 0;
        for (at, level) in image.data.iter_mut().enumerate() {
            if at % 600 == 0 {
                kind = rng.below(3);
            }
            let noise = rng.below(256) as u8;
            *level = match kind {
                0 => noise,
                1 => {
                    if noise > 127 {
                        255
                    } else {
                        0
                    }
                }
                _ => noise / 8 + 60,
            };
        }
        image
    };
    (0..plan.images.len()).map(image).collect()
}

/// Renders the cases in one batch for each format and layout, and compares.
pub(crate) fn compare(
    renderer: &mut Renderer,
    cases: &[Case],
    formats: &[DType],
    layouts: &[Layout],
) -> Outcome {
    let plans: Vec<Plan> = cases.iter().map(|case| case.plan.clone()).collect();
    let images: Vec<&[Image]> = cases.iter().map(|case| case.images.as_slice()).collect();
    for &dtype in formats {
        for &layout in layouts {
            let normalize = (dtype != DType::U8).then_some(Normalize::IMAGENET);
            let output = Output { size: cases[0].plan.size(), dtype, layout, normalize };
            let got = renderer.render(&plans, &images, &output).map_err(plain)?;
            let bytes = output.sample_bytes();
            for (case, got) in cases.iter().zip(got.chunks_exact(bytes)) {
                let mut memory = vec![0u64; bytes.div_ceil(8)];
                let want = &mut bytemuck::cast_slice_mut(&mut memory)[..bytes];
                cpu::Renderer::default().render(&case.plan, &case.images, &output, want).map_err(plain)?;
                let wrong = got.iter().zip(want.iter()).filter(|(a, b)| a != b).count();
                if wrong > 0 {
                    let first = got.iter().zip(want.iter()).position(|(a, b)| a != b);
                    let size = output.size;
                    return Err(format!(
                        "{dtype:?} {layout:?} {size}: {wrong} of {bytes} bytes differ, the first at {first:?}: {}",
                        case.says
                    )
                    .into());
                }
            }
        }
    }
    Ok(())
}

/// A draft of one image, turned in any way, after some ops; at most eight statistics are allowed.
pub(crate) fn any_draft(rng: &mut Rng, index: u64, most: u32) -> Draft {
    let stored = Size::new(1 + rng.below(120), 1 + rng.below(90));
    let orientation = Orientation::from_exif(1 + rng.below(8).saturating_sub(rng.below(3)) as u16);
    let mut draft = Draft::new(index, stored, orientation);
    let mut measured = 0;
    for _ in 0..rng.below(most + 1) {
        let op = any_op(rng, draft.size());
        let measures = matches!(op, Op::Contrast { .. } | Op::Autocontrast {} | Op::Equalize {});
        measured += u32::from(measures);
        if measured <= 2 || !measures {
            draft.apply(op);
        }
    }
    draft
}

fn any_erase(rng: &mut Rng, size: Size) -> Op {
    let (h, w) = (1 + rng.below(size.height), 1 + rng.below(size.width));
    let (i, j) = (rng.below(size.height) as i32 - 2, rng.below(size.width) as i32 - 2);
    let v = match rng.below(3) {
        0 => Value::One(rng.uniform_between(-3.0, 300.0)),
        1 => Value::Rgb([0.5, -1.0, rng.uniform_between(-3.0, 3.0)]),
        _ => Value::Noise { key: [rng.bits(), rng.bits()] },
    };
    Op::Erase { i, j, h, w, v }
}

pub(crate) fn case(draft: Draft, rng: &mut Rng, number: u64) -> Result<Case, Box<dyn std::error::Error>> {
    let says = format!("case {number}: {:?}", draft.ops());
    let plan = draft.freeze()?;
    let images = decoded(&plan, rng);
    Ok(Case { plan, images, says })
}

fn chains() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    for number in 0..120 {
        let mut rng = Rng::new(11, 0, number, 0);
        let mut draft = any_draft(&mut rng, 0, 6);
        for _ in 0..rng.below(3) {
            let size = draft.size();
            draft.apply(any_erase(&mut rng, size));
        }
        let case = case(draft, &mut rng, number)?;
        let (dtype, layout) = (FORMATS[rng.below(4) as usize], LAYOUTS[rng.below(2) as usize]);
        compare(&mut renderer, &[case], &[dtype], &[layout])?;
    }
    Ok(())
}

/// Statistics of pixels that other statistics have changed, which chance brings together too rarely.
fn statistics() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    let ops = [Op::Contrast { factor: 1.7 }, Op::Autocontrast {}, Op::Equalize {}];
    let pairs = ops.iter().flat_map(|first| ops.iter().map(move |second| [first, second]));
    for (number, pair) in (0..).zip(pairs) {
        let mut rng = Rng::new(19, 0, number, 0);
        let mut draft = Draft::new(0, Size::new(71, 45), Orientation::UPRIGHT);
        pair.into_iter().for_each(|op| draft.apply(op.clone()));
        compare(&mut renderer, &[case(draft, &mut rng, number)?], &[DType::U8], &[Layout::Nchw])?;
    }
    Ok(())
}

/// Samples of one size in batches, each mixed from up to three.
fn mixes() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    for number in 0..16 {
        let mut rng = Rng::new(12, 0, number, 0);
        let size = Size::new(1 + rng.below(75), 1 + rng.below(70));
        let mut cases = Vec::new();
        for sample in 0..3 {
            let mut mixed = any_picture(&mut rng, size);
            for _ in 0..rng.below(3) {
                let other = any_picture(&mut rng, size);
                let whole = rng.below(2) == 0;
                let window =
                    Rect::new(rng.below(9) as i32, rng.below(9) as i32, 40, 30).intersect(size.rect());
                let share = if whole { rng.uniform() } else { 1.0 };
                mixed.blend(other, share, if whole { size.rect() } else { window }, share)?;
            }
            if rng.below(3) == 0 {
                mixed.apply(Op::Hflip {});
            }
            cases.push(case(mixed, &mut rng, number * 10 + sample)?);
        }
        let (dtype, layout) = (FORMATS[rng.below(4) as usize], LAYOUTS[rng.below(2) as usize]);
        compare(&mut renderer, &cases, &[dtype], &[layout])?;
    }
    Ok(())
}

/// Up to four samples on a canvas, warped as one or not, and now and then recoloured and mirrored.
fn mosaics() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    for number in 0..40 {
        let mut rng = Rng::new(18, 0, number, 0);
        let size = Size::new(20 + rng.below(70), 20 + rng.below(60));
        let at = |rng: &mut Rng| [rng.below(80) as i32 - 30, rng.below(70) as i32 - 30];
        let mut host = any_draft(&mut rng, 0, 1);
        let own = at(&mut rng);
        let others = (1..1 + u64::from(rng.below(4)))
            .map(|index| Tile { draft: any_draft(&mut rng, index, 1), at: at(&mut rng) })
            .collect();
        host.compose(size, Fill::Grey(114), own, others)?;
        if rng.below(2) == 0 {
            let polygons = any_polygons(&mut rng, size);
            host.apply(Op::PasteMirrored { polygons, objects: Vec::new() });
        }
        if rng.below(4) > 0 {
            host.apply(folding_warp(&mut rng, size));
        }
        match rng.below(3) {
            0 => host.apply(Op::Hflip {}),
            1 => host.apply(Op::Saturation { factor: 0.6 }),
            _ => {}
        }
        let case = case(host, &mut rng, number)?;
        let (dtype, layout) = (FORMATS[rng.below(4) as usize], LAYOUTS[rng.below(2) as usize]);
        compare(&mut renderer, &[case], &[dtype], &[layout])?;
    }
    Ok(())
}

/// A picture of one size, now and then recoloured afterwards, or erased in parts.
fn any_picture(rng: &mut Rng, size: Size) -> Draft {
    let mut draft = any_draft(rng, 0, 2);
    let size = Extent::Two([size.height, size.width]);
    draft.apply(Op::Resize { size, interpolation: Interpolation::Bilinear, max_size: None, antialias: true });
    match rng.below(4) {
        0 => draft.apply(Op::Contrast { factor: 1.4 }),
        1 => draft.apply(Op::Saturation { factor: 0.3 }),
        _ => {}
    }
    for _ in 0..rng.below(2) {
        let size = draft.size();
        draft.apply(any_erase(rng, size));
    }
    draft
}

fn edges() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    for (number, (width, height)) in
        [(1, 1), (2, 33), (31, 3), (32, 32), (33, 31), (63, 5), (65, 4), (68, 2)].into_iter().enumerate()
    {
        let mut rng = Rng::new(13, 0, number as u64, 0);
        let size = Extent::Two([height, width]);
        let resize = |interpolation| Op::Resize { size, interpolation, max_size: None, antialias: true };
        let mut cases = Vec::new();
        for op in [resize(Interpolation::Bilinear), resize(Interpolation::Nearest)] {
            let mut draft = Draft::new(0, Size::new(71, 45), Orientation::UPRIGHT);
            draft.apply(op);
            draft.apply(Op::Hflip {});
            cases.push(case(draft, &mut rng, number as u64)?);
        }
        compare(&mut renderer, &cases, &FORMATS, &LAYOUTS)?;
    }
    Ok(())
}

/// Four pixels are read by whole words, which must not reach beyond the last byte, wherever that lies in its word.
fn ends() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    let mut rng = Rng::new(18, 0, 0, 0);
    for (width, height) in (5..9).flat_map(|width| (1..5).map(move |height| (width, height))) {
        let mut cases = Vec::new();
        for mirrored in [false, true] {
            let mut draft = Draft::new(0, Size::new(width, height), Orientation::UPRIGHT);
            if mirrored {
                draft.apply(Op::Hflip {});
            }
            let mut case = case(draft, &mut rng, u64::from(width * 10 + height))?;
            for image in &mut case.images {
                image.stride = 3 * image.region.width as usize;
            }
            cases.push(case);
        }
        compare(&mut renderer, &cases, &[DType::U8], &[Layout::Nchw])?;
    }
    Ok(())
}

/// From what fits shared memory to what does not, along one axis and both.
fn shrinking() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    let mut rng = Rng::new(14, 0, 0, 0);
    for (stored, size) in [
        ((140, 60), [33, 33]),
        ((200, 150), [32, 35]),
        // As many columns as fit; the last weights of the last ones are zeros that stand beyond them.
        ((163, 20), [9, 32]),
        ((700, 30), [9, 20]),
        ((30, 700), [7, 40]),
        ((3000, 5), [2, 3]),
        ((400, 300), [1, 1]),
    ] {
        let stored = Size::new(stored.0, stored.1);
        for interpolation in [Interpolation::Bilinear, Interpolation::Bicubic] {
            let mut draft = Draft::new(0, stored, Orientation::from_exif(1 + rng.below(8) as u16));
            if rng.below(2) == 0 {
                draft.apply(Op::Contrast { factor: 0.7 });
            }
            draft.apply(Op::Resize {
                size: Extent::Two(size),
                interpolation,
                max_size: None,
                antialias: true,
            });
            let case = case(draft, &mut rng, u64::from(stored.width))?;
            compare(&mut renderer, &[case], &[DType::F16], &[Layout::Nchw])?;
        }
    }
    Ok(())
}

/// Erased pixels take their value as it is, so they show how any number becomes a half, down to the smallest.
fn rounding() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    let mut rng = Rng::new(15, 0, 0, 0);
    let mut any = || loop {
        // Every exponent that a half can tell apart, and some beyond.
        let value = f32::from_bits((rng.bits() & 0x83FF_FFFF) + ((90 + rng.below(60)) << 23));
        if value.is_finite() {
            return value;
        }
    };
    let mut cases = Vec::new();
    for number in 0..24 {
        let mut draft = Draft::new(0, Size::new(8, 4), Orientation::UPRIGHT);
        for at in 0..32 {
            draft.apply(Op::Erase { i: at / 8, j: at % 8, h: 1, w: 1, v: Value::Rgb([any(), any(), any()]) });
        }
        cases.push(case(draft, &mut Rng::new(16, 0, number, 0), number)?);
    }
    compare(&mut renderer, &cases, &FORMATS, &LAYOUTS)
}

/// Whatever a plan says, a kernel stays inside the memory that it was given: the double's guards say if not.
fn damaged() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    let mut rendered = 0;
    for number in 0..300 {
        let mut rng = Rng::new(17, 0, number, 0);
        let size = Size::new(1 + rng.below(40), 1 + rng.below(40));
        let mut draft = any_picture(&mut rng, size);
        if !draft.ops().iter().any(|op| matches!(op, Op::Erase { .. })) {
            let polygons = any_polygons(&mut rng, size);
            draft.apply(Op::PasteMirrored { polygons, objects: Vec::new() });
        }
        if rng.below(2) == 0 {
            draft.blend(any_picture(&mut rng, size), 0.5, size.rect(), 0.5)?;
        }
        let Case { mut plan, images, .. } = case(draft, &mut rng, number)?;
        damage::one_number(&mut plan, &mut rng);
        let output = Output { size: plan.size(), dtype: DType::F16, layout: Layout::Nchw, normalize: None };
        let small = plan.passes.iter().all(|stage| stage.size.pixels() < 1 << 14);
        if small && renderer.render(&[plan], &[&images], &output).is_ok() {
            rendered += 1;
        }
    }
    // Many fields only change what is shown.
    if rendered > 50 { Ok(()) } else { Err(format!("only {rendered} plans were rendered").into()) }
}

/// Kernels that meet a code which they do not know say so; the next rendering is as ever.
fn unknown() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    let size = Size::new(50, 40);
    let rendered = |renderer: &mut Renderer, op: Op, change: &dyn Fn(&mut [u8])| {
        let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
        draft.apply(op);
        let Case { plan, images, .. } = case(draft, &mut Rng::new(18, 0, 0, 0), 0)?;
        let output = Output { size, dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
        let said = renderer.render_changed(&[plan], &[&images], &output, change);
        Ok::<_, Box<dyn std::error::Error>>(said.map_err(|cause| cause.to_string()))
    };
    let known = rendered(&mut renderer, Op::Brightness { factor: 0.5 }, &|_| {})??;
    let step = |tables: &mut [u8]| {
        let batch: Batch = bytemuck::pod_read_unaligned(&tables[..size_of::<Batch>()]);
        let op = &mut tables[batch.steps as usize..][..4];
        assert_eq!(op, 0u32.to_ne_bytes(), "the code of brightness");
        op.copy_from_slice(&99u32.to_ne_bytes());
    };
    let said = rendered(&mut renderer, Op::Brightness { factor: 0.5 }, &step)?.unwrap_err();
    assert!(said.contains("colour operation with the unknown code 99"), "{said}");
    let table = |tables: &mut [u8]| {
        // The last launch renders the sample, the one before it makes the table.
        let job = tables.len() - size_of::<RenderJob>() - size_of::<TableJob>().next_multiple_of(16);
        let table = &mut tables[job + 4..][..4];
        assert_eq!(table, 1u32.to_ne_bytes(), "the code of equalize's table");
        table.copy_from_slice(&77u32.to_ne_bytes());
    };
    let said = rendered(&mut renderer, Op::Equalize {}, &table)?.unwrap_err();
    assert!(said.contains("table of levels with the unknown code 77"), "{said}");
    assert_eq!(rendered(&mut renderer, Op::Brightness { factor: 0.5 }, &|_| {})??, known);
    Ok(())
}
