//! Filters of canvases, and how sharpness and a Gaussian blur are made.

use super::grain::{self, Factors, Grain};
use super::image_view::{Canvas, ImageView};
use super::interleave::with_level;
use super::sensor::{self, SensorNoise};
use super::{clahe, compress, distort, neighbours};
use crate::device::gaussian;
use crate::device::tiling::Tiling;
use crate::plan::distortion::Lookup;
use crate::plan::{CanvasFilter, Plan};
use crate::simd::Level;

/// Filters all of `from` into `to`, with those of the plan's weights and distortions that the filter names.
pub(crate) fn run(filter: &CanvasFilter, plan: &Plan, from: ImageView<'_>, to: &mut Canvas, level: Level) {
    to.reset(from.size);
    match *filter {
        CanvasFilter::Sharpness { amount } => with_level!(level, sharpen(from, to, amount)),
        CanvasFilter::Gaussian { kernel: [columns, rows], sigma: [x, y] } => {
            let across = gaussian::weights(columns as usize, x);
            let down = gaussian::weights(rows as usize, y);
            with_level!(level, blur(from, to, &across, &down));
        }
        CanvasFilter::Mean { kernel } => neighbours::mean(from, to, kernel, level),
        CanvasFilter::Median { edge } => neighbours::median(from, to, edge, level),
        CanvasFilter::Kernel { kernel, weights: first } => {
            let weights = &plan.weights[first as usize..][..(kernel[0] * kernel[1]) as usize];
            neighbours::weighed(from, to, kernel, weights, level);
        }
        CanvasFilter::Noise { key, mean, deviation, shared } => {
            grain::grained(from, to, Grain { key, mean, deviation, shared });
        }
        CanvasFilter::Multiply { key, low, span, shared, elementwise } => {
            grain::multiplied(from, to, Factors { key, low, span, shared, elementwise });
        }
        CanvasFilter::Sensor { key, hue, intensity } => {
            sensor::exposed(from, to, SensorNoise { key, hue, intensity });
        }
        CanvasFilter::Jpeg { quality } => compress::compressed(from, to, quality),
        CanvasFilter::Clahe { tiles, clip_limit } => {
            clahe::equalized(from, to, &Tiling::new(from.size, tiles, clip_limit));
        }
        CanvasFilter::Distort { distortion, nearest, fill } => {
            let lookup = Lookup::new(&plan.distortions[distortion as usize]);
            distort::distorted(from, to, &lookup, nearest, fill);
        }
    }
}

/// T(fma(mean - x, amount, x)) inside; pixels at the edge stay.
#[inline(always)]
fn sharpen(from: ImageView<'_>, to: &mut Canvas, amount: f32) {
    let (height, stride) = (from.size.height as usize, to.stride());
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        let row = from.row(y);
        out.copy_from_slice(row);
        if y == 0 || y + 1 == height || stride <= 6 {
            continue;
        }
        let (above, below) = (from.row(y - 1), from.row(y + 1));
        let count = stride - 6;
        let part = |row: &'_ [u8], at: usize| -> [u16; 3] { [0, 3, 6].map(|side| u16::from(row[at + side])) };
        for (i, out) in out[3..][..count].iter_mut().enumerate() {
            let [left, own, right] = part(row, i);
            let others = [part(above, i), part(below, i)].iter().flatten().sum::<u16>() + left + right;
            // A sum is never half way between two multiples of 13, so this rounds as torch does.
            let mean = (others + 5 * own + 6) / 13;
            let own = f32::from(own);
            *out = (f32::from(mean) - own).mul_add(amount, own).clamp(0.0, 255.0) as u8;
        }
    }
}

/// Rows, then columns, in f32; rounded at the end.
#[inline(always)]
fn blur(from: ImageView<'_>, to: &mut Canvas, across: &[f32], down: &[f32]) {
    let (height, stride) = (from.size.height as usize, to.stride());
    let reach = down.len() / 2;
    // Row y needs the blurred rows y - reach to y + reach; mirrored rows are among them.
    let mut lines = vec![vec![0.0; stride]; down.len()];
    let mut wide = vec![0.0; stride + (across.len() - 1) * 3];
    let mut sums = vec![0.0; stride];
    let mut next = 0;
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        while next < height.min(y + reach + 1) {
            widen(from.row(next), across.len() / 2, &mut wide);
            let line = &mut lines[next % down.len()];
            line.fill(0.0);
            for (tap, &weight) in across.iter().enumerate() {
                add(line, &wide[tap * 3..], weight);
            }
            next += 1;
        }
        sums.fill(0.0);
        for (tap, &weight) in down.iter().enumerate() {
            let row = mirrored(y as isize + tap as isize - reach as isize, height);
            add(&mut sums, &lines[row % down.len()], weight);
        }
        for (level, sum) in out.iter_mut().zip(&sums) {
            *level = sum.round_ties_even() as u8;
        }
    }
}

#[inline(always)]
fn add(sums: &mut [f32], levels: &[f32], weight: f32) {
    for (sum, level) in sums.iter_mut().zip(levels) {
        *sum = level.mul_add(weight, *sum);
    }
}

/// A row with `reach` mirrored pixels at both ends.
#[inline(always)]
fn widen(row: &[u8], reach: usize, wide: &mut [f32]) {
    let width = row.len() / 3;
    for (x, pixel) in wide.chunks_exact_mut(3).enumerate() {
        let from = mirrored(x as isize - reach as isize, width) * 3;
        pixel.iter_mut().zip(&row[from..]).for_each(|(to, &level)| *to = f32::from(level));
    }
}

/// A position beyond an edge, mirrored at the outermost pixel.
#[inline(always)]
fn mirrored(at: isize, length: usize) -> usize {
    let at = at.unsigned_abs();
    if at < length { at } else { 2 * (length - 1) - at }
}
