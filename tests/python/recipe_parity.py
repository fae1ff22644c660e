#!/usr/bin/env python3
"""Compares every built-in recipe, as a whole, with the library that it comes from.

    .venv-recipes/bin/python tests/python/recipe_parity.py --recipe all
    .venv-recipes/bin/python tests/python/recipe_parity.py --recipe all --write docs/parity.md

For each recipe: the samples that feedline's loader makes, pixels and labels, beside those that the reference's own
functions make with the parameters that feedline drew; and what feedline draws for about 20,000 samples beside what the
reference draws for the same images, each number and choice by a Kolmogorov-Smirnov or chi-square test. Seeds are fixed, so
that it always ends alike. Exits with 1 where a value is further away than the recipe's entry in `recipes/` says, where
p < 0.0001 in a test, or where a recipe has no entry.
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path

import albumentations
import cv2
import PIL
import timm
import torch
import torchvision

import parity
from parity import write_between_markers
from recipes.data import Data
from recipes.draws import LEAST_P
from recipes.entry import Run, compare_draws, compare_pixels
from recipes.programs import Programs, call
from recipes import albumentations_recipe, detection_recipes, segmentation_recipes, timm_recipes, torchvision_recipes, view_recipes, yolo_recipes

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = [torchvision_recipes, timm_recipes, view_recipes, detection_recipes, segmentation_recipes, albumentations_recipe, yolo_recipes]
ENTRIES = {entry.name: entry for family in FAMILIES for entry in family.ENTRIES}
SHOWN_FAILURES = 12
HEAD = ("| recipe | reference | samples | values compared | different values | max difference | tests of draws | least p |\n"
        "|---|---|---:|---:|---:|---:|---:|---:|")


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipe", default="all", help="names, with commas between them, or all")
    parser.add_argument("--feedline", type=Path, default=ROOT / "target/release/feedline")
    parser.add_argument("--samples", type=Path, default=ROOT / "target/release/examples/recipe_samples",
                        help="the program that says what recipes make")
    parser.add_argument("--data", type=Path, default=ROOT / "data/photos", help="a folder of photographs by class")
    parser.add_argument("--plans", type=int, default=20_000, help="draws that are compared, for each recipe")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, help="page whose part between the recipes markers is replaced")
    return parser.parse_args()


def compared(entry, programs, options):
    """The recipe's line of the table, and what is wrong."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        run = Run(entry, programs, Data(options.data, Path(work)), Path(work), options)
        pixels, tests = compare_pixels(run), compare_draws(run)
    line = (f"| {entry.name} | {entry.reference} | {pixels.samples} | {pixels.values:,} | {pixels.different:,} "
            f"| {pixels.largest:.3g} | {tests.count} | {tests.least:.2g} |")
    print(line, flush=True)
    print(f"{entry.name}: {time.monotonic() - began:.0f} s; least p: {tests.least_name}", file=sys.stderr, flush=True)
    return line, pixels.within(entry.bound) + tests.failures


def said(options):
    """How the table came about."""
    versions = ", ".join(f"{module.__name__} {module.__version__.split('+')[0]}" for module in
                         (torch, torchvision, timm, albumentations, cv2, PIL))
    return [f"{options.plans:,} draws a recipe (seed {options.seed}), each test at p > {LEAST_P}; {versions}.", ""]


def main():
    """Compares, prints a table, and says by the exit status whether all was as it is to be."""
    options = arguments()
    torch.set_num_threads(2)
    if not parity.torch_fuses():
        print("NOTE: torch does not fuse the products and sums of warps here: the script forms them in its place")
        torch.Tensor.bmm = parity.fused_products
    programs = Programs(options.feedline, options.samples)
    built_in = [recipe["name"] for recipe in json.loads(call([options.feedline, "recipes", "--json"]))]
    wanted = built_in if options.recipe == "all" else options.recipe.split(",")
    lines, wrong = [], {}
    print(HEAD)
    for name in wanted:
        if name not in ENTRIES:
            wrong[name] = ["there is no entry for it in tests/python/recipes"]
            continue
        line, failures = compared(ENTRIES[name], programs, options)
        lines.append(line)
        if failures:
            wrong[name] = failures
    if options.write:
        write_between_markers(options.write, "\n".join([*said(options), HEAD, *lines]), "recipes")
    for name, failures in wrong.items():
        rest = len(failures) - SHOWN_FAILURES
        more = [f"and {rest} more"] if rest > 0 else []
        print(f"\n{name}:", *failures[:SHOWN_FAILURES], *more, sep="\n    ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
