//! GaussianBlur: blurs by a random amount.

use super::prelude::*;
use crate::plan::MAX_KERNEL;

/// Blurs with a Gaussian kernel of random standard deviation (torchvision's `GaussianBlur`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GaussianBlur {
    /// Edge length of the kernel, or `[columns, rows]`; each odd, from 1 to 127. Images must be larger than half the
    /// kernel.
    pub kernel_size: KernelSize,
    /// Standard deviation in pixels, or the range that it is drawn from; from 1e-6 to 1e6.
    #[serde(default)]
    pub sigma: Sigma,
}

/// Edges of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "an odd number, or [columns, rows]")]
pub enum KernelSize {
    /// As many columns as rows.
    Square(u32),
    /// Columns and rows.
    Both([u32; 2]),
}

variants_from!(KernelSize { Square(u32), Both([u32; 2]) });

impl KernelSize {
    /// Columns and rows.
    pub const fn both(self) -> [u32; 2] {
        match self {
            KernelSize::Square(edge) => [edge, edge],
            KernelSize::Both(both) => both,
        }
    }
}

/// A standard deviation in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number, or [min, max]")]
pub enum Sigma {
    /// Always this.
    Fixed(f64),
    /// Minimum and maximum.
    Range([f64; 2]),
}

impl Default for Sigma {
    fn default() -> Self {
        Sigma::Range([0.1, 2.0])
    }
}

variants_from!(Sigma { Fixed(f64), Range([f64; 2]) });

impl Sigma {
    /// Minimum and maximum.
    pub const fn range(self) -> [f64; 2] {
        match self {
            Sigma::Fixed(sigma) => [sigma, sigma],
            Sigma::Range(range) => range,
        }
    }
}

impl GaussianBlur {
    /// Blurs with torchvision's range of widths, 0.1 to 2.
    pub fn new(kernel_size: impl Into<KernelSize>) -> Self {
        Self { kernel_size: kernel_size.into(), sigma: Sigma::default() }
    }

    setters! {
        /// Sets the standard deviation, or the range that it is drawn from.
        sigma: into Sigma;
    }

    /// The standard deviation, along both axes.
    pub fn make_params(&self, rng: &mut dyn Draws) -> f64 {
        let [low, high] = self.sigma.range().map(|sigma| sigma as f32);
        f64::from(rng.uniform_between(low, high))
    }
}

impl Augment for GaussianBlur {
    fn check(&self) -> Result<()> {
        let kernel = self.kernel_size.both();
        if !kernel.iter().all(|&edge| edge % 2 == 1 && edge as usize <= MAX_KERNEL) {
            bail!("GaussianBlur: kernel_size should be odd and at most {MAX_KERNEL}, but is {kernel:?}");
        }
        check::range(self.name(), "sigma", self.sigma.range(), 1e-6, 1e6)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let sigma = self.make_params(rng);
        draft.apply(Op::GaussianBlur { kernel_size: self.kernel_size.both(), sigma: [sigma; 2] });
    }
}
