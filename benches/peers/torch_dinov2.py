#!/usr/bin/env python3
"""Peer: DINOv2's own augmentation in PyTorch's DataLoader. `DINOV2` names a checkout of its code, which is not installed."""

import os
import sys

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

import common

if "DINOV2" not in os.environ:
    raise SystemExit("DINOV2 is not set: give the folder of a checkout of github.com/facebookresearch/dinov2")
sys.path.insert(0, os.environ["DINOV2"])
from dinov2.data.augmentations import DataAugmentationDINO  # noqa: E402

GLOBAL_CROPS_SCALE = (0.32, 1.0)
LOCAL_CROPS_SCALE = (0.05, 0.32)
LOCAL_CROPS = 8


class Files(Dataset):
    """Decodes with PIL, as its data sets do; the order of `files` is already shuffled."""

    def __init__(self, files):
        self.files = files
        self.augment = DataAugmentationDINO(GLOBAL_CROPS_SCALE, LOCAL_CROPS_SCALE, LOCAL_CROPS)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with Image.open(self.files[index]) as image:
            views = self.augment(image.convert("RGB"))
        return views["global_crops"], views["local_crops"]


def batches(files, args):
    """Batches from worker processes: of the ten tensors the first, of which all have as many rows."""
    torch.manual_seed(common.SEED)
    for crops, _ in DataLoader(Files(files), batch_size=args.batch_size, num_workers=args.workers):
        yield crops[0].numpy()


if __name__ == "__main__":
    common.measure("torch-dinov2", ["torch", "torchvision", "pillow"], batches)
