//! Sends a staged batch to the device: in sub-batches that fit the arenas, in the order of the rows.

use super::arena::Arena;
use super::fallback::Fallback;
use super::image_cache::ImageCache;
use super::image_pool::DeviceImagePool;
use super::learned::Learned;
use super::mask_kernel::MaskKernel;
use super::slot::Slot;
use super::source_bytes::{StagedFile, StagedPixels};
use super::staging::InFlight;
use super::submitted_row::SubmittedRow;
use super::upload::lay_out_in_a_row;
use super::{Engine, Route, TYPICAL};
use crate::device::backend::{BackendOptions, KnownFiles, view_starts};
use crate::device::cuda::decode::DeviceDecoder;
use crate::device::cuda::driver::{Context, CudaError, Stream};
use crate::device::cuda::render::Kernels;
use crate::error::Cause;
use crate::image::Index;
use crate::output::Output;
use crate::plan::ObjectRuns;
use std::sync::Arc;

/// The device's side of an engine; one batch at a time. It is freed with the last slot, which has waited for the device.
pub(super) struct Submitter {
    pub(super) decoder: Option<DeviceDecoder>,
    pub(super) kernels: Kernels,
    pub(super) copying: Stream,
    pub(super) decoding: Stream,
    pub(super) rendering: Stream,
    pub(super) arenas: [Arena; 2],
    /// Which arena is next.
    turn: usize,
    /// The latest sub-batch, counted from 1.
    pub(super) sub_batch: u64,
    /// Images that samples share.
    pub(super) pool: DeviceImagePool,
    /// Made when the first masks of objects are.
    pub(super) masks: Option<MaskKernel>,
    /// For files that the device's decoders refuse.
    pub(super) fallback: Fallback,
    pub(super) context: Context,
}

/// A submission under way.
pub(super) struct Submission<'a, 'r> {
    /// What the device reads. It is dropped first, and so waits before anything else here is freed, and before the rows are.
    pub(super) in_flight: InFlight,
    pub(super) engine: &'a Engine,
    pub(super) slot: &'a Slot,
    /// What the rows become in each view; none: they are decoded and not rendered.
    pub(super) outputs: &'a [Output],
    /// Where each view begins in the slot's memory.
    pub(super) starts: Vec<usize>,
    replace: &'a mut ReplaceRow<'r>,
    pub(super) known: &'a dyn KnownFiles,
    /// Number of output rows that are taken.
    rows: usize,
    /// Rows that were staged anew, for a later sub-batch.
    late: Vec<SubmittedRow>,
    /// The masks of the objects of each view, of rows by their index in the output.
    pub(super) masks: Vec<(usize, Vec<ObjectRuns>)>,
    pub(super) learned: Vec<Learned>,
}

/// Is given a row that cannot be decoded, the index of the bad image in the source, and what is wrong with it; may stage the
/// row anew with pixels decoded on the CPU. Without that (`false`) the row is left out.
pub(super) type ReplaceRow<'a> = dyn FnMut(usize, u64, Cause) -> bool + 'a;

/// Why a whole submission failed.
pub(super) enum Trouble {
    Cuda(CudaError),
    /// So many bytes for the masks of objects.
    Masks(usize, CudaError),
    /// The kernels cannot execute a plan.
    Plan(Cause),
    /// The kernels met what they do not know, in an earlier batch.
    Kernels(Cause),
}

impl From<CudaError> for Trouble {
    fn from(error: CudaError) -> Self {
        Trouble::Cuda(error)
    }
}

impl Submitter {
    pub(super) fn new(
        context: &Context,
        (decoder, kernels): (Option<DeviceDecoder>, Kernels),
        [copying, decoding, rendering]: [Stream; 3],
        cache: &Arc<ImageCache>,
        (options, budget): (&BackendOptions, usize),
    ) -> Result<Self, CudaError> {
        let typical = options.rows * TYPICAL.pixels() as usize * 3;
        let arena = || Arena::new(context, budget / 2, typical);
        Ok(Self {
            decoder,
            kernels,
            copying,
            decoding,
            rendering,
            arenas: [arena()?, arena()?],
            turn: 0,
            sub_batch: 0,
            pool: DeviceImagePool::new(context, cache, options.image_cache)?,
            masks: None,
            fallback: Fallback::new(options.limits.clone()),
            context: context.clone(),
        })
    }

    /// Decodes the staged rows of `slot` and renders each view of them to its output, if there is one, without gaps between
    /// them, and returns without waiting: what the device has found out of files.
    pub(super) fn submit(
        &mut self,
        engine: &Engine,
        (slot, outputs): (&Slot, &[Output]),
        (replace, known): (&mut ReplaceRow<'_>, &dyn KnownFiles),
    ) -> Result<Vec<Learned>, Trouble> {
        // What an earlier submission has left undone that failed or panicked; it has waited for the device.
        self.pool.roll_back();
        self.context.bind()?;
        engine.errors.check().map_err(Trouble::Kernels)?;
        if let Some(dispatch) = &engine.dispatch {
            dispatch.note_batch();
        }
        let (staged, mut released) = {
            let mut state = slot.fresh();
            (std::mem::take(&mut state.rows), std::mem::take(&mut state.released))
        };
        if let Err(error) = released.order(&self.rendering, &self.context) {
            // Whoever uses the memory next still has to wait.
            slot.state().released = released;
            return Err(error.into());
        }
        let mut rows: Vec<SubmittedRow> =
            staged.into_iter().enumerate().filter_map(SubmittedRow::new).collect();
        // Rows that have run.
        let mut done: Vec<SubmittedRow> = Vec::new();
        let mut submission = Submission {
            in_flight: InFlight::new(&self.context),
            engine,
            slot,
            outputs,
            starts: view_starts(engine.options.rows, engine.options.row_bytes.iter().copied())
                .unwrap_or_default(),
            replace,
            known,
            rows: 0,
            late: Vec::new(),
            masks: Vec::new(),
            learned: Vec::new(),
        };
        // A row that was staged anew may fail again, so that there are others after it.
        while !rows.is_empty() {
            self.run_all(&mut rows, &mut submission)?;
            done.append(&mut rows);
            rows.append(&mut submission.late);
        }
        self.make_masks(&mut submission)?;
        let learned = std::mem::take(&mut submission.learned);
        // Rendering has waited for all copies and decoders.
        let pending = submission.in_flight.seal(&self.rendering, (&slot.done, &self.context))?;
        slot.state().in_flight = pending;
        self.pool.commit(done.iter().map(SubmittedRow::placed).sum());
        Ok(learned)
    }

    /// Waits for all that was submitted, as far as a device can be waited for.
    pub(super) fn wait(&self) {
        for stream in [&self.copying, &self.decoding, &self.rendering] {
            drop(stream.synchronize());
        }
    }

    /// Runs the rows in sub-batches that fit an arena.
    fn run_all(
        &mut self,
        rows: &mut [SubmittedRow],
        submission: &mut Submission<'_, '_>,
    ) -> Result<(), Trouble> {
        let mut rest = rows;
        while !rest.is_empty() {
            let turn = self.turn;
            self.sub_batch += 1;
            self.turn = (turn + 1) % self.arenas.len();
            let count = self.fit(rest, self.arenas[turn].images.limit(), submission)?;
            lay_out_in_a_row(&mut rest[..count]);
            let bytes = rest[..count].iter().map(SubmittedRow::end).max().unwrap_or(0);
            let arena = &mut self.arenas[turn];
            match arena.images.reserve(bytes) {
                // The trainer may have taken what was free: with less, in more sub-batches.
                Err(error) if error.is_out_of_memory() && count > 1 => continue,
                reserved => reserved?,
            }
            let (sub_batch, others) = rest.split_at_mut(count);
            self.run_sub_batch(turn, sub_batch, submission)?;
            rest = others;
        }
        Ok(())
    }

    /// Lays out as many of the rows as fit into `budget`, at least one, and returns their number.
    fn fit(
        &mut self,
        rows: &mut [SubmittedRow],
        budget: usize,
        submission: &mut Submission<'_, '_>,
    ) -> Result<usize, CudaError> {
        let dispatch = submission.engine.dispatch.as_deref();
        let mut used = 0;
        for (count, row) in rows.iter_mut().enumerate() {
            row.place_shared(&mut self.pool, self.sub_batch);
            if row.lay_out(0, dispatch) > budget {
                // A whole image may be too much where the part that is wanted is not.
                for number in 0..row.staged.images.len() {
                    row.decode_file(number, |file| submission.decode_on_cpu(file, &mut self.fallback, None));
                    self.note_damage(row.index(number), submission);
                }
                row.lay_out(0, dispatch);
                row.refuse_beyond(budget);
            }
            if row.failed.is_some() {
                row.locations.clear();
                continue;
            }
            let end = row.lay_out(used, dispatch);
            if end > budget && count > 0 {
                return Ok(count);
            }
            used = end;
        }
        Ok(rows.len())
    }
}

impl Submission<'_, '_> {
    /// Decodes a file on the CPU, to memory of the slot's, and notes what is known of it then.
    pub(super) fn decode_on_cpu(
        &mut self,
        file: &StagedFile,
        fallback: &mut Fallback,
        index: Option<&mut Index>,
    ) -> Result<StagedPixels, Cause> {
        let StagedFile { bytes, header, wanted, shared, .. } = file;
        if *shared {
            fallback.verify(file.image(), header)?;
        }
        let pixels = fallback.decode((bytes.bytes(), header), *wanted, index, self.slot.staging())?;
        self.engine.count(Route::Cpu);
        Ok(pixels)
    }

    /// Gives each row its index in the output, where its masks go too, or none where it failed. One that is then staged anew
    /// keeps its index for a later sub-batch; where no substitute is left, the whole batch fails, so that the gap is not seen.
    pub(super) fn assign_outputs(&mut self, rows: &mut [SubmittedRow]) -> Vec<Option<usize>> {
        let mut assign = |row: &mut SubmittedRow| {
            let late = match row.failed.take() {
                Some((index, cause)) => Some(self.stage_anew(row.row, index, cause)?),
                None => None,
            };
            let output = row.output.unwrap_or(self.rows);
            self.rows += usize::from(row.output.is_none());
            let Some(late) = late else { return Some(output) };
            self.late.push(SubmittedRow { output: Some(output), ..late });
            None
        };
        let outputs: Vec<Option<usize>> = rows.iter_mut().map(&mut assign).collect();
        let shown = rows.iter_mut().zip(&outputs).filter_map(|(row, output)| Some((row, (*output)?)));
        let masks = shown.map(|(row, output)| (output, std::mem::take(&mut row.staged.masks)));
        self.masks.extend(masks.filter(|(_, views)| !views.is_empty()));
        outputs
    }

    fn stage_anew(&mut self, row: usize, index: u64, cause: Cause) -> Option<SubmittedRow> {
        if !(self.replace)(row, index, cause) {
            return None;
        }
        let staged = self.slot.state().rows.get_mut(row).and_then(Option::take);
        SubmittedRow::new((row, staged))
    }
}
