//! A cursor in a file: protocol buffers' wire format, walked without reading what is stepped over.

use crate::source::read_error::ReadError;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// Bytes that are read at once: the small fields of a record, and little of its image.
const WINDOW_BYTES: usize = 4 << 10;

/// The range of a field's content in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) bytes: u64,
}

impl Span {
    pub(super) fn end(self) -> u64 {
        self.start + self.bytes
    }
}

pub(super) struct Cursor {
    file: BufReader<File>,
    at: u64,
}

impl Cursor {
    pub(super) fn new(file: File) -> Self {
        Self { file: BufReader::with_capacity(WINDOW_BYTES, file), at: 0 }
    }

    pub(super) fn seek(&mut self, to: u64) -> io::Result<()> {
        match i64::try_from(i128::from(to) - i128::from(self.at)) {
            Ok(step) => self.file.seek_relative(step)?,
            Err(_) => self.file.seek(SeekFrom::Start(to)).map(drop)?,
        }
        self.at = to;
        Ok(())
    }

    pub(super) fn read(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Number and content of the next field before `end` that has a length; numeric fields are skipped.
    pub(super) fn next(&mut self, end: u64) -> Result<Option<(u64, Span)>, ReadError> {
        while self.at < end {
            let key = self.varint(end)?;
            let bytes = match key & 7 {
                0 => {
                    self.varint(end)?;
                    continue;
                }
                1 => 8,
                2 => self.varint(end)?,
                5 => 4,
                _ => return Err(malformed()),
            };
            if bytes > end - self.at {
                return Err(malformed());
            }
            if key & 7 == 2 {
                return Ok(Some((key >> 3, Span { start: self.at, bytes })));
            }
            self.seek(self.at + bytes)?;
        }
        Ok(None)
    }

    fn varint(&mut self, end: u64) -> Result<u64, ReadError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            if self.at >= end {
                break;
            }
            let mut byte = [0];
            self.read(&mut byte)?;
            value |= u64::from(byte[0] & 0x7F) << shift;
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        Err(malformed())
    }
}

fn malformed() -> ReadError {
    ReadError::Bad("the data are no tf.train.Example: write the records as Examples".to_owned())
}
