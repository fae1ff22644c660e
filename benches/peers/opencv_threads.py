#!/usr/bin/env python3
"""Peer: OpenCV's decoder and resize in a pool of threads, without PyTorch."""

import cv2
import numpy as np

import common
import pixels


def load_into(path, rng, out):
    """One file to one normalised CHW image."""
    image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR_RGB)
    pixels.augment_into(image, rng, out)


def batches(files, args):
    """Batches from threads."""
    return common.threaded_batches(files, args, load_into)


if __name__ == "__main__":
    common.measure("opencv-threads", ["opencv-python-headless", "numpy"], batches)
