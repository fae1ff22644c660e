//! One part of a batch on the device: decode, upload, render, with the events between them.

#![expect(unsafe_code, reason = "copies and launches take raw addresses")]

use super::arena::ALIGNMENT;
use super::entry::Entry;
use super::slot::StagedImage;
use super::submit::{Submission, Submitter, Trouble};
use crate::device::cuda::decode::{Capabilities, HostFree, Request};
use crate::device::cuda::driver::{CudaError, DevicePtr};
use crate::device::cuda::render::{Program, Sample, Surface};
use std::collections::VecDeque;

impl Submitter {
    /// Decodes and renders entries whose images fit the arena `turn`.
    pub(super) fn part(
        &mut self,
        turn: usize,
        entries: &mut [Entry],
        submission: &mut Submission<'_, '_>,
    ) -> Result<(), Trouble> {
        let arena = &mut self.arenas[turn];
        // The arena's last part must be rendered before anything is written there again.
        self.copying.wait(&arena.rendered)?;
        self.decoding.wait(&arena.rendered)?;
        let base = arena.images.address();
        entries.iter_mut().for_each(|entry| entry.rebase(base));
        self.decode(turn, entries, submission)?;
        self.upload(entries)?;
        let outputs = submission.judge(entries, self.arenas[turn].images.budget, self.capabilities);
        let arena = &self.arenas[turn];
        arena.decoded.record(&self.decoding)?;
        arena.uploaded.record(&self.copying)?;
        self.rendering.wait(&arena.decoded)?;
        self.rendering.wait(&arena.uploaded)?;
        if !self.render(turn, entries, &outputs, submission)? {
            // Nothing was launched, so nothing has marked the end of the arena's writers.
            self.arenas[turn].rendered.record(&self.rendering)?;
        }
        Ok(())
    }

    /// Lets the device decode the files; those that it refuses are decoded here, and else fail their entries.
    fn decode(
        &mut self,
        turn: usize,
        entries: &mut [Entry],
        submission: &mut Submission<'_, '_>,
    ) -> Result<(), CudaError> {
        let files = |(at, entry): (usize, &Entry)| {
            entry.files().map(move |(number, ..)| (at, number)).collect::<Vec<_>>()
        };
        let numbers: Vec<(usize, usize)> = entries.iter().enumerate().flat_map(files).collect();
        if numbers.is_empty() {
            return Ok(());
        }
        let results = match &mut self.decoder {
            Some(decoder) => {
                // Rendering waits for uploads and decoders, so its end is that of all users of the arena.
                let free = match self.capabilities.is_some_and(Capabilities::engines) {
                    true => HostFree::wait([&self.arenas[turn].rendered])?,
                    false => HostFree::unknown(),
                };
                let requests: Vec<Request<'_>> = entries
                    .iter()
                    .flat_map(Entry::files)
                    .map(|(_, bytes, header, target)| Request { bytes, header, target })
                    .collect();
                // SAFETY: the places were made for these regions, and the stream waits for their last users; the bytes
                // are kept until the submission's end is seen.
                unsafe { decoder.decode(&requests, &self.decoding, free) }?
            }
            None => Vec::new(),
        };
        let mut results = results.into_iter();
        for (at, number) in numbers {
            match results.next() {
                Some(Ok(route)) => submission.engine.count(route),
                _ => {
                    entries[at].decode_here(number, &mut self.fallback, submission);
                }
            }
        }
        Ok(())
    }

    /// Copies what the CPU has decoded to its place.
    fn upload(&self, entries: &[Entry]) -> Result<(), CudaError> {
        for entry in entries.iter().filter(|entry| entry.failed.is_none()) {
            for (image, place) in entry.staged.images.iter().zip(&entry.places) {
                let StagedImage::Pixels(pixels) = image else { continue };
                let bytes = pixels.bytes.bytes();
                if bytes.is_empty() {
                    continue;
                }
                // SAFETY: the place was made for these bytes; they are kept until the submission's end is seen. A decoder
                // that has refused the image has ended: it waits for what it has queued.
                unsafe { self.copying.copy_to_device(place.address, bytes.as_ptr(), bytes.len()) }?;
            }
        }
        Ok(())
    }

    /// Renders the entries that have a row of the output, all at once where their tables and scratch fit the arena; says
    /// whether there were any.
    fn render(
        &mut self,
        turn: usize,
        entries: &[Entry],
        outputs: &[Option<usize>],
        submission: &mut Submission<'_, '_>,
    ) -> Result<bool, Trouble> {
        let Some(output) = submission.output else { return Ok(false) };
        let shown = entries.iter().zip(outputs).filter_map(|(entry, row)| Some((entry, (*row)?)));
        let shown: Vec<Shown<'_>> = shown.map(|(entry, row)| (entry, entry.surfaces(), row)).collect();
        let first_row = submission.slot.core.address();
        let mut left = VecDeque::from([shown.as_slice()]);
        while let Some(jobs) = left.pop_front().filter(|jobs| !jobs.is_empty()) {
            let samples: Vec<Sample<'_>> = jobs
                .iter()
                .map(|(entry, surfaces, row)| Sample {
                    plan: &entry.staged.plan,
                    surfaces,
                    output: first_row + (row * output.sample_bytes()) as DevicePtr,
                })
                .collect();
            let program = Program::build(&samples, &output).map_err(Trouble::Plan)?;
            let tables = program.tables().len().next_multiple_of(ALIGNMENT);
            let bytes = tables + program.scratch_bytes();
            if bytes > self.arenas[turn].program.budget && jobs.len() > 1 {
                let (front, back) = jobs.split_at(jobs.len() / 2);
                left.push_front(back);
                left.push_front(front);
                continue;
            }
            match self.launch(turn, &program, bytes, submission) {
                // The budget has turned out to be less: in more launches.
                Err(Trouble::Cuda(_)) if bytes > self.arenas[turn].program.budget && jobs.len() > 1 => {
                    left.push_front(jobs);
                }
                launched => launched?,
            }
        }
        Ok(!shown.is_empty())
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
        arena.program.reserve(bytes, &arena.rendered)?;
        let reserved = submission.slot.core.state().staging.reserve(program.tables().len());
        let mut tables = reserved.map_err(Trouble::Plan)?;
        tables.bytes_mut().copy_from_slice(program.tables());
        let address = arena.program.address();
        // An earlier program of this part, or of the arena's last part, may still be reading its tables.
        self.copying.wait(&arena.rendered)?;
        // SAFETY: the room was made for the tables, which are kept until the submission's end is seen.
        unsafe { self.copying.copy_to_device(address, tables.bytes().as_ptr(), tables.bytes().len()) }?;
        submission.in_flight.pieces.push(tables);
        arena.uploaded.record(&self.copying)?;
        self.rendering.wait(&arena.uploaded)?;
        let scratch = address + (bytes - program.scratch_bytes()) as DevicePtr;
        // SAFETY: tables and scratch lie in the room; images and output were made for the program's samples, and the
        // events above order the launch behind everything that writes them.
        unsafe { self.kernels.launch(program, address, scratch, &self.rendering) }?;
        arena.rendered.record(&self.rendering)?;
        Ok(())
    }
}

/// An entry with its surfaces and its row of the output.
type Shown<'a> = (&'a Entry, Vec<Surface>, usize);
