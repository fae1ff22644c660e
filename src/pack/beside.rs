//! What a record has beside image and class, as it is written into a shard.

use crate::device::cpu::Renderer;
use crate::error::{Cause, Error, Result};
use crate::field::{FieldType, FieldValue};
use crate::geometry::{Rect, Size};
use crate::image::{Image, ImageError, Limits, check_size, decode_depth, decode_mask, verify};
use crate::label::{Label, Object, Objects, Unit};
use crate::output::{DType, Layout, Output};
use crate::plan::Plan;
use crate::source::Source;
use crate::source::packed::holds::Holds;
use crate::source::packed::objects::Written;
use std::fmt::Display;
use std::sync::Arc;

/// The class of what a mask does not cover, which is nothing.
const FILL: u8 = 255;

/// What is read beside an image; its memory is used again.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// In coordinates of the image as it is packed.
    objects: Option<Arc<Objects>>,
    mask: Vec<u8>,
    has_mask: bool,
    values: Vec<FieldValue>,
}

/// The same with the places where it is stored.
#[derive(Default)]
pub(super) struct Beside<'a> {
    pub(super) objects: Option<(&'a str, Written<'a>)>,
    pub(super) mask: Option<(&'a str, &'a [u8])>,
    pub(super) values: Vec<(&'a str, &'a FieldValue)>,
}

impl Read {
    /// Reads what `holds` names of a record.
    pub(super) fn read(
        &mut self,
        source: &dyn Source,
        index: usize,
        label: &Label,
        holds: &Holds,
    ) -> Result<()> {
        self.objects = match label {
            Label::Objects(objects) => Some(objects.clone()),
            _ => None,
        };
        self.has_mask = holds.masks.is_some() && source.mask(index, &mut self.mask)?;
        match holds.fields.is_empty() {
            true => Ok(()),
            false => source.values(index, &mut self.values),
        }
    }

    /// Checks that mask and pictures can be decoded, and are as large as the upright image.
    pub(super) fn check(&self, holds: &Holds, upright: Size, limits: &Limits) -> Result<(), Cause> {
        if self.has_mask {
            mask_of(&self.mask, upright, limits)?;
        }
        for (field, value) in holds.fields.iter().zip(&self.values) {
            let FieldValue::Bytes(file) = value else { continue };
            let named = |cause: &dyn Display| format!("its field `{}`: {cause}", field.name);
            let size = match field.kind {
                FieldType::Image => size_of_image(file, limits),
                FieldType::Depth => decode_depth(file, limits, &mut Vec::new()),
                _ => continue,
            };
            let size = size.map_err(|error| named(&error))?;
            check_size("it", size, upright, "make one of that size").map_err(|differs| named(&differs))?;
        }
        Ok(())
    }

    /// Lets objects and mask follow an image that was `upright` and becomes what `plan` says.
    pub(super) fn resize(
        &mut self,
        upright: Size,
        plan: &Plan,
        renderer: &mut Renderer,
        limits: &Limits,
    ) -> Result<(), Cause> {
        let size = plan.size();
        if let Some(objects) = self.objects.as_mut().filter(|objects| objects.unit == Unit::Pixels) {
            let own = Arc::make_mut(objects);
            let of = |axis: usize| [(size.width, upright.width), (size.height, upright.height)][axis];
            let scaled = |axis: usize, value: f32| {
                let (to, from) = of(axis);
                (f64::from(value) * f64::from(to) / f64::from(from)) as f32
            };
            own.list.iter_mut().for_each(|object| scale(object, scaled));
        }
        if !self.has_mask {
            return Ok(());
        }
        let classes = mask_of(&self.mask, upright, limits)?;
        // The plan reads the image as it is stored; the mask is upright.
        let mut image = Image::default();
        let of = &plan.images[0];
        image.reset(of.stored, of.stored.rect());
        let places = (0..upright.height as i32).flat_map(|y| (0..upright.width as i32).map(move |x| (x, y)));
        for ((x, y), class) in places.zip(classes) {
            let stored = of.orientation.to_stored(Rect::new(x, y, 1, 1), upright);
            let at = stored.y as usize * image.stride + stored.x as usize * 3;
            image.data[at..at + 3].fill(class);
        }
        let output = Output { size, dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
        let mut levels = vec![0; output.sample_bytes()];
        renderer.render(&plan.for_masks(FILL), &[&image], &output, &mut levels)?;
        let levels: Vec<u8> = levels.iter().step_by(3).copied().collect();
        self.mask.clear();
        let mut encoder = png::Encoder::new(&mut self.mask, size.width, size.height);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&levels)?;
        writer.finish()?;
        Ok(())
    }

    /// All of it with the places that `holds` names, for an image that is packed with the upright size `size`.
    pub(super) fn placed<'a>(
        &'a self,
        holds: &'a Holds,
        size: Size,
        classes: &'a [String],
    ) -> Result<Beside<'a>, Cause> {
        let written = |objects: &'a Objects| Written::of(objects, [size.width, size.height], classes);
        let objects = match (&holds.objects, &self.objects) {
            (Some(place), Some(objects)) => Some((place.as_str(), written(objects)?)),
            _ => None,
        };
        let mask = holds.masks.as_deref().filter(|_| self.has_mask).map(|place| (place, &self.mask[..]));
        let values = holds.fields.iter().map(|field| field.from.as_str()).zip(&self.values).collect();
        Ok(Beside { objects, mask, values })
    }
}

/// The upright size of an image that can be decoded.
fn size_of_image(file: &[u8], limits: &Limits) -> Result<Size, ImageError> {
    let header = verify(file, limits)?.header;
    Ok(header.orientation.apply_size(header.size))
}

fn mask_of(png: &[u8], upright: Size, limits: &Limits) -> Result<Vec<u8>, Cause> {
    let mut classes = Vec::new();
    let size = decode_mask(png, limits, &mut classes).map_err(|error| format!("its mask: {error}"))?;
    check_size("its mask", size, upright, "make a mask of that size")?;
    Ok(classes)
}

/// Moves all coordinates of an object, given the axis of each.
fn scale(object: &mut Object, scaled: impl Fn(usize, f32) -> f32) {
    let Object { bbox, polygons, keypoints, .. } = object;
    bbox.iter_mut().enumerate().for_each(|(at, value)| *value = scaled(at % 2, *value));
    for point in polygons.iter_mut().flatten() {
        *point = [scaled(0, point[0]), scaled(1, point[1])];
    }
    for point in keypoints {
        (point.x, point.y) = (scaled(0, point.x), scaled(1, point.y));
    }
}

/// The error of a mask with the image's name beside its own.
pub(super) fn of_record(error: Error, source: &dyn Source, index: usize) -> Error {
    match error {
        Error::Sample { key, source: cause, .. } if key != source.key(index) => {
            Error::sample(source.key(index), index as u64, format!("its mask {key}: {cause}"))
        }
        other => other,
    }
}
