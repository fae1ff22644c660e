//! The CPU backend: the same pixels as the GPU's, and the default where there is none.

mod blend;
mod block;
#[cfg(target_arch = "x86_64")]
mod dispatch;
mod normal;
mod pack;
mod recolour;
mod render;
mod resample;
mod sink;
mod taps;
mod view;
#[cfg(target_arch = "x86_64")]
mod weave;

pub use render::Renderer;

use super::reach;
use crate::error::Cause;
use crate::image::{Decoder, Header, Image, Index, Limits};
use crate::output::Output;
use crate::plan::Plan;

/// The bytes of one image of a plan.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The whole file.
    pub bytes: &'a [u8],
    /// What [`crate::image::parse_header`] said of it.
    pub header: &'a Header,
}

/// Decodes and renders one sample at a time; one a thread, all memory is reused.
pub struct Worker {
    decoder: Decoder,
    renderer: Renderer,
    images: Vec<Image>,
}

impl Worker {
    /// A worker that refuses images beyond `limits`.
    pub fn new(limits: &Limits) -> Self {
        Self { decoder: Decoder::new(limits.clone()), renderer: Renderer::default(), images: Vec::new() }
    }

    /// Decodes of each image what the plan reads; `inputs[i]` is the file of `plan.images[i]`.
    ///
    /// # Errors
    /// The number of the image that cannot be decoded, and why.
    pub fn decode(&mut self, plan: &Plan, inputs: &[Input<'_>]) -> Result<(), (usize, Cause)> {
        self.decode_indexed(plan, inputs, &mut [])
    }

    /// The same, faster where `indexes[i]` is an index of image `i`, and noting there what is not known yet; images
    /// beyond the end of `indexes` are decoded without.
    ///
    /// # Errors
    /// As [`Worker::decode`].
    pub fn decode_indexed(
        &mut self,
        plan: &Plan,
        inputs: &[Input<'_>],
        indexes: &mut [Index],
    ) -> Result<(), (usize, Cause)> {
        if self.images.len() < inputs.len() {
            self.images.resize_with(inputs.len(), Image::default);
        }
        for (number, (input, image)) in inputs.iter().zip(&mut self.images).enumerate() {
            let region = reach::region(plan, number);
            let Input { bytes, header } = *input;
            let decoded = match indexes.get_mut(number) {
                Some(index) => self.decoder.decode_indexed(bytes, header, region, index, image),
                None => self.decoder.decode(bytes, header, region, image),
            };
            decoded.map_err(|error| (number, error.into()))?;
        }
        Ok(())
    }

    /// Renders what was decoded last into one sample's bytes.
    ///
    /// # Errors
    /// As [`Renderer::render`].
    pub fn render(&mut self, plan: &Plan, output: &Output, sample: &mut [u8]) -> Result<(), Cause> {
        self.renderer.render(plan, &self.images, output, sample)
    }
}
