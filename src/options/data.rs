//! `[data]`: which data, and how they are opened.

mod sets;

pub use sets::{DataSet, DataSets};

use super::bytes::Bytes;
use super::field_list::Fields;
use super::kind::Kind;
use crate::policy::{Mix, OnBadLabel, StoppingStrategy};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The largest file that is read unless something else is asked for: 1 GiB.
pub const MAX_FILE_BYTES: u64 = 1 << 30;
/// The largest value of a field unless something else is asked for.
pub(crate) const MAX_FIELD_BYTES: u64 = 1 << 20;
/// What a cache of fetched objects may hold unless something else is asked for.
const CACHE_BYTES: Bytes = Bytes(64 << 30);
/// What decoded Parquet pages are kept in unless something else is asked for.
const PAGE_CACHE_BYTES: Bytes = Bytes(256 << 20);
/// How many bad labels are listed unless something else is asked for.
pub(crate) const BAD_LISTED: usize = 20;

section! {
    /// `[data]`: which data, and how they are opened by [`crate::source::open`]. An option that the kind of data does not
    /// take is refused.
    pub struct DataOptions in "data" {
        /// The data set: a folder of images, with or without a directory for each class; tar, TFRecord or Parquet files
        /// (one, a folder of them, or a pattern); an LMDB environment; a file that lists images (text, CSV, TSV, JSON
        /// lines); a YOLO data.yaml or folder, or COCO annotations; MNIST's or CIFAR's files (one, or their folder); a URL
        /// (s3://bucket/prefix, gs://, az://, https://).
        path as "data": PathBuf;
        /// Several data sets in place of one: tables with the options of this section, and with `name`, which their keys
        /// begin with, and `weight`. Options beside the list are for all data sets that take them.
        sets: DataSets;
        /// How the data sets follow each other in an epoch: as one data set, one after the other, or by chances.
        mix: Mix, unset "`weighted` where the data sets have weights, else `concat`";
        /// What ends an epoch of a weighted mix: that one data set has been shown whole, or that each has.
        stopping_strategy: StoppingStrategy = StoppingStrategy::FirstExhausted;
        /// The samples of an epoch of a weighted mix, in place of a strategy.
        epoch_samples: u64;
        /// The names of the classes in the order of their indices; all names that the data have must be among them. Names for
        /// the numbers of data that have no names.
        classes: Vec<String>, unset "those of the data; of several data sets, each where it comes first";
        /// Other names for classes of the data, by their names there; classes that are called alike become one.
        rename: BTreeMap<String, String>;
        /// What the data are.
        kind or "source": Kind, unset "found by looking at the data";
        /// Which images of a YOLO data set, or which of the tar, TFRecord, Parquet, idx or CIFAR files, by their names.
        split: String, unset "`train` where there is a data.yaml, else all, where they are of one split",
            for [Yolo Tar TfRecord Parquet Idx Cifar Remote];
        /// Whether directories are no classes: every image at any depth, without labels.
        flat: bool = false, for [Folder Remote];
        /// Whether a class may be without images.
        allow_empty: bool = false, for [Folder];
        /// The folder that the paths of a list or of a data.yaml are relative to; of one at a URL, a URL in the same store.
        root: PathBuf, unset "the folder of the list, or what the data.yaml says", for [List Yolo Remote];
        /// Whether the first row of a CSV or TSV file names the columns.
        header: bool, unset "found by looking at it", for [List Remote];
        /// The column or feature that holds the images, or in a list their paths.
        image_column: String, unset "found by its name; `image/encoded` of TFRecord files",
            for [List TfRecord Parquet Remote];
        /// The column or feature that holds the labels; of CIFAR-100, `fine` or `coarse`.
        label_column: String, unset "found by its name; `image/class/label` of TFRecord files, `fine` of CIFAR-100",
            for [List TfRecord Parquet Cifar Remote];
        /// What stands between the labels of a record, where it has several: `;` in `cat;dog`.
        label_separator: String, unset "a label is taken as it is", for [List Remote];
        /// The feature that holds the names of the classes.
        class_column: String = "image/class/text".to_owned(), for [TfRecord];
        /// The feature that holds the names of the images.
        name_column: String = "image/filename".to_owned(), for [TfRecord];
        /// The values to be read beside each image, such as captions, by the names that a batch is to have for them: each a
        /// type (`text`, `bytes`, `json`, `integer`, `float`, `integers`, `floats`, `image`, `depth`), or type, `from` (the
        /// ending of a tar file's members, the column or the feature, where that is not the name), `default` (the value of
        /// records that have none) and `length` (of lists that are all as long). Of folders, YOLO and COCO data they are
        /// pictures, each `from` a folder, or a URL, with a file for every image.
        fields: Fields, for [List Tar TfRecord Parquet Folder Yolo Coco Remote];
        /// The largest value of a field; samples with larger ones are bad.
        max_field_bytes: Bytes = Bytes(MAX_FIELD_BYTES), for [List Tar TfRecord Parquet Remote];
        /// The named database in an LMDB environment.
        database: String, unset "the main one", for [Lmdb];
        /// The folder that the images of COCO annotations lie in, or its URL.
        image_dir: PathBuf, unset "the folder of the annotations", for [Coco Remote];
        /// The folder of the semantic masks, or its URL: that of images/a/b.jpg, or of a/b.jpg, is a/b.png there.
        mask_dir: PathBuf;
        /// Whether an image may be without a mask.
        allow_missing_masks: bool = false;
        /// What becomes of a label that cannot be right.
        on_bad_label: OnBadLabel = OnBadLabel::Fail, for [Yolo Coco Remote];
        /// How many bad labels are listed, at least the three that an error quotes.
        bad_listed: usize = BAD_LISTED, for [Yolo Coco Remote];
        /// The file that keeps the labels from run to run.
        label_cache: PathBuf, for [Yolo Coco Remote];
        /// The largest image file that is read; larger ones are bad samples.
        max_file_bytes: Bytes = Bytes(MAX_FILE_BYTES);
        /// Bytes of memory in which decoded parts of Parquet files are kept for the reads to come.
        parquet_cache: Bytes = PAGE_CACHE_BYTES, for [Parquet];
        /// The folder that keeps what was fetched, for the next epoch and for other processes.
        cache_dir: PathBuf, for [Remote];
        /// The largest number of bytes in `cache_dir`; what was not used for the longest time goes first.
        cache_bytes: Bytes = CACHE_BYTES, for [Remote];
        /// The server to ask in place of the service's own: `https://minio.example:9000`. With `http://` nothing is
        /// encrypted.
        endpoint: String, unset "the service's own, or what the environment says", for [Remote];
        /// Whether requests are not signed, as public buckets want it.
        anonymous: bool = false, for [Remote];
        /// The longest time that one read may take, in seconds, all attempts together; at least 0.01.
        timeout_s: f64 = 60.0, for [Remote];
        /// How long a server may send nothing before an attempt is given up, in seconds.
        stall_timeout_s: f64 = 10.0, for [Remote];
        /// How often a request is sent again.
        max_retries: u32 = 8, for [Remote];
        /// How many requests may be under way at once, 1 to 4096.
        concurrency: usize = 64, for [Remote];
    }
}
