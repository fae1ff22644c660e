//! The entropy-coded bytes of one scan, cut into pieces at restart markers.

use super::bits::{Cursor, PADDING, unstuff};
use crate::decode_memory::give_back;
use crate::jpeg::error::{JpegError, corrupt};
use crate::jpeg::header::marker::EOI;

/// One scan's data. The buffer is kept from file to file, so that a worker stops allocating.
#[derive(Default)]
pub(crate) struct Stream {
    /// The current piece without stuffing, then zeros; bytes after those are left over from earlier pieces.
    data: Vec<u8>,
    /// Bytes of `data` that are in the file.
    length: usize,
    /// Offset of the piece in the file.
    begin: usize,
    /// Offset of the marker that ends the piece.
    end: usize,
    /// MCUs between restarts, or 0.
    interval: u32,
    /// MCUs until the next restart.
    left: u32,
    /// The restart marker that must come next, 0 to 7.
    expected: u8,
    /// Whether some bytes belong to no MCU: padding before restart markers, and what is left at the end of a scan, which
    /// may be restart markers too.
    has_unread: bool,
}

impl Stream {
    /// Starts a scan whose data begin at `from`.
    pub(crate) fn start(&mut self, bytes: &[u8], from: usize, interval: u16) {
        self.interval = interval.into();
        self.left = if interval == 0 { u32::MAX } else { self.interval };
        self.expected = 0;
        self.load(bytes, from);
    }

    /// Starts in the middle of a scan, at the byte `from`, after `mcus` (at least one) were decoded.
    pub(crate) fn resume(&mut self, bytes: &[u8], from: usize, interval: u16, mcus: usize) {
        self.start(bytes, from, interval);
        if let Some(over) = mcus.checked_rem(self.interval as usize) {
            self.left = if over == 0 { 0 } else { self.interval - over as u32 };
            self.expected = ((mcus - 1) / self.interval as usize % 8) as u8;
        }
    }

    /// To be called before the first scan of a file.
    pub(crate) fn begin_file(&mut self) {
        self.has_unread = false;
    }

    /// To be called when all MCUs of a scan are decoded.
    pub(crate) fn end_scan(&mut self, bytes: &[u8], cursor: &Cursor) {
        // Restart markers that do not belong there, or fill bytes ahead of what is no marker.
        let more = matches!(bytes.get(self.end + 1), Some(0xD0..=0xD7 | 0xFF));
        self.has_unread |= more || cursor.consumed().div_ceil(8) < self.length;
    }

    /// Whether whole bytes of the file's scans belong to no MCU. They change no pixel.
    pub(crate) fn has_unread(&self) -> bool {
        self.has_unread
    }

    /// Gives memory back that is too much to be kept for the next file.
    pub(crate) fn give_back(&mut self) {
        give_back(&mut self.data);
        self.length = self.length.min(self.data.len());
    }

    fn load(&mut self, bytes: &[u8], from: usize) {
        self.begin = from;
        (self.length, self.end) = unstuff(bytes, from, &mut self.data, 0);
    }

    /// The piece's bytes, for [`Cursor`].
    #[inline(always)]
    pub(crate) fn data(&self) -> &[u8] {
        self.data.get(..self.length + PADDING).unwrap_or_default()
    }

    /// The offset of the current piece in the file.
    pub(crate) fn begin(&self) -> usize {
        self.begin
    }

    /// The offset of the marker after the current piece, or of the end of the file.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// The count of the bits of the piece that are in the file.
    #[inline(always)]
    pub(crate) fn bits(&self) -> usize {
        self.length * 8
    }

    /// Whether `cursor` has read bits that are not in the file.
    #[inline(always)]
    pub(crate) fn overread(&self, cursor: &Cursor) -> bool {
        cursor.consumed() > self.bits()
    }

    /// To be called before each MCU: whether a restart marker must be passed first, with [`Stream::restart`].
    #[inline(always)]
    pub(crate) fn restart_is_due(&mut self) -> bool {
        let due = self.left == 0;
        self.left = self.left.wrapping_sub(1);
        due && self.interval != 0
    }

    /// MCUs that come before the next restart marker.
    #[inline(always)]
    pub(crate) fn mcus_left(&self) -> usize {
        if self.interval == 0 { usize::MAX } else { self.left as usize }
    }

    /// Counts `mcus` MCUs, no more than [`Stream::mcus_left`], as decoded.
    #[inline(always)]
    pub(crate) fn pass(&mut self, mcus: usize) {
        self.left = self.left.wrapping_sub(mcus as u32);
    }

    /// Passes a restart marker; the caller goes on with the returned cursor and predictions of zero.
    #[cold]
    #[inline(never)]
    pub(crate) fn restart(&mut self, bytes: &[u8], cursor: Cursor) -> Result<Cursor, JpegError> {
        match bytes.get(self.end + 1) {
            Some(&found) if found == 0xD0 + self.expected => {}
            None | Some(&EOI) => return Err(JpegError::Truncated { place: "the picture" }),
            Some(_) => return corrupt("a restart marker is missing or has the wrong number"),
        }
        let unread = self.data.get(cursor.consumed().div_ceil(8)..self.length).unwrap_or_default();
        if let Some(first) = unread.first() {
            // Webcams pad there.
            if !matches!(first, 0 | 0xFF) || unread.iter().any(|byte| byte != first) {
                return corrupt("there are unread bytes before a restart marker");
            }
            self.has_unread = true;
        }
        self.expected = (self.expected + 1) & 7;
        self.left = self.interval - 1;
        self.load(bytes, self.end + 2);
        Ok(Cursor::default())
    }

    /// The error for an MCU that could not be decoded: missing bytes take precedence over a wrong code.
    #[cold]
    #[inline(never)]
    pub(crate) fn fault(&self, bytes: &[u8], cursor: &Cursor) -> JpegError {
        if !self.overread(cursor) {
            return JpegError::Corrupt { what: "the compressed data hold a code that does not exist" };
        }
        match bytes.get(self.end + 1) {
            None | Some(&EOI) => JpegError::Truncated { place: "the picture" },
            Some(_) => JpegError::Corrupt { what: "a marker stands in the middle of the compressed data" },
        }
    }
}
