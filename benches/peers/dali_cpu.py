#!/usr/bin/env python3
"""Peer: NVIDIA DALI's CPU pipeline (`device_id=None`), with its decoder that decodes only the crop."""

import numpy as np
from nvidia.dali import fn, pipeline_def, types

import common


@pipeline_def
def crops(files, size):
    """DALI's ImageNet training pipeline; its resize antialiases by default, like torchvision's."""
    jpegs, _ = fn.readers.file(files=files)
    images = fn.decoders.image_random_crop(
        jpegs, device="cpu", output_type=types.RGB, random_area=list(common.SCALE),
        random_aspect_ratio=list(common.RATIO), num_attempts=common.CROP_TRIES)
    images = fn.resize(images, size=[size, size], interp_type=types.INTERP_LINEAR)
    return fn.crop_mirror_normalize(
        images, dtype=types.FLOAT, output_layout="CHW", mirror=fn.random.coin_flip(probability=0.5),
        mean=[255 * value for value in common.IMAGENET_MEAN], std=[255 * value for value in common.IMAGENET_STD])


def batches(files, args):
    """Batches from DALI's own threads; an array is valid until the next one is asked for."""
    pipeline = crops(files, args.size, batch_size=args.batch_size, num_threads=args.workers, device_id=None,
                     prefetch_queue_depth=common.PREFETCHED_BATCHES, seed=common.SEED)
    pipeline.build()
    for _ in range(0, len(files), args.batch_size):
        (images,) = pipeline.run()
        yield np.asarray(images.as_tensor())


if __name__ == "__main__":
    common.measure("dali-cpu", ["nvidia-dali-cuda130"], batches)
