//! JPEG files of every sampling and mode that an encoder at hand can write.

use crate::noise;
pub use jpeg_encoder::{ColorType, SamplingFactor};

/// Every sampling that has an integer number of blocks, with its usual name.
pub const SAMPLINGS: [(SamplingFactor, &str); 7] = [
    (SamplingFactor::F_1_1, "4:4:4"),
    (SamplingFactor::F_2_1, "4:2:2"),
    (SamplingFactor::F_1_2, "4:4:0"),
    (SamplingFactor::F_2_2, "4:2:0"),
    (SamplingFactor::F_4_1, "4:1:1"),
    (SamplingFactor::F_4_2, "4:1:0"),
    (SamplingFactor::F_1_4, "4:4:1"),
];

/// How a file is written.
#[derive(Clone, Copy, Debug)]
pub struct Jpeg {
    /// Sampling of the chroma planes.
    pub sampling: SamplingFactor,
    /// In several scans instead of one.
    pub progressive: bool,
    /// MCUs between restart markers; 0 writes none.
    pub restart: u16,
    /// What the samples mean.
    pub color: ColorType,
    /// 1 to 100.
    pub quality: u8,
    /// The EXIF orientation, 1 to 8; 1 writes none.
    pub orientation: u8,
}

impl Default for Jpeg {
    fn default() -> Self {
        Self {
            sampling: SamplingFactor::F_2_2,
            progressive: false,
            restart: 0,
            color: ColorType::Rgb,
            quality: 85,
            orientation: 1,
        }
    }
}

impl Jpeg {
    /// A baseline file of three channels.
    pub fn new(sampling: SamplingFactor) -> Self {
        Self { sampling, ..Self::default() }
    }

    /// How many levels a pixel has.
    pub fn channels(&self) -> u32 {
        match self.color {
            ColorType::Luma => 1,
            ColorType::Cmyk | ColorType::CmykAsYcck | ColorType::Ycck | ColorType::Rgba | ColorType::Bgra => {
                4
            }
            _ => 3,
        }
    }

    /// A file of [`noise::picture`].
    pub fn picture(&self, width: u16, height: u16, seed: u32) -> Vec<u8> {
        self.file(&noise::picture(width.into(), height.into(), self.channels(), seed), width, height)
    }

    /// A file of these pixels, row by row.
    pub fn file(&self, pixels: &[u8], width: u16, height: u16) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = jpeg_encoder::Encoder::new(&mut file, self.quality);
        encoder.set_sampling_factor(self.sampling);
        encoder.set_progressive(self.progressive);
        if self.restart > 0 {
            encoder.set_restart_interval(self.restart);
        }
        if self.orientation != 1 {
            encoder.add_app_segment(1, exif(self.orientation)).expect("a short segment");
        }
        encoder.encode(pixels, width, height, self.color).expect("the encoder writes to memory");
        file
    }
}

/// An EXIF segment with the orientation as its only entry.
pub fn exif(orientation: u8) -> Vec<u8> {
    let mut segment = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    segment.extend([orientation, 0, 0, 0, 0, 0, 0]);
    segment
}
