//! A batch as the dict that Python's trainers expect.

use crate::error::to_python;
use crate::tensor::Tensor;
use feedline::dlpack::Field;
use feedline::loader::{Batch, BatchObjects, Status};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use std::sync::Arc;

/// What a batch's dict holds besides what the batch itself has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Columns of the dense labels, if they are wanted.
    pub(crate) classes: Option<usize>,
    pub(crate) smoothing: f32,
    /// Keypoints of an object.
    pub(crate) keypoints: usize,
}

/// Keys and values: tensors, and lists of strings.
pub(crate) fn to_dict<'py>(py: Python<'py>, batch: Batch, wanted: Wanted) -> PyResult<Bound<'py, PyDict>> {
    let batch = Arc::new(batch);
    let dict = PyDict::new(py);
    let fields = [("image", Field::Images), ("label", Field::Labels), ("index", Field::Indices)];
    for (name, field) in fields.into_iter().chain([("masks", Field::Masks)]) {
        put(&dict, name, Tensor::field(&batch, field))?;
    }
    dict.set_item(intern!(py, "key"), PyList::new(py, batch.keys())?)?;
    dict.set_item(intern!(py, "status"), statuses(py, batch.status())?)?;
    if let Some(classes) = wanted.classes {
        let dense = batch.one_hot(classes, wanted.smoothing).map_err(|error| to_python(py, error))?;
        put(&dict, "target", Some(Tensor::floats(dense, &[batch.len(), classes])))?;
    }
    if let Some(objects) = batch.objects() {
        put_objects(&dict, &batch, objects, wanted)?;
    }
    Ok(dict)
}

/// As YOLO trainers name them; with n objects in the batch.
fn put_objects(
    dict: &Bound<'_, PyDict>,
    batch: &Arc<Batch>,
    objects: &BatchObjects,
    wanted: Wanted,
) -> PyResult<()> {
    let n = objects.len();
    put(dict, "cls", Some(Tensor::integers(objects.classes.clone(), &[n, 1])))?;
    let fields = [
        ("bboxes", Field::Boxes),
        ("batch_idx", Field::BatchIndex),
        ("share", Field::Shares),
        ("crowd", Field::Crowd),
        ("points", Field::Points),
        ("point_offsets", Field::PointOffsets),
        ("polygon_offsets", Field::PolygonOffsets),
    ];
    for (name, field) in fields {
        put(dict, name, Tensor::field(batch, field))?;
    }
    if wanted.keypoints > 0 {
        let each = wanted.keypoints;
        put(dict, "keypoints", Some(Tensor::floats(keypoints(objects, each), &[n, each, 3])))?;
    }
    Ok(())
}

/// As many keypoints for each object; one that has none has points that are not labelled.
fn keypoints(objects: &BatchObjects, each: usize) -> Vec<f32> {
    let mut all = Vec::with_capacity(objects.len() * each * 3);
    for ends in objects.keypoint_offsets.windows(2) {
        let own = objects.keypoints.get(ends[0]..ends[1]).unwrap_or_default();
        let padding = std::iter::repeat_n([0.0; 3], each.saturating_sub(own.len()));
        all.extend(own.iter().take(each).copied().chain(padding).flatten());
    }
    all
}

fn put(dict: &Bound<'_, PyDict>, name: &str, tensor: Option<Tensor>) -> PyResult<()> {
    match tensor {
        Some(tensor) => dict.set_item(PyString::intern(dict.py(), name), Bound::new(dict.py(), tensor)?),
        None => Ok(()),
    }
}

fn statuses<'py>(py: Python<'py>, status: &[Status]) -> PyResult<Bound<'py, PyList>> {
    let word = |status: &Status| match status {
        Status::Ok => intern!(py, "ok"),
        Status::Padded => intern!(py, "padded"),
        Status::Substituted { .. } => intern!(py, "substituted"),
    };
    PyList::new(py, status.iter().map(word))
}
