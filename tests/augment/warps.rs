//! Parameters of the random warps against torchvision's own: the same draws give the same numbers.
//!
//! The tables come from `make_params` of torchvision 0.29.2 with torch 2.15, its random functions replaced by the
//! generator in tests/augment/script.rs. The last column is how often it was asked.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::script::Script;
use feedline::augment::{
    AffineParams, Augment, Augmentation, RandomAffine, RandomPerspective, RandomRotation,
};
use feedline::draft::Draft;
use feedline::draft::op::{Fill, Interpolation, Op};
use feedline::geometry::{Orientation, Size};

fn ops(augment: &dyn Augment, size: Size, seed: u64) -> Vec<Op> {
    let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
    augment.check().unwrap();
    augment.plan(&mut draft, Vec::new(), &mut Script::new(seed));
    let ops = draft.ops().to_vec();
    draft.freeze().unwrap();
    ops
}

/// Width, height, seed, settings, angle, shift, scale, shear, draws.
type AffineRow = (u32, u32, u64, usize, f64, [f64; 2], f64, [f64; 2], u32);

#[rustfmt::skip]
const AFFINES: &[AffineRow] = &[
    (500, 375, 0, 0, -25.30748176574707, [0.0, 0.0], 1.0, [0.0, 0.0], 1),
    (500, 375, 1, 1, 2.6962738037109375, [1.0, 28.0], 1.0742950439453125, [7.090744972229004, 0.0], 5),
    (500, 375, 2, 2, 0.0, [417.0, 0.0], 1.0, [1.3741264343261719, 0.0], 4),
    (500, 375, 3, 3, -3.8678979873657227, [0.0, 0.0], 0.9649649262428284, [2.3443150520324707, 6.923154830932617], 4),
    (1, 1, 10, 0, 1.6928279399871826, [0.0, 0.0], 1.0, [0.0, 0.0], 1),
    (1, 1, 11, 1, 16.196428298950195, [0.0, 0.0], 0.7990028262138367, [9.928014755249023, 0.0], 5),
    (1, 1, 12, 2, 0.0, [1.0, 0.0], 1.0, [-0.8282110691070557, 0.0], 4),
    (1, 1, 13, 3, 0.6321531534194946, [0.0, 0.0], 0.9803823232650757, [-3.3520774841308594, 3.252592086791992], 4),
    (40, 400, 20, 0, 28.693138122558594, [0.0, 0.0], 1.0, [0.0, 0.0], 1),
    (40, 400, 21, 1, -0.3034156560897827, [1.0, 2.0], 0.5237106084823608, [-11.234718322753906, 0.0], 5),
    (40, 400, 22, 2, 0.0, [-34.0, 0.0], 1.0, [8.969451904296875, 0.0], 4),
    (40, 400, 23, 3, -4.867794990539551, [0.0, 0.0], 0.9957996606826782, [0.9515291452407837, 19.582029342651367], 4),
    (333, 500, 30, 0, -4.306554794311523, [0.0, 0.0], 1.0, [0.0, 0.0], 1),
    (333, 500, 31, 1, 13.196737289428711, [16.0, 110.0], 1.7484184503555298, [-8.397448539733887, 0.0], 5),
    (333, 500, 32, 2, 0.0, [-234.0, 0.0], 1.0, [6.76711368560791, 0.0], 4),
    (333, 500, 33, 3, -0.3677433729171753, [0.0, 0.0], 1.0112169981002808, [-4.744863510131836, 15.911466598510742], 4),
    (4000, 3000, 40, 0, 22.693756103515625, [0.0, 0.0], 1.0, [0.0, 0.0], 1),
    (4000, 3000, 41, 1, -3.3031070232391357, [254.0, -195.0], 1.4731262922286987, [-5.5601806640625, 0.0], 5),
    (4000, 3000, 42, 2, 0.0, [-2196.0, 0.0], 1.0, [4.564776420593262, 0.0], 4),
    (4000, 3000, 43, 3, 4.132308483123779, [0.0, 0.0], 1.0266344547271729, [-0.44125616550445557, 12.240904808044434], 4),
];

#[test]
fn random_affine_draws_what_torchvision_draws() {
    let settings = [
        RandomAffine::new(30.0),
        RandomAffine::new([-10.0, 20.0]).translate([0.1, 0.25]).scale([0.5, 2.0]).shear(12.0),
        RandomAffine::new(0.0).translate([1.0, 0.0]).shear([-3.0, 9.0]),
        RandomAffine::new(5.0).scale([0.9, 1.1]).shear([-5.0, 5.0, 0.0, 20.0]),
    ];
    for &(width, height, seed, setting, angle, translate, scale, shear, draws) in AFFINES {
        let mut script = Script::new(seed);
        let got = settings[setting].make_params(Size::new(width, height), &mut script);
        let want = AffineParams { angle, translate, scale, shear };
        assert_eq!((got, script.draws), (want, draws), "{width}x{height} seed {seed}");
    }
}

#[test]
fn random_rotation_draws_the_angle_that_torchvision_draws() {
    let settings = [
        (RandomRotation::new(30.0), -25.30748176574707),
        (RandomRotation::new([90.0, 90.0]), 90.0),
        (RandomRotation::new([-10.0, 170.0]), 128.27774047851562),
        (RandomRotation::new(0.0), 0.0),
    ];
    for (seed, (rotation, angle)) in settings.into_iter().enumerate() {
        let mut script = Script::new(seed as u64);
        assert_eq!((rotation.make_params(&mut script), script.draws), (angle, 1), "seed {seed}");
    }
}

/// Width, height, seed, distortion, where the corners go, draws.
type PerspectiveRow = (u32, u32, u64, f64, [[i32; 2]; 4], u32);

#[rustfmt::skip]
const PERSPECTIVES: &[PerspectiveRow] = &[
    (500, 375, 0, 0.5, [[9, 9], [450, 37], [422, 333], [9, 314]], 8),
    (500, 375, 1, 1.0, [[106, 95], [411, 71], [448, 281], [139, 199]], 8),
    (500, 375, 2, 0.0, [[0, 0], [499, 0], [499, 374], [0, 374]], 8),
    (1, 1, 10, 0.5, [[0, 0], [0, 0], [0, 0], [0, 0]], 8),
    (1, 1, 11, 1.0, [[0, 0], [0, 0], [0, 0], [0, 0]], 8),
    (1, 1, 12, 0.0, [[0, 0], [0, 0], [0, 0], [0, 0]], 8),
    (40, 400, 20, 0.5, [[10, 25], [34, 3], [35, 334], [6, 354]], 8),
    (40, 400, 21, 1.0, [[6, 133], [29, 3], [19, 258], [1, 250]], 8),
    (40, 400, 22, 0.0, [[0, 0], [39, 0], [39, 399], [0, 399]], 8),
    (333, 500, 30, 0.5, [[35, 41], [324, 107], [311, 468], [27, 454]], 8),
    (333, 500, 31, 1.0, [[129, 185], [322, 208], [191, 422], [133, 336]], 8),
    (333, 500, 32, 0.0, [[0, 0], [332, 0], [332, 499], [0, 499]], 8),
    (4000, 3000, 40, 0.5, [[879, 307], [3326, 500], [3856, 2359], [72, 2799]], 8),
    (4000, 3000, 41, 1.0, [[446, 1227], [2738, 973], [2535, 1628], [1094, 2163]], 8),
    (4000, 3000, 42, 0.0, [[0, 0], [3999, 0], [3999, 2999], [0, 2999]], 8),
];

#[test]
fn random_perspective_moves_corners_where_torchvision_does() {
    for &(width, height, seed, distortion, want, draws) in PERSPECTIVES {
        let mut script = Script::new(seed);
        let perspective = RandomPerspective::new(distortion, 1.0);
        let (from, to) = perspective.make_params(Size::new(width, height), &mut script);
        assert_eq!((to, script.draws), (want, draws), "{width}x{height} seed {seed}");
        let (right, bottom) = (width as i32 - 1, height as i32 - 1);
        assert_eq!(from, [[0, 0], [right, 0], [right, bottom], [0, bottom]]);
    }
}

#[test]
fn a_random_warp_asks_for_what_it_drew_with_its_own_fill() {
    let size = Size::new(50, 40);
    let affine = RandomAffine::new(20.0).interpolation(Interpolation::Bilinear).fill(7).center([1.0, 2.0]);
    let [Op::Affine { angle, fill, center, interpolation, .. }] = ops(&affine, size, 3)[..] else {
        panic!("one affine map")
    };
    assert_eq!(angle, affine.make_params(size, &mut Script::new(3)).angle);
    assert_eq!((fill, center), (Some(Fill::Grey(7)), Some([1.0, 2.0])));
    assert_eq!(interpolation, Interpolation::Bilinear);
    let rotation = RandomRotation::new(20.0).expand(true);
    let wanted = Some(Fill::Grey(0));
    assert!(matches!(ops(&rotation, size, 3)[..], [Op::Rotate { expand: true, fill, .. }] if fill == wanted));
    assert!(matches!(ops(&RandomPerspective::new(0.5, 1.0), size, 3)[..], [Op::Perspective { .. }]));
    assert!(ops(&RandomPerspective::new(0.5, 0.0), size, 3).is_empty());
}

#[test]
fn images_of_a_few_pixels_survive_every_random_warp() {
    let warps: [Augmentation; 3] = [
        RandomAffine::new(180.0)
            .translate([1.0, 1.0])
            .scale([0.1, 3.0])
            .shear([-80.0, 80.0, -80.0, 80.0])
            .into(),
        RandomRotation::new(180.0).expand(true).into(),
        // The corners of so small an image often fall on one line.
        RandomPerspective::new(1.0, 1.0).into(),
    ];
    for (width, height) in [(1, 1), (2, 1), (1, 9), (2, 2), (3, 4)] {
        for warp in &warps {
            for seed in 0..200 {
                assert!(ops(warp, Size::new(width, height), seed).len() <= 1);
            }
        }
    }
}

#[test]
fn arguments_without_meaning_are_refused_by_name() {
    let refused: Vec<(Box<dyn Augment>, &str)> = vec![
        (Box::new(RandomAffine::new(-1.0)), "degrees is a single number"),
        (Box::new(RandomAffine::new([2.0, 1.0])), "swap them"),
        (Box::new(RandomAffine::new(f64::NAN)), "degrees should be between"),
        (Box::new(RandomAffine::new(1.0).translate([0.1, 1.5])), "translate should be between 0 and 1"),
        (Box::new(RandomAffine::new(1.0).scale([0.0, 1.0])), "scale should be between"),
        (Box::new(RandomAffine::new(1.0).shear(-3.0)), "shear is a single number"),
        (Box::new(RandomAffine::new(1.0).shear([0.0, 1.0, 5.0, 4.0])), "swap them"),
        (Box::new(RandomAffine::new(1.0).center([f64::INFINITY, 0.0])), "center must be"),
        (Box::new(RandomRotation::new(1.0).interpolation(Interpolation::Bicubic)), "not bicubic"),
        (Box::new(RandomPerspective::new(1.5, 0.5)), "distortion_scale should be between 0 and 1"),
        (Box::new(RandomPerspective::new(0.5, 1.5)), "p should be"),
    ];
    for (augment, want) in refused {
        let message = augment.check().unwrap_err().to_string();
        assert!(message.contains(want) && message.starts_with(augment.name()), "{message}");
    }
}
