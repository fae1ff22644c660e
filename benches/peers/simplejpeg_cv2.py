#!/usr/bin/env python3
"""Peer: simplejpeg (libjpeg-turbo) and OpenCV's resize in a pool of threads; the leanest Python pipeline we know."""

from pathlib import Path

import simplejpeg

import common
import pixels


def load_into(path, rng, out):
    """One file to one normalised CHW image."""
    pixels.augment_into(simplejpeg.decode_jpeg(Path(path).read_bytes(), "RGB"), rng, out)


def batches(files, args):
    """Batches from threads."""
    return common.threaded_batches(files, args, load_into)


if __name__ == "__main__":
    common.measure("simplejpeg-cv2", ["simplejpeg", "opencv-python-headless", "numpy"], batches)
