//! Random chains of augmentations that end at one size.

use crate::draw::Draw;
use feedline::augment::{Augment, Augmentation, View};
use feedline::draft::Draft;
use feedline::draft::op::Op;
use feedline::recipe::augmentation;
use feedline::rng::Draws;
use feedline_test_support::chains::{Dice, LAST, MEASURING, OPS};
use serde_json::{Value, json};

/// One link of a chain.
#[derive(Clone, Debug)]
pub(crate) enum Link {
    /// An augmentation that a recipe may list.
    Listed(Augmentation),
    /// So many ops of any kind.
    AnyOps(usize),
}

impl Link {
    pub(crate) fn augment(&self) -> Box<dyn Augment> {
        match self {
            Link::Listed(augmentation) => Box::new(augmentation.clone()),
            Link::AnyOps(ops) => Box::new(AnyOps(*ops)),
        }
    }
}

/// Draws ops of the whole catalogue for each sample.
struct AnyOps(usize);

impl Augment for AnyOps {
    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        // Those that measure are left out, since a sample may have few of them and the links after them may want some.
        let all = OPS.iter().filter(|name| !LAST.contains(name) && !MEASURING.contains(name));
        // A sum of chains takes many passes; AugMix is drawn below.
        let among: Vec<&str> = all.filter(|name| **name != "sum_chains").copied().collect();
        for _ in 0..self.0 {
            let size = draft.size();
            let drawn = Dice { bits: &mut || rng.bits(), longest: 75 }.any(&among, [size.width, size.height]);
            let op: Op = serde_json::from_value(drawn).expect("an op");
            draft.apply(op);
        }
    }
}

/// A chain that ends at `size`, height and width.
pub(crate) fn draw(draw: &mut Draw, size: [u32; 2], has_objects: bool, mixes: bool) -> Vec<Link> {
    let mut chain = Vec::new();
    for _ in 0..draw.below(3) {
        chain.push(ahead(draw, has_objects));
    }
    chain.extend(fitting(draw, size, mixes));
    for _ in 0..draw.below(4) {
        chain.push(of_same_size(draw));
    }
    if mixes {
        for _ in 0..draw.between(usize::from(!has_objects), 1) {
            chain.push(mixing(draw, has_objects));
        }
    }
    match draw.below(8) {
        0 => chain.push(listed(json!({"op": "RandomErasing", "p": draw.part(), "value": draw.below(3)}))),
        1 => chain.push(listed(json!({"op": "TimmRandomErasing", "probability": draw.part(),
            "max_count": draw.between(1, 4), "mode": draw.pick(&["const", "rand", "pixel"])}))),
        _ => {}
    }
    chain
}

/// Views behind a chain that ends at `size`.
pub(crate) fn views(draw: &mut Draw, size: [u32; 2]) -> Vec<View> {
    let view = |number: usize| {
        let edges = if number == 0 { size } else { size.map(|edge| (edge / 2).max(4)) };
        let mut view = View::new(edges).count(draw.between(1, 2));
        if number > 0 {
            let resized = match draw.one_in(2) {
                true => json!({"op": "Resize", "size": edges}),
                false => json!({"op": "RandomResizedCrop", "size": edges}),
            };
            view = view.transform(augmented(&resized));
        }
        for _ in 0..draw.below(3) {
            let Link::Listed(augmentation) = of_same_size(draw) else { continue };
            view = view.transform(augmentation);
        }
        view
    };
    (0..2).map(view).collect()
}

fn augmented(drawn: &Value) -> Augmentation {
    let text = drawn.to_string();
    augmentation(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn listed(drawn: Value) -> Link {
    Link::Listed(augmented(&drawn))
}

/// What may change the size, which is mended later.
fn ahead(draw: &mut Draw, has_objects: bool) -> Link {
    let fill = draw.below(256);
    let edge = draw.between(10, 120);
    let drawn = match draw.below(if has_objects { 12 } else { 11 }) {
        0 => return Link::AnyOps(draw.between(1, 4)),
        1 => {
            json!({"op": "RandomAffine", "degrees": draw.below(90), "translate": [draw.part(), 0.2], "fill": fill})
        }
        2 => {
            json!({"op": "RandomRotation", "degrees": draw.below(180), "expand": draw.one_in(2), "fill": fill})
        }
        3 => json!({"op": "RandomPerspective", "p": draw.part(), "fill": fill}),
        4 => json!({"op": "RandomZoomOut", "side_range": [1, 2], "p": draw.part(), "fill": fill}),
        5 => json!({"op": "ScaleJitter", "target_size": [edge, 40], "scale_range": [0.3, 1.5]}),
        6 => json!({"op": "RandomShortestSize", "min_size": [edge, 30], "max_size": 150}),
        7 => json!({"op": "ResizeLongest", "imgsz": edge, "antialias": draw.one_in(2)}),
        8 => json!({"op": "Pad", "padding": [draw.below(9), 3], "fill": fill}),
        9 => json!({"op": draw.pick(&["D4", "RandomRotate90", "Transpose"]), "p": draw.part()}),
        10 => {
            json!({"op": "Affine", "scale": [0.5, 1.5], "rotate": [-50, 50], "shear": [-9, 9], "fill": fill,
            "translate_percent": draw.part()})
        }
        _ => json!({"op": "RandomIoUCrop", "trials": 5}),
    };
    listed(drawn)
}

/// What ends at the size.
fn fitting(draw: &mut Draw, size: [u32; 2], mixes: bool) -> Vec<Link> {
    let resize = json!({"op": "Resize", "size": size, "antialias": draw.one_in(2)});
    let longer = size[0].max(size[1]).max(2);
    let drawn = match draw.below(if mixes { 8 } else { 6 }) {
        0 => vec![resize],
        1 => vec![json!({"op": "CenterCrop", "size": size})],
        2 => vec![json!({"op": "RandomCrop", "size": size, "pad_if_needed": true})],
        3 => {
            vec![
                json!({"op": "LetterBox", "size": size, "scaleup": draw.one_in(2), "antialias": draw.one_in(2)}),
            ]
        }
        4 | 5 => vec![json!({"op": "RandomResizedCrop", "size": size, "scale": [0.08, 1]})],
        _ => vec![
            json!({"op": "Mosaic", "imgsz": longer, "p": draw.part(), "n": draw.pick(&[4, 4, 9])}),
            json!({"op": "YoloPerspective", "size": size, "degrees": draw.below(30), "translate": 0.1,
            "antialias": draw.one_in(2)}),
        ],
    };
    drawn.into_iter().map(listed).collect()
}

/// What keeps the size.
fn of_same_size(draw: &mut Draw) -> Link {
    let (p, part) = (draw.part(), draw.part());
    listed(match draw.below(20) {
        0 => json!({"op": "RandomHorizontalFlip", "p": p}),
        1 => json!({"op": "RandomVerticalFlip", "p": p}),
        2 => json!({"op": "ColorJitter", "brightness": p, "contrast": part, "saturation": 0.4, "hue": 0.1}),
        3 => json!({"op": "RandAugment", "num_ops": draw.below(3), "magnitude": draw.below(31)}),
        4 => json!({"op": "TrivialAugmentWide"}),
        5 => json!({"op": "AutoAugment", "policy": draw.pick(&["imagenet", "cifar10", "svhn"])}),
        6 => json!({"op": "RandomPhotometricDistort", "p": p}),
        7 => json!({"op": "RandomHSV", "hsv_h": part}),
        8 => json!({"op": "RandomGrayscale", "p": p}),
        9 => json!({"op": "RandomPosterize", "bits": draw.below(9), "p": p}),
        10 => json!({"op": "RandomAdjustSharpness", "sharpness_factor": 2.0 * part, "p": p}),
        11 => json!({"op": "GaussianBlur", "kernel_size": 3}),
        12 => json!({"op": "RandomChannelPermutation"}),
        13 => {
            json!({"op": "TimmRandAugment", "magnitude": draw.below(11), "num_layers": draw.below(3), "prob": p})
        }
        14 => json!({"op": "CoarseDropout", "num_holes_range": [1, 4], "fill": draw.below(256), "p": p}),
        15 => json!({"op": "Downscale", "scale_range": [0.2, 0.9], "p": p}),
        16 => {
            let names = [
                "ChannelShuffle",
                "HueSaturationValue",
                "RGBShift",
                "RandomBrightnessContrast",
                "RandomGamma",
                "ShiftScaleRotate",
                "ToGray",
            ];
            json!({"op": draw.pick(&names), "p": p})
        }
        17 => {
            let names = [
                "Blur",
                "CLAHE",
                "ElasticTransform",
                "Emboss",
                "GaussNoise",
                "GridDistortion",
                "ISONoise",
                "ImageCompression",
                "MedianBlur",
                "MotionBlur",
                "MultiplicativeNoise",
                "OpticalDistortion",
                "Sharpen",
            ];
            json!({"op": draw.pick(&names), "p": p})
        }
        18 if draw.one_in(2) => json!({"op": "AugMix", "severity": draw.between(1, 10)}),
        18 => json!({"op": "TimmAugMix", "magnitude": draw.below(11)}),
        _ => json!({"op": "SanitizeBoundingBoxes"}),
    })
}

/// What takes other samples.
fn mixing(draw: &mut Draw, has_objects: bool) -> Link {
    let p = draw.part();
    listed(match draw.below(if has_objects { 6 } else { 5 }) {
        0 => json!({"op": "MixUp", "alpha": 1}),
        1 => json!({"op": "CutMix", "alpha": 1}),
        2 => json!({"op": "TimmMixup", "cutmix_alpha": draw.below(2), "prob": p,
            "mode": draw.pick(&["batch", "pair", "elem", "half"])}),
        3 => json!({"op": "YoloMixUp", "p": p}),
        4 => json!({"op": "YoloCutMix", "p": p}),
        _ => json!({"op": "CopyPaste", "p": p, "mode": draw.pick(&["flip", "mixup"])}),
    })
}
