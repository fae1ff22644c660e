//! One sub-batch on the device: decode, upload, render, with the events between them.

#![expect(unsafe_code, reason = "copies and launches take raw addresses")]

use super::arena::{ALIGNMENT, Arena};
use super::image_pool::NewImage;
use super::learned::Learned;
use super::source_bytes::SourceBytes;
use super::staging::{InFlight, Use};
use super::submit::{Submission, Submitter, Trouble};
use super::submitted_row::SubmittedRow;
use super::upload::runs;
use crate::device::cuda::decode::{HostFree, Request, Route};
use crate::device::cuda::driver::{CudaError, DevicePtr, Event};
use crate::device::cuda::host_bytes::Run;
use crate::device::cuda::render::{Program, Sample, Surface};
use crate::error::Cause;
use crate::image::Index;
use crate::output::Output;
use crate::plan::Plan;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a sub-batch has decoded.
struct Decoded {
    /// For many samples.
    new_images: Vec<NewImage>,
    /// For one each: rows, and images of them, in the order in which the decoder was asked for them.
    numbers: Vec<(usize, usize)>,
}

impl Submitter {
    /// Decodes and renders rows whose images fit the arena `turn`.
    pub(super) fn run_sub_batch(
        &mut self,
        turn: usize,
        rows: &mut [SubmittedRow],
        submission: &mut Submission<'_, '_>,
    ) -> Result<(), Trouble> {
        // The arena's last sub-batch must be rendered before anything is written there again, and so must be the one that
        // used the blocks that the pool gives away now.
        let after = self.pool.writes_after();
        for rendered in ends(&self.arenas, turn, after) {
            self.copying.wait(rendered)?;
            self.decoding.wait(rendered)?;
        }
        let base = self.arenas[turn].images.address();
        rows.iter_mut().for_each(|row| row.rebase(base));
        let Decoded { new_images, numbers } = self.decode(turn, after, rows, submission)?;
        self.upload(rows, &new_images, &mut submission.in_flight)?;
        let outputs = submission.assign_outputs(rows);
        let arena = &self.arenas[turn];
        arena.decoded.record(&self.decoding)?;
        arena.uploaded.record(&self.copying)?;
        self.rendering.wait(&arena.decoded)?;
        self.rendering.wait(&arena.uploaded)?;
        if !self.render(turn, rows, &outputs, submission)? {
            // Nothing was launched, so nothing has marked the end of the arena's writers.
            self.arenas[turn].rendered.record(&self.rendering)?;
        }
        self.arenas[turn].sub_batch = self.sub_batch;
        self.take_learned(rows, &numbers, submission);
        Ok(())
    }

    /// Lets the device decode the files; the CPU decodes those that it refuses, and what it cannot decode either fails
    /// their rows.
    fn decode(
        &mut self,
        turn: usize,
        after: u64,
        rows: &mut [SubmittedRow],
        submission: &mut Submission<'_, '_>,
    ) -> Result<Decoded, CudaError> {
        let mut new_images = self.pool.take_pending();
        let files = |(at, row): (usize, &SubmittedRow)| {
            row.files().map(move |(number, ..)| (at, number)).collect::<Vec<_>>()
        };
        let numbers: Vec<(usize, usize)> = rows.iter().enumerate().flat_map(files).collect();
        let results = match &mut self.decoder {
            Some(decoder)
                if !numbers.is_empty() || new_images.iter().any(|new| new.source.file().is_some()) =>
            {
                // Rendering waits for uploads and decoders, so its end is that of all users of the arena.
                let free =
                    match submission.engine.dispatch.as_ref().is_some_and(|dispatch| dispatch.uses_engines())
                    {
                        true => HostFree::wait(ends(&self.arenas, turn, after))?,
                        false => HostFree::unknown(),
                    };
                let in_flight = &mut submission.in_flight;
                let files = rows.iter().flat_map(SubmittedRow::files);
                let mut requests: Vec<Request<'_>> =
                    files.map(|(_, file, target)| file.request(target, in_flight)).collect();
                requests.extend(new_images.iter().filter_map(|new| new.request(in_flight)));
                // SAFETY: the memory was laid out for these regions, and the stream waits for its last users; `in_flight` keeps
                // the bytes until the submission's end is seen.
                unsafe { decoder.decode(&requests, &self.decoding, free) }?
            }
            _ => Vec::new(),
        };
        let mut results = results.into_iter();
        let of_rows = numbers.iter().map(|&number| (number, results.next()));
        self.settle(rows, of_rows, submission);
        for new in &mut new_images {
            let Some(file) = new.source.file() else { continue };
            if let Some(Ok(route)) = results.next() {
                submission.engine.count(route);
                continue;
            }
            let decoded = submission.decode_on_cpu(file, &mut self.fallback, None);
            self.note_damage(new.index, submission);
            match decoded {
                Ok(pixels) => new.source = SourceBytes::Pixels(pixels),
                Err(cause) => self.pool.mark_failed(new, cause),
            }
        }
        rows.iter_mut().for_each(SubmittedRow::fail_with_shared);
        Ok(Decoded { new_images, numbers })
    }

    /// Notes what was wrong with an image that the CPU has just decoded.
    pub(super) fn note_damage(&mut self, image: u64, submission: &Submission<'_, '_>) {
        if let Some(damage) = self.fallback.take_damage() {
            submission.known.note_damage(image, damage);
        }
    }

    /// Counts the images of rows that the device decodes, and decodes the others.
    fn settle(
        &mut self,
        rows: &mut [SubmittedRow],
        results: impl Iterator<Item = ((usize, usize), Option<Result<Route, Cause>>)>,
        submission: &mut Submission<'_, '_>,
    ) {
        let keeps_indexes = submission.engine.dispatch.as_ref().is_some_and(|dispatch| dispatch.is_own());
        for ((at, number), result) in results {
            if let Some(Ok(route)) = result {
                submission.engine.count(route);
                continue;
            }
            let (image, mut known, mut index) = (rows[at].index(number), Index::default(), Index::default());
            let is_kept =
                keeps_indexes && rows[at].is_image(number) && submission.known.fetch(image, &mut known);
            rows[at].decode_file(number, |file| {
                submission.decode_on_cpu(file, &mut self.fallback, is_kept.then_some(&mut index))
            });
            self.note_damage(image, submission);
            // The device may have failed to find its way into a sound file; the next time it knows it. What it knew was wrong.
            let is_damaged = index.last_use().damaged;
            if is_kept && (index.rows() > 0 || is_damaged) && rows[at].failed.is_none() {
                if known.rows() > 0 && !is_damaged {
                    index.note_stale();
                }
                submission.known.learn(image, &index);
            }
        }
    }

    /// Notes the points of decode indexes that the decoder has found, whose first requests were those of `numbers`: rows, and
    /// images of them.
    fn take_learned(
        &mut self,
        rows: &[SubmittedRow],
        numbers: &[(usize, usize)],
        submission: &mut Submission<'_, '_>,
    ) {
        let Some(decoder) = &mut self.decoder else { return };
        for (request, points) in decoder.take_learned() {
            // The later ones are for images that samples share, and nobody keeps theirs.
            let Some(&(row, number)) = numbers.get(request) else { continue };
            if !rows[row].is_image(number) {
                continue;
            }
            if let Some((_, file, _)) = rows[row].files().find(|(at, ..)| *at == number) {
                submission.learned.extend(Learned::new(rows[row].index(number), file, points));
            }
        }
    }

    /// Copies what the CPU has decoded to the device.
    fn upload(
        &self,
        rows: &[SubmittedRow],
        new_images: &[NewImage],
        in_flight: &mut InFlight,
    ) -> Result<(), CudaError> {
        let good = rows.iter().filter(|row| row.failed.is_none());
        let own = good.flat_map(SubmittedRow::own_images_at);
        let shared = new_images.iter().map(|new| (&new.source, new.placement.target.ptr));
        for Run { from, to, len } in runs(own.chain(shared), in_flight) {
            // SAFETY: the memory was laid out for these bytes and the gaps between them; `in_flight` keeps them until the
            // submission's end is seen. A decoder that has refused an image has ended: it waits for what it has queued.
            unsafe { self.copying.copy_to_device(to, from, len) }?;
        }
        Ok(())
    }

    /// Renders the views of the rows that have an index in the output; says whether there were any.
    fn render(
        &mut self,
        turn: usize,
        rows: &[SubmittedRow],
        outputs: &[Option<usize>],
        submission: &mut Submission<'_, '_>,
    ) -> Result<bool, Trouble> {
        let shown: Vec<ShownRow<'_>> = rows
            .iter()
            .zip(outputs)
            .filter_map(|(row, output)| Some((row, row.surfaces(), (*output)?)))
            .collect();
        let (views, starts) = (submission.outputs, submission.starts.clone());
        for (view, (output, start)) in views.iter().zip(starts).enumerate() {
            let first_row = submission.slot.address() + start as DevicePtr;
            let of_view = |shown| of_view(shown, view, (first_row, output.sample_bytes()));
            let shown: Vec<Shown<'_>> = shown.iter().filter_map(of_view).collect();
            self.render_view(turn, &shown, output, submission)?;
        }
        Ok(!shown.is_empty() && !views.is_empty())
    }

    /// Renders one view of rows, all at once where their tables and scratch fit the arena.
    fn render_view(
        &mut self,
        turn: usize,
        shown: &[Shown<'_>],
        output: &Output,
        submission: &mut Submission<'_, '_>,
    ) -> Result<(), Trouble> {
        let mut left = VecDeque::from([shown]);
        while let Some(jobs) = left.pop_front().filter(|jobs| !jobs.is_empty()) {
            let samples: Vec<Sample<'_>> = jobs
                .iter()
                .map(|(plan, surfaces, output)| Sample { plan, surfaces, output: *output })
                .collect();
            let program = Program::build(&samples, output, submission.engine.errors.address())
                .map_err(Trouble::Plan)?;
            let tables = program.tables.len().next_multiple_of(ALIGNMENT);
            let bytes = tables + program.scratch_bytes;
            if bytes > self.arenas[turn].program.limit() && jobs.len() > 1 {
                let (front, back) = jobs.split_at(jobs.len() / 2);
                left.push_front(back);
                left.push_front(front);
                continue;
            }
            match self.launch(turn, &program, bytes, submission) {
                // The budget has turned out to be less: in more launches.
                Err(Trouble::Cuda(_)) if bytes > self.arenas[turn].program.limit() && jobs.len() > 1 => {
                    left.push_front(jobs);
                }
                launched => launched?,
            }
        }
        Ok(())
    }

    /// Sends a program's tables to the arena and launches its kernels.
    fn launch(
        &mut self,
        turn: usize,
        program: &Program,
        bytes: usize,
        submission: &mut Submission<'_, '_>,
    ) -> Result<(), Trouble> {
        let arena = &mut self.arenas[turn];
        arena.program.reserve(bytes)?;
        let reserved = submission.slot.staging().reserve(Use::Files, program.tables.len());
        let mut tables = reserved.map_err(Trouble::Plan)?;
        tables.bytes_mut().copy_from_slice(&program.tables);
        let tables = Arc::new(tables);
        let address = arena.program.address();
        // An earlier program of this sub-batch, or of the arena's last one, may still be reading its tables.
        self.copying.wait(&arena.rendered)?;
        let lent = submission.in_flight.lend(&tables);
        // SAFETY: the room was made for the tables, which `in_flight` keeps until the submission's end is seen.
        unsafe { self.copying.copy_to_device(address, lent.as_ptr(), lent.len()) }?;
        arena.uploaded.record(&self.copying)?;
        self.rendering.wait(&arena.uploaded)?;
        let scratch = address + (bytes - program.scratch_bytes) as DevicePtr;
        // SAFETY: tables and scratch lie in the room; images and output were made for the program's samples, and the
        // events above order the launch after everything that writes them.
        unsafe { self.kernels.launch(program, address, scratch, &self.rendering) }?;
        arena.rendered.record(&self.rendering)?;
        Ok(())
    }
}

/// The ends of the last sub-batch in the arena `turn` and of the sub-batch `after`.
fn ends(arenas: &[Arena; 2], turn: usize, after: u64) -> impl Iterator<Item = &Event> {
    let other = &arenas[1 - turn];
    let late = after > arenas[turn].sub_batch;
    [Some(&arenas[turn].rendered), late.then_some(&other.rendered)].into_iter().flatten()
}

/// A row with its surfaces, and its index in the output.
type ShownRow<'a> = (&'a SubmittedRow, Vec<Surface>, usize);

/// View `view` of a row, whose first row's pixels go to `first` and have so many bytes.
fn of_view<'a>(
    (row, surfaces, at): &ShownRow<'a>,
    view: usize,
    (first, bytes): (DevicePtr, usize),
) -> Option<Shown<'a>> {
    let planned = row.staged.plans.views().get(view)?;
    Some((&planned.plan, planned.own(surfaces).copied().collect(), first + (at * bytes) as DevicePtr))
}

/// The plan of a row's view, the surfaces that it shows, and where its pixels go.
type Shown<'a> = (&'a Plan, Vec<Surface>, DevicePtr);
