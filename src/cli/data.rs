//! The data set that a command works on: the one that the options name, or the photographs that come with the crate.

mod repeated;

pub(crate) use repeated::Repeated;

use super::words::shown;
use anyhow::Context;
use feedline::options::DataOptions;
use feedline::source::{self, Opened, Source, Storage, Throttled};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens what the options name, and says what the user should know of it.
pub(crate) fn open(options: &DataOptions) -> anyhow::Result<Arc<dyn Source>> {
    Ok(opened(options)?.source.into())
}

/// The same with what is known of the data besides.
pub(crate) fn opened(options: &DataOptions) -> anyhow::Result<Opened> {
    let mut options = options.clone();
    if options.path.is_none() && options.sets.is_none() {
        options.path = Some(bundled()?);
    }
    let opened = source::open(&options)?;
    opened.notes.iter().for_each(|found| note(&found.to_string()));
    Ok(opened)
}

/// A source as if it lay on other storage, where that is asked for.
pub(crate) fn as_on(source: Arc<dyn Source>, storage: Option<Storage>) -> Arc<dyn Source> {
    match storage {
        Some(storage) => Arc::new(Throttled::new(source, storage)),
        None => source,
    }
}

/// Says what the user should know, although the command goes on.
pub(crate) fn note(what: &str) {
    // Standard error may be closed, and what is wanted can be done anyway.
    let _ = writeln!(std::io::stderr(), "note: {}", shown(what));
}

/// The photographs in the crate's own tree, where it was built or where the command runs.
fn bundled() -> anyhow::Result<PathBuf> {
    let places = [Path::new(env!("CARGO_MANIFEST_DIR")).join("data/photos"), PathBuf::from("data/photos")];
    let [built, here] = places.each_ref().map(|place| place.display());
    let missing = format!(
        "the bundled photographs are in none of {built} and {here}: name a folder of images with --data"
    );
    places.iter().find(|place| place.is_dir()).cloned().context(missing)
}
