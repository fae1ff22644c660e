//! What sources of labelled objects share: the labels in memory, what becomes of bad ones, and their cache.

pub(super) mod cache;
pub(super) mod polygon;
pub(super) mod report;
pub(super) mod table;

/// The box around points.
pub(super) fn bounds<'a>(points: impl IntoIterator<Item = &'a [f32; 2]>) -> [f32; 4] {
    let first = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
    points.into_iter().fold(first, |[left, top, right, bottom], &[x, y]| {
        [left.min(x), top.min(y), right.max(x), bottom.max(y)]
    })
}
