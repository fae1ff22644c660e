//! Weighted sums of neighbouring pixels of one row, as levels.
//!
//! A pixel is read as the three numbers that it has and the one after them, so that one register holds it; the fourth
//! sum is thrown away.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "vector loads and stores by pointer"))]

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

#[cfg(target_arch = "x86_64")]
pub(crate) mod vector {
    use super::Columns;
    use std::arch::x86_64::*;

    impl Columns {
        /// As [`Columns::plain`] from the first output on, with a pixel in one register.
        #[target_feature(enable = "avx2,fma")]
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

        #[target_feature(enable = "avx2,fma")]
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
                    let mut sum = _mm_setzero_ps();
                    for (tap, weight) in weights[number].iter().enumerate() {
                        let at = starts[number] as usize + tap * 3;
                        // SAFETY: at <= furthest start + 3 (TAPS - 1), and the line is at least `reach` long, which is
                        // furthest start + 3 TAPS + 1: four numbers are there.
                        let levels = unsafe { _mm_loadu_ps(line.as_ptr().add(at)) };
                        sum = _mm_fmadd_ps(levels, _mm_set1_ps(*weight), sum);
                    }
                    _mm_cvtps_epi32(sum)
                };
                let lower = _mm_packs_epi32(sum(0), sum(1));
                let levels = _mm_packus_epi16(lower, _mm_packs_epi32(sum(2), sum(3)));
                let closer = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
                // SAFETY: 16 bytes from 3 done on end at 3 count at most, which is no more than the length of `pixels`.
                unsafe {
                    let at = pixels.as_mut_ptr().add(done * 3).cast();
                    _mm_storeu_si128(at, _mm_shuffle_epi8(levels, closer));
                }
                done += 4;
            }
            self.plain(line, done, &mut pixels[done * 3..]);
        }
    }
}

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
