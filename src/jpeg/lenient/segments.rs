//! The segments between the scans: frame, scan headers, tables.

use super::input::Input;
use super::tables::Tables;
use super::{Damage, Fatal};
use crate::jpeg::header::Header;
use crate::jpeg::header::marker::{APP0, APP14, COM, DAC, DHT, DNL, DQT, DRI, EOI, SOI, SOS};

/// Maximum stored width and height, which is libjpeg-turbo's.
const MAX_SIDE: u16 = 65_500;
/// Maximum blocks in an MCU.
const MAX_BLOCKS: usize = 10;

/// A component of the frame.
#[derive(Clone, Copy, Default)]
pub(super) struct Component {
    id: u8,
    /// Blocks across and down in an MCU.
    pub(super) h: usize,
    pub(super) v: usize,
    /// The index of its quantisation table.
    pub(super) quant: usize,
    /// Blocks that hold a sample of the image, in a row and in a column.
    pub(super) blocks_across: usize,
    pub(super) blocks_down: usize,
}

/// The frame header.
#[derive(Clone, Default)]
pub(super) struct Frame {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) components: Vec<Component>,
    pub(super) h_max: usize,
    pub(super) v_max: usize,
    pub(super) progressive: bool,
    pub(super) arithmetic: bool,
    precision: u8,
}

impl Frame {
    /// Whether it is the one that `header` was made of.
    pub(super) fn is_of(&self, header: &Header) -> bool {
        let theirs = &header.frame;
        let sizes = (theirs.size.width as usize, theirs.size.height as usize, theirs.count);
        let kinds = (theirs.progressive, theirs.arithmetic);
        // The factors of a single component mean nothing, and are 1 there.
        let factors = || theirs.used().iter().zip(&self.components).all(|(a, b)| (a.h, a.v) == (b.h, b.v));
        sizes == (self.width, self.height, self.components.len())
            && kinds == (self.progressive, self.arithmetic)
            && (theirs.count == 1 || factors())
    }

    /// MCUs of interleaved scans, in a row.
    pub(super) fn mcus_across(&self) -> usize {
        self.width.div_ceil(8 * self.h_max)
    }

    /// MCUs of interleaved scans, in a column.
    pub(super) fn mcus_down(&self) -> usize {
        self.height.div_ceil(8 * self.v_max)
    }
}

/// One component's part in a scan.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    /// Its index in the frame.
    pub(super) component: usize,
    /// The indices of its entropy coding tables, 0 to 15.
    pub(super) dc: usize,
    pub(super) ac: usize,
}

/// What a scan adds to the coefficients.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// All of them.
    Sequential,
    /// The first bits of DC, or one more.
    DcFirst,
    DcRefinement,
    /// The first bits of a band of the others, or one more.
    AcFirst,
    AcRefinement,
}

/// A scan header.
#[derive(Clone, Copy, Default)]
pub(super) struct Scan {
    parts: [Part; 4],
    count: usize,
    /// First and last coefficient, and the high and the low bit of successive approximation.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) high: u32,
    pub(super) low: u32,
}

impl Scan {
    /// Whether its parameters are those of a sequential one.
    fn is_sequential(&self) -> bool {
        (self.start, self.end, self.high, self.low) == (0, 63, 0, 0)
    }

    /// What it adds, in a progressive file or in another.
    pub(super) fn kind(&self, progressive: bool) -> Kind {
        match (progressive, self.start, self.high) {
            (false, ..) => Kind::Sequential,
            (_, 0, 0) => Kind::DcFirst,
            (_, 0, _) => Kind::DcRefinement,
            (_, _, 0) => Kind::AcFirst,
            _ => Kind::AcRefinement,
        }
    }

    /// The components in it.
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts[..self.count]
    }
}

/// What has been read of a file's segments.
#[derive(Default)]
pub(super) struct Segments {
    pub(super) tables: Tables,
    pub(super) frame: Option<Frame>,
    /// Scans so far.
    pub(super) scans: u32,
    has_jfif: bool,
    adobe_transform: Option<u8>,
}

impl Segments {
    /// Those of a file after its first scan, as far as it matters when no other may come.
    pub(super) fn after_scan() -> Self {
        Self { frame: Some(Frame::default()), scans: 1, ..Self::default() }
    }

    /// Reads up to the next scan's data; `None` at the end of the image.
    pub(super) fn next_scan(&mut self, input: &mut Input<'_>) -> Result<Option<Scan>, Fatal> {
        loop {
            if input.marker == 0 {
                input.find_marker();
            }
            match std::mem::take(&mut input.marker) {
                SOI => return Err(Fatal("a second image begins inside the first")),
                marker @ (0xC0..=0xC2 | 0xC9 | 0xCA) => self.read_frame(marker, input)?,
                0xC3 | 0xCB => return Err(Fatal("lossless coding")),
                0xC5..=0xC8 | 0xCD..=0xCF => return Err(Fatal("hierarchical coding")),
                SOS => return self.read_scan(input).map(Some),
                EOI => return Ok(None),
                DAC => self.tables.read_conditioning(input)?,
                DHT => self.tables.read_huffman(input)?,
                DQT => self.tables.read_quant(input)?,
                DRI => self.tables.read_restart_interval(input)?,
                marker @ (APP0..=0xEF | COM | DNL) => self.read_application(marker, input),
                0x01 | 0xD0..=0xD7 => {}
                _ => return Err(Fatal("a marker that no decoder knows")),
            }
        }
    }

    fn read_frame(&mut self, marker: u8, input: &mut Input<'_>) -> Result<(), Fatal> {
        if self.frame.is_some() {
            return Err(Fatal("there are two frame headers"));
        }
        let (length, precision) = (usize::from(input.word()), input.byte());
        let (height, width, count) = (input.word(), input.word(), usize::from(input.byte()));
        if height == 0 || width == 0 || count == 0 {
            return Err(Fatal("the image is empty, or a DNL marker gives its height"));
        }
        if length != 8 + 3 * count {
            return Err(Fatal("the frame header's length does not fit its components"));
        }
        let components = (0..count).map(|_| {
            let (id, factors, quant) = (input.byte(), input.byte(), input.byte());
            let (h, v) = (usize::from(factors >> 4), usize::from(factors & 15));
            Component { id, h, v, quant: quant.into(), ..Component::default() }
        });
        self.frame = Some(Frame {
            width: width.into(),
            height: height.into(),
            components: components.collect(),
            h_max: 1,
            v_max: 1,
            progressive: matches!(marker, 0xC2 | 0xCA),
            arithmetic: marker >= 0xC9,
            precision,
        });
        Ok(())
    }

    fn read_scan(&mut self, input: &mut Input<'_>) -> Result<Scan, Fatal> {
        let Some(frame) = &mut self.frame else { return Err(Fatal("a scan comes before the frame header")) };
        let (length, count) = (usize::from(input.word()), usize::from(input.byte()));
        if !(1..=4).contains(&count) || length != 6 + 2 * count {
            return Err(Fatal("a scan header's length does not fit its components"));
        }
        let mut scan = Scan { count, ..Scan::default() };
        for i in 0..count {
            let (id, tables) = (input.byte(), input.byte());
            // Of two components of the same name, the one whose turn has not come in the scan.
            let named = |&(index, component): &(usize, &Component)| component.id == id && index >= i;
            let Some((component, _)) = frame.components.iter().enumerate().take(4).find(named) else {
                return Err(Fatal("a scan names a component that the frame lacks"));
            };
            if scan.parts[..i].iter().any(|part| part.component == component) {
                return Err(Fatal("a scan names a component twice"));
            }
            scan.parts[i] = Part { component, dc: (tables >> 4).into(), ac: (tables & 15).into() };
        }
        (scan.start, scan.end) = (input.byte().into(), input.byte().into());
        let bits = input.byte();
        (scan.high, scan.low) = (u32::from(bits >> 4), u32::from(bits & 15));
        input.expected = 0;
        self.scans += 1;
        if self.scans == 1 {
            begin(frame)?;
            self.check_colors(input);
        }
        let Some(frame) = &self.frame else { return Err(Fatal("a scan comes before the frame header")) };
        let blocks = scan.parts().iter().map(|part| frame.components[part.component]).map(|c| c.h * c.v);
        if count > 1 && blocks.sum::<usize>() > MAX_BLOCKS {
            return Err(Fatal("an MCU has more than ten blocks"));
        }
        if !frame.progressive && !scan.is_sequential() {
            input.warn(Damage::ScanParameters);
        }
        Ok(scan)
    }

    /// Passes a segment that changes no pixel. One whose length cannot be is passed as an empty one.
    fn read_application(&mut self, marker: u8, input: &mut Input<'_>) {
        let length = usize::from(input.word()).saturating_sub(2);
        let mut first = [0; 14];
        let looked = if matches!(marker, APP0 | APP14) { length.min(first.len()) } else { 0 };
        first[..looked].fill_with(|| input.byte());
        match marker {
            APP0 if looked == 14 && first.starts_with(b"JFIF\0") => {
                self.has_jfif = true;
                let (major, minor) = (first[5], first[6]);
                if major != 1 {
                    input.warn(Damage::JfifVersion { major, minor });
                }
            }
            APP14 if looked >= 12 && first.starts_with(b"Adobe") => self.adobe_transform = Some(first[11]),
            _ => {}
        }
        input.skip(length - looked);
    }

    /// Warns of a transform that does not exist, where the transform matters.
    fn check_colors(&self, input: &mut Input<'_>) {
        let count = self.frame.as_ref().map_or(0, |frame| frame.components.len());
        match (count, self.adobe_transform) {
            (3, Some(transform @ 2..)) if !self.has_jfif => input.warn(Damage::AdobeTransform { transform }),
            (4, Some(transform @ (1 | 3..))) => input.warn(Damage::AdobeTransform { transform }),
            _ => {}
        }
    }
}

/// Checks the frame as the first scan begins, and measures its components.
fn begin(frame: &mut Frame) -> Result<(), Fatal> {
    let (width, height) = (frame.width, frame.height);
    if width.max(height) > MAX_SIDE.into() {
        return Err(Fatal("a side is longer than 65,500 pixels"));
    }
    if frame.precision != 8 {
        return Err(Fatal("samples that are not 8 bits wide"));
    }
    if !matches!(frame.components.len(), 1 | 3 | 4) {
        return Err(Fatal("a component count other than 1, 3 or 4"));
    }
    let factors = || frame.components.iter().flat_map(|c| [c.h, c.v]);
    if factors().any(|factor| !(1..=4).contains(&factor)) {
        return Err(Fatal("a sampling factor is not in 1 to 4"));
    }
    frame.h_max = frame.components.iter().map(|c| c.h).max().unwrap_or(1);
    frame.v_max = frame.components.iter().map(|c| c.v).max().unwrap_or(1);
    for component in &mut frame.components {
        component.blocks_across = (width * component.h).div_ceil(8 * frame.h_max);
        component.blocks_down = (height * component.v).div_ceil(8 * frame.v_max);
    }
    Ok(())
}
