//! What a sample is labelled with.

use std::sync::Arc;

/// The label of one record.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Label {
    /// The source knows none.
    #[default]
    Unlabelled,
    /// Index of the class.
    Class(i64),
    /// What is seen in the image, and where.
    Objects(Arc<Objects>),
}

impl Label {
    /// The class index, or -1 where the image as a whole has none.
    pub fn class(&self) -> i64 {
        match self {
            Label::Class(class) => *class,
            Label::Unlabelled | Label::Objects(_) => -1,
        }
    }
}

/// The objects of one image, in coordinates of the upright image: (0, 0) is its left top corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Objects {
    /// What the coordinates are counted in.
    pub unit: Unit,
    /// The objects, in the order in which they are labelled.
    pub list: Vec<Object>,
    /// What the keypoints of each object are; `None` where objects have none.
    pub skeleton: Option<Arc<Skeleton>>,
}

/// What coordinates are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Pixels.
    #[default]
    Pixels,
    /// Parts of the image's width and height.
    Normalized,
}

/// How the four numbers of a box say where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoxFormat {
    /// Left, top, right, bottom.
    #[default]
    Xyxy,
    /// Left, top, width, height.
    Xywh,
    /// Middle from the left, middle from the top, width, height.
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
    /// As many as the skeleton says, or none.
    pub keypoints: Vec<Keypoint>,
    /// Whether it stands for a crowd, whose members are not told apart.
    pub crowd: bool,
}

/// One point of an object that has a meaning: a nose, a left knee.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Keypoint {
    /// From the left.
    pub x: f32,
    /// From the top.
    pub y: f32,
    /// 0 not labelled or outside, 1 hidden, 2 visible.
    pub visibility: f32,
}

/// What the keypoints of an object are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skeleton {
    /// How many keypoints an object has.
    pub count: usize,
    /// Which keypoint takes each one's place in a mirror image (`flip_idx`); empty where they stay.
    pub flip: Vec<usize>,
}
