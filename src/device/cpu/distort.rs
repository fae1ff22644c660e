//! Distorted images: each pixel looked up where a distortion says, with the whole numbers of OpenCV's `remap`.

use super::image_view::{Canvas, ImageView};
use crate::plan::distortion::Lookup;

/// Positions are whole multiples of this part of a pixel.
const PARTS: i32 = 32;
/// Nothing is seen as far away as this; any position fits.
const FAR: f32 = 1e7;

pub(super) fn distorted(from: ImageView<'_>, to: &mut Canvas, lookup: &Lookup, nearest: bool, fill: [u8; 3]) {
    let stride = to.stride();
    let mut places = vec![[0.0; 2]; from.size.width as usize];
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        lookup.row(y as u32, &mut places);
        for (pixel, place) in out.as_chunks_mut().0.iter_mut().zip(&places) {
            *pixel = match nearest {
                true => {
                    let [x, y] = place.map(whole);
                    tap(from, fill, x, y)
                }
                false => between(from, fill, place.map(|at| whole(at * PARTS as f32))),
            };
        }
    }
}

/// The nearest whole number, of two the even one.
#[expect(clippy::manual_clamp, reason = "what is no number becomes an edge")]
fn whole(at: f32) -> i32 {
    at.max(-FAR).min(FAR).round_ties_even() as i32
}

/// A pixel of the image, or the fill.
fn tap(from: ImageView<'_>, fill: [u8; 3], x: i32, y: i32) -> [u8; 3] {
    if x < 0 || y < 0 || x as u32 >= from.size.width || y as u32 >= from.size.height {
        return fill;
    }
    let at = x as usize * 3;
    let row = from.row(y as usize);
    [row[at], row[at + 1], row[at + 2]]
}

/// What the four pixels around a position in parts weigh together.
fn between(from: ImageView<'_>, fill: [u8; 3], [x, y]: [i32; 2]) -> [u8; 3] {
    let (left, top) = (x.div_euclid(PARTS), y.div_euclid(PARTS));
    let (right, below) = (x.rem_euclid(PARTS) as u32, y.rem_euclid(PARTS) as u32);
    let parts = PARTS as u32;
    let taps = [
        (tap(from, fill, left, top), (parts - right) * (parts - below)),
        (tap(from, fill, left + 1, top), right * (parts - below)),
        (tap(from, fill, left, top + 1), (parts - right) * below),
        (tap(from, fill, left + 1, top + 1), right * below),
    ];
    let whole = parts * parts;
    [0, 1, 2].map(|channel| {
        let sum: u32 = taps.iter().map(|(levels, weight)| u32::from(levels[channel]) * weight).sum();
        ((sum + whole / 2) / whole) as u8
    })
}
