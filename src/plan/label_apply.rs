//! Objects on their way through a plan's ops, in f64 and in pixels of the canvas.

mod distort;
mod filter;
mod polygon;

use super::ImageRef;
use super::distortion::{Distortion, Lookup};
use super::label_ops::{LabelOp, LabelOpKind};
use crate::geometry::Rect;
use crate::label::{BoxFormat, Object, Objects, RotatedBox, Skeleton, Unit};
use std::sync::Arc;

/// An object as it is seen on a canvas.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformedObject {
    /// The image that it comes from, as an index of [`crate::plan::Plan::images`].
    pub image: u32,
    /// Index of the class.
    pub class: i64,
    /// Left, top, right, bottom.
    pub bbox: [f64; 4],
    /// Its outline: one polygon for each of its parts, points as x, y.
    pub polygons: Vec<Vec<[f64; 2]>>,
    /// x, y and visibility: 0 not labelled or outside, 1 hidden, 2 visible.
    pub keypoints: Vec<[f64; 3]>,
    /// Whether it stands for a crowd, whose members are not labelled one by one.
    pub crowd: bool,
    /// What it counts for: 1, or the share of its image where images were mixed.
    pub share: f32,
    /// The rectangle of least area around its outline, where boxes were asked for in a format of rotated ones.
    pub rotated: Option<RotatedBox>,
    /// The box at the last mark.
    marked: [f64; 4],
    /// What has become of the marked box, never cut.
    uncut: [f64; 4],
    /// Whether it had polygons; all of them may have been cut away.
    outlined: bool,
    skeleton: Option<Arc<Skeleton>>,
}

/// The objects of all `images` as they are seen in them; `objects` has one entry for each image.
pub fn pick_up(images: &[ImageRef], objects: &[Option<Arc<Objects>>]) -> Vec<TransformedObject> {
    let each = (0..).zip(images).zip(objects);
    let known = each.filter_map(|((at, image), objects)| Some((at, image, objects.as_deref()?)));
    known.flat_map(|(at, image, objects)| pick_up_one(at, image, objects)).collect()
}

fn pick_up_one(at: u32, image: &ImageRef, objects: &Objects) -> impl Iterator<Item = TransformedObject> {
    let upright = image.orientation.apply_size(image.stored);
    let [x, y] = match objects.unit {
        Unit::Pixels => [1.0, 1.0],
        Unit::Normalized => [upright.width, upright.height].map(f64::from),
    };
    objects
        .list
        .iter()
        .map(move |object| TransformedObject::new(at, object, [x, y], objects.skeleton.clone()))
}

/// Takes objects through `ops`, in order; `distortions` are those that they name.
pub fn apply(seen: &mut Vec<TransformedObject>, ops: &[LabelOp], distortions: &[Distortion]) {
    for LabelOp { images, kind } in ops {
        let takes_part = |object: &TransformedObject| images.range().contains(&(object.image as usize));
        match kind {
            LabelOpKind::Keep(keep) => seen.retain(|object| !takes_part(object) || object.is_kept(keep)),
            LabelOpKind::PasteMirrored { object, width } => {
                let copy = seen.iter().filter(|object| takes_part(object)).nth(*object as usize).cloned();
                seen.extend(copy.map(|mut copy| {
                    copy.go(&LabelOpKind::Map([-1.0, 0.0, *width, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
                    copy.go(&LabelOpKind::Mirrored);
                    copy
                }));
            }
            LabelOpKind::Distort(distortion) => {
                let distortion = distortions.get(*distortion as usize);
                if let Some(distortion) = distortion.filter(|_| seen.iter().any(takes_part)) {
                    let lookup = Lookup::new(distortion);
                    let moved = seen.iter_mut().filter(|object| takes_part(object));
                    moved.for_each(|object| object.distort(&lookup));
                }
            }
            LabelOpKind::Drop(object) => {
                let mut taking_part = (0..seen.len()).filter(|&at| takes_part(&seen[at]));
                if let Some(at) = taking_part.nth(*object as usize) {
                    seen.remove(at);
                }
            }
            _ => seen.iter_mut().filter(|object| takes_part(object)).for_each(|object| object.go(kind)),
        }
    }
}

impl TransformedObject {
    fn new(image: u32, object: &Object, [sx, sy]: [f64; 2], skeleton: Option<Arc<Skeleton>>) -> Self {
        let place = |x: f32, y: f32| [f64::from(x) * sx, f64::from(y) * sy];
        let [left, top, right, bottom] = object.bbox;
        let ([left, top], [right, bottom]) = (place(left, top), place(right, bottom));
        let bbox = [left, top, right, bottom];
        let polygon = |points: &Vec<[f32; 2]>| points.iter().map(|&[x, y]| place(x, y)).collect();
        let keypoints = object.keypoints.iter().map(|point| {
            let [x, y] = place(point.x, point.y);
            [x, y, f64::from(point.visibility)]
        });
        Self {
            image,
            class: object.class,
            bbox,
            polygons: object.polygons.iter().map(polygon).collect(),
            keypoints: keypoints.collect(),
            crowd: object.crowd,
            share: 1.0,
            rotated: None,
            marked: bbox,
            uncut: bbox,
            outlined: !object.polygons.is_empty(),
            skeleton,
        }
    }

    /// Its box in a format: as many numbers as that has.
    pub fn box_in(&self, format: BoxFormat) -> Vec<f64> {
        match (format.is_rotated(), self.rotated) {
            (false, _) => format.from_xyxy(self.bbox).to_vec(),
            (true, rotated) => format.from_rotated(rotated.unwrap_or_else(|| self.fitted())),
        }
    }

    /// The rectangle of least area around its outline; its box where it has none.
    pub(crate) fn fitted(&self) -> RotatedBox {
        let [left, top, right, bottom] = self.bbox;
        let of_box = || RotatedBox::around([[left, top], [right, top], [right, bottom], [left, bottom]]);
        let around = RotatedBox::around(self.polygons.iter().flatten().copied());
        around.or_else(of_box).unwrap_or_default()
    }

    fn go(&mut self, kind: &LabelOpKind) {
        match kind {
            LabelOpKind::Map(map) => self.map(map),
            LabelOpKind::Clip(rect) => self.clip(*rect),
            LabelOpKind::Hide(rect) => self.hide(*rect),
            LabelOpKind::Mirrored => self.swap_sides(),
            LabelOpKind::Rebox if self.outlined => {
                self.bbox = around(self.polygons.iter().flatten().copied())
            }
            LabelOpKind::Mark => (self.marked, self.uncut) = (self.bbox, self.bbox),
            LabelOpKind::Weigh(part) => self.share *= part,
            LabelOpKind::Rebox
            | LabelOpKind::PasteMirrored { .. }
            | LabelOpKind::Distort(_)
            | LabelOpKind::Drop(_)
            | LabelOpKind::Keep(_) => {}
        }
    }

    fn map(&mut self, map: &[f64; 9]) {
        for bbox in [&mut self.bbox, &mut self.uncut] {
            let [left, top, right, bottom] = *bbox;
            let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
            *bbox = around(corners.into_iter().map(|corner| mapped(map, corner)));
        }
        for point in self.polygons.iter_mut().flatten() {
            *point = mapped(map, *point);
        }
        for point in &mut self.keypoints {
            let [x, y, visibility] = *point;
            let [x, y] = mapped(map, [x, y]);
            *point = [x, y, visibility];
        }
    }

    fn clip(&mut self, rect: Rect) {
        let ([left, top], [right, bottom]) = edges(rect);
        // A number that is none, of a point on a perspective's horizon, becomes an edge as well: max drops it.
        let within = |number: f64, low: f64, high: f64| number.max(low).min(high);
        let [x0, y0, x1, y1] = self.bbox;
        let (x0, x1) = (within(x0, left, right), within(x1, left, right));
        self.bbox = [x0, within(y0, top, bottom), x1, within(y1, top, bottom)];
        polygon::clip(&mut self.polygons, rect);
        for [x, y, visibility] in &mut self.keypoints {
            if !((left..=right).contains(x) && (top..=bottom).contains(y)) {
                *visibility = 0.0;
            }
        }
    }

    fn hide(&mut self, rect: Rect) {
        let ([left, top], [right, bottom]) = edges(rect);
        self.bbox = beside(self.bbox, [left, top, right, bottom]);
        polygon::cut_out(&mut self.polygons, rect);
        for [x, y, visibility] in &mut self.keypoints {
            if (left..=right).contains(x) && (top..=bottom).contains(y) {
                *visibility = 0.0;
            }
        }
    }

    fn swap_sides(&mut self) {
        let Some(skeleton) = &self.skeleton else { return };
        if skeleton.flip.is_empty() {
            return;
        }
        let old = std::mem::take(&mut self.keypoints);
        let from = |(at, own): (usize, &[f64; 3])| {
            let other = skeleton.flip.get(at).and_then(|&other| old.get(other));
            *other.unwrap_or(own)
        };
        self.keypoints = old.iter().enumerate().map(from).collect();
    }
}

/// The smallest box around what a window leaves of a box; an empty one where it leaves nothing.
fn beside([x0, y0, x1, y1]: [f64; 4], [left, top, right, bottom]: [f64; 4]) -> [f64; 4] {
    // Along one axis, where the other is covered from end to end: what is covered in the middle is not cut off.
    let cut = |low: f64, high: f64, from: f64, to: f64| match (from <= low, to >= high) {
        (true, true) => (low, low),
        (true, false) => (low.max(to), high),
        (false, true) => (low, high.min(from)),
        (false, false) => (low, high),
    };
    let (across, down) = (left <= x0 && right >= x1, top <= y0 && bottom >= y1);
    let (x0, x1) = if down { cut(x0, x1, left, right) } else { (x0, x1) };
    let (y0, y1) = if across { cut(y0, y1, top, bottom) } else { (y0, y1) };
    [x0, y0, x1, y1]
}

/// The left top and the right bottom corner.
fn edges(rect: Rect) -> ([f64; 2], [f64; 2]) {
    ([rect.x, rect.y].map(f64::from), [rect.right() as f64, rect.bottom() as f64])
}

fn mapped(m: &[f64; 9], [x, y]: [f64; 2]) -> [f64; 2] {
    let row = |at: usize| m[at] * x + m[at + 1] * y + m[at + 2];
    match m[6..] {
        // Whole numbers stay whole where nothing needs a division.
        [0.0, 0.0, 1.0] => [row(0), row(3)],
        _ => [row(0) / row(6), row(3) / row(6)],
    }
}

/// The box around points; an empty one at the origin around none.
fn around(points: impl Iterator<Item = [f64; 2]>) -> [f64; 4] {
    let wider = |[l, t, r, b]: [f64; 4], [x, y]: [f64; 2]| [l.min(x), t.min(y), r.max(x), b.max(y)];
    points.map(|[x, y]| [x, y, x, y]).reduce(|a, [x, y, ..]| wider(a, [x, y])).unwrap_or_default()
}
