//! The structs and constants of `kernels/layout.h` are those of `src/device/cuda/render/layout.rs`.
//!
//! A C compiler measures the header; names are taken from both files, so that a new field cannot be forgotten.

use crate::c_layout::{self, Facts, constants, layout, measured};
use feedline::device::cuda::layout::{
    self, Axis, AxisTable, Batch, BlendInput, CropJob, Erase, FilterJob, Histogram, LabTables, LayerDesc,
    MaskRun, MeasureJob, RenderJob, Sentinel, Source, Step, TableJob,
};
use feedline::geometry::{Rect, Size};
use feedline::output::{DType, Layout};
use feedline::plan::{self, Filter, Outside, PillowFilter, Run, Span, WarpFilter};

fn rust_structs() -> Facts {
    layout! {
        Size { width, height }
        Rect { x, y, width, height }
        Span { start, len }
        Run { start, len }
        BlendInput { window, layers, steps, erases, weight, mode, reserved }
        Step { op, stat, args }
        Erase { window, value, kind, key, reserved }
        Batch { sources, layers, inputs, steps, erases, counts, rows, runs, sums, histograms, errors, dtype, layout, factors }
        Source { origin, right, down, size, column, columns, in_scratch, reserved }
        Axis { table, input, output, offset, count, reversed, filter, first, groups }
        AxisTable { precision, reserved }
        LayerDesc { window, kind, around, source, fill, steps, columns, rows, map, mask, matrix }
        RenderJob { target, size, inputs, steps, stats, pitch, measured, rect }
        CropJob { target, origin, size, across, reciprocal, source, columns, down, skipped, tiles, column_groups, row_groups, column_table, row_table }
        MeasureJob { source, measured, steps, stats }
        Histogram { counts, table }
        TableJob { histogram, table }
        Sentinel { address, bytes, image }
        MaskRun { target, len, value }
        FilterJob { target, tables, source, pitch, filter, amount, weights, columns, rows, mean, key, shared, limit, tile }
        LabTables { gamma, cube_root, luminance, inverse_gamma }
    }
}

fn rust_constants() -> Facts {
    constants! {
        "NONE" = layout::NONE,
        "MAX_STATS" = plan::MAX_STATS,
        "MAX_KERNEL" = plan::MAX_KERNEL,
        "MAX_WINDOW" = plan::MAX_WINDOW,
        "KIND_UPRIGHT" = layout::KIND_UPRIGHT,
        "KIND_WARP" = layout::KIND_WARP,
        "KIND_SOLID" = layout::KIND_SOLID,
        "KIND_COPY" = layout::KIND_COPY,
        "AROUND_NOTHING" = layout::around(Outside::Transparent),
        "AROUND_BLACK" = layout::around(Outside::Black),
        "AROUND_FILL" = layout::around(Outside::Fill([1, 2, 3])),
        "FILTER_BILINEAR" = Filter::Bilinear as u32,
        "FILTER_BILINEAR_PLAIN" = Filter::BilinearPlain as u32,
        "FILTER_BICUBIC" = Filter::Bicubic as u32,
        "FILTER_NEAREST" = Filter::Nearest as u32,
        "FILTER_PILLOW_BILINEAR" = layout::pillow_filter(PillowFilter::Bilinear),
        "FILTER_PILLOW_BICUBIC" = layout::pillow_filter(PillowFilter::Bicubic),
        "FILTER_SHARPNESS" = layout::FILTER_SHARPNESS,
        "FILTER_GAUSSIAN" = layout::FILTER_GAUSSIAN,
        "BLEND_OVER" = layout::BLEND_OVER,
        "BLEND_SUM" = layout::BLEND_SUM,
        "BLEND_BETWEEN" = layout::BLEND_BETWEEN,
        "FILTER_MEAN" = layout::FILTER_MEAN,
        "FILTER_MEDIAN" = layout::FILTER_MEDIAN,
        "FILTER_KERNEL" = layout::FILTER_KERNEL,
        "FILTER_NOISE" = layout::FILTER_NOISE,
        "FILTER_CLAHE" = layout::FILTER_CLAHE,
        "FILTER_GRID" = layout::FILTER_GRID,
        "FILTER_RADIAL" = layout::FILTER_RADIAL,
        "FILTER_ELASTIC" = layout::FILTER_ELASTIC,
        "FILTER_MULTIPLY" = layout::FILTER_MULTIPLY,
        "FILTER_SENSOR" = layout::FILTER_SENSOR,
        "FILTER_JPEG" = layout::FILTER_JPEG,
        "ERASE_CONSTANT" = layout::ERASE_CONSTANT,
        "ERASE_NOISE" = layout::ERASE_NOISE,
        "ERROR_COLOR_OP" = layout::ERROR_COLOR_OP,
        "ERROR_LEVEL_TABLE" = layout::ERROR_LEVEL_TABLE,
        "HISTOGRAM_BIT" = layout::HISTOGRAM_BIT,
        "TILE_WIDTH" = layout::TILE_WIDTH,
        "TILE_HEIGHT" = layout::TILE_HEIGHT,
        "THREADS" = layout::THREADS,
        "CROP_GROUPS" = layout::CROP_GROUPS,
        "CROP_WEIGHTS" = layout::CROP_WEIGHTS,
        "RUN_THREADS" = layout::RUN_THREADS,
        "DTYPE_F32" = DType::F32 as u32,
        "DTYPE_F16" = DType::F16 as u32,
        "DTYPE_BF16" = DType::Bf16 as u32,
        "DTYPE_U8" = DType::U8 as u32,
        "LAYOUT_NCHW" = Layout::Nchw as u32,
        "LAYOUT_NHW" = Layout::Nhw as u32,
        "LAYOUT_NHW_WIDE" = Layout::NhwWide as u32,
        "LAYOUT_NHWC" = Layout::Nhwc as u32,
    }
}

fn rust() -> Facts {
    rust_structs().into_iter().chain(rust_constants()).collect()
}

#[test]
fn the_c_header_has_the_sizes_offsets_and_constants_of_the_tables() {
    assert_eq!(measured(&c_layout::header("layout.h")), rust());
}

#[test]
fn a_field_that_moves_in_the_header_is_noticed() {
    let header = c_layout::header("layout.h");
    let moved =
        header.replace("    uint32_t measured;\n    Span steps;", "    Span steps;\n    uint32_t measured;");
    assert_ne!(moved, header);
    assert_ne!(measured(&moved), rust());
}

#[test]
fn the_filters_of_a_warp_have_the_names_that_the_kernels_know() {
    assert_eq!(layout::warp_filter(WarpFilter::Widened), Filter::Bilinear as u32);
    assert_eq!(layout::warp_filter(WarpFilter::Bilinear), Filter::BilinearPlain as u32);
    assert_eq!(layout::warp_filter(WarpFilter::Nearest), Filter::Nearest as u32);
}

#[test]
fn every_constant_of_the_tables_is_compared() {
    let source =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/device/cuda/render/layout.rs"))
            .unwrap();
    let declared =
        source.lines().filter(|line| line.starts_with("pub const ") && !line.contains("fn")).count();
    // Three bounds of plans, three outsides, four filters, four number formats and four layouts are declared elsewhere.
    assert_eq!(declared + 3 + 3 + 4 + 4 + 4, rust_constants().len());
}
