//! The JSON beside a packed image that says its objects, which `docs/shards.md` describes: written and read.

#[cfg(feature = "pack")]
use crate::label::Objects;
use crate::label::{Keypoint, Object, Skeleton, Unit};
use serde::Deserialize;
#[cfg(feature = "pack")]
use serde::Serialize;

/// Maximal size of the JSON of one record.
pub(in crate::source) const MAX_JSON_BYTES: u64 = 64 << 20;

/// What is said of a record.
#[cfg(feature = "pack")]
#[derive(Debug, Serialize)]
pub(crate) struct About<'a> {
    /// The name of the record's class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<&'a str>,
    /// The names of its classes, where it has a list of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) classes: Option<&'a [&'a str]>,
    pub(crate) key: &'a str,
    /// The checksum of the JPEG that a file of coefficients is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jpeg_sha256: Option<&'a str>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) labels: Option<Written<'a>>,
}

/// The objects of a record, as they are written.
#[cfg(feature = "pack")]
#[derive(Debug, Serialize)]
pub(crate) struct Written<'a> {
    /// The size of the upright image in pixels.
    width: u32,
    height: u32,
    unit: Unit,
    objects: Vec<WrittenObject<'a>>,
}

#[cfg(feature = "pack")]
#[derive(Debug, Serialize)]
struct WrittenObject<'a> {
    label: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'a str>,
    #[serde(rename = "box")]
    bbox: [f32; 4],
    #[serde(skip_serializing_if = "is_false")]
    crowd: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    polygons: &'a [Vec<[f32; 2]>],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keypoints: Vec<[f32; 3]>,
}

#[cfg(feature = "pack")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(feature = "pack")]
impl<'a> Written<'a> {
    /// The objects of an upright image of `width` x `height` pixels, whose classes are called `classes`.
    ///
    /// # Errors
    /// An object that cannot be written: a coordinate that is not finite, a box that ends before it begins, or a class that is
    /// none.
    pub(crate) fn of(
        objects: &'a Objects,
        [width, height]: [u32; 2],
        classes: &'a [String],
    ) -> Result<Self, String> {
        let write = |(number, object): (usize, &'a Object)| {
            let Object { class, bbox, polygons, keypoints, crowd } = object;
            let keypoints: Vec<_> =
                keypoints.iter().map(|point| [point.x, point.y, point.visibility]).collect();
            check(*class, *bbox, polygons, &keypoints).map_err(|what| format!("object {number}: {what}"))?;
            let name = usize::try_from(*class).ok().and_then(|class| classes.get(class));
            let (bbox, class) = (*bbox, name.map(String::as_str).filter(|name| !name.is_empty()));
            Ok(WrittenObject { label: object.class, class, bbox, crowd: *crowd, polygons, keypoints })
        };
        let list = objects.list.iter().enumerate().map(write).collect::<Result<_, String>>()?;
        Ok(Self { width, height, unit: objects.unit, objects: list })
    }
}

/// What is read of a record; whatever else the JSON says is left out.
#[derive(Debug, Deserialize)]
struct Read {
    unit: Option<Unit>,
    objects: Option<Vec<ReadObject>>,
}

// Numbers become f32 at once: by way of f64 they would be rounded twice.
#[derive(Debug, Deserialize)]
struct ReadObject {
    label: i64,
    #[serde(rename = "box")]
    bbox: [f32; 4],
    #[serde(default)]
    crowd: bool,
    #[serde(default)]
    polygons: Vec<Vec<[f32; 2]>>,
    #[serde(default)]
    keypoints: Vec<[f32; 3]>,
}

/// The unit and the objects that the JSON of a record says; nothing where it says none.
///
/// # Errors
/// What is wrong with it, and the remedy.
pub(in crate::source) fn read(
    json: &[u8],
    skeleton: Option<&Skeleton>,
) -> Result<Option<(Unit, Vec<Object>)>, String> {
    let Read { unit, objects } = serde_json::from_slice(json)
        .map_err(|error| format!("its JSON says no objects ({error}): mend it, or pack the data again"))?;
    let Some(objects) = objects else { return Ok(None) };
    let unit = unit.ok_or("its JSON has objects and no `unit`: say `pixels` or `normalized`")?;
    let points = skeleton.map_or(0, |skeleton| skeleton.count);
    let take = |(number, object): (usize, ReadObject)| {
        let ReadObject { label, bbox, crowd, polygons, keypoints } = object;
        let refused =
            |what: String| format!("object {number} of its JSON: {what}: mend it, or pack the data again");
        check(label, bbox, &polygons, &keypoints).map_err(refused)?;
        if !keypoints.is_empty() && keypoints.len() != points {
            let found = keypoints.len();
            return Err(refused(format!(
                "it has {found} keypoints, and the manifest says {points} (skeleton)"
            )));
        }
        let point = |[x, y, visibility]: [f32; 3]| Keypoint { x, y, visibility };
        let keypoints = keypoints.into_iter().map(point).collect();
        Ok(Object { class: label, bbox, polygons, keypoints, crowd })
    };
    let list = objects.into_iter().enumerate().map(take).collect::<Result<_, String>>()?;
    Ok(Some((unit, list)))
}

/// What cannot be right in an object.
fn check(class: i64, bbox: [f32; 4], polygons: &[Vec<[f32; 2]>], points: &[[f32; 3]]) -> Result<(), String> {
    if u32::try_from(class).is_err() {
        return Err(format!("the class {class} is none: classes count from 0"));
    }
    let all = bbox.iter().chain(polygons.iter().flatten().flatten()).chain(points.iter().flatten());
    if let Some(number) = all.copied().find(|number| !number.is_finite()) {
        return Err(format!("the coordinate {number} is not finite"));
    }
    match bbox {
        [left, top, right, bottom] if left > right || top > bottom => {
            Err(format!("the box {bbox:?} ends before it begins: give left, top, right and bottom"))
        }
        _ => Ok(()),
    }
}
