"""Goes through images and their semantic masks, as one trains segmentation: `images/7.png` has the mask `masks/7.png`.

    pip install ./python numpy
    python examples/python/segmentation.py out/segmentation

A folder that is not there is drawn. The example of the same name in Rust prints the same.
"""

import pathlib
import struct
import sys
import zlib

import feedline
import numpy as np


def write(path, pixels):
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    height, width = pixels.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/segmentation")
if not folder.exists():
    y, x = np.mgrid[:90, :120]
    for number in range(6):
        classes = ((x - 60) ** 2 + (y - 45) ** 2 < (10 + 5 * number) ** 2) * np.uint8(1 + number % 3)
        write(folder / f"masks/{number}.png", classes)
        write(folder / f"images/{number}.png", np.stack([80 * classes, 2 * x, 2 * y], axis=2).astype(np.uint8))
chain = [feedline.RandomResize(48, 97), feedline.RandomCrop(64, pad_if_needed=True), feedline.RandomHorizontalFlip()]
options = {"flat": True, "mask_dir": folder / "masks", "ignore_index": 255}
for batch in feedline.Loader(folder / "images", batch_size=4, shuffle=True, seed=42, transforms=chain, **options):
    classes, pixels = np.unique(batch["masks"].numpy(), return_counts=True)
    print(list(batch["image"].shape), "pixels by class:", dict(zip(classes.tolist(), pixels.tolist())))
