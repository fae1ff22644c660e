//! Files that are read, and nothing else: a pipe or a device at a path could keep its reader waiting for ever.

use std::fs::{self, File};
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
    // Asked before opening, because opening a pipe would wait for its other end.
    let about = fs::metadata(path)?;
    if about.is_file() {
        return Ok((File::open(path)?, about.len()));
    }
    let what = if about.is_dir() { "a folder" } else { "a pipe or a device" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what} and not a regular file")))
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
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_with_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| {
            let [opened, bytes, text] =
                [open(path).map(drop), read(path).map(drop), read_text(path).map(drop)]
                    .map(Result::unwrap_err);
            assert_eq!((bytes.to_string(), text.to_string()), (opened.to_string(), opened.to_string()));
            opened
        };
        assert_eq!(refused(folder.path()).to_string(), "it is a folder and not a regular file");
        assert_eq!(refused(&folder.path().join("nothing")).kind(), io::ErrorKind::NotFound);
        #[cfg(unix)]
        assert_eq!(
            refused(Path::new("/dev/null")).to_string(),
            "it is a pipe or a device and not a regular file"
        );
        let file = folder.path().join("file");
        fs::write(&file, "content").unwrap();
        assert_eq!(
            (read(&file).unwrap(), read_text(&file).unwrap().as_str()),
            (b"content".to_vec(), "content")
        );
        fs::write(&file, [0xFF]).unwrap();
        assert_eq!(read_text(&file).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
