//! Decodes JPEGs into device memory: each by the decoder that will be done with it first, none at the cost of another.
//!
//! ```text
//! header -> dispatch (which may, which should) -> batched: engines, GPU Huffman | hybrid: one after the other | a worker
//! ```
//!
//! Workers ask the dispatch as they stage a file, and decode what the device does not get. The device's decoders work side
//! by side on streams of their own, which begin after what the caller's stream holds and which that stream waits for at
//! the end. A batch that fails is taken apart until the bad file stands alone; a file that no decoder of the device takes
//! is given back to the caller with the reason, and the CPU decodes it.

#![expect(unsafe_code, reason = "queues writes to device memory")]

mod batched;
mod comparison;
mod dispatch;
mod health;
mod hybrid;
mod images;
mod kinds;
mod own;
mod rates;
mod region;
mod request;
mod route;
mod sentinels;
mod timer;
mod track;
mod trust;
mod verification;

pub(crate) use dispatch::Dispatch;
pub use images::{DecodedImage, ImageDecoder, Rounds};
pub(crate) use own::OwnDecoder;
pub(crate) use request::{HostFree, Request, StagedScan};
pub use route::Route;

pub(crate) use super::target::Target;

use super::driver::{Context, CudaError, Event, Stream};
use super::jpeg::layout::JpegPoint;
use super::nvjpeg::{Nvjpeg, NvjpegError};
use crate::error::Cause;
use crate::geometry::Size;
use crate::policy::DecoderChoice;
use batched::Batched;
use hybrid::Hybrid;
use rates::{GPU_HUFFMAN_BATCH, assign};
use route::Routes;
use std::sync::Arc;
use std::time::Instant;
use verification::Verification;

/// What decodes on a device.
pub(crate) enum DeviceDecoder {
    Nvjpeg(Box<Decoder>),
    Own(Box<OwnDecoder>),
}

impl DeviceDecoder {
    /// Which decoder takes which file, for threads that prepare requests meanwhile.
    pub(crate) fn dispatch(&self) -> &Arc<Dispatch> {
        match self {
            Self::Nvjpeg(decoder) => decoder.dispatch(),
            Self::Own(decoder) => decoder.dispatch(),
        }
    }

    /// As [`Decoder::decode`].
    ///
    /// # Safety
    /// As [`Decoder::decode`].
    pub(crate) unsafe fn decode(
        &mut self,
        requests: &[Request<'_>],
        stream: &Stream,
        free: HostFree,
    ) -> Result<Vec<Result<Route, Cause>>, CudaError> {
        match self {
            // SAFETY: this asks for the same, of the same requests and stream.
            Self::Nvjpeg(decoder) => unsafe { decoder.decode(requests, stream, free) },
            // SAFETY: as above.
            Self::Own(decoder) => unsafe { decoder.decode(requests, stream) },
        }
    }

    /// As [`OwnDecoder::take_learned`].
    pub(crate) fn take_learned(&mut self) -> Vec<(usize, Vec<JpegPoint>)> {
        match self {
            Self::Nvjpeg(_) => Vec::new(),
            Self::Own(decoder) => decoder.take_learned(),
        }
    }

    /// As [`Decoder::collect`].
    pub(crate) fn collect(&mut self) -> Result<(), CudaError> {
        match self {
            Self::Nvjpeg(decoder) => decoder.collect(),
            Self::Own(_) => Ok(()),
        }
    }
}

/// All of nvJPEG's decoders of one device, for one thread at a time.
pub(crate) struct Decoder {
    /// Those that the device has.
    batched: Vec<Batched>,
    hybrid: Hybrid,
    /// Where the caller's stream stood when the last call began.
    entry: Event,
    dispatch: Arc<Dispatch>,
    /// `None` where the decoders are trusted.
    verification: Option<Verification>,
    /// The one decoder that may be chosen, for measurements; none for all of them.
    only: Option<Route>,
}

/// What a decoder is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecoderOptions {
    pub(crate) choice: DecoderChoice,
    /// Whether parts of images may be decoded alone, where the library does that right.
    pub(crate) parts: bool,
    /// Images of a batch, at most; `None` where there are no batches, and no workers that decode what is left.
    pub(crate) rows: Option<usize>,
    /// Whether what they write is looked at.
    pub(crate) verify: bool,
    /// The size of image that memory is reserved for.
    pub(crate) typical: Option<Size>,
}

impl Decoder {
    /// Opens the decoders that may be used, as far as the device has them; engines and GPU Huffman may be missing.
    ///
    /// # Errors
    /// nvJPEG does not start on this device.
    pub(crate) fn new(
        context: &Context,
        library: &'static Nvjpeg,
        options: DecoderOptions,
    ) -> Result<Self, NvjpegError> {
        let DecoderOptions { choice, parts, rows, verify, typical } = options;
        let hybrid = Hybrid::new(library, context)?;
        let chosen = dispatch::chosen(choice, rows);
        let batched = [Route::Hardware, Route::GpuHuffman].into_iter().filter(|&route| chosen.has(route));
        let mut batched: Vec<Batched> =
            batched.filter_map(|route| Batched::new(library, context, route).ok()).collect();
        let mut interpolates = [hybrid.interpolates(); Route::GPU.len()];
        batched.iter().for_each(|batched| interpolates[batched.route as usize] = batched.interpolates());
        let verification = verify.then(|| Verification::new(context, interpolates)).transpose()?;
        let there = batched.iter().map(|batched| batched.route);
        let there = there.fold(chosen.only(Route::Hybrid), Routes::with);
        let dispatch = Arc::new(Dispatch::new(choice, there, parts && library.decodes_parts(), rows));
        if let (Some(engines), Some(size), true) = (batched.first_mut(), typical, dispatch.uses_engines()) {
            engines.reserve(rows.unwrap_or(1), size);
        }
        Ok(Self { batched, hybrid, entry: Event::new(context)?, dispatch, verification, only: None })
    }

    /// From now on only this decoder is chosen. What it then does not take goes to the hybrid one all the same.
    pub(crate) fn choose(&mut self, route: Route) {
        self.only = Some(route);
    }

    /// Whether it decodes whole images even where a part is wanted.
    pub(crate) fn decodes_whole(&self) -> bool {
        self.only.map_or(self.dispatch.uses_engines(), |only| only == Route::Hardware)
    }

    /// Whether files of different samplings go to different calls of the engines, which is the default.
    pub(crate) fn group(&mut self, grouped: bool) {
        self.batched
            .iter_mut()
            .for_each(|batched| batched.group(grouped && batched.route == Route::Hardware));
    }

    /// Which decoder takes which file, for threads that prepare requests meanwhile.
    pub(crate) fn dispatch(&self) -> &Arc<Dispatch> {
        &self.dispatch
    }

    /// Queues the decoding of all requests, and returns for each the decoder that takes it, or why none here does. `stream` waits
    /// for all of them.
    ///
    /// # Safety
    /// Each target is device memory of its region's size. Nobody uses it from what `stream` holds now until `stream`
    /// has reached this point, nor are the bytes freed before.
    ///
    /// # Errors
    /// The device has failed: nothing more can be expected of this context. Decoders may still be writing until the
    /// context has been synchronised.
    pub(crate) unsafe fn decode(
        &mut self,
        requests: &[Request<'_>],
        stream: &Stream,
        free: HostFree,
    ) -> Result<Vec<Result<Route, Cause>>, CudaError> {
        self.collect()?;
        let mut outcomes = self.plan(requests, &free)?;
        let Self { batched, hybrid, entry, dispatch, verification, .. } = self;
        let marked = verification.as_mut().map(|verification| {
            // SAFETY: each target is memory of its region, which nobody uses from what `stream` holds now, and no decoder has
            // been asked to write it yet.
            unsafe { verification.mark(requests, &outcomes, (stream, &free)) }
        });
        let marked = marked.transpose()?;
        entry.record(stream)?;
        for batched in batched {
            let chosen = chosen(&outcomes, batched.route);
            if chosen.is_empty() {
                continue;
            }
            let group: Vec<&Request<'_>> = chosen.iter().map(|&at| &requests[at]).collect();
            // SAFETY: nobody uses the targets, and the bytes stay, until `stream` has reached this point; `plan` names the hardware only where the host knows the targets to be free.
            let taken = unsafe { batched.decode(&group, (entry, stream), dispatch)? };
            for (at, taken) in chosen.into_iter().zip(taken) {
                if let Err(cause) = taken {
                    outcomes[at] = if dispatch.has_hybrid_last() { Ok(Route::Hybrid) } else { Err(cause) };
                }
            }
        }
        let alone = chosen(&outcomes, Route::Hybrid);
        let began = Instant::now();
        for &at in &alone {
            // SAFETY: as above.
            if let Err(error) = unsafe { hybrid.decode(&requests[at].item(), entry)? } {
                dispatch.note_refusal(Route::Hybrid, requests[at].kind(), &error);
                outcomes[at] = Err(error.into());
            }
        }
        hybrid.join(stream)?;
        let bytes = alone.iter().map(|&at| requests[at].bytes.len() as u64).sum();
        dispatch.note_time(Route::Hybrid, bytes, began.elapsed());
        if let (Some(verification), Some(marked)) = (verification, marked) {
            // SAFETY: as above; `stream` waits for all decoders.
            unsafe { verification.check(marked, (requests, &outcomes), (stream, dispatch))? };
        }
        Ok(outcomes)
    }

    /// Takes in what is known by now of earlier batches: how long they took, and whether they were right.
    ///
    /// # Errors
    /// The device has failed.
    pub(crate) fn collect(&mut self) -> Result<(), CudaError> {
        self.batched.iter_mut().try_for_each(|batched| batched.report_time(&self.dispatch))?;
        self.verification.as_mut().map_or(Ok(()), |verification| verification.collect(&self.dispatch))
    }

    /// The decoder that is to try each request first; an error where none can.
    fn plan(
        &mut self,
        requests: &[Request<'_>],
        free: &HostFree,
    ) -> Result<Vec<Result<Route, Cause>>, CudaError> {
        let dispatch = &self.dispatch;
        let mut images = Vec::with_capacity(requests.len());
        for request in requests {
            let mut routes = match request.unfit() {
                None => free.limit(dispatch.candidates(request.header, request.target.region)),
                Some(_) => Routes::NONE,
            };
            routes = self.only.map_or(routes, |only| routes.only(only));
            // A file that the library would refuse is not assigned, so that the shares are right.
            for batched in &mut self.batched {
                if routes.has(batched.route) && !batched.supports(request, dispatch)? {
                    routes = routes.without(batched.route);
                }
            }
            images.push((request.bytes.len() as u64, routes));
        }
        let mut routes = assign(&images, &dispatch.rates());
        try_out(&images, &mut routes, dispatch.trial_files());
        let settled = |(route, request): (Route, &Request<'_>)| match (route, request.unfit()) {
            (Route::Cpu, Some(why)) => Err(why.into()),
            (Route::Cpu, None) => Err("no decoder on the GPU takes this kind of JPEG".into()),
            (route, _) => Ok(route),
        };
        Ok(routes.into_iter().zip(requests).map(settled).collect())
    }
}

/// Gives the first files that it can decode to the GPU's processors, if there are enough for a batch.
fn try_out(images: &[(u64, Routes)], routes: &mut [Route], files: usize) {
    let able: Vec<usize> =
        (0..images.len()).filter(|&at| images[at].1.has(Route::GpuHuffman)).take(files).collect();
    if able.len() >= GPU_HUFFMAN_BATCH {
        able.into_iter().for_each(|at| routes[at] = Route::GpuHuffman);
    }
}

/// The numbers of the requests that go this way.
fn chosen(outcomes: &[Result<Route, Cause>], route: Route) -> Vec<usize> {
    let goes = |at: &usize| matches!(outcomes[*at], Ok(other) if other == route);
    (0..outcomes.len()).filter(goes).collect()
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // nvJPEG's buffers are freed next, and the device may still be reading them. A device that has failed reads
        // nothing any more.
        for batched in &self.batched {
            drop(batched.synchronize());
        }
        drop(self.hybrid.synchronize());
        drop(self.verification.as_ref().map(Verification::synchronize));
    }
}
