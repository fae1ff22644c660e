//! Locks on single bytes of a file, which belong to what was opened and not to the process: the kernel drops them with the last
//! descriptor, also of a process that is killed.

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use std::fs::File;
use std::io;

/// What is locked. The bytes hold something else: locks and contents know nothing of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Byte {
    /// Shared by all who use the file, and held alone by who makes it, begins it anew or removes it.
    Users = 0,
    /// Held while room is taken behind the end.
    End = 1,
}

/// How it is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    Shared,
    Alone,
    /// Not any more.
    Free,
}

/// Locks the byte, in place of how it was locked, if nobody else's lock is in the way.
///
/// # Errors
/// Those of the file system, which may know no such locks.
pub(super) fn try_lock(file: &File, byte: Byte, hold: Hold) -> io::Result<bool> {
    match fcntl(file, FcntlArg::F_OFD_SETLK(&described(byte, hold))) {
        Ok(_) => Ok(true),
        Err(nix::Error::EAGAIN | nix::Error::EACCES) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether anybody else's lock is on the byte; takes none.
pub(super) fn is_locked(file: &File, byte: Byte) -> io::Result<bool> {
    let mut found = described(byte, Hold::Alone);
    fcntl(file, FcntlArg::F_OFD_GETLK(&mut found))?;
    Ok(found.l_type != libc::F_UNLCK as libc::c_short)
}

fn described(byte: Byte, hold: Hold) -> libc::flock {
    let kind = match hold {
        Hold::Shared => libc::F_RDLCK,
        Hold::Alone => libc::F_WRLCK,
        Hold::Free => libc::F_UNLCK,
    };
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: byte as libc::off_t,
        l_len: 1,
        l_pid: 0,
    }
}
