//! Albumentations' augmentations: how their draws are spread, and what they refuse.
//!
//! What they are compared with is what Albumentations 2.0.8 documents of its parameters; the pixels are compared by
//! `tests/python/albumentations_parity.py`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::spread::{assert_even, assert_follows};
use feedline::augment::{
    Affine, Augment, AxisRange, Blur, CLAHE, CoarseDropout, D4, Downscale, Emboss, GaussNoise,
    HueSaturationValue, Limit, MedianBlur, MotionBlur, RGBShift, RandomBrightnessContrast, RandomGamma,
    RandomRotate90, Sharpen, ShiftScaleRotate,
};
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Op};
use feedline::geometry::{Orientation, Size};
use feedline::rng::Rng;

const SIZE: Size = Size::new(400, 200);

/// The ops of many samples.
fn planned(augment: &dyn Augment, samples: u64) -> Vec<Vec<Op>> {
    augment.check().unwrap();
    let plan = |sample| {
        let mut draft = Draft::new(0, SIZE, Orientation::UPRIGHT);
        augment.plan(&mut draft, Vec::new(), &mut Rng::new(6, 0, sample, 0));
        let ops = draft.ops().to_vec();
        draft.freeze().unwrap();
        ops
    };
    (0..samples).map(plan).collect()
}

fn uniform(what: &str, draws: Vec<f64>, [low, high]: [f64; 2]) {
    assert_follows(what, draws, |draw| ((draw - low) / (high - low)).clamp(0.0, 1.0));
}

/// The shares of kinds of plans, as many as there are different ones.
fn even_kinds(augment: &dyn Augment, kinds: usize) {
    let mut counts = std::collections::BTreeMap::new();
    for ops in planned(augment, 4000) {
        *counts.entry(format!("{ops:?}")).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), kinds, "{counts:?}");
    assert_even(augment.name(), &counts.values().copied().collect::<Vec<u32>>());
}

#[test]
fn each_symmetry_of_a_square_is_as_likely() {
    even_kinds(&D4::new(1.0), 8);
    even_kinds(&RandomRotate90::new(1.0), 4);
}

#[test]
fn levels_are_changed_by_what_the_limits_say_in_half_of_the_samples() {
    let gammas = planned(&RandomGamma::default(), 8000);
    let changed = gammas.iter().filter(|ops| !ops.is_empty()).count() as u32;
    assert_even("probability", &[changed, 8000 - changed]);
    let gamma = |op: &Op| matches!(op, Op::Gamma { .. }).then(|| numbers(op)[0]).unwrap();
    uniform("gamma", gammas.iter().flatten().map(gamma).collect(), [0.8, 1.2]);
    let checks: [(&dyn Augment, &[[f64; 2]]); 3] = [
        (&RandomBrightnessContrast::new(0.1, [-0.2, 0.3]).p(1.0), &[[0.8, 1.3], [-25.5, 25.5]]),
        (
            &RGBShift::new(10.0, [0.0, 30.0], [-20.0, 20.0]).p(1.0),
            &[[-10.0, 10.0], [0.0, 30.0], [-20.0, 20.0]],
        ),
        (&HueSaturationValue::default().p(1.0), &[[-20.0, 20.0], [-30.0, 30.0], [-20.0, 20.0]]),
    ];
    for (augment, ranges) in checks {
        let ops = planned(augment, 4000);
        for (at, range) in ranges.iter().enumerate() {
            let draws = ops.iter().flatten().map(|op| numbers(op)[at]).collect();
            uniform(&format!("{} {at}", augment.name()), draws, *range);
        }
    }
}

/// The numbers of an op.
fn numbers(op: &Op) -> Vec<f64> {
    match *op {
        Op::Gamma { gamma } => vec![gamma],
        Op::BrightnessContrast { alpha, beta } => vec![alpha, beta],
        Op::ShiftRgb { shift } => shift.to_vec(),
        Op::ShiftHsv { hue, saturation, value } => vec![hue, saturation, value],
        Op::WarpAffine { matrix, .. } => matrix.concat(),
        _ => panic!("{op:?}"),
    }
}

#[test]
fn rectangles_are_spread_over_the_whole_image() {
    let dropout = CoarseDropout::new([1, 3]).hole_height_range([0.1, 0.5]).p(1.0);
    let (mut counts, mut heights, mut lefts) = ([0; 3], Vec::new(), Vec::new());
    for ops in planned(&dropout, 6000) {
        let [Op::FillRectangles { rectangles, .. }] = ops.as_slice() else { panic!("{ops:?}") };
        counts[rectangles.len() - 1] += 1;
        for &[left, top, right, bottom] in rectangles {
            assert!(right <= SIZE.width && bottom <= SIZE.height && (40..=80).contains(&(right - left)));
            // Whole pixels, each standing for those up to the next.
            heights.push(f64::from(bottom - top) + 0.5);
            lefts.push((f64::from(left) + 0.5) / f64::from(SIZE.width - (right - left) + 1));
        }
    }
    assert_even("number", &counts);
    let step = |height: f64| ((height - 20.0) / 80.0).clamp(0.0, 1.0);
    assert!(heights.iter().all(|height| (20.0..101.0).contains(height)));
    let mean = heights.iter().map(|height| step(*height)).sum::<f64>() / heights.len() as f64;
    assert!((mean - 0.5).abs() < 0.01, "{mean}");
    let mean = lefts.iter().sum::<f64>() / lefts.len() as f64;
    assert!((mean - 0.5).abs() < 0.01, "{mean}");
    let in_pixels =
        CoarseDropout::default().hole_height_range([8.0, 9.0]).hole_width_range([5.0, 999.0]).p(1.0);
    for ops in planned(&in_pixels, 500) {
        let [Op::FillRectangles { rectangles, .. }] = ops.as_slice() else { panic!("{ops:?}") };
        assert!(rectangles.iter().all(|[left, top, right, bottom]| (8..=9).contains(&(bottom - top))
            && (5..=400).contains(&(right - left))));
    }
}

#[test]
fn an_affine_map_is_made_of_what_is_drawn() {
    let moved = Affine::default().translate_px(AxisRange::Each { x: [-3.0, 3.0], y: [0.0, 0.0] }).p(1.0);
    let mut counts = [0; 7];
    for ops in planned(&moved, 7000) {
        // Nothing is done where nothing moves.
        let at = ops.first().map_or(0.0, |op| numbers(op)[2]);
        counts[(at + 3.0) as usize] += 1;
    }
    assert_even("whole pixels", &counts);
    let scaled = ShiftScaleRotate::default().shift_limit(0.0).rotate_limit(0.0).p(1.0);
    let ops: Vec<Vec<f64>> = planned(&scaled, 4000).iter().flatten().map(numbers).collect();
    uniform("across", ops.iter().map(|matrix| matrix[0]).collect(), [0.9, 1.1]);
    uniform("down", ops.iter().map(|matrix| matrix[4]).collect(), [0.9, 1.1]);
    assert!(ops.iter().any(|matrix| (matrix[0] - matrix[4]).abs() > 0.05), "one factor for both");
    // The middle stays where it is.
    let turned = ShiftScaleRotate::default().shift_limit(0.0).p(1.0);
    for matrix in planned(&turned, 100).iter().flatten().map(numbers) {
        let middle = [0, 3].map(|row| matrix[row] * 200.0 + matrix[row + 1] * 100.0 + matrix[row + 2]);
        assert!((middle[0] - 200.0).abs() < 1e-9 && (middle[1] - 100.0).abs() < 1e-9, "{middle:?}");
    }
}

#[test]
fn a_sample_that_is_made_smaller_is_as_large_as_before() {
    let ops = planned(&Downscale::new([0.25, 0.75]).p(1.0), 3000);
    let first = |ops: &Vec<Op>| match ops.as_slice() {
        [
            Op::Resize { size: Extent::Two([_, width]), .. },
            Op::Resize { size: Extent::Two([200, 400]), .. },
        ] => f64::from(*width),
        _ => panic!("{ops:?}"),
    };
    let widths: Vec<f64> = ops.iter().map(first).collect();
    let mean = widths.iter().sum::<f64>() / widths.len() as f64;
    assert!(
        (mean - 200.0).abs() < 5.0 && widths.iter().all(|width| (100.0..=300.0).contains(width)),
        "{mean}"
    );
}

#[test]
fn windows_are_odd_and_each_as_likely() {
    even_kinds(&Blur::new(9).p(1.0), 4);
    even_kinds(&MedianBlur::new([5, 7]).p(1.0), 2);
    even_kinds(
        &MotionBlur::new(5).angle_range([0.0; 2]).direction_range([0.0; 2]).allow_shifted(false).p(1.0),
        2,
    );
}

#[test]
fn a_motion_is_a_line_through_its_window_whose_weights_sum_to_1() {
    let mut beside = 0;
    for ops in planned(&MotionBlur::new([3, 21]).p(1.0), 2000) {
        let [Op::Convolve { kernel }] = ops.as_slice() else { panic!("{ops:?}") };
        let weights: Vec<f64> = kernel.iter().flatten().copied().filter(|weight| *weight > 0.0).collect();
        assert!((1..=kernel.len()).contains(&weights.len()), "{kernel:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{kernel:?}");
        beside += u32::from(kernel[kernel.len() / 2][kernel.len() / 2] == 0.0);
    }
    assert!((200..1800).contains(&beside), "{beside} lines miss the middle");
    let both_sides = MotionBlur::new([7, 7]).allow_shifted(false).direction_range([0.0; 2]).p(1.0);
    for ops in planned(&both_sides, 500) {
        let [Op::Convolve { kernel }] = ops.as_slice() else { panic!("{ops:?}") };
        let turned: Vec<Vec<f64>> =
            kernel.iter().rev().map(|row| row.iter().rev().copied().collect()).collect();
        assert_eq!(*kernel, turned, "the same on both sides of the middle");
    }
}

#[test]
fn sharp_kernels_keep_what_they_add_up_to() {
    for ops in planned(&Sharpen::new([0.2, 0.5], [1.0, 1.0]).p(1.0), 200) {
        let [Op::Convolve { kernel }] = ops.as_slice() else { panic!("{ops:?}") };
        // The own pixel weighs one more than its neighbours take away, and so flat parts stay.
        assert!((kernel.iter().flatten().sum::<f64>() - 1.0).abs() < 1e-6, "{kernel:?}");
    }
    let shares = planned(&Emboss::default().p(1.0), 3000);
    let corner = |ops: &Vec<Op>| match ops.as_slice() {
        [Op::Convolve { kernel }] => [kernel[1][2], kernel[2][2] - kernel[1][2]],
        _ => panic!("{ops:?}"),
    };
    let (strengths, alphas): (Vec<f64>, Vec<f64>) =
        shares.iter().map(corner).map(|[share, alpha]| (share / alpha, alpha)).unzip();
    uniform("alpha", alphas, [0.2, 0.5]);
    uniform("strength", strengths, [0.2, 0.7]);
}

#[test]
fn noise_and_tiles_are_drawn_from_their_ranges_with_a_key_for_each_sample() {
    let mut keys = std::collections::BTreeSet::new();
    let mut deviations = Vec::new();
    for ops in planned(&GaussNoise::default().p(1.0), 3000) {
        let [Op::GaussNoise { key, mean: 0.0, std, per_channel: true }] = *ops.as_slice() else {
            panic!("{ops:?}");
        };
        assert!(keys.insert(key), "two samples with the same noise");
        deviations.push(std / 255.0);
    }
    uniform("deviation", deviations, [0.2, 0.44]);
    let limits = planned(&CLAHE::default().p(1.0), 3000);
    let limit = |op: &Op| match *op {
        Op::Clahe { clip_limit, tile_grid_size: [8, 8] } => clip_limit,
        _ => panic!("{op:?}"),
    };
    uniform("clip_limit", limits.iter().flatten().map(limit).collect(), [1.0, 4.0]);
}

#[test]
fn what_they_cannot_do_is_refused_by_name() {
    let refused: [(&dyn Augment, &str); 10] = [
        (&Blur::new(4), "blur_limit should be odd numbers from 3 to 31"),
        (&MedianBlur::new(17), "blur_limit should be odd numbers from 3 to 15"),
        (&CLAHE::new([0.5, 2.0]), "clip_limit should be between 1 and 1000"),
        (&RandomGamma::new([0.0, 100.0]), "gamma_limit should be between 1 and 10000"),
        (&RandomBrightnessContrast::new(-0.1, 0.1), "brightness_limit is negative"),
        (&RGBShift::new([5.0, 1.0], 0.0, 0.0), "swap them"),
        (&CoarseDropout::new([0, 1]), "num_holes_range should be between 1 and 64"),
        (&Affine::default().translate_px(1.0).translate_percent(0.1), "leave one out"),
        (&Affine::default().shear(89.0), "shear should be between -80 and 80"),
        (&Downscale::new([0.0, 1.0]), "scale_range should be between"),
    ];
    for (augment, want) in refused {
        let message = augment.check().unwrap_err().to_string();
        assert!(message.contains(want) && message.starts_with(augment.name()), "{message}");
    }
    assert_eq!(Limit::from(3.0).range(), [-3.0, 3.0]);
}
