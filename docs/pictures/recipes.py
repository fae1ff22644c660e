#!/usr/bin/env python3
"""Draws docs/pictures/recipes/NAME.jpg: what each built-in recipe makes of some of the bundled photographs.

    pip install pillow && cargo build --release && python docs/pictures/recipes.py target/release/feedline

Recipes for labelled objects get a data set of three of the photographs, whose outlines stand here.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
PHOTOS = HERE.parents[1] / "data" / "photos"

#: Of each photograph the class and the outline of an object, in fractions of its width and height.
OUTLINES = {
    "astronaut": (0, [0.32, 0.02, 0.58, 0.02, 0.62, 0.45, 0.98, 0.62, 0.98, 0.99, 0.05, 0.99, 0.08, 0.62, 0.36, 0.42]),
    "cat": (1, [0.20, 0.30, 0.34, 0.06, 0.62, 0.12, 0.84, 0.40, 0.96, 0.98, 0.06, 0.98]),
    "rocket": (2, [0.47, 0.18, 0.52, 0.10, 0.57, 0.18, 0.58, 0.74, 0.46, 0.74]),
}


def labelled(folder):
    """A data set in YOLO's layout, its labels outlines."""
    for number, (name, (label, outline)) in enumerate(sorted(OUTLINES.items())):
        photo = sorted((PHOTOS / name).iterdir())[0]
        for part in ("images", "labels"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        shutil.copy(photo, folder / "images" / f"{number}{photo.suffix}")
        (folder / "labels" / f"{number}.txt").write_text(" ".join(map(str, [label, *outline])) + "\n")
    names = "".join(f"  {label}: {name}\n" for name, (label, _) in sorted(OUTLINES.items(), key=lambda item: item[1][0]))
    (folder / "data.yaml").write_text(f"path: {folder}\ntrain: images\nval: images\nnames:\n{names}")
    return folder / "data.yaml"


def main():
    feedline = sys.argv[1]
    listed = json.loads(subprocess.run([feedline, "recipes", "--json"], check=True, capture_output=True).stdout)
    pictures = HERE / "recipes"
    pictures.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        objects = labelled(pathlib.Path(work))
        for name in (recipe["name"] for recipe in listed):
            text = subprocess.run([feedline, "recipe", "--recipe", name], check=True, capture_output=True, text=True).stdout
            if "decode_only" in text:
                continue
            data = objects if needs_objects(name) else PHOTOS
            count = "1" if "[[views]]" in text else "3"
            subprocess.run([feedline, "preview", "--recipe", name, "--data", str(data), "--seed", "3", "--count", count,
                            "--out", str(pathlib.Path(work) / "sheet.png")], check=True)
            sheet = Image.open(pathlib.Path(work) / "sheet.png").convert("RGB")
            sheet.thumbnail((1100, 1100))
            sheet.save(pictures / f"{name}.jpg", quality=80, optimize=True)


def needs_objects(name):
    """Whether a recipe is for labelled objects."""
    return any(word in name for word in ("yolo", "detr", "detection", "mask"))


if __name__ == "__main__":
    main()
