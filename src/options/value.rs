//! The types of options, and how each looks in words.

use super::bytes::{self, Bytes};
use super::listed::Listed;
use crate::draft::op::Extent;
use crate::index::IndexMode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A type that an option may have.
pub trait Value: Serialize + DeserializeOwned {
    /// What a value looks like.
    fn kind() -> ValueKind;

    /// The value that is this path; `None` for types that are no paths.
    fn of_path(_path: PathBuf) -> Option<Self> {
        None
    }
}

/// What a value looks like in JSON, TOML and on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueKind {
    /// True or false.
    Flag,
    /// A whole number from 0.
    Integer,
    /// A number.
    Number,
    /// A number of bytes, also as text with a binary prefix.
    Bytes,
    /// A text.
    Text,
    /// A path, or a URL where data are named.
    Path,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A device's name.
    Device,
    /// Where decode indexes are kept.
    Index,
    /// A length, or `[height, width]`.
    Size,
    /// A list of sizes.
    Sizes,
    /// Three numbers, one for each channel.
    Triple,
    /// A list of whole numbers, or the path of a text file of them.
    Integers,
    /// A list of numbers, or the path of a text file of them.
    Numbers,
    /// Names of fields with their types.
    Fields,
    /// A list of texts.
    Texts,
    /// Texts by texts.
    Renames,
    /// A list of data sets.
    DataSets,
}

/// Words of which one is to be chosen, as `a, b or c`.
pub(crate) fn alternatives(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<String> = words.into_iter().collect();
    match words.split_last() {
        Some((last, ahead)) if !ahead.is_empty() => format!("{} or {last}", ahead.join(", ")),
        _ => words.concat(),
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ValueKind::Flag => "true or false",
            ValueKind::Integer => "a whole number",
            ValueKind::Number => "a number",
            ValueKind::Bytes => bytes::WRITTEN,
            ValueKind::Text => "a text",
            ValueKind::Path => "a path",
            ValueKind::Words(words) => {
                return f.write_str(&alternatives(words.iter().map(|word| format!("`{word}`"))));
            }
            ValueKind::Device => {
                "`cpu`, `cuda:N`, or `auto` or `auto:N` (that GPU if it works, else the CPU)"
            }
            ValueKind::Index => "`memory`, `off`, or the path of a sidecar file",
            ValueKind::Size => "a length, or [height, width]",
            ValueKind::Sizes => "a list of lengths or [height, width]",
            ValueKind::Triple => "three numbers, one for each channel",
            ValueKind::Integers => {
                "a list of whole numbers, or the path of a text file with one on each line"
            }
            ValueKind::Fields => {
                "names of fields, each with its type (`text`, `bytes`, `json`, `integer`, `float`, `integers`, `floats`, `image`, `depth`) or with type, from, default and length"
            }
            ValueKind::Texts => "a list of texts",
            ValueKind::Renames => "a table of texts by texts",
            ValueKind::DataSets => "a list of tables, each with path, name, weight and the options of its data",
            ValueKind::Numbers => "a list of numbers, or the path of a text file with one on each line",
        })
    }
}

/// Says how values of types look.
macro_rules! values {
    ($($type:ty => $kind:expr $(, of_path $of_path:expr)?;)*) => {$(
        impl Value for $type {
            fn kind() -> ValueKind {
                $kind
            }

            $(fn of_path(path: PathBuf) -> Option<Self> {
                Some($of_path(path))
            })?
        }
    )*};
}

/// Lets enums be options whose values are the words that serde reads.
macro_rules! words {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::options::Value for $type {
            fn kind() -> $crate::options::ValueKind {
                $crate::options::ValueKind::Words($crate::options::fields::of::<$type>())
            }
        }
    )*};
}

values! {
    bool => ValueKind::Flag;
    u8 => ValueKind::Integer;
    u32 => ValueKind::Integer;
    u64 => ValueKind::Integer;
    usize => ValueKind::Integer;
    f64 => ValueKind::Number;
    Bytes => ValueKind::Bytes;
    String => ValueKind::Text;
    PathBuf => ValueKind::Path, of_path std::convert::identity;
    IndexMode => ValueKind::Index, of_path IndexMode::File;
    Extent => ValueKind::Size;
    Vec<Extent> => ValueKind::Sizes;
    [f64; 3] => ValueKind::Triple;
    Vec<String> => ValueKind::Texts;
    BTreeMap<String, String> => ValueKind::Renames;
    Listed<u64> => ValueKind::Integers, of_path Listed::File;
    Listed<f64> => ValueKind::Numbers, of_path Listed::File;
}

words! {
    crate::label::BoxFormat,
    crate::label::InstanceMasks,
    crate::label::Unit,
    crate::output::DType,
    crate::output::Layout,
    crate::policy::BadSample,
    crate::policy::CachePlace,
    crate::policy::CachedForm,
    crate::policy::Damaged,
    crate::policy::DecodeScale,
    crate::policy::DecoderChoice,
    crate::policy::LastBatch,
    crate::policy::Mix,
    crate::policy::StoppingStrategy,
    crate::policy::OnBadLabel,
    crate::policy::WorkerPriority,
    super::Kind,
}
