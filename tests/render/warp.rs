//! Warps on the CPU: what they leave as it is, what they read, and that every way to the same pixels gives them.

use crate::oracle::Picture;
use feedline::device::cpu::Renderer;
use feedline::device::region;
use feedline::draft::Draft;
use feedline::draft::op::{Fill, Interpolation, Op, PaddingMode, Shear};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::Image;
use feedline::output::{DType, Layout, Output};
use feedline::plan::{Content, Layer, Method, Outside, Plan, Sampled, WarpFilter, WarpMap};
use feedline::rng::{Draws, Rng};
use feedline::simd::{self, Level};

/// The part `region` of a stored picture, as a decoder gives it.
fn decoded(picture: &Picture, region: Rect) -> Image {
    let size = Size::new(picture.width as u32, picture.height as u32);
    let mut image = Image::default();
    image.reset(size, region);
    let (stride, width) = (image.stride, region.width as usize * 3);
    for y in 0..region.height as usize {
        let at = ((y + region.y as usize) * size.width as usize + region.x as usize) * 3;
        image.data[y * stride..][..width].copy_from_slice(&picture.levels[at..][..width]);
    }
    image
}

fn plan(size: Size, orientation: Orientation, ops: &[Op]) -> Plan {
    let mut draft = Draft::new(0, size, orientation);
    ops.iter().for_each(|op| draft.apply(op.clone()));
    draft.freeze().unwrap_or_else(|error| panic!("{ops:?}: {error}"))
}

fn render(level: Level, plan: &Plan, image: &Image) -> Picture {
    let size = plan.size();
    let output = Output { size, dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
    let mut levels = vec![0; output.sample_bytes()];
    Renderer::with_level(level)
        .render(plan, std::slice::from_ref(image), &output, &mut levels)
        .expect("rendered");
    Picture { width: size.width.into(), height: size.height.into(), levels }
}

fn shown(source: &Picture, ops: &[Op]) -> Picture {
    let size = Size::new(source.width as u32, source.height as u32);
    render(Level::Avx512, &plan(size, Orientation::UPRIGHT, ops), &decoded(source, size.rect()))
}

fn affine(angle: f64, translate: [f64; 2], interpolation: Interpolation) -> Op {
    let fill = Some(Fill::Rgb([1, 2, 3]));
    Op::Affine { angle, translate, scale: 1.0, shear: Shear::X(0.0), interpolation, fill, center: None }
}

fn rotate(angle: f64, interpolation: Interpolation, expand: bool) -> Op {
    Op::Rotate { angle, interpolation, expand, center: None, fill: None }
}

const WAYS: [Interpolation; 2] = [Interpolation::Nearest, Interpolation::Bilinear];

/// A warp with any numbers, such that most of it still shows the image.
fn any_warp(rng: &mut Rng, size: Size) -> Op {
    let between = |rng: &mut Rng, low, high| f64::from(rng.uniform_between(low, high));
    let interpolation = WAYS[rng.below(2) as usize];
    let fill = [None, Some(Fill::Grey(0)), Some(Fill::Rgb([200, 114, 7]))][rng.below(3) as usize];
    let center = (rng.below(3) == 0).then(|| [between(rng, -9.0, 60.0), between(rng, -9.0, 60.0)]);
    let angle = between(rng, -200.0, 200.0);
    match rng.below(3) {
        0 => Op::Rotate { angle, interpolation, expand: rng.below(2) == 0, center, fill },
        1 => {
            let (translate, shear) =
                ([between(rng, -20.0, 20.0), between(rng, -20.0, 20.0)], between(rng, -30.0, 30.0));
            let scale = between(rng, 0.1, 2.0);
            let shear = Shear::Both([shear, between(rng, -30.0, 30.0)]);
            Op::Affine { angle, translate, scale, shear, interpolation, fill, center }
        }
        _ => {
            let (right, bottom) = (size.width as i32 - 1, size.height as i32 - 1);
            let startpoints = [[0, 0], [right, 0], [right, bottom], [0, bottom]];
            let moved = |rng: &mut Rng, [x, y]: [i32; 2]| {
                let inwards = |at: i32, by: i32| if at == 0 { by } else { at - by };
                [
                    inwards(x, rng.below(1 + size.width / 3) as i32),
                    inwards(y, rng.below(1 + size.height / 3) as i32),
                ]
            };
            let endpoints = startpoints.map(|point| moved(rng, point));
            Op::Perspective { startpoints, endpoints, interpolation, fill }
        }
    }
}

/// Which part of a warp is shown.
struct Shown<'a> {
    offset: &'a mut [i32; 2],
    mirror: &'a mut [bool; 2],
    clip: &'a mut Rect,
}

/// What a warped layer shows, to be changed; `None` for another layer.
fn warped(layer: &mut Layer) -> Option<(Shown<'_>, &mut WarpMap)> {
    let Content::Sampled(sampled) = &mut layer.content else { return None };
    let Sampled { offset, mirror, clip, method: Method::Warp(warp), .. } = sampled else { return None };
    Some((Shown { offset, mirror, clip }, warp))
}

#[test]
fn a_map_that_moves_nothing_gives_the_image() {
    for size in [Size::new(61, 40), Size::new(1, 1), Size::new(300, 7)] {
        let source = Picture::noise(size, 5);
        let (right, bottom) = (size.width as i32 - 1, size.height as i32 - 1);
        let corners = [[0, 0], [right, 0], [right, bottom], [0, bottom]];
        for interpolation in WAYS {
            assert_eq!(shown(&source, &[affine(0.0, [0.0; 2], interpolation)]), source, "{size}");
            assert_eq!(shown(&source, &[affine(360.0, [0.0; 2], interpolation)]), source, "{size}");
            if size.width > 1 {
                let still =
                    Op::Perspective { startpoints: corners, endpoints: corners, interpolation, fill: None };
                assert_eq!(shown(&source, &[still]), source, "{size}");
            }
        }
    }
}

#[test]
fn a_shift_by_whole_pixels_moves_them_and_fills_the_rest() {
    let source = Picture::noise(Size::new(83, 51), 6);
    for (shift, interpolation) in [([7, -4], WAYS[0]), ([-20, 13], WAYS[1]), ([83, 0], WAYS[1])] {
        let moved = shown(&source, &[affine(0.0, shift.map(f64::from), interpolation)]);
        let crop = Op::Crop { top: -shift[1], left: -shift[0], height: 51, width: 83 };
        let mut expected = source.apply(&crop).levels;
        for (at, pixel) in expected.chunks_exact_mut(3).enumerate() {
            let (x, y) = (at as i32 % 83 - shift[0], at as i32 / 83 - shift[1]);
            if !(0..83).contains(&x) || !(0..51).contains(&y) {
                pixel.copy_from_slice(&[1, 2, 3]);
            }
        }
        assert!(moved.levels == expected, "{shift:?} {interpolation:?}");
    }
}

#[test]
fn a_quarter_of_a_turn_equals_the_orientation_whether_it_is_sampled_or_not() {
    let source = Picture::noise(Size::new(48, 31), 7);
    let size = Size::new(48, 31);
    // Counterclockwise by 90, 180 and 270 degrees, as EXIF tags tell how to turn.
    for (angle, tag) in [(90.0, 8), (180.0, 3), (-90.0, 6)] {
        let turned = plan(size, Orientation::from_exif(tag), &[]);
        let expected = render(Level::Scalar, &turned, &decoded(&source, size.rect()));
        assert_eq!(shown(&source, &[rotate(angle, WAYS[1], true)]), expected, "{angle}");
        // With a centre, torchvision and feedline sample. On a square, since the canvas keeps its size.
        let square = source.apply(&Op::Crop { top: 0, left: 3, height: 31, width: 31 });
        let size = Size::new(31, 31);
        let turned = plan(size, Orientation::from_exif(tag), &[]);
        let expected = render(Level::Scalar, &turned, &decoded(&square, size.rect()));
        for interpolation in WAYS {
            let sampled =
                Op::Rotate { angle, interpolation, expand: false, center: Some([15.5; 2]), fill: None };
            assert_eq!(shown(&square, &[sampled]), expected, "{angle} {interpolation:?}");
        }
    }
}

/// An op, the size of its result, and the FNV-1a hash of the pixels that torchvision 0.29.2 made of the same noise.
#[rustfmt::skip]
const GOLDEN: &[(&str, (i64, i64), u64)] = &[
    (r#"{"op":"affine","angle":33.3,"translate":[7,-5],"scale":0.8,"shear":[10,-6],"fill":[200,114,7]}"#, (97, 61), 0x1c349399a90b93b3),
    (r#"{"op":"affine","angle":33.3,"translate":[7,-5],"scale":0.8,"shear":[10,-6],"interpolation":"bilinear","fill":[200,114,7]}"#, (97, 61), 0x3dce7d695d414713),
    (r#"{"op":"affine","angle":-120,"translate":[0.5,0.25],"scale":1.7,"shear":20,"interpolation":"bilinear","center":[10,50]}"#, (97, 61), 0x43a9d0eaf6e2feda),
    (r#"{"op":"rotate","angle":45}"#, (97, 61), 0x3b71466d9f99f375),
    (r#"{"op":"rotate","angle":-77.7,"interpolation":"bilinear","expand":true,"fill":0}"#, (81, 109), 0x5d6e564d670259ab),
    (r#"{"op":"rotate","angle":90,"interpolation":"bilinear","fill":9}"#, (97, 61), 0x13facd7f171ed8a1),
    (r#"{"op":"rotate","angle":270,"expand":true}"#, (61, 97), 0x1dc8de95e779fb57),
    (r#"{"op":"perspective","startpoints":[[0,0],[96,0],[96,60],[0,60]],"endpoints":[[20,3],[90,14],[77,55],[2,41]],"fill":130}"#, (97, 61), 0x18afbf3ebeec5eb1),
    (r#"{"op":"perspective","startpoints":[[0,0],[96,0],[96,60],[0,60]],"endpoints":[[20,3],[90,14],[77,55],[2,41]],"interpolation":"nearest"}"#, (97, 61), 0x1c9136334d086558),
];

#[test]
fn pixels_are_those_that_torchvision_made() {
    let source = Picture::noise(Size::new(97, 61), 12);
    for &(json, (width, height), want) in GOLDEN {
        let got = shown(&source, &[serde_json::from_str(json).expect(json)]);
        let hash = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let hash = got.levels.iter().fold(0xcbf2_9ce4_8422_2325, hash);
        assert_eq!((got.width, got.height, hash), (width, height, want), "{json}");
    }
}

#[test]
fn what_the_region_names_is_enough_for_every_warp_and_filter() {
    let (mut smaller, mut empty) = (0, 0);
    for case in 0..600 {
        let mut rng = Rng::new(3, 0, case, 0);
        let size = Size::new(4 + rng.below(150), 4 + rng.below(120));
        let source = Picture::noise(size, case as u32);
        let orientation = Orientation(rng.below(8));
        let mut ops = Vec::new();
        let upright = orientation.apply_size(size);
        if rng.below(2) == 0 {
            let (height, width) = (1 + rng.below(upright.height), 1 + rng.below(upright.width));
            ops.push(Op::Crop { top: 0, left: (upright.width - width) as i32, height, width });
        }
        // The points of a perspective are the whole image's, so some lie outside the crop.
        ops.push(any_warp(&mut rng, upright));
        let mut plan = plan(size, orientation, &ops);
        let last = plan.size();
        let Some((sampled, warp)) = warped(&mut plan.layers[0]) else { continue };
        // Any filter, anything around, and a window somewhere in the warped image.
        warp.filter = [WarpFilter::Nearest, WarpFilter::Bilinear, WarpFilter::Widened][rng.below(3) as usize];
        let fill = match warp.outside {
            Outside::Fill(rgb) => rgb,
            Outside::Transparent | Outside::Black => [0; 3],
        };
        warp.outside = [Outside::Transparent, Outside::Black, Outside::Fill(fill)][rng.below(3) as usize];
        let mirror = rng.below(4);
        *sampled.mirror = [mirror & 1 != 0, mirror & 2 != 0];
        let (width, height) = (1 + rng.below(last.width), 1 + rng.below(last.height));
        *sampled.offset =
            [rng.below(last.width - width + 1) as i32, rng.below(last.height - height + 1) as i32];
        plan.layers[0].window = Size::new(width, height).rect();
        plan.passes[0].size = Size::new(width, height);
        plan.inputs[0].window = Size::new(width, height).rect();
        let part = region(&plan, 0);
        smaller += usize::from(part != size.rect());
        empty += usize::from(part.is_empty());
        let whole = render(Level::Scalar, &plan, &decoded(&source, size.rect()));
        for level in simd::levels() {
            let got = render(level, &plan, &decoded(&source, part));
            assert!(got == whole, "case {case} {level:?}: {part:?} for {:?}", plan.layers[0]);
        }
    }
    assert!(smaller > 250 && empty > 5, "{smaller} parts, {empty} empty ones");
}

#[test]
fn a_crop_or_a_flip_after_a_warp_is_that_of_the_whole_warped_image() {
    for case in 0..60 {
        let mut rng = Rng::new(4, 0, case, 0);
        let size = Size::new(20 + rng.below(60), 20 + rng.below(60));
        let source = Picture::noise(size, case as u32);
        let warp = any_warp(&mut rng, size);
        let after = [
            Op::Hflip {},
            Op::Crop { top: 3, left: 9, height: 11, width: 8 },
            Op::Crop { top: -2, left: -3, height: 12, width: 16 },
            Op::Vflip {},
            Op::Grayscale { num_output_channels: 3 },
        ];
        let mut expected = shown(&source, std::slice::from_ref(&warp));
        let mut ops = vec![warp];
        for op in after {
            expected = expected.apply(&op);
            ops.push(op);
            assert_eq!(shown(&source, &ops), expected, "{ops:?}");
        }
    }
}

#[test]
fn a_warp_of_what_is_already_resampled_takes_a_stage_and_one_of_a_crop_does_not() {
    let size = Size::new(64, 48);
    let turn = rotate(20.0, WAYS[1], false);
    let crop = Op::Crop { top: 4, left: 5, height: 30, width: 40 };
    let jitter = Op::Contrast { factor: 0.5 };
    let stages = |ops: &[Op]| plan(size, Orientation::UPRIGHT, ops).passes.len();
    assert_eq!(stages(&[crop.clone(), Op::Hflip {}, jitter.clone(), turn.clone(), crop.clone()]), 1);
    assert_eq!(stages(&[turn.clone(), turn.clone()]), 2);
    assert_eq!(stages(&[rotate(90.0, WAYS[0], true), turn.clone()]), 1);
    let source = Picture::noise(size, 8);
    let one_by_one = [crop.clone(), jitter.clone(), turn.clone(), turn.clone()]
        .iter()
        .fold(source.clone(), |picture, op| shown(&picture, std::slice::from_ref(op)));
    assert_eq!(shown(&source, &[crop, jitter, turn.clone(), turn]), one_by_one);
}

#[test]
fn a_warp_without_anything_around_leaves_what_is_below() {
    let size = Size::new(40, 40);
    let source = Picture::noise(size, 9);
    let mut plan = plan(
        size,
        Orientation::UPRIGHT,
        &[
            rotate(30.0, WAYS[1], false),
            Op::Pad { padding: 3.into(), fill: 114.into(), padding_mode: PaddingMode::Constant },
        ],
    );
    // The padding's colour lies below; a hole of black would hide it.
    let warp = plan.layers.len() - 1;
    let filled = render(Level::Scalar, &plan, &decoded(&source, size.rect()));
    warped(&mut plan.layers[warp]).unwrap().1.outside = Outside::Transparent;
    let open = render(Level::Scalar, &plan, &decoded(&source, size.rect()));
    let pixel = |picture: &Picture, x: usize, y: usize| picture.levels[(y * 46 + x) * 3..][..3].to_vec();
    assert_eq!(pixel(&filled, 4, 4), [0; 3]);
    assert_eq!(pixel(&open, 4, 4), [114; 3]);
    assert_eq!(pixel(&open, 23, 23), pixel(&filled, 23, 23));
}

#[test]
fn a_widened_filter_averages_what_it_skips_otherwise() {
    // Every second column white: the mean is grey, single pixels are not.
    let size = Size::new(256, 64);
    let levels = (0..size.pixels() as usize * 3).map(|i| if i / 3 % 2 == 0 { 255 } else { 0 }).collect();
    let source = Picture { width: 256, height: 64, levels };
    let shrink = Op::Affine {
        angle: 0.0,
        translate: [0.0; 2],
        scale: 0.25,
        shear: Shear::X(0.0),
        interpolation: Interpolation::Bilinear,
        fill: None,
        center: None,
    };
    let mut plan = plan(size, Orientation::UPRIGHT, &[shrink]);
    let image = decoded(&source, size.rect());
    let middle =
        |picture: &Picture| (110..140).map(|x| picture.levels[(32 * 256 + x) * 3]).collect::<Vec<u8>>();
    warped(&mut plan.layers[0]).unwrap().1.filter = WarpFilter::Widened;
    let widened = middle(&render(Level::Scalar, &plan, &image));
    assert!(widened.iter().all(|level| (126..=129).contains(level)), "{widened:?}");
    warped(&mut plan.layers[0]).unwrap().1.filter = WarpFilter::Nearest;
    let single = middle(&render(Level::Scalar, &plan, &image));
    assert!(single.iter().all(|level| [0, 255].contains(level)), "{single:?}");
    // Where a map does not shrink, the widened filter is the plain one, summed in another order.
    let size = Size::new(50, 50);
    let (source, mut plan) = (
        Picture::noise(size, 1),
        self::plan(size, Orientation::UPRIGHT, &[affine(0.0, [0.4, 0.3], WAYS[1])]),
    );
    let plain = render(Level::Scalar, &plan, &decoded(&source, size.rect()));
    warped(&mut plan.layers[0]).unwrap().1.filter = WarpFilter::Widened;
    let widened = render(Level::Scalar, &plan, &decoded(&source, size.rect()));
    let pairs = || widened.levels.iter().zip(&plain.levels);
    assert!(pairs().all(|(a, b)| a.abs_diff(*b) <= 1));
    assert!(pairs().filter(|(a, b)| a == b).count() > 99 * plain.levels.len() / 100);
}

#[test]
fn maps_that_keep_rows_and_columns_apart_give_what_the_general_way_gives() {
    let mut rng = Rng::new(12, 0, 0, 0);
    for case in 0..60 {
        let size = Size::new(20 + rng.below(200), 20 + rng.below(150));
        let source = Picture::noise(size, case);
        let mut plan = plan(size, Orientation::UPRIGHT, &[affine(0.0, [0.0; 2], WAYS[1])]);
        let (sampled, warp) = warped(&mut plan.layers[0]).unwrap();
        (warp.filter, warp.outside) = (WarpFilter::Widened, Outside::Transparent);
        let mut between = |low, high| rng.uniform_between(low, high);
        let stretch = 2.0 / size.width as f32;
        warp.map[..6].copy_from_slice(&[
            stretch * between(0.2, 3.0) * if case % 5 == 0 { -1.0 } else { 1.0 },
            0.0,
            between(-0.8, 0.8),
            0.0,
            stretch * between(0.2, 3.0),
            between(-0.8, 0.8),
        ]);
        *sampled.clip = Rect::new(3, 5, size.width - 7, size.height - 9);
        (*sampled.mirror, *sampled.offset) = ([case & 1 != 0, case & 2 != 0], [2, 1]);
        let image = decoded(&source, size.rect());
        let straight = render(Level::Scalar, &plan, &image);
        for level in simd::levels() {
            assert_eq!(render(level, &plan, &image), straight, "case {case} at {level:?}");
        }
        // Far too little to move anything, but rows and columns are no longer told apart.
        warped(&mut plan.layers[0]).unwrap().1.map[1] = 1e-30;
        assert_eq!(render(Level::Scalar, &plan, &image), straight, "case {case}");
    }
}
