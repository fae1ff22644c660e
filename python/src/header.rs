//! What a file says of its image before it is decoded.

use crate::input::{Input, Place};
use crate::settings::{MinSize, Region, Wanted, with_region};
use feedline::decode::{FileError, Header as Inner};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What a file says of its image before it is decoded.
#[pyclass(frozen, eq, module = "feedline", name = "Header")]
#[derive(PartialEq, Eq)]
pub(crate) struct Header {
    inner: Inner,
}

#[pymethods]
impl Header {
    #[new]
    fn new(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let input = Input::new(data, None)?;
        let place = Place { index: None, path: input.path() };
        let inner = match &input {
            Input::Memory(buffer) => Inner::read(buffer.bytes()).map_err(FileError::from),
            Input::File(path) => py.detach(|| Inner::of_file(path)),
        };
        Ok(Self { inner: inner.map_err(|error| place.error(py, error))? })
    }

    /// JPEG, PNG, WebP, PNM or coefficients, by the file's bytes.
    #[getter]
    fn format(&self) -> String {
        self.inner.format.to_string()
    }

    /// Rows of the upright image.
    #[getter]
    fn height(&self) -> u32 {
        self.inner.size.height
    }

    /// Columns of the upright image.
    #[getter]
    fn width(&self) -> u32 {
        self.inner.size.width
    }

    /// Rows as they are stored.
    #[getter]
    fn stored_height(&self) -> u32 {
        self.inner.stored.height
    }

    /// Columns as they are stored.
    #[getter]
    fn stored_width(&self) -> u32 {
        self.inner.stored.width
    }

    /// The EXIF orientation, 1 to 8; 1 is upright.
    #[getter]
    fn orientation(&self) -> u16 {
        self.inner.orientation.to_exif()
    }

    /// Channels of a stored pixel: 1 (grey, or a palette), 2 (grey and alpha), 3, or 4 (colour and alpha, or four inks).
    #[getter]
    fn components(&self) -> u8 {
        self.inner.components
    }

    /// Bits of a stored channel.
    #[getter]
    fn bits(&self) -> u8 {
        self.inner.bits
    }

    /// Whether a JPEG is progressive, or a PNG interlaced.
    #[getter]
    fn progressive(&self) -> bool {
        self.inner.progressive
    }

    /// The chroma sampling of a JPEG or of its coefficients, such as 4:2:0; None for other formats.
    #[getter]
    fn sampling(&self) -> Option<&'static str> {
        self.inner.sampling.as_ref().map(|sampling| sampling.name())
    }

    /// The shape of what `feedline.decode` makes of the file with these arguments.
    #[pyo3(signature = (region = None, scale = None, *, min_size = None, exif = true))]
    fn decoded_shape(
        &self,
        region: Option<Region>,
        scale: Option<f64>,
        min_size: Option<MinSize>,
        exif: bool,
    ) -> PyResult<(u32, u32, u8)> {
        let settings = Wanted::of_size(scale, min_size, exif).settings()?;
        let size = self.inner.decoded_size(&with_region(&settings, region)?);
        let size = size.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((size.height, size.width, 3))
    }

    fn __repr__(&self) -> String {
        let Inner { format, size, stored, orientation, .. } = &self.inner;
        let turned = match orientation.to_exif() {
            1 => String::new(),
            tag => {
                format!(", stored_height={}, stored_width={}, orientation={tag}", stored.height, stored.width)
            }
        };
        let (height, width) = (size.height, size.width);
        format!("feedline.Header(format='{format}', height={height}, width={width}{turned})")
    }
}
