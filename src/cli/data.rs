//! The data set that a command works on: a folder, tar files, a list of files, or the photographs that come with the crate.

use anyhow::bail;
use feedline::error::Result;
use feedline::label::Label;
use feedline::source::{Folder, List, Shards, Source};
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens what `--data` names: a folder with or without class directories, tar files, or a text
/// file that lists images.
pub(crate) fn open(data: Option<&Path>) -> anyhow::Result<Arc<dyn Source>> {
    let path = data.map_or_else(bundled, |path| Ok(path.to_owned()))?;
    if path.is_file() && Shards::is_archive(&path) {
        return Ok(Arc::new(Shards::open([&path])?));
    }
    if path.is_file() {
        return Ok(Arc::new(List::open(path)?));
    }
    if Shards::are_in(&path) {
        return Ok(Arc::new(Shards::folder(&path)?));
    }
    let folder = Folder::open_any(&path)?;
    if folder.loose_images() > 0 {
        // As torchvision does, but not in silence; standard error may be closed, and the data set is usable anyway.
        let _ = writeln!(
            std::io::stderr(),
            "note: {} images directly in {} belong to no class and are left out: move them into a class directory",
            folder.loose_images(),
            path.display()
        );
    }
    Ok(Arc::new(folder))
}

/// The photographs in the crate's own tree, where it was built or where the command runs.
fn bundled() -> anyhow::Result<PathBuf> {
    let places = [Path::new(env!("CARGO_MANIFEST_DIR")).join("data/photos"), PathBuf::from("data/photos")];
    match places.iter().find(|place| place.is_dir()) {
        Some(place) => Ok(place.clone()),
        None => bail!(
            "the bundled photographs are in none of {} and {}: name a folder of images with --data",
            places[0].display(),
            places[1].display()
        ),
    }
}

/// A source over and over, until there are `samples` of them, so that a small data set makes one long epoch.
pub(crate) struct Repeated {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) samples: usize,
}

impl Repeated {
    fn own(&self, index: usize) -> usize {
        index % self.source.len().max(1)
    }
}

impl Source for Repeated {
    fn len(&self) -> usize {
        if self.source.is_empty() { 0 } else { self.samples }
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.source.read(self.own(index), bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.source.key(self.own(index))
    }

    fn label(&self, index: usize) -> Label {
        self.source.label(self.own(index))
    }

    fn classes(&self) -> &[String] {
        self.source.classes()
    }

    fn record(&self, index: usize) -> usize {
        self.source.record(self.own(index))
    }
}
