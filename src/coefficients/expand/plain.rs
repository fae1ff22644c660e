//! The loops in plain Rust: what the others are compared with.

use super::super::group::Stream;
use super::super::layout::GROUP;
use super::{Counts, List, Loops, Positions, Values};
use crate::jpeg::{BlockGroup, ZIGZAG};

/// The value of each code of four bits that follows one of two.
pub(super) const AFTER_TWO: [i8; 16] = [2, 3, 4, 5, 6, 7, 8, 9, -2, -3, -4, -5, -6, -7, -8, -9];
/// The value of each code of four bits; 0 is followed by one of eight.
pub(super) const OF_FOUR: [i8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7];
/// Of the codes of two bits, those that are followed by one of four, and of eight.
pub(super) const TO_FOUR: u8 = 2;
pub(super) const TO_EIGHT: u8 = 3;

#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Loops for Plain {
    fn masks(
        self,
        positions: Stream<'_>,
        bytes: &[u8],
        by_width: &Positions,
        masks: &mut [u64],
    ) -> Option<Counts> {
        make_masks(positions, bytes, by_width, masks)
    }

    fn codes(self, packed: Stream<'_>, count: usize, out: &mut List) -> (usize, usize) {
        for (i, code) in out[..count].iter_mut().enumerate() {
            *code = packed.data[i / 4] >> (2 * (i % 4)) & 3;
        }
        let those = |wanted| out[..count].iter().filter(|&&code| code == wanted).count();
        (those(TO_FOUR), those(TO_EIGHT))
    }

    fn nibbles(self, packed: Stream<'_>, count: usize, from: usize, out: &mut List) -> usize {
        for (i, code) in out[..count].iter_mut().enumerate() {
            *code = packed.data[i / 2] >> (4 * (i % 2)) & 15;
        }
        out[from..count].iter().filter(|&&code| code == 0).count()
    }

    fn twos(self, codes: &List, count: usize, nibbles: &List, bytes: Stream<'_>, out: &mut List) {
        let (mut nibbles, mut bytes) = (nibbles.iter(), bytes.data.iter());
        for (value, code) in out.iter_mut().zip(&codes[..count]) {
            *value = match *code {
                0 => 1,
                1 => -1i8 as u8,
                TO_FOUR => nibbles.next().map_or(0, |&code| AFTER_TWO[usize::from(code & 15)] as u8),
                _ => bytes.next().copied().unwrap_or(0),
            };
        }
    }

    fn fours(self, nibbles: &List, from: usize, count: usize, bytes: Stream<'_>, out: &mut List) {
        let mut bytes = bytes.data.iter();
        for (value, code) in out.iter_mut().zip(&nibbles[from..from + count]) {
            *value = match *code {
                0 => bytes.next().copied().unwrap_or(0),
                code => OF_FOUR[usize::from(code & 15)] as u8,
            };
        }
    }

    fn place(
        self,
        values: &Values<'_>,
        by_width: &Positions,
        dc: &[i16; GROUP],
        count: usize,
        out: &mut BlockGroup,
    ) {
        let Values { two, four, eight } = *values;
        let (mut two, mut four, mut eight) = (two.iter(), four.iter(), eight.data.iter());
        for ((block, &mask), &dc) in out.batch.blocks[..count].iter_mut().zip(&out.masks).zip(dc) {
            *block = [0; 64];
            block[0] = dc;
            let mut left = mask;
            while left != 0 {
                let position = left.trailing_zeros();
                left &= left - 1;
                let value = match 1 << position {
                    bit if by_width.two & bit != 0 => two.next(),
                    bit if by_width.four & bit != 0 => four.next(),
                    _ => eight.next(),
                };
                block[usize::from(ZIGZAG[position as usize])] =
                    value.map_or(0, |&value| i16::from(value as i8));
            }
        }
    }
}

/// See [`Loops::masks`]; built with more instructions where it is called with them.
#[inline(always)]
pub(super) fn make_masks(
    positions: Stream<'_>,
    bytes: &[u8],
    by_width: &Positions,
    masks: &mut [u64],
) -> Option<Counts> {
    let (mut at, mut excess, mut counts) = (0, 0, Counts::default());
    for (mask, &bytes) in masks.iter_mut().zip(bytes) {
        let eight = positions.data.get(at..at + 8)?.first_chunk()?;
        // No byte in the mask where none is in the file; DC, at position 0, is not among them.
        let bits = u64::from_le_bytes(*eight) & u64::MAX.checked_shr(64 - 8 * u32::from(bytes)).unwrap_or(0);
        *mask = bits << 1;
        at += usize::from(bytes);
        excess |= bits >> 63;
        counts.two += (*mask & by_width.two).count_ones() as usize;
        counts.four += (*mask & by_width.four).count_ones() as usize;
        counts.eight += (*mask & by_width.eight).count_ones() as usize;
    }
    (excess == 0).then_some(counts)
}
