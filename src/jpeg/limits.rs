//! Limits of the decoder.

/// Bounds on the cost of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum pixels of the stored image, whatever the region; checked before anything is allocated.
    pub max_pixels: u64,
    /// Maximum scans. Each may cover the whole image, so this bounds the time that a file can take.
    pub max_scans: u32,
    /// Fill the missing part of a truncated file with grey, instead of refusing the file.
    pub tolerate_truncated: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_pixels: 1 << 28, max_scans: 256, tolerate_truncated: false }
    }
}
