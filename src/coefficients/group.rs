//! A group of blocks in a file, as it is read in steps: each stream's length follows from the streams ahead of it.

use super::error::{CoefficientsError, corrupt};
use super::layout::GROUP;

/// Values that a group may hold beside DC.
pub(super) const VALUES: usize = GROUP * 63;
/// Bytes after a group, and after each list of values, that may be read whatever they hold.
pub(super) const SLACK: usize = 64;

/// The bytes of a group, and those that follow it in the file.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    /// At least [`SLACK`] more than `end`.
    data: &'a [u8],
    at: usize,
    end: usize,
}

/// A stream of a group: so many bytes from its first on, with at least [`SLACK`] more.
#[derive(Clone, Copy)]
pub(super) struct Stream<'a> {
    pub(super) data: &'a [u8],
    pub(super) length: usize,
}

impl<'a> Bytes<'a> {
    /// The group that has the first `length` bytes of `data`.
    pub(super) fn new(data: &'a [u8], length: usize) -> Option<Self> {
        (data.len() >= SLACK && length <= data.len() - SLACK).then_some(Self { data, at: 0, end: length })
    }

    /// The next stream.
    pub(super) fn take(&mut self, length: usize) -> Result<Stream<'a>, CoefficientsError> {
        if length > self.end - self.at {
            return corrupt("a group of blocks is longer than it says");
        }
        let stream = Stream { data: &self.data[self.at..], length };
        self.at += length;
        Ok(stream)
    }

    /// Bytes that are not taken yet.
    pub(super) fn left(&self) -> usize {
        self.end - self.at
    }
}

impl<'a> Stream<'a> {
    /// The stream alone.
    pub(super) fn exact(self) -> &'a [u8] {
        &self.data[..self.length]
    }
}
