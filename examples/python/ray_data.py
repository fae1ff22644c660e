"""Augments as a step of Ray Data, for pipelines that are Ray Data's anyway and whose rows hold compressed bytes.

    pip install "ray[data]" && python examples/python/ray_data.py

For training, a loader in each worker of Ray Train (ray_train.py) is the better way: pixels never leave the process that
trains.
"""

import pathlib
import zlib

import numpy as np
import ray

import feedline

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"


class Augment:
    """A step of map_batches: compressed bytes in, pixels out. Each block has dice of its own, made of its names."""

    def __call__(self, rows):
        seed = zlib.crc32("".join(rows["key"]).encode())
        records = list(zip(rows["key"], rows["bytes"], map(int, rows["label"])))
        with feedline.Loader(
            records,
            len(records),
            seed=seed,
            num_workers=1,
            transforms=[feedline.RandomResizedCrop(32), feedline.RandomHorizontalFlip()],
            dtype="uint8",
            framework="numpy",
        ) as loader:
            (batch,) = loader
        return {"image": batch["image"], "label": batch["label"], "key": np.array(batch["key"])}


def main():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    files = sorted(PHOTOS.glob("*/*.jpg"))
    rows = [{"key": str(file), "bytes": file.read_bytes(), "label": len(file.parent.name)} for file in files]
    batches = ray.data.from_items(rows).map_batches(Augment, batch_size=16, concurrency=1)
    samples = batches.take_all()
    assert sorted(sample["key"] for sample in samples) == sorted(map(str, files))
    assert all(sample["image"].shape == (3, 32, 32) for sample in samples)
    print(f"Ray Data made {len(samples)} samples of shape {samples[0]['image'].shape}")
    ray.shutdown()


if __name__ == "__main__":
    main()
