//! Files that are read from many places at once, and stay open between reads.

use super::file_version::FileVersion;
use crate::regular_file;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximal number of files kept open; systems allow a process about a thousand.
const MOST: usize = 64;

/// Which file of a list is open; a clone begins with none.
#[derive(Debug)]
pub(super) struct OpenFiles {
    /// File `number` is kept at `number % MOST`.
    slots: [Slot; MOST],
}

/// An open file with its number.
type Slot = Mutex<Option<(usize, Arc<File>)>>;

impl Default for OpenFiles {
    fn default() -> Self {
        Self { slots: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl Clone for OpenFiles {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl OpenFiles {
    /// File `number`, at `path`, which must still be in the `version` in which it was opened first, where that is known.
    pub(super) fn file(
        &self,
        number: usize,
        path: &Path,
        version: Option<FileVersion>,
    ) -> io::Result<Arc<File>> {
        let mut slot = self.slots[number % MOST].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = slot.as_ref().filter(|(kept, _)| *kept == number) {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(regular_file::open(path)?);
        version.map_or(Ok(()), |version| version.check(&file))?;
        *slot = Some((number, Arc::clone(&file)));
        Ok(file)
    }

    /// Closes file `number`, so that one that was replaced is opened anew.
    pub(super) fn forget(&self, number: usize) {
        let mut slot = self.slots[number % MOST].lock().unwrap_or_else(PoisonError::into_inner);
        slot.take_if(|(kept, _)| *kept == number);
    }
}
