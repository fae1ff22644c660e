//! Which decoders a GPU's images went through.

/// Images by the decoder that did them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DecodedBy {
    /// nvJPEG's hardware engine.
    pub hardware: u64,
    /// nvJPEG with the entropy coding on the GPU as well.
    pub gpu_huffman: u64,
    /// nvJPEG with the entropy coding on the CPU.
    pub hybrid: u64,
    /// This crate's decoder on the CPU.
    pub cpu: u64,
    /// This crate's decoder on the GPU.
    pub feedline: u64,
}

impl DecodedBy {
    /// All of them.
    pub fn total(&self) -> u64 {
        let Self { hardware, gpu_huffman, hybrid, cpu, feedline } = self;
        hardware + gpu_huffman + hybrid + cpu + feedline
    }
}
