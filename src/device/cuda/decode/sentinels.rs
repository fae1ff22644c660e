//! Sentinels: bytes in every target that its decoder must overwrite. A decoder may report success and leave a target as it
//! was, or write it later than it says; both have been seen of decoding engines.
//!
//! They are put there ahead of the decoding and looked for behind it; what was found is known when the device got there.

#![expect(unsafe_code, reason = "writes to targets, and to memory that the device reads")]

use super::route::Route;
use crate::device::cuda::driver::{
    Context, CudaError, DeviceBuffer, DevicePtr, Event, Function, PinnedBuffer, Priority, Purpose, Stream,
};
use crate::device::cuda::kernel;
use crate::device::cuda::render::layout::{Sentinel, THREADS};
use crate::device::cuda::target::Target;
use crate::rng::mix;
use std::ffi::c_void;
use std::ptr::from_mut;

/// Places in each target.
const PLACES: usize = 8;
/// Bytes of a sentinel.
const BYTES: usize = 4;
/// Images of a round.
const IMAGES: usize = 512;
/// Rounds that are made together, whenever there are not enough.
const ROUNDS: usize = 8;
/// Bytes of a round's places, and of its counts. The host has the places twice: as they are marked, and those that are
/// looked at behind that, since the device may not have read the former yet.
const PLACES_BYTES: usize = IMAGES * PLACES * size_of::<Sentinel>();
const COUNTS_BYTES: usize = IMAGES * size_of::<u32>();
const HOST_CHECKED: usize = PLACES_BYTES;
const HOST_COUNTS: usize = 2 * PLACES_BYTES;

/// Sentinels of the batches that are under way.
pub(super) struct Sentinels {
    context: Context,
    /// Loaded when it is first needed.
    kernel: Option<Function>,
    rounds: Vec<Round>,
    /// Which of them neither the host nor the device uses.
    idle: Vec<usize>,
    /// For targets that the host knows to be free, whatever the caller's stream still has to do.
    marking: Stream,
    marked: Event,
    /// Differs from batch to batch, so that no batch finds the bytes of another.
    salt: u64,
    /// Places and counts of the rounds.
    memory: Vec<DeviceBuffer>,
}

/// Up to [`IMAGES`] images of one batch.
struct Round {
    /// Places as they are marked, places that are looked at, counts.
    host: PinnedBuffer,
    /// Places and counts on the device.
    device: DevicePtr,
    /// The decoder of each image, once they are looked at; none of those that were not decoded.
    routes: Vec<Option<Route>>,
    /// Behind the copy of the counts to the host.
    checked: Event,
}

/// The sentinels of a batch, round by round.
pub(super) struct Marked(Vec<MarkedRound>);

struct MarkedRound {
    /// Which round it is.
    round: usize,
    /// The numbers of its images in the batch.
    numbers: Vec<usize>,
    places: Vec<Sentinel>,
}

/// What a decoder did with one target.
pub(super) struct Finding {
    pub(super) route: Route,
    /// Whether some sentinel of it was still there.
    pub(super) is_unwritten: bool,
}

impl Sentinels {
    pub(super) fn new(context: &Context) -> Result<Self, CudaError> {
        let mut sentinels = Self {
            context: context.clone(),
            kernel: None,
            rounds: Vec::new(),
            idle: Vec::new(),
            marking: Stream::new(context, Priority::High)?,
            marked: Event::new(context)?,
            salt: 0,
            memory: Vec::new(),
        };
        let first = sentinels.grow()?;
        sentinels.idle.push(first);
        Ok(sentinels)
    }

    /// A round that nothing uses.
    fn idle_round(&mut self) -> Result<usize, CudaError> {
        match self.idle.pop() {
            Some(round) => Ok(round),
            None => self.grow(),
        }
    }

    /// Makes more rounds, and returns one of them.
    fn grow(&mut self) -> Result<usize, CudaError> {
        let each = PLACES_BYTES + COUNTS_BYTES;
        let memory = DeviceBuffer::new(&self.context, ROUNDS * each, Purpose::Verification)?;
        let round = |number: usize| {
            Ok(Round {
                host: PinnedBuffer::new(&self.context, HOST_COUNTS + COUNTS_BYTES)?,
                device: memory.ptr() + (number * each) as DevicePtr,
                routes: Vec::new(),
                checked: Event::new(&self.context)?,
            })
        };
        let rounds: Vec<Round> = (0..ROUNDS).map(round).collect::<Result<_, CudaError>>()?;
        let first = self.rounds.len();
        self.rounds.extend(rounds);
        self.idle.extend(first + 1..self.rounds.len());
        self.memory.push(memory);
        Ok(first)
    }

    /// Puts sentinels into the targets of these images: on `stream`, or, where the host knows the targets to be free, on a
    /// stream of its own, and returns when they are there.
    ///
    /// # Safety
    /// As [`super::Decoder::decode`]; nothing else has been queued to write the targets.
    pub(super) unsafe fn mark(
        &mut self,
        targets: &[(usize, Target)],
        (stream, free): (&Stream, bool),
    ) -> Result<Marked, CudaError> {
        let mut marked = Vec::new();
        // What is narrower than a sentinel goes without.
        let targets: Vec<(usize, Target)> =
            targets.iter().copied().filter(|(_, target)| target.region.width as usize * 3 >= BYTES).collect();
        for images in targets.chunks(IMAGES) {
            let round = self.idle_round()?;
            let Self { kernel, context, rounds, .. } = self;
            let kernel = match kernel {
                Some(kernel) => kernel,
                None => kernel.insert(kernel::load(context, "sentinels")?),
            };
            self.salt = self.salt.wrapping_add(1);
            let places: Vec<Sentinel> =
                (0..).zip(images).flat_map(|(image, (_, target))| places(target, image, self.salt)).collect();
            let on = if free { &self.marking } else { stream };
            // SAFETY: nothing uses the round; the targets are memory of their regions, which nobody uses and nothing queued writes.
            unsafe { rounds[round].run(kernel, (&places, 0), on)? };
            let numbers = images.iter().map(|&(number, _)| number).collect();
            marked.push(MarkedRound { round, numbers, places });
        }
        self.marked.record(if free { &self.marking } else { stream })?;
        if free {
            self.marked.synchronize()?;
        }
        Ok(Marked(marked))
    }

    /// Looks for the sentinels of the images that were decoded, behind what `stream` holds.
    ///
    /// # Safety
    /// As [`Sentinels::mark`], until `stream` has reached this point.
    pub(super) unsafe fn check(
        &mut self,
        marked: Marked,
        route: impl Fn(usize) -> Option<Route>,
        stream: &Stream,
    ) -> Result<(), CudaError> {
        let Some(kernel) = &self.kernel else { return Ok(()) };
        let mut is_refused = false;
        for MarkedRound { round, numbers, mut places } in marked.0 {
            let routes: Vec<Option<Route>> = numbers.into_iter().map(&route).collect();
            is_refused |= routes.contains(&None);
            places.retain(|place| routes[place.image as usize].is_some());
            // SAFETY: the targets are those that were marked in this round, and nobody writes them until the stream has
            // reached this point.
            unsafe { self.rounds[round].check(kernel, &places, routes, stream)? };
        }
        match is_refused {
            // The CPU's pixels go there next, on another stream. A decoder that refuses a file has waited for the marks,
            // but one that rests was never called.
            true => self.marked.synchronize(),
            false => Ok(()),
        }
    }

    /// What is known by now, without waiting.
    pub(super) fn collect(&mut self, found: &mut Vec<Finding>) -> Result<(), CudaError> {
        for (number, round) in self.rounds.iter_mut().enumerate() {
            if !round.routes.is_empty() && round.checked.is_done()? {
                round.findings(found);
                self.idle.push(number);
            }
        }
        Ok(())
    }

    /// Waits until the device is done with the memory.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        self.marking.synchronize()?;
        self.rounds.iter().try_for_each(|round| round.checked.synchronize())
    }
}

impl Round {
    /// Takes the counts of a round that has ended.
    fn findings(&mut self, found: &mut Vec<Finding>) {
        for (image, route) in self.routes.drain(..).enumerate() {
            let Some(route) = route else { continue };
            // SAFETY: inside of the memory, aligned, and the device is done with it.
            let count = unsafe { self.host.as_ptr().add(HOST_COUNTS).cast::<u32>().add(image).read() };
            found.push(Finding { route, is_unwritten: count > 0 });
        }
    }

    /// Looks for sentinels, in the targets of images with these decoders.
    ///
    /// # Safety
    /// As [`Sentinels::check`].
    unsafe fn check(
        &mut self,
        kernel: &Function,
        places: &[Sentinel],
        routes: Vec<Option<Route>>,
        stream: &Stream,
    ) -> Result<(), CudaError> {
        let (counts, bytes) = (self.device + PLACES_BYTES as DevicePtr, routes.len() * size_of::<u32>());
        self.routes = routes;
        // SAFETY: the counts are this round's own, there and here; nobody writes the targets until the stream has reached this
        // point.
        unsafe {
            stream.clear(counts, bytes)?;
            self.run(kernel, (places, HOST_CHECKED), stream)?;
            stream.copy_to_host(self.host.as_mut_ptr().add(HOST_COUNTS), counts, bytes)?;
        }
        self.checked.record(stream)
    }

    /// Copies places to the device from `at` in the host's memory, and marks them, or looks at them.
    ///
    /// # Safety
    /// The device has read what was at `at`. The places are promised to `stream` until it has reached this point.
    unsafe fn run(
        &mut self,
        kernel: &Function,
        (places, at): (&[Sentinel], usize),
        stream: &Stream,
    ) -> Result<(), CudaError> {
        if places.is_empty() {
            return Ok(());
        }
        let bytes: &[u8] = bytemuck::cast_slice(places);
        // SAFETY: there is room for all places of a round, which the device no longer reads.
        unsafe {
            let host = self.host.as_mut_ptr().add(at);
            host.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            stream.copy_to_device(self.device, host, bytes.len())?;
        }
        let mut tables = self.device;
        let mut counts = self.device + PLACES_BYTES as DevicePtr;
        let (mut count, mut check) = (places.len() as u32, u32::from(at == HOST_CHECKED));
        let parameters: &mut [*mut c_void] = &mut [
            from_mut(&mut tables).cast(),
            from_mut(&mut counts).cast(),
            from_mut(&mut count).cast(),
            from_mut(&mut check).cast(),
        ];
        // SAFETY: two addresses and two numbers, as the kernel has them; the places lie in targets, which stay, and which nobody
        // else uses, until the stream has reached this point.
        unsafe { stream.launch(kernel, [count.div_ceil(THREADS), 1], THREADS, parameters) }
    }
}

/// Where the sentinels of a target are: at its first and last bytes, and between them at places that differ from batch to
/// batch. A row holds at least one.
fn places(target: &Target, image: u32, salt: u64) -> impl Iterator<Item = Sentinel> {
    let Target { ptr, pitch, region } = *target;
    let (row, rows) = (region.width as usize * 3, region.height as usize);
    (0..PLACES).map(move |number| {
        let random = mix(mix(salt, u64::from(image)), number as u64);
        let (y, x) = match number {
            0 => (0, 0),
            1 => (rows - 1, row - BYTES),
            _ => {
                let y = rows * (number - 1) / (PLACES - 1);
                (y.min(rows - 1), (random >> 32) as usize % (row - BYTES + 1))
            }
        };
        let address = ptr + (y * pitch + x) as DevicePtr;
        Sentinel { address, bytes: random as u32, image }
    })
}
