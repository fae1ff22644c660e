#!/usr/bin/env python3
"""What the machine is, how fast feedline starts on it, and what the driver's calls cost. All else depends on it."""

import time

import constants
import kit
import machine


def first_start(section):
    """Seconds from nothing to the end of a first small batch: opening the device, nvJPEG and translating kernels."""
    command = [kit.BIN / "feedline", "bench", "--data", kit.DATA / kit.PHOTOS, "--device", "cuda:0", "--batch-size", 4,
               "--images", 4, "--json", *(["--simulated"] if section.simulated else [])]
    for cached in (False, True):
        environment = {**kit.environment(section.simulated), "CUDA_CACHE_DISABLE": str(int(not cached))}
        # What is to be found translated has to be translated once.
        for _ in range(2 if cached else 1):
            began = time.perf_counter()
            status, output, errors = kit.run(command, section.left_s(), environment)
            if status != 0:
                raise RuntimeError(f"feedline bench: exit status {status}: {kit.tail(errors + output)}")
        section.add("first_batch", {"kernels_cached": cached, "s": section.figure(time.perf_counter() - began)})


def main():
    """Writes start.json."""
    section = kit.Section("start", __doc__)
    machine.describe(section)
    section.attempt("first batch", 2, lambda: first_start(section))
    constants.measure(section)


if __name__ == "__main__":
    main()
