"""The data that recipes are run on: the photographs, and the same with objects or masks that a seed has drawn."""

import json
import math
import random
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

CLASSES = 5
MOST_OBJECTS = 6


class Data:
    """Images, their classes, objects and masks.

    `photographs` are classified by their folders, `objects` are COCO's annotations of the same, `masks` have a semantic
    mask each.
    """

    def __init__(self, photographs, work):
        self.root = photographs
        self.work = work
        self.files = sorted(path for path in photographs.rglob("*") if path.suffix == ".jpg")
        if not self.files:
            raise SystemExit(f"{photographs} holds no JPEG file")
        self.classes = sorted({path.parent.name for path in self.files})
        self.annotations = {}

    def flags(self, kind):
        """What the command is told of a data set, which is written where it is wanted."""
        if kind == "objects":
            return ["--data", self.write_objects(), "--image-dir", self.root]
        if kind == "masks":
            return ["--data", self.root, "--mask-dir", self.write_masks()]
        return ["--data", self.root]

    def path(self, key):
        """An image's file."""
        return self.root / key

    def label(self, key):
        """The class of an image's folder."""
        return self.classes.index(Path(key).parts[0])

    def objects(self, key):
        """What is seen in an image: class, box and outline."""
        return self.annotations.get(key)

    def mask(self, key):
        """The classes of an image's pixels."""
        with Image.open((self.work / "masks" / key).with_suffix(".png")) as image:
            return np.array(image)

    def write_objects(self):
        """Outlines around random places, as stars with random corners; one image in eight shows nothing."""
        rng, images, annotations = random.Random(5), [], []
        for number, path in enumerate(self.files):
            key, (width, height) = path.relative_to(self.root).as_posix(), upright_size(path)
            images.append({"id": number, "file_name": key, "width": width, "height": height})
            self.annotations[key] = []
            for _ in range(rng.choice(range(1, MOST_OBJECTS + 1)) if number % 8 else 0):
                outline = star(rng, width, height)
                ends = np.array(outline)
                box = [*ends.min(axis=0).tolist(), *ends.max(axis=0).tolist()]
                label = rng.randrange(CLASSES)
                self.annotations[key].append({"class": label, "box": box, "outline": outline})
                annotations.append({
                    "id": len(annotations), "image_id": number, "category_id": label, "iscrowd": 0,
                    "bbox": [box[0], box[1], box[2] - box[0], box[3] - box[1]], "segmentation": [np.ravel(outline).tolist()]})
        categories = [{"id": label, "name": str(label)} for label in range(CLASSES)]
        path = self.work / "objects.json"
        path.write_text(json.dumps({"images": images, "categories": categories, "annotations": annotations}))
        return path

    def write_masks(self):
        """Rectangles of random classes, 0 and 255 among them."""
        rng = np.random.default_rng(5)
        for path in self.files:
            width, height = upright_size(path)
            mask = np.zeros((height, width), np.uint8)
            for _ in range(12):
                left, top = rng.integers(0, width), rng.integers(0, height)
                mask[top:top + rng.integers(8, 200), left:left + rng.integers(8, 200)] = rng.choice([*range(20), 255])
            target = (self.work / "masks" / path.relative_to(self.root)).with_suffix(".png")
            target.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(mask).save(target)
        return self.work / "masks"


def upright_size(path):
    """Width and height."""
    with Image.open(path) as image:
        return ImageOps.exif_transpose(image).size


def star(rng, width, height):
    """Points around a random place, all inside the image; coordinates are float32 numbers of few digits."""
    x, y = rng.uniform(0.1, 0.9) * width, rng.uniform(0.1, 0.9) * height
    most = rng.uniform(0.05, 0.4) * min(width, height)
    angles = sorted(rng.uniform(0, 2 * math.pi) for _ in range(rng.randint(3, 12)))
    points = [(x + most * rng.uniform(0.5, 1) * math.cos(angle), y + most * rng.uniform(0.5, 1) * math.sin(angle))
              for angle in angles]
    return [[round(min(max(px, 1), width - 1) * 8) / 8, round(min(max(py, 1), height - 1) * 8) / 8] for px, py in points]
