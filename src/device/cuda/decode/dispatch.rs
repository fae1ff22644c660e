//! Which decoder takes which file: what the user asks for, what the device has, and what its decoders were seen to take.
//! Workers ask it as they stage files, the thread that submits batches as it assigns them.

use super::health::Health;
use super::kinds::{Kind, Kinds};
use super::rates::{GPU_HUFFMAN_BATCH, Rates};
use super::region;
use super::route::{Route, Routes};
use super::trust::Trust;
use crate::device::DecoderReport;
use crate::device::cuda::jpeg;
use crate::device::cuda::nvjpeg::NvjpegError;
use crate::geometry::Rect;
use crate::image::Header;
use crate::policy::DecoderChoice;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Batches between two trials of a decoder that has no share, and the first of them.
const TRIAL_EVERY: u64 = 64;
const FIRST_TRIAL: u64 = 1;
/// Files of a trial: some more than the decoder needs for a batch of its own, since it may refuse some.
const TRIAL_FILES: usize = GPU_HUFFMAN_BATCH + 13;

/// Which decoder takes which file, for all threads of a loader.
pub(crate) struct Dispatch {
    choice: DecoderChoice,
    /// Those of the device's decoders that may be used.
    chosen: Routes,
    /// Whether parts of images may be decoded alone.
    parts: bool,
    /// Rows of a batch; `None` where there are neither batches nor workers that decode.
    rows: Option<usize>,
    /// Bytes of the device's memory that the device's own decoder may take for one file.
    room: AtomicUsize,
    known: Mutex<Known>,
}

/// What was learned of the decoders.
#[derive(Default)]
struct Known {
    decoders: [Learned; Route::COUNT],
    rates: Rates,
    batches: u64,
}

#[derive(Default)]
struct Learned {
    health: Health,
    kinds: Kinds,
    trust: Trust,
    refused: u64,
    failed_calls: u64,
    last_failure: Option<String>,
}

/// The decoders that the user lets a loader use, with batches of so many rows, where the device has them.
pub(super) fn chosen(choice: DecoderChoice, rows: Option<usize>) -> Routes {
    let chosen = match choice {
        DecoderChoice::Nvjpeg => Routes::ALL,
        DecoderChoice::NvjpegHardware => Routes::ALL.only(Route::Hardware),
        DecoderChoice::NvjpegGpu => Routes::ALL.only(Route::GpuHuffman),
        DecoderChoice::NvjpegHybrid => Routes::ALL.only(Route::Hybrid),
        DecoderChoice::Auto | DecoderChoice::Feedline => Routes::FEEDLINE,
        DecoderChoice::Cpu => Routes::NONE,
    };
    let small = rows.is_some_and(|rows| rows < GPU_HUFFMAN_BATCH);
    if small { chosen.without(Route::GpuHuffman) } else { chosen }
}

impl Learned {
    fn is_sound(&self) -> bool {
        self.health.is_sound() && self.trust.left.is_none()
    }
}

impl Dispatch {
    /// For a device that has these decoders of [`chosen`], which can decode `parts` or not, and batches of so many rows.
    pub(super) fn new(choice: DecoderChoice, chosen: Routes, parts: bool, rows: Option<usize>) -> Self {
        let (room, known) = Default::default();
        Self { choice, chosen, parts, rows, room, known }
    }

    /// Whether there are decoding engines that may be used, which need to know that their targets are free: see
    /// [`super::HostFree`].
    pub(crate) fn uses_engines(&self) -> bool {
        self.chosen.has(Route::Hardware)
    }

    /// What is to be written where `wanted` is wanted: the whole image, or a part around it, so that chroma is
    /// interpolated across the edges of what is wanted as in the whole image. Engines decode whole images: they may refuse
    /// parts, or take longer for them.
    pub(crate) fn region(&self, header: &Header, wanted: Rect) -> Rect {
        match self.choice {
            // Its pixels are those of the whole image, whatever part is asked for.
            choice if choice.is_own() => jpeg::aligned(wanted),
            _ if self.uses_engines() => header.size.rect(),
            _ => self.part(header, wanted),
        }
    }

    /// The same for decoders that are not the engines.
    pub(super) fn part(&self, header: &Header, wanted: Rect) -> Rect {
        if self.parts { region::part(header, wanted) } else { header.size.rect() }
    }

    /// Whether the device gets a file of which `wanted` is wanted; what it does not get, the worker that asks decodes.
    pub(crate) fn takes(&self, header: &Header, wanted: Rect) -> bool {
        self.candidates(header, self.region(header, wanted)) != Routes::NONE
    }

    /// The decoders on the device that may be given a file of which `region` is decoded.
    pub(super) fn candidates(&self, header: &Header, region: Rect) -> Routes {
        if self.is_own() {
            return Routes::own(header);
        }
        let kind = Kind::of(header, region != header.size.rect());
        let known = self.known();
        let mut routes = Routes::of(header).and(self.chosen);
        for route in Route::GPU {
            let learned = &known.decoders[route as usize];
            if !learned.is_sound() || learned.kinds.is_refused(&kind) {
                routes = routes.without(route);
            }
        }
        let has_many_scans = header.jpeg.as_ref().is_none_or(|jpeg| !jpeg.has_one_scan());
        match self.choice {
            // The workers do side by side what one thread would do.
            DecoderChoice::Nvjpeg if self.rows.is_some() && has_many_scans => Routes::NONE,
            _ => routes,
        }
    }

    /// Whether a file that another of its decoders refuses goes to nvJPEG's hybrid one.
    pub(super) fn has_hybrid_last(&self) -> bool {
        self.chosen.has(Route::Hybrid)
    }

    /// Whether the first files of this batch go to the GPU's processors to be measured, where nvJPEG decodes all.
    pub(super) fn trial_files(&self) -> usize {
        let known = self.known();
        let measured = known.rates.measured(Route::GpuHuffman).is_some();
        let due = known.batches % TRIAL_EVERY == FIRST_TRIAL || !measured;
        let tried = self.choice == DecoderChoice::Nvjpeg && self.chosen.has(Route::GpuHuffman);
        if tried && due { TRIAL_FILES } else { 0 }
    }

    /// How fast they are.
    pub(super) fn rates(&self) -> Rates {
        self.known().rates.clone()
    }

    /// A decoder needed so long for files of so many bytes.
    pub(crate) fn note_time(&self, route: Route, bytes: u64, took: Duration) {
        self.known().rates.note(route, bytes, took);
    }

    /// A batch is submitted now.
    pub(crate) fn note_batch(&self) {
        let mut known = self.known();
        known.batches += 1;
        known.decoders.iter_mut().for_each(|learned| learned.health.note_batch());
    }

    /// Whether the library has to be asked whether `route` takes files of this kind.
    pub(super) fn is_unknown(&self, route: Route, kind: &Kind) -> bool {
        self.learned(route, |learned| learned.kinds.is_unknown(kind))
    }

    /// The library says that it takes files of this kind.
    pub(super) fn note_kind(&self, route: Route, kind: Kind) {
        self.learned(route, |learned| learned.kinds.note_taken(kind));
    }

    /// Whether the device's own decoder is the one.
    pub(crate) fn is_own(&self) -> bool {
        self.choice.is_own()
    }

    /// The device's own decoder has left a file to the CPU, for damage.
    pub(super) fn note_flagged(&self) {
        self.learned(Route::Feedline, |learned| learned.refused += 1);
    }

    /// The device's own decoder may take so many bytes of the device's memory for a file.
    pub(super) fn note_room(&self, bytes: usize) {
        self.room.store(bytes, Relaxed);
    }

    /// Whether the device's own decoder may take so many bytes for a file; a worker decodes one that needs more.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        let room = self.room.load(Relaxed);
        if bytes > room {
            self.note_no_room(bytes, room);
        }
        bytes <= room
    }

    /// The device's own decoder had no room for a file of so many bytes of the device's memory.
    pub(super) fn note_no_room(&self, bytes: usize, room: usize) {
        self.learned(Route::Feedline, |learned| {
            learned.last_failure = Some(format!(
                "decoding a file on the device would take {bytes} bytes of its memory, and the limit is {room}, so the CPU \
                 decodes it: raise device_memory"
            ));
        });
    }

    /// A file was refused, for what it is or for damage.
    pub(super) fn note_refusal(&self, route: Route, kind: Kind, error: &NvjpegError) {
        self.learned(route, |learned| {
            learned.refused += 1;
            if error.blames_the_kind() {
                learned.kinds.note_refused(kind);
            }
            learned.last_failure = Some(format!("{error}, for one file, which the CPU decodes"));
        });
    }

    /// Whether it neither rests nor was left.
    pub(super) fn is_sound(&self, route: Route) -> bool {
        self.learned(route, |learned| learned.is_sound())
    }

    /// A call has decoded files of these kinds, of which there may be none.
    pub(super) fn note_success(&self, route: Route, kinds: impl Iterator<Item = Kind>) {
        self.learned(route, |learned| {
            learned.health.note_success();
            kinds.for_each(|kind| learned.kinds.note_taken(kind));
        });
    }

    /// A call has failed with `error`, and its files were all decoded when it was made again, or in parts.
    pub(super) fn note_repeated(&self, route: Route, error: &NvjpegError) {
        self.learned(route, |learned| {
            learned.failed_calls += 1;
            learned.last_failure = Some(format!("{error}, which went well the second time"));
        });
    }

    /// A call has decoded nothing of so many files, for the reason `error`.
    pub(super) fn note_failure(&self, route: Route, files: usize, error: &NvjpegError) {
        self.learned(route, |learned| {
            learned.failed_calls += 1;
            learned.health.note_failure();
            let then =
                if learned.health.is_sound() { "the CPU decodes them" } else { "it rests for some batches" };
            learned.last_failure = Some(format!("{error}, for all of {files} files: {then}"));
        });
    }

    /// A decoder has decoded one more image; whether that is to be compared with the CPU's, and if so, whether all of it.
    pub(super) fn note_image(&self, route: Route, has_room: bool) -> Option<bool> {
        self.learned(route, |learned| learned.trust.note_image(has_room))
    }

    /// An image was compared: the mean difference, where it is too large.
    pub(super) fn note_comparison(&self, route: Route, wrong: Option<f64>) {
        self.learned(route, |learned| learned.trust.note_comparison(wrong));
    }

    /// An image that was said to be decoded was not written, or not in time.
    pub(super) fn note_unwritten(&self, route: Route) {
        self.learned(route, |learned| learned.trust.note_unwritten());
    }

    /// How they have done, without the numbers of images.
    pub(crate) fn report(&self) -> Vec<(Route, DecoderReport)> {
        let known = self.known();
        let all = Route::GPU.into_iter().chain([Route::Feedline]);
        let there = all.filter(|&route| self.chosen.has(route));
        there
            .map(|route| {
                let learned = &known.decoders[route as usize];
                let report = DecoderReport {
                    name: route.option(),
                    images: 0,
                    refused: learned.refused,
                    compared: learned.trust.compared,
                    wrong: learned.trust.wrong,
                    unwritten: learned.trust.unwritten,
                    left: learned.trust.left.clone(),
                    failed_calls: learned.failed_calls,
                    rests: learned.health.rests,
                    last_failure: learned.last_failure.clone(),
                    nanoseconds_per_byte: known.rates.measured(route),
                };
                (route, report)
            })
            .collect()
    }

    /// Reads or changes what was learned of one decoder.
    fn learned<T>(&self, route: Route, change: impl FnOnce(&mut Learned) -> T) -> T {
        change(&mut self.known().decoders[route as usize])
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // What a panic leaves is at most one measurement short.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
