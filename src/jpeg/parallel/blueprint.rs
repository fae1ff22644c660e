//! What a file says ahead of its scan, as plain data.

use crate::jpeg::decode::first_scan;
use crate::jpeg::entropy::{Code, Tables};
use crate::jpeg::error::JpegError;
use crate::jpeg::header::{Component, Frame, Header};
use crate::jpeg::transform::Quant;

/// Components of a file that can be decoded in parallel, at most.
pub(super) const COMPONENTS: usize = 3;
/// Blocks of an MCU, at most: see [`crate::jpeg::header::Scan::parse`].
const BLOCKS: usize = 10;
/// Huffman codes for DC that a scan may use, at most, and as many for AC.
const CODES: usize = 2;

/// One block of an MCU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Its component.
    pub(crate) component: usize,
    /// Where in the MCU it stands, in blocks of its component.
    pub(crate) x: usize,
    pub(crate) y: usize,
    /// Which of [`Blueprint::dc`] and [`Blueprint::ac`] it uses.
    pub(crate) dc: usize,
    pub(crate) ac: usize,
}

impl Unit {
    /// The blocks that an MCU has of a component, row by row.
    pub(crate) fn of(frame: &Frame, component: usize) -> impl Iterator<Item = Self> {
        let Component { h, v, .. } = frame.components[component];
        (0..h * v).map(move |block| Self { component, x: block % h, y: block / h, dc: 0, ac: 0 })
    }
}

/// A file whose only scan holds all its components, up to three.
#[derive(Clone)]
pub(crate) struct Blueprint {
    pub(crate) frame: Frame,
    /// Offset of the scan's data.
    pub(super) from: usize,
    /// MCUs between restart markers; 0 for none.
    pub(super) interval: usize,
    /// Huffman codes; the second ones may be those of the first.
    pub(crate) dc: [Code; CODES],
    pub(crate) ac: [Code; CODES],
    /// By component.
    pub(crate) quants: [Quant; COMPONENTS],
    units: [Unit; BLOCKS],
    count: usize,
}

impl Blueprint {
    /// The blocks of an MCU, as they follow each other in the scan.
    pub(crate) fn units(&self) -> &[Unit] {
        &self.units[..self.count]
    }
}

/// Reads blueprints; keeps its tables, since most files have those of the file before.
pub(crate) struct Reader(Tables);

impl Default for Reader {
    fn default() -> Self {
        Self(Tables::new())
    }
}

impl Reader {
    /// The blueprint of a file; `None` where it cannot be decoded in parallel.
    ///
    /// # Errors
    /// Those of the decoder for what comes ahead of the scan's data.
    pub(crate) fn read(&mut self, bytes: &[u8], header: &Header) -> Result<Option<Blueprint>, JpegError> {
        let (frame, Self(tables)) = (header.frame, self);
        if frame.progressive || frame.arithmetic || frame.count > COMPONENTS {
            return Ok(None);
        }
        let (scan, from) = first_scan::find(bytes, header, tables)?;
        if scan.count < frame.count {
            return Ok(None);
        }
        tables.complete(&scan)?;
        let mut quants = [Quant([0; 64]); COMPONENTS];
        for (quant, component) in quants.iter_mut().zip(frame.used()) {
            *quant = tables.quant(component.quant)?;
        }
        let used = |table: fn(&crate::jpeg::header::ScanComponent) -> usize| {
            let mut distinct: Vec<usize> = scan.used().iter().map(table).collect();
            distinct.sort_unstable();
            distinct.dedup();
            distinct
        };
        let (dc, ac) = (used(|part| part.dc), used(|part| part.ac));
        if dc.len() > CODES || ac.len() > CODES {
            return Ok(None);
        }
        let place = |of: &[usize], table: usize| of.iter().position(|&other| other == table).unwrap_or(0);
        let code = |of: &[usize], number: usize| of[number.min(of.len() - 1)];
        let (mut units, mut count) = ([Unit::default(); BLOCKS], 0);
        for part in scan.used() {
            let (dc, ac) = (place(&dc, part.dc), place(&ac, part.ac));
            for unit in Unit::of(&frame, part.index) {
                units[count] = Unit { dc, ac, ..unit };
                count += 1;
            }
        }
        let interval = tables.restart_interval.into();
        let dc = std::array::from_fn(|number| tables.dc[code(&dc, number)].code());
        let ac = std::array::from_fn(|number| tables.ac[code(&ac, number)].code());
        Ok(Some(Blueprint { frame, from, interval, dc, ac, quants, units, count }))
    }
}
