//! Which columns of a Parquet file hold the images, their paths and their labels.

use super::column::ListLevels;
use crate::field::{Field, FieldType};
use crate::source::field_values::unknown;
use crate::source::listed::listed;
use parquet::basic::{ConvertedType, Type};
use parquet::file::metadata::FileMetaData;
use parquet::schema::types::ColumnDescPtr;
use serde_json::Value;
use std::collections::HashMap;

/// What a column of images may be called; of several that are there, the first of these counts.
const IMAGE_COLUMNS: [&str; 8] =
    ["image", "img", "jpg", "jpeg", "png", "webp", "image_bytes", "image/encoded"];
/// The same for labels.
const LABEL_COLUMNS: [&str; 8] =
    ["label", "labels", "cls", "class", "target", "fine_label", "category", "image/class/label"];

/// The columns that were asked for by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    pub(super) image: Option<String>,
    pub(super) label: Option<String>,
    pub(super) fields: Vec<Field>,
}

/// The columns of one file, as indices of leaves of its schema.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The bytes of images.
    pub(super) image: usize,
    /// What the images are called.
    pub(super) path: Option<usize>,
    pub(super) label: Option<usize>,
    /// Names of the classes, where the file has them.
    pub(super) classes: Vec<String>,
    /// The column of each field.
    pub(super) fields: Vec<FieldColumn>,
}

/// A column that is read beside the images.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldColumn {
    pub(super) leaf: usize,
    pub(super) stored: Stored,
    /// Whether rows are lists of values.
    pub(super) lists: bool,
}

/// How the values of a column are stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stored {
    Bytes,
    Boolean,
    Int32(ConvertedType),
    Int64(ConvertedType),
    Float,
    Double,
}

impl Columns {
    pub(super) fn of(about: &FileMetaData, wanted: &Wanted) -> Result<Self, String> {
        let features = features(about);
        let leaves = Leaves::of(about);
        let image = leaves.image(wanted.image.as_deref(), &features)?;
        let label = leaves.label(wanted.label.as_deref(), &features)?;
        let classes = label.map_or_else(Vec::new, |label| names(&features[leaves.root(label)]));
        let path = leaves.below[leaves.root(image)].path.filter(|&leaf| leaves.kind(leaf) == Kind::Text);
        let fields = wanted.fields.iter().map(|field| leaves.field(field)).collect::<Result<_, _>>()?;
        Ok(Self { image, path, label, classes, fields })
    }

    /// All of them.
    pub(super) fn leaves(&self) -> Vec<usize> {
        let fields = self.fields.iter().map(|field| Some(field.leaf));
        [Some(self.image), self.path, self.label].into_iter().chain(fields).flatten().collect()
    }
}

/// The features of a data set of the Hugging Face hub, by column; null where the file has none.
fn features(about: &FileMetaData) -> Value {
    let entries = about.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let text =
        entries.iter().find(|entry| entry.key == "huggingface").and_then(|entry| entry.value.as_deref());
    let said: Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    said["info"]["features"].clone()
}

/// The names of a `ClassLabel`.
fn names(feature: &Value) -> Vec<String> {
    let names = feature["names"].as_array().map_or(&[][..], Vec::as_slice);
    names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether whole numbers of this type are no dates, times or decimals.
fn is_integer(converted: ConvertedType) -> bool {
    use ConvertedType::{INT_8, INT_16, INT_32, INT_64, NONE, UINT_8, UINT_16, UINT_32, UINT_64};
    matches!(converted, NONE | INT_8 | INT_16 | INT_32 | INT_64 | UINT_8 | UINT_16 | UINT_32 | UINT_64)
}

/// The leaves of a schema. A footer may name tens of thousands, so each is looked at a few times only.
struct Leaves<'a> {
    columns: &'a [ColumnDescPtr],
    /// Those that may count, by the first part of their path.
    below: HashMap<&'a str, Below>,
}

/// The leaf that is a column itself, and leaves that are fields of one.
#[derive(Default)]
struct Below {
    itself: Option<usize>,
    /// The values of lists.
    list: Option<usize>,
    bytes: Option<usize>,
    path: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bytes,
    Text,
    Integer,
    Other,
}

impl<'a> Leaves<'a> {
    fn of(about: &'a FileMetaData) -> Self {
        let columns = about.schema_descr().columns();
        let mut below = HashMap::<_, Below>::new();
        for (leaf, column) in columns.iter().enumerate() {
            let [root, fields @ ..] = column.path().parts() else { continue };
            let below = below.entry(root.as_str()).or_default();
            let place = match fields {
                _ if ListLevels::of(column).is_some() => &mut below.list,
                [] => &mut below.itself,
                [field] if field == "bytes" => &mut below.bytes,
                [field] if field == "path" => &mut below.path,
                _ => continue,
            };
            place.get_or_insert(leaf);
        }
        Self { columns, below }
    }

    /// The name of the column that a leaf is, or is a field of.
    fn root(&self, leaf: usize) -> &'a str {
        self.columns[leaf].path().parts().first().map_or("", String::as_str)
    }

    fn roots(&self) -> impl Iterator<Item = &'a str> {
        (0..self.columns.len()).map(|leaf| self.root(leaf))
    }

    fn kind(&self, leaf: usize) -> Kind {
        match self.columns[leaf].max_rep_level() {
            0 => self.kind_of_values(leaf),
            _ => Kind::Other,
        }
    }

    /// The same of what lists hold too.
    fn kind_of_values(&self, leaf: usize) -> Kind {
        let column = &self.columns[leaf];
        match column.physical_type() {
            Type::BYTE_ARRAY => match column.converted_type() {
                ConvertedType::NONE => Kind::Bytes,
                ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Kind::Text,
                _ => Kind::Other,
            },
            Type::INT32 | Type::INT64 if is_integer(column.converted_type()) => Kind::Integer,
            _ => Kind::Other,
        }
    }

    /// The leaf that holds images below a column: itself, or its field `bytes`.
    fn image_in(&self, root: &str) -> Option<usize> {
        let below = self.below.get(root)?;
        below.itself.or(below.bytes).filter(|&leaf| self.kind(leaf) == Kind::Bytes)
    }

    fn label_in(&self, root: &str) -> Option<usize> {
        let Below { itself, list, .. } = self.below.get(root)?;
        itself.or(*list).filter(|&leaf| matches!(self.kind_of_values(leaf), Kind::Text | Kind::Integer))
    }

    fn image(&self, wanted: Option<&str>, features: &Value) -> Result<usize, String> {
        let there = || self.shown();
        if let Some(name) = wanted {
            return self.image_in(name).ok_or_else(|| {
                format!("no column `{name}` holds bytes (there are {}): name one that does", there())
            });
        }
        let known = IMAGE_COLUMNS.into_iter();
        let said =
            self.of_type(features, "Image").or_else(|| known.clone().find_map(|name| self.image_in(name)));
        if let Some(leaf) = said {
            return Ok(leaf);
        }
        let mut all: Vec<usize> = self.roots().filter_map(|root| self.image_in(root)).collect();
        all.dedup();
        match all[..] {
            [leaf] => Ok(leaf),
            _ => Err(format!(
                "{} columns could hold images (there are {}): name the one that does (image_column)",
                all.len(),
                there()
            )),
        }
    }

    fn label(&self, wanted: Option<&str>, features: &Value) -> Result<Option<usize>, String> {
        if let Some(name) = wanted {
            let remedy = "name one that does";
            return self.label_in(name).map(Some).ok_or_else(|| {
                format!(
                    "no column `{name}` holds whole numbers or text (there are {}): {remedy}",
                    self.shown()
                )
            });
        }
        let known = || LABEL_COLUMNS.into_iter().find_map(|name| self.label_in(name));
        Ok(known().or_else(|| self.of_type(features, "ClassLabel")))
    }

    /// The column of a field: one of the schema, or with dots a field of one.
    fn field(&self, field: &Field) -> Result<FieldColumn, String> {
        let from = field.stored_as();
        let found = self.columns.iter().position(|column| column.path().string() == from);
        let of_list = || self.below.get(from).and_then(|below| below.list).filter(|_| field.kind().is_list());
        let found = found.or_else(of_list);
        let Some(leaf) = found else {
            let names: Vec<String> = self.columns.iter().map(|column| column.path().string()).collect();
            return Err(unknown(field, "column", names.iter().map(String::as_str)));
        };
        let (physical, converted) = (self.columns[leaf].physical_type(), self.columns[leaf].converted_type());
        let lists = field.kind().is_list() && ListLevels::of(&self.columns[leaf]).is_some();
        let kind = if lists { self.kind_of_values(leaf) } else { self.kind(leaf) };
        let stored = match (kind, physical) {
            (Kind::Bytes | Kind::Text, _) => Some(Stored::Bytes),
            (Kind::Integer, Type::INT32) => Some(Stored::Int32(converted)),
            (Kind::Integer, _) => Some(Stored::Int64(converted)),
            (Kind::Other, _) if self.columns[leaf].max_rep_level() > 0 && !lists => None,
            (Kind::Other, Type::BOOLEAN) => Some(Stored::Boolean),
            (Kind::Other, Type::FLOAT) => Some(Stored::Float),
            (Kind::Other, Type::DOUBLE) => Some(Stored::Double),
            (Kind::Other, _) => None,
        };
        let serves = |stored: &Stored| match field.kind() {
            FieldType::Text | FieldType::Bytes | FieldType::Json | FieldType::Image | FieldType::Depth => {
                matches!(stored, Stored::Bytes)
            }
            FieldType::Integer => !matches!(stored, Stored::Bytes | Stored::Float | Stored::Double),
            FieldType::Float => !matches!(stored, Stored::Bytes | Stored::Boolean),
            // As text too.
            FieldType::Integers => match lists {
                true => matches!(stored, Stored::Int32(_) | Stored::Int64(_)),
                false => matches!(stored, Stored::Bytes),
            },
            FieldType::Floats => match lists {
                true => !matches!(stored, Stored::Bytes | Stored::Boolean),
                false => matches!(stored, Stored::Bytes),
            },
        };
        match stored.filter(serves) {
            Some(stored) => Ok(FieldColumn { leaf, stored, lists }),
            None => {
                let holds = match stored {
                    _ if lists => "lists of something else".to_owned(),
                    None => "lists, dates, decimals or what else is not read as such".to_owned(),
                    Some(Stored::Bytes) => "text or bytes".to_owned(),
                    Some(Stored::Float | Stored::Double) => "numbers: declare it as float".to_owned(),
                    Some(_) => "whole numbers: declare it as integer".to_owned(),
                };
                Err(format!("{field} is {}, and the column `{from}` holds {holds}", field.kind()))
            }
        }
    }

    /// The first column that has this type according to the features.
    fn of_type(&self, features: &Value, wanted: &str) -> Option<usize> {
        let is_it = |root: &&str| features[*root]["_type"] == wanted;
        let leaf = |root: &str| if wanted == "Image" { self.image_in(root) } else { self.label_in(root) };
        self.roots().filter(is_it).find_map(leaf)
    }

    fn shown(&self) -> String {
        listed(self.columns.iter().map(|column| column.path().string()))
    }
}
