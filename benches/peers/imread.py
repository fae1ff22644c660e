#!/usr/bin/env python3
"""Decodes JPEGs to RGB arrays with feedline and its peers in turn, as github.com/ternaus/imread_benchmark does.

    pip install ./python && pip install -r benches/peers/requirements.txt -r benches/peers/requirements-imread.txt
    benches/peers/turbojpeg.sh out/libturbojpeg.so
    TURBOJPEG=out/libturbojpeg.so python benches/peers/imread.py --data data/photos --write docs/benchmarks.md

The bytes of all files are in memory. Each contender decodes them one after the other, on one thread, to contiguous arrays
(height, width, 3) of uint8 that are new each time and dropped at once. A run is a fresh process: it validates every array,
decodes all files once to warm up, and then a number of times, each pass timed without Python's garbage collector. The
contenders take turns (A B C, A B C, ...), so that a slow minute of the machine hits all of them; ratios are computed within a
round, and the table gives their median. A contender that is not installed stays in the table with its cause.

With --batches feedline's `decode_batch` runs on one and on two threads instead, in batches of 64.
"""

import argparse
import gc
import importlib.metadata
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import run

FEEDLINE = "feedline"
BATCH = 64
#: Whatever a library's own threads are told by, before it is imported.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")}


def feedline():
    import feedline
    from feedline import _feedline

    if not _feedline.OPTIMISED:
        raise SystemExit("the installed package feedline is no release build: pip install ./python")
    return feedline.decode


def pillow():
    import io

    from PIL import Image

    def decode(data):
        with Image.open(io.BytesIO(data)) as image:
            return np.array(image.convert("RGB"))

    return decode


def opencv():
    import cv2

    cv2.setNumThreads(1)
    return lambda data: cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB)


def simplejpeg():
    import simplejpeg

    return lambda data: simplejpeg.decode_jpeg(data, colorspace="RGB")


def turbojpeg():
    import turbojpeg

    decoder = turbojpeg.TurboJPEG(os.environ.get("TURBOJPEG"))
    return lambda data: decoder.decode(data, pixel_format=turbojpeg.TJPF_RGB)


def kornia():
    from kornia_rs import io

    def decode(data):
        array = io.decode_image_jpeg(data)
        # Grey files stay grey.
        return array if array.shape[2] == 3 else np.repeat(array, 3, 2)

    return decode


def kornia_turbo():
    from kornia_rs import io

    return lambda data: io.decode_image_jpegturbo(data, "rgb")


def imagecodecs():
    import imagecodecs

    return lambda data: imagecodecs.jpeg8_decode(data, outcolorspace="RGB")


def torchvision():
    import torch
    from torchvision import io

    torch.set_num_threads(1)

    def decode(data):
        encoded = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        return io.decode_jpeg(encoded, io.ImageReadMode.RGB).permute(1, 2, 0).numpy()

    return decode


def torchcodec():
    import torch
    from torchcodec import decoders

    torch.set_num_threads(1)
    return lambda data: decoders.decode_jpeg(data, mode="RGB").permute(1, 2, 0).numpy()


CONTENDERS = {
    FEEDLINE: (feedline, "feedline"),
    "simplejpeg": (simplejpeg, "simplejpeg"),
    "PyTurboJPEG": (turbojpeg, "PyTurboJPEG"),
    "kornia-rs": (kornia, "kornia-rs"),
    "kornia-rs, turbo": (kornia_turbo, "kornia-rs"),
    "imagecodecs": (imagecodecs, "imagecodecs"),
    "OpenCV": (opencv, "opencv-python-headless"),
    "torchvision": (torchvision, "torchvision"),
    "torchcodec": (torchcodec, "torchcodec"),
    "Pillow": (pillow, "pillow"),
}
ONE, TWO = "decode_batch, 1 thread", "decode_batch, 2 threads"
BATCHES = {FEEDLINE: None, ONE: 1, TWO: 2}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with JPEG files at any depth")
    parser.add_argument("--name", help="name of the results; default: the folder's name")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--passes", type=int, default=5, help="times that a run decodes all files")
    parser.add_argument("--peers", help="comma-separated; default: all")
    parser.add_argument("--batches", action="store_true", help="compare decode_batch on one and on two threads")
    parser.add_argument("--out", type=Path, default=run.HERE.parent / "results")
    parser.add_argument("--write", type=Path, help="page whose part between the results markers is replaced")
    parser.add_argument("--contender", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.name = args.name or args.data.resolve().name
    return args


def files_of(folder):
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not paths:
        raise SystemExit(f"no JPEG file under {folder}")
    return [path.read_bytes() for path in paths]


def contend(args):
    """One run: a line of JSON."""
    files = files_of(args.data)
    if args.batches:
        work, package = work_of_batches(files, BATCHES[args.contender]), "feedline"
        version, equal = importlib.metadata.version(package), len(files)
    else:
        make, package = CONTENDERS[args.contender]
        version, decode = importlib.metadata.version(package), make()
        equal = validated(files, decode)

        def work():
            for data in files:
                decode(data)

    work()
    seconds, cpu_seconds = [], []
    for _ in range(args.passes):
        gc.collect()
        gc.disable()
        cpu, began = cpu_now(), time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
        cpu_seconds.append(cpu_now() - cpu)
        gc.enable()
    print(json.dumps({
        "images_per_s": len(files) / statistics.median(seconds),
        "cpu_ms": 1000 * statistics.median(cpu_seconds) / len(files),
        "equal": equal,
        "version": version,
    }), flush=True)
    # Some libraries end their threads noisily at exit; nothing is left to save.
    os._exit(0)


def work_of_batches(files, threads):
    feedline()
    from feedline import decode, decode_batch

    def work():
        for start in range(0, len(files), BATCH):
            batch = files[start : start + BATCH]
            arrays = [decode(data) for data in batch] if threads is None else decode_batch(batch, threads=threads)
            assert len(arrays) == len(batch)

    return work


def validated(files, decode):
    """Refuses a contender that does other work; returns how many arrays are libjpeg-turbo's, as Pillow has them."""
    expected, equal = pillow(), 0
    for at, data in enumerate(files):
        array = decode(data)
        if array.ndim != 3 or array.shape[2] != 3 or array.dtype != np.uint8 or not array.flags.c_contiguous:
            raise SystemExit(f"file {at} is decoded to {array.dtype} {array.shape}, not to contiguous RGB of uint8")
        equal += np.array_equal(array, expected(data))
    return equal


def cpu_now():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def run_once(args, name):
    command = [sys.executable, __file__, "--data", args.data, "--passes", args.passes, "--contender", name]
    command += ["--batches"] if args.batches else []
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, **ONE_THREAD}, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        return {"error": run.last_line(done.stderr or done.stdout)}
    return json.loads(lines[-1])


def run_rounds(args):
    names = list(BATCHES if args.batches else CONTENDERS)
    if args.peers is not None:
        names = [FEEDLINE, *(name for name in names if name in args.peers.split(",") and name != FEEDLINE)]
    rounds = []
    for number in range(args.rounds):
        rounds.append({name: run_once(args, name) for name in names})
        brief = ", ".join(f"{name} {result.get('images_per_s', 0):.0f}" for name, result in rounds[-1].items())
        print(f"round {number + 1}/{args.rounds}: {brief} images/s", file=sys.stderr, flush=True)
    return rounds


def ratios(rounds, one, other, figure):
    """How many times the figure of `other` that of `one` is, in every round in which both succeeded."""
    pairs = [(results[one], results[other]) for results in rounds]
    return [a[figure] / b[figure] for a, b in pairs if "error" not in a and "error" not in b]


def spread(values, digits):
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}..{max(values):.{digits}f}]"


def table(report):
    rounds, facts, box = report["rounds"], report["data"], report["machine"]
    lines = [
        f"`{report['name']}`: {facts['files']} files of {facts['mean_kb']} KB, {len(rounds)} rounds of {report['passes']} passes, on "
        f"{box['cores']} cores of {box['cpu']}, Python {box['python']}.",
        "",
    ]
    if report["batches"]:
        lines += ["| | images/s | CPU-ms an image | images/s, times one thread's | CPU, times one thread's |", "|---|---|---|---|---|"]
        for name in rounds[0]:
            if name == FEEDLINE:
                label, compared = "`decode` in a loop", [spread(ratios(rounds, name, ONE, figure), 2) for figure in ("images_per_s", "cpu_ms")]
            else:
                label = f"`{name.split(',')[0]}`,{name.split(',')[1]}"
                compared = [spread(ratios(rounds, name, ONE, figure), 2) if name != ONE else "" for figure in ("images_per_s", "cpu_ms")]
            lines.append(f"| {label} | {own(rounds, name)} | {compared[0]} | {compared[1]} |")
        return "\n".join(lines)
    lines += [
        "| contender | images/s | CPU-ms an image | feedline / peer, images/s | CPU, peer / feedline | pixels of libjpeg-turbo |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join(lines + [row(rounds, name, facts["files"]) for name in rounds[0]])


def own(rounds, name):
    rates = [results[name]["images_per_s"] for results in rounds]
    cpu = [results[name]["cpu_ms"] for results in rounds]
    return f"{spread(rates, 0)} | {spread(cpu, 3)}"


def row(rounds, name, files):
    errors = [results[name]["error"] for results in rounds if "error" in results[name]]
    if errors:
        return f"| {name} | failed: {run.escaped(errors[0])} | | | | |"
    first = rounds[0][name]
    if name == FEEDLINE:
        compared = " | "
    else:
        speed, cost = ratios(rounds, FEEDLINE, name, "images_per_s"), ratios(rounds, name, FEEDLINE, "cpu_ms")
        compared = f"{spread(speed, 2)} | {spread(cost, 2)}"
    equal = "all" if first["equal"] == files else f"{first['equal']} of {files}"
    return f"| {name} {first['version']} | {own(rounds, name)} | {compared} | {equal} |"


def main():
    args = arguments()
    if args.contender:
        contend(args)
    report = {"name": args.name, "passes": args.passes, "batches": args.batches, "machine": run.machine(),
              "data": run.data_facts(args.data), "rounds": run_rounds(args)}
    args.out.mkdir(parents=True, exist_ok=True)
    name = f"imread-{'batches-' if args.batches else ''}{args.name}"
    (args.out / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n")
    text = table(report)
    (args.out / f"{name}.md").write_text(text + "\n")
    if args.write:
        run.write_between_markers(args.write, name, text)
    print(text)


if __name__ == "__main__":
    main()
