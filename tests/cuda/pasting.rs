//! Parts of samples pasted onto others: the CPU's bits from the renderer, and from the loader with labels.

use crate::any_op::any_op;
use crate::compare::same_on_both;
use crate::parity::{FORMATS, LAYOUTS, any_draft, case, compare, plain};
use crate::pictures;
use crate::scenario::{Outcome, Scenario};
use feedline::augment::{Augmentation, CopyPaste, CopyPasteMode};
use feedline::device::cuda::Renderer;
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Op};
use feedline::geometry::{Orientation, Size};
use feedline::label::{BoxFormat, InstanceMasks, Label, Object, Objects, Unit};
use feedline::loader::Loader;
use feedline::recipe::Recipe;
use feedline::rng::{Draws, Rng};
use feedline::source::{Memory, Source};
use std::sync::Arc;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("anything pasted renders to the CPU's bits", pastes).on_gpu(),
    Scenario::new(
        "what is pasted and cut out of partners gives the CPU's batches",
        what_is_pasted_and_cut_out_of_partners_gives_the_cpus_batches,
    ),
];

/// Outlines on a canvas and beyond its edges.
pub(crate) fn any_polygons(rng: &mut Rng, size: Size) -> Vec<Vec<[f64; 2]>> {
    let mut point =
        || [size.width, size.height].map(|edge| f64::from(rng.uniform_between(-0.1, 1.1)) * f64::from(edge));
    (3..6).map(|count| (0..count).map(|_| point()).collect()).collect()
}

/// Parts of a canvas of any kind, or of another one, pasted onto it, and what may follow.
fn pastes() -> Outcome {
    let mut renderer = Renderer::new(0).map_err(plain)?;
    for number in 0..60 {
        let mut rng = Rng::new(19, 0, number, 0);
        let size = Size::new(20 + rng.below(70), 20 + rng.below(60));
        let mut draft = any_draft(&mut rng, 0, 3);
        if rng.below(2) == 0 {
            let polygons = any_polygons(&mut rng, draft.size());
            draft.apply(Op::PasteMirrored { polygons, objects: Vec::new() });
        } else {
            let output_size = Extent::Two([size.height, size.width]);
            draft.apply(Op::CenterCrop { output_size });
            let mut other = labelled(any_polygons(&mut rng, size), size);
            if rng.below(2) == 0 {
                other.apply(Op::Saturation { factor: 1.7 });
            }
            draft.paste(other, &[0, 2])?;
        }
        if rng.below(2) == 0 {
            let size = draft.size();
            draft.apply(any_op(&mut rng, size));
        }
        let case = case(draft, &mut rng, number)?;
        let (dtype, layout) = (FORMATS[rng.below(4) as usize], LAYOUTS[rng.below(2) as usize]);
        compare(&mut renderer, &[case], &[dtype], &[layout])?;
    }
    Ok(())
}

/// An image with an object for each outline.
fn labelled(polygons: Vec<Vec<[f64; 2]>>, size: Size) -> Draft {
    let list = polygons.into_iter().map(|polygon| {
        let points = polygon.into_iter().map(|point| point.map(|at| at as f32)).collect();
        Object { polygons: vec![points], ..Object::default() }
    });
    let objects = Objects { list: list.collect(), ..Objects::default() };
    Draft::new(1, size, Orientation::UPRIGHT).with_objects(Arc::new(objects))
}

/// Pictures with three outlines each.
fn outlined() -> Arc<dyn Source> {
    let record = |(at, bytes)| {
        let mut rng = Rng::new(5, 0, at as u64, 0);
        let mut object = |class| {
            let (l, t) = (rng.uniform_between(0.0, 0.7), rng.uniform_between(0.0, 0.7));
            let polygons = vec![vec![[l, t], [l + 0.3, t + 0.1], [l + 0.2, t + 0.3], [l + 0.05, t + 0.2]]];
            Object { class, bbox: [l, t, l + 0.3, t + 0.3], polygons, ..Object::default() }
        };
        let list = (0..3).map(&mut object).collect();
        let objects = Objects { unit: Unit::Normalized, list, ..Objects::default() };
        (format!("picture {at}"), bytes, Label::Objects(Arc::new(objects)))
    };
    Arc::new(Memory::new(pictures::all().into_iter().enumerate().map(record).collect()))
}

fn what_is_pasted_and_cut_out_of_partners_gives_the_cpus_batches() -> Outcome {
    for mode in [CopyPasteMode::Flip, CopyPasteMode::Mixup] {
        let mut recipe = Recipe::built_in("yolo-train").unwrap();
        for augment in &mut recipe.augment {
            match augment {
                Augmentation::Mosaic(mosaic) => (mosaic.imgsz, mosaic.p) = (96, 0.7),
                Augmentation::CopyPaste(copy_paste) => *copy_paste = CopyPaste::new(0.5).mode(mode),
                Augmentation::YoloPerspective(perspective) => {
                    (perspective.size, perspective.degrees) = (Extent::One(96), 10.0);
                }
                Augmentation::YoloCutMix(cut_mix) => cut_mix.p = 0.5,
                _ => {}
            }
        }
        recipe.options.output.size = Some(feedline::draft::op::Extent::One(96));
        recipe.options.labels.instance_masks = Some(InstanceMasks::Overlap);
        recipe.options.labels.format = Some(BoxFormat::Xywhr);
        let build = || Loader::builder(outlined()).recipe(&recipe).batch_size(4).seed(3).workers(2);
        let loader = same_on_both(&format!("{mode:?}"), 1, build);
        let masked =
            |index| loader.plan(0, index).unwrap().plan.layers.iter().any(|layer| layer.mask.is_some());
        assert!((0..12).any(masked), "nothing was pasted");
    }
    Ok(())
}
