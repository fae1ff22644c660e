//! Filtered canvases of a plan as jobs of the kernels that make them.

use super::layout::{
    FILTER_CLAHE, FILTER_ELASTIC, FILTER_GAUSSIAN, FILTER_GRID, FILTER_JPEG, FILTER_KERNEL, FILTER_MEAN,
    FILTER_MEDIAN, FILTER_MULTIPLY, FILTER_NOISE, FILTER_RADIAL, FILTER_SENSOR, FILTER_SHARPNESS, FilterJob,
};
use super::layout::{TILE_HEIGHT, TILE_WIDTH};
use super::lower::Lowering;
use super::schedule::Kernel;
use super::source::Canvas;
use crate::device::tiling::Tiling;
use crate::device::{gaussian, quantisation};
use crate::error::Cause;
use crate::geometry::Orientation;
use crate::plan::distortion::Lookup;
use crate::plan::{CanvasFilter, LayerSource, Sampled};

impl Lowering<'_> {
    /// Filters a whole canvas; returns the source of the result and the level on which it is there.
    pub(super) fn filtered(&mut self, sampled: &Sampled, filter: CanvasFilter) -> Result<(u32, u32), Cause> {
        let LayerSource::Pass(pass) = sampled.from else {
            return Err("a filter of an image that is no pass: a bug".into());
        };
        let pass = self.canvas_of(pass)?;
        let place = self.tables.reserve(Canvas::bytes(pass.size));
        let (source, pitch) = (self.source(sampled, sampled.clip)?, Canvas::pitch(pass.size));
        let job = FilterJob { target: place, source, pitch, ..FilterJob::default() };
        let ready = match filter {
            CanvasFilter::Clahe { tiles, clip_limit } => {
                self.equalized(job, pass.ready, &Tiling::new(pass.size, tiles, clip_limit))
            }
            CanvasFilter::Sensor { key, hue, intensity } => {
                let tables = self.tables.reserve(2 * size_of::<u64>() as u64);
                let filter = FILTER_SENSOR;
                let job = FilterJob { filter, tables, key, mean: hue, amount: intensity, ..job };
                let summed = self.tables.schedule.filter(pass.ready, Kernel::LightnessSums, job);
                self.tables.schedule.filter(summed, Kernel::Sensor, job)
            }
            CanvasFilter::Jpeg { quality } => {
                // Whole tiles of luma, and a quarter of that for each of the two differences.
                let columns = pass.size.width.next_multiple_of(TILE_WIDTH);
                let rows = pass.size.height.next_multiple_of(TILE_HEIGHT);
                let tables = self.tables.reserve(u64::from(columns) * u64::from(rows) * 3 / 2);
                let weights = self.tables.words(&quantisation::tables(quality));
                let job = FilterJob { filter: FILTER_JPEG, tables, weights, columns, rows, ..job };
                let sampled = self.tables.schedule.filter(pass.ready, Kernel::CompressPlanes, job);
                self.tables.schedule.filter(sampled, Kernel::CompressPixels, job)
            }
            CanvasFilter::Distort { distortion, nearest, fill: [r, g, b] } => {
                let lookup = Lookup::new(&self.plan.distortions[distortion as usize]);
                let limit = u32::from_le_bytes([r, g, b, 0]);
                let job = self.distorted(FilterJob { shared: nearest.into(), limit, ..job }, &lookup);
                self.tables.schedule.filter(pass.ready, Kernel::Distort, job)
            }
            CanvasFilter::Sharpness { .. } | CanvasFilter::Gaussian { .. } => {
                let job = self.smoothed(job, filter);
                self.tables.schedule.filter(pass.ready, Kernel::Filter, job)
            }
            _ => {
                let job = self.of_neighbours(job, filter);
                self.tables.schedule.filter(pass.ready, Kernel::Neighbours, job)
            }
        };
        let whole = Canvas { place, size: pass.size, ready }.source(Orientation::UPRIGHT, sampled.clip);
        Ok((self.add_source(whole.ok_or("a canvas without pixels: a bug")?), ready))
    }

    fn smoothed(&mut self, job: FilterJob, filter: CanvasFilter) -> FilterJob {
        match filter {
            CanvasFilter::Gaussian { kernel: [columns, rows], sigma } => {
                let weights = [(columns, sigma[0]), (rows, sigma[1])]
                    .map(|(length, sigma)| gaussian::weights(length as usize, sigma));
                let weights = self.tables.weights(&weights.concat());
                FilterJob { filter: FILTER_GAUSSIAN, weights, columns, rows, ..job }
            }
            CanvasFilter::Sharpness { amount } => FilterJob { filter: FILTER_SHARPNESS, amount, ..job },
            _ => job,
        }
    }

    fn of_neighbours(&mut self, job: FilterJob, filter: CanvasFilter) -> FilterJob {
        match filter {
            CanvasFilter::Mean { kernel: [columns, rows] } => {
                FilterJob { filter: FILTER_MEAN, columns, rows, ..job }
            }
            CanvasFilter::Median { edge } => {
                FilterJob { filter: FILTER_MEDIAN, columns: edge, rows: edge, ..job }
            }
            CanvasFilter::Kernel { kernel: [columns, rows], weights } => {
                let weights = &self.plan.weights[weights as usize..][..(columns * rows) as usize];
                let weights = self.tables.weights(weights);
                FilterJob { filter: FILTER_KERNEL, weights, columns, rows, ..job }
            }
            CanvasFilter::Noise { key, mean, deviation, shared } => {
                let shared = shared.into();
                FilterJob { filter: FILTER_NOISE, amount: deviation, mean, key, shared, ..job }
            }
            CanvasFilter::Multiply { key, low, span, shared, elementwise } => {
                let (shared, limit) = (shared.into(), elementwise.into());
                FilterJob { filter: FILTER_MULTIPLY, amount: span, mean: low, key, shared, limit, ..job }
            }
            _ => job,
        }
    }

    fn distorted(&mut self, job: FilterJob, lookup: &Lookup) -> FilterJob {
        match lookup {
            Lookup::Grid(positions) => {
                let weights = self.tables.weights(&positions.concat());
                FilterJob { filter: FILTER_GRID, weights, ..job }
            }
            Lookup::Radial(radial) => {
                let weights = self.tables.doubles(&[radial.middle, radial.scale, radial.k].concat());
                FilterJob { filter: FILTER_RADIAL, weights, ..job }
            }
            Lookup::Elastic(field) => {
                let weights = self.tables.weights(field.nodes.as_flattened());
                let ([columns, rows], [amount, mean]) = (field.count, field.density);
                FilterJob { filter: FILTER_ELASTIC, weights, columns, rows, amount, mean, ..job }
            }
        }
    }

    /// First the tables of all tiles, then the canvas.
    fn equalized(&mut self, job: FilterJob, ready: u32, tiling: &Tiling) -> u32 {
        let [columns, rows] = tiling.tiles;
        let job = FilterJob {
            filter: FILTER_CLAHE,
            tables: self.tables.reserve(u64::from(columns) * u64::from(rows) * 256),
            weights: self.tables.lab(),
            amount: tiling.scale,
            limit: tiling.limit,
            tile: tiling.tile,
            columns,
            rows,
            ..job
        };
        let tabled = self.tables.schedule.filter(ready, Kernel::ClaheTables, job);
        self.tables.schedule.filter(tabled, Kernel::Clahe, job)
    }
}
