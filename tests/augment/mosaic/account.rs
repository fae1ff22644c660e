//! What the ops of the detection set make of boxes and outlines, in plain words and without any clipping.

use super::region::{Box4, Matrix, Region, area, through};
use feedline::augment::{
    Augmentation, CopyPasteMode, Mosaic, RandomHorizontalFlip, RandomVerticalFlip, YoloCutMix,
    YoloPerspective,
};
use feedline::draft::Draft;
use feedline::geometry::Size;
use feedline::rng::{Draws, Rng};

/// Edge of the samples.
pub(crate) const EDGE: u32 = 160;

/// One object: its box, and its outline where it has one.
#[derive(Clone, Debug)]
pub(crate) struct Thing {
    pub(crate) class: i64,
    pub(crate) bbox: Box4,
    pub(crate) outlines: Vec<Region>,
}

impl Thing {
    fn map(&mut self, m: Matrix) {
        let [l, t, r, b] = self.bbox;
        let corners = [[l, t], [r, t], [l, b], [r, b]].map(|corner| through(&m, corner));
        self.bbox = corners.map(|[x, y]| [x, y, x, y]).into_iter().reduce(around).unwrap();
        self.outlines.iter_mut().for_each(|outline| outline.map(m));
    }

    fn cut(&mut self, to: Box4) {
        let [l, t, r, b] = self.bbox;
        let (x, y) = (|at: f64| at.clamp(to[0], to[2]), |at: f64| at.clamp(to[1], to[3]));
        self.bbox = [x(l), y(t), x(r), y(b)];
        self.outlines.iter_mut().for_each(|outline| outline.cut(to));
    }

    /// What lies under the rectangle is gone: of a box, as far as a box can say so.
    fn hide(&mut self, under: Box4) {
        let [l, t, r, b] = self.bbox;
        let corners = |x: &[f64; 2], y: &[f64; 2]| [x[0], y[0], x[1], y[1]];
        // The four parts of the box that lie beside the rectangle.
        let within = |at: f64, low: f64, high: f64| at.max(low).min(high);
        let parts = [
            corners(&[l, within(under[0], l, r)], &[t, b]),
            corners(&[within(under[2], l, r), r], &[t, b]),
            corners(&[l, r], &[t, within(under[1], t, b)]),
            corners(&[l, r], &[within(under[3], t, b), b]),
        ];
        let seen = parts.into_iter().filter(|&part| area(part) > 0.0);
        self.bbox = seen.reduce(around).unwrap_or([0.0; 4]);
        self.outlines.iter_mut().for_each(|outline| outline.hide(under));
    }

    /// Whether it is still a box candidate, of a box of this area.
    fn is_candidate(&self, before: f64) -> bool {
        let least = if self.outlines.is_empty() { 0.1 } else { 0.01 };
        let [l, t, r, b] = self.bbox;
        let (w, h) = (r - l, b - t);
        w > 2.0 && h > 2.0 && w * h / before > least && (w / h).max(h / w) < 100.0
    }

    /// The box becomes that of the outline, which may have left the canvas.
    fn rebox(&mut self) {
        if !self.outlines.is_empty() {
            self.bbox = self.outlines.iter().filter_map(Region::bounds).reduce(around).unwrap_or([0.0; 4]);
        }
    }
}

fn around(a: Box4, b: Box4) -> Box4 {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]
}

fn whole(size: Size) -> Box4 {
    [0.0, 0.0, f64::from(size.width), f64::from(size.height)]
}

fn shift(x: f64, y: f64) -> Matrix {
    [[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]]
}

fn mirror(width: f64) -> Matrix {
    [[-1.0, 0.0, width], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
}

fn stretch(from: Size, to: Size) -> Matrix {
    let ratio = |from: u32, to: u32| f64::from(to) / f64::from(from);
    [[ratio(from.width, to.width), 0.0, 0.0], [0.0, ratio(from.height, to.height), 0.0], [0.0, 0.0, 1.0]]
}

/// A sample on its way through the recipe: what feedline makes of it, and the naive account.
pub(crate) struct Sample {
    pub(crate) draft: Draft,
    pub(crate) things: Vec<Thing>,
}

/// The naive account of one op; the draft has not gone through it yet.
pub(crate) fn follow(
    op: &Augmentation,
    sample: &mut Sample,
    guests: Vec<(Size, Vec<Thing>)>,
    dice: &mut Rng,
) {
    let size = sample.draft.size();
    let [width, height] = [size.width, size.height].map(f64::from);
    let things = &mut sample.things;
    match op {
        Augmentation::Mosaic(mosaic) if !guests.is_empty() => {
            let own = (size, std::mem::take(things));
            let tiles = std::iter::once(own).chain(guests).collect();
            *things = if mosaic.n == 9 { tiled_nine(tiles) } else { tiled(mosaic, tiles, dice) };
        }
        Augmentation::CopyPaste(op) => {
            let boxes: Vec<Box4> = things.iter().map(|thing| thing.bbox).collect();
            let mut candidates = things.clone();
            candidates.iter_mut().for_each(|thing| thing.map(mirror(width)));
            if op.mode == CopyPasteMode::Mixup {
                let (of, all) = guests.into_iter().next().unwrap();
                candidates = all;
                let middle = |own: u32, other: u32| (f64::from(own) - f64::from(other)) / 2.0;
                let (x, y) = (middle(size.width, of.width), middle(size.height, of.height));
                // Half a pixel goes to the even side when cutting, to the left and above when padding.
                let round = |by: f64| if by < 0.0 { -(-by).round_ties_even() } else { by.floor() };
                for thing in &mut candidates {
                    thing.map(shift(round(x), round(y)));
                    thing.cut(whole(size));
                }
            }
            things.extend(pasted(op.p, candidates, &boxes, dice));
        }
        Augmentation::YoloCutMix(op) => {
            if let Some((_, guests)) = guests.into_iter().next() {
                cut_mixed(op, things, guests, size, dice);
            }
        }
        Augmentation::YoloPerspective(perspective) => {
            if !sample.draft.is_composed() {
                things.iter_mut().for_each(|thing| letter_boxed(thing, size));
            }
            seen_through(perspective, things, sample.draft.is_composed(), dice);
        }
        Augmentation::YoloMixUp(_) => things.extend(guests.into_iter().flat_map(|(_, things)| things)),
        Augmentation::RandomVerticalFlip(RandomVerticalFlip { p }) if dice.chance(*p) => {
            things
                .iter_mut()
                .for_each(|thing| thing.map([[1.0, 0.0, 0.0], [0.0, -1.0, height], [0.0, 0.0, 1.0]]));
        }
        Augmentation::RandomHorizontalFlip(RandomHorizontalFlip { p }) if dice.chance(*p) => {
            things.iter_mut().for_each(|thing| thing.map(mirror(width)));
        }
        _ => {}
    }
}

/// The size at which an image of size `of` is loaded.
fn loaded(of: Size) -> Size {
    let ratio = f64::from(EDGE) / f64::from(of.width.max(of.height));
    let edge = |length: u32| ((f64::from(length) * ratio).ceil() as u32).min(EDGE);
    Size::new(edge(of.width), edge(of.height))
}

fn tiled(mosaic: &Mosaic, tiles: Vec<(Size, Vec<Thing>)>, dice: &mut Rng) -> Vec<Thing> {
    let [x, y] = mosaic.make_params(dice).map(f64::from);
    let mut all = Vec::new();
    for (number, (of, mut things)) in tiles.into_iter().enumerate() {
        let size = loaded(of);
        let left = if number % 2 == 0 { x - f64::from(size.width) } else { x };
        let top = if number < 2 { y - f64::from(size.height) } else { y };
        for thing in &mut things {
            thing.map(stretch(of, size));
            thing.map(shift(left, top));
            thing.cut(whole(Size::new(2 * EDGE, 2 * EDGE)));
        }
        all.extend(things.into_iter().filter(|thing| area(thing.bbox) > 0.0));
    }
    all
}

/// The same for nine: where each lies beside the first, and what it is cut to.
fn tiled_nine(tiles: Vec<(Size, Vec<Thing>)>) -> Vec<Thing> {
    let middle = loaded(tiles[0].0);
    let half = f64::from(EDGE / 2);
    let ends = |edge: u32| [0.0, half, half + f64::from(edge), 2.0 * f64::from(EDGE)];
    let (across, down) = (ends(middle.width), ends(middle.height));
    let thirds = [(1, 1), (0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2), (2, 2)];
    let place = |third: usize, ends: [f64; 4], own: u32| match third {
        0 => ends[1] - f64::from(own),
        1 => ((ends[1] + ends[2] - f64::from(own)) / 2.0).floor(),
        _ => ends[2],
    };
    let mut all = Vec::new();
    for ((column, row), (of, mut things)) in thirds.into_iter().zip(tiles) {
        let size = loaded(of);
        for thing in &mut things {
            thing.map(stretch(of, size));
            thing.map(shift(place(column, across, size.width), place(row, down, size.height)));
            thing.cut([across[column], down[row], across[column + 1], down[row + 1]]);
        }
        all.extend(things.into_iter().filter(|thing| area(thing.bbox) > 0.0));
    }
    all
}

fn letter_boxed(thing: &mut Thing, of: Size) {
    let size = loaded(of);
    thing.map(stretch(of, size));
    let border = |length: u32| (f64::from(EDGE - length) / 2.0 - 0.1).round();
    thing.map(shift(border(size.width), border(size.height)));
}

fn seen_through(op: &YoloPerspective, things: &mut Vec<Thing>, is_mosaic: bool, dice: &mut Rng) {
    let edge = if is_mosaic { 2 * EDGE } else { EDGE };
    let params = op.make_params(Size::new(edge, edge), dice);
    things.retain_mut(|thing| {
        let before = area(thing.bbox);
        thing.map(params.matrix);
        thing.cut(whole(Size::new(EDGE, EDGE)));
        thing.rebox();
        thing.is_candidate(before * params.scale * params.scale)
    });
}

/// Those that are pasted onto `boxes`; each that could be asks the dice.
fn pasted(p: f32, candidates: Vec<Thing>, boxes: &[Box4], dice: &mut Rng) -> Vec<Thing> {
    let fits = |thing: &Thing| {
        let covered = |other: &Box4| common(thing.bbox, *other) / area(*other);
        thing.outlines.iter().any(|outline| outline.bounds().is_some())
            && boxes.iter().all(|other| covered(other) <= 0.3)
    };
    candidates.into_iter().filter(|thing| fits(thing) && dice.uniform() < p).collect()
}

/// The area that two boxes share.
fn common(a: Box4, b: Box4) -> f64 {
    let [l, t, r, b] = [a[0].max(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].min(b[3])];
    if l < r && t < b { (r - l) * (b - t) } else { 0.0 }
}

/// The rectangle, and beyond it what lies outside of the sample: at the sample's edge nothing is left, not even a line.
fn beyond_edges([l, t, r, b]: Box4, size: Size) -> Box4 {
    let [_, _, width, height] = whole(size);
    let low = |at: f64| if at == 0.0 { -1.0 } else { at };
    let high = |at: f64, edge: f64| if at == edge { edge + 1.0 } else { at };
    [low(l), low(t), high(r, width), high(b, height)]
}

fn cut_mixed(op: &YoloCutMix, things: &mut Vec<Thing>, guests: Vec<Thing>, size: Size, dice: &mut Rng) {
    let window = op.make_params(size, dice);
    if window.is_empty() {
        return;
    }
    let under = [window.x.into(), window.y.into(), window.right() as f64, window.bottom() as f64];
    things.retain_mut(|thing| {
        let before = area(thing.bbox);
        let left = before - common(thing.bbox, under);
        thing.hide(beyond_edges(under, size));
        thing.rebox();
        left / before > 0.1 && thing.is_candidate(before)
    });
    things.extend(guests.into_iter().filter_map(|mut thing| {
        let before = area(thing.bbox);
        thing.cut(under);
        thing.rebox();
        thing.is_candidate(before).then_some(thing)
    }));
}
