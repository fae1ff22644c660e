"""Goes through two epochs of a folder of images, and prints what the batches are and a checksum of their pixels.

    pip install ./python numpy
    python examples/python/epochs.py data/photos imagenet-train 42

The arguments may be left out. The examples of the same name in Rust, C and C++ print the very same.
"""

import pathlib
import sys
import zlib

import feedline

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"


def main(folder=PHOTOS, recipe="imagenet-train", seed="42"):
    loader = feedline.Loader(folder, batch_size=8, recipe=recipe, seed=int(seed), num_workers=2, framework="numpy")
    what = f"{loader.samples} images of {len(loader.classes)} classes, {len(loader)} batches an epoch"
    print(f"feedline {feedline.__version__}: {what}")
    for number in range(2):
        checksum = 0
        for batch in loader:
            images, labels = batch["image"], batch["label"]
            print(f"  {list(images.shape)}, first class {labels[0]}: {batch['key'][0]}")
            checksum = zlib.crc32(labels, zlib.crc32(images, checksum))
        print(f"epoch {number}: checksum {checksum:08x}")
    loader.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
