//! The labels of a sample.

mod rotated;

pub use rotated::RotatedBox;

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
    /// Indices of all classes that the image has, in order and each once; none of them is a label too.
    Classes(Arc<[i64]>),
    /// The objects in the image.
    Objects(Arc<Objects>),
}

impl Label {
    /// The class index, or -1 if the image as a whole has none, or several.
    pub fn class(&self) -> i64 {
        match self.classes() {
            [class] => *class,
            _ => -1,
        }
    }

    /// The indices of all classes that the image as a whole has.
    pub fn classes(&self) -> &[i64] {
        match self {
            Label::Class(class) => std::slice::from_ref(class),
            Label::Classes(classes) => classes,
            Label::Unlabelled | Label::Objects(_) => &[],
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

/// The meaning of the numbers of a box.
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
    /// Of the rotated box around the outline: horizontal and vertical centre, width, height, and the angle in radians, as
    /// [`RotatedBox`] has them.
    Xywhr,
    /// Of the rotated box around the outline: x and y of its four corners.
    Xyxyxyxy,
}

impl BoxFormat {
    /// How many numbers a box has.
    pub const fn numbers(self) -> usize {
        match self {
            BoxFormat::Xyxy | BoxFormat::Xywh | BoxFormat::Cxcywh => 4,
            BoxFormat::Xywhr => 5,
            BoxFormat::Xyxyxyxy => 8,
        }
    }

    /// Whether it is a format of rotated boxes.
    pub const fn is_rotated(self) -> bool {
        matches!(self, BoxFormat::Xywhr | BoxFormat::Xyxyxyxy)
    }

    /// The numbers of a rotated box in this format; none where it is a format of upright boxes.
    pub fn from_rotated(
        self,
        RotatedBox { center: [x, y], size: [width, height], angle, corners }: RotatedBox,
    ) -> Vec<f64> {
        match self {
            BoxFormat::Xyxy | BoxFormat::Xywh | BoxFormat::Cxcywh => Vec::new(),
            BoxFormat::Xywhr => vec![x, y, width, height, angle],
            BoxFormat::Xyxyxyxy => corners.into_iter().flatten().collect(),
        }
    }

    /// A box of left, top, right and bottom in this format; as it is where this is a format of rotated boxes.
    pub fn from_xyxy(self, [left, top, right, bottom]: [f64; 4]) -> [f64; 4] {
        let (width, height) = (right - left, bottom - top);
        match self {
            BoxFormat::Xyxy | BoxFormat::Xywhr | BoxFormat::Xyxyxyxy => [left, top, right, bottom],
            BoxFormat::Xywh => [left, top, width, height],
            BoxFormat::Cxcywh => [left + width / 2.0, top + height / 2.0, width, height],
        }
    }
}

/// What the masks of the objects of a batch are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstanceMasks {
    /// A plane for each object, as torchvision's models take them.
    PerObject,
    /// One plane for all objects of a sample, the smaller above the larger, as Ultralytics' trainers take it.
    Overlap,
}

impl InstanceMasks {
    /// By how much masks are smaller than the sample unless something else is asked for: 4, as Ultralytics has it, or 1.
    pub const fn usual_ratio(self) -> u32 {
        match self {
            InstanceMasks::PerObject => 1,
            InstanceMasks::Overlap => 4,
        }
    }

    /// Bytes of a pixel: those of a u8, or of an i32.
    pub(crate) const fn pixel_bytes(self) -> usize {
        match self {
            InstanceMasks::PerObject => 1,
            InstanceMasks::Overlap => 4,
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

/// Maximal number of keypoints of an object.
pub(crate) const MAX_KEYPOINTS: usize = 10_000;

/// The keypoints that objects have.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Skeleton {
    /// Number of keypoints per object.
    pub count: usize,
    /// The keypoint that replaces each one in a mirror image (`flip_idx`); empty if they stay.
    #[serde(default)]
    pub flip: Vec<usize>,
}

impl Skeleton {
    /// Whether objects may have so many keypoints, and whether mirroring twice leads back to each.
    pub(crate) fn is_sound(&self) -> bool {
        let returns = |(at, &other): (usize, &usize)| self.flip.get(other) == Some(&at);
        (1..=MAX_KEYPOINTS).contains(&self.count)
            && (self.flip.is_empty() || self.flip.len() == self.count)
            && self.flip.iter().enumerate().all(returns)
    }
}
