//! Files that change while they are read.

use crate::dataset::DataSet;
use crate::draw::Draw;
use crate::files;
use feedline::options::Kind;
use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Deed {
    /// Another one takes its name, as a tool does that writes whole files.
    Replace,
    Vanish,
    /// Its end is cut off.
    Shrink,
    /// Another content is written over it, in its place.
    Overwrite,
}

/// Some records change when the first batches have been delivered.
#[derive(Clone, Debug)]
pub(crate) struct Disturbance {
    pub(crate) deed: Deed,
    /// Records by their number in the data set.
    pub(crate) records: Vec<usize>,
    /// Ahead of which batch, counted from 1; 0 is between the opening of the data set and the epoch.
    pub(crate) batch: usize,
    /// What the records hold afterwards; nothing where they are gone.
    after: Vec<Option<Vec<u8>>>,
}

impl Disturbance {
    pub(crate) fn draw(seed: u64, data: &DataSet) -> Self {
        let draw = &mut Draw::new(seed, "disturbance");
        let deed = draw.pick(&[Deed::Replace, Deed::Replace, Deed::Vanish, Deed::Shrink, Deed::Overwrite]);
        let count = data.records.len();
        let mut records: Vec<usize> = match data.has_files() {
            true => (0..draw.between(1, 6)).map(|_| draw.below(count)).collect(),
            // All that lie in a file that changes.
            false => (0..count).collect(),
        };
        records.sort_unstable();
        records.dedup();
        let mut after = |&at: &usize| {
            let bytes = &data.records[at].bytes;
            match deed {
                Deed::Vanish => None,
                Deed::Shrink => Some(bytes[..bytes.len() / 2].to_vec()),
                Deed::Replace => Some(files::sound(draw, 60)),
                Deed::Overwrite => {
                    let mut other = files::sound(draw, 60);
                    other.resize(bytes.len(), 0);
                    Some(other)
                }
            }
        };
        let after = records.iter().map(&mut after).collect();
        Self { deed, batch: draw.below(5), after, records }
    }

    /// The data set as it is afterwards, for the oracle.
    pub(crate) fn afterwards(&self, data: &DataSet, folder: &Path) {
        let mut records = data.records.clone();
        for (&at, bytes) in self.records.iter().zip(&self.after) {
            records[at].bytes = bytes.clone().unwrap_or_default();
        }
        data.with(records).write(folder);
    }

    /// The indices of the records in the source, whose order is that of their paths.
    pub(crate) fn indices(&self) -> HashSet<u64> {
        self.records.iter().map(|&at| at as u64).collect()
    }

    /// Does it to the data set in `folder`; `afterwards` is the folder of the changed one.
    pub(crate) fn strike(&self, data: &DataSet, folder: &Path, afterwards: &Path) {
        if !data.has_files() {
            let pairs = data.containers(folder).into_iter().zip(data.containers(afterwards));
            pairs.for_each(|(file, other)| {
                self.strike_file(&file, &fs::read(other).expect("the other version"))
            });
            return;
        }
        for (&at, bytes) in self.records.iter().zip(&self.after) {
            self.strike_file(&folder.join(&data.records[at].path), bytes.as_deref().unwrap_or_default());
        }
    }

    fn strike_file(&self, file: &Path, other: &[u8]) {
        match self.deed {
            Deed::Vanish => fs::remove_file(file).expect("a file that is there"),
            Deed::Replace => {
                let beside = file.with_extension("new");
                fs::write(&beside, other).expect("room for the other version");
                fs::rename(&beside, file).expect("the same file system");
            }
            Deed::Shrink => {
                let opened = OpenOptions::new().write(true).open(file).expect("a file that is there");
                let length = opened.metadata().expect("a length").len();
                opened.set_len(length / 2).expect("a shorter file");
            }
            Deed::Overwrite => {
                let mut opened = OpenOptions::new().write(true).open(file).expect("a file that is there");
                opened.seek(SeekFrom::Start(0)).and_then(|_| opened.write_all(other)).expect("room");
            }
        }
    }

    /// Whether a record may be read half in one version and half in the other, with nothing that tells: where it is written
    /// over in its place. TFRecord has checksums.
    pub(crate) fn tears(&self, data: &DataSet) -> bool {
        self.deed == Deed::Overwrite && data.kind != Kind::TfRecord
    }
}
