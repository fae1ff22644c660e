//! How many pixels are worked on at once, and how they are packed.

/// Pixels of a block of three planes.
pub(crate) const LANES: usize = 64;

/// One channel of a block.
pub(crate) type Plane = [f32; LANES];

/// Pixels that are scaled and stored at once where nothing else is done to them.
pub(crate) const GROUP: usize = 16;

/// From four R G B 0 groups to twelve packed bytes, for an instruction that looks bytes up in a register; -1 gives zero.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) static PACK_RGB: [i8; 16] = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1];
