//! How many pixels are worked on at once.

/// Pixels of a block of three planes.
pub(crate) const LANES: usize = 64;

/// One channel of a block.
pub(crate) type Plane = [f32; LANES];

/// Pixels that are scaled and stored at once where nothing else is done to them.
pub(crate) const GROUP: usize = 16;
