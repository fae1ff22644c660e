//! Noise on every pixel of an image: numbers that its place says, so that no order matters.

use super::image_view::{Canvas, ImageView};
use crate::rng::{inverse_normal, philox};

/// How noise is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grain {
    pub(super) key: [u32; 2],
    pub(super) mean: f32,
    pub(super) deviation: f32,
    /// Whether a pixel's channels get the same number.
    pub(super) shared: bool,
}

/// T(x + (n * deviation + mean)) with standard normal numbers n, of one block of the counter hash for each pixel.
pub(super) fn grained(from: ImageView<'_>, to: &mut Canvas, grain: Grain) {
    let (width, stride) = (from.size.width, to.stride());
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        for (x, (to, levels)) in out.chunks_exact_mut(3).zip(from.row(y).chunks_exact(3)).enumerate() {
            let index = (y as u32).wrapping_mul(width).wrapping_add(x as u32);
            let [r, g, b, _] = philox([index, 0, 0, 0], grain.key);
            let first = inverse_normal(r) as f32;
            let numbers = match grain.shared {
                true => [first; 3],
                false => [first, inverse_normal(g) as f32, inverse_normal(b) as f32],
            };
            for ((to, &level), number) in to.iter_mut().zip(levels).zip(numbers) {
                let sum = f32::from(level) + (number * grain.deviation + grain.mean);
                *to = sum.clamp(0.0, 255.0) as u8;
            }
        }
    }
}

/// What levels are multiplied by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors {
    pub(super) key: [u32; 2],
    pub(super) low: f32,
    pub(super) span: f32,
    /// Whether a pixel's channels get the same factor.
    pub(super) shared: bool,
    /// Whether each pixel gets a factor of its own.
    pub(super) elementwise: bool,
}

/// T(x * (u * span + low)) with uniform numbers u from 0 to 1, of one block of the counter hash for each pixel.
pub(super) fn multiplied(from: ImageView<'_>, to: &mut Canvas, factors: Factors) {
    let (width, stride) = (from.size.width, to.stride());
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        for (x, (to, levels)) in out.chunks_exact_mut(3).zip(from.row(y).chunks_exact(3)).enumerate() {
            let index = match factors.elementwise {
                true => (y as u32).wrapping_mul(width).wrapping_add(x as u32),
                false => 0,
            };
            let [r, g, b, _] = philox([index, 0, 0, 0], factors.key);
            let words = if factors.shared { [r; 3] } else { [r, g, b] };
            for ((to, &level), bits) in to.iter_mut().zip(levels).zip(words) {
                let uniform = (bits >> 8) as f32 * (1.0 / 16_777_216.0);
                *to = (f32::from(level) * (uniform * factors.span + factors.low)).clamp(0.0, 255.0) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;

    fn noise(shared: bool) -> Vec<[f64; 3]> {
        let (mut grey, mut to) = (Canvas::default(), Canvas::default());
        let size = Size::new(160, 120);
        [&mut grey, &mut to].into_iter().for_each(|canvas| canvas.reset(size));
        grey.rows_mut().fill(128);
        let grain = Grain { key: [3, 4], mean: 5.5, deviation: 20.0, shared };
        grained(grey.part(size.rect()), &mut to, grain);
        to.rows_mut()
            .as_chunks()
            .0
            .iter()
            .map(|pixel| pixel.map(|level: u8| f64::from(level) - 128.0))
            .collect()
    }

    #[test]
    fn noise_has_its_mean_and_deviation_and_no_pattern() {
        let pixels = noise(false);
        let mean = |of: &dyn Fn(usize) -> f64, count: usize| (0..count).map(of).sum::<f64>() / count as f64;
        for c in 0..3 {
            // Half a level is cut off in the mean.
            let middle = mean(&|at| pixels[at][c], pixels.len());
            assert!((middle - 5.0).abs() < 0.6, "{middle}");
            let variance = mean(&|at| (pixels[at][c] - middle).powi(2), pixels.len());
            assert!((variance - 400.0).abs() < 18.0, "{variance}");
            // With the pixel on the right, with the one below, and with the next channel.
            for apart in [1, 160] {
                let product = |at: usize| (pixels[at][c] - middle) * (pixels[at + apart][c] - middle);
                let correlation = mean(&product, pixels.len() - apart) / variance;
                assert!(correlation.abs() < 0.03, "{apart} apart: {correlation}");
            }
            let product = |at: usize| (pixels[at][c] - 5.0) * (pixels[at][(c + 1) % 3] - 5.0);
            let correlation = mean(&product, pixels.len()) / variance;
            assert!(correlation.abs() < 0.03, "channels: {correlation}");
        }
        assert!(noise(true).iter().all(|[r, g, b]| r == g && g == b));
    }

    #[test]
    fn factors_are_spread_over_their_range_for_all_pixels_or_for_each() {
        let size = Size::new(120, 100);
        let (mut grey, mut to) = (Canvas::default(), Canvas::default());
        [&mut grey, &mut to].into_iter().for_each(|canvas| canvas.reset(size));
        grey.rows_mut().fill(100);
        let mut of = |shared: bool, elementwise: bool| -> Vec<[u8; 3]> {
            let factors = Factors { key: [5, 6], low: 0.5, span: 2.0, shared, elementwise };
            multiplied(grey.part(size.rect()), &mut to, factors);
            to.rows_mut().as_chunks().0.to_vec()
        };
        let pixels = of(false, true);
        for c in 0..3 {
            let mean = pixels.iter().map(|pixel| f64::from(pixel[c])).sum::<f64>() / 12_000.0;
            // Half a level is cut off.
            assert!((mean - 149.5).abs() < 2.0, "{mean}");
            assert!(pixels.iter().all(|pixel| (50..250).contains(&pixel[c])));
        }
        assert!(of(true, true).iter().all(|[r, g, b]| r == g && g == b));
        let all = of(false, false);
        assert!(all.iter().all(|pixel| *pixel == pixels[0]) && pixels[0][0] != pixels[0][1]);
    }
}
