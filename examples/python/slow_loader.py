"""A training whose loader is slow, for one reason or another: `feedline.doctor` says for which.

    python examples/python/slow_loader.py --slow decode

The images are made for it; the training step only takes time, as a GPU would. `--slow`:

* storage:    each file is waited for, as on a disk that is far away
* decode:     photographs of 12 megapixels, of which 224 x 224 pixels are used
* transforms: the pixels of each image are changed one line after another, in Python
* workers:    the DataLoader has no workers, so that the step waits for the loader and the loader for the step
* start:      epochs are short, and each starts its workers anew, which import what they need (spawn)
* handover:   workers return whole images, 13 MB each, of which the step uses 224 x 224 pixels
* nothing:    the step takes longer than the loader
"""

import argparse
import io
import tempfile
import time
from pathlib import Path

import feedline
import numpy as np
import torch
from PIL import Image

REASONS = ("storage", "decode", "transforms", "workers", "start", "handover", "nothing")
SIZE = 224


def make_images(folder: Path, count: int, size: tuple[int, int]) -> None:
    """Noise that was blown up, which compresses as photographs do."""
    noise = np.random.default_rng(0)
    (folder / "noise").mkdir()
    for number in range(count):
        small = noise.integers(0, 256, (48, 64, 3), dtype=np.uint8)
        Image.fromarray(small).resize(size, Image.Resampling.BICUBIC).save(
            folder / "noise" / f"{number}.jpg", quality=90
        )


class Images(torch.utils.data.Dataset):
    """JPEG files as tensors of 3 x 224 x 224, or whole and as arrays."""

    def __init__(self, root: Path, slow: str) -> None:
        self.root, self.slow = root, slow
        self.files = sorted(root.glob("*/*.jpg"))
        self.whole = [np.asarray(Image.open(file)) for file in self.files] if slow == "handover" else []

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int):
        if self.slow == "storage":
            time.sleep(0.05)  # what a store in another city takes
        if self.slow == "handover":
            return self.whole[index].astype(np.float32)
        image = Image.open(io.BytesIO(self.files[index].read_bytes()))
        # A crop of a whole photograph is all decoder; resizing it would not be.
        image = image.crop((0, 0, SIZE, SIZE)) if self.slow == "decode" else image.resize((SIZE, SIZE))
        pixels = np.asarray(image, np.float32) / 255
        if self.slow == "transforms":
            for row in range(SIZE):
                for channel in range(3):
                    line = pixels[row, :, channel]
                    pixels[row, :, channel] = (line - line.mean()) / (line.std() + 1e-6)
        return torch.from_numpy(pixels.transpose(2, 0, 1).copy())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--slow", choices=REASONS, default="decode")
    arguments.add_argument("--seconds", type=float, default=30)
    told = arguments.parse_args()
    slow = told.slow
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        count, size = {"decode": (16, (4000, 3000)), "handover": (24, (1200, 900))}.get(slow, (64, (320, 240)))
        make_images(root, count, size)
        loader = torch.utils.data.DataLoader(
            Images(root, slow),
            batch_size=8,
            num_workers=0 if slow == "workers" else 1,
            persistent_workers=slow not in ("workers", "start"),
            multiprocessing_context="spawn" if slow == "start" else None,
            collate_fn=list if slow == "handover" else None,
        )
        # A step that is fast unless it is what is slow; the sample of one worker takes some milliseconds.
        step_s = {"nothing": 1.0, "workers": 0.03}.get(slow, 0.005)
        # Of a data set of one's own nobody knows where its files lie.
        print(feedline.doctor(loader, lambda batch: time.sleep(step_s), data=root, seconds=told.seconds))


if __name__ == "__main__":
    main()
