//! `feedline preview`: a contact sheet of originals beside what the augmentations make of them, with their labels.

mod caption;
mod font;
mod marks;
mod sheet;

use super::pipeline::Pipeline;
use super::still::{Pixels, Still, Studio, levels};
use super::{npy, print};
use anyhow::{Context, bail};
use feedline::color::Normalize;
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Interpolation, Op};
use feedline::geometry::{Orientation, Size};
use feedline::image::Image;
use feedline::label::{Label, Unit};
use feedline::loader::Loader;
use feedline::output::{DType, Layout, Output};
use feedline::plan::label_apply::{self, TransformedObject};
use feedline::plan::label_ops::{LabelOp, LabelOpKind};
use feedline::plan::{Plan, Span};
use feedline::source::Source;
use sheet::{CELL, Picture, Sheet};
use std::path::PathBuf;

/// Most samples on one sheet.
const MAX_COUNT: usize = 200;

/// Draw a contact sheet of augmented samples
///
/// Each pair shows the upright original at the left and the sample at the right, normalisation undone. A recipe
/// with several views has a pair for each, or for the one that --view names. Where labels say
/// what is seen in an image, boxes, outlines, masks and keypoints are drawn in the colour of their class, with its name.
/// With --mask-dir the classes of pixels are laid over both, 255 apart. Second images and depth maps have a pair of their
/// own, with the sample at the left; the greatest depth is white. Samples are those of a run that shows each once, without
/// repeats and the weights of a mixture.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pipeline: Pipeline,
    /// The epoch whose dice are thrown
    #[arg(long, default_value_t = 0)]
    epoch: u64,
    /// How many samples to show, spread evenly over the data set
    #[arg(long, default_value_t = 12)]
    count: usize,
    /// Which view of each sample, from 0, where the recipe has several; without it there is a pair for each view
    #[arg(long)]
    view: Option<usize>,
    /// The file to write: a JPEG where it ends in .jpg or .jpeg, else a PNG
    #[arg(long, value_name = "sheet.png")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    if !(1..=MAX_COUNT).contains(&arguments.count) {
        bail!("--count must be from 1 to {MAX_COUNT}");
    }
    let (recipe, source, loader) = arguments.pipeline.planner()?;
    let count = arguments.count.min(source.len());
    let views = match (arguments.view, loader.view_count()) {
        (None, has) => 0..has,
        (Some(view), has) if view < has => view..view + 1,
        (Some(view), has) => bail!("there is no view {view}: a sample has {has}, counted from 0"),
    };
    if count * views.len() * (1 + loader.picture_names().count()) > MAX_COUNT {
        bail!(
            "{count} samples have {} views each, and a sheet has {MAX_COUNT} pairs: lower --count, or name one --view",
            views.len()
        );
    }
    let pairs_of_a_view = 1 + loader.picture_names().count();
    let mut sheet = Sheet::new(count * views.len() * pairs_of_a_view);
    let mut studio = Studio::new(recipe.options.decode.limits());
    for (at, (shown, view)) in
        (0..count).flat_map(|shown| views.clone().map(move |view| (shown, view))).enumerate()
    {
        let index = shown * source.len() / count;
        let key = source.key(index).into_owned();
        let pairs = pairs(&mut studio, &loader, &*source, (arguments.epoch, index as u64, view))
            .with_context(|| format!("sample {index} ({key})"))?;
        let of_view = if loader.view_count() > 1 { format!(", view {view}") } else { String::new() };
        let about = format!("index {index}, epoch {}{of_view}", arguments.epoch);
        let (pair, pictures) = pairs;
        let at = at * pairs_of_a_view;
        for (more, (name, pair)) in (1..).zip(pictures) {
            sheet.add(at + more, pair, &key, &format!("{name} of {about}"));
        }
        sheet.add(at, pair, &key, &about);
    }
    npy::make_folder(&arguments.out)?;
    sheet.write(&arguments.out)?;
    print(&format!(
        "{}: {count} samples, originals at the left, {} at the right",
        arguments.out.display(),
        arguments.pipeline.recipe
    ))?;
    Ok(true)
}

/// A name, and the sample beside what is called so.
type Named = (String, [Picture; 2]);

/// The original and the sample, each small enough for its cell, with what is seen in them; then the pictures of the sample.
fn pairs(
    studio: &mut Studio,
    loader: &Loader,
    source: &dyn Source,
    (epoch, index, view): (u64, u64, usize),
) -> anyhow::Result<([Picture; 2], Vec<Named>)> {
    let mut bytes = Vec::new();
    source.read(index as usize, &mut bytes)?;
    let still = Still::new(bytes)?;
    let mut draft = still.draft();
    if let Label::Objects(objects) = source.label(index as usize) {
        draft = draft.with_objects(objects);
    }
    let (mut plan, seen) = fitted(draft)?;
    let mut original = thumbnail(&studio.develop(&still, &plan, levels(&plan))?);
    plan.images.iter_mut().for_each(|image| image.index = index);
    marks::lay(&mut original, loader.mask(&plan)?, plan.size());
    marks::draw(&mut original, &seen, source.classes());
    let plan = loader.plan_view(epoch, index, view)?.plan;
    let normalize = loader.output().and_then(|output| output.normalize).unwrap_or(Normalize::UNIT);
    let output =
        Output { size: plan.size(), dtype: DType::F32, layout: Layout::Nhwc, normalize: Some(normalize) };
    let sample = restored(&studio.develop_all(source, &plan, output)?, &normalize);
    let (small, _) = fitted(Draft::new(0, sample.stored, Orientation::UPRIGHT))?;
    let mut seen = loader.objects(&plan).unwrap_or_default();
    let edges = match loader.options().labels.unit() {
        Unit::Pixels => plan.size(),
        Unit::Normalized => Size::new(1, 1),
    };
    let [x, y] = [(small.size().width, edges.width), (small.size().height, edges.height)]
        .map(|(to, from)| f64::from(to) / f64::from(from));
    let images = Span { start: 0, len: plan.images.len() as u32 };
    let kind = LabelOpKind::Map([x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, 1.0]);
    label_apply::apply(&mut seen, &[LabelOp { images, kind }], &[]);
    for rotated in seen.iter_mut().filter_map(|object| object.rotated.as_mut()) {
        *rotated = rotated.scaled([x, y]);
    }
    let mut sample = thumbnail(&studio.render(&[sample], &small, levels(&small))?);
    let mut pictures = Vec::new();
    for name in loader.picture_names() {
        let Some(values) = loader.picture(&plan, name)? else { continue };
        let shown = thumbnail(&studio.render(&[shades(&values, plan.size())], &small, levels(&small))?);
        pictures.push((name.to_owned(), [sample.clone(), shown]));
    }
    marks::lay(&mut sample, loader.mask(&plan)?, plan.size());
    marks::draw(&mut sample, &seen, source.classes());
    Ok(([original, sample], pictures))
}

/// Levels of R, G and B in 0..=1, or of a depth map whose greatest depth is white.
fn shades(values: &[f32], size: Size) -> Image {
    let mut image = Image::default();
    image.reset(size, size.rect());
    let is_depth = values.len() == size.pixels() as usize;
    let most = if is_depth { values.iter().copied().fold(1.0, f32::max) } else { 1.0 };
    let each = if is_depth { 3 } else { 1 };
    let shown = values.iter().flat_map(|value| std::iter::repeat_n(*value, each));
    for (value, level) in shown.zip(&mut image.data) {
        *level = (value / most * 255.0).round().clamp(0.0, 255.0) as u8;
    }
    image
}

/// Shrinks what is larger than a cell; what is smaller keeps its size. Also says what is then seen where.
fn fitted(mut draft: Draft) -> anyhow::Result<(Plan, Vec<TransformedObject>)> {
    let Size { width, height } = draft.size();
    let longer = width.max(height);
    if longer > CELL {
        let scaled = |edge: u32| ((u64::from(edge) * u64::from(CELL) / u64::from(longer)) as u32).max(1);
        let size = Extent::Two([scaled(height), scaled(width)]);
        let (interpolation, antialias) = (Interpolation::default(), true);
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias });
    }
    let seen = draft.objects();
    Ok((draft.freeze()?, seen))
}

fn thumbnail(pixels: &Pixels) -> Picture {
    Picture { size: pixels.output.size, rgb: pixels.bytes().to_vec() }
}

/// Levels from normalised values; a value outside 0..=1, such as an erased rectangle's, is clamped.
fn restored(pixels: &Pixels, normalize: &Normalize) -> Image {
    let values: &[f32] = bytemuck::cast_slice(pixels.bytes());
    let mut image = Image::default();
    image.reset(pixels.output.size, pixels.output.size.rect());
    for (at, (&value, level)) in values.iter().zip(&mut image.data).enumerate() {
        let (mean, std) = (normalize.mean[at % 3], normalize.std[at % 3]);
        *level = ((f64::from(value) * std + mean) * 255.0).round().clamp(0.0, 255.0) as u8;
    }
    image
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;
    use feedline::image::Limits;
    use feedline::label::{Keypoint, Object, Objects};
    use feedline::recipe::Recipe;
    use feedline::source::Memory;
    use std::sync::Arc;

    /// The first of the bundled photographs, each with a box and with an outline and keypoints, or without labels.
    fn photographs(labelled: bool) -> Memory {
        let photos = super::super::data::open(&Default::default()).unwrap();
        let records = (0..photos.len().min(12)).map(|index| {
            let mut bytes = Vec::new();
            photos.read(index, &mut bytes).unwrap();
            let boxed = Object { class: index as i64, bbox: [0.1, 0.2, 0.5, 0.7], ..Object::default() };
            let point = |x, y, visibility| Keypoint { x, y, visibility };
            let outlined = Object {
                class: index as i64 + 1,
                bbox: [0.4, 0.3, 0.9, 0.9],
                polygons: vec![vec![[0.4, 0.3], [0.9, 0.5], [0.8, 0.9], [0.5, 0.8]]],
                keypoints: vec![point(0.6, 0.6, 2.0), point(0.7, 0.7, 1.0)],
                ..Object::default()
            };
            let list = vec![boxed, outlined];
            let objects = Objects { unit: Unit::Normalized, list, ..Objects::default() };
            let label = if labelled { Label::Objects(Arc::new(objects)) } else { Label::Unlabelled };
            (format!("photo {index}"), bytes, label)
        });
        Memory::new(records.collect())
    }

    #[test]
    fn a_mosaic_is_drawn_with_the_objects_of_all_its_images_in_either_unit() {
        let draw = |unit: Unit, labelled: bool| {
            let mut recipe = Recipe::built_in("yolo-train").unwrap();
            recipe.options.labels.unit = Some(unit);
            let source: Arc<dyn Source> = Arc::new(photographs(labelled));
            let loader =
                Loader::builder(source.clone()).recipe(&recipe).batch_size(1).workers(1).build().unwrap();
            pairs(&mut Studio::new(Limits::default()), &loader, &*source, (0, 3, 0))
                .unwrap()
                .0
                .map(|picture| picture.rgb)
        };
        let pixels = draw(Unit::Pixels, true);
        assert_eq!(pixels, draw(Unit::Normalized, true));
        let plain = draw(Unit::Pixels, false);
        assert!(pixels.iter().zip(&plain).all(|(marked, plain)| marked != plain), "both pictures are marked");
    }
}
