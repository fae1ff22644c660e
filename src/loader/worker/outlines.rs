//! Semantic masks of images that have none, made of the outlines of their objects.

use crate::draft::mask::{MaskRuns, Polygon};
use crate::error::Cause;
use crate::geometry::Size;
use crate::label::{Objects, Unit};
use crate::loader::batch::instances::{largest_first, paint};

/// The classes of an upright image: 0 where there is no object, and 1 + the class where there is one, that of the smallest
/// where several are. `classes` is replaced.
///
/// # Errors
/// A class that has no level; more runs of pixels than an image may have.
pub(super) fn classes_of(objects: &Objects, upright: Size, classes: &mut Vec<u8>) -> Result<(), Cause> {
    let scale = match objects.unit {
        Unit::Pixels => [1.0, 1.0],
        Unit::Normalized => [upright.width, upright.height].map(f64::from),
    };
    let moved = |point: &[f32; 2]| [f64::from(point[0]) * scale[0], f64::from(point[1]) * scale[1]];
    let each = objects.list.iter().map(|object| {
        let level = u8::try_from(object.class + 1).ok().filter(|&level| (1..u8::MAX).contains(&level));
        let level = level.ok_or_else(|| {
            format!(
                "an outline has the class {}, and masks hold classes from 0 to 253: leave outline_masks out, or give the data \
                 fewer classes",
                object.class
            )
        })?;
        let polygons: Vec<Polygon> =
            object.polygons.iter().map(|polygon| polygon.iter().map(moved).collect()).collect();
        Ok((MaskRuns::of(&polygons, upright), level))
    });
    let each = largest_first(each, "give outlines fewer points, or leave outline_masks out")?;
    classes.clear();
    classes.resize(upright.pixels() as usize, 0);
    each.iter().for_each(|(held, level)| paint(classes, held, upright, *level));
    Ok(())
}
