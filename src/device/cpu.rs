//! The CPU backend: the same pixels as the GPU's, and the default where there is none.

mod backend;
mod blend;
mod clahe;
mod columns;
mod compress;
mod distort;
mod filter;
mod fused;
mod gather;
mod grain;
mod histogram;
mod hls;
mod hsv;
mod image_cache;
mod image_view;
mod interleave;
mod lanes;
mod neighbours;
mod normal;
mod output;
mod pillow;
mod pixel_block;
mod recolour;
mod render;
mod resample;
mod sensor;
mod shrink;
mod slot;
mod taps;

pub(crate) use backend::CpuBackend;
pub use render::Renderer;

pub use super::backend::Input;
use crate::decode_memory::LARGE;
use crate::error::Cause;
use crate::image::{Damage, Decoder, Image, Index, Limits, Scale};
use crate::output::Output;
use crate::plan::{Plan, ViewPlans};
use crate::policy::DecodeScale;
use crate::simd;
use fused::{DecodeTarget, Decoded};
use std::sync::Arc;

/// Decodes and renders one sample at a time; one per thread; all memory is reused.
pub struct Worker {
    decoder: Decoder,
    renderer: Renderer,
    targets: Vec<DecodeTarget>,
    scale: DecodeScale,
    /// The plans for what was decoded last, where that is at a smaller scale than the caller's plans have it.
    shrunk: Option<ViewPlans>,
    damaged: Vec<(usize, Damage)>,
}

impl Worker {
    /// A worker that refuses images beyond `limits`.
    pub fn new(limits: &Limits) -> Self {
        Self {
            decoder: Decoder::new(limits.clone()),
            renderer: Renderer::default(),
            targets: Vec::new(),
            scale: DecodeScale::default(),
            shrunk: None,
            damaged: Vec::new(),
        }
    }

    /// The same worker, decoding at this scale.
    pub fn scale(self, scale: DecodeScale) -> Self {
        Self { scale, ..self }
    }

    /// The same worker, whose pixels count as memory for huge images until [`Worker::give_back`], which must follow each
    /// sample, with no wait for other workers before it.
    pub(crate) fn keeping_pixels(mut self) -> Self {
        self.decoder.keep_pixels();
        self
    }

    /// Decodes of each image what the plan reads; `inputs[i]` is the file of `plan.images[i]`.
    ///
    /// Of an image that one upright layer alone resamples no pixels are kept: they are resampled across as they
    /// are decoded.
    ///
    /// # Errors
    /// The index of the image that cannot be decoded, and why.
    pub fn decode(&mut self, plan: &Plan, inputs: &[Input<'_>]) -> Result<(), (usize, Cause)> {
        self.decode_views(&ViewPlans::new([plan.clone()]), inputs, &mut [])
    }

    /// The same for what any view reads of its images, `inputs[i]` being the file of `plans.images()[i]`; faster where
    /// `indexes[i]` is an index of image `i`, and noting there what is not known yet. Images beyond the end of `indexes`
    /// are decoded without.
    ///
    /// # Errors
    /// As [`Worker::decode`].
    pub fn decode_views(
        &mut self,
        plans: &ViewPlans,
        inputs: &[Input<'_>],
        indexes: &mut [Index],
    ) -> Result<(), (usize, Cause)> {
        if self.targets.len() < inputs.len() {
            self.targets.resize_with(inputs.len(), || DecodeTarget::with_level(simd::level()));
        }
        self.damaged.clear();
        let scales = self.shrink(plans, inputs);
        let plans = self.shrunk.as_ref().unwrap_or(plans);
        let large = inputs.iter().map(|input| input.header.size.pixels() * 3).sum::<u64>() > LARGE as u64;
        if large {
            let headers = inputs.iter().map(|input| input.header).enumerate();
            self.decoder
                .reserve(headers.map(|(number, header)| (header, fused::pixel_bytes(plans, number, header))));
        }
        for (number, (input, target)) in inputs.iter().zip(&mut self.targets).enumerate() {
            let scale = scales.get(number).copied().unwrap_or_default();
            target
                .decode(&mut self.decoder, (plans, number, scale), *input, indexes.get_mut(number))
                .map_err(|error| (number, error.into()))?;
            self.damaged.extend(self.decoder.damage().map(|damage| (number, damage)));
        }
        Ok(())
    }

    /// Decodes a whole image, for many plans.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    pub fn decode_whole(&mut self, input: Input<'_>, image: &mut Image) -> Result<(), Cause> {
        let Input { bytes, header } = input;
        self.damaged.clear();
        let decoded = self.decoder.decode(bytes, header, header.size.rect(), image);
        // What keeps the image counts it.
        self.decoder.release();
        decoded?;
        self.damaged.extend(self.decoder.damage().map(|damage| (0, damage)));
        Ok(())
    }

    /// Gives memory back that is too much to be kept for the next sample. What was decoded is gone then.
    pub fn give_back(&mut self) {
        self.targets.iter_mut().for_each(DecodeTarget::give_back);
        self.renderer.give_back();
        self.decoder.release();
    }

    /// The images of the last decode that are damaged and were decoded nonetheless: their indices in the plan, and what
    /// is wrong with them. They are told once.
    pub fn take_damaged(&mut self) -> Vec<(usize, Damage)> {
        std::mem::take(&mut self.damaged)
    }

    /// Renders each view of images that [`Worker::decode_whole`] decoded into its own bytes.
    ///
    /// # Errors
    /// As [`Renderer::render`].
    pub fn render_shared(
        &mut self,
        plans: &ViewPlans,
        images: &[Arc<Image>],
        outputs: &[Output],
        samples: &mut [&mut [u8]],
    ) -> Result<(), Cause> {
        for ((view, output), sample) in plans.views().iter().zip(outputs).zip(samples) {
            let images: Vec<&Image> = view.own(images).map(|image| &**image).collect();
            self.renderer.render(&view.plan, &images, output, sample)?;
        }
        Ok(())
    }

    /// Chooses the scale of each image and makes the plans for them; empty where all are decoded at full size.
    fn shrink(&mut self, plans: &ViewPlans, inputs: &[Input<'_>]) -> Vec<Scale> {
        self.shrunk = None;
        if self.scale == DecodeScale::Exact {
            return Vec::new();
        }
        let is_dct = |image: usize| inputs.get(image).is_some_and(|input| input.header.format.is_dct());
        let scales = shrink::scales(plans, is_dct);
        if scales.iter().any(|&scale| scale != Scale::Full) {
            self.shrunk = Some(shrink::all_shrunk(plans, &scales));
        }
        scales
    }

    /// Renders what was decoded last into one sample's bytes; `plan` is that of the decode.
    ///
    /// # Errors
    /// As [`Renderer::render`].
    pub fn render(&mut self, plan: &Plan, output: &Output, sample: &mut [u8]) -> Result<(), Cause> {
        let shrunk = self.shrunk.as_ref().and_then(|plans| plans.views().first());
        let plan = shrunk.map_or(plan, |view| &view.plan);
        let images: Vec<Decoded<'_>> = self.targets.iter().map(DecodeTarget::decoded).collect();
        self.renderer.render_decoded(plan, &images, output, sample)
    }

    /// Renders each view of what was decoded last into its own bytes; `plans` are those of the decode.
    ///
    /// # Errors
    /// As [`Renderer::render`].
    pub fn render_views(
        &mut self,
        plans: &ViewPlans,
        outputs: &[Output],
        samples: &mut [&mut [u8]],
    ) -> Result<(), Cause> {
        let plans = self.shrunk.as_ref().unwrap_or(plans);
        let images: Vec<Decoded<'_>> = self.targets.iter().map(DecodeTarget::decoded).collect();
        for ((view, output), sample) in plans.views().iter().zip(outputs).zip(samples) {
            let images: Vec<Decoded<'_>> = view.own(&images).copied().collect();
            self.renderer.render_decoded(&view.plan, &images, output, sample)?;
        }
        Ok(())
    }
}
