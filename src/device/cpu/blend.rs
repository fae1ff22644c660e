//! Pictures laid over each other with shares, in f32.

use super::image_view::Canvas;
use super::lanes::LANES;
use super::normal::noise;
use super::output::{Sample, Values};
use super::pixel_block::PixelBlock;
use crate::decode_memory::give_back;
use crate::geometry::{Rect, Size};
use crate::plan::{BlendInput, BlendMode, Erase, EraseFill};
use crate::simd::Level;

/// The running sum of a pass's inputs.
///
/// A pixel that some input erased is a sum of levels and of normalised values, so the two are summed apart:
/// the result is levels * a + b * weight + fills, where weight is the share of the levels.
#[derive(Debug, Default)]
pub(crate) struct Blend {
    levels: Vec<f32>,
    /// Only where something is erased: fills (three a pixel) and the levels' weight.
    fills: Vec<f32>,
    weights: Vec<f32>,
    size: Size,
}

impl Blend {
    pub(crate) fn reset(&mut self, size: Size, erased: bool) {
        let pixels = size.pixels() as usize;
        self.size = size;
        for (plane, len) in [
            (&mut self.levels, pixels * 3),
            (&mut self.fills, if erased { pixels * 3 } else { 0 }),
            (&mut self.weights, if erased { pixels } else { 0 }),
        ] {
            plane.clear();
            plane.resize(len, 0.0);
        }
    }

    /// Frees sums that are too many to be kept for the next sample.
    pub(crate) fn give_back(&mut self) {
        [&mut self.levels, &mut self.fills, &mut self.weights].into_iter().for_each(give_back);
    }

    /// Lays the input on the sum, inside the input's window, as its [`BlendMode`] says.
    pub(crate) fn lay(&mut self, canvas: &Canvas, input: &BlendInput, erases: &[Erase]) {
        let window = input.window.intersect(self.size.rect());
        let share = input.weight;
        let keep = if input.mode.is_over() { 1.0 - share } else { 1.0 };
        // What counts of a level where `below` is the sum.
        let counts = |level: u8, below: f32| match input.mode {
            BlendMode::Between => f32::from(level) - below,
            BlendMode::Over | BlendMode::Sum => f32::from(level),
        };
        let width = self.size.width as usize;
        let view = canvas.part(canvas.size.rect());
        for y in window.y..window.bottom() as i32 {
            let row = &view.row(y as usize)[window.x as usize * 3..window.right() as usize * 3];
            let start = y as usize * width + window.x as usize;
            let sums = &mut self.levels[start * 3..][..row.len()];
            if self.weights.is_empty() {
                sums.iter_mut()
                    .zip(row)
                    .for_each(|(sum, level)| *sum = *sum * keep + counts(*level, *sum) * share);
                continue;
            }
            for (i, (sums, levels)) in sums.chunks_exact_mut(3).zip(row.chunks_exact(3)).enumerate() {
                let (x, pixel) = (window.x + i as i32, start + i);
                // Later rectangles lie over earlier ones.
                let fill = erases.iter().rev().find(|erase| erase.window.contains(Rect::new(x, y, 1, 1)));
                let weight = if fill.is_some() { 0.0 } else { share };
                self.weights[pixel] = self.weights[pixel] * keep + weight;
                for (c, (sum, level)) in sums.iter_mut().zip(levels).enumerate() {
                    let filled = fill.map_or(0.0, |erase| fill_at(erase, x, y, c) * share);
                    *sum = *sum * keep + counts(*level, *sum) * weight;
                    self.fills[pixel * 3 + c] = self.fills[pixel * 3 + c] * keep + filled;
                }
            }
        }
    }

    /// The sum cut off to u8, for a pass or for colour steps after the blend.
    pub(crate) fn store(&self, canvas: &mut Canvas) {
        canvas.reset(self.size);
        for (level, sum) in canvas.rows_mut().iter_mut().zip(&self.levels) {
            *level = sum.clamp(0.0, 255.0) as u8;
        }
    }

    /// The finished sample.
    pub(crate) fn finish(&self, sample: &mut Sample<'_>, level: Level) {
        let floats = !matches!(sample.values, Values::U8(_));
        let width = self.size.width as usize;
        let mut block = PixelBlock::default();
        for y in 0..self.size.height as usize {
            for x in (0..width).step_by(LANES) {
                let count = LANES.min(width - x);
                for i in 0..count {
                    let pixel = y * width + x + i;
                    for (c, plane) in block.planes.iter_mut().enumerate() {
                        let sum = self.levels[pixel * 3 + c];
                        plane[i] = if floats {
                            self.value(pixel, c, sum, sample.factors[c])
                        } else {
                            sum.clamp(0.0, 255.0)
                        };
                    }
                }
                sample.put(x, y, &block, count, level);
            }
        }
    }

    fn value(&self, pixel: usize, channel: usize, sum: f32, [a, b]: [f32; 2]) -> f32 {
        match self.weights.get(pixel) {
            Some(weight) => sum.mul_add(a, b * weight) + self.fills[pixel * 3 + channel],
            None => sum.mul_add(a, b),
        }
    }
}

/// The fill of an erased pixel.
pub(crate) fn fill_at(erase: &Erase, x: i32, y: i32, channel: usize) -> f32 {
    match erase.fill {
        EraseFill::Constant(rgb) => rgb[channel],
        EraseFill::Noise(key) => {
            let index = (y - erase.window.y) as u32 * erase.window.width + (x - erase.window.x) as u32;
            noise(key, index, channel as u32)
        }
    }
}

/// Fills the erased rectangles of a finished, unmixed sample; u8 samples take the value as a level.
pub(crate) fn fill_erased(sample: &mut Sample<'_>, erases: &[Erase], level: Level) {
    let floats = !matches!(sample.values, Values::U8(_));
    let mut block = PixelBlock::default();
    for erase in erases {
        for y in erase.window.y..erase.window.bottom() as i32 {
            for x in (erase.window.x..erase.window.right() as i32).step_by(LANES) {
                let count = LANES.min((erase.window.right() - i64::from(x)) as usize);
                for (c, plane) in block.planes.iter_mut().enumerate() {
                    for (i, value) in plane[..count].iter_mut().enumerate() {
                        let fill = fill_at(erase, x + i as i32, y, c);
                        *value = if floats { fill } else { fill.clamp(0.0, 255.0).trunc() };
                    }
                }
                sample.put(x as usize, y as usize, &block, count, level);
            }
        }
    }
}
