//! The structs and constants of `kernels/jpeg/layout.h` are those of `src/device/cuda/jpeg/layout.rs`.

use crate::c_layout::{self, Facts, constants, layout, measured};
use feedline::device::cuda::jpeg::layout::{
    self, JpegCode, JpegCut, JpegGroup, JpegImage, JpegJob, JpegPacked, JpegPiece, JpegPlane, JpegPoint,
    JpegRun,
};

fn rust() -> Facts {
    let structs = layout! {
        JpegCode { counts, symbols, is_ac, reserved }
        JpegPlane { offset, pitch, left, top, width, height, across, down, upsampling, quant, blocks_across, blocks_down, twos, fours }
        JpegImage { words, coefficients, planes, pixels, points, word_count, across, first_row, first_column, rows, columns, units, components, color, pitch, x, y, width, height, step, points_per_row, unit, plane }
        JpegPiece { image, from, to, block, end_block, coefficient, end_coefficient, end, dc, end_dc }
        JpegRun { piece, first, count }
        JpegCut { from, place, to, end_place, blocks, dc }
        JpegPoint { bit, dc }
        JpegGroup { first, count, run, reserved, codes }
        JpegPacked { image, at, length, count, component, column, row }
        JpegJob { image, at }
    };
    let constants = constants! {
        "LOOKUP_BITS" = layout::LOOKUP_BITS,
        "PIECE_THREADS" = layout::PIECE_THREADS,
        "EXPAND_THREADS" = layout::EXPAND_THREADS,
        "EXPANDED" = layout::EXPANDED,
        "UNITS" = layout::UNITS,
        "TRANSFORMED" = layout::TRANSFORMED,
        "RGB_WIDTH" = layout::RGB_WIDTH,
        "RGB_HEIGHT" = layout::RGB_HEIGHT,
        "END_AT" = layout::END_AT,
        "END_PADDED" = layout::END_PADDED,
        "END_WITHIN" = layout::END_WITHIN,
        "CUT_BITS" = layout::CUT_BITS,
        "BAD_CODE" = layout::BAD_CODE,
        "BAD_END" = layout::BAD_END,
        "UNSETTLED" = layout::UNSETTLED,
        "BAD_GROUP" = layout::BAD_GROUP,
        "UPSAMPLE_NONE" = layout::UPSAMPLE_NONE,
        "UPSAMPLE_H2V1" = layout::UPSAMPLE_H2V1,
        "UPSAMPLE_H1V2" = layout::UPSAMPLE_H1V2,
        "UPSAMPLE_H2V2" = layout::UPSAMPLE_H2V2,
        "UPSAMPLE_REPEAT" = layout::UPSAMPLE_REPEAT,
        "COLOR_GREY" = layout::COLOR_GREY,
        "COLOR_RGB" = layout::COLOR_RGB,
        "COLOR_YCC" = layout::COLOR_YCC,
    };
    structs.into_iter().chain(constants).collect()
}

#[test]
fn the_c_header_has_the_sizes_offsets_and_constants_of_the_jpeg_decoder() {
    assert_eq!(measured(&c_layout::header("jpeg/layout.h")), rust());
}
