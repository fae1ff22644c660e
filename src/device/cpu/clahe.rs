//! Contrast-limited adaptive histogram equalization of the lightness, with OpenCV's arithmetic.
//!
//! Each tile of the image has a table from old to new lightness; a pixel's is between those of the four tiles around it.

use super::image_view::{Canvas, ImageView};
use super::neighbours::reflected;
use crate::device::lab::{LabTables, TABLES};
use crate::device::tiling::Tiling;

/// Equalizes all of `from` into `to`.
pub(super) fn equalized(from: ImageView<'_>, to: &mut Canvas, tiling: &Tiling) {
    let lab: &LabTables = &TABLES;
    let [across, down] = tiling.tiles.map(|count| count as usize);
    let tables: Vec<[u8; 256]> =
        (0..across * down).map(|at| table(from, tiling, [at % across, at / across], lab)).collect();
    let stride = to.stride();
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        let (rows, below) = between(y, tiling.tile[1], down);
        let above = 1.0 - below;
        for (x, (to, rgb)) in out.chunks_exact_mut(3).zip(from.row(y).chunks_exact(3)).enumerate() {
            let (columns, right) = between(x, tiling.tile[0], across);
            let left = 1.0 - right;
            let [lightness, a, b] = lab.lab_of([rgb[0], rgb[1], rgb[2]]);
            let [top, bottom] = rows.map(|row| {
                let [first, second] =
                    columns.map(|column| f32::from(tables[row * across + column][usize::from(lightness)]));
                first * left + second * right
            });
            let level = (top * above + bottom * below).round_ties_even();
            to.copy_from_slice(&lab.rgb_of([level as u8, a, b]));
        }
    }
}

/// The two tiles around a position along one axis, and how far it is from the first to the second.
fn between(at: usize, edge: u32, tiles: usize) -> ([usize; 2], f32) {
    let place = at as f32 * (1.0 / edge as f32) - 0.5;
    let first = place.floor();
    ([first.max(0.0) as usize, ((first as i32 + 1) as usize).min(tiles - 1)], place - first)
}

/// What a tile makes of each lightness.
fn table(from: ImageView<'_>, tiling: &Tiling, tile: [usize; 2], lab: &LabTables) -> [u8; 256] {
    let [width, height] = tiling.tile.map(|edge| edge as usize);
    let (left, top) = ((tile[0] * width) as isize, (tile[1] * height) as isize);
    let mut counts = [0u32; 256];
    for y in 0..height as isize {
        let row = from.row(reflected(top + y, from.size.height as usize));
        for x in 0..width as isize {
            let at = reflected(left + x, from.size.width as usize) * 3;
            counts[usize::from(lab.lightness([row[at], row[at + 1], row[at + 2]]))] += 1;
        }
    }
    limit(&mut counts, tiling.limit);
    let mut sum = 0;
    counts.map(|count| {
        sum += count;
        (sum as f32 * tiling.scale).round_ties_even() as u8
    })
}

/// Cuts counts off, gives what was above the limit to all alike, and the rest to levels that are evenly apart.
fn limit(counts: &mut [u32; 256], limit: u32) {
    let above: u32 = counts.iter().map(|count| count.saturating_sub(limit)).sum();
    let (each, rest) = (above / 256, above as usize % 256);
    counts.iter_mut().for_each(|count| *count = (*count).min(limit) + each);
    if let Some(step) = 256usize.checked_div(rest) {
        counts.iter_mut().step_by(step).take(rest).for_each(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::limit;

    #[test]
    fn what_is_above_the_limit_is_given_to_all_and_the_rest_apart() {
        let mut counts = [0; 256];
        (counts[7], counts[9]) = (700, 3);
        limit(&mut counts, 100);
        // 600 are above: two for each, and 88 left, for every second level.
        assert_eq!((counts[0], counts[1], counts[2], counts[7], counts[9]), (3, 2, 3, 102, 5));
        assert_eq!((counts[174], counts[176], counts.iter().sum::<u32>()), (3, 2, 703));
    }
}
