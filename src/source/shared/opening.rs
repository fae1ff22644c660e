//! Opens the file of a shared cache: makes it, begins it anew, or joins those who use it.

use super::file::{CacheFile, Known, date_as_used, is_at};
use super::found::is_cache;
use super::layout::{
    END_AT, END_BYTES, ENTRY_BYTES, Entry, HEAD_BYTES, Head, MAX_RECORDS, Of, end_to_bytes, entry_at,
    read_end,
};
use super::lock::{Byte, Hold, try_lock};
use super::places::Place;
use crate::error::{Error, Result, bail, ensure};
use crate::regular_file;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Duration, Instant};

/// How long another process may take to make the file or to begin it anew, which takes it milliseconds.
const WAIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);
/// How often in a row a head or an end that makes no sense is read again, with pauses, while others use the file: one that is just
/// being written may be read in half.
const TORN_TRIES: usize = 200;
/// Entries that are looked at together.
const TOGETHER: u64 = 4096;
/// A file is begun anew when more than this part of what is stored is of no use any more.
const MOST_DEAD: f64 = 0.5;
const REMEDY: &str = "name another file for the cache (cache_file), or leave cache out";

/// A file that is to be opened.
pub(super) struct Wanted {
    pub(super) place: Place,
    pub(super) of: Of,
    /// As the user gave it.
    pub(super) limit: Option<u64>,
}

/// What a file says of itself.
#[derive(Debug)]
pub(super) struct Found {
    limit: u64,
    end: u64,
}

/// What came of trying to use a file.
#[derive(Debug)]
pub(super) enum Attempt {
    /// It is locked for this process.
    Joined(Found),
    /// It is held by somebody who makes or removes it, or is not at its path any more: it has to be opened again.
    Held,
    /// Others use it, and its head or its end makes no sense.
    Torn,
}

impl Wanted {
    /// Opens the file, and locks it as one of its users.
    ///
    /// # Errors
    /// A file that cannot be opened, is none of feedline's, is somebody else's or is in use for something else; a limit below what
    /// the table of records takes; a file system without locks.
    pub(super) fn open(&self) -> Result<CacheFile> {
        let path = &self.place.path;
        let Some(start) = self.of.start() else {
            bail!(
                "a cache holds at most {MAX_RECORDS} records, and the data have {}: make a data set of fewer, or leave cache out",
                self.of.records
            );
        };
        let (until, mut torn) = (Instant::now() + WAIT, 0);
        loop {
            let opened = regular_file::open_to_share(path, !self.place.is_chosen);
            let file = opened.map_err(|error| Error::io(path, error, REMEDY))?;
            self.refuse_other_owner(&file)?;
            match self.join(&file, start)? {
                Attempt::Joined(found) => return Ok(self.used(file, start, found)),
                Attempt::Held => torn = 0,
                Attempt::Torn => torn += 1,
            }
            ensure!(
                torn < TORN_TRIES,
                "{} was damaged while other processes use it: end them, or {REMEDY}",
                path.display()
            );
            ensure!(
                Instant::now() < until,
                "{}: another process has held it for more than {} s without a sign: end that process, or {REMEDY}",
                path.display(),
                WAIT.as_secs()
            );
            std::thread::sleep(PAUSE);
        }
    }

    /// The file, which is locked.
    fn used(&self, file: File, start: u64, Found { limit, end }: Found) -> CacheFile {
        let (path, stays) = (&self.place.path, self.place.stays);
        if stays {
            // Now, since the process may be killed before it ends.
            date_as_used(&file);
        }
        // Where the path leads over links, it is what they lead to that is removed in the end.
        let whole = fs::canonicalize(path).ok().filter(|whole| is_at(&file, whole));
        let path = whole.unwrap_or_else(|| path.clone());
        let (process, records) = (std::process::id(), self.of.records);
        CacheFile::of(Known { file, path, stays, process, records, start, limit, end })
    }

    /// The owner of a file may write anything to it, and records are taken from there.
    fn refuse_other_owner(&self, file: &File) -> Result<()> {
        let (path, us) = (&self.place.path, nix::unistd::geteuid().as_raw());
        let owner = file.metadata().map_err(|error| Error::io(path, error, REMEDY))?.uid();
        ensure!(
            owner == us,
            "{} belongs to user {owner}, and this process to {us}: {REMEDY}",
            path.display()
        );
        Ok(())
    }

    /// Locks the file, unless somebody holds it.
    pub(super) fn join(&self, file: &File, start: u64) -> Result<Attempt> {
        let failed = |error| Error::io(&self.place.path, error, REMEDY);
        let lock = |hold| try_lock(file, Byte::Users, hold).map_err(|error| self.without_locks(error));
        if lock(Hold::Alone)? {
            if !is_at(file, &self.place.path) {
                return Ok(Attempt::Held);
            }
            let found = self.take_over(file, start)?;
            return Ok(if lock(Hold::Shared)? { Attempt::Joined(found) } else { Attempt::Held });
        }
        if !lock(Hold::Shared)? || !is_at(file, &self.place.path) {
            return Ok(Attempt::Held);
        }
        let head = read_head(file).map_err(failed)?.as_ref().and_then(Head::read);
        let (Some(Head { of, limit }), Some(end)) = (head, end_of(file)) else {
            return Ok(Attempt::Torn);
        };
        ensure!(
            of == self.of,
            "{} is in use by another process for other data or other options: end that process, or name another file for \
             this cache (cache_file)",
            self.place.path.display()
        );
        Ok(Attempt::Joined(Found { limit, end }))
    }

    /// Keeps what is in a file that nobody else uses, or begins it anew.
    fn take_over(&self, file: &File, start: u64) -> Result<Found> {
        let path = &self.place.path;
        let failed = |error| Error::io(path, error, REMEDY);
        let about = file.metadata().map_err(failed)?;
        let head = read_head(file).map_err(failed)?;
        ensure!(
            is_cache(file) || about.len() == 0 || self.place.is_chosen,
            "{} is no cache of feedline's, so nothing is stored there: name another file (cache_file), or remove it",
            path.display()
        );
        // What it holds already is not to be counted as taken from what is free.
        let usual = || self.place.usual_limit(about.blocks().saturating_mul(512));
        let head = head.as_ref().and_then(Head::read).filter(|head| head.of == self.of);
        // Room behind the end of the file was taken by those who died before they stored anything there.
        if let Some((head, end)) = head.zip(end_of(file).map(|end| end.min(about.len())))
            && self.limit.is_none_or(|limit| limit >= end)
            && is_worth_it(file, self.of, start, end)
        {
            let limit = self.limit.unwrap_or_else(|| usual().max(end));
            file.write_all_at(&end_to_bytes(end), END_AT).map_err(failed)?;
            file.write_all_at(&Head { limit, ..head }.to_bytes(), 0).map_err(failed)?;
            return Ok(Found { limit, end });
        }
        let limit = self.limit.unwrap_or_else(usual);
        ensure!(
            limit >= start,
            "a cache of {} records needs {start} bytes for their table, and the limit is {limit}: give more (cache_limit){}",
            self.of.records,
            self.place.remedy()
        );
        begin(file, Head { of: self.of, limit }, start, self.place.stays).map_err(failed)?;
        Ok(Found { limit, end: start })
    }

    fn without_locks(&self, error: io::Error) -> Error {
        Error::Unavailable {
            what: format!("a cache that processes share in {}", self.place.path.display()),
            why: format!("its file system has no locks of open files ({error})"),
            remedy: "name a file on another file system (cache_file), or use byte_cache".to_owned(),
        }
    }
}

/// Makes an empty cache of the file. The head comes first: wherever this ends, the file is empty or known for a cache, which
/// is begun anew as long as it has no end.
pub(super) fn begin(file: &File, head: Head, start: u64, stays: bool) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(&head.to_bytes(), 0)?;
    if stays {
        // A power failure could leave the file's length without what is in it.
        file.sync_data()?;
    }
    file.set_len(start)?;
    file.write_all_at(&end_to_bytes(start), END_AT)
}

/// The head's bytes, if the file has so many.
fn read_head(file: &File) -> io::Result<Option<[u8; HEAD_BYTES]>> {
    let mut bytes = [0; HEAD_BYTES];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn end_of(file: &File) -> Option<u64> {
    let mut bytes = [0; END_BYTES];
    file.read_exact_at(&mut bytes, END_AT).ok()?;
    read_end(&bytes)
}

/// Whether enough of what is stored can still be used. What entries do not name was stored anew elsewhere since, or never
/// completed by a process that was killed.
fn is_worth_it(file: &File, of: Of, start: u64, end: u64) -> bool {
    if end < start {
        return false;
    }
    let (mut live, mut buffer) = (0u64, vec![0; TOGETHER as usize * ENTRY_BYTES]);
    let mut first = 0;
    while first < of.records {
        let count = TOGETHER.min(of.records - first);
        let bytes = &mut buffer[..count as usize * ENTRY_BYTES];
        if file.read_exact_at(bytes, entry_at(first)).is_err() {
            return false;
        }
        for (entry, record) in bytes.as_chunks().0.iter().zip(first..) {
            if let Some(Entry { offset, length, .. }) = Entry::read(entry, record) {
                let is_inside = offset >= start && offset.saturating_add(length) <= end;
                live = live.saturating_add(if is_inside { length } else { 0 });
            }
        }
        first += count;
    }
    let all = end - start;
    all.saturating_sub(live) as f64 <= MOST_DEAD * all as f64
}
