//! A COCO mask of any run lengths: no panic, and filling its polygons by the even-odd rule gives the mask back.
//!
//! The first two bytes choose height and width, and whether the rest is a list of run lengths or a compressed string.
#![no_main]

mod scratch;

use feedline::label::Label;
use feedline::source::{Coco, OnBadLabel, Source};
use libfuzzer_sys::fuzz_target;

/// The objects' polygons, of a mask of `height` x `width` pixels.
fn polygons(height: usize, width: usize, counts: &str) -> Vec<Vec<[f32; 2]>> {
    scratch::write("a.jpg", b"");
    let json = format!(
        r#"{{"images": [{{"id": 1, "file_name": "a.jpg", "width": {width}, "height": {height}}}],
        "categories": [{{"id": 1, "name": "a"}}], "annotations": [{{"id": 1, "image_id": 1, "category_id": 1,
        "segmentation": {{"size": [{height}, {width}], "counts": {counts}}}}}]}}"#
    );
    let file = scratch::write("rle.json", json.as_bytes());
    let source = Coco::options().on_bad_label(OnBadLabel::SkipObject).open(file, scratch::folder());
    let source = source.expect("bad masks are skipped, so opening succeeds");
    let Label::Objects(objects) = source.label(0) else { panic!("a label of another kind") };
    objects.list.first().map_or_else(Vec::new, |object| object.polygons.clone())
}

/// Whether the middle of a pixel is inside of an odd number of the polygons.
fn is_inside(polygons: &[Vec<[f32; 2]>], x: usize, y: usize) -> bool {
    let (x, y) = (x as f32 + 0.5, y as f32 + 0.5);
    let edges = polygons.iter().flat_map(|polygon| polygon.iter().zip(polygon.iter().cycle().skip(1)));
    let crossed = edges
        .filter(|([ax, ay], [bx, by])| (*ay > y) != (*by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax);
    crossed.count() % 2 == 1
}

fuzz_target!(|input: &[u8]| {
    let &[high, wide, ref rest @ ..] = input else { return };
    let (height, width) = (1 + usize::from(high & 15), 1 + usize::from(wide & 15));
    if high & 128 != 0 {
        let text: String = rest.iter().map(|byte| (48 + byte % 66) as char).collect();
        polygons(height, width, &serde_json::to_string(&text).expect("a string"));
        return;
    }
    // As many runs as fill the mask.
    let (mut runs, mut mask) = (Vec::new(), Vec::new());
    for (at, &run) in rest.iter().enumerate() {
        let run = usize::from(run).min(height * width - mask.len());
        runs.push(run);
        mask.extend(std::iter::repeat_n(at % 2 == 1, run));
    }
    runs.push(height * width - mask.len());
    mask.resize(height * width, runs.len() % 2 == 0);
    let found = polygons(height, width, &format!("{runs:?}"));
    for (at, is_object) in mask.into_iter().enumerate() {
        assert_eq!(is_inside(&found, at / height, at % height), is_object, "{runs:?}, pixel {at}");
    }
});
