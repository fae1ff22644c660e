//! Blocking calls on a store, each of bounded time, whose network is driven by the threads that wait for it.

use super::RemoteOptions;
use super::address::Address;
use super::request_error::{Kind, RequestError};
use super::retry_client::{Counts, RetryPolicy};
use crate::error::{Error, Result};
use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use twox_hash::XxHash3_64;

/// Threads that look up names, which the system only does while it blocks; they end when idle.
const NAME_THREADS: usize = 2;
/// Most objects of one listing.
const MAX_OBJECTS: usize = 1 << 27;

/// A store and what drives it.
pub(super) struct Client {
    pub(super) address: Address,
    store: Arc<dyn ObjectStore>,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    /// How many requests may be under way.
    gate: Semaphore,
    timeout: Duration,
    counts: Arc<Counts>,
}

/// An object as it was when the data set was opened.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) path: Path,
    pub(super) size: u64,
    pub(super) version: u64,
}

/// One of many objects to read.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) path: Path,
    /// How many bytes it may have.
    pub(super) most_bytes: u64,
    /// The version that it must have, where one is known.
    pub(super) version: Option<u64>,
}

impl Object {
    fn of(meta: &ObjectMeta) -> Self {
        Self { path: meta.location.clone(), size: meta.size, version: version(meta) }
    }
}

/// What identifies a state of an object: its tag where it has one, its size, and its time where it has no tag.
fn version(meta: &ObjectMeta) -> u64 {
    // The same tag comes in quotes, without, or marked as weak, depending on the kind of answer.
    let tag = meta.e_tag.as_deref().map(|tag| tag.trim_start_matches("W/").trim_matches('"'));
    let text = match tag {
        Some(tag) => format!("{tag} {}", meta.size),
        None => format!("{} {}", meta.last_modified, meta.size),
    };
    XxHash3_64::oneshot(text.as_bytes())
}

impl Client {
    pub(super) fn new(address: Address, options: &RemoteOptions) -> Result<Self> {
        let counts = Arc::new(Counts::default());
        let retries = RetryPolicy {
            max_retries: options.max_retries,
            deadline: options.timeout,
            max_bytes: options.max_file_bytes,
            counts: Arc::clone(&counts),
        };
        let store = address.store(options, retries)?;
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(NAME_THREADS).build();
        let runtime = runtime.map_err(|error| Error::Unavailable {
            what: "network input".into(),
            why: error.to_string(),
            remedy: "raise the limit of open files (ulimit -n)".into(),
        })?;
        let gate = Semaphore::new(options.concurrency);
        Ok(Self { address, store, runtime: Some(runtime), gate, timeout: options.timeout, counts })
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Replaces the content of `bytes` by the object's, or by a part of it. With a `version`, the object must still be
    /// the one that has it.
    pub(super) fn get(
        &self,
        path: &Path,
        part: Option<Range<u64>>,
        version_wanted: Option<u64>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), RequestError> {
        bytes.clear();
        self.wait(async {
            let (meta, result) = self.answer(path, part, false).await?;
            if version_wanted.is_some_and(|wanted| wanted != version(&meta)) {
                return Err(RequestError::changed());
            }
            let mut chunks = result.into_stream();
            while let Some(chunk) = chunks.next().await {
                bytes.extend_from_slice(&chunk.map_err(|error| self.explained(&error))?);
            }
            Ok(())
        })
        .inspect_err(|_| bytes.clear())
    }

    /// What is known of an object without reading it.
    pub(super) fn head(&self, path: &Path) -> Result<Object, RequestError> {
        self.wait(async { Ok(Object::of(&self.answer(path, None, true).await?.0)) })
    }

    /// Hands all objects below `prefix` to `take`, in no order. A page that fails is asked for again, not the listing.
    pub(super) fn list(&self, prefix: &Path, take: &mut dyn FnMut(Object)) -> Result<(), RequestError> {
        let mut pages = self.store.list(Some(prefix));
        for _ in 0..MAX_OBJECTS {
            let next =
                self.wait(async { pages.next().await.transpose().map_err(|error| self.explained(&error)) })?;
            match next {
                Some(meta) => take(Object::of(&meta)),
                None => return Ok(()),
            }
        }
        Err(RequestError::new(Kind::Other, format!("more than {MAX_OBJECTS} objects lie there")))
    }

    /// The contents of many objects in their order; an error where one failed.
    pub(super) fn get_many(&self, wanted: &[Wanted]) -> Vec<Result<Vec<u8>, RequestError>> {
        self.each(wanted, |Wanted { path, most_bytes, version: known }| async move {
            let (meta, result) = self.answer(&path, None, false).await?;
            if known.is_some_and(|known| known != version(&meta)) {
                return Err(RequestError::changed());
            }
            if meta.size > most_bytes {
                let what = format!("it has {} bytes, and is meant to have {most_bytes} at most", meta.size);
                return Err(RequestError::new(Kind::Oversized, what));
            }
            result.bytes().await.map(Vec::from).map_err(|error| self.explained(&error))
        })
    }

    /// What is known of many objects without reading them.
    pub(super) fn head_many(&self, paths: &[Path]) -> Vec<Result<Object, RequestError>> {
        self.each(paths, |path| async move { Ok(Object::of(&self.answer(&path, None, true).await?.0)) })
    }

    /// The results of as many requests, in order, each of bounded time; as many are under way as may be.
    fn each<W: Clone, T, F>(&self, wanted: &[W], one: impl Fn(W) -> F) -> Vec<Result<T, RequestError>>
    where
        F: Future<Output = Result<T, RequestError>>,
    {
        let bounded = |wanted: W| {
            let request = one(wanted);
            async move {
                let bounded = timeout(self.timeout, request).await;
                bounded.unwrap_or_else(|_| Err(RequestError::too_slow(self.timeout)))
            }
        };
        let many = futures_util::stream::iter(wanted.iter().cloned().map(bounded));
        let many = many.buffered(self.gate.available_permits().max(1));
        self.drive(many.collect::<Vec<_>>())
            .unwrap_or_else(|error| wanted.iter().map(|_| Err(error.clone())).collect())
    }

    async fn answer(
        &self,
        path: &Path,
        part: Option<Range<u64>>,
        head: bool,
    ) -> Result<(ObjectMeta, GetResult), RequestError> {
        let options = GetOptions { range: part.map(GetRange::Bounded), head, ..GetOptions::default() };
        let result = self.store.get_opts(path, options).await.map_err(|error| self.explained(&error))?;
        Ok((result.meta.clone(), result))
    }

    fn explained(&self, error: &object_store::Error) -> RequestError {
        RequestError::of_store(error, self.address.service.credentials())
    }

    /// Waits for `work`, no longer than a read may take.
    fn wait<T>(&self, work: impl Future<Output = Result<T, RequestError>>) -> Result<T, RequestError> {
        self.drive(async {
            let bounded = timeout(self.timeout, async {
                let _permit = self.gate.acquire().await;
                work.await
            });
            bounded.await.unwrap_or_else(|_| Err(RequestError::too_slow(self.timeout)))
        })?
    }

    fn drive<T>(&self, work: impl Future<Output = T>) -> Result<T, RequestError> {
        match &self.runtime {
            // tokio would panic.
            _ if Handle::try_current().is_ok() => Err(RequestError::new(
                Kind::Nested,
                "a remote data set blocks, and was used inside an asynchronous runtime",
            )),
            Some(runtime) => Ok(runtime.block_on(work)),
            None => Err(RequestError::new(Kind::Other, "the data set is closed")),
        }
    }
}

/// The store itself is not shown, for it holds credentials.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("address", &self.address)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Nothing is waited for: the system may take its time over a name that it cannot find.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
