"""What every recipe's entry has in common: the pixels of one epoch, and the draws of many."""

import random
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy as np
import torch

from .draws import Tests, seed_of
from .pixels import Bound, Compared, Photographs, performed, with_normalize
from .programs import made_samples
from .sizes import features

NORMALIZE = {"imagenet": {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}}


@dataclass
class Entry:
    """A recipe, and what it is compared with."""

    name: str
    reference: str
    # draw(case, view): the ops that the reference draws for one image.
    draw: Callable
    # mixed(run, line, picture): the reference's sample, where more than one image makes it; picture(index, ops) is one of
    # them.
    mixed: Callable = None
    # Whether all pixels are the reference's, or how near they are.
    bound: Bound = field(default_factory=Bound)
    # The reference's functions, by the names of ops.
    functions: dict = None
    # Which of the data sets.
    data: str = "photographs"
    # more(run, tests): tests of draws beyond those of ops.
    more: Callable = None
    # drawn_ops(run, line): the ops that were drawn, in the words of `draw`, where those of the line are others.
    drawn_ops: Callable = None
    # labels(run, line, made): what is wrong with a sample's labels, in words.
    labels: Callable = None
    # What views are called; those of one name are drawn alike.
    views: list = field(default_factory=lambda: [""])
    # Flags for the command.
    flags: list = field(default_factory=list)
    epochs: int = 1
    # Whether there are pixels.
    renders: bool = True
    # Draws that are compared, at most: fewer where the reference is slow.
    plans: int = 1_000_000


@dataclass
class Case:
    """One image that the reference draws for."""

    key: str
    size: tuple
    objects: list
    # mask(): the classes of its pixels.
    mask: Callable


class Run:
    """One recipe's programs, data and plans."""

    def __init__(self, entry, programs, data, work, options):
        self.entry, self.programs, self.data, self.work, self.options = entry, programs, data, work, options
        self.photographs = Photographs()
        self.recipe = programs.recipe(entry.name, [
            *data.flags(entry.data), *entry.flags, "--seed", options.seed, "--batch-size", 2, "--shuffle=true"], work)
        self.settings = tomllib.loads(self.recipe.read_text())
        per_epoch = len(data.files) * len(entry.views)
        self.lines = programs.plans(self.recipe, max(entry.epochs, -(-min(options.plans, entry.plans) // per_epoch)))
        self.keys = {line["index"]: line["key"] for line in self.lines}
        self.by_place = {(line["epoch"], line["index"], line["view"]): line for line in self.lines}

    def normalize(self):
        """Mean and standard deviation of the output, or nothing for levels."""
        if self.settings.get("output", {}).get("dtype") == "u8":
            return None
        said = self.settings.get("normalize", {})
        return NORMALIZE.get(said.get("preset")) or {"mean": said["mean"], "std": said["std"]}

    def image(self, index):
        """An upright image."""
        return self.photographs.tensor(self.data.path(self.keys[index]))

    def case(self, line):
        """What the reference is told of a line's image."""
        key = line["key"]
        size = self.photographs.size(self.data.path(key))
        return Case(key, size, self.data.objects(key), lambda: self.data.mask(key))


def compare_order(run):
    """Of a recipe that renders nothing: every sample comes once."""
    compared = Compared()
    batches = run.programs.batches(run.recipe, run.entry.epochs, run.work)
    seen = [index for batch in batches for index in batch["indices"]]
    compared.samples = len(seen)
    if sorted(seen) != sorted(run.keys):
        compared.failures.append("not every sample comes once")
    return compared


def compare_pixels(run):
    """Every sample of the first epochs beside the reference's."""
    if not run.entry.renders:
        return compare_order(run)
    entry, compared, normalize = run.entry, Compared(), run.normalize()
    folder = run.work / entry.name
    folder.mkdir()
    functions = {"functions": entry.functions} if entry.functions else {}

    def picture(index, ops):
        return performed(run.image(index), with_normalize(ops, normalize), **functions)

    has_overlap = run.settings.get("labels", {}).get("instance_masks") == "overlap"
    for made in made_samples(run.programs.batches(run.recipe, entry.epochs, folder), folder, has_overlap):
        line = run.by_place[made.epoch, made.index, made.view]
        name = f"epoch {made.epoch}, {line['key']}, view {made.view}"
        expected = entry.mixed(run, line, picture) if entry.mixed else picture(line["index"], line["ops"])
        std = normalize["std"] if normalize else None
        compared.add(name, expected.numpy(), made.pixels, std, integers=normalize is None)
        if made.size is not None and (wrong := wrong_padding(made)):
            compared.failures.append(f"{name}: {wrong}")
        if wrong := entry.labels and entry.labels(run, line, made):
            compared.failures.append(f"{name}: {wrong}")
    for file in folder.iterdir():
        file.unlink()
    return compared


def wrong_padding(made):
    """What is wrong with the border that makes a sample as large as its batch: it has to be 0, and marked."""
    height, width = made.size
    outside = np.ones(made.pixels.shape[1:], bool)
    outside[:height, :width] = False
    is_wrong = (made.padding.astype(bool) != outside).any() or made.pixels[:, outside].any()
    return "padding that is not 0, or not marked" if is_wrong else ""


def compare_draws(run):
    """What was drawn beside what the reference draws for the same images."""
    entry, tests = run.entry, Tests()
    seed = seed_of(entry.name, run.options.seed)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    ours, theirs = {}, {}
    for line in run.lines:
        view, case = entry.views[line["view"]], run.case(line)
        ours.setdefault(view, []).append(features(entry.drawn_ops(run, line) if entry.drawn_ops else line["ops"], case.size))
        theirs.setdefault(view, []).append(features(entry.draw(case, view), case.size))
    for view in ours:
        tests.compare(ours[view], theirs[view], prefix=f"{view}, " if view else "")
    for view in dict.fromkeys(entry.views):
        samples = [sample for sample in ours[view]]
        follow(tests, samples, f"{view}, " if view else "")
    if entry.more:
        entry.more(run, tests)
    return tests


def follow(tests, samples, prefix):
    """Whether a sample's crop and flip have nothing to do with the one before."""
    for name in ("resized_crop: area", "resized_crop: left", "crop: left"):
        values = [sample.get(name, [None])[0] for sample in samples]
        pairs = [pair for pair in zip(values, values[1:]) if None not in pair]
        if pairs:
            tests.independent(f"{prefix}{name}, from one to the next", *zip(*pairs))
    flips = [float("hflip" in sample["ops"][0]) for sample in samples]
    tests.independent(f"{prefix}hflip, from one to the next", flips[:-1], flips[1:])
