//! Any bytes as a YOLO label file: no panic, and what is taken for an object lies in the image and has a size.
//!
//! The first byte chooses between boxes with polygons and boxes with keypoints; the rest is the file.
#![no_main]

mod scratch;

use feedline::label::Label;
use feedline::source::{OnBadLabel, Source, Yolo};
use libfuzzer_sys::fuzz_target;

const KINDS: [&str; 3] = ["names: [a, b, c]\n", "kpt_shape: [2, 3]\n", "kpt_shape: [3, 2]\nnc: 5\n"];

fuzz_target!(|input: &[u8]| {
    let Some((&choice, text)) = input.split_first() else { return };
    let kind = usize::from(choice) % KINDS.len();
    let yaml = scratch::write(&format!("{kind}.yaml"), format!("train: images\n{}", KINDS[kind]).as_bytes());
    scratch::write("images/a.jpg", b"");
    scratch::write("labels/a.txt", text);
    let Ok(source) = Yolo::options().on_bad_label(OnBadLabel::SkipObject).open(yaml) else {
        panic!("bad labels are skipped, so opening succeeds");
    };
    let Label::Objects(objects) = source.label(0) else { panic!("a label of another kind") };
    assert_eq!(objects.list.len() as u64, source.report().objects);
    let inside = |value: f32| (0.0..=1.0).contains(&value);
    for object in &objects.list {
        let [left, top, right, bottom] = object.bbox;
        assert!([left, top, right, bottom].into_iter().all(inside) && left < right && top < bottom);
        assert!(object.polygons.iter().all(|polygon| polygon.len() >= 3));
        assert!(object.polygons.iter().flatten().flatten().all(|&value| inside(value)));
        assert!(object.keypoints.iter().all(|point| inside(point.x) && inside(point.y)));
        assert_eq!(object.keypoints.len(), [0, 2, 3][kind]);
    }
});
