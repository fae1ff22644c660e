//! What each op does to a draft.

use super::{Op, PaddingMode};
use crate::color::ColorOp;
use crate::draft::Draft;
use crate::draft::flip::Flip;
use crate::error::Error;
use crate::geometry::Rect;
use crate::plan::label_ops::{LabelOpKind, ObjectFilter};

impl Draft {
    /// Does what the op says to the canvas.
    pub(in crate::draft) fn perform(&mut self, op: &Op) -> Result<(), Error> {
        match *op {
            Op::Crop { top, left, height, width } => self.crop(Rect::new(left, top, width, height)),
            Op::CenterCrop { output_size } => self.center_crop(output_size.square()),
            Op::ResizedCrop { top, left, height, width, size, interpolation, antialias } => {
                self.crop(Rect::new(left, top, width, height))?;
                let target = self.resize_target(size, None)?;
                self.resize(target, interpolation, antialias)
            }
            Op::Resize { size, interpolation, max_size, antialias } => {
                let target = self.resize_target(size, max_size)?;
                self.resize(target, interpolation, antialias)
            }
            Op::Pad { padding, fill, padding_mode: PaddingMode::Constant } => self.pad(padding.sides(), fill),
            Op::Pad { padding, padding_mode, .. } => self.pad_with_image(padding.sides(), padding_mode),
            Op::Affine { .. } => self.affine(op),
            Op::Rotate { .. } => self.rotate(op),
            Op::PillowAffine { data, resample, fillcolor } => self.pillow_affine(data, resample, fillcolor),
            Op::WarpAffine { matrix, interpolation, fill } => self.warp_affine(matrix, interpolation, fill),
            Op::Perspective { .. } => self.perspective(op),
            Op::PasteMirrored { ref polygons, ref objects } => self.paste_mirrored(polygons, objects),
            Op::Hflip {} => self.flip(Flip::LeftRight),
            Op::Vflip {} => self.flip(Flip::TopBottom),
            Op::Transpose {} => self.swap_axes(),
            Op::FillRectangles { ref rectangles, fill } => self.fill_rectangles(rectangles, fill),
            Op::WarpPerspective { .. } => self.warp_perspective(op),
            Op::Brightness { factor } => self.blend_with(ColorOp::Brightness, factor),
            Op::Contrast { factor } => self.blend_with(ColorOp::Contrast, factor),
            Op::Saturation { factor } => self.blend_with(ColorOp::Saturation, factor),
            Op::Hue { factor } => self.turn_hue(factor),
            Op::Hsv { hue, saturation, value } => self.hsv(hue, saturation, value),
            Op::Grayscale { num_output_channels } => self.grayscale(num_output_channels),
            Op::Solarize { threshold } => self.solarize(threshold),
            Op::SolarizeAdd { addition, threshold } => self.solarize_add(addition, threshold),
            Op::Posterize { bits } => self.posterize(bits),
            Op::PermuteChannels { permutation } => self.permute(permutation),
            Op::Autocontrast {} => self.recolour(ColorOp::Autocontrast, [0.0; 3]),
            Op::Equalize {} => self.recolour(ColorOp::Equalize, [0.0; 3]),
            Op::Gamma { gamma } => self.gamma(gamma),
            Op::BrightnessContrast { alpha, beta } => self.brightness_contrast(alpha, beta),
            Op::ShiftRgb { shift } => self.shift_rgb(shift),
            Op::ShiftHsv { hue, saturation, value } => self.shift_hsv(hue, [saturation, value]),
            Op::ToGray {} => self.recolour(ColorOp::ToGray, [0.0; 3]),
            // No level is below 0, so all of them are inverted.
            Op::Invert {} => self.recolour(ColorOp::Solarize, [0.0; 3]),
            Op::Sharpness { factor } => self.sharpness(factor),
            Op::GaussianBlur { kernel_size, sigma } => self.gaussian_blur(kernel_size, sigma),
            Op::SumChains { ref chains, blend } => self.sum_chains(chains, blend),
            Op::BoxBlur { kernel_size } => self.box_blur(kernel_size),
            Op::MedianBlur { kernel_size } => self.median_blur(kernel_size),
            Op::Convolve { ref kernel } => self.convolve(kernel),
            Op::Clahe { clip_limit, tile_grid_size } => self.clahe(clip_limit, tile_grid_size),
            Op::GaussNoise { key, mean, std, per_channel } => self.gauss_noise(key, mean, std, per_channel),
            Op::MultiplicativeNoise { key, multiplier, per_channel, elementwise } => {
                self.multiplicative_noise(key, multiplier, per_channel, elementwise)
            }
            Op::IsoNoise { key, color_shift, intensity } => self.iso_noise(key, color_shift, intensity),
            Op::JpegCompression { quality } => self.jpeg_compression(quality),
            Op::GridDistortion { .. } => self.grid_distortion(op),
            Op::OpticalDistortion { .. } => self.optical_distortion(op),
            Op::ElasticTransform { .. } => self.elastic_transform(op),
            Op::Erase { i, j, h, w, v } => self.erase(Rect::new(j, i, w, h), v),
            Op::SanitizeBoundingBoxes { min_size, min_area } => self.sanitize(min_size, min_area),
            Op::KeepCenters { top, left, height, width } => {
                self.relabel(LabelOpKind::Keep(ObjectFilter::Centred(Rect::new(left, top, width, height))));
                Ok(())
            }
            Op::Normalize { mean, std } => self.normalize(mean, std),
        }
    }
}
