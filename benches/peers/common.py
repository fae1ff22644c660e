"""What all peers share: the command line, the list of files, the crop's dice, and the measuring.

Every peer gets the same work: RandomResizedCrop, horizontal flip, ImageNet normalisation, f32 NCHW batches, from the
same files in the same shuffled order. The clock runs only in the steady state: the files are read once before (warm
page cache), a few batches are thrown away, and the list of files goes on past the last measured batch, so that no peer is
charged for filling its queue and none profits from draining it.
"""

import argparse
import contextlib
import importlib.metadata
import json
import math
import os
import random
import resource
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
SCALE = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)
CROP_TRIES = 10
SUFFIXES = {".jpg", ".jpeg"}
WARM_UP_BATCHES = 5
TAIL_BATCHES = 8
PREFETCHED_BATCHES = 2
IMAGES_A_TASK = 8
SEED = 1


def arguments(size):
    """The command line that every peer script has; `size` is the usual edge of its samples."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="folder; every JPEG under it is used")
    parser.add_argument("--images", type=int, required=True, help="images to measure; the folder is repeated as needed")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--size", type=int, default=size)
    return parser.parse_args()


def shuffled_files(args):
    """Paths for the warm-up, the measured part and the tail: whole shuffled epochs, one after another."""
    folder = sorted(str(path) for path in args.data.rglob("*") if path.suffix.lower() in SUFFIXES)
    if not folder:
        raise SystemExit(f"no JPEG file under {args.data}")
    batches = WARM_UP_BATCHES + math.ceil(args.images / args.batch_size) + TAIL_BATCHES
    rng = random.Random(SEED)
    files = []
    while len(files) < batches * args.batch_size:
        files += rng.sample(folder, len(folder))
    return files[:batches * args.batch_size]


def warm_page_cache(files):
    """Reads every file once, so that the disk is no part of the measurement."""
    for path in set(files):
        Path(path).read_bytes()


def random_resized_crop(rng, width, height):
    """torchvision's RandomResizedCrop parameters as (left, top, width, height), for peers that have no such op."""
    for _ in range(CROP_TRIES):
        area = width * height * rng.uniform(*SCALE)
        ratio = math.exp(rng.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        w = round(math.sqrt(area * ratio))
        h = round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return rng.randint(0, width - w), rng.randint(0, height - h), w, h
    w = min(width, round(height * RATIO[1]))
    h = min(height, round(width / RATIO[0]))
    return (width - w) // 2, (height - h) // 2, w, h


def threaded_batches(files, args, load_into):
    """Batches filled by a pool of threads, two batches ahead; `load_into(path, rng, out)` fills one CHW image.

    A task is several images, because handing over single ones costs the interpreter lock more than it gains.
    """
    def load_span(paths, seed, out):
        rng = random.Random(seed)
        for path, image in zip(paths, out):
            load_into(path, rng, image)

    def submit(pool, start):
        batch = np.empty((args.batch_size, 3, args.size, args.size), np.float32)
        paths = files[start:start + args.batch_size]
        tasks = [pool.submit(load_span, paths[i:i + IMAGES_A_TASK], start + i, batch[i:i + IMAGES_A_TASK])
                 for i in range(0, args.batch_size, IMAGES_A_TASK)]
        return batch, tasks

    with ThreadPoolExecutor(args.workers) as pool:
        queue = deque()
        for start in range(0, len(files), args.batch_size):
            queue.append(submit(pool, start))
            if len(queue) > PREFETCHED_BATCHES:
                yield finished(queue.popleft())
        while queue:
            yield finished(queue.popleft())


def finished(pending):
    """Waits for a batch's tasks and raises what went wrong in them."""
    batch, tasks = pending
    for task in tasks:
        task.result()
    return batch


def process_tree():
    """This process and its live children (workers)."""
    this = psutil.Process()
    return [this, *this.children(recursive=True)]


def cpu_seconds():
    """User and system seconds of the whole process tree: this process, ended children, and live ones."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    for child in process_tree()[1:]:
        times = child.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
    return total


def peak_rss_mb():
    """Sum of the peak resident sizes of the process tree; pages that forked workers share count in each of them."""
    kilobytes = 0
    for process in process_tree():
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                kilobytes += int(line.split()[1])
    return kilobytes / 1024


def require_normalised(batch, args):
    """A peer that yields the wrong shape, dtype or range did other work: its figures would mean nothing."""
    shape = (args.batch_size, 3, args.size, args.size)
    if batch.shape != shape or batch.dtype != np.float32:
        raise SystemExit(f"the batch is {batch.dtype} {batch.shape}, not float32 {shape}")
    low, high, deviation = float(batch.min()), float(batch.max()), float(batch.std())
    if low < -2.3 or high > 2.8 or not 0.3 < deviation < 2:
        raise SystemExit(f"the batch is not normalised: min {low}, max {high}, standard deviation {deviation}")


def measure(peer, packages, make_batches, require_plausible=require_normalised, size=224):
    """Runs a peer and prints its one JSON line. `make_batches(files, args)` is a generator of NCHW arrays."""
    args = arguments(size)
    files = shuffled_files(args)
    warm_page_cache(files)
    started = time.perf_counter()
    with contextlib.closing(make_batches(files, args)) as batches:
        first = next(batches)
        first_batch_s = time.perf_counter() - started
        require_plausible(first, args)
        for _ in range(WARM_UP_BATCHES - 1):
            next(batches)
        images = 0
        cpu_before, clock_before = cpu_seconds(), time.perf_counter()
        while images < args.images:
            images += len(next(batches))
        seconds = time.perf_counter() - clock_before
        cpu = cpu_seconds() - cpu_before
        rss = peak_rss_mb()
    print(json.dumps({
        "peer": peer,
        "images": images,
        "seconds": round(seconds, 4),
        "images_per_s": round(images / seconds, 1),
        "cpu_s_per_1000": round(1000 * cpu / images, 4),
        "peak_rss_mb": round(rss, 1),
        "first_batch_s": round(first_batch_s, 4),
        "batch_size": args.batch_size,
        "workers": args.workers,
        "size": args.size,
        "versions": {name: importlib.metadata.version(name) for name in packages},
    }), flush=True)
    # Some libraries end their threads noisily or slowly at exit; nothing is left to save.
    os._exit(0)
