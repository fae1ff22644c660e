//! Where the records of a remote data set lie, close together in memory.

use super::address::Address;
use super::client::Object;
use super::store::Version;
use crate::error::Cause;
use object_store::path::Path;
use std::ops::Range;

/// Keys and places of all records.
#[derive(Debug, Default)]
pub(super) struct Records {
    keys: String,
    records: Vec<Record>,
    /// The archives that records lie in; empty where each is an object of its own.
    archives: Vec<Object>,
    /// How many records there are up to the end of each archive.
    ends: Vec<usize>,
    /// The part of an object's path before a key: the prefix, or the folder of a list.
    pub(super) base: String,
    /// The version of the list that names objects of which nothing else is known.
    pub(super) list: u64,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    key_end: u64,
    /// In an archive the offset, else the object's version.
    place: u64,
    /// `u64::MAX` where it is not known.
    bytes: u64,
}

/// Where the bytes of a record lie.
pub(super) struct Whereabouts {
    pub(super) path: Path,
    pub(super) part: Option<Range<u64>>,
    pub(super) size: Option<u64>,
    pub(super) version: Version,
}

impl Records {
    /// No records yet, which will be objects of their own; `list` is the version of a list that names them.
    pub(super) fn new(base: String, list: u64) -> Self {
        Self { base, list, ..Self::default() }
    }

    /// An object of its own; size and version where they are known.
    pub(super) fn push(&mut self, key: &str, about: Option<(u64, u64)>) {
        let (bytes, version) = about.unwrap_or((u64::MAX, 0));
        self.keys.push_str(key);
        self.add(version, bytes);
    }

    /// A part of the archive that is being added, named by archive and path.
    pub(super) fn push_part(&mut self, archive: &str, path: &str, [offset, bytes]: [u64; 2]) {
        self.keys.push_str(archive);
        self.keys.push('/');
        self.keys.push_str(path);
        self.add(offset, bytes);
    }

    fn add(&mut self, place: u64, bytes: u64) {
        self.records.push(Record { key_end: self.keys.len() as u64, place, bytes });
    }

    /// Ends an archive.
    pub(super) fn end_archive(&mut self, archive: Object) {
        self.archives.push(archive);
        self.ends.push(self.records.len());
    }

    pub(super) fn shrink(&mut self) {
        self.keys.shrink_to_fit();
        self.records.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn key(&self, index: usize) -> &str {
        let Some(record) = self.records.get(index) else { return "" };
        let start = index.checked_sub(1).map_or(0, |before| self.records[before].key_end);
        &self.keys[start as usize..record.key_end as usize]
    }

    /// The archive that record `index` lies in.
    fn archive(&self, index: usize) -> Option<&Object> {
        self.archives.get(self.ends.partition_point(|&end| end <= index))
    }

    /// Where record `index`, which must exist, ends in its archive, and where the archive does; none outside of archives.
    pub(super) fn after(&self, index: usize) -> Option<Range<u64>> {
        let Record { place, bytes, .. } = self.records[index];
        Some(place + bytes..self.archive(index)?.size)
    }

    /// The location of record `index`, which must exist.
    pub(super) fn find(&self, index: usize, address: &Address) -> Result<Whereabouts, Cause> {
        let Record { place, bytes, .. } = self.records[index];
        if let Some(archive) = self.archive(index) {
            return Ok(Whereabouts {
                path: archive.path.clone(),
                part: Some(place..place + bytes),
                size: Some(bytes),
                version: Version::Own(archive.version),
            });
        }
        let name = format!("{}{}", self.base, self.key(index));
        let path =
            Path::parse(&name).map_err(|error| format!("{}/{name}: {error}; mend the list", address.root))?;
        let known = bytes != u64::MAX;
        let version = if known { Version::Own(place) } else { Version::OfList(self.list) };
        Ok(Whereabouts { path, part: None, size: known.then_some(bytes), version })
    }
}
