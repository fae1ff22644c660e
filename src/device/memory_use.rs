//! How much memory a loader takes on a GPU.

/// Bytes that a loader has taken for a GPU, by what they are for. Those of the GPU's memory are what its driver hands out, in
/// steps of 2 MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct MemoryUse {
    /// Batches: those being made, those that are ready, and those that the consumer holds.
    pub output_bytes: u64,
    /// Decoded images on their way into a batch, and what feedline's decoder makes them from.
    pub image_bytes: u64,
    /// Tables and scratch memory of the kernels.
    pub program_bytes: u64,
    /// Decoded images that samples share: all that is reserved for them.
    pub shared_image_bytes: u64,
    /// What shows whether decoders do as they say.
    pub verification_bytes: u64,
    /// nvJPEG's own: by how much the GPU's free memory shrank while nvJPEG started. What other programs took at that moment
    /// is counted too, what nvJPEG takes later is not.
    pub nvjpeg_bytes: u64,
    /// Page-locked memory of the host.
    pub pinned_bytes: u64,
}

impl MemoryUse {
    /// All of the GPU's memory.
    pub fn device_bytes(&self) -> u64 {
        let Self {
            output_bytes,
            image_bytes,
            program_bytes,
            shared_image_bytes,
            verification_bytes,
            nvjpeg_bytes,
            ..
        } = self;
        output_bytes + image_bytes + program_bytes + shared_image_bytes + verification_bytes + nvjpeg_bytes
    }
}
