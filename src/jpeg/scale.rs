//! Decoding at a half, a quarter or an eighth of the size, as libjpeg does: by smaller transforms.

use super::frame::{Component, Frame};
use crate::geometry::{Rect, Size};

/// How much smaller than stored the pixels come out.
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

    /// Stored pixels a side that become one: 1, 2, 4 or 8.
    pub const fn divisor(self) -> u32 {
        1 << self as u32
    }

    /// The size that an image of `stored` size comes out at: halves are rounded up.
    pub fn apply(self, stored: Size) -> Size {
        Size::new(stored.width.div_ceil(self.divisor()), stored.height.div_ceil(self.divisor()))
    }

    /// Samples a side of a block at this scale, before a component is given more.
    pub(super) const fn block(self) -> usize {
        8 >> self as usize
    }
}

/// What is wanted of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The size of everything.
    pub scale: Scale,
    /// In the pixels of the scaled picture, before orientation.
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
pub(super) struct Scaled {
    /// Samples a side of its blocks.
    pub(super) block: usize,
    /// Output columns and rows of one sample.
    pub(super) across: usize,
    pub(super) down: usize,
    /// Samples that belong to the picture.
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Scaled {
    /// libjpeg's rule: a component that is stored with fewer samples is made smaller by less, down to not at all, so
    /// that it needs less upsampling or none.
    pub(super) fn new(frame: &Frame, component: &Component, scale: Scale) -> Self {
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
