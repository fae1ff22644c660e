//! Finds out what kind of data set a URL names: archives, a list, or images in directories.

use super::cache_key;
use super::client::{Client, Object};
use super::ranged::{Ranged, WINDOW_BYTES};
use super::records::Records;
use super::request_error::{Kind, RequestError};
use crate::error::{Error, Result, bail, ensure};
use crate::source::classes::{Gathering, RecordClasses};
use crate::source::disk_cache::DiskCache;
use crate::source::folder::{EXTENSIONS, is_image_name};
use crate::source::list::text::parse;
use crate::source::shards::scan::{Found, WantedMembers, scan_in};
use crate::source::shards::{Shards, table};
use object_store::path::Path;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use twox_hash::XxHash3_64;

/// What a data set is looked for with.
pub(super) struct Layout<'a> {
    pub(super) client: &'a Client,
    pub(super) cache: Option<&'a DiskCache>,
    /// What a user may want to know, a sentence each.
    pub(super) notes: Vec<String>,
}

impl Layout<'_> {
    /// The records of the data set at the client's address.
    pub(super) fn find(&mut self) -> Result<Records> {
        let path = self.client.address.path.clone();
        let name = path.filename().unwrap_or_default().to_owned();
        let mut records = if is_archive(&name) {
            let archive = self.client.head(&path).map_err(|error| self.failed(&path, &error))?;
            self.archives(vec![archive], None)?
        } else if name.to_lowercase().ends_with(".txt") {
            self.list(&path)?
        } else if self.client.address.lists() {
            self.listing(&path)?
        } else {
            bail!(
                "{}: an HTTP server cannot say what it holds: name an archive (.tar) or a list of images (.txt)",
                self.client.address.shown(&path)
            );
        };
        records.shrink();
        Ok(records)
    }

    fn failed(&self, path: &Path, error: &RequestError) -> Error {
        Error::config(format!("{}: {error}", self.client.address.shown(path)))
    }

    /// All objects below a prefix.
    fn listing(&mut self, prefix: &Path) -> Result<Records> {
        let base = if prefix.as_ref().is_empty() { String::new() } else { format!("{prefix}/") };
        let (mut shards, mut tables, mut images) = (Vec::new(), BTreeSet::new(), Vec::new());
        let mut take = |object: Object| {
            let Some(key) = object.path.as_ref().strip_prefix(&base) else { return };
            let direct = !key.contains('/');
            if direct && is_archive(key) {
                shards.push(object);
            } else if direct && key.ends_with(table::ENDING) {
                tables.insert(object.path.as_ref().to_owned());
            } else if is_image_name(OsStr::new(key)) {
                images.push((key.to_owned(), object.size, object.version));
            }
        };
        self.client.list(prefix, &mut take).map_err(|error| self.failed(prefix, &error))?;
        if !shards.is_empty() {
            shards.sort_by(|a, b| a.path.cmp(&b.path));
            return self.archives(shards, Some(&tables));
        }
        let shown = self.client.address.shown(prefix);
        ensure!(
            !images.is_empty(),
            "{shown} holds neither tar files nor images (files must end in .tar or one of {}): check bucket and prefix",
            EXTENSIONS.join(" ")
        );
        // The order of a local folder: by class, then by directory, then by name.
        images.sort_by(|a, b| directory_first(&a.0).cmp(&directory_first(&b.0)));
        let class_of = |key: &str| key.split_once('/').map(|(class, _)| class.to_owned());
        let classes: Vec<String> = images
            .iter()
            .filter_map(|(key, ..)| class_of(key))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let mut records = Records::new(base, classes, None);
        let mut loose = 0;
        for (key, size, version) in &images {
            let class = class_of(key).and_then(|class| records.classes.names.binary_search(&class).ok());
            if class.is_none() && !records.classes.names.is_empty() {
                loose += 1;
                continue;
            }
            let class = class.map_or(RecordClasses::Nothing, |class| RecordClasses::One(class as i64));
            records.push(key, class, Some((*size, *version)));
        }
        if loose > 0 {
            self.notes
                .push(format!("{loose} images directly below {shown} belong to no class and are left out"));
        }
        Ok(records)
    }

    /// A list of images with labels, or of archives.
    fn list(&mut self, path: &Path) -> Result<Records> {
        let shown = self.client.address.shown(path);
        let mut bytes = Vec::new();
        self.client.get(path, None, None, &mut bytes).map_err(|error| self.failed(path, &error))?;
        let base =
            path.as_ref().rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"));
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        let (mut keys, mut labels) = (Vec::new(), Gathering::default());
        for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
            let at = |what: String| Error::config(format!("{shown}, line {number}: {what}"));
            let Some(row) = parse(line).map_err(at)? else { continue };
            let name = row.path.strip_prefix("./").unwrap_or(row.path);
            Path::parse(format!("{base}{name}"))
                .map_err(|error| at(format!("{error}; write a path below the list's own folder")))?;
            keys.push(name);
            labels.push(&row.label, || format!("line {number}")).map_err(at)?;
        }
        ensure!(!keys.is_empty(), "{shown} lists no object: write one path on each line");
        if keys.iter().all(|key| is_archive(key)) {
            let mut shards = Vec::with_capacity(keys.len());
            for key in keys {
                let path = Path::from_iter([base.as_str(), key].iter().flat_map(|part| part.split('/')));
                shards.push(self.client.head(&path).map_err(|error| self.failed(&path, &error))?);
            }
            return self.archives(shards, None);
        }
        let (classes, list) = (labels.finish(), Some(XxHash3_64::oneshot(&bytes)));
        let mut records = Records::new(base, classes.names.clone(), list);
        keys.iter().zip(classes.records()).for_each(|(key, class)| records.push(key, class, None));
        Ok(records)
    }

    /// The images of archives. Tables are read where they are: those in `tables`, or without it whatever answers.
    fn archives(&mut self, shards: Vec<Object>, tables: Option<&BTreeSet<String>>) -> Result<Records> {
        let mut records = Records::default();
        let mut found = self.known(&shards, tables);
        let mut walked = 0;
        for (archive, known) in shards.into_iter().zip(&mut found) {
            let images = match known.take() {
                Some(images) => images,
                None => {
                    walked += 1;
                    self.walk(&archive)?
                }
            };
            let name = archive.path.filename().unwrap_or_default().to_owned();
            for Found { path, offset, bytes, classes, .. } in images {
                records.push_part(&name, &path, classes, offset..offset + bytes);
            }
            records.end_archive(archive);
        }
        if walked > 0 {
            self.notes.push(format!(
                "{walked} archives have no table beside them, and their headers were read, {} kB at a time: \
                 `feedline index --tables` writes tables, to be put next to the archives",
                WINDOW_BYTES >> 10
            ));
        }
        ensure!(
            records.len() != 0,
            "{} was opened, and no image is in its archives: name archives that hold images (.jpg, .png, .webp)",
            self.client.address.shown(&self.client.address.path)
        );
        Ok(records)
    }

    /// The tables of the archives that have one, in the cache or beside them.
    fn known(&mut self, shards: &[Object], tables: Option<&BTreeSet<String>>) -> Vec<Option<Vec<Found>>> {
        let mut bytes = Vec::new();
        let mut cached = |archive: &Object| {
            let here = self.cache?.read(&self.table_key(archive), &mut bytes);
            here.then(|| table::read(&bytes, archive.size).ok()).flatten()
        };
        let mut found: Vec<Option<Vec<Found>>> = shards.iter().map(&mut cached).collect();
        let beside = |archive: &Object| Path::parse(format!("{}{}", archive.path, table::ENDING)).ok();
        let wanted: Vec<(usize, Path)> = (0..shards.len())
            .filter(|&number| found[number].is_none())
            .filter_map(|number| Some((number, beside(&shards[number])?)))
            .filter(|(_, path)| tables.is_none_or(|tables| tables.contains(path.as_ref())))
            .collect();
        let with_most =
            |(number, path): &(usize, Path)| (path.clone(), table::most_bytes(shards[*number].size));
        let paths: Vec<(Path, u64)> = wanted.iter().map(with_most).collect();
        for ((number, path), answer) in wanted.iter().zip(self.client.get_many(&paths)) {
            let archive = &shards[*number];
            let why = match answer {
                Ok(text) => match table::read(&text, archive.size) {
                    Ok(images) => {
                        if let Some(cache) = self.cache {
                            cache.write(&self.table_key(archive), &text);
                        }
                        found[*number] = Some(images);
                        continue;
                    }
                    Err(why) => why,
                },
                // Stores that may not be listed answer "forbidden" for objects that do not exist.
                Err(error) if tables.is_none() && matches!(error.kind, Kind::Missing | Kind::Denied) => {
                    continue;
                }
                Err(error) => error.to_string(),
            };
            self.notes.push(format!("{} was not used: {why}", self.client.address.shown(path)));
        }
        found
    }

    /// Reads all headers of an archive.
    fn walk(&self, archive: &Object) -> Result<Vec<Found>> {
        let shown = self.client.address.shown(&archive.path);
        let mut images = Vec::new();
        let (file, wanted) = (Ranged::new(self.client, archive), &mut WantedMembers::default());
        scan_in(std::path::Path::new(&shown), file, archive.size, wanted, &mut |found| images.push(found))?;
        if let Some(cache) = self.cache {
            cache.write(&self.table_key(archive), table::write(archive.size, &images).as_bytes());
        }
        Ok(images)
    }

    fn table_key(&self, archive: &Object) -> String {
        let url = self.client.address.shown(&archive.path);
        format!("table of {}", cache_key(&url, Some(archive.version), None))
    }
}

fn is_archive(name: &str) -> bool {
    Shards::is_archive(std::path::Path::new(name))
}

/// Class, directory and name, as a local folder is sorted.
fn directory_first(key: &str) -> (&str, &str, &str) {
    let class = key.split('/').next().unwrap_or_default();
    let (directory, name) = key.rsplit_once('/').unwrap_or(("", key));
    (class, directory, name)
}
