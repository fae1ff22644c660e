//! The masks of objects: rasterised from their outlines once these have moved, on the host.

use crate::draft::mask::{Polygon, rows};
use crate::error::{Cause, Result, ensure};
use crate::geometry::Size;
use crate::label::InstanceMasks;
use crate::options::LabelsOptions;
use crate::plan::Run;
use crate::plan::label_apply::TransformedObject;

/// Largest `mask_ratio`.
const MAX_RATIO: u32 = 64;
/// Maximum bytes of the planes of one sample's objects.
const MAX_BYTES: u64 = 1 << 30;

/// The masks of the objects of a batch, or of one view of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ObjectMasks {
    /// Of each plane: the sample's divided by `mask_ratio`, without the remainder.
    pub size: Size,
    /// All planes, one after the other.
    pub planes: MaskPlanes,
}

/// Planes of pixels, row by row without gaps.
///
/// A pixel belongs to an object if one of the polygons of its outline contains the pixel's centre by the even-odd rule. An
/// object without an outline has no pixels.
#[derive(Clone, Debug, PartialEq)]
pub enum MaskPlanes {
    /// A plane for each object of the batch, in their order: 1 where the object is, 0 elsewhere.
    PerObject(Vec<u8>),
    /// A plane for each row of the batch: 1 + the index, among the objects of its row, of the smallest object that the pixel
    /// belongs to, and 0 where it belongs to none.
    Overlap(Vec<i32>),
}

impl MaskPlanes {
    pub(super) fn none(kind: InstanceMasks) -> Self {
        match kind {
            InstanceMasks::PerObject => Self::PerObject(Vec::new()),
            InstanceMasks::Overlap => Self::Overlap(Vec::new()),
        }
    }

    /// Adds those of another row of the batch; `None` where nothing is known of what is seen there.
    pub(super) fn add(&mut self, row: Option<Self>, size: Size) {
        match (self, row) {
            (Self::PerObject(all), Some(Self::PerObject(mut own))) => all.append(&mut own),
            (Self::Overlap(all), Some(Self::Overlap(mut own))) => all.append(&mut own),
            (Self::Overlap(all), _) => all.resize(all.len() + size.pixels() as usize, 0),
            (Self::PerObject(_), _) => {}
        }
    }
}

/// What masks of objects are asked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::loader) struct InstanceRules {
    pub(super) kind: InstanceMasks,
    ratio: u32,
}

impl InstanceRules {
    /// `None` where none are asked for.
    pub(super) fn of(options: &LabelsOptions) -> Option<Self> {
        let kind = options.instance_masks?;
        Some(Self { kind, ratio: options.mask_ratio.unwrap_or_else(|| kind.usual_ratio()) })
    }

    pub(super) fn check(&self) -> Result<()> {
        ensure!(
            (1..=MAX_RATIO).contains(&self.ratio),
            "[labels]: mask_ratio is {}: give 1 for masks as large as the sample, or by how much they are smaller, up to \
             {MAX_RATIO}",
            self.ratio
        );
        Ok(())
    }

    /// The size of the planes of samples of this size.
    pub(super) fn size(&self, sample: Size) -> Size {
        let smaller = |edge: u32| (edge / self.ratio).max(1);
        Size::new(smaller(sample.width), smaller(sample.height))
    }

    /// The planes of a sample of this size, in which these objects are seen, in pixels. With one plane for all, the objects
    /// are put in its order: the largest first.
    ///
    /// # Errors
    /// More bytes than a sample's masks may have.
    pub(super) fn rasterise(
        &self,
        objects: &mut Vec<TransformedObject>,
        sample: Size,
    ) -> Result<MaskPlanes, Cause> {
        let size = self.size(sample);
        let of_object =
            |object: &TransformedObject| rows(&shrunk(&object.polygons, sample, size), size.rect());
        match self.kind {
            InstanceMasks::PerObject => {
                let bytes = size.pixels() * objects.len() as u64;
                if bytes > MAX_BYTES {
                    let count = objects.len();
                    let cause = format!(
                        "the masks of its {count} objects, {size} pixels each, have {bytes} bytes, and may have {MAX_BYTES}: \
                         raise mask_ratio, or use instance_masks = \"overlap\""
                    );
                    return Err(cause.into());
                }
                let mut planes = vec![0; bytes as usize];
                for (plane, object) in planes.chunks_mut(size.pixels().max(1) as usize).zip(&*objects) {
                    paint(plane, &of_object(object), size, 1);
                }
                Ok(MaskPlanes::PerObject(planes))
            }
            InstanceMasks::Overlap => {
                let mut each: Vec<_> = objects.drain(..).map(|object| (of_object(&object), object)).collect();
                // Those of one area stay in the order of the labels.
                each.sort_by_key(|(rows, _)| std::cmp::Reverse(area(rows)));
                let mut plane = vec![0; size.pixels() as usize];
                for (number, (rows, object)) in (1..).zip(each) {
                    paint(&mut plane, &rows, size, number);
                    objects.push(object);
                }
                Ok(MaskPlanes::Overlap(plane))
            }
        }
    }
}

/// An outline on a canvas that is smaller.
fn shrunk(polygons: &[Polygon], from: Size, to: Size) -> Vec<Polygon> {
    let [x, y] =
        [(to.width, from.width), (to.height, from.height)].map(|(to, from)| f64::from(to) / f64::from(from));
    polygons
        .iter()
        .map(|polygon| polygon.iter().map(|point| [point[0] * x, point[1] * y]).collect())
        .collect()
}

pub(in crate::loader) fn area(rows: &[Vec<Run>]) -> u64 {
    rows.iter().flatten().map(|run| u64::from(run.len)).sum()
}

/// Writes `value` where the runs of each row are.
pub(in crate::loader) fn paint<T: Copy>(plane: &mut [T], rows: &[Vec<Run>], size: Size, value: T) {
    for (line, runs) in plane.chunks_mut(size.width as usize).zip(rows) {
        for run in runs {
            line[run.start as usize..][..run.len as usize].fill(value);
        }
    }
}
