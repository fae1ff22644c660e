//! Filters of what lies around each pixel: means, medians and weighted sums.

use super::image_view::{Canvas, ImageView};
use super::interleave::with_level;
use crate::simd::Level;

/// What stands for a pixel beyond an edge.
#[derive(Clone, Copy)]
enum Beyond {
    /// The pixel as far on the other side of the outermost one.
    Mirrored,
    /// The outermost one.
    Repeated,
}

impl Beyond {
    #[inline(always)]
    fn place(self, at: isize, length: usize) -> usize {
        match self {
            Beyond::Mirrored => reflected(at, length),
            Beyond::Repeated => at.clamp(0, length as isize - 1) as usize,
        }
    }
}

/// A position however far beyond an edge, mirrored at the outermost pixels.
#[inline(always)]
pub(super) fn reflected(at: isize, length: usize) -> usize {
    if length == 1 {
        return 0;
    }
    let at = at.unsigned_abs() % (2 * (length - 1));
    if at < length { at } else { 2 * (length - 1) - at }
}

/// The rows around one row of an image, wider by what lies beyond the edges; each is widened once.
struct Rows<'a> {
    from: ImageView<'a>,
    kernel: [usize; 2],
    beyond: Beyond,
    lines: Vec<Vec<u8>>,
    /// Which row each line holds.
    held: Vec<usize>,
}

impl<'a> Rows<'a> {
    fn new(from: ImageView<'a>, kernel: [usize; 2], beyond: Beyond) -> Self {
        let bytes = (from.size.width as usize + kernel[0] - 1) * 3;
        Self {
            from,
            kernel,
            beyond,
            lines: vec![vec![0; bytes]; kernel[1]],
            held: vec![usize::MAX; kernel[1]],
        }
    }

    /// The row at `tap` rows from the window's first, of the window round row `y`.
    #[inline(always)]
    fn line(&mut self, y: usize, tap: usize) -> &[u8] {
        let [columns, rows] = self.kernel;
        let height = self.from.size.height as usize;
        let row = self.beyond.place(y as isize + tap as isize - (rows / 2) as isize, height);
        let slot = row % rows;
        if self.held[slot] != row {
            self.held[slot] = row;
            let (source, width) = (self.from.row(row), self.from.size.width as usize);
            for (x, pixel) in self.lines[slot].chunks_exact_mut(3).enumerate() {
                let from = self.beyond.place(x as isize - (columns / 2) as isize, width) * 3;
                pixel.copy_from_slice(&source[from..from + 3]);
            }
        }
        &self.lines[slot]
    }
}

/// The rounded mean of a window of odd edges.
pub(super) fn mean(from: ImageView<'_>, to: &mut Canvas, kernel: [u32; 2], level: Level) {
    let kernel = kernel.map(|edge| edge as usize);
    with_level!(level, mean_of(Rows::new(from, kernel, Beyond::Mirrored), to));
}

#[inline(always)]
fn mean_of(mut rows: Rows<'_>, to: &mut Canvas) {
    let ([columns, count], stride) = (rows.kernel, to.stride());
    let area = (columns * count) as f32;
    let mut down = vec![0u32; stride + (columns - 1) * 3];
    let mut sums = vec![0u32; stride];
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        down.fill(0);
        for tap in 0..count {
            down.iter_mut().zip(rows.line(y, tap)).for_each(|(sum, &level)| *sum += u32::from(level));
        }
        sums.fill(0);
        for tap in 0..columns {
            sums.iter_mut().zip(&down[tap * 3..]).for_each(|(sum, part)| *sum += part);
        }
        // A sum is never half way between two levels, and no quotient is as near to that as its rounding.
        for (level, &sum) in out.iter_mut().zip(&sums) {
            *level = (sum as f32 / area + 0.5) as u8;
        }
    }
}

/// The median of a square of odd edges, at most 15.
pub(super) fn median(from: ImageView<'_>, to: &mut Canvas, edge: u32, level: Level) {
    let edge = edge as usize;
    with_level!(level, median_of(Rows::new(from, [edge; 2], Beyond::Repeated), to));
}

/// The greatest level that more than half of the window reach, bit by bit.
#[inline(always)]
fn median_of(mut rows: Rows<'_>, to: &mut Canvas) {
    let ([edge, _], stride) = (rows.kernel, to.stride());
    let half = (edge * edge / 2) as u8;
    let (mut reached, mut wanted) = (vec![0u8; stride], vec![0u8; stride]);
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        out.fill(0);
        for bit in [128, 64, 32, 16, 8, 4, 2, 1] {
            reached.fill(0);
            wanted.iter_mut().zip(&*out).for_each(|(wanted, found)| *wanted = found | bit);
            for tap in 0..edge * edge {
                let line = &rows.line(y, tap / edge)[tap % edge * 3..];
                let levels = line.iter().zip(&wanted);
                for (count, (level, wanted)) in reached.iter_mut().zip(levels) {
                    *count += u8::from(level >= wanted);
                }
            }
            for ((found, &wanted), &count) in out.iter_mut().zip(&wanted).zip(&reached) {
                *found = if count > half { wanted } else { *found };
            }
        }
    }
}

/// Sums of the window's levels times `weights`, row by row in f32, rounded at the end.
pub(super) fn weighed(from: ImageView<'_>, to: &mut Canvas, kernel: [u32; 2], weights: &[f32], level: Level) {
    let kernel = kernel.map(|edge| edge as usize);
    with_level!(level, weighed_of(Rows::new(from, kernel, Beyond::Mirrored), to, weights));
}

#[inline(always)]
fn weighed_of(mut rows: Rows<'_>, to: &mut Canvas, weights: &[f32]) {
    let ([columns, _], stride) = (rows.kernel, to.stride());
    let mut sums = vec![0f32; stride];
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        sums.fill(0.0);
        for (tap, &weight) in weights.iter().enumerate() {
            // A sum stays what it is without it.
            if weight == 0.0 {
                continue;
            }
            let line = &rows.line(y, tap / columns)[tap % columns * 3..];
            for (sum, &level) in sums.iter_mut().zip(line) {
                *sum = f32::from(level).mul_add(weight, *sum);
            }
        }
        for (level, sum) in out.iter_mut().zip(&sums) {
            *level = sum.round_ties_even() as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::reflected;

    #[test]
    fn positions_are_mirrored_at_the_outermost_pixels_as_often_as_needed() {
        let of_three: Vec<usize> = (-5..8).map(|at| reflected(at, 3)).collect();
        assert_eq!(of_three, [1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]);
        assert_eq!([reflected(-7, 1), reflected(3, 1)], [0, 0]);
    }
}
