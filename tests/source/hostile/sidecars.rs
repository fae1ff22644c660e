//! What lies beside data sets: decode indexes, caches of labels, tables of tar files.

use feedline::index::{DataSet, IndexStore, save};
use std::fs::File;
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_64;

/// Of so many bytes, which it has as a hole, is a file that only seems to be a sidecar.
const HOLE: u64 = 1 << 30;

/// A decode index of the data set `set` whose first record claims to have 4 GiB.
pub(crate) fn index_of_a_long_record(folder: &Path, set: DataSet) -> PathBuf {
    let path = folder.join("a.sidecar");
    save(&IndexStore::new(0), &path, set).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    // The mark of the end, 0 records and the hash.
    bytes.truncate(bytes.len() - 20);
    bytes.extend([0; 8]);
    bytes.extend([0xFF; 4]);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A cache of labels that is sound by its hash, and whose last part claims to have 2^64 bytes; `sound` is one that is.
pub(crate) fn labels_of_too_many_bytes(sound: &Path) {
    let mut bytes = std::fs::read(sound).unwrap();
    let body = bytes.len() - 8;
    // Keypoints, of which there are none: a length and the hash.
    assert_eq!(bytes[body - 8..body], [0; 8]);
    bytes[body - 8..body].fill(0xFF);
    let hash = XxHash3_64::oneshot(&bytes[..body]);
    bytes[body..].copy_from_slice(&hash.to_le_bytes());
    std::fs::write(sound, bytes).unwrap();
}

/// A tar file of one image, and beside it a table that is sound by its hash and claims to list 2^60 images; or, as a `hole`,
/// one that has far more bytes than such a table.
pub(crate) fn table_of_too_many_images(folder: &Path, hole: bool) -> PathBuf {
    let path = folder.join("a.tar");
    crate::write::tar(&path, &[("a.jpg", b"an image")]);
    let size = std::fs::metadata(&path).unwrap().len();
    let text = format!("feedline tar index 1\n{size}\t{}\n512\t8\t-1\ta.jpg\n", 1u64 << 60);
    let hash = XxHash3_64::oneshot(text.as_bytes());
    let table = folder.join("a.tar.index");
    std::fs::write(&table, format!("{text}{hash:016x}\n")).unwrap();
    if hole {
        File::options().write(true).open(table).unwrap().set_len(HOLE).unwrap();
    }
    path
}
