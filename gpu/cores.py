#!/usr/bin/env python3
"""How many cores it takes to keep the GPU fed: loaders on the GPU and on the CPU with 1, 2, 4, ... cores.

"Fed" is the trainer's speed behind a loader over its speed with nothing to wait for. All loaders are measured with the
training step first, since that is what the picture shows, then alone.
"""

import os

import contenders
import kit
import trainer

CORES = (1, 2, 4, 8, 16)
BATCH_SIZE = 128


def main():
    """Writes cores.json."""
    section = kit.Section("cores", __doc__)
    all_of_them = contenders.Contenders(section, section.sized(BATCH_SIZE, 4))
    section.put("work", {"data": all_of_them.data.name, "batch_size": all_of_them.batch_size,
                         "recipe": contenders.RECIPE, "dtype": "f16", **trainer.describe()})
    seconds = section.sized(2, 0.1)
    alone = all_of_them.trainer.alone(seconds) * all_of_them.batch_size
    section.put("trainer_alone_images_per_s", section.figure(alone))
    available = len(os.sched_getaffinity(0))
    for mode in ("training", "alone"):
        for count in (count for count in section.sized(CORES, (1,)) if count <= available):
            for name in contenders.ALL:
                measured = section.attempt(f"{name}, {mode}, cores: {count}", 3 * seconds,
                                           lambda: getattr(all_of_them, mode)(name, seconds, count))
                if measured:
                    fed = measured["images_per_s"] and section.figure(measured["images_per_s"] / alone)
                    section.add("runs", {"contender": name, "mode": mode, "cores": count, "fed": fed, **measured})


if __name__ == "__main__":
    main()
