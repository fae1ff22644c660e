//! What a run is made of, as fingerprints: what must be the same when it is resumed.

use crate::geometry::Size;
use crate::label::Label;
use crate::loader::batch::labels::LabelRules;
use crate::loader::epoch::batch_size::SizesAsked;
use crate::loader::planner::{ImageInfo, Planner, SampleContext};
use crate::output::Output;
use crate::policy::DecodeScale;
use crate::sampler::{Order, Sampler};
use crate::source::Source;
use std::hash::Hasher;
use twox_hash::XxHash3_64;

/// Made-up samples whose plans tell a recipe: a chance that differs by a hundredth shows in nine runs of ten.
const SAMPLES: u64 = 256;
/// Large enough for any crop.
const STORED: Size = Size::new(4000, 3000);

/// Fingerprints in hexadecimal digits, so that no JSON reader rounds them.
#[derive(Debug)]
pub(in crate::loader) struct Fingerprints {
    pub(in crate::loader) source: String,
    pub(in crate::loader) selection: String,
    pub(in crate::loader) recipe: String,
}

/// What a run is made of.
pub(in crate::loader) struct Ingredients<'a> {
    pub(in crate::loader) source: &'a dyn Source,
    pub(in crate::loader) sampler: &'a Sampler,
    pub(in crate::loader) planner: &'a Planner,
    pub(in crate::loader) output: Option<Output>,
    pub(in crate::loader) exif: bool,
    pub(in crate::loader) scale: DecodeScale,
    pub(in crate::loader) labels: &'a LabelRules,
    pub(in crate::loader) sizes_asked: &'a SizesAsked,
}

impl Fingerprints {
    pub(in crate::loader) fn of(run: &Ingredients<'_>) -> Self {
        let selection = format!("{:016x}", run.sampler.selection());
        Self { source: of_source(run.source), selection, recipe: of_recipe(run) }
    }
}

pub(crate) fn of_source(source: &dyn Source) -> String {
    let mut hasher = XxHash3_64::new();
    for index in 0..source.len() {
        hasher.write(source.key(index).as_bytes());
        hasher.write(&[0]);
        let label = source.label(index);
        hasher.write_i64(label.class());
        if let Label::Objects(objects) = label {
            for object in &objects.list {
                hasher.write_i64(object.class);
                hasher.write(bytemuck::cast_slice(&object.bbox));
            }
        }
    }
    format!("{:016x}", hasher.finish())
}

fn of_recipe(run: &Ingredients<'_>) -> String {
    let mut hasher = XxHash3_64::new();
    let Ingredients { planner, output, exif, scale, labels, sizes_asked, .. } = run;
    // An augmentation has no other description than what it does.
    for augment in &planner.augments {
        hasher.write(augment.name().as_bytes());
        hasher.write(&[0]);
    }
    hasher.write(
        format!("{output:?} {exif} {scale:?} {} {labels:?} {:?}", planner.bare, planner.close_mosaic)
            .as_bytes(),
    );
    hasher.write(sizes_asked.describe().as_bytes());
    add_plans(planner, &mut hasher);
    format!("{:016x}", hasher.finish())
}

fn add_plans(planner: &Planner, hasher: &mut XxHash3_64) {
    let order = Order::sequential(SAMPLES);
    for index in 0..SAMPLES {
        let sample = SampleContext { epoch: 0, order: &order, position: index, index, target: None };
        match planner.plan(sample, &mut |_| Ok(ImageInfo::made_up(STORED))) {
            Ok((plan, _)) => plan.fingerprint(hasher),
            Err(_) => hasher.write(b"refused"),
        }
    }
}
