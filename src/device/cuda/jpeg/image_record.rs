//! The record of an image: what all kernels are told of it, however its coefficients are stored.

use super::layout::{
    COLOR_GREY, COLOR_RGB, COLOR_YCC, JpegImage, JpegPlane, UPSAMPLE_H1V2, UPSAMPLE_H2V1, UPSAMPLE_H2V2,
    UPSAMPLE_NONE, UPSAMPLE_REPEAT,
};
use crate::geometry::Rect;
use crate::jpeg::parallel::{Unit, Upsampling};
use crate::jpeg::{ColorModel, Frame};
use std::ops::Range;

/// Rows and columns of MCUs.
pub(super) type Window = (Range<usize>, Range<usize>);

/// The record of an image of which a region is wanted, in a window of MCUs of these blocks; without addresses. `None` for one
/// that is too large.
pub(super) fn image_record(
    (frame, color): (&Frame, ColorModel),
    units: &[Unit],
    (rows, columns): Window,
    region: Rect,
) -> Option<JpegImage> {
    // Samples of an image are counted in 32 bits.
    if rows.len() * columns.len() * units.len() > (u32::MAX / 64) as usize {
        return None;
    }
    let mut image = JpegImage {
        across: frame.mcus_across() as u32,
        first_row: rows.start as u32,
        first_column: columns.start as u32,
        rows: rows.len() as u32,
        columns: columns.len() as u32,
        units: units.len() as u32,
        components: frame.count as u32,
        color: match color {
            ColorModel::Grey => COLOR_GREY,
            ColorModel::Rgb => COLOR_RGB,
            _ => COLOR_YCC,
        },
        x: region.x as u32,
        y: region.y as u32,
        width: region.width,
        height: region.height,
        ..JpegImage::default()
    };
    for (to, unit) in image.unit.iter_mut().zip(units) {
        *to = (unit.component | unit.dc << 2 | unit.ac << 3 | unit.x << 4 | unit.y << 6) as u32;
    }
    let mut offset = 0;
    for (number, (plane, component)) in image.plane.iter_mut().zip(frame.used()).enumerate() {
        let (across, down) = (frame.h_max / component.h, frame.v_max / component.v);
        let pitch = columns.len() * component.h * 8;
        *plane = JpegPlane {
            offset: offset as u32,
            pitch: pitch as u32,
            left: (columns.start * component.h * 8) as u32,
            top: (rows.start * component.v * 8) as u32,
            width: component.width as u32,
            height: component.height as u32,
            across: across as u32,
            down: down as u32,
            upsampling: match Upsampling::of(across, down, component.width) {
                Upsampling::Full => UPSAMPLE_NONE,
                Upsampling::H2V1 => UPSAMPLE_H2V1,
                Upsampling::H1V2 => UPSAMPLE_H1V2,
                Upsampling::H2V2 => UPSAMPLE_H2V2,
                Upsampling::Replicate => UPSAMPLE_REPEAT,
            },
            quant: number as u32,
            blocks_across: component.h as u32,
            blocks_down: component.v as u32,
            ..JpegPlane::default()
        };
        offset += pitch * rows.len() * component.v * 8;
    }
    Some(image)
}
