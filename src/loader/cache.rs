//! What a loader keeps from one sample to the next: decode indexes, and compressed files.

pub(super) mod bytes;
pub(super) mod decode_index;
