//! Tar files.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tar::{EntryType, Header};

/// A member whose name, of this kind of header, claims to have a gigabyte, which the file has as a hole.
pub(crate) fn long_name(folder: &Path, kind: EntryType) -> PathBuf {
    let path = folder.join("a.tar");
    let mut file = File::create(&path).unwrap();
    let mut header = Header::new_gnu();
    header.set_path("1.jpg").unwrap();
    header.set_entry_type(kind);
    header.set_size(1 << 30);
    header.set_cksum();
    file.write_all(header.as_bytes()).unwrap();
    file.set_len((1 << 30) + 2048).unwrap();
    path
}
