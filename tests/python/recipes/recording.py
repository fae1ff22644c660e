"""The reference's side of draws: which of torchvision's functions a composition calls, with which arguments, on pictures
that have a size and no pixels. What is recorded has the words of `feedline plan`."""

import inspect
import math
from contextlib import contextmanager

import numpy as np
import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms import functional as version_1
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as version_2

from .sizes import size_after

# torchvision's functions by feedline's names, and the names of arguments that differ.
FUNCTIONS = {
    "resized_crop": "resized_crop", "resize": "resize", "crop": "crop", "center_crop": "center_crop", "pad": "pad",
    "affine": "affine", "rotate": "rotate", "horizontal_flip": "hflip", "vertical_flip": "vflip",
    "adjust_brightness": "brightness", "adjust_contrast": "contrast", "adjust_saturation": "saturation",
    "adjust_hue": "hue", "adjust_sharpness": "sharpness", "rgb_to_grayscale": "grayscale",
    "autocontrast": "autocontrast", "equalize": "equalize", "invert": "invert", "solarize": "solarize",
    "posterize": "posterize", "permute_channels": "permute_channels", "gaussian_blur": "gaussian_blur", "erase": "erase",
    "normalize": "normalize",
}
FACTORS = ("brightness", "contrast", "saturation", "hue", "sharpness")
# torchvision's version 1 has other names for some.
VERSION_1 = {"hflip": "hflip", "vflip": "vflip"} | {name: op for name, op in FUNCTIONS.items() if hasattr(version_1, name)}


class Recorder:
    """What has been called so far."""

    def __init__(self):
        self.ops = []

    def add(self, op, picture, **arguments):
        """Adds a call; returns a picture of the size that it makes. A crop that keeps everything is none."""
        whole = picture.size[::-1] if isinstance(picture, Image.Image) else tuple(picture.shape[-2:])
        if op == "crop" and (arguments["top"], arguments["left"], arguments["height"], arguments["width"]) == (0, 0, *whole):
            return picture
        call = {"op": op} | {name: plain(value) for name, value in arguments.items()}
        self.ops.append(call)
        if isinstance(picture, Image.Image):
            return Picture(size_after(call, picture.size))
        height, width = picture.shape[-2:]
        return stand_in(size_after(call, (width, height)), picture.shape[-3], picture)

    def taken(self):
        """The calls since the last time."""
        ops, self.ops = self.ops, []
        return ops


def stand_in(size, channels=3, like=None):
    """A picture without pixels, of the same type as another; with no channels, arithmetic costs nothing either."""
    width, height = size
    picture = torch.empty((channels, height, width), dtype=torch.uint8, device="cpu" if channels == 0 else "meta")
    return tv_tensors.Image(picture) if like is None or isinstance(like, tv_tensors.Image) else picture


class Picture(Image.Image):
    """The same for what works on Pillow's images."""

    def __init__(self, size):
        super().__init__()
        self._size, self._mode = size, "RGB"

    def transform(self, size, method, data=None, resample=0, fill=1, fillcolor=None):
        """Pillow's warp."""
        return RECORDER.add("pillow_affine", self, data=data, resample=Image.Resampling(resample).name.lower(),
                            fillcolor=fillcolor)

    def rotate(self, angle, resample=0, expand=0, center=None, translate=None, fillcolor=None):
        """Pillow's rotation round the middle, as the warp that it is."""
        turn, (x, y) = -math.radians(angle % 360), (edge / 2 for edge in self.size)
        a, b, d, e = (round(part, 15) for part in (math.cos(turn), math.sin(turn), -math.sin(turn), math.cos(turn)))
        data = [a, b, a * -x + b * -y + x, d, e, d * -x + e * -y + y]
        return self.transform(self.size, None, data, resample, fillcolor=fillcolor)

    def point(self, lut, mode=None):
        """A table of levels: the only one that is asked for adds to the dark half."""
        return RECORDER.add("solarize_add", self, addition=lut[0], threshold=128)

    @property
    def __array_interface__(self):
        raise AttributeError("there are no pixels")

    def __array__(self, dtype=None, copy=None):
        RECORDER.ops.append({"op": "seen"})
        return np.zeros((1, 1, 3), dtype)


def plain(value):
    """A value as JSON would hold it."""
    if isinstance(value, torch.Tensor):
        value = value.flatten().tolist()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return getattr(value, "value", value)


def recording(function, op):
    """A function that records instead of what it stands for; boxes and other labels are moved as ever."""
    names = list(inspect.signature(function).parameters)[1:]

    def call(picture, *positional, **named):
        labels = (tv_tensors.BoundingBoxes, tv_tensors.Mask)
        if isinstance(picture, labels) or not isinstance(picture, (torch.Tensor, Image.Image)):
            return function(picture, *positional, **named)
        arguments = dict(zip(names, positional)) | named
        arguments.pop("inplace", None)
        if op in FACTORS:
            arguments = {"factor": next(iter(arguments.values()))}
        return RECORDER.add(op, picture, **arguments)

    call.__name__, call.real = function.__name__, function
    return call


def any_call(transform, function, picture, *positional, **named):
    """What a transform of version 2 calls a function by; labels pass what is for pixels alone."""
    if isinstance(picture, (tv_tensors.BoundingBoxes, tv_tensors.Mask)):
        return KERNEL(transform, getattr(function, "real", function), picture, *positional, **named)
    return function(picture, *positional, **named)


KERNEL = v2.Transform._call_kernel
RECORDER = Recorder()
REPLACED = [(version_2, name, op) for name, op in FUNCTIONS.items()] + [
    (version_1, name, op) for name, op in VERSION_1.items()]
REPLACED = [(module, name, recording(getattr(module, name), op)) for module, name, op in REPLACED]
REPLACED.append((v2.Transform, "_call_kernel", any_call))


@contextmanager
def recorded():
    """Within it torchvision's functions record; gives the recorder."""
    real = [(owner, name, getattr(owner, name)) for owner, name, _ in REPLACED]
    for owner, name, stand_in_for_it in REPLACED:
        setattr(owner, name, stand_in_for_it)
    try:
        yield RECORDER
    finally:
        for owner, name, function in real:
            setattr(owner, name, function)
