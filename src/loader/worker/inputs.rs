//! What one sample is made from: its files, and decoded images that other samples show as well.

use super::context::Context;
use super::files::SampleFiles;
use super::pictures::PictureReader;
use crate::device::backend::{Backend, BadImage};
use crate::error::Cause;
use crate::field::FieldValue;
use crate::loader::planner::ImageInfo;
use crate::loader::report::errors::Failure;
use crate::plan::{ImageRef, Modality};
use std::time::Duration;

/// The inputs of one sample after the other.
pub(super) struct SampleInputs<'a, B: Backend> {
    context: &'a Context,
    files: SampleFiles<'a, B::File>,
    pictures: PictureReader<'a>,
    /// Where samples share decoded images; `None` where each has its own.
    shared_by: Option<&'a B>,
    /// Whether the current sample has each of its images for itself all the same.
    alone: bool,
    /// Shared images that the current sample shows, by their index in the source and what they are there.
    shared: Vec<((u64, Modality), B::SharedImage)>,
}

impl<'a, B: Backend> SampleInputs<'a, B> {
    pub(super) fn new(context: &'a Context, backend: &'a B) -> Self {
        // Without an output nothing is rendered, and there is nothing to show a shared image in.
        let shared_by = (!context.outputs.is_empty() && backend.shares_images()).then_some(backend);
        let (files, pictures) = (SampleFiles::new(context), PictureReader::new(context));
        Self { context, files, pictures, shared_by, alone: false, shared: Vec::new() }
    }

    /// Makes room for the next sample; one that is `alone` shares no images.
    pub(super) fn clear(&mut self, alone: bool) {
        self.alone = alone;
        self.files.clear();
        self.pictures.clear();
        self.shared.clear();
    }

    /// Whether the current sample shares its images with others.
    pub(super) fn is_shared(&self) -> bool {
        self.shared_by.is_some() && !self.alone
    }

    /// Time spent reading for this sample.
    pub(super) fn reading(&self) -> Duration {
        self.files.reading()
    }

    /// Time spent on headers for this sample.
    pub(super) fn parsing(&self) -> Duration {
        self.files.parsing()
    }

    /// What is known of image `index` before it is decoded for `row`; its file is read unless its pixels are here already.
    pub(super) fn load_header(&mut self, index: u64, row: &B::Row<'_>) -> Result<ImageInfo, Failure> {
        match self.find((index, Modality::Image)) {
            Some(image) => {
                let (stored, orientation) = B::info(&image);
                Ok(self.files.info(index, stored, orientation))
            }
            None => self.files.load_header(index, |spare| B::file(row, spare)),
        }
    }

    /// The values of the fields of record `index`.
    pub(super) fn values(&mut self, index: u64) -> Result<&mut Vec<FieldValue>, Failure> {
        self.pictures.values(index)
    }

    /// Reads a picture beside an image, unless its pixels are here already.
    pub(super) fn load_picture(&mut self, of: &ImageRef, row: &B::Row<'_>) -> Result<(), Failure> {
        if self.find((of.index, of.modality)).is_some() {
            return Ok(());
        }
        let pictures = &mut self.pictures;
        let loaded = self.files.load_picture(of, |spare| {
            let mut memory = B::file(row, spare);
            let header = pictures.read(of, &mut memory)?;
            Ok((memory, header))
        });
        if self.is_shared() {
            // Its images may be those that others decode.
            self.pictures.release();
        }
        loaded
    }

    /// The files of these images in their order.
    ///
    /// # Errors
    /// An image whose header was not loaded while it was planned.
    pub(super) fn files(&self, images: &[ImageRef]) -> Result<Vec<B::Input<'_>>, BadImage> {
        images.iter().enumerate().map(|image| self.file(image)).collect()
    }

    fn file(&self, (number, image): (usize, &ImageRef)) -> Result<B::Input<'_>, BadImage> {
        let lost = || (number, "its file was not read before it was planned".into());
        let (file, header) = self.files.file(image).ok_or_else(lost)?;
        Ok(B::input(file, header))
    }

    /// These images in their order; those that this sample has not found yet come from `decode(record, file)`.
    ///
    /// # Errors
    /// The image that cannot be decoded.
    pub(super) fn shared_images(
        &mut self,
        of: &[ImageRef],
        mut decode: impl FnMut((u64, u64), B::Input<'_>) -> Result<B::SharedImage, Cause>,
    ) -> Result<Vec<B::SharedImage>, BadImage> {
        let mut images = Vec::with_capacity(of.len());
        for (number, of) in of.iter().enumerate() {
            let image = match self.find((of.index, of.modality)) {
                Some(image) => image,
                None => {
                    let file = self.file((number, of))?;
                    let record = of.modality.key(self.record(of.index));
                    let image = decode((of.index, record), file).map_err(|cause| (number, cause))?;
                    self.shared.push(((of.index, of.modality), image.clone()));
                    image
                }
            };
            images.push(image);
        }
        Ok(images)
    }

    /// The image, if this sample has found it already or another one has shown it.
    fn find(&mut self, of: (u64, Modality)) -> Option<B::SharedImage> {
        if self.alone {
            return None;
        }
        if let Some((_, image)) = self.shared.iter().find(|(own, _)| *own == of) {
            return Some(image.clone());
        }
        let (index, modality) = of;
        let image = self.shared_by?.find_shared(modality.key(self.record(index)))?;
        self.shared.push((of, image.clone()));
        Some(image)
    }

    fn record(&self, index: u64) -> u64 {
        self.context.source.record(index as usize) as u64
    }
}
