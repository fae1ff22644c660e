"""The reference's side of objects: torchvision's functions on boxes, and outlines through the same maps."""

import cv2
import numpy as np
import torch
from torchvision import tv_tensors
from torchvision.transforms.v2 import functional as reference

# Edges are float32 numbers inside torchvision's functions.
PIXEL_TOLERANCE = 2e-3
OF_PIXELS = {"op", "interpolation", "antialias", "fill", "padding_mode", "max_size"}
MOVING = {"resized_crop": reference.resized_crop, "resize": reference.resize, "crop": reference.crop,
          "center_crop": reference.center_crop, "pad": reference.pad, "hflip": reference.horizontal_flip,
          "vflip": reference.vertical_flip}


def moved(objects, size, ops):
    """Which objects remain after the ops, where their boxes are, and width and height of the canvas."""
    boxes = [thing["box"] for thing in objects]
    boxes = tv_tensors.BoundingBoxes(torch.tensor(boxes, dtype=torch.float64).reshape(-1, 4), format="XYXY",
                                     canvas_size=(size[1], size[0]))
    alive = torch.arange(len(objects))
    for op in ops:
        arguments = {name: value for name, value in op.items() if name not in OF_PIXELS}
        if op["op"] in MOVING:
            if op["op"] == "resize" and op.get("max_size"):
                arguments["max_size"] = op["max_size"]
            boxes = MOVING[op["op"]](boxes, **arguments)
        elif op["op"] in ("keep_centers", "sanitize_bounding_boxes"):
            boxes = reference.clamp_bounding_boxes(boxes)
            valid = kept(boxes, op, arguments)
            boxes, alive = tv_tensors.wrap(boxes[valid], like=boxes), alive[valid]
    return alive.tolist(), boxes.as_subclass(torch.Tensor).numpy(), tuple(reversed(boxes.canvas_size))


def unpadded(ops):
    """The ops without those that make a sample as large as its batch."""
    return [op for op in ops if op["op"] not in ("pad", "erase")]


def kept(boxes, op, arguments):
    """Which boxes an op keeps."""
    if op["op"] == "sanitize_bounding_boxes":
        return reference.sanitize_bounding_boxes(boxes, **arguments)[1]
    plain = boxes.as_subclass(torch.Tensor)
    x, y = (plain[:, 0] + plain[:, 2]) / 2, (plain[:, 1] + plain[:, 3]) / 2
    left, top = op["left"], op["top"]
    return (x > left) & (x < left + op["width"]) & (y > top) & (y < top + op["height"])


def converted(boxes, canvas, labels):
    """Boxes in the format and unit that the recipe asks for."""
    wanted = labels.get("format", "xyxy").upper()
    boxes = reference.convert_bounding_box_format(
        torch.from_numpy(boxes), tv_tensors.BoundingBoxFormat.XYXY, tv_tensors.BoundingBoxFormat[wanted]).numpy()
    return boxes / (np.array(canvas * 2) if labels.get("unit") == "normalized" else 1)


def check_objects(run, line, made):
    """What is wrong with the objects of a sample."""
    key, labels = line["key"], run.settings.get("labels", {})
    objects, size = run.data.objects(key), run.case(line).size
    ops = unpadded(line["ops"]) if made.size else line["ops"]
    alive, boxes, canvas = moved(objects, size, ops)
    classes = [objects[at]["class"] for at in alive]
    if made.objects["classes"] != classes:
        return f"classes {made.objects['classes']} instead of {classes}"
    scale = np.array(canvas * 2) if labels.get("unit") == "normalized" else 1
    away = np.abs(made.objects["boxes"] - converted(boxes, canvas, labels)) * scale
    if not (away <= PIXEL_TOLERANCE).all():
        return f"a box is {away.max():.3g} pixels away"
    if made.planes is not None:
        return check_planes(objects, alive, size, ops, made)
    return ""


def check_planes(objects, alive, size, ops, made):
    """Masks of objects beside those of the drawn outlines, which torchvision moves as masks, by their nearest pixels."""
    for plane, at in zip(made.planes, alive):
        drawn = np.zeros((size[1], size[0]), np.uint8)
        cv2.fillPoly(drawn, [np.round(np.array(objects[at]["outline"]) * 16 - 8).astype(np.int32)], 1, shift=4)
        mask = tv_tensors.Mask(torch.from_numpy(drawn))
        for op in ops:
            arguments = {name: value for name, value in op.items() if name not in OF_PIXELS}
            if op["op"] in MOVING:
                mask = MOVING[op["op"]](mask, **arguments)
        theirs = mask.numpy().astype(bool)
        mine = plane[:theirs.shape[0], :theirs.shape[1]].astype(bool)
        if plane.sum() != mine.sum():
            return "a mask in the padding"
        # OpenCV fills gaps that are thinner than a pixel of the image.
        edge = near_outline(theirs) | near_outline(mine)
        if (mine != theirs)[~edge].any():
            return "a mask differs by more than six pixels from its outline"
    return ""


def near_outline(mask):
    """The pixels within six pixels of a mask's outline."""
    framed = np.pad(mask.astype(np.uint8), 8)
    return cv2.morphologyEx(framed, cv2.MORPH_GRADIENT, np.ones((13, 13), np.uint8))[8:-8, 8:-8].astype(bool)
