//! Which objects stay, and what else happens to them besides moving.

use feedline::augment::{Augment, SanitizeBoundingBoxes};
use feedline::draft::Draft;
use feedline::draft::op::Op;
use feedline::geometry::{Orientation, Rect, Size};
use feedline::label::{Keypoint, Object, Objects, Skeleton};
use feedline::plan::label_apply::{TransformedObject, apply, pick_up};
use feedline::plan::label_ops::{LabelOp, LabelOpKind, ObjectFilter};
use feedline::plan::{ImageRef, Modality, Span};
use feedline::rng::Rng;
use std::sync::Arc;

fn boxed(bbox: [f32; 4]) -> Object {
    Object { bbox, ..Object::default() }
}

fn outlined(polygon: &[[f32; 2]]) -> Object {
    Object { bbox: [0.0, 0.0, 100.0, 100.0], polygons: vec![polygon.to_vec()], ..Object::default() }
}

/// What is left of `list` in an image of 100x100 after `moves`.
fn after(list: Vec<Object>, moves: &[LabelOpKind]) -> Vec<TransformedObject> {
    let image = ImageRef {
        index: 0,
        stored: Size::new(100, 100),
        orientation: Orientation::UPRIGHT,
        modality: Modality::Image,
    };
    let mut seen = pick_up(&[image], &[Some(Arc::new(Objects { list, ..Objects::default() }))]);
    let moves: Vec<LabelOp> =
        moves.iter().map(|&kind| LabelOp { images: Span { start: 0, len: 1 }, kind }).collect();
    apply(&mut seen, &moves, &[]);
    seen
}

fn kept(list: Vec<Object>, moves: &[LabelOpKind]) -> Vec<[f64; 4]> {
    after(list, moves).iter().map(|seen| seen.bbox).collect()
}

fn scaled(by: f64) -> LabelOpKind {
    LabelOpKind::Map([by, 0.0, 0.0, 0.0, by, 0.0, 0.0, 0.0, 1.0])
}

#[test]
fn sanitized_boxes_are_large_enough_and_inside_the_canvas() {
    let all = [
        [0.0, 0.0, 3.0, 2.0],
        [0.0, 0.0, 2.0, 1.9],
        [1.0, 1.0, 1.0, 9.0],
        [-1.0, 0.0, 9.0, 9.0],
        [91.0, 90.0, 100.5, 99.0],
        [10.0, 10.0, 12.0, 12.5],
    ];
    let mut draft = Draft::new(0, Size::new(100, 100), Orientation::UPRIGHT)
        .with_objects(Arc::new(Objects { list: all.map(boxed).to_vec(), ..Objects::default() }));
    SanitizeBoundingBoxes::new(2.0, 5.0).plan(&mut draft, Vec::new(), &mut Rng::new(0, 0, 0, 0));
    let left: Vec<_> = draft.objects().iter().map(|seen| seen.bbox).collect();
    assert_eq!(left, [[0.0, 0.0, 3.0, 2.0], [10.0, 10.0, 12.0, 12.5]]);
    assert_eq!(draft.ops(), [Op::SanitizeBoundingBoxes { min_size: 2.0, min_area: 5.0 }]);
    assert!(SanitizeBoundingBoxes::new(0.5, 1.0).check().unwrap_err().to_string().contains("must be >= 1"));
}

#[test]
fn a_box_that_is_cut_away_stays_without_area_until_somebody_drops_it() {
    let gone = LabelOpKind::Clip(Rect::new(0, 0, 50, 50));
    assert_eq!(kept(vec![boxed([60.0, 10.0, 90.0, 20.0])], &[gone]), [[50.0, 10.0, 50.0, 20.0]]);
    let any = LabelOpKind::Keep(ObjectFilter::Visible { min_area: 0.0, min_visibility: 0.0 });
    assert_eq!(kept(vec![boxed([60.0, 10.0, 90.0, 20.0])], &[gone, any]).len(), 0);
}

#[test]
fn visibility_is_what_cuts_left_of_a_box_whatever_its_scale() {
    let half = |min_visibility| LabelOpKind::Keep(ObjectFilter::Visible { min_area: 0.0, min_visibility });
    let moves = |least| [LabelOpKind::Clip(Rect::new(0, 0, 50, 100)), scaled(0.1), half(least)];
    let list = || vec![boxed([40.0, 0.0, 60.0, 10.0])];
    assert_eq!(kept(list(), &moves(0.5)).len(), 1);
    assert_eq!(kept(list(), &moves(0.51)).len(), 0);
    let marked = [LabelOpKind::Clip(Rect::new(0, 0, 50, 100)), LabelOpKind::Mark, half(1.0)];
    assert_eq!(kept(list(), &marked).len(), 1, "a mark starts anew");
    let large = LabelOpKind::Keep(ObjectFilter::Visible { min_area: 200.5, min_visibility: 0.0 });
    assert_eq!(kept(list(), &[large]).len(), 0);
}

#[test]
fn box_candidates_are_told_from_slivers_strictly() {
    let candidates = |scale| {
        let (size, aspect) = (2.0, 100.0);
        LabelOpKind::Keep(ObjectFilter::Candidates { size, aspect, area: 0.1, area_of_polygons: 0.01, scale })
    };
    assert_eq!(kept(vec![boxed([0.0, 0.0, 2.0, 9.0])], &[candidates(1.0)]).len(), 0);
    assert_eq!(kept(vec![boxed([0.0, 0.0, 2.5, 9.0])], &[candidates(1.0)]).len(), 1);
    // A twentieth of the marked box is left; an outlined object may lose more.
    let cut = LabelOpKind::Clip(Rect::new(0, 0, 100, 5));
    let whole = [0.0, 0.0, 100.0, 100.0];
    assert_eq!(kept(vec![boxed(whole)], &[LabelOpKind::Mark, cut, candidates(1.0)]).len(), 0);
    assert_eq!(kept(vec![boxed(whole)], &[LabelOpKind::Mark, cut, candidates(0.5)]).len(), 1);
    let polygon = outlined(&[[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]]);
    assert_eq!(kept(vec![polygon], &[LabelOpKind::Mark, cut, candidates(1.0)]).len(), 1);
    assert_eq!(kept(vec![boxed([0.0, 0.0, 1000.0, 9.0])], &[candidates(1.0)]).len(), 0);
}

#[test]
fn a_polygon_outside_is_dropped_and_its_box_has_no_area_after_a_rebox() {
    let far = outlined(&[[60.0, 60.0], [90.0, 60.0], [90.0, 90.0]]);
    let near = outlined(&[[10.0, 10.0], [70.0, 10.0], [10.0, 70.0]]);
    let seen = after(vec![far, near], &[LabelOpKind::Clip(Rect::new(0, 0, 50, 50)), LabelOpKind::Rebox]);
    assert_eq!((seen[0].polygons.len(), seen[0].bbox), (0, [0.0; 4]));
    assert_eq!(seen[1].bbox, [10.0, 10.0, 50.0, 50.0]);
    assert_eq!(seen[1].polygons[0].len(), 5);
    let plain = after(vec![boxed([1.0, 2.0, 3.0, 4.0])], &[LabelOpKind::Rebox]);
    assert_eq!(plain[0].bbox, [1.0, 2.0, 3.0, 4.0], "a box without a polygon stays");
}

#[test]
fn what_a_rectangle_covers_is_lost_to_outlines_and_keypoints_and_to_boxes_where_it_covers_a_side() {
    let under = LabelOpKind::Hide(Rect::new(20, 20, 30, 30));
    let rows = [
        ([30.0, 30.0, 70.0, 40.0], [50.0, 30.0, 70.0, 40.0]),
        ([0.0, 30.0, 40.0, 40.0], [0.0, 30.0, 20.0, 40.0]),
        ([25.0, 0.0, 45.0, 40.0], [25.0, 0.0, 45.0, 20.0]),
        ([25.0, 40.0, 45.0, 90.0], [25.0, 50.0, 45.0, 90.0]),
        ([0.0, 30.0, 90.0, 40.0], [0.0, 30.0, 90.0, 40.0]),
        ([40.0, 40.0, 60.0, 60.0], [40.0, 40.0, 60.0, 60.0]),
        ([0.0, 0.0, 90.0, 90.0], [0.0, 0.0, 90.0, 90.0]),
        ([60.0, 10.0, 70.0, 90.0], [60.0, 10.0, 70.0, 90.0]),
    ];
    for (bbox, want) in rows {
        let bbox = bbox.map(|at: f64| at as f32);
        assert_eq!(kept(vec![boxed(bbox)], &[under]), [want], "{bbox:?}");
    }
    let [left, top, right, bottom] = kept(vec![boxed([22.0, 22.0, 40.0, 40.0])], &[under])[0];
    assert_eq!((right - left) * (bottom - top), 0.0, "nothing is left of it");
    let across = outlined(&[[10.0, 25.0], [60.0, 25.0], [60.0, 45.0], [10.0, 45.0]]);
    let seen = after(vec![across], &[under, LabelOpKind::Rebox]);
    assert_eq!((seen[0].polygons.len(), seen[0].bbox), (2, [10.0, 25.0, 60.0, 45.0]));
    let away = outlined(&[[60.0, 60.0], [90.0, 60.0], [90.0, 90.0]]);
    let polygons = |list| after(list, &[under])[0].polygons.clone();
    assert_eq!(polygons(vec![away.clone()]), after(vec![away], &[])[0].polygons);
    let points = [(30.0, 30.0), (60.0, 30.0)].map(|(x, y)| Keypoint { x, y, visibility: 2.0 });
    let seen = after(vec![Object { keypoints: points.to_vec(), ..Object::default() }], &[under]);
    assert_eq!(seen[0].keypoints, [[30.0, 30.0, 0.0], [60.0, 30.0, 2.0]]);
}

#[test]
fn a_box_that_a_rectangle_leaves_a_tenth_of_is_dropped() {
    let beside = LabelOpKind::Keep(ObjectFilter::Beside { window: Rect::new(0, 0, 90, 100), part: 0.1 });
    assert_eq!(kept(vec![boxed([0.0, 0.0, 100.0, 10.0])], &[beside]).len(), 0);
    assert_eq!(kept(vec![boxed([1.0, 0.0, 100.0, 10.0])], &[beside]).len(), 1);
}

#[test]
fn one_object_is_copied_or_dropped_by_its_number_among_those_that_take_part() {
    let list = || vec![boxed([10.0, 0.0, 20.0, 5.0]), boxed([30.0, 0.0, 40.0, 5.0])];
    let pasted = kept(list(), &[LabelOpKind::PasteMirrored { object: 1, width: 100.0 }]);
    assert_eq!(pasted[2..], [[60.0, 0.0, 70.0, 5.0]]);
    assert_eq!(kept(list(), &[LabelOpKind::Drop(0)]), [[30.0, 0.0, 40.0, 5.0]]);
    let none = [LabelOpKind::Drop(2), LabelOpKind::PasteMirrored { object: 7, width: 1.0 }];
    assert_eq!(kept(list(), &none).len(), 2, "there is no such object");
}

#[test]
fn left_and_right_change_places_in_a_mirror_image_and_not_in_a_turned_one() {
    let point = |x: f32, y: f32| Keypoint { x, y, visibility: 2.0 };
    let hands = Object {
        keypoints: vec![point(10.0, 20.0), point(50.0, 0.0), point(90.0, 20.0)],
        ..Object::default()
    };
    let skeleton = Some(Arc::new(Skeleton { count: 3, flip: vec![2, 1, 0] }));
    let objects = Arc::new(Objects { list: vec![hands], skeleton, ..Objects::default() });
    let shown = |op: Op| {
        let mut draft =
            Draft::new(0, Size::new(100, 100), Orientation::UPRIGHT).with_objects(objects.clone());
        draft.apply(op);
        draft.objects()[0].keypoints.iter().map(|&[x, y, _]| [x, y]).collect::<Vec<_>>()
    };
    assert_eq!(shown(Op::Hflip {}), [[10.0, 20.0], [50.0, 0.0], [90.0, 20.0]]);
    assert_eq!(
        shown(Op::Vflip {}),
        [[90.0, 80.0], [50.0, 100.0], [10.0, 80.0]],
        "a mirror image upside down"
    );
    let turned: Op = serde_json::from_str(r#"{"op": "rotate", "angle": 180}"#).unwrap();
    let turned: Vec<[f64; 2]> = shown(turned).iter().map(|point| point.map(f64::round)).collect();
    assert_eq!(turned, [[90.0, 80.0], [50.0, 100.0], [10.0, 80.0]]);
}
