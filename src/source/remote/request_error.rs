//! Why a request to a store failed, whether trying again may help, and what to do where it does not.

use object_store::client::{HttpError, HttpErrorKind};
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Maximal length of an error code that is shown; anything longer is not a code.
const MAX_CODE_BYTES: usize = 64;
/// Maximal part of an error answer that is looked at.
pub(super) const MAX_ERROR_BYTES: usize = 1 << 16;

/// Why a request failed, and the remedy. Nothing of what a server writes is shown but the code, for stores put the token
/// that has expired into their answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestError {
    pub(super) kind: Kind,
    what: String,
}

/// Errors, by what can be done about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Missing,
    Expired,
    Denied,
    Clock,
    Elsewhere,
    Changed,
    NoRanges,
    TooLarge,
    Oversized,
    /// The server cannot answer now: 5xx, or asked to be left alone.
    Busy,
    /// The connection did not come about, or broke.
    Broken,
    /// Nothing came for too long.
    Slow,
    /// Called from inside an asynchronous task.
    Nested,
    Other,
}

impl Kind {
    /// Whether the same request may well succeed a little later.
    pub(super) fn passes(self) -> bool {
        matches!(self, Kind::Busy | Kind::Broken | Kind::Slow)
    }

    fn remedy(self) -> &'static str {
        match self {
            Kind::Missing => "restore the object, or open the data set again",
            Kind::Expired => {
                "renew the credentials in the environment and start again; --resume goes on from a state"
            }
            Kind::Denied => {
                "give credentials that may read it in the environment (docs/remote.md lists the variables), or ask for \
                 a public bucket with the variable that leaves signatures out"
            }
            Kind::Clock => "set the clock of this machine right",
            Kind::Elsewhere => "give the bucket's own region (AWS_REGION) or endpoint",
            Kind::Changed => "open the data set again, and leave its objects alone while they are read",
            Kind::NoRanges => {
                "use a server that answers range requests (HTTP 206), or loose images in place of archives"
            }
            Kind::TooLarge => "raise max_file_bytes or take it out of the data set",
            Kind::Oversized => "see whether it is the file that is meant",
            Kind::Busy => "the server may be overloaded: use fewer workers, or try again later",
            Kind::Broken => "check the network, the endpoint and its certificates",
            Kind::Slow => "check the network, or raise timeout",
            Kind::Nested => "call it on a thread of its own, outside the asynchronous runtime",
            Kind::Other => "check the URL and the store",
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.kind.remedy())
    }
}

impl Error for RequestError {}

impl RequestError {
    pub(super) fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into() }
    }

    pub(super) fn changed() -> Self {
        Self::new(Kind::Changed, "the object is not the one that was there at the opening")
    }

    /// The same error, with the number of attempts.
    pub(super) fn after(mut self, tries: u32) -> Self {
        if tries > 1 {
            self.what = format!("{}, {tries} times", self.what);
        }
        self
    }

    pub(super) fn too_slow(deadline: Duration) -> Self {
        Self::new(Kind::Slow, format!("it was not read within {:.1} s", deadline.as_secs_f64()))
    }

    /// The error that an answer without success means.
    pub(super) fn of_status(status: u16, reason: &str, body: &[u8]) -> Self {
        let code = code(body);
        let kind = match (status, code.as_deref().unwrap_or_default()) {
            (_, "ExpiredToken" | "ExpiredTokenException" | "TokenRefreshRequired" | "RequestExpired") => {
                Kind::Expired
            }
            (_, "RequestTimeTooSkewed") => Kind::Clock,
            (_, "RequestTimeout" | "SlowDown" | "InternalError" | "ServerBusy" | "OperationTimedOut") => {
                Kind::Busy
            }
            (_, "PermanentRedirect" | "AuthorizationHeaderMalformed") | (300..=399, _) => Kind::Elsewhere,
            (404 | 410, _) => Kind::Missing,
            (401 | 403, _) => Kind::Denied,
            (412, _) => Kind::Changed,
            (416, _) => Kind::Changed,
            (501 | 505, _) => Kind::Other,
            (408 | 429 | 500..=599, _) => Kind::Busy,
            _ => Kind::Other,
        };
        let code = code.map_or_else(String::new, |code| format!(" ({code})"));
        let expired = if kind == Kind::Expired { "the credentials have expired: " } else { "" };
        Self::new(kind, format!("{expired}the server says {status} {reason}{code}"))
    }

    /// The error that a failed connection means.
    pub(super) fn of_connection(error: &HttpError) -> Self {
        let (kind, what) = match error.kind() {
            HttpErrorKind::Timeout => (Kind::Slow, "the server did not answer in time"),
            HttpErrorKind::Connect => (Kind::Broken, "no connection to the server"),
            _ => (Kind::Broken, "the connection broke"),
        };
        // The innermost error is the system's own message, without URLs or headers.
        let mut inner: &dyn Error = error;
        while let Some(source) = inner.source() {
            inner = source;
        }
        Self::new(kind, format!("{what} ({inner})"))
    }

    /// The cause of an error of `object_store`, which may be one of ours that it passes on; `credentials` names the variables
    /// that credentials of this store come from.
    pub(super) fn of_store(error: &object_store::Error, credentials: &str) -> Self {
        let mut cause: Option<&dyn Error> = Some(error);
        while let Some(at) = cause {
            if let Some(own) = at.downcast_ref::<RequestError>() {
                return own.clone();
            }
            cause = at.source();
        }
        let text = error.to_string();
        if text.contains("non-partial response") {
            return Self::new(Kind::NoRanges, "the server sent the whole object where a part was asked for");
        }
        match error {
            object_store::Error::NotFound { .. } => Self::new(Kind::Missing, "there is no such object"),
            object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
                Self::new(Kind::Denied, format!("the credentials do not do{credentials}"))
            }
            object_store::Error::Precondition { .. } => Self::new(Kind::Changed, "the object has changed"),
            // Everything that came over the network is one of ours; what is left is about names and settings.
            _ => Self::new(Kind::Other, text.lines().next().unwrap_or_default()),
        }
    }
}

/// The code in the XML of an error, as S3, Google Cloud Storage and Azure send it.
fn code(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(&body[..body.len().min(MAX_ERROR_BYTES)]).ok()?;
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let sound =
        !code.is_empty() && code.len() <= MAX_CODE_BYTES && code.bytes().all(|b| b.is_ascii_alphanumeric());
    sound.then(|| code.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(status: u16, body: &str) -> Kind {
        RequestError::of_status(status, "Reason", body.as_bytes()).kind
    }

    #[test]
    fn what_passes_by_itself_is_tried_again_and_nothing_else() {
        for status in [408, 429, 500, 502, 503, 504] {
            assert!(kind(status, "").passes(), "{status}");
        }
        for status in [301, 400, 401, 403, 404, 410, 412, 416, 501, 505] {
            assert!(!kind(status, "").passes(), "{status}");
        }
        assert!(kind(400, "<Error><Code>RequestTimeout</Code></Error>").passes());
        assert!(!kind(503, "<Error><Code>ExpiredToken</Code></Error>").passes());
    }

    #[test]
    fn credentials_that_have_expired_are_told_from_those_that_never_did() {
        let expired =
            "<?xml?><Error><Code>ExpiredToken</Code><Message>m</Message><Token-0>s3cret</Token-0></Error>";
        for status in [400, 403] {
            let error = RequestError::of_status(status, "Forbidden", expired.as_bytes());
            assert_eq!(error.kind, Kind::Expired);
            let text = error.to_string();
            assert!(text.contains("expired") && text.contains("renew"), "{text}");
            assert!(!format!("{text}{error:?}").contains("s3cret"), "the server's own text is not shown");
        }
        assert_eq!(kind(403, "<Error><Code>AccessDenied</Code></Error>"), Kind::Denied);
        assert_eq!(kind(403, "<Error><Code>RequestTimeTooSkewed</Code></Error>"), Kind::Clock);
        assert_eq!(kind(404, "<Error><Code>NoSuchKey</Code></Error>"), Kind::Missing);
        assert_eq!(kind(301, "<Error><Code>PermanentRedirect</Code></Error>"), Kind::Elsewhere);
    }

    #[test]
    fn a_code_that_is_none_is_not_shown() {
        for body in [
            "<Code>a secret with spaces</Code>",
            "<Code></Code>",
            "<Code>",
            "\u{fffd}",
            &"<Code>x".repeat(99),
        ] {
            assert_eq!(code(body.as_bytes()), None, "{body}");
        }
        assert_eq!(code(b"\xff<Code>A</Code>"), None);
    }
}
