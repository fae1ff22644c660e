"""feedline's side: what a recipe draws for many samples, and the batches that it makes."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TIMEOUT_S = 3000
DTYPES = {"f32": np.float32, "u8": np.uint8}


@dataclass
class Programs:
    """The command, and the example that says what recipes make of their data."""

    feedline: Path
    samples: Path

    def recipe(self, name, flags, work):
        """A built-in recipe with flags laid over it, as a file."""
        path = work / f"{name}.toml"
        path.write_text(call([self.feedline, "recipe", "--recipe", name, *flags]))
        return path

    def plans(self, recipe, epochs):
        """What was drawn for each view of each sample, as the example prints it."""
        return [json.loads(line) for line in call([self.samples, recipe, epochs]).splitlines()]

    def batches(self, recipe, epochs, folder):
        """The batches of the first epochs; files are left in `folder`."""
        return [json.loads(line) for line in call([self.samples, recipe, epochs, folder]).splitlines()]


def call(command):
    """What a program prints."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except OSError as error:
        raise SystemExit(f"{command[0]}: {error.strerror}; build it with "
                         f"`cargo build --release --bins --example recipe_samples`") from error
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr.strip()[-800:]}")
    return done.stdout


@dataclass
class Made:
    """One sample of a batch: channels, rows, columns; its label's shares; and what else the batch says of it."""

    epoch: int
    index: int
    view: int
    pixels: np.ndarray
    labels: list
    objects: dict
    masks: np.ndarray
    planes: np.ndarray
    size: list
    padding: np.ndarray


def made_samples(batches, folder, has_overlap):
    """Every sample of the batches, view by view; `has_overlap` says that all objects of a sample share a plane."""
    for batch in batches:
        for view, written in enumerate(batch["views"]):
            rows, _, height, width = written["shape"]
            read = lambda kind, dtype: np.fromfile(folder / written[kind], dtype) if written[kind] else None
            pixels = read("pixels", DTYPES[written["dtype"]]).reshape(written["shape"])
            masks, padding = (read(kind, np.uint8) for kind in ("masks", "padding"))
            planes = plane_arrays(written["planes"], folder, rows, None if has_overlap else written["objects"])
            for row in range(rows):
                yield Made(batch["epoch"], batch["indices"][row], view, pixels[row], written["labels"][row],
                           objects_of(written["objects"], row),
                           masks.reshape(rows, height, width)[row] if masks is not None else None,
                           planes[row] if planes else None,
                           written["sizes"][row] if written["sizes"] else None,
                           padding.reshape(rows, height, width)[row] if padding is not None else None)


def plane_arrays(written, folder, rows, objects):
    """For each row its planes of masks: one an object, or one for all, where no objects are given."""
    if written is None:
        return None
    height, width, file = written
    data = np.fromfile(folder / file, np.uint8)
    if objects is None:
        return list(data.view(np.int32).reshape(rows, 1, height, width))
    planes = data.reshape(-1, height, width)
    of_row = np.array(objects["rows"])
    return [planes[of_row == row] for row in range(rows)]


def objects_of(objects, row):
    """The objects of one row: classes, boxes, rotated boxes, shares and outlines."""
    if objects is None:
        return None
    chosen = [at for at, of in enumerate(objects["rows"]) if of == row]
    numbers = len(objects["rotated"]) // max(len(objects["rows"]), 1)
    points, ends, polygons = objects["points"], objects["point_offsets"], objects["polygon_offsets"]
    outlines = [[points[ends[at]:ends[at + 1]] for at in range(polygons[one], polygons[one + 1])] for one in chosen]
    return {
        "classes": [objects["classes"][at] for at in chosen],
        "boxes": np.array([objects["boxes"][at] for at in chosen], np.float64).reshape(-1, 4),
        "rotated": [objects["rotated"][at * numbers:(at + 1) * numbers] for at in chosen],
        "shares": [objects["shares"][at] for at in chosen],
        "outlines": outlines,
    }
