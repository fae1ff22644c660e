#!/usr/bin/env python3
"""Measures what caches cost and save where several ranks of one machine read the same data.

    benches/caches.py FEEDLINE FOLDER [--copies 50] [--ranks 4] [--recipe imagenet-train]

FEEDLINE is the command, FOLDER holds images; each of them is copied as often as is said, so that there are enough files. Every rank is
a `feedline bench` of its own that shows each file about as often as it is asked to. While they run, the memory that is theirs
alone (Pss, in which memory that several share counts in parts) is read from /proc, and the sizes of the caches' files. The figures
are printed as a table in Markdown. Linux only.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ENDINGS = {".jpg", ".jpeg", ".png", ".webp"}

#: What is compared: what it is called, the options, and whether the file of the run before is found again.
CACHES = (
    ("none", [], False),
    ("`byte_cache`", ["--byte-cache", "64G"], False),
    ("`cache = \"ram\"`", ["--cache", "ram"], False),
    ("`cache = \"disk\"`", ["--cache", "disk"], False),
    ("the same, the next run", ["--cache", "disk"], True),
    ("`cache = \"disk\"`, decoded", ["--cache", "disk", "--cache-form", "decoded"], False),
    ("the same, the next run", ["--cache", "disk", "--cache-form", "decoded"], True),
)


def copies(folder, times, to):
    """Copies all images of a folder so often, each as a file of its own with an old date."""
    images = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in ENDINGS)
    for number in range(times):
        for at, image in enumerate(images):
            place = Path(to) / "data" / image.parent.name / f"{at:04}-{number:04}{image.suffix}"
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(image, place)
            os.utime(place, (1e9, 1e9))
    return len(images) * times


def pss(process):
    """Bytes of memory that are a process's own, those that it shares in parts."""
    try:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def measured(args, folder, files, options):
    """Runs all ranks, and returns their reports, the most memory that they had together, and the size of the cache's file."""
    file = Path("/dev/shm" if "ram" in options else folder) / f"feedline-bench-{os.getpid()}"
    named = ["--cache-file", file, "--cache-limit", "64G"] if "--cache" in options else []
    command = [args.feedline, "bench", "--data", folder / "data", "--recipe", args.recipe, "--images", files * args.epochs]
    command += ["--shuffle", "--workers", args.workers, "--device", "cpu", "--json", *options, *named, "--world-size", args.ranks]
    ranks = []
    for rank in range(args.ranks):
        words = [str(word) for word in [*command, "--rank", rank]]
        ranks.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
    most, size = 0, 0
    while any(rank.poll() is None for rank in ranks):
        most = max(most, sum(pss(rank) for rank in ranks))
        size = max(size, file.stat().st_blocks * 512 if file.exists() else 0)
        time.sleep(0.05)
    if any(rank.returncode for rank in ranks) or file.exists() and "ram" in options:
        sys.exit(f"a rank failed, or left {file}")
    return [json.loads(rank.stdout.read()) for rank in ranks], most, size, file


def main():
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("feedline", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--copies", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=16, help="how often each file is shown, over all ranks")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--recipe", default="imagenet-train")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        files = copies(args.folder, args.copies, folder)
        held = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        print(f"{files} files, {held / 1e6:.0f} MB; {args.ranks} ranks of {args.workers} workers; each file shown {args.epochs} times\n")
        print("| cache | memory of all ranks | the cache's file | records read from their source | CPU-s of 1000 samples | saved, as told |")
        print("|-|-|-|-|-|-|")
        file = None
        for name, options, is_next in CACHES:
            if file and not is_next:
                file.unlink(missing_ok=True)
            reports, most, size, file = measured(args, folder, files, options)
            io = [report["io"] for report in reports]
            read = sum(report["stats"]["source"]["count"] for report in reports)
            hits = sum(one["memory_hits"] + one["shared_hits"] for one in io)
            saved = sum(one["shared_saved_ms"] for one in io) / 1e3
            cpu = sum(report["cpu_s_per_1000"] for report in reports) / len(reports)
            row = [name, f"{most / 1e6:.0f} MB", f"{size / 1e6:.0f} MB", f"{read - hits} of {read}", f"{cpu:.2f}", f"{saved:.1f} s"]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
