//! What a run is made of, as fingerprints: what must be the same when it is resumed.

use crate::augment::Augment;
use crate::augment::View;
use crate::color::Normalize;
use crate::geometry::Size;
use crate::label::Label;
use crate::loader::planner::{ImageInfo, Images, Planner, SampleContext};
use crate::loader::report::errors::Failure;
use crate::options::Options;
use crate::output::{MultiScale, Output, RectBatches};
use crate::plan::Plan;
use crate::sampler::{Order, Sampler};
use crate::source::Source;
use serde_json::json;
use std::hash::Hasher;
use twox_hash::XxHash3_64;

/// Made-up samples whose plans tell a recipe: a chance that differs by a hundredth shows in nine runs of ten.
const SAMPLES: u64 = 256;
/// Pixels of a made-up mask, and its most classes.
const MASK_PIXELS: usize = 1000;
const MASK_CLASSES: usize = 24;
/// Large enough for any crop.
const STORED: Size = Size::new(4000, 3000);

/// Fingerprints in hexadecimal digits, so that no JSON reader rounds them.
#[derive(Debug)]
pub(in crate::loader) struct Fingerprints {
    pub(in crate::loader) source: String,
    pub(in crate::loader) selection: String,
    pub(in crate::loader) recipe: String,
}

impl Fingerprints {
    /// `settings` is what [`settings`] returned.
    pub(in crate::loader) fn of(
        source: &dyn Source,
        sampler: &Sampler,
        planner: &Planner,
        settings: &str,
    ) -> Self {
        let selection = format!("{:016x}", sampler.selection());
        Self { source: of_source(source), selection, recipe: of_recipe(planner, settings) }
    }
}

/// What options say of samples besides the augmentations, with all defaults: the words of the options, which no change
/// inside the crate changes.
pub(in crate::loader) fn settings(options: &Options, output: Option<&Output>, views: &[View]) -> String {
    let Options { loader, labels, decode, .. } = options;
    let edges = |size: Size| [size.height, size.width];
    let output = output.map(|Output { size, dtype, layout, normalize }| {
        json!([edges(*size), dtype, layout, normalize.as_ref().map(|Normalize { mean, std }| [mean, std])])
    });
    let rect = loader.rect_batches().map(|RectBatches { stride, pad }| json!([stride, pad]));
    let drawn = loader.drawn_sizes().map(|drawn| match drawn {
        MultiScale::Around { by, stride } => json!([by, stride]),
        MultiScale::Sizes(sizes) => json!(sizes.into_iter().map(edges).collect::<Vec<_>>()),
    });
    // An array has the same order in every build, which an object of serde_json has not.
    let mut said = json!([
        ["output", output],
        ["boxes", labels.format.is_some() || labels.unit.is_some(), labels.format(), labels.unit()],
        ["box filter", labels.min_area(), labels.min_visibility()],
        ["mask_fill", labels.mask_fill],
        ["exif", decode.exif()],
        ["decode_scale", decode.scale()],
        // What it was called when the first states were saved.
        ["close_mosaic", loader.mixing_off_epoch],
        ["rect", rect],
        ["multi_scale", drawn],
    ]);
    // A run that was saved before there were these has said nothing of them.
    let views: Vec<_> = views.iter().map(|view| (edges(view.pixels()), view.count)).collect();
    let later = [
        (!views.is_empty()).then(|| json!(["views", views])),
        labels.reduce_zero_label().then(|| json!(["reduce_zero_label", true])),
        loader.padded_batches().map(|divisor| json!(["pad_to_largest", divisor])),
        labels.outline_masks().then(|| json!(["outline_masks", true])),
        labels.instance_masks.map(|masks| json!(["instance_masks", masks, labels.mask_ratio])),
    ];
    if let Some(said) = said.as_array_mut() {
        said.extend(later.into_iter().flatten());
    }
    said.to_string()
}

pub(crate) fn of_source(source: &dyn Source) -> String {
    let mut hasher = XxHash3_64::new();
    if !source.is_known_ahead() {
        hasher.write_u64(source.len() as u64);
        return format!("{:016x}", hasher.finish());
    }
    for index in 0..source.len() {
        hasher.write(source.key(index).as_bytes());
        hasher.write(&[0]);
        let label = source.label(index);
        hasher.write_i64(label.class());
        if let Label::Classes(classes) = &label {
            hasher.write(bytemuck::cast_slice(classes));
        }
        if let Label::Objects(objects) = label {
            for object in &objects.list {
                hasher.write_i64(object.class);
                hasher.write(bytemuck::cast_slice(&object.bbox));
            }
        }
    }
    format!("{:016x}", hasher.finish())
}

fn of_recipe(planner: &Planner, settings: &str) -> String {
    let mut hasher = XxHash3_64::new();
    // An augmentation has no other description than what it does.
    for view in 0..planner.view_count() {
        planner.chain(view).for_each(|augment| add_names(augment, &mut hasher));
    }
    hasher.write(settings.as_bytes());
    (0..planner.view_count()).for_each(|view| add_plans(planner, view, &mut hasher));
    format!("{:016x}", hasher.finish())
}

fn add_names(augment: &dyn Augment, hasher: &mut XxHash3_64) {
    hasher.write(augment.name().as_bytes());
    hasher.write(&[0]);
    if let Some(container) = augment.container() {
        container.transforms().iter().for_each(|transform| add_names(transform, hasher));
        hasher.write(&[0]);
    }
}

fn add_plans(planner: &Planner, view: usize, hasher: &mut XxHash3_64) {
    let order = Order::sequential(SAMPLES);
    let drawn = (0..SAMPLES).map(|index| (index, None));
    // A branch may be drawn for none of these samples.
    for (index, way) in drawn.chain((0..planner.ways(view)).map(|way| (0, Some(way)))) {
        let sample = SampleContext { epoch: 0, order: &order, position: index, index, target: None };
        match planner.plan_way(sample, (view, way), &mut MadeUp) {
            Ok(planned) => planned.plan.fingerprint(hasher),
            Err(_) => hasher.write(b"refused"),
        }
    }
}

/// Images that do not exist, with masks of several classes. Which those are and how many pixels they have follows from the
/// plan, so that in some the most frequent one has nearly all, and in others little more than its share.
struct MadeUp;

impl Images for MadeUp {
    fn info(&mut self, _index: u64) -> Result<ImageInfo, Failure> {
        Ok(ImageInfo::made_up(STORED))
    }

    fn classes(&mut self, plan: &Plan) -> Result<Option<Vec<u8>>, Failure> {
        let mut hasher = XxHash3_64::new();
        plan.fingerprint(&mut hasher);
        let drawn = hasher.finish().to_le_bytes();
        let (count, most) =
            (1 + usize::from(drawn[0]) % MASK_CLASSES, usize::from(drawn[1]) * MASK_PIXELS / 256);
        // The last class counts down from 255, which is what is ignored most often.
        let class =
            |number: usize| if number == 0 { drawn[2] } else { 255 - (drawn[3] % 4) - number as u8 + 1 };
        Ok(Some((0..MASK_PIXELS).map(|at| class(if at < most { 0 } else { at % count })).collect()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;
    use crate::output::{DType, Layout};

    #[test]
    fn settings_are_words_of_options_and_the_same_whether_a_default_is_said_or_not() {
        let mut options = Options::default();
        let output = Output {
            size: Size::new(8, 6),
            dtype: DType::F16,
            layout: Layout::Nhwc,
            normalize: Some(Normalize { mean: [0.5; 3], std: [1.0; 3] }),
        };
        let text = r#"[["output",[[6,8],"f16","nhwc",[[0.5,0.5,0.5],[1.0,1.0,1.0]]]],["boxes",false,"xyxy","pixels"],["box filter",0.0,0.0],["mask_fill",null],["exif",true],["decode_scale","exact"],["close_mosaic",null],["rect",null],["multi_scale",null]]"#;
        assert_eq!(settings(&options, Some(&output), &[]), text);
        for (name, default) in
            [("exif", "true"), ("decode_scale", "exact"), ("min_area", "0"), ("rect", "false")]
        {
            options.set_text(name, default).unwrap();
        }
        assert_eq!(settings(&options, Some(&output), &[]), text);
        for (name, other) in [
            ("exif", "false"),
            ("mask_fill", "3"),
            ("reduce_zero_label", "true"),
            ("instance_masks", "overlap"),
            ("pad_to_largest", "true"),
            ("sizes", "[32, 64]"),
            ("min_area", "2"),
        ] {
            let mut options = options.clone();
            options.set_text(name, other).unwrap();
            assert_ne!(settings(&options, Some(&output), &[]), text, "{name}");
        }
    }
}
