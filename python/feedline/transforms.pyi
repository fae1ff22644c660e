"""The transforms, with their arguments. Made by `stubs.py`; do not edit."""

from collections.abc import Sequence
from enum import Enum
from typing import Any, Literal

class Transform:
    """One augmentation and its arguments."""

    def as_dict(self) -> dict[str, Any]:
        """The transform as a recipe holds it: its name under `op`, and all its arguments."""

class AutoAugment(Transform):
    """Does one of 25 learned pairs of operations, each operation with a probability of its own (torchvision's
    `AutoAugment`).

    policy: `imagenet` (default), `cifar10` or `svhn`: what the pairs were learned on.
    interpolation: `nearest` or `bilinear`.
    fill: The colour around what is turned, moved or sheared; without one it is black.
    """

    policy: Any
    interpolation: Any
    fill: Any
    def __init__(
        self,
        policy: str | Enum = "imagenet",
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "nearest",
        fill: float | Sequence[float] | None = None,
    ) -> None: ...

class CenterCrop(Transform):
    """Cuts the middle out; a smaller image is padded with black first (torchvision's `CenterCrop`).

    size: `[height, width]`, or one number for a square.
    """

    size: Any
    def __init__(
        self,
        size: int | Sequence[int],
    ) -> None: ...

class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue in a random order (torchvision's `ColorJitter`).

    brightness: A factor from [max(0, 1 - x), 1 + x], or from the given range.
    contrast: A factor from [max(0, 1 - x), 1 + x], or from the given range.
    saturation: A factor from [max(0, 1 - x), 1 + x], or from the given range.
    hue: A part of the full circle from [-x, x], or from the given range; within -0.5..=0.5.
    """

    brightness: Any
    contrast: Any
    saturation: Any
    hue: Any
    def __init__(
        self,
        brightness: float | Sequence[float] = 0.0,
        contrast: float | Sequence[float] = 0.0,
        saturation: float | Sequence[float] = 0.0,
        hue: float | Sequence[float] = 0.0,
    ) -> None: ...

class CopyPaste(Transform):
    """Pastes objects along their outlines, each with probability `p` (Ultralytics' `CopyPaste`): in mode
    `flip` those of the sample itself, mirrored left to right, in mode `mixup` those of a partner.

    p: Chance of each object that can be pasted, in 0..=1; Ultralytics' default is 0.
    mode: Whose objects are pasted.
    """

    p: Any
    mode: Any
    def __init__(
        self,
        p: float = 0.0,
        mode: str = "flip",
    ) -> None: ...

class CutMix(Transform):
    """Shows a rectangle of the window's previous sample, whose class gets the rectangle's share of the area
    (torchvision's `CutMix`; what it calls a batch is here a window of partners).

    alpha: Lambda is drawn from Beta(alpha, alpha).
    """

    alpha: Any
    def __init__(
        self,
        alpha: float = 1.0,
    ) -> None: ...

class GaussianBlur(Transform):
    """Blurs with a normal distribution of random width (torchvision's `GaussianBlur`).

    kernel_size: Edge of the kernel, or its columns and rows; odd and at most 127. Images must be larger than
        half of it.
    sigma: Standard deviation in pixels, or the range that it is drawn from.
    """

    kernel_size: Any
    sigma: Any
    def __init__(
        self,
        kernel_size: int | Sequence[int],
        sigma: float | Sequence[float] = (0.1, 2.0),
    ) -> None: ...

class Grayscale(Transform):
    """Replaces all channels by the luma (torchvision's `Grayscale`).

    num_output_channels: Always 3 here, where torchvision's default is 1: every sample has three channels.
    """

    num_output_channels: Any
    def __init__(
        self,
        num_output_channels: int = 3,
    ) -> None: ...

class LetterBox(Transform):
    """Resizes to fit into `size` and fills the rest of it with a border (Ultralytics' `LetterBox`).

    size: `[height, width]`, or one number for a square.
    auto: Whether the canvas is only as large as a multiple of `stride` needs; its size then depends on the
        image's.
    stride: What edges are multiples of, with `auto`.
    scaleup: Whether small images are made larger.
    center: Whether the border is on all sides, not on the right and the bottom alone.
    fill: The border's colour: a grey level or `[r, g, b]`, in 0..=255.
    """

    size: Any
    auto: Any
    stride: Any
    scaleup: Any
    center: Any
    fill: Any
    def __init__(
        self,
        size: int | Sequence[int],
        auto: bool = False,
        stride: int = 32,
        scaleup: bool = True,
        center: bool = True,
        fill: float | Sequence[float] = 114,
    ) -> None: ...

class MixUp(Transform):
    """Mixes the sample with its window's previous one: picture and class are lambda of this one and the rest
    of the other (torchvision's `MixUp`; what it calls a batch is here a window of partners).

    alpha: Lambda is drawn from Beta(alpha, alpha), once a window.
    """

    alpha: Any
    def __init__(
        self,
        alpha: float = 1.0,
    ) -> None: ...

class Mosaic(Transform):
    """Lays the sample and three partners round a point of a canvas of twice `imgsz`, with probability `p`
    (Ultralytics' `Mosaic`); `super::YoloPerspective` then shows a part of it.

    imgsz: The longer edge of each tile.
    p: Chance of a mosaic, in 0..=1.
    n: How many samples there are, 4 or 9.
    """

    imgsz: Any
    p: Any
    n: Any
    def __init__(
        self,
        imgsz: int = 640,
        p: float = 1.0,
        n: int = 4,
    ) -> None: ...

class Pad(Transform):
    """Adds a border of one colour (torchvision's `Pad` with `padding_mode="constant"`).

    padding: `[left, top, right, bottom]`, `[left and right, top and bottom]`, or one number for all.
    fill: A grey level or `[r, g, b]`, in 0..=255.
    """

    padding: Any
    fill: Any
    def __init__(
        self,
        padding: int | Sequence[int],
        fill: float | Sequence[float] = 0,
    ) -> None: ...

class RandAugment(Transform):
    """Does `num_ops` random operations, one after the other, at one magnitude (torchvision's `RandAugment`).

    num_ops: Operations of a sample, at most 6.
    magnitude: Number of the magnitude, less than `num_magnitude_bins`.
    num_magnitude_bins: Magnitudes from the weakest to the strongest.
    interpolation: `nearest` or `bilinear`.
    fill: The colour around what is turned, moved or sheared; without one it is black.
    """

    num_ops: Any
    magnitude: Any
    num_magnitude_bins: Any
    interpolation: Any
    fill: Any
    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "nearest",
        fill: float | Sequence[float] | None = None,
    ) -> None: ...

class RandomAdjustSharpness(Transform):
    """Blends with the mean of the neighbours, with probability `p` (torchvision's `RandomAdjustSharpness`).

    sharpness_factor: 0 is smooth, 1 changes nothing, 2 is twice as sharp.
    p: Chance of a change, in 0..=1.
    """

    sharpness_factor: Any
    p: Any
    def __init__(
        self,
        sharpness_factor: float,
        p: float = 0.5,
    ) -> None: ...

class RandomAffine(Transform):
    """Turns, moves, scales and shears the image by chance, keeping its size (torchvision's `RandomAffine`).

    degrees: Degrees to both sides, or `[min, max]`; 0 turns nothing.
    translate: Greatest shift along x and y, in parts of the width and the height; each in 0..=1.
    scale: Least and greatest factor.
    shear: Degrees of shear.
    interpolation: `nearest` or `bilinear`.
    fill: The colour around: a grey level or `[r, g, b]`, in 0..=255.
    center: `[x, y]` from the left top corner; without it the middle.
    """

    degrees: Any
    translate: Any
    scale: Any
    shear: Any
    interpolation: Any
    fill: Any
    center: Any
    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "nearest",
        fill: float | Sequence[float] = 0,
        center: Sequence[float] | None = None,
    ) -> None: ...

class RandomAutocontrast(Transform):
    """Stretches each channel to the whole range of levels, with probability `p` (torchvision's
    `RandomAutocontrast`).

    p: Chance of a change, in 0..=1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomChannelPermutation(Transform):
    """Brings the channels into a random order (torchvision's `RandomChannelPermutation`).
    """

    def __init__(self) -> None: ...

class RandomCrop(Transform):
    """Crops `size` at a random place, after an optional border (torchvision's `RandomCrop`, constant
    padding).

    size: `[height, width]`, or one number for a square.
    padding: A border added before the crop: `[left, top, right, bottom]`, `[x, y]`, or one number for all.
    pad_if_needed: Adds what is missing on both sides where the image is smaller than `size`.
    fill: The border's colour: a grey level or `[r, g, b]`, in 0..=255.
    """

    size: Any
    padding: Any
    pad_if_needed: Any
    fill: Any
    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float | Sequence[float] = 0,
    ) -> None: ...

class RandomEqualize(Transform):
    """Spreads the levels of each channel so that all are about as frequent, with probability `p`
    (torchvision's `RandomEqualize`).

    p: Chance of a change, in 0..=1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomErasing(Transform):
    """Fills a random rectangle after normalise, with probability `p` (torchvision's `RandomErasing`).

    p: Chance of an erase, in 0..=1.
    scale: Least and greatest part of the image's area.
    ratio: Least and greatest height / width.
    value: The fill, in normalised units.
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

class RandomGrayscale(Transform):
    """Replaces all channels by the luma, with probability `p` (torchvision's `RandomGrayscale`).

    p: Chance of a grey sample, in 0..=1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.1,
    ) -> None: ...

class RandomHSV(Transform):
    """Changes hue, saturation and value, each by a gain that is drawn evenly from both sides (Ultralytics'
    `RandomHSV`).

    hsv_h: Greatest turn of the hue, as a part of the full circle, in 0..=1.
    hsv_s: By how much of itself the saturation changes at most, in 0..=1.
    hsv_v: By how much of itself the value changes at most, in 0..=1.
    """

    hsv_h: Any
    hsv_s: Any
    hsv_v: Any
    def __init__(
        self,
        hsv_h: float = 0.015,
        hsv_s: float = 0.7,
        hsv_v: float = 0.4,
    ) -> None: ...

class RandomHorizontalFlip(Transform):
    """Mirrors the sample left to right, with probability `p` (torchvision's `RandomHorizontalFlip`).

    p: Chance of a flip, in 0..=1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomInvert(Transform):
    """Replaces each level x by 255 - x, with probability `p` (torchvision's `RandomInvert`).

    p: Chance of a change, in 0..=1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomIoUCrop(Transform):
    """Cuts out a part that overlaps with some object by an intersection over union drawn from
    `sampler_options`, and drops the objects whose centres lie outside (torchvision's `RandomIoUCrop`).

    min_scale: Least part of the image's width and height.
    max_scale: Greatest part of the image's width and height.
    min_aspect_ratio: Least width over height of the crop.
    max_aspect_ratio: Greatest width over height of the crop.
    sampler_options: Least intersections over union to choose from.
    trials: Crops that are tried for each option.
    """

    min_scale: Any
    max_scale: Any
    min_aspect_ratio: Any
    max_aspect_ratio: Any
    sampler_options: Any
    trials: Any
    def __init__(
        self,
        min_scale: float = 0.3,
        max_scale: float = 1.0,
        min_aspect_ratio: float = 0.5,
        max_aspect_ratio: float = 2.0,
        sampler_options: Sequence[float] = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0),
        trials: int = 40,
    ) -> None: ...

class RandomPerspective(Transform):
    """Moves the image's corners inwards by chance, with probability `p` (torchvision's `RandomPerspective`).

    distortion_scale: How far corners move, in parts of half the image; in 0..=1.
    p: Chance of a change, in 0..=1.
    interpolation: `bilinear` or `nearest`.
    fill: The colour around: a grey level or `[r, g, b]`, in 0..=255.
    """

    distortion_scale: Any
    p: Any
    interpolation: Any
    fill: Any
    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "bilinear",
        fill: float | Sequence[float] = 0,
    ) -> None: ...

class RandomPhotometricDistort(Transform):
    """Changes brightness, contrast, saturation, hue and the order of the channels, each with probability `p`
    (torchvision's `RandomPhotometricDistort`).

    brightness: Least and greatest factor.
    contrast: Least and greatest factor.
    saturation: Least and greatest factor.
    hue: Least and greatest part of the full circle, within -0.5..=0.5.
    p: Chance of each change, in 0..=1.
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
    """Keeps the highest bits of each level, with probability `p` (torchvision's `RandomPosterize`).

    bits: Bits that are kept, in 0..=8.
    p: Chance of a change, in 0..=1.
    """

    bits: Any
    p: Any
    def __init__(
        self,
        bits: int,
        p: float = 0.5,
    ) -> None: ...

class RandomResizedCrop(Transform):
    """Crops a random part of random area and shape and resizes it to `size` (torchvision's
    `RandomResizedCrop`).

    size: `[height, width]`, or one number for a square.
    scale: Least and greatest part of the image's area.
    ratio: Least and greatest width / height, before resizing.
    interpolation: How pixels between pixels are made.
    antialias: Widens the filter when shrinking.
    """

    size: Any
    scale: Any
    ratio: Any
    interpolation: Any
    antialias: Any
    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (0.75, 1.333333),
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "bilinear",
        antialias: bool = True,
    ) -> None: ...

class RandomRotation(Transform):
    """Turns the image by a random angle, counterclockwise (torchvision's `RandomRotation`).

    degrees: Degrees to both sides, or `[min, max]`.
    interpolation: `nearest` or `bilinear`.
    expand: Makes the canvas as large as the turned image needs.
    center: `[x, y]` from the left top corner; without it the middle.
    fill: The colour around: a grey level or `[r, g, b]`, in 0..=255.
    """

    degrees: Any
    interpolation: Any
    expand: Any
    center: Any
    fill: Any
    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "nearest",
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: float | Sequence[float] = 0,
    ) -> None: ...

class RandomShortestSize(Transform):
    """Resizes the shorter edge to one of `min_size`, and the longer one to at most `max_size` (torchvision's
    `RandomShortestSize`).

    min_size: Lengths of the shorter edge to choose from.
    max_size: Longest allowed edge.
    interpolation: How pixels between pixels are made.
    antialias: Widens the filter when shrinking.
    """

    min_size: Any
    max_size: Any
    interpolation: Any
    antialias: Any
    def __init__(
        self,
        min_size: int | Sequence[int],
        max_size: int | None = None,
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "bilinear",
        antialias: bool = True,
    ) -> None: ...

class RandomSolarize(Transform):
    """Inverts all levels from a threshold on, with probability `p` (torchvision's `RandomSolarize`).

    threshold: Least level that is inverted, at most 255.
    p: Chance of a change, in 0..=1.
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

    p: Chance of a flip, in 0..=1.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.5,
    ) -> None: ...

class RandomZoomOut(Transform):
    """Lays the image at random on a canvas that is larger by a factor from `side_range`, with probability `p`
    (torchvision's `RandomZoomOut`).

    fill: A grey level or `[r, g, b]`, in 0..=255.
    side_range: Least and greatest factor, at least 1.
    p: Chance of a larger canvas, in 0..=1.
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

    size: `[height, width]`; one number is the length of the shorter edge.
    interpolation: How pixels between pixels are made.
    max_size: Longest allowed edge, where `size` is one number.
    antialias: Widens the filter when shrinking.
    """

    size: Any
    interpolation: Any
    max_size: Any
    antialias: Any
    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "bilinear",
        max_size: int | None = None,
        antialias: bool = True,
    ) -> None: ...

class ResizeLongest(Transform):
    """Resizes so that the longer edge is `imgsz`, as Ultralytics does when it loads an image.

    imgsz: Length of the longer edge.
    """

    imgsz: Any
    def __init__(
        self,
        imgsz: int = 640,
    ) -> None: ...

class SanitizeBoundingBoxes(Transform):
    """Drops objects whose boxes are small or hang over the edge of the canvas (torchvision's
    `SanitizeBoundingBoxes`).

    min_size: Least width and height in pixels, at least 1.
    min_area: Least area in pixels, at least 1.
    """

    min_size: Any
    min_area: Any
    def __init__(
        self,
        min_size: float = 1.0,
        min_area: float = 1.0,
    ) -> None: ...

class ScaleJitter(Transform):
    """Resizes so that the image fits `target_size` times a factor from `scale_range` (torchvision's
    `ScaleJitter`).

    target_size: What the image fits at a factor of 1.
    scale_range: Least and greatest factor.
    interpolation: How pixels between pixels are made.
    antialias: Widens the filter when shrinking.
    """

    target_size: Any
    scale_range: Any
    interpolation: Any
    antialias: Any
    def __init__(
        self,
        target_size: Sequence[int],
        scale_range: Sequence[float] = (0.1, 2.0),
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "bilinear",
        antialias: bool = True,
    ) -> None: ...

class TimmMixup(Transform):
    """Mixes the sample with the one at the mirrored position of its window, by MixUp or by CutMix (timm's
    `Mixup`; what it calls a batch is here a window of partners).

    mixup_alpha: MixUp's lambda is drawn from Beta(alpha, alpha); 0 turns it off.
    cutmix_alpha: CutMix's lambda is drawn from Beta(alpha, alpha); 0 turns it off.
    prob: Chance of a mix, in 0..=1.
    switch_prob: Chance of CutMix where both are on, in 0..=1.
    mode: Whose dice are thrown.
    correct_lam: Whether the classes' shares are those of the areas where a rectangle is cut at the edge.
    """

    mixup_alpha: Any
    cutmix_alpha: Any
    prob: Any
    switch_prob: Any
    mode: Any
    correct_lam: Any
    def __init__(
        self,
        mixup_alpha: float = 1.0,
        cutmix_alpha: float = 0.0,
        prob: float = 1.0,
        switch_prob: float = 0.5,
        mode: str = "batch",
        correct_lam: bool = True,
    ) -> None: ...

class TrivialAugmentWide(Transform):
    """Does one random operation at a random magnitude (torchvision's `TrivialAugmentWide`).

    num_magnitude_bins: Magnitudes from the weakest to the strongest.
    interpolation: `nearest` or `bilinear`.
    fill: The colour around what is turned, moved or sheared; without one it is black.
    """

    num_magnitude_bins: Any
    interpolation: Any
    fill: Any
    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Literal["nearest", "bilinear", "bicubic"] | Enum = "nearest",
        fill: float | Sequence[float] | None = None,
    ) -> None: ...

class YoloCutMix(Transform):
    """Shows a rectangle of a partner, with probability `p` (Ultralytics' `CutMix`).

    p: Chance of a mix, in 0..=1; Ultralytics' default is 0.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.0,
    ) -> None: ...

class YoloMixUp(Transform):
    """Lays a partner over the sample with a share of about a half, with probability `p` (Ultralytics'
    `MixUp`).

    p: Chance of a mix, in 0..=1; Ultralytics' default is 0.
    """

    p: Any
    def __init__(
        self,
        p: float = 0.0,
    ) -> None: ...

class YoloPerspective(Transform):
    """Turns, scales, shears and moves the canvas by chance and shows `size` of it (Ultralytics'
    `RandomPerspective`).

    size: `[height, width]` of the result, or one number for a square.
    degrees: Greatest angle, in degrees, both ways.
    translate: Greatest distance of the middle from the middle, in parts of `size`, in 0..=1.
    scale: The scale is between 1 - this and 1 + this; in 0..1.
    shear: Greatest shear, in degrees, both ways, along each axis.
    perspective: Greatest perspective, in 0..=0.001.
    fill: The colour around: a grey level or `[r, g, b]`, in 0..=255.
    """

    size: Any
    degrees: Any
    translate: Any
    scale: Any
    shear: Any
    perspective: Any
    fill: Any
    def __init__(
        self,
        size: int | Sequence[int],
        degrees: float = 0.0,
        translate: float = 0.1,
        scale: float = 0.5,
        shear: float = 0.0,
        perspective: float = 0.0,
        fill: float | Sequence[float] = 114,
    ) -> None: ...

__all__ = [
    "Transform",
    "AutoAugment",
    "CenterCrop",
    "ColorJitter",
    "CopyPaste",
    "CutMix",
    "GaussianBlur",
    "Grayscale",
    "LetterBox",
    "MixUp",
    "Mosaic",
    "Pad",
    "RandAugment",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomAutocontrast",
    "RandomChannelPermutation",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHSV",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomIoUCrop",
    "RandomPerspective",
    "RandomPhotometricDistort",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomShortestSize",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomZoomOut",
    "Resize",
    "ResizeLongest",
    "SanitizeBoundingBoxes",
    "ScaleJitter",
    "TimmMixup",
    "TrivialAugmentWide",
    "YoloCutMix",
    "YoloMixUp",
    "YoloPerspective",
]
