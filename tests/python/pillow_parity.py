#!/usr/bin/env python3
"""Compares `feedline apply` with Pillow: the warps that have its pixels, and the colour operations of timm's policies.

    .venv-peers/bin/python tests/python/pillow_parity.py --feedline target/release/feedline --data data/photos

timm's RandAugment works on Pillow's images. Warps, and the operations that only look levels up, are to be equal; the
others are torchvision's on tensors here, and Pillow rounds where those cut off, or measures another mean. Exits with 1
where a value is further away than its row says.
"""

import argparse
import math
import random
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

from feedline_apply import run, write_images

ROOT = Path(__file__).resolve().parents[2]
RESAMPLE = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}


def warp(rng, data):
    """The op with these data, and Pillow's side of it."""
    resample = rng.choice(["bilinear", "bicubic"])
    fill = [rng.randrange(256) for _ in range(3)]
    op = {"op": "pillow_affine", "data": data, "resample": resample, "fillcolor": fill}
    return op, lambda image: image.transform(
        image.size, Image.Transform.AFFINE, data, RESAMPLE[resample], fillcolor=tuple(fill))


def shear(rng, width, height):
    """timm's shears."""
    along = rng.uniform(-0.3, 0.3)
    return warp(rng, [1, along, 0, 0, 1, 0] if rng.random() < 0.5 else [1, 0, 0, along, 1, 0])


def translate(rng, width, height):
    """timm's translations, by fractions of a pixel as well."""
    moved = rng.uniform(-0.45, 0.45)
    return warp(rng, [1, 0, moved * width, 0, 1, 0] if rng.random() < 0.5 else [1, 0, 0, 0, 1, moved * height])


def any_map(rng, width, height):
    """A map with any numbers."""
    data = [rng.uniform(-2, 2) for _ in range(6)]
    data[2], data[5] = data[2] * width / 2, data[5] * height / 2
    return warp(rng, data)


def rotate(rng, width, height):
    """Pillow's own rotation; the op has the map that TimmRandAugment makes of the angle."""
    degrees = rng.uniform(-30, 30)
    op, _ = warp(rng, [])
    turn = -math.radians(degrees % 360)
    a, b, d, e = (round(x, 15) for x in (math.cos(turn), math.sin(turn), -math.sin(turn), math.cos(turn)))
    x, y = width / 2, height / 2
    op["data"] = [a, b, a * -x + b * -y + x, d, e, d * -x + e * -y + y]
    return op, lambda image: image.rotate(degrees, RESAMPLE[op["resample"]], fillcolor=tuple(op["fillcolor"]))


def solarize_add(rng, width, height):
    """timm's: levels below 128 get something added."""
    addition = rng.randrange(129)
    table = [min(255, level + addition) if level < 128 else level for level in range(256)]
    return {"op": "solarize_add", "addition": addition}, lambda image: image.point(table * 3)


def solarize(rng, width, height):
    """Levels from a threshold on are inverted."""
    threshold = rng.randrange(256)
    return {"op": "solarize", "threshold": threshold}, lambda image: ImageOps.solarize(image, threshold)


def posterize(rng, width, height):
    """Pillow 13 refuses 0 bits, which is black here as it was in earlier versions."""
    bits = rng.randrange(1, 9)
    return {"op": "posterize", "bits": bits}, lambda image: ImageOps.posterize(image, bits)


def plain(name, function):
    """An op without arguments."""
    return lambda rng, width, height: ({"op": name}, function)


def enhanced(name, kind):
    """An op with a factor."""
    def drawn(rng, width, height):
        factor = rng.uniform(0.1, 1.9)
        return {"op": name, "factor": factor}, lambda image: kind(image).enhance(factor)
    return drawn


def mixed(rng, width, height):
    """timm's AugMix: chains summed in f32 and cut off, and Pillow's blend of the image with that."""
    shares = [rng.random() for _ in range(3)]
    weights = [np.float32(share / sum(shares)) for share in shares]
    blend = float(np.float32(rng.random()))
    chains = [[rng.choice([solarize, posterize, translate, shear, rotate])(rng, width, height) for _ in range(rng.randrange(1, 4))]
              for _ in weights]

    def reference(image):
        total = np.zeros((height, width, 3), np.float32)
        for weight, chain in zip(weights, chains):
            made = image
            for _, function in chain:
                made = function(made)
            total += weight * np.asarray(made, np.float32)
        return Image.blend(image, Image.fromarray(np.clip(total, 0, 255).astype(np.uint8)), blend)

    written = [{"weight": float(weight), "ops": [op for op, _ in chain]} for weight, chain in zip(weights, chains)]
    return {"op": "sum_chains", "chains": written, "blend": blend}, reference


# What is compared, how it is drawn, and how far a value may be away.
ROWS = {
    "pillow_affine, shear": (shear, 0),
    "pillow_affine, translation": (translate, 0),
    "pillow_affine, rotation": (rotate, 0),
    "pillow_affine, any map": (any_map, 0),
    "sum_chains, AugMix": (mixed, 0),
    "equalize": (plain("equalize", ImageOps.equalize), 0),
    "invert": (plain("invert", ImageOps.invert), 0),
    "posterize": (posterize, 0),
    "solarize": (solarize, 0),
    "solarize_add": (solarize_add, 0),
    "autocontrast": (plain("autocontrast", ImageOps.autocontrast), 1),
    "brightness": (enhanced("brightness", ImageEnhance.Brightness), 1),
    "contrast": (enhanced("contrast", ImageEnhance.Contrast), 2),
    "saturation": (enhanced("saturation", ImageEnhance.Color), 1),
    "sharpness": (enhanced("sharpness", ImageEnhance.Sharpness), 1),
}


def compare(row, images, options, work):
    """Prints one row; returns whether it keeps to its bound."""
    drawn, bound = ROWS[row]
    rng = random.Random(f"{options.seed} {row}")
    cases, wanted = [], []
    for _ in range(options.draws):
        path, pixels = images[rng.choice(sorted(images))]
        op, reference = drawn(rng, pixels.shape[1], pixels.shape[0])
        cases.append(SimpleNamespace(ops=[op], input=path))
        wanted.append(np.asarray(reference(Image.fromarray(pixels))).astype(int))
    differences = []
    for case, want, (got, cause) in zip(cases, wanted, run(cases, options.feedline, True, work)):
        if got is None:
            sys.exit(f"{row}: {cause}: {case.ops}")
        got = got.astype(int)
        got = got if got.shape == want.shape else got.transpose(1, 2, 0)
        differences.append(np.abs(got - want).ravel())
    values = np.concatenate(differences)
    share, most = np.mean(values > 0), values.max()
    print(f"| {row} | {len(values):,} | {100 * share:.2f} % | {most} |")
    return most <= bound


def main():
    """Compares every row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feedline", type=Path, default=ROOT / "target/release/feedline")
    parser.add_argument("--data", type=Path, nargs="+", default=[ROOT / "data/photos"])
    parser.add_argument("--draws", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        images = write_images(options.data, Path(work))
        print("| operation | values compared | different values | max difference |\n|---|---:|---:|---:|")
        kept = [compare(row, images, options, Path(work)) for row in ROWS]
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
