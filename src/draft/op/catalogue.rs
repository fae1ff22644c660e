//! What each op is called, what torchvision calls it, and an example of it.

use super::Op;
use crate::color::color_ops;

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

/// Declares the catalogue and the names of the ops: those before the colour operations, these, and those after them.
macro_rules! declare_catalogue {
    (
        [$($(#[$doc:meta])+ $color:ident = $code:literal, $color_name:literal, $color_torchvision:literal,
            $statistic:expr, $color_example:literal;)+]
        [$($before:ident, $before_name:literal, $before_torchvision:literal, $before_example:literal;)+]
        [$($after:ident, $after_name:literal, $after_torchvision:literal, $after_example:literal;)+]
    ) => {
        /// Every op, in the order of [`Op`].
        pub const CATALOGUE: &[Entry] = &[
            $(Entry { name: $before_name, torchvision: $before_torchvision, example: $before_example },)+
            $(Entry { name: $color_name, torchvision: $color_torchvision, example: $color_example },)+
            $(Entry { name: $after_name, torchvision: $after_torchvision, example: $after_example },)+
        ];

        impl Op {
            /// The op's name in JSON.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Op::$before { .. } => $before_name,)+
                    $(Op::$color { .. } => $color_name,)+
                    $(Op::$after { .. } => $after_name,)+
                }
            }
        }
    };
}

color_ops! { declare_catalogue!
    [
        Crop, "crop", "crop",
            r#"{"op": "crop", "top": 10, "left": 20, "height": 224, "width": 224}"#;
        CenterCrop, "center_crop", "center_crop",
            r#"{"op": "center_crop", "output_size": [224, 224]}"#;
        ResizedCrop, "resized_crop", "resized_crop",
            r#"{"op": "resized_crop", "top": 10, "left": 20, "height": 300, "width": 400, "size": [224, 224]}"#;
        Resize, "resize", "resize",
            r#"{"op": "resize", "size": 256, "interpolation": "bicubic"}"#;
        Pad, "pad", "pad",
            r#"{"op": "pad", "padding": [4, 4, 4, 4], "fill": 114}"#;
        Affine, "affine", "affine",
            r#"{"op": "affine", "angle": 12.5, "translate": [8, -3], "scale": 1.1, "shear": [4, 0], "fill": 114}"#;
        Rotate, "rotate", "rotate",
            r#"{"op": "rotate", "angle": 30, "interpolation": "bilinear", "expand": true}"#;
        PillowAffine, "pillow_affine", "",
            r#"{"op": "pillow_affine", "data": [1, 0.3, -10.5, 0, 1, 0], "resample": "bicubic", "fillcolor": [124, 116, 104]}"#;
        WarpAffine, "warp_affine", "",
            r#"{"op": "warp_affine", "matrix": [[0.9, 0.2, 10], [-0.15, 1.1, -4.5]], "interpolation": "bilinear", "fill": 0}"#;
        Perspective, "perspective", "perspective",
            r#"{"op": "perspective", "startpoints": [[0, 0], [499, 0], [499, 374], [0, 374]], "endpoints": [[30, 12], [480, 5], [470, 360], [9, 341]], "fill": 0}"#;
        WarpPerspective, "warp_perspective", "",
            r#"{"op": "warp_perspective", "matrix": [[0.9, 0.1, 20], [-0.1, 0.9, 60], [0, 0.0001, 1]], "size": [640, 640], "fill": 114}"#;
        PasteMirrored, "paste_mirrored", "",
            r#"{"op": "paste_mirrored", "polygons": [[[300, 80], [380.5, 90], [340, 200]]], "objects": [2]}"#;
        FillRectangles, "fill_rectangles", "",
            r#"{"op": "fill_rectangles", "rectangles": [[20, 30, 60, 80], [100, 10, 140, 50]], "fill": 0}"#;
        Hflip, "hflip", "horizontal_flip",
            r#"{"op": "hflip"}"#;
        Vflip, "vflip", "vertical_flip",
            r#"{"op": "vflip"}"#;
        Transpose, "transpose", "",
            r#"{"op": "transpose"}"#;
    ]
    [
        Invert, "invert", "invert",
            r#"{"op": "invert"}"#;
        Sharpness, "sharpness", "adjust_sharpness",
            r#"{"op": "sharpness", "factor": 1.9}"#;
        GaussianBlur, "gaussian_blur", "gaussian_blur",
            r#"{"op": "gaussian_blur", "kernel_size": [23, 23], "sigma": [1.2, 1.2]}"#;
        SumChains, "sum_chains", "",
            r#"{"op": "sum_chains", "chains": [{"weight": 0.75, "ops": []}, {"weight": 0.25, "ops": [{"op": "rotate", "angle": 20}, {"op": "equalize"}]}]}"#;
        BoxBlur, "box_blur", "",
            r#"{"op": "box_blur", "kernel_size": [5, 5]}"#;
        MedianBlur, "median_blur", "",
            r#"{"op": "median_blur", "kernel_size": 5}"#;
        Convolve, "convolve", "",
            r#"{"op": "convolve", "kernel": [[0, -1, 0], [-1, 5, -1], [0, -1, 0]]}"#;
        Clahe, "clahe", "",
            r#"{"op": "clahe", "clip_limit": 2.5, "tile_grid_size": [8, 8]}"#;
        GaussNoise, "gauss_noise", "",
            r#"{"op": "gauss_noise", "key": [7, 8], "mean": 0, "std": 25.5}"#;
        MultiplicativeNoise, "multiplicative_noise", "",
            r#"{"op": "multiplicative_noise", "key": [7, 8], "multiplier": [0.5, 1.5], "per_channel": true}"#;
        IsoNoise, "iso_noise", "",
            r#"{"op": "iso_noise", "key": [7, 8], "color_shift": 0.05, "intensity": 0.5}"#;
        JpegCompression, "jpeg_compression", "",
            r#"{"op": "jpeg_compression", "quality": 30}"#;
        GridDistortion, "grid_distortion", "",
            r#"{"op": "grid_distortion", "steps_x": [1.2, 0.7, 1.1, 0], "steps_y": [0.9, 1.1, 0], "interpolation": "bilinear"}"#;
        OpticalDistortion, "optical_distortion", "",
            r#"{"op": "optical_distortion", "k": 0.3, "mode": "fisheye"}"#;
        ElasticTransform, "elastic_transform", "",
            r#"{"op": "elastic_transform", "key": [7, 8], "alpha": 60, "sigma": 8}"#;
        Erase, "erase", "erase",
            r#"{"op": "erase", "i": 50, "j": 60, "h": 40, "w": 30, "v": [0.0, 0.5, 1.0]}"#;
        SanitizeBoundingBoxes, "sanitize_bounding_boxes", "sanitize_bounding_boxes",
            r#"{"op": "sanitize_bounding_boxes", "min_size": 2}"#;
        KeepCenters, "keep_centers", "",
            r#"{"op": "keep_centers", "top": 10, "left": 20, "height": 300, "width": 400}"#;
        Normalize, "normalize", "normalize",
            r#"{"op": "normalize", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}"#;
    ]
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
