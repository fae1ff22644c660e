//! A remote object as a file that can be read and searched: to walk through the headers of an archive, or to read a long text.

use super::client::Object;
use super::store::{Store, Version};
use std::io::{self, Read, Seek, SeekFrom};

/// Size of a read of an archive's headers. Members that are smaller than this share requests; of larger ones at most this
/// much is read in vain.
pub(super) const WINDOW_BYTES: u64 = 1 << 20;

/// An object, an offset in it, and what was read around it.
pub(super) struct Ranged<'a> {
    store: &'a Store,
    object: &'a Object,
    at: u64,
    window: Vec<u8>,
    begin: u64,
    /// Where it is read whole: the size of a read, which the cache keeps.
    kept_bytes: Option<u64>,
}

impl<'a> Ranged<'a> {
    /// An archive, of which only some places are read.
    pub(super) fn new(store: &'a Store, object: &'a Object) -> Self {
        Self { store, object, at: 0, window: Vec::new(), begin: 0, kept_bytes: None }
    }

    /// A text that is read from its start to its end, so many bytes at a time.
    pub(super) fn whole(store: &'a Store, object: &'a Object, bytes: u64) -> Self {
        Self { kept_bytes: Some(bytes), ..Self::new(store, object) }
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
            let part = self.at..(self.at + self.kept_bytes.unwrap_or(WINDOW_BYTES)).min(*size);
            let read = match self.kept_bytes {
                None => self.store.client.get(path, Some(part), Some(*version), &mut self.window),
                // Servers that know no ranges have small texts too.
                Some(_) => {
                    let part = Some(part).filter(|part| *part != (0..*size));
                    self.store.fetch(path, part, Version::Own(*version), &mut self.window)
                }
            };
            read.map_err(io::Error::other)?;
            if self.window.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
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
