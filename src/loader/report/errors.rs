//! How samples that cannot be used are counted and reported.

use crate::error::{Cause, Error};
use crate::image::Damage;
use serde::{Serialize, Serializer};
use std::fmt;

/// How a row of a batch came to be there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is the sample that the epoch's order names.
    #[default]
    Ok,
    /// It repeats a sample to fill the last batch up: leave it out of metrics.
    Padded,
    /// It stands in for a bad sample.
    Substituted {
        /// Index of the bad sample.
        for_index: u64,
    },
}

/// The part of the pipeline that a sample failed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Reading the compressed bytes.
    Read,
    /// Drawing parameters and making the plan.
    Plan,
    /// Parsing and decoding the file.
    Decode,
    /// Making the sample's pixels.
    Render,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Read => "read",
            Stage::Plan => "plan",
            Stage::Decode => "decode",
            Stage::Render => "render",
        })
    }
}

/// One sample that could not be used; for a partner's file, the partner is named.
#[derive(Debug)]
pub(in crate::loader) struct Failure {
    pub(in crate::loader) stage: Stage,
    pub(in crate::loader) key: String,
    pub(in crate::loader) index: u64,
    pub(in crate::loader) cause: Cause,
}

impl Failure {
    pub(in crate::loader) fn into_error(self) -> Error {
        Error::Sample { key: self.key, index: self.index, source: self.cause }
    }

    fn entry(&self) -> BadFile {
        BadFile { stage: self.stage, key: self.key.clone(), index: self.index, cause: self.cause.to_string() }
    }
}

/// A bad sample as the report lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BadFile {
    /// Where it failed.
    #[serde(serialize_with = "in_words")]
    pub stage: Stage,
    /// The sample's name.
    pub key: String,
    /// Its index in the source.
    pub index: u64,
    /// What is wrong with it.
    pub cause: String,
}

/// A file that is damaged and was decoded nonetheless, as the option `damaged` allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedFile {
    /// The sample's name.
    pub key: String,
    /// Its index in the source.
    pub index: u64,
    /// What is wrong with it: libjpeg's warning, where it gives one.
    #[serde(serialize_with = "in_words")]
    pub damage: Damage,
    /// How often it was decoded.
    pub times: u64,
}

/// A value as it is printed.
fn in_words<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// The bad samples of the batches delivered so far, and the damaged ones decoded so far, over all epochs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How often a bad sample was met; a file that is met in two epochs counts twice.
    pub failures: u64,
    /// The first [`Report::LONGEST`] different ones, in the order in which they were met.
    pub files: Vec<BadFile>,
    /// How often a damaged file was decoded nonetheless.
    pub damaged: u64,
    /// The first [`Report::LONGEST`] different ones, in the order in which they were decoded.
    pub damaged_files: Vec<DamagedFile>,
}

impl Report {
    /// Maximum number of files that are listed; the count goes on.
    pub const LONGEST: usize = 1000;

    pub(in crate::loader) fn add(&mut self, failure: &Failure) {
        self.failures += 1;
        let known = self.files.iter().any(|file| file.index == failure.index && file.stage == failure.stage);
        if !known && self.files.len() < Self::LONGEST {
            self.files.push(failure.entry());
        }
    }

    pub(in crate::loader) fn add_damaged(
        &mut self,
        index: u64,
        damage: Damage,
        key: impl FnOnce() -> String,
    ) {
        self.damaged += 1;
        if let Some(known) = self.damaged_files.iter_mut().find(|file| file.index == index) {
            known.times += 1;
        } else if self.damaged_files.len() < Self::LONGEST {
            self.damaged_files.push(DamagedFile { key: key(), index, damage, times: 1 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_listed_once_and_counted_each_time() {
        let mut report = Report::default();
        for index in [3, 5, 3, 3] {
            report.add_damaged(index, Damage::BadHuffmanCode, || format!("{index}.jpg"));
        }
        let times = |file: &DamagedFile| (file.index, file.key.clone(), file.times);
        let listed: Vec<_> = report.damaged_files.iter().map(times).collect();
        assert_eq!(listed, [(3, "3.jpg".to_owned(), 3), (5, "5.jpg".to_owned(), 1)]);
        assert_eq!(report.damaged, 4);
    }

    #[test]
    fn a_report_counts_everything_and_lists_each_file_once_up_to_its_bound() {
        let mut report = Report::default();
        for index in 0..1200 {
            for _ in 0..2 {
                let key = format!("{index}.jpg");
                report.add(&Failure { stage: Stage::Decode, key, index, cause: "cut short".into() });
            }
        }
        assert_eq!(report.failures, 2400);
        assert_eq!(report.files.len(), Report::LONGEST);
        assert_eq!(report.files[7].key, "7.jpg");
    }
}
