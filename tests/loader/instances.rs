//! Masks of objects: against a naive account of which pixels an outline contains, and against run lengths.

use crate::support::{Flat, builder, flat, outlined, png};
use feedline::augment::{RandomAffine, RandomHorizontalFlip, RandomResizedCrop};
use feedline::dlpack::Field;
use feedline::dlpack::abi::DLDataType;
use feedline::draft::op::Extent;
use feedline::error::Result;
use feedline::geometry::Size;
use feedline::label::{Label, Object, Objects};
use feedline::loader::{Batch, BatchObjects, LastBatch, Loader, LoaderBuilder, MaskPlanes};
use feedline::options::Options;
use feedline::plan::label_apply::TransformedObject;
use feedline::rng::{Draws, Rng};
use feedline::source::{Coco, Source};
use serde_json::json;
use std::borrow::Cow;
use std::sync::Arc;

/// Six images of 96x64 pixels with random outlines of up to two parts; the third has no label, the fourth no objects, and the
/// first object of the others no outline.
pub(crate) struct Outlined;

impl Source for Outlined {
    fn len(&self) -> usize {
        6
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        *bytes = png([index as u8, 1, 2], 96, 64);
        Ok(())
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        format!("{index}.png").into()
    }

    fn label(&self, index: usize) -> Label {
        let mut rng = Rng::new(index as u64, 0, 0, 0);
        let mut polygon = |_: usize| -> Vec<[f32; 2]> {
            let [x, y] = [rng.uniform_between(0.0, 60.0), rng.uniform_between(0.0, 40.0)];
            let point = |_| [x + rng.uniform_between(0.0, 36.0), y + rng.uniform_between(0.0, 24.0)];
            (0..3 + index).map(point).collect()
        };
        let mut object = |number: usize| {
            let polygons: Vec<_> = (0..number.min(2)).map(&mut polygon).collect();
            Object { class: number as i64, bbox: [0.0, 0.0, 96.0, 64.0], polygons, ..Object::default() }
        };
        match index {
            2 => Label::Unlabelled,
            3 => Label::Objects(Arc::default()),
            _ => {
                let list = (0..4).map(&mut object).collect();
                Label::Objects(Arc::new(Objects { list, ..Objects::default() }))
            }
        }
    }
}

pub(crate) fn asked(builder: LoaderBuilder, options: &[(&str, &str)]) -> LoaderBuilder {
    let mut said = Options::default();
    options.iter().for_each(|(name, text)| said.set_text(name, text).unwrap());
    builder.options(&said)
}

/// A chain that moves outlines in every way, and cuts them, to 50x37 pixels.
pub(crate) fn moved(source: impl Source + 'static) -> LoaderBuilder {
    Loader::builder(source)
        .batch_size(6)
        .last_batch(LastBatch::Partial)
        .seed(9)
        .workers(2)
        .augment(RandomAffine::new(30.0))
        .augment(RandomHorizontalFlip::new(0.5))
        .augment(RandomResizedCrop::new(Extent::Two([37, 50])).scale([0.5, 1.0]))
}

fn first(loader: &Loader) -> Batch {
    loader.epoch(0).next().unwrap().unwrap()
}

/// By counting the edges that a ray to the left meets.
fn holds(polygon: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    let meets = |(a, b): (&[f64; 2], &[f64; 2])| {
        (a[1] <= y) != (b[1] <= y) && (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]) + a[0] < x
    };
    polygon.iter().zip(polygon.iter().cycle().skip(1)).filter(|&edge| meets(edge)).count() % 2 == 1
}

/// Whether each pixel of a plane of `size` lies in the object, whose canvas is `canvas`.
fn naive(object: &TransformedObject, canvas: Size, size: Size) -> Vec<bool> {
    let [sx, sy] = [(canvas.width, size.width), (canvas.height, size.height)]
        .map(|(from, to)| f64::from(from) / f64::from(to));
    let pixels = (0..size.height).flat_map(|y| (0..size.width).map(move |x| [x, y].map(f64::from)));
    let centres = pixels.map(|[x, y]| [(x + 0.5) * sx, (y + 0.5) * sy]);
    centres.map(|centre| object.polygons.iter().any(|polygon| holds(polygon, centre))).collect()
}

fn objects_of(loader: &Loader, batch: &Batch, row: usize) -> Vec<TransformedObject> {
    let plan = loader.plan(0, batch.indices()[row]).unwrap().plan;
    loader.objects(&plan).unwrap_or_default()
}

fn planes(objects: &BatchObjects) -> (Size, &MaskPlanes) {
    let masks = objects.masks.as_ref().unwrap();
    (masks.size, &masks.planes)
}

#[test]
fn each_object_has_a_plane_of_the_pixels_whose_centres_its_outline_contains() {
    for (ratio, size) in [("1", Size::new(50, 37)), ("3", Size::new(16, 12)), ("64", Size::new(1, 1))] {
        let options = [("instance_masks", "per-object"), ("mask_ratio", ratio)];
        let loader = asked(moved(Outlined), &options).build().unwrap();
        let batch = first(&loader);
        let all = batch.objects().unwrap();
        let (found, MaskPlanes::PerObject(pixels)) = planes(all) else { panic!("another kind") };
        assert_eq!(found, size);
        let mut each = pixels.chunks(size.pixels() as usize);
        let (mut set, mut count) = (0, 0);
        for row in 0..batch.len() {
            for object in objects_of(&loader, &batch, row) {
                let plane: Vec<bool> = each.next().unwrap().iter().map(|&pixel| pixel == 1).collect();
                assert_eq!(plane, naive(&object, Size::new(50, 37), size), "row {row} at 1/{ratio}");
                assert_eq!((all.classes[count], all.batch_index[count]), (object.class, row as i64));
                count += 1;
                set += plane.iter().filter(|&&set| set).count();
            }
        }
        assert!(each.next().is_none() && count == all.len() && count > 8, "{count} objects");
        assert!(ratio != "1" || set > 300, "{set} pixels are set");
        assert!(pixels.iter().all(|&pixel| pixel < 2));
    }
}

#[test]
fn one_plane_shows_the_smallest_object_above_and_objects_come_with_the_largest_first() {
    let loader = asked(moved(Outlined), &[("instance_masks", "overlap")]).build().unwrap();
    let plain = moved(Outlined).build().unwrap();
    let batch = first(&loader);
    let all = batch.objects().unwrap();
    // A quarter, without a remainder.
    let size = Size::new(12, 9);
    let (found, MaskPlanes::Overlap(pixels)) = planes(all) else { panic!("another kind") };
    assert_eq!((found, pixels.len()), (size, 6 * 12 * 9));
    let mut reordered = 0;
    for (row, plane) in pixels.chunks(size.pixels() as usize).enumerate() {
        let labelled: Vec<_> = objects_of(&plain, &batch, row)
            .into_iter()
            .map(|object| (naive(&object, Size::new(50, 37), size), object.class))
            .collect();
        let area = |pixels: &[bool]| pixels.iter().filter(|&&set| set).count();
        let mut order: Vec<usize> = (0..labelled.len()).collect();
        order.sort_by(|&a, &b| area(&labelled[b].0).cmp(&area(&labelled[a].0)).then(a.cmp(&b)));
        reordered += usize::from(!order.is_sorted());
        let of_row = all.batch_index.iter().zip(&all.classes).filter(|(at, _)| **at == row as i64);
        let classes: Vec<i64> = of_row.map(|(_, &class)| class).collect();
        assert_eq!(classes, order.iter().map(|&at| labelled[at].1).collect::<Vec<_>>(), "row {row}");
        for (pixel, &value) in plane.iter().enumerate() {
            // Of those that have the pixel, the last in this order.
            let top = order.iter().rposition(|&at| labelled[at].0[pixel]);
            assert_eq!(value, top.map_or(0, |at| at as i32 + 1), "pixel {pixel} of row {row}");
        }
        assert!([2, 3].contains(&row) == plane.iter().all(|&value| value == 0), "row {row}");
    }
    assert!(reordered > 0, "no row tells the order");
}

#[test]
fn run_lengths_come_back_as_they_were_with_their_holes() {
    let folder = tempfile::tempdir().unwrap();
    let (width, height) = (13usize, 9usize);
    let mut rng = Rng::new(4, 0, 0, 0);
    let mut masks: Vec<Vec<u8>> =
        (0..5).map(|_| (0..width * height).map(|_| u8::from(rng.chance(0.6))).collect()).collect();
    masks.push((0..width * height).map(|at| u8::from(at % width > 2 && at / width != 4)).collect());
    let annotations = masks.iter().zip(0..).map(|(mask, id)| {
        // Down the columns, from a run of zeros.
        let column_wise = (0..width).flat_map(|x| (0..height).map(move |y| mask[y * width + x]));
        let (mut counts, mut last) = (vec![0u32], 0);
        for pixel in column_wise {
            if pixel != last {
                counts.push(0);
                last = pixel;
            }
            *counts.last_mut().unwrap() += 1;
        }
        json!({"id": id, "image_id": 1, "category_id": 1, "iscrowd": 1, "segmentation": {"counts": counts, "size": [height, width]}})
    });
    let annotations = json!({
        "images": [{"id": 1, "file_name": "a.png", "width": width, "height": height}],
        "categories": [{"id": 1, "name": "thing"}],
        "annotations": annotations.collect::<Vec<_>>(),
    });
    std::fs::write(folder.path().join("a.json"), annotations.to_string()).unwrap();
    std::fs::write(folder.path().join("a.png"), png([7; 3], width as u32, height as u32)).unwrap();
    let source = Coco::open(folder.path().join("a.json"), folder.path()).unwrap();
    let builder = Loader::builder(source).output_size(Size::new(width as u32, height as u32));
    let batch = first(&asked(builder, &[("instance_masks", "per-object")]).build().unwrap());
    let (_, MaskPlanes::PerObject(pixels)) = planes(batch.objects().unwrap()) else { panic!("another kind") };
    assert_eq!(*pixels, masks.concat());
}

#[test]
fn masks_of_objects_are_fields_of_a_batch() {
    let tensor = |options: &[(&str, &str)]| {
        let source = Flat { objects: Some(outlined), cut: vec![1], ..flat(6) };
        let builder = asked(builder(source, 6).bad_sample(feedline::loader::BadSample::Skip), options);
        let batch = Arc::new(first(&builder.build().unwrap()));
        let tensor = batch.field_to_dlpack(Field::InstanceMasks)?;
        Some((tensor.shape().to_vec(), tensor.dtype(), batch.objects().unwrap().len() as i64))
    };
    let (shape, dtype, objects) = tensor(&[("instance_masks", "per-object"), ("mask_ratio", "2")]).unwrap();
    assert_eq!((shape, dtype), (vec![objects, 2, 2], DLDataType::U8));
    let (shape, dtype, _) = tensor(&[("instance_masks", "overlap"), ("mask_ratio", "1")]).unwrap();
    assert_eq!((shape, dtype), (vec![5, 4, 4], DLDataType::I32));
    assert_eq!(tensor(&[]), None);
}

#[test]
fn masks_of_objects_that_cannot_be_made_are_refused() {
    let refused = |source: Flat, options: &[(&str, &str)]| {
        asked(builder(source, 1), options).build().map(drop).unwrap_err().to_string()
    };
    let overlap = ("instance_masks", "overlap");
    let outlined = || Flat { objects: Some(outlined), ..flat(3) };
    let without = refused(flat(3), &[overlap]);
    assert!(without.contains("[labels]: instance_masks are made of outlines, and no object"), "{without}");
    let boxes = |_| {
        let object = Object { bbox: [0.0, 0.0, 2.0, 2.0], ..Object::default() };
        Label::Objects(Arc::new(Objects { list: vec![object], ..Objects::default() }))
    };
    assert_eq!(refused(Flat { objects: Some(boxes), ..flat(3) }, &[overlap]), without);
    let alone = refused(outlined(), &[("mask_ratio", "2")]);
    assert!(alone.contains("[labels]: mask_ratio means nothing here: set instance_masks"), "{alone}");
    for ratio in ["0", "65"] {
        let wrong = refused(outlined(), &[overlap, ("mask_ratio", ratio)]);
        assert!(wrong.contains(&format!("[labels]: mask_ratio is {ratio}: give 1")), "{wrong}");
    }
    let wrong = Options::default().set_text("instance_masks", "overlapping").unwrap_err().to_string();
    assert!(wrong.contains("overlap"), "{wrong}");
}

#[test]
fn masks_that_are_too_large_make_a_bad_sample() {
    let many = |_| {
        let polygons = vec![vec![[0.0, 0.0], [8.0, 0.0], [0.0, 6.0]]];
        let object = Object { bbox: [0.0, 0.0, 8.0, 6.0], polygons, ..Object::default() };
        Label::Objects(Arc::new(Objects { list: vec![object; 5000], ..Objects::default() }))
    };
    let large = feedline::augment::Resize::new(Extent::Two([500, 600]));
    let build = |kind: &str| {
        let source = Flat { objects: Some(many), ..flat(1) };
        asked(Loader::builder(source).augment(large), &[("instance_masks", kind)]).build().unwrap()
    };
    let error = build("per-object").epoch(0).next().unwrap().unwrap_err().to_string();
    assert!(
        error.contains("0.png") && error.contains("5000 objects") && error.contains("mask_ratio"),
        "{error}"
    );
    assert!(build("overlap").epoch(0).next().unwrap().is_ok());
}
