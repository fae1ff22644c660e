//! Files that are read from many places at once, and stay open between reads.

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
    /// File `number`, at `path`.
    pub(super) fn file(&self, number: usize, path: &Path) -> io::Result<Arc<File>> {
        let mut slot = self.slots[number % MOST].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, file)) = slot.as_ref().filter(|(kept, _)| *kept == number) {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(regular_file::open(path)?);
        *slot = Some((number, Arc::clone(&file)));
        Ok(file)
    }

    /// Closes file `number`, so that one that was replaced is opened anew.
    pub(super) fn forget(&self, number: usize) {
        let mut slot = self.slots[number % MOST].lock().unwrap_or_else(PoisonError::into_inner);
        slot.take_if(|(kept, _)| *kept == number);
    }
}

/// Fills `bytes` from `offset` on.
#[cfg(unix)]
pub(super) fn read_at(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

/// Fills `bytes` from `offset` on.
#[cfg(windows)]
pub(super) fn read_at(file: &File, mut offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => (offset, bytes) = (offset + read as u64, &mut bytes[read..]),
        }
    }
    Ok(())
}
