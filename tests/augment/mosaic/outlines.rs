//! Boxes and outlines through the detection set's training recipe, op by op, against a naive account.

use super::account::{EDGE, Sample, Thing, follow};
use super::region::{Box4, Point, Region, is_inside};
use feedline::augment::{
    Augment, Augmentation, CopyPaste, CopyPasteMode, Mosaic, RandomHorizontalFlip, RandomVerticalFlip,
    YoloCutMix, YoloPerspective,
};
use feedline::draft::Draft;
use feedline::draft::op::Extent;
use feedline::geometry::{Orientation, Size};
use feedline::label::{Object, Objects};
use feedline::plan::label_apply::TransformedObject;
use feedline::recipe::Recipe;
use feedline::rng::{Draws, Rng};
use std::sync::Arc;

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
            let guest = self::sample(chain, at, seed, key * 10 + 1 + number);
            guests.push((guest.draft.size(), guest.things));
            drafts.push(guest.draft);
        }
        follow(augment, &mut sample, guests, &mut dice.clone());
        augment.plan(&mut sample.draft, drafts, &mut dice);
    }
    sample
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
fn compare(seen: &[TransformedObject], things: &[Thing], says: &str) -> u32 {
    let classes = |all: &mut Vec<i64>| all.sort_unstable();
    let (mut got, mut want): (Vec<i64>, Vec<i64>) =
        (seen.iter().map(|seen| seen.class).collect(), things.iter().map(|thing| thing.class).collect());
    classes(&mut got);
    classes(&mut want);
    assert_eq!(got, want, "{says}");
    let mut outlined = 0;
    for thing in things {
        let off = |seen: &TransformedObject| {
            seen.bbox.iter().zip(thing.bbox).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
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
fn compare_outlines(seen: &TransformedObject, thing: &Thing, says: &str) {
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
    check("mosaic of nine", &[Mosaic::new(EDGE).n(9).into()], 60);
    check("mosaic of nine and perspective", &[Mosaic::new(EDGE).n(9).into(), turned.into()], 60);
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
