#!/usr/bin/env python3
"""Other loaders on the same files and crops, alone and with a ResNet-18 behind them."""

import gc
import os

import kit

CROPS = 4096
BATCH_SIZE = 256
NAMES = ("torchvision, GPU decode", "torchcodec, GPU decode", "nvImageCodec, GPU decode", "DataLoader, CPU decode")
BESIDE_S = 2.5
# Pixels of an edge in a dry run.
TINY = 32


def batches_of(name, loaders, crops, batch_size, device, workers):
    """The batches of one of them."""
    gc.collect()  # the workers of the loader before
    if name.startswith("DataLoader"):
        return loaders.torchvision_cpu(crops, batch_size, device, workers)
    return loaders.batched(loaders.DECODERS[name.split(",")[0]](device), crops, batch_size, device)


def main():
    """Writes peers.json."""
    section = kit.Section("peers", __doc__)
    kit.import_packages(section)
    import loaders
    import trainer as training

    loaders.SIZE = section.sized(loaders.SIZE, TINY)
    batch_size, device = section.sized(BATCH_SIZE, 4), section.sized("cuda", "cpu")
    workers = section.sized(len(os.sched_getaffinity(0)), 1)
    section.put("work", {"data": kit.main_dataset().name, "batch_size": batch_size, "workers": workers,
                         **training.describe()})
    crops = section.attempt("crops", 1, lambda: loaders.planned_crops(section, section.sized(CROPS, 3 * batch_size)))
    trainer = training.Trainer("resnet18", device, batch_size, loaders.SIZE)
    parts = [(mode, name) for mode in ("alone", "training") for name in NAMES] if crops else []
    for number, (mode, name) in enumerate(parts):
        def measure(mode=mode, name=name, number=number):
            seconds = section.sized(section.share_s(len(parts) - number, 4.0, 1.0, BESIDE_S), 0.1)
            batches = batches_of(name, loaders, crops, batch_size, device, workers)
            found = loaders.measure(batches, batch_size, device, seconds, trainer.step if mode == "training" else None,
                                    watched=not section.simulated)
            section.add("runs", {"contender": name, "mode": mode,
                                 **{key: section.figure(value) for key, value in found.items()}})

        section.attempt(f"{name}, {mode}", 2, measure)


if __name__ == "__main__":
    main()
