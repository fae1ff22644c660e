//! What is launched when: jobs by level and kernel.
//!
//! A job's level is one more than that of all it reads; decoded images and taps are on level 0. So one launch holds the
//! jobs of all samples that may run beside each other.

use super::jobs::{MeasureJob, RenderJob, Source, TILE_HEIGHT, TILE_WIDTH};
use super::tables::append;
use crate::geometry::Size;
use std::collections::BTreeMap;

/// Most jobs of a launch: what the second dimension of a grid can hold.
const MAX_JOBS: usize = 65_535;

/// The kernels, by what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kernel {
    /// Weights of resampled axes.
    Taps,
    /// Statistics of sources.
    Measure,
    /// Canvases and samples of one picture.
    Render,
    /// Canvases and samples of several pictures.
    Blend,
    /// The same, where parts of pictures are erased.
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
pub(super) struct Agenda {
    /// Numbers of the paints that are resampled.
    pub(super) taps: Vec<u32>,
    measures: BTreeMap<u32, Vec<MeasureJob>>,
    renders: BTreeMap<(u32, Kernel), Vec<RenderJob>>,
}

impl Agenda {
    /// Adds a canvas or a sample; returns the level on which it is there.
    pub(super) fn render(&mut self, ready: u32, kernel: Kernel, job: RenderJob) -> u32 {
        self.renders.entry((ready + 1, kernel)).or_default().push(job);
        ready + 1
    }

    /// Adds a statistic of a source; returns the level on which it is there.
    pub(super) fn measure(&mut self, ready: u32, job: MeasureJob) -> u32 {
        self.measures.entry(ready + 1).or_default().push(job);
        ready + 1
    }

    /// Writes the jobs behind the tables; returns the launches in order.
    pub(super) fn launches(self, sources: &[Source], bytes: &mut Vec<u8>) -> Vec<Launch> {
        let mut launches = Vec::new();
        add(&mut launches, bytes, Kernel::Taps, &self.taps, |_| 2);
        let levels = self.measures.keys().copied().chain(self.renders.keys().map(|(level, _)| *level)).max();
        for level in 1..=levels.unwrap_or(0) {
            if let Some(jobs) = self.measures.get(&level) {
                let tiles = |job: &MeasureJob| tiles(sources[job.source as usize].size);
                add(&mut launches, bytes, Kernel::Measure, jobs, tiles);
            }
            let first = (level, Kernel::Taps);
            for ((_, kernel), jobs) in self.renders.range(first..=(level, Kernel::BlendErased)) {
                add(&mut launches, bytes, *kernel, jobs, |job| tiles(job.size));
            }
        }
        launches
    }
}

fn add<T: bytemuck::Pod>(
    launches: &mut Vec<Launch>,
    bytes: &mut Vec<u8>,
    kernel: Kernel,
    jobs: &[T],
    blocks: impl Fn(&T) -> u64,
) {
    for jobs in jobs.chunks(MAX_JOBS) {
        let grid = [blocks_of_a_job(jobs.iter().map(&blocks)), jobs.len() as u32];
        launches.push(Launch { kernel, jobs: append(bytes, jobs), grid });
    }
}

/// Blocks for each of the jobs. A block of a job with more tiles goes on to the next; one of a job with fewer ends at
/// once, so that twice the average bounds what one large canvas among small ones costs.
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
        assert_eq!(blocks_of_a_job([4_000_000].into_iter()), 4_000_000);
        let mixed = std::iter::once(4_000_000).chain(std::iter::repeat_n(1, 399)).collect::<Vec<_>>();
        assert_eq!(blocks_of_a_job(mixed.into_iter()), 20_002);
        assert_eq!(tiles(Size::new(33, 32)), 2);
    }
}
