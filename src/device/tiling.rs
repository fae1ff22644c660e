//! How a canvas is cut into the tiles of an adaptive equalization: the same for every device.

use crate::geometry::Size;

/// Tiles, as OpenCV cuts them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tiling {
    /// Tiles along x and y.
    pub(crate) tiles: [u32; 2],
    /// Columns and rows of a tile.
    pub(crate) tile: [u32; 2],
    /// Most pixels of one level.
    pub(crate) limit: u32,
    /// What sums of pixels become levels by.
    pub(crate) scale: f32,
}

impl Tiling {
    /// The tiles of an image of this size. Where they do not come out even along one axis, there are more pixels along both.
    pub(crate) fn new(of: Size, tiles: [u32; 2], clip_limit: f64) -> Self {
        let edges = [of.width, of.height];
        let even = edges.iter().zip(tiles).all(|(edge, count)| edge % count == 0);
        let tile: [u32; 2] = std::array::from_fn(|axis| edges[axis] / tiles[axis] + u32::from(!even));
        let pixels = tile[0] * tile[1];
        let limit = (clip_limit * f64::from(pixels) / 256.0) as u32;
        Self { tiles, tile, limit: limit.max(1), scale: 255.0 / pixels as f32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_hold_the_whole_image_and_are_one_larger_where_they_do_not_come_out_even() {
        let tile = |width, height| Tiling::new(Size::new(width, height), [8, 8], 4.0).tile;
        assert_eq!(tile(64, 80), [8, 10]);
        assert_eq!(tile(65, 80), [9, 11]);
        assert_eq!(tile(1, 1), [1, 1]);
        let tiling = Tiling::new(Size::new(512, 512), [8, 8], 2.0);
        assert_eq!((tiling.limit, tiling.scale), (32, 255.0 / 4096.0));
    }
}
