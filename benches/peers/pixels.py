"""The part that the OpenCV and the simplejpeg peers share: from a decoded RGB image to a normalised CHW crop."""

import cv2
import numpy as np

import common

cv2.setNumThreads(0)
FACTORS = [1 / (255 * std) for std in common.IMAGENET_STD]
OFFSETS = [-mean / std for mean, std in zip(common.IMAGENET_MEAN, common.IMAGENET_STD)]


def augment_into(image, rng, out, crop=None):
    """Crops (at `crop`, where it was drawn already), resizes without antialias (OpenCV's usual INTER_LINEAR), flips and
    normalises into `out`.

    Splitting first and scaling plane by plane is the fastest of the five ways that were tried, ten times as fast as the
    usual `((image / 255 - mean) / std).transpose(2, 0, 1)`.
    """
    height, width = image.shape[:2]
    left, top, w, h = crop or common.random_resized_crop(rng, width, height)
    size = (out.shape[2], out.shape[1])
    crop = cv2.resize(image[top:top + h, left:left + w], size, interpolation=cv2.INTER_LINEAR)
    if rng.random() < 0.5:
        crop = cv2.flip(crop, 1)
    for plane, target, factor, offset in zip(cv2.split(crop), out, FACTORS, OFFSETS):
        np.multiply(plane, np.float32(factor), out=target)
        target += np.float32(offset)
