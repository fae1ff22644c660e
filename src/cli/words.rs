//! Words for the library's values: how arguments are read and how reports say them.

use feedline::device::Device;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};

/// A value by the word that recipes have for it.
pub(crate) fn value<T: DeserializeOwned>(word: &str) -> Result<T, Error> {
    T::deserialize(StrDeserializer::new(word))
}

/// The word that recipes have for a value.
pub(crate) fn word(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The device's word, as `--device` takes it.
pub(crate) fn device_word(device: Device) -> String {
    match device {
        Device::Cpu => "cpu".into(),
        Device::Cuda { ordinal } => format!("cuda:{ordinal}"),
        other => other.describe(),
    }
}

/// Text as it is shown in one line: what would end the line, or command a terminal, is escaped.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use feedline::options::DeviceWord;
    use feedline::output::{DType, Layout};

    #[test]
    fn a_device_is_named_as_it_is_asked_for() {
        assert_eq!(device_word(Device::Cuda { ordinal: 3 }), "cuda:3");
        assert_eq!(device_word(Device::cpu()), DeviceWord::Cpu.to_string());
    }

    #[test]
    fn a_word_is_that_of_recipes() {
        assert_eq!((value("bf16"), word(DType::Bf16)), (Ok(DType::Bf16), "bf16".to_owned()));
        assert_eq!((value("hwc"), word(Layout::Nhwc)), (Ok(Layout::Nhwc), "nhwc".to_owned()));
        assert!(value::<DType>("f64").unwrap_err().to_string().contains("`f16`"));
    }

    #[test]
    fn what_commands_a_terminal_is_escaped_and_nothing_else() {
        assert_eq!(shown("a\n\r\t\u{1b}[2J\u{7f}\u{9b}2J"), "a\\n\\r\\t\\u{1b}[2J\\u{7f}\\u{9b}2J");
        let same = "a\\b 'b' \"c\" é 図.jpg";
        assert_eq!(shown(same), same);
    }
}
