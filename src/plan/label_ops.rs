//! What a plan does to labels: the same geometry as that of its layers, as a list of label operations.
//!
//! A label takes part in every op by itself, as torchvision's and Ultralytics' do: a box that is turned twice is boxed
//! twice, and is cut wherever the canvas is. So labels have a list of their own and do not follow the layers, which fold
//! ops together.

use super::Span;
use crate::geometry::Rect;
use serde::Serialize;

/// One operation on the labels of some of the sample's images.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LabelOp {
    /// The images, as indices of [`crate::plan::Plan::images`].
    pub images: Span,
    /// What happens to their objects.
    pub kind: LabelOpKind,
}

/// What happens to objects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub enum LabelOpKind {
    /// Points go through the matrix, row by row, with a division by its third result; a box becomes the box around its
    /// mapped corners.
    Map([f64; 9]),
    /// Points go where the distortion of this index in [`crate::plan::Plan::distortions`] shows them; a box becomes the box around
    /// its outline, and outlines get points between their own where lines become curves.
    Distort(u32),
    /// Boxes and polygons are cut to the rectangle; keypoints outside it get visibility 0.
    Clip(Rect),
    /// What lies under the rectangle is covered: polygons lose it, boxes where a whole side of them lies under it, and
    /// keypoints there get visibility 0.
    Hide(Rect),
    /// The image was mirrored, whichever way: keypoints take the positions that [`crate::label::Skeleton::flip`] says.
    Mirrored,
    /// The box of an object with polygons becomes the box around them.
    Rebox,
    /// Boxes are remembered as they are, for filters that compare.
    Mark,
    /// Objects count for this part of what they did: their image was mixed with another.
    Weigh(f32),
    /// A copy of one object, mirrored left to right on a canvas of this width, is added after all others.
    PasteMirrored {
        /// Its index among the objects that take part.
        object: u32,
        /// The canvas's width.
        width: f64,
    },
    /// One object is dropped: its index among those that take part.
    Drop(u32),
    /// Objects are dropped.
    Keep(ObjectFilter),
}

/// Which objects are kept.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub enum ObjectFilter {
    /// torchvision's `SanitizeBoundingBoxes`: boxes at least this wide and high, and of this area, in pixels, that do
    /// not hang over the canvas.
    Sane {
        /// The canvas.
        canvas: Rect,
        /// Minimum width and height.
        min_size: f64,
        /// Minimum area.
        min_area: f64,
    },
    /// Boxes of whose area more than a part lies outside of a rectangle that covers what is under it.
    Beside {
        /// The rectangle.
        window: Rect,
        /// Part of the area that is too small.
        part: f64,
    },
    /// torchvision's `RandomIoUCrop`: boxes whose centre lies inside, not on the edge.
    Centred(Rect),
    /// Ultralytics' box candidates: wider and higher than `size`, more than `area` of the marked box's area times
    /// `scale` squared, and an aspect ratio below `aspect`. All comparisons are strict.
    Candidates {
        /// Width and height that are too small.
        size: f64,
        /// Aspect ratio that is too great.
        aspect: f64,
        /// Part of the area that is too small, for objects without polygons.
        area: f64,
        /// The same for objects with polygons.
        area_of_polygons: f64,
        /// By how much the image was scaled since the mark.
        scale: f64,
    },
    /// Albumentations' filter: boxes of at least this area in pixels, of which at least this part is left of what the
    /// marked box would be if no canvas had cut it. Boxes without area are dropped in any case.
    Visible {
        /// Minimum area.
        min_area: f64,
        /// Minimum part of the area.
        min_visibility: f64,
    },
}

impl ObjectFilter {
    /// Ultralytics' limits of what is left of an object, on a canvas that was scaled by `scale`.
    pub(crate) const fn candidates(scale: f64) -> Self {
        Self::Candidates { size: 2.0, aspect: 100.0, area: 0.1, area_of_polygons: 0.01, scale }
    }
}
