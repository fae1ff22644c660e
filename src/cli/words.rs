//! Arguments that several commands share, and their words.

use clap::ValueEnum;
use feedline::device::Device;
use feedline::options::DeviceWord;
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

/// A device's word as an argument.
pub(crate) fn device_argument(word: &str) -> Result<DeviceWord, String> {
    word.parse()
        .map_err(|error| format!("{error}: use auto (the first GPU that works, else the CPU), cpu or cuda:N"))
}

/// The device that a word names, or why there is none: never another one in its place.
pub(crate) fn open_device(word: DeviceWord) -> feedline::error::Result<Device> {
    match word {
        DeviceWord::Auto => Device::best(),
        DeviceWord::Cpu => Ok(Device::cpu()),
        DeviceWord::Cuda(ordinal) => Device::cuda(ordinal),
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
    fn a_device_is_named_as_it_is_asked_for() {
        assert_eq!(device_word(Device::Cuda { ordinal: 3 }), "cuda:3");
        assert_eq!(device_word(Device::cpu()), DeviceWord::Cpu.to_string());
    }
}
