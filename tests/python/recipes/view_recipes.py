"""The recipes of self-supervised training, whose samples have several views, in torchvision's transforms."""

import numpy as np
from torchvision.transforms import v2
from torchvision.transforms.v2 import InterpolationMode

from .entry import Entry
from .pixels import Bound
from .torchvision_recipes import drawn, own_class

BICUBIC = InterpolationMode.BICUBIC
# torch sums a kernel's products in an order that depends on the machine: one level in a few values. A solarisation that
# follows does not enlarge it.
BLURRED = Bound(levels=1, share=1e-4)
LATER_COLOURS = Bound(levels=3, share=1e-4)


def jitter(brightness, contrast, saturation, hue):
    """Colours in four of five samples, and grey in one of five."""
    return (v2.RandomApply([v2.ColorJitter(brightness, contrast, saturation, hue)], p=0.8), v2.RandomGrayscale(p=0.2))


def blur(edge, p):
    """A Gaussian blur of a random width, with probability p."""
    return v2.RandomApply([v2.GaussianBlur(edge, (0.1, 2.0))], p=p)


def crop(size, scale, interpolation=BICUBIC):
    """A random resized crop."""
    return v2.RandomResizedCrop(size, scale=scale, interpolation=interpolation)


FLIP = v2.RandomHorizontalFlip()
SOLARIZE = v2.RandomSolarize(128, p=0.2)
WEAK = jitter(0.4, 0.4, 0.2, 0.1)


def by_view(**views):
    """How a recipe draws whose views have a composition each."""
    draws = {name: drawn(*transforms) for name, transforms in views.items()}
    return lambda case, view: draws[view](case, view)


def two_views(first, second):
    """Two views of a name each."""
    return {"draw": by_view(first=first, second=second), "views": ["first", "second"]}


def multi_crop(large, small, edge):
    """Two large crops, and eight small ones."""
    global_, local = crop(224, large), crop(96, small)
    first = (global_, FLIP, *WEAK, blur(edge, 1.0))
    second = (global_, FLIP, *WEAK, blur(edge, 0.1), SOLARIZE)
    draw = by_view(first=first, second=second, small=(local, FLIP, *WEAK, blur(edge, 0.5)))
    return {"draw": draw, "views": ["first", "second"] + ["small"] * 8}


def apart(run, tests):
    """Whether a sample's views have nothing to do with each other."""
    numbers = {}
    for line in run.lines:
        ops = line["ops"]
        crop_op = next(op for op in ops if op["op"] == "resized_crop")
        flips = any(op["op"] == "hflip" for op in ops)
        size = run.case(line).size
        # Of what a crop leaves free: how much that is follows from the image, which both views share.
        free = size[0] - crop_op["width"]
        left = crop_op["left"] / free if free else np.nan
        numbers.setdefault(line["view"], []).append(
            (crop_op["width"] * crop_op["height"] / (size[0] * size[1]), left, float(flips)))
    first = np.array(numbers[0])
    for view in range(1, len(numbers)):
        other = np.array(numbers[view])
        for at, name in enumerate(("area", "left", "hflip")):
            known = ~np.isnan(first[:, at] + other[:, at])
            tests.independent(f"{name} of view 0 and view {view}", first[known, at], other[known, at])


SHARED = {"bound": BLURRED, "labels": own_class, "more": apart}
ENTRIES = [
    Entry("simclr", "SimCLR's paper, appendix A", views=["", ""], draw=drawn(
        crop(224, (0.08, 1.0)), FLIP, *jitter(0.8, 0.8, 0.8, 0.2), blur(23, 0.5)), **SHARED),
    Entry("moco-v3", "MoCo v3's main_moco.py", **two_views(
        (crop(224, (0.08, 1.0), InterpolationMode.BILINEAR), *WEAK, blur(23, 1.0), FLIP),
        (crop(224, (0.08, 1.0), InterpolationMode.BILINEAR), *WEAK, blur(23, 0.1), SOLARIZE, FLIP)), **SHARED),
    Entry("byol", "BYOL's paper, table 6", **two_views(
        (crop(224, (0.08, 1.0)), FLIP, *WEAK, blur(23, 1.0)),
        (crop(224, (0.08, 1.0)), FLIP, *WEAK, blur(23, 0.1), SOLARIZE)), **SHARED),
    Entry("dino", "DINO's main_dino.py, with torchvision's blur", **multi_crop((0.4, 1.0), (0.05, 0.4), 9), **SHARED),
    Entry("dinov2", "DINOv2's DataAugmentationDINO", **multi_crop((0.32, 1.0), (0.05, 0.32), 9), **SHARED),
]
