"""The size of a picture after an op, and what a list of ops says in numbers."""

import json
import math
from collections import Counter

# What is drawn as a place is compared as a share of the room that there is for it.
PLACED = {"resized_crop", "crop"}
# What a backend may do in its own way without changing a value.
NOT_COMPARED = {"num_output_channels", "max_size"}

# Ops that leave pixels as they are.
LABELS_ONLY = {"sanitize_bounding_boxes", "keep_centers"}


def pair(size):
    """Height and width of `[height, width]`, `[edge]` or `edge`."""
    size = size if isinstance(size, (list, tuple)) else [size]
    return [*size, *size][:2] if len(size) == 1 else list(size)


def size_after(op, size):
    """Width and height of a picture of `size` after the op."""
    name, (width, height) = op["op"], size
    if name == "crop":
        return op["width"], op["height"]
    if name == "mosaic":
        return 640, 640
    if name in ("resized_crop", "center_crop", "warp_perspective"):
        height, width = pair(op["output_size"] if name == "center_crop" else op["size"])
        return width, height
    if name == "resize":
        wanted, longest = op["size"], op.get("max_size")
        if isinstance(wanted, (list, tuple)) and len(wanted) == 2:
            return wanted[1], wanted[0]
        (short,), (least, most) = pair(wanted)[:1], sorted(size)
        long = int(short * most / least)
        if longest and long > longest:
            short, long = int(longest * short / long), longest
        return (short, long) if width <= height else (long, short)
    if name == "pad":
        left, top, right, bottom = borders(op["padding"])
        return width + left + right, height + top + bottom
    turned = name == "transpose" or name == "rotate" and op.get("expand") and op["angle"] % 180 == 90
    return (height, width) if turned else (width, height)


def borders(padding):
    """Left, top, right and bottom."""
    padding = padding if isinstance(padding, (list, tuple)) else [padding]
    return [*padding * 4][:4] if len(padding) < 4 else list(padding)


def features(ops, size):
    """What the ops of one sample say, as {name: [values]}: numbers, or words where something is one of several."""
    found, seen = {}, Counter()
    names = []
    for op in ops:
        name = op["op"]
        if name in LABELS_ONLY:
            continue
        seen[name] += 1
        label = name if seen[name] == 1 else f"{name} {seen[name]}"
        names.append(name)
        for what, value in arguments_of(op, size).items():
            found.setdefault(f"{label}: {what}", []).append(value)
        if name == "sum_chains":
            add_chains(found, op, size)
        size = size_after(op, size)
    found["ops"] = [" ".join(names)]
    return found


def arguments_of(op, size):
    """The arguments of one op, one value each."""
    found, (width, height) = {}, size
    arguments = {key: value for key, value in op.items() if key not in NOT_COMPARED | {"op", "chains"}}
    if op["op"] in ("resize", "resized_crop"):
        arguments = {"interpolation": "bilinear", "antialias": True} | arguments
    if op["op"] in PLACED:
        top, left, rows, columns = (arguments.pop(key) for key in ("top", "left", "height", "width"))
        found["area"] = rows * columns / (width * height)
        found["shape"] = math.log(columns / rows)
        for name, start, length, edge in (("left", left, columns, width), ("top", top, rows, height)):
            if length != edge:
                found[name] = start / (edge - length)
    if op["op"] == "pillow_affine":
        kind, value = warp_kind(arguments.pop("data"), size)
        found |= {"warp": kind, kind: value}
    if op["op"] == "erase":
        arguments["h"], arguments["w"] = arguments["h"] / height, arguments["w"] / width
        if isinstance(arguments["v"], dict) or len(pair(arguments["v"])) > 3:
            arguments["v"] = "noise"
    for name, value in arguments.items():
        value = simplest(value)
        # What is left out has this meaning as well.
        if value is None or value is False or (name, value) == ("padding_mode", "constant"):
            continue
        if isinstance(value, (list, tuple)) and all(type(part) in (int, float) for part in value):
            found |= {f"{name} {at}": float(part) for at, part in enumerate(value)}
        else:
            is_number = type(value) in (int, float)
            found[name] = float(value) if is_number else json.dumps(value)
    return found


def warp_kind(data, size):
    """What a warp of Pillow's does, and how far."""
    a, b, c, d, e, f = data
    if (a, e) == (1, 1):
        moved = {"shear x": b, "shear y": d, "translate x": c / size[0], "translate y": f / size[1]}
        return max(moved.items(), key=lambda item: abs(item[1]))
    return "rotate", float(b)


def simplest(value):
    """One number for a list in which there is no other."""
    is_list = isinstance(value, (list, tuple)) and len(value) > 0
    return value[0] if is_list and all(part == value[0] for part in value) else value


def add_chains(found, op, size):
    """What the chains of a sum say, all chains alike."""
    for chain in op["chains"]:
        found.setdefault("chain: weight", []).append(chain["weight"])
        found.setdefault("chain: ops", []).append(" ".join(inner["op"] for inner in chain["ops"]))
        for inner in chain["ops"]:
            for what, value in arguments_of(inner, size).items():
                found.setdefault(f"chain: {inner['op']}: {what}", []).append(value)
