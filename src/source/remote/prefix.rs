//! The objects below a URL, found by their names: masks and second images.

use super::RemoteOptions;
use super::address::Address;
use super::client::Object;
use super::store::{Store, Version};
use crate::error::{Cause, Result, ensure};
use crate::source::beside::Stored;
use crate::source::{IoStats, too_large};
use std::path::{Component, Path as FilePath};

/// Objects in the order of their names.
#[derive(Debug)]
pub(super) struct Prefix {
    store: Store,
    /// The part of all paths before a name.
    base: String,
    objects: Vec<Object>,
}

impl Prefix {
    /// The objects below `url`.
    ///
    /// # Errors
    /// A store that cannot be listed or asked; no object there.
    pub(super) fn open(options: &RemoteOptions, url: &str) -> Result<Self> {
        let store = Store::new(Address::parse(url)?, options)?;
        let prefix = store.client.address.path.clone();
        ensure!(
            store.client.address.lists(),
            "{}: an HTTP server cannot say what it holds: keep the files beside the images in archives (.tar), or name them in \
             a column of a list",
            store.shown(&prefix)
        );
        let (base, mut objects) = (super::below(&prefix), Vec::new());
        store
            .client
            .list(&prefix, &mut |object| objects.push(object))
            .map_err(|error| store.failed(&prefix, &error))?;
        ensure!(
            !objects.is_empty(),
            "{} holds nothing: check bucket and prefix of the files beside the images",
            store.shown(&prefix)
        );
        objects.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { store, base, objects })
    }
}

impl Stored for Prefix {
    fn shown(&self, name: &FilePath) -> String {
        format!("{}/{}{}", self.store.client.address.root, self.base, slashed(name))
    }

    fn find(&self, name: &FilePath) -> Option<u32> {
        let path = format!("{}{}", self.base, slashed(name));
        let found = self.objects.binary_search_by(|object| object.path.as_ref().cmp(path.as_str()));
        found.ok().map(|number| number as u32)
    }

    fn key(&self, number: u32) -> &str {
        let path = self.objects[number as usize].path.as_ref();
        path.strip_prefix(&self.base).unwrap_or(path)
    }

    fn read(&self, number: u32, max_file_bytes: u64, bytes: &mut Vec<u8>) -> Result<(), Cause> {
        let Object { path, size, version } = &self.objects[number as usize];
        let shown = || self.store.shown(path);
        if *size > max_file_bytes {
            return Err(too_large(&shown(), *size, max_file_bytes));
        }
        let read = self.store.fetch(path, None, Version::Own(*version), bytes);
        read.map_err(|error| format!("cannot read {}: {error}", shown()).into())
    }

    fn io_stats(&self) -> IoStats {
        self.store.io_stats()
    }
}

/// The name of an object, with slashes on every system.
fn slashed(name: &FilePath) -> String {
    let parts = name.components().filter(|part| matches!(part, Component::Normal(_)));
    let parts = parts.map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}
