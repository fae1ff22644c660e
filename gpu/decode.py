#!/usr/bin/env python3
"""How fast each decoder is by batch size, and what it costs the CPU: feedline's own first, nvJPEG's, and other libraries'.

All decode the same files, those that each of them is made for, from the host's memory to pixels in the device's. feedline's
decoder is measured with crops as a training wants them and with whole images, by decode indexes and with nothing known.
"""

import itertools
import pathlib
import tempfile
import time

import kit

BATCHES = (256, 32, 512, 128)
LARGE_FILES = (32,)
# The engines come twice: with a call for each sampling, and with all samplings in one call.
RUNS = (("hardware", False), ("hardware", True), ("gpu-huffman", False), ("hybrid", False), ("auto", False))
OTHERS = ("nvImageCodec", "torchcodec", "torchvision")
# Seconds of a row of feedline's, of which there are four for each size of batch.
OWN_S = 0.8


def own(section, name, data, batches):
    """feedline's decoder with all sizes of batches, by one process: its memory is taken once."""
    found = kit.rows(section, ["own-speed", "--data", data, "--batch-sizes", ",".join(map(str, batches)),
                               "--seconds", section.sized(OWN_S, 0.01)])
    for row in found:
        section.add("own", {"data": name, **row})


def measure(section, name, data, run, batch, seconds):
    """One of nvJPEG's decoders with one size of batch."""
    backend, mixed = run
    arguments = ["decode-speed", "--data", data, "--backend", backend, "--seconds", seconds, "--batch-sizes", batch]
    for row in kit.rows(section, [*arguments, *(["--mixed"] if mixed else [])]):
        section.add("speed", {"data": name, "mixed": mixed, **row})


def other(section, name, data, library, batch, seconds):
    """Another library with one size of batch; it is given files that are read already, where it can take such."""
    import loaders
    import trainer as training

    device = section.sized("cuda", "cpu")  # torch never meets the simulated driver
    load, decode = loaders.DECODERS[library](device)
    files = list(itertools.islice(itertools.cycle([load(file) for file in kit.files_of(data)[:batch]]), batch))

    def rounds(least_s):
        began, count = time.perf_counter(), 0
        while not count or time.perf_counter() - began < least_s:
            decode(files)
            count += 1
        training.synchronize(loaders.torch.device(device))
        return count, time.perf_counter() - began

    rounds(0)
    cpu = training.cpu_seconds()
    count, took = rounds(seconds)
    images = count * batch
    section.add("others", {"data": name, "library": library, "batch_size": batch,
                           "images_per_s": section.figure(images / took),
                           "cpu_s_per_1000": section.figure(1000 * (training.cpu_seconds() - cpu) / images)})


def common(section, name, data, scratch):
    """A folder of links to the files that every decoder is made for: all get the same ones. Says how many those are."""
    names = [row["file"] for row in kit.rows(section, ["common-files", "--data", data])]
    folder = scratch / name
    folder.mkdir()
    for number, file in enumerate(names):
        (folder / f"{number:06}.jpg").symlink_to(file)
    section.add("common", {"data": name, "files": len(kit.files_of(data)), "compared": len(names)})
    if not names:
        raise RuntimeError("no file that all decoders are made for")
    return folder


def main():
    """Writes decode.json."""
    with tempfile.TemporaryDirectory() as scratch:
        measure_all(kit.Section("decode", __doc__), pathlib.Path(scratch))


def measure_all(section, scratch):
    """Each data set with each decoder, by batch size."""
    kit.import_packages(section)
    sets = []
    for name, data in list(kit.datasets().items())[:2]:  # the main one, and the next where there is one
        folder = section.attempt(f"{name}, files for all", 1, lambda name=name, data=data: common(
            section, name, data, scratch))
        sets += [(name, folder)] if folder else []
    sizes = [section.sized(BATCHES, (2,)), *([section.sized(LARGE_FILES, (2,))] * (len(sets) - 1))]
    for (name, data), batches in zip(sets, sizes):
        section.attempt(f"{name}, feedline", 3, lambda name=name, data=data, batches=batches: own(
            section, name, data, batches))
    # The first size of each data set ahead of the others: that is what is compared.
    parts = [(name, data, run, batches[0]) for (name, data), batches in zip(sets, sizes) for run in (*RUNS, *OTHERS)]
    parts += [(name, data, run, batch) for (name, data), batches in zip(sets, sizes) for batch in batches[1:]
              for run in RUNS]
    for number, (name, data, run, batch) in enumerate(parts):
        # Besides: the device is opened, and each batch is decoded twice ahead of the clock.
        seconds = section.sized(section.share_s(len(parts) - number, 2.0, 0.5, beside=1.5), 0.01)
        action, words = (other, run) if run in OTHERS else (measure, f"{run[0]}{', mixed' if run[1] else ''}")
        section.attempt(f"{name}, {words}, batches of {batch}", 2 * seconds, lambda action=action, arguments=(
            name, data, run, batch, seconds): action(section, *arguments))


if __name__ == "__main__":
    main()
