//! Finds out what kind of data set a URL names: archives, a list, labelled objects, or images in directories.

use super::client::Object;
use super::contents::Contents;
use super::records::Records;
use super::store::Store;
use super::tree::{Known, StoreTree};
use super::{RemoteOptions, below, folder_of, is_ending};
use crate::error::{Error, Result, bail, ensure};
use crate::options::Kind;
use crate::source::classes::{Classes, RecordClasses};
use crate::source::folder::{EXTENSIONS, is_image_name};
use crate::source::list::TABLES;
use crate::source::packed::holds::MANIFEST;
use crate::source::paths::Wanted;
use crate::source::shards::{Shards, table};
use crate::source::yolo::DATA_YAML;
use object_store::path::Path;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path as FilePath;
use twox_hash::XxHash3_64;

/// What a data set is looked for with.
pub(super) struct Layout<'a> {
    pub(super) store: &'a Store,
    pub(super) how: &'a RemoteOptions,
    /// What a user may want to know, a sentence each.
    pub(super) notes: Vec<String>,
}

/// What a listing told of the folder of archives.
pub(super) struct Listed {
    pub(super) prefix: Path,
    /// The tables there.
    pub(super) tables: BTreeSet<String>,
    /// Whether there is a manifest.
    pub(super) has_manifest: bool,
}

/// The objects below a prefix, by what they may be of a data set.
#[derive(Default)]
struct Listing {
    shards: Vec<Object>,
    tables: BTreeSet<String>,
    has_manifest: bool,
    images: Vec<Object>,
    others: Vec<Object>,
    is_yolo: bool,
}

impl Layout<'_> {
    /// The records of the data set at the store's address.
    pub(super) fn find(&mut self) -> Result<(Records, Contents)> {
        let path = self.store.client.address.path.clone();
        let name = path.filename().unwrap_or_default().to_lowercase();
        let is_list = name.ends_with(".txt") || is_ending(&name, &TABLES);
        let looks = match () {
            () if is_archive(&name) => Some(Kind::Tar),
            () if is_list => Some(Kind::List),
            () if is_ending(&name, &["yaml", "yml"]) => Some(Kind::Yolo),
            () => None,
        };
        match self.how.kind.or(looks) {
            Some(Kind::Tar) if is_archive(&name) => {
                let archive =
                    self.store.client.head(&path).map_err(|error| self.store.failed(&path, &error))?;
                let archives = self.of_split(&path, vec![archive])?;
                self.archives(archives, None)
            }
            Some(Kind::List) => self.list(&path),
            Some(Kind::Tar) if is_list => self.list(&path),
            Some(Kind::Yolo) => self.yolo(&path, Known::default()),
            None | Some(Kind::Folder | Kind::Tar) if self.store.client.address.lists() => self.listing(&path),
            None | Some(Kind::Folder | Kind::Tar) => bail!(
                "{}: an HTTP server cannot say what it holds: name an archive (.tar), a list of images (.txt, .csv, .jsonl), a \
                 data.yaml, or COCO annotations (.json)",
                self.store.shown(&path)
            ),
            Some(other) => bail!(
                "{}: {} cannot be read from a URL: copy the data to a disk, or convert them to tar files",
                self.store.shown(&path),
                other.description()
            ),
        }
    }

    /// All objects below a prefix.
    fn listing(&mut self, prefix: &Path) -> Result<(Records, Contents)> {
        let base = below(prefix);
        let mut listing = Listing::default();
        let (mut has_images, mut has_labels) = (false, false);
        let mut take = |object: Object| {
            let Some(key) = object.path.as_ref().strip_prefix(&base) else { return };
            let direct = !key.contains('/');
            has_images |= key.starts_with("images/");
            has_labels |= key.starts_with("labels/");
            listing.is_yolo |= DATA_YAML.contains(&key);
            listing.has_manifest |= key == MANIFEST;
            if direct && is_archive(key) {
                listing.shards.push(object);
            } else if direct && key.ends_with(table::ENDING) {
                listing.tables.insert(object.path.as_ref().to_owned());
            } else if is_image_name(OsStr::new(key)) {
                listing.images.push(object);
            } else {
                listing.others.push(object);
            }
        };
        self.store.client.list(prefix, &mut take).map_err(|error| self.store.failed(prefix, &error))?;
        listing.is_yolo |= has_images && has_labels;
        let Listing { mut shards, tables, has_manifest, images, others, is_yolo } = listing;
        if !shards.is_empty() && self.how.kind != Some(Kind::Folder) {
            shards.sort_by(|a, b| a.path.cmp(&b.path));
            let shards = self.of_split(prefix, shards)?;
            return self.archives(shards, Some(&Listed { prefix: prefix.clone(), tables, has_manifest }));
        }
        if is_yolo && self.how.kind != Some(Kind::Folder) && !self.how.flat {
            let all = images.into_iter().chain(others);
            return self.yolo(prefix, Known::of(&base, all));
        }
        self.folder(prefix, &base, images)
    }

    /// The archives of the split that is wanted, of those that were found at `path`.
    fn of_split(&self, path: &Path, archives: Vec<Object>) -> Result<Vec<Object>> {
        let wanted = Wanted {
            what: "tar files (.tar)",
            is_one: |name| name.ends_with(".tar"),
            split: self.how.split.as_deref(),
        };
        wanted.of_split(&self.store.shown(path), archives, |archive| FilePath::new(archive.path.as_ref()))
    }

    /// Images in directories, or without any.
    fn folder(&mut self, prefix: &Path, base: &str, mut images: Vec<Object>) -> Result<(Records, Contents)> {
        let shown = self.store.shown(prefix);
        ensure!(
            !images.is_empty() && self.how.kind != Some(Kind::Tar),
            "{shown} holds neither tar files nor images (files must end in .tar or one of {}): check bucket and prefix",
            EXTENSIONS.join(" ")
        );
        let key = |image: &Object| image.path.as_ref()[base.len()..].to_owned();
        // The order of a local folder: by class, then by directory, then by name.
        match self.how.flat {
            true => images.sort_by_cached_key(|image| directory_first(&key(image))),
            false => images.sort_by_cached_key(|image| {
                let key = key(image);
                (key.split('/').next().unwrap_or_default().to_owned(), directory_first(&key))
            }),
        }
        let class_of = |key: &str| match self.how.flat {
            true => None,
            false => key.split_once('/').map(|(class, _)| class.to_owned()),
        };
        let names: BTreeSet<String> = images.iter().filter_map(|image| class_of(&key(image))).collect();
        let mut classes = Classes::default();
        classes.names = names.into_iter().collect();
        let mut records = Records::new(base.to_owned(), 0);
        let mut loose = 0;
        for image in &images {
            let key = key(image);
            let class = class_of(&key).and_then(|class| classes.names.binary_search(&class).ok());
            if class.is_none() && !classes.names.is_empty() {
                loose += 1;
                continue;
            }
            classes.push(class.map_or(RecordClasses::Nothing, |class| RecordClasses::One(class as i64)));
            records.push(&key, Some((image.size, image.version)));
        }
        classes.shrink();
        if loose > 0 {
            self.notes
                .push(format!("{loose} images directly below {shown} belong to no class and are left out"));
        }
        Ok((records, Contents::Folder(classes)))
    }

    /// A list of images with labels, or of archives.
    fn list(&mut self, path: &Path) -> Result<(Records, Contents)> {
        let shown = self.store.shown(path);
        let mut bytes = Vec::new();
        let got = self.store.client.get(path, None, None, &mut bytes);
        got.map_err(|error| self.store.failed(path, &error))?;
        let base = match &self.how.list.root {
            Some(root) => below(&self.store.client.address.path_of(&root.to_string_lossy(), "root")?),
            None => folder_of(path),
        };
        let (mut keys, mut archives) = (Vec::new(), Vec::new());
        let mut take = |name: &str| {
            let name = name.strip_prefix("./").unwrap_or(name);
            let path = Path::parse(format!("{base}{name}"))
                .map_err(|error| format!("{error}; write a path below the list's own folder"))?;
            if is_archive(name) {
                archives.push(path);
            }
            keys.push(name.to_owned());
            Ok(())
        };
        let how = match &self.how.fields {
            Some(fields) => self.how.list.clone().fields(fields.clone()),
            None => self.how.list.clone(),
        };
        let is_table = is_ending(&shown.to_lowercase(), &TABLES);
        let file = FilePath::new(&shown);
        // Those of archives in a plain list are members.
        let read = if is_table { how.clone() } else { how.clone().fields([]) };
        let rows = read.read(&bytes, file, &mut take)?;
        ensure!(!keys.is_empty(), "{shown} lists no object: write one path on each line");
        if self.how.kind != Some(Kind::List) && keys.len() == archives.len() {
            let mut shards = Vec::with_capacity(archives.len());
            for path in archives {
                shards.push(self.store.client.head(&path).map_err(|error| self.store.failed(&path, &error))?);
            }
            // A list that names archives of several splits wants all of them.
            if self.how.split.is_some() {
                shards = self.of_split(path, shards)?;
            }
            return self.archives(shards, None);
        }
        ensure!(
            self.how.kind != Some(Kind::Tar),
            "{shown} names other files than tar files: name archives alone in it, or leave kind out"
        );
        if !is_table {
            // Which refuses fields, if there are any.
            how.read(&bytes, file, &mut |_| Ok(()))?;
        }
        let mut records = Records::new(base, XxHash3_64::oneshot(&bytes));
        keys.iter().for_each(|key| records.push(key, None));
        Ok((records, Contents::List(rows)))
    }

    /// Images with objects in text files; `known` is what lies below `path`, where that was listed.
    fn yolo(&mut self, path: &Path, known: Known) -> Result<(Records, Contents)> {
        let tree = StoreTree::new(self.store, known);
        let mut how = self.how.yolo.clone();
        if let Some(split) = &self.how.split {
            how = how.split(split);
        }
        if let Some(root) = &how.root {
            let root = self.store.client.address.path_of(&root.to_string_lossy(), "root")?;
            how = how.root(root.as_ref());
        }
        let (root, images, labels) = how.read(&tree, FilePath::new(path.as_ref()))?;
        let keys = images.iter().map(|image| tree.key(image)).collect::<Option<Vec<String>>>();
        let keys = keys
            .ok_or_else(|| Error::config("an image lies outside of the store: mend the lists of images"))?;
        let root = tree.key(&root).unwrap_or_default();
        let root = if root.is_empty() { root } else { format!("{root}/") };
        let base = if keys.iter().all(|key| key.starts_with(&root)) { root } else { String::new() };
        let mut records = Records::new(base.clone(), hash(&keys));
        keys.iter().for_each(|key| records.push(&key[base.len()..], tree.known(key)));
        Ok((records, Contents::Yolo(labels)))
    }
}

/// What names stand for as the version of a list.
pub(super) fn hash(names: &[String]) -> u64 {
    XxHash3_64::oneshot(names.join("\n").as_bytes())
}

fn is_archive(name: &str) -> bool {
    Shards::is_archive(FilePath::new(name))
}

/// Directory and name, as a local folder is sorted.
fn directory_first(key: &str) -> (String, String) {
    let (directory, name) = key.rsplit_once('/').unwrap_or(("", key));
    (directory.to_owned(), name.to_owned())
}
