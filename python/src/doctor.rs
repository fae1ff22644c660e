//! The library's doctor, for Python's: what feedline would give on some data; and figures as Prometheus reads them.

use crate::data::{self, Data, Opened};
use crate::error::to_python;
use crate::options::Keywords;
use feedline::doctor::{Questions, examine};
use feedline::error::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// Measures the data and the recipe for about `seconds`, beside a trainer that takes `step_s` for a batch, if one is known. Returns
/// the diagnosis as JSON.
#[pyfunction]
#[pyo3(signature = (data, keywords, seconds, step_s))]
pub(crate) fn doctor(
    py: Python<'_>,
    data: Option<Data>,
    keywords: Keywords,
    seconds: f64,
    step_s: Option<f64>,
) -> PyResult<String> {
    let measure = || -> Result<_, Error> {
        let mut recipe = keywords.recipe()?;
        let Opened { source, .. } = data::open(data, &mut recipe)?;
        let asked = Questions { seconds, ..Questions::default() };
        let asked = match step_s {
            Some(step) => asked.with_step(step, recipe.options.loader.batch_size()),
            None => asked,
        };
        examine(Arc::from(source), &recipe, &asked)
    };
    let found = py.detach(measure).map_err(|error| to_python(py, error))?;
    serde_json::to_string(&found).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The figures of a loader, as JSON, as Prometheus reads them.
#[pyfunction]
pub(crate) fn prometheus(py: Python<'_>, figures: &str, labels: Vec<(String, String)>) -> PyResult<String> {
    let figures = serde_json::from_str(figures)
        .map_err(|error| PyValueError::new_err(format!("the figures: {error}")))?;
    let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (&**name, &**value)).collect();
    feedline::loader::prometheus(&figures, &labels).map_err(|error| to_python(py, error))
}
