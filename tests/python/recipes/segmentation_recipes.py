"""The recipes for semantic masks: torchvision's reference script, and SegFormer's crops as mmseg makes them."""

import random

import numpy as np
import torch
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as reference

from .boxes import MOVING, OF_PIXELS
from .draws import same
from .entry import Entry
from .recording import recorded, stand_in
from .torchvision_recipes import drawn

FILL, CROP = 255, 512


def reduced(mask):
    """Classes that count from 1, from 0 on; what is 0 is ignored."""
    return np.where((mask == 0) | (mask == FILL), FILL, mask - 1)


def check_mask(run, line, made):
    """What is wrong with a sample's mask: torchvision moves it as it moves pixels, by their nearest neighbours."""
    mask = run.data.mask(line["key"])
    if run.settings.get("labels", {}).get("reduce_zero_label"):
        mask = reduced(mask)
    mask = tv_tensors.Mask(torch.from_numpy(mask[None].astype(np.uint8)))
    for op in line["ops"]:
        arguments = {name: value for name, value in op.items() if name not in OF_PIXELS}
        if op["op"] == "pad":
            mask = reference.pad(mask, fill=FILL, **arguments)
        elif op["op"] in MOVING:
            mask = MOVING[op["op"]](mask, **arguments)
    wrong = int((mask.numpy()[0] != made.masks).sum())
    return f"{wrong} pixels of the mask have another class" if wrong else ""


def prevailing(mask):
    """The fraction of a mask that its most frequent class has, and 1 where there are no two."""
    counts = np.bincount(mask.ravel(), minlength=256)[:FILL]
    return counts.max() / counts.sum() if (counts > 0).sum() > 1 else 1.0


def mmseg_crop(mask):
    """mmseg's crop, by behaviour: the first of ten in which no class has three quarters, else one more."""
    height, width = (min(edge, CROP) for edge in mask.shape)
    for _ in range(11):
        top, left = random.randint(0, mask.shape[0] - height), random.randint(0, mask.shape[1] - width)
        if prevailing(mask[top:top + height, left:left + width]) < 0.75:
            break
    return top, left, height, width


def enlarged(mask, width, height):
    """A mask of this size, by the nearest pixels."""
    rows, columns = (np.arange(new) * old // new for new, old in zip((height, width), mask.shape))
    return reduced(mask)[rows][:, columns]


def mmseg(case, _view):
    """mmseg's resize by a ratio that keeps the shape and its crop, then torchvision's transforms."""
    ratio = random.random() * 1.5 + 0.5
    bounds = sorted(int(edge * ratio) for edge in (2048, 512))
    scale = min(bounds[0] / min(case.size), bounds[1] / max(case.size))
    width, height = (int(edge * scale + 0.5) for edge in case.size)
    crop = mmseg_crop(enlarged(case.mask(), width, height))
    with recorded() as recorder:
        picture = reference.resize(stand_in(case.size), [height, width], antialias=False)
        AFTER(picture if crop == (0, 0, height, width) else reference.crop(picture, *crop))
    return recorder.taken()


def compare_prevailing(run, tests):
    """How much of a crop its most frequent class has."""
    ours, theirs = [], []
    for line in run.lines:
        size, part = next(op["size"] for op in line["ops"] if op["op"] == "resize"), None
        mask = enlarged(run.data.mask(line["key"]), size[1], size[0])
        for op in line["ops"]:
            if op["op"] == "crop":
                part = op["top"], op["left"], op["height"], op["width"]
        top, left, height, width = part or (0, 0, *mask.shape)
        ours.append(float(prevailing(mask[top:top + height, left:left + width])))
        top, left, height, width = mmseg_crop(mask)
        theirs.append(float(prevailing(mask[top:top + height, left:left + width])))
    tests.add("the most frequent class", same(ours, theirs))


class PadIfSmaller:
    """That of torchvision's reference scripts, by behaviour: what is missing is added at the right and below."""

    def __init__(self, size, fill):
        self.size, self.fill = size, fill

    def __call__(self, picture):
        height, width = picture.shape[-2:]
        border = [0, 0, max(self.size - width, 0), max(self.size - height, 0)]
        return reference.pad(picture, border, fill=self.fill) if any(border) else picture


# mmseg pads after it has normalised, with 0: the mean colour.
AFTER = v2.Compose([v2.RandomHorizontalFlip(), v2.ColorJitter(0.125, 0.5, 0.5, 0.1), PadIfSmaller(CROP, [124, 116, 104])])
MASKS = {"data": "masks", "labels": check_mask}
ENTRIES = [
    Entry("segmentation", "torchvision's references/segmentation",
          drawn(v2.RandomResize(260, 1041), v2.RandomHorizontalFlip(), PadIfSmaller(480, 0), v2.RandomCrop(480)), **MASKS),
    Entry("segformer", "mmseg's ade20k configuration by behaviour, in torchvision's transforms", mmseg,
          more=compare_prevailing, **MASKS),
]
