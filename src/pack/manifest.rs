//! The folder of shards, and its manifest.

use super::holds;
use super::settings::Settings;
use super::shard::{Shard, ShardWriter, sha256_of};
use crate::atomic_file::replace_file;
use crate::error::{Error, Result, ensure};
use crate::loader::fingerprint;
use crate::regular_file;
use crate::source::Source;
use crate::source::packed::holds::{Holds, MANIFEST, MANIFEST_KIND, MANIFEST_VERSION};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Locked by the process that writes to the folder; the system releases the lock however the process ends, once no child that was
/// forked in between is left.
const LOCK: &str = ".feedline-pack.lock";
/// The name of the shard being written, which no reader takes for a shard.
const BESIDE: &str = ".unfinished-shard";
const DISK: &str =
    "free the disk or make the folder writable, and run the same again: it goes on where it was";

/// The contents of a folder of shards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always `feedline shards`, which distinguishes the file from others.
    pub kind: String,
    /// The version of the file's layout: 2, or 1 where it says nothing of what shards hold.
    pub version: u32,
    /// The settings of the shards.
    pub settings: Settings,
    /// A fingerprint of the source's keys and labels, in hexadecimal digits.
    pub source: String,
    /// Records in all shards.
    pub records: usize,
    /// Names of the classes in the order of their indices; empty if the source had none.
    pub classes: Vec<String>,
    /// What the shards hold beside images and classes.
    #[serde(default)]
    pub holds: Holds,
    /// The shards in order.
    pub shards: Vec<Shard>,
    /// Records that were left out.
    pub skipped: Vec<Skipped>,
    /// Whether the whole source is packed.
    pub complete: bool,
}

/// A record that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its index in the source.
    pub index: usize,
    /// Its key.
    pub key: String,
    /// What is wrong with it.
    pub cause: String,
}

impl Manifest {
    /// The manifest of the folder `folder`; `None` if it has none.
    ///
    /// # Errors
    /// A manifest that cannot be read, is damaged, or has a later version.
    pub fn read(folder: impl AsRef<Path>) -> Result<Option<Self>> {
        let path = folder.as_ref().join(MANIFEST);
        let text = match regular_file::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path, error, "make it readable")),
        };
        let refuse = |why: &str| {
            let remedy = "give another folder, or remove the file if the shards are not wanted";
            Error::config(format!("{}: {why}: {remedy}", path.display()))
        };
        let manifest: Self = serde_json::from_slice(&text)
            .map_err(|error| refuse(&format!("it is no manifest of shards ({error})")))?;
        match (manifest.kind.as_str(), manifest.version) {
            (MANIFEST_KIND, 1..=MANIFEST_VERSION) => Ok(Some(manifest)),
            (MANIFEST_KIND, later) => {
                Err(refuse(&format!("it has version {later}, and {MANIFEST_VERSION} is known")))
            }
            _ => Err(refuse("it is no manifest of shards")),
        }
    }

    /// Reads every shard in `folder` and compares it with its checksum; returns one line per problem.
    ///
    /// # Errors
    /// A shard that exists and cannot be read.
    pub fn verify(&self, folder: impl AsRef<Path>) -> Result<Vec<String>> {
        let mut wrong = Vec::new();
        for shard in &self.shards {
            let path = folder.as_ref().join(&shard.name);
            match sha256_of(&path) {
                Ok(sum) if sum == shard.sha256 => {}
                Ok(_) => wrong.push(format!("{}: its bytes are not those that were written", shard.name)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    wrong.push(format!("{}: it is gone", shard.name));
                }
                Err(error) => return Err(Error::io(path, error, "make it readable")),
            }
        }
        Ok(wrong)
    }

    /// The index in the source of the first record that is not packed.
    pub(super) fn next(&self) -> usize {
        self.shards.last().map_or(0, |shard| shard.end)
    }
}

/// What is no file stands at the path of one that packing writes.
fn not_ours(place: PathBuf, error: io::Error) -> Error {
    Error::io(place, error, "remove it, or name another folder")
}

/// A folder that only this process writes to.
pub(super) struct Folder {
    path: PathBuf,
    /// Locked until the folder is dropped.
    lock: File,
    /// The process that took the lock.
    process: u32,
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error| Error::io(path, error, "name a folder that can be made and written to");
        fs::create_dir_all(path).map_err(failed)?;
        let place = path.join(LOCK);
        let lock = regular_file::create(&place).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => not_ours(place, error),
            _ => failed(error),
        })?;
        match lock.try_lock() {
            Ok(()) => {
                let folder = Self { path: path.to_owned(), lock, process: std::process::id() };
                folder.remove_half_manifests().map_err(failed)?;
                Ok(folder)
            }
            Err(TryLockError::WouldBlock) => Err(Error::config(format!(
                "another run is packing into {}: wait for it, or give another folder",
                path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Removes what a run left of a manifest that was killed while it wrote it. Nobody else writes here.
    fn remove_half_manifests(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let rest = name.strip_prefix(MANIFEST).and_then(|rest| rest.strip_suffix(".tmp"));
            if rest.is_some_and(|rest| rest.starts_with('.')) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// The manifest of an earlier run, or a new one; an error in a folder with other shards.
    pub(super) fn begin(&self, source: &dyn Source, settings: &Settings) -> Result<Manifest> {
        ensure!(!source.is_empty(), "the source holds no record, so there is nothing to pack");
        if let Some(field) = source.fields().iter().find(|field| field.kind().is_picture()) {
            ensure!(
                settings.resize.is_none(),
                "{field} is {}, and pictures are packed as they are, so that they would no longer be as large as images that \
                 shrink: leave resize out",
                field.kind()
            );
        }
        let refuse = |why: &str| {
            Error::config(format!(
                "{} holds {why}: give another folder, or empty this one",
                self.path.display()
            ))
        };
        let fingerprint = fingerprint(source);
        let holds = holds::of(source, settings.format);
        match Manifest::read(&self.path)? {
            Some(old) if old.source != fingerprint => Err(refuse("shards of other data")),
            Some(old) if old.settings != *settings => {
                Err(refuse("shards that were made with other settings"))
            }
            Some(old) if old.classes != source.classes() => Err(refuse("shards with other names of classes")),
            Some(old) if !old.holds.are(&holds) => Err(refuse("shards with other fields, objects or masks")),
            Some(old) => match old.shards.iter().find(|shard| !self.has(shard)) {
                Some(shard) => Err(refuse(&format!("no whole {}, which its manifest names", shard.name))),
                None => Ok(old),
            },
            None if self.has_shards(settings).map_err(|error| self.unwritable(error))? => {
                Err(refuse("shards that no manifest names"))
            }
            None => {
                let manifest = Manifest {
                    kind: MANIFEST_KIND.to_owned(),
                    version: MANIFEST_VERSION,
                    settings: settings.clone(),
                    source: fingerprint,
                    records: 0,
                    classes: source.classes().to_vec(),
                    holds,
                    shards: Vec::new(),
                    skipped: Vec::new(),
                    complete: false,
                };
                // Before the first shard, so that a shard without a manifest is never our own.
                self.save(&manifest).map(|()| manifest)
            }
        }
    }

    fn has(&self, shard: &Shard) -> bool {
        fs::metadata(self.path.join(&shard.name)).is_ok_and(|about| about.len() == shard.bytes)
    }

    fn has_shards(&self, settings: &Settings) -> io::Result<bool> {
        for entry in fs::read_dir(&self.path)? {
            if entry?.path().extension().is_some_and(|ending| ending == settings.ending()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The shard to be written after those of `manifest`; it overwrites what a killed run left of it.
    pub(super) fn new_shard(&self) -> Result<ShardWriter> {
        let place = self.path.join(BESIDE);
        ShardWriter::create(&place).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput => not_ours(place, error),
            _ => self.unwritable(error),
        })
    }

    /// Removes what a failed run leaves of a shard, so that a full disk does not stay so.
    pub(super) fn remove_unfinished(&self) {
        let place = self.path.join(BESIDE);
        // What is no file was refused, and is not ours to remove.
        if fs::symlink_metadata(&place).is_ok_and(|about| about.is_file()) {
            // What cannot be removed is overwritten by the next run.
            drop(fs::remove_file(place));
        }
    }

    /// Renames a finished shard and adds it to the manifest; `end` is the index of the next record.
    pub(super) fn finish(&self, manifest: &mut Manifest, writer: ShardWriter, end: usize) -> Result<()> {
        let name = format!("shard-{:06}.{}", manifest.shards.len(), manifest.settings.ending());
        let shard = writer.finish(&manifest.settings, name, end).map_err(|error| self.unwritable(error))?;
        fs::rename(self.path.join(BESIDE), self.path.join(&shard.name))
            .and_then(|()| self.sync())
            .map_err(|error| self.unwritable(error))?;
        manifest.records += shard.records;
        manifest.shards.push(shard);
        self.save(manifest)
    }

    pub(super) fn save(&self, manifest: &Manifest) -> Result<()> {
        let write = |mut file: File| {
            serde_json::to_writer_pretty(&mut file, manifest)?;
            file.write_all(b"\n").map(|()| file)
        };
        replace_file(&self.path.join(MANIFEST), write)
            .and_then(|()| self.sync())
            .map_err(|error| self.unwritable(error))
    }

    /// Waits until the directory entries are on the disk as well.
    fn sync(&self) -> io::Result<()> {
        match cfg!(unix) {
            true => File::open(&self.path)?.sync_all(),
            false => Ok(()),
        }
    }

    pub(super) fn unwritable(&self, error: io::Error) -> Error {
        Error::io(&self.path, error, DISK)
    }
}

impl Drop for Folder {
    /// Closing alone does not free the folder while a child has the file, too: one that is just being started, or one that was
    /// forked and lives on. Such a child in its turn does not give back what its parent has.
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // What cannot be unlocked is freed when the last descriptor closes.
            drop(self.lock.unlock());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_free_when_its_run_ends_though_a_child_still_has_the_lock_file() {
        let dir = tempfile::tempdir().unwrap();
        let first = Folder::open(dir.path()).unwrap();
        let of_child = first.lock.try_clone().unwrap();
        let refused = Folder::open(dir.path()).err().unwrap();
        assert!(refused.to_string().contains("another run is packing into"), "{refused}");
        drop(first);
        drop(Folder::open(dir.path()).unwrap());
        drop(of_child);
    }

    #[test]
    fn a_forked_child_leaves_the_lock_to_its_parent() {
        let dir = tempfile::tempdir().unwrap();
        let of_parent = Folder::open(dir.path()).unwrap();
        let of_child = Folder {
            path: of_parent.path.clone(),
            lock: of_parent.lock.try_clone().unwrap(),
            process: of_parent.process + 1,
        };
        drop(of_child);
        let refused = Folder::open(dir.path()).err().unwrap();
        assert!(refused.to_string().contains("another run is packing into"), "{refused}");
    }
}
