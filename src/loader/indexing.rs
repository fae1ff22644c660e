//! The decode indexes of a loader: where they are kept, and when they are saved.

use crate::error::{Error, Result};
use crate::image::Index;
use crate::index::{self, DataSet, IndexMode, IndexStats, IndexStore};
use crate::plan::Plan;
use crate::source::Source;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A sidecar is written at an epoch's end only if at least this share of it would be new.
const WORTH_SAVING: f64 = 1.0 / 16.0;

/// What workers ask for indexes; they are all empty where indexes are off.
pub(super) struct Indexing {
    store: Option<IndexStore>,
    sidecar: Option<Sidecar>,
}

struct Sidecar {
    path: PathBuf,
    set: DataSet,
    /// What became of the file last; locked while it is written, so that two threads do not do the same work.
    told: Mutex<String>,
}

impl Indexing {
    /// Reads the sidecar, if `mode` names one that is there.
    pub(super) fn new(mode: IndexMode, budget: usize, source: &dyn Source) -> Self {
        let store = IndexStore::new(budget);
        let path = match mode {
            IndexMode::Off => return Self { store: None, sidecar: None },
            IndexMode::Memory => return Self { store: Some(store), sidecar: None },
            IndexMode::File(path) => path,
        };
        let set = DataSet::of((0..source.len()).map(|at| source.key(at)));
        let (Ok(told) | Err(told)) = index::load(&store, &path, set);
        let told = Mutex::new(format!("{} {told}", path.display()));
        Self { store: Some(store), sidecar: Some(Sidecar { path, set, told }) }
    }

    /// Puts into `indexes` what is known of the plan's images; leaves it without any where indexes are off.
    pub(super) fn fetch(&self, plan: &Plan, indexes: &mut Vec<Index>) {
        let Some(store) = &self.store else { return };
        indexes.resize_with(plan.images.len(), Index::default);
        for (image, index) in plan.images.iter().zip(indexes) {
            store.fetch(image.index, index);
        }
    }

    /// Keeps what a decode noted.
    pub(super) fn keep(&self, plan: &Plan, indexes: &[Index]) {
        let Some(store) = &self.store else { return };
        for (image, index) in plan.images.iter().zip(indexes) {
            store.keep(image.index, index);
        }
    }

    /// Writes the sidecar, if there is one.
    pub(super) fn save(&self) -> Result<()> {
        let (Some(store), Some(sidecar)) = (&self.store, &self.sidecar) else {
            return Err(Error::config(
                "there is no decode index to save: set decode_index(IndexMode::File(path))",
            ));
        };
        let mut told = sidecar.told.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = index::save(store, &sidecar.path, sidecar.set);
        *told = match &saved {
            Ok(()) => {
                format!("{} holds the indexes of {} images", sidecar.path.display(), store.stats().images)
            }
            Err(error) => format!("was not saved: {error}"),
        };
        saved
    }

    /// Writes the sidecar where at least `share` of it would be new; how that went is in the statistics.
    fn save_if(&self, share: f64) {
        if self.sidecar.is_some() && self.store.as_ref().is_some_and(|store| store.unsaved_share() >= share) {
            drop(self.save());
        }
    }

    /// To be called when an epoch has ended.
    pub(super) fn save_at_epoch_end(&self) {
        self.save_if(WORTH_SAVING);
    }

    /// To be called when no worker is left.
    pub(super) fn save_at_last(&self) {
        self.save_if(f64::MIN_POSITIVE);
    }

    pub(super) fn stats(&self) -> IndexStats {
        let told = |sidecar: &Sidecar| sidecar.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stats = self.store.as_ref().map(IndexStore::stats).unwrap_or_default();
        IndexStats { sidecar: self.sidecar.as_ref().map(told), ..stats }
    }
}
