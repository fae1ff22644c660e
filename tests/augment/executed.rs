//! Every augmentation is planned, rendered and compared with what it stands for: explicit ops, or the pixels of the samples
//! that it mixes. An op that is exchanged for another in a `plan` changes one of these rows.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::paste::image;
use feedline::augment::{Augment, Augmentation};
use feedline::color::Normalize;
use feedline::device::cpu::Renderer;
use feedline::draft::Draft;
use feedline::draft::op::Op;
use feedline::geometry::{Orientation, Size};
use feedline::image::Image;
use feedline::label::{Object, Objects};
use feedline::output::{DType, Layout, Output};
use feedline::rng::Draws;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

const SIZE: Size = Size::new(64, 48);

/// Uniform numbers in a given order, and one half ever after: a range is then met in its middle.
struct Dice<'a>(std::slice::Iter<'a, f64>);

impl Draws for Dice<'_> {
    fn bits(&mut self) -> u32 {
        (self.0.next().copied().unwrap_or(0.5) * 16_777_216.0) as u32 * 256
    }
}

/// The augmentation, its arguments, its first draws, and the ops that it stands for on a sample of 64x48 pixels.
type Row = (&'static str, &'static str, &'static [f64], &'static str);

#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("AugMix", r#"{"mixture_width": 2, "chain_depth": 1, "alpha": 1}"#, AUG_MIX_DRAWS, AUG_MIX),
    ("AutoAugment", "{}", &[0.54], r#"[{"op": "invert"}, {"op": "equalize"}]"#),
    ("Blur", r#"{"blur_limit": [3, 7], "p": 1}"#, &[], r#"[{"op": "box_blur", "kernel_size": [5, 5]}]"#),
    ("CLAHE", r#"{"clip_limit": 4, "p": 1}"#, &[], r#"[{"op": "clahe", "clip_limit": 2.5, "tile_grid_size": [8, 8]}]"#),
    ("CenterCrop", r#"{"size": [20, 30]}"#, &[], r#"[{"op": "center_crop", "output_size": [20, 30]}]"#),
    ("CenterCropOrPad", r#"{"size": [60, 30], "fill": 9}"#, &[],
        r#"[{"op": "pad", "padding": [0, 6, 0, 6], "fill": 9}, {"op": "crop", "top": 0, "left": 17, "height": 60, "width": 30}]"#),
    ("FixedSizeCrop", r#"{"size": [60, 30], "fill": 9}"#, &[],
        r#"[{"op": "pad", "padding": [0, 0, 0, 12], "fill": 9}, {"op": "crop", "top": 0, "left": 17, "height": 60, "width": 30}]"#),
    ("PadIfSmaller", r#"{"size": [60, 30], "fill": 9}"#, &[], r#"[{"op": "pad", "padding": [0, 0, 0, 12], "fill": 9}]"#),
    ("Affine", r#"{"scale": {"x": [1.25, 1.25], "y": [0.5, 0.5]}, "translate_percent": 0.1, "fill": 9, "p": 1}"#, &[],
        r#"[{"op": "warp_affine", "matrix": [[1.25, 0, -2], [0, 0.5, 16]], "interpolation": "bilinear", "fill": 9}]"#),
    ("ChannelShuffle", r#"{"p": 1}"#, &[], r#"[{"op": "permute_channels", "permutation": [1, 2, 0]}]"#),
    ("CoarseDropout", r#"{"hole_height_range": [0.25, 0.25], "hole_width_range": [0.5, 0.5], "fill": 7, "p": 1}"#, &[],
        r#"[{"op": "fill_rectangles", "rectangles": [[16, 18, 48, 30], [16, 18, 48, 30]], "fill": 7}]"#),
    ("ColorJitter", r#"{"brightness": [1.5, 1.5], "contrast": [0.75, 0.75], "saturation": [1.75, 1.75], "hue": [0.125, 0.125]}"#, &[],
        r#"[{"op": "saturation", "factor": 1.75}, {"op": "brightness", "factor": 1.5}, {"op": "hue", "factor": 0.125}, {"op": "contrast", "factor": 0.75}]"#),
    ("Compose", r#"{"transforms": [{"op": "RandomInvert", "p": 1}, {"op": "RandomHorizontalFlip", "p": 1}]}"#, &[], r#"[{"op": "invert"}, {"op": "hflip"}]"#),
    ("CopyPaste", r#"{"p": 1}"#, &[],
        r#"[{"op": "paste_mirrored", "polygons": [[[46, 14], [34, 14], [34, 30], [46, 30]]], "objects": [0]}]"#),
    ("D4", r#"{"p": 1}"#, &[0.5, 0.7], r#"[{"op": "rotate", "angle": 180, "expand": true}, {"op": "transpose"}]"#),
    ("Downscale", r#"{"scale_range": [0.5, 0.5], "p": 1}"#, &[],
        r#"[{"op": "resize", "size": [24, 32], "interpolation": "nearest", "antialias": false}, {"op": "resize", "size": [48, 64], "interpolation": "nearest"}]"#),
    ("ElasticTransform", r#"{"alpha": 30, "sigma": 6, "noise_distribution": "uniform", "fill": 9, "p": 1}"#, &[],
        r#"[{"op": "elastic_transform", "key": [2147483648, 2147483648], "alpha": 17.32050807568877, "sigma": 6, "same_dxdy": false, "interpolation": "bilinear", "fill": 9}]"#),
    ("Emboss", r#"{"alpha": [0.5, 0.5], "strength": [0.25, 0.25], "p": 1}"#, &[],
        r#"[{"op": "convolve", "kernel": [[-0.625, -0.125, 0], [-0.125, 1, 0.125], [0, 0.125, 0.625]]}]"#),
    ("GaussNoise", r#"{"std_range": [0.2, 0.2], "p": 1}"#, &[],
        r#"[{"op": "gauss_noise", "key": [2147483648, 2147483648], "mean": 0, "std": 51.00000075995922, "per_channel": true}]"#),
    ("GaussianBlur", r#"{"kernel_size": [5, 3], "sigma": [1.5, 1.5]}"#, &[],
        r#"[{"op": "gaussian_blur", "kernel_size": [5, 3], "sigma": [1.5, 1.5]}]"#),
    ("Grayscale", "{}", &[], r#"[{"op": "grayscale"}]"#),
    ("GridDistortion", r#"{"num_steps": 3, "distort_limit": [-0.5, 0.5], "normalized": false, "p": 1}"#, &[0.5, 0.25, 0.5, 0.75],
        r#"[{"op": "grid_distortion", "steps_x": [0.75, 1, 1.25, 1], "steps_y": [1, 1, 1, 1], "interpolation": "bilinear", "fill": 0}]"#),
    ("HueSaturationValue", r#"{"hue_shift_limit": [-9.5, -9.5], "sat_shift_limit": [25, 25], "val_shift_limit": [10, 10], "p": 1}"#, &[],
        r#"[{"op": "shift_hsv", "hue": -9.5, "saturation": 25, "value": 10}]"#),
    ("ImageCompression", r#"{"quality_range": [20, 40], "p": 1}"#, &[], r#"[{"op": "jpeg_compression", "quality": 30}]"#),
    ("ISONoise", r#"{"color_shift": [0.5, 0.5], "intensity": [0.25, 0.25], "p": 1}"#, &[],
        r#"[{"op": "iso_noise", "key": [2147483648, 2147483648], "color_shift": 0.5, "intensity": 0.25}]"#),
    ("LetterBox", r#"{"size": 96}"#, &[],
        r#"[{"op": "resize", "size": [72, 96]}, {"op": "pad", "padding": [0, 12, 0, 12], "fill": 114}]"#),
    ("MedianBlur", r#"{"blur_limit": 7, "p": 1}"#, &[], r#"[{"op": "median_blur", "kernel_size": 5}]"#),
    ("MotionBlur", r#"{"blur_limit": 3, "p": 1}"#, &[0.5, 0.5, 0.0],
        r#"[{"op": "convolve", "kernel": [[0, 0, 0], [0.3333333432674408, 0.3333333432674408, 0.3333333432674408], [0, 0, 0]]}]"#),
    ("MultiplicativeNoise", r#"{"multiplier": [0.5, 1], "p": 1}"#, &[],
        r#"[{"op": "brightness_contrast", "alpha": 0.75, "beta": 0}]"#),
    ("MultiplicativeNoise", r#"{"multiplier": [0.5, 1], "per_channel": true, "elementwise": true, "p": 1}"#, &[],
        r#"[{"op": "multiplicative_noise", "key": [2147483648, 2147483648], "multiplier": [0.5, 1], "per_channel": true, "elementwise": true}]"#),
    ("MmsegRandomCrop", r#"{"size": [20, 30], "cat_max_ratio": 0.75}"#, &[],
        r#"[{"op": "crop", "top": 14, "left": 17, "height": 20, "width": 30}]"#),
    ("MmsegRandomResize", r#"{"scale": [64, 24], "ratio_range": [0.5, 1.5], "keep_ratio": true}"#, &[0.75],
        r#"[{"op": "resize", "size": [30, 40], "antialias": false}]"#),
    ("MmsegRandomResize", r#"{"scale": [64, 24], "ratio_range": [0.5, 1.5]}"#, &[0.75],
        r#"[{"op": "resize", "size": [30, 80], "antialias": false}]"#),
    ("OneOf", r#"{"transforms": [{"op": "RandomInvert", "p": 0.25}, {"op": "RandomHorizontalFlip", "p": 0.75}], "p": 1}"#, &[0.3], r#"[{"op": "hflip"}]"#),
    ("OpticalDistortion", r#"{"distort_limit": 0.25, "mode": "fisheye", "interpolation": "nearest", "p": 1}"#, &[0.5, 0.75],
        r#"[{"op": "optical_distortion", "k": 0.125, "mode": "fisheye", "interpolation": "nearest", "fill": 0}]"#),
    ("Pad", r#"{"padding": [1, 2, 3, 4], "fill": [10, 20, 30]}"#, &[],
        r#"[{"op": "pad", "padding": [1, 2, 3, 4], "fill": [10, 20, 30]}]"#),
    ("RGBShift", r#"{"r_shift_limit": [5, 5], "g_shift_limit": [-6, -6], "b_shift_limit": 14, "p": 1}"#, &[0.5, 0.5, 0.5, 0.75],
        r#"[{"op": "shift_rgb", "shift": [5, -6, 7]}]"#),
    ("RandAugment", r#"{"num_ops": 2, "magnitude": 1, "num_magnitude_bins": 3}"#, &[0.54, 0.9, 0.95],
        r#"[{"op": "saturation", "factor": 1.449999988079071}, {"op": "equalize"}]"#),
    ("RandomAdjustSharpness", r#"{"sharpness_factor": 1.75, "p": 1}"#, &[], r#"[{"op": "sharpness", "factor": 1.75}]"#),
    ("RandomAffine", r#"{"degrees": [30, 30], "translate": [0.25, 0.25], "scale": [1.25, 1.25], "shear": [4, 4, 8, 8], "interpolation": "bilinear", "fill": 7}"#, &[0.5, 0.75, 0.5],
        r#"[{"op": "affine", "angle": 30, "translate": [8, 0], "scale": 1.25, "shear": [4, 8], "interpolation": "bilinear", "fill": 7}]"#),
    ("RandomApply", r#"{"transforms": [{"op": "RandomInvert", "p": 1}, {"op": "RandomHorizontalFlip", "p": 1}], "p": 0.25}"#, &[0.2], r#"[{"op": "invert"}, {"op": "hflip"}]"#),
    ("RandomAutocontrast", r#"{"p": 1}"#, &[], r#"[{"op": "autocontrast"}]"#),
    ("RandomBrightnessContrast", r#"{"brightness_limit": [0.25, 0.25], "contrast_limit": 0.5, "p": 1}"#, &[0.5, 0.75],
        r#"[{"op": "brightness_contrast", "alpha": 1.25, "beta": 63.75}]"#),
    ("RandomChannelPermutation", "{}", &[], r#"[{"op": "permute_channels", "permutation": [1, 2, 0]}]"#),
    ("RandomChoice", r#"{"transforms": [{"op": "RandomInvert", "p": 1}, {"op": "RandomHorizontalFlip", "p": 1}], "p": [0.25, 0.75]}"#, &[0.2], r#"[{"op": "invert"}]"#),
    ("RandomCrop", r#"{"size": [20, 30], "padding": 4, "fill": 9}"#, &[],
        r#"[{"op": "pad", "padding": [4, 4, 4, 4], "fill": 9}, {"op": "crop", "top": 18, "left": 21, "height": 20, "width": 30}]"#),
    ("RandomCropOrPad", r#"{"size": [60, 30], "padding_mode": "reflect"}"#, &[],
        r#"[{"op": "pad", "padding": [0, 6, 0, 6], "padding_mode": "reflect"}, {"op": "crop", "top": 0, "left": 17, "height": 60, "width": 30}]"#),
    ("RandomEqualize", r#"{"p": 1}"#, &[], r#"[{"op": "equalize"}]"#),
    ("RandomErasing", r#"{"p": 1, "scale": [0.25, 0.25], "ratio": [1, 1], "value": 0.5}"#, &[],
        r#"[{"op": "erase", "i": 10, "j": 18, "h": 28, "w": 28, "v": 0.5}]"#),
    ("RandomGamma", r#"{"gamma_limit": [50, 50], "p": 1}"#, &[], r#"[{"op": "gamma", "gamma": 0.5}]"#),
    ("RandomGrayscale", r#"{"p": 1}"#, &[], r#"[{"op": "grayscale"}]"#),
    ("RandomHSV", r#"{"hsv_h": 0.5, "hsv_s": 0.25, "hsv_v": 0.5}"#, &[0.75, 0.75, 0.75],
        r#"[{"op": "hsv", "hue": 0.25, "saturation": 1.125, "value": 1.25}]"#),
    ("RandomHorizontalFlip", r#"{"p": 1}"#, &[], r#"[{"op": "hflip"}]"#),
    ("RandomInvert", r#"{"p": 1}"#, &[], r#"[{"op": "invert"}]"#),
    ("RandomIoUCrop", r#"{"min_scale": 0.5, "max_scale": 0.5, "sampler_options": [0]}"#, &[],
        r#"[{"op": "keep_centers", "top": 12, "left": 16, "height": 24, "width": 32}, {"op": "crop", "top": 12, "left": 16, "height": 24, "width": 32}]"#),
    ("RandomOrder", r#"{"transforms": [{"op": "RandomInvert", "p": 1}, {"op": "RandomHorizontalFlip", "p": 1}]}"#, &[], r#"[{"op": "hflip"}, {"op": "invert"}]"#),
    ("RandomPerspective", r#"{"distortion_scale": 0.5, "p": 1, "fill": 9}"#, &[],
        r#"[{"op": "perspective", "startpoints": [[0, 0], [63, 0], [63, 47], [0, 47]], "endpoints": [[8, 6], [55, 6], [55, 41], [8, 41]], "fill": 9}]"#),
    ("RandomPhotometricDistort", r#"{"p": 1, "brightness": [1.25, 1.25], "contrast": [0.75, 0.75], "saturation": [1.5, 1.5], "hue": [0.125, 0.125]}"#, &[],
        r#"[{"op": "brightness", "factor": 1.25}, {"op": "saturation", "factor": 1.5}, {"op": "hue", "factor": 0.125}, {"op": "contrast", "factor": 0.75}, {"op": "permute_channels", "permutation": [1, 2, 0]}]"#),
    ("RandomPosterize", r#"{"bits": 3, "p": 1}"#, &[], r#"[{"op": "posterize", "bits": 3}]"#),
    ("RandomResize", r#"{"min_size": 12, "max_size": 36, "antialias": false}"#, &[], r#"[{"op": "resize", "size": 24, "antialias": false}]"#),
    ("RandomResizedCrop", r#"{"size": [20, 30], "scale": [0.25, 0.25], "ratio": [1, 1], "interpolation": "bicubic"}"#, &[],
        r#"[{"op": "resized_crop", "top": 10, "left": 18, "height": 28, "width": 28, "size": [20, 30], "interpolation": "bicubic"}]"#),
    ("RandomRotate90", r#"{"p": 1}"#, &[0.5, 0.8], r#"[{"op": "rotate", "angle": 270, "expand": true}]"#),
    ("RandomRotation", r#"{"degrees": [30, 30], "expand": true, "interpolation": "bilinear", "fill": 9}"#, &[],
        r#"[{"op": "rotate", "angle": 30, "expand": true, "interpolation": "bilinear", "fill": 9}]"#),
    ("RandomShortestSize", r#"{"min_size": [10, 24, 30], "antialias": false}"#, &[], r#"[{"op": "resize", "size": [24, 32], "antialias": false}]"#),
    ("RandomSizeCrop", r#"{"min_size": 20, "max_size": 40}"#, &[], r#"[{"op": "crop", "top": 9, "left": 17, "height": 30, "width": 30}]"#),
    ("RandomSolarize", r#"{"threshold": 100, "p": 1}"#, &[], r#"[{"op": "solarize", "threshold": 100}]"#),
    ("RandomVerticalFlip", r#"{"p": 1}"#, &[], r#"[{"op": "vflip"}]"#),
    ("RandomZoomOut", r#"{"fill": 7, "side_range": [2, 2], "p": 1}"#, &[0.5, 0.5, 0.25, 0.75],
        r#"[{"op": "pad", "padding": [16, 36, 48, 12], "fill": 7}]"#),
    ("Resize", r#"{"size": 20, "interpolation": "nearest"}"#, &[], r#"[{"op": "resize", "size": 20, "interpolation": "nearest"}]"#),
    ("ResizeKeepRatio", r#"{"size": 24, "longest": 1, "random_scale_prob": 1, "random_scale_range": [4, 4], "random_scale_area": true, "interpolation": "nearest"}"#, &[],
        r#"[{"op": "resize", "size": [9, 12], "interpolation": "nearest"}]"#),
    ("ResizeLongest", r#"{"imgsz": 32}"#, &[], r#"[{"op": "resize", "size": [24, 32]}]"#),
    ("ResizeLongest", r#"{"imgsz": 32, "antialias": false}"#, &[], r#"[{"op": "resize", "size": [24, 32], "antialias": false}]"#),
    ("SanitizeBoundingBoxes", r#"{"min_size": 2, "min_area": 3}"#, &[],
        r#"[{"op": "sanitize_bounding_boxes", "min_size": 2, "min_area": 3}]"#),
    ("ScaleJitter", r#"{"target_size": [48, 64], "scale_range": [0.5, 0.5]}"#, &[], r#"[{"op": "resize", "size": [18, 24]}]"#),
    ("Sharpen", r#"{"alpha": [0.5, 0.5], "lightness": [1, 1], "p": 1}"#, &[],
        r#"[{"op": "convolve", "kernel": [[-0.5, -0.5, -0.5], [-0.5, 5, -0.5], [-0.5, -0.5, -0.5]]}]"#),
    ("ShiftScaleRotate", r#"{"shift_limit": [0.125, 0.125], "scale_limit": [0.25, 0.25], "rotate_limit": [0, 0], "p": 1}"#, &[],
        r#"[{"op": "warp_affine", "matrix": [[1.25, 0, 0], [0, 1.25, 0]], "interpolation": "bilinear"}]"#),
    ("SomeOf", r#"{"transforms": [{"op": "RandomInvert", "p": 1}, {"op": "RandomHorizontalFlip", "p": 1}], "n": 1}"#, &[], r#"[{"op": "hflip"}]"#),
    ("TimmAugMix", r#"{"config": "augmix-m5-w1-d2", "fill": 9}"#, TIMM_AUG_MIX_DRAWS, TIMM_AUG_MIX),
    ("TimmRandAugment", r#"{"config": "rand-m5-p1-inc1", "fill": 9}"#, &[0.5, 0.95],
        r#"[{"op": "saturation", "factor": 1.45}, {"op": "pillow_affine", "data": [1, 0, 0, 0, 1, 10.8], "resample": "bicubic", "fillcolor": 9}]"#),
    ("TimmRandomErasing", r#"{"probability": 1, "min_area": 0.25, "max_area": 0.25, "min_aspect": 1, "min_count": 2}"#, &[],
        r#"[{"op": "erase", "i": 14, "j": 22, "h": 20, "w": 20, "v": 0}, {"op": "erase", "i": 14, "j": 22, "h": 20, "w": 20, "v": 0}]"#),
    ("ToGray", r#"{"p": 1}"#, &[], r#"[{"op": "to_gray"}]"#),
    ("Transpose", r#"{"p": 1}"#, &[], r#"[{"op": "transpose"}]"#),
    ("TrivialAugmentWide", r#"{"num_magnitude_bins": 3}"#, &[0.54, 0.5, 0.9],
        r#"[{"op": "saturation", "factor": 1.4950000047683716}]"#),
    ("YoloPerspective", r#"{"size": [48, 64], "degrees": 20, "fill": 9}"#, &[0.5, 0.5, 0.75, 0.75],
        r#"[{"op": "warp_perspective", "matrix": [[1.23100969126526, 0.2170602220836629, -12.601755450496228], [-0.2170602220836629, 1.23100969126526, 1.4016945163109753], [0, 0, 1]], "size": [48, 64], "fill": 9}]"#),
    ("YoloPerspective", r#"{"size": 32, "scale": 0, "translate": 0, "antialias": false}"#, &[],
        r#"[{"op": "resize", "size": [24, 32], "antialias": false}, {"op": "pad", "padding": [0, 4, 0, 4], "fill": 114},
            {"op": "warp_perspective", "matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "size": 32, "fill": 114, "antialias": false}]"#),
];

/// A half for all that weights are drawn from, and then the operations.
const AUG_MIX_DRAWS: &[f64] = &[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.4, 0.5, 0.99];
const AUG_MIX: &str = r#"[{"op": "sum_chains", "chains": [{"weight": 0.5, "ops": []},
    {"weight": 0.25, "ops": [{"op": "posterize", "bits": 4}]}, {"weight": 0.25, "ops": [{"op": "sharpness", "factor": 0.9}]}]}]"#;
const TIMM_AUG_MIX_DRAWS: &[f64] = &[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1, 0.7];
const TIMM_AUG_MIX: &str = r#"[{"op": "sum_chains", "chains": [{"weight": 1, "ops": [{"op": "saturation", "factor": 1.225},
    {"op": "pillow_affine", "data": [1, 0.075, 0, 0, 1, 0], "resample": "bicubic", "fillcolor": 9}]}], "blend": 0.5}]"#;

/// Each operation of a policy with a magnitude in the middle of its range: its number in the choice, and what is done.
#[rustfmt::skip]
const POLICY: &[(usize, &str)] = &[
    (0, "[]"),
    (1, r#"[{"op": "affine", "angle": 0, "shear": [8.530765943942713, 0], "center": [0, 0]}]"#),
    (2, r#"[{"op": "affine", "angle": 0, "shear": [0, 8.530765943942713], "center": [0, 0]}]"#),
    (3, r#"[{"op": "affine", "angle": 0, "translate": [14, 0], "shear": [0, 0]}]"#),
    (4, r#"[{"op": "affine", "angle": 0, "translate": [0, 10], "shear": [0, 0]}]"#),
    (5, r#"[{"op": "rotate", "angle": 15}]"#),
    (6, r#"[{"op": "brightness", "factor": 1.449999988079071}]"#),
    (7, r#"[{"op": "saturation", "factor": 1.449999988079071}]"#),
    (8, r#"[{"op": "contrast", "factor": 1.449999988079071}]"#),
    (9, r#"[{"op": "sharpness", "factor": 1.449999988079071}]"#),
    (10, r#"[{"op": "posterize", "bits": 6}]"#),
    (11, r#"[{"op": "solarize", "threshold": 127.5}]"#),
    (12, r#"[{"op": "autocontrast"}]"#),
    (13, r#"[{"op": "equalize"}]"#),
];

/// What a pixel of a mixed sample shows.
#[derive(Clone, Copy)]
enum Shown {
    /// A pixel of a sample.
    Of(usize, u32, u32),
    /// The first sample by this share, and the second one by the rest.
    Blend(f32),
    Grey,
}

/// A mix, its arguments, how many partners it has, what all samples go through first, and what it then shows at x, y.
type Mix = (&'static str, &'static str, usize, &'static str, fn(u32, u32) -> Shown);

#[rustfmt::skip]
const MIXES: &[Mix] = &[
    ("CopyPaste", r#"{"p": 1, "mode": "mixup"}"#, 1, "[]", |x, y| Shown::Of(usize::from((34..46).contains(&x) && (14..30).contains(&y)), x, y)),
    ("CutMix", "{}", 1, "[]", cut),
    ("MixUp", "{}", 1, "[]", |_, _| Shown::Blend(0.701392)),
    ("Mosaic", r#"{"imgsz": 32}"#, 3, r#"[{"op": "resize", "size": [24, 32]}]"#, |x, y| match (x / 32, y) {
        (right, 8..32) => Shown::Of(right as usize, x % 32, y - 8),
        (right, 32..56) => Shown::Of(2 + right as usize, x % 32, y - 32),
        _ => Shown::Grey,
    }),
    ("TimmMixup", "{}", 1, "[]", |_, _| Shown::Blend(0.701392)),
    ("TimmMixup", r#"{"mixup_alpha": 0, "cutmix_alpha": 1}"#, 1, "[]", cut),
    ("YoloCutMix", r#"{"p": 1}"#, 1, "[]", cut),
    ("YoloMixUp", r#"{"p": 1}"#, 1, "[]", |_, _| Shown::Blend(0.519732)),
];

/// Half of the sample, round its middle.
fn cut(x: u32, y: u32) -> Shown {
    Shown::Of(usize::from((10..54).contains(&x) && (8..40).contains(&y)), x, y)
}

/// A sample with one object that has an outline, on its left (or, for a partner, on its right), and one too small to keep.
fn sample(number: usize) -> Draft {
    let [left, right] = if number == 0 { [18.0, 30.0] } else { [34.0, 46.0] };
    let outlined = Object {
        bbox: [left, 14.0, right, 30.0],
        polygons: vec![vec![[left, 14.0], [right, 14.0], [right, 30.0], [left, 30.0]]],
        ..Object::default()
    };
    let small = Object { bbox: [40.0, 40.0, 41.0, 41.0], ..Object::default() };
    let objects = Objects { list: vec![outlined, small], ..Objects::default() };
    Draft::new(number as u64, SIZE, Orientation::UPRIGHT).with_objects(Arc::new(objects))
}

fn done(ops: &str, number: usize) -> Draft {
    let ops: Vec<Op> = serde_json::from_str(ops).unwrap();
    let mut draft = sample(number);
    ops.into_iter().for_each(|op| draft.apply(op));
    draft
}

fn planned(name: &str, arguments: &str, draws: &[f64], partners: usize) -> Draft {
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    let augmentation = Augmentation::read(name, arguments).unwrap();
    augmentation.check().unwrap();
    let mut draft = sample(0);
    let partners = (1..=partners).map(sample).collect();
    augmentation.plan(&mut draft, partners, &mut Dice(draws.iter()));
    draft
}

/// The finished sample, normalised, so that what is erased shows as well.
fn rendered(draft: Draft) -> (Size, Vec<[f32; 3]>) {
    let plan = draft.freeze().unwrap();
    let images: Vec<Image> = plan.images.iter().map(|of| image(of.stored, of.index)).collect();
    let normalize = Some(Normalize::IMAGENET);
    let output = Output { size: plan.size(), dtype: DType::F32, layout: Layout::Nhwc, normalize };
    let mut memory = vec![0f32; output.sample_bytes() / 4];
    Renderer::default().render(&plan, &images, &output, bytemuck::cast_slice_mut(&mut memory)).unwrap();
    (plan.size(), memory.as_chunks().0.to_vec())
}

/// Whether two values of JSON are the same but for the rounding of numbers.
fn alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-6,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| alike(a, b)))
        }
        _ => a == b,
    }
}

/// What differs between a plan and explicit ops: the ops, the objects or the pixels.
fn difference(name: &str, got: Draft, ops: &str) -> Option<String> {
    let want = done(ops, 0);
    let written = |draft: &Draft| serde_json::to_value(draft.ops()).unwrap();
    if !alike(&written(&got), &written(&want)) {
        return Some(format!("{name}: {} and not {ops}", written(&got)));
    }
    // YoloPerspective also judges boxes by what the map did to them.
    if name != "YoloPerspective" && got.objects() != want.objects() {
        return Some(format!("{name}: {:?} and not {:?}", got.objects(), want.objects()));
    }
    (rendered(got) != rendered(want)).then(|| format!("{name}: other pixels than {ops}"))
}

#[test]
fn every_augmentation_does_what_its_explicit_ops_do() {
    let row = |(name, arguments, draws, ops): &Row| difference(name, planned(name, arguments, draws, 0), ops);
    let differences: Vec<String> = ROWS.iter().filter_map(row).collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn every_operation_of_a_policy_does_what_its_explicit_op_does() {
    let arguments = r#"{"num_ops": 1, "magnitude": 1, "num_magnitude_bins": 3}"#;
    let row = |(number, ops): &(usize, &str)| {
        let draws = [(*number as f64 + 0.5) / 14.0, 0.9];
        difference(&format!("operation {number}"), planned("RandAugment", arguments, &draws, 0), ops)
    };
    let differences: Vec<String> = POLICY.iter().filter_map(row).collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn every_mix_shows_the_pixels_of_the_right_samples() {
    let mut differences = Vec::new();
    for (name, arguments, partners, before, shown) in MIXES {
        let samples: Vec<_> = (0..=*partners).map(|number| rendered(done(before, number))).collect();
        let grey = Normalize::IMAGENET.factors().map(|[factor, offset]| 114f32.mul_add(factor, offset));
        // The first draw of a share decides on whose side it lies; what cuts is to cut a half, and draws on from there.
        let draws: &[f64] = if matches!(shown(0, 0), Shown::Blend(_)) { &[0.25] } else { &[] };
        let (size, pixels) = rendered(planned(name, arguments, draws, *partners));
        let is_wrong = |(at, got): (usize, &[f32; 3])| {
            let (x, y) = (at as u32 % size.width, at as u32 / size.width);
            let pixel = |number: usize, x: u32, y: u32| {
                let (size, pixels): &(Size, Vec<[f32; 3]>) = &samples[number];
                pixels[(y * size.width + x) as usize]
            };
            let want = match shown(x, y) {
                Shown::Of(number, x, y) => pixel(number, x, y),
                Shown::Blend(share) => {
                    [0, 1, 2].map(|c| pixel(0, x, y)[c] * share + pixel(1, x, y)[c] * (1.0 - share))
                }
                Shown::Grey => grey,
            };
            got.iter().zip(want).any(|(got, want)| (got - want).abs() >= 1e-4)
        };
        let wrong = pixels.iter().enumerate().filter(|(at, got)| is_wrong((*at, got))).count();
        if wrong > 0 || pixels.is_empty() {
            differences.push(format!("{name} {arguments}: {wrong} of {} pixels are others", pixels.len()));
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn no_augmentation_is_without_a_row() {
    let rows = ROWS.iter().map(|row| row.0).chain(MIXES.iter().map(|mix| mix.0));
    let covered: BTreeSet<&str> = rows.collect();
    let missing: Vec<_> = Augmentation::NAMES.iter().filter(|name| !covered.contains(*name)).collect();
    assert!(missing.is_empty(), "write a row, in tests/augment/executed.rs, for {missing:?}");
}
