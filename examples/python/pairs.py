"""Goes through pairs of images, as one trains image-to-image models: `day/7.png` has the target `night/7.png`, which is
cropped and mirrored as it is, and keeps its colours.

    pip install ./python numpy
    python examples/python/pairs.py out/pairs

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
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/pairs")
if not folder.exists():
    y, x = np.mgrid[:30, :40]
    for number in range(4):
        day = np.stack([6 * x, 8 * y, 200 + 0 * x + number], axis=2).astype(np.uint8)
        write(folder / f"day/{number}.png", day)
        write(folder / f"night/{number}.png", day // 5)
chain = [feedline.RandomCrop(24), feedline.RandomHorizontalFlip(), feedline.ColorJitter(hue=0.01)]
fields = {"night": {"type": "image", "from": str(folder / "night")}}
for batch in feedline.Loader(folder / "day", flat=True, batch_size=2, seed=42, transforms=chain, fields=fields):
    day, night = batch["image"].numpy(), batch["night"].numpy()
    means = [array.mean(dtype=np.float64) for array in (day, night)]
    print(f"{list(day.shape)} and {list(night.shape)}: means {means[0]:.3f} and {means[1]:.3f}")
