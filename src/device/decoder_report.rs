//! How one of a GPU's decoders has done.

/// What a loader has seen of one of a GPU's decoders since it was built.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct DecoderReport {
    /// What it is called in the option `decoder`.
    pub name: &'static str,
    /// Images that it decoded.
    pub images: u64,
    /// Files that it refused, which the CPU then decoded.
    pub refused: u64,
    /// Calls in which nothing was decoded, for no file's fault.
    pub failed_calls: u64,
    /// How often it was left alone for some batches after such calls.
    pub rests: u64,
    /// The latest refusal or failure: the call, its status, and what became of it.
    pub last_failure: Option<String>,
    /// Images that were compared with the CPU's pixels.
    pub compared: u64,
    /// Those among them that were not what the file shows.
    pub wrong: u64,
    /// Images that it reported as decoded and had not written, or not in time.
    pub unwritten: u64,
    /// Why it is used no more: too many images were wrong or unwritten.
    pub left: Option<String>,
    /// Its speed as measured, in nanoseconds per byte of the files; `None` before the first measurement.
    pub nanoseconds_per_byte: Option<f64>,
}
