//! Colour conversion: from a row of full-size components to a row of packed RGB.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;

use crate::jpeg::header::ColorModel;
use crate::simd::Vectors;

/// Converts `out.len() / 3` pixels. Each component row holds at least that many samples.
///
/// Inks are taken as Adobe stores them, inverted (255 is no ink), whether or not the file says so, as Pillow does:
/// with `mul(a, b) = round(a*b/255)`, red = k - mul(255 - c, k), where c and k are the stored bytes. For YCCK the
/// first three stored bytes are first c = 255 - R(Y, Cb, Cr) and so on.
pub(crate) fn row(vectors: Vectors, model: ColorModel, components: [&[u8]; 4], out: &mut [u8]) {
    let [first, second, third, black] = components;
    match model {
        ColorModel::Grey => grey(vectors, first, out),
        ColorModel::Rgb => rgb(vectors, first, second, third, out),
        ColorModel::YCbCr => ycc(vectors, first, second, third, out),
        ColorModel::Cmyk => {
            rgb(vectors, first, second, third, out);
            apply_black(black, out);
        }
        ColorModel::Ycck => {
            ycc(vectors, first, second, third, out);
            out.iter_mut().for_each(|value| *value = 255 - *value);
            apply_black(black, out);
        }
    }
}

fn grey(vectors: Vectors, luma: &[u8], out: &mut [u8]) {
    #[cfg(target_arch = "aarch64")]
    if let Some(neon) = vectors.neon() {
        return neon::rgb(neon, luma, luma, luma, out);
    }
    let _ = vectors;
    for (pixel, luma) in out.chunks_exact_mut(3).zip(luma) {
        pixel.fill(*luma);
    }
}

fn rgb(vectors: Vectors, red: &[u8], green: &[u8], blue: &[u8], out: &mut [u8]) {
    #[cfg(target_arch = "aarch64")]
    if let Some(neon) = vectors.neon() {
        return neon::rgb(neon, red, green, blue, out);
    }
    let _ = vectors;
    for (((pixel, red), green), blue) in out.chunks_exact_mut(3).zip(red).zip(green).zip(blue) {
        pixel.copy_from_slice(&[*red, *green, *blue]);
    }
}

fn apply_black(black: &[u8], out: &mut [u8]) {
    for (pixel, &black) in out.chunks_exact_mut(3).zip(black) {
        for value in pixel {
            let product = u32::from(255 - *value) * u32::from(black) + 128;
            *value = black.saturating_sub((((product >> 8) + product) >> 8) as u8);
        }
    }
}

fn ycc(vectors: Vectors, luma: &[u8], cb: &[u8], cr: &[u8], out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = vectors.avx2() {
        return avx2::ycc(avx2, luma, cb, cr, out);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(neon) = vectors.neon() {
        return neon::ycc(neon, luma, cb, cr, out);
    }
    let _ = vectors;
    ycc_scalar(luma, cb, cr, out);
}

/// JFIF's formula in 16.16 fixed point, rounded to nearest.
fn ycc_scalar(luma: &[u8], cb: &[u8], cr: &[u8], out: &mut [u8]) {
    for (((pixel, &luma), &cb), &cr) in out.chunks_exact_mut(3).zip(luma).zip(cb).zip(cr) {
        let (luma, b, r) = (i32::from(luma), i32::from(cb) - 128, i32::from(cr) - 128);
        let clamp = |value: i32| value.clamp(0, 255) as u8;
        pixel[0] = clamp(luma + ((91881 * r + 32768) >> 16));
        pixel[1] = clamp(luma + ((-22554 * b - 46802 * r + 32768) >> 16));
        pixel[2] = clamp(luma + ((116130 * b + 32768) >> 16));
    }
}
