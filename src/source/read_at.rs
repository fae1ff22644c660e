//! Reading a file from any offset, by many threads at once.

use std::fs::File;
use std::io;

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
