//! The pictures beside an image, as its worker reads them: as large as the image, and stored as it is.

use super::context::Context;
use super::outlines;
use crate::decode_memory::{Permit, give_back};
use crate::destination::Destination;
use crate::device::cpu::{Input, Worker};
use crate::error::{Cause, Error};
use crate::field::FieldValue;
use crate::geometry::{Orientation, Rect, Size};
use crate::image::{
    Decoder, Format, Header, Image, check_pixels, check_size, decode_depth, decode_mask, parse_header,
};
use crate::label::{Label, Objects};
use crate::loader::companions::{Companion, CompanionKind};
use crate::loader::planner::{ImageInfo, Images};
use crate::loader::report::errors::{Failure, Stage};
use crate::output::{DType, Layout, Output};
use crate::plan::{ImageRef, Modality, Plan};
use std::sync::Arc;

/// Draws pictures beside images on the CPU. What it has read it keeps.
pub(in crate::loader) struct Drawer<'a> {
    context: &'a Context,
    reader: PictureReader<'a>,
    read: Vec<ReadPicture>,
    worker: Worker,
}

struct ReadPicture {
    of: ImageRef,
    bytes: Vec<u8>,
    header: Header,
    was_there: bool,
}

impl<'a> Drawer<'a> {
    pub(in crate::loader) fn new(context: &'a Context) -> Self {
        let (reader, worker) = (PictureReader::new(context), Worker::new(&context.limits));
        Self { context, reader, read: Vec::new(), worker }
    }

    /// The pixels of a companion in the sample that `plan` makes, second images as f32 beside each other in 0..=1; `None`
    /// where none of its images has one.
    pub(in crate::loader) fn draw(
        &mut self,
        companion: &Companion,
        plan: &Plan,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let own = companion.plan(plan);
        let fails = |stage, cause| self.context.failure(stage, plan.images[0].index, cause);
        let read = own.images.iter().map(|image| self.read(image)).collect::<Result<Vec<usize>, _>>()?;
        if !read.iter().any(|&at| self.read[at].was_there) {
            return Ok(None);
        }
        let (size, dtype, layout) = (own.size(), DType::F32, Layout::Nhwc);
        let output = companion.output(&Output { size, dtype, layout, normalize: None });
        let pictures = read.into_iter().map(|at| &self.read[at]);
        let inputs: Vec<Input<'_>> =
            pictures.map(|ReadPicture { bytes, header, .. }| Input { bytes, header }).collect();
        let mut pixels = vec![0; output.sample_bytes()];
        self.worker.decode(&own, &inputs).map_err(|(_, cause)| fails(Stage::Decode, cause))?;
        self.worker.render(&own, &output, &mut pixels).map_err(|cause| fails(Stage::Render, cause))?;
        Ok(Some(pixels))
    }

    /// Where a picture lies among those that were read.
    fn read(&mut self, of: &ImageRef) -> Result<usize, Failure> {
        if let Some(at) = self.read.iter().position(|picture| picture.of == *of) {
            return Ok(at);
        }
        let mut bytes = Vec::new();
        let header = self.reader.read(of, &mut bytes);
        self.reader.release();
        let header = header?;
        self.read.push(ReadPicture { of: *of, bytes, header, was_there: self.reader.was_there });
        Ok(self.read.len() - 1)
    }
}

/// What a sample is planned by: the headers of its images, which `header` gives, and their masks.
pub(in crate::loader) struct KnownImages<'a, H: FnMut(u64) -> Result<ImageInfo, Failure>> {
    context: &'a Context,
    header: H,
    /// There once a mask was asked for.
    drawer: Option<Drawer<'a>>,
}

impl<'a, H: FnMut(u64) -> Result<ImageInfo, Failure>> KnownImages<'a, H> {
    pub(in crate::loader) fn new(context: &'a Context, header: H) -> Self {
        Self { context, header, drawer: None }
    }
}

impl<H: FnMut(u64) -> Result<ImageInfo, Failure>> Images for KnownImages<'_, H> {
    fn info(&mut self, index: u64) -> Result<ImageInfo, Failure> {
        (self.header)(index)
    }

    fn classes(&mut self, plan: &Plan) -> Result<Option<Vec<u8>>, Failure> {
        match self.context.mask() {
            Some(mask) => self.drawer.get_or_insert_with(|| Drawer::new(self.context)).draw(mask, plan),
            None => Ok(None),
        }
    }
}

/// Reads pictures; its memory is used again from sample to sample.
pub(super) struct PictureReader<'a> {
    context: &'a Context,
    decoder: Decoder,
    image: Image,
    file: Vec<u8>,
    levels: Vec<u8>,
    /// Whether there was a file of what was read last.
    was_there: bool,
    /// The values of the fields of records that were read for the current sample.
    values: Vec<(u64, Vec<FieldValue>)>,
    /// What is taken of the memory for huge images, for the pictures of a sample together.
    memory: Permit,
}

impl<'a> PictureReader<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self {
            context,
            decoder: Decoder::new(context.limits.clone()),
            image: Image::default(),
            file: Vec::new(),
            levels: Vec::new(),
            was_there: false,
            values: Vec::new(),
            memory: Permit::default(),
        }
    }

    /// Makes room for the next sample; what was read for this one is gone.
    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.release();
    }

    /// Counts what was read no longer. To be called before this thread may wait for others that decode: they may wait for this
    /// memory.
    pub(super) fn release(&mut self) {
        self.memory.release();
    }

    /// The values of the fields of record `index`, read once for a sample.
    pub(super) fn values(&mut self, index: u64) -> Result<&mut Vec<FieldValue>, Failure> {
        let known = self.values.iter().position(|(own, _)| *own == index);
        let at = match known {
            Some(at) => at,
            None => {
                self.values.push((index, self.read_values(index)?));
                self.values.len() - 1
            }
        };
        Ok(&mut self.values[at].1)
    }

    fn read_values(&self, index: u64) -> Result<Vec<FieldValue>, Failure> {
        let Context { source, clock, .. } = self.context;
        let mut values = Vec::new();
        let started = clock.now();
        let read = source.values(index as usize, &mut values);
        self.context.note_stage(Stage::Read, Some(index), started, clock.since(started));
        if let Err(error) = read {
            return Err(self.context.unreadable(index, error));
        }
        let fields = source.fields();
        let fit = values.iter().zip(fields).all(|(value, field)| field.refuses(value).is_none());
        match values.len() == fields.len() && fit {
            true => Ok(values),
            false => {
                let cause = "the source's values are not those of its fields: mend Source::values";
                Err(self.context.failure(Stage::Read, index, cause.into()))
            }
        }
    }

    /// Reads a picture to where `to` has room for it, and says what is there.
    pub(in crate::loader) fn read(
        &mut self,
        of: &ImageRef,
        to: &mut dyn Destination,
    ) -> Result<Header, Failure> {
        // Of an image only the header was read.
        let allowed = check_pixels(of.stored, &self.context.limits)
            .map_err(|cause| self.context.failure(Stage::Decode, of.index, cause.into()));
        let read = allowed.and_then(|()| self.find(of)).and_then(|found| match found {
            Some(companion) => self.unpack(of, &companion, to).map_err(|cause| {
                let name = companion.name.as_ref();
                let cause =
                    name.map_or_else(|| cause.to_string(), |name| format!("its field `{name}`: {cause}"));
                self.context.failure(Stage::Decode, of.index, cause.into())
            }),
            None => {
                let cause = "its plan shows a picture that it has not: a bug";
                Err(self.context.failure(Stage::Plan, of.index, cause.into()))
            }
        });
        [&mut self.file, &mut self.levels].into_iter().for_each(give_back);
        self.image.give_back();
        read
    }

    /// Puts the file's bytes, of an image that has one, into `file`; what it is of, if it is anything.
    fn find(&mut self, of: &ImageRef) -> Result<Option<Companion>, Failure> {
        let context = self.context;
        let companion = context.companions.iter().find(|companion| companion.modality == of.modality);
        self.file.clear();
        match of.modality {
            Modality::Image => return Ok(None),
            Modality::Mask => {
                let started = context.clock.now();
                let read = context.source.mask(of.index as usize, &mut self.file).map_err(unreadable);
                context.note_stage(Stage::Read, Some(of.index), started, context.clock.since(started));
                self.was_there = read.map_err(|cause| context.failure(Stage::Read, of.index, cause))?;
            }
            Modality::Field(number) => {
                let values = self.values(of.index)?;
                let file = values.get_mut(usize::from(number)).and_then(|value| match value {
                    FieldValue::Bytes(bytes) => Some(std::mem::take(bytes)),
                    _ => None,
                });
                self.was_there = file.is_some();
                self.file = file.unwrap_or_default();
            }
        }
        Ok(companion.cloned())
    }

    /// What is seen in an image, where masks are made of that.
    fn outlines(&self, index: u64) -> Option<Arc<Objects>> {
        let Context { source, labels, .. } = self.context;
        match source.label(index as usize) {
            Label::Objects(objects) if labels.outline_masks => Some(objects),
            _ => None,
        }
    }

    fn unpack(
        &mut self,
        of: &ImageRef,
        companion: &Companion,
        to: &mut dyn Destination,
    ) -> Result<Header, Cause> {
        let (size, orientation) = (of.stored, of.orientation);
        let raw = Header { format: Format::Raw, size, orientation, jpeg: None, coefficients: None };
        let upright = of.orientation.apply_size(of.stored);
        let limits = &self.context.limits;
        // Levels that stay until the sample is made, and as many while they are decoded.
        let pixels = of.stored.pixels() as usize;
        let kept = match companion.kind {
            CompanionKind::Mask { .. } => pixels,
            CompanionKind::Depth => 2 * pixels,
            CompanionKind::Image => 0,
        };
        self.memory.reserve([kept, kept]);
        self.memory.take_pixels(kept);
        match companion.kind {
            CompanionKind::Mask { fill, reduce_zero_label } => {
                match self.outlines(of.index).filter(|_| !self.was_there) {
                    Some(objects) => {
                        outlines::classes_of(&objects, upright, &mut self.levels)?;
                        self.was_there = true;
                    }
                    None if !self.was_there => {
                        to.room(of.stored.pixels() as usize).fill(fill);
                        return Ok(raw);
                    }
                    None => {
                        let size = decode_mask(&self.file, limits, &mut self.levels)?;
                        check_size("its mask", size, upright, "make a mask of that size")?;
                    }
                }
                if reduce_zero_label {
                    self.levels.iter_mut().for_each(|class| *class = reduced(*class).unwrap_or(fill));
                }
                store(&self.levels, 1, of, to);
            }
            CompanionKind::Depth => {
                let size = decode_depth(&self.file, limits, &mut self.levels)?;
                check_size("its depth map", size, upright, "make one of that size")?;
                store(&self.levels, 2, of, to);
            }
            CompanionKind::Image => {
                let header = parse_header(&self.file)?;
                let turned = if self.context.exif { header.orientation } else { Orientation::UPRIGHT };
                let own = turned.apply_size(header.size);
                check_size("its second image", own, upright, "make one of that size")?;
                if (header.size, turned) == (of.stored, of.orientation) {
                    to.room(self.file.len()).copy_from_slice(&self.file);
                    return Ok(header);
                }
                // It stands otherwise than the image whose plan it follows.
                self.memory.take_pixels(3 * pixels);
                self.decoder.decode(&self.file, &header, header.size.rect(), &mut self.image)?;
                self.decoder.release();
                self.levels.clear();
                let Image { data, stride, .. } = &self.image;
                let stored = |x, y| turned.to_stored(Rect::new(x, y, 1, 1), own);
                for (x, y) in places(own) {
                    let at = stored(x, y);
                    self.levels.extend_from_slice(&data[at.y as usize * stride + at.x as usize * 3..][..3]);
                }
                store(&self.levels, 3, of, to);
            }
        }
        Ok(raw)
    }
}

/// Puts upright levels, so many bytes a pixel, where they lie in the image as it is stored.
fn store(levels: &[u8], each: usize, of: &ImageRef, to: &mut dyn Destination) {
    let room = to.room(levels.len());
    if of.orientation == Orientation::UPRIGHT {
        room.copy_from_slice(levels);
        return;
    }
    let upright = of.orientation.apply_size(of.stored);
    for ((x, y), pixel) in places(upright).zip(levels.chunks_exact(each)) {
        let stored = of.orientation.to_stored(Rect::new(x, y, 1, 1), upright);
        let at = stored.y as usize * of.stored.width as usize + stored.x as usize;
        room[at * each..][..each].copy_from_slice(pixel);
    }
}

fn places(size: Size) -> impl Iterator<Item = (i32, i32)> {
    (0..size.height as i32).flat_map(move |y| (0..size.width as i32).map(move |x| (x, y)))
}

/// The class where those of a mask count from 1, as mmseg's `reduce_zero_label` reads them; `None` for one that is ignored.
fn reduced(class: u8) -> Option<u8> {
    class.checked_sub(1).filter(|&class| class != u8::MAX - 1)
}

/// The image is named as it is; of the mask, only its own name is new.
fn unreadable(error: Error) -> Cause {
    match error {
        Error::Sample { key, source, .. } => format!("its mask {key}: {source}").into(),
        other => other.into(),
    }
}
