"""The operations that the parity script compares: torchvision's side of each, and how its parameters are drawn."""

import cv2
import numpy as np
import torch
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as reference

LARGEST_SIDE = 600


def tensor_value(value):
    """A number, or one number a channel, as `erase` wants it."""
    return torch.tensor(value).reshape(-1, 1, 1)


def resized_crop(image, top, left, height, width, size, interpolation="bilinear", antialias=True):
    """torchvision's function with the interpolation by name."""
    return reference.resized_crop(image, top, left, height, width, size, InterpolationMode(interpolation), antialias)


def resize(image, size, interpolation="bilinear", antialias=True):
    """torchvision's function with the interpolation by name."""
    return reference.resize(image, size, InterpolationMode(interpolation), antialias=antialias)


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


# The operations by their name on feedline's command line, as torchvision performs them.
REFERENCE = {
    "resized_crop": resized_crop,
    "resize": resize,
    "crop": reference.crop,
    "center_crop": reference.center_crop,
    "pad": lambda image, padding, fill: reference.pad(image, padding, fill=fill),
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
    "grayscale": lambda image: reference.rgb_to_grayscale(image, num_output_channels=3),
    "autocontrast": reference.autocontrast,
    "equalize": reference.equalize,
    "invert": reference.invert,
    "solarize": reference.solarize,
    "posterize": reference.posterize,
    "permute_channels": reference.permute_channels,
    "gaussian_blur": reference.gaussian_blur,
    "erase": lambda image, i, j, h, w, v: reference.erase(image, i, j, h, w, tensor_value(v)),
    "normalize": lambda image, mean, std: reference.normalize(
        reference.to_dtype(image, torch.float32, scale=True), mean, std),
}


def draw_side(rng):
    """An output side; small ones are as interesting as large ones, and cheaper."""
    return rng.choice((rng.randint(1, 64), rng.randint(64, LARGEST_SIDE), 224))


def draw_window(rng, width, height):
    """A window inside the image: (top, left, height, width); now and then the whole image."""
    if rng.random() < 0.05:
        return 0, 0, height, width
    h, w = rng.randint(1, height), rng.randint(1, width)
    return rng.randint(0, height - h), rng.randint(0, width - w), h, w


def draw_factor(rng):
    """A factor for brightness, contrast, saturation or sharpness, its special values included."""
    return rng.choice((0.0, 1.0, 2.0)) if rng.random() < 0.05 else rng.uniform(0, 2.5)


def draw_hue(rng):
    """A shift of the hue in turns, its limits included."""
    return rng.choice((-0.5, 0.0, 0.5)) if rng.random() < 0.05 else rng.uniform(-0.5, 0.5)


def draw_crop(rng, size):
    """Parameters of `crop`, inside the image."""
    top, left, height, width = draw_window(rng, *size)
    return {"top": top, "left": left, "height": height, "width": width}


def draw_crop_past_the_edge(rng, size):
    """Parameters of `crop` that reach outside, where torchvision fills with zeros."""
    width, height = size
    return {"top": rng.randint(-height // 2, height // 2), "left": rng.randint(-width // 2, width // 2),
            "height": rng.randint(height // 2 + 1, height + 64), "width": rng.randint(width // 2 + 1, width + 64)}


def draw_resized_crop(rng, size):
    """Parameters of `resized_crop`; mostly antialiased, as is the default."""
    return {**draw_crop(rng, size), "size": [draw_side(rng), draw_side(rng)],
            "interpolation": "bilinear", "antialias": rng.random() < 0.75}


def draw_erase(rng, size):
    """Parameters of `erase` with one value for all channels."""
    i, j, h, w = draw_window(rng, *size)
    return {"i": i, "j": j, "h": h, "w": w, "v": rng.randint(0, 255)}


def draw_angle(rng):
    """An angle in degrees, quarters of a turn and other whole numbers included."""
    return rng.choice((rng.uniform(-200, 400), rng.uniform(-30, 30), rng.randint(-180, 180), rng.choice((-90, 90, 180))))


def draw_around(rng, size):
    """What lies around a warped image, and how pixels between pixels are made."""
    drawn = {"interpolation": rng.choice(("nearest", "bilinear"))}
    fill = rng.choice((None, 0, rng.randint(0, 255), [rng.randint(0, 255) for _ in range(3)]))
    center = rng.choice((None, [rng.uniform(-0.5, 1.5) * edge for edge in size]))
    return {**drawn, **({} if fill is None else {"fill": fill}), **({} if center is None else {"center": center})}


def draw_affine(rng, size):
    """Parameters of `affine`; now and then nothing but a shift by whole pixels."""
    width, height = size
    shift = [rng.randint(-width // 3, width // 3), rng.randint(-height // 3, height // 3)]
    if rng.random() < 0.1:
        return {"angle": 0.0, "translate": shift, "scale": 1.0, "shear": [0.0, 0.0], **draw_around(rng, size)}
    shear = [rng.uniform(-40, 40), rng.choice((0.0, rng.uniform(-40, 40)))]
    return {"angle": draw_angle(rng), "translate": shift, "scale": rng.uniform(0.3, 3), "shear": shear,
            **draw_around(rng, size)}


def draw_rotate(rng, size):
    """Parameters of `rotate`."""
    drawn = {"angle": draw_angle(rng), "expand": rng.random() < 0.4, **draw_around(rng, size)}
    # Such a canvas is made for turns round the middle; round another centre it may show nothing.
    return {name: value for name, value in drawn.items() if name != "center" or not drawn["expand"]}


def draw_perspective(rng, size):
    """Parameters of `perspective` as `RandomPerspective` draws them, with its greatest distortion left out.

    An image needs two pixels along both edges, or there is nothing to solve; a smaller one keeps its corners as if it
    had two.
    """
    right, bottom = (max(edge - 1, 1) for edge in size)
    corners = [[0, 0], [right, 0], [right, bottom], [0, bottom]]
    reach = [int(0.8 * (edge // 2)) for edge in size]
    moved = [[x + rng.randint(0, reach[0]) * (1 if x == 0 else -1), y + rng.randint(0, reach[1]) * (1 if y == 0 else -1)]
             for x, y in corners]
    around = {name: value for name, value in draw_around(rng, size).items() if name != "center"}
    return {"startpoints": corners, "endpoints": moved, **around}


def draw_blur(rng, size):
    """Parameters of `gaussian_blur`; the kernel's half must be smaller than the image."""
    kernel = [2 * rng.randint(0, min(edge - 1, 15)) + 1 for edge in size]
    return {"kernel_size": kernel, "sigma": [rng.uniform(0.1, 4), rng.uniform(0.1, 4)]}


# Draws of parameters, each from (rng, (width, height)). A row of the table is a name here, or a chain below.
DRAWS = {
    "resized_crop": draw_resized_crop,
    "resize": lambda rng, size: {"size": [draw_side(rng), draw_side(rng)]},
    "crop": draw_crop,
    "center_crop": lambda rng, size: {"output_size": [draw_side(rng), draw_side(rng)]},
    "pad": lambda rng, size: {"padding": [rng.randint(0, 40) for _ in range(4)], "fill": rng.randint(0, 255)},
    "affine": draw_affine,
    "rotate": draw_rotate,
    "perspective": draw_perspective,
    "hflip": lambda rng, size: {},
    "vflip": lambda rng, size: {},
    "brightness": lambda rng, size: {"factor": draw_factor(rng)},
    "contrast": lambda rng, size: {"factor": draw_factor(rng)},
    "saturation": lambda rng, size: {"factor": draw_factor(rng)},
    "hue": lambda rng, size: {"factor": draw_hue(rng)},
    "grayscale": lambda rng, size: {},
    "solarize": lambda rng, size: {"threshold": rng.choice((rng.randint(0, 255), rng.uniform(-1, 255)))},
    "posterize": lambda rng, size: {"bits": rng.randint(0, 8)},
    "invert": lambda rng, size: {},
    "permute_channels": lambda rng, size: {"permutation": rng.sample(range(3), 3)},
    "autocontrast": lambda rng, size: {},
    "equalize": lambda rng, size: {},
    "sharpness": lambda rng, size: {"factor": draw_factor(rng)},
    "erase": draw_erase,
}
NORMALIZE = {
    "normalize": lambda rng, size: {"mean": [rng.uniform(0.3, 0.6) for _ in range(3)],
                                    "std": [rng.uniform(0.2, 0.4) for _ in range(3)]},
}
# Only with --ops: further operations, and other settings of those above (the name before the colon is the operation).
EXTRA = {
    "resized_crop:bicubic": lambda rng, size: {**draw_resized_crop(rng, size), "interpolation": "bicubic"},
    "resized_crop:nearest": lambda rng, size: {
        **draw_resized_crop(rng, size), "interpolation": "nearest", "antialias": False},
    "resize:plain": lambda rng, size: {"size": [draw_side(rng), draw_side(rng)], "antialias": False},
    "crop:outside": draw_crop_past_the_edge,
    "gaussian_blur": draw_blur,
    "hsv": lambda rng, size: {"hue": rng.choice((rng.uniform(-1, 1), rng.uniform(-0.015, 0.015))),
                              "saturation": rng.choice((1.0, rng.uniform(0, 3), rng.uniform(0.3, 1.7))),
                              "value": rng.choice((1.0, rng.uniform(0, 3), rng.uniform(0.6, 1.4)))},
}
# Only inside a fixed chain: after normalize the value is in normalised units.
AFTER_NORMALIZE = {
    "erase:normalized": lambda rng, size: {**draw_erase(rng, size), "v": rng.uniform(-2, 2)},
}
# feedline erases the finished sample, so nothing that resamples or recolours may follow.
LAST_ONLY = {"erase"}
SELECTABLE = {**DRAWS, **NORMALIZE, **EXTRA}
EVERY_DRAW = {**SELECTABLE, **AFTER_NORMALIZE}
LONGEST_CHAIN = 5
# Orders that random chains meet too seldom; a row each.
FIXED_CHAINS = {
    "crop, colour, crop": ("resized_crop", "contrast", "hue", "resized_crop"),
    "colour, crop, flip, colour": ("contrast", "saturation", "resized_crop", "hflip", "contrast", "brightness"),
    "crop, flip, jitter, normalize": (
        "resized_crop", "hflip", "brightness", "contrast", "saturation", "hue", "normalize"),
    "crop, normalize, erase": ("resized_crop", "normalize", "erase:normalized"),
}
