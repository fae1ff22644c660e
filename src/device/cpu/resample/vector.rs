//! What the vector versions have in common: which of a version's functions takes how many taps, the bounds that all of
//! them rely on, and for AVX, whose widths differ in no more, the arithmetic down.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::{Axis, ImageView, Lines};
use crate::image::Image;

/// From four packed RGB pixels to (R0 R1 G0 G1 B0 B1 0 0) as 16-bit lanes; -1 gives zero.
#[cfg(target_arch = "x86_64")]
pub(super) const FIRST_PAIR: [i8; 16] = [0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1];
/// The same of the third and fourth pixel.
#[cfg(target_arch = "x86_64")]
pub(super) const SECOND_PAIR: [i8; 16] = [6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1];

/// Bytes from the first tap of a pair on that a load reads.
const LOAD: usize = 16;

/// Resamples four rows across, with so many pairs of taps for each output as its index in the list says; the first takes
/// any number.
///
/// # Safety
/// [`check_horizontal`] passed for these rows, the number of pairs is that of the axis, and the machine has the version's
/// features.
pub(super) type Horizontal = unsafe fn(from: [*const u8; 4], to: [*mut u8; 4], columns: &Axis);

/// One output row, by lines or by pairs of lines, as the version has it; the first of its list takes any number.
///
/// # Safety
/// There is a weight, and as many lines as there are weights hold as many bytes as the row, which are a vector's at least; the
/// function's number of lines is that of the weights, or its number of pairs half of that, rounded up; and the machine has the
/// version's features.
pub(super) type Vertical = unsafe fn(lines: Lines<'_>, weights: &[i16], precision: u32, row: &mut [u8]);

/// `by_pairs` are functions for whose features the caller has looked.
pub(super) fn horizontal(
    by_pairs: [Horizontal; 5],
    view: ImageView<'_>,
    columns: &Axis,
    middle: &mut [u8],
    stride: usize,
) {
    let height = view.size.height as usize;
    check_horizontal(&view, height, columns, middle, stride);
    let rows = by_pairs.get(columns.stride / 2).unwrap_or(&by_pairs[0]);
    for y in (0..height).step_by(4) {
        // Missing last rows repeat the last one, which is harmless.
        let lines = [0, 1, 2, 3].map(|i| (y + i).min(height - 1));
        // SAFETY: `check_horizontal` made sure that each pair of taps of each row lies in `view.data` and each store in
        // `middle`; `Resampler::feed` comes here only at the level whose features `by_pairs` have, which is at most the machine's.
        unsafe {
            let from = lines.map(|y| view.data.as_ptr().add(y * view.stride));
            let base = middle.as_mut_ptr();
            let to = lines.map(|y| base.add(y * stride));
            rows(from, to, columns);
        }
    }
}

/// Stops with a panic, before any pointer is made, where a load or a store would leave its slice.
fn check_horizontal(view: &ImageView<'_>, height: usize, columns: &Axis, middle: &[u8], stride: usize) {
    let groups = columns.starts.len();
    let pairs = columns.stride / 2;
    assert!(height > 0 && pairs > 0 && columns.stride.is_multiple_of(2));
    assert!(columns.weights.len() >= groups.saturating_mul(columns.stride));
    assert!(groups.is_multiple_of(Axis::GROUP));
    let start = columns.starts.iter().copied().max().unwrap_or(0) as usize;
    let furthest = start.saturating_mul(3).saturating_add((pairs - 1).saturating_mul(6)).saturating_add(LOAD);
    let last_row = (height - 1).saturating_mul(view.stride);
    assert!(last_row.saturating_add(furthest) <= view.data.len(), "taps leave the image");
    let all = height.checked_mul(stride).is_some_and(|all| all <= middle.len());
    assert!(groups.saturating_mul(3).saturating_add(4) <= stride && all, "rows are too short");
    // At most the second weight of the last pair lies after the row's end, and is zero then.
    const { assert!(Image::TAIL >= LOAD) };
}

/// How a version makes output rows.
#[derive(Clone, Copy)]
pub(super) struct Down {
    /// The functions, each for as many lines or pairs as its position says; the first of them for any number.
    pub(super) functions: &'static [Vertical],
    /// Lines that count as one: 2 where a version takes pairs.
    pub(super) lines: usize,
    /// The bytes of a vector.
    pub(super) bytes: usize,
}

/// `down` is of a version for whose features the caller has looked. The row has the bytes of a vector at least.
pub(super) fn vertical(down: Down, lines: Lines<'_>, weights: &[i16], precision: u32, row: &mut [u8]) {
    let end =
        weights.len().checked_sub(1).and_then(|last| last.checked_mul(lines.stride)?.checked_add(row.len()));
    assert!(end.is_some_and(|end| end <= lines.data.len()), "taps leave the rows");
    assert!(row.len() >= down.bytes, "the row is shorter than a vector");
    let rows = down.functions.get(weights.len().div_ceil(down.lines)).unwrap_or(&down.functions[0]);
    // SAFETY: the assertions hold the row's length inside every line, of which there is one, and a vector inside the row;
    // `Resampler::row` comes here only at the level whose features the functions have, which is at most the machine's.
    unsafe { rows(lines, weights, precision, row) };
}

/// Two weights as the halves of one 32-bit lane.
#[cfg(target_arch = "x86_64")]
pub(super) const fn join(near: i16, far: i16) -> i32 {
    (near as u16 as i32) | ((far as i32) << 16)
}

/// Defines `vertical_row`, a [`Vertical`] for `PAIRS` pairs of lines, or for as many as there are for 0. The file that calls
/// it has the vector type `Vector` of [`BYTES`] bytes and its instructions under the short names used here.
#[cfg(target_arch = "x86_64")]
macro_rules! vertical_row {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        unsafe fn vertical_row<const PAIRS: usize>(
            lines: Lines<'_>,
            weights: &[i16],
            precision: u32,
            row: &mut [u8],
        ) {
            let pairs = if PAIRS == 0 { weights.len().div_ceil(2) } else { PAIRS };
            let factors = |pair: usize| {
                let far = weights.get(2 * pair + 1).copied().unwrap_or(0);
                set1(join(weights[2 * pair], far))
            };
            // Those of fixed number stay in registers.
            let fixed: [Vector; PAIRS] = std::array::from_fn(factors);
            let zero = setzero();
            let round = set1(1 << (precision - 1));
            let shift = std::arch::x86_64::_mm_cvtsi32_si128(precision as i32);
            let last = row.len() - BYTES;
            // The last vector may overlap the one ahead of it, which writes the same bytes twice.
            for at in (0..last).step_by(BYTES).chain([last]) {
                let line = |number: usize| {
                    // SAFETY: `number` is less than the number of weights, so there is such a line, and it holds as many bytes as
                    // the row, whose end `at` + BYTES does not pass.
                    unsafe { load(lines.data.as_ptr().add(number * lines.stride + at).cast()) }
                };
                let mut sums = [round; 4];
                for pair in 0..pairs {
                    let factors = match fixed.get(pair) {
                        Some(factors) => *factors,
                        None => factors(pair),
                    };
                    let (a, b) = (line(2 * pair), line((2 * pair + 1).min(weights.len() - 1)));
                    let (low, high) = (low_bytes(a, b), high_bytes(a, b));
                    let words = [
                        low_bytes(low, zero),
                        high_bytes(low, zero),
                        low_bytes(high, zero),
                        high_bytes(high, zero),
                    ];
                    for (sum, word) in sums.iter_mut().zip(words) {
                        *sum = add(*sum, madd(word, factors));
                    }
                }
                let [a, b, c, d] = sums.map(|sum| sra(sum, shift));
                let bytes = packus(packs(a, b), packs(c, d));
                // SAFETY: `at` + BYTES is at most the row's length.
                unsafe { store(row.as_mut_ptr().add(at).cast(), bytes) };
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use vertical_row;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::avx2;
    use super::*;
    use crate::simd::{Level, Vectors};

    /// Rows of `stride` bytes, of which there are two vectors' bytes, and so many weights, down to a row of `bytes`. What the
    /// panic says on a machine without AVX2 it says there too.
    fn down(stride: usize, weights: usize, bytes: usize, says: &str) {
        assert!(
            Vectors::detected(Level::Avx2).avx2().is_some(),
            "{says}: not run, as this machine has no AVX2"
        );
        let lines = Lines { data: &[0; 2 * avx2::BYTES], stride };
        vertical(avx2::VERTICAL, lines, &vec![1; weights], 8, &mut vec![0; bytes]);
    }

    #[test]
    #[should_panic(expected = "taps leave the rows")]
    fn rows_whose_distances_pass_the_largest_number_are_not_read() {
        // Twice the distance would be 0, and so inside.
        down(1 << (usize::BITS - 1), 3, avx2::BYTES, "taps leave the rows");
    }

    #[test]
    #[should_panic(expected = "taps leave the rows")]
    fn nothing_is_read_for_no_weights() {
        down(avx2::BYTES, 0, avx2::BYTES, "taps leave the rows");
    }

    #[test]
    #[should_panic(expected = "shorter than a vector")]
    fn a_row_that_no_vector_fits_is_not_written() {
        down(avx2::BYTES, 2, avx2::BYTES - 1, "the row is shorter than a vector");
    }

    #[test]
    fn the_last_row_may_end_with_the_data() {
        if Vectors::detected(Level::Avx2).avx2().is_some() {
            down(avx2::BYTES, 2, avx2::BYTES, "");
        }
    }
}
