#!/usr/bin/env python3
"""Shows that `feedline apply` gives torchvision's pixels: every value of many random cases is compared.

    .venv-peers/bin/python tests/python/parity.py                               # the bundled photographs
    .venv-peers/bin/python tests/python/parity.py --write docs/parity.md        # also fills in the page's table
    .venv-peers/bin/python tests/python/parity.py --record FILE                 # also keeps cases for machines without torch

A case is one image and one chain of operations, drawn by the generator that the renderers' own tests use. Both sides read
the same PNG (pixels as stored, no decoder in between), torchvision as a uint8 CPU tensor, feedline from the command line.
uint8 results must be equal; normalised float32 results may differ by 1e-6. Exits with 1 when anything differs or fails.

Where a pixel of a warp falls is a float32 matrix product, in which MKL fuses multiplication and addition on some
processors and not on others (an AMD EPYC, for one). feedline fuses everywhere. Where torch does not, which is found out
and said, this script forms these products for it, so that here, too, all values have to be equal.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torchvision

import feedline_apply
import random_chains
import recorded_parity
from parity_ops import COMPARED, FIXED_CHAINS, LAST_ONLY, LONGEST_CHAIN, REFERENCE

ROOT = Path(__file__).resolve().parents[2]
FLOAT_TOLERANCE = 1e-6
CASES_A_RUN = 100
LARGEST_SIDE = 600
SHOWN_MISMATCHES = 5
VERSIONS = {module.__name__: module.__version__.split("+")[0] for module in (torch, torchvision)}


@dataclass
class Case:
    """One image, one chain and what torchvision makes of it."""

    row: str
    source: str
    input: Path
    ops: list
    expected: np.ndarray


@dataclass
class Row:
    """One line of the table."""

    cases: int = 0
    failed: int = 0
    values: int = 0
    different: int = 0
    largest: float = 0.0

    def clean(self):
        """True if nothing failed and nothing differed."""
        return self.failed == 0 and self.different == 0


@dataclass
class Outcome:
    """All rows; and in words what failed, and what differed."""

    rows: dict = field(default_factory=dict)
    failures: list = field(default_factory=list)
    mismatches: list = field(default_factory=list)

    def clean(self):
        """True if all rows are."""
        return all(row.clean() for row in self.rows.values())


def fused_products(points, matrices):
    """`torch.bmm` of one (n, 3) and one (3, m) float32 matrix, rounded once for each product and sum, as feedline does."""
    points, matrix = (side[0].numpy().astype(np.longdouble) for side in (points, matrices))
    sums = np.zeros((points.shape[0], matrix.shape[1]), np.float32)
    for step in range(3):
        sums = (points[:, step, None] * matrix[step] + sums).astype(np.float32)
    return torch.from_numpy(sums)[None]


def torch_fuses():
    """Whether torch's products of many points and a matrix are such."""
    draw = np.random.default_rng(0)
    points, matrix = draw.uniform(-100, 100, (1, 1000, 3)), draw.uniform(-2, 2, (1, 3, 2))
    points[..., 2] = 1
    points, matrix = (torch.from_numpy(side.astype(np.float32)) for side in (points, matrix))
    return torch.equal(points.bmm(matrix), fused_products(points, matrix))


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, nargs="+", default=[ROOT / "data/photos"], help="folders of images")
    parser.add_argument("--draws", type=int, default=200, help="random cases a row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ops", help=f"comma-separated operations that rows and chains are made of instead of all. "
                                      f"Known: {', '.join(REFERENCE)}")
    parser.add_argument("--feedline", type=Path, default=ROOT / "target/release/feedline")
    parser.add_argument("--chains", type=Path, default=ROOT / "target/release/examples/random_chains",
                        help="the program that draws")
    parser.add_argument("--record", type=Path, help="file for the first cases of each row, which recorded_parity.py "
                                                    "replays; written where nothing differs")
    parser.add_argument("--write", type=Path, help="page whose part between the parity markers is replaced")
    args = parser.parse_args()
    args.ops = args.ops.split(",") if args.ops else COMPARED
    unknown = [name for name in args.ops if name not in REFERENCE]
    if unknown:
        parser.error(f"no such operation: {', '.join(unknown)}")
    return args


def load_images(folders, work):
    """Every image as {name: (PNG in `work`, uint8 CHW tensor)}."""
    return {name: (path, torch.from_numpy(pixels).permute(2, 0, 1).contiguous())
            for name, (path, pixels) in feedline_apply.write_images(folders, work).items()}


def rows_to_draw(selected):
    """The table's rows: {name: for each position of the chain, the operations that it is one of}."""
    rows = {name: [[name]] for name in selected}
    pool = [name for name in selected if name not in LAST_ONLY]
    if len(pool) > 1:
        for length in range(2, LONGEST_CHAIN + 1):
            rows[f"chain of {length}"] = [pool] * length
        if "normalize" in selected:
            rows["chain, normalize"] = [*[pool] * 3, ["normalize"]]
    for row, chain in FIXED_CHAINS.items():
        if set(chain) <= set(selected):
            rows[row] = [[name] for name in chain]
    return rows


def drawn_cases(args, rows, images):
    """The cases of every row, as the generator draws them: {row: [(image's name, ops)]}."""
    names = sorted(images)
    sizes = [(images[name][1].shape[2], images[name][1].shape[1]) for name in names]
    cases = {row: [] for row in rows}
    for case in random_chains.draw(args.chains, rows, sizes, LARGEST_SIDE, args.seed, args.draws):
        cases[case["row"]].append((names[case["image"]], case["ops"]))
    return cases


def performed(row, source, ops, images):
    """A case with what torchvision makes of it."""
    path, image = images[source]
    for op in ops:
        parameters = {name: value for name, value in op.items() if name != "op"}
        image = REFERENCE[op["op"]](image, **parameters)
    if image.dtype == torch.uint8:
        image = image.permute(1, 2, 0)
    return Case(row, source, path, ops, image.numpy())


def differences(expected, got):
    """(how many values differ, the largest difference); another shape or type differs in every value."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return expected.size, float("inf")
    distance = np.abs(expected.astype(np.float64) - got.astype(np.float64))
    distance[np.isnan(distance)] = np.inf
    tolerance = FLOAT_TOLERANCE if expected.dtype == np.float32 else 0
    return int(np.count_nonzero(distance > tolerance)), float(distance.max(initial=0))


def add(outcome, case, got, cause):
    """Adds one case to its row, and describes it where it is among the first mismatches."""
    row = outcome.rows.setdefault(case.row, Row())
    row.cases += 1
    described = f"{case.row}: {case.source} {json.dumps(case.ops)}"
    if got is None:
        row.failed += 1
        outcome.failures.append(f"{described}\n    no output: {cause}")
        return
    different, largest = differences(case.expected, got)
    row.values += case.expected.size
    row.different += different
    row.largest = max(row.largest, largest)
    if different:
        outcome.mismatches.append(f"{described}\n    {first_difference(case.expected, got)}")


def first_difference(expected, got):
    """Where two arrays part, in words."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype} {got.shape} instead of {expected.dtype} {expected.shape}"
    tolerance = FLOAT_TOLERANCE if expected.dtype == np.float32 else 0
    close = np.abs(expected.astype(np.float64) - got.astype(np.float64)) <= tolerance
    at = tuple(int(index) for index in np.argwhere(~close)[0])
    return f"first at {at}: {got[at]} instead of {expected[at]}"


def compare_all(args, images, work):
    """Draws, runs and compares every case, a chunk at a time so that memory stays small.

    Returns the outcome, and a line for the recording of each of a row's first cases.
    """
    batched = feedline_apply.knows_batches(args.feedline)
    outcome, lines = Outcome(), []
    for row, drawn in drawn_cases(args, rows_to_draw(args.ops), images).items():
        for start in range(0, len(drawn), CASES_A_RUN):
            cases = [performed(row, *case, images) for case in drawn[start:start + CASES_A_RUN]]
            results = feedline_apply.run(cases, args.feedline, batched, work)
            for number, (case, (got, cause)) in enumerate(zip(cases, results), start):
                add(outcome, case, got, cause)
                if got is not None and number < recorded_parity.RECORDED_DRAWS:
                    lines.append(recorded_parity.case_line(case, got))
        print(f"{row}: {outcome.rows[row]}", file=sys.stderr, flush=True)
    return outcome, lines


def table(outcome, args, image_count):
    """The Markdown table with a line on how it came about."""
    lines = [
        f"{args.draws} random cases a row over {image_count} images (seed {args.seed}), torchvision "
        f"{VERSIONS['torchvision']} and torch {VERSIONS['torch']} on uint8 CPU tensors.",
        "",
        "| operation | cases | values compared | different values | max difference |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, row in outcome.rows.items():
        cases = f"{row.cases} ({row.failed} failed)" if row.failed else str(row.cases)
        lines.append(f"| {name} | {cases} | {row.values:,} | {row.different:,} | {row.largest:.2g} |")
    return "\n".join(lines)


def write_between_markers(page, text, name="parity"):
    """Replaces what stands between `<!-- parity -->` and `<!-- /parity -->`, or other markers of this kind."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    content = page.read_text()
    if content.count(begin) != 1 or content.count(end) != 1:
        raise SystemExit(f"{page} needs the lines {begin} and {end}, once each")
    head, rest = content.split(begin)
    tail = rest.split(end)[1]
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}")


def main():
    """Compares, reports, and says by the exit status whether all was equal."""
    args = arguments()
    if not torch_fuses():
        print("NOTE: torch does not fuse the products and sums of warps here: the script forms them in its place")
        torch.Tensor.bmm = fused_products
    with tempfile.TemporaryDirectory() as work:
        images = load_images(args.images, Path(work))
        outcome, lines = compare_all(args, images, Path(work))
    text = table(outcome, args, len(images))
    print(text)
    for shown in outcome.failures[:SHOWN_MISMATCHES] + outcome.mismatches[:SHOWN_MISMATCHES]:
        print(f"\n{shown}")
    if args.write:
        write_between_markers(args.write, text)
    if not outcome.clean():
        sys.exit(1)
    if args.record:
        pixels = {name: image.permute(1, 2, 0).numpy() for name, (_, image) in images.items()}
        recorded_parity.write(args.record, VERSIONS, pixels, lines)


if __name__ == "__main__":
    main()
