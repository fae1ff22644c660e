//! ElasticTransform: moves pixels as smoothed noise says.

use super::prelude::*;
use crate::rng::normal_quantile;

/// Moves each pixel as far as smoothed noise says, with probability `p` (Albumentations' `ElasticTransform`).
///
/// An image moves most at its edges and corners, since noise is repeated beyond them before it is smoothed. Where it moves as
/// far as `sigma` it may be folded over itself; a label then goes to one of the places that show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ElasticTransform {
    /// Pixels for the greatest noise of all pixels, before it is smoothed; from 0 to 100000.
    pub alpha: f64,
    /// Standard deviation of the smoothing in pixels, from 1 to 1000. On large images a small one is refused: the field would
    /// have more than 262144 nodes, which are at most `sigma` apart.
    pub sigma: f64,
    /// `nearest` or `bilinear`.
    pub interpolation: Interpolation,
    /// Whether x and y move alike.
    pub same_dxdy: bool,
    /// `gaussian` or `uniform`.
    pub noise_distribution: NoiseDistribution,
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

/// How the noise of a pixel is distributed, before it is smoothed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoiseDistribution {
    /// Normal, the greatest of all pixels being 1.
    #[default]
    Gaussian,
    /// Uniform from -1 to 1.
    Uniform,
}

impl Default for ElasticTransform {
    fn default() -> Self {
        Self::new(1.0, 50.0)
    }
}

impl ElasticTransform {
    /// With this factor, and this standard deviation of the smoothing in pixels.
    pub fn new(alpha: f64, sigma: f64) -> Self {
        Self {
            alpha,
            sigma,
            interpolation: Interpolation::Bilinear,
            same_dxdy: false,
            noise_distribution: NoiseDistribution::Gaussian,
            fill: Fill::default(),
            p: check::half(),
        }
    }

    setters! {
        /// Sets how pixels are made.
        interpolation: Interpolation;
        /// Sets whether x and y move alike.
        same_dxdy: bool;
        /// Sets how noise is distributed.
        noise_distribution: NoiseDistribution;
        /// Sets the fill colour.
        fill: into Fill;
        /// Sets the probability of a change.
        p: f32;
    }

    /// The standard deviation of a pixel's noise, of an image of size `of`.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> f64 {
        match self.noise_distribution {
            NoiseDistribution::Uniform => 3f64.sqrt().recip(),
            NoiseDistribution::Gaussian => {
                let numbers = of.pixels() as f64 * if self.same_dxdy { 1.0 } else { 2.0 };
                greatest(numbers, f64::from(rng.uniform())).recip()
            }
        }
    }
}

/// What the greatest of many normal numbers, without their signs, is less than with probability `part`: the x that each of them
/// is below with probability part^(1 / numbers).
fn greatest(numbers: f64, part: f64) -> f64 {
    // Both tails together, exact also where they are tiny.
    let tails = -(part.max(1e-12).ln() / numbers).exp_m1();
    // An image of one pixel has no greatest number to speak of.
    (-normal_quantile(0.5 * tails)).max(0.1)
}

by_own_chance! {
    ElasticTransform,
    check: |this, name| {
        check::within(name, "alpha", this.alpha, [0.0, 1e5])?;
        check::within(name, "sigma", this.sigma, [1.0, 1e3])?;
        check::warp_filter(name, this.interpolation)
    },
    plan: |this, draft, rng| {
        let alpha = this.alpha * this.make_params(draft.size(), rng);
        let key = [rng.bits(), rng.bits()];
        let Self { sigma, same_dxdy, interpolation, fill, .. } = *this;
        draft.apply(Op::ElasticTransform { key, alpha, sigma, same_dxdy, interpolation, fill });
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_of_normal_numbers_is_where_tables_have_it() {
        // Of one number, and of two, which are both below 1.96 in 0.95^2 of all cases.
        for (numbers, part, want) in
            [(1.0, 0.5, 0.674_489_8), (1.0, 0.95, 1.959_964), (2.0, 0.9025, 1.959_964)]
        {
            let got = greatest(numbers, part);
            assert!((got - want).abs() < 1e-5, "{numbers}, {part}: {got}");
        }
        // Few of 800,000 numbers are beyond 5, and one about beyond 4.8.
        assert!((4.7..5.1).contains(&greatest(8e5, 0.5)), "{}", greatest(8e5, 0.5));
        assert!(greatest(8e5, 0.0).is_finite());
    }
}
