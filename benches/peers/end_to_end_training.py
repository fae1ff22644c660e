#!/usr/bin/env python3
"""Trains a small network on photographs, fed in five ways, and shows what is left of the trainer's speed.

    .venv-peers/bin/python benches/peers/end_to_end_training.py --data data/photos

mobilenet_v3_small learns at 128 pixels on the CPU: from torch's DataLoader with PIL or with torchvision.io, from feedline
with its workers as they are and with worker_priority="idle", and from one batch over and over, which is the most that any
loader can reach, at torch's own number of threads and at one. In each round all contenders are processes of their own that take
turns of a few seconds and are stopped in between, with all that they have prefetched; so a machine that is slower for a
while is slower for all of them. The interpreter needs torch, torchvision and feedline.
"""

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import common
import run

SIZE = 128
CLASSES = 1000
WARM_UP_STEPS = 5
#: Steps of a turn before the clock starts: the processor's caches are somebody else's.
SETTLING_STEPS = 1
READY = "ready"
FIXED = "one batch over and over"
FEEDLINE = "feedline"
FEEDLINE_IDLE = 'feedline, worker_priority="idle"'
PIL = "DataLoader, PIL"
TORCHVISION = "DataLoader, torchvision.io"
#: What feedline has to reach of the speed with one batch, where its workers take only what a core has left.
WANTED = 0.95


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with a folder of JPEG files for each class")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2, help="processes of a DataLoader, threads of feedline")
    parser.add_argument("--rounds", type=int, default=5, help="each with fresh processes")
    parser.add_argument("--turns", type=int, default=6, help="turns of each contender in a round")
    parser.add_argument("--steps", type=int, default=8, help="measured steps of a turn")
    parser.add_argument("--threads", default="default,1", help="torch's threads, comma-separated: a number, or default")
    parser.add_argument("--timeout-s", type=float, default=600)
    parser.add_argument("--out", type=Path, help="JSON file for all figures")
    parser.add_argument("--contender", choices=CONTENDERS, help="train in this process, at the first of --threads")
    return parser.parse_args()


def steps_of_a_round(args):
    """All steps of a contender, measured or not."""
    return WARM_UP_STEPS + args.turns * (SETTLING_STEPS + args.steps)


def dataset(folder, loader, transforms):
    """torchvision's ImageFolder, with a decoder and transforms."""
    from torchvision.datasets import ImageFolder

    return ImageFolder(folder, transforms, loader=loader)


def data_loader(samples, args):
    """torch's DataLoader as training scripts make it."""
    from torch.utils.data import DataLoader

    return DataLoader(samples, args.batch_size, shuffle=True, num_workers=args.workers, drop_last=True)


def pil_batches(folder, args):
    """As torchvision's reference makes them: PIL's decoder, augmentations on PIL's images."""
    from PIL import Image
    from torchvision import transforms

    def decode(path):
        with Image.open(path) as image:
            return image.convert("RGB")

    chain = [transforms.RandomResizedCrop(SIZE), transforms.RandomHorizontalFlip(), transforms.ToTensor()]
    chain.append(transforms.Normalize(common.IMAGENET_MEAN, common.IMAGENET_STD))
    return data_loader(dataset(folder, decode, transforms.Compose(chain)), args)


def torchvision_batches(folder, args):
    """torchvision's decoder, augmentations on uint8 tensors."""
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg, read_file
    from torchvision.transforms import v2

    def decode(path):
        return decode_jpeg(read_file(path), mode=ImageReadMode.RGB)

    chain = [v2.RandomResizedCrop(SIZE, antialias=True), v2.RandomHorizontalFlip()]
    chain += [v2.ToDtype(torch.float32, scale=True), v2.Normalize(common.IMAGENET_MEAN, common.IMAGENET_STD)]
    return data_loader(dataset(folder, decode, v2.Compose(chain)), args)


def feedline_pairs(folder, args, **options):
    """feedline's Loader, in pairs of images and labels."""
    import feedline

    loader = feedline.Loader(
        folder,
        args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        drop_last=True,
        transforms=[feedline.RandomResizedCrop(SIZE), feedline.RandomHorizontalFlip()],
        normalize="imagenet",
        framework="torch",
        **options,
    )
    return Pairs(loader)


def feedline_batches(folder, args, **options):
    """feedline's batches from the second epoch on: by then it has its decode indexes."""
    pairs = feedline_pairs(folder, args, **options)
    for _ in pairs:
        pass
    return pairs


def feedline_idle_batches(folder, args):
    """The same with workers that take only what a core has left."""
    return feedline_batches(folder, args, worker_priority="idle")


class Pairs:
    """Pairs of images and labels."""

    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        return ((batch["image"], batch["label"]) for batch in self.loader)


def fixed_batches(folder, args):
    """One batch, an epoch's worth of times."""
    first = next(iter(feedline_pairs(folder, args)))
    return [first] * steps_of_a_round(args)


CONTENDERS = {
    PIL: pil_batches,
    TORCHVISION: torchvision_batches,
    FEEDLINE: feedline_batches,
    FEEDLINE_IDLE: feedline_idle_batches,
    FIXED: fixed_batches,
}


@contextlib.contextmanager
def repeated(folder, images):
    """A folder with as many links to the files as an epoch of at least `images` needs."""
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in common.SUFFIXES)
    if not files:
        raise SystemExit(f"no JPEG file under {folder}")
    common.warm_page_cache(map(str, files))
    with tempfile.TemporaryDirectory() as links:
        for number in range(-(-images // len(files))):
            for path in files:
                link = Path(links) / path.parent.name / f"{number:04}-{path.name}"
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(path.resolve())
        yield links


def train(args):
    """One run: prints its figures as JSON."""
    import torch
    import torchvision

    threads = args.threads.split(",")[0]
    if threads != "default":
        torch.set_num_threads(int(threads))
    torch.manual_seed(common.SEED)
    model = torchvision.models.mobilenet_v3_small(num_classes=CLASSES)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)

    def step(image, label):
        loss = torch.nn.functional.cross_entropy(model(image), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    batches = iter(CONTENDERS[args.contender](args.data, args))
    for _ in range(WARM_UP_STEPS):
        step(*next(batches))
    print(READY, flush=True)
    for _ in sys.stdin:
        for _ in range(SETTLING_STEPS):
            step(*next(batches))
        images, cpu, clock = 0, common.cpu_seconds(), time.perf_counter()
        for _ in range(args.steps):
            image, label = next(batches)
            step(image, label)
            images += len(label)
        seconds, cpu = time.perf_counter() - clock, common.cpu_seconds() - cpu
        turn = {"images_per_s": images / seconds, "cpu_s_per_1000": 1000 * cpu / images}
        print(json.dumps({**turn, "torch_threads": torch.get_num_threads()}), flush=True)


class Trainer:
    """A contender that trains in a process of its own while it has its turn."""

    def __init__(self, args, folder, contender, threads):
        command = [sys.executable, __file__, "--contender", contender, "--threads", threads, "--data", str(folder)]
        for name in ("batch_size", "workers", "turns", "steps"):
            command += [f"--{name.replace('_', '-')}", str(getattr(args, name))]
        self.contender, self.timeout_s = contender, args.timeout_s
        self.said = tempfile.TemporaryFile("w+")  # closed with the process
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True, start_new_session=True
        )
        self.await_line()

    def await_line(self):
        """What it prints next, after which it and its workers stand still."""
        overdue = threading.Timer(self.timeout_s, self.send, [signal.SIGKILL])
        overdue.start()
        line = self.process.stdout.readline()
        overdue.cancel()
        if line:
            self.send(signal.SIGSTOP)
            return line
        status = self.process.wait()
        self.said.seek(0)
        cause = run.last_line(self.said.read())
        raise SystemExit(f"{self.contender}: exit status {status}, {cause} (killed after {self.timeout_s:g} s)")

    def turn(self):
        """The figures of one turn."""
        self.send(signal.SIGCONT)
        print(file=self.process.stdin, flush=True)
        return json.loads(self.await_line())

    def send(self, number):
        """Sends a signal to it and to the processes that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def end(self):
        """Ends it, and all that it has started."""
        self.send(signal.SIGKILL)
        self.process.communicate()
        self.said.close()


def table(rounds):
    """Medians of all turns with the smallest and the largest, and what is left of the speed with one batch, turn by turn."""
    lines = ["| | images/s | CPU-s per 1000 | of one batch's speed | by round |", "|---|---|---|---|---|"]
    for contender in CONTENDERS:
        rates, cpu = (each_turn(rounds, contender, figure) for figure in ("images_per_s", "cpu_s_per_1000"))
        by_round = ", ".join(f"{statistics.median(shares([turns], contender)):.1%}" for turns in rounds)
        share = f"{statistics.median(shares(rounds, contender)):.1%}"
        lines.append(f"| {contender} | {run.spread(rates, 0)} | {run.spread(cpu, 2)} | {share} | {by_round} |")
    return "\n".join(lines)


def each_turn(rounds, contender, figure):
    """A figure of a contender in each turn of all rounds."""
    return [turn[contender][figure] for turns in rounds for turn in turns]


def shares(rounds, contender):
    """A contender's images per second over those with one batch, in each turn."""
    own, fixed = (each_turn(rounds, name, "images_per_s") for name in (contender, FIXED))
    return [rate / most for rate, most in zip(own, fixed, strict=True)]


def measured(args, threads):
    """All rounds at a number of torch's threads, each a list of turns: {contender: figures}."""
    rounds = []
    # An epoch is longer than what is measured, so that nobody profits from a queue that is only emptied.
    with repeated(args.data, (steps_of_a_round(args) + common.TAIL_BATCHES) * args.batch_size) as folder:
        for number in range(args.rounds):
            with contextlib.ExitStack() as running:
                trainers = []
                for contender in CONTENDERS:
                    trainers.append(Trainer(args, folder, contender, threads))
                    running.callback(trainers[-1].end)
                turns = [{each.contender: each.turn() for each in trainers} for _ in range(args.turns)]
            rounds.append(turns)
            said = ", ".join(f"{each} {statistics.median(shares([turns], each)):.1%}" for each in CONTENDERS)
            print(f"round {number + 1}/{args.rounds}, {threads} threads: {said}", file=sys.stderr, flush=True)
    return rounds


def main():
    """Measures in turns, prints the tables, and fails where feedline does not reach its share."""
    args = arguments()
    if args.contender:
        train(args)
    report, missed = {"machine": run.machine(), "steps": args.steps, "batch_size": args.batch_size}, []
    for threads in args.threads.split(","):
        rounds = report[threads] = measured(args, threads)
        print(f"torch's threads: {threads}\n\n{table(rounds)}\n")
        if statistics.median(shares(rounds, FEEDLINE_IDLE)) < WANTED:
            missed.append(threads)
    if args.out:
        args.out.write_text(json.dumps(report, indent=1) + "\n")
    if missed:
        raise SystemExit(
            f"feedline reached less than {WANTED:.0%} of the speed with one batch at {' and '.join(missed)} threads"
        )


if __name__ == "__main__":
    main()
