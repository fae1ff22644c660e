//! Sends a staged batch to the device: in parts that fit the arenas, in the order of the rows.

use super::arena::Arena;
use super::entry::Entry;
use super::quiet::Quiet;
use super::slot::{InFlight, Slot};
use super::worker::Fallback;
use super::{Engine, Options, Replace};
use crate::device::cuda::decode::{Capabilities, Decoder};
use crate::device::cuda::driver::{Context, CudaError, Stream};
use crate::device::cuda::render::Kernels;
use crate::error::Cause;
use crate::output::Output;

/// Least memory for decoded images and scratch.
const SMALLEST_BUDGET: u64 = 4 << 20;

/// The device's side of an engine; one batch at a time. It is freed with the last slot, which has waited for the device.
pub(super) struct Submitter {
    pub(super) decoder: Option<Decoder>,
    pub(super) capabilities: Option<Capabilities>,
    pub(super) kernels: Kernels,
    pub(super) copying: Stream,
    pub(super) decoding: Stream,
    pub(super) rendering: Stream,
    pub(super) arenas: [Arena; 2],
    /// Which arena is next.
    turn: usize,
    /// For files that the device's decoders refuse.
    pub(super) fallback: Fallback,
    pub(super) context: Context,
}

/// A submission under way.
pub(super) struct Submission<'a, 'r> {
    pub(super) engine: &'a Engine,
    pub(super) slot: &'a Slot,
    /// What the rows become; `None`: they are decoded and not rendered.
    pub(super) output: Option<Output>,
    replace: &'a mut Replace<'r>,
    /// Output rows given away so far.
    rows: usize,
    /// Rows that were staged anew, for a later part.
    late: Vec<Entry>,
    /// What the device reads besides the entries.
    pub(super) in_flight: InFlight,
}

/// Why a whole submission failed.
pub(super) enum Trouble {
    Cuda(CudaError),
    /// The kernels cannot execute a plan.
    Plan(Cause),
}

impl From<CudaError> for Trouble {
    fn from(error: CudaError) -> Self {
        Trouble::Cuda(error)
    }
}

impl Submitter {
    pub(super) fn new(
        context: &Context,
        decoder: Option<Decoder>,
        kernels: Kernels,
        [copying, decoding, rendering]: [Stream; 3],
        options: &Options,
    ) -> Result<Self, CudaError> {
        let (free, _) = context.memory_info()?;
        let budget = options.budget.unwrap_or(free as u64 / 4).max(SMALLEST_BUDGET) as usize;
        let capabilities = decoder.as_ref().map(Decoder::capabilities);
        Ok(Self {
            decoder,
            capabilities,
            kernels,
            copying,
            decoding,
            rendering,
            arenas: [Arena::new(context, budget / 2)?, Arena::new(context, budget / 2)?],
            turn: 0,
            fallback: Fallback::new(options.limits.clone()),
            context: context.clone(),
        })
    }

    /// See [`Engine::submit`].
    pub(super) fn submit(
        &mut self,
        engine: &Engine,
        (slot, output): (&Slot, Option<Output>),
        replace: &mut Replace<'_>,
    ) -> Result<(), Trouble> {
        self.context.bind()?;
        let (rows, released) = {
            let mut state = slot.core.fresh();
            (std::mem::take(&mut state.rows), std::mem::take(&mut state.released))
        };
        let mut entries: Vec<Entry> = rows.into_iter().enumerate().filter_map(Entry::new).collect();
        let mut late = Vec::new();
        let in_flight = InFlight::default();
        let mut submission =
            Submission { engine, slot, output, replace, rows: 0, late: Vec::new(), in_flight };
        // Declared behind all that the device reads, so it waits before any of that is freed, on every way out.
        let quiet = Quiet::new(&self.context);
        for event in &released {
            self.rendering.wait(event)?;
        }
        self.parts(&mut entries, &mut submission)?;
        late.append(&mut submission.late);
        self.parts(&mut late, &mut submission)?;
        slot.core.done.record(&self.rendering)?;
        quiet.disarm();
        let mut in_flight = std::mem::take(&mut submission.in_flight);
        in_flight.rows.extend(entries.into_iter().chain(late).map(|entry| entry.staged));
        slot.core.state().in_flight = in_flight;
        Ok(())
    }

    /// Does the entries in parts that fit an arena.
    fn parts(&mut self, entries: &mut [Entry], submission: &mut Submission<'_, '_>) -> Result<(), Trouble> {
        let mut rest = entries;
        while !rest.is_empty() {
            let turn = self.turn;
            self.turn = (turn + 1) % self.arenas.len();
            let count = self.fit(rest, self.arenas[turn].images.budget, submission);
            let bytes = rest[..count].iter().map(Entry::end).max().unwrap_or(0);
            let arena = &mut self.arenas[turn];
            match arena.images.reserve(bytes, &arena.rendered) {
                // The trainer may have taken what was free: with less, in more parts.
                Err(error) if error.is_out_of_memory() && count > 1 => continue,
                reserved => reserved?,
            }
            let (part, others) = rest.split_at_mut(count);
            self.part(turn, part, submission)?;
            rest = others;
        }
        Ok(())
    }

    /// Places as many of the entries as fit into `budget`, at least one, and returns their number.
    fn fit(&mut self, entries: &mut [Entry], budget: usize, submission: &mut Submission<'_, '_>) -> usize {
        let capabilities = self.capabilities;
        let mut used = 0;
        for (count, entry) in entries.iter_mut().enumerate() {
            if entry.bytes(capabilities) > budget {
                // A whole image may be too much where the part that is wanted is not.
                for number in 0..entry.staged.images.len() {
                    entry.decode_here(number, &mut self.fallback, submission);
                }
                entry.place(0, capabilities);
                entry.refuse_beyond(budget);
            }
            if entry.failed.is_some() {
                entry.places.clear();
                continue;
            }
            let end = entry.place(used, capabilities);
            if end > budget && count > 0 {
                return count;
            }
            used = end;
        }
        entries.len()
    }
}

impl Submission<'_, '_> {
    /// Gives each entry its row of the output; those that failed are staged anew, or have none.
    pub(super) fn judge(
        &mut self,
        entries: &mut [Entry],
        budget: usize,
        capabilities: Option<Capabilities>,
    ) -> Vec<Option<usize>> {
        let judged = entries.iter_mut().map(|entry| match entry.failed.take() {
            None => {
                let row = entry.output.unwrap_or(self.rows);
                self.rows += usize::from(entry.output.is_none());
                Some(row)
            }
            Some(failed) => {
                self.renew(entry.row, failed, budget, capabilities);
                None
            }
        });
        judged.collect()
    }

    fn renew(
        &mut self,
        row: usize,
        mut failed: (u64, Cause),
        budget: usize,
        capabilities: Option<Capabilities>,
    ) {
        loop {
            let (index, cause) = failed;
            if !(self.replace)(row, index, cause) {
                return;
            }
            let staged = self.slot.core.state().rows.get_mut(row).and_then(Option::take);
            let Some(mut entry) = Entry::new((row, staged)) else { return };
            entry.place(0, capabilities);
            entry.refuse_beyond(budget);
            match entry.failed.take() {
                Some(again) => failed = again,
                None => {
                    entry.output = Some(self.rows);
                    self.rows += 1;
                    self.late.push(entry);
                    return;
                }
            }
        }
    }
}
