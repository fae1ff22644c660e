"""The transforms, with their arguments. Made by `stubs.py`; do not edit."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal

class Transform:
    """One augmentation and its arguments."""

    def as_dict(self) -> dict[str, Any]:
        """The transform as a recipe holds it: its name under `op`, and all its arguments."""

class Affine(Transform):
    """Scales, rotates, shears and moves the image by random amounts, with probability `p`; its size stays
    (Albumentations' `Affine`).

    scale: Factor along x and y: a number, `[min, max]` for both, or `{ x = [min, max], y = [min, max] }`;
        from 1e-3 to 1e3.
    translate_percent: Translation as a fraction of width and height, written likewise and cut off to whole
        pixels; from -1 to 1.
    translate_px: Translation in whole pixels, written likewise, in place of `translate_percent`; from -65535
        to 65535.
    rotate: Angle in degrees, counterclockwise: a number, or `[min, max]`; from -360 to 360.
    shear: Shear in degrees along x and y, written as `scale` is; from -80 to 80.
    interpolation: `nearest` or `bilinear`.
    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    keep_ratio: Whether y has the factor of x.
    p: Probability of a change, from 0 to 1.
    """

    scale: Any
    translate_percent: Any
    translate_px: Any
    rotate: Any
    shear: Any
    interpolation: Any
    fill: Any
    keep_ratio: Any
    p: Any
    def __init__(
        self,
        scale: Sequence[float] = (1.0, 1.0),
        translate_percent: float | Sequence[float] | Mapping[str, Sequence[float]] | None = None,
        translate_px: float | Sequence[float] | Mapping[str, Sequence[float]] | None = None,
        rotate: float | Sequence[float] = 0.0,
        shear: float | Sequence[float] | None = (0.0, 0.0),
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        fill: float | Sequence[float] = 0,
        keep_ratio: bool = False,
        p: float = 0.5,
    ) -> None: ...

class AugMix(Transform):
    """Mixes the image with chains of random operations on it, with random weights (torchvision's `AugMix`).

    severity: Strength of the operations, from 1 to 10.
    mixture_width: Number of chains, from 1 to 12.
    chain_depth: Number of operations in a chain, from -1 to 12; -1 and 0 draw 1, 2 or 3 for each chain. All
        chains have at most 12 together.
    alpha: Parameter of the distributions of weights, from 0.0001 to 10000.
    all_ops: Use brightness, color, contrast and sharpness as well.
    interpolation: `bilinear` or `nearest`.
    fill: Fill colour where the operation leaves pixels empty: a grey level or `[r, g, b]`, each from 0 to
        255. Without it, black.
    p: Probability that it runs, from 0 to 1.
    """

    severity: Any
    mixture_width: Any
    chain_depth: Any
    alpha: Any
    all_ops: Any
    interpolation: Any
    fill: Any
    p: Any
    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        fill: float | Sequence[float] | None = None,
        p: float = 1.0,
    ) -> None: ...

class AutoAugment(Transform):
    """Applies one of 25 learned pairs of operations, each operation with its own probability (torchvision's
    `AutoAugment`).

    policy: The data set that the pairs were learned on: `imagenet`, `cifar10` or `svhn`.
    interpolation: `nearest` or `bilinear`.
    fill: Fill colour where the operation leaves pixels empty: a grey level or `[r, g, b]`, each from 0 to
        255. Without it, black.
    p: Probability that it runs, from 0 to 1.
    """

    policy: Any
    interpolation: Any
    fill: Any
    p: Any
    def __init__(
        self,
        policy: str | Enum = "imagenet",
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "nearest",
        fill: float | Sequence[float] | None = None,
        p: float = 1.0,
    ) -> None: ...

class Blur(Transform):
    """Replaces each pixel with the mean of a square round it, with probability `p` (Albumentations' `Blur`).

    blur_limit: Edge of the window: odd numbers up to this one, or `[min, max]`; from 3 to 31.
    p: Probability of a change, from 0 to 1.
    """

    blur_limit: Any
    p: Any
    def __init__(
        self,
        blur_limit: int | Sequence[int] = (3, 7),
        p: float = 0.5,
    ) -> None: ...

class CLAHE(Transform):
    """Equalizes the lightness tile by tile, with a random limit to the contrast and with probability `p`
    (Albumentations' `CLAHE`).

    clip_limit: How often a lightness may occur in a tile, compared with the mean of all: a number, for 1 up
        to it, or `[min, max]`; from 1 to 1000.
    tile_grid_size: Tiles along x and y, from 1 to 64 each.
    p: Probability of a change, from 0 to 1.
    """

    clip_limit: Any
    tile_grid_size: Any
    p: Any
    def __init__(
        self,
        clip_limit: float | Sequence[float] = 4.0,
        tile_grid_size: Sequence[float] = (8, 8),
        p: float = 0.5,
    ) -> None: ...

class CenterCrop(Transform):
    """Crops the centre; a smaller image is padded with black first (torchvision's `CenterCrop`).

    size: `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        p: float = 1.0,
    ) -> None: ...

class CenterCropOrPad(Transform):
    """Crops the centre, after a border on both sides where the image is smaller (timm's `CenterCropOrPad`).

    size: `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    fill: Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    padding_mode: What the border consists of: `constant` (`fill`), `edge`, `reflect` or `symmetric`, as for
        `Pad`.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    fill: Any
    padding_mode: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        fill: float | Sequence[float] = 0,
        padding_mode: Literal["constant", "edge", "reflect", "symmetric"] = "constant",
        p: float = 1.0,
    ) -> None: ...

class ChannelShuffle(Transform):
    """Permutes the channels at random, with probability `p` (Albumentations' `ChannelShuffle`).

    p: Probability of a change, from 0 to 1; one of six orders changes nothing.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class CoarseDropout(Transform):
    """Covers random rectangles with one colour, with probability `p` (Albumentations' `CoarseDropout`).

    num_holes_range: Minimum and maximum number of rectangles, from 1 to 64.
    hole_height_range: Minimum and maximum height: fractions of the image's where the maximum is below 1, else
        pixels; at least 0.
    hole_width_range: Minimum and maximum width, in the unit that `hole_height_range` has; at least 0.
    fill: Fill colour: a grey level or `[r, g, b]`, each from 0 to 255.
    p: Probability of a change, from 0 to 1.
    """

    num_holes_range: Any
    hole_height_range: Any
    hole_width_range: Any
    fill: Any
    p: Any
    def __init__(
        self,
        num_holes_range: Sequence[float] = (1, 2),
        hole_height_range: Sequence[float] = (0.1, 0.2),
        hole_width_range: Sequence[float] = (0.1, 0.2),
        fill: float | Sequence[float] = 0,
        p: float = 0.5,
    ) -> None: ...

class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue in a random order (torchvision's `ColorJitter`).

    brightness: A factor from [max(0, 1 - x), 1 + x], or from the given range.
    contrast: A factor from [max(0, 1 - x), 1 + x], or from the given range.
    saturation: A factor from [max(0, 1 - x), 1 + x], or from the given range.
    hue: Turn of the hue, as a fraction of the full circle: drawn from [-x, x] or from the given range,
        between -0.5 and 0.5.
    p: Probability that it runs, from 0 to 1.
    """

    brightness: Any
    contrast: Any
    saturation: Any
    hue: Any
    p: Any
    def __init__(
        self,
        brightness: float | Sequence[float] = 0.0,
        contrast: float | Sequence[float] = 0.0,
        saturation: float | Sequence[float] = 0.0,
        hue: float | Sequence[float] = 0.0,
        p: float = 1.0,
    ) -> None: ...

class Compose(Transform):
    """Runs several transforms one after the other (torchvision's `Compose`): a branch of more than one for
    the other containers.

    transforms: The transforms, in order; at least 1.
    p: Probability that it runs, from 0 to 1.
    """

    transforms: Any
    p: Any
    def __init__(
        self,
        transforms: Sequence[Transform],
        p: float = 1.0,
    ) -> None: ...

class CopyPaste(Transform):
    """Pastes objects along their outlines, each with probability `p` (Ultralytics' `CopyPaste`): in mode
    `flip` those of the sample itself, mirrored left to right, in mode `mixup` those of a partner.

    p: Probability that an object is pasted, from 0 to 1.
    mode: Which objects are pasted: `flip` for the sample's own, mirrored; `mixup` for a partner's.
    """

    p: Any
    mode: Any
    def __init__(
        self,
        p: float = 0.0,
        mode: str = "flip",
    ) -> None: ...

class CutMix(Transform):
    """Shows a rectangle of the previous sample in the window; the label is mixed in proportion to the area
    (torchvision's `CutMix`, with the window of partners in place of the batch).

    alpha: Lambda is drawn from Beta(alpha, alpha); from 0.0001 to 10000.
    p: Probability that it runs, from 0 to 1.
    """

    alpha: Any
    p: Any
    def __init__(
        self,
        alpha: float = 1.0,
        p: float = 1.0,
    ) -> None: ...

class D4(Transform):
    """Does one of the eight turns and mirrors of a square, with probability `p` (Albumentations' `D4`).

    p: Probability of a draw, from 0 to 1; one of the eight changes nothing.
    """

    p: Any
    def __init__(
        self,
        p: float = 1.0,
    ) -> None: ...

class Downscale(Transform):
    """Shrinks the sample by a random factor and enlarges it again, with probability `p` (Albumentations'
    `Downscale`).

    scale_range: Minimum and maximum factor, from 0.001 to 1.
    downscale: How it is shrunk: `nearest` or `bilinear`, without antialias.
    upscale: How it is enlarged: `nearest`, `bilinear` or `bicubic`.
    p: Probability of a change, from 0 to 1.
    """

    scale_range: Any
    downscale: Any
    upscale: Any
    p: Any
    def __init__(
        self,
        scale_range: Sequence[float] = (0.25, 0.25),
        downscale: Literal["nearest", "bilinear"] | Enum = "nearest",
        upscale: Literal["nearest", "bilinear", "bicubic"] | Enum = "nearest",
        p: float = 0.5,
    ) -> None: ...

class ElasticTransform(Transform):
    """Moves each pixel as far as smoothed noise says, with probability `p` (Albumentations'
    `ElasticTransform`).

    alpha: Pixels for the greatest noise of all pixels, before it is smoothed; from 0 to 100000.
    sigma: Standard deviation of the smoothing in pixels, from 1 to 1000. On large images a small one is
        refused: the field would have more than 262144 nodes, which are at most `sigma` apart.
    interpolation: `nearest` or `bilinear`.
    same_dxdy: Whether x and y move alike.
    noise_distribution: `gaussian` or `uniform`.
    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    p: Probability of a change, from 0 to 1.
    """

    alpha: Any
    sigma: Any
    interpolation: Any
    same_dxdy: Any
    noise_distribution: Any
    fill: Any
    p: Any
    def __init__(
        self,
        alpha: float = 1.0,
        sigma: float | Sequence[float] = 50.0,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        same_dxdy: bool = False,
        noise_distribution: Literal["gaussian", "uniform"] | Enum = "gaussian",
        fill: float | Sequence[float] = 0,
        p: float = 0.5,
    ) -> None: ...

class Emboss(Transform):
    """Embosses by a kernel of nine weights, with probability `p` (Albumentations' `Emboss`).

    alpha: Minimum and maximum share of the embossed image, from 0 to 1.
    strength: Minimum and maximum strength, from 0 to 1000.
    p: Probability of a change, from 0 to 1.
    """

    alpha: Any
    strength: Any
    p: Any
    def __init__(
        self,
        alpha: Sequence[float] = (0.2, 0.5),
        strength: Sequence[float] = (0.2, 0.7),
        p: float = 0.5,
    ) -> None: ...

class FixedSizeCrop(Transform):
    """Crops a random part, after a border at the right and at the bottom where the image is smaller
    (`FixedSizeCrop` of torchvision's reference scripts).

    size: `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    fill: Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    fill: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        fill: float | Sequence[float] = 0,
        p: float = 1.0,
    ) -> None: ...

class GaussNoise(Transform):
    """Adds normal noise to each level, with probability `p` (Albumentations' `GaussNoise`).

    std_range: Minimum and maximum standard deviation, as a fraction of 255, from 0 to 1.
    mean_range: Minimum and maximum mean, as a fraction of 255, from -1 to 1.
    per_channel: Whether each channel gets noise of its own.
    p: Probability of a change, from 0 to 1.
    """

    std_range: Any
    mean_range: Any
    per_channel: Any
    p: Any
    def __init__(
        self,
        std_range: Sequence[float] = (0.2, 0.44),
        mean_range: Sequence[float] = (0.0, 0.0),
        per_channel: bool = True,
        p: float = 0.5,
    ) -> None: ...

class GaussianBlur(Transform):
    """Blurs with a Gaussian kernel of random standard deviation (torchvision's `GaussianBlur`).

    kernel_size: Edge length of the kernel, or `[columns, rows]`; each odd, from 1 to 127. Images must be
        larger than half the kernel.
    sigma: Standard deviation in pixels, or the range that it is drawn from; from 1e-6 to 1e6.
    p: Probability that it runs, from 0 to 1.
    """

    kernel_size: Any
    sigma: Any
    p: Any
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        sigma: float | Sequence[float] = (0.1, 2.0),
        p: float = 1.0,
    ) -> None: ...

class Grayscale(Transform):
    """Replaces all channels with the luma (torchvision's `Grayscale`).

    num_output_channels: Must be 3 (torchvision's default is 1): every sample has three channels.
    p: Probability that it runs, from 0 to 1.
    """

    num_output_channels: Any
    p: Any
    def __init__(
        self,
        num_output_channels: int = 3,
        p: float = 1.0,
    ) -> None: ...

class GridDistortion(Transform):
    """Makes the columns and rows of a grid wider and narrower by random factors, with probability `p`
    (Albumentations' `GridDistortion`).

    num_steps: Cells along each axis, from 1 to 256; no more than there are pixels.
    distort_limit: What the factors differ from 1 by: one number for both directions, or `[min, max]`; from 0
        to 1 as one number.
    interpolation: `nearest` or `bilinear`.
    normalized: Whether the cells together show the whole image, and nothing beyond it.
    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    p: Probability of a change, from 0 to 1.
    """

    num_steps: Any
    distort_limit: Any
    interpolation: Any
    normalized: Any
    fill: Any
    p: Any
    def __init__(
        self,
        num_steps: int = 5,
        distort_limit: float | Sequence[float] = (-0.3, 0.3),
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        normalized: bool = True,
        fill: float | Sequence[float] = 0,
        p: float = 0.5,
    ) -> None: ...

class HueSaturationValue(Transform):
    """Adds random numbers to hue, saturation and value, with probability `p` (Albumentations'
    `HueSaturationValue`).

    hue_shift_limit: Turn of the hue in half degrees: one number for both directions, or `[min, max]`; from 0
        to 180 as one number.
    sat_shift_limit: Levels: one number for both directions, or `[min, max]`; from 0 to 255 as one number.
    val_shift_limit: Levels: one number for both directions, or `[min, max]`; from 0 to 255 as one number.
    p: Probability of a change, from 0 to 1.
    """

    hue_shift_limit: Any
    sat_shift_limit: Any
    val_shift_limit: Any
    p: Any
    def __init__(
        self,
        hue_shift_limit: float | Sequence[float] = (-20.0, 20.0),
        sat_shift_limit: float | Sequence[float] = (-30.0, 30.0),
        val_shift_limit: float | Sequence[float] = (-20.0, 20.0),
        p: float = 0.5,
    ) -> None: ...

class ISONoise(Transform):
    """Adds the noise of a camera's sensor, with probability `p` (Albumentations' `ISONoise`): a hue that
    varies, and lighter grains, of which there are the more, the more the image's lightness varies.

    color_shift: Minimum and maximum standard deviation of the hue in degrees, for an intensity of 1; from 0
        to 1.
    intensity: Minimum and maximum of how much lighter grains are, and how many there are; from 0 to 1.
    p: Probability of a change, from 0 to 1.
    """

    color_shift: Any
    intensity: Any
    p: Any
    def __init__(
        self,
        color_shift: Sequence[float] = (0.01, 0.05),
        intensity: Sequence[float] = (0.1, 0.5),
        p: float = 0.5,
    ) -> None: ...

class ImageCompression(Transform):
    """Makes of the image what a JPEG of a random quality makes of it, with probability `p` (Albumentations'
    `ImageCompression`).

    quality_range: Lowest and highest quality, each whole number between them as likely; from 1 to 100.
    p: Probability of a change, from 0 to 1.
    """

    quality_range: Any
    p: Any
    def __init__(
        self,
        quality_range: Sequence[float] = (99, 100),
        p: float = 0.5,
    ) -> None: ...

class LetterBox(Transform):
    """Resizes the image to fit into `size` and fills the rest with a border (Ultralytics' `LetterBox`).

    size: `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    auto: Shrink the canvas to the next multiple of `stride` around the image, so that its size depends on the
        image's.
    stride: With `auto`, the canvas's edges are multiples of this; at least 1.
    scaleup: Enlarge images that are smaller than `size`.
    center: Put the border on all sides; otherwise on the right and the bottom only.
    fill: Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    antialias: Widen the filter when shrinking. Ultralytics does not.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    auto: Any
    stride: Any
    scaleup: Any
    center: Any
    fill: Any
    antialias: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        auto: bool = False,
        stride: int = 32,
        scaleup: bool = True,
        center: bool = True,
        fill: float | Sequence[float] = 114,
        antialias: bool = True,
        p: float = 1.0,
    ) -> None: ...

class MedianBlur(Transform):
    """Replaces each level with the median of a square round it, with probability `p` (Albumentations'
    `MedianBlur`).

    blur_limit: Edge of the window: odd numbers up to this one, or `[min, max]`; from 3 to 15.
    p: Probability of a change, from 0 to 1.
    """

    blur_limit: Any
    p: Any
    def __init__(
        self,
        blur_limit: int | Sequence[int] = (3, 7),
        p: float = 0.5,
    ) -> None: ...

class MixUp(Transform):
    """Blends the sample with the previous one in the window: image and label are lambda of this one and 1 -
    lambda of the other (torchvision's `MixUp`, with the window of partners in place of the batch).

    alpha: Lambda is drawn from Beta(alpha, alpha), once per window; from 0.0001 to 10000.
    p: Probability that it runs, from 0 to 1.
    """

    alpha: Any
    p: Any
    def __init__(
        self,
        alpha: float = 1.0,
        p: float = 1.0,
    ) -> None: ...

class MmsegRandomCrop(Transform):
    """Crops `size` at a random position where no class takes up `cat_max_ratio` of the semantic mask or more
    (mmseg's `RandomCrop`).

    size: `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    cat_max_ratio: The fraction of a crop's pixels that no class reaches, `ignore_index` apart, from 0 to 1; 1
        looks at no mask.
    ignore_index: The class that is not counted, from 0 to 255.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    cat_max_ratio: Any
    ignore_index: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        cat_max_ratio: float = 1.0,
        ignore_index: int = 255,
        p: float = 1.0,
    ) -> None: ...

class MmsegRandomResize(Transform):
    """Resizes to `scale` times a factor from `ratio_range`: to just that size, or with `keep_ratio` as large
    as fits it (mmseg's `RandomResize`).

    scale: `[width, height]` in pixels at a factor of 1; each from 1 to 65535.
    ratio_range: Minimum and maximum factor; greater than 0.
    keep_ratio: Keep the aspect ratio of the image.
    interpolation: `bilinear`, `bicubic` or `nearest`.
    antialias: Widen the filter when shrinking; `bicubic` requires it.
    p: Probability that it runs, from 0 to 1.
    """

    scale: Any
    ratio_range: Any
    keep_ratio: Any
    interpolation: Any
    antialias: Any
    p: Any
    def __init__(
        self,
        scale: Sequence[float],
        ratio_range: Sequence[float] = (1.0, 1.0),
        keep_ratio: bool = False,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        antialias: bool = False,
        p: float = 1.0,
    ) -> None: ...

class Mosaic(Transform):
    """Places the sample and three partners around a point of a canvas of twice `imgsz`, with probability `p`
    (Ultralytics' `Mosaic`); `YoloPerspective` then shows a part of it.

    imgsz: Longer edge of each tile in pixels, from 2 to 32767.
    p: Probability of a mosaic, from 0 to 1.
    n: Number of tiles, 4 or 9.
    antialias: Widen the filter when tiles are shrunk. Ultralytics does not. It makes no difference under a
        `YoloPerspective` with antialias, which samples images once.
    """

    imgsz: Any
    p: Any
    n: Any
    antialias: Any
    def __init__(
        self,
        imgsz: int = 640,
        p: float = 1.0,
        n: int = 4,
        antialias: bool = True,
    ) -> None: ...

class MotionBlur(Transform):
    """Blurs along a line of random length and direction, with probability `p` (Albumentations' `MotionBlur`).

    blur_limit: Edge of the window that holds the line: odd numbers up to this one, or `[min, max]`; from 3 to
        31.
    allow_shifted: Whether the line may lie beside the middle of its window.
    angle_range: Minimum and maximum direction of the line in degrees, from 0 to 360.
    direction_range: Minimum and maximum of how far it is on one side: 0 is both, -1 and 1 are one alone; from
        -1 to 1.
    p: Probability of a change, from 0 to 1.
    """

    blur_limit: Any
    allow_shifted: Any
    angle_range: Any
    direction_range: Any
    p: Any
    def __init__(
        self,
        blur_limit: int | Sequence[int] = (3, 7),
        allow_shifted: bool = True,
        angle_range: Sequence[float] = (0.0, 360.0),
        direction_range: Sequence[float] = (-1.0, 1.0),
        p: float = 0.5,
    ) -> None: ...

class MultiplicativeNoise(Transform):
    """Multiplies levels by random factors, with probability `p` (Albumentations' `MultiplicativeNoise`).

    multiplier: Minimum and maximum factor, from 0 to 255.
    per_channel: Whether each channel gets a factor of its own.
    elementwise: Whether each pixel gets a factor of its own.
    p: Probability of a change, from 0 to 1.
    """

    multiplier: Any
    per_channel: Any
    elementwise: Any
    p: Any
    def __init__(
        self,
        multiplier: Sequence[float] = (0.9, 1.1),
        per_channel: bool = False,
        elementwise: bool = False,
        p: float = 0.5,
    ) -> None: ...

class OneOf(Transform):
    """Runs one of several transforms, or, with probability 1 - `p`, none (Albumentations' `OneOf`).

    transforms: The transforms to choose from, each with its weight as its `p`; at least 1.
    p: Probability that one runs, from 0 to 1.
    """

    transforms: Any
    p: Any
    def __init__(
        self,
        transforms: Sequence[Transform],
        p: float = 0.5,
    ) -> None: ...

class OpticalDistortion(Transform):
    """Bends the image as a lens does, by a random amount and with probability `p` (Albumentations'
    `OpticalDistortion`).

    distort_limit: How much: above 0 the corners move towards the middle, below 0 away from it. One number for
        both directions, from 0 to 0.33; or `[min, max]`, at least -0.33, where the corners begin to fold, and
        at most 1.
    mode: `camera`, which bends more towards the corners, or `fisheye`.
    interpolation: `nearest` or `bilinear`.
    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    p: Probability of a change, from 0 to 1.
    """

    distort_limit: Any
    mode: Any
    interpolation: Any
    fill: Any
    p: Any
    def __init__(
        self,
        distort_limit: float | Sequence[float] = (-0.05, 0.05),
        mode: str = "camera",
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        fill: float | Sequence[float] = 0,
        p: float = 0.5,
    ) -> None: ...

class Pad(Transform):
    """Adds a border (torchvision's `Pad`).

    padding: `[left, top, right, bottom]`, `[left and right, top and bottom]`, or one number for all; each
        from 0 to 65535.
    fill: Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    padding_mode: What the border consists of: `constant` (`fill`), `edge` (the outermost pixels, repeated),
        `reflect` (the image mirrored at its outermost pixels, so at most its edge less 1) or `symmetric`
        (mirrored at its edge).
    p: Probability that it runs, from 0 to 1.
    """

    padding: Any
    fill: Any
    padding_mode: Any
    p: Any
    def __init__(
        self,
        padding: int | Sequence[int],
        fill: float | Sequence[float] = 0,
        padding_mode: Literal["constant", "edge", "reflect", "symmetric"] = "constant",
        p: float = 1.0,
    ) -> None: ...

class PadIfSmaller(Transform):
    """Adds a border at the right and at the bottom of an image that is smaller than `size` (`PadIfSmaller` of
    torchvision's reference scripts).

    size: Minimum `[height, width]` in pixels, or one number for both; each from 1 to 65535.
    fill: Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    fill: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        fill: float | Sequence[float] = 0,
        p: float = 1.0,
    ) -> None: ...

class RGBShift(Transform):
    """Adds a random whole number of levels to each channel, with probability `p` (Albumentations'
    `RGBShift`).

    r_shift_limit: Levels of red: one number for both directions, or `[min, max]`; from 0 to 255 as one
        number.
    g_shift_limit: Levels of green: one number for both directions, or `[min, max]`; from 0 to 255 as one
        number.
    b_shift_limit: Levels of blue: one number for both directions, or `[min, max]`; from 0 to 255 as one
        number.
    p: Probability of a change, from 0 to 1.
    """

    r_shift_limit: Any
    g_shift_limit: Any
    b_shift_limit: Any
    p: Any
    def __init__(
        self,
        r_shift_limit: float | Sequence[float] = (-20.0, 20.0),
        g_shift_limit: float | Sequence[float] = (-20.0, 20.0),
        b_shift_limit: float | Sequence[float] = (-20.0, 20.0),
        p: float = 0.5,
    ) -> None: ...

class RandAugment(Transform):
    """Applies `num_ops` random operations one after the other, all at one magnitude (torchvision's
    `RandAugment`).

    num_ops: Number of operations per sample, from 0 to 6.
    magnitude: Index of the magnitude; less than `num_magnitude_bins`.
    num_magnitude_bins: Number of magnitudes between the weakest and the strongest, from 2 to 65536.
    interpolation: `nearest` or `bilinear`.
    fill: Fill colour where the operation leaves pixels empty: a grey level or `[r, g, b]`, each from 0 to
        255. Without it, black.
    p: Probability that it runs, from 0 to 1.
    """

    num_ops: Any
    magnitude: Any
    num_magnitude_bins: Any
    interpolation: Any
    fill: Any
    p: Any
    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "nearest",
        fill: float | Sequence[float] | None = None,
        p: float = 1.0,
    ) -> None: ...

class RandomAdjustSharpness(Transform):
    """Blends each pixel with the mean of its neighbours, with probability `p` (torchvision's
    `RandomAdjustSharpness`).

    sharpness_factor: 0 smooths, 1 changes nothing, 2 doubles the sharpness; at least 0.
    p: Probability of a change, from 0 to 1.
    """

    sharpness_factor: Any
    p: Any
    def __init__(
        self,
        sharpness_factor: float,
        p: float = 0.5,
    ) -> None: ...

class RandomAffine(Transform):
    """Rotates, translates, scales and shears the image by random amounts; its size stays (torchvision's
    `RandomAffine`).

    degrees: Angle in degrees: one number for both directions, or `[min, max]`; 0 turns off the rotation.
    translate: Maximum translation along x and y, as fractions of width and height, from 0 to 1; without it,
        no translation.
    scale: Minimum and maximum factor, from 1e-6 to 1e6; without it, no scaling.
    shear: Shear in degrees: one number for both directions along x, `[min, max]` along x, or `[min x, max x,
        min y, max y]`. Without it, no shear.
    interpolation: `nearest` or `bilinear`.
    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    center: Centre of rotation, `[x, y]` in pixels from the top left corner. Without it, the image's centre.
    p: Probability that it runs, from 0 to 1.
    """

    degrees: Any
    translate: Any
    scale: Any
    shear: Any
    interpolation: Any
    fill: Any
    center: Any
    p: Any
    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "nearest",
        fill: float | Sequence[float] = 0,
        center: Sequence[float] | None = None,
        p: float = 1.0,
    ) -> None: ...

class RandomApply(Transform):
    """Runs several transforms one after the other, with probability `p`, or none of them (torchvision's
    `RandomApply`).

    transforms: The transforms, in order; at least 1.
    p: Probability that they run, from 0 to 1.
    """

    transforms: Any
    p: Any
    def __init__(
        self,
        transforms: Sequence[Transform],
        p: float = 0.5,
    ) -> None: ...

class RandomAutocontrast(Transform):
    """Stretches each channel to the whole range of levels, with probability `p` (torchvision's
    `RandomAutocontrast`).

    p: Probability of a change, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomBrightnessContrast(Transform):
    """Multiplies all levels by a random factor and adds a random number, with probability `p`
    (Albumentations' `RandomBrightnessContrast`).

    brightness_limit: What is added, as a fraction of 255: one number for both directions, or `[min, max]`;
        from 0 to 1 as one number.
    contrast_limit: What the factor differs from 1 by: one number for both directions, or `[min, max]`; from 0
        to 1 as one number.
    p: Probability of a change, from 0 to 1.
    """

    brightness_limit: Any
    contrast_limit: Any
    p: Any
    def __init__(
        self,
        brightness_limit: float | Sequence[float] = (-0.2, 0.2),
        contrast_limit: float | Sequence[float] = (-0.2, 0.2),
        p: float = 0.5,
    ) -> None: ...

class RandomChannelPermutation(Transform):
    """Permutes the channels at random (torchvision's `RandomChannelPermutation`).

    p: Probability that it runs, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 1.0,
    ) -> None: ...

class RandomChoice(Transform):
    """Runs one of several transforms (torchvision's `RandomChoice`).

    transforms: The transforms to choose from; at least 1.
    p: Probability of each transform; each at least 0, and 1 in sum (torchvision divides by the sum). Without
        it, all are equally probable.
    """

    transforms: Any
    p: Any
    def __init__(
        self,
        transforms: Sequence[Transform],
        p: Sequence[float] | None = None,
    ) -> None: ...

class RandomCrop(Transform):
    """Crops `size` at a random position, after an optional border (torchvision's `RandomCrop`).

    size: `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    padding: Border added before the crop: `[left, top, right, bottom]`, `[left and right, top and bottom]`,
        or one number for all; each from 0 to 65535. Without it, no border.
    pad_if_needed: Pad both sides of an image that is smaller than `size`.
    fill: Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    padding_mode: What the border consists of: `constant` (`fill`), `edge`, `reflect` or `symmetric`, as for
        `Pad`.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    padding: Any
    pad_if_needed: Any
    fill: Any
    padding_mode: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] = 0,
        padding_mode: Literal["constant", "edge", "reflect", "symmetric"] = "constant",
        p: float = 1.0,
    ) -> None: ...

class RandomCropOrPad(Transform):
    """Crops a random part, or lays an image that is smaller at a random place of a border (timm's
    `RandomCropOrPad`).

    size: `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    fill: Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    padding_mode: What the border consists of: `constant` (`fill`), `edge`, `reflect` or `symmetric`, as for
        `Pad`.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    fill: Any
    padding_mode: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        fill: float | Sequence[float] = 0,
        padding_mode: Literal["constant", "edge", "reflect", "symmetric"] = "constant",
        p: float = 1.0,
    ) -> None: ...

class RandomEqualize(Transform):
    """Equalizes the histogram of each channel, with probability `p` (torchvision's `RandomEqualize`).

    p: Probability of a change, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomErasing(Transform):
    """Fills a random rectangle after normalisation, with probability `p` (torchvision's `RandomErasing`).

    p: Probability of an erase, from 0 to 1.
    scale: Minimum and maximum fraction of the image's area, from 0 to 1.
    ratio: Minimum and maximum height / width, from 1e-6 to 1e6.
    value: Fill in normalised units: a number, `[r, g, b]`, or `"random"` for standard normal noise.
    """

    p: Any
    scale: Any
    ratio: Any
    value: Any
    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: float | Sequence[float] | Literal["random"] = 0.0,
    ) -> None: ...

class RandomGamma(Transform):
    """Raises all levels to a random power, with probability `p` (Albumentations' `RandomGamma`).

    gamma_limit: Minimum and maximum exponent in hundredths; below 100 makes brighter; from 1 to 10000.
    p: Probability of a change, from 0 to 1.
    """

    gamma_limit: Any
    p: Any
    def __init__(
        self,
        gamma_limit: Sequence[float] = (80.0, 120.0),
        p: float = 0.5,
    ) -> None: ...

class RandomGrayscale(Transform):
    """Replaces all channels with the luma, with probability `p` (torchvision's `RandomGrayscale`).

    p: Probability of a grey sample, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.1,
    ) -> None: ...

class RandomHSV(Transform):
    """Changes hue, saturation and value by random gains, drawn uniformly in both directions (Ultralytics'
    `RandomHSV`).

    hsv_h: Maximum turn of the hue, as a fraction of the full circle, from 0 to 1.
    hsv_s: Maximum relative change of the saturation, from 0 to 1.
    hsv_v: Maximum relative change of the value, from 0 to 1.
    p: Probability that it runs, from 0 to 1.
    """

    hsv_h: Any
    hsv_s: Any
    hsv_v: Any
    p: Any
    def __init__(
        self,
        hsv_h: float = 0.015,
        hsv_s: float = 0.7,
        hsv_v: float = 0.4,
        p: float = 1.0,
    ) -> None: ...

class RandomHorizontalFlip(Transform):
    """Mirrors the sample left to right, with probability `p` (torchvision's `RandomHorizontalFlip`).

    p: Probability of a flip, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomInvert(Transform):
    """Replaces each level x with 255 - x, with probability `p` (torchvision's `RandomInvert`).

    p: Probability of a change, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomIoUCrop(Transform):
    """Crops a part whose intersection over union with some object reaches a value drawn from
    `sampler_options`, and drops the objects whose centres lie outside (torchvision's `RandomIoUCrop`).

    min_scale: Minimum fraction of the image's width and height, from 0 to 1.
    max_scale: Maximum fraction of the image's width and height, from 0 to 1.
    min_aspect_ratio: Minimum width / height of the crop; at least 0.
    max_aspect_ratio: Maximum width / height of the crop; at least `min_aspect_ratio`.
    sampler_options: Minimum intersections over union to choose from; each at least 0, and 1 or more leaves
        the image as it is.
    trials: Number of crops that are tried for each option; at least 0.
    p: Probability that it runs, from 0 to 1.
    """

    min_scale: Any
    max_scale: Any
    min_aspect_ratio: Any
    max_aspect_ratio: Any
    sampler_options: Any
    trials: Any
    p: Any
    def __init__(
        self,
        min_scale: float = 0.3,
        max_scale: float = 1.0,
        min_aspect_ratio: float = 0.5,
        max_aspect_ratio: float = 2.0,
        sampler_options: Sequence[float] = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0),
        trials: int = 40,
        p: float = 1.0,
    ) -> None: ...

class RandomOrder(Transform):
    """Runs several transforms in a random order (torchvision's `RandomOrder`).

    transforms: The transforms; at least 1.
    p: Probability that it runs, from 0 to 1.
    """

    transforms: Any
    p: Any
    def __init__(
        self,
        transforms: Sequence[Transform],
        p: float = 1.0,
    ) -> None: ...

class RandomPerspective(Transform):
    """Moves the image's corners inwards by random amounts, with probability `p` (torchvision's
    `RandomPerspective`).

    distortion_scale: Maximum distance that corners move, as a fraction of half the image, from 0 to 1.
    p: Probability of a change, from 0 to 1.
    interpolation: `bilinear` or `nearest`.
    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    """

    distortion_scale: Any
    p: Any
    interpolation: Any
    fill: Any
    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        fill: float | Sequence[float] = 0,
    ) -> None: ...

class RandomPhotometricDistort(Transform):
    """Changes brightness, contrast, saturation, hue and the order of the channels, each with probability `p`
    (torchvision's `RandomPhotometricDistort`).

    brightness: Minimum and maximum factor; at least 0.
    contrast: Minimum and maximum factor; at least 0.
    saturation: Minimum and maximum factor; at least 0.
    hue: Minimum and maximum turn of the hue, as a fraction of the full circle, from -0.5 to 0.5.
    p: Probability of each change, from 0 to 1.
    """

    brightness: Any
    contrast: Any
    saturation: Any
    hue: Any
    p: Any
    def __init__(
        self,
        brightness: Sequence[float] = (0.875, 1.125),
        contrast: float | Sequence[float] = (0.5, 1.5),
        saturation: float | Sequence[float] = (0.5, 1.5),
        hue: float | Sequence[float] = (-0.05, 0.05),
        p: float = 0.5,
    ) -> None: ...

class RandomPosterize(Transform):
    """Keeps the high bits of each level, with probability `p` (torchvision's `RandomPosterize`).

    bits: Number of bits that are kept, from 0 to 8.
    p: Probability of a change, from 0 to 1.
    """

    bits: Any
    p: Any
    def __init__(
        self,
        bits: int,
        p: float = 0.5,
    ) -> None: ...

class RandomResize(Transform):
    """Resizes the shorter edge to a whole number of pixels from `min_size` up to, and without, `max_size`
    (torchvision's `RandomResize`).

    min_size: Minimum length of the shorter edge in pixels, from 1.
    max_size: The length that is never reached; greater than `min_size`, to 65536.
    interpolation: `bilinear`, `bicubic` or `nearest`.
    antialias: Widen the filter when shrinking; `bicubic` requires it.
    p: Probability that it runs, from 0 to 1.
    """

    min_size: Any
    max_size: Any
    interpolation: Any
    antialias: Any
    p: Any
    def __init__(
        self,
        min_size: int,
        max_size: int,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        antialias: bool = True,
        p: float = 1.0,
    ) -> None: ...

class RandomResizedCrop(Transform):
    """Crops a part of random area, shape and position and resizes it to `size` (torchvision's
    `RandomResizedCrop`).

    size: `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    scale: Minimum and maximum fraction of the image's area; at least 0.
    ratio: Minimum and maximum width / height before resizing, from 1e-6 to 1e6.
    interpolation: `bilinear`, `bicubic`, `nearest`, or `random` for bilinear or bicubic, as in timm.
    antialias: Widen the filter when shrinking; `bicubic` and `random` require it.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    scale: Any
    ratio: Any
    interpolation: Any
    antialias: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (0.75, 1.333333),
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        antialias: bool = True,
        p: float = 1.0,
    ) -> None: ...

class RandomRotate90(Transform):
    """Turns by a random number of quarters, with probability `p` (Albumentations' `RandomRotate90`).

    p: Probability of a draw, from 0 to 1; one of four turns changes nothing.
    """

    p: Any
    def __init__(
        self,
        p: float = 1.0,
    ) -> None: ...

class RandomRotation(Transform):
    """Rotates the image counterclockwise by a random angle (torchvision's `RandomRotation`).

    degrees: Angle in degrees: one number for both directions, or `[min, max]`.
    interpolation: `nearest` or `bilinear`.
    expand: Enlarge the canvas so that it holds the whole rotated image.
    center: Centre of rotation, `[x, y]` in pixels from the top left corner. Without it, the image's centre.
    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    p: Probability that it runs, from 0 to 1.
    """

    degrees: Any
    interpolation: Any
    expand: Any
    center: Any
    fill: Any
    p: Any
    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: float | Sequence[float] = 0,
        p: float = 1.0,
    ) -> None: ...

class RandomShortestSize(Transform):
    """Resizes the shorter edge to one of `min_size`, and the longer one to at most `max_size` (torchvision's
    `RandomShortestSize`).

    min_size: Length of the shorter edge in pixels, or several to choose from; each from 1 to 65535.
    max_size: Maximum length of the longer edge in pixels, from 1 to 65535; without it, no maximum.
    interpolation: `bilinear`, `bicubic` or `nearest`.
    antialias: Widen the filter when shrinking; `bicubic` requires it.
    p: Probability that it runs, from 0 to 1.
    """

    min_size: Any
    max_size: Any
    interpolation: Any
    antialias: Any
    p: Any
    def __init__(
        self,
        min_size: int | Sequence[int],
        max_size: int | None = None,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        antialias: bool = True,
        p: float = 1.0,
    ) -> None: ...

class RandomSizeCrop(Transform):
    """Crops a part whose width and height are drawn from a range, at a random position (DETR's
    `RandomSizeCrop`).

    min_size: Minimum width and height in pixels, from 1 to 65535.
    max_size: Maximum width and height in pixels, from 1 to 65535; at least `min_size`. The image's own edge
        is another one.
    p: Probability that it runs, from 0 to 1.
    """

    min_size: Any
    max_size: Any
    p: Any
    def __init__(
        self,
        min_size: int,
        max_size: int,
        p: float = 1.0,
    ) -> None: ...

class RandomSolarize(Transform):
    """Inverts all levels at or above a threshold, with probability `p` (torchvision's `RandomSolarize`).

    threshold: Lowest level that is inverted; at most 255.
    p: Probability of a change, from 0 to 1.
    """

    threshold: Any
    p: Any
    def __init__(
        self,
        threshold: float,
        p: float = 0.5,
    ) -> None: ...

class RandomVerticalFlip(Transform):
    """Mirrors the sample top to bottom, with probability `p` (torchvision's `RandomVerticalFlip`).

    p: Probability of a flip, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomZoomOut(Transform):
    """Places the image at random on a canvas that is larger by a factor from `side_range`, with probability
    `p` (torchvision's `RandomZoomOut`).

    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    side_range: Minimum and maximum factor; at least 1.
    p: Probability of a larger canvas, from 0 to 1.
    """

    fill: Any
    side_range: Any
    p: Any
    def __init__(
        self,
        fill: float | Sequence[float] = 0,
        side_range: Sequence[float] = (1.0, 4.0),
        p: float = 0.5,
    ) -> None: ...

class Resize(Transform):
    """Resizes to `[height, width]`, or the shorter edge to one number (torchvision's `Resize`).

    size: `[height, width]` in pixels; one number is the length of the shorter edge. Each from 1 to 65535.
    interpolation: `bilinear`, `bicubic` or `nearest`.
    max_size: Maximum length of the longer edge, where `size` is one number; greater than `size`. Without it,
        no maximum.
    antialias: Widen the filter when shrinking; `bicubic` requires it.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    interpolation: Any
    max_size: Any
    antialias: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        max_size: int | None = None,
        antialias: bool = True,
        p: float = 1.0,
    ) -> None: ...

class ResizeKeepRatio(Transform):
    """Resizes the image so that its shorter edge, or its longer one, fits `size`, at a random scale and shape
    (timm's `ResizeKeepRatio`).

    size: `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    longest: What is fitted: 0 the edge that is nearer to its target, so that the image covers it; 1 the
        other, so that it lies within; from 0 to 1.
    interpolation: `bilinear`, `bicubic`, `nearest`, or `random` for bilinear or bicubic.
    random_scale_prob: Probability of a random scale, from 0 to 1.
    random_scale_range: Minimum and maximum scale, from 0.01 to 100.
    random_scale_area: Scales are fractions of the area that is then cut out, so that less is larger; else
        factors of both edges.
    random_aspect_prob: Probability of a random shape, from 0 to 1.
    random_aspect_range: Minimum and maximum factor of width / height, from 0.01 to 100.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    longest: Any
    interpolation: Any
    random_scale_prob: Any
    random_scale_range: Any
    random_scale_area: Any
    random_aspect_prob: Any
    random_aspect_range: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        longest: float = 0.0,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        random_scale_prob: float = 0.0,
        random_scale_range: Sequence[float] = (0.85, 1.05),
        random_scale_area: bool = False,
        random_aspect_prob: float = 0.0,
        random_aspect_range: Sequence[float] = (0.9, 1.11),
        p: float = 1.0,
    ) -> None: ...

class ResizeLongest(Transform):
    """Resizes the longer edge to `imgsz`, as Ultralytics' `load_image` does.

    imgsz: Length of the longer edge in pixels, from 1 to 65535.
    antialias: Widen the filter when shrinking. Ultralytics does not.
    p: Probability that it runs, from 0 to 1.
    """

    imgsz: Any
    antialias: Any
    p: Any
    def __init__(
        self,
        imgsz: int = 640,
        antialias: bool = True,
        p: float = 1.0,
    ) -> None: ...

class SanitizeBoundingBoxes(Transform):
    """Drops objects whose boxes are small or reach beyond the canvas (torchvision's `SanitizeBoundingBoxes`).

    min_size: Minimum width and height in pixels; at least 1.
    min_area: Minimum area in pixels; at least 1.
    p: Probability that it runs, from 0 to 1.
    """

    min_size: Any
    min_area: Any
    p: Any
    def __init__(
        self,
        min_size: float = 1.0,
        min_area: float = 1.0,
        p: float = 1.0,
    ) -> None: ...

class ScaleJitter(Transform):
    """Resizes the image to fit into `target_size` times a factor from `scale_range` (torchvision's
    `ScaleJitter`).

    target_size: The bounds that the image is fitted into at a factor of 1; each from 1 to 65535.
    scale_range: Minimum and maximum factor; at least 0.
    interpolation: `bilinear`, `bicubic` or `nearest`.
    antialias: Widen the filter when shrinking; `bicubic` requires it.
    p: Probability that it runs, from 0 to 1.
    """

    target_size: Any
    scale_range: Any
    interpolation: Any
    antialias: Any
    p: Any
    def __init__(
        self,
        target_size: Sequence[int],
        scale_range: Sequence[float] = (0.1, 2.0),
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        antialias: bool = True,
        p: float = 1.0,
    ) -> None: ...

class Sharpen(Transform):
    """Sharpens by a kernel of nine weights, with probability `p` (Albumentations' `Sharpen` with its method
    `kernel`).

    alpha: Minimum and maximum share of the sharpened image, from 0 to 1.
    lightness: Minimum and maximum that the own pixel weighs beyond what its neighbours take away, from 0 to
        1000.
    p: Probability of a change, from 0 to 1.
    """

    alpha: Any
    lightness: Any
    p: Any
    def __init__(
        self,
        alpha: Sequence[float] = (0.2, 0.5),
        lightness: Sequence[float] = (0.5, 1.0),
        p: float = 0.5,
    ) -> None: ...

class ShiftScaleRotate(Transform):
    """Moves, scales and rotates the image by random amounts, with probability `p`; its size stays
    (Albumentations' `ShiftScaleRotate`).

    shift_limit: Translation as a fraction of width and height: one number for both directions, or `[min,
        max]`; from 0 to 1 as one number.
    scale_limit: What the factors differ from 1 by: one number for both directions, or `[min, max]`; from 0 to
        0.99 as one number.
    rotate_limit: Angle in degrees: one number for both directions, or `[min, max]`; from 0 to 360 as one
        number.
    interpolation: `nearest` or `bilinear`.
    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    p: Probability of a change, from 0 to 1.
    """

    shift_limit: Any
    scale_limit: Any
    rotate_limit: Any
    interpolation: Any
    fill: Any
    p: Any
    def __init__(
        self,
        shift_limit: float | Sequence[float] = (-0.0625, 0.0625),
        scale_limit: float | Sequence[float] = (-0.1, 0.1),
        rotate_limit: float | Sequence[float] = (-45.0, 45.0),
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "bilinear",
        fill: float | Sequence[float] = 0,
        p: float = 0.5,
    ) -> None: ...

class SomeOf(Transform):
    """Chooses `n` of several transforms, each equally probable, and runs them in their order, each with its
    own probability (Albumentations' `SomeOf`).

    transforms: The transforms to choose from; at least 1.
    n: Number of transforms that are chosen, at least 1; without `replace` at most all of them, and at most
        64.
    replace: Whether a transform may be chosen, and run, more than once.
    p: Probability that any are chosen, from 0 to 1.
    """

    transforms: Any
    n: Any
    replace: Any
    p: Any
    def __init__(
        self,
        transforms: Sequence[Transform],
        n: int = 1,
        replace: bool = False,
        p: float = 1.0,
    ) -> None: ...

class TimmAugMix(Transform):
    """Mixes the image with chains of random operations on it, with random weights (timm's
    `augment_and_mix_transform`).

    config: timm's text for the arguments from `magnitude` to `magnitude_std`, such as `"augmix-m5-w4-d2"`;
        those are then left out.
    magnitude: Severity (`m`), from 0 to 100; what is above 10 counts as that.
    width: Number of chains (`w`), from 1 to 12.
    depth: Number of operations in a chain (`d`), from -1 to 12; -1 and 0 draw 1, 2 or 3 for each chain. All
        chains have at most 12 together.
    alpha: Parameter of the distributions of weights (`a`), from 0.0001 to 10000.
    magnitude_std: Standard deviation of the magnitude's noise (`mstd`); at least 0. Without it, magnitudes
        are drawn uniformly between 0 and `magnitude`.
    translate_pct: Translation at magnitude 10, as a fraction of the edge, from 0 to 1.
    interpolation: Interpolation of warps: `bilinear`, `bicubic`, or `random` for one of them.
    fill: Fill colour where warps leave pixels empty (`img_mean`): a grey level or `[r, g, b]`, each from 0 to
        255.
    p: Probability that it runs, from 0 to 1.
    """

    config: Any
    magnitude: Any
    width: Any
    depth: Any
    alpha: Any
    magnitude_std: Any
    translate_pct: Any
    interpolation: Any
    fill: Any
    p: Any
    def __init__(
        self,
        config: str | None = None,
        magnitude: float = 3.0,
        width: int = 3,
        depth: int = -1,
        alpha: float = 1.0,
        magnitude_std: float | None = None,
        translate_pct: float = 0.3,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "random",
        fill: float | Sequence[float] = 128,
        p: float = 1.0,
    ) -> None: ...

class TimmMixup(Transform):
    """Mixes the sample with the one at the mirrored position of its window, by MixUp or CutMix (timm's
    `Mixup`, with the window of partners in place of the batch).

    mixup_alpha: MixUp's lambda is drawn from Beta(alpha, alpha), with alpha at most 10000; 0 turns MixUp off.
    cutmix_alpha: CutMix's lambda is drawn from Beta(alpha, alpha), with alpha at most 10000; 0 turns CutMix
        off.
    prob: Probability of a mix, from 0 to 1.
    switch_prob: Probability of CutMix where both are on, from 0 to 1.
    mode: Which samples share their draws: `batch` (a window), `pair`, `elem` (none) or `half`.
    correct_lam: Weight the classes by the areas that are visible after the rectangle is clipped at the edge.
    p: Probability that it runs, from 0 to 1.
    """

    mixup_alpha: Any
    cutmix_alpha: Any
    prob: Any
    switch_prob: Any
    mode: Any
    correct_lam: Any
    p: Any
    def __init__(
        self,
        mixup_alpha: float = 1.0,
        cutmix_alpha: float = 0.0,
        prob: float = 1.0,
        switch_prob: float = 0.5,
        mode: str = "batch",
        correct_lam: bool = True,
        p: float = 1.0,
    ) -> None: ...

class TimmRandAugment(Transform):
    """Applies `num_layers` of fifteen random operations, each with probability `prob`, at a magnitude with
    noise (timm's `rand_augment_transform`).

    config: timm's text for the arguments from `magnitude` to `increasing`, such as `"rand-m9-mstd0.5-inc1"`;
        those are then left out.
    magnitude: Magnitude (`m`), from 0 to 100; what is above `magnitude_max` counts as that.
    num_layers: Number of operations per sample (`n`), from 0 to 6.
    prob: Probability of each operation (`p`), from 0 to 1.
    magnitude_std: Standard deviation of the magnitude's noise (`mstd`); at least 0. Above 100, magnitudes are
        drawn uniformly between 0 and `magnitude`.
    magnitude_max: Maximum magnitude (`mmax`), from 1 to 100. Without it, 10.
    increasing: Let the strength of all operations increase with the magnitude (`inc`); otherwise that of
        Posterize and Solarize decreases, and a factor of 1 is in the middle of the magnitudes.
    translate_pct: Translation at magnitude 10, as a fraction of the edge, from 0 to 1.
    interpolation: Interpolation of warps: `bilinear`, `bicubic`, or `random` for one of them.
    fill: Fill colour where warps leave pixels empty (`img_mean`): a grey level or `[r, g, b]`, each from 0 to
        255.
    p: Probability that it runs, from 0 to 1.
    """

    config: Any
    magnitude: Any
    num_layers: Any
    prob: Any
    magnitude_std: Any
    magnitude_max: Any
    increasing: Any
    translate_pct: Any
    interpolation: Any
    fill: Any
    p: Any
    def __init__(
        self,
        config: str | None = None,
        magnitude: float = 10.0,
        num_layers: int = 2,
        prob: float = 0.5,
        magnitude_std: float | None = 0.0,
        magnitude_max: float | None = None,
        increasing: bool = False,
        translate_pct: float = 0.45,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "random",
        fill: float | Sequence[float] = 128,
        p: float = 1.0,
    ) -> None: ...

class TimmRandomErasing(Transform):
    """Fills random rectangles after normalisation, with probability `probability` (timm's `RandomErasing`).

    probability: Probability of an erase, from 0 to 1.
    min_area: Minimum fraction of the image's area that all rectangles cover together, from 0 to 1.
    max_area: Maximum fraction of the image's area that all rectangles cover together, from 0 to 1; at least
        `min_area`.
    min_aspect: Minimum height / width, from 1e-6 to 1e6.
    max_aspect: Maximum height / width, from 1e-6 to 1e6; at least `min_aspect`. Without it, 1 / `min_aspect`.
    mode: Fill: `const`, which is 0 after normalisation and so the mean; `rand`, one standard normal colour
        per rectangle; or `pixel`, standard normal noise.
    min_count: Minimum number of rectangles, from 1 to 16.
    max_count: Maximum number of rectangles, from 1 to 16; at least `min_count`. Without it, `min_count`.
    p: Probability that it runs, from 0 to 1.
    """

    probability: Any
    min_area: Any
    max_area: Any
    min_aspect: Any
    max_aspect: Any
    mode: Any
    min_count: Any
    max_count: Any
    p: Any
    def __init__(
        self,
        probability: float = 0.5,
        min_area: float = 0.02,
        max_area: float = 0.3333333,
        min_aspect: float = 0.3,
        max_aspect: float | None = None,
        mode: str = "const",
        min_count: int = 1,
        max_count: int | None = None,
        p: float = 1.0,
    ) -> None: ...

class ToGray(Transform):
    """Replaces all channels with OpenCV's grey, with probability `p` (Albumentations' `ToGray`).

    p: Probability of a grey sample, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class Transpose(Transform):
    """Swaps rows and columns, and so width and height, with probability `p` (Albumentations' `Transpose`).

    p: Probability of a change, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class TrivialAugmentWide(Transform):
    """Applies one random operation at a random magnitude (torchvision's `TrivialAugmentWide`).

    num_magnitude_bins: Number of magnitudes between the weakest and the strongest, from 2 to 65536.
    interpolation: `nearest` or `bilinear`.
    fill: Fill colour where the operation leaves pixels empty: a grey level or `[r, g, b]`, each from 0 to
        255. Without it, black.
    p: Probability that it runs, from 0 to 1.
    """

    num_magnitude_bins: Any
    interpolation: Any
    fill: Any
    p: Any
    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Literal["nearest", "bilinear", "bicubic", "random"] | Enum = "nearest",
        fill: float | Sequence[float] | None = None,
        p: float = 1.0,
    ) -> None: ...

class YoloCutMix(Transform):
    """Shows a rectangle of a partner, with probability `p` (Ultralytics' `CutMix`).

    p: Probability of a mix, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.0,
    ) -> None: ...

class YoloMixUp(Transform):
    """Blends a partner over the sample with a weight of about a half, with probability `p` (Ultralytics'
    `MixUp`).

    p: Probability of a mix, from 0 to 1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.0,
    ) -> None: ...

class YoloPerspective(Transform):
    """Rotates, scales, shears and translates the canvas by random amounts and shows `size` of it
    (Ultralytics' `RandomPerspective`).

    size: `[height, width]` of the result in pixels, or one number for a square; each from 1 to 65535.
    degrees: Maximum angle in degrees, in both directions, from 0 to 180.
    translate: Maximum translation in both directions, as a fraction of `size`, from 0 to 1.
    scale: The scale is drawn between 1 - this and 1 + this; from 0 to 0.99.
    shear: Maximum shear in degrees, in both directions along each axis, from 0 to 80.
    perspective: Maximum perspective coefficient, from 0 to 0.001.
    fill: Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    antialias: Widen the filter where images are shrunk. Without, images are shrunk as OpenCV does, and what
        was resized or laid side by side before is resampled as pixels, as in Ultralytics.
    p: Probability that it runs, from 0 to 1.
    """

    size: Any
    degrees: Any
    translate: Any
    scale: Any
    shear: Any
    perspective: Any
    fill: Any
    antialias: Any
    p: Any
    def __init__(
        self,
        size: int | Sequence[int],
        degrees: float = 0.0,
        translate: float = 0.1,
        scale: float = 0.5,
        shear: float = 0.0,
        perspective: float = 0.0,
        fill: float | Sequence[float] = 114,
        antialias: bool = True,
        p: float = 1.0,
    ) -> None: ...

__all__ = [
    "Transform",
    "Affine",
    "AugMix",
    "AutoAugment",
    "Blur",
    "CLAHE",
    "CenterCrop",
    "CenterCropOrPad",
    "ChannelShuffle",
    "CoarseDropout",
    "ColorJitter",
    "Compose",
    "CopyPaste",
    "CutMix",
    "D4",
    "Downscale",
    "ElasticTransform",
    "Emboss",
    "FixedSizeCrop",
    "GaussNoise",
    "GaussianBlur",
    "Grayscale",
    "GridDistortion",
    "HueSaturationValue",
    "ISONoise",
    "ImageCompression",
    "LetterBox",
    "MedianBlur",
    "MixUp",
    "MmsegRandomCrop",
    "MmsegRandomResize",
    "Mosaic",
    "MotionBlur",
    "MultiplicativeNoise",
    "OneOf",
    "OpticalDistortion",
    "Pad",
    "PadIfSmaller",
    "RGBShift",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomApply",
    "RandomAutocontrast",
    "RandomBrightnessContrast",
    "RandomChannelPermutation",
    "RandomChoice",
    "RandomCrop",
    "RandomCropOrPad",
    "RandomEqualize",
    "RandomErasing",
    "RandomGamma",
    "RandomGrayscale",
    "RandomHSV",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomIoUCrop",
    "RandomOrder",
    "RandomPerspective",
    "RandomPhotometricDistort",
    "RandomPosterize",
    "RandomResize",
    "RandomResizedCrop",
    "RandomRotate90",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSizeCrop",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "ResizeKeepRatio",
    "ResizeLongest",
    "SanitizeBoundingBoxes",
    "ScaleJitter",
    "Sharpen",
    "ShiftScaleRotate",
    "SomeOf",
    "TimmAugMix",
    "TimmMixup",
    "TimmRandAugment",
    "TimmRandomErasing",
    "ToGray",
    "Transpose",
    "TrivialAugmentWide",
    "YoloCutMix",
    "YoloMixUp",
    "YoloPerspective",
]
