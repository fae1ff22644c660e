//! Arguments that several commands share, and their words.

use clap::ValueEnum;
use feedline::device::Device;
use feedline::output::{DType, Layout};
use indicatif::{ProgressBar, ProgressStyle};

/// The words for a number format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DTypeName {
    F32,
    F16,
    Bf16,
    U8,
}

impl From<DTypeName> for DType {
    fn from(name: DTypeName) -> DType {
        match name {
            DTypeName::F32 => DType::F32,
            DTypeName::F16 => DType::F16,
            DTypeName::Bf16 => DType::Bf16,
            DTypeName::U8 => DType::U8,
        }
    }
}

/// The words for an order of axes, with and without the batch's axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LayoutName {
    #[value(alias = "nchw")]
    #[serde(alias = "nchw")]
    Chw,
    #[value(alias = "nhwc")]
    #[serde(alias = "nhwc")]
    Hwc,
}

impl From<LayoutName> for Layout {
    fn from(name: LayoutName) -> Layout {
        match name {
            LayoutName::Chw => Layout::Nchw,
            LayoutName::Hwc => Layout::Nhwc,
        }
    }
}

/// The words for the order of a batch's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BatchLayoutName {
    #[value(alias = "chw")]
    Nchw,
    #[value(alias = "hwc")]
    Nhwc,
}

impl From<BatchLayoutName> for Layout {
    fn from(name: BatchLayoutName) -> Layout {
        match name {
            BatchLayoutName::Nchw => Layout::Nchw,
            BatchLayoutName::Nhwc => Layout::Nhwc,
        }
    }
}

/// `f32`, `f16`, `bf16` or `u8`.
pub(crate) fn dtype_word(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "f32",
        DType::F16 => "f16",
        DType::Bf16 => "bf16",
        DType::U8 => "u8",
    }
}

/// `nchw` or `nhwc`.
pub(crate) fn layout_word(layout: Layout) -> &'static str {
    match layout {
        Layout::Nchw => "nchw",
        Layout::Nhwc => "nhwc",
    }
}

/// Where to decode and render: `auto` (or `best`), `cpu` or `cuda:N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceName {
    Auto,
    Cpu,
    Cuda(u32),
}

impl std::str::FromStr for DeviceName {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word.split_once(':') {
            None if word == "auto" || word == "best" => Ok(DeviceName::Auto),
            None if word == "cpu" => Ok(DeviceName::Cpu),
            None if word == "cuda" => Ok(DeviceName::Cuda(0)),
            Some(("cuda", ordinal)) => {
                ordinal.parse().map(DeviceName::Cuda).map_err(|_| format!("`{ordinal}` is no device number"))
            }
            _ => Err("use auto (the first GPU, else the CPU), cpu or cuda:N".into()),
        }
    }
}

impl DeviceName {
    /// The device, or why there is none: never another one in its place.
    pub(crate) fn open(self) -> feedline::error::Result<Device> {
        match self {
            DeviceName::Auto => Device::best(),
            DeviceName::Cpu => Ok(Device::cpu()),
            DeviceName::Cuda(ordinal) => Device::cuda(ordinal),
        }
    }
}

/// A number of bytes: `4096`, or with a binary prefix as in `512K`, `64M`, `20G`, `2T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteCount(pub(crate) u64);

impl std::str::FromStr for ByteCount {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let (digits, shift) = match word.strip_suffix(['K', 'M', 'G', 'T']) {
            Some(digits) if word.ends_with('K') => (digits, 10),
            Some(digits) if word.ends_with('M') => (digits, 20),
            Some(digits) if word.ends_with('G') => (digits, 30),
            Some(digits) => (digits, 40),
            None => (word, 0),
        };
        let bytes = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(1 << shift));
        bytes.map(ByteCount).ok_or_else(|| "give a number of bytes, as 4096, 512K, 64M, 20G or 2T".into())
    }
}

/// The device's word, as `--device` takes it.
pub(crate) fn device_word(device: Device) -> String {
    match device {
        Device::Cpu => "cpu".into(),
        Device::Cuda { ordinal } => format!("cuda:{ordinal}"),
        other => other.describe(),
    }
}

/// A progress bar on standard error; nothing is drawn where that is no terminal.
pub(crate) fn progress(length: u64, what: &str) -> ProgressBar {
    let template = format!("{{wide_bar}} {{pos}}/{{len}} {what}, {{eta}} left");
    let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_with_binary_prefixes() {
        let bytes = |word: &str| word.parse().map(|ByteCount(bytes)| bytes);
        assert_eq!(bytes("7"), Ok(7));
        assert_eq!((bytes("3K"), bytes("20G"), bytes("2T")), (Ok(3072), Ok(20 << 30), Ok(2 << 40)));
        for word in ["", "G", "-1", "1.5G", "4g", "99999999T", "12GB"] {
            assert!(bytes(word).is_err(), "{word}");
        }
    }

    #[test]
    fn devices_are_named_by_kind_and_number() {
        assert_eq!("cuda:3".parse(), Ok(DeviceName::Cuda(3)));
        assert_eq!("cuda".parse(), Ok(DeviceName::Cuda(0)));
        assert_eq!("auto".parse(), Ok(DeviceName::Auto));
        assert_eq!("best".parse(), Ok(DeviceName::Auto));
        assert_eq!(device_word(Device::Cuda { ordinal: 3 }), "cuda:3");
        assert!("cuda:x".parse::<DeviceName>().is_err_and(|error| error.contains("`x`")));
        assert!("gpu".parse::<DeviceName>().is_err());
    }
}
