//! The errors of the crate, grouped by what the caller can do about them.

use std::path::PathBuf;

/// The cause of a bad sample, from any stage.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// An error, grouped by what the caller can do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something this machine lacks: use the CPU, or follow the remedy.
    #[error("{what} is not available: {why}; {remedy}")]
    Unavailable {
        /// The missing thing.
        what: String,
        /// Why it cannot be used.
        why: String,
        /// What to do about it.
        remedy: String,
    },
    /// One sample is bad: skip it, substitute it, or repair the file.
    #[error("sample {index} ({key}): {source}")]
    Sample {
        /// The sample's name: its path, or its key in a shard.
        key: String,
        /// Its index in the source.
        index: u64,
        /// What is wrong with it.
        source: Cause,
    },
    /// The pipeline cannot work as configured: fix the configuration.
    #[error("{0}")]
    Config(String),
    /// A file or folder of the data set cannot be read.
    #[error("{path}: {source}; {remedy}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A bug in feedline or in a user's augmentation: a worker panicked. The loader has stopped.
    #[error("a worker panicked at sample {index} ({key}): {message}; this is a bug, please report it")]
    Panic {
        /// The sample's name.
        key: String,
        /// Its index in the source.
        index: u64,
        /// The panic's message.
        message: String,
    },
}

/// `Result` with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A configuration error in one line.
    pub fn config(message: impl Into<String>) -> Self {
        Error::Config(message.into())
    }

    /// Names the sample that `source` made bad.
    pub fn sample(key: impl Into<String>, index: u64, source: impl Into<Cause>) -> Self {
        Error::Sample { key: key.into(), index, source: source.into() }
    }

    /// An I/O error with the path and what to do.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error, remedy: &'static str) -> Self {
        Error::Io { path: path.into(), source, remedy }
    }
}

/// Returns an [`Error::Config`] with the formatted message, as the macro of this name in `anyhow`.
macro_rules! bail {
    ($($message:tt)+) => {
        return Err($crate::error::Error::config(format!($($message)+)))
    };
}

/// [`bail!`] unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        let holds: bool = $holds;
        if !holds {
            $crate::error::bail!($($message)+);
        }
    };
}

pub(crate) use {bail, ensure};
