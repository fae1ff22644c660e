//! Labels as words: read from a file or the command line, and printed where they have been moved to.

use anyhow::Context;
use feedline::label::{BoxFormat, Keypoint, Object, Objects, Unit};
use feedline::plan::label_apply::TransformedObject;
use feedline::source::Yolo;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// One object as JSON, in pixels of the upright image.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Words {
    class: i64,
    /// Left, top, right, bottom.
    bbox: [f32; 4],
    polygons: Vec<Vec<[f32; 2]>>,
    /// x, y, visibility.
    keypoints: Vec<[f32; 3]>,
    crowd: bool,
}

fn object(Words { class, bbox, polygons, keypoints, crowd }: Words) -> Object {
    let keypoint = |[x, y, visibility]: [f32; 3]| Keypoint { x, y, visibility };
    Object { class, bbox, polygons, keypoints: keypoints.into_iter().map(keypoint).collect(), crowd }
}

/// The labels in a YOLO text file, or in the argument itself: a JSON list of objects.
pub(crate) fn read(labels: &str) -> anyhow::Result<Arc<Objects>> {
    if labels.trim_start().starts_with('[') {
        return parse(serde_json::from_str(labels).context("the labels are no JSON")?);
    }
    Ok(Arc::new(Yolo::labels_of(labels)?))
}

/// The labels in JSON.
pub(crate) fn parse(list: Value) -> anyhow::Result<Arc<Objects>> {
    let words: Vec<Words> = serde_json::from_value(list).context("labels are a list of objects")?;
    let list = words.into_iter().map(object).collect();
    Ok(Arc::new(Objects { unit: Unit::Pixels, list, skeleton: None }))
}

/// An object as JSON.
pub(crate) fn describe(object: &TransformedObject, format: BoxFormat) -> Value {
    json!({
        "image": object.image,
        "class": object.class,
        "bbox": object.box_in(format),
        "polygons": object.polygons,
        "keypoints": object.keypoints,
        "crowd": object.crowd,
        "share": object.share,
    })
}
