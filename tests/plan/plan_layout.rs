//! The structs and constants of `kernels/plan.h` are those of `src/plan.rs`.
//!
//! A C compiler measures the header; names are taken from both files, so that a new field cannot be forgotten.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::c_layout::{self, Facts, constants, layout, measured};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::plan::{self, Erase, ImageRef, LabelShare, Layer, Picture, Run, Span, Stage, Stat, Step};

fn rust_structs() -> Facts {
    layout! {
        Size { width, height }
        Rect { x, y, width, height }
        Span { start, len }
        ImageRef { index, stored, orientation, reserved }
        Layer {
            map, kind, filter, orientation, clip, window, scaled, offset, mirror, image, steps, fill, mask, reserved
        }
        Run { start, len }
        Picture { window, layers, steps, erases, share, reserved }
        Step { op, stat, args }
        Stat { kind, target, index, reserved, rect, steps }
        Erase { window, value, kind, key, reserved }
        Stage { size, pictures, steps }
        LabelShare { image, share }
    }
}

fn rust_constants() -> Facts {
    constants! {
        "NONE" = plan::NONE,
        "STAGE_BIT" = plan::STAGE_BIT,
        "MAX_IMAGES" = plan::MAX_IMAGES,
        "MAX_LAYERS" = plan::MAX_LAYERS,
        "MAX_STAGES" = plan::MAX_STAGES,
        "MAX_STEPS" = plan::MAX_STEPS,
        "MAX_STATS" = plan::MAX_STATS,
        "MAX_ERASES" = plan::MAX_ERASES,
        "MAX_RUNS" = plan::MAX_RUNS,
        "MAX_KERNEL" = plan::MAX_KERNEL,
        "KIND_UPRIGHT" = plan::kind::UPRIGHT,
        "KIND_WARP" = plan::kind::WARP,
        "KIND_SOLID" = plan::kind::SOLID,
        "KIND_FILTERED" = plan::kind::FILTERED,
        "AROUND_NOTHING" = plan::around::NOTHING,
        "AROUND_BLACK" = plan::around::BLACK,
        "AROUND_FILL" = plan::around::FILL,
        "FILTER_BILINEAR" = plan::filter::BILINEAR,
        "FILTER_BILINEAR_PLAIN" = plan::filter::BILINEAR_PLAIN,
        "FILTER_BICUBIC" = plan::filter::BICUBIC,
        "FILTER_NEAREST" = plan::filter::NEAREST,
        "FILTER_SHARPNESS" = plan::filter::SHARPNESS,
        "FILTER_GAUSSIAN" = plan::filter::GAUSSIAN,
        "MIRROR_X" = Orientation::MIRROR_X.0,
        "MIRROR_Y" = Orientation::MIRROR_Y.0,
        "TRANSPOSE" = Orientation::TRANSPOSE.0,
        "STEP_BRIGHTNESS" = plan::step::BRIGHTNESS,
        "STEP_CONTRAST" = plan::step::CONTRAST,
        "STEP_SATURATION" = plan::step::SATURATION,
        "STEP_HUE" = plan::step::HUE,
        "STEP_GRAYSCALE" = plan::step::GRAYSCALE,
        "STEP_SOLARIZE" = plan::step::SOLARIZE,
        "STEP_POSTERIZE" = plan::step::POSTERIZE,
        "STEP_PERMUTE" = plan::step::PERMUTE,
        "STEP_AUTOCONTRAST" = plan::step::AUTOCONTRAST,
        "STEP_EQUALIZE" = plan::step::EQUALIZE,
        "STEP_HSV" = plan::step::HSV,
        "STAT_MEAN_LUMA" = plan::stat::MEAN_LUMA,
        "STAT_HISTOGRAM" = plan::stat::HISTOGRAM,
        "STAT_OF_LAYER" = plan::stat::OF_LAYER,
        "STAT_OF_PICTURE" = plan::stat::OF_PICTURE,
        "STAT_OF_STAGE" = plan::stat::OF_STAGE,
        "ERASE_CONSTANT" = plan::erase::CONSTANT,
        "ERASE_NOISE" = plan::erase::NOISE,
    }
}

fn rust() -> Facts {
    rust_structs().into_iter().chain(rust_constants()).collect()
}

#[test]
fn the_c_header_has_the_sizes_offsets_and_constants_of_the_plan() {
    let header = c_layout::header("plan.h");
    assert_eq!(measured(&header), rust());
}

#[test]
fn a_field_that_moves_in_the_header_is_noticed() {
    let header = c_layout::header("plan.h");
    let moved = header
        .replace("    uint32_t stat;", "")
        .replace("float args[6];", "float args[6];\n    uint32_t stat;");
    assert_ne!(moved, header);
    assert_ne!(measured(&moved), rust());
    let renumbered = header.replace("FEEDLINE_STEP_HUE 3", "FEEDLINE_STEP_HUE 4");
    assert_ne!(measured(&renumbered), rust());
}

#[test]
fn every_constant_of_the_plan_is_compared() {
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/plan.rs")).unwrap();
    let declared =
        source.lines().filter(|line| line.trim_start().starts_with("pub const ") && !line.contains("fn"));
    // The three bits of an orientation are declared in src/geometry.rs.
    assert_eq!(declared.count() + 3, rust_constants().len());
}
