//! Sources give compressed bytes and labels by index.
//!
//! ```
//! use feedline::label::Label;
//! use feedline::source::{Memory, Source};
//!
//! let source = Memory::new(vec![("cat.jpg".to_owned(), vec![0xFF, 0xD8], Label::Class(0))]);
//! let mut bytes = Vec::new(); // kept from one read to the next, so that reading stops allocating
//! source.read(0, &mut bytes)?;
//! assert_eq!(bytes, [0xFF, 0xD8]);
//! assert_eq!((source.key(0).as_ref(), source.label(0)), ("cat.jpg", Label::Class(0)));
//! # Ok::<(), feedline::error::Error>(())
//! ```
//!
//! A folder of class directories is [`Folder`], a file that lists paths is [`List`], tar files are [`Shards`], an LMDB
//! environment is [`Lmdb`], MNIST's files are [`Idx`] and CIFAR's [`Cifar`]; with the features `tfrecord` and `parquet` there are `TfRecord` and `Parquet`, with `remote`
//! `Remote`, which reads from object stores; [`Yolo`] and [`Coco`] are data sets of labelled objects.
//! [`WithMasks`] adds semantic masks to any of them, [`WithImages`] second images, [`WithClasses`] names their classes anew, [`Mixture`] makes one of
//! several, [`Cached`] keeps what was read in memory, [`SharedCache`] in a file for all processes, [`Throttled`] is as slow as other
//! storage. `docs/sources.md` has them
//! side by side. A new source is one file below this one, its two lines here, its kind in `src/options/kind.rs`, how it is
//! recognised and opened in `src/source/open.rs`, and one line in `tests/source/contract.rs`, which holds every source to
//! the promises of [`Source`].

/// Methods of a [`Source`] that something else in it answers: `pass_on!([.files] len read key);`.
macro_rules! pass_on {
    ($to:tt $($method:ident)+) => { $(pass_on!(@$method $to);)+ };
    (@len [$($to:tt)+]) => {
        fn len(&self) -> usize {
            self $($to)+.len()
        }
    };
    (@read [$($to:tt)+]) => {
        fn read(&self, index: usize, bytes: &mut Vec<u8>) -> $crate::error::Result<()> {
            self $($to)+.read(index, bytes)
        }

        fn read_into(
            &self,
            index: usize,
            to: &mut dyn $crate::source::Destination,
        ) -> $crate::error::Result<()> {
            self $($to)+.read_into(index, to)
        }
    };
    (@key [$($to:tt)+]) => {
        fn key(&self, index: usize) -> std::borrow::Cow<'_, str> {
            self $($to)+.key(index)
        }
    };
    (@path [$($to:tt)+]) => {
        fn path(&self, index: usize) -> Option<&std::path::Path> {
            self $($to)+.path(index)
        }
    };
    (@version [$($to:tt)+]) => {
        fn file(&self, index: usize) -> Option<std::borrow::Cow<'_, std::path::Path>> {
            self $($to)+.file(index)
        }

        fn version(&self, index: usize) -> $crate::source::Version {
            self $($to)+.version(index)
        }
    };
    (@label [$($to:tt)+]) => {
        fn label(&self, index: usize) -> $crate::label::Label {
            self $($to)+.label(index)
        }
    };
    (@mask [$($to:tt)+]) => {
        fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> $crate::error::Result<bool> {
            self $($to)+.mask(index, bytes)
        }

        fn has_masks(&self) -> bool {
            self $($to)+.has_masks()
        }
    };
    (@fields [$($to:tt)+]) => {
        fn fields(&self) -> &[$crate::field::Field] {
            self $($to)+.fields()
        }

        fn values(
            &self,
            index: usize,
            values: &mut Vec<$crate::field::FieldValue>,
        ) -> $crate::error::Result<()> {
            self $($to)+.values(index, values)
        }
    };
    (@jpeg_sha256 [$($to:tt)+]) => {
        fn jpeg_sha256(&self, index: usize) -> $crate::error::Result<Option<String>> {
            self $($to)+.jpeg_sha256(index)
        }
    };
    (@classes [$($to:tt)+]) => {
        fn classes(&self) -> &[String] {
            self $($to)+.classes()
        }
    };
    (@shard_ends [$($to:tt)+]) => {
        fn shard_ends(&self) -> Vec<u64> {
            self $($to)+.shard_ends()
        }
    };
    (@record [$($to:tt)+]) => {
        fn record(&self, index: usize) -> usize {
            self $($to)+.record(index)
        }
    };
    (@is_known_ahead [$($to:tt)+]) => {
        fn is_known_ahead(&self) -> bool {
            self $($to)+.is_known_ahead()
        }
    };
    (@mix_order [$($to:tt)+]) => {
        fn mix_order(&self) -> Option<$crate::policy::MixOrder> {
            self $($to)+.mix_order()
        }
    };
    (@io_stats [$($to:tt)+]) => {
        fn io_stats(&self) -> $crate::source::IoStats {
            self $($to)+.io_stats()
        }
    };
}

mod beside;
mod byte_ranges;
mod cifar;
mod classes;
mod coco;
mod field_values;
mod file_version;
mod files;
mod folder;
mod idx;
mod labels;
mod list;
mod listed;
mod lmdb;
mod memory;
mod mixture;
mod open;
mod open_files;
pub(crate) mod packed;
#[cfg(feature = "parquet")]
mod parquet;
mod paths;
mod rasters;
mod read_at;
mod read_error;
mod shards;
#[cfg(feature = "tfrecord")]
mod tfrecord;
mod throttled;
mod tree;
mod version;
mod with_classes;
mod with_images;
mod with_masks;
mod yolo;

mod cached;
#[cfg(feature = "remote")]
mod disk_cache;
mod io_stats;
#[cfg(feature = "remote")]
mod remote;
#[cfg(target_os = "linux")]
mod shared;
#[cfg(not(target_os = "linux"))]
#[path = "source/shared_elsewhere.rs"]
mod shared;

pub use crate::destination::Destination;
pub use crate::options::Kind;
pub use crate::policy::{Mix, MixOrder, OnBadLabel, StoppingStrategy};
pub use cifar::{Cifar, CifarOptions};
pub use coco::{Coco, CocoOptions};
pub use files::readable;
pub use folder::{Folder, FolderOptions};
pub use idx::{Idx, IdxOptions};
pub use labels::report::{BadLabel, LabelReport};
pub use list::{List, ListOptions};
pub use lmdb::{Lmdb, LmdbOptions};
pub use memory::Memory;
pub use mixture::{Mixture, MixtureOptions};
pub use open::{Note, Opened, kind_of, open};
pub use packed::holds::{HeldField, Holds};
#[cfg(feature = "parquet")]
pub use parquet::{Parquet, ParquetOptions};
pub use shards::{Shards, ShardsOptions};
#[cfg(feature = "pack")]
pub(crate) use tfrecord::{Feature, write::record as tfrecord};
#[cfg(feature = "tfrecord")]
pub use tfrecord::{TfRecord, TfRecordOptions};
pub use throttled::{Storage, Throttled};
pub use version::Version;
pub use with_classes::{ClassOptions, WithClasses};
pub use with_images::WithImages;
pub use with_masks::{MaskOptions, WithMasks};
pub use yolo::{Yolo, YoloOptions};

pub use cached::Cached;
pub use io_stats::IoStats;
#[cfg(feature = "remote")]
pub use remote::{Remote, RemoteOptions};
pub(crate) use shared::Make;
pub use shared::{FoundCache, SharedCache, SharedCacheOptions, shared_caches};

use crate::error::{Cause, Error, Result};
use crate::field::{Field, FieldValue};
use crate::label::Label;
use std::borrow::Cow;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// The maximal size of a file unless the source has another limit: 1 GiB.
pub use crate::options::MAX_FILE_BYTES;

/// A data set: `len` records of compressed bytes with a key and a label.
///
/// Reading must be safe from many threads at once and must give the same bytes for the same index every time.
pub trait Source: Send + Sync {
    /// Number of records.
    fn len(&self) -> usize;

    /// True when there is no record.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Replaces the content of `bytes` by the record's compressed bytes; its memory is used again.
    ///
    /// # Errors
    /// [`crate::error::Error::Sample`] with key, index and cause when the record cannot be read or there is none at
    /// `index`; `bytes` is empty then.
    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()>;

    /// The same into memory of the caller's, which is asked for once the number of bytes is known: a device reads files
    /// from page-locked memory, and so need not copy them there. A source that has the number before it has the bytes
    /// reads them to their place; any other one need not have this method.
    ///
    /// # Errors
    /// Those of [`Source::read`]; what the memory holds means nothing then.
    fn read_into(&self, index: usize, to: &mut dyn Destination) -> Result<()> {
        let mut bytes = Vec::new();
        self.read(index, &mut bytes)?;
        to.room(bytes.len()).copy_from_slice(&bytes);
        Ok(())
    }

    /// The record's name: its path, or its key in a shard; empty where there is no record.
    fn key(&self, index: usize) -> Cow<'_, str>;

    /// The path of the record's own file; `None` where the record is a part of a file, or is not on a disk.
    fn path(&self, index: usize) -> Option<&Path> {
        let _ = index;
        None
    }

    /// The file that holds the record's bytes, its own or one that it shares with other records, as a path or a URL; `None`
    /// for records of which no file would tell that they have changed, such as those in memory.
    fn file(&self, index: usize) -> Option<Cow<'_, Path>> {
        self.path(index).map(Cow::Borrowed)
    }

    /// The version of the record's bytes: what is read after it was asked for has it, or a later one. Where the same key may
    /// stand for several parts of a file, as for the columns of a table, it tells them apart. Asked for at every read of a
    /// record that processes share.
    fn version(&self, index: usize) -> Version {
        self.file(index).map_or(Version::Unknown, |file| Version::of_file(&file))
    }

    /// The record's label; [`Label::Unlabelled`] where there is no record.
    fn label(&self, index: usize) -> Label;

    /// Replaces the content of `bytes` by the record's semantic mask, a PNG of one channel that is as large as the
    /// upright image; false where the record has none.
    ///
    /// # Errors
    /// Those of [`Source::read`].
    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        let _ = index;
        bytes.clear();
        Ok(false)
    }

    /// Whether records have semantic masks, so that a loader makes them without being told.
    fn has_masks(&self) -> bool {
        false
    }

    /// The fields that it reads beside each image, in the order in which [`Source::values`] has their values.
    fn fields(&self) -> &[Field] {
        &[]
    }

    /// Replaces the content of `values` by the record's values, one for each of [`Source::fields`].
    ///
    /// # Errors
    /// Those of [`Source::read`]; a value that is missing, too large or not of the field's type. What `values` holds means
    /// nothing then.
    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        let _ = index;
        values.clear();
        Ok(())
    }

    /// The SHA-256 of the JPEG that a file of coefficients was made from, in hexadecimal digits, where the record's shard names
    /// it. Packing asks for it.
    ///
    /// # Errors
    /// Those of [`Source::read`].
    fn jpeg_sha256(&self, index: usize) -> Result<Option<String>> {
        let _ = index;
        Ok(None)
    }

    /// Class names in the order of class indices; empty where the source knows none.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// For a source that is made of shards, the index after the last record of each, in order; empty otherwise.
    fn shard_ends(&self) -> Vec<u64> {
        Vec::new()
    }

    /// The record whose bytes `index` has. A source that repeats records returns the original of a repetition, so that
    /// what was learned of a file is used again.
    fn record(&self, index: usize) -> usize {
        index
    }

    /// Whether keys and labels are known before their records are read. Where they are not, [`Source::key`] and
    /// [`Source::label`] tell them from a record's first read on, and a state tells the data set by its length alone.
    fn is_known_ahead(&self) -> bool {
        true
    }

    /// For several data sets in one, how they follow each other in an epoch; `None` for a single one.
    fn mix_order(&self) -> Option<MixOrder> {
        None
    }

    /// What reading cost so far, and what caches saved; all zero where nothing is counted.
    fn io_stats(&self) -> IoStats {
        IoStats::default()
    }
}

/// Lets a source be chosen at run time, or shared.
macro_rules! forward {
    ($($owner:ty),*) => {$(
        impl<S: Source + ?Sized> Source for $owner {
            pass_on!([.deref()] len read key path version label mask fields jpeg_sha256 classes shard_ends record);
            pass_on!([.deref()] is_known_ahead mix_order io_stats);
        }
    )*};
}

forward!(Box<S>, Arc<S>, &S);

/// The error for an index at or past the end.
fn out_of_range(index: usize, len: usize) -> Error {
    let cause =
        format!("the source holds {len} records, so there is none at {index}: use an index below its len()");
    Error::sample("no record", index as u64, cause)
}

/// What is wrong with a record above the limit of bytes.
fn too_large(what: &str, bytes: u64, max_file_bytes: u64) -> Cause {
    format!(
        "{what} has {bytes} bytes, which is above max_file_bytes = {max_file_bytes}: raise max_file_bytes or take it \
         out of the data set"
    )
    .into()
}

/// Lets `fill` replace the content of `bytes` by the record's; it is empty where that fails.
#[cfg(any(feature = "parquet", feature = "remote"))]
fn filled(
    source: &impl Source,
    index: usize,
    bytes: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), Cause>,
) -> Result<()> {
    bytes.clear();
    if index >= source.len() {
        return Err(out_of_range(index, source.len()));
    }
    fill(bytes).map_err(|cause| {
        bytes.clear();
        Error::sample(source.key(index), index as u64, cause)
    })
}
