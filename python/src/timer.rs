//! Durations of the stages that run in Python.

use crate::records::timing_json;
use feedline::loader::Histogram;
use pyo3::prelude::*;
use std::time::Duration;

/// Counts durations, from any thread.
#[pyclass(frozen, module = "feedline._feedline")]
pub(crate) struct Timer(Histogram);

#[pymethods]
impl Timer {
    #[new]
    fn new() -> Self {
        Self(Histogram::default())
    }

    /// Counts a run that took so many seconds.
    fn record(&self, seconds: f64) {
        self.0.record(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    }

    /// The figures so far, as JSON.
    fn timing(&self) -> PyResult<String> {
        timing_json(&self.0).map(|timing| timing.to_string())
    }
}
