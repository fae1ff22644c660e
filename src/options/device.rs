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
        /// device in its place. With distributed = "env", `cuda` and `auto` mean the GPU of LOCAL_RANK.
        name as "device": DeviceWord = DeviceWord::Cpu;
        /// The largest number of bytes of a GPU's memory for decoded images and scratch, the batches apart; with
        /// `decoder` = `feedline`, a third of it is for decoding. A batch that needs more is made in parts.
        memory as "device_memory": Bytes, unset "a quarter of what is free, at least 8 MiB";
        /// The largest number of bytes of page-locked host memory, all batches together, for files on their way to a
        /// GPU. What is beyond lies in ordinary memory, which is copied more slowly.
        pinned_memory: Bytes = Bytes(1 << 30);
        /// Whether batches in the host's memory are page-locked, so that a trainer's copies of them to a GPU run beside its
        /// other work. Without a GPU they lie in ordinary memory. On a GPU as the device pixels are made there.
        pin_memory: bool = false;
        /// Whether the loader's kernels run at the lowest priority that a GPU has, which is that of a trainer's kernels, and not
        /// at the highest. Batches then take longer where a trainer fills the GPU.
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
    /// The CUDA device of this number if it works, else the CPU.
    Auto(Option<u32>),
    /// The CPU.
    Cpu,
    /// The CUDA device of this number. Without one it is that of `LOCAL_RANK` where ranks come from the environment, and else
    /// the first.
    Cuda(Option<u32>),
}

impl DeviceWord {
    /// The same on the rank that has the GPU `local` of its machine: a number that was given stays.
    pub const fn of_local_rank(self, local: u32) -> Self {
        match self {
            DeviceWord::Auto(None) => DeviceWord::Auto(Some(local)),
            DeviceWord::Cuda(None) => DeviceWord::Cuda(Some(local)),
            given => given,
        }
    }
}

impl FromStr for DeviceWord {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let (kind, number) = word.split_once(':').map_or((word, None), |(kind, number)| (kind, Some(number)));
        let ordinal = number.map(str::parse).transpose();
        let ordinal = || {
            ordinal.map_err(|_| {
                format!("`{}` is no device number; give {}", number.unwrap_or_default(), ValueKind::Device)
            })
        };
        match (kind, number) {
            ("auto", _) | ("best", None) => ordinal().map(DeviceWord::Auto),
            ("cuda", _) => ordinal().map(DeviceWord::Cuda),
            ("cpu", None) => Ok(DeviceWord::Cpu),
            _ => Err(format!("`{word}` is no device; give {}", ValueKind::Device)),
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
            DeviceWord::Auto(None) => f.write_str("auto"),
            DeviceWord::Auto(Some(ordinal)) => write!(f, "auto:{ordinal}"),
            DeviceWord::Cpu => f.write_str("cpu"),
            DeviceWord::Cuda(None) => f.write_str("cuda"),
            DeviceWord::Cuda(Some(ordinal)) => write!(f, "cuda:{ordinal}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_by_kind_and_number() {
        assert_eq!("cuda:3".parse(), Ok(DeviceWord::Cuda(Some(3))));
        assert_eq!("cuda".parse(), Ok(DeviceWord::Cuda(None)));
        assert_eq!("auto".parse(), Ok(DeviceWord::Auto(None)));
        assert_eq!("auto:2".parse(), Ok(DeviceWord::Auto(Some(2))));
        assert_eq!("best".parse(), Ok(DeviceWord::Auto(None)));
        for word in ["auto", "auto:2", "cpu", "cuda", "cuda:3"] {
            assert_eq!(word.parse::<DeviceWord>().unwrap().to_string(), word);
        }
        assert_eq!(DeviceWord::Cuda(None).of_local_rank(1), DeviceWord::Cuda(Some(1)));
        assert_eq!(DeviceWord::Cuda(Some(0)).of_local_rank(1), DeviceWord::Cuda(Some(0)));
        assert_eq!(DeviceWord::Auto(None).of_local_rank(1), DeviceWord::Auto(Some(1)));
        assert_eq!(DeviceWord::Cpu.of_local_rank(1), DeviceWord::Cpu);
        assert!("cuda:x".parse::<DeviceWord>().is_err_and(|error| error.contains("`x`")));
        for word in ["gpu", "cpu:0", "best:1", "auto:", "cuda:-1"] {
            assert!(word.parse::<DeviceWord>().is_err(), "{word}");
        }
    }
}
