"""The same images in each format that feedline reads, on storage of several kinds: images a second, CPU-seconds, memory, the time to
open, and what shuffling costs.

    cargo build --release
    pip install lmdb==1.7.5 pyarrow==22.0.0
    python benches/storage.py target/release/feedline --data FOLDER --out benches/results/storage.json

FOLDER is a folder of class directories; its images are copied until there are as many as `--records` says. Storage is the command's
`--storage`: hdd, sata, nvme, s3, or files in the system's cache (`warm`). Each cell is one run of `feedline bench`; every round runs all
of them once, in turns, and the medians are told.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

STORAGE = {"hdd": 384, "sata": 2048, "nvme": 2048, "s3": 1024, "warm": 2048}
ORDERS = {"stored": ["--shuffle=false"], "window": ["--shuffle-window", "500"], "shuffled": ["--shuffle"]}
FORMATS = ("folder", "list", "tar", "tfrecord", "lmdb", "parquet", "coefficients")


def copies(data: Path, folder: Path, records: int) -> list[tuple[str, str, bytes]]:
    """Class, name and bytes of each record, in the order of their paths."""
    files = [path for path in sorted(data.rglob("*")) if path.suffix.lower() in (".jpg", ".jpeg")]
    if not files:
        sys.exit(f"{data}: no JPEGs: name a folder of class directories")
    named = sorted((files[at % len(files)].parent.name, f"{at:06}.jpg", at % len(files)) for at in range(records))
    bytes_of = [path.read_bytes() for path in files]
    for label, name, file in named:
        place = folder / label
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(bytes_of[file])
    return [(label, name, bytes_of[file]) for label, name, file in named]


def write_lmdb(path: Path, records: list[tuple[str, str, bytes]]) -> None:
    import lmdb

    size = sum(len(data) for *_, data in records)
    with lmdb.open(str(path), map_size=2 * size + (64 << 20)) as environment, environment.begin(write=True) as values:
        for number, (_, _, data) in enumerate(records):
            values.put(f"{number:08}".encode(), data)


def write_parquet(path: Path, records: list[tuple[str, str, bytes]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.mkdir()
    labels = sorted({label for label, *_ in records})
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    for shard, first in enumerate(range(0, len(records), 1000)):
        part = records[first : first + 1000]
        images = pa.array([{"bytes": data, "path": name} for _, name, data in part], kind)
        table = pa.table({"image": images, "label": [labels.index(label) for label, *_ in part]})
        pq.write_table(
            table, path / f"train-{shard:05}.parquet", row_group_size=100, compression="none", use_dictionary=False
        )


def write(feedline: str, data: Path, folder: Path, records: int) -> dict[str, Path]:
    places = {name: folder / name for name in FORMATS}
    all_records = copies(data, places["folder"], records)
    places["list"] = folder / "list.csv"
    rows = (f"{places['folder'] / label / name},{label}" for label, name, _ in all_records)
    places["list"].write_text("path,label\n" + "\n".join(rows) + "\n")
    for kind in ("tar", "tfrecord", "coefficients"):
        command = [feedline, "pack", "--data", str(places["folder"]), "--format", kind, "--out", str(places[kind])]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    write_lmdb(places["lmdb"], all_records)
    write_parquet(places["parquet"], all_records)
    return places


def run(feedline: str, place: Path, storage: str, order: str, workers: int) -> dict:
    command = [feedline, "bench", "--data", str(place), "--batch-size", "64", "--seed", "1", "--json", *ORDERS[order]]
    command += ["--images", str(STORAGE[storage]), "--workers", str(workers)]
    command += [] if storage == "warm" else ["--storage", storage]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    return {
        "images_per_s": found["steady_images_per_s"],
        "cpu_s_per_1000": found["steady_cpu_s_per_1000"],
        "memory_mb": found["peak_rss_mb"],
        "open_s": found["open_s"],
    }


def bytes_of(place: Path) -> int:
    files = [place] if place.is_file() else [path for path in place.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files)


def table(rows: list[dict]) -> str:
    """A row for each format: images a second by storage and order, then what it costs where files are in memory."""
    lines = ["| format | " + " | ".join(STORAGE) + " | CPU-s per 1000 | memory, MB | opening, ms | size, MB |"]
    lines.append("|-" * (len(STORAGE) + 5) + "|")
    by = {(row["format"], row["storage"], row["order"]): row for row in rows}
    for name in FORMATS:
        cells = []
        for storage in STORAGE:
            rates = [by[name, storage, order]["images_per_s"] for order in ORDERS if (name, storage, order) in by]
            cells.append(" / ".join(f"{rate:.0f}" for rate in rates))
        warm = by[name, "warm", "shuffled"]
        cells += [f"{warm['cpu_s_per_1000']:.3f}", f"{warm['memory_mb']:.0f}", f"{1000 * warm['open_s']:.1f}"]
        cells.append(f"{warm['bytes'] / 1e6:.0f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("feedline")
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--records", type=int, default=5000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--workers", type=int, default=8)
    arguments.add_argument("--out", type=Path)
    told = arguments.parse_args()
    # In memory if there is room, so that this machine's own disk is not what is measured.
    within = "/dev/shm" if shutil.disk_usage("/dev/shm").free > told.records * 4_000_000 else None
    with tempfile.TemporaryDirectory(dir=within) as folder:
        places = write(told.feedline, told.data, Path(folder), told.records)
        keys = [(name, storage, order) for name in FORMATS for storage in STORAGE for order in ORDERS]
        found = {key: [] for key in keys}
        for round_ in range(told.rounds):
            for name, storage, order in keys:
                found[name, storage, order].append(run(told.feedline, places[name], storage, order, told.workers))
            print(f"round {round_ + 1} of {told.rounds}", file=sys.stderr)
        sizes = {name: bytes_of(place) for name, place in places.items() if name != "list"}
        sizes["list"] = sizes["folder"]
    rows = []
    for (name, storage, order), runs in found.items():
        medians = {what: statistics.median(run_[what] for run_ in runs) for what in runs[0]}
        rows.append({"format": name, "storage": storage, "order": order, "bytes": sizes[name], **medians, "runs": runs})
    print(table(rows))
    if told.out:
        facts = {"cores": os.cpu_count(), "records": told.records, "workers": told.workers, "rounds": told.rounds}
        told.out.write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
