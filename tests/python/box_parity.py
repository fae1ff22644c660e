#!/usr/bin/env python3
"""Shows that `feedline apply --labels` moves boxes as torchvision does: every edge of many random boxes is compared.

    .venv-peers/bin/python tests/python/box_parity.py --feedline target/release/feedline

torchvision gets the same boxes as float64 `tv_tensors.BoundingBoxes`. Edges may differ by a thousandth of a pixel,
which float32 numbers inside torchvision's functions cost. Where torchvision's own boxes stand beside its own pixels
(`rotate` with expand, `center_crop` beyond the edge), feedline's stay with the pixels, and may be a pixel away. Exits
with 1 when anything differs or fails.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional as reference

from parity_ops import EVERY_DRAW

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-3
PIXEL = 1 + TOLERANCE
BOXES = 6
TIMEOUT_S = 600
# feedline's names and arguments, for torchvision's functions on boxes.
REFERENCE = {
    "resized_crop": lambda boxes, interpolation, antialias, **rest: reference.resized_crop(boxes, **rest),
    "resize": lambda boxes, size: reference.resize(boxes, size),
    "crop": reference.crop,
    "center_crop": reference.center_crop,
    "pad": lambda boxes, padding, fill: reference.pad(boxes, padding, fill=fill),
    "affine": lambda boxes, interpolation, fill=None, **rest: reference.affine(boxes, **rest),
    "rotate": lambda boxes, interpolation, fill=None, **rest: reference.rotate(boxes, **rest),
    "perspective": lambda boxes, interpolation, fill=None, **rest: reference.perspective(boxes, **rest),
    "hflip": reference.horizontal_flip,
    "vflip": reference.vertical_flip,
}
ROWS = [*REFERENCE, "crop:outside", "rotate with expand", "center_crop beyond the edge", "chain of 2", "chain of 4"]
LOOSE = {"rotate with expand", "center_crop beyond the edge"}


def draw_boxes(rng, width, height):
    """Boxes inside an image, as torchvision's and as feedline's labels; float32 numbers, which JSON keeps exactly."""
    edges = np.array([[rng.uniform(0, width), rng.uniform(0, height)] for _ in range(2 * BOXES)], np.float32)
    pairs = edges.reshape(BOXES, 2, 2)
    boxes = np.concatenate([pairs.min(axis=1), pairs.max(axis=1)], axis=1).astype(np.float64)
    labels = [{"class": number, "bbox": box} for number, box in enumerate(boxes.tolist())]
    return tv_tensors.BoundingBoxes(torch.from_numpy(boxes), format="XYXY", canvas_size=(height, width)), labels


def draw_op(rng, name, size):
    """Parameters on a canvas of `size`; exceptions keep to rows of their own."""
    width, height = size
    if name == "rotate with expand":
        return "rotate", {"angle": rng.uniform(-200, 400), "expand": True, "interpolation": "nearest"}
    if name == "center_crop beyond the edge":
        return "center_crop", {"output_size": [height + rng.randint(0, 50), width + rng.randint(0, 50)]}
    drawn = EVERY_DRAW[name](rng, size)
    if name == "rotate":
        drawn["expand"] = False
    if name == "center_crop":
        drawn = {"output_size": [rng.randint(1, height), rng.randint(1, width)]}
    return name.split(":")[0], drawn


def draw_case(rng, row, work, number):
    """One line for `apply --batch`, and where torchvision puts the boxes."""
    width, height = rng.randint(2, 500), rng.randint(2, 500)
    path = work / f"{width}x{height}.png"
    if not path.exists():
        Image.new("RGB", (width, height)).save(path)
    boxes, labels = draw_boxes(rng, width, height)
    names = rng.choices(list(REFERENCE), k=int(row.split()[-1])) if row.startswith("chain") else [row]
    ops = []
    for name in names:
        name, drawn = draw_op(rng, name, boxes.canvas_size[::-1])
        boxes = REFERENCE[name](boxes, **drawn)
        ops.append({"op": name, **drawn})
    line = {"ops": ops, "input": str(path), "out": str(work / "out.npy"), "labels": labels}
    return line, boxes.as_subclass(torch.Tensor).numpy()


def moved(feedline, lines, work):
    """Where feedline puts the boxes of each line."""
    listing = work / "cases.jsonl"
    listing.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    done = subprocess.run([str(feedline), "apply", "--batch", str(listing)], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    if done.returncode:
        raise SystemExit(f"exit status {done.returncode}: {done.stderr.strip()[-500:]}")
    return [np.array([seen["bbox"] for seen in json.loads(line)["objects"]]) for line in done.stdout.splitlines()]


def main():
    """Compares, prints a table, and says by the exit status whether all was equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200, help="random cases a row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--feedline", type=Path, default=ROOT / "target/release/feedline")
    args = parser.parse_args()
    clean = True
    print("| operation | boxes | different | max difference |\n|---|---:|---:|---:|")
    for row in ROWS:
        rng = random.Random(f"{args.seed} {row}")
        with tempfile.TemporaryDirectory() as work:
            cases = [draw_case(rng, row, Path(work), number) for number in range(args.draws)]
            got = moved(args.feedline, [line for line, _ in cases], Path(work))
        distances = [np.abs(mine - theirs) for mine, (_, theirs) in zip(got, cases, strict=True)]
        limit = PIXEL if row in LOOSE else TOLERANCE
        bad = [number for number, distance in enumerate(distances) if not (distance <= limit).all()]
        largest = max(float(distance.max()) for distance in distances)
        print(f"| {row} | {BOXES * len(cases)} | {len(bad)} | {largest:.2g} |", flush=True)
        for number in bad[:2]:
            print(f"{json.dumps(cases[number][0])}\n{got[number]}\ninstead of\n{cases[number][1]}", file=sys.stderr)
        clean = clean and not bad
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
