//! Weighted sums of neighbouring pixels of one row, as levels.
//!
//! A pixel is read as the three numbers that it has and the one after them, so that one register holds it; the fourth
//! sum is thrown away.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "registers are loaded and stored at places that are checked once for many")
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;

/// Added to a number from 0 to 255, it leaves the nearest whole one, the even one of two, in the lowest bits.
const ROUND: f32 = 12_582_912.0;

/// Where the pixels of an output row come from, and how their neighbours are weighed.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// Where in a line each output's first tap begins.
    starts: Vec<u32>,
    /// As many for each output.
    weights: Vec<f32>,
    /// How many.
    taps: usize,
    /// Length of the shortest line that holds all that is read of it.
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(dead_code, reason = "for vector loads")
    )]
    reach: usize,
}

impl Columns {
    /// `taps` weights for each start.
    pub(crate) fn new(starts: Vec<u32>, weights: Vec<f32>, taps: usize) -> Self {
        let furthest = starts.iter().max().map_or(0, |start| *start as usize);
        Self { starts, weights, taps, reach: furthest + taps * 3 + 1 }
    }

    /// Number of outputs.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Stores packed RGB pixels from the output `first` on; `line` holds packed RGB sums from 0 to 255, and one number
    /// after the last pixel that is read.
    #[inline(always)]
    pub(crate) fn plain(&self, line: &[f32], first: usize, pixels: &mut [u8]) {
        let weights = self.weights.chunks_exact(self.taps.max(1));
        let outputs = self.starts.iter().zip(weights).skip(first);
        for ((start, weights), pixel) in outputs.zip(pixels.chunks_exact_mut(3)) {
            let line = &line[*start as usize..];
            let mut sums = [0.0f32; 3];
            for (tap, weight) in line.chunks_exact(3).zip(weights) {
                for (sum, level) in sums.iter_mut().zip(tap) {
                    *sum = level.mul_add(*weight, *sum);
                }
            }
            pixel.copy_from_slice(&sums.map(|sum| (sum + ROUND).to_bits() as u8));
        }
    }
}

/// Four numbers of a line.
///
/// # Safety
/// The line holds them.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn four(line: &[f32], at: usize) -> &[f32; 4] {
    // SAFETY: they are in the line.
    unsafe { &*line.as_ptr().add(at).cast() }
}

/// Sixteen bytes of packed pixels.
///
/// # Safety
/// The pixels hold them.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
unsafe fn sixteen(pixels: &mut [u8], at: usize) -> &mut [u8; 16] {
    // SAFETY: they are in the pixels, which are lent mutably as long as they are.
    unsafe { &mut *pixels.as_mut_ptr().add(at).cast() }
}

/// The sums with a pixel in one register, four outputs at a time: written once, and built for each instruction set, of which a
/// file brings `zero`, `add` and `store`.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! wide {
    ($features:literal) => {
        impl Columns {
            /// As [`Columns::plain`] from the first output on.
            #[target_feature(enable = $features)]
            pub(crate) fn wide(&self, line: &[f32], pixels: &mut [u8]) {
                match self.taps {
                    1 => self.of::<1>(line, pixels),
                    2 => self.of::<2>(line, pixels),
                    3 => self.of::<3>(line, pixels),
                    4 => self.of::<4>(line, pixels),
                    5 => self.of::<5>(line, pixels),
                    _ => self.plain(line, 0, pixels),
                }
            }

            #[target_feature(enable = $features)]
            fn of<const TAPS: usize>(&self, line: &[f32], pixels: &mut [u8]) {
                let (weights, _) = self.weights.as_chunks::<TAPS>();
                let count = self.starts.len().min(weights.len()).min(pixels.len() / 3);
                let outputs = self.starts[..count].as_chunks::<4>().0.iter().zip(weights.as_chunks::<4>().0);
                let mut done = 0;
                for (starts, weights) in outputs {
                    // Four pixels are stored with four bytes after them, which belong to pixels that are stored later.
                    if self.reach > line.len() || done * 3 + 16 > count * 3 {
                        break;
                    }
                    let sum = |number: usize| {
                        let mut sum = zero();
                        for (tap, weight) in weights[number].iter().enumerate() {
                            let at = starts[number] as usize + tap * 3;
                            // SAFETY: at <= furthest start + 3 (TAPS - 1), and the line is at least `reach` long, which is
                            // furthest start + 3 TAPS + 1: four numbers are there.
                            let levels = unsafe { four(line, at) };
                            sum = add(sum, levels, *weight);
                        }
                        sum
                    };
                    let sums = [sum(0), sum(1), sum(2), sum(3)];
                    // SAFETY: 16 bytes from 3 done on end at 3 count at most, which is no more than the length of `pixels`.
                    let to = unsafe { sixteen(pixels, done * 3) };
                    store(sums, to);
                    done += 4;
                }
                self.plain(line, done, &mut pixels[done * 3..]);
            }
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use wide;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Draws, Rng};
    use crate::simd;

    #[test]
    fn every_number_of_taps_gives_the_same_pixels_with_every_instruction_set() {
        let mut rng = Rng::new(1, 0, 0, 0);
        for taps in 1..=19 {
            let line: Vec<f32> = (0..301).map(|_| rng.uniform_between(0.0, 255.0)).collect();
            let starts: Vec<u32> = (0..70).map(|_| 3 * rng.below(100 - taps)).collect();
            let taps = taps as usize;
            let weights: Vec<f32> =
                (0..70 * taps).map(|_| rng.uniform_between(0.0, 1.0 / taps as f32)).collect();
            let columns = Columns::new(starts, weights, taps);
            let mut plain = vec![0; 210];
            columns.plain(&line, 0, &mut plain);
            for level in simd::levels() {
                let mut pixels = vec![7; 210];
                crate::device::cpu::interleave::weigh(&columns, &line, &mut pixels, level);
                assert_eq!(pixels, plain, "{taps} taps, {level:?}");
            }
        }
    }
}
