//! The masks of the objects of a batch: the runs of all rows go to the device, where one kernel writes them into planes.

#![expect(unsafe_code, reason = "copies and launches take raw addresses")]

use super::mask_kernel::{MAX_RUNS, MaskKernel};
use super::staging::Use;
use super::submit::{Submission, Submitter, Trouble};
use crate::device::backend::view_starts;
use crate::device::cuda::driver::DevicePtr;
use crate::device::cuda::render::layout::{MaskRun, RUN_THREADS, THREADS};
use crate::label::InstanceMasks;
use crate::plan::ObjectRuns;
use std::ptr::from_mut;
use std::sync::Arc;

impl Submitter {
    /// Makes the masks of all rows of a batch, where they are asked for: view after view, and in each the planes of the rows
    /// in their order. Which plane is whose is known only when no row can fail any more.
    pub(super) fn make_masks(&mut self, submission: &mut Submission<'_, '_>) -> Result<(), Trouble> {
        let mut rows = std::mem::take(&mut submission.masks);
        rows.sort_unstable_by_key(|(row, _)| *row);
        let Some((_, first)) = rows.first() else { return Ok(()) };
        let kind = first.first().map_or(InstanceMasks::PerObject, |masks| masks.kind);
        let of_view = |view: usize| rows.iter().filter_map(move |(_, views)| views.get(view));
        let views: Vec<Vec<&ObjectRuns>> = (0..first.len()).map(|view| of_view(view).collect()).collect();
        let bytes = views.iter().map(|rows| rows.iter().map(|masks| masks.bytes()).sum());
        let starts = view_starts(1, bytes).unwrap_or_default();
        let all = starts.last().copied().unwrap_or_default();
        if all == 0 {
            return Ok(());
        }
        let planes = {
            let mut state = submission.slot.state();
            state.masks.reserve(all).map_err(|error| Trouble::Masks(all, error))?;
            state.masks.address()
        };
        // SAFETY: the room was made for them, and rendering has waited until the consumer of what was there is done.
        unsafe { self.rendering.clear(planes, all) }?;
        let mut runs = Vec::new();
        for (rows, start) in views.into_iter().zip(starts) {
            let mut first = planes + start as DevicePtr;
            for masks in rows {
                for run in &masks.runs {
                    let target = first + u64::from(run.start) * kind.pixel_bytes() as u64;
                    runs.push(MaskRun { target, len: run.len, value: run.value });
                    if runs.len() == MAX_RUNS {
                        self.write_runs(&mut runs, kind, submission)?;
                    }
                }
                first += masks.bytes() as DevicePtr;
            }
        }
        self.write_runs(&mut runs, kind, submission)
    }

    /// Writes these runs into planes of zeros, and forgets them.
    fn write_runs(
        &mut self,
        runs: &mut Vec<MaskRun>,
        kind: InstanceMasks,
        submission: &mut Submission<'_, '_>,
    ) -> Result<(), Trouble> {
        if runs.is_empty() {
            return Ok(());
        }
        let maker = match &mut self.masks {
            Some(maker) => maker,
            none => none.insert(MaskKernel::new(&self.context)?),
        };
        let bytes: &[u8] = bytemuck::cast_slice(runs);
        maker.runs.reserve(bytes.len())?;
        let reserved = submission.slot.staging().reserve(Use::Files, bytes.len());
        let mut staged = reserved.map_err(Trouble::Plan)?;
        staged.bytes_mut().copy_from_slice(bytes);
        let staged = Arc::new(staged);
        // The launch before may still be reading its runs.
        self.copying.wait(&maker.written)?;
        let lent = submission.in_flight.lend(&staged);
        // SAFETY: the room was made for the runs, which `in_flight` keeps until the submission's end is seen.
        unsafe { self.copying.copy_to_device(maker.runs.address(), lent.as_ptr(), lent.len()) }?;
        maker.uploaded.record(&self.copying)?;
        self.rendering.wait(&maker.uploaded)?;
        let (mut address, mut count) = (maker.runs.address(), runs.len() as u32);
        let mut wide = u32::from(kind == InstanceMasks::Overlap);
        let parameters =
            &mut [from_mut(&mut address).cast(), from_mut(&mut count).cast(), from_mut(&mut wide).cast()];
        let blocks = count.div_ceil(THREADS / RUN_THREADS);
        // SAFETY: the kernel takes an address and two numbers; each run lies in the planes, whose memory is the batch's own, and
        // the event above orders the launch after the upload.
        unsafe { self.rendering.launch(&maker.function, [blocks, 1], THREADS, parameters) }?;
        maker.written.record(&self.rendering)?;
        runs.clear();
        Ok(())
    }
}
