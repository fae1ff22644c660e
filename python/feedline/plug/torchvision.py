"""For the training scripts in torchvision's references: classification, detection and segmentation.

Each function takes the script's arguments and its two datasets, and returns what stands in the place of its two
DataLoaders. Augmentations are those that the arguments name. Further keywords are options of `feedline.Loader`.
"""

from __future__ import annotations

import os
from typing import Any

import torch

import feedline
from feedline import Loader
from feedline.plug._stand_in import StandIn, listed, place, ranks

#: What the detection script's `--data-augmentation` puts into the place of what an image does not fill.
MEAN_COLOUR = (123, 117, 104)
LEAST = (("height", 3000), ("width", 4000))


def classification(args: Any, dataset: Any, dataset_test: Any, **options: Any) -> tuple[StandIn, StandIn]:
    """For references/classification/train.py: batches are `(image, target)`, as its DataLoaders' are.

    `dataset` and `dataset_test` are the script's `ImageFolder`s. With `--mixup-alpha` or `--cutmix-alpha` targets are
    `(n, classes)` float32, else `(n,)` int64.
    """
    if args.weights and args.test_only:
        raise ValueError("--test-only with --weights has transforms of the weights' own: keep the script's DataLoader for it")
    classes = len(dataset.classes)
    wanted = ((feedline.MixUp, args.mixup_alpha), (feedline.CutMix, args.cutmix_alpha))
    mixing = [kind(alpha=alpha) for kind, alpha in wanted if alpha > 0]
    common = {
        "batch_size": args.batch_size,
        "normalize": "imagenet",
        "exif": False,
        "num_workers": args.workers,
        **place(args.device),
        **ranks(args.distributed),
        **options,
    }
    train = listed(
        dataset.samples,
        classes=dataset.classes,
        shuffle=True,
        transforms=_classification_transforms(args) + ([feedline.RandomChoice(mixing)] if mixing else []),
        num_classes=classes if mixing else None,
        repeats=args.ra_reps if getattr(args, "ra_sampler", False) and args.distributed else None,
        **common,
    )
    test = listed(
        dataset_test.samples,
        classes=dataset_test.classes,
        transforms=[
            feedline.Resize(args.val_resize_size, interpolation=args.interpolation),
            feedline.CenterCrop(args.val_crop_size),
        ],
        **common,
    )
    kind = "target" if mixing else "label"
    return (
        StandIn(train, lambda batch: (batch["image"], batch[kind]), dataset, args.batch_size, _first_epoch(args)),
        StandIn(test, lambda batch: (batch["image"], batch["label"]), dataset_test, args.batch_size),
    )


def _first_epoch(args: Any) -> Any:
    """Asks the script for it, which sets it when it resumes, after its loaders are made."""
    return lambda: getattr(args, "start_epoch", 0) or 0


def _classification_transforms(args: Any) -> list[Any]:
    interpolation, policy = args.interpolation, getattr(args, "auto_augment", None)
    transforms: list[Any] = [
        feedline.RandomResizedCrop(args.train_crop_size, interpolation=interpolation),
        feedline.RandomHorizontalFlip(),
    ]
    if policy == "ra":
        transforms.append(feedline.RandAugment(magnitude=args.ra_magnitude, interpolation=interpolation))
    elif policy == "ta_wide":
        transforms.append(feedline.TrivialAugmentWide(interpolation=interpolation))
    elif policy == "augmix":
        transforms.append(feedline.AugMix(severity=args.augmix_severity, interpolation=interpolation))
    elif policy is not None:
        transforms.append(feedline.AutoAugment(policy=policy, interpolation=interpolation))
    if getattr(args, "random_erase", 0.0) > 0:
        transforms.append(feedline.RandomErasing(p=args.random_erase))
    return transforms


def detection(args: Any, dataset: Any, dataset_test: Any, **options: Any) -> tuple[StandIn, StandIn]:
    """For references/detection/train.py: batches are `(images, targets)`, two tuples as long as the batch.

    An image is `(3, height, width)` float32 from 0 to 1, of a size of its own. A target has `boxes` (m, 4) in pixels as
    left, top, right, bottom, `labels` (m,) by COCO's ids, `image_id`, with masks `masks` (m, height, width) uint8, and with
    keypoints `keypoints` (m, k, 3). Crowds are left out.
    """
    if args.use_copypaste:
        raise ValueError("--use-copypaste has no equal here: leave it out, or keep the script's DataLoader")
    common = {
        "exif": False,
        "num_workers": args.workers,
        "instance_masks": "per-object" if "mask" in args.model else None,
        **place(args.device),
        **ranks(args.distributed),
        **options,
    }
    transforms = _detection_transforms(args.data_augmentation)
    train = {"shuffle": True, "last_batch": "drop", "batch_size": args.batch_size, "transforms": transforms}
    return (
        _coco(args, "train", dataset, **train, **common),
        _coco(args, "val", dataset_test, batch_size=1, transforms=[], **common),
    )


def _detection_transforms(policy: str) -> list[Any]:
    sizes = [480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800]
    policies: dict[str, list[Any]] = {
        "hflip": [],
        "lsj": [
            feedline.ScaleJitter(target_size=[1024, 1024]),
            feedline.FixedSizeCrop(1024, fill=MEAN_COLOUR),
        ],
        "multiscale": [feedline.RandomShortestSize(min_size=sizes, max_size=1333)],
        "ssdlite": [feedline.RandomIoUCrop()],
    }
    if policy not in policies:
        known = ", ".join(policies)
        raise ValueError(f"--data-augmentation {policy} has no equal here: use {known}, or keep the script's DataLoader")
    return [*policies[policy], feedline.RandomHorizontalFlip(), feedline.SanitizeBoundingBoxes()]


def _coco(args: Any, part: str, dataset: Any, **options: Any) -> StandIn:
    """A Loader of the files that the script's `get_coco` reads, of the images that its dataset shows."""
    mode = {"coco": "instances", "coco_kp": "person_keypoints"}[args.dataset]
    coco, subset = dataset, None
    if isinstance(dataset, torch.utils.data.Subset):
        coco, subset = dataset.dataset, list(dataset.indices)
    # What no sample exceeds; a Loader is tried with an image of 4000x3000, whatever the data have.
    size = [max(least, *(image[side] for image in coco.coco.imgs.values())) for side, least in LEAST]
    loader = Loader(
        f"{args.data_path}/annotations/{mode}_{part}2017.json",
        kind="coco",
        image_dir=f"{args.data_path}/{part}2017",
        subset=subset,
        framework="torch",
        box_format="xyxy",
        box_unit="pixels",
        pad_to_largest=True,
        size=size,
        **options,
    )
    categories = torch.tensor(sorted(coco.coco.cats), dtype=torch.int64)
    first = _first_epoch(args) if part == "train" else None
    return StandIn(loader, lambda batch: _targets(batch, coco.ids, categories), dataset, options["batch_size"], first)


def _targets(batch: Any, ids: list[int], categories: torch.Tensor) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The batch as the scripts' `collate_fn` makes it: a tuple of images and one of their targets."""
    shown = ~batch["crowd"]
    fields = {"boxes": batch["bboxes"][shown], "labels": categories[batch["cls"].flatten()[shown]]}
    for name in ("masks", "keypoints"):
        if name in batch:
            fields[name] = batch[name][shown.to(batch[name].device)]
    counts = torch.bincount(batch["batch_idx"][shown], minlength=len(batch["index"])).tolist()
    rows = {name: value.split(counts) for name, value in fields.items()}
    images, targets = [], []
    for at, (index, (height, width)) in enumerate(zip(batch["index"].tolist(), batch["size"].tolist())):
        images.append(batch["image"][at, :, :height, :width])
        target = {name: value[at] for name, value in rows.items()}
        if "masks" in target:
            target["masks"] = target["masks"][:, :height, :width]
        targets.append({**target, "image_id": ids[index]})
    return tuple(images), tuple(targets)


def segmentation(args: Any, dataset: Any, dataset_test: Any, **options: Any) -> tuple[StandIn, StandIn]:
    """For references/segmentation/train.py with `--dataset voc`: batches are `(image, target)`, as its DataLoaders' are.

    `dataset` and `dataset_test` are the script's `VOCSegmentation`s; a target is `(n, height, width)` int64, 255 where the
    loss is to ignore it.
    """
    if args.dataset != "voc":
        raise ValueError(f"--dataset {args.dataset} makes its masks in Python: voc is read here, which has them as PNG files")
    common = {
        "normalize": "imagenet",
        "exif": False,
        "num_workers": args.workers,
        **place(args.device),
        **ranks(args.distributed),
        **options,
    }
    train = {
        "batch_size": args.batch_size,
        "shuffle": True,
        "last_batch": "drop",
        "transforms": [
            feedline.RandomResize(260, 1041),
            feedline.RandomHorizontalFlip(),
            feedline.PadIfSmaller(480),
            feedline.RandomCrop(480),
        ],
    }
    test = {"batch_size": 1, "transforms": [feedline.Resize(520)], "pad_to_largest": True, "size": [8320, 8320]}
    return _voc(dataset, _first_epoch(args), **train, **common), _voc(dataset_test, None, **test, **common)


def _voc(dataset: Any, first_epoch: Any, **options: Any) -> StandIn:
    images, masks = (os.path.dirname(paths[0]) for paths in (dataset.images, dataset.masks))
    names = [(os.path.basename(image), None) for image in dataset.images]
    loader = listed(names, root=images, mask_dir=masks, masks=255, **options)
    return StandIn(loader, _with_masks, dataset, options["batch_size"], first_epoch)


def _with_masks(batch: Any) -> tuple[torch.Tensor, torch.Tensor]:
    return batch["image"], batch["masks"].to(torch.int64)
