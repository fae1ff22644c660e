//! The objects of all images of a data set, flat and close together.

use crate::error::{Error, Result};
use crate::label::{Keypoint, Label, Object, Objects, Skeleton, Unit};
use bytemuck::{Pod, Zeroable};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hasher;
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// The objects of all images. An object costs 32 bytes, a polygon 4, a point of it 8, a keypoint 12, an image 4.
#[derive(Clone, Debug, Default)]
pub(in crate::source) struct Table {
    pub(in crate::source) unit: Unit,
    pub(in crate::source) skeleton: Option<Arc<Skeleton>>,
    /// How many objects there are up to the end of each image.
    images: Vec<u32>,
    rows: Vec<Row>,
    /// How many points there are up to the end of each polygon.
    polygons: Vec<u32>,
    points: Vec<[f32; 2]>,
    keypoints: Vec<[f32; 3]>,
}

/// One object.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
struct Row {
    bbox: [f32; 4],
    class: u32,
    crowd: u32,
    /// How many polygons there are up to its end.
    polygons: u32,
    /// How many keypoints there are up to its end.
    keypoints: u32,
}

const _: () = assert!(size_of::<Row>() == 32);

/// In how many pieces a table becomes bytes, for the cache.
pub(in crate::source) const PARTS: usize = 5;

impl Table {
    /// A table without images.
    pub(in crate::source) fn new(unit: Unit, skeleton: Option<Arc<Skeleton>>) -> Self {
        Self { unit, skeleton, ..Self::default() }
    }

    /// Adds an image at the end. Objects that it has twice are added once; returns how many were left out.
    pub(in crate::source) fn push(&mut self, objects: &[Object]) -> Result<u64> {
        let mut met = HashMap::new();
        let mut duplicates = 0;
        for (at, object) in objects.iter().enumerate() {
            // Another object of the same hash is no duplicate of this one, though the next one may be; 2^-64 each.
            match met.entry(fingerprint(object)) {
                Entry::Occupied(first) if objects[*first.get()] == *object => duplicates += 1,
                entry => {
                    entry.insert_entry(at);
                    self.push_object(object);
                }
            }
        }
        self.end_image().map(|()| duplicates)
    }

    /// Adds an image at the end with all of its objects, whether it has them twice or not.
    pub(in crate::source) fn push_all(&mut self, objects: &[Object]) -> Result<()> {
        objects.iter().for_each(|object| self.push_object(object));
        self.end_image()
    }

    fn end_image(&mut self) -> Result<()> {
        self.images.push(index(self.rows.len())?);
        index(self.polygons.len().max(self.points.len()).max(self.keypoints.len())).map(drop)
    }

    fn push_object(&mut self, object: &Object) {
        for polygon in &object.polygons {
            self.points.extend_from_slice(polygon);
            self.polygons.push(self.points.len() as u32);
        }
        let keypoints = object.keypoints.iter();
        self.keypoints.extend(keypoints.map(|point| [point.x, point.y, point.visibility]));
        self.rows.push(Row {
            bbox: object.bbox,
            class: object.class as u32,
            crowd: u32::from(object.crowd),
            polygons: self.polygons.len() as u32,
            keypoints: self.keypoints.len() as u32,
        });
    }

    /// Gives back what growing had set aside.
    pub(in crate::source) fn shrink(&mut self) {
        self.images.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.polygons.shrink_to_fit();
        self.points.shrink_to_fit();
        self.keypoints.shrink_to_fit();
    }

    /// How many images there are.
    pub(in crate::source) fn len(&self) -> usize {
        self.images.len()
    }

    /// How many objects there are in all.
    pub(in crate::source) fn objects(&self) -> u64 {
        self.rows.len() as u64
    }

    /// How many images have no object.
    pub(in crate::source) fn backgrounds(&self) -> u64 {
        let starts = [0].into_iter().chain(self.images.iter().copied());
        starts.zip(&self.images).filter(|(start, end)| start == *end).count() as u64
    }

    /// The label of an image; none where there is no such image.
    pub(in crate::source) fn label(&self, image: usize) -> Label {
        match image < self.len() {
            true => Label::Objects(Arc::new(self.image(image))),
            false => Label::Unlabelled,
        }
    }

    /// The objects of an image, which must be there.
    pub(in crate::source) fn image(&self, image: usize) -> Objects {
        let before = |ends: &[u32], at: usize| at.checked_sub(1).map_or(0, |before| ends[before] as usize);
        let rows = before(&self.images, image)..self.images[image] as usize;
        let mut start = rows.start.checked_sub(1).map_or((0, 0), |before| self.rows[before].ends());
        let list = self.rows[rows].iter().map(|row| {
            let end = row.ends();
            let polygons = (start.0..end.0).map(|polygon| {
                self.points[before(&self.polygons, polygon)..self.polygons[polygon] as usize].to_vec()
            });
            let keypoints = self.keypoints[start.1..end.1].iter();
            let object = Object {
                class: i64::from(row.class),
                bbox: row.bbox,
                polygons: polygons.collect(),
                keypoints: keypoints.map(|&[x, y, visibility]| Keypoint { x, y, visibility }).collect(),
                crowd: row.crowd != 0,
            };
            start = end;
            object
        });
        Objects { unit: self.unit, list: list.collect(), skeleton: self.skeleton.clone() }
    }

    /// The table as bytes. Unit and skeleton are not in them.
    pub(in crate::source) fn parts(&self) -> [&[u8]; PARTS] {
        [
            bytemuck::cast_slice(&self.images),
            bytemuck::cast_slice(&self.rows),
            bytemuck::cast_slice(&self.polygons),
            bytemuck::cast_slice(&self.points),
            bytemuck::cast_slice(&self.keypoints),
        ]
    }

    /// The table whose bytes these are, its unit and skeleton still to be set; none where they contradict each other.
    pub(in crate::source) fn from_parts(
        [images, rows, polygons, points, keypoints]: [&[u8]; PARTS],
    ) -> Option<Self> {
        let table = Self {
            images: values(images)?,
            rows: values(rows)?,
            polygons: values(polygons)?,
            points: values(points)?,
            keypoints: values(keypoints)?,
            ..Self::default()
        };
        let rows = &table.rows;
        let sound = rise_to(table.images.iter().copied(), rows.len())
            && rise_to(rows.iter().map(|row| row.polygons), table.polygons.len())
            && rise_to(rows.iter().map(|row| row.keypoints), table.keypoints.len())
            && rise_to(table.polygons.iter().copied(), table.points.len());
        sound.then_some(table)
    }
}

impl Row {
    /// Where its polygons and its keypoints end.
    fn ends(&self) -> (usize, usize) {
        (self.polygons as usize, self.keypoints as usize)
    }
}

/// Whether ends follow each other up to the end of what they divide.
fn rise_to(mut ends: impl Iterator<Item = u32>, len: usize) -> bool {
    let mut last = 0;
    ends.all(|end| std::mem::replace(&mut last, end) <= end) && last as usize == len
}

/// The values that lie in `bytes`, wherever those lie.
fn values<T: Pod>(bytes: &[u8]) -> Option<Vec<T>> {
    let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    if size_of_val(values.as_slice()) != bytes.len() {
        return None;
    }
    bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
    Some(values)
}

fn index(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| {
        Error::config(format!("a data set of {count} label parts is above {}: split it", u32::MAX))
    })
}

/// A hash over all of an object.
fn fingerprint(object: &Object) -> u64 {
    let mut hasher = XxHash3_64::new();
    hasher.write(&object.class.to_le_bytes());
    hasher.write(bytemuck::bytes_of(&object.bbox));
    hasher.write(&[u8::from(object.crowd)]);
    for polygon in &object.polygons {
        hasher.write(&polygon.len().to_le_bytes());
        hasher.write(bytemuck::cast_slice(polygon));
    }
    for point in &object.keypoints {
        hasher.write(bytemuck::bytes_of(&[point.x, point.y, point.visibility]));
    }
    hasher.finish()
}
