#!/usr/bin/env python3
"""feedline with a training step behind it, in the trainer's own process: a ResNet-18 and a ResNet-50.

"Fed" is the trainer's speed behind a loader over its speed with nothing to wait for.
"""

import tempfile
from pathlib import Path

import cores as affinity
import kit

MODELS = ("resnet18", "resnet50")
# Not the most first: what only the first loader of a process pays is not to look like a cost of many cores.
CORES = (4, 16, 1)
BATCH_SIZE = 256
# The next epoch begins when it is asked for, and short ones would measure little but that.
EPOCH_BATCHES = 20
# A loader's options by the contender's name.
CONTENDERS = {
    "feedline, own decoder": {"device": "cuda:0", "decoder": "feedline"},
    "feedline, own decoder, low priority": {"device": "cuda:0", "decoder": "feedline", "low_priority": True},
    "feedline, CPU device": {"device": "cpu"},
    "feedline, engines": {"device": "cuda:0", "decoder": "nvjpeg-hardware"},
    "feedline, cpu decoder": {"device": "cuda:0", "decoder": "cpu"},
}
BESIDE_S = 2.0
# Pixels of an edge in a dry run.
TINY = 32


def step_of(trainer):
    """What is done with a batch: pixels that are on the host go to the GPU first."""
    def step(images):
        if images is not None and images.device != trainer.device:
            images = images.to(trainer.device, non_blocking=True)
        trainer.step(images)

    return step


def main():
    """Writes training.json."""
    section = kit.Section("training", __doc__)
    kit.import_packages(section)
    import loaders
    import trainer as training

    loaders.SIZE = section.sized(loaders.SIZE, TINY)
    batch_size, data = section.sized(BATCH_SIZE, 4), kit.main_dataset()
    device = section.sized("cuda", "cpu")  # torch never meets the simulated driver
    section.put("work", {"data": data.name, "batch_size": batch_size, "recipe": "imagenet-train", "dtype": "f16",
                         **training.describe()})
    with tempfile.TemporaryDirectory() as links:
        batches = section.sized(EPOCH_BATCHES, 2)
        measure_all(section, kit.many(data, batches * batch_size, Path(links)), batch_size, device)


def measure_all(section, data, batch_size, device):
    """Every model with every contender on every number of cores."""
    import loaders
    import trainer as training

    cores = affinity.counts(section, CORES)
    parts = [(model, count, name) for model in MODELS for count in cores for name in CONTENDERS]
    made, alone = None, {}
    for number, (model, count, name) in enumerate(parts):
        def measure(model=model, count=count, name=name, number=number):
            nonlocal made
            if model not in alone:
                made = None  # the model before gives its memory back
                made = training.Trainer(model, device, batch_size, loaders.SIZE)
                alone[model] = made.alone(section.sized(2, 0.1)) * batch_size
                section.put("alone_images_per_s", {key: section.figure(rate) for key, rate in alone.items()})
            seconds = section.sized(section.share_s(len(parts) - number, 4.0, 1.0, BESIDE_S), 0.1)
            with affinity.Cores(count):
                batches = loaders.feedline_batches(data, batch_size, section.sized(count, 1), section.simulated,
                                                   **CONTENDERS[name])
                found = loaders.measure(batches, batch_size, device, seconds, step_of(made),
                                        watched=not section.simulated)
            section.add("runs", {"contender": name, "model": model, "cores": count,
                                 "fed": section.figure(found["images_per_s"] / alone[model]),
                                 **{key: section.figure(value) for key, value in found.items()}})

        section.attempt(f"{name}, {model}, {count} cores", section.sized(3, 1), measure)


if __name__ == "__main__":
    main()
