//! Boxes and outlines through the detection set's training recipe, op by op, against a naive account.

use crate::region::{Box4, Matrix, Point, Region, area, is_inside, through};
use feedline::augment::{
    Augment, Augmentation, CopyPaste, CopyPasteMode, Mosaic, RandomHorizontalFlip, RandomVerticalFlip,
    YoloCutMix, YoloPerspective,
};
use feedline::draft::Draft;
use feedline::draft::op::Extent;
use feedline::geometry::{Orientation, Size};
use feedline::label::{Object, Objects};
use feedline::plan::carry::Seen;
use feedline::recipe::Recipe;
use feedline::rng::{Draws, Rng};
use std::sync::Arc;

/// Edge of the samples.
const EDGE: u32 = 160;

/// One object: its box, and its outline where it has one.
#[derive(Clone, Debug)]
pub(crate) struct Thing {
    pub(crate) class: i64,
    pub(crate) bbox: Box4,
    pub(crate) outlines: Vec<Region>,
}

impl Thing {
    pub(crate) fn map(&mut self, m: Matrix) {
        let [l, t, r, b] = self.bbox;
        let corners = [[l, t], [r, t], [l, b], [r, b]].map(|corner| through(&m, corner));
        self.bbox = corners.map(|[x, y]| [x, y, x, y]).into_iter().reduce(around).unwrap();
        self.outlines.iter_mut().for_each(|outline| outline.map(m));
    }

    pub(crate) fn cut(&mut self, to: Box4) {
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

pub(crate) fn around(a: Box4, b: Box4) -> Box4 {
    [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]
}

pub(crate) fn whole(size: Size) -> Box4 {
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
struct Sample {
    draft: Draft,
    things: Vec<Thing>,
}

/// Any outline: its edges may cross each other.
fn any_outline(rng: &mut Rng, [left, top, right, bottom]: Box4) -> Vec<[f32; 2]> {
    let count = 3 + rng.below(7);
    let mut point = || {
        let (x, y) = (f64::from(rng.uniform()), f64::from(rng.uniform()));
        [(left + x * (right - left)) as f32, (top + y * (bottom - top)) as f32]
    };
    (0..count).map(|_| point()).collect()
}

/// Four objects, three of them with an outline; the box is the one round it.
fn any_objects(rng: &mut Rng, of: Size, key: u64) -> Vec<Object> {
    let mut list = Vec::new();
    for number in 0..4 {
        let mut ends = |edge: u32| {
            let (a, b) = (rng.uniform() * edge as f32, rng.uniform() * edge as f32);
            [a.min(b), a.max(b)].map(f64::from)
        };
        let ([left, right], [top, bottom]) = (ends(of.width), ends(of.height));
        let outline = any_outline(rng, [left, top, right, bottom]);
        let edge = |axis: usize, pick: fn(f32, f32) -> f32| {
            outline.iter().map(|point| point[axis]).reduce(pick).unwrap()
        };
        let bbox = [edge(0, f32::min), edge(1, f32::min), edge(0, f32::max), edge(1, f32::max)];
        let polygons = if number == 3 { Vec::new() } else { vec![outline] };
        list.push(Object { class: (key * 4) as i64 + number, bbox, polygons, ..Object::default() });
    }
    list
}

fn start(seed: u64, key: u64) -> Sample {
    let mut rng = Rng::new(seed, 7, key, 0);
    let size = Size::new(40 + rng.below(400), 40 + rng.below(400));
    let list = any_objects(&mut rng, size, key);
    let double = |[x, y]: [f32; 2]| -> Point { [x.into(), y.into()] };
    let thing = |object: &Object| Thing {
        class: object.class,
        bbox: object.bbox.map(f64::from),
        outlines: object
            .polygons
            .iter()
            .map(|polygon| Region::new(polygon.iter().copied().map(double).collect()))
            .collect(),
    };
    let things = list.iter().map(thing).collect();
    let objects = Objects { list, ..Objects::default() };
    Sample { draft: Draft::new(key, size, Orientation::UPRIGHT).with_objects(Arc::new(objects)), things }
}

/// Takes sample number `key` through the first `ops` of the chain, with partners of their own.
fn sample(chain: &[Augmentation], ops: usize, seed: u64, key: u64) -> Sample {
    let mut sample = start(seed, key);
    for (at, augment) in chain[..ops].iter().enumerate() {
        let mut dice = Rng::new(seed, 0, key, at as u32);
        let wanted = augment.partners() > 0 && augment.wants_partners(&mut dice);
        let count = if wanted { augment.partners() as u64 } else { 0 };
        let (mut drafts, mut guests) = (Vec::new(), Vec::new());
        for number in 0..count {
            let guest = self::sample(chain, at, seed, key * 5 + 1 + number);
            guests.push((guest.draft.size(), guest.things));
            drafts.push(guest.draft);
        }
        follow(augment, &mut sample, guests, &mut dice.clone());
        augment.plan(&mut sample.draft, drafts, &mut dice);
    }
    sample
}

/// The naive account of one op; the draft has not gone through it yet.
fn follow(op: &Augmentation, sample: &mut Sample, guests: Vec<(Size, Vec<Thing>)>, dice: &mut Rng) {
    let size = sample.draft.size();
    let [width, height] = [size.width, size.height].map(f64::from);
    let things = &mut sample.things;
    match op {
        Augmentation::Mosaic(mosaic) if !guests.is_empty() => {
            let own = (size, std::mem::take(things));
            *things = tiled(mosaic, std::iter::once(own).chain(guests).collect(), dice);
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

/// The recipe's chain for small samples, with whatever else `change` asks for.
fn chain(change: impl Fn(&mut Augmentation)) -> Vec<Augmentation> {
    let mut chain = Recipe::built_in("yolo-train").unwrap().augment;
    for augment in &mut chain {
        match augment {
            Augmentation::Mosaic(mosaic) => mosaic.imgsz = EDGE,
            Augmentation::YoloPerspective(perspective) => perspective.size = Extent::One(EDGE),
            _ => {}
        }
        change(augment);
    }
    chain
}

/// Compares what feedline sees with the account; returns how many objects with outlines there were.
fn compare(seen: &[Seen], things: &[Thing], says: &str) -> u32 {
    let classes = |all: &mut Vec<i64>| all.sort_unstable();
    let (mut got, mut want): (Vec<i64>, Vec<i64>) =
        (seen.iter().map(|seen| seen.class).collect(), things.iter().map(|thing| thing.class).collect());
    classes(&mut got);
    classes(&mut want);
    assert_eq!(got, want, "{says}");
    let mut outlined = 0;
    for thing in things {
        let off =
            |seen: &Seen| seen.bbox.iter().zip(thing.bbox).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let alike = seen.iter().filter(|seen| seen.class == thing.class);
        let nearest = alike.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
        assert!(off(nearest) < 1e-3, "{says}: {:?} and not {:?}", nearest.bbox, thing.bbox);
        if !thing.outlines.is_empty() {
            compare_outlines(nearest, thing, says);
            outlined += 1;
        }
    }
    outlined
}

/// Points all over the box belong to both or to none, and every corner lies on an edge of the account's.
fn compare_outlines(seen: &Seen, thing: &Thing, says: &str) {
    let nearest = |point: Point| {
        thing.outlines.iter().map(|outline| outline.distance(point)).fold(f64::INFINITY, f64::min)
    };
    let [l, t, r, b] = thing.bbox;
    for (i, k) in (0..12).flat_map(|i| (0..12).map(move |k| (i, k))) {
        let part = |at: i32| (f64::from(at) - 0.3) / 10.7;
        let point = [l + part(i) * (r - l), t + part(k) * (b - t)];
        if nearest(point) < 1e-3 {
            continue;
        }
        // An outline that crosses itself may have been cut into parts that lie over each other.
        let held = seen.polygons.iter().filter(|polygon| is_inside(polygon, point)).count() % 2 == 1;
        let wanted = thing.outlines.iter().any(|outline| outline.holds(point, false));
        assert_eq!(held, wanted, "{says}: {point:?} of {:?} in {thing:?}", seen.polygons);
    }
    for &corner in seen.polygons.iter().flatten() {
        let belongs = thing
            .outlines
            .iter()
            .any(|outline| outline.holds(corner, true) || outline.distance(corner) < 1e-3);
        assert!(belongs && nearest(corner) < 1e-3, "{says}: {corner:?} in {thing:?}");
    }
}

fn check(name: &str, chain: &[Augmentation], seeds: u64) {
    let mut outlined = 0;
    for seed in 0..seeds {
        let Sample { draft, things } = sample(chain, chain.len(), seed, 1);
        let seen = draft.objects();
        draft.freeze().unwrap();
        outlined += compare(&seen, &things, &format!("{name}, seed {seed}"));
    }
    assert!(outlined > seeds as u32, "{name}: {outlined} outlines");
}

#[test]
fn outlines_go_through_each_op_of_the_training_recipe_as_the_detection_set_says() {
    let all = chain(|_| {});
    let usual = YoloPerspective::new(EDGE);
    let turned = YoloPerspective::new(EDGE).degrees(20.0).shear(8.0).perspective(0.0008);
    check("mosaic", &all[..1], 100);
    check("letter box and perspective", &[turned.into()], 200);
    check("mosaic and perspective", &[Mosaic::new(EDGE).into(), turned.into()], 100);
    check("copy-paste", &[CopyPaste::new(0.7).into()], 200);
    let from_partner = CopyPaste::new(0.7).mode(CopyPasteMode::Mixup);
    check("copy-paste of a partner", &[from_partner.into()], 200);
    check("copy-paste of a mosaic", &[Mosaic::new(EDGE).into(), CopyPaste::new(0.5).into()], 100);
    check("cutmix", &[usual.into(), YoloCutMix::new(1.0).into()], 200);
    check("flips", &[RandomVerticalFlip::new(0.5).into(), RandomHorizontalFlip::new(0.5).into()], 100);
}

#[test]
fn outlines_go_through_the_whole_training_recipe_as_the_detection_set_says() {
    check("as it is", &chain(|_| {}), 100);
    let everything = chain(|augment| match augment {
        Augmentation::Mosaic(mosaic) => mosaic.p = 0.7,
        Augmentation::YoloPerspective(perspective) => {
            (perspective.degrees, perspective.shear, perspective.perspective) = (15.0, 5.0, 0.0006);
        }
        Augmentation::CopyPaste(copy_paste) => copy_paste.p = 0.6,
        Augmentation::YoloMixUp(mix_up) => mix_up.p = 0.5,
        Augmentation::YoloCutMix(cut_mix) => cut_mix.p = 0.5,
        Augmentation::RandomVerticalFlip(flip) => flip.p = 0.5,
        _ => {}
    });
    check("everything", &everything, 200);
    let mut from_partners = everything;
    from_partners[1] = CopyPaste::new(0.4).mode(CopyPasteMode::Mixup).into();
    check("everything, pasted from partners", &from_partners, 60);
}
