//! The verbs that make a pixel of its neighbours: a pass of what there is, and a filtered view of it.

use super::{Draft, Plain};
use crate::error::{Error, bail, ensure};
use crate::geometry::Size;
use crate::plan::{CanvasFilter, MAX_KERNEL, MAX_MEDIAN, MAX_TILES, MAX_WEIGHT, MAX_WINDOW, Method};

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

    pub(super) fn box_blur(&mut self, kernel: [u32; 2]) -> Result<(), Error> {
        kernel.iter().try_for_each(|edge| check_window("box_blur: kernel_size", *edge, MAX_WINDOW))?;
        self.filtered(CanvasFilter::Mean { kernel })
    }

    pub(super) fn median_blur(&mut self, edge: u32) -> Result<(), Error> {
        check_window("median_blur: kernel_size", edge, MAX_MEDIAN)?;
        self.filtered(CanvasFilter::Median { edge })
    }

    pub(super) fn convolve(&mut self, rows: &[Vec<f64>]) -> Result<(), Error> {
        let columns = rows.first().map_or(0, Vec::len);
        ensure!(
            rows.iter().all(|row| row.len() == columns),
            "convolve: all rows of the kernel must have as many weights as the first, which has {columns}"
        );
        for edge in [columns, rows.len()] {
            check_window("convolve: the edges of the kernel", u32::try_from(edge).unwrap_or(0), MAX_WINDOW)?;
        }
        let most = f64::from(MAX_WEIGHT);
        ensure!(
            rows.iter().flatten().all(|weight| (-most..=most).contains(weight)),
            "convolve: weights must be in -{most}..={most}"
        );
        let weights = self.weights.len() as u32;
        self.weights.extend(rows.iter().flatten().map(|weight| *weight as f32));
        self.filtered(CanvasFilter::Kernel { kernel: [columns as u32, rows.len() as u32], weights })
    }

    pub(super) fn gauss_noise(
        &mut self,
        key: [u32; 2],
        mean: f64,
        std: f64,
        per_channel: bool,
    ) -> Result<(), Error> {
        ensure!((-255.0..=255.0).contains(&mean), "gauss_noise: mean must be in -255..=255, but is {mean}");
        ensure!((0.0..=255.0).contains(&std), "gauss_noise: std must be in 0..=255, but is {std}");
        let (mean, deviation) = (mean as f32, std as f32);
        self.filtered(CanvasFilter::Noise { key, mean, deviation, shared: !per_channel })
    }

    pub(super) fn multiplicative_noise(
        &mut self,
        key: [u32; 2],
        [low, high]: [f64; 2],
        per_channel: bool,
        elementwise: bool,
    ) -> Result<(), Error> {
        ensure!(
            (0.0..=255.0).contains(&low) && (low..=255.0).contains(&high),
            "multiplicative_noise: multiplier must be from 0 to 255, the smaller first, but is [{low}, {high}]"
        );
        let (low, span) = (low as f32, (high - low) as f32);
        self.filtered(CanvasFilter::Multiply { key, low, span, shared: !per_channel, elementwise })
    }

    pub(super) fn iso_noise(&mut self, key: [u32; 2], color_shift: f64, intensity: f64) -> Result<(), Error> {
        for (name, number) in [("color_shift", color_shift), ("intensity", intensity)] {
            ensure!((0.0..=1.0).contains(&number), "iso_noise: {name} must be from 0 to 1, but is {number}");
        }
        let hue = (color_shift * intensity) as f32;
        self.filtered(CanvasFilter::Sensor { key, hue, intensity: intensity as f32 })
    }

    pub(super) fn jpeg_compression(&mut self, quality: u32) -> Result<(), Error> {
        ensure!(
            (1..=100).contains(&quality),
            "jpeg_compression: quality must be from 1 to 100, but is {quality}"
        );
        self.filtered(CanvasFilter::Jpeg { quality })
    }

    pub(super) fn clahe(&mut self, clip_limit: f64, tiles: [u32; 2]) -> Result<(), Error> {
        ensure!(
            (1e-3..=1e6).contains(&clip_limit),
            "clahe: clip_limit must be in 0.001..=1000000, but is {clip_limit}"
        );
        ensure!(
            tiles.iter().all(|count| (1..=MAX_TILES).contains(count)),
            "clahe: tile_grid_size must be from 1 to {MAX_TILES} each, but is {tiles:?}"
        );
        self.filtered(CanvasFilter::Clahe { tiles, clip_limit })
    }

    pub(super) fn filtered(&mut self, filter: CanvasFilter) -> Result<(), Error> {
        self.flush_pass()?;
        if let Some(Plain { sampled, .. }) = self.canvas.plain() {
            sampled.method = Method::Filtered(filter);
        }
        Ok(())
    }
}

/// A window has a middle.
fn check_window(what: &str, edge: u32, most: usize) -> Result<(), Error> {
    ensure!(
        edge % 2 == 1 && edge as usize <= most,
        "{what} must be odd and at most {most}, but there is {edge}"
    );
    Ok(())
}
