//! Semantic masks: the nearest pixel of the same place, and never a class that was made of two others.

use super::{any_distortion, any_op, between};
use feedline::augment::{Augment, Downscale};
use feedline::device::cpu::Renderer;
use feedline::draft::op::{Extent, Fill, Interpolation, Op, Padding, PaddingMode};
use feedline::draft::{Draft, Tile};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::Image;
use feedline::output::{DType, Layout, Output};
use feedline::plan::Plan;
use feedline::rng::{Draws, Rng};

/// An image whose three channels are `level` of the column and row.
fn image(size: Size, level: impl Fn(usize, usize) -> u8) -> Image {
    let mut image = Image::default();
    image.reset(size, size.rect());
    for y in 0..size.height as usize {
        for x in 0..size.width as usize {
            let at = y * image.stride + x * 3;
            image.data[at..at + 3].fill(level(x, y));
        }
    }
    image
}

fn rendered(plan: &Plan, images: &[Image]) -> Vec<u8> {
    let output = Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
    let mut levels = vec![0; output.sample_bytes()];
    Renderer::default().render(plan, images, &output, &mut levels).unwrap();
    levels
}

fn plan(size: Size, ops: &[Op]) -> Plan {
    let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
    ops.iter().for_each(|op| draft.apply(op.clone()));
    draft.freeze().unwrap()
}

/// The op on pixels that are not to be mixed, without what changes colours alone.
fn unmixed(op: &Op) -> Option<Op> {
    let mut op = op.clone();
    match &mut op {
        Op::ResizedCrop { interpolation, .. }
        | Op::Resize { interpolation, .. }
        | Op::Affine { interpolation, .. }
        | Op::WarpAffine { interpolation, .. }
        | Op::Rotate { interpolation, .. }
        | Op::Perspective { interpolation, .. }
        | Op::GridDistortion { interpolation, .. }
        | Op::OpticalDistortion { interpolation, .. }
        | Op::ElasticTransform { interpolation, .. } => *interpolation = Interpolation::Nearest,
        // What is covered is what a model is to guess.
        Op::Contrast { .. }
        | Op::Sharpness { .. }
        | Op::Solarize { .. }
        | Op::Brightness { .. }
        | Op::FillRectangles { .. } => return None,
        _ => {}
    }
    Some(op)
}

#[test]
fn a_mask_is_what_the_ops_make_of_it_with_nearest_neighbours() {
    for case in 0..300 {
        let mut rng = Rng::new(41, 0, case, 0);
        let size = Size::new(40 + rng.below(90), 40 + rng.below(90));
        let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
        for _ in 0..1 + rng.below(4) {
            let factor = between(&mut rng, 0.0, 2.0);
            let op = match rng.below(15) {
                0 => Op::Contrast { factor },
                1 => Op::Sharpness { factor },
                2 => Op::Solarize { threshold: 99.0 },
                12.. => any_distortion(&mut rng),
                _ => any_op(&mut rng, draft.size()),
            };
            draft.apply(op);
        }
        let ops = draft.ops().to_vec();
        let level = |x: usize, y: usize| (x * 7 + y * 13) as u8;
        let mask = rendered(&draft.freeze().unwrap().for_masks(255), &[image(size, level)]);
        // What is outside is black by the ops and 255 in a mask: the other way round, they agree.
        let ops: Vec<Op> = ops.iter().filter_map(unmixed).collect();
        let negative = rendered(&plan(size, &ops), &[image(size, |x, y| 255 - level(x, y))]);
        assert!(mask.iter().zip(&negative).all(|(mask, other)| *mask == 255 - other), "{ops:?}");
    }
}

#[test]
fn a_border_of_any_colour_and_what_is_erased_or_covered_are_no_classes() {
    let op = |json: &str| serde_json::from_str::<Op>(json).unwrap();
    let ops = [
        op(r#"{"op": "pad", "padding": [2, 0, 0, 0], "fill": [9, 8, 7]}"#),
        op(r#"{"op": "fill_rectangles", "rectangles": [[3, 0, 4, 1]], "fill": 9}"#),
        op(r#"{"op": "erase", "i": 0, "j": 2, "h": 4, "w": 1}"#),
    ];
    let size = Size::new(2, 1);
    let mask = rendered(&plan(size, &ops).for_masks(200), &[image(size, |x, _| x as u8 + 1)]);
    assert_eq!(mask.iter().step_by(3).copied().collect::<Vec<_>>(), [200, 200, 1, 2]);
}

#[test]
fn what_only_shrinks_and_enlarges_a_sample_again_moves_nothing_beside_it() {
    let op = |json: &str| serde_json::from_str::<Op>(json).unwrap();
    let resize = op(r#"{"op": "resize", "size": [30, 22], "antialias": false}"#);
    let crop = op(r#"{"op": "crop", "top": 3, "left": 2, "height": 19, "width": 15}"#);
    let turned = op(r#"{"op": "rotate", "angle": 31.0}"#);
    let matrix = [[1.5, 0.2, -3.0], [0.0, 1.25, 1.0], [0.0, 0.0, 1.0]];
    let warped =
        Op::WarpPerspective { matrix, size: Extent::Two([20, 24]), fill: Fill::Grey(114), antialias: true };
    for (ahead, behind) in [
        (vec![], vec![]),
        (vec![], vec![warped]),
        (vec![resize.clone()], vec![crop.clone(), Op::Hflip {}]),
        (vec![crop.clone(), Op::Hflip {}], vec![Op::Vflip {}, resize.clone()]),
        (vec![Op::Contrast { factor: 0.5 }], vec![crop, turned]),
    ] {
        for upscale in [Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic] {
            let edited = |shrinks: bool| {
                let mut draft = Draft::new(0, Size::new(25, 32), Orientation::UPRIGHT);
                ahead.iter().for_each(|op| draft.apply(op.clone()));
                if shrinks {
                    let downscale = Downscale::new([0.3, 0.3]).upscale(upscale).p(1.0);
                    downscale.plan(&mut draft, Vec::new(), &mut Rng::new(3, 0, 0, 0));
                }
                behind.iter().for_each(|op| draft.apply(op.clone()));
                // As a partner, whose passes come after those of another sample.
                let size = draft.size();
                let mut host = Draft::new(1, Size::new(9, 9), Orientation::UPRIGHT);
                for edges in [[4, 4], [size.height, size.width]] {
                    let (size, interpolation) = (Extent::Two(edges), Interpolation::Bilinear);
                    host.apply(Op::Resize { size, interpolation, max_size: None, antialias: true });
                }
                host.blend(draft, 0.6, size.rect(), 0.6).unwrap();
                host.freeze().unwrap()
            };
            let level = |x: usize, y: usize| (x * 37 + y * 59) as u8;
            let images = [image(Size::new(9, 9), |x, y| (x + y) as u8), image(Size::new(25, 32), level)];
            let (plain, soft) = (edited(false), edited(true));
            assert_ne!(rendered(&plain, &images), rendered(&soft, &images), "{ahead:?} {behind:?}");
            let same = |of: &dyn Fn(&Plan) -> Plan| {
                assert_eq!(
                    rendered(&of(&plain), &images),
                    rendered(&of(&soft), &images),
                    "{ahead:?} {behind:?}"
                );
            };
            same(&|plan| plan.for_masks(255));
            same(&Plan::for_second_images);
            assert_eq!(plain.label_ops, soft.label_ops);
        }
    }
}

#[test]
fn of_a_mix_the_greater_share_is_seen_and_a_patch_stays_a_patch() {
    let size = Size::new(4, 1);
    let mixed_and = |share: f32, window: Rect, ops: &[Op]| {
        let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
        draft.blend(Draft::new(1, size, Orientation::UPRIGHT), share, window, share).unwrap();
        ops.iter().for_each(|op| draft.apply(op.clone()));
        let images = [image(size, |_, _| 1), image(size, |_, _| 2)];
        let levels = rendered(&draft.freeze().unwrap().for_masks(255), &images);
        levels.iter().step_by(3).copied().collect::<Vec<_>>()
    };
    let mixed = |share: f32, window: Rect| mixed_and(share, window, &[]);
    assert_eq!(mixed(0.4, size.rect()), [1, 1, 1, 1]);
    assert_eq!(mixed(0.6, size.rect()), [2, 2, 2, 2]);
    assert_eq!(mixed(1.0, Rect::new(1, 0, 2, 1)), [1, 2, 2, 1]);
    let left = Op::Crop { top: 0, left: 0, height: 1, width: 2 };
    assert_eq!(mixed_and(1.0, Rect::new(2, 0, 2, 1), &[left]), [1, 1]);
}

#[test]
fn what_is_pasted_has_its_class_in_the_mask() {
    let size = Size::new(6, 2);
    let ops = [Op::PasteMirrored {
        polygons: vec![vec![[3.0, 0.0], [6.0, 0.0], [6.0, 1.0], [3.0, 1.0]]],
        objects: Vec::new(),
    }];
    let mask = rendered(&plan(size, &ops).for_masks(255), &[image(size, |x, _| x as u8 + 1)]);
    let levels: Vec<u8> = mask.iter().step_by(3).copied().collect();
    assert_eq!(levels, [1, 2, 3, 3, 2, 1, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_tiles_of_a_mosaic_keep_their_classes_when_it_is_warped() {
    let size = Size::new(20, 20);
    let tile = |index| Draft::new(index, size, Orientation::UPRIGHT);
    let mut draft = tile(0);
    draft
        .compose(Size::new(40, 20), Fill::Grey(114), [0, 0], vec![Tile { draft: tile(1), at: [22, 0] }])
        .unwrap();
    assert_eq!(draft.objects(), []);
    // Twice as large, so that each tile is seen through a map.
    let matrix = [[2.0, 0.0, -20.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]];
    draft.apply(Op::WarpPerspective {
        matrix,
        size: Extent::Two([40, 40]),
        fill: Fill::Grey(114),
        antialias: true,
    });
    let images = [image(size, |_, _| 1), image(size, |_, _| 2)];
    let mask = rendered(&draft.freeze().unwrap().for_masks(255), &images);
    let row: Vec<u8> = mask[..120].iter().step_by(3).copied().collect();
    assert_eq!(row, [vec![1; 20], vec![255; 4], vec![2; 16]].concat());
}

#[test]
fn second_images_keep_what_lies_around_each_tile_of_a_mosaic() {
    let (size, padding) = (Size::new(6, 4), Padding::Sides([2, 1, 1, 0]));
    let tile = |index| {
        let mut draft = Draft::new(index, size, Orientation::UPRIGHT);
        draft.apply(Op::Pad { padding, fill: Fill::Rgb([9, 8, 7]), padding_mode: PaddingMode::Constant });
        draft
    };
    let shown = |at: [i32; 2]| {
        let mut draft = tile(0);
        draft.compose(Size::new(24, 7), Fill::Grey(114), [0, 0], vec![Tile { draft: tile(1), at }]).unwrap();
        let plan = draft.freeze().unwrap();
        let images = [image(size, |_, _| 1), image(size, |_, _| 2)];
        (rendered(&plan, &images), rendered(&plan.for_second_images(), &images))
    };
    let (sample, second) = shown([11, 1]);
    assert_eq!(second, sample);
    // What lies over another image is left out, as what is erased is.
    let (sample, second) = shown([5, 0]);
    assert_ne!(second, sample);
}
