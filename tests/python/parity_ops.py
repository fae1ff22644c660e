"""The operations that the parity script compares: torchvision's side of each, and the chains that are made of them."""

import cv2
import numpy as np
import torch
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as reference


def tensor_value(value):
    """A number, or one number a channel, as `erase` wants it."""
    return torch.tensor(value).reshape(-1, 1, 1)


def resized_crop(image, top, left, height, width, size, interpolation="bilinear", antialias=True):
    """torchvision's function with the interpolation by name."""
    return reference.resized_crop(image, top, left, height, width, size, InterpolationMode(interpolation), antialias)


def resize(image, size, interpolation="bilinear", antialias=True):
    """torchvision's function with the interpolation by name."""
    return reference.resize(image, size, InterpolationMode(interpolation), antialias=antialias)


def pad(image, padding, fill, padding_mode="constant"):
    """torchvision's function, which refuses a colour where the image itself fills the border."""
    return reference.pad(image, padding, fill if padding_mode == "constant" else 0, padding_mode)


def affine(image, angle, translate, scale, shear, interpolation="nearest", fill=None, center=None):
    """torchvision's function with the interpolation by name."""
    return reference.affine(image, angle, translate, scale, shear, InterpolationMode(interpolation), fill, center)


def rotate(image, angle, interpolation="nearest", expand=False, center=None, fill=None):
    """torchvision's function with the interpolation by name."""
    return reference.rotate(image, angle, InterpolationMode(interpolation), expand, center, fill).contiguous()


def perspective(image, startpoints, endpoints, interpolation="bilinear", fill=None):
    """torchvision's function with the interpolation by name."""
    return reference.perspective(image, startpoints, endpoints, InterpolationMode(interpolation), fill)


def hsv(image, hue, saturation, value):
    """OpenCV's uint8 HSV and back, with a table for each channel between."""
    pixels = cv2.cvtColor(np.ascontiguousarray(image.permute(1, 2, 0).numpy()), cv2.COLOR_RGB2HSV)
    levels = np.arange(256, dtype=np.float64)
    tables = [(levels + 180 * hue) % 180, np.clip(levels * saturation, 0, 255), np.clip(levels * value, 0, 255)]
    changed = np.stack([table.astype(np.uint8)[pixels[..., c]] for c, table in enumerate(tables)], -1)
    return torch.from_numpy(cv2.cvtColor(changed, cv2.COLOR_HSV2RGB)).permute(2, 0, 1)


def pillow_affine(image, data, resample="bicubic", fillcolor=0):
    """Pillow's own."""
    pixels = Image.fromarray(np.ascontiguousarray(image.permute(1, 2, 0).numpy()))
    fill = (fillcolor,) * 3 if isinstance(fillcolor, int) else tuple(fillcolor)
    done = pixels.transform(pixels.size, Image.Transform.AFFINE, data, Image.Resampling[resample.upper()], fillcolor=fill)
    return torch.from_numpy(np.array(done)).permute(2, 0, 1)


def sum_chains(image, chains, blend=None):
    """What torchvision's AugMix does with its chains; laid over the image, what timm's does."""
    total = torch.zeros(image.shape)
    for chain in chains:
        made = image
        for op in chain["ops"]:
            parameters = {key: value for key, value in op.items() if key != "op"}
            made = REFERENCE[op["op"]](made, **parameters)
        total.add_(torch.tensor(chain["weight"]) * made)
    mixed = total.clamp(0, 255).to(torch.uint8)
    if blend is None:
        return mixed
    return (image + torch.tensor(blend) * (mixed.to(torch.float32) - image)).to(torch.uint8)


# The operations by their name on feedline's command line, as torchvision performs them.
REFERENCE = {
    "resized_crop": resized_crop,
    "resize": resize,
    "crop": reference.crop,
    "center_crop": reference.center_crop,
    "pad": pad,
    "affine": affine,
    "rotate": rotate,
    "perspective": perspective,
    "hflip": reference.horizontal_flip,
    "vflip": reference.vertical_flip,
    "brightness": lambda image, factor: reference.adjust_brightness(image, factor),
    "contrast": lambda image, factor: reference.adjust_contrast(image, factor),
    "saturation": lambda image, factor: reference.adjust_saturation(image, factor),
    "hue": lambda image, factor: reference.adjust_hue(image, factor),
    "hsv": hsv,
    "sharpness": lambda image, factor: reference.adjust_sharpness(image, factor),
    "grayscale": lambda image, num_output_channels=3: reference.rgb_to_grayscale(image, num_output_channels),
    "autocontrast": reference.autocontrast,
    "equalize": reference.equalize,
    "invert": reference.invert,
    "solarize": reference.solarize,
    "posterize": reference.posterize,
    "permute_channels": reference.permute_channels,
    "gaussian_blur": reference.gaussian_blur,
    "pillow_affine": pillow_affine,
    "sum_chains": sum_chains,
    "erase": lambda image, i, j, h, w, v: reference.erase(image, i, j, h, w, tensor_value(v)),
    "normalize": lambda image, mean, std: reference.normalize(
        reference.to_dtype(image, torch.float32, scale=True), mean, std),
}

# Only with --ops: torch sums a kernel's products in an order that depends on the machine, and OpenCV's HSV is rounded in
# another way on some machines; docs/parity.md says how far they are off.
INEXACT = {"gaussian_blur", "hsv"}
# What works on the finished sample, so that nothing that resamples or recolours may follow.
LAST_ONLY = {"erase", "normalize"}
COMPARED = [name for name in REFERENCE if name not in INEXACT]
LONGEST_CHAIN = 5
# Orders that random chains meet too seldom; a row each.
FIXED_CHAINS = {
    "crop, colour, crop": ("resized_crop", "contrast", "hue", "resized_crop"),
    "colour, crop, flip, colour": ("contrast", "saturation", "resized_crop", "hflip", "contrast", "brightness"),
    "crop, flip, jitter, normalize": (
        "resized_crop", "hflip", "brightness", "contrast", "saturation", "hue", "normalize"),
    "crop, normalize, erase": ("resized_crop", "normalize", "erase"),
}
