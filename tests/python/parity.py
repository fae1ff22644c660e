#!/usr/bin/env python3
"""Shows that `feedline apply` gives torchvision's pixels: every value of many random cases is compared.

    .venv-peers/bin/python tests/python/parity.py                               # the bundled photographs
    .venv-peers/bin/python tests/python/parity.py --write docs/parity.md        # also fills in the page's table

A case is one image and one chain of operations, drawn by the generator that the renderers' own tests use. Both sides read
the same PNG (pixels as stored, no decoder in between), torchvision as a uint8 CPU tensor, feedline from the command line.
uint8 results must be equal; normalised float32 results may differ by 1e-6. Exits with 1 when anything differs or fails.

Where a pixel of a warp falls is a float32 matrix product, in which MKL fuses multiplication and addition on some
processors and not on others (an AMD EPYC, for one). feedline fuses everywhere. Where torch does not, which is found out
and said, the rows with warps may differ in 20 values of a million.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torchvision
from PIL import Image

import random_chains
from parity_ops import COMPARED, FIXED_CHAINS, LAST_ONLY, LONGEST_CHAIN, REFERENCE

ROOT = Path(__file__).resolve().parents[2]
FLOAT_TOLERANCE = 1e-6
CASES_A_RUN = 100
LARGEST_SIDE = 600
SHOWN_MISMATCHES = 5
WARPS = {"affine", "rotate", "perspective"}
UNFUSED_SHARE = 20e-6
TIMEOUT_S = 600


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
    warped: bool = False

    def clean(self, fused):
        """True if nothing failed, and no more differed than may."""
        may_differ = 0 if fused or not self.warped else UNFUSED_SHARE * self.values
        return self.failed == 0 and self.different <= may_differ


@dataclass
class Outcome:
    """All rows; and in words what failed, and what differed."""

    rows: dict = field(default_factory=dict)
    failures: list = field(default_factory=list)
    mismatches: list = field(default_factory=list)

    def clean(self, fused):
        """True if all rows are."""
        return all(row.clean(fused) for row in self.rows.values())


def products_are_fused():
    """Whether torch's products of many points and a matrix round once for each product and sum, as feedline's do."""
    draw = np.random.default_rng(0)
    points, matrix = draw.uniform(-100, 100, (1000, 3)), draw.uniform(-2, 2, (3, 2))
    points[:, 2] = 1
    points, matrix = points.astype(np.float32), matrix.astype(np.float32)
    got = torch.from_numpy(points)[None].bmm(torch.from_numpy(matrix)[None])[0].numpy()
    wide = points.astype(np.longdouble), matrix.astype(np.longdouble)
    expected = np.zeros_like(got)
    for step in range(3):
        expected = (wide[0][:, step, None] * wide[1][step] + expected).astype(np.float32)
    return bool((got == expected).all())


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
    parser.add_argument("--write", type=Path, help="page whose part between the parity markers is replaced")
    args = parser.parse_args()
    args.ops = args.ops.split(",") if args.ops else COMPARED
    unknown = [name for name in args.ops if name not in REFERENCE]
    if unknown:
        parser.error(f"no such operation: {', '.join(unknown)}")
    return args


def load_images(folders, work):
    """Every image of the folders as {name: (PNG in `work`, uint8 CHW tensor)}, and three made ones.

    The made ones are noise, which meets every sextant of the hue, and images of one and of six pixels.
    """
    pictures = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() in {".jpg", ".jpeg", ".png"}:
                with Image.open(path) as image:
                    pictures[str(path.relative_to(folder))] = np.array(image.convert("RGB"))
    if not pictures:
        raise SystemExit("no image in the given folders")
    noise = np.random.default_rng(0)
    for height, width in ((256, 256), (1, 1), (3, 2)):
        pictures[f"noise {width}x{height}"] = noise.integers(0, 256, (height, width, 3), np.uint8)
    images = {}
    for number, (name, pixels) in enumerate(pictures.items()):
        path = work / f"{number}.png"
        Image.fromarray(pixels).save(path, compress_level=1)
        with Image.open(path) as back:
            images[name] = path, torch.from_numpy(np.array(back)).permute(2, 0, 1).contiguous()
    return images


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


def run_feedline(cases, feedline, batched, work):
    """Runs the cases; returns [(output array or None, cause)]. What a batch leaves out has failed."""
    outputs = [work / f"{number}.npy" for number in range(len(cases))]
    run = run_batch if batched else run_one_by_one
    causes = run(cases, outputs, feedline, work)
    results = [(None, cause) if cause else (np.load(out), "") for out, cause in zip(outputs, causes)]
    for out in outputs:
        out.unlink(missing_ok=True)
    return results


def run_batch(cases, outputs, feedline, work):
    """Runs all cases with one call; a cause for each, empty where it went well."""
    listing = work / "cases.jsonl"
    lines = [json.dumps({"ops": case.ops, "input": str(case.input), "out": str(out)})
             for case, out in zip(cases, outputs)]
    listing.write_text("\n".join(lines) + "\n")
    done = call([str(feedline), "apply", "--batch", str(listing)])
    missing = [not out.exists() for out in outputs]
    if done.returncode != 0 and not any(missing):
        return [said(done)] * len(cases)
    # Alone, a case can say more than the batch did; it has failed whatever comes of that.
    return [f"not in the batch's output; alone: {run_alone(case, feedline, out, work) or 'no error'}" if gone else ""
            for case, out, gone in zip(cases, outputs, missing)]


def run_one_by_one(cases, outputs, feedline, work):
    """Runs each case with a call of its own; a cause for each, empty where it went well."""
    return [run_alone(case, feedline, out, work) for case, out in zip(cases, outputs)]


def run_alone(case, feedline, out, work):
    """Runs one case by itself; returns what went wrong, or nothing."""
    ops = work / "ops.json"
    ops.write_text(json.dumps(case.ops))
    done = call([str(feedline), "apply", "--ops", str(ops), str(case.input), "--out", str(out)])
    return "" if done.returncode == 0 and out.exists() else said(done)


def said(done):
    """How a call ended."""
    return f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"


def call(command):
    """Runs a command and keeps what it says."""
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def knows_batches(feedline):
    """Whether `apply` takes many cases at once; older builds take one case a call."""
    try:
        return "--batch" in call([str(feedline), "apply", "--help"]).stdout
    except OSError as error:
        raise SystemExit(f"{feedline}: {error.strerror}; build it with `cargo build --release`") from error


def differences(expected, got):
    """(how many values differ, the largest difference); another shape or type differs in every value."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return expected.size, float("inf")
    distance = np.abs(expected.astype(np.float64) - got.astype(np.float64))
    distance[np.isnan(distance)] = np.inf
    tolerance = FLOAT_TOLERANCE if expected.dtype == np.float32 else 0
    return int(np.count_nonzero(distance > tolerance)), float(distance.max(initial=0))


def record(outcome, case, got, cause):
    """Adds one case to its row, and describes it where it is among the first mismatches."""
    row = outcome.rows.setdefault(case.row, Row())
    row.cases += 1
    row.warped |= any(op["op"] in WARPS for op in case.ops)
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


def compare_all(args, work):
    """Draws, runs and compares every case, a chunk at a time so that memory stays small."""
    batched = knows_batches(args.feedline)
    images = load_images(args.images, work)
    outcome = Outcome()
    for row, drawn in drawn_cases(args, rows_to_draw(args.ops), images).items():
        for start in range(0, len(drawn), CASES_A_RUN):
            cases = [performed(row, *case, images) for case in drawn[start:start + CASES_A_RUN]]
            for case, (got, cause) in zip(cases, run_feedline(cases, args.feedline, batched, work)):
                record(outcome, case, got, cause)
        print(f"{row}: {outcome.rows[row]}", file=sys.stderr, flush=True)
    return outcome, len(images)


def table(outcome, args, image_count):
    """The Markdown table with a line on how it came about."""
    lines = [
        f"{args.draws} random cases a row over {image_count} images (seed {args.seed}), torchvision "
        f"{torchvision.__version__.split('+')[0]} and torch {torch.__version__.split('+')[0]} on uint8 CPU tensors.",
        "",
        "| operation | cases | values compared | different values | max difference |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, row in outcome.rows.items():
        cases = f"{row.cases} ({row.failed} failed)" if row.failed else str(row.cases)
        lines.append(f"| {name} | {cases} | {row.values:,} | {row.different:,} | {row.largest:.2g} |")
    return "\n".join(lines)


def write_between_markers(page, text):
    """Replaces what stands between `<!-- parity -->` and `<!-- /parity -->`."""
    begin, end = "<!-- parity -->", "<!-- /parity -->"
    content = page.read_text()
    if content.count(begin) != 1 or content.count(end) != 1:
        raise SystemExit(f"{page} needs the lines {begin} and {end}, once each")
    head, rest = content.split(begin)
    tail = rest.split(end)[1]
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}")


def main():
    """Compares, reports, and says by the exit status whether all was equal."""
    args = arguments()
    with tempfile.TemporaryDirectory() as work:
        outcome, image_count = compare_all(args, Path(work))
    text = table(outcome, args, image_count)
    print(text)
    for shown in outcome.failures[:SHOWN_MISMATCHES] + outcome.mismatches[:SHOWN_MISMATCHES]:
        print(f"\n{shown}")
    if args.write:
        write_between_markers(args.write, text)
    fused = products_are_fused()
    if not fused:
        print(f"NOTE: torch does not fuse products and sums here: {UNFUSED_SHARE:g} of a warp's values may differ")
    sys.exit(0 if outcome.clean(fused) else 1)


if __name__ == "__main__":
    main()
