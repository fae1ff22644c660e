//! Pasted parts: the pixels of a mirrored canvas, or of another sample, inside outlines, against a naive account.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::augment::{Augment, CopyPaste, CopyPasteMode, Mosaic, YoloPerspective};
use feedline::device::cpu::Renderer;
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Interpolation, Op, PaddingMode};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image::Image;
use feedline::label::{Keypoint, Object, Objects, Skeleton};
use feedline::output::{DType, Layout, Output};
use feedline::plan::Plan;
use feedline::rng::{Draws, Rng};
use std::sync::Arc;

type Polygon = Vec<[f64; 2]>;

/// Waves, so that a pixel says where it comes from and neighbours are alike.
pub(crate) fn image(stored: Size, seed: u64) -> Image {
    let mut image = Image::default();
    image.reset(stored, stored.rect());
    let (stride, seed) = (image.stride, seed as f64);
    for (y, x) in (0..stored.height).flat_map(|y| (0..stored.width).map(move |x| (y, x))) {
        for channel in 0..3 {
            let at = f64::from(x) * (0.05 + 0.02 * channel as f64) + f64::from(y) * 0.07 + seed * 1.7;
            let level = 127.5 + 127.4 * (at + (f64::from(y) * 0.03).sin() * 3.0).sin();
            image.data[y as usize * stride + x as usize * 3 + channel] = level as u8;
        }
    }
    image
}

fn rendered(plan: &Plan, images: &[Image]) -> Vec<[u8; 3]> {
    let output = Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
    let mut levels = vec![0; output.sample_bytes()];
    Renderer::default().render(plan, images, &output, &mut levels).unwrap();
    levels.as_chunks().0.to_vec()
}

fn is_inside(polygon: &Polygon, [x, y]: [f64; 2]) -> bool {
    let ends = |at: usize| (polygon[at], polygon[(at + 1) % polygon.len()]);
    let is_right = |at: &usize| {
        let ([ax, ay], [bx, by]) = ends(*at);
        (ay <= y) != (by <= y) && ax + (y - ay) / (by - ay) * (bx - ax) > x
    };
    (0..polygon.len()).filter(is_right).count() % 2 == 1
}

/// How near a point is to an outline.
fn distance(polygon: &Polygon, [x, y]: [f64; 2]) -> f64 {
    let to_edge = |at: usize| {
        let ([ax, ay], [bx, by]) = (polygon[at], polygon[(at + 1) % polygon.len()]);
        let (u, v) = (bx - ax, by - ay);
        let part = (((x - ax) * u + (y - ay) * v) / (u * u + v * v).max(1e-30)).clamp(0.0, 1.0);
        (x - ax - part * u).hypot(y - ay - part * v)
    };
    (0..polygon.len()).map(to_edge).fold(f64::INFINITY, f64::min)
}

fn any_polygons(rng: &mut Rng, size: Size) -> Vec<Polygon> {
    let mut point = || {
        let mut at = |edge: u32| f64::from(rng.uniform_between(-0.1, 1.1)) * f64::from(edge);
        [at(size.width), at(size.height)]
    };
    (0..3).map(|number| (0..3 + number).map(|_| point()).collect()).collect()
}

/// What `above` shows inside the polygons, and `below` elsewhere.
fn laid(below: &[[u8; 3]], above: &[[u8; 3]], size: Size, polygons: &[Polygon]) -> Vec<[u8; 3]> {
    let pixel = |at: usize| {
        let (x, y) = (at % size.width as usize, at / size.width as usize);
        let centre = [x as f64 + 0.5, y as f64 + 0.5];
        let covered = polygons.iter().any(|polygon| is_inside(polygon, centre));
        if covered { above[at] } else { below[at] }
    };
    (0..below.len()).map(pixel).collect()
}

fn mirrored(pixels: &[[u8; 3]], size: Size) -> Vec<[u8; 3]> {
    pixels.chunks(size.width as usize).flat_map(|row| row.iter().rev().copied()).collect()
}

/// One canvas in several ways: a crop, a resized image, a border, a mosaic, a blend, something blurred.
fn any_canvas(case: u64, rng: &mut Rng) -> Draft {
    let size = Size::new(30 + rng.below(60), 30 + rng.below(60));
    let orientation = Orientation(rng.below(8));
    let mut draft = Draft::new(0, size, orientation);
    let (interpolation, max_size, antialias) = (Interpolation::Bilinear, None, true);
    match case % 7 {
        0 => {}
        1 => draft.apply(Op::Resize { size: Extent::Two([50, 44]), interpolation, max_size, antialias }),
        2 => draft.apply(Op::Crop { top: -7, left: 4, height: 50, width: 40 }),
        3 => draft.apply(Op::Pad {
            padding: 9.into(),
            fill: [9, 200, 30].into(),
            padding_mode: PaddingMode::Constant,
        }),
        4 => {
            let partners = (1..4).map(|index| Draft::new(index, size, Orientation::UPRIGHT)).collect();
            Mosaic::new(32).plan(&mut draft, partners, rng);
        }
        5 => {
            let upright = orientation.apply_size(size);
            let other = Draft::new(1, upright, Orientation::UPRIGHT);
            draft.blend(other, 0.4, upright.rect(), 0.4).unwrap();
        }
        _ => draft.apply(Op::GaussianBlur { kernel_size: [3, 5], sigma: [1.0, 2.0] }),
    }
    draft
}

fn images_of(plan: &Plan) -> Vec<Image> {
    plan.images.iter().map(|of| image(of.stored, of.index)).collect()
}

#[test]
fn a_canvas_shows_its_mirror_image_inside_the_outlines_and_what_follows_takes_them_along() {
    for case in 0..140 {
        let any = || Rng::new(61, 0, case, 0);
        let plain = any_canvas(case, &mut any()).freeze().unwrap();
        let mut rng = any();
        let mut draft = any_canvas(case, &mut rng);
        let size = draft.size();
        let polygons = any_polygons(&mut rng, size);
        draft.apply(Op::PasteMirrored { polygons: polygons.clone(), objects: Vec::new() });
        let images = images_of(&plain);
        let below = rendered(&plain, &images);
        let mut want = laid(&below, &mirrored(&below, size), size, &polygons);
        let mut shown = size;
        if rng.below(2) == 0 {
            draft.apply(Op::Hflip {});
            want = mirrored(&want, size);
        }
        if rng.below(2) == 0 {
            let cut = Rect::new(3, 5, size.width - 7, size.height - 6);
            draft.apply(Op::Crop { top: cut.y, left: cut.x, height: cut.height, width: cut.width });
            let row = |y: u32| want[((y + 5) * size.width + 3) as usize..][..cut.width as usize].to_vec();
            want = (0..cut.height).flat_map(row).collect();
            shown = cut.size();
        }
        if rng.below(2) == 0 {
            draft.apply(Op::Invert {});
            want.iter_mut().flatten().for_each(|level| *level = 255 - *level);
        }
        let plan = draft.freeze().unwrap();
        assert_eq!(plan.size(), shown);
        let got = rendered(&plan, &images);
        let wrong = got.iter().zip(&want).filter(|(a, b)| a != b).count();
        assert_eq!(wrong, 0, "case {case}: {wrong} of {} pixels", want.len());
    }
}

#[test]
fn under_a_map_each_image_is_still_sampled_once_and_outlines_go_through_the_map() {
    let mut pastes = 0;
    for case in 0..40 {
        let mut rng = Rng::new(62, 0, case, 0);
        let sizes = [0; 4].map(|_| Size::new(90 + rng.below(90), 90 + rng.below(90)));
        let outline = |size: Size, rng: &mut Rng| {
            let mut point = || [size.width, size.height].map(|edge| rng.uniform() * edge as f32);
            let polygons = vec![(0..5).map(|_| point()).collect()];
            let list = vec![Object { bbox: [0.0, 0.0, 1.0, 1.0], polygons, ..Object::default() }];
            Arc::new(Objects { list, ..Objects::default() })
        };
        let mosaic = || {
            let draft = |(index, size): (u64, &Size)| {
                let objects = outline(*size, &mut Rng::new(63, 0, case, index as u32));
                Draft::new(index, *size, Orientation::UPRIGHT).with_objects(objects)
            };
            let mut drafts = (0..).zip(&sizes).map(draft);
            let mut host = drafts.next().unwrap();
            Mosaic::new(96).plan(&mut host, drafts.collect(), &mut Rng::new(case, 0, 0, 0));
            host
        };
        let usual = YoloPerspective::new(96);
        let perspective =
            if case % 2 == 0 { usual } else { usual.degrees(20.0).shear(8.0).perspective(0.0008) };
        let through = |mut draft: Draft| {
            perspective.plan(&mut draft, Vec::new(), &mut Rng::new(case, 1, 0, 0));
            draft.freeze().unwrap()
        };
        let (mut pasted, mut turned) = (mosaic(), mosaic());
        CopyPaste::new(1.0).plan(&mut pasted, Vec::new(), &mut Rng::new(0, 0, 0, 0));
        let Some(Op::PasteMirrored { polygons, .. }) = pasted.ops().last().cloned() else { continue };
        pastes += polygons.len();
        turned.apply(Op::Hflip {});
        let (plan, below, above) = (through(pasted), through(mosaic()), through(turned));
        let images = images_of(&plan);
        let (got, below, above) =
            (rendered(&plan, &images), rendered(&below, &images), rendered(&above, &images));
        let m = perspective.make_params(Size::new(192, 192), &mut Rng::new(case, 1, 0, 0)).matrix;
        let map = |&[x, y]: &[f64; 2]| {
            let [u, v, w] = m.map(|row| row[0] * x + row[1] * y + row[2]);
            [u / w, v / w]
        };
        let polygons: Vec<Polygon> =
            polygons.iter().map(|polygon| polygon.iter().map(map).collect()).collect();
        let want = laid(&below, &above, Size::new(96, 96), &polygons);
        assert_eq!((plan.passes.len(), plan.images.len()), (1, 4), "case {case}");
        for (at, (got, want)) in got.iter().zip(&want).enumerate() {
            let centre = [(at % 96) as f64 + 0.5, (at / 96) as f64 + 0.5];
            let on_edge = polygons.iter().any(|polygon| distance(polygon, centre) < 1e-6);
            assert!(on_edge || got == want, "case {case}: {got:?} and not {want:?} at {centre:?}");
        }
    }
    assert!(pastes > 20, "{pastes} outlines");
}

#[test]
fn a_partners_objects_lie_middle_on_middle_and_only_their_own_pixels_come_along() {
    let object = |class: i64, [l, t, r, b]: [f32; 4]| Object {
        class,
        bbox: [l, t, r, b],
        polygons: vec![vec![[l, t], [r, t], [r, b], [l, b]]],
        ..Object::default()
    };
    let labelled = |index, size, list| {
        let objects = Objects { list, ..Objects::default() };
        Draft::new(index, size, Orientation::UPRIGHT).with_objects(Arc::new(objects))
    };
    let (size, larger) = (Size::new(40, 30), Size::new(60, 50));
    let mut host = labelled(0, size, vec![object(0, [0.0, 0.0, 10.0, 10.0])]);
    // The second covers more than 30 % of the host's object, the third lies outside, the fourth is cut.
    let partner = labelled(
        1,
        larger,
        vec![
            object(1, [30.0, 22.0, 36.0, 30.0]),
            object(2, [10.0, 10.0, 16.0, 19.0]),
            object(3, [51.0, 2.0, 59.0, 8.0]),
            object(4, [45.0, 30.0, 55.0, 35.0]),
        ],
    );
    let op = CopyPaste::new(1.0).mode(CopyPasteMode::Mixup);
    op.plan(&mut host, vec![partner], &mut Rng::new(0, 0, 0, 0));
    let seen: Vec<_> =
        host.objects().iter().map(|seen| (seen.image, seen.class, seen.bbox, seen.share)).collect();
    let want = [
        (0, 0, [0.0, 0.0, 10.0, 10.0], 1.0),
        (1, 1, [20.0, 12.0, 26.0, 20.0], 1.0),
        (1, 4, [35.0, 20.0, 40.0, 25.0], 1.0),
    ];
    assert_eq!(seen, want);
    let plan = host.freeze().unwrap();
    let images = images_of(&plan);
    let got = rendered(&plan, &images);
    for (at, pixel) in got.iter().enumerate() {
        let (x, y) = (at % 40, at / 40);
        let covered = ((20..26).contains(&x) && (12..20).contains(&y))
            || ((35..40).contains(&x) && (20..25).contains(&y));
        let from = if covered { &images[1] } else { &images[0] };
        let (x, y) = if covered { (x + 10, y + 10) } else { (x, y) };
        assert_eq!(pixel[..], from.data[y * from.stride + x * 3..][..3], "{x}, {y}");
    }
}

#[test]
fn only_objects_with_an_outline_that_leave_the_others_in_sight_are_pasted_each_by_its_own_dice() {
    let square = |l: f32, t: f32, edge: f32| Object {
        bbox: [l, t, l + edge, t + edge],
        polygons: vec![vec![[l, t], [l + edge, t], [l + edge, t + edge], [l, t + edge]]],
        keypoints: vec![
            Keypoint { x: l, y: t, visibility: 2.0 },
            Keypoint { x: l + 5.0, y: t, visibility: 1.0 },
        ],
        ..Object::default()
    };
    let skeleton = Some(Arc::new(Skeleton { count: 2, flip: vec![1, 0] }));
    let pasted = |list: Vec<Object>, p: f32, seed: u64| {
        let objects = Objects { list, skeleton: skeleton.clone(), ..Objects::default() };
        let mut draft =
            Draft::new(0, Size::new(100, 100), Orientation::UPRIGHT).with_objects(Arc::new(objects));
        let before = draft.objects().len();
        CopyPaste::new(p).plan(&mut draft, Vec::new(), &mut Rng::new(seed, 0, 0, 0));
        draft.objects().split_off(before)
    };
    let copies = pasted(vec![square(10.0, 20.0, 10.0)], 1.0, 0);
    assert_eq!(copies.len(), 1);
    assert_eq!(copies[0].bbox, [80.0, 20.0, 90.0, 30.0]);
    assert_eq!(copies[0].keypoints, [[85.0, 20.0, 1.0], [90.0, 20.0, 2.0]], "left and right change places");
    assert!(pasted(vec![square(45.0, 20.0, 10.0)], 1.0, 0).is_empty(), "it would cover itself");
    let on = |covered: f32| vec![square(10.0, 20.0, 10.0), square(90.0 - covered, 20.0, 10.0)];
    assert!(pasted(on(3.1), 1.0, 0).iter().all(|copy| copy.bbox[0] != 80.0), "31 % would be covered");
    assert!(pasted(on(2.9), 1.0, 0).iter().any(|copy| copy.bbox[0] == 80.0), "29 % is little");
    let boxed = Object { polygons: Vec::new(), ..square(10.0, 20.0, 10.0) };
    let crowd = Object { crowd: true, ..square(10.0, 60.0, 10.0) };
    assert!(pasted(vec![boxed, crowd], 1.0, 0).is_empty());
    let many: Vec<Object> = (0..8).map(|at| square(5.0, 12.0 * at as f32, 10.0)).collect();
    assert_eq!(pasted(many.clone(), 0.0, 0).len(), 0);
    let counts: Vec<usize> = (0..200).map(|seed| pasted(many.clone(), 0.25, seed).len()).collect();
    assert!((330..470).contains(&counts.iter().sum::<usize>()) && counts.contains(&0) && counts.contains(&3));
}

#[test]
fn what_cannot_be_pasted_is_refused_in_words() {
    let draft = || Draft::new(0, Size::new(9, 9), Orientation::UPRIGHT);
    let refused = |ops: &[&str]| {
        let mut draft = draft();
        ops.iter().for_each(|op| draft.apply(serde_json::from_str(op).unwrap()));
        draft.freeze().unwrap_err().to_string()
    };
    let paste = r#"{"op": "paste_mirrored", "polygons": [[[0, 0], [9, 0], [0, 9]]]}"#;
    let far = r#"{"op": "paste_mirrored", "polygons": [[[0, 0], [1e9, 0], [0, 9]]]}"#;
    let erase = r#"{"op": "erase", "i": 1, "j": 1, "h": 2, "w": 2}"#;
    assert!(refused(&[far]).contains("within 131070 pixels"));
    assert!(refused(&[erase, paste]).contains("move erase to the end"));
    let other = Draft::new(1, Size::new(9, 8), Orientation::UPRIGHT);
    assert!(
        draft().paste(other, &[]).unwrap_err().to_string().contains("9x8 cannot be pasted onto one of 9x9")
    );
    let spike = |at: u32| if at.is_multiple_of(2) { [1.0, 0.0] } else { [1.0 + f64::from(at % 7), 9.0] };
    let polygons = vec![(0..300_000).map(spike).collect()];
    let mut hairy = draft();
    hairy.apply(Op::PasteMirrored { polygons, objects: Vec::new() });
    assert!(hairy.freeze().unwrap_err().to_string().contains("fewer points"));
}
