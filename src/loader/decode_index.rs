//! The decode indexes of a loader: where they are kept, and when they are saved.

use crate::device::backend::KnownFiles;
use crate::error::{Result, bail};
use crate::image::{Damage, Index};
use crate::index::{self, DataSet, IndexMode, IndexStats, IndexStore};
use crate::loader::promises::{Promise, Promises};
use crate::loader::worker::process::Process;
use crate::plan::ImageRef;
use crate::source::Source;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A sidecar is written at an epoch's end only if at least this share of it would be new.
const WORTH_SAVING: f64 = 1.0 / 16.0;

/// How long whoever asks what is there waits for what was promised. A child that was forked waits in vain.
const PATIENCE: Duration = Duration::from_secs(1);
/// The same where it is written, which no child does.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// The indexes of all images that are known; all are empty where indexes are off.
#[derive(Default)]
pub(in crate::loader) struct DecodeIndexes {
    store: Option<IndexStore>,
    sidecar: Option<Sidecar>,
    promises: Promises,
}

struct Sidecar {
    path: PathBuf,
    set: DataSet,
    /// A child that was forked does not write the file of its parent.
    process: Process,
    /// What was last done with the file, in words; locked while it is written, so that two threads do not do the same work.
    status: Mutex<String>,
}

impl DecodeIndexes {
    /// Reads the sidecar, if `mode` names one that is there.
    pub(in crate::loader) fn new(mode: IndexMode, budget: usize, source: &dyn Source) -> Self {
        let store = IndexStore::new(budget);
        let path = match mode {
            IndexMode::Off => return Self::default(),
            IndexMode::Memory => return Self { store: Some(store), ..Self::default() },
            IndexMode::File(path) => path,
        };
        let set = DataSet::of((0..source.len()).map(|at| source.key(at)));
        let (Ok(status) | Err(status)) = index::load(&store, &path, set);
        let status = Mutex::new(format!("{} {status}", path.display()));
        let sidecar = Sidecar { path, set, process: Process::this(), status };
        Self { store: Some(store), sidecar: Some(sidecar), ..Self::default() }
    }

    /// To be kept until what is to be learned of these images of a batch that is out has been learned.
    pub(in crate::loader) fn promise(&self, source: &dyn Source, images: &[u64]) -> Promise<'_> {
        let records = images.iter().map(|&image| source.record(image as usize) as u64);
        self.promises.make(records.collect())
    }

    /// Puts into `indexes` what is known of these images; leaves it without any where indexes are off.
    pub(in crate::loader) fn fetch(
        &self,
        source: &dyn Source,
        images: &[ImageRef],
        indexes: &mut Vec<Index>,
    ) {
        let Some(store) = &self.store else { return };
        indexes.resize_with(images.len(), Index::default);
        for (image, index) in images.iter().zip(indexes) {
            if !image.modality.is_image() {
                *index = Index::default();
                continue;
            }
            let record = source.record(image.index as usize) as u64;
            self.promises.wait_for(record, PATIENCE);
            store.fetch(record, index);
        }
    }

    /// Keeps what a decode noted.
    pub(in crate::loader) fn keep(&self, source: &dyn Source, images: &[ImageRef], indexes: &[Index]) {
        let Some(store) = &self.store else { return };
        for (image, index) in images.iter().zip(indexes).filter(|(image, _)| image.modality.is_image()) {
            store.keep(source.record(image.index as usize) as u64, index);
        }
    }

    /// The same for a backend that decodes whole batches, and tells `note_damage` which images are damaged.
    pub(in crate::loader) fn of<'a>(
        &'a self,
        source: &'a dyn Source,
        note_damage: &'a dyn Fn(u64, Damage),
    ) -> impl KnownFiles {
        OfSource { indexes: self, source, note_damage }
    }

    /// Writes the sidecar, if there is one.
    pub(in crate::loader) fn save(&self) -> Result<()> {
        let (Some(store), Some(sidecar)) = (&self.store, &self.sidecar) else {
            bail!("there is no decode index to save: set decode_index(IndexMode::File(path))");
        };
        sidecar.process.check()?;
        self.promises.wait(LONG_PATIENCE);
        let mut status = sidecar.status.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = index::save(store, &sidecar.path, sidecar.set);
        *status = match &saved {
            Ok(()) => {
                format!("{} holds the indexes of {} images", sidecar.path.display(), store.stats().images)
            }
            Err(error) => format!("was not saved: {error}"),
        };
        saved
    }

    /// Writes the sidecar where at least `share` of it would be new; how that went is in the statistics.
    fn save_if(&self, share: f64) {
        let (Some(store), Some(_)) = (&self.store, &self.sidecar) else { return };
        self.promises.wait(PATIENCE);
        if store.unsaved_share() >= share {
            drop(self.save());
        }
    }

    /// To be called when an epoch has ended.
    pub(in crate::loader) fn save_at_epoch_end(&self) {
        self.save_if(WORTH_SAVING);
    }

    /// To be called when no worker is left.
    pub(in crate::loader) fn save_at_last(&self) {
        self.save_if(f64::MIN_POSITIVE);
    }

    pub(in crate::loader) fn stats(&self) -> IndexStats {
        let status =
            |sidecar: &Sidecar| sidecar.status.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.promises.wait(PATIENCE);
        let stats = self.store.as_ref().map(IndexStore::stats).unwrap_or_default();
        IndexStats { sidecar: self.sidecar.as_ref().map(status), ..stats }
    }
}

/// What is known of the images of a source.
struct OfSource<'a> {
    indexes: &'a DecodeIndexes,
    source: &'a dyn Source,
    note_damage: &'a dyn Fn(u64, Damage),
}

impl KnownFiles for OfSource<'_> {
    fn fetch(&self, image: u64, index: &mut Index) -> bool {
        let Some(store) = &self.indexes.store else { return false };
        let record = self.source.record(image as usize) as u64;
        self.indexes.promises.wait_for(record, PATIENCE);
        store.fetch(record, index);
        true
    }

    fn learn(&self, image: u64, index: &Index) {
        let Some(store) = &self.indexes.store else { return };
        store.keep(self.source.record(image as usize) as u64, index);
    }

    fn note_damage(&self, image: u64, damage: Damage) {
        (self.note_damage)(image, damage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Memory;

    #[test]
    fn whoever_asks_what_is_known_waits_for_what_was_promised() {
        let source = Memory::new(Vec::new());
        let indexes = DecodeIndexes::new(IndexMode::Memory, 1 << 20, &source);
        let promise = indexes.promise(&source, &[]);
        let mut index = Index::default();
        index.note_stale();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                indexes.store.as_ref().unwrap().keep(0, &index);
                drop(promise);
            });
            assert_eq!(indexes.stats().stale, 1);
        });
    }

    #[test]
    fn a_child_that_was_forked_leaves_the_file_to_its_parent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sidecar");
        let mode = IndexMode::File(path.clone());
        let mut indexes = DecodeIndexes::new(mode, 1 << 20, &Memory::new(Vec::new()));
        indexes.save().unwrap();
        std::fs::remove_file(&path).unwrap();
        indexes.sidecar.as_mut().unwrap().process = Process::parent();
        assert!(indexes.save().unwrap_err().to_string().contains("made in process"));
        assert!(!path.exists());
    }
}
