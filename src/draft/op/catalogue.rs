//! What each op is called, what torchvision calls it, and an example of it.

use super::Op;

/// One op, for help texts and `docs/ops.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The op's name in JSON.
    pub name: &'static str,
    /// The function of `torchvision.transforms.v2.functional` with the same pixels; empty where there is none.
    pub torchvision: &'static str,
    /// The op as JSON.
    pub example: &'static str,
}

const fn entry(name: &'static str, torchvision: &'static str, example: &'static str) -> Entry {
    Entry { name, torchvision, example }
}

/// Every op, in the order of [`Op`].
pub const CATALOGUE: &[Entry] = &[
    entry("crop", "crop", r#"{"op": "crop", "top": 10, "left": 20, "height": 224, "width": 224}"#),
    entry("center_crop", "center_crop", r#"{"op": "center_crop", "output_size": [224, 224]}"#),
    entry(
        "resized_crop",
        "resized_crop",
        r#"{"op": "resized_crop", "top": 10, "left": 20, "height": 300, "width": 400, "size": [224, 224]}"#,
    ),
    entry("resize", "resize", r#"{"op": "resize", "size": 256, "interpolation": "bicubic"}"#),
    entry("pad", "pad", r#"{"op": "pad", "padding": [4, 4, 4, 4], "fill": 114}"#),
    entry(
        "affine",
        "affine",
        r#"{"op": "affine", "angle": 12.5, "translate": [8, -3], "scale": 1.1, "shear": [4, 0], "fill": 114}"#,
    ),
    entry(
        "rotate",
        "rotate",
        r#"{"op": "rotate", "angle": 30, "interpolation": "bilinear", "expand": true}"#,
    ),
    entry(
        "perspective",
        "perspective",
        r#"{"op": "perspective", "startpoints": [[0, 0], [499, 0], [499, 374], [0, 374]], "endpoints": [[30, 12], [480, 5], [470, 360], [9, 341]], "fill": 0}"#,
    ),
    entry(
        "warp_perspective",
        "",
        r#"{"op": "warp_perspective", "matrix": [[0.9, 0.1, 20], [-0.1, 0.9, 60], [0, 0.0001, 1]], "size": [640, 640], "fill": 114}"#,
    ),
    entry(
        "paste_mirrored",
        "",
        r#"{"op": "paste_mirrored", "polygons": [[[300, 80], [380.5, 90], [340, 200]]], "objects": [2]}"#,
    ),
    entry("hflip", "horizontal_flip", r#"{"op": "hflip"}"#),
    entry("vflip", "vertical_flip", r#"{"op": "vflip"}"#),
    entry("brightness", "adjust_brightness", r#"{"op": "brightness", "factor": 1.2}"#),
    entry("contrast", "adjust_contrast", r#"{"op": "contrast", "factor": 0.8}"#),
    entry("saturation", "adjust_saturation", r#"{"op": "saturation", "factor": 1.1}"#),
    entry("hue", "adjust_hue", r#"{"op": "hue", "factor": -0.05}"#),
    entry("hsv", "", r#"{"op": "hsv", "hue": 0.01, "saturation": 1.4, "value": 0.8}"#),
    entry("grayscale", "rgb_to_grayscale", r#"{"op": "grayscale"}"#),
    entry("solarize", "solarize", r#"{"op": "solarize", "threshold": 128}"#),
    entry("posterize", "posterize", r#"{"op": "posterize", "bits": 4}"#),
    entry("invert", "invert", r#"{"op": "invert"}"#),
    entry("permute_channels", "permute_channels", r#"{"op": "permute_channels", "permutation": [2, 0, 1]}"#),
    entry("autocontrast", "autocontrast", r#"{"op": "autocontrast"}"#),
    entry("equalize", "equalize", r#"{"op": "equalize"}"#),
    entry("sharpness", "adjust_sharpness", r#"{"op": "sharpness", "factor": 1.9}"#),
    entry(
        "gaussian_blur",
        "gaussian_blur",
        r#"{"op": "gaussian_blur", "kernel_size": [23, 23], "sigma": [1.2, 1.2]}"#,
    ),
    entry("erase", "erase", r#"{"op": "erase", "i": 50, "j": 60, "h": 40, "w": 30, "v": [0.0, 0.5, 1.0]}"#),
    entry(
        "sanitize_bounding_boxes",
        "sanitize_bounding_boxes",
        r#"{"op": "sanitize_bounding_boxes", "min_size": 2}"#,
    ),
    entry(
        "keep_centers",
        "",
        r#"{"op": "keep_centers", "top": 10, "left": 20, "height": 300, "width": 400}"#,
    ),
    entry(
        "normalize",
        "normalize",
        r#"{"op": "normalize", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}"#,
    ),
];

impl Op {
    /// The op's name in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Op::Crop { .. } => "crop",
            Op::CenterCrop { .. } => "center_crop",
            Op::ResizedCrop { .. } => "resized_crop",
            Op::Resize { .. } => "resize",
            Op::Pad { .. } => "pad",
            Op::Affine { .. } => "affine",
            Op::Rotate { .. } => "rotate",
            Op::Perspective { .. } => "perspective",
            Op::WarpPerspective { .. } => "warp_perspective",
            Op::PasteMirrored { .. } => "paste_mirrored",
            Op::Hflip {} => "hflip",
            Op::Vflip {} => "vflip",
            Op::Brightness { .. } => "brightness",
            Op::Contrast { .. } => "contrast",
            Op::Saturation { .. } => "saturation",
            Op::Hue { .. } => "hue",
            Op::Hsv { .. } => "hsv",
            Op::Grayscale { .. } => "grayscale",
            Op::Solarize { .. } => "solarize",
            Op::Posterize { .. } => "posterize",
            Op::Invert {} => "invert",
            Op::PermuteChannels { .. } => "permute_channels",
            Op::Autocontrast {} => "autocontrast",
            Op::Equalize {} => "equalize",
            Op::Sharpness { .. } => "sharpness",
            Op::GaussianBlur { .. } => "gaussian_blur",
            Op::Erase { .. } => "erase",
            Op::SanitizeBoundingBoxes { .. } => "sanitize_bounding_boxes",
            Op::KeepCenters { .. } => "keep_centers",
            Op::Normalize { .. } => "normalize",
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_the_op_that_it_says() {
        for entry in CATALOGUE {
            let op: Op = serde_json::from_str(entry.example).unwrap();
            assert_eq!(op.name(), entry.name);
            let written = serde_json::to_value(&op).unwrap();
            assert_eq!(written["op"], entry.name);
            assert_eq!(serde_json::from_value::<Op>(written).unwrap(), op);
        }
    }

    #[test]
    fn an_unknown_op_or_field_is_named_even_where_an_op_has_no_fields() {
        let error = |json: &str| serde_json::from_str::<Op>(json).unwrap_err().to_string();
        assert!(error(r#"{"op": "mirror"}"#).contains("`mirror`"));
        assert!(error(r#"{"op": "hflip", "p": 0.5}"#).contains("`p`"));
        assert!(
            error(r#"{"op": "crop", "top": 0, "left": 0, "height": 1, "width": 1, "w": 1}"#).contains("`w`")
        );
        assert!(error(r#"{"op": "crop", "top": 0}"#).contains("`left`"));
        assert!(error(r#"{"op": "resize", "size": "big"}"#).contains("a length, or [height, width]"));
    }
}
