//! Opens regular files only: opening a pipe or a device could block for ever.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens the file at `path`, for reading. Links are followed.
///
/// # Errors
/// Those of the file system; [`io::ErrorKind::InvalidInput`] for a folder, a pipe, a socket or a device, which is not opened.
pub fn open(path: &Path) -> io::Result<File> {
    open_sized(path).map(|(file, _)| file)
}

/// The same, with the number of bytes that the file should have.
///
/// # Errors
/// Those of [`open`].
pub fn open_sized(path: &Path) -> io::Result<(File, u64)> {
    // Asked before opening, because opening alone makes some devices act.
    refuse_other(&fs::metadata(path)?)?;
    open_checked(path, File::options().read(true)).map(|(file, about)| (file, about.len()))
}

/// Opens the file at `path` for writing, empty; it is made if it is not there. Links are followed.
///
/// # Errors
/// Those of [`open`].
#[cfg(any(feature = "pack", test))]
pub(crate) fn create(path: &Path) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(about) => refuse_other(&about)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // Not emptied before it is known what it is.
    let (file, _) = open_checked(path, File::options().write(true).create(true).truncate(false))?;
    file.set_len(0)?;
    Ok(file)
}

/// Makes a file at `path`, where nothing may be.
///
/// # Errors
/// Those of the file system; [`io::ErrorKind::AlreadyExists`] where something is, a link that leads nowhere included.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).open(path)
}

/// Opens the file at `path` for reading and writing; it is made for this user alone if it is not there. Where the name may be
/// another user's work, links are not followed.
///
/// # Errors
/// Those of [`open`]; a link that is not followed.
#[cfg(target_os = "linux")]
pub(crate) fn open_to_share(path: &Path, follows_links: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    match fs::metadata(path) {
        Ok(about) => refuse_other(&about)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut how = File::options();
    how.read(true).write(true).create(true).truncate(false).mode(0o600);
    if follows_links {
        return open_checked(path, &mut how).map(|(file, _)| file);
    }
    open_without_links(path, &mut how)
}

/// Opens the file at `path` for reading and writing, unless it is a link.
///
/// # Errors
/// Those of [`open`]; a link.
#[cfg(target_os = "linux")]
pub(crate) fn open_unfollowed(path: &Path) -> io::Result<File> {
    refuse_other(&fs::symlink_metadata(path)?)?;
    open_without_links(path, File::options().read(true).write(true))
}

#[cfg(target_os = "linux")]
fn open_without_links(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    use nix::fcntl::OFlag;
    use std::os::unix::fs::OpenOptionsExt;
    let file = how.custom_flags((OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW).bits()).open(path)?;
    refuse_other(&file.metadata()?)?;
    wait_from_now_on(&file)?;
    Ok(file)
}

/// Opens the pipe or device at `path` for writing. A named pipe must have a reader.
///
/// # Errors
/// Those of the file system, and a named pipe that nobody reads.
pub(crate) fn open_pipe_or_device(path: &Path) -> io::Result<File> {
    let file = without_waiting(File::options().write(true)).open(path);
    let file = file.map_err(|error| if is_pipe(path) { without_reader(&error) } else { error })?;
    // Writes are to wait for a slow reader.
    wait_from_now_on(&file)?;
    Ok(file)
}

/// Opens what is at `path`, and refuses it if it is no regular file.
fn open_checked(path: &Path, how: &mut OpenOptions) -> io::Result<(File, Metadata)> {
    // What was asked about before may have been replaced since.
    let file = match without_waiting(how).open(path) {
        // So it is a file: another program has a lease on it, and has just been asked to give it back.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => waiting(how).open(path)?,
        opened => opened?,
    };
    let about = file.metadata()?;
    refuse_other(&about)?;
    // Few file systems heed it in reads of files, such as those that fetch them from tapes.
    wait_from_now_on(&file)?;
    Ok((file, about))
}

fn refuse_other(about: &Metadata) -> io::Result<()> {
    if about.is_file() {
        return Ok(());
    }
    let what = if about.is_dir() { "a folder" } else { "a pipe or a device" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what} and not a regular file")))
}

fn without_reader(error: &io::Error) -> io::Error {
    let what = "it is a pipe that nobody reads: start its reader first, or name a file";
    io::Error::new(error.kind(), what)
}

/// Lets opening a pipe fail or succeed at once.
#[cfg(unix)]
fn without_waiting(how: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    how.custom_flags(nix::fcntl::OFlag::O_NONBLOCK.bits())
}

/// Undoes [`without_waiting`].
#[cfg(unix)]
fn waiting(how: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    how.custom_flags(0)
}

#[cfg(not(unix))]
fn waiting(how: &mut OpenOptions) -> &mut OpenOptions {
    how
}

/// Paths of files lead to no pipes here.
#[cfg(not(unix))]
fn without_waiting(how: &mut OpenOptions) -> &mut OpenOptions {
    how
}

#[cfg(unix)]
fn wait_from_now_on(file: &File) -> io::Result<()> {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    // None of the other flags that can be set so was asked for.
    fcntl(file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(())
}

#[cfg(not(unix))]
fn wait_from_now_on(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// The content of the file at `path`.
///
/// # Errors
/// Those of [`open`] and of reading.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (open(path)?, Vec::new());
    file.read_to_end(&mut bytes).map(|_| bytes)
}

/// The content of the file at `path`, which must be UTF-8.
///
/// # Errors
/// Those of [`open`] and of reading; [`io::ErrorKind::InvalidData`] for other text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let (mut file, mut text) = (open(path)?, String::new());
    file.read_to_string(&mut text).map(|_| text)
}

#[cfg(test)]
mod tests;
