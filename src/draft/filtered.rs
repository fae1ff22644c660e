//! The verbs that make a pixel of its neighbours: a pass of what there is, and a filtered view of it.

use super::{Draft, Plain};
use crate::error::{Error, bail, ensure};
use crate::geometry::Size;
use crate::plan::{CanvasFilter, MAX_KERNEL, Method};

impl Draft {
    pub(super) fn sharpness(&mut self, factor: f64) -> Result<(), Error> {
        ensure!(
            (0.0..=f64::from(f32::MAX)).contains(&factor),
            "sharpness: the factor must not be negative, but is {factor}"
        );
        let Size { width, height } = self.canvas.size;
        // Such an image is all edge.
        if width <= 2 || height <= 2 {
            return Ok(());
        }
        self.filtered(CanvasFilter::Sharpness { amount: (1.0 - factor) as f32 })
    }

    pub(super) fn gaussian_blur(&mut self, kernel: [u32; 2], sigma: [f64; 2]) -> Result<(), Error> {
        let Size { width, height } = self.canvas.size;
        for (length, edge) in kernel.into_iter().zip([width, height]) {
            if length % 2 == 0 || length as usize > MAX_KERNEL {
                bail!("gaussian_blur: kernel_size must be odd and at most {MAX_KERNEL}, but is {kernel:?}");
            }
            if length / 2 >= edge {
                bail!(
                    "gaussian_blur: a kernel_size of {kernel:?} needs an image that is larger than half of it, but this \
                     one is {width}x{height}: resize first"
                );
            }
        }
        // Beyond these, f32 has no weights.
        ensure!(
            sigma.iter().all(|sigma| (1e-6..=1e6).contains(sigma)),
            "gaussian_blur: sigma must be positive, but is {sigma:?}"
        );
        self.filtered(CanvasFilter::Gaussian { kernel, sigma: sigma.map(|sigma| sigma as f32) })
    }

    fn filtered(&mut self, filter: CanvasFilter) -> Result<(), Error> {
        self.flush_pass()?;
        if let Some(Plain { sampled, .. }) = self.canvas.plain() {
            sampled.method = Method::Filtered(filter);
        }
        Ok(())
    }
}
