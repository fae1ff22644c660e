//! Labels move as pixels do: against a naive account of every op, and against the pixels themselves.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod distorted;
mod filters;
mod masks;
mod naive;

use feedline::device::cpu::Renderer;
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Fill, Interpolation, LensModel, Op, Padding, PaddingMode, Shear};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::Image;
use feedline::label::{Keypoint, Object, Objects, Unit};
use feedline::output::{DType, Layout, Output};
use feedline::plan::label_apply::TransformedObject;
use feedline::rng::{Draws, Rng};
use naive::{Point, Thing, area, distance, follow};
use std::sync::Arc;

fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    f64::from(rng.uniform_between(low as f32, high as f32))
}

fn whole(rng: &mut Rng, low: i32, high: i32) -> i32 {
    low + rng.below((high - low + 1) as u32) as i32
}

/// Any op on a canvas of `size`; most of the canvas stays in sight.
fn any_op(rng: &mut Rng, size: Size) -> Op {
    let (w, h) = (size.width as i32, size.height as i32);
    let (interpolation, fill) = (Interpolation::Bilinear, None);
    let center = (rng.below(3) == 0).then(|| [between(rng, 0.0, w.into()), between(rng, 0.0, h.into())]);
    match rng.below(14) {
        0 => {
            let (left, top) = (whole(rng, -w / 4, w / 4), whole(rng, -h / 4, h / 4));
            let (height, width) = (whole(rng, h / 2, h) as u32 + 1, whole(rng, w / 2, w) as u32 + 1);
            Op::Crop { top, left, height, width }
        }
        1 => {
            let size = Extent::Two([whole(rng, 90, 300) as u32, whole(rng, 90, 300) as u32]);
            Op::Resize { size, interpolation, max_size: None, antialias: true }
        }
        2 => {
            let size = Extent::Two([whole(rng, 90, 300) as u32, whole(rng, 90, 300) as u32]);
            let (top, left) = (whole(rng, 0, h / 3), whole(rng, 0, w / 3));
            let (height, width) = ((h * 2 / 3) as u32, (w * 2 / 3) as u32);
            Op::ResizedCrop { top, left, height, width, size, interpolation, antialias: true }
        }
        3 => {
            let padding = Padding::Sides([0; 4].map(|_| rng.below(40)));
            Op::Pad { padding, fill: Fill::Grey(0), padding_mode: PaddingMode::Constant }
        }
        4 => Op::Hflip {},
        5 => Op::Vflip {},
        6 => {
            let shear = Shear::Both([between(rng, -20.0, 20.0), between(rng, -20.0, 20.0)]);
            let translate = [whole(rng, -30, 30), whole(rng, -30, 30)].map(f64::from);
            let (angle, scale) = (between(rng, -180.0, 180.0), between(rng, 0.6, 1.6));
            Op::Affine { angle, translate, scale, shear, interpolation, fill, center }
        }
        7 => {
            let angle = f64::from(whole(rng, -8, 8)) * 90.0;
            Op::Rotate { angle, interpolation, expand: rng.below(2) == 0, center: None, fill }
        }
        8 => {
            let (angle, expand) = (between(rng, -200.0, 200.0), rng.below(2) == 0);
            Op::Rotate { angle, interpolation, expand, center: center.filter(|_| !expand), fill }
        }
        9 => {
            let startpoints = [[0, 0], [w - 1, 0], [w - 1, h - 1], [0, h - 1]];
            let mut inwards = |x: i32, sign: i32, edge: i32| x + sign * whole(rng, 0, edge / 4);
            let endpoints = startpoints.map(|[x, y]| {
                [inwards(x, if x == 0 { 1 } else { -1 }, w), inwards(y, if y == 0 { 1 } else { -1 }, h)]
            });
            Op::Perspective { startpoints, endpoints, interpolation, fill }
        }
        10 => Op::Transpose {},
        11 => {
            let mut near = |to: f64, by: f64| between(rng, to - by, to + by);
            let matrix = [
                [near(1.0, 0.3), near(0.0, 0.3), near(0.0, 30.0)],
                [near(0.0, 0.3), near(1.0, 0.3), near(0.0, 30.0)],
            ];
            Op::WarpAffine { matrix, interpolation, fill }
        }
        12 => Op::FillRectangles { rectangles: vec![[0, 0, rng.below(9), 9]], fill: Fill::Grey(0) },
        _ => Op::Brightness { factor: 1.0 },
    }
}

/// A distortion that moves some pixels, and folds nothing.
fn any_distortion(rng: &mut Rng) -> Op {
    let (interpolation, fill) = (Interpolation::Bilinear, Fill::Grey(0));
    match rng.below(3) {
        0 => {
            let mut steps = || (0..6).map(|_| between(rng, 0.8, 1.2)).collect();
            Op::GridDistortion { steps_x: steps(), steps_y: steps(), interpolation, fill }
        }
        1 => {
            let mode = if rng.below(2) == 0 { LensModel::Camera } else { LensModel::Fisheye };
            Op::OpticalDistortion { k: between(rng, -0.3, 0.5), mode, interpolation, fill }
        }
        _ => {
            let (key, sigma) = ([rng.bits(), rng.bits()], between(rng, 6.0, 20.0));
            // Little enough that no field folds, not even in a corner, where it moves most: a point is seen once then.
            let alpha = 0.15 * sigma * sigma;
            Op::ElasticTransform { key, alpha, sigma, same_dxdy: false, interpolation, fill }
        }
    }
}

fn any_thing(rng: &mut Rng, size: Size) -> Thing {
    let [w, h] = [size.width, size.height].map(f64::from);
    let mut point = || [between(rng, 0.0, w), between(rng, 0.0, h)].map(|number| f64::from(number as f32));
    let (a, b) = (point(), point());
    let bbox = [a[0].min(b[0]), a[1].min(b[1]), a[0].max(b[0]), a[1].max(b[1])];
    // A triangle is convex, whatever its corners.
    Thing {
        bbox,
        polygon: vec![point(), point(), point()],
        points: (0..5).map(|_| (point(), true)).collect(),
    }
}

fn labelled(things: &[Thing]) -> Arc<Objects> {
    let single = |[x, y]: Point| [x as f32, y as f32];
    let keypoint = |&(point, _): &(Point, bool)| {
        let [x, y] = single(point);
        Keypoint { x, y, visibility: 2.0 }
    };
    let object = |thing: &Thing| Object {
        bbox: thing.bbox.map(|number| number as f32),
        polygons: vec![thing.polygon.iter().copied().map(single).collect()],
        keypoints: thing.points.iter().map(keypoint).collect(),
        ..Object::default()
    };
    Arc::new(Objects { list: things.iter().map(object).collect(), ..Objects::default() })
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3)
}

fn compare(seen: &TransformedObject, thing: &Thing, ops: &[Op]) {
    assert!(near(&seen.bbox, &thing.bbox), "{:?} is not {:?} after {ops:?}", seen.bbox, thing.bbox);
    for ([x, y, visibility], (point, shown)) in seen.keypoints.iter().zip(&thing.points) {
        assert!(near(&[*x, *y], point), "({x}, {y}) is not {point:?} after {ops:?}");
        assert_eq!(*visibility > 0.0, *shown, "{point:?} after {ops:?}");
    }
    let polygon = seen.polygons.first().map_or(&[][..], |polygon| &polygon[..]);
    // A sliver may be there for one and not for the other.
    if area(&thing.polygon) < 1.0 {
        return assert!(area(polygon) < 1.1, "{polygon:?} after {ops:?}");
    }
    let on_outline = |all: &[Point], one: &Point| distance(all, *one) < 1e-3;
    assert!(
        polygon.iter().all(|point| on_outline(&thing.polygon, point))
            && thing.polygon.iter().all(|point| on_outline(polygon, point)),
        "{polygon:?} is not {:?} after {ops:?}",
        thing.polygon
    );
}

#[test]
fn boxes_polygons_and_keypoints_end_where_a_naive_account_says() {
    for case in 0..3000 {
        let mut rng = Rng::new(31, 0, case, 0);
        let orientation = Orientation(rng.below(8));
        let size = Size::new(100 + rng.below(200), 100 + rng.below(200));
        let mut things: Vec<Thing> = (0..4).map(|_| any_thing(&mut rng, size)).collect();
        let mut draft =
            Draft::new(0, orientation.apply_size(size), orientation).with_objects(labelled(&things));
        assert_eq!(draft.size(), size);
        for _ in 0..1 + rng.below(6) {
            let before = draft.size();
            let op = any_op(&mut rng, before);
            draft.apply(op.clone());
            things.iter_mut().for_each(|thing| follow(thing, &op, before, draft.size()));
        }
        let (seen, ops) = (draft.objects(), draft.ops().to_vec());
        assert_eq!(seen.len(), things.len());
        seen.iter().zip(&things).for_each(|(seen, thing)| compare(seen, thing, &ops));
        // Sixteen seals are the most; then there is no plan, and no labels of it.
        if let Ok(plan) = draft.freeze() {
            assert_eq!(plan.objects(&[Some(labelled(&[]))]), []);
        }
    }
}

/// A black image with a white dot of 5x5 pixels around `at`, in whole pixels.
fn dotted(size: Size, [x, y]: [u32; 2]) -> Image {
    let mut image = Image::default();
    image.reset(size, size.rect());
    for row in y - 2..=y + 2 {
        let start = row as usize * image.stride + (x as usize - 2) * 3;
        image.data[start..start + 15].fill(255);
    }
    image
}

/// The middle of all that is bright, and how bright it is in total.
fn middle(levels: &[u8], size: Size) -> (Point, f64) {
    let (mut sum, mut total) = ([0.0; 2], 0.0);
    for (at, pixel) in levels.chunks_exact(3).enumerate() {
        let (x, y) = (at % size.width as usize, at / size.width as usize);
        let level = f64::from(pixel[0]);
        sum = [sum[0] + level * (x as f64 + 0.5), sum[1] + level * (y as f64 + 0.5)];
        total += level;
    }
    (sum.map(|sum| sum / total), total)
}

#[test]
fn a_bright_dot_ends_where_its_keypoint_ends() {
    let mut seen_dots = 0;
    for case in 0..400 {
        let mut rng = Rng::new(32, 0, case, 0);
        let size = Size::new(100 + rng.below(100), 100 + rng.below(100));
        let dot = [size.width, size.height].map(|edge| 20 + rng.below(edge - 40));
        let [x, y] = dot.map(|at| at as f32 + 0.5);
        let keypoints = vec![Keypoint { x, y, visibility: 2.0 }];
        let object = Object { keypoints, ..Object::default() };
        let objects = Arc::new(Objects { list: vec![object], ..Objects::default() });
        let mut draft = Draft::new(0, size, Orientation::UPRIGHT).with_objects(objects);
        for _ in 0..1 + rng.below(3) {
            let op = match rng.below(3) {
                0 => any_distortion(&mut rng),
                _ => any_op(&mut rng, draft.size()),
            };
            draft.apply(op);
        }
        let (seen, ops) = (draft.objects(), draft.ops().to_vec());
        let plan = draft.freeze().unwrap();
        let size = plan.size();
        let output = Output { size, dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
        let mut levels = vec![0; output.sample_bytes()];
        Renderer::default()
            .render(&plan, &[dotted(plan.images[0].stored, dot)], &output, &mut levels)
            .unwrap();
        let [x, y, visibility] = seen[0].keypoints[0];
        let edge = 12.0;
        let inside =
            x > edge && y > edge && x < f64::from(size.width) - edge && y < f64::from(size.height) - edge;
        let (at, total) = middle(&levels, size);
        // A dot that an earlier op cut off, or cut in two, has no middle to compare.
        if visibility > 0.0 && inside && total > 255.0 * 4.0 {
            assert!(
                (at[0] - x).abs() < 1.0 && (at[1] - y).abs() < 1.0,
                "{at:?}, not {x}, {y}, after {ops:?}"
            );
            seen_dots += 1;
        }
    }
    assert!(seen_dots > 200, "{seen_dots} dots stayed in sight");
}

#[test]
fn labels_in_parts_of_the_image_are_those_in_pixels() {
    let bbox = [0.25, 0.5, 0.5, 1.0];
    let list = vec![Object { bbox, ..Object::default() }];
    let objects = Arc::new(Objects { unit: Unit::Normalized, list, skeleton: None });
    // Stored on its side: the parts are those of the image as it is seen, 40 wide and 80 high.
    let draft = Draft::new(0, Size::new(80, 40), Orientation::TRANSPOSE).with_objects(objects);
    assert_eq!(draft.objects()[0].bbox, [10.0, 40.0, 20.0, 80.0]);
}

#[test]
fn each_partner_brings_its_objects_where_its_own_ops_put_them() {
    let boxed =
        |bbox| Arc::new(Objects { list: vec![Object { bbox, ..Object::default() }], ..Objects::default() });
    let mut draft =
        Draft::new(0, Size::new(50, 50), Orientation::UPRIGHT).with_objects(boxed([0.0, 0.0, 9.0, 9.0]));
    let mut partner = Draft::new(1, Size::new(100, 100), Orientation::UPRIGHT)
        .with_objects(boxed([60.0, 60.0, 70.0, 80.0]));
    partner.apply(Op::Crop { top: 50, left: 50, height: 50, width: 50 });
    draft.blend(partner, 0.5, Rect::new(0, 0, 50, 50), 0.25).unwrap();
    draft.apply(Op::Hflip {});
    assert_eq!(draft.objects().iter().map(|seen| seen.share).collect::<Vec<_>>(), [0.75, 0.25]);
    let places: Vec<_> = draft.objects().iter().map(|seen| (seen.image, seen.bbox)).collect();
    assert_eq!(places, [(0, [41.0, 0.0, 50.0, 9.0]), (1, [30.0, 10.0, 40.0, 30.0])]);
}
