//! Marks on a small picture: masks, outlines, boxes and keypoints of objects, and the names of their classes.

use super::sheet::{Picture, Rgb};
use super::{caption, font};
use feedline::geometry::Size;
use feedline::options::IGNORED;
use feedline::plan::label_apply::TransformedObject;

/// Colours of classes, in turn, as red, green, blue; neighbours are far from each other.
const COLOURS: [u32; 10] =
    [0xe63232, 0x28aa46, 0x285ae6, 0xfaa014, 0xa03cd2, 0x0abec8, 0xf046aa, 0x8c8c0a, 0x825028, 0x5a6482];
const WHITE: Rgb = [255; 3];
const PIXEL: Size = Size::new(1, 1);
/// How much of a mask's colour is laid over the picture, in 256ths.
const MASK: u32 = 90;
/// Most steps of a line: beyond it lies no picture.
const MAX_STEPS: f64 = 4096.0;
/// Beyond it, either way, lies no picture; sums of numbers within do not overflow.
const FAR: f64 = 1e6;

/// Draws objects, whose coordinates are the picture's pixels; a class without a name shows its number.
pub(super) fn draw(picture: &mut Picture, objects: &[TransformedObject], names: &[String]) {
    // Masks below all lines, names above them.
    for object in objects {
        fill(picture, &object.polygons, colour(object.class));
    }
    for object in objects {
        let colour = colour(object.class);
        object.polygons.iter().for_each(|polygon| outline(picture, polygon, colour));
        match object.rotated {
            Some(rotated) => outline(picture, &rotated.corners, colour),
            None => frame(picture, object.bbox, colour),
        }
        object.keypoints.iter().for_each(|keypoint| dot(picture, *keypoint, colour));
    }
    for object in objects {
        let number = object.class.to_string();
        let name = usize::try_from(object.class).ok().and_then(|class| names.get(class)).unwrap_or(&number);
        label(picture, object.bbox, name, colour(object.class));
    }
}

/// Lays the colours of a mask's classes over the picture, which may be smaller than the mask.
pub(super) fn lay(picture: &mut Picture, mask: Option<Vec<u8>>, size: Size) {
    let Some(mask) = mask else { return };
    let Size { width, height } = picture.size;
    let nearest = |at: u32, of: u32, to: u32| (u64::from(at) * u64::from(to) / u64::from(of.max(1))) as usize;
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let at = nearest(y, height, size.height) * size.width as usize + nearest(x, width, size.width);
        if let Some(&class) = mask.get(at).filter(|&&class| class != IGNORED) {
            picture.tint(x, y, colour(class.into()), MASK);
        }
    }
}

fn colour(class: i64) -> Rgb {
    let [_, rgb @ ..] = COLOURS[class.rem_euclid(COLOURS.len() as i64) as usize].to_be_bytes();
    rgb
}

/// Lays a colour over the pixels whose middle is inside of an odd number of outlines.
fn fill(picture: &mut Picture, polygons: &[Vec<[f64; 2]>], colour: Rgb) {
    for y in 0..picture.size.height {
        let middle = f64::from(y) + 0.5;
        let mut crossings: Vec<f64> =
            polygons.iter().flat_map(|polygon| crossings(polygon, middle)).collect();
        crossings.sort_by(f64::total_cmp);
        for pair in crossings.chunks_exact(2) {
            let [from, to] =
                [pair[0], pair[1]].map(|x| (x - 0.5).ceil().clamp(0.0, f64::from(picture.size.width)));
            for x in from as u32..to as u32 {
                picture.tint(x, y, colour, MASK);
            }
        }
    }
}

/// Where the polygon's edges cross the row.
fn crossings(polygon: &[[f64; 2]], row: f64) -> impl Iterator<Item = f64> {
    let crossed = edges(polygon).filter(move |([_, y0], [_, y1])| (*y0 <= row) != (*y1 <= row));
    crossed.map(move |([x0, y0], [x1, y1])| x0 + (row - y0) / (y1 - y0) * (x1 - x0))
}

/// Each point with the one behind it, the last with the first.
fn edges(polygon: &[[f64; 2]]) -> impl Iterator<Item = ([f64; 2], [f64; 2])> {
    polygon.iter().zip(polygon.iter().cycle().skip(1)).map(|(a, b)| (*a, *b))
}

fn outline(picture: &mut Picture, polygon: &[[f64; 2]], colour: Rgb) {
    for ([x0, y0], [x1, y1]) in edges(polygon) {
        let steps = (x1 - x0).abs().max((y1 - y0).abs()).ceil().clamp(1.0, MAX_STEPS);
        for step in 0..=steps as u32 {
            let part = f64::from(step) / steps;
            let at = [x0 + part * (x1 - x0), y0 + part * (y1 - y0)].map(|along| whole(along.floor()));
            picture.fill(at, PIXEL, colour);
        }
    }
}

/// The pixels of a box: its last ones lie just inside of its right and lower edge.
fn pixels_of([left, top, right, bottom]: [f64; 4]) -> [i64; 4] {
    let (left, top) = (whole(left.floor()), whole(top.floor()));
    [left, top, (whole(right.ceil()) - 1).max(left), (whole(bottom.ceil()) - 1).max(top)]
}

fn whole(value: f64) -> i64 {
    value.clamp(-FAR, FAR) as i64
}

fn frame(picture: &mut Picture, bbox: [f64; 4], colour: Rgb) {
    let [left, top, right, bottom] = pixels_of(bbox);
    let (across, down) = (Size::new((right - left + 1) as u32, 1), Size::new(1, (bottom - top + 1) as u32));
    for (at, size) in
        [([left, top], across), ([left, bottom], across), ([left, top], down), ([right, top], down)]
    {
        picture.fill(at, size, colour);
    }
}

/// A keypoint: white, so that it is seen on its own mask, with its class's colour inside where it is hidden; none where it
/// is not labelled.
fn dot(picture: &mut Picture, [x, y, visibility]: [f64; 3], colour: Rgb) {
    if visibility <= 0.0 {
        return;
    }
    let [x, y] = [x, y].map(|at| whole(at.floor()));
    picture.fill([x - 1, y - 1], Size::new(3, 3), WHITE);
    if visibility < 2.0 {
        picture.fill([x, y], PIXEL, colour);
    }
}

/// A name on its class's colour, in the box's left top corner, moved into the picture where it would hang over.
fn label(picture: &mut Picture, bbox: [f64; 4], name: &str, colour: Rgb) {
    let [left, top, right, bottom] = pixels_of(bbox);
    let letters = name.chars().count() as u32;
    // The small letters hide less of a small box.
    let large = Size::new(letters * caption::ADVANCE + 2, caption::ROWS);
    let is_large = i64::from(large.width) <= right - left && i64::from(2 * large.height) <= bottom - top;
    let size = if is_large { large } else { Size::new(letters * font::ADVANCE + 1, font::ROWS + 2) };
    let into = |at: i64, length: u32, edge: u32| at.min(i64::from(edge) - i64::from(length)).max(0);
    let (x, y) = (into(left, size.width, picture.size.width), into(top, size.height, picture.size.height));
    picture.fill([x, y], size, colour);
    match is_large {
        true => picture.write([x + 1, y], name, WHITE),
        false => picture.write_small([x + 1, y + 1], name, WHITE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feedline::draft::Draft;
    use feedline::geometry::Orientation;
    use feedline::label::{Keypoint, Object, Objects};
    use std::sync::Arc;

    const SIZE: Size = Size::new(20, 12);

    fn drawn(object: Object, names: &[String]) -> Picture {
        let objects = Objects { list: vec![object], ..Objects::default() };
        let seen = Draft::new(0, SIZE, Orientation::UPRIGHT).with_objects(Arc::new(objects)).objects();
        let mut picture = Picture { size: SIZE, rgb: vec![0; 3 * 20 * 12] };
        draw(&mut picture, &seen, names);
        picture
    }

    /// Rows of letters: a dot where the picture is black, `#` in the first class's colour, `+` for a mask, `w` for white.
    fn letters(picture: &Picture) -> Vec<String> {
        let letter = |pixel: &[u8]| match pixel {
            [0, 0, 0] => '.',
            pixel if pixel == WHITE => 'w',
            pixel if pixel == colour(0) => '#',
            _ => '+',
        };
        picture.rgb.chunks(60).map(|row| row.chunks(3).map(letter).collect()).collect()
    }

    #[test]
    fn a_box_is_framed_by_its_outermost_pixels_and_named_in_its_corner() {
        let rows =
            letters(&drawn(Object { bbox: [4.0, 1.0, 16.0, 11.0], ..Object::default() }, &["IL".to_owned()]));
        let want = [
            "....................",
            "....############....",
            "....#www#w###..#....",
            "....##w##w###..#....",
            "....##w##w###..#....",
            "....##w##w###..#....",
            "....#www#www#..#....",
            "....#########..#....",
            "....#..........#....",
            "....#..........#....",
            "....############....",
            "....................",
        ];
        assert_eq!(rows, want);
    }

    #[test]
    fn a_mask_covers_the_pixels_whose_middle_is_inside() {
        let square = vec![[2.0, 2.0], [8.0, 2.0], [8.0, 7.0], [2.0, 7.0]];
        let hole = vec![[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]];
        let mut picture = Picture { size: SIZE, rgb: vec![0; 3 * 20 * 12] };
        let polygons = [square, hole].map(|polygon: Vec<[f64; 2]>| polygon);
        fill(&mut picture, &polygons, colour(0));
        let rows = letters(&picture);
        assert_eq!(
            rows.iter().map(|row| row.matches('+').count()).collect::<Vec<_>>(),
            [0, 0, 6, 6, 4, 4, 6, 0, 0, 0, 0, 0]
        );
        assert_eq!(rows[4], "..++..++............");
    }

    #[test]
    fn the_classes_of_a_larger_mask_are_laid_over_the_picture_and_the_ignored_one_is_not() {
        let mut picture = Picture { size: Size::new(4, 2), rgb: vec![0; 24] };
        let mask = (0..4u8).flat_map(|row| [row, row, 1, 1, IGNORED, IGNORED, 0, 0]).collect();
        lay(&mut picture, Some(mask), Size::new(8, 4));
        let tinted = |class: i64| colour(class).map(|level| (u32::from(level) * MASK / 256) as u8);
        let rows: Vec<[u8; 3]> = picture.rgb.chunks(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
        let close = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 1);
        let want = [tinted(0), tinted(1), [0; 3], tinted(0), tinted(2), tinted(1), [0; 3], tinted(0)];
        assert!(rows.iter().zip(want).all(|(got, want)| close(*got, want)), "{rows:?} and not {want:?}");
        lay(&mut picture, None, Size::new(8, 4));
    }

    #[test]
    fn what_lies_outside_of_the_picture_is_left_out() {
        let keypoints = vec![
            Keypoint { x: 10.0, y: 6.0, visibility: 1.0 },
            Keypoint { x: 1e9, y: -5.0, visibility: 2.0 },
        ];
        let polygons = vec![vec![[-1e6, 3.0], [1e6, 3.0], [5.0, f32::NAN]]];
        let far = Object { bbox: [-1e9, -5.0, 1e9, 1e9], keypoints, polygons, ..Object::default() };
        let picture = drawn(far, &["a name that is far too long for the picture".to_owned()]);
        assert_eq!(picture.rgb.len(), 3 * 20 * 12);
        let rows = letters(&drawn(
            Object { keypoints: vec![Keypoint { x: 10.0, y: 6.0, visibility: 1.0 }], ..Object::default() },
            &[String::new()],
        ));
        assert_eq!([&rows[5][9..12], &rows[6][9..12], &rows[7][9..12]], ["www", "w#w", "www"]);
    }

    #[test]
    fn numbers_beyond_all_integers_are_drawn_as_nothing() {
        let mut picture = Picture { size: SIZE, rgb: vec![0; 3 * 20 * 12] };
        let ends = [f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY];
        for (a, b) in ends.iter().flat_map(|a| ends.map(|b| (*a, b))) {
            dot(&mut picture, [a, b, 2.0], colour(0));
            outline(&mut picture, &[[a, 3.0], [b, 3.0], [5.0, a]], colour(0));
        }
        assert!(letters(&picture).iter().all(|row| !row.contains('w')));
        for (a, b) in ends.iter().flat_map(|a| ends.map(|b| (*a, b))) {
            frame(&mut picture, [a, b, b, a], colour(0));
            label(&mut picture, [a, a, b, b], "name", colour(0));
        }
    }
}
