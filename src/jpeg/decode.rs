//! The decoder: checks a request, walks the file's segments, and sends each scan the right way.

use super::coefficients::Coefficients;
use super::error::{JpegError, corrupt};
use super::frame::Frame;
use super::header::Header;
use super::index::{Grid, Index};
use super::marker::{self, Markers};
use super::pending::Pending;
use super::rows::{PixelsMut, Rows};
use super::scale::Part;
use super::sequential::Whole;
use super::stream::Stream;
use super::strips::Strips;
use super::tables::{Quant, Quants, Tables};
use super::trail::{Scanned, Trail};
use crate::geometry::Rect;
use crate::simd::{Avx2, Avx512};

/// What a file may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most pixels that the stored image may have, whatever the region; checked before anything is allocated.
    pub max_pixels: u64,
    /// The most scans: each may walk over the whole image, so they bound the time a file can take.
    pub max_scans: u32,
    /// Fill with grey what the file's end cut off, instead of refusing the file.
    pub tolerate_truncated: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_pixels: 1 << 28, max_scans: 256, tolerate_truncated: false }
    }
}

/// Decodes JPEGs. Keeps its buffers, so one per worker thread soon stops allocating.
pub struct Decoder {
    tables: Tables,
    pub(super) stream: Stream,
    pub(super) strips: Strips,
    pub(super) pending: Pending,
    coefficients: Coefficients,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder without buffers; they grow with the first files.
    pub fn new() -> Self {
        Self::with(Avx2::allowed(), Avx512::allowed())
    }

    pub(super) fn with(avx2: Option<Avx2>, avx512: Option<Avx512>) -> Self {
        Self {
            tables: Tables::new(),
            stream: Stream::default(),
            strips: Strips::new(avx2),
            pending: Pending::new(avx2, avx512),
            coefficients: Coefficients::default(),
        }
    }

    /// Decodes the part `region` (stored coordinates, before orientation) of a file to packed RGB.
    ///
    /// `header` must come from [`super::parse_header`] of the same bytes. The pixels are those that the whole decode
    /// has there; what lies outside is not computed where that saves work, so damage in rows below the region can go
    /// unnoticed. On an error the destination holds no particular pixels.
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

    /// The same pixels and errors as [`Decoder::decode_into`], but starts at the region's first row if `index` knows
    /// where that is, and notes in `index` the rows that are passed.
    ///
    /// An index of another file costs the time to see that, and is replaced. One that is wrong in spite of its
    /// check, and so leads to an error, is dropped, and the file is decoded from its top.
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

    /// Decodes `part` of a picture, which may be made smaller on the way; with an index as
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

    /// As [`Decoder::decode_part`], with each row handed on as soon as it is complete.
    pub(crate) fn decode_rows(
        &mut self,
        bytes: &[u8],
        header: &Header,
        part: Part,
        limits: &Limits,
        out: &mut dyn Rows,
        index: Option<&mut Index>,
    ) -> Result<(), JpegError> {
        let Some(index) = index else { return self.decode_along(bytes, header, part, limits, out, None) };
        index.begin();
        let result = self.decode_along(bytes, header, part, limits, out, Some(index));
        if result.is_ok() || !index.was_relied_on() {
            return result;
        }
        index.drop_stale();
        self.decode_along(bytes, header, part, limits, out, None)
    }

    fn decode_along(
        &mut self,
        bytes: &[u8],
        header: &Header,
        part: Part,
        limits: &Limits,
        out: &mut dyn Rows,
        index: Option<&mut Index>,
    ) -> Result<(), JpegError> {
        let region = part.region;
        check_request(header, part, limits, out)?;
        if region.is_empty() {
            return Ok(());
        }
        self.tables.reset();
        self.pending.clear();
        self.strips.begin(&header.frame, header.color, part);
        let mut markers = Markers::new(bytes)?;
        let mut frame = None;
        loop {
            let segment = markers.next()?.ok_or(JpegError::Truncated { place: "the header" })?;
            match segment.marker {
                marker::SOS => {
                    let scan = Scan::parse(segment.body, &header.frame)?;
                    if frame != Some(header.frame) {
                        return Err(misfit("the header belongs to another file", header, region));
                    }
                    let file = File { bytes, at: markers.at, frame: &header.frame };
                    return self.decode_scans(file, scan, limits, out, index);
                }
                marker::EOI => return corrupt("the file ends before its first scan"),
                marker::DHT | 0xC8 | 0xCC => self.tables.apply(&segment)?,
                0xC0..=0xCF => frame = Some(Frame::parse(segment.marker, segment.body)?),
                _ => self.tables.apply(&segment)?,
            }
        }
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
            let Self { tables, stream, coefficients, .. } = self;
            coefficients.read(bytes, at, scan, frame, limits, tables, stream)?;
            coefficients.render(&mut self.strips, &mut self.pending, out);
            return Ok(());
        }
        self.tables.fill_in_standard()?;
        for component in scan.used() {
            if !self.tables.dc[component.dc].is_defined() || !self.tables.ac[component.ac].is_defined() {
                return corrupt("a scan's Huffman table is missing");
            }
            self.tables.ac[component.ac].merge();
        }
        let quants = quants(&self.tables, frame)?;
        let scanned = Scanned { bytes, from: at, components: frame.count, grid: Grid::of(frame) };
        let mut trail = Trail::new(index, &scanned, self.strips.mcu_rows(), self.strips.mcu_columns());
        let Self { tables, stream, strips, pending, .. } = self;
        let whole = Whole { bytes, from: at, frame, scan: &scan, tables, quants: &quants };
        whole.decode(stream, strips, pending, limits.tolerate_truncated, &mut trail, out)
    }
}

/// A file whose first scan's data begin at `at`.
struct File<'a> {
    bytes: &'a [u8],
    at: usize,
    frame: &'a Frame,
}

/// The quantisation tables of all components, as they stand now.
fn quants(tables: &Tables, frame: &Frame) -> Result<Quants, JpegError> {
    let mut quants = [Quant([0; 64]); 4];
    for (quant, component) in quants.iter_mut().zip(frame.used()) {
        *quant = tables.quant(component.quant)?;
    }
    Ok(Quants::new(quants))
}

fn check_request(header: &Header, part: Part, limits: &Limits, out: &dyn Rows) -> Result<(), JpegError> {
    let region = part.region;
    let found = header.size.pixels();
    if found > limits.max_pixels {
        let (what, limit) = ("the image's pixels number", limits.max_pixels);
        return Err(JpegError::TooLarge { what, found, limit, remedy: "max_pixels" });
    }
    if !part.scale.apply(header.size).rect().contains(region) {
        return Err(misfit("the region leaves the image", header, region));
    }
    if !region.is_empty() && !out.fits(region.size()) {
        return Err(misfit("the destination is too small for the region", header, region));
    }
    Ok(())
}

fn misfit(what: &'static str, header: &Header, region: Rect) -> JpegError {
    JpegError::Request { what, region, size: header.size }
}

/// One component's part in a scan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScanComponent {
    /// Its place in the frame.
    pub(super) index: usize,
    /// Which Huffman tables it uses.
    pub(super) dc: usize,
    pub(super) ac: usize,
}

/// A checked scan header.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scan {
    /// The first `count` are used.
    pub(super) components: [ScanComponent; 4],
    pub(super) count: usize,
    /// First and last coefficient in zigzag order, and the successive approximation's high and low bit.
    pub(super) start: u8,
    pub(super) end: u8,
    pub(super) high: u8,
    pub(super) low: u8,
}

impl Scan {
    /// Reads an SOS payload.
    pub(super) fn parse(body: &[u8], frame: &Frame) -> Result<Self, JpegError> {
        let Some((&count, rest)) = body.split_first() else { return corrupt("a scan header is too short") };
        let count = usize::from(count);
        if !(1..=frame.count).contains(&count) || rest.len() != count * 2 + 3 {
            return corrupt("a scan header's length does not fit its components");
        }
        let mut scan = Scan { count, ..Scan::default() };
        let (fields, spectrum) = rest.split_at(count * 2);
        for (i, field) in fields.chunks_exact(2).enumerate() {
            let Some(index) = frame.used().iter().position(|component| component.id == field[0]) else {
                return corrupt("a scan names a component that the frame lacks");
            };
            let (dc, ac) = (usize::from(field[1] >> 4), usize::from(field[1] & 15));
            if dc > 3 || ac > 3 || scan.components[..i].iter().any(|earlier| earlier.index == index) {
                return corrupt("a scan names a component twice or a Huffman table above 3");
            }
            scan.components[i] = ScanComponent { index, dc, ac };
        }
        (scan.start, scan.end) = (spectrum[0], spectrum[1]);
        (scan.high, scan.low) = (spectrum[2] >> 4, spectrum[2] & 15);
        let blocks: usize = scan.used().iter().map(|c| frame.components[c.index]).map(|c| c.h * c.v).sum();
        if count > 1 && blocks > 10 {
            return corrupt("an MCU has more than ten blocks");
        }
        Ok(scan)
    }

    /// The components in the scan.
    pub(super) fn used(&self) -> &[ScanComponent] {
        &self.components[..self.count]
    }
}
