//! One pass over the data, from which Python takes batch by batch.

use crate::batch::{Wanted, to_dict};
use crate::error::to_python;
use feedline::loader::Epoch as Inner;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long Python's signals wait, at most, while a batch is waited for.
const SLICE: Duration = Duration::from_millis(100);

/// The batches of one epoch.
#[pyclass(frozen, module = "feedline._feedline")]
pub(crate) struct Epoch {
    /// `None` once it is closed.
    inner: Mutex<Option<Inner>>,
    wanted: Wanted,
}

impl Drop for Epoch {
    fn drop(&mut self) {
        // Without its lock, which in a forked child a thread may hold that is not there.
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop_detached(inner.take());
    }
}

impl Epoch {
    pub(crate) fn new(inner: Inner, wanted: Wanted) -> Self {
        Self { inner: Mutex::new(Some(inner)), wanted }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Inner>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops what may wait for threads, which may wait for Python's lock.
pub(crate) fn drop_detached<T: Send>(value: T) {
    let mut value = Some(value);
    Python::try_attach(|py| py.detach(|| drop(value.take())));
}

fn closed() -> PyErr {
    PyRuntimeError::new_err("the loader was closed: make another one")
}

#[pymethods]
impl Epoch {
    /// The next batch, or None behind the last. Other threads run meanwhile, and signals are looked at.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        loop {
            let ready = py.detach(|| {
                let mut guard = self.lock();
                let epoch = guard.as_mut()?;
                Some(epoch.wait(SLICE).then(|| epoch.next().map(|batch| (batch, epoch.source()))))
            });
            match ready {
                None => return Err(closed()),
                // Only here: a batch that is in hand must not be lost to a signal, which Python sees to by itself then.
                Some(None) => py.check_signals()?,
                Some(Some(None)) => return Ok(None),
                Some(Some(Some((Ok(batch), source)))) => {
                    return to_dict(py, batch, self.wanted, &*source).map(Some);
                }
                Some(Some(Some((Err(error), _)))) => return Err(to_python(py, error)),
            }
        }
    }

    /// Batches that are still to come.
    fn left(&self, py: Python<'_>) -> usize {
        py.detach(|| self.lock().as_ref().map_or(0, ExactSizeIterator::len))
    }

    /// Where the run stands behind the last batch that was handed out, as JSON.
    fn state(&self, py: Python<'_>) -> PyResult<String> {
        let state = py.detach(|| self.lock().as_ref().map(Inner::state));
        let state = state.ok_or_else(closed)?;
        serde_json::to_string(&state).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Ends it.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.lock().take()));
    }
}
