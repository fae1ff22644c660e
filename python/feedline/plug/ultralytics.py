"""For Ultralytics: its trainers, with their batches made by feedline.

    from feedline.plug.ultralytics import DetectionTrainer
    YOLO("yolo11n.yaml").train(data="data.yaml", trainer=DetectionTrainer)

Hyper-parameters are those that the trainer is given. Ultralytics still makes its own data set, which finds the images,
verifies their labels and answers its validator, but loads none of them. Options of `feedline.Loader` are set as
`feedline_options` of a subclass. Ultralytics is under the AGPL, which is between you and it: nothing of it is here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from ultralytics.models.yolo.classify import ClassificationTrainer as StockClassificationTrainer
from ultralytics.models.yolo.detect import DetectionTrainer as StockDetectionTrainer
from ultralytics.models.yolo.obb import OBBTrainer as StockOBBTrainer
from ultralytics.models.yolo.pose import PoseTrainer as StockPoseTrainer
from ultralytics.models.yolo.segment import SegmentationTrainer as StockSegmentationTrainer
from ultralytics.utils.torch_utils import torch_distributed_zero_first

import feedline
from feedline import Loader
from feedline.plug._epochs import OF_OBJECTS
from feedline.plug._stand_in import StandIn, listed, place, ranks

#: What has no equal here, and the value that leaves it out.
REFUSED = {"augmentations": None, "bgr": 0.0, "classes": None, "rect": False, "time": None}


class EpochLoader(StandIn):
    """The batches of the epoch that the trainer is in, also after it was resumed."""

    num_workers = 0
    trainer: Any = None

    def __iter__(self) -> Iterator[Any]:
        if self.trainer is not None:
            self.loader.set_epoch(self.trainer.epoch)
            return super().__iter__()
        # What fills the last step of several ranks up would count twice in metrics.
        return (self._convert(batch) for batch in map(without_padding, self.loader) if len(batch["index"]))

    def reset(self) -> None:
        """Asked for where a DataLoader's workers would have to start anew."""


class _ObjectTrainer:
    """What the trainers of all tasks with objects share."""

    args: Any
    data: Any
    device: Any
    build_dataset: Any
    feedline_options: dict[str, Any] = {}

    def get_dataloader(self, dataset_path: str, batch_size: int = 16, rank: int = 0, mode: str = "train") -> EpochLoader:
        """In the place of Ultralytics' own: the loader of training or of validation batches."""
        is_training = mode == "train"
        if is_training:
            refuse(self.args)
        with _without_cache(self.args) as cache, torch_distributed_zero_first(rank):
            # Of several processes the first one writes the cache of the labels.
            dataset = self.build_dataset(dataset_path, mode, batch_size)
        options = self._training_options() if is_training else _validation_options(self.args, dataset)
        options = {
            "batch_size": batch_size,
            "dtype": "u8",
            "seed": self.args.seed,
            "cache": cache,
            **options,
            **self._label_options(),
            **place(self.device),
            **ranks(rank != -1),
            **self.feedline_options,
        }
        loader = _yolo_loader(dataset.im_files, self.data, **options)
        convert = _Batches(dataset, self.args, is_training)
        made = EpochLoader(loader, convert, dataset, batch_size)
        made.trainer = self if is_training else None
        return made

    def _label_options(self) -> dict[str, Any]:
        return {}

    def _training_options(self) -> dict[str, Any]:
        """The augmentations of Ultralytics' training set at the trainer's hyper-parameters."""
        args = self.args
        # Ultralytics mirrors no keypoints that it is not told the mirror images of.
        mirrors = "kpt_shape" not in self.data or self.data.get("flip_idx")
        closing = max(args.epochs - args.close_mosaic, 0) if args.close_mosaic else None
        return {
            "shuffle": True,
            "size": args.imgsz,
            "close_mosaic": closing,
            "transforms": [
                feedline.Mosaic(args.imgsz, p=args.mosaic),
                feedline.CopyPaste(p=args.copy_paste, mode=args.copy_paste_mode),
                feedline.YoloPerspective(
                    args.imgsz,
                    degrees=args.degrees,
                    translate=args.translate,
                    scale=args.scale,
                    shear=args.shear,
                    perspective=args.perspective,
                ),
                feedline.YoloMixUp(p=args.mixup),
                feedline.YoloCutMix(p=args.cutmix),
                feedline.RandomHSV(args.hsv_h, args.hsv_s, args.hsv_v),
                feedline.RandomVerticalFlip(p=args.flipud if mirrors else 0.0),
                feedline.RandomHorizontalFlip(p=args.fliplr if mirrors else 0.0),
            ],
        }


class DetectionTrainer(_ObjectTrainer, StockDetectionTrainer):
    """Ultralytics' `DetectionTrainer` with feedline's batches."""


class PoseTrainer(_ObjectTrainer, StockPoseTrainer):
    """Ultralytics' `PoseTrainer` with feedline's batches."""


class SegmentationTrainer(_ObjectTrainer, StockSegmentationTrainer):
    """Ultralytics' `SegmentationTrainer` with feedline's batches."""

    def _label_options(self) -> dict[str, Any]:
        kind = "overlap" if self.args.overlap_mask else "per-object"
        return {"instance_masks": kind, "mask_ratio": self.args.mask_ratio}


class OBBTrainer(_ObjectTrainer, StockOBBTrainer):
    """Ultralytics' `OBBTrainer` with feedline's batches."""

    def _label_options(self) -> dict[str, Any]:
        return {"box_format": "xywhr"}


class ClassificationTrainer(StockClassificationTrainer):
    """Ultralytics' `ClassificationTrainer` with feedline's batches."""

    feedline_options: dict[str, Any] = {}

    def get_dataloader(self, dataset_path: str, batch_size: int = 16, rank: int = 0, mode: str = "train") -> EpochLoader:
        """In the place of Ultralytics' own: the loader of training or of validation batches."""
        is_training = mode == "train"
        with _without_cache(self.args) as cache, torch_distributed_zero_first(rank):
            dataset = self.build_dataset(dataset_path, mode)
        options = {
            "batch_size": batch_size,
            "shuffle": is_training,
            "seed": self.args.seed,
            "cache": cache,
            "transforms": _classification_transforms(self.args, is_training),
            **place(self.device),
            **ranks(rank != -1),
            **self.feedline_options,
        }
        loader = listed([(sample[0], sample[1]) for sample in dataset.samples], **options)
        made = EpochLoader(loader, lambda batch: {"img": batch["image"], "cls": batch["label"]}, dataset, batch_size)
        made.trainer = self if is_training else None
        return made


@contextmanager
def _without_cache(args: Any) -> Iterator[str]:
    """Keeps Ultralytics' data set from caching images that feedline reads; gives what the option `cache` is to be."""
    said = args.cache
    args.cache = False
    try:
        yield cache_of(said)
    finally:
        args.cache = said


def cache_of(said: Any) -> str:
    """The option `cache` for what Ultralytics calls so: `True` is `"ram"` there."""
    known = {"": "off", "false": "off", "none": "off", "true": "ram", "ram": "ram", "disk": "disk"}
    word = str(said).lower()
    if word not in known:
        raise ValueError(f"cache={said!r} is none of Ultralytics' values: give False, True, 'ram' or 'disk'")
    return known[word]


def refuse(args: Any) -> None:
    """Fails where a hyper-parameter asks for what has no equal here."""
    for name, neutral in REFUSED.items():
        said = getattr(args, name, neutral)
        if said and said != neutral:
            raise ValueError(f"{name}={said!r} has no equal in feedline: leave it at {neutral!r}, or use Ultralytics' trainer")


def _classification_transforms(args: Any, is_training: bool) -> list[Any]:
    if not is_training:
        return [feedline.Resize(args.imgsz), feedline.CenterCrop(args.imgsz)]
    transforms: list[Any] = [
        feedline.RandomResizedCrop(args.imgsz, scale=(1 - args.scale, 1.0)),
        feedline.RandomHorizontalFlip(p=args.fliplr),
        feedline.RandomVerticalFlip(p=args.flipud),
    ]
    policies = {
        "randaugment": feedline.RandAugment(interpolation="bilinear"),
        "augmix": feedline.AugMix(interpolation="bilinear"),
        "autoaugment": feedline.AutoAugment(interpolation="bilinear"),
    }
    if args.auto_augment:
        transforms.append(policies[args.auto_augment])
    else:
        transforms.append(feedline.ColorJitter(args.hsv_v, args.hsv_v, args.hsv_s, args.hsv_h))
    return [*transforms, feedline.RandomErasing(p=args.erasing)]


def _validation_options(args: Any, dataset: Any) -> dict[str, Any]:
    return {
        "rect": bool(dataset.rect),
        "stride": dataset.stride,
        "size": args.imgsz,
        "transforms": [
            feedline.ResizeLongest(args.imgsz, antialias=False),
            feedline.LetterBox(args.imgsz, scaleup=False, antialias=False),
        ],
    }


def _yolo_loader(files: list[str], data: Any, **options: Any) -> Loader:
    """A Loader of just these images, in their order, with the names and keypoints that the data.yaml has."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "images.txt"), "w", encoding="utf-8") as file:
            file.writelines(f"{os.path.abspath(name)}\n" for name in files)
        lines = ["train: images.txt"]
        if "kpt_shape" in data:
            lines.append(f"kpt_shape: {list(data['kpt_shape'])}")
        if data.get("flip_idx"):
            lines.append(f"flip_idx: {list(data['flip_idx'])}")
        path = os.path.join(folder, "data.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        options.setdefault("box_format", "cxcywh")
        options.update(box_unit="normalized", cls_dtype="float32", framework="torch")
        return Loader(path, kind="yolo", split="train", **options)


class _Batches:
    """Makes of a batch what Ultralytics' own data set collates."""

    def __init__(self, dataset: Any, args: Any, is_training: bool) -> None:
        self.files = dataset.im_files
        self.single_cls = bool(args.single_cls)
        self.is_training = is_training

    def __call__(self, batch: Any) -> dict[str, Any]:
        made = {
            "img": batch["image"],
            **{name: batch[name] for name in ("cls", "bboxes", "batch_idx")},
            "im_file": tuple(self.files[at] for at in batch["index"].tolist()),
            **{name: tuple(batch[name]) for name in ("ori_shape", "resized_shape")},
        }
        if not self.is_training:
            made["ratio_pad"] = tuple(batch["ratio_pad"])
        if self.single_cls:
            made["cls"] = torch.zeros_like(made["cls"])
        if "keypoints" in batch:
            made["keypoints"] = batch["keypoints"]
        if "masks" in batch:
            made["masks"] = batch["masks"].to(torch.float32)
            classes_of = _classes_of_masks if is_overlap(batch["masks"]) else _classes_of_objects
            made["sem_masks"] = classes_of(batch["masks"], made["cls"], made["batch_idx"], len(made["im_file"]))
        return made


def is_overlap(masks: torch.Tensor) -> bool:
    """Whether masks are one for all objects of a row, and not one for each object."""
    return bool(masks.dtype == torch.int32)


def without_padding(batch: Any) -> Any:
    """A batch without the rows that repeat a sample, which are its last ones."""
    rows = sum(status != "padded" for status in batch["status"])
    if rows == len(batch["status"]):
        return batch
    own = batch["batch_idx"] < rows if "batch_idx" in batch else None
    of_objects = {*OF_OBJECTS}
    if "masks" in batch and not is_overlap(batch["masks"]):
        of_objects.add("masks")
    cut = {}
    for name, value in batch.items():
        if own is not None and name in of_objects:
            cut[name] = value[own]
        else:
            cut[name] = value[:rows] if len(value) == len(batch["status"]) else value
    return cut


def _classes_of_objects(masks: torch.Tensor, cls: torch.Tensor, batch_idx: torch.Tensor, rows: int) -> torch.Tensor:
    """The class of each pixel of masks of single objects: that of the smallest one there, or 0."""
    made = torch.zeros((rows, *masks.shape[1:]), dtype=torch.float32, device=masks.device)
    for row in range(rows):
        own = batch_idx == row
        shown, classes = masks[own.to(masks.device)], cls[own].flatten().to(masks.device)
        for at in shown.sum((1, 2)).argsort(descending=True).tolist():
            made[row][shown[at] > 0] = classes[at]
    return made


def _classes_of_masks(masks: torch.Tensor, cls: torch.Tensor, batch_idx: torch.Tensor, rows: int) -> torch.Tensor:
    """The class of each pixel of overlapping masks; where there is no object Ultralytics has the last object's."""
    made = torch.zeros(masks.shape, dtype=torch.float32, device=masks.device)
    for row in range(rows):
        own = cls[batch_idx == row].flatten().to(masks.device)
        if len(own):
            made[row] = own[masks[row].long() - 1]
    return made
