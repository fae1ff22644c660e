//! What is found out about one file, and the line that says so.

use feedline::error::Error;
use feedline::geometry::Size;
use feedline::image::{self, Damage, Limits, Verified};
use feedline::policy::Damaged;
use feedline::source::{Source, readable};
use serde::Serialize;
use std::path::Path;

/// What is known of one file.
#[derive(Default, Serialize)]
pub(super) struct Finding {
    pub(super) path: String,
    /// The path itself, where it is no UTF-8 and `path` shows the bytes that are not as `\xNN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path_bytes: Option<Vec<u8>>,
    pub(super) status: &'static str,
    /// What is wrong with a file that can be decoded.
    pub(super) damage: Option<String>,
    /// Why training cannot use it.
    pub(super) cause: Option<String>,
    /// Width and height as the pipeline sees the image: upright.
    pub(super) width: Option<u32>,
    pub(super) height: Option<u32>,
    pub(super) format: Option<String>,
    /// The size that annotations state.
    #[serde(skip)]
    pub(super) stated_size: Option<[u32; 2]>,
}

impl Finding {
    /// A file, or a folder, of which nothing is known yet.
    pub(super) fn at(path: &Path) -> Self {
        Self {
            path: readable(path.as_os_str().as_encoded_bytes()).into_owned(),
            path_bytes: not_text(path),
            ..Self::default()
        }
    }

    /// A folder that cannot be read.
    pub(super) fn of_folder(error: &Error) -> Self {
        match error {
            Error::Io { path, source, remedy } => {
                let mut finding = Self::at(path);
                finding.blame(format!("{source}; {remedy}"));
                finding
            }
            other => Self { status: "bad", cause: Some(other.to_string()), ..Self::default() },
        }
    }

    /// Decodes the file; the pixels are forgotten.
    pub(super) fn examine(mut self, read: Result<&[u8], &String>, limits: Limits) -> Self {
        self.status = "ok";
        if let Some(header) = read.ok().and_then(|bytes| image::parse_header(bytes).ok()) {
            let Size { width, height } = header.orientation.apply_size(header.size);
            (self.width, self.height) = (Some(width), Some(height));
            self.format = Some(header.format.to_string().to_lowercase());
        }
        match read {
            Ok(bytes) => self.decode(bytes, limits),
            Err(cause) => self.blame(cause.clone()),
        }
        if let Some(stated) = self.stated_size {
            self.compare(stated);
        }
        self
    }

    fn decode(&mut self, bytes: &[u8], limits: Limits) {
        match image::verify(bytes, &limits) {
            Ok(Verified { damage, .. }) => self.note_damage(damage),
            Err(error) => {
                self.blame(error.to_string());
                // Another setting may take it.
                let all = Limits { damaged: Damaged::Libjpeg, ..limits };
                if let Ok(Verified { damage, .. }) = image::verify(bytes, &all) {
                    self.note_damage(damage);
                }
            }
        }
    }

    fn note_damage(&mut self, damage: Option<Damage>) {
        if let Some(damage) = damage {
            (self.status, self.damage) = ("damaged", Some(damage.to_string()));
        }
    }

    fn blame(&mut self, cause: String) {
        (self.status, self.cause) = ("bad", Some(cause));
    }

    /// The size of an image with which nothing is wrong so far.
    fn sound(&self) -> Option<Size> {
        Some(Size::new(self.width?, self.height?)).filter(|_| self.cause.is_none())
    }

    /// Notes a size that annotations state, and that is not the image's.
    fn compare(&mut self, [width, height]: [u32; 2]) {
        if let Some(size) = self.sound().filter(|size| *size != Size::new(width, height)) {
            self.blame(format!(
                "the annotations say {width}x{height}, the image has {size}: its labels are those of another image"
            ));
        }
    }

    /// Notes what is wrong with the image's mask.
    pub(super) fn look_at_mask(&mut self, masks: &dyn Source, index: usize) {
        let Some(size) = self.sound() else { return };
        let mut bytes = Vec::new();
        let found = match masks.mask(index, &mut bytes) {
            Ok(false) => return,
            Ok(true) => image::decode_mask(&bytes, &Limits::default(), &mut Vec::new())
                .map_err(|error| error.to_string()),
            Err(error) => Err(cause(error)),
        };
        match found {
            Ok(found) if found == size => {}
            Ok(found) => self
                .blame(format!("its mask has {found} pixels and the image {size}: make a mask of that size")),
            Err(cause) => self.blame(format!("its mask: {cause}")),
        }
    }
}

/// What is wrong with a sample, without its name.
pub(super) fn cause(error: Error) -> String {
    match error {
        Error::Sample { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// The bytes of a path that is not UTF-8.
pub(super) fn not_text(path: &Path) -> Option<Vec<u8>> {
    path.to_str().is_none().then(|| path.as_os_str().as_encoded_bytes().to_vec())
}

pub(super) fn describe(finding: &Finding) -> String {
    let Finding { path, status, damage, cause, width, height, format, .. } = finding;
    let shape = match (width, height, format) {
        (Some(width), Some(height), Some(format)) => format!(" ({format}, {width}x{height})"),
        _ => String::new(),
    };
    match (damage, cause) {
        (None, None) => format!("{status:<7} {path}{shape}"),
        (None, Some(cause)) => format!("{status:<7} {path}: {cause}"),
        (Some(damage), None) => format!("{status:<7} {path}{shape}: {damage}"),
        (Some(damage), Some(cause)) => format!("{status:<7} {path}{shape}: {damage}; refused: {cause}"),
    }
}
