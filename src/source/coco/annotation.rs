//! One annotation of COCO's JSON, and the object that it describes.

use super::segmentation::Segmentation;
use crate::label::{Keypoint, Object};
use crate::source::labels::bounds;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use std::fmt;

/// An entry of `annotations`.
#[derive(Debug, Deserialize)]
pub(super) struct Annotation {
    #[serde(default)]
    pub(super) id: Option<i64>,
    pub(super) image_id: i64,
    pub(super) category_id: i64,
    #[serde(default)]
    bbox: Option<Vec<f64>>,
    #[serde(default)]
    iscrowd: Crowd,
    #[serde(default)]
    segmentation: Segmentation,
    #[serde(default)]
    keypoints: Option<Vec<f64>>,
}

impl Annotation {
    /// Width and height of its mask, where it has one.
    pub(super) fn mask_size(&self) -> Option<[u32; 2]> {
        match self.segmentation {
            Segmentation::Runs { size: Some([height, width]), .. } => Some([width, height]),
            _ => None,
        }
    }

    /// The object without its class, or what is wrong with it.
    pub(super) fn object(self) -> Result<Object, String> {
        let mut object = Object { crowd: self.iscrowd.0, ..Object::default() };
        object.polygons = self.segmentation.polygons()?;
        object.keypoints = keypoints(&self.keypoints.unwrap_or_default())?;
        object.bbox = match self.bbox.as_deref() {
            Some(&[left, top, width, height]) if width > 0.0 && height > 0.0 => {
                [left, top, left + width, top + height].map(|value| value as f32)
            }
            Some(&[_, _, width, height]) => {
                return Err(format!("the box has the size {width} x {height}: both must be above zero"));
            }
            Some(&[]) | None if !object.polygons.is_empty() => bounds(object.polygons.iter().flatten()),
            Some(&[]) | None => return Err("there is neither a box nor an outline".to_owned()),
            Some(other) => {
                return Err(format!(
                    "the box has {} numbers; it must be left, top, width, height",
                    other.len()
                ));
            }
        };
        let [left, top, right, bottom] = object.bbox;
        match right > left && bottom > top && object.bbox.iter().all(|value| value.is_finite()) {
            true => Ok(object),
            false => {
                Err("the object has no size: its width or height is zero, or beyond all images".to_owned())
            }
        }
    }
}

fn keypoints(numbers: &[f64]) -> Result<Vec<Keypoint>, String> {
    let (points, []) = numbers.as_chunks::<3>() else {
        return Err(format!("{} numbers of keypoints; each has 3: x, y, visibility", numbers.len()));
    };
    let point = |&[x, y, visibility]: &[f64; 3]| match visibility {
        0.0 => Ok(Keypoint::default()),
        1.0 | 2.0 => Ok(Keypoint { x: x as f32, y: y as f32, visibility: visibility as f32 }),
        _ => Err(format!("the visibility {visibility} of a keypoint is none of 0, 1 and 2")),
    };
    points.iter().map(point).collect()
}

/// `iscrowd`, which some tools write as a boolean.
#[derive(Clone, Copy, Debug, Default)]
struct Crowd(bool);

impl<'de> Deserialize<'de> for Crowd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ZeroOrOne;
        impl Visitor<'_> for ZeroOrOne {
            type Value = Crowd;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("iscrowd as 0 or 1")
            }
            fn visit_bool<E>(self, crowd: bool) -> Result<Crowd, E> {
                Ok(Crowd(crowd))
            }
            fn visit_u64<E: Error>(self, crowd: u64) -> Result<Crowd, E> {
                match crowd {
                    0 | 1 => Ok(Crowd(crowd == 1)),
                    _ => Err(E::custom(format!("iscrowd is {crowd}, and must be 0 or 1"))),
                }
            }
            fn visit_unit<E>(self) -> Result<Crowd, E> {
                Ok(Crowd(false))
            }
        }
        deserializer.deserialize_any(ZeroOrOne)
    }
}
