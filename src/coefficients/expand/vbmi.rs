//! The loops with AVX-512's instructions that move bytes.
#![expect(unsafe_code, reason = "wide loads and stores, and calls into functions built for AVX-512")]

use super::super::group::Stream;
use super::super::layout::GROUP;
use super::plain::{self, AFTER_TWO, OF_FOUR, TO_EIGHT, TO_FOUR};
use super::spread::POSITIONS;
use super::{Counts, List, Loops, Positions, Values};
use crate::jpeg::BlockGroup;
use crate::simd::Vbmi;
use std::arch::x86_64::*;

/// Bytes of a register.
const WIDE: usize = 64;

impl Loops for Vbmi {
    fn masks(
        self,
        positions: Stream<'_>,
        bytes: &[u8],
        by_width: &Positions,
        masks: &mut [u64],
    ) -> Option<Counts> {
        // SAFETY: the `Vbmi` value proves that the machine has what these functions are built for; so below.
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
        unsafe {
            match (by_width.two != 0, by_width.four != 0) {
                (true, true) => place_with::<true, true>(values, by_width, dc, count, out),
                (true, false) => place_with::<true, false>(values, by_width, dc, count, out),
                (false, true) => place_with::<false, true>(values, by_width, dc, count, out),
                (false, false) => place_with::<false, false>(values, by_width, dc, count, out),
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2,popcnt")]
fn make_masks(
    positions: Stream<'_>,
    bytes: &[u8],
    by_width: &Positions,
    masks: &mut [u64],
) -> Option<Counts> {
    plain::make_masks(positions, bytes, by_width, masks)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8], at: usize) -> __m512i {
    let wide = &bytes[at..at + WIDE];
    // SAFETY: the slice has 64 bytes; the load may be unaligned.
    unsafe { _mm512_loadu_si512(wide.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(list: &mut List, at: usize, values: __m512i) {
    let wide = &mut list[at..at + WIDE];
    // SAFETY: the slice has 64 bytes; the store may be unaligned.
    unsafe { _mm512_storeu_si512(wide.as_mut_ptr().cast(), values) }
}

/// The lanes from `at` on of which there are `count`.
fn lanes(at: usize, count: usize) -> u64 {
    u64::MAX.checked_shr(WIDE.saturating_sub(count - at) as u32).unwrap_or(0)
}

/// A table of 16 bytes in each quarter.
#[inline]
#[target_feature(enable = "avx512f")]
fn table(values: [i8; 16]) -> __m512i {
    // SAFETY: there are 16 bytes; the load may be unaligned.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(values.as_ptr().cast()) })
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,popcnt")]
fn unpack_codes(packed: Stream<'_>, count: usize, out: &mut List) -> (usize, usize) {
    // Eight codes of a pair of bytes in each eight bytes.
    let shifts = _mm512_set1_epi64(0x0E0C_0A08_0604_0200);
    let (mut to_four, mut to_eight) = (0, 0);
    for at in (0..count).step_by(WIDE) {
        let pairs = _mm512_cvtepu16_epi64(_mm512_castsi512_si128(load(packed.data, at / 4)));
        let codes = _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, pairs), _mm512_set1_epi8(3));
        let valid = lanes(at, count);
        to_four += _mm512_mask_cmpeq_epi8_mask(valid, codes, _mm512_set1_epi8(TO_FOUR as i8)).count_ones();
        to_eight += _mm512_mask_cmpeq_epi8_mask(valid, codes, _mm512_set1_epi8(TO_EIGHT as i8)).count_ones();
        store(out, at, codes);
    }
    (to_four as usize, to_eight as usize)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
fn unpack_nibbles(packed: Stream<'_>, count: usize, from: usize, out: &mut List) -> usize {
    let mut zeros = 0;
    for at in (0..count).step_by(WIDE) {
        let wide = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(load(packed.data, at / 2)));
        let both = _mm512_or_si512(wide, _mm512_slli_epi16::<4>(wide));
        let nibbles = _mm512_and_si512(both, _mm512_set1_epi8(15));
        let behind = u64::MAX.checked_shl(from.saturating_sub(at) as u32).unwrap_or(0);
        zeros += _mm512_mask_testn_epi8_mask(behind & lanes(at, count), nibbles, nibbles).count_ones();
        store(out, at, nibbles);
    }
    zeros as usize
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")]
fn make_twos(codes: &List, count: usize, nibbles: &List, bytes: Stream<'_>, out: &mut List) {
    let (values, after) = (table([1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), table(AFTER_TWO));
    let (mut nibble, mut byte) = (0, 0);
    for at in (0..count).step_by(WIDE) {
        let (codes, valid) = (load(codes, at), lanes(at, count));
        let four = _mm512_mask_cmpeq_epi8_mask(valid, codes, _mm512_set1_epi8(TO_FOUR as i8));
        let eight = _mm512_mask_cmpeq_epi8_mask(valid, codes, _mm512_set1_epi8(TO_EIGHT as i8));
        let found = _mm512_shuffle_epi8(values, codes);
        let found = _mm512_mask_expand_epi8(found, four, _mm512_shuffle_epi8(after, load(nibbles, nibble)));
        let found = _mm512_mask_expand_epi8(found, eight, load(bytes.data, byte));
        nibble += four.count_ones() as usize;
        byte += eight.count_ones() as usize;
        store(out, at, found);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")]
fn make_fours(nibbles: &List, from: usize, count: usize, bytes: Stream<'_>, out: &mut List) {
    let (values, mut byte) = (table(OF_FOUR), 0);
    for at in (0..count).step_by(WIDE) {
        let codes = load(nibbles, from + at);
        let eight = _mm512_mask_testn_epi8_mask(lanes(at, count), codes, codes);
        let found = _mm512_shuffle_epi8(values, codes);
        let found = _mm512_mask_expand_epi8(found, eight, load(bytes.data, byte));
        byte += eight.count_ones() as usize;
        store(out, at, found);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")]
fn place_with<const TWO: bool, const FOUR: bool>(
    values: &Values<'_>,
    by_width: &Positions,
    dc: &[i16; GROUP],
    count: usize,
    out: &mut BlockGroup,
) {
    // Expanding into what the compiler knows as zero would become an instruction that waits for the old content of its
    // destination.
    let zero = std::hint::black_box(_mm512_setzero_si512());
    let rows = load(&POSITIONS, 0);
    let (mut two, mut four, mut eight) = (0, 0, 0);
    let next = |list: &[u8], at: &mut usize, mask: u64| {
        let wide = load(list, *at);
        *at += mask.count_ones() as usize;
        wide
    };
    for ((block, &mask), &dc) in out.batch.blocks[..count].iter_mut().zip(&out.masks).zip(dc) {
        let own = mask & by_width.eight;
        let mut found = _mm512_mask_expand_epi8(zero, own, next(values.eight.data, &mut eight, own));
        if FOUR {
            let own = mask & by_width.four;
            found = _mm512_mask_expand_epi8(found, own, next(values.four, &mut four, own));
        }
        if TWO {
            let own = mask & by_width.two;
            found = _mm512_mask_expand_epi8(found, own, next(values.two, &mut two, own));
        }
        let found = _mm512_permutexvar_epi8(rows, found);
        let top = _mm512_cvtepi8_epi16(_mm512_castsi512_si256(found));
        let bottom = _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64::<1>(found));
        let dc = _mm512_zextsi128_si512(_mm_cvtsi32_si128(i32::from(dc as u16)));
        // SAFETY: a block has room for two times 32 i16.
        unsafe {
            _mm512_storeu_si512(block.as_mut_ptr().cast(), _mm512_or_si512(top, dc));
            _mm512_storeu_si512(block.as_mut_ptr().add(32).cast(), bottom);
        }
    }
}
