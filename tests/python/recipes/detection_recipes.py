"""The recipes for objects: those of torchvision's reference scripts, DETR and RT-DETR."""

import random

import numpy as np
import torch
from torchvision import tv_tensors
from torchvision.models.detection.transform import GeneralizedRCNNTransform
from torchvision.transforms import v2
from torchvision.transforms import functional as version_1
from torchvision.transforms.transforms import RandomCrop

from .boxes import check_objects, unpadded
from .entry import Entry
from .recording import Picture, recorded, stand_in


class RandomIoUCrop(v2.RandomIoUCrop):
    """RT-DETR's: with a probability."""

    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, *inputs):
        """The crop, or nothing."""
        return inputs[0] if torch.rand(1) >= self.p else super().forward(*inputs)


class FixedSizeCrop(v2.Transform):
    """That of torchvision's reference scripts, by behaviour: one number says where along both edges the part begins, and
    what is missing is added at the right and below."""

    def __init__(self, size, fill):
        super().__init__()
        self.size, self.fill = size, fill

    def make_params(self, flat_inputs):
        """The border and the part."""
        height, width = v2._utils.query_size(flat_inputs)
        share = torch.rand(1).item()
        return {"border": [0, 0, max(self.size - width, 0), max(self.size - height, 0)],
                "top": int(max(height - self.size, 0) * share), "left": int(max(width - self.size, 0) * share),
                "is_cut": max(height, width) > self.size}

    def transform(self, inpt, params):
        """The border first, which comes to the same."""
        if any(params["border"]):
            inpt = self._call_kernel(v2.functional.pad, inpt, padding=params["border"], fill=self.fill)
        if params["is_cut"]:
            inpt = self._call_kernel(v2.functional.crop, inpt, top=params["top"], left=params["left"], height=self.size,
                                     width=self.size)
        return inpt


def drawn(*transforms):
    """How a composition of torchvision's transforms draws for an image with boxes."""
    composition = v2.Compose(transforms)

    def draw(case, _view):
        boxes = torch.tensor([thing["box"] for thing in case.objects], dtype=torch.float32).reshape(-1, 4)
        sample = {
            "image": stand_in(case.size),
            "boxes": tv_tensors.BoundingBoxes(boxes, format="XYXY", canvas_size=(case.size[1], case.size[0])),
            "labels": torch.tensor([thing["class"] for thing in case.objects]),
        }
        with recorded() as recorder:
            composition(sample)
        return recorder.taken()

    return draw


SHORTEST = [480, 512, 544, 576, 608, 640, 672, 704, 736, 768, 800]


def detr(case, _view):
    """DETR's choices, by torchvision's functions of version 1; sizes are its own arithmetic."""
    with recorded() as recorder:
        picture = Picture(case.size)
        if random.random() < 0.5:
            picture = version_1.hflip(picture)
        if random.random() >= 0.5:
            picture = version_1.resize(picture, detr_size(picture.size, random.choice([400, 500, 600])))
            width, height = (random.randint(384, min(edge, 600)) for edge in picture.size)
            picture = version_1.crop(picture, *RandomCrop.get_params(picture, (height, width)))
        version_1.resize(picture, detr_size(picture.size, random.choice(SHORTEST), 1333))
    return recorder.taken()


def detr_size(size, short, longest=None):
    """Height and width: the shorter edge becomes `short`, or less, so that the longer one is at most `longest`."""
    least, most = min(size), max(size)
    if longest and most / least * short > longest:
        short = int(round(longest * least / most))
    edges = [short if edge == least else int(short * edge / least) for edge in size]
    return [edges[1], edges[0]]


def sizes_of_detr(run, tests):
    """Every size that an image is brought to is one that DETR has, or a pixel from it."""
    wrong, resizes = [], 0
    for line in run.lines[:4000]:
        size = run.case(line).size
        for op in line["ops"]:
            if op["op"] == "resize":
                resizes += 1
                known = [detr_size(size, short, 1333) for short in SHORTEST] + [detr_size(size, short) for short in (400, 500, 600)]
                # torchvision's RandomShortestSize cuts off where DETR's own arithmetic ends at a whole number.
                if all(np.abs(np.subtract(op["size"], edges)).max() > 1 for edges in known):
                    wrong.append((size, op["size"]))
                size = tuple(reversed(op["size"]))
            if op["op"] == "crop":
                size = (op["width"], op["height"])
    if wrong:
        tests.failures.append(f"{len(wrong)} of {resizes} sizes are not DETR's, first {wrong[0][0]} to {wrong[0][1]}")


MODEL = GeneralizedRCNNTransform(800, 1333, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])


def check_model(run, line, made):
    """The same, and pixels and boxes beside what the model itself makes of the flipped image, in float32: a level away."""
    image, key = run.image(line["index"]), line["key"]
    boxes = tv_tensors.BoundingBoxes(
        torch.tensor([thing["box"] for thing in run.data.objects(key)], dtype=torch.float32).reshape(-1, 4), format="XYXY",
        canvas_size=image.shape[1:])
    if line["ops"][0]["op"] == "hflip":
        image, boxes = (v2.functional.horizontal_flip(thing) for thing in (image, boxes))
    labels = torch.zeros(len(boxes), dtype=torch.int64)
    images, targets = MODEL([image / 255], [{"boxes": boxes.as_subclass(torch.Tensor), "labels": labels}])
    height, width = images.image_sizes[0]
    if [height, width] != list(made.size):
        return f"{made.size} instead of the model's {[height, width]}"
    away = np.abs(images.tensors[0].numpy()[:, :height, :width] - made.pixels[:, :height, :width])
    if (levels := (away.max(axis=(1, 2)) * 255 * MODEL.image_std).max()) > 1.01:
        return f"{levels:.2f} levels away from the model's"
    if len(boxes) and np.abs(targets[0]["boxes"].numpy() - made.objects["boxes"]).max() > 0.01:
        return "boxes that are not the model's"
    return check_objects(run, line, made)


FLIP = v2.RandomHorizontalFlip()
PADDED = {"drawn_ops": lambda run, line: unpadded(line["ops"])}
OBJECTS = {"data": "objects", "labels": check_objects}
ENTRIES = [
    Entry("mask-rcnn", "torchvision's references/detection, and GeneralizedRCNNTransform",
          drawn(FLIP, v2.RandomShortestSize([800], max_size=1333, antialias=False), v2.SanitizeBoundingBoxes()),
          **PADDED, **OBJECTS | {"labels": check_model}),
    Entry("detection-lsj", "torchvision's references/detection, `--data-augmentation lsj`",
          drawn(v2.ScaleJitter((1024, 1024)), FixedSizeCrop(1024, [123, 117, 104]), FLIP, v2.SanitizeBoundingBoxes()),
          **OBJECTS),
    Entry("detr", "DETR's datasets/coco.py, in torchvision's functions", detr, more=sizes_of_detr, **PADDED, **OBJECTS),
    Entry("rt-detr", "RT-DETR's configuration, in torchvision's transforms",
          drawn(v2.RandomPhotometricDistort(p=0.5), v2.RandomZoomOut(fill=0), RandomIoUCrop(0.8),
                v2.SanitizeBoundingBoxes(min_size=1), FLIP, v2.Resize([640, 640]), v2.SanitizeBoundingBoxes(min_size=1)),
          epochs=2, plans=4000, **OBJECTS),
]
