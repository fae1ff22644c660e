//! Policies for an incomplete last batch, for samples and labels that cannot be used, for pixels that are not needed, and
//! for data sets that are mixed.

use serde::{Deserialize, Serialize};

/// The policy for samples that do not fill the last batch, or not all ranks' last batches.
///
/// With several ranks every rank makes the same number of batches, and the batches of one step have the same number of
/// rows on all ranks. A rank that has one sample fewer than the others repeats one, marked as padded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastBatch {
    /// They are left out of this epoch; every batch is full. At most batch size times ranks minus one are left out.
    #[default]
    Drop,
    /// They make a shorter batch.
    Partial,
    /// The batch is filled up with samples from the start of the epoch's order, marked as padded.
    Pad,
}

/// The policy for a sample that cannot be read, planned, decoded or rendered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BadSample {
    /// Its batch is an error, and the epoch ends there.
    #[default]
    Fail,
    /// Its batch is one row shorter; a batch without any good sample has no rows.
    Skip,
    /// Another sample, drawn by seed, epoch and position, replaces it, marked as a substitute.
    Substitute,
}

/// The scheduling priority of worker threads, against the threads that they share cores with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerPriority {
    /// That of all other threads.
    #[default]
    Normal,
    /// Below all others of the process's control group: workers run only while a core has nothing else to do (Linux'
    /// `SCHED_IDLE`).
    ///
    /// For a training that computes on the same cores: it is not interrupted, and while it waits for a batch the workers have
    /// all cores. If something else keeps all cores busy without ever waiting, hardly any batch is made.
    Idle,
}

/// What becomes of a JPEG that is damaged. Whatever is chosen, a file without damage has the same pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Damaged {
    /// It is refused.
    Refuse,
    /// Damage inside is accepted, with the pixels that libjpeg-turbo makes of it; a file that ends before its image
    /// does is refused. torchvision does so too, and also refuses a whole image whose end marker is missing.
    #[default]
    Torchvision,
    /// All that libjpeg-turbo decodes is accepted, with its pixels, within the limits and but for lossless files: what
    /// is missing is grey.
    Libjpeg,
}

/// Where a cache lies that the processes of a machine share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachePlace {
    /// There is none.
    #[default]
    Off,
    /// In memory, until the last process that uses it is gone.
    Ram,
    /// On a disk, for the next run as well.
    Disk,
}

/// What a cache that processes share holds of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachedForm {
    /// Its file as it is.
    #[default]
    Compressed,
    /// Its pixels, whole and, unless told, upright and in full size, so that what is made of them is the same.
    Decoded,
}

/// The scale that images are decoded at if a chain makes them smaller anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecodeScale {
    /// Full size: the results are those of torchvision.
    #[default]
    Exact,
    /// A half, a quarter or an eighth of their width and height, if that is still at least the size asked for. JPEGs
    /// and files of coefficients only; the pixels change a little (`docs/parity.md` says by how much).
    Fast,
}

/// The decoder that JPEGs go to where a GPU makes the batches. What it does not take, the CPU decodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecoderChoice {
    /// What gives the CPU device's pixels and was measured to be the fastest: [`DecoderChoice::Feedline`].
    #[default]
    Auto,
    /// nvJPEG: its engines, its decoder on the GPU's processors and its hybrid one, by their measured speeds.
    Nvjpeg,
    /// nvJPEG on the GPU's decoding engines.
    NvjpegHardware,
    /// nvJPEG on the GPU's processors, entropy decoding included; for batches of more than 50 images.
    NvjpegGpu,
    /// nvJPEG with the entropy decoding on the one thread of the CPU that submits batches.
    NvjpegHybrid,
    /// feedline's own decoder on the GPU's processors, whose pixels are those of the CPU device; for baseline JPEGs and
    /// files of coefficients, and without nvJPEG. On the CPU device it is what decodes anyway, so programs for both devices may choose it.
    Feedline,
    /// The workers' own decoder, whose pixels are those of the CPU device.
    Cpu,
}

/// nvJPEG decodes batches of so many images and fewer on the calling thread, whatever it is asked for.
pub(crate) const FEW_FOR_A_GPU: usize = 50;

impl DecoderChoice {
    /// Whether it is feedline's own decoder on the GPU's processors.
    pub(crate) fn is_own(self) -> bool {
        matches!(self, DecoderChoice::Auto | DecoderChoice::Feedline)
    }

    /// What it is called in options.
    pub fn word(self) -> &'static str {
        match self {
            DecoderChoice::Auto => "auto",
            DecoderChoice::Nvjpeg => "nvjpeg",
            DecoderChoice::NvjpegHardware => "nvjpeg-hardware",
            DecoderChoice::NvjpegGpu => "nvjpeg-gpu",
            DecoderChoice::NvjpegHybrid => "nvjpeg-hybrid",
            DecoderChoice::Feedline => "feedline",
            DecoderChoice::Cpu => "cpu",
        }
    }
}

/// The policy for a label that cannot be right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnBadLabel {
    /// The data set is not opened; the error says how many there are and quotes the first.
    #[default]
    Fail,
    /// The object is left out, its image is kept.
    SkipObject,
    /// The image is left out with all its objects. Images after it move up by one index.
    SkipImage,
}

/// How the data sets of a mixture follow each other in an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mix {
    /// They are one data set: all of them are shuffled together.
    #[default]
    Concat,
    /// One comes after the other, in their order, each shuffled within itself.
    Chain,
    /// Each position of the epoch draws its data set by weights.
    Weighted,
}

/// What ends an epoch of a weighted mixture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoppingStrategy {
    /// One data set has been shown whole; no sample comes twice.
    #[default]
    FirstExhausted,
    /// Each data set has been shown whole; the samples of the others have come again by then.
    AllExhausted,
}

/// What the order of a mixture follows from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MixOrder {
    /// How data sets follow each other.
    pub mix: Mix,
    /// The index after the last record of each data set.
    pub ends: Vec<u64>,
    /// The weight of each, where they have weights.
    pub weights: Vec<f64>,
    /// What ends an epoch of a weighted mixture, unless its length is given.
    pub stopping_strategy: StoppingStrategy,
    /// The samples of an epoch of a weighted mixture.
    pub epoch_samples: Option<u64>,
}
