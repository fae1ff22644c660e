//! Objects through the whole pipeline: flat arrays that say which row each belongs to.

use crate::mixing::Mix;
use crate::support::{Flat, builder, flat};
use feedline::augment::Augment;
use feedline::draft::Draft;
use feedline::draft::op::Op;
use feedline::label::{BoxFormat, Keypoint, Label, Object, Objects, Unit};
use feedline::loader::{BadSample, Batch, LastBatch, Loader, LoaderBuilder, Status};
use feedline::rng::Draws;
use std::sync::Arc;

/// As many objects as the index is above the last multiple of 3, of that class, in images of 8x6.
fn some(index: usize) -> Label {
    let object = |number: usize| Object {
        class: index as i64,
        bbox: [2.0 * number as f32, 0.0, 2.0 * number as f32 + 2.0, 3.0],
        polygons: (0..number).map(|_| vec![[0.0, 0.0], [8.0, 0.0], [0.0, 6.0]]).collect(),
        keypoints: vec![Keypoint { x: 4.0, y: 3.0, visibility: 2.0 }],
        crowd: number == 1,
    };
    Label::Objects(Arc::new(Objects { list: (0..index % 3).map(object).collect(), ..Objects::default() }))
}

fn seeing(len: usize) -> Flat {
    Flat { objects: Some(some), ..flat(len) }
}

fn first(builder: LoaderBuilder) -> Batch {
    builder.workers(2).build().unwrap().epoch(0).next().unwrap().unwrap()
}

/// Every object must be of the class that its row's index says, and as many as it says.
fn check_rows(batch: &Batch) {
    let objects = batch.objects().unwrap();
    for (row, index) in batch.indices().iter().enumerate() {
        let here = objects.batch_index.iter().zip(&objects.classes).filter(|(at, _)| **at == row as i64);
        let classes: Vec<i64> = here.map(|(_, class)| *class).collect();
        assert_eq!(classes, vec![*index as i64; *index as usize % 3]);
    }
    assert!(objects.batch_index.is_sorted());
    assert!(objects.batch_index.iter().all(|&row| (row as usize) < batch.len()));
}

#[test]
fn a_batch_says_what_is_seen_in_which_row() {
    let batch = first(builder(seeing(6), 6));
    check_rows(&batch);
    let objects = batch.objects().unwrap();
    assert_eq!(objects.batch_index, [1, 2, 2, 4, 5, 5]);
    // 8x6 becomes 4x4.
    assert_eq!(objects.boxes[..3], [[0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0], [1.0, 0.0, 2.0, 2.0]]);
    assert_eq!(objects.crowd, [false, false, true, false, false, true]);
    assert_eq!(objects.shares, [1.0; 6]);
    assert_eq!(objects.polygon_offsets, [0, 0, 0, 1, 1, 1, 2]);
    assert_eq!(objects.point_offsets, [0, 3, 6]);
    assert_eq!(objects.points[3..], [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]);
    assert_eq!(objects.keypoint_offsets, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(objects.keypoints[0], [2.0, 2.0, 2.0]);
    assert_eq!((objects.len(), objects.is_empty()), (6, false));
    assert_eq!(batch.labels(), [-1; 6]);
}

#[test]
fn boxes_come_in_the_format_and_the_unit_that_is_asked_for() {
    let boxes = |format, unit| {
        let batch = first(builder(seeing(3), 3).boxes(format, unit));
        let objects = batch.objects().unwrap();
        assert_eq!((objects.format, objects.unit), (format, unit));
        (objects.boxes[2], objects.points[1])
    };
    assert_eq!(boxes(BoxFormat::Xyxy, Unit::Pixels), ([1.0, 0.0, 2.0, 2.0], [4.0, 0.0]));
    assert_eq!(boxes(BoxFormat::Xywh, Unit::Pixels), ([1.0, 0.0, 1.0, 2.0], [4.0, 0.0]));
    assert_eq!(boxes(BoxFormat::Cxcywh, Unit::Normalized), ([0.375, 0.25, 0.25, 0.5], [1.0, 0.0]));
}

#[test]
fn objects_stay_with_their_rows_where_samples_are_skipped_replaced_or_repeated() {
    let bad = || Flat { cut: vec![1, 4], unreadable: vec![2], ..seeing(8) };
    let skipped = first(builder(bad(), 8).bad_sample(BadSample::Skip));
    assert_eq!(skipped.indices(), [0, 3, 5, 6, 7]);
    check_rows(&skipped);
    let replaced = first(builder(bad(), 8).bad_sample(BadSample::Substitute));
    assert_eq!(replaced.status().iter().filter(|&&status| status != Status::Ok).count(), 3);
    check_rows(&replaced);
    let padded = first(builder(seeing(5), 8).last_batch(LastBatch::Pad));
    assert_eq!(padded.indices(), [0, 1, 2, 3, 4, 0, 1, 2]);
    check_rows(&padded);
}

#[test]
fn the_objects_of_a_mix_bring_the_weights_of_their_images() {
    let loader = builder(seeing(12), 12).augment(Mix).workers(2).build().unwrap();
    let batch = loader.epoch(0).next().unwrap().unwrap();
    let objects = batch.objects().unwrap();
    let mut count = 0;
    for (row, &own) in batch.indices().iter().enumerate() {
        let plan = loader.plan(0, own).unwrap().plan;
        for (label, image) in plan.labels.iter().zip(&plan.images) {
            let of_image = |at: &usize| {
                objects.batch_index[*at] == row as i64 && objects.classes[*at] == image.index as i64
            };
            let here: Vec<usize> = (0..objects.len()).filter(of_image).collect();
            assert_eq!(here.len() as u64, image.index % 3);
            assert!(here.iter().all(|&at| objects.shares[at] == label.share));
            count += here.len();
        }
    }
    assert_eq!(count, objects.len());
}

/// Cuts out what the first object's box holds, or nothing where there is none.
struct Zoom;

impl Augment for Zoom {
    fn name(&self) -> &'static str {
        "Zoom"
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        if let Some(object) = draft.objects().first() {
            let [left, top, right, bottom] = object.bbox.map(|number| number as i32);
            let (height, width) = ((bottom - top) as u32, (right - left) as u32);
            draft.apply(Op::Crop { top, left, height, width });
        }
    }
}

#[test]
fn an_augmentation_sees_the_objects_and_what_it_cuts_away_is_dropped() {
    let zoomed = |builder: LoaderBuilder| {
        let builder = builder.augment(Zoom).augment(crate::support::Squash);
        first(builder.output_size(feedline::geometry::Size::new(4, 4)))
    };
    let batch = zoomed(Loader::builder(seeing(3)).batch_size(3));
    let objects = batch.objects().unwrap();
    assert_eq!(objects.batch_index, [1, 2], "the second object of row 2 is outside");
    assert_eq!(objects.boxes, [[0.0, 0.0, 4.0, 4.0]; 2]);
}

#[test]
fn small_and_cut_boxes_are_dropped_where_that_is_asked_for() {
    let count = |builder: LoaderBuilder| first(builder).objects().unwrap().len();
    assert_eq!(count(builder(seeing(3), 3).box_filter(2.0, 0.0)), 3);
    assert_eq!(count(builder(seeing(3), 3).box_filter(2.1, 0.0)), 0);
    assert_eq!(count(builder(seeing(3), 3).box_filter(0.0, 1.0)), 3);
    let refused = |area, part| {
        builder(seeing(3), 3).box_filter(area, part).build().map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(-1.0, 0.0).contains("min_area is -1"));
    assert!(refused(0.0, 1.5).contains("min_visibility is 1.5"));
}

#[test]
fn batches_of_classes_have_no_objects_unless_boxes_are_asked_for() {
    assert!(first(builder(flat(3), 3)).objects().is_none());
    let asked = first(builder(flat(3), 3).boxes(BoxFormat::Xyxy, Unit::Pixels));
    assert!(asked.objects().unwrap().is_empty());
}
