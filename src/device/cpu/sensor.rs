//! The noise of a camera's sensor: a hue that varies, and grains that are lighter.

use super::hls::Hls;
use super::image_view::{Canvas, ImageView};
use crate::rng::{inverse_normal, philox};

/// How noise is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct SensorNoise {
    pub(super) key: [u32; 2],
    /// Standard deviation of the hue, in degrees.
    pub(super) hue: f32,
    /// How much lighter a grain is, of what is left to white; and grains of a pixel, over the deviation of the lightness.
    pub(super) intensity: f32,
}

/// What is counted on average, and how probable it is that nothing is.
#[derive(Clone, Copy, Debug)]
struct Rate {
    mean: f64,
    none: f64,
}

impl Rate {
    fn new(mean: f64) -> Self {
        // exp(-mean), of a mean of at most a half.
        let none = (1..=20).rev().fold(1.0, |none, k| 1.0 - none * mean / f64::from(k));
        Self { mean, none }
    }

    /// The number that 32 random bits stand for, of a Poisson distribution.
    fn count(self, bits: u32) -> u32 {
        let place = (f64::from(bits) + 0.5) / 4_294_967_296.0;
        let (mut part, mut below, mut count) = (self.none, self.none, 0);
        while place >= below && count < 16 {
            count += 1;
            part = part * self.mean / f64::from(count);
            below += part;
        }
        count
    }
}

/// Twice the lightness of a pixel, in levels.
fn twice_lightness(rgb: &[u8]) -> u32 {
    let (most, least) = (rgb[0].max(rgb[1]).max(rgb[2]), rgb[0].min(rgb[1]).min(rgb[2]));
    u32::from(most) + u32::from(least)
}

/// Standard deviation of the lightness of all pixels, from 0 to 1: of sums in whole numbers, which no order changes.
fn deviation(from: ImageView<'_>) -> f64 {
    let (mut sum, mut squares) = (0u64, 0u64);
    for y in 0..from.size.height as usize {
        for twice in from.row(y).chunks_exact(3).map(twice_lightness) {
            sum += u64::from(twice);
            squares += u64::from(twice * twice);
        }
    }
    let count = f64::from(from.size.width) * f64::from(from.size.height);
    let mean = sum as f64 / count;
    (squares as f64 / count - mean * mean).max(0.0).sqrt() / 510.0
}

pub(super) fn exposed(from: ImageView<'_>, to: &mut Canvas, noise: SensorNoise) {
    let rate = Rate::new(deviation(from) * f64::from(noise.intensity));
    let (width, stride) = (from.size.width, to.stride());
    for (y, out) in to.rows_mut().chunks_exact_mut(stride).enumerate() {
        for (x, (to, levels)) in
            out.as_chunks_mut().0.iter_mut().zip(from.row(y).as_chunks::<3>().0).enumerate()
        {
            let index = (y as u32).wrapping_mul(width).wrapping_add(x as u32);
            let [grains, turn, ..] = philox([index, 0, 0, 0], noise.key);
            let mut hls = Hls::of(levels.map(|level| f32::from(level) * (1.0 / 255.0)));
            hls.hue += inverse_normal(turn) as f32 * noise.hue;
            let lighter = rate.count(grains) as f32 * noise.intensity * (1.0 - hls.lightness);
            hls.lightness = (hls.lightness + lighter).min(1.0);
            *to = hls.rgb().map(|part| (part.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;

    #[test]
    fn counts_have_the_mean_and_the_zeros_of_their_distribution() {
        for mean in [0.0, 0.05, 0.5] {
            let rate = Rate::new(mean);
            assert!((rate.none - f64::exp(-mean)).abs() < 1e-15, "{mean}");
            let counts: Vec<u32> = (0..1 << 16).map(|at: u32| rate.count(at << 16 | 0x8000)).collect();
            let found = counts.iter().sum::<u32>() as f64 / 65_536.0;
            let zeros = counts.iter().filter(|count| **count == 0).count() as f64 / 65_536.0;
            assert!(
                (found - mean).abs() < 1e-3 && (zeros - f64::exp(-mean)).abs() < 1e-4,
                "{found}, {zeros}"
            );
        }
    }

    #[test]
    fn grains_are_as_many_as_the_lightness_deviates_and_as_light_as_is_asked_for() {
        let size = Size::new(200, 100);
        let (mut halves, mut to) = (Canvas::default(), Canvas::default());
        [&mut halves, &mut to].into_iter().for_each(|canvas| canvas.reset(size));
        // Half of it black and half of it white: a deviation of a half.
        for (at, level) in halves.rows_mut().iter_mut().enumerate() {
            *level = if at / 600 < 50 { 0 } else { 255 };
        }
        let noise = SensorNoise { key: [1, 2], hue: 0.0, intensity: 0.5 };
        exposed(halves.part(size.rect()), &mut to, noise);
        let black: Vec<u8> = to.rows_mut()[..30_000].iter().step_by(3).copied().collect();
        let share = |level: u8| black.iter().filter(|&&got| got == level).count() as f64 / 10_000.0;
        // A rate of a quarter: none, one and two grains, each half as dark as before.
        for (level, want) in [(0, 0.7788), (128, 0.1947), (255, 0.0243)] {
            assert!((share(level) - want).abs() < 0.015, "{level}: {}", share(level));
        }
        assert!(to.rows_mut()[30_000..].iter().all(|level| *level == 255));
    }
}
