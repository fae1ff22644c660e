//! The loader as Python's half sees it: options in, epochs out. What it remembers between epochs is Python's.

use crate::batch::Wanted;
use crate::data::{self, Data, Opened};
use crate::epoch::Epoch;
use crate::error::to_python;
use crate::options::{self, Keywords};
use crate::site_packages;
use feedline::error::Error;
use feedline::loader::{Loader as Inner, State};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Stage, key, index, cause.
type BadFile = (String, String, u64, String);
type DamagedFile = (String, u64, String, u64);
type Report = (u64, Vec<BadFile>, u64, Vec<DamagedFile>);

/// A loader that knows no epoch but those that it is asked for.
#[pyclass(frozen, module = "feedline._feedline")]
pub(crate) struct Loader {
    /// `None` once it is closed.
    inner: Mutex<Option<Inner>>,
    wanted: Wanted,
    notes: Vec<String>,
}

impl Loader {
    /// Does `work` with the loader while other Python threads run.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Inner) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let guard = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            guard.as_ref().map(|loader| loader.check_process().and_then(|()| work(loader)))
        });
        match done {
            Some(Ok(value)) => Ok(value),
            Some(Err(error)) => Err(to_python(py, error)),
            None => Err(pyo3::exceptions::PyRuntimeError::new_err("the loader was closed: make another one")),
        }
    }

    fn epoch_of(&self, epoch: feedline::loader::Epoch) -> Epoch {
        Epoch::new(epoch, self.wanted)
    }
}

fn read_state(json: &str) -> PyResult<State> {
    serde_json::from_str(json).map_err(|error| {
        PyValueError::new_err(format!(
            "the state cannot be read: {error}; give what state_dict() of this version returned"
        ))
    })
}

#[pymethods]
impl Loader {
    /// Opens the data, and checks all options, those of the transforms included.
    #[new]
    #[pyo3(signature = (data, keywords))]
    fn new(py: Python<'_>, data: Option<Data>, keywords: Keywords) -> PyResult<Self> {
        site_packages::tell(py)?;
        let build = || -> Result<Self, Error> {
            let mut recipe = keywords.recipe()?;
            let Opened { source, objects: _, keypoints, notes } = data::open(data, &mut recipe)?;
            let output = &recipe.options.output;
            // Without a size it is what the transforms end at, which the builder finds.
            if output.size.is_some() || output.decode_only() {
                recipe.check()?;
            }
            let inner = Inner::builder_boxed(source).recipe(&recipe).build()?;
            let views = !recipe.views.is_empty();
            let wanted = Wanted {
                classes: keywords.num_classes,
                smoothing: keywords.label_smoothing,
                keypoints,
                views,
            };
            Ok(Self { inner: Mutex::new(Some(inner)), wanted, notes })
        };
        py.detach(build).map_err(|error| to_python(py, error))
    }

    /// What it was told, by name, as JSON.
    fn options(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |loader| Ok(options::by_name(loader.options())))
    }

    /// What the user should know of the data.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Batches of an epoch.
    fn batches(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |loader| Ok(loader.batches()))
    }

    /// Samples of the data set.
    fn samples(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |loader| Ok(loader.samples()))
    }

    /// The names of the classes.
    fn classes(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |loader| Ok(loader.source().classes().to_vec()))
    }

    /// Starts an epoch.
    fn epoch(&self, py: Python<'_>, epoch: u64) -> PyResult<Epoch> {
        self.with(py, |loader| Ok(loader.epoch(epoch))).map(|epoch| self.epoch_of(epoch))
    }

    /// Starts the rest of the epoch that a state was taken in.
    fn resume(&self, py: Python<'_>, state: &str) -> PyResult<Epoch> {
        let state = read_state(state)?;
        self.with(py, |loader| loader.resume(&state)).map(|epoch| self.epoch_of(epoch))
    }

    /// Refuses a state that does not fit.
    fn check_state(&self, py: Python<'_>, state: &str) -> PyResult<()> {
        let state = read_state(state)?;
        self.with(py, |loader| loader.check_state(&state))
    }

    /// Where a run stands ahead of an epoch, as JSON.
    fn state_ahead_of(&self, py: Python<'_>, epoch: u64) -> PyResult<String> {
        let state = self.with(py, |loader| Ok(loader.state_ahead_of(epoch)))?;
        serde_json::to_string(&state).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// How often a bad sample was met, and the bad files: stage, key, index, cause. How often a damaged file was decoded,
    /// and the damaged files: key, index, damage, times.
    fn report(&self, py: Python<'_>) -> PyResult<Report> {
        self.with(py, |loader| {
            let feedline::loader::Report { failures, files, damaged, damaged_files } = loader.report();
            let bad =
                |file: feedline::loader::BadFile| (file.stage.to_string(), file.key, file.index, file.cause);
            let decoded = |file: feedline::loader::DamagedFile| {
                (file.key, file.index, file.damage.to_string(), file.times)
            };
            let files = files.into_iter().map(bad).collect();
            Ok((failures, files, damaged, damaged_files.into_iter().map(decoded).collect()))
        })
    }

    /// The figures since the loader was made, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        let stats = self.with(py, |loader| Ok(loader.stats()))?;
        serde_json::to_string(&stats).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// What limits the speed so far, in words.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |loader| Ok(loader.explain()))
    }

    /// Stops the threads, once no epoch needs them.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.inner.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}
