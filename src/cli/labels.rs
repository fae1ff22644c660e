//! Labels as words: read from a file or the command line, and printed where they have been moved to.

use anyhow::{Context, bail};
use feedline::label::{BoxFormat, Keypoint, Object, Objects, Unit};
use feedline::plan::carry::Seen;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// One object as JSON, in pixels of the upright image.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    #[serde(default)]
    class: i64,
    /// Left, top, right, bottom.
    #[serde(default)]
    bbox: [f32; 4],
    #[serde(default)]
    polygons: Vec<Vec<[f32; 2]>>,
    /// x, y, visibility.
    #[serde(default)]
    keypoints: Vec<[f32; 3]>,
    #[serde(default)]
    crowd: bool,
}

impl From<Words> for Object {
    fn from(words: Words) -> Self {
        let Words { class, bbox, polygons, crowd, .. } = words;
        let keypoint = |[x, y, visibility]: [f32; 3]| Keypoint { x, y, visibility };
        let keypoints = words.keypoints.into_iter().map(keypoint).collect();
        Self { class, bbox, polygons, keypoints, crowd }
    }
}

/// The labels in a YOLO text file, or in the argument itself: a JSON list of objects.
pub(crate) fn read(labels: &str) -> anyhow::Result<Arc<Objects>> {
    if labels.trim_start().starts_with('[') {
        return parse(serde_json::from_str(labels).context("the labels are no JSON")?);
    }
    let text = std::fs::read_to_string(labels)
        .with_context(|| format!("the labels cannot be read from {labels}: check the path"))?;
    yolo(&text).with_context(|| labels.to_owned())
}

/// The labels in JSON.
pub(crate) fn parse(list: Value) -> anyhow::Result<Arc<Objects>> {
    let words: Vec<Words> = serde_json::from_value(list).context("labels are a list of objects")?;
    let list = words.into_iter().map(Object::from).collect();
    Ok(Arc::new(Objects { unit: Unit::Pixels, list, skeleton: None }))
}

/// A class and a box, or a class and the points of a polygon, on each line.
fn yolo(text: &str) -> anyhow::Result<Arc<Objects>> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let list = lines.map(|(number, line)| yolo_line(line).with_context(|| format!("line {number}")));
    let list = list.collect::<anyhow::Result<_>>()?;
    Ok(Arc::new(Objects { unit: Unit::Normalized, list, skeleton: None }))
}

fn yolo_line(line: &str) -> anyhow::Result<Object> {
    let numbers: Vec<f32> = line
        .split_whitespace()
        .map(|word| word.parse().with_context(|| format!("`{word}` is no number")))
        .collect::<anyhow::Result<_>>()?;
    match numbers[..] {
        [class, x, y, width, height] => {
            let bbox = [x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0];
            Ok(Object { class: class as i64, bbox, ..Object::default() })
        }
        [class, ref points @ ..] if points.len() >= 6 && points.len() % 2 == 0 => {
            let polygon: Vec<[f32; 2]> = points.chunks_exact(2).map(|point| [point[0], point[1]]).collect();
            let least = |axis: usize| polygon.iter().map(|p| p[axis]).fold(f32::INFINITY, f32::min);
            let most = |axis: usize| polygon.iter().map(|p| p[axis]).fold(f32::NEG_INFINITY, f32::max);
            let bbox = [least(0), least(1), most(0), most(1)];
            Ok(Object { class: class as i64, bbox, polygons: vec![polygon], ..Object::default() })
        }
        _ => bail!("a line is a class with four numbers, or with the points of a polygon, all in 0..=1"),
    }
}

/// An object as JSON.
pub(crate) fn describe(object: &Seen, format: BoxFormat) -> Value {
    json!({
        "image": object.image,
        "class": object.class,
        "bbox": format.from_xyxy(object.bbox),
        "polygons": object.polygons,
        "keypoints": object.keypoints,
        "crowd": object.crowd,
        "share": object.share,
    })
}
