//! `[device]`: where pixels are made, and in how much of its memory.

use super::bytes::Bytes;
use super::value::{Value, ValueKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

section! {
    /// `[device]`: where pixels are made, and in how much of its memory.
    pub struct DeviceOptions in "device" {
        /// Where images are decoded and rendered. A GPU that is named and does not work is an error, never another
        /// device in its place.
        name as "device": DeviceWord = DeviceWord::Cpu;
        /// The largest number of bytes of a GPU's memory for decoded images and scratch, the batches apart. A batch that
        /// needs more is made in parts.
        memory as "device_memory": Bytes, unset "a quarter of what is free, at least 4 MiB";
        /// The largest number of bytes of page-locked host memory, all batches together, for files on their way to a
        /// GPU. What is beyond lies in ordinary memory, which is copied more slowly.
        pinned_memory: Bytes = Bytes(1 << 30);
        /// Whether the loader's kernels run at the lowest priority that a GPU has.
        low_priority: bool = false;
    }
}

impl Value for DeviceWord {
    fn kind() -> ValueKind {
        ValueKind::Device
    }
}

/// A device by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceWord {
    /// The first CUDA device if it works, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The CUDA device of this number.
    Cuda(u32),
}

impl FromStr for DeviceWord {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word.split_once(':') {
            None if word == "auto" || word == "best" => Ok(DeviceWord::Auto),
            None if word == "cpu" => Ok(DeviceWord::Cpu),
            None if word == "cuda" => Ok(DeviceWord::Cuda(0)),
            Some(("cuda", ordinal)) => {
                ordinal.parse().map(DeviceWord::Cuda).map_err(|_| format!("`{ordinal}` is no device number"))
            }
            _ => Err(format!("`{word}` is no device")),
        }
    }
}

impl TryFrom<String> for DeviceWord {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        word.parse()
    }
}

impl From<DeviceWord> for String {
    fn from(word: DeviceWord) -> Self {
        word.to_string()
    }
}

impl fmt::Display for DeviceWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceWord::Auto => f.write_str("auto"),
            DeviceWord::Cpu => f.write_str("cpu"),
            DeviceWord::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_by_kind_and_number() {
        assert_eq!("cuda:3".parse(), Ok(DeviceWord::Cuda(3)));
        assert_eq!("cuda".parse(), Ok(DeviceWord::Cuda(0)));
        assert_eq!("auto".parse(), Ok(DeviceWord::Auto));
        assert_eq!("best".parse(), Ok(DeviceWord::Auto));
        assert_eq!(DeviceWord::Cuda(3).to_string(), "cuda:3");
        assert!("cuda:x".parse::<DeviceWord>().is_err_and(|error| error.contains("`x`")));
        assert!("gpu".parse::<DeviceWord>().is_err());
    }
}
