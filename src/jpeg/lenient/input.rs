//! The bytes of a file as libjpeg's memory source gives them, and the markers in them.

use super::Damage;
use crate::jpeg::header::marker::EOI;

/// The frame header that comes first of all markers with a meaning.
const SOF0: u8 = 0xC0;
/// The first restart marker.
const RST0: u8 = 0xD0;

/// A position in a file. Behind its end come end markers without end.
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// A marker that was met and not yet acted on, which no decoder reads past; 0 if there is none.
    pub(super) marker: u8,
    /// The number of the restart marker that must come next.
    pub(super) expected: u8,
    /// Bytes that were passed in search of a marker.
    discarded: usize,
    /// The first defect from which the picture may have suffered, or else the first.
    pub(super) damage: Option<Damage>,
    /// Whether anything was read behind the end of the file.
    pub(super) ran_dry: bool,
}

impl<'a> Input<'a> {
    /// The start of a file.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, marker: 0, expected: 0, discarded: 0, damage: None, ran_dry: false }
    }

    /// Notes a defect.
    pub(super) fn warn(&mut self, damage: Damage) {
        let is_first = self.damage.is_none_or(|first| damage.is_serious() && !first.is_serious());
        if is_first {
            self.damage = Some(damage);
        }
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> u8 {
        let byte = match self.bytes.get(self.at) {
            Some(&byte) => byte,
            None => {
                self.run_dry();
                if (self.at - self.bytes.len()).is_multiple_of(2) { 0xFF } else { EOI }
            }
        };
        self.at += 1;
        byte
    }

    fn run_dry(&mut self) {
        self.ran_dry = true;
        self.warn(Damage::PrematureEnd);
    }

    /// The next two bytes, of which the first counts more.
    pub(super) fn word(&mut self) -> u16 {
        let high = self.byte();
        u16::from_be_bytes([high, self.byte()])
    }

    /// Passes `count` bytes.
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
        if self.at > self.bytes.len() {
            self.run_dry();
        }
    }

    /// The bytes that are left in the file.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Goes to the next marker, and makes it [`Input::marker`].
    pub(super) fn find_marker(&mut self) {
        self.marker = loop {
            while self.byte() != 0xFF {
                self.discarded += 1;
            }
            let byte = self.byte_after_fill();
            if byte != 0 {
                break byte;
            }
            self.discarded += 2;
        };
        if self.discarded != 0 {
            self.warn(Damage::ExtraneousBytes { count: self.discarded, marker: self.marker });
            self.discarded = 0;
        }
    }

    /// The first byte that is not FF.
    fn byte_after_fill(&mut self) -> u8 {
        loop {
            let byte = self.byte();
            if byte != 0xFF {
                return byte;
            }
        }
    }

    /// The next byte of entropy-coded data without its stuffing; `None` from the next marker on.
    pub(super) fn data_byte(&mut self) -> Option<u8> {
        if self.marker != 0 {
            return None;
        }
        let byte = self.byte();
        if byte != 0xFF {
            return Some(byte);
        }
        match self.byte_after_fill() {
            0 => Some(0xFF),
            marker => {
                self.marker = marker;
                None
            }
        }
    }

    /// Passes the data of a scan, restart markers included.
    pub(super) fn skip_data(&mut self) {
        loop {
            while self.data_byte().is_some() {}
            if !matches!(self.marker, RST0..=0xD7) {
                return;
            }
            self.marker = 0;
        }
    }

    /// Passes the restart marker that must come next, with `unread` bytes of data left before it. Where another marker
    /// stands, it is taken for one that came too early, too late or by mistake, as libjpeg's `jpeg_resync_to_restart`
    /// does; [`Input::marker`] stays set if the data of this interval are missing.
    pub(super) fn restart(&mut self, unread: usize) {
        self.discarded += unread;
        if self.marker == 0 {
            self.find_marker();
        }
        let expected = self.expected;
        self.expected = (expected + 1) & 7;
        if self.marker == RST0 + expected {
            self.marker = 0;
            return;
        }
        self.warn(Damage::WrongRestartMarker { found: self.marker, expected });
        loop {
            let ahead = self.marker.wrapping_sub(RST0).wrapping_sub(expected) & 7;
            match self.marker {
                ..SOF0 => self.find_marker(),
                RST0..=0xD7 => match ahead {
                    1 | 2 => return,
                    6 | 7 => self.find_marker(),
                    _ => {
                        self.marker = 0;
                        return;
                    }
                },
                _ => return,
            }
        }
    }
}
