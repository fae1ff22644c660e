#!/usr/bin/env python3
"""Peer: as torch_tvio.py, with RandAugment behind the flip."""

from torchvision.transforms import InterpolationMode, v2

import common
import torch_tvio


def batches(files, args):
    """Batches from worker processes."""
    return torch_tvio.batches(files, args, [v2.RandAugment(interpolation=InterpolationMode.BILINEAR)])


if __name__ == "__main__":
    common.measure("torch-tvio-randaugment", ["torch", "torchvision"], batches)
