#!/usr/bin/env python3
"""Peer: PyTorch's DataLoader with PIL images and torchvision transforms, as in torchvision's ImageNet reference."""

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

import common


class Files(Dataset):
    """Decodes with PIL; the order of `files` is already shuffled."""

    def __init__(self, files, size):
        self.files = files
        self.transform = transforms.Compose([
            transforms.RandomResizedCrop(size),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(common.IMAGENET_MEAN, common.IMAGENET_STD),
        ])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with Image.open(self.files[index]) as image:
            return self.transform(image.convert("RGB"))


def batches(files, args):
    """Batches from worker processes."""
    torch.manual_seed(common.SEED)
    for batch in DataLoader(Files(files, args.size), batch_size=args.batch_size, num_workers=args.workers):
        yield batch.numpy()


if __name__ == "__main__":
    common.measure("torch-pil", ["torch", "torchvision", "pillow"], batches)
