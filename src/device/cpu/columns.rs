//! Weighted sums of neighbouring pixels of one row, as levels.
//!
//! A pixel is read as the three numbers that it has and the one behind them, so that one register holds it; the fourth
//! sum is thrown away.

/// Added to a number from 0 to 255, it leaves the nearest whole one, the even one of two, in the lowest bits.
const ROUND: f32 = 12_582_912.0;

/// Where the pixels of an output row come from, and how their neighbours are weighed.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    /// Packed RGB sums from 0 to 255, with one number behind the last pixel that is read.
    pub(crate) line: &'a [f32],
    /// Where in the line each output's first tap begins.
    pub(crate) starts: &'a [usize],
    /// As many for each output.
    pub(crate) weights: &'a [f32],
    /// How many.
    pub(crate) taps: usize,
}

impl Columns<'_> {
    /// Stores one packed RGB pixel for each start.
    pub(crate) fn plain(self, pixels: &mut [u8]) {
        let weights = self.weights.chunks_exact(self.taps);
        for ((start, weights), pixel) in self.starts.iter().zip(weights).zip(pixels.chunks_exact_mut(3)) {
            let line = &self.line[*start..];
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
    use super::{Columns, ROUND};
    use std::arch::x86_64::*;

    impl Columns<'_> {
        /// As [`Columns::plain`], a pixel in one register.
        #[target_feature(enable = "avx2,fma")]
        pub(crate) fn wide(self, pixels: &mut [u8]) {
            match self.taps {
                1 => self.of::<1>(pixels),
                2 => self.of::<2>(pixels),
                3 => self.of::<3>(pixels),
                4 => self.of::<4>(pixels),
                5 => self.of::<5>(pixels),
                _ => self.plain(pixels),
            }
        }

        #[target_feature(enable = "avx2,fma")]
        fn of<const TAPS: usize>(self, pixels: &mut [u8]) {
            let lowest = _mm_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
            let (weights, _) = self.weights.as_chunks::<TAPS>();
            for (number, (start, weights)) in self.starts.iter().zip(weights).enumerate() {
                let line = &self.line[*start..][..TAPS * 3 + 1];
                let mut sum = _mm_setzero_ps();
                for (tap, weight) in weights.iter().enumerate() {
                    let at = tap * 3;
                    let level = _mm_setr_ps(line[at], line[at + 1], line[at + 2], line[at + 3]);
                    sum = _mm_fmadd_ps(level, _mm_set1_ps(*weight), sum);
                }
                let bits = _mm_castps_si128(_mm_add_ps(sum, _mm_set1_ps(ROUND)));
                let levels = _mm_cvtsi128_si32(_mm_shuffle_epi8(bits, lowest)).to_le_bytes();
                let rest = &mut pixels[number * 3..];
                // The byte behind a pixel belongs to the next one, which is stored later.
                match rest.first_chunk_mut::<4>() {
                    Some(pixel) => *pixel = levels,
                    None => rest.copy_from_slice(&levels[..3]),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Draws, Rng};
    use crate::simd::Level;

    #[test]
    fn every_number_of_taps_gives_the_same_pixels_with_every_instruction_set() {
        let mut rng = Rng::new(1, 0, 0, 0);
        for taps in 1..=19 {
            let line: Vec<f32> = (0..301).map(|_| rng.uniform_between(0.0, 255.0)).collect();
            let starts: Vec<usize> = (0..70).map(|_| 3 * rng.below(100 - taps) as usize).collect();
            let taps = taps as usize;
            let weights: Vec<f32> =
                (0..70 * taps).map(|_| rng.uniform_between(0.0, 1.0 / taps as f32)).collect();
            let columns = Columns { line: &line, starts: &starts, weights: &weights, taps };
            let mut plain = vec![0; 210];
            columns.plain(&mut plain);
            for level in [Level::Scalar, Level::Avx2, Level::Avx512] {
                let mut pixels = vec![7; 210];
                crate::device::cpu::pack::weigh(columns, &mut pixels, level);
                assert_eq!(pixels, plain, "{taps} taps, {level:?}");
            }
        }
    }
}
