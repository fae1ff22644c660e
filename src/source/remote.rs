//! Images in object stores and on HTTP servers: class directories, lists, and tar shards.

mod address;
mod annotations;
mod archives;
mod client;
mod contents;
mod layout;
mod objects;
mod prefix;
mod ranged;
mod records;
mod request_error;
mod retry_client;
mod store;
mod tree;

use super::beside::Beside;
use super::coco::CocoLabels;
use super::labels::report::LabelReport;
use super::with_images::local;
use super::{
    CocoOptions, ListOptions, MAX_FILE_BYTES, MaskOptions, ShardsOptions, Source, Version, WithImages,
    WithMasks, YoloOptions, filled,
};
use crate::error::{Error, Result, bail};
use crate::field::{Field, FieldValue};
use crate::label::Skeleton;
use crate::options::{DataOptions, Kind};
use address::Address;
use contents::Contents;
use layout::Layout;
use object_store::path::Path;
use objects::Objects;
use prefix::Prefix;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use store::Store;

/// Images below `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`, or at `https://`.
///
/// The kind of data set is found by looking: tar archives directly below the prefix (read as [`super::Shards`] are, with
/// their manifest), else a YOLO data set ([`super::Yolo`]), else a directory for each class ([`super::Folder`]), else images
/// without labels. A URL that ends in `.tar` is one archive, one that ends in `.txt`, `.csv`, `.tsv` or `.jsonl` a list
/// ([`super::List`]) of images or of archives, relative to itself, `.yaml` a YOLO data set, `.json` COCO annotations
/// ([`super::Coco`]). A plain HTTP server cannot list its files, so there it must be one of these. An archive with a table
/// beside it ([`super::Shards::write_tables`]) is opened by one request; of others, and where fields, objects or masks are
/// wanted, all headers are read. Fields, labels and masks are those of the local source of the same kind.
///
/// Credentials come from the environment, as `docs/remote.md` lists them. Reading blocks the thread that reads, for
/// [`RemoteOptions::timeout`] at most: 5xx answers, broken connections and stalls are tried again meanwhile. An object
/// that is not the one that was there at the opening is a bad sample. A record costs about 32 bytes and its key.
///
/// ```no_run
/// use feedline::source::Remote;
///
/// let train = Remote::options().cache("/var/cache/feedline", 200 << 30).open("s3://bucket/imagenet/train")?;
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Debug)]
pub struct Remote {
    objects: Objects,
    contents: Contents,
    notes: Vec<String>,
    left: Vec<Field>,
}

/// How a remote data set is opened.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteOptions {
    kind: Option<Kind>,
    split: Option<String>,
    flat: bool,
    fields: Option<Vec<Field>>,
    max_field_bytes: Option<u64>,
    image_dir: Option<String>,
    shards: ShardsOptions,
    list: ListOptions,
    yolo: YoloOptions,
    coco: CocoOptions,
    cache: Option<(PathBuf, u64)>,
    endpoint: Option<String>,
    anonymous: bool,
    timeout: Duration,
    stall_timeout: Duration,
    max_retries: u32,
    concurrency: usize,
    max_file_bytes: u64,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        let data = DataOptions::default();
        Self {
            kind: None,
            split: None,
            flat: false,
            fields: None,
            max_field_bytes: None,
            image_dir: None,
            shards: ShardsOptions::default(),
            list: ListOptions::default(),
            yolo: YoloOptions::default(),
            coco: CocoOptions::default(),
            cache: None,
            endpoint: None,
            anonymous: data.anonymous(),
            timeout: Duration::from_secs_f64(data.timeout_s()),
            stall_timeout: Duration::from_secs_f64(data.stall_timeout_s()),
            max_retries: data.max_retries(),
            concurrency: data.concurrency(),
            max_file_bytes: MAX_FILE_BYTES,
        }
    }
}

impl Remote {
    /// The data set at `url`.
    ///
    /// # Errors
    /// Those of [`RemoteOptions::open`].
    pub fn open(url: &str) -> Result<Self> {
        Self::options().open(url)
    }

    /// Options to open a data set with.
    pub fn options() -> RemoteOptions {
        RemoteOptions::default()
    }

    /// Whether `text` begins like a URL that can be opened: `s3://`, `gs://`, `az://`, `https://` or `http://`.
    pub fn is_url(text: &str) -> bool {
        address::is_url(text)
    }

    /// What was met at the opening that a user may want to know, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What was found in the labels of a YOLO or COCO data set, or of archives with objects; `None` for other data.
    pub fn report(&self) -> Option<LabelReport> {
        self.contents.report()
    }

    /// What the keypoints of the objects are; `None` where objects have none.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.contents.skeleton()
    }

    /// Width and height of an image according to COCO annotations, where they have them.
    pub fn image_size(&self, index: usize) -> Option<[u32; 2]> {
        self.coco()?.image_size(index)
    }

    /// The id of an image in COCO annotations, as evaluation needs it.
    pub fn image_id(&self, index: usize) -> Option<i64> {
        self.coco()?.image_id(index)
    }

    /// The category id of each class of COCO annotations, as evaluation needs it; empty for other data.
    pub fn category_ids(&self) -> &[i64] {
        self.coco().map_or(&[], CocoLabels::category_ids)
    }

    fn coco(&self) -> Option<&CocoLabels> {
        match &self.contents {
            Contents::Coco(labels) => Some(labels),
            _ => None,
        }
    }

    /// Fields that were asked for and that data of this kind do not have of their own.
    pub(super) fn left(&self) -> &[Field] {
        &self.left
    }

    /// What kind of data set the URL turned out to name.
    pub(super) fn layout(&self) -> Kind {
        match &self.contents {
            Contents::Folder(_) => Kind::Folder,
            Contents::List(_) => Kind::List,
            Contents::Archives(_) => Kind::Tar,
            Contents::Yolo(_) => Kind::Yolo,
            Contents::Coco(_) => Kind::Coco,
        }
    }
}

/// What the paths of all objects below `prefix` begin with.
fn below(prefix: &Path) -> String {
    if prefix.as_ref().is_empty() { String::new() } else { format!("{prefix}/") }
}

/// What the path of an object begins with up to its last slash.
fn folder_of(path: &Path) -> String {
    path.as_ref().rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"))
}

/// Whether a name in lower case has one of these endings.
fn is_ending(name: &str, endings: &[&str]) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
}

impl RemoteOptions {
    /// Keeps what was fetched in this folder, at most `max_bytes`, for the next epoch and for other processes. It must be
    /// empty or such a cache; what was not used for the longest time goes first. Each further process that writes at the
    /// same time may hold an eighth of `max_bytes` more.
    pub fn cache(self, folder: impl Into<PathBuf>, max_bytes: u64) -> Self {
        Self { cache: Some((folder.into(), max_bytes)), ..self }
    }

    setters! {
        /// What lies at the URL; found by looking unless set. A folder, a list, tar files, YOLO and COCO data are read.
        kind: some Kind;

        /// Which archives, by `train`, `validation` or `test` in their names, or which images of a YOLO data set
        /// ([`YoloOptions::split`]).
        split: some into String;

        /// Whether directories are no classes: every image at any depth, without labels.
        flat: bool;

        /// The values to be read beside each image, from the members of archives ([`ShardsOptions::fields`]) or the columns of
        /// a list ([`ListOptions::fields`]).
        fields: some into Vec<Field>;

        /// The largest value of a field; samples with larger ones are bad. 1 MiB unless set.
        max_field_bytes: some u64;

        /// The URL that the images of COCO annotations lie below; the folder of the annotations unless set.
        image_dir: some into String;

        /// How archives are opened, if that is what is found.
        shards: ShardsOptions;

        /// How a list is opened. Its root is a URL in the same store.
        list: ListOptions;

        /// How a YOLO data set is opened. Its root is a URL in the same store.
        yolo: YoloOptions;

        /// How COCO annotations are opened.
        coco: CocoOptions;

        /// The server to use instead of the service's own: `https://minio.example:9000`. With `http://` nothing is encrypted.
        endpoint: some into String;

        /// Signs nothing, as public buckets want it.
        anonymous: bool;

        /// The maximal time of one read, all attempts together; 60 s unless set, and at least 10 ms. One attempt may
        /// take half of it.
        timeout: Duration;

        /// How long a server may send nothing before the attempt is given up; 10 s unless set.
        stall_timeout: Duration;

        /// How often a request is sent again; 8 times unless set, with pauses of 50 ms to 5 s between.
        max_retries: u32;

        /// How many requests may be under way at once, 1 to 4096; 64 unless set. No more than the loader has workers ever
        /// are, apart from the opening.
        concurrency: usize;

        /// The largest image that is read; larger ones are bad samples. 1 GiB unless set.
        max_file_bytes: u64;
    }

    /// Opens the data set at `url`. COCO annotations may be a local file where [`RemoteOptions::image_dir`] is a URL.
    ///
    /// # Errors
    /// A URL that is none, or that holds a password or a signature; a store that cannot be asked, with its answer and the
    /// remedy; nothing there that could be read as images; archives, lists and labels that cannot be understood, as the local
    /// sources of the same kinds refuse them; fields of data that have none; a cache folder that belongs to something else.
    pub fn open(self, url: &str) -> Result<Remote> {
        let remote = self.open_any(url)?;
        if let Some(field) = remote.left.first() {
            bail!(
                "the field `{}`: {url} is read as {}, which has second images and depth maps alone: add them with \
                 RemoteOptions::images, or name archives or a list",
                field.name(),
                remote.layout().description()
            );
        }
        Ok(remote)
    }

    /// The same, with the fields that data of the kind do not have left over.
    pub(super) fn open_any(mut self, url: &str) -> Result<Remote> {
        self.kind = self.kind.filter(|kind| *kind != Kind::Remote);
        let is_coco = match self.kind {
            Some(kind) => kind == Kind::Coco,
            None => self.image_dir.is_some() || is_ending(&url.to_lowercase(), &["json"]),
        };
        let address = if is_coco { annotations::images(url, &self)? } else { Address::parse(url)? };
        if !is_coco && self.image_dir.is_some() {
            bail!("{url}: image_dir is for COCO annotations: leave it out, or name annotations (.json)");
        }
        let store = Store::new(address, &self)?;
        let (mut records, mut contents, notes) = match is_coco {
            true => {
                let (records, contents) = annotations::find(url, &store, &self)?;
                (records, contents, Vec::new())
            }
            false => {
                let mut layout = Layout { store: &store, how: &self, notes: Vec::new() };
                let (records, contents) = layout.find()?;
                (records, contents, layout.notes)
            }
        };
        records.shrink();
        if let Some(bytes) = self.max_field_bytes {
            contents.limit_fields(bytes);
        }
        let has_none = matches!(contents, Contents::Folder(_) | Contents::Yolo(_) | Contents::Coco(_));
        let left = self.fields.filter(|_| has_none).unwrap_or_default();
        let objects = Objects { store, records, max_file_bytes: self.max_file_bytes };
        Ok(Remote { objects, contents, notes, left })
    }

    /// `source` with the masks of its images, which lie below `url` as [`WithMasks`] has them in a folder.
    ///
    /// # Errors
    /// Those of [`MaskOptions::open`], and of [`RemoteOptions::open`] for the URL; a plain HTTP server, which cannot list
    /// its files.
    pub fn masks<S: Source>(&self, source: S, url: &str, how: MaskOptions) -> Result<WithMasks<S>> {
        how.open_beside(source, self.beside(url)?)
    }

    /// `source` with second images or depth maps, each field from a URL or a folder, as [`WithImages`] has them.
    ///
    /// # Errors
    /// Those of [`WithImages::open`], and of [`RemoteOptions::open`] for the URLs; a plain HTTP server, which cannot list its
    /// files.
    pub fn images<S: Source>(&self, source: S, fields: impl Into<Vec<Field>>) -> Result<WithImages<S>> {
        WithImages::open_beside(source, fields.into(), &|field| match address::is_url(field.stored_as()) {
            // The field itself is not shown: its URL may hold a password.
            true => self
                .beside(field.stored_as())
                .map_err(|error| Error::config(format!("the field `{}`: {error}", field.name()))),
            false => local(field),
        })
    }

    fn beside(&self, url: &str) -> Result<Beside> {
        let objects = Arc::new(Prefix::open(self, url)?);
        Ok(Beside::Url { objects, chosen: Vec::new(), max_file_bytes: self.max_file_bytes })
    }
}

impl Source for Remote {
    pass_on!([.objects.records] len);
    pass_on!([.objects.store] io_stats);
    pass_on!([.contents] label classes);

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        filled(self, index, bytes, |bytes| self.objects.read(index, bytes))
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Borrowed(self.objects.records.key(index))
    }

    fn file(&self, index: usize) -> Option<Cow<'_, std::path::Path>> {
        self.objects.url(index).map(|url| Cow::Owned(url.into()))
    }

    fn version(&self, index: usize) -> Version {
        self.objects.version(index)
    }

    fn has_masks(&self) -> bool {
        self.contents.has_masks()
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        self.contents.mask(self, index, bytes)
    }

    fn fields(&self) -> &[Field] {
        self.contents.fields()
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        self.contents.values(self, index, values)
    }

    fn jpeg_sha256(&self, index: usize) -> Result<Option<String>> {
        self.contents.jpeg_sha256(self, index)
    }
}
