"""The recipes for semantic masks: torchvision's reference script, and SegFormer's crops as mmseg makes them."""

import random

import numpy as np
import torch
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as reference

from .boxes import MOVING, OF_PIXELS
from .entry import Entry
from .recording import recorded, stand_in
from .torchvision_recipes import drawn

FILL = 255


def check_mask(run, line, made):
    """What is wrong with a sample's mask: torchvision moves it as it moves pixels, by their nearest neighbours."""
    mask = run.data.mask(line["key"])
    if run.settings.get("labels", {}).get("reduce_zero_label"):
        mask = np.where((mask == 0) | (mask == FILL), FILL, mask - 1)
    mask = tv_tensors.Mask(torch.from_numpy(mask[None].astype(np.uint8)))
    for op in line["ops"]:
        arguments = {name: value for name, value in op.items() if name not in OF_PIXELS}
        if op["op"] == "pad":
            mask = reference.pad(mask, fill=FILL, **arguments)
        elif op["op"] in MOVING:
            mask = MOVING[op["op"]](mask, **arguments)
    wrong = int((mask.numpy()[0] != made.masks).sum())
    return f"{wrong} pixels of the mask have another class" if wrong else ""


def mmseg(case, _view):
    """mmseg's resize by a ratio that keeps the shape, then torchvision's transforms."""
    ratio = random.random() * 1.5 + 0.5
    bounds = sorted(int(edge * ratio) for edge in (2048, 512))
    scale = min(bounds[0] / min(case.size), bounds[1] / max(case.size))
    width, height = (int(edge * scale + 0.5) for edge in case.size)
    with recorded() as recorder:
        CROP(reference.resize(stand_in(case.size), [height, width], antialias=False))
    return recorder.taken()


class PadIfSmaller:
    """That of torchvision's reference scripts, by behaviour: what is missing is added at the right and below."""

    def __init__(self, size, fill):
        self.size, self.fill = size, fill

    def __call__(self, picture):
        height, width = picture.shape[-2:]
        border = [0, 0, max(self.size - width, 0), max(self.size - height, 0)]
        return reference.pad(picture, border, fill=self.fill) if any(border) else picture


# mmseg pads after it has normalised, with 0: the mean colour.
CROP = v2.Compose([v2.RandomHorizontalFlip(), PadIfSmaller(512, [124, 116, 104]), v2.RandomCrop(512),
                   v2.ColorJitter(0.125, 0.5, 0.5, 0.05)])
MASKS = {"data": "masks", "labels": check_mask}
ENTRIES = [
    Entry("segmentation", "torchvision's references/segmentation",
          drawn(v2.RandomResize(260, 1041), v2.RandomHorizontalFlip(), PadIfSmaller(480, 0), v2.RandomCrop(480)), **MASKS),
    Entry("segformer", "mmseg's ade20k configuration by behaviour, in torchvision's transforms", mmseg, **MASKS),
]
