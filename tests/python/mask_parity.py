#!/usr/bin/env python3
"""Compares the masks of objects with those of pycocotools and OpenCV: the same random outlines, pixel by pixel.

    pip install ./python numpy pycocotools opencv-python-headless
    python tests/python/mask_parity.py

feedline's rule is: a pixel belongs to an object if the outline contains its centre. pycocotools rounds the outline to fifths
of a pixel, and OpenCV to whole pixels, all of which it fills, the outline's own included; so both differ from it along
outlines, and nowhere else. Prints what part of the pixels differs and how far from the outline, and compares boxes of
`minAreaRect` as well. Exits with 1 where a difference is larger than docs/parity.md says.
"""

import json
import pathlib
import random
import struct
import sys
import tempfile
import zlib

import cv2
import numpy as np
from pycocotools import mask as coco

import feedline

WIDTH, HEIGHT, OBJECTS, RATIO = 320, 240, 400, 4
#: How far from an outline, in pixels, a pixel's centre may be that differs: of pycocotools, of OpenCV, and of OpenCV's masks
#: that are made smaller by RATIO afterwards, as Ultralytics makes them, in pixels of the sample.
BOUNDS = {"pycocotools": 0.25, "OpenCV": 1.25, f"OpenCV at 1/{RATIO}": 1.5}


def outline(rng):
    """A star around a random point, with as many corners as there may be: convex or not, and without a crossing."""
    x, y, radius = rng.uniform(60, 260), rng.uniform(60, 180), rng.uniform(4, 60)
    corners = rng.randint(3, 40)
    angles = sorted(rng.uniform(0, 2 * np.pi) for _ in range(corners))
    reach = [radius * rng.uniform(0.3, 1) for _ in range(corners)]
    return [[x + r * np.cos(a), y + r * np.sin(a)] for a, r in zip(angles, reach)]


def batch(folder, outlines, **options):
    """The first batch of a grey image in which these objects are seen."""
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    header, rows = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0), zlib.compress(bytes((WIDTH + 1) * HEIGHT))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    (folder / "a.png").write_bytes(png)
    annotations = [
        {"id": at, "image_id": 1, "category_id": at, "segmentation": [np.ravel(points).tolist()]}
        for at, points in enumerate(outlines)
    ]
    categories = [{"id": at, "name": str(at)} for at in range(len(outlines))]
    content = {"images": [{"id": 1, "file_name": "a.png"}], "categories": categories, "annotations": annotations}
    (folder / "a.json").write_text(json.dumps(content))
    chain = [feedline.Resize([HEIGHT, WIDTH])]
    return next(iter(feedline.Loader(folder / "a.json", batch_size=1, transforms=chain, **options)))


def farthest(points, differs, ratio=1):
    """How far the centres of pixels are from the outline, at most."""
    ends = np.array(points)
    rows, columns = np.nonzero(differs)
    centres = (np.stack([columns, rows], axis=1) + 0.5) * ratio
    if not len(centres):
        return 0.0
    steps = np.roll(ends, -1, axis=0) - ends
    along = ((centres[:, None] - ends) * steps).sum(-1) / np.maximum((steps**2).sum(-1), 1e-12)
    nearest = ends + np.clip(along, 0, 1)[..., None] * steps
    return float(np.linalg.norm(centres[:, None] - nearest, axis=-1).min(axis=1).max())


def filled(points):
    """As Ultralytics fills an outline: cut to whole pixels."""
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    cv2.fillPoly(mask, np.array([points]).astype(np.int32), color=1)
    return mask


def main():
    rng = random.Random(5)
    outlines = [outline(rng) for _ in range(OBJECTS)]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        whole = batch(folder, outlines, instance_masks="per-object", box_format="xywhr", box_unit="pixels")
        small = batch(folder, outlines, instance_masks="per-object", mask_ratio=RATIO)
    masks, smaller, boxes = whole["masks"].numpy(), small["masks"].numpy(), whole["bboxes"].numpy()
    assert len(masks) == OBJECTS == len(smaller)
    found = {name: [0, 0, 0, 0.0] for name in BOUNDS}
    box_error = 0.0
    for points, mask, at_ratio, box in zip(outlines, masks, smaller, boxes):
        full = filled(points)
        shrunk = cv2.resize(full, (WIDTH // RATIO, HEIGHT // RATIO))
        theirs = coco.decode(coco.merge(coco.frPyObjects([np.ravel(points).tolist()], HEIGHT, WIDTH)))
        for name, own, other, ratio in zip(BOUNDS, (mask, mask, at_ratio), (theirs, full, shrunk), (1, 1, RATIO)):
            row = found[name]
            row[0] += int(own.sum())
            row[1] += int((own & ~other & 1).sum())
            row[2] += int((other & ~own & 1).sum())
            row[3] = max(row[3], farthest(points, own != other, ratio))
        _, (width, height), _ = cv2.minAreaRect(np.array(points, np.float32))
        box_error = max(box_error, abs(width * height - box[2] * box[3]) / (width * height))
    for name, (own, less, more, far) in found.items():
        print(f"{name}: {less} of {own} pixels are not in its masks, {more} more are; at most {far:.2f} pixels from an outline")
    print(f"minAreaRect: areas differ by {box_error:.1e} of themselves at most")
    wrong = [name for name, bound in BOUNDS.items() if found[name][3] > bound]
    sys.exit(f"too far from the outline: {', '.join(wrong)}" if wrong or box_error > 1e-3 else 0)


if __name__ == "__main__":
    main()
