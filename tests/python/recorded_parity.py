#!/usr/bin/env python3
"""Replays cases that were compared with torchvision on another machine: `feedline apply` must give the same bits.

    python tests/python/recorded_parity.py [--feedline PROGRAM]             # needs NumPy and Pillow

`parity.py --record tests/python/recorded_parity.jsonl` makes the recording: the first cases of each of its rows, if
torchvision agrees on all values (uint8 to the bit, float32 within 1e-6). What is kept of a result is the hash of feedline's
values: for uint8 that is torchvision's, and float32, too, has to be equal to the bit here. The first line of the recording
holds the versions and the hashes of the images, each other line one case. Exits with 1 when anything differs or fails.
"""

import argparse
import hashlib
import json
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import feedline_apply

ROOT = Path(__file__).resolve().parents[2]
RECORDED_DRAWS = 12
CASES_A_RUN = 100
SHOWN_FAILURES = 5


@dataclass
class Recorded:
    """One case: the image that it starts from, its chain, and what `described` said of the result."""

    row: str
    source: str
    ops: list
    input: Path
    result: dict


def described(pixels):
    """Type, shape and hash of an array."""
    digest = hashlib.blake2b(np.ascontiguousarray(pixels), digest_size=16).hexdigest()
    return {"dtype": str(pixels.dtype), "shape": list(pixels.shape), "hash": digest}


def case_line(case, got):
    """The line of the recording for a case of parity.py, for which feedline gave `got`."""
    return {"row": case.row, "image": case.source, "ops": case.ops, **described(got)}


def write(path, versions, images, lines):
    """Writes a recording: `images` are {name: pixels}."""
    head = {**versions, "images": {name: described(pixels)["hash"] for name, pixels in images.items()}}
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in [head, *lines]))


def read(path, images):
    """The cases of a recording, with their images of {name: (PNG, pixels)}."""
    head, *lines = map(json.loads, path.read_text().splitlines())
    others = [name for name, digest in head["images"].items() if described(images[name][1])["hash"] != digest]
    if others:
        raise SystemExit(f"other pixels than those that were recorded: {', '.join(others)}")
    if not lines:
        raise SystemExit(f"{path} holds no case")
    return [Recorded(line["row"], line["image"], line["ops"], images[line["image"]][0],
                     {name: line[name] for name in ("dtype", "shape", "hash")}) for line in lines]


def failure(case, got, cause):
    """What is wrong with a result, in words; nothing where it is the recorded one."""
    if got is None:
        return f"no output: {cause}"
    result = described(got)
    return "" if result == case.result else f"{result} instead of {case.result}"


def replay(args, work):
    """Runs all cases and prints how many were equal; returns whether all were."""
    batched = feedline_apply.knows_batches(args.feedline)
    cases = read(args.recording, feedline_apply.write_images([ROOT / "data/photos"], work))
    failures = []
    for start in range(0, len(cases), CASES_A_RUN):
        part = cases[start:start + CASES_A_RUN]
        for case, (got, cause) in zip(part, feedline_apply.run(part, args.feedline, batched, work)):
            if wrong := failure(case, got, cause):
                failures.append(f"{case.row}: {case.source} {json.dumps(case.ops)}\n    {wrong}")
    for dtype in ("uint8", "float32"):
        sizes = [math.prod(case.result["shape"]) for case in cases if case.result["dtype"] == dtype]
        print(f"{dtype}: {len(sizes)} cases, {sum(sizes):,} values")
    print(f"{len(failures)} of {len(cases)} cases differ from the recording")
    for shown in failures[:SHOWN_FAILURES]:
        print(f"\n{shown}")
    return not failures


def main():
    """Replays, and says by the exit status whether all was equal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recording", type=Path, default=Path(__file__).with_suffix(".jsonl"))
    parser.add_argument("--feedline", type=Path, default=ROOT / "target/release/feedline")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        sys.exit(0 if replay(args, Path(work)) else 1)


if __name__ == "__main__":
    main()
