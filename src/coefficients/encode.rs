//! From a JPEG to a file of its coefficients.

use super::header::{A_COMPONENT, A_TABLE, FIXED, MAGIC, MODELS, TAIL, VERSION};
use super::layout::{RowOfGroups, block_rows, groups_in_mcu_row};
use super::widths::{Width, Widths};
use crate::jpeg::{self, Coefficients, Frame, JpegError, Limits, ZIGZAG};
use serde::{Deserialize, Serialize};

/// What a file of coefficients is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Values take 2, 4 or 8 bits.
    #[default]
    Small,
    /// All values take 8 bits, which is a little faster to decode.
    Fast,
}

/// Groups in a segment, about: few enough that a crop does not check much more than it needs.
const GROUPS_IN_SEGMENT: usize = 48;

/// Makes files of coefficients, and keeps its buffers.
#[derive(Default)]
pub(crate) struct Encoder {
    jpeg: jpeg::Decoder,
    lists: Lists,
}

impl Encoder {
    /// Writes the file of coefficients of a JPEG to `out`, in place of what is there.
    ///
    /// # Errors
    /// A JPEG that is damaged, or of a kind whose coefficients are not read.
    pub(crate) fn encode(
        &mut self,
        bytes: &[u8],
        header: &jpeg::Header,
        limits: &Limits,
        profile: Profile,
        out: &mut Vec<u8>,
    ) -> Result<(), JpegError> {
        let written = self.write(bytes, header, limits, profile, out);
        self.jpeg.give_back_coefficients();
        written
    }

    fn write(
        &mut self,
        bytes: &[u8],
        header: &jpeg::Header,
        limits: &Limits,
        profile: Profile,
        out: &mut Vec<u8>,
    ) -> Result<(), JpegError> {
        let coefficients = self.jpeg.coefficients(bytes, header, limits)?;
        let frame = &header.frame;
        let widths = match profile {
            Profile::Small => cheapest(coefficients, frame),
            Profile::Fast => [Widths::default(); 4],
        };
        out.clear();
        let rows = GROUPS_IN_SEGMENT.div_ceil(groups_in_mcu_row(frame, 0).max(1)).min(frame.mcus_down());
        write_head(header, &widths, rows, coefficients, out);
        let (offsets, segments) = (out.len(), frame.mcus_down().div_ceil(rows));
        out.resize(offsets + 4 * (segments + 1) + 4, 0);
        for segment in 0..segments {
            note_offset(out, offsets, segment)?;
            let rows = segment * rows..((segment + 1) * rows).min(frame.mcus_down());
            self.lists.write_segment(coefficients, frame, &widths, rows, out);
        }
        note_offset(out, offsets, segments)?;
        let end = offsets + 4 * (segments + 1);
        let sum = crc32c::crc32c(&out[..end]);
        out[end..end + 4].copy_from_slice(&sum.to_le_bytes());
        out.resize(out.len() + TAIL, 0);
        Ok(())
    }
}

fn note_offset(out: &mut [u8], offsets: usize, segment: usize) -> Result<(), JpegError> {
    let what = "an image whose coefficients take more than four gigabytes";
    let offset = u32::try_from(out.len()).map_err(|_| JpegError::Unsupported { what })?;
    out[offsets + 4 * segment..][..4].copy_from_slice(&offset.to_le_bytes());
    Ok(())
}

/// Writes the head as far as the offsets of segments.
fn write_head(
    header: &jpeg::Header,
    widths: &[Widths; 4],
    rows: usize,
    coefficients: &Coefficients,
    out: &mut Vec<u8>,
) {
    let frame = &header.frame;
    // Components with the same factors share a table.
    let (mut tables, mut numbers) = (Vec::new(), [0; 4]);
    for (component, number) in numbers.iter_mut().enumerate().take(frame.count) {
        let factors = coefficients.quant(component).0;
        let known = tables.iter().position(|table| *table == factors);
        *number = known.unwrap_or_else(|| {
            tables.push(factors);
            tables.len() - 1
        });
    }
    let model = MODELS.iter().position(|&model| model == header.color).unwrap_or(0);
    let orientation = header.orientation.to_exif() as u8;
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[VERSION, model as u8, orientation, frame.count as u8]);
    for number in [frame.size.width as usize, frame.size.height as usize, rows] {
        out.extend_from_slice(&(number as u16).to_le_bytes());
    }
    out.extend_from_slice(&[tables.len() as u8, 0]);
    debug_assert_eq!(out.len(), FIXED);
    for ((component, number), widths) in frame.used().iter().zip(numbers).zip(widths) {
        let [low, high] = widths.bits().to_le_bytes();
        let described: [u8; A_COMPONENT] = [(component.h << 4 | component.v) as u8, number as u8, low, high];
        out.extend_from_slice(&described);
    }
    for table in tables {
        let factors = table.map(i16::to_le_bytes);
        let bytes: &[u8; A_TABLE] = factors.as_flattened().first_chunk().unwrap_or(&[0; A_TABLE]);
        out.extend_from_slice(bytes);
    }
}

/// For each component and each eight positions the width that takes the fewest bits.
fn cheapest(coefficients: &Coefficients, frame: &Frame) -> [Widths; 4] {
    let mut widths = [Widths::default(); 4];
    for (index, component) in frame.used().iter().enumerate() {
        let mut bits = [[0u64; 3]; 8];
        for y in 0..component.blocks_down() {
            for block in &coefficients.row(index, y)[..component.blocks_across()] {
                for (position, value) in values_of(block) {
                    let bits = &mut bits[position / 8];
                    bits[0] += 2 + [0, 4, 8][code_of_two(value).1];
                    bits[1] += 4 + [0, 8][usize::from(code_of_four(value) == 0)];
                    bits[2] += 8;
                }
            }
        }
        for (width, bits) in widths[index].0.iter_mut().zip(bits) {
            let choices = [Width::Two, Width::Four, Width::Eight].into_iter().zip(bits);
            // Of equal ones the widest, which takes the fewest steps.
            *width = choices.rev().min_by_key(|&(_, bits)| bits).map_or(Width::Eight, |(width, _)| width);
        }
    }
    widths
}

/// The values of a block other than zero, by position; DC is not among them.
fn values_of(block: &[i16; 64]) -> impl Iterator<Item = (usize, i16)> {
    let all = ZIGZAG.iter().enumerate().skip(1);
    all.map(|(position, &at)| (position, block[usize::from(at)])).filter(|&(_, value)| value != 0)
}

/// The code of a value in two bits, and how many steps of four bits or more follow: none, one of four bits, one of eight.
fn code_of_two(value: i16) -> (u8, usize) {
    match value {
        1 => (0, 0),
        -1 => (1, 0),
        -9..=9 => (2, 1),
        _ => (3, 2),
    }
}

/// The code of a value behind one of two bits.
fn code_after_two(value: i16) -> u8 {
    if value > 0 { value as u8 - 2 } else { (6 - value) as u8 }
}

/// The code of a value in four bits; 0 for what takes eight.
fn code_of_four(value: i16) -> u8 {
    match value {
        1..=8 => value as u8,
        -7..=-1 => (8 - value) as u8,
        _ => 0,
    }
}

/// The streams of a group while it is written.
#[derive(Default)]
pub(super) struct Lists {
    counts: Vec<u8>,
    positions: Vec<u8>,
    codes: Vec<u8>,
    after_two: Vec<u8>,
    fours: Vec<u8>,
    bytes: [Vec<u8>; 3],
    differences: Vec<u8>,
    large_differences: Vec<u8>,
    patches: Vec<u8>,
}

impl Lists {
    fn write_segment(
        &mut self,
        coefficients: &Coefficients,
        frame: &Frame,
        widths: &[Widths; 4],
        rows: std::ops::Range<usize>,
        out: &mut Vec<u8>,
    ) {
        let at = out.len();
        let groups: usize = rows.clone().map(|row| groups_in_mcu_row(frame, row)).sum();
        let mut lengths = at + 4;
        out.resize(lengths + 2 * groups, 0);
        for mcu_row in rows {
            for (index, component) in frame.used().iter().enumerate() {
                let row = RowOfGroups::of(component);
                for y in block_rows(component, mcu_row) {
                    let blocks = coefficients.row(index, y);
                    for group in 0..row.count {
                        let start = out.len();
                        self.write_group(&blocks[row.columns(group)], &widths[index], out);
                        // At most 32 blocks of 63 values of 14 bits and a patch of 32.
                        let length = (out.len() - start) as u16;
                        out[lengths..lengths + 2].copy_from_slice(&length.to_le_bytes());
                        lengths += 2;
                    }
                }
            }
        }
        let sum = crc32c::crc32c(&out[at + 4..]);
        out[at..at + 4].copy_from_slice(&sum.to_le_bytes());
    }

    pub(super) fn write_group(&mut self, blocks: &[[i16; 64]], widths: &Widths, out: &mut Vec<u8>) {
        self.clear();
        for (number, block) in blocks.iter().enumerate() {
            if number > 0 {
                self.add_difference(block[0].wrapping_sub(blocks[number - 1][0]));
            }
            let mut mask = 0u64;
            for (position, value) in values_of(block) {
                mask |= 1 << (position - 1);
                let value = match i8::try_from(value) {
                    Ok(_) => value,
                    Err(_) => {
                        let place = ((number << 6) | position) as u16;
                        self.patches.extend_from_slice(&place.to_le_bytes());
                        self.patches.extend_from_slice(&value.to_le_bytes());
                        0
                    }
                };
                self.add(widths.0[position / 8], value);
            }
            let bytes = (64 - mask.leading_zeros() as usize).div_ceil(8);
            self.counts.push(bytes as u8);
            self.positions.extend_from_slice(&mask.to_le_bytes()[..bytes]);
        }
        out.extend_from_slice(&blocks[0][0].to_le_bytes());
        out.extend_from_slice(&self.differences);
        pack(4, self.counts.iter().copied(), out);
        out.extend_from_slice(&self.positions);
        pack(2, self.codes.iter().copied(), out);
        pack(4, self.after_two.iter().chain(&self.fours).copied(), out);
        self.bytes.iter().for_each(|list| out.extend_from_slice(list));
        out.extend_from_slice(&self.large_differences);
        out.extend_from_slice(&self.patches);
    }

    fn clear(&mut self) {
        let Self {
            counts,
            positions,
            codes,
            after_two,
            fours,
            bytes,
            differences,
            large_differences,
            patches,
        } = self;
        let single = [counts, positions, codes, after_two, fours, differences, large_differences, patches];
        single.into_iter().chain(bytes).for_each(Vec::clear);
    }

    fn add_difference(&mut self, difference: i16) {
        match difference {
            -127..=127 => self.differences.push(difference as i8 as u8),
            _ => {
                self.differences.push(i8::MIN as u8);
                self.large_differences.extend_from_slice(&difference.to_le_bytes());
            }
        }
    }

    /// Adds a value other than DC; 0 for one that a patch has.
    fn add(&mut self, width: Width, value: i16) {
        match width {
            Width::Two => {
                let (code, step) = if value == 0 { (3, 2) } else { code_of_two(value) };
                self.codes.push(code);
                match step {
                    0 => {}
                    1 => self.after_two.push(code_after_two(value)),
                    _ => self.bytes[0].push(value as u8),
                }
            }
            Width::Four => {
                let code = code_of_four(value);
                self.fours.push(code);
                if code == 0 {
                    self.bytes[1].push(value as u8);
                }
            }
            Width::Eight => self.bytes[2].push(value as u8),
        }
    }
}

/// Writes codes of so many bits, the first in the lowest bits of a byte.
fn pack(bits: usize, codes: impl Iterator<Item = u8>, out: &mut Vec<u8>) {
    for (i, code) in codes.enumerate() {
        let shift = i * bits % 8;
        match out.last_mut() {
            Some(last) if shift > 0 => *last |= code << shift,
            _ => out.push(code),
        }
    }
}
