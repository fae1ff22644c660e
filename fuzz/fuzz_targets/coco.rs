//! Any bytes as COCO annotations: no panic, and what is taken for an object has numbers, a size and a class.
#![no_main]

mod scratch;

use feedline::label::Label;
use feedline::source::{Coco, OnBadLabel, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // The image of the seeds.
    scratch::write("a.jpg", b"");
    let file = scratch::write("coco.json", input);
    let Ok(source) = Coco::options().on_bad_label(OnBadLabel::SkipObject).open(file, scratch::folder())
    else {
        return;
    };
    let mut objects = 0;
    for index in 0..source.len() {
        let Label::Objects(of_image) = source.label(index) else { panic!("a label of another kind") };
        objects += of_image.list.len() as u64;
        for object in &of_image.list {
            let [left, top, right, bottom] = object.bbox;
            assert!(left < right && top < bottom && (right - left).is_finite() && (bottom - top).is_finite());
            assert!(usize::try_from(object.class).is_ok_and(|class| class < source.classes().len()));
            assert!(object.polygons.iter().all(|polygon| polygon.len() >= 3));
            assert!(object.polygons.iter().flatten().flatten().all(|value| value.is_finite()));
        }
    }
    assert_eq!(objects, source.report().objects);
});
