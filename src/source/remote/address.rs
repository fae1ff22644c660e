//! The URL of a remote data set, and the store that it names.

use super::RemoteOptions;
use super::retry_client::RetryPolicy;
use crate::error::{Error, Result, bail, ensure};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};
use std::sync::Arc;
use std::time::Duration;

/// The kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    S3,
    Google,
    Azure,
    Http,
}

impl Service {
    /// The variables that its credentials are usually taken from, as an addition to a message.
    pub(super) fn credentials(self) -> &'static str {
        match self {
            Service::S3 => " (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
            Service::Google => " (GOOGLE_SERVICE_ACCOUNT)",
            Service::Azure => " (AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY)",
            Service::Http => "",
        }
    }
}

/// The schemes of URLs, and the services that they stand for.
const SCHEMES: [(&str, Service); 5] = [
    ("s3", Service::S3),
    ("gs", Service::Google),
    ("az", Service::Azure),
    ("http", Service::Http),
    ("https", Service::Http),
];

/// A URL in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) service: Service,
    /// `s3://bucket` or `https://host:port`.
    pub(super) root: String,
    /// The rest, without a slash at either end.
    pub(super) path: Path,
}

/// Whether `text` begins like the URL of a remote data set.
pub(super) fn is_url(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| SCHEMES.iter().any(|(known, _)| *known == scheme))
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let known = SCHEMES.iter().find(|(known, _)| *known == scheme);
        let Some(&(_, service)) = known else {
            bail!(
                "`{}` is no URL of a remote data set: use s3://, gs://, az://, https:// or http://",
                url.chars().take(80).collect::<String>()
            );
        };
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        // A URL with a password or a signature in it must not be shown either.
        if place.contains('@') {
            bail!(
                "the {scheme}:// URL holds a name or a password: credentials are taken from the environment only"
            );
        }
        ensure!(!place.is_empty(), "`{url}` names no bucket or host: use {scheme}://NAME/PATH");
        let root = format!("{scheme}://{place}");
        if service == Service::Http && path.contains(['?', '#']) {
            bail!(
                "the URL at {root} has a query or a fragment (a signature, perhaps), which cannot be read as a data \
                 set: name the object itself, or use the store's own scheme (s3://, gs://, az://)"
            );
        }
        let trimmed = path.trim_matches('/');
        let parsed = match service {
            Service::Http => Path::from_url_path(trimmed),
            _ => Path::parse(trimmed),
        };
        let path = parsed.map_err(|error| Error::config(format!("{url}: {error}; check the URL")))?;
        Ok(Self { service, root, path })
    }

    /// The URL of an object, for people.
    pub(super) fn shown(&self, path: &Path) -> String {
        format!("{}/{path}", self.root)
    }

    /// The path of `url`, which must lie in the same store; `what` it is, for messages.
    pub(super) fn path_of(&self, url: &str, what: &str) -> Result<Path> {
        let other = Self::parse(url)?;
        ensure!(
            other.root == self.root,
            "{what} is in {}, and the data are in {}: name a place in the same store",
            other.root,
            self.root
        );
        Ok(other.path)
    }

    /// The folder of an object of this address.
    pub(super) fn folder(mut self) -> Self {
        let path = self.path.as_ref();
        self.path = Path::parse(path.rsplit_once('/').map_or("", |(folder, _)| folder)).unwrap_or_default();
        self
    }

    /// Whether the store can list its objects.
    pub(super) fn lists(&self) -> bool {
        self.service != Service::Http
    }

    /// The store, with credentials from the environment.
    pub(super) fn store(
        &self,
        options: &RemoteOptions,
        retries: RetryPolicy,
    ) -> Result<Arc<dyn ObjectStore>> {
        // ring does the cryptography, unless the program has chosen something else already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let name = self.root.split_once("://").map_or("", |(_, name)| name);
        let settings = settings(options, self.is_plain(options));
        let none = RetryConfig { max_retries: 0, retry_timeout: Duration::ZERO, ..RetryConfig::default() };
        macro_rules! finish {
            ($builder:expr, $key:expr) => {
                settings
                    .into_iter()
                    .fold($builder, |builder, (key, value)| builder.with_config($key(key), value))
                    .with_retry(none)
                    .with_http_connector(retries)
                    .build()
                    .map(|store| Arc::new(store) as Arc<dyn ObjectStore>)
            };
        }
        let endpoint = options.endpoint.as_deref();
        let built = match self.service {
            Service::S3 => {
                let mut builder = AmazonS3Builder::from_env().with_bucket_name(name);
                builder = endpoint.into_iter().fold(builder, AmazonS3Builder::with_endpoint);
                if options.anonymous {
                    builder = builder.with_skip_signature(true);
                }
                finish!(builder, AmazonS3ConfigKey::Client)
            }
            Service::Google => {
                let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(name);
                builder = endpoint.into_iter().fold(builder, GoogleCloudStorageBuilder::with_base_url);
                if options.anonymous {
                    builder = builder.with_skip_signature(true);
                }
                finish!(builder, GoogleConfigKey::Client)
            }
            Service::Azure => {
                let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(name);
                builder = endpoint
                    .into_iter()
                    .map(str::to_owned)
                    .fold(builder, MicrosoftAzureBuilder::with_endpoint);
                if options.anonymous {
                    builder = builder.with_skip_signature(true);
                }
                finish!(builder, AzureConfigKey::Client)
            }
            Service::Http => finish!(HttpBuilder::new().with_url(&self.root), std::convert::identity),
        };
        built.map_err(|error| {
            let what = error.to_string();
            let what = what.lines().next().unwrap_or_default();
            Error::config(format!("{}: {what}; docs/remote.md lists the variables that are read", self.root))
        })
    }

    /// Whether bytes travel without encryption, since the user named an address of that kind.
    fn is_plain(&self, options: &RemoteOptions) -> bool {
        let named = options.endpoint.as_deref().unwrap_or(&self.root);
        named.starts_with("http://")
    }
}

/// The settings of every client. An attempt may take half the time of a read, so that a second one has time as well.
fn settings(options: &RemoteOptions, plain: bool) -> Vec<(ClientConfigKey, String)> {
    let milliseconds = |time: Duration| format!("{} ms", time.as_millis().max(1));
    let stall = options.stall_timeout.min(options.timeout / 2);
    let mut settings = vec![
        (ClientConfigKey::Timeout, milliseconds(options.timeout / 2)),
        (ClientConfigKey::ConnectTimeout, milliseconds(stall)),
        (ClientConfigKey::ReadTimeout, milliseconds(stall)),
        (ClientConfigKey::PoolMaxIdlePerHost, options.concurrency.to_string()),
    ];
    if plain {
        settings.push((ClientConfigKey::AllowHttp, "true".into()));
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_falls_into_service_root_and_path() {
        let parts = |url| Address::parse(url).map(|a| (a.service, a.root, a.path.to_string())).unwrap();
        assert_eq!(parts("s3://bucket/a b/c/"), (Service::S3, "s3://bucket".into(), "a b/c".into()));
        assert_eq!(parts("gs://bucket"), (Service::Google, "gs://bucket".into(), String::new()));
        assert_eq!(parts("az://c/x.tar"), (Service::Azure, "az://c".into(), "x.tar".into()));
        let http = (Service::Http, "https://host:8443".into(), "a b/list.txt".into());
        assert_eq!(parts("https://host:8443/a%20b/list.txt"), http);
        assert!(
            is_url("s3://x") && is_url("http://x") && !is_url("/s3/x") && !is_url("ftp://x") && !is_url("s3")
        );
    }

    #[test]
    fn a_url_that_holds_a_secret_is_refused_and_not_shown() {
        for url in
            ["https://name:s3cret@host/a", "https://host/a.tar?X-Amz-Signature=s3cret", "s3://k:s3cret@b/a"]
        {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
        for url in ["s3://", "s3:///path", "ftp://host/a", "https://"] {
            Address::parse(url).unwrap_err();
        }
    }
}
