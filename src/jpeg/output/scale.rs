//! Decoding at a half, a quarter or an eighth of the size, as libjpeg does: by smaller transforms.

use crate::geometry::{Rect, Size};
use crate::jpeg::header::{Component, Frame};

/// The factor by which the image is made smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scale {
    /// As stored.
    #[default]
    Full,
    /// Half the width and height.
    Half,
    /// A quarter.
    Quarter,
    /// An eighth: the mean of each block.
    Eighth,
}

impl Scale {
    /// All, the largest pixels last.
    pub const ALL: [Scale; 4] = [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth];

    /// Stored pixels a side that become one pixel: 1, 2, 4 or 8.
    pub const fn divisor(self) -> u32 {
        1 << self as u32
    }

    /// The size of an image of size `stored` at this scale; fractions are rounded up.
    pub fn apply(self, stored: Size) -> Size {
        Size::new(stored.width.div_ceil(self.divisor()), stored.height.div_ceil(self.divisor()))
    }

    /// Samples a side of a block at this scale; subsampled components may have more.
    pub(crate) const fn block(self) -> usize {
        8 >> self as usize
    }
}

/// The requested part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The scale of the whole image.
    pub scale: Scale,
    /// The region, in pixels of the scaled image before orientation.
    pub region: Rect,
}

impl From<Rect> for Part {
    /// A region at full size.
    fn from(region: Rect) -> Self {
        Self { scale: Scale::Full, region }
    }
}

/// One component at a scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled {
    /// Samples a side of its blocks.
    pub(crate) block: usize,
    /// Output columns and rows of one sample.
    pub(crate) across: usize,
    pub(crate) down: usize,
    /// Samples that belong to the picture.
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Scaled {
    /// libjpeg's rule: a subsampled component is scaled down by less, or not at all, so that it needs less upsampling or
    /// none.
    pub(crate) fn new(frame: &Frame, component: &Component, scale: Scale) -> Self {
        let (wide, high) = (frame.h_max * scale.block(), frame.v_max * scale.block());
        let mut block = scale.block();
        while block < 8
            && wide.is_multiple_of(component.h * block * 2)
            && high.is_multiple_of(component.v * block * 2)
        {
            block *= 2;
        }
        Self {
            block,
            across: wide / (component.h * block),
            down: high / (component.v * block),
            width: (frame.size.width as usize * component.h * block).div_ceil(frame.h_max * 8),
            height: (frame.size.height as usize * component.v * block).div_ceil(frame.v_max * 8),
        }
    }
}
