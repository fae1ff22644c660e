//! Rotated boxes: of YOLO-OBB label files, through moves, as the smallest rectangle that a search finds.

use crate::instances::{Outlined, asked, moved};
use crate::support::png;
use feedline::augment::{RandomRotation, Resize};
use feedline::dlpack::Field;
use feedline::draft::op::Extent;
use feedline::loader::{Batch, Loader};
use feedline::source::Yolo;
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

fn first(loader: &Loader) -> Batch {
    loader.epoch(0).next().unwrap().unwrap()
}

/// The least area of a rectangle around points: one of its sides goes through two of them.
fn least_area(points: &[[f64; 2]]) -> f64 {
    let steps = points.iter().flat_map(|a| points.iter().map(|b| [b[0] - a[0], b[1] - a[1]]));
    let area = |[x, y]: [f64; 2]| {
        let length = |u: f64, v: f64| {
            let along = || points.iter().map(|point| (point[0] * u + point[1] * v) / x.hypot(y));
            along().fold(f64::NEG_INFINITY, f64::max) - along().fold(f64::INFINITY, f64::min)
        };
        length(x, y) * length(-y, x)
    };
    steps.filter(|step| *step != [0.0; 2]).map(area).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_rotated_box_is_the_smallest_rectangle_around_what_is_left_of_the_outline() {
    let of = |format| asked(moved(Outlined), &[("box_format", format)]).build().unwrap();
    let (loader, corners) = (of("xywhr"), of("xyxyxyxy"));
    let (batch, of_corners) = (first(&loader), first(&corners));
    let (objects, of_corners) = (batch.objects().unwrap(), of_corners.objects().unwrap());
    let mut at = 0;
    for &index in batch.indices() {
        let plan = loader.plan(0, index).unwrap().plan;
        for object in loader.objects(&plan).unwrap_or_default() {
            let [left, top, right, bottom] = object.bbox;
            let points: Vec<[f64; 2]> = match object.polygons.is_empty() {
                true => vec![[left, top], [right, top], [right, bottom], [left, bottom]],
                false => object.polygons.concat(),
            };
            let own =
                objects.rotated[5 * at..][..5].iter().map(|&number| f64::from(number)).collect::<Vec<_>>();
            let [x, y, width, height, angle] = own[..] else { panic!("no five numbers") };
            let least = least_area(&points);
            assert!((width * height - least).abs() < 1e-3 * least.max(1.0), "{index}: {own:?} and {least}");
            assert!((0.0..FRAC_PI_2).contains(&angle), "{angle}");
            let (sin, cos) = angle.sin_cos();
            for [px, py] in points {
                let (along, aside) = ((px - x) * cos + (py - y) * sin, (py - y) * cos - (px - x) * sin);
                assert!(along.abs() < width / 2.0 + 1e-3 && aside.abs() < height / 2.0 + 1e-3, "{index}");
            }
            let clockwise = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
            for (corner, [u, v]) in of_corners.rotated[8 * at..][..8].chunks(2).zip(clockwise) {
                let (along, aside) = (u * width / 2.0, v * height / 2.0);
                let want = [x + along * cos - aside * sin, y + along * sin + aside * cos];
                assert!((0..2).all(|axis| (f64::from(corner[axis]) - want[axis]).abs() < 1e-3), "{index}");
            }
            at += 1;
        }
    }
    assert!(at == objects.len() && at > 8);
    assert_eq!((objects.rotated.len(), of_corners.rotated.len()), (5 * at, 8 * at));
    assert_eq!(objects.boxes, of_corners.boxes);
}

/// One image of 80x40 pixels, in which lies a rectangle of 20x10 that is turned by 30 degrees, and an upright one.
fn obb() -> (tempfile::TempDir, Yolo) {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in [("images/a.png", png([5; 3], 80, 40)), ("labels/a.txt", label().into_bytes())] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let source = Yolo::open(folder.path()).unwrap();
    (folder, source)
}

/// A class and eight numbers, which begin at any corner.
fn label() -> String {
    let (sin, cos) = f64::to_radians(30.0).sin_cos();
    let corner =
        |(u, v): (f64, f64)| [40.0 + 10.0 * u * cos - 5.0 * v * sin, 20.0 + 10.0 * u * sin + 5.0 * v * cos];
    let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].map(corner);
    let words = corners.map(|[x, y]| format!(" {:.7} {:.7}", x / 80.0, y / 40.0)).concat();
    format!("3{words}\n1 0.1 0.25 0.25 0.25 0.25 0.75 0.1 0.75\n")
}

#[test]
fn label_files_of_oriented_boxes_give_them_back_and_a_turn_is_added_to_the_angle() {
    let read = |degrees: f64, options: &[(&str, &str)]| {
        let (_folder, source) = obb();
        let builder = Loader::builder(source)
            .augment(RandomRotation::new([degrees, degrees]))
            .augment(Resize::new(Extent::Two([40, 80])));
        let batch = first(&asked(builder, options).build().unwrap());
        let objects = batch.objects().unwrap();
        assert_eq!(objects.classes, [3, 1]);
        objects.rotated.clone()
    };
    let close = |got: &[f32], want: &[f64]| {
        assert!(
            got.iter().zip(want).all(|(got, want)| (f64::from(*got) - want).abs() < 1e-3),
            "{got:?}, {want:?}"
        );
    };
    let pixels = ("box_format", "xywhr");
    close(&read(0.0, &[pixels])[..5], &[40.0, 20.0, 20.0, 10.0, f64::to_radians(30.0)]);
    close(&read(0.0, &[pixels])[5..], &[14.0, 20.0, 12.0, 20.0, 0.0]);
    // torchvision turns the other way round than the angle counts: by 10 degrees it becomes 20, by 60 it is beyond 0.
    close(&read(10.0, &[pixels])[..5], &[40.0, 20.0, 20.0, 10.0, f64::to_radians(20.0)]);
    close(&read(60.0, &[pixels])[..5], &[40.0, 20.0, 10.0, 20.0, f64::to_radians(60.0)]);
    // As parts of the sample: each number by its axis, as Ultralytics has it, and the angle as it is in pixels.
    let parts = [pixels, ("box_unit", "normalized")];
    close(&read(0.0, &parts)[..5], &[0.5, 0.5, 0.25, 0.25, f64::to_radians(30.0)]);
    let corners = [("box_format", "xyxyxyxy"), ("box_unit", "normalized")];
    close(&read(0.0, &corners)[8..], &[0.1, 0.25, 0.25, 0.25, 0.25, 0.75, 0.1, 0.75]);
}

#[test]
fn boxes_as_a_tensor_have_as_many_numbers_as_their_format() {
    for (format, numbers) in [("xyxy", 4), ("xywhr", 5), ("xyxyxyxy", 8)] {
        let (_folder, source) = obb();
        let builder = Loader::builder(source).augment(Resize::new(Extent::Two([40, 80])));
        let batch = Arc::new(first(&asked(builder, &[("box_format", format)]).build().unwrap()));
        let tensor = batch.field_to_dlpack(Field::Boxes).unwrap();
        assert_eq!(tensor.shape(), [2, numbers], "{format}");
        assert!(format == "xyxy" || tensor.bytes() == 4 * batch.objects().unwrap().rotated.len());
    }
}
