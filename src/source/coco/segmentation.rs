//! The outline of an object as COCO writes it: polygons, or the run lengths of a mask.

use super::outline::outline;
use super::rle::{Columns, decode};
use crate::source::labels::polygon::is_line;
use serde::Deserialize;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The outline of an object, in any of the ways in which COCO writes it.
#[derive(Debug, Default)]
pub(super) enum Segmentation {
    #[default]
    None,
    Polygons(Vec<Vec<f64>>),
    /// Height and width, and run lengths.
    Runs {
        size: Option<[u32; 2]>,
        counts: Option<Counts>,
    },
}

impl Segmentation {
    /// The outline in pixels; nothing where there is none.
    pub(super) fn polygons(self) -> Result<Vec<Vec<[f32; 2]>>, String> {
        match self {
            Segmentation::None => Ok(Vec::new()),
            Segmentation::Polygons(parts) => {
                let parts: Vec<_> = parts.iter().map(|numbers| polygon(numbers)).collect::<Result<_, _>>()?;
                // Among others a part without area does no harm, and tools do write some.
                match !parts.is_empty() && parts.iter().all(|part| is_line(part)) {
                    true => {
                        Err("the outline has no area: the points of each part lie on one line".to_owned())
                    }
                    false => Ok(parts),
                }
            }
            Segmentation::Runs { size: Some([height, width]), counts: Some(counts) } => {
                let counts = match counts {
                    Counts::List(counts) => counts,
                    Counts::Text(text) => decode(&text)?,
                };
                let polygons = outline(&Columns::new(height, width, &counts)?);
                if polygons.is_empty() { Err("the mask is empty".to_owned()) } else { Ok(polygons) }
            }
            Segmentation::Runs { .. } => Err("a mask needs `size` and `counts`".to_owned()),
        }
    }
}

fn polygon(numbers: &[f64]) -> Result<Vec<[f32; 2]>, String> {
    match numbers.as_chunks::<2>() {
        (points, []) if points.len() >= 3 => {
            Ok(points.iter().map(|point| point.map(|value| value as f32)).collect())
        }
        _ => Err(format!("a polygon of {} numbers; it must have at least 3 points of 2", numbers.len())),
    }
}

/// Run lengths, uncompressed or compressed.
#[derive(Debug)]
pub(super) enum Counts {
    List(Vec<u64>),
    Text(String),
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrText;
        impl<'de> Visitor<'de> for ListOrText {
            type Value = Counts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("run lengths as a list of numbers or a string")
            }
            fn visit_str<E>(self, text: &str) -> Result<Counts, E> {
                Ok(Counts::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Counts, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(Counts::List)
            }
        }
        deserializer.deserialize_any(ListOrText)
    }
}

impl<'de> Deserialize<'de> for Segmentation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PolygonsOrRuns;
        impl<'de> Visitor<'de> for PolygonsOrRuns {
            type Value = Segmentation;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of polygons, or a mask with `size` and `counts`")
            }
            fn visit_unit<E>(self) -> Result<Segmentation, E> {
                Ok(Segmentation::None)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Segmentation, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(Segmentation::Polygons)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Segmentation, A::Error> {
                let (mut size, mut counts) = (None, None);
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "size" => size = Some(map.next_value()?),
                        "counts" => counts = Some(map.next_value()?),
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(Segmentation::Runs { size, counts })
            }
        }
        deserializer.deserialize_any(PolygonsOrRuns)
    }
}
