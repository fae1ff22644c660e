#!/usr/bin/env python3
"""Peer: tf.data with the decode-and-crop op, on a private pool of threads."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf  # noqa: E402  (the log level must be set before)

import common  # noqa: E402

MEAN = [255 * value for value in common.IMAGENET_MEAN]
STD = [255 * value for value in common.IMAGENET_STD]
WHOLE_IMAGE = [[[0.0, 0.0, 1.0, 1.0]]]


def load(path, size):
    """One file to one normalised CHW image; only the crop is decoded."""
    jpeg = tf.io.read_file(path)
    begin, extent, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(jpeg), WHOLE_IMAGE, min_object_covered=0.0, area_range=common.SCALE,
        aspect_ratio_range=common.RATIO, max_attempts=common.CROP_TRIES, use_image_if_no_bounding_boxes=True)
    window = tf.stack([begin[0], begin[1], extent[0], extent[1]])
    image = tf.io.decode_and_crop_jpeg(jpeg, window, channels=3)
    image = tf.image.resize(image, [size, size])
    image = tf.image.random_flip_left_right(image)
    return tf.transpose((image - MEAN) / STD, [2, 0, 1])


def batches(files, args):
    """Batches from tf.data's threads; tf.image.resize is bilinear without antialias, its default."""
    tf.random.set_seed(common.SEED)
    options = tf.data.Options()
    options.threading.private_threadpool_size = args.workers
    options.threading.max_intra_op_parallelism = 1
    dataset = (tf.data.Dataset.from_tensor_slices(files)
               .map(lambda path: load(path, args.size), num_parallel_calls=args.workers)
               .batch(args.batch_size)
               .prefetch(common.PREFETCHED_BATCHES)
               .with_options(options))
    yield from dataset.as_numpy_iterator()


if __name__ == "__main__":
    common.measure("tf-data", ["tensorflow-cpu"], batches)
