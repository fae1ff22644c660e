#!/usr/bin/env python3
"""Peer: Ultralytics' own training loader with its default hyper-parameters: mosaic, perspective, HSV, flip at 640.

`--data` is a folder with images/ and labels/. It is copied first, since Ultralytics leaves a cache beside the labels.
"""

import os
import shutil
import tempfile
from pathlib import Path

# Said before the import, which would ask the network.
os.environ.setdefault("YOLO_OFFLINE", "1")
os.environ.setdefault("YOLO_VERBOSE", "False")

import numpy as np
from ultralytics.cfg import get_cfg
from ultralytics.data.build import build_dataloader
from ultralytics.data.dataset import YOLODataset

import common

CLASSES = 80


def batches(_files, args):
    """One endless stream of batches from worker processes; `_files` are those of the same folder."""
    with tempfile.TemporaryDirectory() as copy:
        for part in ("images", "labels"):
            shutil.copytree(args.data / part, Path(copy) / part)
        dataset = YOLODataset(
            img_path=f"{copy}/images", imgsz=args.size, batch_size=args.batch_size, augment=True, hyp=get_cfg(),
            rect=False, cache=False, stride=32, prefix="", task="detect",
            data={"names": {number: str(number) for number in range(CLASSES)}, "nc": CLASSES, "channels": 3},
        )
        loader = build_dataloader(dataset, args.batch_size, args.workers, shuffle=True, rank=-1)
        while True:
            for batch in loader:
                if len(batch["img"]) == args.batch_size:
                    yield batch["img"].numpy()


def require_levels(batch, args):
    """The batch must be u8 pictures of the right size that show something."""
    shape = (args.batch_size, 3, args.size, args.size)
    if batch.shape != shape or batch.dtype != np.uint8:
        raise SystemExit(f"the batch is {batch.dtype} {batch.shape}, not uint8 {shape}")
    if not 20 < batch.std() < 120:
        raise SystemExit(f"the batch shows nothing: its standard deviation is {batch.std()}")


if __name__ == "__main__":
    common.measure("ultralytics", ["ultralytics", "torch"], batches, require_levels, 640)
