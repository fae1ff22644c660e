//! Distortions: maps that say, pixel by pixel, where an image is looked up. Devices and labels take them from here, so that
//! both move alike.

mod elastic;
mod grid;
mod radial;

pub(crate) use elastic::Field;

use crate::geometry::Size;
use radial::Radial;
use serde::Serialize;

/// Maximum number of nodes of the field of a [`DistortionKind::Elastic`].
pub const MAX_NODES: u64 = 1 << 18;
/// Maximum number of cells along an axis of a [`DistortionKind::Grid`].
pub const MAX_CELLS: usize = 256;
/// Greatest width of a cell of a [`DistortionKind::Grid`], in its pixels.
pub const MAX_STEP: f64 = 1e3;
/// Greatest standard deviation of the smoothing of a [`DistortionKind::Elastic`], in pixels.
pub const MAX_SIGMA: f64 = 1e3;
/// Greatest factor of the noise of a [`DistortionKind::Elastic`].
pub const MAX_ALPHA: f64 = 1e6;

/// A map from the pixels of an image of one size to places in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distortion {
    /// The image's size.
    pub size: Size,
    /// What it does.
    pub kind: DistortionKind,
}

/// What a distortion does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub enum DistortionKind {
    /// Cells of as many pixels show parts of the image that are wider or narrower. One number for each cell along x, and along
    /// y, and one for what the edges leave over: the pixels that it shows, over those that it has.
    Grid {
        /// Along x.
        columns: Vec<f64>,
        /// Along y.
        rows: Vec<f64>,
    },
    /// A lens: d, seen from half the edges, is looked up at d (1 + (k1 + k2 r) r), where r = (dx sx)^2 + (dy sy)^2.
    Radial {
        /// sx and sy.
        scale: [f64; 2],
        /// k1 and k2.
        k: [f64; 2],
    },
    /// Each pixel is looked up as far away as smoothed normal noise says, of a counter hash: a sum of cubic B-splines on nodes
    /// that are at most `sigma` apart, with weights that are smoothed as far as the splines do not do it themselves.
    Elastic {
        /// The hash's key.
        key: [u32; 2],
        /// Pixels for a noise of 1.
        alpha: f64,
        /// Standard deviation of the smoothing, in pixels.
        sigma: f64,
        /// Whether x and y move alike.
        shared: bool,
    },
}

impl Distortion {
    /// Whether devices can make it.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "only kernels look at what they are given"))]
    pub(crate) fn is_sound(&self) -> bool {
        match &self.kind {
            DistortionKind::Grid { columns, rows } => [(columns, self.size.width), (rows, self.size.height)]
                .into_iter()
                .all(|(steps, edge)| grid::is_sound(steps, edge)),
            DistortionKind::Radial { scale, k } => {
                scale.iter().all(|scale| (0.0..=2.0).contains(scale))
                    && k.iter().all(|k| (-1.0..=1.0).contains(k))
            }
            DistortionKind::Elastic { alpha, sigma, .. } => {
                (0.0..=MAX_ALPHA).contains(alpha)
                    && (1.0..=MAX_SIGMA).contains(sigma)
                    && nodes(self.size, *sigma) <= MAX_NODES
            }
        }
    }
}

/// How many nodes a field on an image of `size` has.
pub(crate) fn nodes(size: Size, sigma: f64) -> u64 {
    [size.width, size.height].map(|edge| u64::from(elastic::nodes(edge, sigma))).iter().product()
}

/// A distortion ready to be looked up in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lookup {
    /// The positions of all columns, and of all rows.
    Grid([Vec<f32>; 2]),
    /// A lens.
    Radial(Radial),
    /// How far each pixel is looked up away from its place.
    Elastic(Field),
}

impl Lookup {
    /// What a sound distortion says.
    pub(crate) fn new(distortion: &Distortion) -> Self {
        let size = distortion.size;
        match &distortion.kind {
            DistortionKind::Grid { columns, rows } => {
                Self::Grid([grid::positions(columns, size.width), grid::positions(rows, size.height)])
            }
            DistortionKind::Radial { scale, k } => Self::Radial(Radial::new(size, *scale, *k)),
            DistortionKind::Elastic { key, alpha, sigma, shared } => {
                Self::Elastic(Field::new(size, *key, [*alpha, *sigma], *shared))
            }
        }
    }

    /// Where the pixels of row `y` are looked up: x and y, counted from the centre of the first pixel.
    pub(crate) fn row(&self, y: u32, places: &mut [[f32; 2]]) {
        match self {
            Self::Grid([columns, rows]) => {
                for (place, &x) in places.iter_mut().zip(columns) {
                    *place = [x, rows[y as usize]];
                }
            }
            Self::Radial(radial) => radial.row(y, places),
            Self::Elastic(field) => field.row(y, places),
        }
    }

    /// Where a point of the image is seen afterwards, both counted from the left top corner. Of the places where a field
    /// shows it again and again, one; near one where no pixel shows it.
    pub(crate) fn moved(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        match self {
            Self::Grid([columns, rows]) => [grid::found(columns, x), grid::found(rows, y)],
            Self::Radial(radial) => radial.found([x, y]),
            Self::Elastic(field) => field.found([x, y]),
        }
    }

    /// How long a line may be, in pixels, that stays about straight.
    pub(crate) fn straight(&self) -> f64 {
        match self {
            Self::Grid(positions) => {
                positions.iter().map(|all| grid::straight(all)).fold(f64::INFINITY, f64::min)
            }
            Self::Radial(radial) => radial.straight(),
            Self::Elastic(field) => field.straight(),
        }
    }
}
