//! Inverse DCT, libjpeg's ISLOW in the arithmetic of libjpeg-turbo's x86 code.
//!
//! That code computes in 16 and 32 bits, so extreme coefficients wrap or saturate at certain steps. The scalar version
//! here wraps and saturates at the same steps, so it is the oracle of the vector versions.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod reduced;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod targets;

use super::quant::Quant;
use super::target::Target;

/// Dequantises and transforms one block of eight samples a side into `planes`.
pub(crate) fn transform(coefficients: &[i16; 64], quant: &Quant, target: Target, planes: &mut [u8]) {
    let mut x: [i16; 64] = std::array::from_fn(|i| coefficients[i].wrapping_mul(quant.0[i]));
    let flat = coefficients[8..].iter().all(|&coefficient| coefficient == 0);
    for column in 0..8 {
        let values = if flat {
            // libjpeg-turbo's shortcut wraps where the full transform would saturate.
            [x[column].wrapping_shl(2); 8]
        } else {
            one_dimension(std::array::from_fn(|row| x[row * 8 + column]), 11)
        };
        for (row, value) in values.into_iter().enumerate() {
            x[row * 8 + column] = value;
        }
    }
    for (row, values) in x.chunks_exact(8).enumerate() {
        let values = one_dimension(std::array::from_fn(|column| values[column]), 18);
        let out = &mut planes[target.offset + row * target.stride..][..8];
        for (out, value) in out.iter_mut().zip(values) {
            *out = level_shift(value);
        }
    }
}

/// Fills a block whose only coefficient is DC.
pub(crate) fn fill_dc(dc: i16, quant: &Quant, target: Target, planes: &mut [u8]) {
    let column = i32::from(dc.wrapping_mul(quant.0[0]).wrapping_shl(2));
    fill(level_shift(((column + 16) >> 5) as i16), target, planes);
}

/// Fills a block with one value.
pub(crate) fn fill(value: u8, target: Target, planes: &mut [u8]) {
    for row in 0..target.size {
        let row = &mut planes[target.offset + row * target.stride..][..target.size];
        match row.first_chunk_mut() {
            Some(eight) => *eight = [value; 8],
            None => row.fill(value),
        }
    }
}

fn level_shift(value: i16) -> u8 {
    (value.clamp(-128, 127) + 128) as u8
}

/// Eight values in, eight out, descaled by `shift` bits. Constants are the cosines times 2^13, folded so that each
/// product takes 16-bit inputs, as in `pmaddwd`.
fn one_dimension(x: [i16; 8], shift: u32) -> [i16; 8] {
    let dot = |a: i16, ca: i32, b: i16, cb: i32| (i32::from(a) * ca).wrapping_add(i32::from(b) * cb);
    let t2 = dot(x[2], 4433, x[6], -10704);
    let t3 = dot(x[2], 10703, x[6], 4433);
    let t0 = i32::from(x[0].wrapping_add(x[4])) << 13;
    let t1 = i32::from(x[0].wrapping_sub(x[4])) << 13;
    let even = [t0.wrapping_add(t3), t1.wrapping_add(t2), t1.wrapping_sub(t2), t0.wrapping_sub(t3)];
    let (z3, z4) = (x[7].wrapping_add(x[3]), x[5].wrapping_add(x[1]));
    let (z3, z4) = (dot(z3, -6436, z4, 9633), dot(z3, 9633, z4, 6437));
    let odd = [
        dot(x[7], -7373, x[1], 4926).wrapping_add(z4),
        dot(x[5], -20995, x[3], 4177).wrapping_add(z3),
        dot(x[5], -4176, x[3], -20995).wrapping_add(z4),
        dot(x[7], -4927, x[1], -7373).wrapping_add(z3),
    ];
    let descale = |v: i32| (v.wrapping_add(1 << (shift - 1)) >> shift).clamp(-32768, 32767) as i16;
    std::array::from_fn(|i| {
        descale(if i < 4 { even[i].wrapping_add(odd[i]) } else { even[7 - i].wrapping_sub(odd[7 - i]) })
    })
}
