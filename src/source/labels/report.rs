//! What was found wrong with the labels of a data set, and what becomes of them.

use crate::error::Error;
use crate::policy::OnBadLabel;
use serde::{Deserialize, Serialize};

pub(in crate::source) use crate::options::BAD_LISTED;

/// How many bad labels an error quotes.
const QUOTED: usize = 3;

/// One label that cannot be right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadLabel {
    /// Its position: `FILE, line 3`, or `FILE, annotation 7 (image 4)`.
    pub place: String,
    /// What is wrong with it, and the remedy.
    pub cause: String,
}

impl std::fmt::Display for BadLabel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.cause)
    }
}

/// What opening a data set found in its labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LabelReport {
    /// Images of the source.
    pub images: u64,
    /// Images without an object, which train as background.
    pub backgrounds: u64,
    /// Objects of the source.
    pub objects: u64,
    /// Objects left out because the same image has the very same one already.
    pub duplicates: u64,
    /// Objects that reached beyond their image and were cut off at its edge.
    pub clipped: u64,
    /// Labels that cannot be right.
    pub bad_labels: u64,
    /// Images left out because of such labels.
    pub skipped_images: u64,
    /// The first of the bad labels, in order.
    pub bad: Vec<BadLabel>,
    /// How the cache served, as a sentence; `None` where none was asked for.
    pub cache: Option<String>,
}

impl LabelReport {
    /// Counts a bad label, and lists it among the first `listed`, or among those that an error quotes.
    pub(in crate::source) fn add_bad(
        &mut self,
        listed: usize,
        place: impl FnOnce() -> String,
        cause: String,
    ) {
        self.bad_labels += 1;
        if self.bad.len() < listed.max(QUOTED) {
            self.bad.push(BadLabel { place: place(), cause });
        }
    }

    /// The error that a strict opening ends with, if a label was bad.
    pub(in crate::source) fn refuse_bad(&self, on_bad_label: OnBadLabel) -> Result<(), Error> {
        if on_bad_label != OnBadLabel::Fail || self.bad_labels == 0 {
            return Ok(());
        }
        let quoted: Vec<String> = self.bad.iter().take(QUOTED).map(ToString::to_string).collect();
        let more = if self.bad_labels > quoted.len() as u64 { "; ..." } else { "" };
        Err(Error::config(format!(
            "{} bad {}: {}{more}; mend the labels, or leave them out (on_bad_label: skip_object or skip_image)",
            self.bad_labels,
            if self.bad_labels == 1 { "label" } else { "labels" },
            quoted.join("; "),
        )))
    }
}
