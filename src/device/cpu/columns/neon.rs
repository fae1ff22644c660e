//! The sums with NEON, four outputs at a time, each of which has a pixel in a register.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::Columns;
use std::arch::aarch64::*;

/// From four R G B 0 groups to twelve packed bytes.
static CLOSER: [i8; 16] = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1];

impl Columns {
    /// As [`Columns::plain`] from the first output on.
    #[target_feature(enable = "neon")]
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

    #[target_feature(enable = "neon")]
    fn of<const TAPS: usize>(&self, line: &[f32], pixels: &mut [u8]) {
        let (weights, _) = self.weights.as_chunks::<TAPS>();
        let count = self.starts.len().min(weights.len()).min(pixels.len() / 3);
        let outputs = self.starts[..count].as_chunks::<4>().0.iter().zip(weights.as_chunks::<4>().0);
        // SAFETY: the table has 16 bytes.
        let closer = unsafe { vld1q_u8(CLOSER.as_ptr().cast()) };
        let mut done = 0;
        for (starts, weights) in outputs {
            // Four pixels are stored with four bytes after them, which belong to pixels that are stored later.
            if self.reach > line.len() || done * 3 + 16 > count * 3 {
                break;
            }
            let sum = |number: usize| {
                let mut sum = vdupq_n_f32(0.0);
                for (tap, weight) in weights[number].iter().enumerate() {
                    let at = starts[number] as usize + tap * 3;
                    // SAFETY: at <= furthest start + 3 (TAPS - 1), and the line is at least `reach` long, which is furthest
                    // start + 3 TAPS + 1: four numbers are there.
                    let levels = unsafe { vld1q_f32(line.as_ptr().add(at)) };
                    sum = vfmaq_n_f32(sum, levels, *weight);
                }
                // To the nearest whole number, the even one of two.
                vcvtnq_u32_f32(sum)
            };
            let lower = vqmovn_high_u32(vqmovn_u32(sum(0)), sum(1));
            let upper = vqmovn_high_u32(vqmovn_u32(sum(2)), sum(3));
            let levels = vqmovn_high_u16(vqmovn_u16(lower), upper);
            // SAFETY: 16 bytes from 3 done on end at 3 count at most, which is no more than the length of `pixels`.
            unsafe { vst1q_u8(pixels.as_mut_ptr().add(done * 3), vqtbl1q_u8(levels, closer)) };
            done += 4;
        }
        self.plain(line, done, &mut pixels[done * 3..]);
    }
}
