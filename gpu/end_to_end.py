#!/usr/bin/env python3
"""From files to batches on the GPU: feedline beside torchvision's GPU decoding, alone and with a training step.

The contenders take turns (A B, A B, ...), so that a slow moment of the machine hits both; a table gives the median.
"""

import contenders
import kit
import trainer

ROUNDS = 3
BATCH_SIZE = 256
PAIR = (contenders.FEEDLINE_GPU, contenders.TORCHVISION_GPU)


def main():
    """Writes end_to_end.json."""
    section = kit.Section("end_to_end", __doc__)
    both = contenders.Contenders(section, section.sized(BATCH_SIZE, 4))
    section.put("work", {"data": both.data.name, "batch_size": both.batch_size, "recipe": contenders.RECIPE,
                         "dtype": "f16", **trainer.describe()})
    seconds = section.sized(3, 0.1)
    steps = both.trainer.alone(seconds)
    section.put("trainer_alone_images_per_s", section.figure(steps * both.batch_size))
    for number in range(section.sized(ROUNDS, 1)):
        for mode in ("alone", "training"):
            for name in PAIR:
                measured = section.attempt(f"{name}, {mode}, round {number + 1}", 2 * seconds,
                                           lambda: getattr(both, mode)(name, seconds))
                if measured:
                    section.add("runs", {"contender": name, "mode": mode, "round": number + 1, **measured})


if __name__ == "__main__":
    main()
