//! Boxes and keypoints of a mosaic through the plan's moves, against the same arithmetic in the words of the detection set.

use feedline::augment::{Augment, Mosaic, YoloPerspective};
use feedline::draft::Draft;
use feedline::geometry::{Orientation, Size};
use feedline::label::{Keypoint, Object, Objects};
use feedline::plan::label_apply::{apply, pick_up};
use feedline::rng::{Draws, Rng};
use std::sync::Arc;

const EDGE: u32 = 160;

type Box4 = [f64; 4];

fn area([left, top, right, bottom]: Box4) -> f64 {
    (right - left) * (bottom - top)
}

fn clipped(bbox: Box4, edge: f64) -> Box4 {
    bbox.map(|at| at.clamp(0.0, edge))
}

/// Where a point of tile `tile` lies on the canvas of the mosaic with this centre.
fn loaded([x, y]: [f64; 2], of: Size, tile: usize, centre: [i32; 2]) -> [f64; 2] {
    let (width, height) = (f64::from(of.width), f64::from(of.height));
    let ratio = f64::from(EDGE) / width.max(height);
    let (w, h) = ((width * ratio).ceil().min(EDGE.into()), (height * ratio).ceil().min(EDGE.into()));
    let left = f64::from(centre[0]) - if tile.is_multiple_of(2) { w } else { 0.0 };
    let top = f64::from(centre[1]) - if tile < 2 { h } else { 0.0 };
    [x * w / width + left, y * h / height + top]
}

/// One keypoint of tile `tile`, and whether it stays visible.
fn expected_point(
    at: [f64; 2],
    of: Size,
    tile: usize,
    centre: [i32; 2],
    m: &[[f64; 3]; 3],
) -> ([f64; 2], bool) {
    let [x, y] = loaded(at, of, tile, centre);
    let [u, v, w] = m.map(|row| row[0] * x + row[1] * y + row[2]);
    let inside = |at: [f64; 2], edge: u32| at.iter().all(|at| (0.0..=f64::from(edge)).contains(at));
    let to = [u / w, v / w];
    (to, inside([x, y], 2 * EDGE) && inside(to, EDGE))
}

/// One box of tile `tile`, with the mosaic's point and the map's matrix and scale; `None` where it is dropped.
fn expected(
    bbox: Box4,
    of: Size,
    tile: usize,
    point: [i32; 2],
    m: &[[f64; 3]; 3],
    scale: f64,
) -> Option<Box4> {
    let [left, top, right, bottom] = bbox;
    let ([left, top], [right, bottom]) =
        (loaded([left, top], of, tile, point), loaded([right, bottom], of, tile, point));
    let before = clipped([left, top, right, bottom], f64::from(2 * EDGE));
    if area(before) <= 0.0 {
        return None;
    }
    let [left, top, right, bottom] = before;
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom)].map(|(x, y)| {
        let [u, v, w] = m.map(|row| row[0] * x + row[1] * y + row[2]);
        (u / w, v / w)
    });
    let (xs, ys) = (corners.map(|corner| corner.0), corners.map(|corner| corner.1));
    let least = |numbers: [f64; 4]| numbers.into_iter().fold(f64::INFINITY, f64::min);
    let most = |numbers: [f64; 4]| numbers.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let after = clipped([least(xs), least(ys), most(xs), most(ys)], f64::from(EDGE));
    let (w, h) = (after[2] - after[0], after[3] - after[1]);
    let kept = area(after) / (area(before) * scale * scale) > 0.1;
    (w > 2.0 && h > 2.0 && kept && (w / h).max(h / w) < 100.0).then_some(after)
}

fn any_box(rng: &mut Rng, of: Size) -> [f32; 4] {
    let mut ends = |edge: u32| {
        let (a, b) = (rng.uniform() * edge as f32, rng.uniform() * edge as f32);
        (a.min(b), a.max(b))
    };
    let ((left, right), (top, bottom)) = (ends(of.width), ends(of.height));
    [left, top, right, bottom]
}

#[test]
fn boxes_and_keypoints_go_through_a_mosaic_and_its_perspective_as_the_detection_set_says() {
    let (mosaic, usual) = (Mosaic::new(EDGE), YoloPerspective::new(EDGE));
    let (mut kept, mut dropped, mut hidden) = (0, 0, 0);
    for seed in 0..300 {
        let mut rng = Rng::new(41, 0, seed, 0);
        let op = if seed % 2 == 0 { usual } else { usual.degrees(20.0).shear(8.0).perspective(0.0008) };
        let sizes = [0; 4].map(|_| Size::new(40 + rng.below(400), 40 + rng.below(400)));
        let objects = sizes.map(|size| {
            let list = (0..4).map(|class| {
                let [x, y, ..] = any_box(&mut rng, size);
                let keypoints = vec![Keypoint { x, y, visibility: 2.0 }];
                Object { class, bbox: any_box(&mut rng, size), keypoints, ..Object::default() }
            });
            Arc::new(Objects { list: list.collect(), ..Objects::default() })
        });
        let dice = || Rng::new(seed, 1, 0, 0);
        let mut drafts = sizes.into_iter().map(|size| Draft::new(0, size, Orientation::UPRIGHT));
        let mut host = drafts.next().unwrap();
        mosaic.plan(&mut host, drafts.collect(), &mut dice());
        op.plan(&mut host, Vec::new(), &mut dice());
        let plan = host.freeze().unwrap();
        let mut seen = pick_up(&plan.images, &objects.clone().map(Some));
        apply(&mut seen, &plan.label_ops, &plan.distortions);

        let point = mosaic.make_params(&mut dice());
        let params = op.make_params(Size::new(2 * EDGE, 2 * EDGE), &mut dice());
        for (tile, (size, objects)) in sizes.into_iter().zip(&objects).enumerate() {
            for object in &objects.list {
                let bbox = object.bbox.map(f64::from);
                let want = expected(bbox, size, tile, point, &params.matrix, params.scale);
                let is_own = |got: &&_| {
                    let got: &feedline::plan::label_apply::TransformedObject = got;
                    (got.image as usize, got.class) == (tile, object.class)
                };
                let got = seen.iter().find(is_own);
                if let Some(got) = got {
                    let from = [object.keypoints[0].x, object.keypoints[0].y].map(f64::from);
                    let (to, visible) = expected_point(from, size, tile, point, &params.matrix);
                    let [x, y, visibility] = got.keypoints[0];
                    let off = (x - to[0]).abs().max((y - to[1]).abs());
                    assert!(off < 1e-6, "seed {seed}: a keypoint at {x}, {y} and not {to:?}");
                    assert_eq!(visibility, if visible { 2.0 } else { 0.0 }, "seed {seed}: {to:?}");
                    hidden += u32::from(!visible);
                }
                match (got.map(|got| got.bbox), want) {
                    (Some(got), Some(want)) => {
                        let off = got.iter().zip(want).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                        assert!(off < 1e-6, "seed {seed}: {got:?} and not {want:?}");
                        kept += 1;
                    }
                    (None, None) => dropped += 1,
                    (got, want) => panic!("seed {seed}, tile {tile}: {got:?} and not {want:?}"),
                }
            }
        }
    }
    assert!(kept > 1000 && dropped > 1000 && hidden > 100, "{kept} kept, {dropped} dropped, {hidden} hidden");
}
