//! Resampling in plain Rust: the oracle of the vector versions.

use super::{Axis, ImageView, Lines};

pub(super) fn horizontal(view: ImageView<'_>, columns: &Axis, middle: &mut [u8], stride: usize) {
    let height = view.size.height as usize;
    let round = 1i32 << (columns.precision - 1);
    for (y, out) in middle.chunks_exact_mut(stride).take(height).enumerate() {
        let row = &view.data[y * view.stride..];
        for (x, pixel) in out.chunks_exact_mut(3).take(columns.outputs).enumerate() {
            let weights = &columns.weights[x * columns.stride..][..columns.stride];
            let taps = row[columns.starts[x] as usize * 3..].chunks_exact(3);
            let mut sums = [round; 3];
            for (weight, tap) in weights.iter().zip(taps) {
                for (sum, level) in sums.iter_mut().zip(tap) {
                    *sum += i32::from(*weight) * i32::from(*level);
                }
            }
            for (level, sum) in pixel.iter_mut().zip(sums) {
                *level = (sum >> columns.precision).clamp(0, 255) as u8;
            }
        }
    }
}

pub(super) fn vertical(lines: Lines<'_>, weights: &[i16], precision: u32, row: &mut [u8]) {
    let round = 1i32 << (precision - 1);
    for (x, level) in row.iter_mut().enumerate() {
        let taps = weights.iter().enumerate();
        let sum: i32 = taps.map(|(j, &w)| i32::from(w) * i32::from(lines.data[j * lines.stride + x])).sum();
        *level = ((sum + round) >> precision).clamp(0, 255) as u8;
    }
}
