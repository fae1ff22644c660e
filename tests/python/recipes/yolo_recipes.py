"""Ultralytics' recipes for objects, by behaviour: what is drawn beside the distributions that it documents, mosaics beside
tiles that are laid on a canvas and warped by OpenCV, and labels through the same map."""

import math
import random

import cv2
import numpy as np
import torch

from parity_ops import hsv

from .boxes import check_objects
from .entry import Entry
from .pixels import Bound

SIZE = 640
GREY = 114
# How far edges may be from those of the reference, in pixels.
PLACE_TOLERANCE = 0.02
# Of every mosaic.
LEAST_PSNR = 29
CORNER = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])


def letter_box(case, _view):
    """What validation does: the longer edge to 640, and a border on both sides."""
    ratio = SIZE / max(case.size)
    width, height = (min(math.ceil(edge * ratio), SIZE) for edge in case.size)
    ops = [{"op": "resize", "size": [height, width], "interpolation": "bilinear"}] if ratio != 1 else []
    right, below = ((SIZE - edge) / 2 for edge in (width, height))
    border = [round(right - 0.1), round(below - 0.1), round(right + 0.1), round(below + 0.1)]
    return ops + ([{"op": "pad", "padding": border, "fill": GREY}] if any(border) else [])


def training(case, _view):
    """What training draws: the mosaic's middle on its canvas, scale and shift of the canvas, colours and a flip."""
    middle = [int(random.uniform(SIZE / 2, 3 * SIZE / 2)) for _ in range(2)]
    scale = random.uniform(0.5, 1.5)
    shift = [random.uniform(0.4, 0.6) * SIZE for _ in range(2)]
    gains = np.random.uniform(-1, 1, 3) * (0.015, 0.7, 0.4)
    ops = [{"op": "mosaic", "middle": middle, "scale": scale, "shift": shift},
           {"op": "hsv", "hue": gains[0], "saturation": 1 + gains[1], "value": 1 + gains[2]}]
    return ops + ([{"op": "hflip"}] if random.random() < 0.5 else [])


def moves(line):
    """Where the plan lays each tile on the canvas: left and top."""
    found = {}
    for op in line["plan"]["label_ops"]:
        if op["images"]["len"] == 1 and isinstance(op["kind"], dict) and "Map" in op["kind"]:
            matrix = op["kind"]["Map"]
            if (matrix[0], matrix[4]) == (1, 1):
                found[op["images"]["start"]] = [matrix[2], matrix[5]]
    return found


def as_drawn(run, line):
    """A line's ops with what was drawn for the mosaic in place of the warp."""
    warp = warp_of(line)
    width, height = tile_size(run.case(line).size)
    # The sample's own tile ends at the middle, with its right lower corner.
    left, top = moves(line)[0]
    scale = float(warp[0, 0])
    drawn = {"op": "mosaic", "middle": [left + width, top + height], "scale": scale,
             "shift": [float(warp[axis, 2]) + scale * SIZE for axis in range(2)]}
    return [drawn, *(op for op in line["ops"] if op["op"] not in ("resize", "warp_perspective"))]


def warp_of(line):
    """The map from the canvas to the sample."""
    return np.array(next(op["matrix"] for op in line["ops"] if op["op"] == "warp_perspective"))


def tile_size(size):
    """Width and height of a tile: the longer edge is 640."""
    ratio = SIZE / max(size)
    return tuple(min(math.ceil(edge * ratio), SIZE) for edge in size)


def tiles(run, line):
    """The images of a mosaic, each with its size and the place on the canvas that its middle gives it."""
    middle = as_drawn(run, line)[0]["middle"]
    for number, index in enumerate([line["index"], *(partner for partner, _ in line["partners"])]):
        pixels = run.image(index).permute(1, 2, 0).numpy()
        width, height = tile_size((pixels.shape[1], pixels.shape[0]))
        yield index, pixels, (width, height), (int(middle[0]) - width * (number % 2 == 0), int(middle[1]) - height * (number < 2))


def mosaic(run, line, _picture):
    """Tiles that OpenCV resizes, on a canvas that it warps; then colours and a flip."""
    canvas = np.full((2 * SIZE, 2 * SIZE, 3), GREY, np.uint8)
    for _, pixels, size, (left, top) in tiles(run, line):
        tile = cv2.resize(pixels, size, interpolation=cv2.INTER_LINEAR)
        x, y = max(left, 0), max(top, 0)
        shown = canvas[y:top + size[1], x:left + size[0]]
        shown[:] = tile[y - top:, x - left:][:shown.shape[0], :shown.shape[1]]
    by_centres = np.linalg.inv(CORNER) @ warp_of(line) @ CORNER
    made = cv2.warpAffine(canvas, by_centres[:2], (SIZE, SIZE), flags=cv2.INTER_LINEAR, borderValue=[GREY] * 3)
    made = torch.from_numpy(made).permute(2, 0, 1)
    colours = next((op for op in line["ops"] if op["op"] == "hsv"), None)
    if colours:
        made = hsv(made, **{name: value for name, value in colours.items() if name != "op"})
    return made.flip(-1) if line["ops"][-1]["op"] == "hflip" else made


def partners(run, tests):
    """Every other sample is a partner as often as the others, in every place."""
    count = len(run.keys)
    for place in range(3):
        found = [(line["partners"][place][0] - line["index"]) % count for line in run.lines]
        tests.shares(f"partner {place + 1}", found, {step: 1 / (count - 1) for step in range(1, count)})
    if any(len(line["partners"]) != 3 for line in run.lines):
        tests.failures.append("a sample without three partners")


def expected_objects(run, line):
    """The objects of all tiles in the sample: class, box and outline, in its pixels; by corners of boxes and by ends of
    outlines, which nothing has cut off exactly."""
    warp, flipped = warp_of(line), line["ops"][-1]["op"] == "hflip"
    scale = warp[0, 0]
    for index, pixels, (width, height), place in tiles(run, line):
        ratios = width / pixels.shape[1], height / pixels.shape[0]
        for thing in run.data.objects(run.keys[index]):
            outline = clipped(np.array(thing["outline"]) * ratios + place, 2 * SIZE)
            if len(outline) < 3:
                continue
            whole = outline * scale + warp[:2, 2]
            seen = clipped(whole, SIZE)
            if len(seen) < 3:
                continue
            box, before = bounds(seen), bounds(outline)
            size, was = box[2:] - box[:2], (before[2:] - before[:2]) * scale
            area = size.prod() / (was.prod() + 1e-16)
            aspect = max(size[0] / (size[1] + 1e-16), size[1] / (size[0] + 1e-16))
            if size.min() > 2 and area > 0.01 and aspect < 100:
                if flipped:
                    box = np.array([SIZE - box[2], box[1], SIZE - box[0], box[3]])
                # What is nearly dropped may be dropped there.
                sure = size.min() > 2.01 and area > 0.011 and aspect < 99
                yield thing["class"], box, sure


def clipped(outline, size):
    """A polygon within a square (Sutherland and Hodgman's rule, edge by edge)."""
    for axis, limit, sign in ((0, 0, 1), (0, size, -1), (1, 0, 1), (1, size, -1)):
        kept = []
        for at, point in enumerate(outline):
            before = outline[at - 1]
            inside, was_inside = sign * (point[axis] - limit) >= 0, sign * (before[axis] - limit) >= 0
            if inside != was_inside:
                kept.append(before + (limit - before[axis]) / (point[axis] - before[axis]) * (point - before))
            if inside:
                kept.append(point)
        outline = np.array(kept)
        if len(kept) == 0:
            break
    return outline


def bounds(points):
    """The box around points."""
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


def check_mosaic(run, line, made):
    """What is wrong with a sample: pixels too far away in the mean, or objects in another place."""
    error = np.mean((mosaic(run, line, None).numpy().astype(float) - made.pixels) ** 2)
    psnr = 10 * math.log10(255 ** 2 / max(error, 1e-9))
    if psnr < LEAST_PSNR:
        return f"a PSNR of {psnr:.1f} dB"
    labels = run.settings["labels"]
    boxes = made.objects["boxes"] if labels["format"] == "cxcywh" else None
    found = list(zip(made.objects["classes"], boxes if boxes is not None else rotated_bounds(made)))
    for label, box, sure in expected_objects(run, line):
        if boxes is not None:
            box = np.array([box[0] + box[2], box[1] + box[3], 2 * (box[2] - box[0]), 2 * (box[3] - box[1])]) / 2 / SIZE
        near = [at for at, (other, where) in enumerate(found)
                if other == label and np.abs(where - box).max() * (SIZE if boxes is not None else 1) < PLACE_TOLERANCE]
        if near:
            found.pop(near[0])
        elif sure:
            return f"no object of class {label} at {box}"
    return f"objects that are not the reference's: {found}" if found else ""


def rotated_bounds(made):
    """Of rotated boxes the upright boxes of their outlines."""
    return [bounds(np.concatenate([np.array(part) for part in outline])) * SIZE for outline in made.objects["outlines"]]


def check_rotated(run, line, made):
    """The same, and rotated boxes beside those of OpenCV's `minAreaRect`."""
    for outline, numbers in zip(made.objects["outlines"], made.objects["rotated"]):
        points = np.concatenate([np.array(part) for part in outline]).astype(np.float32) * SIZE
        _, (width, height), angle = cv2.minAreaRect(points)
        area, own = width * height, numbers[2] * numbers[3] * SIZE ** 2
        if abs(area - own) > 2e-3 * area + 0.05:
            return f"a rotated box of {own:.2f} pixels instead of {area:.2f}"
    return check_mosaic(run, line, made)


def check_overlap(run, line, made):
    """The same, and the plane of masks beside the outlines that OpenCV fills at full size, the smallest last."""
    plane = made.planes[0]
    for number, outline in enumerate(made.objects["outlines"]):
        full = np.zeros((SIZE, SIZE), np.uint8)
        for part in outline:
            cv2.fillPoly(full, [(np.array(part) * SIZE).astype(np.int32)], 1)
        ratio = SIZE // len(plane)
        small = full.reshape(len(plane), ratio, len(plane), ratio).max(axis=(1, 3))
        away = cv2.dilate(small, np.ones((3, 3), np.uint8)) == 0
        if (plane == number + 1)[away].any():
            return f"the mask of object {number} reaches beyond its outline"
    areas = [(plane == number + 1).sum() for number in range(len(made.objects["outlines"]))]
    if plane.max() > len(areas):
        return "a mask of no object"
    return check_mosaic(run, line, made)


MOSAIC = {"draw": training, "drawn_ops": as_drawn, "mixed": mosaic, "more": partners, "data": "objects",
          "bound": Bound(levels=255, share=1, mean=1.5)}
BY_BEHAVIOUR = "Ultralytics by behaviour"
ENTRIES = [
    Entry("yolo-train", f"{BY_BEHAVIOUR}, OpenCV", labels=check_mosaic, **MOSAIC),
    Entry("yolo-segment", f"{BY_BEHAVIOUR}, OpenCV", labels=check_overlap, **MOSAIC),
    Entry("yolo-obb", f"{BY_BEHAVIOUR}, OpenCV", labels=check_rotated, **MOSAIC),
    Entry("yolo-eval", f"{BY_BEHAVIOUR}, torchvision", letter_box, labels=check_objects, data="objects"),
]
