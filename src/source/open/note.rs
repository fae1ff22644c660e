//! What a user should know of data that were opened.

use std::fmt;
use std::path::PathBuf;

/// What was met when data were opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Nobody said what the data are, and their name alone does not say it either.
    TakenFor {
        /// The data.
        path: PathBuf,
        /// What they are taken for, and what was found in them.
        what: String,
    },
    /// Images beside the class directories, which belong to no class and are left out, as by torchvision.
    LooseImages {
        /// The data.
        path: PathBuf,
        /// How many.
        images: usize,
    },
    /// Labels that cannot be right were left out, as `on_bad_label` says.
    BadLabels {
        /// How many.
        labels: u64,
        /// Images that were left out with them.
        images: u64,
        /// The first of them, and what is wrong with it.
        first: String,
    },
    /// How the label cache served.
    LabelCache(String),
    /// What a remote store said.
    Remote(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::TakenFor { path, what } => {
                write!(f, "{} is taken for {what}; the option kind decides otherwise", path.display())
            }
            Note::LooseImages { path, images } => write!(
                f,
                "{images} images directly in {} belong to no class and are left out: move them into a class directory",
                path.display()
            ),
            Note::BadLabels { labels, images, first } => {
                write!(f, "{labels} bad labels are left out, and {images} images; the first is {first}")
            }
            Note::LabelCache(what) | Note::Remote(what) => f.write_str(what),
        }
    }
}
