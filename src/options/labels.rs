//! `[labels]`: how objects and masks reach a batch.

use crate::label::{BoxFormat, InstanceMasks, Unit};

/// The class of what shows no image unless another is asked for; most losses are told to ignore it.
pub const IGNORED: u8 = 255;

section! {
    /// `[labels]`: how objects and masks reach a batch.
    pub struct LabelsOptions in "labels" {
        /// What the numbers of a box are: left, top, right, bottom (`xyxy`); left, top, width, height (`xywh`); the middle,
        /// width and height (`cxcywh`); or of the smallest rotated box around the outline the middle, width, height and
        /// angle (`xywhr`), or its four corners (`xyxyxyxy`).
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
        mask_fill or "masks" or "ignore_index": u8, unset "255 where `mask_dir` or `outline_masks` is given, else no masks";
        /// Whether class 0 of semantic masks is ignored as well, and the others count from 0 (mmseg's `reduce_zero_label`):
        /// 0 and 255 become `mask_fill`, and any other class the one below it.
        reduce_zero_label: bool = false;
        /// Whether an image without a mask has one made of the outlines of its objects: 0 where there is none, and 1 + the class
        /// where there is one, that of the smallest where several are. It asks for masks as `mask_fill` does.
        outline_masks: bool = false;
        /// Asks for masks of the objects, made of their outlines: a plane for each object (`per-object`), or one for all
        /// objects of a sample, in which each pixel has 1 + the index of its object, or 0 (`overlap`); smaller objects then
        /// lie over larger ones, and the objects of a sample come in that order, the largest first.
        instance_masks: InstanceMasks;
        /// By how much the masks of objects are smaller than the sample, along each edge; 1 to 64.
        mask_ratio: u32, unset "4 with `overlap`, 1 with `per-object`";
    }
}
