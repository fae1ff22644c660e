//! The records of a remote data set, read by index.

use super::records::{Records, Whereabouts};
use super::store::{Store, Version};
use crate::error::Cause;
use crate::source::packed::Parts;
use crate::source::{self, too_large};
use object_store::path::Path;
use std::borrow::Cow;
use std::ops::Range;

/// Records and the store that holds them.
#[derive(Debug)]
pub(super) struct Objects {
    pub(super) store: Store,
    pub(super) records: Records,
    pub(super) max_file_bytes: u64,
}

impl Objects {
    /// Replaces the content of `bytes` by that of record `index`, which must exist.
    pub(super) fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<(), Cause> {
        let Whereabouts { path, part, size, version } = self.find(index)?;
        if let Some(size) = size.filter(|size| *size > self.max_file_bytes) {
            return Err(too_large(&self.store.shown(&path), size, self.max_file_bytes));
        }
        if size == Some(0) {
            return Ok(());
        }
        self.fetch(&path, part, version, bytes)
    }

    /// Replaces the content of `bytes` by an object's, or a part of it, whose size may not have been known before.
    fn fetch(
        &self,
        path: &Path,
        part: Option<Range<u64>>,
        version: Version,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Cause> {
        let fetched = self.store.fetch(path, part, version, bytes);
        fetched.map_err(|error| format!("cannot read {}: {error}", self.store.shown(path)))?;
        let size = bytes.len() as u64;
        if size > self.max_file_bytes {
            bytes.clear();
            return Err(too_large(&self.store.shown(path), size, self.max_file_bytes));
        }
        Ok(())
    }

    /// The content of an object that a list names as it names its images.
    pub(super) fn read_listed(&self, name: &str) -> Result<Vec<u8>, Cause> {
        let name = format!("{}{}", self.records.base, name.strip_prefix("./").unwrap_or(name));
        let path =
            Path::parse(&name).map_err(|error| format!("{error}; write a path below the images' folder"))?;
        let (mut bytes, version) = (Vec::new(), Version::OfList(self.records.list));
        self.fetch(&path, None, version, &mut bytes)?;
        Ok(bytes)
    }

    /// The URL of the object that holds record `index`, where the object's version is known.
    pub(super) fn url(&self, index: usize) -> Option<String> {
        if index >= self.records.len() {
            return None;
        }
        let Whereabouts { path, version, .. } = self.find(index).ok()?;
        matches!(version, Version::Own(_)).then(|| self.store.shown(&path))
    }

    /// The version that the object which holds record `index` had when the data set was opened. No other one is read.
    pub(super) fn version(&self, index: usize) -> source::Version {
        if index >= self.records.len() {
            return source::Version::Unknown;
        }
        match self.find(index) {
            Ok(Whereabouts { version: Version::Own(version), part, .. }) => {
                let start = part.map_or(0, |part| part.start);
                source::Version::of_numbers(&[version, start])
            }
            _ => source::Version::Unknown,
        }
    }

    fn find(&self, index: usize) -> Result<Whereabouts, Cause> {
        self.records.find(index, &self.store.client.address)
    }
}

impl Parts for Objects {
    fn len(&self) -> usize {
        self.records.len()
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Borrowed(self.records.key(index))
    }

    fn max_file_bytes(&self) -> u64 {
        self.max_file_bytes
    }

    fn read_beside(&self, index: usize, range: [u64; 2], bytes: &mut Vec<u8>) -> Result<(), Cause> {
        let Whereabouts { path, version, .. } = self.find(index)?;
        let part = range[0]..range[0].saturating_add(range[1]);
        let read = self.store.fetch(&path, Some(part), version, bytes);
        read.map_err(|error| format!("cannot read {}: {error}", self.store.shown(&path)).into())
    }

    fn after(&self, index: usize) -> Result<Range<u64>, Cause> {
        self.records.after(index).ok_or_else(|| "it is no part of an archive".into())
    }
}
