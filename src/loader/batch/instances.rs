//! The masks of objects: runs of pixels, made on the host of their outlines once these have moved, and planes of them in the
//! host's memory.

use crate::draft::mask::{MaskRuns, Polygon};
use crate::error::{Cause, Result, ensure};
use crate::geometry::Size;
use crate::label::InstanceMasks;
use crate::options::LabelsOptions;
use crate::plan::label_apply::TransformedObject;
use crate::plan::{ObjectRun, ObjectRuns, Run};

/// Largest `mask_ratio`.
const MAX_RATIO: u32 = 64;
/// Maximum bytes of the planes of one sample's objects.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum number of runs of the masks of one sample: a GiB of them on their way to a device.
const MAX_RUNS: usize = 1 << 26;

const FEWER_RUNS: &str = "raise mask_ratio, or give outlines fewer points";

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
    pub(super) fn add(&mut self, row: Option<ObjectRuns>, size: Size) {
        let (planes, runs) = match (row, &self) {
            (Some(row), _) => (row.planes, row.runs),
            (None, Self::PerObject(_)) => (0, Vec::new()),
            (None, Self::Overlap(_)) => (1, Vec::new()),
        };
        let pixels = planes * size.pixels() as usize;
        match self {
            Self::PerObject(all) => write(all, pixels, &runs, |value| value as u8),
            Self::Overlap(all) => write(all, pixels, &runs, |value| value as i32),
        }
    }
}

/// Appends so many pixels, and writes the runs to them.
fn write<T: Copy + Default>(all: &mut Vec<T>, pixels: usize, runs: &[ObjectRun], value: fn(u32) -> T) {
    let first = all.len();
    all.resize(first + pixels, T::default());
    for run in runs {
        all[first + run.start as usize..][..run.len as usize].fill(value(run.value));
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

    /// The masks of a sample of which nothing is known.
    pub(in crate::loader) fn unknown(&self, sample: Size) -> ObjectRuns {
        let planes = match self.kind {
            InstanceMasks::PerObject => 0,
            InstanceMasks::Overlap => 1,
        };
        ObjectRuns { kind: self.kind, size: self.size(sample), planes, runs: Vec::new() }
    }

    /// The masks of a sample of this size, in which these objects are seen, in pixels. With one plane for all, the objects are
    /// put in its order: the largest first.
    ///
    /// # Errors
    /// More bytes than a sample's masks may have, or more runs.
    pub(super) fn rasterise(
        &self,
        objects: &mut Vec<TransformedObject>,
        sample: Size,
    ) -> Result<ObjectRuns, Cause> {
        self.rasterise_within(objects, sample, MAX_RUNS)
    }

    /// The same with at most so many runs.
    fn rasterise_within(
        &self,
        objects: &mut Vec<TransformedObject>,
        sample: Size,
        max_runs: usize,
    ) -> Result<ObjectRuns, Cause> {
        let mut made = self.unknown(sample);
        let size = made.size;
        let of_object =
            |object: &TransformedObject| MaskRuns::of(&shrunk(&object.polygons, sample, size), size);
        let count = objects.len();
        let (bytes, remedy) = match self.kind {
            InstanceMasks::PerObject => {
                (size.pixels() * count as u64, "raise mask_ratio, or use instance_masks = \"overlap\"")
            }
            InstanceMasks::Overlap => (4 * size.pixels(), "raise mask_ratio"),
        };
        if bytes > MAX_BYTES {
            let cause = format!(
                "the masks of its {count} objects, {size} pixels each, have {bytes} bytes, and may have {MAX_BYTES}: {remedy}"
            );
            return Err(cause.into());
        }
        match self.kind {
            InstanceMasks::PerObject => {
                made.planes = count;
                // Planes lie below each other.
                for (number, object) in objects.iter().enumerate() {
                    let above = number as u32 * size.height;
                    for (y, runs) in of_object(object).rows_and_runs() {
                        made.runs.extend(of_row(runs, (above + y, size), 1));
                    }
                    check(made.runs.len(), max_runs, FEWER_RUNS)?;
                }
            }
            InstanceMasks::Overlap => {
                let each = objects.drain(..).map(|object| Ok((of_object(&object), object)));
                let each = largest_first(each, FEWER_RUNS)?;
                for y in 0..size.height {
                    let mut seen = Vec::new();
                    for (number, (held, _)) in each.iter().enumerate().rev() {
                        seen = below(seen, of_row(held.row(y), (y, size), number as u32 + 1));
                    }
                    made.runs.append(&mut seen);
                    check(made.runs.len(), max_runs, FEWER_RUNS)?;
                }
                objects.extend(each.into_iter().map(|(_, object)| object));
            }
        }
        Ok(made)
    }
}

/// The masks of a sample's objects with what belongs to each, the largest first. Those of one area stay in the order of the
/// labels.
///
/// # Errors
/// Those of `masks`; more runs than the masks of a sample may have.
pub(in crate::loader) fn largest_first<T>(
    masks: impl Iterator<Item = Result<(MaskRuns, T), Cause>>,
    remedy: &str,
) -> Result<Vec<(MaskRuns, T)>, Cause> {
    let (mut each, mut kept) = (Vec::with_capacity(masks.size_hint().0), 0);
    for mask in masks {
        let mask = mask?;
        kept += mask.0.len();
        check(kept, MAX_RUNS, remedy)?;
        each.push(mask);
    }
    each.sort_by_key(|(held, _)| std::cmp::Reverse(held.area()));
    Ok(each)
}

fn check(runs: usize, max: usize, remedy: &str) -> Result<(), Cause> {
    if runs > max {
        let cause = format!("the masks of its objects have more than {max} runs of pixels: {remedy}");
        return Err(cause.into());
    }
    Ok(())
}

/// The runs of row `y`, counted from the first pixel of row 0.
fn of_row(runs: &[Run], (y, size): (u32, Size), value: u32) -> impl ExactSizeIterator<Item = ObjectRun> {
    let first = y * size.width;
    runs.iter().map(move |run| ObjectRun { start: first + run.start, len: run.len, value })
}

/// What is seen of a row where more runs lie below it. Both are in order.
fn below(above: Vec<ObjectRun>, runs: impl ExactSizeIterator<Item = ObjectRun>) -> Vec<ObjectRun> {
    if runs.len() == 0 {
        return above;
    }
    let mut seen = Vec::with_capacity(above.len() + runs.len());
    let mut above = above.into_iter().peekable();
    for ObjectRun { mut start, len, value } in runs {
        let end = start + len;
        while let Some(over) = above.peek().filter(|over| over.start < end) {
            if start < over.start {
                seen.push(ObjectRun { start, len: over.start - start, value });
            }
            start = start.max(over.start + over.len);
            if start > end {
                // It hides the beginning of the next one too.
                break;
            }
            seen.extend(above.next());
        }
        if start < end {
            seen.push(ObjectRun { start, len: end - start, value });
        }
    }
    seen.extend(above);
    seen
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

/// Writes `value` where the outlines are.
pub(in crate::loader) fn paint<T: Copy>(plane: &mut [T], held: &MaskRuns, size: Size, value: T) {
    for (y, runs) in held.rows_and_runs() {
        for run in runs {
            plane[y as usize * size.width as usize + run.start as usize..][..run.len as usize].fill(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Draft;
    use crate::geometry::Orientation;
    use crate::label::{Object, Objects};
    use crate::rng::{Draws, Rng};
    use std::sync::Arc;

    fn any_objects(rng: &mut Rng, canvas: Size) -> Vec<TransformedObject> {
        let edges = [canvas.width, canvas.height].map(|edge| edge as f32);
        let mut polygon = |points: u32| -> Vec<[f32; 2]> {
            (0..points).map(|_| edges.map(|edge| rng.uniform_between(0.0, edge))).collect()
        };
        let mut object = |number: u32| {
            let polygons = (0..1 + number % 2).map(|_| polygon(3 + number % 5)).collect();
            Object { polygons, ..Object::default() }
        };
        let objects = Objects { list: (0..7).map(&mut object).collect(), ..Objects::default() };
        Draft::new(0, canvas, Orientation::UPRIGHT).with_objects(Arc::new(objects)).objects()
    }

    #[test]
    fn of_objects_above_each_other_the_runs_hold_what_painting_one_after_the_other_leaves() {
        let canvas = Size::new(31, 23);
        for case in 0..60 {
            let mut objects = any_objects(&mut Rng::new(7, 0, case, 0), canvas);
            let rules = InstanceRules { kind: InstanceMasks::Overlap, ratio: 1 };
            let made = rules.rasterise(&mut objects, canvas).unwrap();
            let mut painted = vec![0; canvas.pixels() as usize];
            for (number, object) in (1..).zip(&objects) {
                paint(&mut painted, &MaskRuns::of(&object.polygons, canvas), canvas, number);
            }
            let mut found = vec![0; painted.len()];
            for run in &made.runs {
                let pixels = &mut found[run.start as usize..][..run.len as usize];
                assert!(
                    run.len > 0 && pixels.iter().all(|&pixel| pixel == 0),
                    "{case}: a pixel is in two runs"
                );
                pixels.fill(run.value);
            }
            assert_eq!(found, painted, "case {case}");
        }
    }

    #[test]
    fn too_many_runs_are_refused_with_the_remedy() {
        let canvas = Size::new(31, 23);
        for kind in [InstanceMasks::PerObject, InstanceMasks::Overlap] {
            let rules = InstanceRules { kind, ratio: 1 };
            let within = |max| {
                rules.rasterise_within(&mut any_objects(&mut Rng::new(7, 0, 0, 0), canvas), canvas, max)
            };
            let has = within(usize::MAX).unwrap().runs.len();
            assert!(has > 20 && within(has).is_ok());
            let refused = within(has - 1).unwrap_err().to_string();
            assert!(refused.contains(&format!("more than {} runs", has - 1)), "{refused}");
            assert!(refused.contains("mask_ratio"), "{refused}");
        }
    }
}
