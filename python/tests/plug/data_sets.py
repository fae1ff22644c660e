#!/usr/bin/env python3
"""Makes the data sets that trainers are tried on, of photographs and of labels by rule.

    python python/tests/plug/data_sets.py FOLDER [--photos FOLDER] [--every N]

FOLDER/classes has train/ and val/ with a folder for each class, coco/ the files of COCO 2017, voc/ those of VOC 2012, and
detect/, segment/, pose/ and obb/ a data.yaml for YOLO. Needs NumPy and Pillow.
"""

import argparse
import json
import pathlib
import shutil

import numpy
from PIL import Image

PHOTOS = pathlib.Path(__file__).resolve().parents[3] / "data" / "photos"
#: COCO's ids have gaps.
CATEGORIES = {3: "car", 17: "cat", 44: "bottle"}


def make(folder, source=PHOTOS, every=1):
    """Of each `every`th photograph below `source`."""
    folder, source = pathlib.Path(folder), pathlib.Path(source)
    photos = sorted(path for path in source.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))[::every]
    classes(folder / "classes", photos, source)
    coco(folder / "coco", photos)
    voc(folder / "voc", photos)
    for task in ("detect", "segment", "pose", "obb"):
        yolo(folder / task, task, photos)


def classes(folder, photos, source, prefix=""):
    """A photograph that lies in no folder is a class of its own."""
    for part in ("train", "val"):
        for photo in photos:
            place = folder / part / (photo.stem if photo.parent == source else photo.parent.name)
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(photo, place / f"{prefix}{photo.name}")


def outlines(at, width, height):
    """One to three four-cornered objects of an image: (class, corners in pixels)."""
    for number in range(1 + at % 3):
        left, top = width * (0.1 + 0.2 * number), height * (0.15 + 0.1 * number)
        right, bottom = left + width * (0.2 + 0.08 * (at % 4)), top + height * (0.25 + 0.1 * number)
        lean = 0.05 * width
        yield (at + number) % 3, [(left + lean, top), (right, top + lean), (right - lean, bottom), (left, bottom - lean)]


def size(photo):
    with Image.open(photo) as image:
        return image.size


def box(corners):
    """Left, top, width and height."""
    across, down = zip(*corners)
    return [min(across), min(down), max(across) - min(across), max(down) - min(down)]


def coco(folder, photos):
    (folder / "annotations").mkdir(parents=True)
    for part in ("train2017", "val2017"):
        (folder / part).mkdir()
        written = {"images": [], "annotations": [], "categories": [{"id": i, "name": n} for i, n in CATEGORIES.items()]}
        for at, photo in enumerate(photos):
            # Ids fall where the files' names rise.
            name, number = f"{at:012}.jpg", 100_000 - 7 * at
            shutil.copy(photo, folder / part / name)
            width, height = size(photo)
            written["images"].append({"id": number, "file_name": name, "width": width, "height": height})
            for category, corners in outlines(at, width, height) if at % 5 else ():
                x, y, w, h = box(corners)
                written["annotations"].append(
                    {
                        "id": len(written["annotations"]) + 1,
                        "image_id": number,
                        "category_id": sorted(CATEGORIES)[category],
                        "bbox": [x, y, w, h],
                        "area": w * h,
                        "iscrowd": 0,
                        "segmentation": [[number for corner in corners for number in corner]],
                    }
                )
        (folder / "annotations" / f"instances_{part}.json").write_text(json.dumps(written))


def voc(folder, photos):
    root = folder / "VOCdevkit" / "VOC2012"
    for name in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (root / name).mkdir(parents=True)
    for at, photo in enumerate(photos):
        shutil.copy(photo, root / "JPEGImages" / f"{at:06}.jpg")
        width, height = size(photo)
        mask = numpy.zeros((height, width), numpy.uint8)
        for category, corners in outlines(at, width, height):
            x, y, w, h = (int(number) for number in box(corners))
            mask[y : y + h, x : x + w] = category + 1
            mask[y : y + 2, x : x + w] = 255
        image = Image.fromarray(mask)
        image.putpalette([level for level in range(256) for _ in range(3)])
        image.save(root / "SegmentationClass" / f"{at:06}.png")
    # Not all that lie there are in a set.
    for part, names in (("train", range(0, len(photos), 2)), ("val", range(1, len(photos), 2))):
        (root / "ImageSets" / "Segmentation" / f"{part}.txt").write_text("".join(f"{at:06}\n" for at in names))


def yolo(folder, task, photos):
    lines = ["train: images/train", "val: images/val", "names: [car, cat, bottle]"]
    if task == "pose":
        lines[-1:] = ["names: [car]", "kpt_shape: [4, 3]", "flip_idx: [1, 0, 3, 2]"]
    for part in ("train", "val"):
        for name in ("images", "labels"):
            (folder / name / part).mkdir(parents=True)
        for at, photo in enumerate(photos):
            shutil.copy(photo, folder / "images" / part / f"{at:04}.jpg")
            width, height = size(photo)
            rows = [label(task, each, width, height) for each in outlines(at, width, height)] if at % 5 else []
            (folder / "labels" / part / f"{at:04}.txt").write_text("".join(f"{row}\n" for row in rows))
    (folder / "data.yaml").write_text("\n".join(lines) + "\n")


def label(task, each, width, height):
    """A line of a label file."""
    category, corners = each
    points = [(x / width, y / height) for x, y in corners]
    if task in ("segment", "obb"):
        return " ".join([str(category), *(f"{number:.6f}" for point in points for number in point)])
    left, top, across, down = box(points)
    numbers = [left + across / 2, top + down / 2, across, down]
    if task == "pose":
        category = 0
        numbers += [number for point in points for number in (*point, 2)]
    return " ".join([str(category), *(f"{number:.6g}" for number in numbers)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--photos", default=PHOTOS)
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    make(args.folder, args.photos, args.every)
