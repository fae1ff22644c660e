//! What the device is told of a file of coefficients: the groups that a region touches, and no others.

use super::image_record::image_record;
use super::layout::{JpegImage, JpegPacked, UNITS};
use crate::coefficients::{Header, Width, places};
use crate::geometry::Rect;
use crate::jpeg::parallel::{NeededParts, Unit};
use crate::jpeg::{Part, Scale};
use std::ops::Range;

/// The groups of one file.
pub(super) struct Packed {
    /// Without addresses.
    pub(super) image: JpegImage,
    /// By component.
    pub(super) quants: Vec<[i16; 64]>,
    /// Without the image's number.
    pub(super) groups: Vec<JpegPacked>,
    /// The bytes of the file that hold them, one behind the other.
    pub(super) ranges: Vec<Range<usize>>,
}

impl Packed {
    /// The groups that a region needs; `None` where the device cannot decode that, or where something is wrong with the file, which
    /// the CPU's decoder will say.
    pub(super) fn read(bytes: &[u8], header: &Header, region: Rect) -> Option<Self> {
        let frame = &header.frame;
        // Bits are counted in 32 bits.
        if bytes.len() >= 1 << 29 || frame.count > 3 {
            return None;
        }
        let units: Vec<Unit> = (0..frame.count).flat_map(|component| Unit::of(frame, component)).collect();
        if units.len() > UNITS {
            return None;
        }
        let part = Part { scale: Scale::Full, region };
        let NeededParts { mcus, blocks } = NeededParts::of(frame, part);
        let places = places(bytes, header, mcus.0.clone(), &blocks).ok()?;
        let (mut groups, mut ranges, mut at) = (Vec::with_capacity(places.len()), Vec::new(), 0);
        for (group, place) in places {
            groups.push(JpegPacked {
                image: 0,
                at,
                length: place.len() as u16,
                count: group.columns.len() as u8,
                component: group.component as u8,
                column: group.columns.start as u16,
                row: group.row as u16,
            });
            at += place.len() as u32;
            append(&mut ranges, place);
        }
        let mut image = image_record((frame, header.color), &units, mcus, region)?;
        image.word_count = at.div_ceil(4);
        for (plane, widths) in image.plane.iter_mut().zip(&header.widths) {
            let [twos, fours] = [Width::Two, Width::Four].map(|width| widths.positions(width));
            (plane.twos, plane.fours) = (halves(twos), halves(fours));
        }
        let quants = header.quants(bytes)[..frame.count].iter().map(|quant| quant.0).collect();
        Some(Self { image, quants, groups, ranges })
    }
}

/// Appends a range, or makes the last one longer.
fn append(ranges: &mut Vec<Range<usize>>, next: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == next.start => last.end = next.end,
        _ => ranges.push(next),
    }
}

/// The lower 32 bits, and the upper ones.
fn halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}
