//! Where samples show their images: it leads from a batch's boxes back to those of the files.

use crate::support::png;
use feedline::label::{BoxFormat, Label, Object, Objects, Unit};
use feedline::loader::{Batch, LastBatch, Loader, LoaderBuilder};
use feedline::output::RectBatches;
use feedline::recipe::Recipe;
use feedline::source::Memory;
use std::sync::Arc;

/// Width and height of each image.
const SIZES: [[u32; 2]; 6] = [[640, 480], [333, 500], [17, 91], [1000, 9], [64, 64], [701, 699]];

/// A box in the middle of an image of this size, left, top, right and bottom.
fn middle([width, height]: [u32; 2]) -> [f32; 4] {
    let [w, h] = [width as f32, height as f32];
    [w * 0.25, h * 0.25, w * 0.625, h * 0.875]
}

fn records() -> Memory {
    let record = |size: [u32; 2]| {
        let list = vec![Object { bbox: middle(size), ..Object::default() }];
        let label = Label::Objects(Arc::new(Objects { list, ..Objects::default() }));
        (format!("{size:?}"), png([9; 3], size[0], size[1]), label)
    };
    Memory::new(SIZES.map(record).to_vec())
}

fn of_recipe(name: &str) -> LoaderBuilder {
    let recipe = Recipe::built_in(name).unwrap();
    let builder = Loader::builder(records()).recipe(&recipe).batch_size(6).last_batch(LastBatch::Partial);
    builder.shuffle(false).boxes(BoxFormat::Xyxy, Unit::Pixels).workers(2)
}

fn first(builder: LoaderBuilder) -> Batch {
    builder.build().unwrap().epoch(0).next().unwrap().unwrap()
}

/// Each row's box, brought back by the row's placement, must be the one that the label has.
fn check_boxes(batch: &Batch) {
    let objects = batch.objects().unwrap();
    assert_eq!(objects.batch_index, [0, 1, 2, 3, 4, 5]);
    for (row, &index) in batch.indices().iter().enumerate() {
        let size = SIZES[index as usize];
        assert_eq!(batch.original_sizes()[row], [size[1], size[0]].map(i64::from));
        let placement = batch.placements()[row].unwrap();
        for (at, (got, want)) in objects.boxes[row].into_iter().zip(middle(size)).enumerate() {
            let back = (f64::from(got) - placement.pad[at % 2]) / placement.ratio[at % 2];
            // What an f32 of the sample's box tells of the image.
            let exact = f64::from(f32::EPSILON) * f64::from(got.abs().max(1.0)) / placement.ratio[at % 2];
            assert!((back - f64::from(want)).abs() <= exact, "row {row}, number {at}: {back} and not {want}");
        }
    }
}

#[test]
fn boxes_of_a_letterbox_lead_back_to_the_labels() {
    let batch = first(of_recipe("yolo-eval"));
    check_boxes(&batch);
    // 640 x 480 keeps its size and has 80 rows of border above.
    let placement = batch.placements()[0].unwrap();
    assert_eq!((placement.ratio, placement.pad), ([1.0, 1.0], [0.0, 80.0]));
    // The shorter edge is rounded by itself: 9 * 0.64 is 5.76, and 6 pixels are seen.
    assert_eq!(batch.placements()[3].unwrap().ratio, [0.64, 2.0 / 3.0]);
}

#[test]
fn boxes_of_batches_in_the_shape_of_their_images_lead_back_to_the_labels() {
    let batch = first(of_recipe("yolo-eval").rect(RectBatches { stride: 16, pad: 0.0 }));
    assert_ne!(batch.indices(), [0, 1, 2, 3, 4, 5]);
    check_boxes(&batch);
}

#[test]
fn the_middle_of_an_image_begins_left_of_the_sample() {
    let batch = first(of_recipe("imagenet-eval"));
    // 640 x 480 becomes 341 x 256, of which the middle 224 x 224 is seen.
    let placement = batch.placements()[0].unwrap();
    assert_eq!(placement.ratio, [341.0 / 640.0, 256.0 / 480.0]);
    assert_eq!(placement.pad, [-58.0, -16.0]);
}

#[test]
fn a_mosaic_has_the_size_of_its_own_image_and_no_placement() {
    let batch = first(of_recipe("yolo-train"));
    assert_eq!(batch.original_sizes()[1], [500, 333]);
    assert_eq!(batch.placements(), [None; 6]);
}
