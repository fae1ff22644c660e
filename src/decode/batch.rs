//! Many files on several threads.

use super::settings::Settings;
use super::{ImageError, PixelsMut, RgbImage, Written, decode, decode_into};
use crate::loader::{cores, spread};
use crate::regular_file;
use std::io;
use std::path::Path;

/// Threads that one call starts at most.
const MAX_THREADS: usize = 512;

/// Decodes files that are in memory, on `threads` threads or on as many as there are cores. The results are in the order of
/// the files, one for each.
///
/// The threads are started for the call and end with it, so that it works in a forked process as well.
pub fn decode_batch<B: AsRef<[u8]> + Sync>(
    files: &[B],
    settings: &Settings,
    threads: Option<usize>,
) -> Vec<Result<RgbImage, ImageError>> {
    let work = |file: &B| decode(file.as_ref(), settings);
    spread(files.iter().collect(), count(threads), work, &mut || true).unwrap_or_default()
}

/// A file of a batch, and the caller's memory that its pixels go to.
pub struct Job<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// What it is decoded to.
    pub settings: Settings,
    /// Where its pixels go: as for [`decode_into`].
    pub out: PixelsMut<'a>,
}

/// Does each job as [`decode_into`], on `threads` threads, of which the caller's is one, or on as many as there are cores.
/// The results are in the order of the jobs.
///
/// `go_on` is asked on the caller's thread before each job that is done there, and once all are begun. When it says no,
/// those that are begun are finished, and there is no result.
pub fn decode_batch_into(
    jobs: Vec<Job<'_>>,
    threads: Option<usize>,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<Result<Written, ImageError>>> {
    spread(jobs, count(threads), |Job { bytes, settings, out }| decode_into(bytes, &settings, out), go_on)
}

/// Reads files as [`decode_batch_into`] decodes them: in order, on several threads, and as long as `go_on` says so.
pub fn read_batch(
    paths: &[&Path],
    threads: Option<usize>,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<io::Result<Vec<u8>>>> {
    spread(paths.to_vec(), count(threads), regular_file::read, go_on)
}

fn count(threads: Option<usize>) -> usize {
    threads.unwrap_or_else(cores).clamp(1, MAX_THREADS)
}
