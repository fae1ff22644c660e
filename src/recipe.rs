//! A recipe: everything a pipeline does, as plain data that is read from TOML and written back.
//!
//! The format is strict. A key, an op or a value that means nothing is an error that names the line and the nearest
//! key that does: a misspelt setting must not train a different model.

#[cfg(test)]
mod page;
mod parameter;
mod read;
mod single;
mod substitute;
mod template;
mod text;

pub use parameter::{MAX_PARAMETERS, Parameter, ParameterKind};
pub use single::{arguments_of, augmentation, sample_view};
pub use template::Template;
pub use text::MAX_BYTES;

use crate::augment::container::{self, check_chain};
use crate::augment::view::{self, View};
use crate::augment::{Augment, Augmentation};
use crate::error::{Error, Result, ensure};
use crate::options::{Options, nearest};
use crate::output::Output;
use crate::regular_file;
use serde::Serialize;
use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;
use substitute::Values;

/// Most augmentations of one recipe, those in containers included.
pub const MAX_AUGMENTATIONS: usize = container::MAX_AUGMENTATIONS;

const BUILT_IN: [(&str, &str); 31] = [
    ("albumentations", include_str!("../recipes/albumentations.toml")),
    ("augmix", include_str!("../recipes/augmix.toml")),
    ("byol", include_str!("../recipes/byol.toml")),
    ("clip", include_str!("../recipes/clip.toml")),
    ("decode-only", include_str!("../recipes/decode-only.toml")),
    ("deit", include_str!("../recipes/deit.toml")),
    ("deit-iii", include_str!("../recipes/deit-iii.toml")),
    ("detection-lsj", include_str!("../recipes/detection-lsj.toml")),
    ("detr", include_str!("../recipes/detr.toml")),
    ("dino", include_str!("../recipes/dino.toml")),
    ("dinov2", include_str!("../recipes/dinov2.toml")),
    ("imagenet-eval", include_str!("../recipes/imagenet-eval.toml")),
    ("imagenet-randaugment", include_str!("../recipes/imagenet-randaugment.toml")),
    ("imagenet-train", include_str!("../recipes/imagenet-train.toml")),
    ("imagenet-v2", include_str!("../recipes/imagenet-v2.toml")),
    ("mae", include_str!("../recipes/mae.toml")),
    ("mask-rcnn", include_str!("../recipes/mask-rcnn.toml")),
    ("moco-v3", include_str!("../recipes/moco-v3.toml")),
    ("rt-detr", include_str!("../recipes/rt-detr.toml")),
    ("segformer", include_str!("../recipes/segformer.toml")),
    ("segmentation", include_str!("../recipes/segmentation.toml")),
    ("siglip", include_str!("../recipes/siglip.toml")),
    ("simclr", include_str!("../recipes/simclr.toml")),
    ("timm-augmix", include_str!("../recipes/timm-augmix.toml")),
    ("timm-rkrc", include_str!("../recipes/timm-rkrc.toml")),
    ("timm-train", include_str!("../recipes/timm-train.toml")),
    ("yolo-classify", include_str!("../recipes/yolo-classify.toml")),
    ("yolo-eval", include_str!("../recipes/yolo-eval.toml")),
    ("yolo-obb", include_str!("../recipes/yolo-obb.toml")),
    ("yolo-segment", include_str!("../recipes/yolo-segment.toml")),
    ("yolo-train", include_str!("../recipes/yolo-train.toml")),
];

/// What a pipeline does: its options, of which those of the data are mostly left to whoever runs it, and a chain of
/// augmentations. What a section leaves open is the loader's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recipe {
    /// What reports call it.
    pub name: String,
    /// The options, section by section.
    #[serde(flatten)]
    pub options: Options,
    /// The augmentations, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub augment: Vec<Augmentation>,
    /// Outputs of each sample, where it has several, each with augmentations of its own that follow those above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub views: Vec<View>,
}

impl Recipe {
    /// The names that [`Recipe::built_in`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The TOML text of a built-in recipe, comments included: a start for one's own.
    pub fn text_of(name: &str) -> Option<&'static str> {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// What a built-in recipe is, and where its numbers come from: the comment that its text begins with.
    pub fn about(name: &str) -> Option<String> {
        let lines = Self::text_of(name)?.lines().map_while(|line| line.strip_prefix('#'));
        Some(lines.map(str::trim).collect::<Vec<_>>().join(" "))
    }

    /// The parameters of a built-in recipe by name, or of one from a TOML file, in the order of their declarations.
    /// [`Template`] sets them.
    ///
    /// # Errors
    /// Those of [`Template::load`].
    pub fn parameters_of(name_or_path: &str) -> Result<Vec<Parameter>> {
        Ok(Template::load(name_or_path)?.parameters().to_vec())
    }

    /// A recipe that comes with the crate, with the defaults of its parameters.
    ///
    /// # Errors
    /// [`Error::Config`] with the nearest name where there is none of this name.
    pub fn built_in(name: &str) -> Result<Self> {
        read::read(built_in(name)?, name, &Values::new())
    }

    /// A built-in recipe by name, or one from a TOML file, with the defaults of its parameters.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be read, otherwise those of [`Recipe::built_in`] and [`Recipe::parse`].
    pub fn load(name_or_path: &str) -> Result<Self> {
        read::read(&open(name_or_path)?, name_or_path, &Values::new())
    }

    /// Reads a recipe from TOML text, with the defaults of its parameters.
    ///
    /// # Errors
    /// [`Error::Config`] with the line, what is wrong there, and the nearest thing that would be right.
    pub fn parse(text: &str) -> Result<Self> {
        read::read(text, "recipe", &Values::new())
    }

    /// The recipe as TOML; reading it gives the same recipe.
    ///
    /// # Errors
    /// [`Error::Config`] for a value that TOML cannot hold.
    pub fn to_toml(&self) -> Result<String> {
        let refuse =
            |error: toml::ser::Error| Error::config(format!("the recipe does not fit TOML: {error}"));
        let written = toml::to_string(self).map_err(refuse)?;
        if !written.contains(['"', '\'']) || !written.contains('$') {
            return Ok(written);
        }
        let mut value = toml::Value::try_from(self).map_err(refuse)?;
        match substitute::escape(&mut value) {
            true => toml::to_string(&value).map_err(refuse),
            false => Ok(written),
        }
    }

    /// The augmentations, ready for the loader.
    pub fn augmentations(&self) -> Vec<Box<dyn Augment>> {
        self.augment.iter().map(|augment| Box::new(augment.clone()) as Box<dyn Augment>).collect()
    }

    /// What each sample becomes; `None` where nothing is rendered.
    pub fn output(&self) -> Option<Output> {
        let Options { output, normalize, .. } = &self.options;
        let size = output.size.filter(|_| !output.decode_only())?.square();
        let normalize = normalize.constants().ok().flatten();
        Some(Output { size, dtype: output.dtype(), layout: output.layout(), normalize })
    }

    /// The recipe with other options laid over its own, checked as a whole.
    ///
    /// # Errors
    /// Those of [`Recipe::check`].
    pub fn with(mut self, options: Options) -> Result<Self> {
        self.options = options.over(self.options);
        self.check()?;
        Ok(self)
    }

    /// Refuses what has no meaning in itself; the loader's builder plans a sample to find the rest.
    ///
    /// # Errors
    /// [`Error::Config`] with the remedy.
    pub fn check(&self) -> Result<()> {
        check_chain(self.augment.iter().map(|augment| augment as &dyn Augment))?;
        view::check(&self.views)?;
        let count = container::count(&self.augment) + view::augmentations(&self.views);
        ensure!(
            count <= MAX_AUGMENTATIONS,
            "a recipe may have {MAX_AUGMENTATIONS} augmentations, those in containers included, and this one has {count}: \
             leave some out"
        );
        let Options { output, normalize, loader, .. } = &self.options;
        let normalized = normalize.constants()?.is_some();
        output.check()?;
        loader.check()?;
        let renders =
            !self.augment.is_empty() || !self.views.is_empty() || normalized || output.size.is_some();
        match (output.decode_only(), self.output()) {
            (true, _) if renders => Err(Error::config(
                "decode_only renders nothing: leave out the augmentations, [normalize] and the output size",
            )),
            (true, _) => Ok(()),
            (false, Some(output)) => {
                output.check()?;
                loader.rect_batches().map_or(Ok(()), |rect| rect.check(output.size))?;
                loader.drawn_sizes().map_or(Ok(()), |sizes| sizes.sizes(output.size).map(drop))
            }
            // Each has its own.
            (false, None) if !self.views.is_empty() => Ok(()),
            (false, None) => Err(Error::config(
                "the output has no size: write size = [height, width] under [output], or decode_only = true",
            )),
        }
    }
}

/// The text of a built-in recipe.
fn built_in(name: &str) -> Result<&'static str> {
    Recipe::text_of(name).ok_or_else(|| {
        let names: Vec<&str> = Recipe::names().collect();
        let hint = nearest::hint(name, &names);
        Error::config(format!("there is no recipe `{name}`{hint}; or give the path of a TOML file"))
    })
}

/// The text of a built-in recipe by name, or of a TOML file.
fn open(name_or_path: &str) -> Result<Cow<'static, str>> {
    let path = Path::new(name_or_path);
    let is_path = path.extension().is_some_and(|extension| extension == "toml")
        || name_or_path.contains(['/', '\\'])
        || path.is_file();
    if !is_path || Recipe::text_of(name_or_path).is_some() {
        return Ok(built_in(name_or_path)?.into());
    }
    let refuse = |source| Error::io(path, source, "give a TOML file, or the name of a built-in recipe");
    // The size is asked first: a path may name anything.
    let (mut file, bytes) = regular_file::open_sized(path).map_err(refuse)?;
    if bytes > MAX_BYTES as u64 {
        return Err(text::too_large(name_or_path));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(refuse)?;
    Ok(text.into())
}
