//! COCO's JSON, read as a stream: an annotation is made small before the next one is looked at.

use super::annotation::Annotation;
use crate::label::Unit;
use crate::source::labels::table::Table;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::Read;

/// An entry of `images`.
#[derive(Debug, Deserialize)]
pub(super) struct Image {
    pub(super) id: i64,
    pub(super) file_name: String,
    #[serde(default)]
    pub(super) width: Option<u32>,
    #[serde(default)]
    pub(super) height: Option<u32>,
}

/// An entry of `categories`.
#[derive(Debug, Deserialize)]
pub(super) struct Category {
    pub(super) id: i64,
    pub(super) name: String,
    #[serde(default)]
    pub(super) keypoints: Option<Vec<String>>,
}

/// Whose an annotation is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) annotation: Option<i64>,
    pub(super) image: i64,
    pub(super) category: i64,
    /// Width and height of its mask, where it has one.
    pub(super) mask: Option<[u32; 2]>,
}

/// The whole file.
#[derive(Debug, Default)]
pub(super) struct Coco {
    pub(super) images: Option<Vec<Image>>,
    pub(super) categories: Option<Vec<Category>>,
    pub(super) owners: Vec<Owner>,
    /// One object for each owner; nothing for a bad one. Classes are not known yet.
    pub(super) objects: Table,
    /// The numbers of bad annotations, in order, with their causes.
    pub(super) bad: Vec<(usize, String)>,
}

/// Reads a file to its end.
pub(super) fn read(input: impl Read) -> serde_json::Result<Coco> {
    let mut coco = Coco { objects: Table::new(Unit::Pixels, None), ..Coco::default() };
    let mut deserializer = serde_json::Deserializer::from_reader(input);
    deserializer.deserialize_map(Whole(&mut coco))?;
    deserializer.end()?;
    Ok(coco)
}

struct Whole<'a>(&'a mut Coco);

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("COCO annotations: an object with `images`, `annotations` and `categories`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "images" => self.0.images = Some(map.next_value()?),
                "categories" => self.0.categories = Some(map.next_value()?),
                "annotations" => map.next_value_seed(Annotations(self.0))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

struct Annotations<'a>(&'a mut Coco);

impl<'de> DeserializeSeed<'de> for Annotations<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Annotations<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of annotations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(annotation) = list.next_element::<Annotation>()? {
            let Coco { owners, objects, bad, .. } = &mut *self.0;
            let owner = Owner {
                annotation: annotation.id,
                image: annotation.image_id,
                category: annotation.category_id,
                mask: annotation.mask_size(),
            };
            let pushed = match annotation.object() {
                Ok(object) => objects.push(&[object]),
                Err(cause) => {
                    bad.push((owners.len(), cause));
                    objects.push(&[])
                }
            };
            pushed.map_err(A::Error::custom)?;
            owners.push(owner);
        }
        Ok(())
    }
}
