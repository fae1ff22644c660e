//! The objects of a batch as flat arrays, as a trainer's tensors want them.

use super::instances::{MaskPlanes, ObjectMasks};
use super::labels::{LabelRules, SeenObjects};
use crate::geometry::Size;
use crate::label::{BoxFormat, Unit};
use crate::plan::label_apply::TransformedObject;

/// The objects of all rows of a batch, row by row, each entry of the first five arrays one object.
///
/// Object i has the keypoints `keypoint_offsets[i]..keypoint_offsets[i + 1]` and the polygons
/// `polygon_offsets[i]..polygon_offsets[i + 1]`; polygon p has the points `point_offsets[p]..point_offsets[p + 1]`.
/// Arrays of offsets begin with 0 and are one longer than what they count.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BatchObjects {
    /// What the numbers of a box are.
    pub format: BoxFormat,
    /// What coordinates are counted in: pixels of the sample, or parts of its width and height.
    pub unit: Unit,
    /// The row that each object is in.
    pub batch_index: Vec<i64>,
    /// Class indices.
    pub classes: Vec<i64>,
    /// Upright boxes, in [`BatchObjects::format`]; in a format of rotated ones as left, top, right and bottom.
    pub boxes: Vec<[f32; 4]>,
    /// Boxes in a format of rotated ones, [`BoxFormat::numbers`] of each object; empty in another.
    pub rotated: Vec<f32>,
    /// The masks of the objects, where they are asked for and the batch lies in the host's memory; else see
    /// [`crate::loader::Batch::object_mask_pixels`].
    pub masks: Option<ObjectMasks>,
    /// What each object counts for: 1, or the share of its image where images were mixed. Mosaics mix nothing.
    pub shares: Vec<f32>,
    /// Whether it stands for a crowd.
    pub crowd: Vec<bool>,
    /// Outlines.
    pub polygon_offsets: Vec<usize>,
    /// Points of all polygons.
    pub point_offsets: Vec<usize>,
    /// x and y.
    pub points: Vec<[f32; 2]>,
    /// Keypoints of the objects.
    pub keypoint_offsets: Vec<usize>,
    /// x, y and visibility: 0 not labelled or outside, 1 hidden, 2 visible.
    pub keypoints: Vec<[f32; 3]>,
}

impl BatchObjects {
    /// Of samples of this size.
    pub(in crate::loader) fn new(rules: &LabelRules, sample: Size) -> Self {
        let masks = |rules: &super::instances::InstanceRules| ObjectMasks {
            size: rules.size(sample),
            planes: MaskPlanes::none(rules.kind),
        };
        Self {
            format: rules.format,
            unit: rules.unit,
            batch_index: Vec::new(),
            classes: Vec::new(),
            boxes: Vec::new(),
            rotated: Vec::new(),
            masks: rules.instances.as_ref().map(masks),
            shares: Vec::new(),
            crowd: Vec::new(),
            polygon_offsets: vec![0],
            point_offsets: vec![0],
            points: Vec::new(),
            keypoint_offsets: vec![0],
            keypoints: Vec::new(),
        }
    }

    /// Adds the next row; `None` where nothing is known of what is seen there.
    pub(in crate::loader) fn add(&mut self, row: usize, seen: Option<SeenObjects>) {
        let (list, own) = seen.map_or_else(Default::default, |seen| (seen.list, seen.masks));
        if let Some(masks) = &mut self.masks {
            masks.planes.add(own, masks.size);
        }
        list.into_iter().for_each(|object| self.push(row, object));
    }

    /// `object` is in the batch's unit.
    fn push(&mut self, row: usize, object: TransformedObject) {
        self.batch_index.push(row as i64);
        self.classes.push(object.class);
        self.boxes.push(self.format.from_xyxy(object.bbox).map(|number| number as f32));
        if self.format.is_rotated() {
            self.rotated.extend(object.box_in(self.format).into_iter().map(|number| number as f32));
        }
        self.shares.push(object.share);
        self.crowd.push(object.crowd);
        for polygon in &object.polygons {
            self.points.extend(polygon.iter().map(|point| point.map(|number| number as f32)));
            self.point_offsets.push(self.points.len());
        }
        self.polygon_offsets.push(self.point_offsets.len() - 1);
        self.keypoints.extend(object.keypoints.iter().map(|point| point.map(|number| number as f32)));
        self.keypoint_offsets.push(self.keypoints.len());
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// True when nothing is seen in any row.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }
}
