"""The recipe of Albumentations' usual chain: its own composition draws, and its own functions make the pixels."""

import os

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"

import albucore
import albumentations
import cv2
import numpy as np
import torch
from albumentations.augmentations.blur import functional as blurs
from albumentations.augmentations.geometric import functional as geometry
from albumentations.augmentations.pixel import functional as colours

from parity_ops import REFERENCE

from .entry import Entry
from .pixels import Bound
from .torchvision_recipes import own_class

SIZE = 224
HALF = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
# What was drawn and is in no parameters: the last deviation of noise, lens and grid.
STRENGTHS, LENSES, GRIDS = [], [], []


def crop_op(params):
    """Where the crop is."""
    left, top, right, bottom = params["crop_coords"]
    return {"op": "resized_crop", "top": top, "left": left, "height": bottom - top, "width": right - left,
            "size": [SIZE, SIZE], "interpolation": "bilinear"}


def turn_op(params):
    """By how many quarters."""
    return {"op": "rotate", "angle": 90.0 * params["factor"], "interpolation": "nearest", "expand": True}


def warp_op(params):
    """The map, counted from the corner of the first pixel."""
    moved = HALF @ params["matrix"] @ np.linalg.inv(HALF)
    return {"op": "warp_affine", "matrix": moved[:2].tolist(), "interpolation": "bilinear"}


def kernel_op(name):
    """A kernel."""
    return lambda params: {"op": "convolve", "kernel": params[name].tolist()}


# Each transform's parameters in the words of `feedline plan`.
OPS = {
    "RandomResizedCrop": crop_op,
    "RandomRotate90": turn_op,
    "HorizontalFlip": lambda params: {"op": "hflip"},
    "Transpose": lambda params: {"op": "transpose"},
    "GaussNoise": lambda params: {"op": "gauss_noise", "std": STRENGTHS.pop()},
    "MotionBlur": kernel_op("kernel"),
    "MedianBlur": lambda params: {"op": "median_blur", "kernel_size": params["kernel"]},
    "Blur": lambda params: {"op": "box_blur", "kernel_size": params["kernel"]},
    "ShiftScaleRotate": warp_op,
    "OpticalDistortion": lambda params: {"op": "optical_distortion", "k": LENSES.pop()},
    "GridDistortion": lambda params: {"op": "grid_distortion", **GRIDS.pop()},
    "CLAHE": lambda params: {"op": "clahe", "clip_limit": params["clip_limit"], "tile_grid_size": [8, 8]},
    "Sharpen": kernel_op("sharpening_matrix"),
    "Emboss": kernel_op("emboss_matrix"),
    "RandomBrightnessContrast": lambda params: {
        "op": "brightness_contrast", "alpha": params["alpha"], "beta": params["beta"]},
    "HueSaturationValue": lambda params: {
        "op": "shift_hsv", "hue": params["hue_shift"], "saturation": params["sat_shift"], "value": params["val_shift"]},
}


def noise_strength(shape, params, max_value, random_generator, **_rest):
    """Albumentations' draw of noise: its deviation alone."""
    STRENGTHS.append(float(random_generator.uniform(*params["std_range"])) * max_value)
    return np.zeros(shape, np.float32)


colours.generate_noise = noise_strength


def lens_maps(shape, k):
    """Albumentations' draw of a lens: its coefficient alone."""
    LENSES.append(k)
    return [np.zeros(shape, np.float32)] * 2


def grid_maps(shape, steps_x, steps_y, _cells):
    """Albumentations' draw of a grid: its steps alone."""
    GRIDS.append({"steps_x": [float(step) for step in steps_x], "steps_y": [float(step) for step in steps_y]})
    return [np.zeros(shape, np.float32)] * 2


GENERATE_GRID = geometry.generate_grid
geometry.get_camera_matrix_distortion_maps, geometry.generate_grid = lens_maps, grid_maps


def composition():
    """The chain, which changes no pixel here."""
    one_of = albumentations.OneOf
    transforms = [
        albumentations.RandomResizedCrop(size=(SIZE, SIZE)), albumentations.RandomRotate90(),
        albumentations.HorizontalFlip(), albumentations.Transpose(), albumentations.GaussNoise(p=0.2),
        one_of([albumentations.MotionBlur(p=0.2), albumentations.MedianBlur(blur_limit=3, p=0.1),
                albumentations.Blur(blur_limit=3, p=0.1)], p=0.2),
        albumentations.ShiftScaleRotate(shift_limit=0.0625, scale_limit=0.2, rotate_limit=45, p=0.2),
        one_of([albumentations.OpticalDistortion(p=0.3), albumentations.GridDistortion(p=0.1)], p=0.2),
        one_of([albumentations.CLAHE(clip_limit=2), albumentations.Sharpen(), albumentations.Emboss(),
                albumentations.RandomBrightnessContrast()], p=0.3),
        albumentations.HueSaturationValue(p=0.3),
    ]
    for transform in transforms:
        for leaf in getattr(transform, "transforms", [transform]):
            leaf.apply = lambda image, **_params: image
    transforms[0].apply = lambda image, **_params: np.zeros((SIZE, SIZE, 3), np.uint8)
    whole = albumentations.Compose(transforms, save_applied_params=True, seed=1)
    # One seed for all would give a flip and a transposition the same draws.
    for number, transform in enumerate(whole.transforms):
        transform.set_random_seed(100 * number)
        for place, leaf in enumerate(getattr(transform, "transforms", []), 1):
            leaf.set_random_seed(100 * number + place)
    return whole


CHAIN = composition()


def chain(case, _view):
    """One run of the chain."""
    width, height = case.size
    picture = np.broadcast_to(np.uint8(0), (height, width, 3))
    return readable([OPS[name](params) for name, params in CHAIN(image=picture)["applied_transforms"]])


def readable(ops):
    """The ops with a kernel as what it does, and without turns by nothing."""
    found = []
    for op in ops:
        if op["op"] == "rotate" and op["angle"] % 360 == 0:
            continue
        if op["op"] == "gauss_noise":
            op = {"op": "gauss_noise", "std": op["std"]}
        if op["op"] == "optical_distortion":
            op = {"op": "optical_distortion", "k": op["k"]}
        if op["op"] == "grid_distortion":
            op = {"op": "grid_distortion", "steps_x": op["steps_x"], "steps_y": op["steps_y"]}
        if op["op"] == "convolve":
            op = kernel_words(np.array(op["kernel"]))
        if op["op"] == "warp_affine":
            op = op | {"matrix": list(np.ravel(op["matrix"]))}
        found.append(op)
    return found


def kernel_words(kernel):
    """The numbers of a kernel that were drawn: those of nine weights, or length and direction of a line."""
    if kernel.min() < 0:
        kind = "sharpen" if np.isclose(kernel[0, 0], kernel[2, 2]) else "emboss"
        return {"op": kind, "corner": float(kernel[0, 0]), "middle": float(kernel[1, 1]), "side": float(kernel[0, 1])}
    rows, columns = np.indices(kernel.shape) - (len(kernel) - 1) / 2
    y, x = (np.sum(kernel * axis) / np.sum(kernel) for axis in (rows, columns))
    spread = [np.sum(kernel * one * other) / np.sum(kernel) for one, other in ((columns, columns), (rows, rows), (rows, columns))]
    return {"op": "motion", "edge": len(kernel), "x": float(x), "y": float(y), "spread": [float(part) for part in spread]}


def of_pixels(function):
    """A function of rows, columns and channels for a tensor."""
    def call(image, **arguments):
        made = function(np.ascontiguousarray(image.permute(1, 2, 0).numpy()), **arguments)
        return torch.from_numpy(np.ascontiguousarray(made)).permute(2, 0, 1)
    return call


def warp_affine(image, matrix, interpolation="bilinear", fill=0):
    """OpenCV's, which counts from the middle of the first pixel."""
    by_centres = np.linalg.inv(HALF) @ np.array([*matrix, [0, 0, 1]]) @ HALF
    return geometry.warp_affine(image, by_centres, cv2.INTER_LINEAR, fill, cv2.BORDER_CONSTANT, image.shape[:2])


def remapped(image, maps, fill):
    """An image by its maps."""
    return geometry.remap(image, *maps, cv2.INTER_LINEAR, cv2.BORDER_CONSTANT, [fill] * 3)


def optical_distortion(image, k, mode="camera", interpolation="bilinear", fill=0):
    """By a camera's matrix, which is that of the new image too: without it, OpenCV's middle is half a pixel away."""
    height, width = image.shape[:2]
    matrix = np.array([[width, 0, width / 2], [0, height, height / 2], [0, 0, 1]], np.float32)
    bent = np.array([k, k, 0, 0, 0], np.float32)
    return remapped(image, cv2.initUndistortRectifyMap(matrix, bent, None, matrix, (width, height), cv2.CV_32FC1), fill)


def grid_distortion(image, steps_x, steps_y, interpolation="bilinear", fill=0):
    """By its steps."""
    return remapped(image, GENERATE_GRID(image.shape[:2], steps_x, steps_y, len(steps_x) - 1), fill)


FUNCTIONS = REFERENCE | {
    "transpose": lambda image: image.transpose(1, 2),
    "gauss_noise": lambda image, **_drawn: torch.full(image.shape, float("nan")),
    "convolve": of_pixels(lambda image, kernel: colours.convolve(image, np.array(kernel, np.float32))),
    "box_blur": of_pixels(lambda image, kernel_size: blurs.box_blur(image, kernel_size[0])),
    "median_blur": of_pixels(lambda image, kernel_size: blurs.median_blur(image, kernel_size)),
    "clahe": of_pixels(lambda image, clip_limit, tile_grid_size: colours.clahe(image, clip_limit, tuple(tile_grid_size))),
    "brightness_contrast": of_pixels(
        lambda image, alpha, beta: albucore.multiply_add(image, alpha, beta, inplace=False)),
    "shift_hsv": of_pixels(lambda image, hue, saturation, value: colours.shift_hsv(image, hue, saturation, value)),
    "warp_affine": of_pixels(warp_affine),
    "optical_distortion": of_pixels(optical_distortion),
    "grid_distortion": of_pixels(grid_distortion),
}
ENTRIES = [
    Entry("albumentations", "Albumentations 2.0.8, its crop resized by torchvision", chain, labels=own_class,
          functions=FUNCTIONS, drawn_ops=lambda run, line: readable(line["ops"]), epochs=6,
          bound=Bound(levels=25, share=0.03, mean=0.03)),
]
