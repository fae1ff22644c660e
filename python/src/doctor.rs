//! The library's doctor, for Python's: what feedline would give on some data; and figures as Prometheus reads them.

use crate::data::{self, Data, Opened};
use crate::decode_batch::as_long_as_nobody_interrupts;
use crate::error::to_python;
use crate::options::Keywords;
use feedline::doctor::{GpuMeter as Meter, Questions, Rate, TrainerRate, examine_while};
use feedline::error::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Measures the data and the recipe for about `seconds`, beside a trainer that takes `step_s` for a batch and `step_cpu_s` of
/// processors meanwhile, if one is known. Returns the diagnosis as JSON. A signal that raises an exception ends it.
#[pyfunction]
#[pyo3(signature = (data, keywords, seconds, step_s, step_cpu_s))]
pub(crate) fn doctor(
    py: Python<'_>,
    data: Option<Data>,
    keywords: Keywords,
    seconds: f64,
    step_s: Option<f64>,
    step_cpu_s: Option<f64>,
) -> PyResult<String> {
    let measure = |go_on: &mut dyn FnMut() -> bool| -> Result<_, Error> {
        let mut recipe = keywords.recipe()?;
        let Opened { source, .. } = data::open(data, &mut recipe)?;
        let batch_size = recipe.options.loader.batch_size() as f64;
        let trainer = step_s.map(|step| TrainerRate {
            samples: Rate::exactly(batch_size / step),
            cpu_seconds: step_cpu_s.unwrap_or(0.0) / batch_size,
        });
        let asked = Questions { seconds, trainer, ..Questions::default() };
        examine_while(Arc::from(source), &recipe, &asked, go_on)
    };
    let found = as_long_as_nobody_interrupts(py, |go_on| measure(go_on).transpose())?;
    let found = found.map_err(|error| to_python(py, error))?;
    serde_json::to_string(&found).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The mean use of each of the machine's GPUs over several looks.
#[pyclass(frozen, module = "feedline._feedline")]
pub(crate) struct GpuMeter(Mutex<Meter>);

#[pymethods]
impl GpuMeter {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// How many of the measurement's seconds should go by ahead of the first look.
    #[staticmethod]
    fn settles_in(seconds: f64) -> f64 {
        Meter::settles_in(seconds).as_secs_f64()
    }

    /// Looks once more. Returns how many GPUs there are.
    fn look(&self, py: Python<'_>) -> usize {
        py.detach(|| self.meter().look())
    }

    /// Each GPU as it was last seen, with its mean use, as JSON.
    fn mean(&self, py: Python<'_>) -> PyResult<String> {
        let gpus = py.detach(|| self.meter().mean());
        serde_json::to_string(&gpus).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

impl GpuMeter {
    fn meter(&self) -> MutexGuard<'_, Meter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The figures of a loader, as JSON, as Prometheus reads them.
#[pyfunction]
pub(crate) fn prometheus(py: Python<'_>, figures: &str, labels: Vec<(String, String)>) -> PyResult<String> {
    let figures = serde_json::from_str(figures)
        .map_err(|error| PyValueError::new_err(format!("the figures: {error}")))?;
    let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (&**name, &**value)).collect();
    feedline::loader::prometheus(&figures, &labels).map_err(|error| to_python(py, error))
}
