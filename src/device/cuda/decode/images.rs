//! JPEGs decoded on a device and brought back: to see what its decoders make of a file, and to compare them with others.

#![expect(unsafe_code, reason = "queues writes to device memory")]

mod overwritten;
mod rounds;

pub use overwritten::Overwritten;
pub use rounds::Rounds;

use super::{Decoder, HostFree, Options, Request, Route, Target};
use crate::device::cuda::driver::{
    Context, CudaError, DeviceBuffer, DevicePtr, PinnedBuffer, Priority, Stream,
};
use crate::device::cuda::nvjpeg::Nvjpeg;
use crate::device::cuda::probe::Missing;
use crate::error::{Cause, Error, Result};
use crate::geometry::Rect;
use crate::image::Image;
use crate::jpeg;

/// Where a surface begins: a multiple of this.
const ALIGNMENT: usize = 256;

/// Decodes JPEGs on a CUDA device and copies the pixels back to the host. A loader does not: there they stay.
pub struct ImageDecoder {
    decoder: Decoder,
    stream: Stream,
    context: Context,
}

/// Which part of each file is decoded.
#[derive(Clone, Copy)]
enum Wanted {
    Whole,
    /// This, or more around it, as a loader would.
    Around(Rect),
    /// This and nothing else.
    Exactly(Rect),
}

/// A decoded image, and which decoder made it.
#[derive(Clone, Debug)]
pub struct DecodedImage {
    /// The pixels: of what was asked for, or of more around it.
    pub image: Image,
    /// The decoder that made it.
    pub by: Route,
}

impl ImageDecoder {
    /// Opens nvJPEG on the device `ordinal`. `parts` allows decoding parts of images alone.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: no such device, or no nvJPEG.
    pub fn open(ordinal: u32, parts: bool) -> Result<Self> {
        let what = || format!("decoding on CUDA device {ordinal}");
        super::super::find(ordinal)
            .and_then(|found| found.usable)
            .map_err(|missing| missing.error(what()))?;
        let library = Nvjpeg::get().map_err(|absent| Missing::nvjpeg(absent).error(what()))?;
        let context = Context::open(ordinal).map_err(|error| Missing::context(&error).error(what()))?;
        let options = Options { parts, ..Options::default() };
        let decoder = Decoder::new(&context, library, options)
            .map_err(|error| Missing::backend(&error).error(what()))?;
        let stream = Stream::new(&context, Priority::Normal).map_err(|error| failed(&context, &error))?;
        Ok(Self { decoder, stream, context })
    }

    /// From now on only this decoder is chosen, as far as it is there. What it then does not take goes to the hybrid one
    /// all the same: [`DecodedImage::by`] tells.
    pub fn choose(&mut self, route: Route) {
        self.decoder.choose(route);
    }

    /// Decodes `wanted` of each file (stored coordinates), or all of it; an error for each that no decoder takes.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: the device has failed.
    pub fn decode(
        &mut self,
        files: &[&[u8]],
        wanted: Option<Rect>,
    ) -> Result<Vec<Result<DecodedImage, Cause>>> {
        self.decode_wanted(files, wanted.map_or(Wanted::Whole, Wanted::Around))
    }

    /// Decodes `part` of each file and nothing around it, which shows how far a decoder looks beyond what it is asked
    /// for: along the edges the pixels may not be those of the whole image.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn decode_exactly(
        &mut self,
        files: &[&[u8]],
        part: Rect,
    ) -> Result<Vec<Result<DecodedImage, Cause>>> {
        self.decode_wanted(files, Wanted::Exactly(part))
    }

    fn decode_wanted(&mut self, files: &[&[u8]], wanted: Wanted) -> Result<Vec<Result<DecodedImage, Cause>>> {
        let headers = headers(files);
        let places = self.places(files, &headers, wanted);
        self.decode_to(files, headers, &places).map_err(|error| failed(&self.context, &error))
    }

    /// Region and offset of each file's surface, and after them the bytes of all; nothing for a file without header.
    fn places(
        &self,
        files: &[&[u8]],
        headers: &[Result<jpeg::Header, Cause>],
        wanted: Wanted,
    ) -> Vec<(Rect, usize)> {
        let can = self.decoder.capabilities();
        let mut end = 0;
        let mut places = Vec::with_capacity(files.len() + 1);
        for (bytes, header) in files.iter().zip(headers) {
            let region = header.as_ref().map_or(Rect::default(), |header| {
                let whole = header.size.rect();
                match wanted {
                    Wanted::Whole => whole,
                    Wanted::Around(part) if can.takes(header, bytes) => can.region(header, part),
                    Wanted::Around(part) | Wanted::Exactly(part) => part.intersect(whole),
                }
            });
            places.push((region, end));
            end += (region.size().pixels() as usize * 3).next_multiple_of(ALIGNMENT);
        }
        places.push((Rect::default(), end));
        places
    }

    fn decode_to(
        &mut self,
        files: &[&[u8]],
        headers: Vec<Result<jpeg::Header, Cause>>,
        places: &[(Rect, usize)],
    ) -> Result<Vec<Result<DecodedImage, Cause>>, CudaError> {
        let bytes = places.last().map_or(0, |&(_, end)| end);
        let surfaces = DeviceBuffer::new(&self.context, bytes)?;
        let pixels = PinnedBuffer::new(&self.context, bytes)?;
        let guard = SyncGuard(&self.context);
        let requests = requests(files, &headers, places, surfaces.ptr());
        // SAFETY: the targets are parts of `surfaces`, new, and read by the copy below only; `guard` sees to it that
        // all has ended before anything is freed.
        let decoded = unsafe { self.decoder.decode(&requests, &self.stream, HostFree::wait([])?)? };
        // SAFETY: both are that long, and alive until `guard` has waited.
        unsafe { self.stream.copy_to_host(pixels.as_mut_ptr(), surfaces.ptr(), bytes)? };
        self.stream.synchronize()?;
        drop(guard);
        // SAFETY: all of it is initialised, and the copy has ended.
        let pixels = unsafe { std::slice::from_raw_parts(pixels.as_ptr(), bytes) };
        let mut decoded = decoded.into_iter();
        let image = |(header, &(region, offset)): (Result<jpeg::Header, Cause>, &(Rect, usize))| {
            let header = header?;
            let by = decoded.next().unwrap_or(Ok(Route::Cpu))?;
            let mut image = Image { orientation: header.orientation, ..Image::default() };
            image.reset(header.size, region);
            let bytes = region.size().pixels() as usize * 3;
            image.data[..bytes].copy_from_slice(&pixels[offset..offset + bytes]);
            Ok(DecodedImage { image, by })
        };
        Ok(headers.into_iter().zip(places).map(image).collect())
    }
}

fn headers(files: &[&[u8]]) -> Vec<Result<jpeg::Header, Cause>> {
    files.iter().map(|bytes| jpeg::parse_header(bytes).map_err(Cause::from)).collect()
}

/// The requests for those that have a header, one surface after the other from `first` on.
fn requests<'a>(
    files: &[&'a [u8]],
    headers: &'a [Result<jpeg::Header, Cause>],
    places: &[(Rect, usize)],
    first: DevicePtr,
) -> Vec<Request<'a>> {
    let request = |((bytes, header), (region, offset)): ((&'a [u8], &'a Result<_, _>), (Rect, usize))| {
        let (ptr, pitch) = (first + offset as DevicePtr, 3 * region.width as usize);
        let header = header.as_ref().ok()?;
        Some(Request { bytes, header, target: Target { ptr, pitch, region } })
    };
    let places = places.iter().copied();
    files.iter().copied().zip(headers).zip(places).filter_map(request).collect()
}

/// Waits for the device before what it works on is freed, whichever way a function is left.
struct SyncGuard<'a>(&'a Context);

impl Drop for SyncGuard<'_> {
    fn drop(&mut self) {
        // A device that has failed does not work on anything any more.
        drop(self.0.synchronize());
    }
}

fn failed(context: &Context, error: &CudaError) -> Error {
    Error::Unavailable {
        what: format!("CUDA device {}", context.ordinal()),
        why: format!("it has failed ({error})"),
        remedy: "see what `nvidia-smi` and the system's log say, and start the program again".into(),
    }
}
