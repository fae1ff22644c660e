//! An HTTP client that retries what may succeed a little later, counts its requests, and returns complete answers only.
//!
//! All retries happen here, for reads, listings and credentials alike, so that there is one policy and one count. An
//! answer is received completely before it is used: a connection that breaks in the middle is a failed attempt like any
//! other.

use super::request_error::{Kind, MAX_ERROR_BYTES, RequestError};
use async_trait::async_trait;
use futures_util::StreamExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, ReqwestConnector,
};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The first pause; each one after it is twice as long, and up to half of it is left to chance.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The maximal pause.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Minimal limit of an answer, for those that are no records: listings, tokens.
const MIN_ANSWER_LIMIT_BYTES: u64 = 64 << 20;

/// Counts of requests and of the bytes received.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) requests: AtomicU64,
    pub(super) retries: AtomicU64,
    pub(super) bytes: AtomicU64,
}

/// When to retry; connects clients that do so.
#[derive(Clone, Debug)]
pub(super) struct RetryPolicy {
    pub(super) max_retries: u32,
    /// After this time there are no more retries.
    pub(super) deadline: Duration,
    pub(super) max_bytes: u64,
    pub(super) counts: Arc<Counts>,
}

#[derive(Debug)]
struct RetryClient {
    policy: RetryPolicy,
    inner: HttpClient,
    /// Whether the machine has given credentials.
    has_credentials: AtomicBool,
}

impl HttpConnector for RetryPolicy {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let inner = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(RetryClient::new(self.clone(), inner)))
    }
}

#[async_trait]
impl HttpService for RetryClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let began = Instant::now();
        for tries in 1.. {
            let error = match self.attempt(request.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let pause = pause(tries);
            let over = began.elapsed() + pause >= self.policy.deadline;
            if !error.kind.passes() || tries > self.policy.max_retries || over {
                return Err(HttpError::new(HttpErrorKind::Unknown, error.after(tries)));
            }
            self.policy.counts.retries.fetch_add(1, Relaxed);
            tokio::time::sleep(pause).await;
        }
        Err(HttpError::new(HttpErrorKind::Unknown, RequestError::too_slow(self.policy.deadline)))
    }
}

impl RetryClient {
    fn new(policy: RetryPolicy, inner: HttpClient) -> Self {
        Self { policy, inner, has_credentials: AtomicBool::new(false) }
    }

    async fn attempt(&self, request: HttpRequest) -> Result<HttpResponse, RequestError> {
        self.policy.counts.requests.fetch_add(1, Relaxed);
        let for_credentials = request.uri().host().is_some_and(is_metadata);
        let no_credentials = || {
            RequestError::new(Kind::Denied, "no credentials are in the environment, and the machine has none")
        };
        // A machine that has given some before will again.
        let is_first = for_credentials && !self.has_credentials.load(Relaxed);
        let answer = self.inner.execute(request).await.map_err(|error| match is_first {
            true => no_credentials(),
            false => RequestError::of_connection(&error),
        })?;
        let (parts, body) = answer.into_parts();
        let is_asked_too_often = matches!(parts.status.as_u16(), 408 | 429);
        if for_credentials && parts.status.is_client_error() && !is_asked_too_often {
            return Err(no_credentials());
        }
        if !parts.status.is_success() {
            // Whatever was sent of the reason will do.
            let mut reason = Vec::new();
            let _ = collect(body, MAX_ERROR_BYTES as u64, &mut reason).await;
            let name = parts.status.canonical_reason().unwrap_or_default();
            return Err(RequestError::of_status(parts.status.as_u16(), name, &reason));
        }
        let mut bytes = Vec::new();
        collect(body, self.policy.max_bytes.max(MIN_ANSWER_LIMIT_BYTES), &mut bytes).await?;
        self.policy.counts.bytes.fetch_add(bytes.len() as u64, Relaxed);
        self.has_credentials.fetch_or(for_credentials, Relaxed);
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(bytes)))
    }
}

/// Whether it is the host from which a machine in a cloud gets its credentials; elsewhere nothing answers there.
fn is_metadata(host: &str) -> bool {
    ["169.254.169.254", "169.254.170.2", "metadata.google.internal", "metadata"].contains(&host)
}

async fn collect(body: HttpResponseBody, max_bytes: u64, bytes: &mut Vec<u8>) -> Result<(), RequestError> {
    let mut chunks = body.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| RequestError::of_connection(&error))?;
        if (bytes.len() + chunk.len()) as u64 > max_bytes {
            let what = format!("the answer has more than max_file_bytes = {max_bytes} bytes");
            return Err(RequestError::new(Kind::TooLarge, what));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(())
}

/// The pause after attempt `tries`, counted from 1. It is partly random, so that workers that failed together do not come
/// back together; the random numbers of samples are not touched.
fn pause(tries: u32) -> Duration {
    let whole = FIRST_PAUSE.saturating_mul(1 << (tries - 1).min(16)).min(MAX_PAUSE);
    let chance = RandomState::new().hash_one(tries) as u32;
    whole / 2 + whole.mul_f64(f64::from(chance) / f64::from(u32::MAX) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_machine_without_credentials_of_its_own_is_told_from_a_store_that_does_not_answer() {
        assert!(is_metadata("169.254.169.254") && is_metadata("metadata.google.internal"));
        assert!(!is_metadata("bucket.s3.amazonaws.com") && !is_metadata("127.0.0.1"));
    }

    /// Answers with these statuses, one after the other; 0 is no answer.
    #[derive(Clone, Debug)]
    struct Answers(Arc<Mutex<Vec<u16>>>);

    #[async_trait]
    impl HttpService for Answers {
        async fn call(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
            match self.0.lock().unwrap().remove(0) {
                0 => Err(HttpError::new(HttpErrorKind::Connect, std::io::Error::other("reset"))),
                status => {
                    let mut answer = HttpResponse::new(HttpResponseBody::from(b"said".to_vec()));
                    *answer.status_mut() = status.try_into().unwrap();
                    Ok(answer)
                }
            }
        }
    }

    /// What becomes of requests to a host that answers so, and how many answers are left over.
    fn asked(host: &str, requests: usize, answers: &[u16]) -> (Vec<bool>, usize) {
        let answers = Answers(Arc::new(Mutex::new(answers.to_vec())));
        let (deadline, counts) = (Duration::from_secs(60), Arc::default());
        let policy = RetryPolicy { max_retries: 3, deadline, max_bytes: 1 << 20, counts };
        let client = RetryClient::new(policy, HttpClient::new(answers.clone()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let request = || {
            let mut request = HttpRequest::new(Vec::new().into());
            *request.uri_mut() = format!("http://{host}/").parse().unwrap();
            request
        };
        let outcomes = (0..requests).map(|_| runtime.block_on(client.call(request())).is_ok()).collect();
        let left = answers.0.lock().unwrap().len();
        (outcomes, left)
    }

    #[test]
    fn credentials_are_asked_for_again_where_the_machine_has_some() {
        let machine = "169.254.169.254";
        assert_eq!(asked(machine, 1, &[0, 200]), (vec![false], 1), "nothing answers: it has none");
        assert_eq!(asked(machine, 1, &[404, 200]), (vec![false], 1), "it says that it has none");
        assert_eq!(asked(machine, 1, &[429, 200]), (vec![true], 0));
        assert_eq!(asked(machine, 2, &[200, 0, 503, 200]), (vec![true, true], 0));
        assert_eq!(asked("bucket", 1, &[0, 503, 200]), (vec![true], 0));
    }

    #[test]
    fn pauses_double_up_to_a_bound_and_are_never_the_same() {
        for (tries, most) in [(1, 50), (2, 100), (3, 200), (7, 3200), (8, 5000), (4000, 5000)] {
            let most = Duration::from_millis(most);
            let pauses: Vec<Duration> = (0..50).map(|_| pause(tries)).collect();
            assert!(pauses.iter().all(|&pause| pause >= most / 2 && pause <= most), "{tries}: {pauses:?}");
            assert!(pauses.iter().any(|&pause| pause != pauses[0]));
        }
    }
}
