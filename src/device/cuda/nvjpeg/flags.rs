//! The flags that a decoder is opened with: what is wanted, and what is left where a decoder refuses that.

use nvjpeg_sys::{FLAG_BITSTREAM_STRICT, FLAG_UPSAMPLING_WITH_INTERPOLATION};
use std::fmt;

/// How one of nvJPEG's decoders was opened. Both properties are always asked for; a decoder may refuse them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvjpegFlags(u32);

impl NvjpegFlags {
    /// What is asked for, from the most to nothing. Interpolation is given up later than strictness: without it the
    /// chroma of every subsampled image differs, and without strictness only damaged files do.
    pub(super) const TRIED: [Self; 4] = [
        Self(FLAG_BITSTREAM_STRICT | FLAG_UPSAMPLING_WITH_INTERPOLATION),
        Self(FLAG_UPSAMPLING_WITH_INTERPOLATION),
        Self(FLAG_BITSTREAM_STRICT),
        Self(0),
    ];

    /// The number that nvJPEG was given.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether truncated and otherwise unsound files are refused. If not, they may become pixels that nobody stored.
    pub fn is_strict(self) -> bool {
        self.0 & FLAG_BITSTREAM_STRICT != 0
    }

    /// Whether chroma is interpolated as libjpeg does. If not, it is repeated, which differs wherever colours change.
    pub fn interpolates(self) -> bool {
        self.0 & FLAG_UPSAMPLING_WITH_INTERPOLATION != 0
    }
}

impl fmt::Display for NvjpegFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strict = if self.is_strict() { "strict" } else { "not strict" };
        let chroma = if self.interpolates() { "interpolated" } else { "repeated" };
        write!(f, "{strict}, chroma {chroma}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_given_up_one_by_one_and_interpolation_last() {
        assert_eq!(NvjpegFlags::TRIED.map(NvjpegFlags::bits), [36, 32, 4, 0]);
        let told = NvjpegFlags::TRIED.map(|flags| flags.to_string());
        assert_eq!(told[0], "strict, chroma interpolated");
        assert_eq!(told[1], "not strict, chroma interpolated");
        assert_eq!(told[2], "strict, chroma repeated");
        assert_eq!(told[3], "not strict, chroma repeated");
    }
}
