//! The loader as Python's half sees it: options in, epochs out. What it remembers between epochs is Python's.

use crate::batch::Wanted;
use crate::data::{self, Data, Opened};
use crate::epoch::{Epoch, drop_detached};
use crate::error::to_python;
use crate::options::{self, Keywords};
use crate::records::timing_json;
use crate::site_packages;
use feedline::augment::Augment;
use feedline::error::Error;
use feedline::field::Field;
use feedline::loader::{Histogram, Loader as Inner, State};
use feedline::options::LoaderOptions;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

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
    facts: Facts,
}

/// What is known of the data and of what is done to them.
struct Facts {
    kind: &'static str,
    objects: bool,
    /// The names of the transforms of the recipe, or of the list.
    transforms: Vec<&'static str>,
    calls: Option<Arc<Histogram>>,
}

impl Drop for Loader {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop_detached(inner.take());
    }
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

/// Whether it was said in which order samples come.
fn is_ordered(options: &LoaderOptions) -> bool {
    let LoaderOptions { shuffle, shuffle_window, shuffle_shards, weights, subset, repeats, .. } = options;
    shuffle.is_some()
        || shuffle_window.is_some()
        || shuffle_shards.is_some()
        || weights.is_some()
        || subset.is_some()
        || repeats.is_some()
}

fn read_state(json: &str) -> PyResult<State> {
    serde_json::from_str(json).map_err(|error| {
        let error = error.to_string();
        let what =
            error.split(" at line ").next().unwrap_or_default().replacen("missing field", "it lacks", 1);
        PyValueError::new_err(format!(
            "the state cannot be read: {what}; give what state_dict() of this version returned"
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
            let Opened { source, kind, objects, keypoints, notes, calls } = data::open(data, &mut recipe)?;
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
                float_objects: keywords.float_objects,
                views,
            };
            let transforms = recipe.augment.iter().map(|augment| augment.name()).collect();
            let facts = Facts { kind, objects, transforms, calls };
            Ok(Self { inner: Mutex::new(Some(inner)), wanted, notes, facts })
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

    /// What the data are and what is done to them, as JSON.
    fn facts(&self, py: Python<'_>) -> PyResult<String> {
        let Facts { kind, objects, transforms, .. } = &self.facts;
        let said = self.with(py, |loader| {
            let outputs = loader.outputs().iter().map(|output| {
                json!({
                    "size": [output.size.height, output.size.width],
                    "dtype": output.dtype,
                    "layout": output.layout,
                    "normalized": output.normalize.is_some(),
                })
            });
            Ok(json!({
                "kind": kind,
                "objects": objects,
                "transforms": transforms,
                "mixes": loader.mixes_samples(),
                "outputs": outputs.collect::<Vec<_>>(),
                "pictures": loader.picture_names().count(),
                "fields": loader.source().fields().iter().map(Field::name).collect::<Vec<_>>(),
                "ordered": is_ordered(&loader.options().loader),
                "subset": loader.options().loader.subset.is_some(),
                "masks": loader.source().has_masks() || loader.options().labels.mask_fill.is_some(),
            }))
        })?;
        Ok(said.to_string())
    }

    /// One more than the highest class of all samples; 0 where none has a class, and None where that is not known yet.
    fn class_count(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.with(py, |loader| {
            let source = loader.source();
            let highest = |index| source.label(index).classes().iter().max().map_or(0, |class| class + 1);
            Ok(source.is_known_ahead().then(|| (0..source.len()).map(highest).max().unwrap_or(0)))
        })
    }

    /// The class of each sample; -1 where it has none, or several.
    fn targets(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        self.with(py, |loader| {
            let source = loader.source();
            Ok((0..source.len()).map(|index| source.label(index).class()).collect())
        })
    }

    /// Why batches are not page-locked although they should be.
    fn unpinned(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |loader| Ok(loader.unpinned()))
    }

    /// Rows of an epoch on this rank.
    fn rows(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |loader| Ok(loader.rows()))
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
        let mut stats =
            serde_json::to_value(&stats).map_err(|error| PyValueError::new_err(error.to_string()))?;
        if let Some(calls) = &self.facts.calls {
            stats["python_source"] = timing_json(calls)?;
        }
        Ok(stats.to_string())
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
