"""A program as users write it, for mypy --strict; it is run by the tests as well."""

from __future__ import annotations

import pathlib
import sys

import feedline


def train(photos: pathlib.Path) -> int:
    transforms = [feedline.RandomResizedCrop(32, scale=(0.5, 1.0)), feedline.ColorJitter(0.4, hue=(-0.1, 0.1))]
    steps = 0
    with feedline.Loader(
        photos, batch_size=8, shuffle=True, transforms=transforms, normalize="imagenet", drop_last=True
    ) as loader:
        for epoch in range(2):
            loader.set_epoch(epoch)
            for batch in loader:
                names: list[str] = batch["key"]
                assert len(names) == 8
                steps += 1
        loader.load_state_dict(loader.state_dict())
    return steps + decoded(sorted(photos.glob("*/*.jpg"))[:3])


def decoded(paths: list[pathlib.Path]) -> int:
    header = feedline.Header(paths[0])
    height, width, channels = header.decoded_shape(scale=0.5)
    image = feedline.decode(paths[0].read_bytes(), (0, 0, height, width), min_size=(16, 16), framework="numpy")
    assert channels == 3 and header.sampling != "4:4:4" and image.ndim == 3
    try:
        images: list[object] = feedline.decode_batch(paths, [None, (0, 0, 8, 8), None], on_error="none")
        return len(images) - 3
    except feedline.DecodeError as error:
        print(error.key, error.index)
        raise


if __name__ == "__main__":
    print(train(pathlib.Path(sys.argv[1])))
