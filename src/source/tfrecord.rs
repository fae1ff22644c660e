//! TFRecord files of `tf.train.Example`s, with any record at hand at any time.

mod example;
mod scan;
mod wire;
#[cfg(feature = "pack")]
pub(crate) mod write;

#[cfg(feature = "pack")]
pub(crate) use example::Feature;

use super::byte_ranges::ByteRanges;
use super::classes::{Classes, Gathering};
use super::field_values::SourceFields;
use super::labels::report::LabelReport;
use super::packed::Held;
use super::packed::holds::Described;
use super::paths::{Wanted, head_of, names_any, short_names};
use super::read_error::ReadError;
use super::{Source, Version};
use crate::error::{Cause, Error, Result, bail, ensure};
use crate::field::{Field, FieldValue};
use crate::label::{Label, Skeleton};
use crate::options::DataOptions;
use prost::Message;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Length and its checksum, in front of a record's data.
const HEADER_BYTES: u64 = 12;
/// The checksum of the data, after them.
const FOOTER_BYTES: u64 = 4;

/// The images of TFRecord files, file after file, in the order in which they lie there.
///
/// A record is a `tf.train.Example`. Unless other names are set, `image/encoded` holds the bytes of an image file,
/// `image/class/label` the class as an index, `image/class/text` its name, and `image/filename` the name of the image.
/// Only the image has to be there. A class of bytes, or a name without an index, is counted in the sorted order of
/// names; indices are taken as they are, and -1 means none. Where a record has a list of several, all have lists, and an
/// empty one is a label too. Keys are `file/number/name`, the number counted from 0 in
/// its file.
///
/// Opening reads the frame of each record (its length, whose CRC-32C is checked) and the small features, but not the
/// images; some 60 bytes and the key of each record are kept. Reading a record checks the CRC-32C of its data.
/// Compressed files are refused, since nothing in them can be read without everything before it.
///
/// The `manifest.json` that `feedline pack` writes into the files' folder names the classes, and says which labelled objects,
/// semantic masks and fields there are: they are read too. Objects are kept in memory, as by [`super::Coco`].
#[derive(Clone, Debug)]
pub struct TfRecord {
    ranges: ByteRanges,
    /// The range of the image in the data of each record; none where the record is damaged.
    images: Vec<Option<[u64; 2]>>,
    classes: Classes,
    fields: SourceFields,
    /// The range of each field's feature in the file, record by record.
    features: Vec<Option<[u64; 2]>>,
    held: Held,
}

/// How TFRecord files are opened.
#[derive(Clone, Debug, PartialEq)]
pub struct TfRecordOptions {
    names: Names,
    split: Option<String>,
    fields: Option<Vec<Field>>,
}

/// The names of the features that matter.
#[derive(Clone, Debug, PartialEq)]
struct Names {
    image: String,
    label: String,
    text: String,
    file: String,
    objects: Option<String>,
    mask: Option<String>,
    /// Whether all records have lists of classes.
    lists: bool,
    fields: Vec<Field>,
}

/// Most names of features that are kept for a message.
const MAX_NAMES: usize = 64;
/// What a feature has besides its value, at most.
const FEATURE_BYTES: u64 = 32;

impl Default for TfRecordOptions {
    fn default() -> Self {
        let data = DataOptions::default();
        let names = Names {
            image: "image/encoded".to_owned(),
            label: "image/class/label".to_owned(),
            text: data.class_column(),
            file: data.name_column(),
            objects: None,
            mask: None,
            lists: false,
            fields: Vec::new(),
        };
        Self { names, split: None, fields: None }
    }
}

impl TfRecord {
    /// The file at `path`, the files of the folder `path` in the order of their names, or those that the pattern `path`
    /// matches.
    ///
    /// # Errors
    /// Those of [`TfRecordOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// Options to open TFRecord files with.
    pub fn options() -> TfRecordOptions {
        TfRecordOptions::default()
    }

    setters! {
        /// The largest record that is read, all its features counted; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes in ranges.max_file_bytes: u64;

        /// The largest value of a field that is read; samples with larger ones are bad. 1 MiB unless set.
        max_field_bytes in fields.max_bytes: u64;
    }

    /// Whether `path` looks like TFRecord files: a file that begins with a record, or a folder or pattern of files that
    /// are called `*.tfrecord*`, `*.tfrec` or `*-00000-of-00008`.
    pub fn is_at(path: &Path) -> bool {
        head_of(path, HEADER_BYTES).first_chunk().is_some_and(|head| length_in(head).is_some())
            || names_any(path, is_name)
    }

    /// How many images and objects there are; `None` where no objects are held.
    pub fn report(&self) -> Option<LabelReport> {
        self.held.report()
    }

    /// What the keypoints of the objects are; `None` where objects have none.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.held.skeleton()
    }

    /// Where a record begins, for messages.
    fn place(&self, index: usize) -> String {
        let (number, start) = self.ranges.place(index);
        format!("{}, record {number} at byte {}", self.ranges.path(index).display(), start - HEADER_BYTES)
    }

    /// Leaves the image of a record of which `bytes` holds the data and their checksum.
    fn unpack(&self, index: usize, bytes: &mut Vec<u8>) -> Result<(), Cause> {
        let stored = bytes.split_off(bytes.len() - FOOTER_BYTES as usize);
        let (stored, computed) = (u32::from_le_bytes(stored.try_into().unwrap_or_default()), checksum(bytes));
        if stored != computed {
            return Err(format!(
                "{}: the data have the checksum {computed:08x}, but {stored:08x} is stored: they are damaged; copy the \
                 file again",
                self.place(index)
            )
            .into());
        }
        let image = self.images[index].map(|[start, bytes]| start as usize..(start + bytes) as usize);
        let Some(image) = image.filter(|image| image.end <= bytes.len()) else {
            let place = self.place(index);
            return Err(format!("{place}: the file has changed; open the source again").into());
        };
        bytes.truncate(image.end);
        bytes.drain(..image.start);
        Ok(())
    }
}

impl TfRecordOptions {
    setters! {
        /// The feature that holds the bytes of an image file; `image/encoded` unless set.
        image_feature in names.image: into String;

        /// The feature that holds the class, an index (int64) or a name (bytes); `image/class/label` unless set.
        label_feature in names.label: into String;

        /// The feature that holds the name of the class; `image/class/text` unless set.
        text_feature in names.text: into String;

        /// The feature that holds the name of the image; `image/filename` unless set.
        file_feature in names.file: into String;

        /// The values to be read beside each image. A field comes from the feature that it is stored as, which holds one
        /// value: bytes for text, bytes and JSON, int64 for whole numbers, float or int64 for numbers, and numbers may be bytes
        /// of text. By default those that the manifest names.
        fields in fields: some into Vec<Field>;

        /// Only the files with `train`, `validation` or `test` in their names. A folder of several splits cannot be
        /// opened without.
        split: some into String;
    }

    /// Opens the file at `path`, the files of the folder `path`, or those that the pattern `path` matches.
    ///
    /// # Errors
    /// No file, a file that cannot be read, is compressed, is cut short, or holds what is no record; a record without
    /// the image's feature, with a class that is none, or whose objects cannot be understood; a manifest that cannot be
    /// read. File, record and byte are named.
    pub fn open(mut self, path: impl AsRef<Path>) -> Result<TfRecord> {
        let wanted =
            Wanted { what: "TFRecord files (.tfrecord)", is_one: is_name, split: self.split.as_deref() };
        let paths = wanted.find(path.as_ref())?;
        let described = Described::of(Some(path.as_ref()), &paths)?;
        self.names.fields = described.fields(self.fields.take());
        self.names.lists = described.holds.class_lists;
        (self.names.objects, self.names.mask) =
            (described.holds.objects.clone(), described.holds.masks.clone());
        let source = self.open_files(&paths, described)?;
        ensure!(
            !source.is_empty(),
            "{}: {} TFRecord files were opened, and no record is in them: name files that hold images",
            path.as_ref().display(),
            paths.len()
        );
        Ok(source)
    }

    fn open_files(&self, paths: &[PathBuf], described: Described) -> Result<TfRecord> {
        let (mut ranges, mut images, mut labels) = (ByteRanges::of("file"), Vec::new(), Gathering::default());
        let fields = SourceFields::new(&self.names.fields, "feature")?;
        let mut held = Held::of(&described);
        let (mut features, mut met, mut known) =
            (Vec::new(), BTreeSet::new(), vec![false; fields.list.len()]);
        for (path, short) in paths.iter().zip(short_names(paths)) {
            let first = ranges.len();
            ranges.begin_file(path);
            let scanned = scan::scan(path, &self.names, &mut |found| {
                let (said, name) = found.class(&self.names)?;
                let number = ranges.len() - first;
                labels.push(&said, || format!("record {number} of {}", path.display()))?;
                if let (super::classes::RawLabel::Index(class), Some(name)) = (said, name) {
                    labels.call(class, name);
                }
                let (slash, file) = found.file().map_or(("", ""), |file| ("/", file));
                let number = number.to_string();
                ranges.push(&[&short, "/", &number, slash, file], found.start, found.bytes + FOOTER_BYTES);
                images.push(found.image);
                held.push(found.objects(), found.mask)?;
                features.extend_from_slice(&found.fields);
                features.resize(images.len() * known.len(), None);
                known.iter_mut().zip(&found.fields).for_each(|(known, field)| *known |= field.is_some());
                if known.contains(&false) {
                    met.extend(found.others.iter().take(MAX_NAMES.saturating_sub(met.len())).cloned());
                }
                Ok(())
            });
            scanned.map_err(|stop| match stop {
                ReadError::Io(error) => Error::io(path, error, "name a TFRecord file that can be read"),
                ReadError::Bad(what) => Error::config(format!("{}, {what}", path.display())),
            })?;
            ranges.end_file();
        }
        ranges.shrink();
        if let Some((field, _)) =
            fields.list.iter().zip(&known).find(|(_, known)| !**known && !images.is_empty())
        {
            bail!("{}", fields.unknown(field, met.iter().map(String::as_str)));
        }
        images.shrink_to_fit();
        features.shrink_to_fit();
        if !images.is_empty() {
            held.finish(&described, "feature")?;
        }
        let mut classes = labels.finish();
        if !self.names.lists {
            classes.unlist();
        }
        described.name(&mut classes.names);
        Ok(TfRecord { ranges, images, classes, fields, features, held })
    }
}

impl Source for TfRecord {
    pass_on!([.ranges] len key shard_ends);
    pass_on!([.classes] classes);

    fn file(&self, index: usize) -> Option<Cow<'_, Path>> {
        self.ranges.file(index)
    }

    /// A record may hold several images.
    fn version(&self, index: usize) -> Version {
        let image = self.images.get(index).copied().flatten().unwrap_or_default();
        self.ranges.version(index).of_part(&image)
    }

    fn label(&self, index: usize) -> Label {
        self.held.label(index, &self.classes)
    }

    fn has_masks(&self) -> bool {
        self.held.has_masks()
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        self.held.mask(&self.ranges, index, bytes)
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.ranges.read(index, bytes, |bytes| self.unpack(index, bytes))
    }

    fn fields(&self) -> &[Field] {
        &self.fields.list
    }

    /// The checksum of a record is that of all its bytes, and is checked when its image is read.
    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        let (fields, mut bytes) = (&self.fields, Vec::new());
        fields.fill(self, index, values, |number, field| {
            let Some(range) = self.features[index * fields.list.len() + number] else { return Ok(None) };
            fields.check_stored(field, range[1].saturating_sub(FEATURE_BYTES), self.ranges.max_file_bytes)?;
            self.ranges.read_range(index, range, &mut bytes)?;
            let feature = example::Feature::decode(&bytes[..])
                .map_err(|error| format!("{field} cannot be understood ({error}): write it anew"))?;
            Ok(feature.value(field)?)
        })
    }
}

/// Whether a file of this name, in lower case, is one of a TFRecord data set; compressed ones too, to be refused.
fn is_name(name: &str) -> bool {
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_part = name.rsplit_once("-of-").is_some_and(|(head, count)| {
        digits(count) && head.rsplit_once('-').is_some_and(|(_, number)| digits(number))
    });
    let (_, ending) = name.rsplit_once(".tfrec").unwrap_or_default();
    let is_tfrec = name.contains(".tfrec")
        && (is_part || ["", "ord", "ords", "ord.gz", "ords.gz", ".gz"].contains(&ending));
    is_part && !name.contains('.') || is_tfrec
}

/// The length in a record's header, if its checksum is right.
fn length_in(header: &[u8; HEADER_BYTES as usize]) -> Option<u64> {
    let (length, stored) = header.split_first_chunk()?;
    (checksum(length).to_le_bytes() == *stored).then(|| u64::from_le_bytes(*length))
}

/// CRC-32C of the bytes, turned and shifted as TFRecord files store it.
fn checksum(bytes: &[u8]) -> u32 {
    masked(crc32c::crc32c(bytes))
}

fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xA282_EAD8)
}
