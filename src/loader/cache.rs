//! What a loader keeps from one sample to the next: decode indexes.

pub(super) mod decode_index;
