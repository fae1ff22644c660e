//! What is launched when: jobs by level and kernel.
//!
//! A job's level is one more than that of all it reads; decoded images and taps are on level 0. So one launch holds the
//! jobs of all samples that may run beside each other.

use super::append::append;
use super::layout::{
    CropJob, FilterJob, HISTOGRAM_BIT, MeasureJob, NONE, RenderJob, Source, TILE_HEIGHT, TILE_WIDTH, TableJob,
};
use crate::color::LevelTable;
use crate::geometry::Size;
use std::collections::BTreeMap;

/// Maximum number of jobs of a launch: what the second dimension of a grid can hold.
const MAX_JOBS: usize = 65_535;

/// The kernels, by what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kernel {
    /// Weights of resampled axes.
    Taps,
    /// Statistics of sources.
    Measure,
    /// Tables of histograms.
    Tables,
    /// Canvases made of others by sharpness or a Gaussian blur.
    Filter,
    /// The same, by what lies around each pixel, or with noise.
    Neighbours,
    /// Tables of the tiles of a canvas.
    ClaheTables,
    /// Canvases equalized by those.
    Clahe,
    /// Sums of the lightness of a canvas.
    LightnessSums,
    /// Canvases with the noise of a sensor, by those.
    Sensor,
    /// What a JPEG keeps of canvases, as samples.
    CompressPlanes,
    /// Canvases of those.
    CompressPixels,
    /// Canvases looked up through distortions.
    Distort,
    /// Samples that show an upright image and nothing else.
    Crop,
    /// Canvases and samples of one input.
    Render,
    /// Canvases and samples of several inputs.
    Blend,
    /// The same, where parts of inputs are erased.
    BlendErased,
}

/// One kernel over some jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) kernel: Kernel,
    /// Place of its jobs in the tables.
    pub(super) jobs: u32,
    /// Blocks of a job, and jobs.
    pub(super) grid: [u32; 2],
}

/// Jobs that wait to be launched.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// Numbers of the layers that are resampled.
    pub(super) taps: Vec<u32>,
    measures: BTreeMap<u32, Vec<MeasureJob>>,
    crops: BTreeMap<u32, Vec<CropJob>>,
    renders: BTreeMap<(u32, Kernel), Vec<RenderJob>>,
    filters: BTreeMap<(u32, Kernel), Vec<FilterJob>>,
    tables: BTreeMap<u32, Vec<TableJob>>,
    /// What is made of each histogram.
    level_tables: Vec<LevelTable>,
}

impl Schedule {
    /// Adds a canvas or a sample; returns the level on which it is there.
    pub(super) fn render(&mut self, ready: u32, kernel: Kernel, job: RenderJob) -> u32 {
        self.renders.entry((ready + 1, kernel)).or_default().push(job);
        self.tabulate(ready + 1, job.measured);
        ready + 1
    }

    /// Adds a sample of one upright image; returns the level on which it is there.
    pub(super) fn crop(&mut self, ready: u32, job: CropJob) -> u32 {
        self.crops.entry(ready + 1).or_default().push(job);
        ready + 1
    }

    /// Adds a statistic of a source; returns the level on which it is there.
    pub(super) fn measure(&mut self, ready: u32, job: MeasureJob) -> u32 {
        self.measures.entry(ready + 1).or_default().push(job);
        self.tabulate(ready + 1, job.measured);
        ready + 1
    }

    /// Adds a filtered canvas, or what one needs; returns the level on which it is there.
    pub(super) fn filter(&mut self, ready: u32, kernel: Kernel, job: FilterJob) -> u32 {
        self.filters.entry((ready + 1, kernel)).or_default().push(job);
        ready + 1
    }

    /// A new histogram for a step that looks levels up: what names it.
    pub(super) fn histogram(&mut self, table: LevelTable) -> u32 {
        self.level_tables.push(table);
        HISTOGRAM_BIT | (self.level_tables.len() as u32 - 1)
    }

    pub(super) fn histograms(&self) -> usize {
        self.level_tables.len()
    }

    /// Makes a table of what is measured on a level, at its end.
    fn tabulate(&mut self, level: u32, measured: u32) {
        if measured != NONE && measured & HISTOGRAM_BIT != 0 {
            let histogram = measured & !HISTOGRAM_BIT;
            let job = TableJob { histogram, table: self.level_tables[histogram as usize] as u32 };
            self.tables.entry(level).or_default().push(job);
        }
    }

    /// Writes the jobs after the tables; returns the launches in order.
    pub(super) fn launches(self, sources: &[Source], bytes: &mut Vec<u8>) -> Vec<Launch> {
        let mut launches = Vec::new();
        add(&mut launches, bytes, Kernel::Taps, &self.taps, 2);
        let levels = self.measures.keys().copied().chain(self.filters.keys().map(|(level, _)| *level));
        let levels = levels.chain(self.crops.keys().copied());
        let levels = levels.chain(self.renders.keys().map(|(level, _)| *level)).max();
        for level in 1..=levels.unwrap_or(0) {
            if let Some(jobs) = self.measures.get(&level) {
                let tiles = jobs.iter().map(|job| tiles(sources[job.source as usize].size));
                add(&mut launches, bytes, Kernel::Measure, jobs, blocks_of_a_job(tiles));
            }
            for ((_, kernel), jobs) in
                self.filters.range((level, Kernel::Taps)..=(level, Kernel::BlendErased))
            {
                let blocks = |job: &FilterJob| match kernel {
                    Kernel::ClaheTables => u64::from(job.columns) * u64::from(job.rows),
                    Kernel::LightnessSums => 1,
                    _ => tiles(sources[job.source as usize].size),
                };
                for (most, jobs) in by_tiles(jobs, blocks) {
                    add(&mut launches, bytes, *kernel, &jobs, most);
                }
            }
            if let Some(jobs) = self.crops.get(&level) {
                for (most, jobs) in by_tiles(jobs, |job| u64::from(job.tiles)) {
                    add(&mut launches, bytes, Kernel::Crop, &jobs, most);
                }
            }
            for ((_, kernel), jobs) in
                self.renders.range((level, Kernel::Taps)..=(level, Kernel::BlendErased))
            {
                for (most, jobs) in by_tiles(jobs, |job| tiles(job.size)) {
                    add(&mut launches, bytes, *kernel, &jobs, most);
                }
            }
            if let Some(jobs) = self.tables.get(&level) {
                add(&mut launches, bytes, Kernel::Tables, jobs, 3);
            }
        }
        launches
    }
}

/// Adds launches with `blocks` blocks for each job.
fn add<T: bytemuck::Pod>(
    launches: &mut Vec<Launch>,
    bytes: &mut Vec<u8>,
    kernel: Kernel,
    jobs: &[T],
    blocks: u32,
) {
    for jobs in jobs.chunks(MAX_JOBS) {
        launches.push(Launch { kernel, jobs: append(bytes, jobs), grid: [blocks, jobs.len() as u32] });
    }
}

/// The jobs by how many tiles they have, within a factor of four, and the most of each group: all jobs of a launch get as
/// many blocks, and one large canvas among small ones must not cost each of them a block a tile.
fn by_tiles<T: Copy>(jobs: &[T], tiles_of: impl Fn(&T) -> u64) -> impl Iterator<Item = (u32, Vec<T>)> {
    let mut groups: BTreeMap<u32, (u32, Vec<T>)> = BTreeMap::new();
    for job in jobs {
        let tiles = tiles_of(job) as u32;
        let (most, group) = groups.entry(tiles.ilog2() / 2).or_default();
        *most = tiles.max(*most);
        group.push(*job);
    }
    groups.into_values()
}

/// Blocks for each of the jobs, where a block goes on to further tiles: twice the average bounds the idle ones.
fn blocks_of_a_job(tiles: impl ExactSizeIterator<Item = u64>) -> u32 {
    let jobs = tiles.len() as u64;
    let (most, all) = tiles.fold((1, 0), |(most, all), tiles| (tiles.max(most), all + tiles));
    most.min((2 * all).div_ceil(jobs.max(1))) as u32
}

fn tiles(size: Size) -> u64 {
    u64::from(size.width.div_ceil(TILE_WIDTH)) * u64::from(size.height.div_ceil(TILE_HEIGHT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_large_canvas_among_small_ones_does_not_cost_a_block_a_tile_for_each() {
        assert_eq!(blocks_of_a_job([49, 49, 49].into_iter()), 49);
        let mixed = std::iter::once(4_000_000).chain(std::iter::repeat_n(1, 399)).collect::<Vec<_>>();
        assert_eq!(blocks_of_a_job(mixed.into_iter()), 20_002);
        let job = |width, height| RenderJob { size: Size::new(width, height), ..RenderJob::default() };
        let jobs = [job(224, 224), job(64_000, 64_000), job(200, 224), job(32, 32)];
        let groups: Vec<(u32, usize)> =
            by_tiles(&jobs, |job| tiles(job.size)).map(|(most, jobs)| (most, jobs.len())).collect();
        assert_eq!(groups, [(1, 1), (49, 2), (4_000_000, 1)]);
        assert_eq!(tiles(Size::new(33, 32)), 2);
    }
}
