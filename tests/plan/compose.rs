//! Where things come to lie: samples side by side on a canvas, and canvases through a folded warp.
//!
//! The oracle follows one point at a time through the ops, backwards from a pixel of the result to the image that it
//! shows, and forwards from an image to the result.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::device::cpu::Renderer;
use feedline::draft::op::{Extent, Fill, Interpolation, Op, Padding, PaddingMode};
use feedline::draft::{Draft, Tile};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::Image;
use feedline::label::Objects;
use feedline::output::{DType, Layout, Output};
use feedline::plan::label_ops::{LabelOpKind, ObjectFilter};
use feedline::plan::{Content, Layer, LayerSource, Method, Outside, Plan};
use feedline::rng::{Draws, Rng};

/// A sample that was edited, where it lies, and how large it was ahead of each op.
struct Edited {
    size: Size,
    ops: Vec<(Op, Size)>,
    at: [i32; 2],
}

fn resize(height: u32, width: u32) -> Op {
    let size = Extent::Two([height, width]);
    Op::Resize { size, interpolation: Interpolation::Bilinear, max_size: None, antialias: true }
}

/// Ops that a mosaic's tiles may have behind them: at most one resampling.
fn any_tile(rng: &mut Rng) -> Edited {
    let size = Size::new(20 + rng.below(60), 20 + rng.below(60));
    let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
    let mut ops = Vec::new();
    for pass in 0..4 {
        let have = draft.size();
        let op = match (pass, rng.below(2)) {
            (1, _) => resize(10 + rng.below(80), 10 + rng.below(80)),
            (2, 0) => Op::Pad {
                padding: Padding::Sides([rng.below(9), rng.below(9), rng.below(9), rng.below(9)]),
                fill: Fill::Grey(114),
                padding_mode: PaddingMode::Constant,
            },
            (_, 0) => [Op::Hflip {}, Op::Vflip {}][rng.below(2) as usize].clone(),
            _ => {
                let (left, top) = (rng.below(have.width / 2), rng.below(have.height / 2));
                let (width, height) = (1 + rng.below(have.width - left), 1 + rng.below(have.height - top));
                Op::Crop { top: top as i32, left: left as i32, height, width }
            }
        };
        draft.apply(op.clone());
        ops.push((op, have));
    }
    Edited { size, ops, at: [rng.below(90) as i32 - 30, rng.below(90) as i32 - 30] }
}

fn drafted(index: u64, tile: &Edited) -> Draft {
    let mut draft = Draft::new(index, tile.size, Orientation::UPRIGHT);
    tile.ops.iter().for_each(|(op, _)| draft.apply(op.clone()));
    draft
}

fn any_matrix(rng: &mut Rng) -> [[f64; 3]; 3] {
    let mut between = |low, high| f64::from(rng.uniform_between(low, high));
    let (across, down) = (between(0.3, 1.6), between(0.3, 1.6));
    let moved = [between(-40.0, 40.0), between(-40.0, 40.0)];
    let kind = between(0.0, 3.0) as u32;
    let skew = if kind > 0 { [between(-0.6, 0.6), between(-0.6, 0.6)] } else { [0.0; 2] };
    let tilt = if kind > 1 { [between(-0.002, 0.002), between(-0.002, 0.002)] } else { [0.0; 2] };
    [[across, skew[0], moved[0]], [skew[1], down, moved[1]], [tilt[0], tilt[1], 1.0]]
}

fn mapped(m: &[[f64; 3]; 3], [x, y]: [f64; 2]) -> [f64; 2] {
    let [u, v, w] = m.map(|row| row[0] * x + row[1] * y + row[2]);
    [u / w, v / w]
}

/// The point that the matrix takes to `to`, by Cramer's rule.
fn unmapped(m: &[[f64; 3]; 3], [u, v]: [f64; 2]) -> [f64; 2] {
    let row = |i: usize, at: f64| [m[i][0] - at * m[2][0], m[i][1] - at * m[2][1], at * m[2][2] - m[i][2]];
    let ([a, b, e], [c, d, f]) = (row(0, u), row(1, v));
    let determinant = a * d - b * c;
    [(e * d - b * f) / determinant, (a * f - e * c) / determinant]
}

/// Back through a tile's ops to its image; `None` where a border is.
fn back(tile: &Edited, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
    let mut at = [x - f64::from(tile.at[0]), y - f64::from(tile.at[1])];
    let end = drafted(0, tile).size();
    let inside = |at: [f64; 2], size: Size| {
        (0.0..f64::from(size.width)).contains(&at[0]) && (0.0..f64::from(size.height)).contains(&at[1])
    };
    if !inside(at, end) {
        return None;
    }
    for (op, before) in tile.ops.iter().rev() {
        let edges = [before.width, before.height].map(f64::from);
        at = match *op {
            Op::Hflip {} => [edges[0] - at[0], at[1]],
            Op::Vflip {} => [at[0], edges[1] - at[1]],
            Op::Crop { top, left, .. } => [at[0] + f64::from(left), at[1] + f64::from(top)],
            Op::Resize { size: Extent::Two([height, width]), .. } => {
                [at[0] * edges[0] / f64::from(width), at[1] * edges[1] / f64::from(height)]
            }
            Op::Pad { padding, .. } => {
                let [left, top, ..] = padding.sides();
                let at = [at[0] - f64::from(left), at[1] - f64::from(top)];
                if !inside(at, *before) {
                    return None;
                }
                at
            }
            _ => unreachable!("no tile has this op"),
        };
    }
    Some(at)
}

/// The place in its oriented image that a warped layer shows at a pixel, by the words of `WarpMap::map`.
fn shown(layer: &Layer, x: i32, y: i32) -> Option<[f64; 2]> {
    let sampled = layer.sampled().unwrap();
    let Method::Warp(warp) = &sampled.method else { panic!("no warp: {layer:?}") };
    assert_eq!((sampled.mirror, warp.outside), ([false; 2], Outside::Transparent));
    if !layer.window.contains(Rect::new(x, y, 1, 1)) {
        return None;
    }
    let m = warp.map.map(f64::from);
    let divides = m[6..] != [0.0, 0.0, 1.0];
    let middle = |edge: u32| if divides { 0.0 } else { f64::from(edge) / 2.0 };
    let (column, row) = (x - layer.window.x + sampled.offset[0], y - layer.window.y + sampled.offset[1]);
    let x = f64::from(column) + 0.5 - middle(sampled.scaled.width);
    let y = f64::from(row) + 0.5 - middle(sampled.scaled.height);
    let [u, v, w] = [0, 3, 6].map(|i| m[i] * x + m[i + 1] * y + m[i + 2]);
    let place = if divides { [u / w - 1.0, v / w - 1.0] } else { [u, v] };
    let in_clip = [
        (place[0] + 1.0) * f64::from(sampled.clip.width) / 2.0,
        (place[1] + 1.0) * f64::from(sampled.clip.height) / 2.0,
    ];
    let covered = in_clip[0] >= 0.0
        && in_clip[0] < f64::from(sampled.clip.width)
        && in_clip[1] >= 0.0
        && in_clip[1] < f64::from(sampled.clip.height);
    covered.then(|| [in_clip[0] + f64::from(sampled.clip.x), in_clip[1] + f64::from(sampled.clip.y)])
}

/// As seen before the mirrors that a layer's orientation adds.
fn upright(layer: &Layer, size: Size, [x, y]: [f64; 2]) -> [f64; 2] {
    let orientation = layer.sampled().unwrap().orientation;
    let x = if orientation.mirrors_x() { f64::from(size.width) - x } else { x };
    let y = if orientation.mirrors_y() { f64::from(size.height) - y } else { y };
    [x, y]
}

#[test]
fn a_folded_warp_shows_each_image_where_its_ops_put_it() {
    let (mut compared, mut beside) = (0u32, 0u32);
    for round in 0..300 {
        let mut rng = Rng::new(21, 0, round, 0);
        let tiles: Vec<Edited> = (0..1 + rng.below(4)).map(|_| any_tile(&mut rng)).collect();
        let matrix = any_matrix(&mut rng);
        let mut draft = drafted(0, &tiles[0]);
        let others = tiles[1..]
            .iter()
            .zip(1..)
            .map(|(tile, index)| Tile { draft: drafted(index, tile), at: tile.at })
            .collect();
        let canvas = Size::new(100, 80);
        draft.compose(canvas, Fill::Grey(114), tiles[0].at, others).unwrap();
        draft.apply(Op::WarpPerspective {
            matrix,
            size: Extent::Two([50, 60]),
            fill: Fill::Grey(114),
            antialias: true,
        });
        let plan = draft.freeze().unwrap();
        // A tile's border over another's image hides it, and what is hidden cannot be folded.
        let [pass] = plan.passes.as_slice() else { continue };
        let layers = &plan.layers[plan.inputs[pass.inputs.range()][0].layers.range()];
        assert_eq!(layers[0], Layer::solid(pass.size.rect(), [114; 3]));
        for (x, y) in (0..50).flat_map(|y| (0..60).map(move |x| (x, y))) {
            let point = unmapped(&matrix, [f64::from(x) + 0.5, f64::from(y) + 0.5]);
            let seen = (0.0..100.0).contains(&point[0]) && (0.0..80.0).contains(&point[1]);
            let top = (0..tiles.len()).rev().find_map(|i| Some((i, back(&tiles[i], point)?)));
            let want = top.filter(|_| seen);
            let over = layers[1..].iter().rev().find_map(|layer| Some((layer, shown(layer, x, y)?)));
            match (want, over) {
                (None, None) => compared += 1,
                (Some((tile, want)), Some((layer, got))) if layer.shows_image(tile as u32) => {
                    let got = upright(layer, tiles[tile].size, got);
                    let away = (got[0] - want[0]).hypot(got[1] - want[1]);
                    assert!(away < 0.01, "round {round}, pixel {x}, {y}: {got:?} and not {want:?}");
                    compared += 1;
                }
                _ => beside += 1,
            }
        }
    }
    // Where a window cuts through pixels of an image that is turned, the nearest whole pixels are shown.
    assert!(compared > 300_000 && beside * 100 < compared, "{beside} of {compared} pixels show another tile");
}

#[test]
fn labels_go_where_their_pixels_go() {
    for round in 0..200 {
        let mut rng = Rng::new(22, 0, round, 0);
        let (size, at) = (Size::new(50, 40), [rng.below(60) as i32 - 20, rng.below(60) as i32 - 20]);
        let matrix = any_matrix(&mut rng);
        let mut host = Draft::new(0, size, Orientation::UPRIGHT);
        let others = vec![Tile { draft: Draft::new(1, size, Orientation::UPRIGHT), at }];
        host.compose(Size::new(90, 70), Fill::Grey(114), [0, 0], others).unwrap();
        host.apply(Op::WarpPerspective {
            matrix,
            size: Extent::One(64),
            fill: Fill::Grey(114),
            antialias: true,
        });
        let plan = host.freeze().unwrap();
        let point = [f64::from(rng.below(51)), f64::from(rng.below(41))];
        for image in 0..2 {
            let through = |point: [f64; 2], moved: &LabelOpKind| match moved {
                LabelOpKind::Map(m) => {
                    mapped(&[[m[0], m[1], m[2]], [m[3], m[4], m[5]], [m[6], m[7], m[8]]], point)
                }
                _ => point,
            };
            let own = plan.label_ops.iter().filter(|moved| moved.images.range().contains(&image));
            let got = own.map(|moved| &moved.kind).fold(point, through);
            let at = if image == 0 { [0, 0] } else { at };
            let want = mapped(&matrix, [point[0] + f64::from(at[0]), point[1] + f64::from(at[1])]);
            assert!((got[0] - want[0]).hypot(got[1] - want[1]) < 1e-9, "round {round}, image {image}");
        }
        let kinds: Vec<&LabelOpKind> = plan
            .label_ops
            .iter()
            .filter(|moved| moved.images.range().contains(&1))
            .map(|m| &m.kind)
            .collect();
        assert!(matches!(
            kinds[..],
            [
                LabelOpKind::Map(_),
                LabelOpKind::Clip(_),
                LabelOpKind::Keep(ObjectFilter::Visible { .. }),
                LabelOpKind::Map(_),
                LabelOpKind::Clip(_)
            ]
        ));
        assert_eq!(*kinds[1], LabelOpKind::Clip(Rect::new(0, 0, 90, 70)));
        assert_eq!(*kinds[4], LabelOpKind::Clip(Rect::new(0, 0, 64, 64)));
    }
}

/// u8 levels of a plan whose images are all of one level, 255 less their number.
fn rendered(plan: &Plan) -> Vec<u8> {
    let image = |number: usize| {
        let stored = plan.images[number].stored;
        let mut image = Image::default();
        image.reset(stored, stored.rect());
        image.data.fill(255 - number as u8);
        image
    };
    let images: Vec<Image> = (0..plan.images.len()).map(image).collect();
    let output = Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
    let mut levels = vec![0; output.sample_bytes()];
    Renderer::default().render(plan, &images, &output, &mut levels).unwrap();
    levels
}

#[test]
fn nothing_shines_through_the_seams_of_a_mosaic() {
    let mut rng = Rng::new(23, 0, 0, 0);
    for round in 0..200 {
        let point = [20 + rng.below(60), 20 + rng.below(60)];
        let sizes = [
            Size::new(point[0], point[1]),
            Size::new(100 - point[0], point[1]),
            Size::new(point[0], 100 - point[1]),
            Size::new(100 - point[0], 100 - point[1]),
        ];
        let ats = [[0, 0], [point[0] as i32, 0], [0, point[1] as i32], [point[0] as i32, point[1] as i32]];
        let tile = |number: usize| {
            let stored = Size::new(30 + (number as u32 * 37 + round) % 90, 50 + round % 70);
            let mut draft = Draft::new(number as u64, stored, Orientation::UPRIGHT);
            draft.apply(resize(sizes[number].height, sizes[number].width));
            draft
        };
        let mut draft = tile(0);
        let others = (1..4).map(|number| Tile { draft: tile(number), at: ats[number] }).collect();
        draft.compose(Size::new(100, 100), Fill::Grey(0), ats[0], others).unwrap();
        // Centres of pixels lie on the seam, up to rounding; every other time it is turned.
        let scale = [0.5, 1.0, 0.75, 1.5][round as usize % 4];
        let turn = if round % 2 == 0 { 0.0 } else { f64::from(rng.uniform_between(-0.3, 0.3)) };
        let (cos, sin) = (scale * turn.cos(), scale * turn.sin());
        let to = |x: f64, y: f64| [13.5 - cos * x - sin * y, 26.5 + sin * x - cos * y];
        let [x, y] = to(f64::from(point[0]), f64::from(point[1]));
        let matrix = [[cos, sin, x], [-sin, cos, y], [0.0, 0.0, 1.0]];
        draft.apply(Op::WarpPerspective {
            matrix,
            size: Extent::One(41),
            fill: Fill::Grey(0),
            antialias: true,
        });
        let plan = draft.freeze().unwrap();
        assert_eq!(plan.passes.len(), 1);
        for (at, pixel) in rendered(&plan).chunks_exact(3).enumerate() {
            let near = |at: usize, seam: usize| at.abs_diff(seam) < 5;
            if near(at % 41, 13) && near(at / 41, 26) {
                assert!(pixel[0] > 250, "round {round}: {pixel:?} at {}, {}", at % 41, at / 41);
            }
        }
    }
}

#[test]
fn what_cannot_be_folded_becomes_a_stage_first() {
    let passes = |ops: &[Op], fill: u8| {
        let mut draft = Draft::new(0, Size::new(60, 40), Orientation::UPRIGHT);
        ops.iter().for_each(|op| draft.apply(op.clone()));
        let matrix = [[0.9, 0.1, 3.0], [0.0, 1.1, 2.0], [0.0, 0.0, 1.0]];
        draft.apply(Op::WarpPerspective {
            matrix,
            size: Extent::One(32),
            fill: Fill::Grey(fill),
            antialias: true,
        });
        let plan = draft.freeze().unwrap();
        let layers = &plan.layers[plan.inputs[plan.passes.last().unwrap().inputs.range()][0].layers.range()];
        assert!(
            layers.iter().any(|layer| {
                layer.sampled().is_some_and(|sampled| matches!(sampled.from, LayerSource::Pass(_)))
            }) == (plan.passes.len() > 1)
        );
        plan.passes.len()
    };
    let pad = |fill: u8| Op::Pad {
        padding: Padding::All(4),
        fill: Fill::Grey(fill),
        padding_mode: PaddingMode::Constant,
    };
    let (colour, contrast) = (Op::Saturation { factor: 0.5 }, Op::Contrast { factor: 0.5 });
    let cubic = Op::Resize {
        size: Extent::One(50),
        interpolation: Interpolation::Bicubic,
        max_size: None,
        antialias: true,
    };
    assert_eq!(passes(&[], 114), 1);
    assert_eq!(passes(&[colour.clone(), resize(50, 50), pad(114), Op::Hflip {}], 114), 1);
    assert_eq!(passes(&[contrast, resize(50, 50)], 114), 1);
    assert_eq!(passes(&[pad(7)], 114), 2, "the border has another colour");
    assert_eq!(passes(&[pad(0)], 0), 1);
    assert_eq!(passes(&[resize(50, 50), colour], 114), 2);
    assert_eq!(passes(&[cubic], 114), 2);
}

#[test]
fn a_tile_that_was_recoloured_is_sealed_and_one_that_is_finished_is_refused() {
    let size = Size::new(30, 20);
    let tile = |ops: &[Op]| {
        let mut draft = Draft::new(1, size, Orientation::UPRIGHT);
        ops.iter().for_each(|op| draft.apply(op.clone()));
        Tile { draft, at: [10, 5] }
    };
    let composed = |tile: Tile| {
        let mut host = Draft::new(0, size, Orientation::UPRIGHT).with_objects(Objects::default().into());
        host.compose(Size::new(50, 50), Fill::Grey(9), [0, 0], vec![tile])?;
        assert!(host.is_composed());
        host.freeze()
    };
    let plan = composed(tile(&[resize(9, 9), Op::Contrast { factor: 2.0 }])).unwrap();
    assert_eq!((plan.passes.len(), plan.images.len(), plan.size()), (2, 2, Size::new(50, 50)));
    assert_eq!(plan.labels.iter().map(|label| label.share).collect::<Vec<_>>(), [0.5, 0.5]);
    let normalize = Op::Normalize { mean: [0.5; 3], std: [0.5; 3] };
    assert!(composed(tile(&[normalize])).unwrap_err().to_string().contains("move normalize to the end"));
    let wrong = composed(tile(&[Op::Contrast { factor: -1.0 }])).unwrap_err().to_string();
    assert!(wrong.starts_with("contrast"), "{wrong}");
    let far = Tile { at: [70_000, 0], ..tile(&[]) };
    assert!(composed(far).unwrap_err().to_string().contains("more than 65535 pixels outside"));
    assert_eq!(composed(Tile { at: [60, 0], ..tile(&[]) }).unwrap().layers.len(), 2, "it is not seen");
}

#[test]
fn a_matrix_without_an_inverse_is_refused() {
    for matrix in [[[0.0; 3]; 3], [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]], [[f64::NAN; 3]; 3]] {
        let mut draft = Draft::new(0, Size::new(30, 20), Orientation::UPRIGHT);
        draft.apply(Op::WarpPerspective {
            matrix,
            size: Extent::One(8),
            fill: Fill::Grey(0),
            antialias: true,
        });
        assert!(draft.freeze().unwrap_err().to_string().contains("use one that has an inverse"));
    }
}

#[test]
fn absurd_matrices_are_refused_or_stay_inside_image_and_canvas() {
    let numbers =
        [0.0, 1.0, -1.0, 0.5, -0.03, 1e-9, 3e-5, 700.0, -1e6, 1e12, 1e-30, 1e30, -1e300, f64::MIN_POSITIVE];
    let mut rendered_plans = 0;
    for round in 0..4000 {
        let mut rng = Rng::new(24, 0, round, 0);
        let stored = Size::new(1 + rng.below(40), 1 + rng.below(40));
        let mut draft = Draft::new(0, stored, Orientation(rng.below(8)));
        if rng.below(2) == 0 {
            draft.apply(resize(1 + rng.below(30), 1 + rng.below(30)));
        }
        let mut matrix = [[1.0, 0.0, 3.0], [0.0, 1.0, -2.0], [0.0, 0.0, 1.0]];
        for _ in 0..1 + rng.below(5) {
            matrix[rng.below(3) as usize][rng.below(3) as usize] = numbers[rng.below(14) as usize];
        }
        let size = Extent::Two([1 + rng.below(30), 1 + rng.below(30)]);
        draft.apply(Op::WarpPerspective { matrix, size, fill: Fill::Grey(0), antialias: true });
        let Ok(plan) = draft.freeze() else { continue };
        for layer in &plan.layers {
            assert!(plan.size().rect().contains(layer.window), "{matrix:?}: {layer:?}");
            if let Content::Sampled(sampled) = &layer.content {
                let oriented = sampled.orientation.apply_size(stored);
                assert!(oriented.rect().contains(sampled.clip), "{matrix:?}: {layer:?}");
            }
        }
        assert!(stored.rect().contains(feedline::device::region(&plan, 0)));
        rendered(&plan);
        rendered_plans += 1;
    }
    assert!(rendered_plans > 1000, "{rendered_plans} matrices lead to an image");
}
