//! Albumentations' distortions: what is drawn for them, and what they refuse.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::augment::{Augment, ElasticTransform, GridDistortion, NoiseDistribution, OpticalDistortion};
use feedline::draft::Draft;
use feedline::draft::op::{Interpolation, Op};
use feedline::geometry::{Orientation, Size};
use feedline::rng::Rng;

fn planned(augment: &dyn Augment, size: Size, sample: u64) -> Draft {
    augment.check().unwrap();
    let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
    augment.plan(&mut draft, Vec::new(), &mut Rng::new(6, 0, sample, 0));
    draft
}

#[test]
fn the_cells_of_a_grid_show_the_whole_image_and_not_more() {
    // Edges that come out even, that do not, and with as many cells as pixels or more.
    for size in [Size::new(400, 200), Size::new(403, 199), Size::new(5, 3), Size::new(1, 64)] {
        for sample in 0..50 {
            let grid = GridDistortion::new(5, 0.3).p(1.0);
            let ops = planned(&grid, size, sample).ops().to_vec();
            let [Op::GridDistortion { steps_x, steps_y, .. }] = ops.as_slice() else { panic!("{ops:?}") };
            for (steps, edge) in [(steps_x, size.width), (steps_y, size.height)] {
                let cells = edge.min(5);
                assert_eq!(steps.len() as u32, cells + 1);
                let shown: f64 = steps.iter().map(|step| step * f64::from(edge / cells)).sum();
                assert!((shown - f64::from(edge)).abs() < 1e-9, "{shown} of {edge}");
                assert!(steps[..cells as usize].iter().all(|step| (0.5..1.9).contains(step)), "{steps:?}");
            }
        }
    }
}

#[test]
fn normal_noise_is_divided_by_the_greatest_of_all_pixels() {
    let size = Size::new(400, 200);
    let alpha = |noise: NoiseDistribution, sample: u64| {
        let elastic = ElasticTransform::new(1.0, 50.0).noise_distribution(noise).p(1.0);
        match planned(&elastic, size, sample).ops() {
            [Op::ElasticTransform { alpha, .. }] => *alpha,
            ops => panic!("{ops:?}"),
        }
    };
    let mut greatest: Vec<f64> = (0..999).map(|at| alpha(NoiseDistribution::Gaussian, at).recip()).collect();
    greatest.sort_by(f64::total_cmp);
    // numpy.abs(numpy.random.standard_normal(160000)).max(), a thousand times: quartiles of 4.43, 4.59 and 4.77.
    for (at, want) in [(249, 4.43), (499, 4.59), (749, 4.77)] {
        assert!((greatest[at] - want).abs() < 0.04, "{}, not {want}", greatest[at]);
    }
    assert!((alpha(NoiseDistribution::Uniform, 0) - (1.0f64 / 3.0).sqrt()).abs() < 1e-12);
}

#[test]
fn what_they_cannot_do_is_refused_by_name() {
    let refused: [(&dyn Augment, &str); 6] = [
        (&GridDistortion::new(0, 0.3), "num_steps should be from 1 to 256"),
        (&GridDistortion::new(5, 1.5), "distort_limit should be between -1 and 1"),
        (&OpticalDistortion::new(0.5), "distort_limit should be between -0.33 and 1"),
        (&OpticalDistortion::new(0.1).interpolation(Interpolation::Bicubic), "nearest or bilinear"),
        (&ElasticTransform::new(1.0, 0.5), "sigma should be from 1 to 1000"),
        (&ElasticTransform::new(-1.0, 5.0), "alpha should be from 0 to 100000"),
    ];
    for (augment, want) in refused {
        let message = augment.check().unwrap_err().to_string();
        assert!(message.contains(want) && message.starts_with(augment.name()), "{message}");
    }
}

#[test]
fn a_field_with_too_many_nodes_and_steps_that_fit_no_edge_name_their_remedy() {
    let error = |json: &str, size: Size| {
        let mut draft = Draft::new(0, size, Orientation::UPRIGHT);
        draft.apply(serde_json::from_str(json).unwrap());
        draft.freeze().unwrap_err().to_string()
    };
    let elastic = r#"{"op": "elastic_transform", "key": [1, 2], "alpha": 1, "sigma": 1}"#;
    assert!(error(elastic, Size::new(2000, 1000)).contains("use a greater sigma, or crop or resize first"));
    let grid = r#"{"op": "grid_distortion", "steps_x": [1, 1, 1, 1], "steps_y": [1, 1]}"#;
    assert!(error(grid, Size::new(2, 10)).contains("steps_x must have a number for each"));
    let grid = r#"{"op": "grid_distortion", "steps_x": [1, 1], "steps_y": [1, -1]}"#;
    assert!(error(grid, Size::new(2, 10)).contains("steps_y must be from 0 to"));
    let lens = r#"{"op": "optical_distortion", "k": -0.5}"#;
    assert!(error(lens, Size::new(20, 10)).contains("where the corners begin to fold"));
}
