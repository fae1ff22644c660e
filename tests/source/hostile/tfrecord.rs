//! TFRecord files.

use crate::write::{field, masked, tfrecord};
use std::path::{Path, PathBuf};

/// A record that claims to have 2^62 bytes; its length has its checksum.
pub(crate) fn long_record(folder: &Path) -> PathBuf {
    let (path, length) = (folder.join("a.tfrecord"), (1u64 << 62).to_le_bytes());
    let head = [&length[..], &masked(&length).to_le_bytes(), b"data"].concat();
    std::fs::write(&path, head).unwrap();
    path
}

/// A record whose only field claims to have 2^56 bytes.
pub(crate) fn long_feature(folder: &Path) -> PathBuf {
    of_record(folder, [&[0x0A][..], &[0x80; 8], &[1]].concat())
}

/// A record of four million features, without even a name.
pub(crate) fn many_features(folder: &Path) -> PathBuf {
    of_record(folder, field(1, &[0x0A, 0].repeat(4 << 20)))
}

/// A record whose image is a list of four million values, of which none has a byte.
pub(crate) fn feature_of_many_values(folder: &Path) -> PathBuf {
    let list = field(1, &[0x0A, 0].repeat(4 << 20));
    let feature = [field(1, b"image/encoded"), field(2, &list)].concat();
    of_record(folder, field(1, &field(1, &feature)))
}

fn of_record(folder: &Path, record: Vec<u8>) -> PathBuf {
    let path = folder.join("a.tfrecord");
    tfrecord(&path, &[record]);
    path
}
