//! Which columns of a Parquet file hold the images, their paths and their labels.

use parquet::basic::{ConvertedType, Type};
use parquet::file::metadata::FileMetaData;
use serde_json::Value;

/// What a column of images may be called; of several that are there, the first of these counts.
const IMAGE_COLUMNS: [&str; 8] =
    ["image", "img", "jpg", "jpeg", "png", "webp", "image_bytes", "image/encoded"];
/// The same for labels.
const LABEL_COLUMNS: [&str; 8] =
    ["label", "labels", "cls", "class", "target", "fine_label", "category", "image/class/label"];

/// The columns that were asked for by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) image: Option<String>,
    pub(super) label: Option<String>,
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
}

impl Columns {
    pub(super) fn of(about: &FileMetaData, wanted: &Wanted) -> Result<Self, String> {
        let features = features(about);
        let leaves = Leaves::of(about);
        let image = leaves.image(wanted.image.as_deref(), &features)?;
        let label = leaves.label(wanted.label.as_deref(), &features)?;
        let classes = label.map_or_else(Vec::new, |label| names(&features[leaves.roots[label].as_str()]));
        let path =
            leaves.child(&leaves.roots[image], "path").filter(|&leaf| leaves.kinds[leaf] == Kind::Text);
        Ok(Self { image, path, label, classes })
    }

    /// All of them.
    pub(super) fn leaves(&self) -> Vec<usize> {
        [Some(self.image), self.path, self.label].into_iter().flatten().collect()
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

/// The leaves of a schema: the path of each, its first part, and what it holds.
struct Leaves {
    paths: Vec<Vec<String>>,
    roots: Vec<String>,
    kinds: Vec<Kind>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bytes,
    Text,
    Integer,
    Other,
}

impl Leaves {
    fn of(about: &FileMetaData) -> Self {
        let columns = about.schema_descr().columns();
        let kind = |column: &parquet::schema::types::ColumnDescPtr| match column.physical_type() {
            _ if column.max_rep_level() > 0 => Kind::Other,
            Type::BYTE_ARRAY => match column.converted_type() {
                ConvertedType::NONE => Kind::Bytes,
                ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Kind::Text,
                _ => Kind::Other,
            },
            Type::INT32 | Type::INT64 if is_integer(column.converted_type()) => Kind::Integer,
            _ => Kind::Other,
        };
        let paths: Vec<Vec<String>> = columns.iter().map(|column| column.path().parts().to_vec()).collect();
        let roots = paths.iter().map(|path| path[0].clone()).collect();
        Self { paths, roots, kinds: columns.iter().map(kind).collect() }
    }

    fn child(&self, root: &str, name: &str) -> Option<usize> {
        self.paths.iter().position(|path| path.len() == 2 && path[0] == root && path[1] == name)
    }

    /// The leaf that holds images below a column: itself, or its child `bytes`.
    fn image_in(&self, root: &str) -> Option<usize> {
        let itself = self.paths.iter().position(|path| path.len() == 1 && path[0] == root);
        itself.or(self.child(root, "bytes")).filter(|&leaf| self.kinds[leaf] == Kind::Bytes)
    }

    fn label_in(&self, root: &str) -> Option<usize> {
        let itself = self.paths.iter().position(|path| path.len() == 1 && path[0] == root);
        itself.filter(|&leaf| matches!(self.kinds[leaf], Kind::Text | Kind::Integer))
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
        let mut all: Vec<usize> = self.roots.iter().filter_map(|root| self.image_in(root)).collect();
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

    /// The first column that has this type according to the features.
    fn of_type(&self, features: &Value, wanted: &str) -> Option<usize> {
        let is_it = |root: &&String| features[root.as_str()]["_type"] == wanted;
        let leaf = |root: &String| if wanted == "Image" { self.image_in(root) } else { self.label_in(root) };
        self.roots.iter().filter(is_it).find_map(leaf)
    }

    fn shown(&self) -> String {
        self.paths.iter().map(|path| path.join(".")).collect::<Vec<_>>().join(", ")
    }
}
