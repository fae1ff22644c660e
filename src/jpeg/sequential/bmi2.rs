//! The row decoder built for BMI2, whose shifts by a variable cost one cycle where the plain ones cost two or three.
#![expect(unsafe_code, reason = "a call into a function built for BMI2")]

use super::{RowResult, State, Whole};
use crate::jpeg::pending::Pending;
use crate::jpeg::stream::Stream;
use crate::jpeg::strips::Strips;
use crate::simd::Avx2;

/// See [`Whole::decode_row`].
pub(super) fn decode_row(
    _: Avx2,
    whole: &Whole<'_>,
    row: usize,
    state: &mut State,
    stream: &mut Stream,
    strips: &mut Strips,
    pending: &mut Pending,
) -> RowResult {
    // SAFETY: the `Avx2` value proves that the machine has BMI1 and BMI2 too.
    unsafe { decode_row_bmi2(whole, row, state, stream, strips, pending) }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn decode_row_bmi2(
    whole: &Whole<'_>,
    row: usize,
    state: &mut State,
    stream: &mut Stream,
    strips: &mut Strips,
    pending: &mut Pending,
) -> RowResult {
    whole.decode_row(row, state, stream, strips, pending)
}
