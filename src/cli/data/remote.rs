//! Data sets that `--data` names by a URL.

use crate::cli::options::ByteCount;
use feedline::source::Source;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a remote data set is opened; credentials come from the environment only.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct RemoteArguments {
    /// Keep what was fetched from a URL in this folder, for the next run
    #[arg(long, value_name = "DIR")]
    pub(crate) cache_dir: Option<PathBuf>,
    /// Most bytes in --cache-dir, as 200G [default: 64G]
    #[arg(long, value_name = "BYTES", requires = "cache_dir")]
    pub(crate) cache_bytes: Option<ByteCount>,
}

#[cfg(feature = "remote")]
pub(super) fn open(url: &Path, arguments: &RemoteArguments) -> anyhow::Result<Arc<dyn Source>> {
    use anyhow::Context;
    use feedline::source::Remote;
    use std::io::Write;

    let url = url.to_str().context("the URL is no text")?;
    let mut options = Remote::options();
    if let Some(folder) = &arguments.cache_dir {
        options = options.cache(folder, arguments.cache_bytes.map_or(64 << 30, |bytes| bytes.0));
    }
    let source = options.open(url)?;
    for note in source.notes() {
        // Standard error may be closed.
        let _ = writeln!(std::io::stderr(), "note: {note}");
    }
    Ok(Arc::new(source))
}

#[cfg(not(feature = "remote"))]
pub(super) fn open(url: &Path, _arguments: &RemoteArguments) -> anyhow::Result<Arc<dyn Source>> {
    Err(feedline::error::Error::Unavailable {
        what: url.display().to_string(),
        why: "this command was built without the feature `remote`".into(),
        remedy: "build it with `--features remote`, or copy the data here".into(),
    }
    .into())
}
