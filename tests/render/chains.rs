//! The CPU renderer against the naive oracle: the same bits for every chain, layout, number format and instruction set.

use crate::oracle::Picture;
use feedline::color::Normalize;
use feedline::device::cpu::Renderer;
use feedline::draft::Draft;
use feedline::draft::op::{CATALOGUE, Extent, Interpolation, Op, Value};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::Image;
use feedline::output::{DType, Layout, Output};
use feedline::plan::{Filter, Method, Plan};
use feedline::rng::{Draws, Rng};
use feedline::simd;
use feedline_test_support::chains::{Dice, LAST, MEASURING, OPS};

fn decoded(picture: &Picture) -> Image {
    let size = Size::new(picture.width as u32, picture.height as u32);
    let mut image = Image::default();
    image.reset(size, size.rect());
    image.data[..picture.levels.len()].copy_from_slice(&picture.levels);
    image
}

fn plan(size: Size, ops: &[Op]) -> Plan {
    let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
    ops.iter().for_each(|op| draft.apply(op.clone()));
    draft.freeze().unwrap_or_else(|error| panic!("{ops:?}: {error}"))
}

fn render(renderer: &mut Renderer, plan: &Plan, images: &[Image], dtype: DType, layout: Layout) -> Vec<f32> {
    let normalize = (dtype != DType::U8).then_some(Normalize::IMAGENET);
    let output = Output { size: plan.size(), dtype, layout, normalize };
    let mut memory = vec![0u64; output.sample_bytes().div_ceil(8)];
    let bytes = &mut bytemuck::cast_slice_mut(&mut memory)[..output.sample_bytes()];
    renderer.render(plan, images, &output, bytes).expect("rendered");
    match dtype {
        DType::F32 => bytemuck::cast_slice(bytes).to_vec(),
        DType::F16 => bytemuck::cast_slice::<_, half::f16>(bytes).iter().map(|x| x.to_f32()).collect(),
        DType::Bf16 => bytemuck::cast_slice::<_, half::bf16>(bytes).iter().map(|x| x.to_f32()).collect(),
        DType::U8 => bytes.iter().map(|&x| f32::from(x)).collect(),
    }
}

/// Ops that the oracle does not know; the next test but one holds the fast renderers to the plain one for them.
const NOT_NAIVE: &[&str] = &[
    "center_crop",
    "affine",
    "rotate",
    "warp_affine",
    "perspective",
    "warp_perspective",
    "paste_mirrored",
    "gaussian_blur",
    "clahe",
    "gauss_noise",
    "multiplicative_noise",
    "iso_noise",
    "jpeg_compression",
    "elastic_transform",
    "erase",
    "sanitize_bounding_boxes",
    "keep_centers",
    "normalize",
];

fn any_op(rng: &mut Rng, size: Size, among: &[&str]) -> Op {
    let mut op = Dice { bits: &mut || rng.bits(), longest: 90 }.any(among, [size.width, size.height]);
    if op.get("antialias").is_some() {
        op["antialias"] = true.into(); // the oracle has no other way
    }
    serde_json::from_value(op).expect("an op")
}

#[test]
fn every_op_of_the_catalogue_is_drawn_and_can_be_read() {
    let names: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
    let missing: Vec<_> = names.iter().filter(|name| !OPS.contains(name)).collect();
    assert!(missing.is_empty(), "tests/support/src/chains.rs draws no {missing:?}");
    assert!(OPS.iter().chain(LAST).chain(MEASURING).chain(NOT_NAIVE).all(|name| names.contains(name)));
    let mut rng = Rng::new(9, 0, 0, 0);
    for name in OPS {
        for _ in 0..200 {
            let size = [1 + rng.below(80), 1 + rng.below(80)];
            let op = Dice { bits: &mut || rng.bits(), longest: 70 }.op(name, size);
            let read: Op = serde_json::from_value(op).expect("an op");
            assert_eq!(read.name(), *name);
            let mut draft = Draft::new(0, Size::new(size[0], size[1]), Orientation::UPRIGHT);
            draft.apply(read.clone());
            draft.freeze().unwrap_or_else(|error| panic!("{read:?} on {size:?}: {error}"));
        }
    }
}

#[test]
fn every_op_that_torchvision_has_is_compared_with_torchvision_s() {
    let script = include_str!("../python/parity_ops.py");
    let is_missing = |name: &&str| !script.contains(&format!("\n    \"{name}\": "));
    // Of these there are no pixels to compare.
    let of_labels = |name: &&str| *name == "sanitize_bounding_boxes";
    let torchvision_s =
        CATALOGUE.iter().filter(|entry| !entry.torchvision.is_empty()).map(|entry| entry.name);
    let missing: Vec<&str> = torchvision_s.filter(|name| !of_labels(name)).filter(is_missing).collect();
    assert!(missing.is_empty(), "tests/python/parity_ops.py compares no {missing:?}");
}

#[test]
fn every_instruction_set_renders_any_chain_of_all_ops_to_the_same_bits() {
    let before: Vec<&str> = OPS.iter().filter(|name| !LAST.contains(name)).copied().collect();
    for case in 0..300 {
        let mut rng = Rng::new(8, 0, case, 0);
        let size = Size::new(1 + rng.below(120), 1 + rng.below(90));
        let mut draft = Draft::new(0, size, Orientation::from_exif(1 + rng.below(8) as u16));
        for _ in 0..1 + rng.below(4) {
            let op = any_op(&mut rng, draft.size(), &before);
            draft.apply(op);
        }
        for last in LAST.iter().rev().take(rng.below(3) as usize) {
            let op = any_op(&mut rng, draft.size(), &[last]);
            draft.apply(op);
        }
        let ops = format!("{:?}", draft.ops());
        let plan = draft.freeze().unwrap_or_else(|error| panic!("{ops}: {error}"));
        let stored = plan.images[0].stored;
        let images = [decoded(&Picture::noise(stored, case as u32))];
        let mut by_level = simd::levels().map(|level| {
            render(&mut Renderer::with_level(level), &plan, &images, DType::F32, Layout::Nchw)
                .into_iter()
                .map(f32::to_bits)
                .collect::<Vec<_>>()
        });
        let scalar = by_level.next();
        assert!(by_level.all(|fast| Some(fast) == scalar), "case {case}: {ops}");
    }
}

#[test]
fn any_chain_of_ops_renders_to_the_bits_of_doing_them_one_by_one() {
    let naive: Vec<&str> = OPS.iter().filter(|name| !NOT_NAIVE.contains(name)).copied().collect();
    for case in 0..400 {
        let mut rng = Rng::new(7, 0, case, 0);
        let size = Size::new(1 + rng.below(120), 1 + rng.below(90));
        let source = Picture::noise(size, case as u32);
        let (mut expected, mut ops) = (source.clone(), Vec::new());
        for _ in 0..1 + rng.below(6) {
            let op = any_op(&mut rng, Size::new(expected.width as u32, expected.height as u32), &naive);
            expected = expected.apply(&op);
            ops.push(op);
        }
        let (plan, images) = (plan(size, &ops), [decoded(&source)]);
        let want: Vec<f32> = expected.levels.iter().map(|&x| f32::from(x)).collect();
        for level in simd::levels() {
            let got = render(&mut Renderer::with_level(level), &plan, &images, DType::U8, Layout::Nhwc);
            assert!(got == want, "case {case}, {level:?}: {ops:?}");
        }
    }
}

#[test]
fn formats_and_layouts_hold_the_same_rounded_values() {
    let source = Picture::noise(Size::new(150, 75), 3);
    let op = Op::Resize {
        size: Extent::Two([61, 131]),
        interpolation: Interpolation::Bilinear,
        max_size: None,
        antialias: true,
    };
    let (plan, images, levels) =
        (plan(Size::new(150, 75), std::slice::from_ref(&op)), [decoded(&source)], source.apply(&op).levels);
    let factors = Normalize::IMAGENET.factors();
    let exact = |i: usize| f32::from(levels[i]).mul_add(factors[i % 3][0], factors[i % 3][1]);
    let pixels = levels.len() / 3;
    for level in simd::levels() {
        for layout in [Layout::Nchw, Layout::Nhwc] {
            for dtype in [DType::F32, DType::F16, DType::Bf16, DType::U8] {
                let got = render(&mut Renderer::with_level(level), &plan, &images, dtype, layout);
                for (at, value) in got.into_iter().enumerate() {
                    let i = if layout == Layout::Nhwc { at } else { at % pixels * 3 + at / pixels };
                    let want = match dtype {
                        DType::F32 => exact(i),
                        DType::F16 => half::f16::from_f32(exact(i)).to_f32(),
                        DType::Bf16 => half::bf16::from_f32(exact(i)).to_f32(),
                        DType::U8 => f32::from(levels[i]),
                    };
                    assert_eq!(value, want, "{dtype:?} {layout:?} {level:?} value {at}");
                }
            }
        }
    }
}

#[test]
fn a_turned_photograph_renders_as_its_upright_copy() {
    let stored = Picture::noise(Size::new(53, 37), 11);
    let ops =
        [Op::Contrast { factor: 1.6 }, Op::Hflip {}, Op::Crop { top: 3, left: 2, height: 30, width: 31 }];
    let resize = Op::Resize {
        size: Extent::Two([20, 24]),
        interpolation: Interpolation::Bilinear,
        max_size: None,
        antialias: true,
    };
    for tag in 1..=8 {
        let orientation = Orientation::from_exif(tag);
        let upright = turn(&stored, orientation);
        let mut draft = Draft::new(0, Size::new(53, 37), orientation);
        let mut expected = upright;
        for op in ops.iter().chain([&resize]) {
            draft.apply(op.clone());
            expected = expected.apply(op);
        }
        let plan = draft.freeze().expect("a plan");
        let got = render(&mut Renderer::default(), &plan, &[decoded(&stored)], DType::U8, Layout::Nhwc);
        assert!(got.iter().zip(&expected.levels).all(|(a, &b)| *a == f32::from(b)), "orientation {tag}");
    }
}

/// EXIF's own words: where the stored first row and first column are seen.
fn turn(stored: &Picture, orientation: Orientation) -> Picture {
    let size = orientation.apply_size(Size::new(stored.width as u32, stored.height as u32));
    let mut upright = Picture::noise(size, 0);
    for y in 0..size.height as i32 {
        for x in 0..size.width as i32 {
            let from = orientation.to_stored(Rect::new(x, y, 1, 1), size);
            let (to, from) = (
                (y as i64 * upright.width + x as i64) * 3,
                (from.y as i64 * stored.width + from.x as i64) * 3,
            );
            for c in 0..3 {
                upright.levels[to as usize + c] = stored.levels[from as usize + c];
            }
        }
    }
    upright
}

#[test]
fn pictures_blend_in_f32_and_erases_fill_after_normalise() {
    let size = Size::new(70, 20);
    let pictures = [Picture::noise(size, 1), Picture::noise(size, 2)];
    let images = pictures.each_ref().map(decoded);
    let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
    draft.apply(Op::Erase { i: 2, j: 3, h: 4, w: 66, v: Value::Rgb([0.5, -1.0, 2.0]) });
    let partner = Draft::new(1, size, Orientation::UPRIGHT);
    draft.blend(partner, 0.25, Rect::new(0, 0, 40, 20), 0.25).expect("one size");
    let plan = draft.freeze().expect("a plan");
    let got = render(&mut Renderer::default(), &plan, &images, DType::F32, Layout::Nhwc);
    let factors = Normalize::IMAGENET.factors();
    for (at, value) in got.into_iter().enumerate() {
        let (x, y, c) = (at / 3 % 70, at / 210, at % 3);
        let normalised = |k: usize| {
            f64::from(pictures[k].levels[at]) * f64::from(factors[c][0]) + f64::from(factors[c][1])
        };
        let erased = (3..69).contains(&x) && (2..6).contains(&y);
        let base = if erased { [0.5, -1.0, 2.0][c] } else { normalised(0) };
        let want = if x < 40 { base * 0.75 + normalised(1) * 0.25 } else { base };
        assert!((f64::from(value) - want).abs() < 2e-6, "({x}, {y}, {c}): {value} and {want}");
        assert!(x < 40 || !erased || value == [0.5, -1.0, 2.0][c], "an unmixed fill is exact");
    }
    let shares: Vec<f32> = plan.labels.iter().map(|label| label.share).collect();
    assert_eq!(shares, [0.75, 0.25]);
}

#[test]
fn a_window_into_an_unscaled_layer_shows_its_part() {
    let size = Size::new(40, 30);
    let source = Picture::noise(size, 4);
    for filter in [Filter::Bilinear, Filter::Nearest] {
        let mut plan = plan(size, &[Op::Crop { top: 5, left: 6, height: 20, width: 21 }]);
        let layer = plan.layers[0].sampled_mut().unwrap();
        (layer.clip, layer.scaled, layer.offset) = (size.rect(), size, [6, 5]);
        layer.method = Method::Upright(filter);
        let got = render(&mut Renderer::default(), &plan, &[decoded(&source)], DType::U8, Layout::Nhwc);
        let want = source.apply(&Op::Crop { top: 5, left: 6, height: 20, width: 21 }).levels;
        assert!(got.iter().zip(&want).all(|(a, &b)| *a == f32::from(b)) && got.len() == want.len());
    }
}

#[test]
fn a_plan_that_reads_what_was_not_decoded_is_an_error() {
    let size = Size::new(40, 30);
    let plan = plan(size, &[Op::Crop { top: 5, left: 5, height: 20, width: 20 }]);
    let mut image = Image::default();
    image.reset(size, Rect::new(5, 5, 19, 20));
    let output = Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
    let mut sample = vec![0; output.sample_bytes()];
    let result = Renderer::default().render(&plan, &[image], &output, &mut sample);
    assert!(result.is_err_and(|cause| cause.to_string().contains("decoded")));
}
