//! The files of a YOLO data set in a store.

use super::below;
use super::client::{Object, Wanted};
use super::request_error::Kind;
use super::store::Store;
use crate::error::{Result, bail};
use crate::source::folder::is_image_name;
use crate::source::labels::cache::{FileStamp, NO_FILE};
use crate::source::tree::{Entry, TakeFile, Tree};
use crate::source::yolo::label_folder;
use object_store::path::Path;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path as FilePath, PathBuf};

/// What is known of the store so far.
#[derive(Default)]
pub(super) struct Known {
    /// The prefixes of which all objects are known that matter.
    listed: Vec<String>,
    /// Size and version of objects.
    objects: BTreeMap<String, (u64, u64)>,
}

impl Known {
    /// These objects are all below a prefix that matter.
    pub(super) fn of(prefix: &str, objects: impl Iterator<Item = Object>) -> Self {
        let mut known = Self::default();
        objects.for_each(|object| known.add(object));
        known.listed.push(prefix.to_owned());
        known
    }

    fn add(&mut self, Object { path, size, version }: Object) {
        self.objects.insert(path.into(), (size, version));
    }

    fn is_listed(&self, key: &str) -> bool {
        self.listed.iter().any(|prefix| key.starts_with(prefix.as_str()))
    }

    fn has_below(&self, folder: &str) -> bool {
        let next = self.objects.range(folder.to_owned()..).next();
        next.is_some_and(|(key, _)| key.starts_with(folder))
    }
}

/// Paths are those in the bucket; `..` in one leads back up.
pub(super) struct StoreTree<'a> {
    store: &'a Store,
    known: RefCell<Known>,
}

impl<'a> StoreTree<'a> {
    pub(super) fn new(store: &'a Store, known: Known) -> Self {
        Self { store, known: RefCell::new(known) }
    }

    /// The name of the object at a path; nothing where the path leads out of the bucket.
    pub(super) fn key(&self, path: &FilePath) -> Option<String> {
        let mut parts: Vec<&str> = Vec::new();
        for part in path.components() {
            match part {
                Component::Normal(part) => parts.push(part.to_str()?),
                Component::CurDir => {}
                Component::ParentDir => drop(parts.pop()?),
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(parts.join("/"))
    }

    /// Size and version of an object, where they are known.
    pub(super) fn known(&self, key: &str) -> Option<(u64, u64)> {
        self.known.borrow().objects.get(key).copied()
    }

    /// Lists what lies below a folder, unless that is known; its name ends in a slash, or is empty.
    fn list(&self, folder: &str) -> Result<()> {
        if self.known.borrow().is_listed(folder) {
            return Ok(());
        }
        let Ok(prefix) = Path::parse(folder) else { return Ok(()) };
        let mut found = Vec::new();
        let listed = self.store.client.list(&prefix, &mut |object| found.push(object));
        listed.map_err(|error| self.store.failed(&prefix, &error))?;
        let mut known = self.known.borrow_mut();
        found.into_iter().for_each(|object| known.add(object));
        known.listed.push(folder.to_owned());
        Ok(())
    }

    fn lists(&self) -> bool {
        self.store.client.address.lists()
    }

    /// How to ask for a file; nothing where it is known that there is none.
    fn wanted(&self, path: &FilePath, most_bytes: u64) -> Option<Wanted> {
        let key = self.key(path)?;
        let known = self.known.borrow();
        let object = known.objects.get(&key).copied();
        let (most_bytes, version) = match object {
            Some((size, version)) => (most_bytes.min(size), Some(version)),
            None => (most_bytes, None),
        };
        if version.is_none() && known.is_listed(&key) {
            return None;
        }
        Path::parse(key).ok().map(|path| Wanted { path, most_bytes, version })
    }
}

impl Tree for StoreTree<'_> {
    fn shown(&self, path: &FilePath) -> String {
        match self.key(path).map(Path::parse) {
            Some(Ok(path)) => self.store.shown(&path),
            _ => format!("{}/{}", self.store.client.address.root, path.display()),
        }
    }

    fn look(&self, path: &FilePath) -> Result<Option<Entry>> {
        let Some(Ok(object)) = self.key(path).map(Path::parse) else { return Ok(None) };
        let (key, folder) = (object.as_ref(), below(&object));
        if key.is_empty() {
            return Ok(Some(Entry::Folder));
        }
        let seen = |known: &Known| match known.objects.contains_key(key) {
            true => Some(Entry::File),
            false => known.has_below(&folder).then_some(Entry::Folder),
        };
        let found = seen(&self.known.borrow());
        if found.is_some() || self.known.borrow().is_listed(&folder) {
            return Ok(found);
        }
        match self.store.client.head(&object) {
            Ok(object) => {
                self.known.borrow_mut().add(object);
                Ok(Some(Entry::File))
            }
            Err(error) if error.kind == Kind::Missing => {
                if !self.lists() {
                    // Of what has no ending it is told later that it cannot be listed.
                    let name = object.filename().unwrap_or_default();
                    return Ok((!name.contains('.')).then_some(Entry::Folder));
                }
                self.list(&folder)?;
                Ok(seen(&self.known.borrow()))
            }
            Err(error) => Err(self.store.failed(&object, &error)),
        }
    }

    fn images_below(&self, folder: &FilePath) -> Result<Vec<PathBuf>> {
        if !self.lists() {
            bail!(
                "{}: an HTTP server cannot say what a folder holds: name a list of images (.txt) in its place",
                self.shown(folder)
            );
        }
        let Some(Ok(object)) = self.key(folder).map(Path::parse) else { return Ok(Vec::new()) };
        let prefix = below(&object);
        self.list(&prefix)?;
        // So that label files need not be asked for to learn that they are not there.
        if let Some(labels) = self.key(&label_folder(FilePath::new(object.as_ref()))) {
            self.list(&if labels.is_empty() { labels } else { format!("{labels}/") })?;
        }
        let known = self.known.borrow();
        let below = known.objects.range(prefix.clone()..).map(|(key, _)| key);
        let mut images: Vec<&String> = below
            .take_while(|key| key.starts_with(&prefix))
            .filter(|key| is_image_name(OsStr::new(key)))
            .collect();
        images.sort_by_key(|key| key.rsplit_once('/').unwrap_or(("", key)));
        Ok(images.into_iter().map(PathBuf::from).collect())
    }

    fn read_each(
        &self,
        files: &mut dyn Iterator<Item = PathBuf>,
        most_bytes: u64,
        _: &'static str,
        take: &mut TakeFile<'_>,
    ) -> Result<()> {
        let wanted = files.map(|path| self.wanted(&path, most_bytes));
        self.store.fetch_each(wanted, &mut |number, found| {
            let Some((Wanted { path, version, .. }, answer)) = found else { return take(number, None) };
            match answer {
                Ok(bytes) => take(number, Some(&bytes)),
                Err(error) if error.kind == Kind::Missing && version.is_none() => take(number, None),
                // What it holds is not looked at.
                Err(error) if error.kind == Kind::Oversized => {
                    take(number, Some(&vec![0; most_bytes as usize + 1]))
                }
                Err(error) => Err(self.store.failed(&path, &error)),
            }
        })
    }

    fn stamps(&self, files: &mut dyn Iterator<Item = PathBuf>) -> Result<Vec<FileStamp>> {
        let (mut stamps, mut unknown) = (Vec::new(), Vec::new());
        for path in files {
            let wanted = self.wanted(&path, 0);
            let known = wanted.as_ref().and_then(|wanted| self.known(wanted.path.as_ref()));
            stamps.push(known.map_or(NO_FILE, |(size, version)| [version, size]));
            if let (Some(Wanted { path, .. }), None) = (wanted, known) {
                unknown.push((stamps.len() - 1, path));
            }
        }
        let paths: Vec<Path> = unknown.iter().map(|(_, path)| path.clone()).collect();
        for ((number, path), answer) in unknown.iter().zip(self.store.client.head_many(&paths)) {
            match answer {
                Ok(Object { size, version, .. }) => stamps[*number] = [version, size],
                Err(error) if error.kind == Kind::Missing => {}
                Err(error) => return Err(self.store.failed(path, &error)),
            }
        }
        Ok(stamps)
    }
}
