//! The loops with AVX2: eight positions at a time, by a table of where the values of each set of positions go.
#![expect(unsafe_code, reason = "vector loads and stores, and calls into functions built for AVX2")]

use super::super::group::Stream;
use super::super::layout::GROUP;
use super::plain::{self, AFTER_TWO, OF_FOUR, TO_EIGHT, TO_FOUR};
use super::spread::{SPREAD, rows_of};
use super::{Counts, List, Loops, Positions, Values};
use crate::jpeg::BlockGroup;
use crate::simd::Avx2;
use std::arch::x86_64::*;

impl Loops for Avx2 {
    fn masks(
        self,
        positions: Stream<'_>,
        bytes: &[u8],
        by_width: &Positions,
        masks: &mut [u64],
    ) -> Option<Counts> {
        // SAFETY: the `Avx2` value proves that the machine has what these functions are built for; so below.
        unsafe { make_masks(positions, bytes, by_width, masks) }
    }

    fn codes(self, packed: Stream<'_>, count: usize, out: &mut List) -> (usize, usize) {
        // SAFETY: as above.
        unsafe { unpack_codes(packed, count, out) }
    }

    fn nibbles(self, packed: Stream<'_>, count: usize, from: usize, out: &mut List) -> usize {
        // SAFETY: as above.
        unsafe { unpack_nibbles(packed, count, from, out) }
    }

    fn twos(self, codes: &List, count: usize, nibbles: &List, bytes: Stream<'_>, out: &mut List) {
        // SAFETY: as above.
        unsafe { make_twos(codes, count, nibbles, bytes, out) }
    }

    fn fours(self, nibbles: &List, from: usize, count: usize, bytes: Stream<'_>, out: &mut List) {
        // SAFETY: as above.
        unsafe { make_fours(nibbles, from, count, bytes, out) }
    }

    fn place(
        self,
        values: &Values<'_>,
        by_width: &Positions,
        dc: &[i16; GROUP],
        count: usize,
        out: &mut BlockGroup,
    ) {
        // SAFETY: as above.
        unsafe { place_blocks(values, by_width, dc, count, out) }
    }
}

#[target_feature(enable = "bmi1,bmi2,popcnt")]
fn make_masks(
    positions: Stream<'_>,
    bytes: &[u8],
    by_width: &Positions,
    masks: &mut [u64],
) -> Option<Counts> {
    plain::make_masks(positions, bytes, by_width, masks)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_8(bytes: &[u8], at: usize) -> __m128i {
    let eight = &bytes[at..at + 8];
    // SAFETY: the slice has 8 bytes.
    unsafe { _mm_loadl_epi64(eight.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_16(bytes: &[u8], at: usize) -> __m128i {
    let sixteen = &bytes[at..at + 16];
    // SAFETY: the slice has 16 bytes; the load may be unaligned.
    unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_16(list: &mut List, at: usize, values: __m128i) {
    let sixteen = &mut list[at..at + 16];
    // SAFETY: the slice has 16 bytes; the store may be unaligned.
    unsafe { _mm_storeu_si128(sixteen.as_mut_ptr().cast(), values) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn table(values: [i8; 16]) -> __m128i {
    // SAFETY: there are 16 bytes; the load may be unaligned.
    unsafe { _mm_loadu_si128(values.as_ptr().cast()) }
}

/// Which of the first eight bytes are `value`, a bit for each.
#[inline]
#[target_feature(enable = "avx2")]
fn those(bytes: __m128i, value: u8) -> usize {
    _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(value as i8))) as usize & 0xFF
}

/// The first values of `values` at the places of the bits of `mask`, and zeros between them.
#[inline]
#[target_feature(enable = "avx2")]
fn spread(values: __m128i, mask: usize) -> __m128i {
    _mm_shuffle_epi8(values, load_8(&SPREAD[mask & 0xFF], 0))
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(packed: __m128i) -> (__m128i, __m128i) {
    let low = _mm_set1_epi8(15);
    (_mm_and_si128(packed, low), _mm_and_si128(_mm_srli_epi16::<4>(packed), low))
}

#[target_feature(enable = "avx2,popcnt")]
fn unpack_codes(packed: Stream<'_>, count: usize, out: &mut List) -> (usize, usize) {
    let low = _mm_set1_epi8(3);
    for at in (0..count).step_by(32) {
        let (even, odd) = halves(load_8(packed.data, at / 4));
        let nibbles = _mm_unpacklo_epi8(even, odd);
        let odd = _mm_and_si128(_mm_srli_epi16::<2>(nibbles), low);
        let even = _mm_and_si128(nibbles, low);
        store_16(out, at, _mm_unpacklo_epi8(even, odd));
        store_16(out, at + 16, _mm_unpackhi_epi8(even, odd));
    }
    let (mut to_four, mut to_eight) = (0, 0);
    for at in (0..count).step_by(8) {
        let (codes, valid) = (load_8(out, at), first(count - at));
        to_four += (those(codes, TO_FOUR) & valid).count_ones();
        to_eight += (those(codes, TO_EIGHT) & valid).count_ones();
    }
    (to_four as usize, to_eight as usize)
}

/// A mask of so many lanes, at most eight.
fn first(count: usize) -> usize {
    0xFF >> 8usize.saturating_sub(count)
}

#[target_feature(enable = "avx2,popcnt")]
fn unpack_nibbles(packed: Stream<'_>, count: usize, from: usize, out: &mut List) -> usize {
    for at in (0..count).step_by(32) {
        let (even, odd) = halves(load_16(packed.data, at / 2));
        store_16(out, at, _mm_unpacklo_epi8(even, odd));
        store_16(out, at + 16, _mm_unpackhi_epi8(even, odd));
    }
    let zeros =
        (from..count).step_by(8).map(|at| (those(load_8(out, at), 0) & first(count - at)).count_ones());
    zeros.sum::<u32>() as usize
}

#[target_feature(enable = "avx2,popcnt")]
fn make_twos(codes: &List, count: usize, nibbles: &List, bytes: Stream<'_>, out: &mut List) {
    let (values, after) = (table([1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), table(AFTER_TWO));
    let (mut nibble, mut byte) = (0, 0);
    for at in (0..count).step_by(8) {
        let (codes, valid) = (load_8(codes, at), first(count - at));
        let (four, eight) = (those(codes, TO_FOUR) & valid, those(codes, TO_EIGHT) & valid);
        let fours = spread(_mm_shuffle_epi8(after, load_8(nibbles, nibble)), four);
        let eights = spread(load_8(bytes.data, byte), eight);
        let found = _mm_or_si128(_mm_shuffle_epi8(values, codes), _mm_or_si128(fours, eights));
        nibble += four.count_ones() as usize;
        byte += eight.count_ones() as usize;
        store_16(out, at, found);
    }
}

#[target_feature(enable = "avx2,popcnt")]
fn make_fours(nibbles: &List, from: usize, count: usize, bytes: Stream<'_>, out: &mut List) {
    let (values, mut byte) = (table(OF_FOUR), 0);
    for at in (0..count).step_by(8) {
        let codes = load_8(nibbles, from + at);
        let eight = those(codes, 0) & first(count - at);
        let found = _mm_or_si128(_mm_shuffle_epi8(values, codes), spread(load_8(bytes.data, byte), eight));
        byte += eight.count_ones() as usize;
        store_16(out, at, found);
    }
}

/// For each half of a block and each sixteen positions, which of them each place of the half has.
static ROWS: [[[u8; 32]; 4]; 2] = [
    [rows_of(0, 0), rows_of(0, 1), rows_of(0, 2), rows_of(0, 3)],
    [rows_of(1, 0), rows_of(1, 1), rows_of(1, 2), rows_of(1, 3)],
];

#[target_feature(enable = "avx2,popcnt")]
fn place_blocks(
    values: &Values<'_>,
    by_width: &Positions,
    dc: &[i16; GROUP],
    count: usize,
    out: &mut BlockGroup,
) {
    let lists = [values.two.as_slice(), values.four.as_slice(), values.eight.data];
    let positions = [by_width.two, by_width.four, by_width.eight];
    let mut starts = [0; 3];
    for ((block, &mask), &dc) in out.batch.blocks[..count].iter_mut().zip(&out.masks).zip(dc) {
        let eight = |i: usize| {
            let (list, ahead) = by_width.of_eight[i];
            let at = starts[list] + (mask & ahead).count_ones() as usize;
            spread(load_8(lists[list], at), (mask >> (8 * i)) as usize)
        };
        let sixteen = |i: usize| {
            let both = _mm_unpacklo_epi64(eight(2 * i), eight(2 * i + 1));
            _mm256_broadcastsi128_si256(both)
        };
        let mut halves = [_mm256_setzero_si256(); 2];
        let last = mask.checked_ilog2().unwrap_or(0) as usize / 16;
        for i in 0..=last {
            let found = sixteen(i);
            for (half, rows) in halves.iter_mut().zip(&ROWS) {
                // SAFETY: there are 32 bytes; the load may be unaligned.
                let rows = unsafe { _mm256_loadu_si256(rows[i & 3].as_ptr().cast()) };
                *half = _mm256_or_si256(*half, _mm256_shuffle_epi8(found, rows));
            }
        }
        for (start, positions) in starts.iter_mut().zip(positions) {
            *start += (mask & positions).count_ones() as usize;
        }
        store_block(block, halves, dc);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_block(block: &mut [i16; 64], [top, bottom]: [__m256i; 2], dc: i16) {
    let dc = _mm256_zextsi128_si256(_mm_cvtsi32_si128(i32::from(dc as u16)));
    let wide = [
        _mm256_or_si256(_mm256_cvtepi8_epi16(_mm256_castsi256_si128(top)), dc),
        _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(top)),
        _mm256_cvtepi8_epi16(_mm256_castsi256_si128(bottom)),
        _mm256_cvtepi8_epi16(_mm256_extracti128_si256::<1>(bottom)),
    ];
    for (rows, wide) in block.as_chunks_mut::<16>().0.iter_mut().zip(wide) {
        // SAFETY: there is room for 16 i16; the store may be unaligned.
        unsafe { _mm256_storeu_si256(rows.as_mut_ptr().cast(), wide) }
    }
}
