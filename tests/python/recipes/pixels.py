"""The reference's side of pixels: its functions, chained with what feedline drew, and how far its values are away."""

from dataclasses import dataclass, field

import numpy as np
import torch
from PIL import Image, ImageOps

from parity_ops import REFERENCE

from .sizes import LABELS_ONLY

# What float32 costs where torchvision divides twice and feedline multiplies and adds once; of values above 1, as a part.
FLOAT_TOLERANCE = 1e-6
# Values of noise that are looked at.
NOISE = 200_000


@dataclass
class Bound:
    """How far values may be away: by so many levels, in such a share of all values; and the mean of all, in levels."""

    levels: float = 0
    share: float = 0
    mean: float = 0


@dataclass
class Compared:
    """All values of one recipe."""

    samples: int = 0
    values: int = 0
    different: int = 0
    largest: float = 0.0
    total: float = 0.0
    noise: list = field(default_factory=list)
    failures: list = field(default_factory=list)

    def add(self, name, expected, got, std, integers=None):
        """Adds a sample; where `expected` is not a number there is noise, and nothing to compare where it is all. `std` are a level's 255ths for each channel.

        Float32 values differ where they do by more than the tolerance; `integers` says that values are levels.
        """
        if np.isnan(expected).all():
            return
        self.samples += 1
        if expected.shape != got.shape:
            self.failures.append(f"{name}: {got.shape} instead of {expected.shape}")
            return
        noisy = np.isnan(expected)
        if noisy.any():
            self.noise.append(got[noisy])
        distance = np.abs(np.where(noisy, 0, expected.astype(np.float64) - np.where(noisy, 0, got)))
        different = distance > (0 if integers else FLOAT_TOLERANCE * np.maximum(1, np.abs(np.nan_to_num(expected))))
        levels = distance * (1 if integers else 255 * np.reshape(std, (-1, 1, 1)))
        self.values += int(expected.size - noisy.sum())
        self.different += int(different.sum())
        self.total += float(levels.sum())
        if different.any() and levels.max() > self.largest:
            at = tuple(int(axis) for axis in np.unravel_index(levels.argmax(), levels.shape))
            self.largest, self.where = float(levels.max()), f"{name} at {at}: {got[at]} instead of {expected[at]}"

    def within(self, bound):
        """What is beyond the bound, in words."""
        beyond = list(self.failures)
        if self.largest > bound.levels + 1e-3:
            beyond.append(f"{self.largest:.3g} levels away, at most {bound.levels}: {self.where}")
        if bound.levels and self.different > bound.share * self.values:
            beyond.append(f"{self.different / self.values:.2e} of the values differ, at most {bound.share}")
        if bound.mean and self.total > bound.mean * self.values:
            beyond.append(f"{self.total / self.values:.3g} levels in the mean, at most {bound.mean}")
        if not self.samples:
            beyond.append("nothing was compared")
        return beyond


class Photographs:
    """Upright images by their files, decoded by Pillow and so by libjpeg-turbo."""

    def __init__(self):
        self.known = {}

    def tensor(self, path):
        """Channels, rows and columns."""
        if path not in self.known:
            with Image.open(path) as image:
                pixels = np.array(ImageOps.exif_transpose(image).convert("RGB"))
            self.known[path] = torch.from_numpy(pixels).permute(2, 0, 1).contiguous()
        return self.known[path]

    def size(self, path):
        """Width and height."""
        return tuple(reversed(self.tensor(path).shape[1:]))


def with_normalize(ops, normalize):
    """The ops with the output's normalisation ahead of what erases."""
    if normalize is None:
        return ops
    at = next((at for at, op in enumerate(ops) if op["op"] == "erase"), len(ops))
    return [*ops[:at], {"op": "normalize"} | normalize, *ops[at:]]


def performed(image, ops, functions=REFERENCE):
    """What the reference's functions make of an image; noise becomes not-a-number."""
    for op in ops:
        arguments = {name: value for name, value in op.items() if name != "op"}
        if op["op"] == "erase" and isinstance(op["v"], dict):
            arguments["v"] = float("nan")
        if op["op"] in LABELS_ONLY:
            continue
        if op["op"] == "gauss_noise":
            return torch.full(image.shape, float("nan"))
        if op["op"] not in functions:
            raise SystemExit(f"the reference has no function for {op}")
        image = functions[op["op"]](image, **arguments)
    return image
