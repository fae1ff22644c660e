#!/usr/bin/env python3
"""Peer: PyTorch's DataLoader with torchvision.io's JPEG decoder and v2 transforms on uint8 tensors."""

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2

import common


class Files(Dataset):
    """Decodes to a uint8 tensor; pixels become float only after the crop. `files` is already shuffled."""

    def __init__(self, files, size, policy=()):
        self.files = files
        self.transform = v2.Compose([
            v2.RandomResizedCrop(size, antialias=True),
            v2.RandomHorizontalFlip(),
            *policy,
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(common.IMAGENET_MEAN, common.IMAGENET_STD),
        ])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.transform(decode_jpeg(read_file(self.files[index]), mode=ImageReadMode.RGB))


def batches(files, args, policy=()):
    """Batches from worker processes."""
    torch.manual_seed(common.SEED)
    files = Files(files, args.size, policy)
    for batch in DataLoader(files, batch_size=args.batch_size, num_workers=args.workers):
        yield batch.numpy()


if __name__ == "__main__":
    common.measure("torch-tvio", ["torch", "torchvision"], batches)
