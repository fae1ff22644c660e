//! The host's part of decoding files on a device, for callers that have no loader.

use super::{Job, LeftOut, Scan, ScanMaker};
use crate::device::cuda::driver::DevicePtr;
use crate::device::cuda::host_bytes::{ALIGNMENT, HostBytes};
use crate::device::cuda::target::Target;
use crate::geometry::Rect;
use crate::image::{Header, Image, parse_header};
use crate::jpeg::Index;
use std::ops::Range;

/// Bytes that a scan may take beyond those of its file: where rows of a part meet, some stand twice.
const SPARE_BYTES: usize = 16 << 10;
/// Rows of pixels begin at multiples of this, as in a loader.
const PITCH: usize = 16;

/// A file, and what is wanted of it.
#[derive(Clone, Copy, Debug)]
pub struct FilePart<'a> {
    /// All of its bytes.
    pub bytes: &'a [u8],
    /// In pixels of the stored image; `None` for all of it.
    pub region: Option<Rect>,
    /// What is known of the file: used as far as it reaches, and the decoder finds out what is missing. `None` where nobody wants
    /// to know.
    pub index: Option<&'a Index>,
}

/// A file that the device takes.
pub(super) struct Taken {
    pub(super) header: Header,
    pub(super) region: Rect,
    pub(super) scan: Scan,
    /// Where its bits lie in the host's memory, and its pixels in the device's.
    pub(super) words: Range<usize>,
    pub(super) offset: usize,
}

impl Taken {
    /// What is to be done with it: its bits are among these words, its pixels go to memory that begins at `first`.
    pub(super) fn job<'a>(&'a self, words: &'a [u8], first: DevicePtr) -> Job<'a> {
        let (ptr, pitch) = (first + self.offset as DevicePtr, self.pitch());
        let target = Target { ptr, pitch, region: self.region };
        Job { scan: &self.scan, words: HostBytes::within(words, self.words.clone()), target }
    }

    fn pitch(&self) -> usize {
        (self.region.width as usize * 3).next_multiple_of(PITCH)
    }

    pub(super) fn pixel_bytes(&self) -> usize {
        self.pitch() * self.region.height as usize
    }

    /// Its pixels, without what is between their rows.
    pub(super) fn image(&self, pixels: &[u8]) -> Image {
        let mut image = Image { orientation: self.header.orientation, ..Image::default() };
        image.reset(self.header.size, self.region);
        let bytes = self.region.width as usize * 3;
        let rows = pixels.chunks(self.pitch()).take(self.region.height as usize);
        for (to, from) in image.data.chunks_exact_mut(bytes).zip(rows) {
            to.copy_from_slice(&from[..bytes]);
        }
        image
    }
}

/// The host's part of a call: files with their bits, of which those that the device does not take are left out.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) files: Vec<Result<Taken, LeftOut>>,
    /// Bytes of all bits.
    words: usize,
    /// Bytes of all pixels.
    pub(super) pixels: usize,
}

impl Loaded {
    /// Makes the scans, and writes their bits to memory of [`Loaded::bytes_of`] bytes.
    pub(super) fn new(files: &[FilePart<'_>], maker: &mut ScanMaker, out: &mut [u8]) -> Self {
        let mut loaded = Self::default();
        for file in files {
            let taken = loaded.add(file, maker, out);
            loaded.files.push(taken);
        }
        loaded
    }

    /// Room for the bits of these files.
    pub(super) fn bytes_of(files: &[FilePart<'_>]) -> usize {
        files.iter().map(|file| file.bytes.len() + SPARE_BYTES).sum()
    }

    fn add(&mut self, file: &FilePart<'_>, maker: &mut ScanMaker, out: &mut [u8]) -> Result<Taken, LeftOut> {
        let header = parse_header(file.bytes).map_err(|_| LeftOut::Header)?;
        LeftOut::of(&header).map_or(Ok(()), Err)?;
        let region = file.region.unwrap_or(header.size.rect());
        let scan = maker.make(file.bytes, &header, region, file.index).ok_or(LeftOut::Uncut)?;
        let words = self.words..self.words + scan.word_bytes();
        maker.write_words(file.bytes, out.get_mut(words.clone()).ok_or(LeftOut::Room)?);
        self.words = words.end.next_multiple_of(ALIGNMENT);
        let taken = Taken { header, region, scan, words, offset: self.pixels };
        self.pixels += taken.pixel_bytes().next_multiple_of(ALIGNMENT);
        Ok(taken)
    }

    pub(super) fn taken(&self) -> impl Iterator<Item = &Taken> {
        self.files.iter().filter_map(|file| file.as_ref().ok())
    }
}
