//! What a file is decoded to, in Python's words.

use feedline::decode::{Limits, Scale, Scaling, Settings};
use feedline::geometry::{Rect, Size};
use feedline::policy::Damaged;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A part of an image: top, left, height, width.
#[derive(Clone, Copy)]
pub(crate) struct Region([i64; 4]);

impl<'a, 'py> FromPyObject<'a, 'py> for Region {
    type Error = PyErr;

    fn extract(region: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        value(&region, "region", "(top, left, height, width) in pixels of the image").map(Region)
    }
}

/// The least height and width of what is decoded: one number for both, or two.
#[derive(Clone, Copy)]
pub(crate) struct MinSize {
    height: u32,
    width: u32,
}

impl<'a, 'py> FromPyObject<'a, 'py> for MinSize {
    type Error = PyErr;

    fn extract(size: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let one: PyResult<u32> = size.extract();
        let both = match one {
            Ok(edge) => [edge, edge],
            Err(_) => value(&size, "min_size", "(height, width) in pixels, or one number for both")?,
        };
        let [height, width] = both;
        Ok(Self { height, width })
    }
}

/// An argument, if it is what it may be.
fn value<'a, 'py, T: FromPyObject<'a, 'py>>(
    given: &Borrowed<'a, 'py, PyAny>,
    name: &str,
    remedy: &str,
) -> PyResult<T> {
    given.extract().map_err(|_| PyValueError::new_err(format!("{name} is {given:?}: give {remedy}")))
}

/// What a file is decoded to but for its region, as Python's half hands it over: scale, min_size, exif, damaged, max_pixels,
/// max_scans.
pub(crate) struct Wanted {
    scale: Option<f64>,
    min_size: Option<MinSize>,
    exif: bool,
    damaged: Option<String>,
    max_pixels: Option<u64>,
    max_scans: Option<u32>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Wanted {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let tuple = given.cast::<PyTuple>()?;
        let item = |at| tuple.get_borrowed_item(at);
        Ok(Self {
            scale: value(&item(0)?, "scale", SCALES)?,
            min_size: item(1)?.extract()?,
            exif: value(&item(2)?, "exif", "True or False")?,
            damaged: value(&item(3)?, "damaged", DAMAGED)?,
            max_pixels: value(&item(4)?, "max_pixels", "a whole number from 0")?,
            max_scans: value(&item(5)?, "max_scans", "a whole number from 0")?,
        })
    }
}

const SCALES: &str = "1, 1/2, 1/4 or 1/8";
const DAMAGED: &str = "\"refuse\", \"torchvision\" or \"libjpeg\"";

impl Wanted {
    /// What sizes depend on.
    pub(crate) fn of_size(scale: Option<f64>, min_size: Option<MinSize>, exif: bool) -> Self {
        Self { scale, min_size, exif, damaged: None, max_pixels: Some(u64::MAX), max_scans: None }
    }

    pub(crate) fn settings(&self) -> PyResult<Settings> {
        let Self { scale, min_size, exif, ref damaged, max_pixels, max_scans } = *self;
        let scale = match (scale, min_size) {
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err("scale and min_size both say the scale: give one of them"));
            }
            (_, Some(MinSize { height, width })) => Scaling::AtLeast(Size::new(width, height)),
            (Some(scale), _) => {
                let of = |known: &Scale| f64::from(known.divisor()) * scale == 1.0;
                let known = Scale::ALL.into_iter().find(of);
                let refused = || PyValueError::new_err(format!("scale is {scale}: give {SCALES}"));
                Scaling::Fixed(known.ok_or_else(refused)?)
            }
            (None, None) => Scaling::default(),
        };
        let usual = Limits::default();
        let limits = Limits {
            max_pixels: max_pixels.unwrap_or(usual.max_pixels),
            max_scans: max_scans.unwrap_or(usual.max_scans),
            damaged: damaged.as_deref().map_or(Ok(usual.damaged), damaged_of)?,
        };
        Ok(Settings { region: None, scale, exif, limits })
    }
}

fn damaged_of(word: &str) -> PyResult<Damaged> {
    serde_json::from_value(word.into())
        .map_err(|_| PyValueError::new_err(format!("damaged is {word:?}: give {DAMAGED}")))
}

/// The settings for a region, in Python's order of numbers.
pub(crate) fn with_region(settings: &Settings, region: Option<Region>) -> PyResult<Settings> {
    let Some(Region(region)) = region else { return Ok(settings.clone()) };
    let [top, left, height, width] = region;
    let rect = || {
        let (x, y) = (i32::try_from(left).ok()?, i32::try_from(top).ok()?);
        Some(Rect::new(x, y, u32::try_from(width).ok()?, u32::try_from(height).ok()?))
    };
    let refused = || {
        let what = format!("region is {region:?}: give (top, left, height, width) in pixels of the image");
        PyValueError::new_err(what)
    };
    Ok(settings.clone().region(rect().ok_or_else(refused)?))
}
