//! A remote object as a file that can be read and searched, to walk through the headers of an archive.

use super::client::{Client, Object};
use std::io::{self, Read, Seek, SeekFrom};

/// Size of a read. Members that are smaller than this share requests; of larger ones at most this much is read in vain.
pub(super) const WINDOW_BYTES: u64 = 1 << 20;

/// An object, an offset in it, and what was read around it.
pub(super) struct Ranged<'a> {
    client: &'a Client,
    object: &'a Object,
    at: u64,
    window: Vec<u8>,
    begin: u64,
}

impl<'a> Ranged<'a> {
    pub(super) fn new(client: &'a Client, object: &'a Object) -> Self {
        Self { client, object, at: 0, window: Vec::new(), begin: 0 }
    }
}

impl Read for Ranged<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Object { path, size, version } = self.object;
        if self.at >= *size || into.is_empty() {
            return Ok(0);
        }
        if !(self.begin..self.begin + self.window.len() as u64).contains(&self.at) {
            self.begin = self.at;
            let part = self.at..(self.at + WINDOW_BYTES).min(*size);
            self.client.get(path, Some(part), Some(*version), &mut self.window).map_err(io::Error::other)?;
        }
        let here = &self.window[(self.at - self.begin) as usize..];
        let count = here.len().min(into.len());
        into[..count].copy_from_slice(&here[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Ranged<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.object.size.checked_add_signed(by),
        };
        self.at =
            place.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a place ahead of the start"))?;
        Ok(self.at)
    }
}
