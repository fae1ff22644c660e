//! `feedline plan`: what will be done to one sample, without doing it.

use super::labels;
use super::pipeline::Pipeline;
use super::print_json;
use feedline::color::Normalize;
use feedline::device;
use feedline::draft::op::Op;
use feedline::geometry::{Orientation, Rect, Size};
use feedline::image;
use feedline::loader::{Choice, Planned, PlannedPartner};
use feedline::output::Output;
use feedline::plan::{
    self, CanvasFilter, Content, Filter, Layer, LayerSource, Method, PillowFilter, PillowMap, Sampled,
    WarpFilter, WarpMap,
};
use feedline::source::Source;
use serde::Serialize;
use serde_json::{Value, json};

/// Print what will be done to one sample, as one JSON object
///
/// The list under "ops" is what `feedline apply --ops` takes, and gives the sample's pixels again where it shows one
/// image; how several are laid together stands under "layers". Options of batches and ranks are taken so that a training's
/// can be repeated; a plan depends on them only where batches differ in size. Of a sample that training repeats (repeats) or
/// draws (the weights of a mixture) the plan is that of a run that shows each sample once; of a batch that is padded to its
/// largest sample (pad_to_largest) it is that of the sample alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pipeline: Pipeline,
    /// The epoch, from 0
    #[arg(long, default_value_t = 0)]
    epoch: u64,
    /// The sample's index in the data set, from 0
    #[arg(long, default_value_t = 0)]
    index: u64,
    /// Which view of the sample, from 0, where the recipe has several
    #[arg(long, default_value_t = 0)]
    view: usize,
}

/// The printed object; its fields stay in this order.
#[derive(Serialize)]
struct Report<'a> {
    key: &'a str,
    index: u64,
    seed: u64,
    epoch: u64,
    /// Left out where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<usize>,
    recipe: &'a str,
    header: Value,
    ops: &'a [Op],
    /// What containers have chosen; empty where a recipe has none.
    choices: Vec<Value>,
    /// Which other samples were mixed into it, each with the ops that were drawn for it.
    partners: Vec<Value>,
    /// What the sample becomes; null for a recipe that renders nothing.
    output: Option<Value>,
    /// How many passes over pixels the plan takes.
    passes: usize,
    pass_sizes: Vec<Size>,
    layers: Vec<Value>,
    steps: Vec<Value>,
    erases: Vec<Rect>,
    /// The part of the stored image that is decoded of the sample's first image, the only one where nothing is mixed.
    region: Option<Rect>,
    /// What is seen in the sample, as batches say it; null where labels say nothing of that.
    objects: Option<Vec<Value>>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let (recipe, source, loader) = arguments.pipeline.planner()?;
    let planned = loader.plan_view(arguments.epoch, arguments.index, arguments.view)?;
    let Planned { plan, mut ops, choices, partners, .. } = planned;
    add_normalize(&mut ops, loader.output().and_then(|output| output.normalize));
    let mut bytes = Vec::new();
    source.read(arguments.index as usize, &mut bytes)?;
    let header = image::parse_header(&bytes)?;
    let report = Report {
        key: &source.key(arguments.index as usize),
        index: arguments.index,
        seed: recipe.options.loader.seed(),
        epoch: arguments.epoch,
        view: (loader.view_count() > 1).then_some(arguments.view),
        recipe: &recipe.name,
        header: describe_header(&header),
        ops: &ops,
        choices: choices.iter().map(choice).collect(),
        partners: partners.iter().map(|partner| describe_partner(partner, &*source)).collect(),
        output: loader.output().map(|Output { dtype, layout, .. }| {
            let Size { width, height } = plan.size();
            json!({ "width": width, "height": height, "dtype": dtype, "layout": layout })
        }),
        passes: plan.passes.len(),
        pass_sizes: plan.passes.iter().map(|pass| pass.size).collect(),
        layers: plan.layers.iter().map(layer).collect(),
        steps: plan.steps.iter().map(step).collect(),
        erases: plan.erases.iter().map(|erase| erase.window).collect(),
        region: (!plan.images.is_empty()).then(|| device::region(&plan, 0)),
        objects: loader.objects(&plan).map(|objects| {
            let format = recipe.options.labels.format();
            objects.iter().map(|object| labels::describe(object, format)).collect()
        }),
    };
    print_json(&serde_json::to_string(&report)?)?;
    Ok(true)
}

/// The loader leaves normalise to the output pass; `apply` knows it as the last op, but for erases, whose fill is in
/// normalised units.
fn add_normalize(ops: &mut Vec<Op>, normalize: Option<Normalize>) {
    let erase = ops.iter().position(|op| matches!(op, Op::Erase { .. })).unwrap_or(ops.len());
    ops.splice(erase..erase, normalize.map(|Normalize { mean, std }| Op::Normalize { mean, std }));
}

fn choice(choice: &Choice) -> Value {
    json!({ "place": choice.place, "op": choice.op, "chosen": choice.chosen })
}

fn describe_partner(PlannedPartner { index, ops, .. }: &PlannedPartner, source: &dyn Source) -> Value {
    json!({ "key": source.key(*index as usize), "index": index, "ops": ops })
}

fn describe_header(header: &image::Header) -> Value {
    let upright = header.orientation.apply_size(header.size);
    json!({
        "format": header.format.to_string().to_lowercase(),
        "width": upright.width,
        "height": upright.height,
        "stored": header.size,
        "orientation": exif(header.orientation),
    })
}

fn layer(layer: &Layer) -> Value {
    let (window, masked) = (layer.window, layer.mask.is_some());
    let sampled = match &layer.content {
        Content::Solid(fill) => {
            return json!({ "kind": "solid", "fill": fill, "window": window, "masked": masked });
        }
        Content::Sampled(sampled) => sampled,
    };
    let Sampled { from, orientation, clip, scaled, offset, mirror: [x, y], steps: _, method } = *sampled;
    let (kind, filter, map, arguments) = words(&method);
    json!({
        "kind": kind,
        "source": match from {
            LayerSource::Image(image) => json!({ "image": image }),
            LayerSource::Pass(pass) => json!({ "pass": pass }),
        },
        "clip": clip,
        "scaled": scaled,
        "offset": offset,
        "mirror": { "x": x, "y": y },
        "orientation": exif(orientation),
        "window": window,
        "masked": masked,
        "filter": filter,
        "map": map,
        "arguments": arguments,
    })
}

/// Kind and filter of a layer, the map of a warp and the arguments of a filter.
fn words(method: &Method) -> (&'static str, &'static str, Option<[f32; 9]>, Option<Value>) {
    match *method {
        Method::Upright(Filter::Bilinear) => ("upright", "bilinear", None, None),
        Method::Upright(Filter::BilinearPlain) => ("upright", "bilinear without antialias", None, None),
        Method::Upright(Filter::Bicubic) => ("upright", "bicubic", None, None),
        Method::Upright(Filter::Nearest) => ("upright", "nearest", None, None),
        Method::Warp(WarpMap { map, filter, outside: _ }) => {
            let filter = match filter {
                WarpFilter::Widened => "bilinear",
                WarpFilter::Bilinear => "bilinear without antialias",
                WarpFilter::Nearest => "nearest",
            };
            ("warp", filter, Some(map), None)
        }
        Method::Pillow(PillowMap { matrix, filter }) => {
            let filter = match filter {
                PillowFilter::Bilinear => "bilinear",
                PillowFilter::Bicubic => "bicubic",
            };
            ("pillow", filter, None, Some(json!({ "matrix": matrix })))
        }
        Method::Filtered(CanvasFilter::Sharpness { amount }) => {
            ("filtered", "sharpness", None, Some(json!({ "amount": amount })))
        }
        Method::Filtered(CanvasFilter::Gaussian { kernel, sigma }) => {
            ("filtered", "gaussian blur", None, Some(json!({ "kernel": kernel, "sigma": sigma })))
        }
        Method::Filtered(CanvasFilter::Mean { kernel }) => {
            ("filtered", "mean", None, Some(json!({ "kernel": kernel })))
        }
        Method::Filtered(CanvasFilter::Median { edge }) => {
            ("filtered", "median", None, Some(json!({ "edge": edge })))
        }
        Method::Filtered(CanvasFilter::Kernel { kernel, weights: _ }) => {
            ("filtered", "kernel", None, Some(json!({ "kernel": kernel })))
        }
        Method::Filtered(CanvasFilter::Noise { key, mean, deviation, shared }) => {
            let arguments = json!({ "key": key, "mean": mean, "deviation": deviation, "shared": shared });
            ("filtered", "noise", None, Some(arguments))
        }
        Method::Filtered(CanvasFilter::Clahe { tiles, clip_limit }) => {
            ("filtered", "clahe", None, Some(json!({ "tiles": tiles, "clip_limit": clip_limit })))
        }
        Method::Filtered(CanvasFilter::Multiply { key, low, span, shared, elementwise }) => {
            let arguments =
                json!({ "key": key, "low": low, "span": span, "shared": shared, "elementwise": elementwise });
            ("filtered", "factors", None, Some(arguments))
        }
        Method::Filtered(CanvasFilter::Sensor { key, hue, intensity }) => {
            let arguments = json!({ "key": key, "hue": hue, "intensity": intensity });
            ("filtered", "sensor noise", None, Some(arguments))
        }
        Method::Filtered(CanvasFilter::Jpeg { quality }) => {
            ("filtered", "jpeg", None, Some(json!({ "quality": quality })))
        }
        Method::Filtered(CanvasFilter::Distort { distortion: _, nearest, fill }) => {
            let filter = if nearest { "distortion, nearest" } else { "distortion, bilinear" };
            ("filtered", filter, None, Some(json!({ "fill": fill })))
        }
    }
}

fn step(step: &plan::Step) -> Value {
    json!({ "op": step.op.name(), "args": step.args, "statistic": step.stat })
}

/// The number that EXIF gives an orientation, 1 to 8.
fn exif(orientation: Orientation) -> u16 {
    (1..=8).find(|&tag| Orientation::from_exif(tag) == orientation).unwrap_or(1)
}
