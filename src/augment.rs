//! Augmentations edit a draft; they draw from a counter-based generator and never see a pixel.
//!
//! Names, arguments, defaults and the arithmetic of the parameters are those of torchvision's `transforms.v2`: the same
//! uniform draws give the same parameters. Each augmentation is one file with two halves, `make_params` (draws to
//! parameters) and [`Augment::plan`] (parameters to ops). A new one is a new file, and its `mod` and its
//! line of the registry below; an op with at most one argument and a probability is some lines in `by_chance.rs`.
//!
//! Containers (`container.rs`) consist of other augmentations and choose which of them run. An augmentation that has no
//! probability of its own can be given one: `with_probability.rs`.
//!
//! If batches differ in size, an augmentation whose size is the output's uses the batch's size instead: LetterBox,
//! Resize, the crops, YoloPerspective, and Mosaic and ResizeLongest for the longer edge. They call [`Draft::sized`].

mod affine;
mod aug_mix;
mod auto_augment;
mod blur;
mod by_chance;
mod by_own_chance;
mod center_crop;
mod channel_shuffle;
mod check;
mod clahe;
mod coarse_dropout;
mod color_jitter;
mod compose;
pub(crate) mod container;
mod copy_paste;
mod crop_or_pad;
mod cut_mix;
mod degrees;
mod downscale;
mod draw;
mod elastic_transform;
mod gauss_noise;
mod gaussian_blur;
mod grayscale;
mod grid_distortion;
mod hue_saturation_value;
mod image_compression;
mod interpolation;
mod iso_noise;
mod letter_box;
mod limit;
mod mix_up;
mod mixing;
mod mmseg_random_crop;
mod mmseg_random_resize;
mod mosaic;
mod motion_blur;
mod multiplicative_noise;
mod one_of;
mod optical_distortion;
mod pad;
#[cfg(test)]
mod page;
mod patch;
mod policy;
mod prelude;
mod rand_augment;
mod random_affine;
mod random_apply;
mod random_brightness_contrast;
mod random_channel_permutation;
mod random_choice;
mod random_crop;
mod random_erasing;
mod random_gamma;
mod random_hsv;
mod random_iou_crop;
mod random_order;
mod random_perspective;
mod random_photometric_distort;
mod random_resize;
mod random_resized_crop;
mod random_rotation;
mod random_shortest_size;
mod random_size_crop;
mod random_zoom_out;
pub(crate) mod read;
mod registry;
mod resize;
mod resize_keep_ratio;
mod resize_longest;
mod rgb_shift;
mod sanitize_bounding_boxes;
mod scale_jitter;
mod sharpen;
mod some_of;
mod symmetries;
mod timm_aug_mix;
mod timm_mixup;
mod timm_rand_augment;
mod timm_random_erasing;
mod trivial_augment_wide;
pub(crate) mod view;
mod window_range;
mod with_probability;
mod yolo_cut_mix;
mod yolo_mix_up;
mod yolo_perspective;

pub use affine::{AxisRange, Turn};
pub use auto_augment::AutoAugmentPolicy;
pub use clahe::ClipLimit;
pub use color_jitter::{Jitter, JitterParams};
pub use container::Container;
pub use copy_paste::CopyPasteMode;
pub use degrees::Degrees;
pub use elastic_transform::NoiseDistribution;
pub use gaussian_blur::{KernelSize, Sigma};
pub use interpolation::InterpolationChoice;
pub use limit::Limit;
pub use mixing::{Mixing, Partner, RngScope};
pub use policy::{Drawn, PolicyOp};
pub use random_affine::{AffineParams, ShearRange};
pub use random_crop::CropParams;
pub use random_erasing::{EraseValue, Random};
pub use random_perspective::Corners;
pub use random_photometric_distort::DistortParams;
pub use random_shortest_size::MinSize;
pub use read::arguments_of;
pub use timm_mixup::{MixupMode, MixupParams};
pub use timm_random_erasing::EraseMode;
pub use view::{MAX_VIEWS, View};
pub use window_range::WindowRange;
pub use with_probability::WithProbability;
pub use yolo_perspective::YoloPerspectiveParams;

use crate::draft::Draft;
use crate::error::Result;
use crate::geometry::Rect;
use crate::rng::Draws;

registry::registry! {
    affine::Affine,
    aug_mix::AugMix,
    auto_augment::AutoAugment,
    blur::Blur,
    clahe::CLAHE,
    center_crop::CenterCrop,
    crop_or_pad::CenterCropOrPad,
    channel_shuffle::ChannelShuffle,
    coarse_dropout::CoarseDropout,
    color_jitter::ColorJitter,
    compose::Compose,
    copy_paste::CopyPaste,
    cut_mix::CutMix,
    symmetries::D4,
    downscale::Downscale,
    elastic_transform::ElasticTransform,
    sharpen::Emboss,
    crop_or_pad::FixedSizeCrop,
    gauss_noise::GaussNoise,
    gaussian_blur::GaussianBlur,
    grayscale::Grayscale,
    grid_distortion::GridDistortion,
    hue_saturation_value::HueSaturationValue,
    iso_noise::ISONoise,
    image_compression::ImageCompression,
    letter_box::LetterBox,
    blur::MedianBlur,
    mix_up::MixUp,
    mmseg_random_crop::MmsegRandomCrop,
    mmseg_random_resize::MmsegRandomResize,
    mosaic::Mosaic,
    motion_blur::MotionBlur,
    multiplicative_noise::MultiplicativeNoise,
    one_of::OneOf,
    optical_distortion::OpticalDistortion,
    pad::Pad,
    crop_or_pad::PadIfSmaller,
    rgb_shift::RGBShift,
    rand_augment::RandAugment,
    by_chance::RandomAdjustSharpness,
    random_affine::RandomAffine,
    random_apply::RandomApply,
    by_chance::RandomAutocontrast,
    random_brightness_contrast::RandomBrightnessContrast,
    random_channel_permutation::RandomChannelPermutation,
    random_choice::RandomChoice,
    random_crop::RandomCrop,
    crop_or_pad::RandomCropOrPad,
    by_chance::RandomEqualize,
    random_erasing::RandomErasing,
    random_gamma::RandomGamma,
    by_chance::RandomGrayscale,
    random_hsv::RandomHSV,
    by_chance::RandomHorizontalFlip,
    by_chance::RandomInvert,
    random_iou_crop::RandomIoUCrop,
    random_order::RandomOrder,
    random_perspective::RandomPerspective,
    random_photometric_distort::RandomPhotometricDistort,
    by_chance::RandomPosterize,
    random_resize::RandomResize,
    random_resized_crop::RandomResizedCrop,
    symmetries::RandomRotate90,
    random_rotation::RandomRotation,
    random_shortest_size::RandomShortestSize,
    random_size_crop::RandomSizeCrop,
    by_chance::RandomSolarize,
    by_chance::RandomVerticalFlip,
    random_zoom_out::RandomZoomOut,
    resize::Resize,
    resize_keep_ratio::ResizeKeepRatio,
    resize_longest::ResizeLongest,
    sanitize_bounding_boxes::SanitizeBoundingBoxes,
    scale_jitter::ScaleJitter,
    sharpen::Sharpen,
    affine::ShiftScaleRotate,
    some_of::SomeOf,
    timm_aug_mix::TimmAugMix,
    timm_mixup::TimmMixup,
    timm_rand_augment::TimmRandAugment,
    timm_random_erasing::TimmRandomErasing,
    by_chance::ToGray,
    by_chance::Transpose,
    trivial_augment_wide::TrivialAugmentWide,
    yolo_cut_mix::YoloCutMix,
    yolo_mix_up::YoloMixUp,
    yolo_perspective::YoloPerspective,
}

/// One augmentation: draws parameters, asks the draft for ops.
pub trait Augment: Send + Sync {
    /// Its name, for messages and reports: that of its type, which is torchvision's class where torchvision has one.
    fn name(&self) -> &'static str {
        let path = std::any::type_name::<Self>().split('<').next().unwrap_or_default();
        path.rsplit("::").next().unwrap_or(path)
    }

    /// Refuses meaningless arguments, with torchvision's message and the remedy.
    ///
    /// The loader's builder calls it, so that constructors need not fail.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// The probability that it does anything, where that is an argument of its own. It asks for it by [`Draws::applies`].
    fn p(&self) -> Option<f32> {
        None
    }

    /// How many partner samples it needs (at most 9). They arrive planned by the augmentations before this one.
    fn partners(&self) -> usize {
        0
    }

    /// Whether partners are wanted this time. It is called once, before all other draws, if there are any partners; if
    /// it returns false, none are planned, and [`Augment::plan`] gets none.
    fn wants_partners(&self, _rng: &mut dyn Draws) -> bool {
        true
    }

    /// The choice of the partners, and the samples that share the draws.
    fn mixing(&self) -> Mixing {
        Mixing::default()
    }

    /// Whether it is left out of the last epochs, from the loader's `mixing_off_epoch` on; by default if it takes partners.
    fn closes(&self) -> bool {
        self.partners() > 0
    }

    /// Itself, where it is a container of others: those of them that it chooses then run in its place.
    fn container(&self) -> Option<&dyn Container> {
        None
    }

    /// Edits `draft`. All randomness comes from `rng`, so the same key gives the same plan.
    ///
    /// Pass impossible requests to [`Draft::fail`]; the loader's builder finds them before the first epoch.
    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws);

    /// The same, for an augmentation that looks at semantic masks; by default it calls [`Augment::plan`].
    fn plan_with_masks(
        &self,
        draft: &mut Draft,
        partners: Vec<Draft>,
        rng: &mut dyn Draws,
        _masks: &mut dyn MaskReader,
    ) {
        self.plan(draft, partners, rng);
    }
}

/// Gives the semantic mask of a sample that is being planned.
pub trait MaskReader {
    /// The class of each pixel of `part` of the canvas as it stands, row by row, as the batch's mask would have it; `None`
    /// where the loader makes no masks, and where no image of the draft has one.
    ///
    /// # Errors
    /// Where a mask cannot be read, or `part` is not inside the canvas. A sample whose mask was not read is a bad one.
    fn classes(&mut self, draft: &Draft, part: Rect) -> Result<Option<Vec<u8>>>;
}
