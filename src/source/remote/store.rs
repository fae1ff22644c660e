//! A store, and the folder that keeps what was fetched from it.

use super::RemoteOptions;
use super::address::Address;
use super::client::{Client, Wanted};
use super::request_error::{Kind, RequestError};
use crate::error::{Error, Result, bail, ensure};
use crate::source::IoStats;
use crate::source::disk_cache::DiskCache;
use object_store::path::Path;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Objects that are fetched at once, and held in memory together, and bytes of those whose size is known.
const TOGETHER: usize = 1024;
const BYTES_TOGETHER: u64 = 256 << 20;

/// The content of an object, or why there is none.
pub(super) type Answer = Result<Vec<u8>, RequestError>;

/// A client and the cache ahead of it.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) client: Client,
    pub(super) cache: Option<DiskCache>,
}

/// What is known of an object's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// The one that it had when the data set was opened, and must still have.
    Own(u64),
    /// That of the list that names it; nothing is known of the object itself.
    OfList(u64),
}

impl Store {
    pub(super) fn new(address: Address, options: &RemoteOptions) -> Result<Self> {
        ensure!(
            (1..=4096).contains(&options.concurrency),
            "concurrency must be in 1..=4096: leave it out for 64"
        );
        if options.timeout < Duration::from_millis(10) {
            bail!("timeout is below 10 ms, in which nothing is read: leave it out for 60 s");
        }
        let cache = match &options.cache {
            Some((folder, max_bytes)) => Some(DiskCache::open(folder, *max_bytes)?),
            None => None,
        };
        Ok(Self { client: Client::new(address, options)?, cache })
    }

    /// The URL of an object, for people.
    pub(super) fn shown(&self, path: &Path) -> String {
        self.client.address.shown(path)
    }

    /// The error of an object that the opening needs.
    pub(super) fn failed(&self, path: &Path, error: &RequestError) -> Error {
        Error::config(format!("{}: {error}", self.shown(path)))
    }

    /// Replaces the content of `bytes` by the object's, or by a part of it.
    pub(super) fn fetch(
        &self,
        path: &Path,
        part: Option<Range<u64>>,
        version: Version,
        bytes: &mut Vec<u8>,
    ) -> Result<(), RequestError> {
        bytes.clear();
        if part.as_ref().is_some_and(Range::is_empty) {
            return Ok(());
        }
        let name = self.cache.as_ref().map(|cache| (cache, self.key(path, version, part.as_ref())));
        if let Some((cache, key)) = &name
            && cache.read(key, bytes)
        {
            return Ok(());
        }
        let wanted = match version {
            Version::Own(version) => Some(version),
            Version::OfList(_) => None,
        };
        self.client.get(path, part, wanted, bytes)?;
        if let Some((cache, key)) = &name {
            cache.write(key, bytes);
        }
        Ok(())
    }

    /// Hands what was wanted and its content to `take`, in order, each with its number: as many requests are under way at once
    /// as may be. What the cache keeps of objects whose version is known is not asked for.
    pub(super) fn fetch_each(
        &self,
        mut wanted: impl Iterator<Item = Option<Wanted>>,
        take: &mut dyn FnMut(usize, Option<(Wanted, Answer)>) -> Result<()>,
    ) -> Result<()> {
        let mut number = 0;
        loop {
            let some = together(&mut wanted);
            if some.is_empty() {
                return Ok(());
            }
            let mut bytes = Vec::new();
            let kept: Vec<Option<Vec<u8>>> = some
                .iter()
                .map(|wanted| {
                    let (wanted, cache) = (wanted.as_ref()?, self.cache.as_ref()?);
                    cache.read(&self.key_of(wanted)?, &mut bytes).then(|| std::mem::take(&mut bytes))
                })
                .collect();
            let missing = some.iter().zip(&kept).filter(|(_, kept)| kept.is_none());
            let missing: Vec<Wanted> = missing.filter_map(|(wanted, _)| wanted.clone()).collect();
            let mut answers = self.client.get_many(&missing).into_iter();
            for (wanted, kept) in some.into_iter().zip(kept) {
                let found = wanted.and_then(|wanted| {
                    let answer = match kept {
                        Some(kept) => Ok(kept),
                        None => answers.next().inspect(|answer| self.keep(&wanted, answer))?,
                    };
                    Some((wanted, answer))
                });
                take(number, found)?;
                number += 1;
            }
        }
    }

    fn keep(&self, wanted: &Wanted, answer: &Answer) {
        if let (Ok(bytes), Some(cache), Some(key)) = (answer, &self.cache, self.key_of(wanted)) {
            cache.write(&key, bytes);
        }
    }

    fn key_of(&self, wanted: &Wanted) -> Option<String> {
        wanted.version.map(|version| self.key(&wanted.path, Version::Own(version), None))
    }

    /// What an entry of the cache is called: the same bytes have the same name in every process.
    pub(super) fn key(&self, path: &Path, version: Version, part: Option<&Range<u64>>) -> String {
        let (Version::Own(version) | Version::OfList(version)) = version;
        let part = part.map_or_else(String::new, |part| format!("{}-{}", part.start, part.end));
        format!("{}\n{version:016x}\n{part}", self.shown(path))
    }

    /// The content of an object that has to be there, and of which nothing is known.
    pub(super) fn get(&self, path: &Path) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.client.get(path, None, None, &mut bytes).map_err(|error| self.failed(path, &error))?;
        Ok(bytes)
    }

    /// The content of an object that may be missing, and of which nothing is known; stores that may not be listed answer
    /// "forbidden" for those that do not exist.
    pub(super) fn get_if_there(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        match self.client.get(path, None, None, &mut bytes) {
            Ok(()) => Ok(Some(bytes)),
            Err(error) if matches!(error.kind, Kind::Missing | Kind::Denied) => Ok(None),
            Err(error) => Err(self.failed(path, &error)),
        }
    }

    pub(super) fn io_stats(&self) -> IoStats {
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

/// The next objects that are fetched at once.
fn together(wanted: &mut impl Iterator<Item = Option<Wanted>>) -> Vec<Option<Wanted>> {
    let (mut some, mut bytes) = (Vec::new(), 0);
    while some.len() < TOGETHER
        && bytes < BYTES_TOGETHER
        && let Some(next) = wanted.next()
    {
        bytes += next
            .iter()
            .filter(|wanted| wanted.version.is_some())
            .map(|wanted| wanted.most_bytes)
            .sum::<u64>();
        some.push(next);
    }
    some
}
