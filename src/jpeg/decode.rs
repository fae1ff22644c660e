//! The decoder: checks a request, reads the file's segments, and decodes its scans.

mod coefficients;
pub(super) mod first_scan;
mod run;
mod single_scan;
mod state;

use crate::decode_memory::Permit;
use crate::geometry::Rect;
use crate::jpeg::entropy::{Stream, Tables};
use crate::jpeg::error::{JpegError, unsupported};
use crate::jpeg::header::{Frame, Header, Scan};
use crate::jpeg::lenient::{self, Damage, LenientDecoder};
use crate::jpeg::limits::Limits;
use crate::jpeg::output::{Part, PixelsMut, Planes, Rows};
use crate::jpeg::seek::{Grid, Index, Scanned, SeekPlan};
use crate::jpeg::transform::{BlockQueue, Quant, Quants};
use crate::policy::Damaged;
use crate::simd::Vectors;
pub(crate) use coefficients::Coefficients;
use single_scan::SingleScan;

/// Decodes JPEGs. Keeps its buffers, so one per worker thread soon stops allocating.
pub struct Decoder {
    tables: Tables,
    pub(super) stream: Stream,
    pub(super) planes: Planes,
    pub(super) queue: BlockQueue,
    coefficients: Coefficients,
    lenient: LenientDecoder,
    /// What is taken of the memory for huge images.
    pub(crate) memory: Permit,
    damage: Option<Damage>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder without buffers; they grow with the first files.
    pub fn new() -> Self {
        Self::with(Vectors::allowed())
    }

    pub(super) fn with(vectors: Vectors) -> Self {
        Self {
            tables: Tables::new(),
            stream: Stream::default(),
            planes: Planes::new(vectors),
            queue: BlockQueue::new(vectors),
            coefficients: Coefficients::default(),
            lenient: LenientDecoder::default(),
            memory: Permit::default(),
            damage: None,
        }
    }

    /// Decodes the part `region` (stored coordinates, before orientation) of a file to packed RGB.
    ///
    /// `header` must come from [`super::parse_header`] of the same bytes. The pixels are those of the same region in
    /// the whole image. Work outside of the region is skipped where possible, so damage in rows below it can go
    /// unnoticed. After an error the content of the destination is unspecified.
    pub fn decode_into(
        &mut self,
        bytes: &[u8],
        header: &Header,
        region: Rect,
        limits: &Limits,
        out: &mut PixelsMut<'_>,
    ) -> Result<(), JpegError> {
        self.decode_part(bytes, header, region.into(), limits, out, None)
    }

    /// The same pixels and errors as [`Decoder::decode_into`], but starts at the region's first row if it is in `index`,
    /// and adds the rows that it passes to `index`.
    ///
    /// An index of another file is replaced. One that is wrong although its hash fits, and so leads to an error, is
    /// dropped, and the file is decoded from its top.
    pub fn decode_indexed(
        &mut self,
        bytes: &[u8],
        header: &Header,
        region: Rect,
        limits: &Limits,
        out: &mut PixelsMut<'_>,
        index: &mut Index,
    ) -> Result<(), JpegError> {
        self.decode_part(bytes, header, region.into(), limits, out, Some(index))
    }

    /// Decodes `part` of an image, which may be scaled down; with an index as
    /// [`Decoder::decode_indexed`]. Scaled pixels are those of libjpeg-turbo at the same scale.
    pub fn decode_part(
        &mut self,
        bytes: &[u8],
        header: &Header,
        part: Part,
        limits: &Limits,
        out: &mut PixelsMut<'_>,
        index: Option<&mut Index>,
    ) -> Result<(), JpegError> {
        self.decode_rows(bytes, header, part, limits, out, index)
    }

    /// What was wrong with the last file that was decoded, if it is damaged and the limits allow that. The decoder
    /// notices no more than it reads: of a part, what is in it and before it.
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Decodes the whole image, and returns the file's first defect. Unlike [`Decoder::damage`] it counts what changes no
    /// pixel: wherever libjpeg-turbo warns, there is one.
    ///
    /// # Errors
    /// Those of [`Decoder::decode_into`].
    pub fn inspect(
        &mut self,
        bytes: &[u8],
        header: &Header,
        limits: &Limits,
        out: &mut PixelsMut<'_>,
    ) -> Result<Option<Damage>, JpegError> {
        let whole = header.size.rect();
        self.decode_into(bytes, header, whole, limits, out)?;
        if self.damage.is_some() || header.arithmetic {
            return Ok(self.damage);
        }
        match self.stream.has_unread() {
            // libjpeg warns of some of such bytes, depending on how far ahead it reads.
            true => {
                let limits = &Limits { damaged: Damaged::Libjpeg, ..limits.clone() };
                self.decode_leniently(Request { bytes, header, part: whole.into(), limits }, out)
            }
            false => lenient::inspect(bytes),
        }
    }

    /// As [`Decoder::decode_part`], with each row passed to `out` as soon as it is complete.
    pub(crate) fn decode_rows(
        &mut self,
        bytes: &[u8],
        header: &Header,
        part: Part,
        limits: &Limits,
        out: &mut dyn Rows,
        index: Option<&mut Index>,
    ) -> Result<(), JpegError> {
        let decoded = self.decode_request(Request { bytes, header, part, limits }, out, index);
        self.stream.give_back();
        self.memory.end_decode();
        decoded
    }

    fn decode_request(
        &mut self,
        request: Request<'_>,
        out: &mut dyn Rows,
        mut index: Option<&mut Index>,
    ) -> Result<(), JpegError> {
        self.damage = None;
        if let Some(index) = index.as_deref_mut() {
            index.begin();
        }
        request.check(out)?;
        if request.header.arithmetic {
            self.damage = self.decode_leniently(request, out)?;
            return Ok(());
        }
        let error = match self.decode_strictly(request, out, index.as_deref_mut()) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if request.limits.damaged == Damaged::Refuse || !error.is_defect() {
            return Err(error);
        }
        if let Some(index) = index {
            index.drop_damaged();
        }
        let damage = self.decode_leniently(request, out)?;
        let serious = damage.filter(Damage::is_serious);
        self.damage = Some(serious.unwrap_or(Damage::Unwarned { what: error.defect() }));
        Ok(())
    }

    /// Reads the quantised coefficients of a whole file, without damage and not coded arithmetically.
    ///
    /// # Errors
    /// Those of [`Decoder::decode_into`] with these limits where damage is refused.
    pub(crate) fn coefficients(
        &mut self,
        bytes: &[u8],
        header: &Header,
        limits: &Limits,
    ) -> Result<&Coefficients, JpegError> {
        Request { bytes, header, part: Rect::default().into(), limits }
            .check(&PixelsMut { data: &mut [], stride: 0 })?;
        if header.arithmetic {
            return unsupported("arithmetic coding");
        }
        self.stream.begin_file();
        let (scan, at) = first_scan::find(bytes, header, &mut self.tables)?;
        self.memory.take_scratch(Coefficients::bytes(&header.frame));
        let file = File { bytes, at, frame: &header.frame };
        let Self { tables, stream, coefficients, .. } = self;
        let read = coefficients.read(file, scan, limits, tables, stream);
        stream.give_back();
        read.map(|()| &self.coefficients)
    }

    /// To be called after [`Decoder::coefficients`], whatever it returned, when that is no longer needed.
    pub(crate) fn give_back_coefficients(&mut self) {
        self.coefficients.give_back();
        self.memory.end_decode();
    }

    /// Decodes what has no damage.
    fn decode_strictly(
        &mut self,
        request: Request<'_>,
        out: &mut dyn Rows,
        index: Option<&mut Index>,
    ) -> Result<(), JpegError> {
        let Some(index) = index else { return self.decode_along(request, out, None) };
        let result = self.decode_along(request, out, Some(index));
        if result.is_ok() || !index.relied {
            return result;
        }
        index.drop_stale();
        self.decode_along(request, out, None)
    }

    /// Decodes from the top, and on after damage.
    #[cold]
    fn decode_leniently(
        &mut self,
        Request { bytes, header, part, limits }: Request<'_>,
        out: &mut dyn Rows,
    ) -> Result<Option<Damage>, JpegError> {
        if part.region.is_empty() {
            return Ok(None);
        }
        self.queue.clear();
        self.planes.begin(&header.frame, header.color, part);
        self.memory.take_scratch(Coefficients::bytes(&header.frame));
        let target = lenient::Target { planes: &mut self.planes, queue: &mut self.queue, out };
        let decoded = self.lenient.decode(bytes, header, limits, target);
        self.memory.end_decode();
        decoded
    }

    fn decode_along(
        &mut self,
        Request { bytes, header, part, limits }: Request<'_>,
        out: &mut dyn Rows,
        index: Option<&mut Index>,
    ) -> Result<(), JpegError> {
        if part.region.is_empty() {
            return Ok(());
        }
        self.queue.clear();
        self.stream.begin_file();
        self.planes.begin(&header.frame, header.color, part);
        let (scan, at) = first_scan::find(bytes, header, &mut self.tables)?;
        self.decode_scans(File { bytes, at, frame: &header.frame }, scan, limits, out, index)
    }

    fn decode_scans(
        &mut self,
        file: File<'_>,
        scan: Scan,
        limits: &Limits,
        out: &mut dyn Rows,
        index: Option<&mut Index>,
    ) -> Result<(), JpegError> {
        let File { bytes, at, frame } = file;
        if frame.progressive || scan.count < frame.count {
            self.memory.take_scratch(Coefficients::bytes(frame));
            let Self { tables, stream, coefficients, .. } = self;
            let read = coefficients.read(file, scan, limits, tables, stream);
            if read.is_ok() {
                coefficients.render(&mut self.planes, &mut self.queue, out);
            }
            coefficients.give_back();
            return read;
        }
        self.tables.complete(&scan)?;
        scan.used().iter().for_each(|component| self.tables.ac[component.ac].merge());
        let quants = quants(&self.tables, frame)?;
        let scanned = Scanned { bytes, from: at, components: frame.count, grid: Grid::of(frame) };
        let mut plan = SeekPlan::new(index, &scanned, self.planes.mcu_rows(), self.planes.mcu_columns());
        let Self { tables, stream, planes, queue, .. } = self;
        let scan = SingleScan { bytes, from: at, frame, scan: &scan, tables, quants: &quants };
        scan.decode(stream, planes, queue, &mut plan, out)
    }
}

/// Bytes of the coefficients that are kept for this header's file, as far as the header says: one without damage whose
/// components come in scans of their own, and a damaged one, show that later.
pub(crate) fn scratch_bytes(header: &Header) -> usize {
    if header.frame.progressive || header.arithmetic { Coefficients::bytes(&header.frame) } else { 0 }
}

/// A file, and the offset `at` of its first scan's data.
#[derive(Clone, Copy)]
struct File<'a> {
    bytes: &'a [u8],
    at: usize,
    frame: &'a Frame,
}

/// The current quantisation tables of all components.
fn quants(tables: &Tables, frame: &Frame) -> Result<Quants, JpegError> {
    let mut quants = [Quant([0; 64]); 4];
    for (quant, component) in quants.iter_mut().zip(frame.used()) {
        *quant = tables.quant(component.quant)?;
    }
    Ok(Quants::new(quants))
}

/// What is to be decoded, and within which limits.
#[derive(Clone, Copy)]
struct Request<'a> {
    bytes: &'a [u8],
    header: &'a Header,
    part: Part,
    limits: &'a Limits,
}

impl Request<'_> {
    fn check(&self, out: &dyn Rows) -> Result<(), JpegError> {
        let Self { header, part: Part { scale, region }, limits, .. } = *self;
        let found = header.size.pixels();
        if found > limits.max_pixels {
            let (what, limit) = ("the image's pixel count is", limits.max_pixels);
            return Err(JpegError::TooLarge { what, found, limit, remedy: "max_pixels" });
        }
        let misfit = |what| Err(JpegError::Request { what, region, size: header.size });
        if !scale.apply(header.size).rect().contains(region) {
            return misfit("the region leaves the image");
        }
        if !region.is_empty() && !out.fits(region.size()) {
            return misfit("the destination is too small for the region");
        }
        Ok(())
    }
}
