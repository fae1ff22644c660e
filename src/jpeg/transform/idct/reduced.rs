//! Inverse DCTs that give four or two samples a side instead of eight: libjpeg's reduced-size transforms.
//!
//! They evaluate the low frequencies at the centres of the larger pixels and leave the highest ones out. The
//! constants are cosines times 2^13.

use crate::jpeg::transform::quant::Quant;
use crate::jpeg::transform::target::Target;

/// Dequantises and transforms one block into `target.size` samples a side, which must be 4 or 2.
pub(crate) fn transform(coefficients: &[i16; 64], quant: &Quant, target: Target, planes: &mut [u8]) {
    match target.size {
        4 => separable(four, [1, 2, 3, 5, 6, 7], coefficients, quant, target, planes),
        _ => separable(two, [1, 3, 5, 7, 7, 7], coefficients, quant, target, planes),
    }
}

/// Columns, then rows; `used` are the columns that the row pass reads, besides the first.
#[inline(always)]
fn separable<const N: usize>(
    one_dimension: impl Fn([i32; 8], u32) -> [i32; N],
    used: [usize; 6],
    coefficients: &[i16; 64],
    quant: &Quant,
    target: Target,
    planes: &mut [u8],
) {
    let mut columns = [[0; 8]; N];
    let mut column = |at: usize| {
        let value = |row: usize| i32::from(coefficients[row * 8 + at].wrapping_mul(quant.0[row * 8 + at]));
        let values = one_dimension(std::array::from_fn(value), 11);
        for (row, value) in columns.iter_mut().zip(values) {
            row[at] = value;
        }
    };
    column(0);
    used.into_iter().for_each(&mut column);
    for (y, row) in columns.into_iter().enumerate() {
        let values = one_dimension(row, 18);
        let out = &mut planes[target.offset + y * target.stride..][..N];
        for (out, value) in out.iter_mut().zip(values) {
            *out = (value.clamp(-128, 127) + 128) as u8;
        }
    }
}

/// Eight values in, four out, descaled by `shift` bits and the one bit by which four are fewer than eight.
#[inline(always)]
fn four(x: [i32; 8], shift: u32) -> [i32; 4] {
    let dot = |pairs: [(i32, i32); 4]| {
        pairs.into_iter().fold(0i32, |sum, (a, c)| sum.wrapping_add(a.wrapping_mul(c)))
    };
    let mean = x[0] << 14;
    let slope = dot([(x[2], 15137), (x[6], -6270), (0, 0), (0, 0)]);
    let (outer, inner) = (mean.wrapping_add(slope), mean.wrapping_sub(slope));
    let odd_inner = dot([(x[7], -1730), (x[5], 11893), (x[3], -17799), (x[1], 8697)]);
    let odd_outer = dot([(x[7], -4176), (x[5], -4926), (x[3], 7373), (x[1], 20995)]);
    let sums = [
        outer.wrapping_add(odd_outer),
        inner.wrapping_add(odd_inner),
        inner.wrapping_sub(odd_inner),
        outer.wrapping_sub(odd_outer),
    ];
    sums.map(|sum| sum.wrapping_add(1 << shift) >> (shift + 1))
}

/// Eight values in, two out, descaled by `shift` bits and the two by which two are fewer than eight.
#[inline(always)]
fn two(x: [i32; 8], shift: u32) -> [i32; 2] {
    let mean = x[0] << 15;
    let odd = [(x[7], -5906), (x[5], 6967), (x[3], -10426), (x[1], 29692)];
    let odd = odd.into_iter().fold(0i32, |sum, (a, c)| sum.wrapping_add(a.wrapping_mul(c)));
    [mean.wrapping_add(odd), mean.wrapping_sub(odd)].map(|sum| sum.wrapping_add(2 << shift) >> (shift + 2))
}
