//! What a JPEG of some quality makes of an image: libjpeg's whole numbers from pixels to coefficients and back. Nothing is
//! written, since the entropy coding between them loses nothing.

use super::image_view::{Canvas, ImageView};
use crate::device::quantisation;

/// Samples along the edge of a unit, which is a block of each colour difference.
const UNIT: usize = 16;

/// A component's samples, as wide and high as whole units make it.
struct Component {
    pitch: usize,
    samples: Vec<u8>,
}

impl Component {
    fn new(across: usize, down: usize, edge: usize) -> Self {
        Self { pitch: across * edge, samples: vec![0; across * edge * down * edge] }
    }

    /// Stores what is left of the 8x8 samples whose first one is at x, y.
    fn store(&mut self, [x, y]: [usize; 2], samples: [i32; 64], steps: &[u32]) {
        for (row, samples) in lossy(samples, steps).chunks_exact(8).enumerate() {
            let at = (y + row) * self.pitch + x;
            let to = &mut self.samples[at..at + 8];
            to.iter_mut().zip(samples).for_each(|(to, sample)| *to = (sample + 128).clamp(0, 255) as u8);
        }
    }

    fn at(&self, x: usize, y: usize) -> i32 {
        self.samples[y * self.pitch + x].into()
    }
}

pub(super) fn compressed(from: ImageView<'_>, to: &mut Canvas, quality: u32) {
    let [width, height] = [from.size.width, from.size.height].map(|edge| edge as usize);
    let [across, down] = [width, height].map(|edge| edge.div_ceil(UNIT));
    let steps = quantisation::tables(quality);
    let (luma_steps, chroma_steps) = steps.split_at(64);
    let mut luma = Component::new(across, down, UNIT);
    let mut chroma = [(); 2].map(|()| Component::new(across, down, UNIT / 2));
    let pixel = |x: usize, y: usize| {
        let levels = &from.row(y.min(height - 1))[x.min(width - 1) * 3..];
        colours([levels[0], levels[1], levels[2]])
    };
    let places = (0..down).flat_map(|y| (0..across).map(move |x| [x * UNIT, y * UNIT]));
    for [left, top] in places {
        for at in [[0, 0], [8, 0], [0, 8], [8, 8]] {
            let [x, y] = [left + at[0], top + at[1]];
            luma.store([x, y], std::array::from_fn(|i| pixel(x + i % 8, y + i / 8)[0] - 128), luma_steps);
        }
        for (component, chroma) in chroma.iter_mut().enumerate() {
            let mean = |i: usize| {
                // Below the image its last row of means is repeated, and not its last pixels.
                let (x, y) = (left + 2 * (i % 8), (top + 2 * (i / 8)).min((height - 1) / 2 * 2));
                let four = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
                let sum: i32 = four.iter().map(|&(x, y)| pixel(x, y)[component + 1]).sum();
                ((sum + 1 + (i % 2) as i32) >> 2) - 128
            };
            chroma.store([left / 2, top / 2], std::array::from_fn(mean), chroma_steps);
        }
    }
    let halves = [width.div_ceil(2), height.div_ceil(2)];
    let stride = to.stride();
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        for (x, to) in out.as_chunks_mut().0.iter_mut().enumerate() {
            let [blue, red] = chroma.each_ref().map(|component| enlarged(component, halves, [x, y]) - 128);
            *to = levels(luma.at(x, y), blue, red);
        }
    }
}

/// Luma and two colour differences of a pixel, in 16.16 fixed point as JFIF has them.
fn colours(rgb: [u8; 3]) -> [i32; 3] {
    let [r, g, b] = rgb.map(i32::from);
    let middle = (128 << 16) + 32_767;
    [
        (19_595 * r + 38_470 * g + 7_471 * b + 32_768) >> 16,
        (-11_059 * r - 21_709 * g + 32_768 * b + middle) >> 16,
        (32_768 * r - 27_439 * g - 5_329 * b + middle) >> 16,
    ]
}

/// The way back, from differences that are counted from 0.
fn levels(luma: i32, blue: i32, red: i32) -> [u8; 3] {
    [
        luma + ((91_881 * red + 32_768) >> 16),
        luma + ((-22_554 * blue - 46_802 * red + 32_768) >> 16),
        luma + ((116_130 * blue + 32_768) >> 16),
    ]
    .map(|level| level.clamp(0, 255) as u8)
}

/// A pixel's colour difference: three quarters of the nearer sample along each axis; the sample where there are two or one.
fn enlarged(component: &Component, [columns, rows]: [usize; 2], [x, y]: [usize; 2]) -> i32 {
    let beside = |at: usize, count: usize| match at % 2 {
        0 => (at / 2).saturating_sub(1),
        _ => (at / 2 + 1).min(count - 1),
    };
    if columns <= 2 {
        return component.at(x / 2, y / 2);
    }
    let (near, far) = (y / 2, beside(y, rows));
    let sum = |column: usize| 3 * component.at(column, near) + component.at(column, far);
    (3 * sum(x / 2) + sum(beside(x, columns)) + 8 - (x % 2) as i32) >> 4
}

/// Samples, which are counted from 0, through the transform, the steps and back.
fn lossy(mut samples: [i32; 64], steps: &[u32]) -> [i32; 64] {
    for row in samples.as_chunks_mut().0 {
        *row = forward(*row, [2, 0], 11);
    }
    for column in 0..8 {
        let lines: [i32; 8] = std::array::from_fn(|row| samples[row * 8 + column]);
        let mut lines = forward(lines, [0, 2], 15);
        for (row, value) in lines.iter_mut().enumerate() {
            *value = stepped(*value, steps[row * 8 + column] as i32);
        }
        for (row, value) in inverse(lines, 11).into_iter().enumerate() {
            samples[row * 8 + column] = value;
        }
    }
    for row in samples.as_chunks_mut().0 {
        *row = inverse(*row, 18);
    }
    samples
}

/// The nearest multiple of a step, of two the one further from 0; values are eight times as large as they are meant.
fn stepped(value: i32, step: i32) -> i32 {
    let count = (value.abs() + 4 * step) / (8 * step);
    if value < 0 { -count * step } else { count * step }
}

fn rounded(value: i32, bits: u32) -> i32 {
    if bits == 0 { value } else { (value + (1 << (bits - 1))) >> bits }
}

/// One line of libjpeg's accurate transform: sums are shifted up or down by so many bits, and products down by `shift`.
fn forward(x: [i32; 8], [up, down]: [u32; 2], shift: u32) -> [i32; 8] {
    let [p, q, r, s] = [0, 1, 2, 3].map(|i| x[i] + x[7 - i]);
    let [d, c, b, a] = [0, 1, 2, 3].map(|i| x[i] - x[7 - i]);
    let sum = |value: i32| rounded(value << up, down);
    let product = |value: i32| rounded(value, shift);
    let turned = (q - r + p - s) * 4_433;
    let both = (a + c + b + d) * 9_633;
    let (first, second) = ((a + d) * -7_373, (b + c) * -20_995);
    let (third, fourth) = ((a + c) * -16_069 + both, (b + d) * -3_196 + both);
    [
        sum(p + s + q + r),
        product(d * 12_299 + first + fourth),
        product(turned + (p - s) * 6_270),
        product(c * 25_172 + second + third),
        sum(p + s - q - r),
        product(b * 16_819 + second + fourth),
        product(turned - (q - r) * 15_137),
        product(a * 2_446 + first + third),
    ]
}

/// One line of the way back.
fn inverse(x: [i32; 8], shift: u32) -> [i32; 8] {
    let turned = (x[2] + x[6]) * 4_433;
    let (sharp, flat) = (turned - x[6] * 15_137, turned + x[2] * 6_270);
    let (sum, difference) = ((x[0] + x[4]) << 13, (x[0] - x[4]) << 13);
    let even = [sum + flat, difference + sharp, difference - sharp, sum - flat];
    let both = (x[7] + x[3] + x[5] + x[1]) * 9_633;
    let (first, second) = ((x[7] + x[1]) * -7_373, (x[5] + x[3]) * -20_995);
    let (third, fourth) = ((x[7] + x[3]) * -16_069 + both, (x[5] + x[1]) * -3_196 + both);
    let odd = [
        x[1] * 12_299 + first + fourth,
        x[3] * 25_172 + second + third,
        x[5] * 16_819 + second + fourth,
        x[7] * 2_446 + first + third,
    ];
    std::array::from_fn(|i| rounded(if i < 4 { even[i] + odd[i] } else { even[7 - i] - odd[7 - i] }, shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;

    /// Edges, gradients and fine patterns.
    fn level(x: u32, y: u32, c: u32) -> u8 {
        (x * (5 + c) + y * (3 + 2 * c) + (x * y) % (7 + c) * 9) as u8
    }

    /// FNV-1a.
    fn checksum(bytes: &[u8]) -> u64 {
        let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    }

    #[test]
    fn pixels_are_those_that_pillow_loads_of_what_it_saved() {
        // Pillow 13 with libjpeg-turbo: save(..., quality=..., subsampling="4:2:0"), and the checksum of what it loads.
        for ([width, height], quality, want) in [
            ([37, 30], 10, 0x86d7_d098_4fb5_7552),
            ([64, 48], 50, 0x2089_a787_a298_cc8a),
            ([50, 34], 90, 0x0e05_69ab_41ee_80b4),
            ([3, 2], 75, 0xa00b_2bff_ce58_3ec5),
            ([1, 1], 100, 0xd94d_1218_6c0f_2fb7),
            ([129, 5], 1, 0x56ae_301e_d1d2_6e35),
        ] {
            let size = Size::new(width, height);
            let (mut image, mut to) = (Canvas::default(), Canvas::default());
            [&mut image, &mut to].into_iter().for_each(|canvas| canvas.reset(size));
            for (at, to) in (0..).zip(image.rows_mut()) {
                *to = level(at / 3 % width, at / 3 / width, at % 3);
            }
            compressed(image.part(size.rect()), &mut to, quality);
            assert_eq!(checksum(to.rows_mut()), want, "{size}, quality {quality}");
        }
    }
}
