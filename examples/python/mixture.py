"""Trains on two folders of classes at once: three samples of four are from `street`, and what one calls `kitten` is a `cat`.

    pip install ./python numpy
    python examples/python/mixture.py out/mixture

A folder that is not there is made of the bundled photographs. The example of the same name in Rust prints the same.
"""

import pathlib
import shutil
import sys

import feedline

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/mixture")
if not folder.exists():
    for there, here in (("cat", "street/cat"), ("rocket", "street/rocket"), ("cat", "studio/kitten"), ("clock", "studio/clock")):
        shutil.copytree(PHOTOS / there, folder / here)
data = feedline.Mixture(
    {"street": folder / "street", "studio": folder / "studio"},
    weights=[0.75, 0.25],
    stopping_strategy="all_exhausted",
    rename={"kitten": "cat"},
)
crop = [feedline.RandomResizedCrop(224)]
loader = feedline.Loader(data, batch_size=4, shuffle=True, seed=42, transforms=crop, last_batch="drop")
print(f"{loader.samples} samples of the classes {', '.join(loader.classes)}")
for batch in loader:
    for key, label in zip(batch["key"], batch["label"].numpy()):
        print(key, loader.classes[label])
