//! A number of bytes, as options say it.

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What a number of bytes looks like.
pub(super) const WRITTEN: &str = "a number of bytes, as 4096, \"512K\", \"64M\", \"20G\" or \"2T\"";

/// A number of bytes; read from a number as well as from `"512K"`, `"64M"`, `"20G"`, `"2T"`, counted in powers of 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// The number, or the largest that memory can have.
    pub fn in_memory(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let shift = match word.as_bytes().last() {
            Some(b'K') => 10,
            Some(b'M') => 20,
            Some(b'G') => 30,
            Some(b'T') => 40,
            _ => 0,
        };
        let digits = if shift == 0 { word } else { &word[..word.len() - 1] };
        let bytes = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(1 << shift));
        bytes.map(Bytes).ok_or_else(|| format!("`{word}` is no number of bytes"))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a number of bytes, or a text such as \"64M\"")]
        enum Written {
            Number(u64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(bytes) => Ok(Bytes(bytes)),
            Written::Text(word) => {
                word.parse().map_err(|error| D::Error::custom(format!("{error}; give {WRITTEN}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_with_binary_prefixes() {
        let bytes = |word: &str| word.parse().map(|Bytes(bytes)| bytes);
        assert_eq!(bytes("7"), Ok(7));
        assert_eq!((bytes("3K"), bytes("20G"), bytes("2T")), (Ok(3072), Ok(20 << 30), Ok(2 << 40)));
        for word in ["", "G", "-1", "1.5G", "4g", "99999999T", "12GB"] {
            assert!(bytes(word).is_err(), "{word}");
        }
        assert_eq!(serde_json::from_str::<Bytes>("\"64M\"").unwrap(), Bytes(64 << 20));
        assert_eq!(serde_json::to_string(&Bytes(5)).unwrap(), "5");
    }
}
