#!/usr/bin/env python3
"""Shows that `feedline apply --labels` moves boxes as torchvision does: every edge of many random boxes is compared.

    .venv-peers/bin/python tests/python/box_parity.py

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

import random_chains

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-3
PIXEL = 1 + TOLERANCE
BOXES = 6
TIMEOUT_S = 600
SIZES = 64
LONGEST_SIDE = 600
# torchvision's functions on boxes, for feedline's names.
REFERENCE = {
    "resized_crop": reference.resized_crop,
    "resize": reference.resize,
    "crop": reference.crop,
    "center_crop": reference.center_crop,
    "pad": reference.pad,
    "affine": reference.affine,
    "rotate": reference.rotate,
    "perspective": reference.perspective,
    "hflip": reference.horizontal_flip,
    "vflip": reference.vertical_flip,
}
# What pixels are made of, and boxes are not.
OF_PIXELS = {"op", "interpolation", "antialias", "fill", "padding_mode"}
CHAINS = {"chain of 2": 2, "chain of 4": 4}


def draw_boxes(rng, width, height):
    """Boxes inside an image, as torchvision's and as feedline's labels; float32 numbers, which JSON keeps exactly."""
    edges = np.array([[rng.uniform(0, width), rng.uniform(0, height)] for _ in range(2 * BOXES)], np.float32)
    pairs = edges.reshape(BOXES, 2, 2)
    boxes = np.concatenate([pairs.min(axis=1), pairs.max(axis=1)], axis=1).astype(np.float64)
    labels = [{"class": number, "bbox": box} for number, box in enumerate(boxes.tolist())]
    return tv_tensors.BoundingBoxes(torch.from_numpy(boxes), format="XYXY", canvas_size=(height, width)), labels


def drawn_cases(args, sizes):
    """(row, size of the image, ops) of all cases, as the generator that the renderers' tests use draws them."""
    rows = {name: [[name]] for name in REFERENCE} | {row: [list(REFERENCE)] * length for row, length in CHAINS.items()}
    cases = random_chains.draw(args.chains, rows, sizes, LONGEST_SIDE, args.seed, args.draws)
    return [(case["row"], sizes[case["image"]], case["ops"]) for case in cases]


def stands_beside(op, boxes):
    """Whether torchvision's boxes come to stand beside its own pixels."""
    if op["op"] == "center_crop":
        size = op["output_size"]
        sides = size if isinstance(size, list) else [size]
        return any(side > edge for side, edge in zip(sides * (3 - len(sides)), boxes.canvas_size, strict=True))
    return op["op"] == "rotate" and op.get("expand", False)


def performed(rng, row, size, ops, work):
    """One line for `apply --batch`, where torchvision puts the boxes, and by how much an edge may differ; nothing for a
    chain in which boxes stand beside their pixels, since what follows may enlarge that."""
    path = work / f"{size[0]}x{size[1]}.png"
    if not path.exists():
        Image.new("RGB", tuple(size)).save(path)
    boxes, labels = draw_boxes(rng, *size)
    tolerance = TOLERANCE
    for op in ops:
        if stands_beside(op, boxes):
            if row in CHAINS:
                return None
            tolerance = PIXEL
        arguments = {name: value for name, value in op.items() if name not in OF_PIXELS}
        boxes = REFERENCE[op["op"]](boxes, **arguments)
    line = {"ops": ops, "input": str(path), "out": str(work / "out.npy"), "labels": labels}
    return line, boxes.as_subclass(torch.Tensor).numpy(), tolerance


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
    parser.add_argument("--chains", type=Path, default=ROOT / "target/release/examples/random_chains",
                        help="the program that draws")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    cases = drawn_cases(args, [[rng.randint(2, 500), rng.randint(2, 500)] for _ in range(SIZES)])
    clean = True
    print("| operation | boxes | different | max difference |\n|---|---:|---:|---:|")
    for row in [*REFERENCE, *CHAINS]:
        with tempfile.TemporaryDirectory() as work:
            of_row = [performed(rng, *case, Path(work)) for case in cases if case[0] == row]
            of_row = [case for case in of_row if case]
            got = moved(args.feedline, [line for line, _, _ in of_row], Path(work))
        distances = [np.abs(mine - theirs) for mine, (_, theirs, _) in zip(got, of_row, strict=True)]
        limits = [limit for _, _, limit in of_row]
        bad = [number for number, distance in enumerate(distances) if not (distance <= limits[number]).all()]
        exact = [float(distance.max()) for distance, limit in zip(distances, limits, strict=True) if limit < PIXEL]
        print(f"| {row} | {BOXES * len(of_row)} | {len(bad)} | {max(exact):.2g} |", flush=True)
        for number in bad[:2]:
            print(f"{json.dumps(of_row[number][0])}\n{got[number]}\ninstead of\n{of_row[number][1]}", file=sys.stderr)
        clean = clean and not bad and bool(exact)
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
