//! `[labels]`: how objects and masks reach a batch.

use crate::label::{BoxFormat, Unit};

/// The class of what shows no image unless another is asked for; most losses are told to ignore it.
pub const IGNORED: u8 = 255;

section! {
    /// `[labels]`: how objects and masks reach a batch.
    pub struct LabelsOptions in "labels" {
        /// What the four numbers of a box are: left, top, right, bottom; left, top, width, height; or the middle, width
        /// and height.
        format as "box_format": BoxFormat = BoxFormat::Xyxy;
        /// What the coordinates of boxes, polygons and keypoints are counted in: pixels of the sample, or parts of its
        /// width and height.
        unit as "box_unit": Unit = Unit::Pixels;
        /// The smallest area of a box that is kept, in pixels of the sample.
        min_area: f64 = 0.0;
        /// The smallest part of a box that must be left after cuts, in 0..=1.
        min_visibility: f64 = 0.0;
        /// Asks for semantic masks; the class of what shows no image, and of images without a mask: what the loss is told to
        /// ignore.
        mask_fill or "masks" or "ignore_index": u8, unset "255 where `mask_dir` is given, else no masks";
        /// Whether class 0 of semantic masks is ignored as well, and the others count from 0 (mmseg's `reduce_zero_label`):
        /// 0 and 255 become `mask_fill`, and any other class the one below it.
        reduce_zero_label: bool = false;
    }
}
