//! Writes a shard, and the layout of a record in it.

use super::Settings;
use super::beside::Beside;
use super::holds::{JSON, bytes_of};
use crate::error::Cause;
use crate::field::FieldValue;
use crate::label::Label;
use crate::regular_file;
use crate::source::packed::objects::{About, Written};
use crate::source::{Feature, tfrecord};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// The block size of a tar file.
const BLOCK: usize = 512;

/// One record with everything that a shard stores of it.
pub(super) struct Record<'a> {
    /// Its index in the source.
    pub(super) number: usize,
    pub(super) key: Cow<'a, str>,
    pub(super) label: &'a Label,
    /// The names of its classes.
    pub(super) names: Vec<&'a str>,
    /// The ending of its name, such as `jpg`.
    pub(super) ending: &'static str,
    pub(super) bytes: &'a [u8],
    /// The checksum of the JPEG that its coefficients are from.
    pub(super) jpeg_sha256: Option<String>,
    pub(super) beside: Beside<'a>,
}

impl<'a> Record<'a> {
    /// What is said of it in JSON.
    fn about(&'a self, labels: Option<Written<'a>>) -> About<'a> {
        let (class, classes) = match self.label {
            Label::Classes(_) => (None, Some(&self.names[..])),
            _ => (self.names.first().copied(), None),
        };
        let (classes, jpeg_sha256) = (classes.filter(|names| !names.is_empty()), self.jpeg_sha256.as_deref());
        About { class, classes, key: &self.key, jpeg_sha256, labels }
    }
}

/// The record as members of a tar file: the image, its class, its mask and fields, and all else as JSON.
pub(super) fn tar_entry(mut record: Record<'_>) -> Result<Vec<u8>, Cause> {
    let Beside { objects, mask, values } = std::mem::take(&mut record.beside);
    let mask_bytes = mask.map_or(0, |(_, mask)| mask.len());
    let mut entry = Vec::with_capacity(record.bytes.len() + mask_bytes + 8 * BLOCK);
    let mut member = |ending: &str, bytes: &[u8]| -> Result<(), Cause> {
        let mut header = tar::Header::new_ustar();
        // Nine digits as WebDataset's own tools write them, so that no user's key can clash or contain a dot.
        header.set_path(format!("{:09}.{ending}", record.number))?;
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        entry.extend_from_slice(header.as_bytes());
        entry.extend_from_slice(bytes);
        entry.resize(entry.len().next_multiple_of(BLOCK), 0);
        Ok(())
    };
    member(record.ending, record.bytes)?;
    match record.label {
        Label::Class(class @ 0..) => member("cls", class.to_string().as_bytes())?,
        // Not as `cls`, which WebDataset takes for a number.
        Label::Classes(classes) => member("classes.json", &serde_json::to_vec(&classes[..])?)?,
        _ => {}
    }
    if let Some((ending, mask)) = mask {
        member(ending, mask)?;
    }
    for (ending, value) in &values {
        member(ending, &bytes_of(value))?;
    }
    let about = record.about(objects.map(|(_, objects)| objects));
    member(JSON, &serde_json::to_vec(&about)?)?;
    Ok(entry)
}

/// The record as a `tf.train.Example`, with the names of TensorFlow's own scripts for ImageNet.
pub(super) fn tfrecord_entry(mut record: Record<'_>) -> Result<Vec<u8>, Cause> {
    let format = if record.ending == "jpg" { "jpeg" } else { record.ending };
    let mut features = vec![
        ("image/encoded", Feature::bytes(record.bytes)),
        ("image/filename", Feature::bytes(record.key.as_bytes())),
        ("image/format", Feature::bytes(format.as_bytes())),
    ];
    if let Label::Class(0..) | Label::Classes(_) = record.label {
        features.push(("image/class/label", Feature::integers(record.label.classes())));
    }
    if !record.names.is_empty() {
        features.push(("image/class/text", Feature::texts(record.names.iter().copied())));
    }
    let Beside { objects, mask, values } = std::mem::take(&mut record.beside);
    if let Some((name, objects)) = objects {
        let about = record.about(Some(objects));
        features.push((name, Feature::bytes(&serde_json::to_vec(&about)?)));
    }
    if let Some((name, mask)) = mask {
        features.push((name, Feature::bytes(mask)));
        features.push(("image/segmentation/class/format", Feature::bytes(b"png")));
    }
    for (name, value) in &values {
        // Its own lists of fractions have 32 bits.
        features.push((
            name,
            match value {
                FieldValue::Integer(number) => Feature::integers(&[*number]),
                FieldValue::Integers(list) => Feature::integers(list),
                value => Feature::bytes(&bytes_of(value)),
            },
        ));
    }
    Ok(tfrecord(features.into_iter().map(|(name, feature)| (name.to_owned(), feature))))
}

/// One shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its name in the folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its checksum, as `sha256sum` prints it.
    pub sha256: String,
    /// Records that it holds.
    pub records: usize,
    /// The index in the source of the first record after it.
    pub end: usize,
}

/// A shard that is being written under a temporary name.
pub(super) struct ShardWriter {
    file: BufWriter<File>,
    hasher: Sha256,
    bytes: u64,
    records: usize,
}

impl ShardWriter {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 20, regular_file::create(path)?);
        Ok(Self { file, hasher: Sha256::new(), bytes: 0, records: 0 })
    }

    /// Whether the record may go into this shard; an empty one takes anything.
    pub(super) fn has_room(&self, settings: &Settings, entry: &[u8]) -> bool {
        let bytes = self.bytes + entry.len() as u64 + settings.trailer().len() as u64;
        self.records == 0
            || bytes <= settings.shard_bytes
                && settings.shard_records.is_none_or(|records| self.records < records)
    }

    pub(super) fn add(&mut self, entry: &[u8]) -> io::Result<()> {
        self.records += 1;
        self.put(entry)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Writes the format's trailer, and waits for the disk. The shard is going to be called `name`, and `end` is the index
    /// of the next record.
    pub(super) fn finish(mut self, settings: &Settings, name: String, end: usize) -> io::Result<Shard> {
        self.put(settings.trailer())?;
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        let Self { bytes, records, ref hasher, .. } = self;
        Ok(Shard { name, bytes, sha256: hex(hasher.clone()), records, end })
    }
}

/// The hash in hexadecimal digits, as `sha256sum` prints it.
fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The checksum of bytes.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

/// The checksum of a file.
pub(super) fn sha256_of(path: &Path) -> io::Result<String> {
    let (mut file, mut hasher) = (regular_file::open(path)?, Sha256::new());
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(hasher)),
            read => hasher.update(&buffer[..read]),
        }
    }
}
