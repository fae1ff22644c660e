//! Decodes a file as libjpeg-turbo does, damaged ones included: from its first byte on, and on after each defect.
//!
//! The fast decoder refuses what is wrong. Where a damaged file is to be used nonetheless, it is decoded here, state for
//! state as libjpeg-turbo 3.2 decodes it (`jpeg_mem_src`, on x86-64), so that its pixels are libjpeg-turbo's. Tables are
//! checked when they are used, what is missing is grey, restart markers are searched for, and the low coefficients that
//! a progressive file lacks are guessed. Arithmetic coding, which nearly no file has, is decoded here only.
//!
//! All of it is plain Rust and several times as slow as the fast decoder.

mod arithmetic;
mod blocks;
mod damage;
mod huffman;
mod input;
mod segments;
mod smoothing;
mod tables;
#[cfg(test)]
mod tests;

pub use damage::Damage;

use super::error::{JpegError, corrupt};
use super::header::Header;
use super::header::marker::EOI;
use super::limits::Limits;
use super::output::{Planes, Rows};
use super::transform::{BlockQueue, Quant, Quants};
use crate::policy::Damaged;
use arithmetic::Arithmetic;
use blocks::{Grid, Mcu, Store};
use huffman::Huffman;
use input::Input;
use segments::{Frame, Scan, Segments};
use smoothing::{GUESSED, Known, Smoothing};
use tables::Tables;

/// Blocks that the scans of a file may go through, for each scan that it may have: a small file may claim many scans of a huge
/// image.
const BLOCKS_PER_SCAN: u64 = 1 << 17;

/// A defect after which libjpeg-turbo does not go on.
struct Fatal(&'static str);

/// The decoder; its buffers are kept for the next file.
#[derive(Default)]
pub(super) struct LenientDecoder {
    store: Store,
}

/// Where decoded blocks go.
pub(super) struct Target<'a> {
    pub(super) planes: &'a mut Planes,
    pub(super) queue: &'a mut BlockQueue,
    pub(super) out: &'a mut dyn Rows,
}

impl LenientDecoder {
    /// Decodes the part of a file for which `target` is prepared. Returns what was wrong with it.
    ///
    /// # Errors
    /// [`JpegError::Corrupt`] where libjpeg-turbo gives up, or where it goes on and `limits` do not.
    /// [`JpegError::Truncated`] for a file that ends before its image does, unless they allow that.
    pub(super) fn decode(
        &mut self,
        bytes: &[u8],
        header: &Header,
        limits: &Limits,
        target: Target<'_>,
    ) -> Result<Option<Damage>, JpegError> {
        let mut run = Run {
            input: Input::new(bytes),
            segments: Segments::default(),
            quants: [None; 4],
            is_short: false,
        };
        let result = run.decode(header, limits, &mut self.store, target);
        self.store.give_back();
        let input = run.input;
        match result {
            Err(Stop::Fatal(_)) if input.ran_dry && limits.damaged != Damaged::Libjpeg => {
                return Err(JpegError::Truncated { place: "a marker segment" });
            }
            Err(Stop::Fatal(Fatal(what))) => return Err(JpegError::Corrupt { what }),
            Err(Stop::Limit(error)) => return Err(error),
            Ok(()) => {}
        }
        match (limits.damaged, input.damage) {
            (Damaged::Refuse, Some(damage)) if damage.is_serious() => {
                Err(JpegError::Corrupt { what: damage.name() })
            }
            (_, damage) => Ok(damage),
        }
    }
}

/// The first defect in the segments of a file of which the fast decoder has found the scans sound.
///
/// # Errors
/// [`JpegError::Corrupt`] where libjpeg-turbo does not go on after it.
pub(super) fn inspect(bytes: &[u8]) -> Result<Option<Damage>, JpegError> {
    let mut input = Input::new(bytes);
    input.skip(2);
    let mut segments = Segments::default();
    while segments.next_scan(&mut input).or_else(|Fatal(what)| corrupt(what))?.is_some() {
        input.skip_data();
    }
    Ok(input.damage)
}

/// Checks what follows the only scan of a file, whose data end at `at`. Returns the first defect after which
/// libjpeg-turbo goes on.
///
/// # Errors
/// [`JpegError::Corrupt`] where it does not.
pub(super) fn check_trailer(bytes: &[u8], at: usize) -> Result<Option<Damage>, JpegError> {
    if bytes.get(at..at + 2) == Some(&[0xFF, EOI]) {
        return Ok(None);
    }
    let mut input = Input::new(bytes);
    input.skip(at);
    match Segments::after_scan().next_scan(&mut input) {
        Ok(None) => Ok(input.damage),
        Ok(Some(_)) => corrupt("a second scan follows the only one"),
        Err(Fatal(what)) => corrupt(what),
    }
}

/// Why a decode stops.
enum Stop {
    Fatal(Fatal),
    Limit(JpegError),
}

impl From<Fatal> for Stop {
    fn from(fatal: Fatal) -> Self {
        Self::Fatal(fatal)
    }
}

/// The entropy decoder of a scan.
enum Entropy {
    Huffman(Box<Huffman>),
    Arithmetic(Box<Arithmetic>),
}

impl Entropy {
    fn new(scan: &Scan, frame: &Frame, tables: &Tables) -> Result<Self, Fatal> {
        Ok(match frame.arithmetic {
            true => Self::Arithmetic(Box::new(Arithmetic::new(scan, frame.progressive, tables))),
            false => Self::Huffman(Box::new(Huffman::new(scan, frame.progressive, tables)?)),
        })
    }

    fn restart(&mut self, input: &mut Input<'_>) {
        match self {
            Self::Huffman(huffman) => huffman.restart(input),
            Self::Arithmetic(arithmetic) => arithmetic.restart(input),
        }
    }

    fn mcu(&mut self, input: &mut Input<'_>, mcu: &mut Mcu<'_>) -> Result<(), Fatal> {
        match self {
            Self::Huffman(huffman) => huffman.mcu(input, mcu),
            Self::Arithmetic(arithmetic) => arithmetic.mcu(input, mcu),
        }
    }

    /// Whether the data of the segment have not been enough. Of arithmetic coding nobody can say that.
    fn is_spent(&self) -> bool {
        matches!(self, Self::Huffman(huffman) if huffman.is_spent())
    }
}

/// A scan under way.
struct ScanRun {
    entropy: Entropy,
    grid: Grid,
    /// MCUs between restart markers, 0 for none, and those until the next.
    interval: u32,
    left: u32,
    /// The last row of interleaved MCUs for which there were data.
    last_good: usize,
}

impl ScanRun {
    /// Decodes row `row` of MCUs, of which `store` holds those from `first` on.
    fn row(
        &mut self,
        input: &mut Input<'_>,
        store: &mut Store,
        row: usize,
        first: usize,
    ) -> Result<(), Fatal> {
        for column in 0..self.grid.columns {
            if !self.entropy.is_spent() {
                self.last_good = row / self.grid.rows_together;
            }
            if self.interval != 0 {
                if self.left == 0 {
                    self.entropy.restart(input);
                    self.left = self.interval;
                }
                self.left -= 1;
            }
            self.entropy.mcu(input, &mut self.grid.mcu(store, column, row - first))?;
        }
        Ok(())
    }
}

/// The decode of one file.
struct Run<'a> {
    input: Input<'a>,
    segments: Segments,
    /// Each component's factors, as its first scan finds them.
    quants: [Option<[u16; 64]>; 4],
    /// Whether some part of the image has no data.
    is_short: bool,
}

impl Run<'_> {
    fn decode(
        &mut self,
        header: &Header,
        limits: &Limits,
        store: &mut Store,
        target: Target<'_>,
    ) -> Result<(), Stop> {
        if self.input.word() != 0xFFD8 {
            return Err(Fatal("the file does not begin with FF D8").into());
        }
        let Some(scan) = self.segments.next_scan(&mut self.input)? else {
            return Err(Fatal("the file ends before its first scan").into());
        };
        let frame = self.segments.frame.clone().ok_or(Fatal("a scan comes before the frame header"))?;
        if !frame.is_of(header) {
            let (what, size) = ("the header belongs to another file", header.size);
            return Err(Stop::Limit(JpegError::Request { what, region: size.rect(), size }));
        }
        if !frame.progressive && !frame.arithmetic {
            self.segments.tables.fill_in_standard();
        }
        let several = frame.progressive || scan.parts().len() < frame.components.len();
        match several {
            true => self.several_scans(scan, &frame, limits, store, target),
            false => self.one_scan(scan, &frame, limits, store, target),
        }
    }

    /// Decodes a file whose only scan holds all components, row by row, as far as it is wanted.
    fn one_scan(
        &mut self,
        scan: Scan,
        frame: &Frame,
        limits: &Limits,
        store: &mut Store,
        Target { planes, queue, out }: Target<'_>,
    ) -> Result<(), Stop> {
        let mut run = self.begin_scan(&scan, frame)?;
        let quants = self.factors();
        let (needed, rows) = (planes.mcu_rows(), run.grid.rows);
        for row in 0..needed.end.min(rows) {
            store.reset(frame, 1);
            run.row(&mut self.input, store, row, row)?;
            self.is_short |= run.entropy.is_spent();
            self.check_end(limits)?;
            if row >= needed.start {
                let block = |component, x, y| *store.block(component, x, y);
                render_row(planes, queue, &quants, (row, row), block);
                planes.finish_mcu_row(row, row + 1 == needed.end, out);
            }
        }
        if needed.end < rows {
            self.note_arithmetic_end(frame);
            return self.check_end(limits);
        }
        let next = self.segments.next_scan(&mut self.input)?;
        self.note_arithmetic_end(frame);
        self.check_end(limits)?;
        match next {
            Some(_) => Err(Fatal("a second scan follows the only one").into()),
            None => Ok(()),
        }
    }

    /// Decodes a file whose coefficients come in several scans.
    fn several_scans(
        &mut self,
        mut scan: Scan,
        frame: &Frame,
        limits: &Limits,
        store: &mut Store,
        Target { planes, queue, out }: Target<'_>,
    ) -> Result<(), Stop> {
        store.reset(frame, frame.mcus_down());
        let (mut known, mut before, mut blocks) = ([[-1; 64]; 4], [[-1; 64]; 4], 0);
        let last_good = loop {
            if self.segments.scans > limits.max_scans {
                let (found, limit) = (self.segments.scans.into(), limits.max_scans.into());
                let what = "the scan count is";
                return Err(Stop::Limit(JpegError::TooLarge { what, found, limit, remedy: "max_scans" }));
            }
            if frame.progressive {
                self.check_pass(&scan, &mut known, &mut before)?;
            }
            let mut run = self.begin_scan(&scan, frame)?;
            blocks += run.grid.blocks();
            let most = u64::from(limits.max_scans) * BLOCKS_PER_SCAN;
            if blocks > most {
                let (what, remedy) = ("the blocks of all scans are", "max_scans");
                return Err(Stop::Limit(JpegError::TooLarge { what, found: blocks, limit: most, remedy }));
            }
            for row in 0..run.grid.rows {
                run.row(&mut self.input, store, row, 0)?;
                // Where a short file is refused, the rows that it does not have are not filled in.
                if self.input.ran_dry && (frame.arithmetic || run.entropy.is_spent()) {
                    self.is_short = true;
                    self.check_end(limits)?;
                }
            }
            self.is_short |= run.entropy.is_spent();
            match self.segments.next_scan(&mut self.input)? {
                Some(next) => scan = next,
                None => break run.last_good,
            }
        };
        self.note_arithmetic_end(frame);
        self.is_short |= match frame.progressive {
            true => known[..frame.components.len()].as_flattened().iter().any(|&bit| bit != 0),
            false => self.quants[..frame.components.len()].contains(&None),
        };
        self.check_end(limits)?;
        let ends = (self.segments.scans, last_good);
        let smoothing = match frame.progressive {
            true => Smoothing::new(frame, &self.quants, &known, &before, ends),
            false => None,
        };
        let (factors, quants) = (self.quants.map(|quant| quant.unwrap_or([0; 64])), self.factors());
        let block = |component, x, y| match &smoothing {
            Some(smoothing) => smoothing.block(store, frame, &factors[component], (component, x, y)),
            None => *store.block(component, x, y),
        };
        let needed = planes.mcu_rows();
        for row in needed.clone() {
            render_row(planes, queue, &quants, (row, 0), block);
            planes.finish_mcu_row(row, row + 1 == needed.end, out);
        }
        Ok(())
    }

    /// Refuses a file that ends before its image does, unless the limits allow that; ahead of the pixels where that is possible.
    fn check_end(&self, limits: &Limits) -> Result<(), Stop> {
        match limits.damaged {
            Damaged::Refuse | Damaged::Torchvision if self.is_short && self.input.ran_dry => {
                Err(Stop::Limit(JpegError::Truncated { place: "the picture" }))
            }
            _ => Ok(()),
        }
    }

    /// Whether the end of an arithmetic-coded image is missing cannot be seen in its data.
    fn note_arithmetic_end(&mut self, frame: &Frame) {
        self.is_short |= frame.arithmetic && self.input.ran_dry;
    }

    /// The factors of all components, as the transform takes them: zeros where no scan came.
    fn factors(&self) -> Quants {
        Quants::new(self.quants.map(|quant| Quant(quant.unwrap_or([0; 64]).map(|factor| factor as i16))))
    }

    fn begin_scan(&mut self, scan: &Scan, frame: &Frame) -> Result<ScanRun, Fatal> {
        let tables = &self.segments.tables;
        for part in scan.parts() {
            let quant = tables.quant.get(frame.components[part.component].quant).copied().flatten();
            let latched = &mut self.quants[part.component];
            *latched = latched.or(quant);
            if latched.is_none() {
                return Err(Fatal("a component's quantisation table is missing"));
            }
        }
        let entropy = Entropy::new(scan, frame, tables)?;
        let interval = tables.restart_interval.into();
        Ok(ScanRun { entropy, grid: Grid::new(frame, scan), interval, left: interval, last_good: 0 })
    }

    /// Checks the parameters of a progressive scan, and notes which bits it adds.
    fn check_pass(
        &mut self,
        scan: &Scan,
        known: &mut [Known; 4],
        before: &mut [Known; 4],
    ) -> Result<(), Fatal> {
        let Scan { start, end, high, low, .. } = *scan;
        let band = if start == 0 { end == 0 } else { start <= end && end < 64 && scan.parts().len() == 1 };
        if !band || low > 13 || (high != 0 && high != low + 1) {
            return Err(Fatal("a progressive scan has impossible parameters"));
        }
        for part in scan.parts() {
            let component = part.component;
            let (known, before) = (&mut known[component], &mut before[component]);
            if start != 0 && known[0] < 0 {
                self.input.warn(Damage::Progression { component, coefficient: 0 });
            }
            for k in start.min(1)..=end.max(*GUESSED.end()) {
                before[k] = if self.segments.scans > 1 { known[k] } else { 0 };
            }
            for (k, known) in known.iter_mut().enumerate().take(end + 1).skip(start) {
                if high as i8 != (*known).max(0) {
                    self.input.warn(Damage::Progression { component, coefficient: k });
                }
                *known = low as i8;
            }
        }
        Ok(())
    }
}

/// Transforms the blocks of row `row` of MCUs that `planes` need. `block` gives those from row `first` on.
fn render_row(
    planes: &mut Planes,
    queue: &mut BlockQueue,
    quants: &Quants,
    (row, first): (usize, usize),
    block: impl Fn(usize, usize, usize) -> [i16; 64],
) {
    for component in 0..planes.count() {
        let (columns, rows) = planes.needed(component);
        let down = planes.blocks_down(component);
        for y in (row * down..(row + 1) * down).filter(|y| rows.contains(y)) {
            for x in columns.clone() {
                let Some(target) = planes.target(component, x, y) else { continue };
                let coefficients = block(component, x, y - first * down);
                queue.slot()[..64].copy_from_slice(&coefficients);
                let has_ac = coefficients[1..].iter().any(|&coefficient| coefficient != 0);
                queue.push(has_ac, component, target, quants, planes.samples());
            }
        }
    }
    queue.flush(quants, planes.samples());
}
