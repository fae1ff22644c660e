"""For timm's training and validation scripts: `create_loader` as timm has it, with its batches made by feedline.

    from feedline.plug.timm import create_loader

after timm's own imports is all that `train.py` and `validate.py` need. What a loader iterates is `(input, target)` on the
device, normalised, as timm's own does with its prefetcher.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch

import feedline
from feedline import Loader
from feedline.plug._stand_in import StandIn, listed, place, ranks

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
Interpolation = Literal["nearest", "bilinear", "bicubic", "random"]


def create_loader(
    dataset: Any,
    input_size: int | Sequence[int],
    batch_size: int,
    is_training: bool = False,
    no_aug: bool = False,
    re_prob: float = 0.0,
    re_mode: str = "const",
    re_count: int = 1,
    re_split: bool = False,
    train_crop_mode: str | None = None,
    scale: tuple[float, float] | None = None,
    ratio: tuple[float, float] | None = None,
    hflip: float = 0.5,
    vflip: float = 0.0,
    color_jitter: float | Sequence[float] | None = 0.4,
    color_jitter_prob: float | None = None,
    grayscale_prob: float = 0.0,
    gaussian_blur_prob: float = 0.0,
    auto_augment: str | None = None,
    num_aug_repeats: int = 0,
    num_aug_splits: int = 0,
    interpolation: Interpolation = "bilinear",
    mean: tuple[float, ...] = IMAGENET_MEAN,
    std: tuple[float, ...] = IMAGENET_STD,
    num_workers: int = 1,
    distributed: bool = False,
    crop_pct: float | None = None,
    crop_mode: str | None = None,
    crop_border_pixels: int | None = None,
    collate_fn: Callable[..., Any] | None = None,
    pin_memory: bool = False,
    fp16: bool = False,
    img_dtype: torch.dtype | None = torch.float32,
    device: Any = "cuda",
    use_prefetcher: bool = True,
    use_multi_epochs_loader: bool = False,
    persistent_workers: bool = True,
    worker_seeding: str = "all",
    tf_preprocessing: bool = False,
    **options: Any,
) -> TimmLoader:
    """timm's arguments, by its names and defaults; further keywords are options of `feedline.Loader`.

    `dataset` is timm's `ImageDataset` of files on disk. With timm's `FastCollateMixup` as `collate_fn` targets are `(n,
    classes)` float32, else `(n,)` int64. Arguments that have no equal here are an error; `pin_memory`, `persistent_workers`,
    `use_multi_epochs_loader` and `worker_seeding`, which are about worker processes, have no effect.
    """
    _refuse(re_split=re_split, num_aug_splits=num_aug_splits, tf_preprocessing=tf_preprocessing)
    _refuse(crop_border_pixels=crop_border_pixels)
    size = [input_size, input_size] if isinstance(input_size, int) else list(input_size)[-2:]
    mixup = collate_fn if hasattr(collate_fn, "mixup_alpha") else None
    if collate_fn is not None and mixup is None:
        raise ValueError(f"collate_fn is {collate_fn!r}, and only timm's FastCollateMixup has an equal here: leave it out")
    if is_training and not no_aug:
        crop = _random_crop(size, train_crop_mode, scale, ratio, interpolation)
        flips = [feedline.RandomHorizontalFlip(p=hflip), feedline.RandomVerticalFlip(p=vflip)]
        colour = _colour(mean, auto_augment, color_jitter, color_jitter_prob, interpolation)
        erasing = feedline.TimmRandomErasing(probability=re_prob, mode=re_mode, max_count=re_count)
        transforms = [*crop, *flips, *colour, *_grey(grayscale_prob, gaussian_blur_prob)]
        transforms += [erasing] if re_prob else []
    elif is_training:
        plain: Interpolation = "bilinear" if interpolation == "random" else interpolation
        transforms = [feedline.Resize(size, interpolation=plain), feedline.CenterCrop(size)]
    else:
        transforms = _validation(size, crop_pct, crop_mode, interpolation, mean)
    common = {
        "batch_size": batch_size,
        "size": size,
        "shuffle": is_training,
        "last_batch": "drop" if is_training else "partial",
        "repeats": num_aug_repeats or None,
        "normalize": (mean, std),
        "dtype": torch.float16 if fp16 else img_dtype or torch.float32,
        "exif": False,
        "num_workers": num_workers,
        **place(device),
        **ranks(distributed),
        **options,
    }
    return TimmLoader(dataset, transforms, mixup, common, torch.device(device) if use_prefetcher else None)


class TimmLoader(StandIn):
    """What timm's `create_loader` returns, as far as its scripts ask: iterates `(input, target)`."""

    def __init__(
        self, dataset: Any, transforms: list[Any], mixup: Any, options: dict[str, Any], device: torch.device | None
    ) -> None:
        self._mixup = mixup
        self._transforms = transforms
        self._options = options
        self._device = device
        self._mixup_enabled = mixup is not None
        super().__init__(self._made(dataset, _mixing(mixup)), self._pair, dataset, options["batch_size"])

    def _made(self, dataset: Any, mixing: list[Any]) -> Loader:
        reader: Any = getattr(dataset, "reader", None)
        if not hasattr(reader, "samples") or not hasattr(reader, "class_to_idx"):
            raise ValueError(
                f"the dataset is read by {type(reader).__name__}, and only folders of images have an equal here: give other data "
                "to feedline.Loader itself, or use timm's create_loader"
            )
        options = {**self._options, "classes": sorted(reader.class_to_idx, key=reader.class_to_idx.get)}
        if self._mixup is not None:
            options |= {"num_classes": self._mixup.num_classes, "label_smoothing": self._mixup.label_smoothing}
        return listed(reader.samples, transforms=[*self._transforms, *mixing], **options)

    def _pair(self, batch: Any) -> tuple[torch.Tensor, torch.Tensor]:
        image, target = batch["image"], batch["label" if self._mixup is None else "target"]
        if self._device is None:
            return image, target
        return image.to(self._device, non_blocking=True), target.to(self._device, non_blocking=True)

    @property
    def mixup_enabled(self) -> bool:
        """Whether samples are mixed; what is set holds from the next epoch on."""
        return self._mixup_enabled

    @mixup_enabled.setter
    def mixup_enabled(self, enabled: bool) -> None:
        if self._mixup is None or enabled == self._mixup_enabled:
            return
        epoch = self.loader.epoch
        self.loader.close()
        self.loader = self._made(self.dataset, _mixing(self._mixup) if enabled else [])
        self.loader.set_epoch(epoch)
        self._mixup_enabled = enabled


def _refuse(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value:
            raise ValueError(f"{name}={value!r} has no equal in feedline: leave it out, or use timm's create_loader")


def _mixing(mixup: Any) -> list[Any]:
    """timm's `FastCollateMixup` as a transform."""
    if mixup is None:
        return []
    _refuse(cutmix_minmax=mixup.cutmix_minmax)
    return [
        feedline.TimmMixup(
            mixup_alpha=mixup.mixup_alpha,
            cutmix_alpha=mixup.cutmix_alpha,
            prob=mixup.mix_prob,
            switch_prob=mixup.switch_prob,
            mode=mixup.mode,
            correct_lam=mixup.correct_lam,
        )
    ]


def _random_crop(
    size: list[int],
    mode: str | None,
    scale: Sequence[float] | None,
    ratio: Sequence[float] | None,
    interpolation: Interpolation,
) -> list[Any]:
    if mode in (None, "rrc"):
        scale, ratio = scale or (0.08, 1.0), ratio or (3 / 4, 4 / 3)
        return [feedline.RandomResizedCrop(size, scale=scale, ratio=ratio, interpolation=interpolation)]
    crops = {"rkrc": feedline.CenterCropOrPad, "rkrr": feedline.RandomCropOrPad}
    if mode not in crops:
        raise ValueError(f"train_crop_mode is {mode!r}: give rrc, rkrc or rkrr")
    resize = feedline.ResizeKeepRatio(
        size,
        interpolation=interpolation,
        random_scale_prob=0.5,
        random_scale_range=scale or (0.8, 1.0),
        random_scale_area=True,
        random_aspect_prob=0.5,
        random_aspect_range=ratio or (0.9, 1 / 0.9),
    )
    return [resize, crops[mode](size, padding_mode="reflect")]


def _colour(
    mean: Sequence[float],
    policy: str | None,
    jitter: float | Sequence[float] | None,
    jitter_prob: float | None,
    interpolation: Interpolation,
) -> list[Any]:
    made: list[Any] = []
    grey = [min(255, round(255 * level)) for level in mean]
    if policy:
        if policy.startswith("rand"):
            made.append(feedline.TimmRandAugment(policy, interpolation=interpolation, fill=grey))
        elif policy.startswith("augmix"):
            made.append(feedline.TimmAugMix(policy, interpolation=interpolation, fill=grey))
        else:
            _refuse(auto_augment=policy)
    if jitter is None or (policy and "3a" not in policy):
        return made
    factors = list(jitter) if isinstance(jitter, Sequence) else [float(jitter)] * 3
    brightness, contrast, saturation, hue = [*factors, 0.0][:4]
    chance = 1.0 if jitter_prob is None else jitter_prob
    return [*made, feedline.ColorJitter(brightness, contrast, saturation, hue, p=chance)]


def _grey(grayscale_prob: float, gaussian_blur_prob: float) -> list[Any]:
    made: list[Any] = [feedline.RandomGrayscale(p=grayscale_prob)] if grayscale_prob else []
    # The width of the window is fixed in timm, too.
    return made + ([feedline.GaussianBlur(23, p=gaussian_blur_prob)] if gaussian_blur_prob else [])


def _validation(
    size: list[int], crop_pct: float | None, crop_mode: str | None, interpolation: Interpolation, mean: Sequence[float]
) -> list[Any]:
    scaled = [math.floor(edge / (crop_pct or 0.875)) for edge in size]
    if crop_mode == "squash":
        return [feedline.Resize(scaled, interpolation=interpolation), feedline.CenterCrop(size)]
    if crop_mode == "border":
        fill = [round(255 * level) for level in mean]
        keep = feedline.ResizeKeepRatio(scaled, longest=1.0, interpolation=interpolation)
        return [keep, feedline.CenterCropOrPad(size, fill=fill)]
    if scaled[0] == scaled[1]:
        return [feedline.Resize(scaled[0], interpolation=interpolation), feedline.CenterCrop(size)]
    return [feedline.ResizeKeepRatio(scaled), feedline.CenterCrop(size)]
