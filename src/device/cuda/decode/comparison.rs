//! Comparisons with the CPU's pixels: now and then an image that the device has decoded is copied back and decoded once
//! more. nvJPEG's arithmetic is its own, so its pixels may differ, but not as those of another image do.

#![expect(unsafe_code, reason = "copies from the device to memory of the host")]

use super::request::Request;
use super::route::Route;
use crate::device::cuda::driver::{Context, CudaError, Event, PinnedBuffer, Stream};
use crate::geometry::Rect;
use crate::image::{Decoder, Header, Image, Limits};

/// Comparisons that may be under way at once.
const AT_ONCE: usize = 4;
/// Most bytes of an image that are compared: its first rows.
const MOST_BYTES: usize = 1 << 20;
/// Edge of the tiles whose differences are looked at apart, so that a small part that is wrong shows.
const TILE: usize = 32;

/// How far pixels may be from the CPU's, in levels: the mean of an image, and that of any tile.
struct Bounds {
    mean: f64,
    tile: f64,
}

/// Where chroma is stored whole only the rounding of transforms differs; elsewhere it is interpolated by other rules,
/// which shows at edges between colours.
const EXACT_CHROMA: Bounds = Bounds { mean: 2.0, tile: 8.0 };
const INTERPOLATED_CHROMA: Bounds = Bounds { mean: 10.0, tile: 48.0 };
/// Where a decoder repeats it instead, such edges are a pixel off.
const REPEATED_CHROMA: Bounds = Bounds { mean: 16.0, tile: 72.0 };

/// Images that are being compared.
pub(super) struct Comparisons {
    places: Vec<Place>,
    /// Whether each decoder interpolates chroma, in the order of [`Route`].
    interpolates: [bool; Route::GPU.len()],
    decoder: Decoder,
    image: Image,
}

struct Place {
    pixels: PinnedBuffer,
    copied: Event,
    job: Option<Job>,
}

struct Job {
    route: Route,
    file: Vec<u8>,
    header: Header,
    /// What was copied, and the bytes from one of its rows to the next.
    part: Rect,
    pitch: usize,
}

/// What came of a comparison: the decoder, and the mean difference where it is too large.
pub(super) struct Verdict {
    pub(super) route: Route,
    pub(super) wrong: Option<f64>,
}

impl Comparisons {
    pub(super) fn new(context: &Context, interpolates: [bool; Route::GPU.len()]) -> Result<Self, CudaError> {
        let place = |_| {
            Ok(Place {
                pixels: PinnedBuffer::new(context, MOST_BYTES)?,
                copied: Event::new(context)?,
                job: None,
            })
        };
        let limits = Limits { max_pixels: u64::MAX, ..Limits::default() };
        let places = (0..AT_ONCE).map(place).collect::<Result<_, CudaError>>()?;
        Ok(Self { places, interpolates, decoder: Decoder::new(limits), image: Image::default() })
    }

    /// Whether one more can be compared now.
    pub(super) fn has_room(&self) -> bool {
        self.places.iter().any(|place| place.job.is_none())
    }

    /// Copies an image back, or as much of it as fits, behind what `stream` holds; all of it only if `whole`.
    ///
    /// # Safety
    /// The target holds the image when `stream` has reached this point, and nothing writes it before.
    pub(super) unsafe fn begin(
        &mut self,
        route: Route,
        (request, whole): (&Request<'_>, bool),
        stream: &Stream,
    ) -> Result<(), CudaError> {
        let Some(place) = self.places.iter_mut().find(|place| place.job.is_none()) else { return Ok(()) };
        let (region, pitch) = (request.target.region, request.target.pitch);
        let wanted = if whole { region.height } else { region.height.div_ceil(4).max(TILE as u32) };
        let rows = (MOST_BYTES / pitch).min(wanted.min(region.height) as usize);
        if rows == 0 {
            return Ok(());
        }
        // The bytes behind the last row's pixels may lie beyond the target.
        let bytes = (rows - 1) * pitch + region.width as usize * 3;
        // SAFETY: the target holds the image where the stream copies it, and nothing writes it before; the place has room, is free,
        // and is not used again before the event.
        unsafe { stream.copy_to_host(place.pixels.as_mut_ptr(), request.target.ptr, bytes)? };
        place.copied.record(stream)?;
        let part = Rect { height: rows as u32, ..region };
        let (file, header) = (request.bytes.to_vec(), request.header.clone());
        place.job = Some(Job { route, file, header, part, pitch });
        Ok(())
    }

    /// Compares what has arrived by now.
    pub(super) fn collect(&mut self) -> Result<Vec<Verdict>, CudaError> {
        let mut verdicts = Vec::new();
        let Self { places, interpolates, decoder, image } = self;
        for place in places {
            if place.job.is_none() || !place.copied.is_done()? {
                continue;
            }
            let Some(job) = place.job.take() else { continue };
            let bytes = (job.part.height as usize - 1) * job.pitch + job.part.width as usize * 3;
            // SAFETY: so many bytes were copied, and the device is done with that.
            let pixels = unsafe { std::slice::from_raw_parts(place.pixels.as_ptr(), bytes) };
            let bounds = bounds(&job.header, interpolates[job.route as usize]);
            // What the CPU refuses it can say nothing about.
            if decoder.decode(&job.file, &job.header, job.part, image).is_ok() {
                let wrong = difference(pixels, job.pitch, image, bounds);
                verdicts.push(Verdict { route: job.route, wrong });
            }
        }
        Ok(verdicts)
    }

    /// Waits until the device is done with the memory.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        self.places.iter().try_for_each(|place| place.copied.synchronize())
    }
}

fn bounds(header: &Header, interpolates: bool) -> &'static Bounds {
    match header.sampling().map(|sampling| sampling.name()) {
        Some("grey" | "4:4:4") => &EXACT_CHROMA,
        _ if interpolates => &INTERPOLATED_CHROMA,
        _ => &REPEATED_CHROMA,
    }
}

/// The mean difference of all pixels or of the worst tile, where it is beyond its bound.
fn difference(pixels: &[u8], pitch: usize, image: &Image, bounds: &Bounds) -> Option<f64> {
    let (width, height) = (image.region.width as usize * 3, image.region.height as usize);
    let rows = pixels.chunks(pitch).zip(image.data.chunks(image.stride)).take(height);
    let columns = width.div_ceil(3 * TILE);
    let mut tiles = vec![(0u64, 0u64); columns * height.div_ceil(TILE)];
    for (y, (ours, theirs)) in rows.enumerate() {
        let (ours, theirs) = (ours[..width].chunks(3 * TILE), theirs[..width].chunks(3 * TILE));
        for (x, (ours, theirs)) in ours.zip(theirs).enumerate() {
            let (sum, count) = &mut tiles[y / TILE * columns + x];
            *sum += ours.iter().zip(theirs).map(|(&a, &b)| u64::from(a.abs_diff(b))).sum::<u64>();
            *count += ours.len() as u64;
        }
    }
    let mean = |&(sum, count): &(u64, u64)| sum as f64 / count.max(1) as f64;
    let all = tiles.iter().fold((0, 0), |all, tile| (all.0 + tile.0, all.1 + tile.1));
    let worst = tiles.iter().map(mean).fold(0.0, f64::max);
    match mean(&all) {
        mean if mean > bounds.mean => Some(mean),
        _ => (worst > bounds.tile).then_some(worst),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;

    fn image(level: impl Fn(usize, usize) -> u8) -> Image {
        let mut image = Image::default();
        let size = Size::new(100, 70);
        image.reset(size, size.rect());
        for y in 0..70 {
            (0..300).for_each(|x| image.data[y * 300 + x] = level(x, y));
        }
        image
    }

    #[test]
    fn small_differences_everywhere_are_arithmetic_and_large_ones_in_one_tile_are_not() {
        let picture = |x: usize, y: usize| (x * 3 + y * 2) as u8 / 2;
        let expected = image(picture);
        let compared = |level: &dyn Fn(usize, usize) -> u8, bounds: &Bounds| {
            let shown = image(level);
            difference(&shown.data[..300 * 70], 300, &expected, bounds)
        };
        assert_eq!(compared(&picture, &EXACT_CHROMA), None);
        assert_eq!(compared(&|x, y| picture(x, y) + (x % 2) as u8, &EXACT_CHROMA), None);
        assert!(compared(&|x, y| picture(x, y) + 3, &EXACT_CHROMA).is_some());
        assert_eq!(compared(&|x, y| picture(x, y) + 3, &INTERPOLATED_CHROMA), None);
        let spoiled = |x, y| if x >= 288 && y >= 64 { !picture(x, y) } else { picture(x, y) };
        assert!(compared(&spoiled, &INTERPOLATED_CHROMA).is_some(), "the smallest tile, in the corner");
        assert!(compared(&|_, _| 0, &INTERPOLATED_CHROMA).is_some());
        assert!(compared(&|x, y| picture(x, 69 - y), &INTERPOLATED_CHROMA).is_some(), "another image");
    }
}
