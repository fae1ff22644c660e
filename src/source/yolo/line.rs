//! One line of a YOLO label file: a class, and a box, a polygon, or a box and keypoints.

use crate::label::{Keypoint, Object};
use crate::source::labels::bounds;
use crate::source::labels::polygon::is_line;

/// How far numbers may lie beyond 0 and 1: what is within is rounding, and is cut off; what is beyond is an error.
const SLACK: f64 = 0.01;
/// Corners that lie beyond the image by less than this are not counted as clipped: labels have six digits, often five.
const ROUNDING: f64 = 1e-5;

/// What the lines of a data set look like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// How many classes there are, where that is known.
    pub(super) classes: Option<u32>,
    /// How many keypoints an object has, and how many numbers a keypoint: 2, or 3 with its visibility.
    pub(super) keypoints: Option<(usize, usize)>,
}

/// The object of a line and whether it was cut off at the image's edge, or what is wrong with it.
pub(super) fn parse(line: &str, shape: &Shape, numbers: &mut Vec<f64>) -> Result<(Object, bool), String> {
    numbers.clear();
    for word in line.split_ascii_whitespace() {
        numbers.push(number(word)?);
    }
    let columns = numbers.len();
    let Some((&class, values)) = numbers.split_first() else { return Err("the line is empty".to_owned()) };
    let is_polygon = columns >= 7 && columns % 2 == 1 && shape.keypoints.is_none();
    let fits = match shape.keypoints {
        Some((count, numbers)) => columns == 5 + count * numbers,
        None => columns == 5 || is_polygon,
    };
    if !fits {
        return Err(wrong_columns(columns, shape));
    }
    let mut edge = Edge::default();
    let mut object = Object { class: class_of(class, shape)?, ..Object::default() };
    if is_polygon {
        let (points, _) = values.as_chunks::<2>();
        let polygon: Result<Vec<_>, String> = points.iter().map(|&point| edge.point(point)).collect();
        let polygon = polygon?;
        object.bbox = bounds(&polygon);
        object.polygons = vec![polygon];
    } else {
        object.bbox = edge.rectangle([values[0], values[1], values[2], values[3]])?;
    }
    let [left, top, right, bottom] = object.bbox;
    if right <= left || bottom <= top {
        return Err("the object has no size: its width or height is zero".to_owned());
    }
    if object.polygons.iter().any(|polygon| is_line(polygon)) {
        return Err("the polygon has no area: all its points lie on one line".to_owned());
    }
    if let Some((_, numbers)) = shape.keypoints {
        let points = values[4..].chunks_exact(numbers);
        object.keypoints = points.map(|point| keypoint(point, &mut edge)).collect::<Result<_, _>>()?;
    }
    Ok((object, edge.clipped))
}

fn number(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(format!("`{word}` is not finite")),
        Err(_) => Err(format!("`{}` is no number", shortened(word))),
    }
}

fn shortened(word: &str) -> String {
    word.chars().take(20).flat_map(char::escape_default).collect()
}

fn class_of(class: f64, shape: &Shape) -> Result<i64, String> {
    if class < 0.0 || class.fract() != 0.0 || class > f64::from(u32::MAX) {
        return Err(format!("the class {class} is no index: it must be a whole number from 0"));
    }
    match shape.classes {
        Some(classes) if class >= f64::from(classes) => {
            Err(format!("the class {class} is not below the {classes} classes of the data set"))
        }
        _ => Ok(class as i64),
    }
}

fn wrong_columns(columns: usize, shape: &Shape) -> String {
    let wanted = match shape.keypoints {
        Some((count, numbers)) => {
            format!("{} (class, box, {count} keypoints of {numbers})", 5 + count * numbers)
        }
        None => "5 (class, centre, width and height), or the class and at least 3 points".to_owned(),
    };
    let hint = match columns {
        4 => "; is the class missing?",
        6 => "; a sixth column, such as a confidence, has no place here",
        _ => "",
    };
    format!("{columns} columns, expected {wanted}{hint}")
}

/// Brings numbers into the image, and notes whether that changed them.
#[derive(Default)]
struct Edge {
    clipped: bool,
}

impl Edge {
    fn clip(&mut self, value: f64) -> Result<f64, String> {
        if !(-SLACK..=1.0 + SLACK).contains(&value) {
            return Err(format!(
                "{value} is out of range: numbers are parts of the image's size, from 0 to 1"
            ));
        }
        Ok(self.cut(value))
    }

    fn cut(&mut self, value: f64) -> f64 {
        self.clipped |= !(-ROUNDING..=1.0 + ROUNDING).contains(&value);
        value.clamp(0.0, 1.0)
    }

    fn point(&mut self, [x, y]: [f64; 2]) -> Result<[f32; 2], String> {
        Ok([self.clip(x)? as f32, self.clip(y)? as f32])
    }

    /// The corners of a box that is given by centre, width and height.
    fn rectangle(&mut self, [x, y, width, height]: [f64; 4]) -> Result<[f32; 4], String> {
        if width <= 0.0 || height <= 0.0 {
            return Err(format!("the box has the size {width} x {height}: both must be above zero"));
        }
        let (x, y, width, height) = (self.clip(x)?, self.clip(y)?, self.clip(width)?, self.clip(height)?);
        let corners = [x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0];
        Ok(corners.map(|corner| self.cut(corner) as f32))
    }
}

/// A point without a visibility counts as visible, except at (0, 0), where those lie that are not labelled.
fn keypoint(numbers: &[f64], edge: &mut Edge) -> Result<Keypoint, String> {
    let (x, y) = (numbers[0], numbers[1]);
    let visibility = match numbers.get(2) {
        Some(&visibility) => visibility,
        None if (x, y) == (0.0, 0.0) => 0.0,
        None => 2.0,
    };
    if ![0.0, 1.0, 2.0].contains(&visibility) {
        return Err(format!("the visibility {visibility} of a keypoint is none of 0, 1 and 2"));
    }
    if visibility == 0.0 {
        return Ok(Keypoint::default());
    }
    let [x, y] = edge.point([x, y])?;
    Ok(Keypoint { x, y, visibility: visibility as f32 })
}
