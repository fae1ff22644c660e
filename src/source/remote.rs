//! Images in object stores and on HTTP servers: class directories, lists, and tar shards.

mod address;
mod client;
mod layout;
mod ranged;
mod records;
mod request_error;
mod retry_client;

use super::disk_cache::DiskCache;
use super::{IoStats, MAX_FILE_BYTES, Source, filled, too_large};
use crate::error::{Cause, Result, bail, ensure};
use crate::options::DataOptions;
use address::Address;
use client::Client;
use layout::Layout;
use records::{Records, Whereabouts};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Images below `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`, or at `https://`.
///
/// The kind of data set is found by looking: tar archives directly below the prefix (read as [`super::Shards`] are),
/// else a directory for each class ([`super::Folder`]), else images without labels. A URL that ends in `.tar` is one
/// archive, one that ends in `.txt` a list ([`super::List`]) of images or of archives, relative to itself. A plain
/// HTTP server cannot list its files, so there it must be one of the latter two. An archive with a table beside it
/// ([`super::Shards::write_tables`]) is opened by one request; of others all headers are read.
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
    client: Client,
    cache: Option<DiskCache>,
    records: Records,
    notes: Vec<String>,
    max_file_bytes: u64,
}

/// How a remote data set is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteOptions {
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

    fn fill(&self, index: usize, bytes: &mut Vec<u8>) -> Result<(), Cause> {
        let Whereabouts { path, part, size, version } = self.records.find(index, &self.client.address)?;
        let shown = || self.client.address.shown(&path);
        if let Some(size) = size.filter(|size| *size > self.max_file_bytes) {
            return Err(too_large(&shown(), size, self.max_file_bytes));
        }
        if size == Some(0) {
            return Ok(());
        }
        let name = self.cache.as_ref().map(|cache| (cache, cache_key(&shown(), version, part.as_ref())));
        if let Some((cache, key)) = &name
            && cache.read(key, bytes)
        {
            return Ok(());
        }
        // The version of an object in a list is that of the list: nothing is known of the object itself.
        let wanted = version.filter(|_| !self.records.is_list());
        self.client
            .get(&path, part, wanted, bytes)
            .map_err(|error| format!("cannot read {}: {error}", shown()))?;
        if let Some((cache, key)) = &name {
            cache.write(key, bytes);
        }
        Ok(())
    }
}

/// What an entry of the cache is called: the same bytes have the same name in every process.
fn cache_key(url: &str, version: Option<u64>, part: Option<&std::ops::Range<u64>>) -> String {
    let part = part.map_or_else(String::new, |part| format!("{}-{}", part.start, part.end));
    format!("{url}\n{:016x}\n{part}", version.unwrap_or_default())
}

impl RemoteOptions {
    /// Keeps what was fetched in this folder, at most `max_bytes`, for the next epoch and for other processes. It must be
    /// empty or such a cache; what was not used for the longest time goes first. Each further process that writes at the
    /// same time may hold an eighth of `max_bytes` more.
    pub fn cache(self, folder: impl Into<PathBuf>, max_bytes: u64) -> Self {
        Self { cache: Some((folder.into(), max_bytes)), ..self }
    }

    setters! {
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

    /// Opens the data set at `url`.
    ///
    /// # Errors
    /// A URL that is none, or that holds a password or a signature; a store that cannot be asked, with its answer and the
    /// remedy; nothing there that could be read as images; archives and lists that cannot be understood; a cache folder
    /// that belongs to something else.
    pub fn open(self, url: &str) -> Result<Remote> {
        ensure!(
            (1..=4096).contains(&self.concurrency),
            "concurrency must be in 1..=4096: leave it out for 64"
        );
        if self.timeout < Duration::from_millis(10) {
            bail!("timeout is below 10 ms, in which nothing is read: leave it out for 60 s");
        }
        let address = Address::parse(url)?;
        let cache = match &self.cache {
            Some((folder, max_bytes)) => Some(DiskCache::open(folder, *max_bytes)?),
            None => None,
        };
        let client = Client::new(address, &self)?;
        let mut layout = Layout { client: &client, cache: cache.as_ref(), notes: Vec::new() };
        let (records, notes) = (layout.find()?, layout.notes);
        Ok(Remote { client, cache, records, notes, max_file_bytes: self.max_file_bytes })
    }
}

impl Source for Remote {
    pass_on!([.records] len);
    pass_on!([.records.classes] label classes);

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        filled(self, index, bytes, |bytes| self.fill(index, bytes))
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Borrowed(self.records.key(index))
    }

    fn io_stats(&self) -> IoStats {
        let counts = self.client.counts();
        let stats = IoStats {
            requests: counts.requests.load(Relaxed),
            retries: counts.retries.load(Relaxed),
            bytes_fetched: counts.bytes.load(Relaxed),
            ..IoStats::default()
        };
        self.cache.as_ref().map_or(stats, |cache| cache.count(stats))
    }
}
