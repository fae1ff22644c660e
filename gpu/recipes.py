#!/usr/bin/env python3
"""Every built-in recipe on the GPU, by feedline's decoder and kernels, against the CPU device: all bytes must be equal.

    gpu/recipes.py OUT_DIR

Images, all views, semantic masks of outlines, masks of objects, and each photograph once more as its own second image. Lies
in the kit, and is run by itself.
"""

import sys
import tempfile
import time
from pathlib import Path

import kit

BATCHES, BATCH_SIZE = 4, 8
# Of a photograph as labels: a triangle of class 0.
LABEL = "0 0.2 0.1 0.8 0.3 0.5 0.9\n"


def labelled(folder, files):
    """A data set in YOLO's layout of these files."""
    for number, file in enumerate(files):
        for part in ("images", "labels"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        (folder / "images" / f"{number}.jpg").write_bytes(Path(file).read_bytes())
        (folder / "labels" / f"{number}.txt").write_text(LABEL)
    (folder / "data.yaml").write_text(f"path: {folder}\ntrain: images\nval: images\nnames:\n  0: thing\n")
    return folder


def arrays(batch):
    """All arrays of pixels in a batch, in the host's memory."""
    found = {"image": batch["image"], "twin": batch["twin"]}
    if "masks" in batch:
        found["masks"] = batch["masks"]
    if "semantic_masks" in batch:
        found["masks"] = batch["semantic_masks"]
        found["object masks"] = batch["masks"]
    for number, view in enumerate(batch.get("views", ())):
        found[f"view {number}"] = view
    return {name: tensor.torch().cpu() for name, tensor in found.items()}


def compare(section, feedline, torch, recipe, data):
    """The number of bytes that were compared and that differ, array by array."""
    options = {"recipe": recipe, "batch_size": BATCH_SIZE, "seed": kit.SEED, "outline_masks": True, "instance_masks": "per-object", "workers": 8,
               "fields": {"twin": {"type": "image", "from": str(data / "images")}}, "framework": None}
    where = {"cpu": {"device": "cpu"}, "cuda": {"device": "cuda", "decoder": "feedline"}}
    loaders = {name: feedline.Loader(data / "data.yaml", **options, **device) for name, device in where.items()}
    row = {"recipe": recipe, "bytes": {}, "different": {}}
    for number, pair in enumerate(zip(*loaders.values())):
        if number == BATCHES:
            break
        ours, theirs = (arrays(batch) for batch in pair)
        for name, want in ours.items():
            want, got = (value.contiguous().view(torch.uint8) for value in (want, theirs[name]))
            row["bytes"][name] = row["bytes"].get(name, 0) + want.numel()
            row["different"][name] = row["different"].get(name, 0) + int((want != got).sum())
    row["is_equal"] = not any(row["different"].values()) and bool(row["bytes"])
    section.add("recipes", row)


def main():
    """Writes recipes.json."""
    section = kit.Section("recipes", __doc__)
    kit.import_packages(section)
    import feedline
    import torch

    status, listed, errors = kit.run([kit.BIN / "feedline", "recipes"], section.left_s(), kit.environment(section.simulated))
    if status != 0:
        raise SystemExit(errors)
    names = [line.split()[0] for line in listed.splitlines() if line[:1].isalpha()]
    names.remove("decode-only")  # It renders nothing.
    with tempfile.TemporaryDirectory() as folder:
        data = labelled(Path(folder), kit.files_of(kit.DATA / kit.PHOTOS)[:32])
        for name in names:
            began = time.monotonic()
            section.attempt(name, 2, lambda name=name: compare(section, feedline, torch, name, data))
            print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    rows = section.result.get("recipes", [])
    print(f"{sum(row['is_equal'] for row in rows)} of {len(names)} recipes equal; left out: {section.result['left_out']}")
    sys.exit(0 if len(rows) == len(names) and all(row["is_equal"] for row in rows) else 1)


if __name__ == "__main__":
    main()
