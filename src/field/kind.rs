//! What a field's values are.

use std::fmt;

/// What a field's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FieldType {
    /// UTF-8.
    Text,
    /// Bytes as they are stored.
    Bytes,
    /// JSON of any kind, nested at most 127 deep. It is checked, and kept as text.
    Json,
    /// An i64.
    Integer,
    /// An f64.
    Float,
    /// A second image, such as the target of a translation: a file of any format that is decoded, as large as the image once
    /// both are upright. It is moved, resampled and mixed as the image is, without its colour operations.
    Image,
    /// A depth map: a PNG of one grey channel of 8 or 16 bits, as large as the upright image. Each pixel is its nearest one,
    /// and what shows no image is 0.
    Depth,
    /// A list of i64s.
    Integers,
    /// A list of f64s.
    Floats,
}

impl FieldType {
    /// Whether its values are files that become pixels, which a batch has beside those of its images.
    pub fn is_picture(self) -> bool {
        matches!(self, FieldType::Image | FieldType::Depth)
    }

    /// What a record's value of this type is: the file of a picture is bytes.
    pub fn stored(self) -> FieldType {
        if self.is_picture() { FieldType::Bytes } else { self }
    }

    /// Its name in recipes.
    pub fn word(self) -> &'static str {
        match self {
            FieldType::Text => "text",
            FieldType::Bytes => "bytes",
            FieldType::Json => "json",
            FieldType::Integer => "integer",
            FieldType::Float => "float",
            FieldType::Image => "image",
            FieldType::Depth => "depth",
            FieldType::Integers => "integers",
            FieldType::Floats => "floats",
        }
    }

    /// Whether a value is a list of numbers.
    pub fn is_list(self) -> bool {
        matches!(self, FieldType::Integers | FieldType::Floats)
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
