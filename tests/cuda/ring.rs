//! A ring of slots on three streams, as a tuned pipeline has it: copy in, work, copy out, with every event in its
//! place, or with one flaw.

use crate::client::{Buffer, Client, Event, Kernel, Pinned, Quiet, Stream};
use crate::scenario::Outcome;

const BATCHES: usize = 9;
const COUNT: usize = 512;
/// Slots on the device, with the page-locked memory that feeds them.
const SLOTS: usize = 2;
/// Page-locked memory for results: one more, so that the host reads a batch while the next two are on their way.
const RESULTS: usize = 3;

/// What is left out, or done at the wrong time.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Flaw {
    None,
    /// No event at all, but the host waits after each operation: slow, and right.
    HostWaitsEachTime,
    KernelBeforeCopyIn,
    PinnedInputReused,
    DeviceInputReused,
    DeviceOutputReused,
    CopyOutBeforeKernel,
    ReadBeforeCopyOut,
    EventBeforeLaunch,
    DeviceFreedEarly,
    /// Memory of which the work touches a small part.
    LargeDeviceFreedEarly,
    PinnedFreedEarly,
    StreamLeaked,
}

struct Slot<'a> {
    pinned: Pinned<'a>,
    input: Buffer<'a>,
    output: Buffer<'a>,
    copied_in: Event<'a>,
    worked: Event<'a>,
    copied_out: Event<'a>,
}

struct Answer<'a> {
    pinned: Pinned<'a>,
    copied_out: Event<'a>,
}

struct Ring<'a> {
    client: &'a Client,
    flaw: Flaw,
    kernel: Kernel<'a>,
    copy_in: Stream<'a>,
    work: Stream<'a>,
    copy_out: Stream<'a>,
    slots: Vec<Slot<'a>>,
    answers: Vec<Answer<'a>>,
}

/// Runs the ring; an error where a batch does not hold what it should.
pub(crate) fn run(flaw: Flaw) -> Outcome {
    let client = Client::start()?;
    let ring = Ring::new(&client, flaw)?;
    let quiet = Quiet(&client);
    for batch in 0..BATCHES {
        ring.give(batch)?;
        if let Some(earlier) = (batch + 1).checked_sub(RESULTS) {
            ring.read(earlier)?;
        }
    }
    if matches!(flaw, Flaw::DeviceFreedEarly | Flaw::LargeDeviceFreedEarly | Flaw::PinnedFreedEarly) {
        std::mem::forget(quiet);
        return ring.leave_early();
    }
    (BATCHES + 1 - RESULTS..BATCHES).try_for_each(|batch| ring.read(batch))
}

impl<'a> Ring<'a> {
    fn new(client: &'a Client, flaw: Flaw) -> Result<Self, Box<dyn std::error::Error>> {
        let output_bytes = if flaw == Flaw::LargeDeviceFreedEarly { 8 << 20 } else { COUNT * 4 };
        let ring = Self {
            client,
            flaw,
            kernel: Kernel::new(client, "planted_add_one", 2)?,
            copy_in: Stream::new(client)?,
            work: Stream::new(client)?,
            copy_out: Stream::new(client)?,
            slots: (0..SLOTS).map(|_| Slot::new(client, output_bytes)).collect::<Result<_, _>>()?,
            answers: (0..RESULTS).map(|_| Answer::new(client)).collect::<Result<_, _>>()?,
        };
        if flaw == Flaw::StreamLeaked {
            std::mem::forget(Stream::new(client)?);
        }
        Ok(ring)
    }

    /// Gives a batch to the device.
    fn give(&self, batch: usize) -> Outcome {
        let Self { client, flaw, copy_in, work, copy_out, .. } = self;
        let (slot, answer) = (&self.slots[batch % SLOTS], &self.answers[batch % RESULTS]);
        if *flaw != Flaw::PinnedInputReused {
            client.synchronize_event(&slot.copied_in)?;
        }
        slot.pinned.write(|i| value(batch, i));
        self.wait_unless(Flaw::DeviceInputReused, copy_in, &slot.worked)?;
        client.upload(&slot.input, &slot.pinned, copy_in)?;
        client.record(&slot.copied_in, copy_in)?;
        self.host_waits()?;
        self.wait_unless(Flaw::KernelBeforeCopyIn, work, &slot.copied_in)?;
        self.wait_unless(Flaw::DeviceOutputReused, work, &slot.copied_out)?;
        if *flaw == Flaw::EventBeforeLaunch {
            client.record(&slot.worked, work)?;
        }
        client.launch(&self.kernel, 2, &[slot.input.start, slot.output.start], COUNT, work)?;
        if *flaw != Flaw::EventBeforeLaunch {
            client.record(&slot.worked, work)?;
        }
        self.host_waits()?;
        self.wait_unless(Flaw::CopyOutBeforeKernel, copy_out, &slot.worked)?;
        client.download(&answer.pinned, &slot.output, copy_out)?;
        client.record(&slot.copied_out, copy_out)?;
        client.record(&answer.copied_out, copy_out)?;
        self.host_waits()
    }

    fn wait_unless(&self, flaw: Flaw, stream: &Stream, event: &Event) -> Outcome {
        if self.flaw == flaw || self.flaw == Flaw::HostWaitsEachTime {
            return Ok(());
        }
        Ok(self.client.wait(stream, event)?)
    }

    fn host_waits(&self) -> Outcome {
        if self.flaw == Flaw::HostWaitsEachTime {
            self.client.synchronize()?;
        }
        Ok(())
    }

    /// Takes a batch's answer.
    fn read(&self, batch: usize) -> Outcome {
        let answer = &self.answers[batch % RESULTS];
        if self.flaw != Flaw::ReadBeforeCopyOut {
            self.client.synchronize_event(&answer.copied_out)?;
        }
        let compared = answer.pinned.compare(|i| value(batch, i) + 1.0);
        Ok(compared.map_err(|error| format!("batch {batch}: {error}"))?)
    }

    /// The early return of a program that forgot that work is still to run.
    fn leave_early(self) -> Outcome {
        let Self { client, flaw, slots, answers, .. } = &self;
        match flaw {
            Flaw::PinnedFreedEarly => answers.iter().try_for_each(|answer| answer.pinned.free_early())?,
            _ => slots.iter().try_for_each(|slot| slot.output.free_early())?,
        }
        Ok(client.synchronize()?)
    }
}

impl<'a> Slot<'a> {
    fn new(client: &'a Client, output_bytes: usize) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self {
            pinned: Pinned::new(client, COUNT)?,
            input: Buffer::new(client, COUNT * 4)?,
            output: Buffer::new(client, output_bytes)?,
            copied_in: Event::new(client)?,
            worked: Event::new(client)?,
            copied_out: Event::new(client)?,
        })
    }
}

impl<'a> Answer<'a> {
    fn new(client: &'a Client) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self { pinned: Pinned::new(client, COUNT)?, copied_out: Event::new(client)? })
    }
}

fn value(batch: usize, i: usize) -> f32 {
    (batch * 1000 + i) as f32
}
