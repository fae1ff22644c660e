//! Inverse DCTs that give four or two samples a side instead of eight: libjpeg's reduced-size transforms.
//!
//! They evaluate the low frequencies at the centres of the larger pixels and leave the highest ones out. The
//! constants are cosines times 2^13.

use crate::jpeg::transform::quant::Quant;
use crate::jpeg::transform::target::Target;

/// Dequantises and transforms one block into `target.size` samples a side, which must be 4 or 2.
pub(crate) fn transform(coefficients: &[i16; 64], quant: &Quant, target: Target, planes: &mut [u8]) {
    let value = |row: usize, column: usize| {
        let at = row * 8 + column;
        coefficients[at].wrapping_mul(quant.0[at])
    };
    let saturated = |value: i32| value.clamp(i16::MIN.into(), i16::MAX.into());
    if target.size == 4 {
        // libjpeg-turbo's shortcut wraps where the full transform would saturate.
        let unused = |at: usize| matches!(at / 8, 0 | 4);
        let is_flat = (0..64).all(|at| unused(at) || coefficients[at] == 0);
        let columns = |column: usize| match is_flat {
            true => [value(0, column).wrapping_shl(2).into(); 4],
            false => four(std::array::from_fn(|row| value(row, column).into()), 11).map(saturated),
        };
        return rows(four, std::array::from_fn(columns), target, planes);
    }
    let columns = |column: usize| {
        let values = two(std::array::from_fn(|row| value(row, column).into()), 11);
        // The first column stays in 32 bits there.
        if column == 0 { values } else { values.map(saturated) }
    };
    rows(two, std::array::from_fn(columns), target, planes);
}

/// The block as one sample, of DC alone. libjpeg-turbo looks it up in a table of 1024 levels, without vectors: what is beyond wraps.
pub(crate) fn one(dc: i16, quant: &Quant, target: Target, planes: &mut [u8]) {
    let level = (i32::from(dc) * i32::from(quant.0[0]) + 4) >> 3;
    let level = (level << 22) >> 22;
    planes[target.offset] = (level.clamp(-128, 127) + 128) as u8;
}

/// Transforms the rows of what the columns have given.
#[inline(always)]
fn rows<const N: usize>(
    one_dimension: impl Fn([i32; 8], u32) -> [i32; N],
    columns: [[i32; N]; 8],
    target: Target,
    planes: &mut [u8],
) {
    for y in 0..N {
        let values = one_dimension(columns.map(|column| column[y]), 18);
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
