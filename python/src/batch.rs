//! A batch as the dict that Python's trainers expect.

use crate::error::to_python;
use crate::records::FRACTION;
use crate::tensor::Tensor;
use feedline::dlpack::Field;
use feedline::field::{FieldType, OFFSETS};
use feedline::loader::{Batch, BatchField, BatchObjects, BatchView, Status};
use feedline::source::Source;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use std::sync::Arc;

/// What a batch's dict holds besides what the batch itself has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Columns of the dense labels, if they are wanted.
    pub(crate) classes: Option<usize>,
    pub(crate) smoothing: f32,
    /// Keypoints of an object.
    pub(crate) keypoints: usize,
    /// Whether classes and rows of objects are float32.
    pub(crate) float_objects: bool,
    /// Whether the loader was told its views, even if it is one.
    pub(crate) views: bool,
}

/// Keys and values: tensors, and lists of strings; of views also lists of them.
pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    batch: Batch,
    wanted: Wanted,
    source: &dyn Source,
) -> PyResult<Bound<'py, PyDict>> {
    let batch = Arc::new(batch);
    let dict = PyDict::new(py);
    let fields = [("image", Field::Images), ("label", Field::Labels), ("index", Field::Indices)];
    for (name, field) in fields {
        put(&dict, name, Tensor::field(&batch, field))?;
    }
    dict.set_item(intern!(py, "key"), PyList::new(py, batch.keys())?)?;
    dict.set_item(intern!(py, "status"), statuses(py, batch.status())?)?;
    for field in batch.fields() {
        let values = if field.name() == FRACTION { fractions(py, field)? } else { values(py, field)? };
        dict.set_item(PyString::intern(py, field.name()), values)?;
        if field.kind().is_list() && field.list_length().is_none() {
            let offsets = field.offsets().iter().map(|offset| *offset as i64).collect();
            put(
                &dict,
                &format!("{}{OFFSETS}", field.name()),
                Some(Tensor::integers(offsets, &[field.len() + 1])),
            )?;
        }
    }
    // As DETR's models take them.
    put(&dict, "mask", Tensor::field(&batch, Field::Padding))?;
    put(&dict, "size", Tensor::field(&batch, Field::Sizes))?;
    put_labels(&dict, &batch, 0, wanted)?;
    if batch.objects().is_some() {
        dict.set_item(intern!(py, "im_file"), files(py, &batch, source)?)?;
        let sizes = batch.original_sizes().iter().map(|[height, width]| (*height, *width));
        dict.set_item(intern!(py, "ori_shape"), PyList::new(py, sizes)?)?;
    }
    if wanted.views {
        put_views(&dict, &batch, wanted)?;
    }
    Ok(dict)
}

/// Labels that are numbers, in the precision that networks have.
fn fractions<'py>(py: Python<'py>, field: &BatchField) -> PyResult<Bound<'py, PyAny>> {
    let numbers: Vec<f32> = field.floats().unwrap_or_default().iter().map(|number| *number as f32).collect();
    Ok(Bound::new(py, Tensor::floats(numbers, &[field.len()]))?.into_any())
}

/// The path of each row's file, or its key where it has no file of its own.
fn files<'py>(py: Python<'py>, batch: &Batch, source: &dyn Source) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (&index, key) in batch.indices().iter().zip(batch.keys()) {
        match source.path(index as usize) {
            Some(path) => list.append(path.as_os_str())?,
            None => list.append(key)?,
        }
    }
    Ok(list)
}

/// Numbers as a tensor; text, bytes and what JSON says as a list of Python's own.
fn values<'py>(py: Python<'py>, field: &BatchField) -> PyResult<Bound<'py, PyAny>> {
    let rows = field.len();
    let shape = |numbers: usize| match field.list_length() {
        Some(length) => vec![rows, length],
        None => vec![numbers],
    };
    if let Some(numbers) = field.integers() {
        return Ok(Bound::new(py, Tensor::integers(numbers.to_vec(), &shape(numbers.len())))?.into_any());
    }
    if let Some(numbers) = field.floats() {
        return Ok(Bound::new(py, Tensor::doubles(numbers.to_vec(), &shape(numbers.len())))?.into_any());
    }
    let list = PyList::empty(py);
    let loads = py.import("json")?.getattr("loads")?;
    for row in 0..rows {
        let (text, bytes) = (field.text(row).unwrap_or_default(), field.bytes(row).unwrap_or_default());
        match field.kind() {
            FieldType::Bytes => list.append(PyBytes::new(py, bytes))?,
            FieldType::Json => list.append(loads.call1((text,))?)?,
            _ => list.append(text)?,
        }
    }
    Ok(list.into_any())
}

/// The pixels of all views, and what else each has of its own, where it has that.
fn put_views(dict: &Bound<'_, PyDict>, batch: &Arc<Batch>, wanted: Wanted) -> PyResult<()> {
    let py = dict.py();
    let (images, labels) = (PyList::empty(py), PyList::empty(py));
    for number in 0..batch.view_count() {
        if let Some(pixels) = Tensor::of_view(batch, number, Field::Images) {
            images.append(Bound::new(py, pixels)?)?;
        }
        let own = PyDict::new(py);
        put_labels(&own, batch, number, wanted)?;
        labels.append(own)?;
    }
    dict.set_item(intern!(py, "views"), images)?;
    dict.set_item(intern!(py, "view_labels"), labels)
}

/// What is known of the pixels of a view: dense labels, masks and objects.
fn put_labels(dict: &Bound<'_, PyDict>, batch: &Arc<Batch>, number: usize, wanted: Wanted) -> PyResult<()> {
    let Some(view) = batch.view(number) else { return Ok(()) };
    let of_objects = Tensor::of_view(batch, number, Field::InstanceMasks);
    // Both are `masks` to those who train with them.
    let semantic = if of_objects.is_some() { "semantic_masks" } else { "masks" };
    put(dict, semantic, Tensor::of_view(batch, number, Field::Masks))?;
    for (picture, name) in (0..).zip(batch.picture_names()) {
        put(dict, name, Tensor::of_view(batch, number, Field::Picture(picture)))?;
    }
    put(dict, "masks", of_objects)?;
    if let Some(classes) = wanted.classes {
        let dense = view.one_hot(classes, wanted.smoothing).map_err(|error| to_python(dict.py(), error))?;
        put(dict, "target", Some(Tensor::floats(dense, &[batch.len(), classes])))?;
    }
    match view.objects() {
        Some(objects) => {
            put_places(dict, view)?;
            put_objects(dict, (batch, number), objects, wanted)
        }
        None => Ok(()),
    }
}

/// How large samples are, and by how much and how far their images were scaled and moved, as Ultralytics' validation asks it.
fn put_places(dict: &Bound<'_, PyDict>, view: BatchView<'_>) -> PyResult<()> {
    let py = dict.py();
    let [rows, height, width] = view.image_size();
    let sizes = match view.sizes() {
        Some(sizes) => sizes.iter().map(|[height, width]| (*height, *width)).collect(),
        None => vec![(height as i64, width as i64); rows],
    };
    dict.set_item(intern!(py, "resized_shape"), PyList::new(py, sizes)?)?;
    let places = view.placements().iter().map(|place| {
        let place = place.as_ref()?;
        Some(((place.ratio[1], place.ratio[0]), (place.pad[0], place.pad[1])))
    });
    dict.set_item(intern!(py, "ratio_pad"), PyList::new(py, places.collect::<Vec<_>>())?)
}

/// As YOLO trainers name them; with n objects in the view `number` of the batch.
fn put_objects(
    dict: &Bound<'_, PyDict>,
    (batch, number): (&Arc<Batch>, usize),
    objects: &BatchObjects,
    wanted: Wanted,
) -> PyResult<()> {
    let n = objects.len();
    let floats = |numbers: &[i64]| numbers.iter().map(|number| *number as f32).collect::<Vec<_>>();
    if wanted.float_objects {
        put(dict, "cls", Some(Tensor::floats(floats(&objects.classes), &[n, 1])))?;
        put(dict, "batch_idx", Some(Tensor::floats(floats(&objects.batch_index), &[n])))?;
    } else {
        put(dict, "cls", Some(Tensor::integers(objects.classes.clone(), &[n, 1])))?;
        put(dict, "batch_idx", Tensor::of_view(batch, number, Field::BatchIndex))?;
    }
    let fields = [
        ("bboxes", Field::Boxes),
        ("share", Field::Shares),
        ("crowd", Field::Crowd),
        ("points", Field::Points),
        ("point_offsets", Field::PointOffsets),
        ("polygon_offsets", Field::PolygonOffsets),
    ];
    for (name, field) in fields {
        put(dict, name, Tensor::of_view(batch, number, field))?;
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
