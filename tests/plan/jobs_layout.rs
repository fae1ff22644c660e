//! The structs and constants of `kernels/jobs.h` are those of `src/device/cuda/render/jobs.rs`.

#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::c_layout::{self, Facts, constants, layout, measured};
use feedline::device::cuda::jobs::{
    self, Axis, AxisTable, Batch, FilterJob, MeasureJob, Paint, RenderJob, Source, TableJob, Tally,
};
use feedline::output::{DType, Layout};

fn rust() -> Facts {
    let structs = layout! {
        Batch { sources, paints, pictures, steps, erases, counts, rows, runs, sums, tallies, dtype, layout, factors }
        Source { origin, right, down, size, column, columns, in_scratch, reserved }
        Axis { table, input, output, offset, count, reversed, filter, first, groups }
        AxisTable { precision, reserved }
        Paint { window, kind, around, source, fill, steps, columns, rows, map, mask }
        RenderJob { target, size, pictures, steps, stats, pitch, measured, rect }
        MeasureJob { source, measured, steps, stats }
        Tally { counts, table }
        TableJob { tally, op }
        FilterJob { target, source, pitch, filter, share, weights, columns, rows, reserved }
    };
    let constants = constants! {
        "KIND_COPY" = jobs::KIND_COPY,
        "TALLY_BIT" = jobs::TALLY_BIT,
        "TILE_WIDTH" = jobs::TILE_WIDTH,
        "TILE_HEIGHT" = jobs::TILE_HEIGHT,
        "THREADS" = jobs::THREADS,
        "DTYPE_F32" = jobs::dtype(DType::F32),
        "DTYPE_F16" = jobs::dtype(DType::F16),
        "DTYPE_BF16" = jobs::dtype(DType::Bf16),
        "DTYPE_U8" = jobs::dtype(DType::U8),
        "LAYOUT_NCHW" = jobs::layout(Layout::Nchw),
        "LAYOUT_NHWC" = jobs::layout(Layout::Nhwc),
    };
    structs.into_iter().chain(constants).collect()
}

#[test]
fn the_c_header_has_the_sizes_offsets_and_constants_of_the_jobs() {
    assert_eq!(measured(&c_layout::header("jobs.h")), rust());
}

#[test]
fn a_field_that_moves_in_the_header_is_noticed() {
    let header = c_layout::header("jobs.h");
    let moved =
        header.replace("    uint32_t measured;\n    Span steps;", "    Span steps;\n    uint32_t measured;");
    assert_ne!(moved, header);
    assert_ne!(measured(&moved), rust());
}
