//! Decodes JPEGs into device memory: each by the decoder that will be done with it first, none at the cost of another.
//!
//! ```text
//! header -> route (which can) -> rates (which should) -> batched: engines, GPU Huffman | hybrid: one after the other
//! ```
//!
//! The decoders work side by side on streams of their own, which begin after what the caller's stream holds and which
//! that stream waits for at the end. A batch that fails is taken apart until the bad file stands alone; a file that no
//! GPU decoder takes is given back to the caller with the reason, and the CPU decodes it.

#![expect(unsafe_code, reason = "queues writes to device memory")]

mod batched;
mod hybrid;
mod images;
mod rates;
mod region;
mod request;
mod route;

pub use images::{DecodedImage, ImageDecoder, Rounds};
pub(crate) use request::{HostFree, Request, Target};
pub use route::Route;

use super::driver::{Context, CudaError, Event, Stream};
use super::nvjpeg::{Backend, Nvjpeg, NvjpegError};
use crate::error::Cause;
use crate::geometry::{Rect, Size};
use crate::jpeg::Header;
use batched::Batched;
use hybrid::Hybrid;
use rates::{Rates, assign};
use route::Routes;
use std::time::Instant;

/// All decoders of one device, for one thread at a time.
pub(crate) struct Decoder {
    /// Those that the device has.
    batched: Vec<(Route, Batched)>,
    hybrid: Hybrid,
    /// Where the caller's stream stood when the last call began.
    entry: Event,
    rates: Rates,
    parts: bool,
    /// The one decoder that may be chosen, for measurements; none for all of them.
    only: Option<Route>,
}

/// What a decoder can do, as far as it does not change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capabilities {
    /// Whether there are decoding engines, which need to know that their targets are free: see [`HostFree`].
    pub(crate) engines: bool,
    parts: bool,
}

impl Capabilities {
    /// Whether some decoder on the GPU takes such a file, as far as its header and its end tell.
    pub(crate) fn takes(self, header: &Header, bytes: &[u8]) -> bool {
        // The hybrid decoder is always there, and takes what any other takes.
        Routes::of(header, bytes) != Routes::NONE
    }

    /// What is to be written where `wanted` is wanted: the whole image, or a part around it, so that chroma is
    /// interpolated across the edges of what is wanted as in the whole image.
    pub(crate) fn region(self, header: &Header, wanted: Rect) -> Rect {
        if self.parts { region::part(header, wanted) } else { header.size.rect() }
    }
}

impl Decoder {
    /// Opens the decoders that the device has; engines and GPU Huffman may be missing. `parts` allows decoding parts of
    /// images alone, where the library does that right; memory for batches of so many `typical` images is reserved.
    ///
    /// # Errors
    /// nvJPEG does not start on this device.
    pub(crate) fn new(
        context: &Context,
        library: &'static Nvjpeg,
        parts: bool,
        typical: Option<(usize, Size)>,
    ) -> Result<Self, NvjpegError> {
        let hybrid = Hybrid::new(library, context)?;
        let backends = [(Route::Hardware, Backend::Hardware), (Route::GpuHuffman, Backend::GpuHuffman)];
        let open = |(route, backend)| Some((route, Batched::new(library, context, backend).ok()?));
        let mut batched: Vec<(Route, Batched)> = backends.into_iter().filter_map(open).collect();
        if let (Some((Route::Hardware, hardware)), Some((images, size))) = (batched.first_mut(), typical) {
            hardware.reserve(images, size);
        }
        let entry = Event::new(context)?;
        let parts = parts && library.decodes_parts();
        Ok(Self { batched, hybrid, entry, rates: Rates::default(), parts, only: None })
    }

    /// From now on only this decoder is chosen. What it then does not take goes to the hybrid one all the same.
    pub(crate) fn choose(&mut self, route: Route) {
        self.only = Some(route);
    }

    /// What it can do, for threads that prepare requests meanwhile.
    pub(crate) fn capabilities(&self) -> Capabilities {
        Capabilities {
            engines: self.batched.iter().any(|(route, _)| *route == Route::Hardware),
            parts: self.parts,
        }
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
        self.entry.record(stream)?;
        let mut outcomes = self.plan(requests, &free)?;
        let Self { batched, hybrid, entry, rates, .. } = self;
        for (route, batched) in batched {
            let chosen = chosen(&outcomes, *route);
            if chosen.is_empty() {
                continue;
            }
            let group: Vec<&Request<'_>> = chosen.iter().map(|&at| &requests[at]).collect();
            // SAFETY: the caller's promise; `plan` names the hardware only where the host knows the targets to be free.
            let taken = unsafe { batched.decode(&group, entry, stream)? };
            for (at, _) in chosen.into_iter().zip(taken).filter(|(_, taken)| !taken) {
                // What a batch does not take is tried alone.
                outcomes[at] = Ok(Route::Hybrid);
            }
        }
        let alone = chosen(&outcomes, Route::Hybrid);
        let began = Instant::now();
        for &at in &alone {
            // SAFETY: the caller's promise.
            if let Err(error) = unsafe { hybrid.decode(&requests[at].item(), entry)? } {
                outcomes[at] = Err(error.into());
            }
        }
        hybrid.join(stream)?;
        let pixels = alone.iter().map(|&at| requests[at].header.size.pixels()).sum();
        rates.note(Route::Hybrid, pixels, began.elapsed());
        Ok(outcomes)
    }

    /// The decoder that is to try each request first; an error where none can.
    fn plan(
        &mut self,
        requests: &[Request<'_>],
        free: &HostFree,
    ) -> Result<Vec<Result<Route, Cause>>, CudaError> {
        for (route, batched) in &mut self.batched {
            if let Some((pixels, time)) = batched.time()? {
                self.rates.note(*route, pixels, time);
            }
        }
        let candidates = |request: &Request<'_>| match request.fits() {
            true => free.limit(self.candidates(request.header, request.bytes)),
            false => Routes::NONE,
        };
        let images: Vec<(u64, Routes)> =
            requests.iter().map(|request| (request.header.size.pixels(), candidates(request))).collect();
        let refused = |request: &Request<'_>| -> Cause {
            if request.fits() {
                return "no decoder on the GPU takes this kind of JPEG".into();
            }
            let (Target { region, pitch, .. }, size) = (request.target, request.header.size);
            format!("the target {region:?}, {pitch} bytes a row, does not fit an image of {size}").into()
        };
        let routes = assign(&images, &self.rates);
        Ok(routes
            .into_iter()
            .zip(requests)
            .map(|(route, request)| if route == Route::Cpu { Err(refused(request)) } else { Ok(route) })
            .collect())
    }

    /// The one of the decoders that are there that takes such a file.
    fn candidates(&self, header: &Header, bytes: &[u8]) -> Routes {
        let mut routes = Routes::of(header, bytes);
        for route in [Route::Hardware, Route::GpuHuffman] {
            if !self.batched.iter().any(|(one, batched)| *one == route && batched.is_sound()) {
                routes = routes.without(route);
            }
        }
        self.only.map_or(routes, |only| routes.only(only))
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
        for (_, batched) in &self.batched {
            drop(batched.synchronize());
        }
        drop(self.hybrid.synchronize());
    }
}
