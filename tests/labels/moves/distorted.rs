//! Boxes and outlines under distortions: against the pixels that they hold.

use super::naive::Thing;
use super::{any_distortion, labelled};
use feedline::device::cpu::Renderer;
use feedline::draft::Draft;
use feedline::geometry::{Orientation, Size};
use feedline::image::Image;
use feedline::output::{DType, Layout, Output};
use feedline::rng::{Draws, Rng};

/// A black image with a white rectangle.
fn with_rectangle(size: Size, [left, top, right, bottom]: [u32; 4]) -> Image {
    let mut image = Image::default();
    image.reset(size, size.rect());
    for y in top..bottom {
        let row = y as usize * image.stride;
        image.data[row + left as usize * 3..row + right as usize * 3].fill(255);
    }
    image
}

/// The box around all pixels that are more white than black, and how many they are.
fn bright(levels: &[u8], size: Size) -> ([f64; 4], f64) {
    let (mut around, mut count) = ([f64::INFINITY, f64::INFINITY, 0.0f64, 0.0f64], 0.0);
    for (at, pixel) in levels.chunks_exact(3).enumerate().filter(|(_, pixel)| pixel[0] > 127) {
        assert_eq!(pixel[0], pixel[1]);
        let [x, y] = [at % size.width as usize, at / size.width as usize].map(|at| at as f64);
        around = [around[0].min(x), around[1].min(y), around[2].max(x + 1.0), around[3].max(y + 1.0)];
        count += 1.0;
    }
    (around, count)
}

/// The area of any outline, by the shoelace formula.
fn area(outline: &[[f64; 2]]) -> f64 {
    let next = outline.iter().cycle().skip(1);
    (outline.iter().zip(next).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum::<f64>() / 2.0).abs()
}

#[test]
fn a_box_holds_the_pixels_that_it_held_and_an_outline_as_many() {
    for case in 0..300 {
        let mut rng = Rng::new(51, 0, case, 0);
        let size = Size::new(100 + rng.below(100), 100 + rng.below(100));
        let [left, top] = [size.width, size.height].map(|edge| 15 + rng.below(edge / 2 - 20));
        let [right, bottom] =
            [left + 10 + rng.below(size.width / 2 - 20), top + 10 + rng.below(size.height / 2 - 20)];
        let bbox = [left, top, right, bottom];
        let [l, t, r, b] = bbox.map(f64::from);
        let thing =
            Thing { bbox: [l, t, r, b], polygon: vec![[l, t], [r, t], [r, b], [l, b]], points: Vec::new() };
        let mut draft = Draft::new(0, size, Orientation::UPRIGHT).with_objects(labelled(&[thing]));
        draft.apply(any_distortion(&mut rng));
        let (seen, ops) = (draft.objects(), draft.ops().to_vec());
        let output = Output { size, dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
        let mut levels = vec![0; output.sample_bytes()];
        let images = [with_rectangle(size, bbox)];
        Renderer::default().render(&draft.freeze().unwrap(), &images, &output, &mut levels).unwrap();
        let (around, count) = bright(&levels, size);
        for (got, want) in seen[0].bbox.iter().zip(around) {
            assert!(
                (got - want).abs() < 2.0,
                "case {case}: {:?}, not {around:?}, after {ops:?}",
                seen[0].bbox
            );
        }
        let outlined: f64 = seen[0].polygons.iter().map(|outline| area(outline)).sum();
        let edges = 2.0 * (r - l + b - t);
        assert!(
            (outlined - count).abs() < 0.6 * edges,
            "case {case}: an area of {outlined}, not {count}, after {ops:?}"
        );
    }
}

#[test]
fn two_distorted_samples_that_are_mixed_move_each_by_its_own() {
    let size = Size::new(90, 60);
    let one = |number: u64, k: f64| {
        let thing = Thing { bbox: [10.0, 10.0, 20.0, 20.0], polygon: Vec::new(), points: Vec::new() };
        let mut draft = Draft::new(number, size, Orientation::UPRIGHT).with_objects(labelled(&[thing]));
        let op = format!(r#"{{"op": "optical_distortion", "k": {k}}}"#);
        draft.apply(serde_json::from_str(&op).unwrap());
        draft
    };
    let [first, second] = [(0, 0.9), (1, -0.3)].map(|(number, k)| one(number, k));
    let alone = [first.objects()[0].bbox, second.objects()[0].bbox];
    let mut mixed = first;
    mixed.blend(second, 0.5, size.rect(), 0.5).unwrap();
    let both: Vec<[f64; 4]> = mixed.objects().iter().map(|seen| seen.bbox).collect();
    assert_eq!(both, alone);
    assert_ne!(both[0], both[1]);
}
