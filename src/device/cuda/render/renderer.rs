//! Rendering of decoded images from the host's memory and back to it: for comparisons with the CPU, not for speed.

#![expect(unsafe_code, reason = "copies to and from the device, and kernels on memory that this file owns")]

mod timed;

use super::{ErrorWord, Kernels, Program, Sample, Surface};
use crate::device::cuda::driver::{Context, CudaError, DeviceBuffer, Priority, Purpose, Stream};
use crate::error::Cause;
use crate::image::Image;
use crate::output::Output;
use crate::plan::Plan;

/// Renders plans on decoded images with a CUDA device.
pub struct Renderer {
    context: Context,
    stream: Stream,
    kernels: Kernels,
    errors: ErrorWord,
}

/// A batch in the device's memory, ready to be rendered.
struct Prepared {
    program: Program,
    tables: DeviceBuffer,
    scratch: DeviceBuffer,
    outputs: DeviceBuffer,
    /// What the program reads.
    _uploads: Vec<(DeviceBuffer, Surface)>,
}

impl Renderer {
    /// A renderer on the CUDA device `ordinal`.
    ///
    /// # Errors
    /// When there is no such device or no driver, or the driver refuses the kernels.
    pub fn new(ordinal: u32) -> Result<Self, Cause> {
        let context = Context::open(ordinal)?;
        let stream = Stream::new(&context, Priority::High)?;
        let kernels = Kernels::new(&context);
        let errors = ErrorWord::new(&context)?;
        Ok(Self { context, stream, kernels, errors })
    }

    /// Renders each plan from its images (`images[i][k]` belongs to `plans[i].images[k]`); the samples lie one after
    /// the other in the result.
    ///
    /// # Errors
    /// As [`crate::device::cpu::Renderer::render`], and those of the driver.
    pub fn render(&mut self, plans: &[Plan], images: &[&[Image]], output: &Output) -> Result<Vec<u8>, Cause> {
        self.render_changed(plans, images, output, |_| {})
    }

    /// The same, with the tables changed ahead of the launch: for tests of what kernels do with tables that no lowering makes.
    ///
    /// # Errors
    /// As [`Renderer::render`], and what the kernels report.
    #[doc(hidden)]
    pub fn render_changed(
        &mut self,
        plans: &[Plan],
        images: &[&[Image]],
        output: &Output,
        change: impl FnOnce(&mut [u8]),
    ) -> Result<Vec<u8>, Cause> {
        let prepared = self.prepare(plans, images, output, change)?;
        let mut bytes = vec![0; prepared.outputs.len()];
        // SAFETY: both are there until the wait below has ended.
        let queued = unsafe { self.queue(&prepared, &mut bytes) };
        // Whatever failed: buffers are freed only when the device is done with them.
        self.stream.synchronize()?;
        queued?;
        self.errors.take()?;
        Ok(bytes)
    }

    fn prepare(
        &self,
        plans: &[Plan],
        images: &[&[Image]],
        output: &Output,
        change: impl FnOnce(&mut [u8]),
    ) -> Result<Prepared, Cause> {
        if plans.len() != images.len() {
            return Err("a list of images for each plan is needed".into());
        }
        let uploads = images.iter().flat_map(|images| images.iter()).map(|image| self.upload(image));
        let uploads: Vec<(DeviceBuffer, Surface)> = uploads.collect::<Result<_, _>>()?;
        let sample_bytes = output.sample_bytes();
        let outputs = self.reserve(sample_bytes * plans.len())?;
        let surfaces: Vec<Surface> = uploads.iter().map(|(_, surface)| *surface).collect();
        let mut rest = surfaces.as_slice();
        let samples = plans.iter().zip(images).enumerate().map(|(row, (plan, images))| {
            let (surfaces, others) = rest.split_at(images.len());
            rest = others;
            Sample { plan, surfaces, output: outputs.ptr() + (row * sample_bytes) as u64 }
        });
        let mut program = Program::build(&samples.collect::<Vec<_>>(), output, self.errors.address())?;
        change(&mut program.tables);
        let tables = self.reserve(program.tables.len())?;
        let scratch = self.reserve(program.scratch_bytes)?;
        let from = &program.tables;
        // SAFETY: both hold as many bytes, and the wait below outlasts the copy.
        unsafe { self.stream.copy_to_device(tables.ptr(), from.as_ptr(), from.len())? };
        self.stream.synchronize()?;
        Ok(Prepared { program, tables, scratch, outputs, _uploads: uploads })
    }

    fn reserve(&self, bytes: usize) -> Result<DeviceBuffer, CudaError> {
        DeviceBuffer::new(&self.context, bytes, Purpose::Measurement)
    }

    /// The decoded part of an image in the device's memory.
    fn upload(&self, image: &Image) -> Result<(DeviceBuffer, Surface), Cause> {
        let Image { stored, region, stride, ref data, .. } = *image;
        let bytes = stride.checked_mul(region.height as usize).filter(|&bytes| bytes <= data.len());
        let bytes = bytes.ok_or("an image with fewer bytes than rows")?;
        let buffer = self.reserve(bytes)?;
        // SAFETY: both hold as many bytes, and the wait below outlasts the copy.
        unsafe { self.stream.copy_to_device(buffer.ptr(), data.as_ptr(), bytes)? };
        self.stream.synchronize()?;
        let surface = Surface { ptr: buffer.ptr(), pitch: u32::try_from(stride)?, region, stored };
        Ok((buffer, surface))
    }

    /// Queues the kernels, and the copy of what they render.
    ///
    /// # Safety
    /// `prepared` and `bytes`, of which there are as many as `prepared` renders at most, stay and are not used until the stream has
    /// been waited for.
    unsafe fn queue(&self, prepared: &Prepared, bytes: &mut [u8]) -> Result<(), CudaError> {
        let Prepared { program, tables, scratch, outputs, .. } = prepared;
        // SAFETY: the buffers were made for this program, and stay until the stream has been waited for. Addresses of whole buffers are multiples of 256.
        unsafe {
            self.kernels.launch(program, tables.ptr(), scratch.ptr(), &self.stream)?;
            self.stream.copy_to_host(bytes.as_mut_ptr(), outputs.ptr(), bytes.len())
        }
    }
}
