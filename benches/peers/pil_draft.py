#!/usr/bin/env python3
"""Peer: Pillow in a pool of threads, decoding at a half, a quarter or an eighth (`draft`) where the crop stays large
enough."""

import numpy as np
from PIL import Image

import common
import pixels


def load_into(path, rng, out):
    """One file to one normalised CHW image."""
    with Image.open(path) as image:
        width, height = image.size
        crop = common.random_resized_crop(rng, width, height)
        shrink = max(by for by in (1, 2, 4, 8) if by == 1 or min(crop[2:]) >= by * out.shape[2])
        image.draft("RGB", (width // shrink, height // shrink))
        decoded = np.asarray(image.convert("RGB"))
    scale = width / decoded.shape[1]
    pixels.augment_into(decoded, rng, out, [int(side / scale) for side in crop])


def batches(files, args):
    """Batches from threads."""
    return common.threaded_batches(files, args, load_into)


if __name__ == "__main__":
    common.measure("pil-draft", ["pillow", "opencv-python-headless", "numpy"], batches)
