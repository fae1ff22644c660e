//! Files whose coefficients come in several scans: all are collected first and transformed afterwards.

use super::File;
use crate::decode_memory::give_back_all;
use crate::jpeg::entropy::bit_ops::Plain;
use crate::jpeg::entropy::block::{BadBlock, decode_block};
use crate::jpeg::entropy::progressive::{AcPass, Blocks, CoefficientMask, DcPass, Progress};
use crate::jpeg::entropy::{Cursor, Stream, Tables};
use crate::jpeg::error::{JpegError, corrupt, unsupported};
use crate::jpeg::header::marker::{self, Markers};
use crate::jpeg::header::{Component, Frame, Scan};
use crate::jpeg::limits::Limits;
use crate::jpeg::output::{Planes, Rows};
use crate::jpeg::transform::{BlockQueue, Quant, Quants, Slot};

/// The low coefficients that libjpeg guesses by smoothing while they are not fully known.
const SMOOTHED: usize = 10;

/// All coefficients of one image; the buffers are kept for the next one.
#[derive(Default)]
pub(crate) struct Coefficients {
    /// Blocks of each component, row by row, in whole MCUs.
    blocks: [Vec<[i16; 64]>; 4],
    /// The coefficients of each block that the passes of a progressive file have found; empty for other files.
    nonzero: [Vec<CoefficientMask>; 4],
    /// Blocks per row of each component.
    across: [usize; 4],
    quants: [Option<Quant>; 4],
    /// For each coefficient in zigzag order the lowest bit that is known, -1 for none.
    known: Vec<[i8; 64]>,
}

impl Coefficients {
    /// Reads the scan whose data begin at `at`, and all scans after it.
    pub(super) fn read(
        &mut self,
        File { bytes, at, frame }: File<'_>,
        scan: Scan,
        limits: &Limits,
        tables: &mut Tables,
        stream: &mut Stream,
    ) -> Result<(), JpegError> {
        self.begin(frame, bytes.len())?;
        let mut scans = 0;
        let mut next = Some((at, scan));
        while let Some((at, scan)) = next {
            scans += 1;
            if scans > limits.max_scans {
                let (found, limit) = (u64::from(scans), u64::from(limits.max_scans));
                return Err(JpegError::TooLarge {
                    what: "the scan count is",
                    found,
                    limit,
                    remedy: "max_scans",
                });
            }
            stream.start(bytes, at, tables.restart_interval);
            self.read_scan(bytes, &scan, frame, tables, stream)?;
            next = next_scan(bytes, stream.end(), frame, tables)?;
        }
        self.check_complete(bytes, stream.end(), frame)
    }

    /// A row of blocks of a component, in whole MCUs, each row by row.
    pub(crate) fn row(&self, component: usize, row: usize) -> &[[i16; 64]] {
        let across = self.across[component];
        &self.blocks[component][row * across..(row + 1) * across]
    }

    /// The quantisation factors of a component.
    pub(crate) fn quant(&self, component: usize) -> Quant {
        self.quants[component].unwrap_or(Quant([0; 64]))
    }

    /// Gives memory back that is too much to be kept for the next file.
    pub(crate) fn give_back(&mut self) {
        give_back_all(&mut self.blocks);
        give_back_all(&mut self.nonzero);
    }

    /// Bytes of the coefficients of an image.
    pub(super) fn bytes(frame: &Frame) -> usize {
        let mask = if frame.progressive { size_of::<CoefficientMask>() } else { 0 };
        total_blocks(frame) * (size_of::<[i16; 64]>() + mask)
    }

    fn begin(&mut self, frame: &Frame, length: usize) -> Result<(), JpegError> {
        let real: usize = frame.used().iter().map(|c| c.blocks_across() * c.blocks_down()).sum();
        // A block takes at least one bit, so a short file cannot make the decoder allocate for a huge image.
        if real / 8 > length {
            return Err(JpegError::Truncated { place: "the picture" });
        }
        debug_assert!(total_blocks(frame) >= real);
        self.quants = [None; 4];
        self.known.clear();
        self.known.resize(4, [-1; 64]);
        for (index, component) in frame.used().iter().enumerate() {
            self.across[index] = frame.mcus_across() * component.h;
            let count = blocks(frame, component);
            let (blocks, nonzero) = (&mut self.blocks[index], &mut self.nonzero[index]);
            blocks.clear();
            blocks.resize(count, [0; 64]);
            nonzero.clear();
            nonzero.resize(if frame.progressive { count } else { 0 }, CoefficientMask::default());
        }
        Ok(())
    }

    fn read_scan(
        &mut self,
        bytes: &[u8],
        scan: &Scan,
        frame: &Frame,
        tables: &mut Tables,
        stream: &mut Stream,
    ) -> Result<(), JpegError> {
        if frame.progressive {
            self.check_pass(scan)?;
        } else {
            tables.fill_in_standard()?;
        }
        for part in scan.used() {
            if self.quants[part.index].is_none() {
                self.quants[part.index] = Some(tables.quant(frame.components[part.index].quant)?);
            }
            let (needs_dc, needs_ac) = if frame.progressive {
                (scan.start == 0 && scan.high == 0, scan.start != 0)
            } else {
                (true, true)
            };
            if (needs_dc && !tables.dc[part.dc].is_defined())
                || (needs_ac && !tables.ac[part.ac].is_defined())
            {
                return corrupt("a scan's Huffman table is missing");
            }
            if !frame.progressive {
                if self.known[part.index][0] == 0 {
                    return corrupt("two sequential scans hold the same component");
                }
                tables.ac[part.ac].merge();
                self.known[part.index] = [0; 64];
            }
        }
        let mut reader = ScanReader { bytes, scan, frame, tables, stream, predictions: [0; 4] };
        if !frame.progressive || scan.start == 0 {
            return reader.read(&mut self.blocks, &self.across);
        }
        let index = scan.components[0].index & 3;
        reader.read_band(&mut self.blocks[index], &mut self.nonzero[index], self.across[index])
    }

    /// libjpeg's rules for a progressive scan header, where it warns as well.
    fn check_pass(&mut self, scan: &Scan) -> Result<(), JpegError> {
        let (start, end) = (usize::from(scan.start), usize::from(scan.end));
        let band = if start == 0 { end == 0 } else { start <= end && end < 64 && scan.count == 1 };
        if !band || scan.low > 13 || (scan.high != 0 && scan.high != scan.low + 1) {
            return corrupt("a progressive scan has impossible parameters");
        }
        for part in scan.used() {
            let known = &mut self.known[part.index];
            let before = if scan.high == 0 { -1 } else { scan.high as i8 };
            if (start > 0 && known[0] < 0) || known[start..=end].iter().any(|&bit| bit != before) {
                return corrupt("progressive scans come in an impossible order");
            }
            known[start..=end].fill(scan.low as i8);
        }
        Ok(())
    }

    /// Refuses files whose missing parts libjpeg would guess: components without data, and low coefficients.
    fn check_complete(&self, bytes: &[u8], end: usize, frame: &Frame) -> Result<(), JpegError> {
        let known = &self.known[..frame.count];
        let missing = known.iter().any(|known| known[..SMOOTHED].iter().any(|&bit| bit != 0));
        let unfinished = known.iter().any(|known| known.iter().any(|&bit| bit != 0));
        let has_end = Markers::resume(bytes, end).next().is_ok_and(|segment| segment.is_some());
        if (has_end && !missing) || !unfinished {
            return Ok(());
        }
        if !has_end {
            return Err(JpegError::Truncated { place: "the scans of a progressive picture" });
        }
        unsupported("a file with scans left out, which other decoders fill in by guessing")
    }

    /// Transforms and converts the blocks that `planes` need.
    pub(super) fn render(&self, planes: &mut Planes, queue: &mut BlockQueue, out: &mut dyn Rows) {
        let quants = Quants::new(self.quants.map(|quant| quant.unwrap_or(Quant([0; 64]))));
        let needed = planes.mcu_rows();
        for row in needed.clone() {
            for (index, blocks) in self.blocks.iter().enumerate().take(planes.count()) {
                let (columns, rows) = planes.needed(index);
                let down = planes.blocks_down(index);
                for y in (row * down..(row + 1) * down).filter(|y| rows.contains(y)) {
                    for x in columns.clone() {
                        let Some(target) = planes.target(index, x, y) else { continue };
                        let coefficients = &blocks[y * self.across[index] + x];
                        queue.slot()[..64].copy_from_slice(coefficients);
                        let has_ac = coefficients[1..].iter().any(|&coefficient| coefficient != 0);
                        queue.push(has_ac, index, target, &quants, planes.samples());
                    }
                }
            }
            queue.flush(&quants, planes.samples());
            planes.finish_mcu_row(row, row + 1 == needed.end, out);
        }
    }
}

/// Blocks of a component, in whole MCUs.
fn blocks(frame: &Frame, component: &Component) -> usize {
    frame.mcus_across() * component.h * frame.mcus_down() * component.v
}

fn total_blocks(frame: &Frame) -> usize {
    frame.used().iter().map(|component| blocks(frame, component)).sum()
}

/// Applies the tables up to the next scan header; `None` at the end of the image or of the bytes.
fn next_scan(
    bytes: &[u8],
    at: usize,
    frame: &Frame,
    tables: &mut Tables,
) -> Result<Option<(usize, Scan)>, JpegError> {
    let mut markers = Markers::resume(bytes, at);
    while let Some(segment) = markers.next()? {
        match segment.marker {
            marker::SOS if segment.is_cut => return Err(JpegError::Truncated { place: "a scan header" }),
            marker::SOS => return Ok(Some((markers.at, Scan::parse(segment.body, frame)?))),
            marker::EOI => return Ok(None),
            marker::DNL => return unsupported("a height that a DNL marker gives"),
            marker::DHT => tables.apply(&segment)?,
            marker::SOI | 0xC0..=0xCF => return corrupt("a second image begins inside the first"),
            0xDE => return unsupported("hierarchical coding"),
            _ => tables.apply(&segment)?,
        }
    }
    Ok(None)
}

/// Reads one scan into the coefficients.
struct ScanReader<'a> {
    bytes: &'a [u8],
    scan: &'a Scan,
    frame: &'a Frame,
    tables: &'a Tables,
    stream: &'a mut Stream,
    predictions: [i32; 4],
}

impl ScanReader<'_> {
    fn read(&mut self, blocks: &mut [Vec<[i16; 64]>; 4], across: &[usize; 4]) -> Result<(), JpegError> {
        let alone = self.scan.count == 1;
        let first = &self.frame.components[self.scan.components[0].index & 3];
        let (columns, rows) = match alone {
            true => (first.blocks_across(), first.blocks_down()),
            false => (self.frame.mcus_across(), self.frame.mcus_down()),
        };
        let mut cursor = Cursor::default();
        for row in 0..rows {
            for column in 0..columns {
                if self.stream.restart_is_due() {
                    cursor = self.stream.restart(self.bytes, cursor)?;
                    self.predictions = [0; 4];
                }
                for part in 0..self.scan.count {
                    let index = self.scan.components[part].index & 3;
                    let component = &self.frame.components[index];
                    let (h, v) = if alone { (1, 1) } else { (component.h, component.v) };
                    for y in row * v..(row + 1) * v {
                        let from = y * across[index] + column * h;
                        for block in &mut blocks[index][from..from + h] {
                            if self.read_block(&mut cursor, part, block).is_err() {
                                return Err(self.stream.fault(self.bytes, &cursor));
                            }
                        }
                    }
                }
                if self.stream.overread(&cursor) {
                    return Err(self.stream.fault(self.bytes, &cursor));
                }
            }
        }
        self.stream.end_scan(self.bytes, &cursor);
        Ok(())
    }

    /// Reads a pass over one component's coefficients other than DC.
    fn read_band(
        &mut self,
        blocks: &mut [[i16; 64]],
        nonzero: &mut [CoefficientMask],
        across: usize,
    ) -> Result<(), JpegError> {
        let part = self.scan.components[0];
        let component = &self.frame.components[part.index & 3];
        let pass = AcPass {
            table: &self.tables.ac[part.ac & 3],
            start: self.scan.start.into(),
            end: self.scan.end.into(),
            low: self.scan.low.into(),
            refines: self.scan.high != 0,
        };
        let (columns, mut progress) = (component.blocks_across(), Progress::default());
        let rows = blocks.chunks_exact_mut(across).zip(nonzero.chunks_exact_mut(across));
        for (blocks, nonzero) in rows.take(component.blocks_down()) {
            let mut column = 0;
            while column < columns {
                if self.stream.restart_is_due() {
                    let cursor = self.stream.restart(self.bytes, progress.cursor)?;
                    progress = Progress { cursor, run: 0 };
                }
                // That block, and those before the next restart.
                let more = self.stream.mcus_left().min(columns - column - 1);
                self.stream.pass(more);
                let piece = column..column + 1 + more;
                column = piece.end;
                let blocks = Blocks {
                    data: self.stream.data(),
                    limit: self.stream.bits(),
                    coefficients: &mut blocks[piece.clone()],
                    nonzero: &mut nonzero[piece],
                };
                if pass.blocks(&mut progress, blocks).is_err() {
                    return Err(self.stream.fault(self.bytes, &progress.cursor));
                }
            }
        }
        self.stream.end_scan(self.bytes, &progress.cursor);
        Ok(())
    }

    fn read_block(
        &mut self,
        cursor: &mut Cursor,
        part: usize,
        block: &mut [i16; 64],
    ) -> Result<(), BadBlock> {
        let part = self.scan.components[part];
        let (dc, ac) = (&self.tables.dc[part.dc & 3], &self.tables.ac[part.ac & 3]);
        let prediction = &mut self.predictions[part.index & 3];
        let data = self.stream.data();
        if self.frame.progressive {
            let pass = DcPass { low: self.scan.low.into(), refines: self.scan.high != 0 };
            return pass.block(cursor, data, dc, prediction, block);
        }
        let mut scratch: Slot = [0; _];
        decode_block::<true>(Plain, cursor, data, (dc, ac), prediction, &mut scratch)?;
        block.copy_from_slice(&scratch[..64]);
        Ok(())
    }
}
