//! The labels of a sample.

use std::sync::Arc;

/// The label of one record.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Label {
    /// The source has no label for it.
    #[default]
    Unlabelled,
    /// Index of the class.
    Class(i64),
    /// The objects in the image.
    Objects(Arc<Objects>),
}

impl Label {
    /// The class index, or -1 if the image as a whole has none.
    pub fn class(&self) -> i64 {
        match self {
            Label::Class(class) => *class,
            Label::Unlabelled | Label::Objects(_) => -1,
        }
    }
}

/// The objects of one image, in coordinates of the upright image: (0, 0) is its top left corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objects {
    /// The unit of the coordinates.
    pub unit: Unit,
    /// The objects, in the order of their labels.
    pub list: Vec<Object>,
    /// The keypoints that each object has; `None` if objects have none.
    pub skeleton: Option<Arc<Skeleton>>,
}

/// The unit of coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Pixels.
    #[default]
    Pixels,
    /// Fractions of the image's width and height.
    Normalized,
}

/// The meaning of the four numbers of a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoxFormat {
    /// Left, top, right, bottom.
    #[default]
    Xyxy,
    /// Left, top, width, height.
    Xywh,
    /// Horizontal and vertical centre, width, height.
    Cxcywh,
}

impl BoxFormat {
    /// A box of left, top, right and bottom in this format.
    pub fn from_xyxy(self, [left, top, right, bottom]: [f64; 4]) -> [f64; 4] {
        let (width, height) = (right - left, bottom - top);
        match self {
            BoxFormat::Xyxy => [left, top, right, bottom],
            BoxFormat::Xywh => [left, top, width, height],
            BoxFormat::Cxcywh => [left + width / 2.0, top + height / 2.0, width, height],
        }
    }
}

/// One object of an image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    /// Index of the class.
    pub class: i64,
    /// Left, top, right, bottom.
    pub bbox: [f32; 4],
    /// Its outline: one polygon for each of its parts, points as x, y.
    pub polygons: Vec<Vec<[f32; 2]>>,
    /// As many as the skeleton has, or none.
    pub keypoints: Vec<Keypoint>,
    /// Whether it is a crowd, whose members are not labelled separately.
    pub crowd: bool,
}

/// A named point of an object, such as a nose or a left knee.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Keypoint {
    /// From the left.
    pub x: f32,
    /// From the top.
    pub y: f32,
    /// 0 not labelled or outside, 1 hidden, 2 visible.
    pub visibility: f32,
}

/// The keypoints that objects have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skeleton {
    /// Number of keypoints per object.
    pub count: usize,
    /// The keypoint that replaces each one in a mirror image (`flip_idx`); empty if they stay.
    pub flip: Vec<usize>,
}
