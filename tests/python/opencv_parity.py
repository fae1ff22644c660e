#!/usr/bin/env python3
"""Says how far `feedline apply`'s warps are from OpenCV's: mean, 99th percentile and largest difference of all values.

    .venv-peers/bin/python tests/python/opencv_parity.py --feedline target/release/feedline --data data/photos

OpenCV counts places from the first pixel's centre and feedline from the image's corner: the maps are moved by half a
pixel. Until its version 5 OpenCV rounded coordinates to a 32nd of a pixel, so for maps that do not shrink the mean may be
one level and the 99th percentile six; exits with 1 beyond that. A `warp_perspective` that shrinks averages what OpenCV's
bilinear filter skips, unless it is told otherwise: its row is for information.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DRAWS = 60
MOST_MEAN, MOST_P99 = 1.0, 6.0
CORNER = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])


def affine(rng, width, height):
    """An op and its 3x3 map from the image to the canvas, by corners."""
    angle, scale = rng.uniform(-60, 60), rng.uniform(0.9, 1.6)
    translate = [rng.randint(-20, 20), rng.randint(-20, 20)]
    op = {"op": "affine", "angle": angle, "translate": translate, "scale": scale, "shear": [0, 0],
          "interpolation": "bilinear"}
    turn = math.radians(angle)
    linear = scale * np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    centre = np.array([width / 2, height / 2])
    matrix = np.eye(3)
    matrix[:2, :2] = linear
    matrix[:2, 2] = centre + translate - linear @ centre
    return op, matrix, (width, height)


def warped(rng, width, height, scales, antialias=True):
    """As `affine`, by YOLO's perspective at a scale."""
    angle, scale, size = math.radians(rng.uniform(-20, 20)), rng.uniform(*scales), 192
    tilt = [rng.uniform(-3e-4, 3e-4), rng.uniform(-3e-4, 3e-4)]
    cos, sin = scale * math.cos(angle), scale * math.sin(angle)
    to_middle = np.array([[1, 0, -width / 2], [0, 1, -height / 2], [0, 0, 1]])
    turn = np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1]])
    perspective = np.array([[1, 0, 0], [0, 1, 0], [*tilt, 1]])
    matrix = np.array([[1, 0, size / 2], [0, 1, size / 2], [0, 0, 1]]) @ turn @ perspective @ to_middle
    op = {"op": "warp_perspective", "matrix": matrix.tolist(), "size": [size, size], "fill": 0, "antialias": antialias}
    return op, matrix, (size, size)


ROWS = {
    "affine": (affine, True),
    "warp_perspective, enlarging": (lambda *at: warped(*at, (1.1, 1.6)), True),
    "warp_perspective, shrinking": (lambda *at: warped(*at, (0.4, 0.8)), False),
    "the same without antialias": (lambda *at: warped(*at, (0.4, 0.8), False), True),
}


def ours(feedline, image, op, folder):
    """The pixels of `apply`, height x width x 3."""
    out = Path(folder) / "out.npy"
    command = [str(feedline), "apply", "--ops", json.dumps([op]), str(image), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return np.load(out)


def differences(feedline, photographs, draw, folder):
    """Of every value whose taps all lie inside the image."""
    rng, found = random.Random(7), []
    for number in range(DRAWS):
        source = cv2.imread(str(photographs[number % len(photographs)]), cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
        image = Path(folder) / "in.png"
        cv2.imwrite(str(image), source)
        height, width = source.shape[:2]
        op, matrix, size = draw(rng, width, height)
        by_centres = np.linalg.inv(CORNER) @ matrix @ CORNER
        theirs = cv2.warpPerspective(source, by_centres, size, flags=cv2.INTER_LINEAR)[..., ::-1]
        whole = cv2.warpPerspective(np.full((height, width), 255, np.uint8), by_centres, size, flags=cv2.INTER_LINEAR)
        inside = cv2.erode(whole, np.ones((9, 9), np.uint8), borderType=cv2.BORDER_REPLICATE) == 255
        pixels = ours(feedline, image, op, folder)
        found.append(np.abs(pixels.astype(int) - theirs.astype(int))[inside].ravel())
    return np.concatenate(found)


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feedline", type=Path, default=ROOT / "target/release/feedline")
    parser.add_argument("--data", type=Path, default=ROOT / "data/photos")
    args = parser.parse_args()
    photographs = sorted(args.data.rglob("*.jpg"))
    if not photographs:
        sys.exit(f"no JPEG file under {args.data}")
    passed = True
    print("| against OpenCV | values | mean | P99 | max |\n|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name, (draw, is_bounded) in ROWS.items():
            found = differences(args.feedline, photographs, draw, folder)
            mean, p99 = found.mean(), np.percentile(found, 99)
            print(f"| {name} | {found.size:,} | {mean:.2f} | {p99:.0f} | {found.max()} |")
            passed &= found.size > 100_000 and not (is_bounded and (mean > MOST_MEAN or p99 > MOST_P99))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
