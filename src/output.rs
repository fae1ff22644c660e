//! The form of a batch: size, number format, memory layout and normalisation.

mod sizes;

pub use sizes::{MultiScale, RectBatches};

use crate::color::Normalize;
use crate::error::{Result, ensure};
use crate::geometry::Size;
use serde::{Deserialize, Serialize};

/// The number format of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DType {
    /// 32-bit float.
    #[default]
    F32,
    /// IEEE half precision, rounded to nearest even.
    F16,
    /// bfloat16, rounded to nearest even.
    Bf16,
    /// The u8 levels themselves, without normalisation.
    U8,
}

impl DType {
    /// Bytes of one value.
    pub const fn bytes(self) -> usize {
        match self {
            DType::F32 => 4,
            DType::F16 | DType::Bf16 => 2,
            DType::U8 => 1,
        }
    }
}

/// The order of a batch's axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Batch, channel, row, column.
    #[default]
    #[serde(alias = "chw")]
    Nchw,
    /// Batch, row, column, channel.
    #[serde(alias = "hwc")]
    Nhwc,
    /// Batch, row, column: the first channel alone. Masks lie so, images never.
    #[serde(skip)]
    Nhw,
    /// The same of the first two channels together, 256 times the first and the second. Depths lie so.
    #[serde(skip)]
    NhwWide,
}

impl Layout {
    /// Values of a pixel.
    pub const fn channels(self) -> usize {
        match self {
            Layout::Nchw | Layout::Nhwc => 3,
            Layout::Nhw | Layout::NhwWide => 1,
        }
    }
}

/// The parameters of the last pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output {
    /// Size of each sample.
    pub size: Size,
    /// Number format.
    pub dtype: DType,
    /// Order of axes.
    pub layout: Layout,
    /// Normalisation; without it floats are levels / 255.
    pub normalize: Option<Normalize>,
}

impl Output {
    /// The same for samples of another size.
    pub const fn of_size(self, size: Size) -> Self {
        Self { size, ..self }
    }

    /// Bytes of one sample.
    pub const fn sample_bytes(&self) -> usize {
        self.size.pixels() as usize * self.layout.channels() * self.dtype.bytes()
    }

    /// Shape of a batch of `samples`.
    pub const fn shape(&self, samples: usize) -> [usize; 4] {
        let (height, width) = (self.size.height as usize, self.size.width as usize);
        match self.layout {
            Layout::Nchw => [samples, 3, height, width],
            Layout::Nhwc => [samples, height, width, 3],
            Layout::Nhw | Layout::NhwWide => [samples, 1, height, width],
        }
    }

    /// a and b of fma(level, a, b), per channel: what makes values of levels.
    pub(crate) fn factors(&self) -> [[f32; 2]; 3] {
        match self.layout {
            Layout::NhwWide => [[256.0, 0.0], [1.0, 0.0], [0.0, 0.0]],
            _ => self.normalize.unwrap_or(Normalize::UNIT).factors(),
        }
    }

    /// Refuses meaningless combinations.
    pub fn check(&self) -> Result<()> {
        ensure!(
            self.dtype != DType::U8 || self.normalize.is_none(),
            "u8 output cannot hold normalised values: choose f32, f16 or bf16, or leave normalize out"
        );
        Ok(())
    }
}
