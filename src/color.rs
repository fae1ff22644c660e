//! The colour operations, the arithmetic of normalise, and the luma: the parts of colour that planning and rendering share.

use serde::Serialize;

/// Mean a channel of ImageNet, in 0..=1.
pub const IMAGENET_MEAN: [f64; 3] = [0.485, 0.456, 0.406];
/// Standard deviation a channel of ImageNet.
pub const IMAGENET_STD: [f64; 3] = [0.229, 0.224, 0.225];

/// Mean and standard deviation a channel, for pixels scaled to 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalize {
    /// Mean a channel.
    pub mean: [f64; 3],
    /// Standard deviation a channel.
    pub std: [f64; 3],
}

impl Normalize {
    /// ImageNet's constants.
    pub const IMAGENET: Normalize = Normalize { mean: IMAGENET_MEAN, std: IMAGENET_STD };
    /// Nothing but the scaling to 0..=1, as torchvision's `ToDtype(scale=True)`.
    pub const UNIT: Normalize = Normalize { mean: [0.0; 3], std: [1.0; 3] };

    /// Whether the means are finite, the deviations positive, and the factors representable in f32.
    pub fn is_sound(&self) -> bool {
        let positive = self.std.iter().all(|std| *std > 0.0);
        positive && self.factors().iter().flatten().all(|factor| factor.is_finite())
    }

    /// The factors a and b of `fma(x, a, b)` on u8 levels, rounded once from f64.
    pub fn factors(&self) -> [[f32; 2]; 3] {
        std::array::from_fn(|c| [(1.0 / (255.0 * self.std[c])) as f32, (-self.mean[c] / self.std[c]) as f32])
    }
}

/// The colour operations, each once: code on a device, name in JSON, name in torchvision's functional (empty where there is
/// none), the statistic that it waits for, and an example. `T` truncates and clamps to a level, `L` is the luma, `k` is the
/// factor, and factors are torchvision's.
///
/// Hands the rows, and what else it is given, to another macro. The kernels' constants are made of it as well.
macro_rules! color_ops {
    ($then:ident! $($rest:tt)*) => {
        $then! {
            [
                /// T(k x): args k.
                Brightness = 0, "brightness", "adjust_brightness", None,
                    r#"{"op": "brightness", "factor": 1.2}"#;
                /// T(fma(m, 1-k, k x)) with the mean m of the luma, from a statistic: args k, 1-k.
                Contrast = 1, "contrast", "adjust_contrast", Some(Statistic::MeanLuma),
                    r#"{"op": "contrast", "factor": 0.8}"#;
                /// T(fma(L, 1-k, k x)): args k, 1-k.
                Saturation = 2, "saturation", "adjust_saturation", None,
                    r#"{"op": "saturation", "factor": 1.1}"#;
                /// Hue turned by k of a full circle: args k.
                Hue = 3, "hue", "adjust_hue", None,
                    r#"{"op": "hue", "factor": -0.05}"#;
                /// OpenCV's uint8 HSV, hue in half degrees: (h + a) mod 180, min(floor(s b), 255), min(floor(v c), 255), and
                /// back, cut off: args a, a whole number in 30..=209 so that no sum is negative, b and c.
                Hsv = 10, "hsv", "", None,
                    r#"{"op": "hsv", "hue": 0.01, "saturation": 1.4, "value": 0.8}"#;
                /// All channels become the luma.
                Grayscale = 4, "grayscale", "rgb_to_grayscale", None,
                    r#"{"op": "grayscale"}"#;
                /// 255 - x where x >= t: args t. With t = 0 all levels are inverted.
                Solarize = 5, "solarize", "solarize", None,
                    r#"{"op": "solarize", "threshold": 128}"#;
                /// min(x + a, 255) where x < t: args t, a.
                SolarizeAdd = 11, "solarize_add", "", None,
                    r#"{"op": "solarize_add", "addition": 99}"#;
                /// floor(x * b) * a: args a, b, a power of two and its inverse, so that the highest bits are kept.
                Posterize = 6, "posterize", "posterize", None,
                    r#"{"op": "posterize", "bits": 4}"#;
                /// Red, green and blue become those channels (0, 1 or 2) of before: args one each.
                PermuteChannels = 7, "permute_channels", "permute_channels", None,
                    r#"{"op": "permute_channels", "permutation": [2, 0, 1]}"#;
                /// Levels from a table: T((x - least) / ((greatest - least) * f32(1 / 255))) a channel, with its least and
                /// greatest level; nothing where they are the same.
                Autocontrast = 8, "autocontrast", "autocontrast", Some(Statistic::Levels(LevelTable::Stretched)),
                    r#"{"op": "autocontrast"}"#;
                /// Levels from a table: (pixels below x + step / 2) / step a channel, in whole numbers and at most 255; step is
                /// a 255th of the pixels below the greatest level, and where it is 0 nothing changes.
                Equalize = 9, "equalize", "equalize", Some(Statistic::Levels(LevelTable::Equalized)),
                    r#"{"op": "equalize"}"#;
                /// Levels from a table that the host makes: 255 (x * (1 / 255))^g, in f64 and cut off: args are two parts of g,
                /// whose sum it is.
                Gamma = 12, "gamma", "", None,
                    r#"{"op": "gamma", "gamma": 0.85}"#;
                /// T(a x + b), the product and the sum rounded each: args a, b.
                BrightnessContrast = 13, "brightness_contrast", "", None,
                    r#"{"op": "brightness_contrast", "alpha": 1.15, "beta": -12.5}"#;
                /// T(x + a) a channel: args one each, whole numbers.
                ShiftRgb = 14, "shift_rgb", "", None,
                    r#"{"op": "shift_rgb", "shift": [12, -7, 20]}"#;
                /// OpenCV's uint8 HSV, hue in half degrees: (h + a) mod 180, T(s + b) unless s is 0, T(v + c), and back, cut
                /// off: args a, a whole number in 30..=209 so that no sum is negative, b and c, whole numbers.
                ShiftHsv = 15, "shift_hsv", "", None,
                    r#"{"op": "shift_hsv", "hue": -9.5, "saturation": 25, "value": 10}"#;
                /// All channels become (9798 r + 19235 g + 3735 b + 16384) / 32768, cut off: OpenCV's grey.
                ToGray = 16, "to_gray", "", None,
                    r#"{"op": "to_gray"}"#;
            ]
            $($rest)*
        }
    };
}

/// Declares [`ColorOp`] of the rows.
macro_rules! declare {
    ([$($(#[doc = $doc:literal])+ $name:ident = $code:literal, $json:literal, $torchvision:literal, $statistic:expr, $example:literal;)+]) => {
        /// What a colour step does to a pixel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[repr(u32)]
        pub enum ColorOp {
            $($(#[doc = $doc])+ $name = $code,)+
        }

        impl ColorOp {
            /// All of them.
            pub const ALL: &[ColorOp] = &[$(ColorOp::$name),+];

            /// The op's name in JSON.
            pub const fn name(self) -> &'static str {
                match self {
                    $(ColorOp::$name => $json,)+
                }
            }

            /// What it does, line by line.
            #[cfg(test)]
            const fn meaning(self) -> &'static [&'static str] {
                match self {
                    $(ColorOp::$name => &[$($doc),+],)+
                }
            }

            /// What has to be measured ahead of it, if anything.
            pub const fn statistic(self) -> Option<Statistic> {
                match self {
                    $(ColorOp::$name => $statistic,)+
                }
            }
        }
    };
}

color_ops!(declare!);

pub(crate) use color_ops;

impl ColorOp {
    /// What becomes of each level, where the arguments alone say it and a table is the way to.
    pub(crate) fn levels(self, args: &[f32; 6]) -> Option<[u8; 256]> {
        let exponent = f64::from(args[0]) + f64::from(args[1]);
        let level = |x: usize| ((x as f64 * (1.0 / 255.0)).powf(exponent) * 255.0) as u8;
        (self == ColorOp::Gamma).then(|| std::array::from_fn(level))
    }
}

/// What a colour operation needs and only the whole image gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Statistic {
    /// f32(exact sum of the luma / pixel count).
    MeanLuma,
    /// How many pixels have each level, a channel, made into a table.
    Levels(LevelTable),
}

/// What becomes of each level, by how many pixels have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[repr(u32)]
pub enum LevelTable {
    /// The least level to 0 and the greatest to 255.
    Stretched = 0,
    /// Each level by how many pixels lie below it.
    Equalized = 1,
}

/// The table as the kernels read it: `kernels/color_ops.h`.
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod header {
    use super::{ColorOp, LevelTable};
    use std::fmt::Write;

    const HEAD: &str = "\
/* The codes of colour operations (Step.op), and of the tables that are made of histograms (TableJob.table).
 *
 * Made from the table in src/color.rs by `UPDATE_DOCS=1 cargo test color_header`; do not edit.
 */
#ifndef FEEDLINE_COLOR_OPS_H
#define FEEDLINE_COLOR_OPS_H
";

    fn header() -> String {
        let mut text = String::from(HEAD);
        for op in ColorOp::ALL {
            writeln!(text, "\n/*{} */", op.meaning().join("\n *")).unwrap();
            writeln!(text, "#define FEEDLINE_COLOR_{} {}", op.name().to_uppercase(), *op as u32).unwrap();
        }
        text.push('\n');
        for table in [LevelTable::Stretched, LevelTable::Equalized] {
            let name = format!("{table:?}").to_uppercase();
            writeln!(text, "#define FEEDLINE_LEVELS_{name} {}", table as u32).unwrap();
        }
        text.push_str("\n#endif /* FEEDLINE_COLOR_OPS_H */\n");
        text
    }

    #[test]
    fn color_header_is_what_the_table_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/color_ops.h");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, header()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == header(),
            "kernels/color_ops.h is out of date: run UPDATE_DOCS=1 cargo test color_header, then kernels/build.py"
        );
    }

    #[test]
    fn every_code_is_one_ops_alone() {
        let mut codes: Vec<u32> = ColorOp::ALL.iter().map(|op| *op as u32).collect();
        codes.sort_unstable();
        assert!(codes.iter().copied().eq(0..ColorOp::ALL.len() as u32), "{codes:?}");
    }
}
