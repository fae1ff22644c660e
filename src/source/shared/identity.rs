//! What a cache is of: which records, where they lie, and what is stored of them.

use super::layout::Of;
use super::places::Name;
use crate::error::{Error, Result, ensure};
use crate::source::Source;
use std::hash::Hasher;
use std::path::Path;
use twox_hash::XxHash3_64;

/// What tells a cache from others.
pub(super) struct Identity {
    pub(super) of: Of,
    pub(super) name: Name,
}

impl Identity {
    /// Of the records of `source`, which are stored as `settings` say.
    ///
    /// # Errors
    /// A record that lies in no file.
    pub(super) fn of(source: &impl Source, settings: &str) -> Result<Self> {
        let (mut keys, mut common) = (XxHash3_64::new(), None);
        let mut is_whole = true;
        for index in 0..source.len() {
            let file = source.file(index);
            let Some(file) = &file else {
                let key = source.key(index);
                return Err(Error::config(format!(
                    "processes cannot share a cache of these data: record {index} ({key}) lies in no file whose date, or an object's \
                     version, would tell that it has changed; use byte_cache, or open files by their paths"
                )));
            };
            let bytes = file.as_os_str().as_encoded_bytes();
            is_whole &= file.is_absolute() || is_url(file);
            common = Some(match common {
                None => bytes.to_owned(),
                Some(common) => shared_head(common, bytes),
            });
            for part in [bytes, source.key(index).as_bytes()] {
                keys.write(part);
                keys.write(&[0]);
            }
        }
        ensure!(!source.is_empty(), "the source has no samples: check its path and what it filters out");
        let mut group = XxHash3_64::new();
        if !is_whole {
            let remedy = "go to a folder that can be read, or name the data by a whole path";
            let here = std::env::current_dir().map_err(|error| Error::io(".", error, remedy))?;
            for hasher in [&mut keys, &mut group] {
                hasher.write(here.as_os_str().as_encoded_bytes());
            }
        }
        group.write(&common.unwrap_or_default());
        let settings = XxHash3_64::oneshot(settings.as_bytes());
        let of = Of { settings, keys: keys.finish(), records: source.len() as u64 };
        let mut own = XxHash3_64::new();
        [of.settings, of.keys, of.records].into_iter().for_each(|number| own.write_u64(number));
        Ok(Self { of, name: Name { group: (group.finish() >> 32) as u32, own: own.finish() } })
    }
}

/// What both begin with.
fn shared_head(mut one: Vec<u8>, other: &[u8]) -> Vec<u8> {
    let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    one.truncate(common);
    one
}

fn is_url(file: &Path) -> bool {
    file.to_str().is_some_and(|text| text.contains("://"))
}
