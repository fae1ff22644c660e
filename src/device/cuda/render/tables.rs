//! The arrays of a batch while they grow, and how they become one block of bytes.

use super::Program;
use super::append::{ALIGNMENT, append};
use super::layout::{
    self, Axis, Batch, BlendInput, ERASE_CONSTANT, ERASE_NOISE, Erase, HISTOGRAM_BIT, Histogram, LayerDesc,
    Source, Step,
};
use super::schedule::Schedule;
use crate::color::Statistic;
use crate::device::cuda::driver::DevicePtr;
use crate::device::lab;
use crate::error::Cause;
use crate::output::Output;
use crate::plan::{self, EraseFill, MAX_STATS, Run, Span};

/// The arrays of a batch.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) sources: Vec<Source>,
    pub(super) layers: Vec<LayerDesc>,
    pub(super) inputs: Vec<BlendInput>,
    pub(super) steps: Vec<Step>,
    pub(super) erases: Vec<Erase>,
    /// Pixels that each mean is taken of.
    pub(super) counts: Vec<u64>,
    /// The runs of each row of each mask.
    mask_rows: Vec<Span>,
    runs: Vec<Run>,
    /// Weights of filters, and levels that steps look up. They come first, so that an offset is known as they are added.
    words: Vec<u32>,
    /// Offset of the tables of Lab, once one is needed.
    lab: Option<u32>,
    pub(super) schedule: Schedule,
    /// Statistics that the current pass has taken.
    taken_stats: usize,
    scratch: u64,
}

impl Tables {
    /// Takes a part of the scratch memory; returns its offset.
    pub(super) fn reserve(&mut self, bytes: u64) -> u64 {
        let place = self.scratch;
        self.scratch = (place + bytes).next_multiple_of(ALIGNMENT);
        place
    }

    /// The axis with room for its table.
    pub(super) fn with_table(&mut self, axis: Axis) -> Axis {
        Axis { table: self.reserve(axis.table_bytes()), ..axis }
    }

    /// Adds entries to one of the arrays.
    pub(super) fn add<T: Clone>(array: &mut Vec<T>, entries: &[T]) -> Span {
        let start = array.len() as u32;
        array.extend_from_slice(entries);
        Span { start, len: entries.len() as u32 }
    }

    /// Adds one entry; returns its index.
    pub(super) fn push<T: Clone>(array: &mut Vec<T>, entry: T) -> u32 {
        array.push(entry);
        array.len() as u32 - 1
    }

    /// The offset of weights in the finished tables.
    pub(super) fn weights(&mut self, weights: &[f32]) -> u32 {
        self.words(bytemuck::cast_slice(weights))
    }

    /// The offset of numbers of f64, which begin at a multiple of their size.
    pub(super) fn doubles(&mut self, numbers: &[f64]) -> u32 {
        self.words.resize(self.words.len().next_multiple_of(2), 0);
        self.words(bytemuck::cast_slice(numbers))
    }

    /// The offset of the tables of Lab, which are there once.
    pub(super) fn lab(&mut self) -> u32 {
        let place =
            self.lab.unwrap_or_else(|| self.words(bytemuck::cast_slice(bytemuck::bytes_of(&**lab::TABLES))));
        *self.lab.insert(place)
    }

    /// The offset of whole numbers.
    pub(super) fn words(&mut self, words: &[u32]) -> u32 {
        let start = size_of::<Batch>().next_multiple_of(ALIGNMENT as usize);
        let place = start + self.words.len() * size_of::<u32>();
        self.words.extend_from_slice(words);
        place as u32
    }

    /// Lets a pass take statistics.
    pub(super) fn begin_pass(&mut self) {
        self.taken_stats = 0;
    }

    /// Adds a sample's masks; returns the index of their first row.
    pub(super) fn begin(&mut self, plan: &plan::Plan) -> u32 {
        let (first, behind) = (self.mask_rows.len() as u32, self.runs.len() as u32);
        self.mask_rows.extend(plan.mask_rows.iter().map(|row| Span { start: row.start + behind, ..*row }));
        self.runs.extend_from_slice(&plan.runs);
        first
    }

    /// Adds a step, with a statistic of its own where it needs one.
    pub(super) fn add_step(&mut self, step: &plan::Step) -> Result<(), Cause> {
        let levels = step.op.levels(&step.args).map(|levels| self.words(&words_of(&levels)));
        let stat = match (step.stat.and(step.op.statistic()), levels) {
            (Some(statistic), _) => self.statistic(statistic)?,
            (None, Some(place)) => HISTOGRAM_BIT | place,
            (None, None) => layout::NONE,
        };
        self.steps.push(Step { op: step.op as u32, stat, args: step.args });
        Ok(())
    }

    /// A statistic for a step of the current pass: what names it.
    fn statistic(&mut self, statistic: Statistic) -> Result<u32, Cause> {
        self.taken_stats += 1;
        if self.taken_stats > MAX_STATS {
            return Err("a pass with too many statistics".into());
        }
        Ok(match statistic {
            Statistic::Levels(table) => self.schedule.histogram(table),
            Statistic::MeanLuma => Self::push(&mut self.counts, 0),
        })
    }

    /// Adds rectangles that are erased.
    pub(super) fn add_erases(&mut self, erases: &[plan::Erase]) -> Span {
        let start = self.erases.len() as u32;
        self.erases.extend(erases.iter().map(|&plan::Erase { window, fill }| {
            let (value, kind, key) = match fill {
                EraseFill::Constant(value) => (value, ERASE_CONSTANT, [0; 2]),
                EraseFill::Noise(key) => ([0.0; 3], ERASE_NOISE, key),
            };
            Erase { window, value, kind, key, reserved: [0; 2] }
        }));
        Span { start, len: erases.len() as u32 }
    }

    /// Notes on how many pixels a statistic is measured.
    pub(super) fn count(&mut self, measured: u32, pixels: u64) {
        // The pixels of a histogram are what it counts.
        if measured & HISTOGRAM_BIT == 0 {
            self.counts[measured as usize] = pixels;
        }
    }

    /// The program of all that was added.
    pub(super) fn finish(mut self, output: &Output, errors: DevicePtr) -> Result<Program, Cause> {
        let sum_bytes = (self.counts.len() * size_of::<u64>()).next_multiple_of(ALIGNMENT as usize);
        let zeroed = sum_bytes + self.schedule.histograms() * size_of::<Histogram>();
        let sums = (self.reserve(zeroed as u64), zeroed);
        // A kernel may look at the first source before it knows that a layer has none.
        if self.sources.is_empty() {
            self.sources.push(Source::default());
        }
        let mut bytes = vec![0; size_of::<Batch>()];
        append(&mut bytes, &self.words);
        let factors = output.factors();
        let batch = Batch {
            sources: append(&mut bytes, &self.sources),
            layers: append(&mut bytes, &self.layers),
            inputs: append(&mut bytes, &self.inputs),
            steps: append(&mut bytes, &self.steps),
            erases: append(&mut bytes, &self.erases),
            counts: append(&mut bytes, &self.counts),
            rows: append(&mut bytes, &self.mask_rows),
            runs: append(&mut bytes, &self.runs),
            sums: sums.0,
            histograms: sums.0 + sum_bytes as u64,
            errors,
            dtype: output.dtype as u32,
            layout: output.layout as u32,
            factors: std::array::from_fn(|i| factors[i / 2][i % 2]),
        };
        bytes[..size_of::<Batch>()].copy_from_slice(bytemuck::bytes_of(&batch));
        let launches = std::mem::take(&mut self.schedule).launches(&self.sources, &mut bytes);
        // A step says with the highest bit whether an offset is one of these tables.
        if bytes.len() > HISTOGRAM_BIT as usize {
            return Err("the batch's tables are larger than 2 GiB: use a smaller batch".into());
        }
        let scratch_bytes = usize::try_from(self.scratch)?;
        Ok(Program { tables: bytes, scratch_bytes, sums, launches })
    }
}

/// Levels as the words that the device reads them in.
fn words_of(levels: &[u8; 256]) -> Vec<u32> {
    levels.as_chunks().0.iter().map(|four| u32::from_ne_bytes(*four)).collect()
}
