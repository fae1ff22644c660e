//! Which transforms there are, and what they take: asked of the library, so that no list is kept twice.

use crate::error::to_python;
use feedline::augment::Augmentation;
use feedline::recipe;
use pyo3::prelude::*;

/// The names of all transforms.
#[pyfunction]
pub(crate) fn transform_names() -> Vec<&'static str> {
    Augmentation::NAMES.to_vec()
}

/// The names of the arguments of the transform `name`, in their order; empty for a name that there is not.
#[pyfunction]
pub(crate) fn transform_arguments(name: &str) -> Vec<&'static str> {
    recipe::arguments_of(name).unwrap_or_default()
}

/// Reads one view from JSON and gives it back with all its arguments; refuses what has no meaning.
#[pyfunction]
pub(crate) fn check_view(py: Python<'_>, json: &str) -> PyResult<String> {
    let view = recipe::sample_view(json).map_err(|error| to_python(py, error))?;
    serde_json::to_string(&view).map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}

/// Reads one transform from JSON and gives it back with all its arguments; refuses what has no meaning.
#[pyfunction]
pub(crate) fn check_transform(py: Python<'_>, json: &str) -> PyResult<String> {
    let transform = recipe::augmentation(json).map_err(|error| to_python(py, error))?;
    serde_json::to_string(&transform)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}
