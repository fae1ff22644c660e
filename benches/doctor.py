"""Whether `feedline doctor` predicts what `feedline bench` measures, in 20 configurations.

    cargo build --release && python3 benches/doctor.py target/release/feedline --out results.json

Kinds of data (folders of small and of large JPEGs, PNG, WebP, tar shards, files of coefficients), recipes, one to 32 workers,
storage that is slowed down, and trainers that only take time. They are made of the bundled photographs, and lie in memory
(/dev/shm): what is predicted is a first epoch, what is measured has read each file before. Each configuration is
predicted, measured for half as long and predicted again, so that a machine that was busy meanwhile shows as a spread of the two
predictions. A row has their mean, and the interval that holds both of theirs.
Needs nothing but the command, and Pillow for PNG and WebP.
"""

import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PHOTOS = Path(__file__).parent.parent / "data" / "photos"

# Data, what else both commands are told.
CONFIGURATIONS = [
    ("photographs", "--workers 1"),
    ("photographs", "--workers 2"),
    ("photographs", "--workers 2 --recipe imagenet-eval"),
    ("photographs", "--workers 2 --decode-scale fast"),
    ("photographs", "--workers 2 --recipe yolo-eval"),
    ("small", "--workers 1"),
    ("small", "--workers 2"),
    ("small", "--workers 2 --recipe imagenet-randaugment"),
    ("png", "--workers 2"),
    ("webp", "--workers 2"),
    ("tar", "--workers 2 --recipe imagenet-eval"),
    ("coefficients", "--workers 2"),
    ("small", "--workers 2 --storage hdd"),
    ("small", "--workers 8 --storage hdd"),
    ("small", "--workers 2 --storage s3"),
    ("small", "--workers 32 --storage s3"),
    ("small", "--workers 2 --storage 20"),
    ("photographs", "--workers 4 --storage 100"),
    ("small", "--workers 2 --step-ms 250"),
    ("photographs", "--workers 2 --storage sata --step-ms 20"),
]


def make_data(feedline: str, folder: Path) -> dict[str, Path]:
    """Each kind of data by its name."""
    from PIL import Image

    data = {"photographs": Path(shutil.copytree(PHOTOS, folder / "photographs"))}
    shards = folder / "tar"
    pack = [feedline, "pack", "--data", str(PHOTOS)]
    subprocess.run([*pack, "--resize", "400", "--out", str(shards)], check=True, stdout=subprocess.DEVNULL)
    data["tar"] = shards
    subprocess.run(
        [*pack, "--format", "coefficients", "--out", str(folder / "coefficients")],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    data["coefficients"] = folder / "coefficients"
    for shard in sorted(shards.glob("*.tar")):
        with tarfile.open(shard) as members:
            for member in members:
                if member.name.endswith((".jpg", ".jpeg")):
                    bytes_ = members.extractfile(member).read()
                    name = Path(member.name).stem.replace("/", "_")
                    for kind, form, how in (
                        ("small", None, {}),
                        ("png", "PNG", {}),
                        ("webp", "WEBP", {"quality": 85}),
                    ):
                        place = folder / kind / "all"
                        place.mkdir(parents=True, exist_ok=True)
                        if form is None:
                            (place / f"{name}.jpg").write_bytes(bytes_)
                        else:
                            Image.open(io.BytesIO(bytes_)).convert("RGB").save(place / f"{name}.{kind}", form, **how)
                        data[kind] = folder / kind
    return data


def run(command: list[str]) -> dict:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def measure(feedline: str, data: Path, told: list[str], seconds: float) -> dict:
    common = ["--data", str(data), "--batch-size", "32", *told, "--json"]
    predict = [feedline, "doctor", *common, "--seconds", str(seconds), "--no-alternatives"]
    before = run(predict)
    # As many images as take about half as long.
    images = max(int(before["together"]["per_s"] * seconds / 2), 128)
    measured = run([feedline, "bench", *common, "--images", str(images)])
    after = run(predict)
    got = measured["steady_images_per_s"]
    predictions = [found["together"]["per_s"] for found in (before, after)]
    predicted = sum(predictions) / 2
    return {
        "predicted": predicted,
        "predictions": predictions,
        "low": min(found["together"]["low"] for found in (before, after)),
        "high": max(found["together"]["high"] for found in (before, after)),
        "verdict": before["verdict"],
        "measured": got,
        "limiting_stage": measured["limiting_stage"],
        "off_percent": 100 * (predicted / got - 1),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("feedline")
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--seconds", type=float, default=12)
    arguments.add_argument("--only", type=int, nargs="*", help="configurations by their numbers, from 1")
    told = arguments.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        data = make_data(told.feedline, Path(folder))
        for number, (kind, words) in enumerate(CONFIGURATIONS, 1):
            if told.only and number not in told.only:
                continue
            row = {"data": kind, "told": words, **measure(told.feedline, data[kind], words.split(), told.seconds)}
            rows.append(row)
            print(
                f"| {number} | {kind} | `{words}` | {row['predicted']:.0f} ({row['low']:.0f} to {row['high']:.0f}) "
                f"| {row['measured']:.0f} | {row['off_percent']:+.0f} % | {row['verdict']} |",
                flush=True,
            )
    worst = max(abs(row["off_percent"]) for row in rows)
    middle = statistics.median_low(abs(row["off_percent"]) for row in rows)
    inside = sum(row["low"] <= row["measured"] <= row["high"] for row in rows)
    print(f"{len(rows)} configurations; the farthest is off by {worst:.0f} %, half of them by {middle:.1f} % or less")
    print(f"{inside} of the measurements lie inside of the predicted interval")
    if told.out:
        facts = {"cores": os.cpu_count(), "seconds": told.seconds, "rows": rows}
        told.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
