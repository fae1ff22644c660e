#!/usr/bin/env python3
"""How fast each of nvJPEG's decoders is by batch size, and what it costs the CPU."""

import kit

BATCHES = (256, 32, 512, 128)
LARGE_FILES = (32,)
# The engines come twice: with a call for each sampling, and with all samplings in one call.
RUNS = (("hardware", False), ("hardware", True), ("gpu-huffman", False), ("hybrid", False), ("auto", False))


def measure(section, name, data, run, batch, seconds):
    """One decoder with one size of batch."""
    backend, mixed = run
    arguments = ["decode-speed", "--data", data, "--backend", backend, "--seconds", seconds, "--batch-sizes", batch]
    for row in kit.rows(section, [*arguments, *(["--mixed"] if mixed else [])]):
        section.add("speed", {"data": name, "mixed": mixed, **row})


def main():
    """Writes decode.json."""
    section = kit.Section("decode", __doc__)
    names = list(kit.datasets().items())[:2]  # the main one, and the next where there is one
    parts = [(name, data, run, batch) for batch in section.sized(BATCHES, (2,))
             for name, data in names[:1] for run in RUNS]
    parts += [(name, data, run, batch) for batch in section.sized(LARGE_FILES, (2,))
              for name, data in names[1:] for run in RUNS]
    for number, (name, data, run, batch) in enumerate(parts):
        # Besides: the device is opened, and each batch is decoded twice ahead of the clock.
        seconds = section.sized(section.share_s(len(parts) - number, 2.0, 0.5, beside=2.0), 0.01)
        what = f"{name}, {run[0]}{', mixed' if run[1] else ''}, batches of {batch}"
        section.attempt(what, 2 * seconds,
                        lambda name=name, data=data, run=run, batch=batch, seconds=seconds: measure(
                            section, name, data, run, batch, seconds))


if __name__ == "__main__":
    main()
