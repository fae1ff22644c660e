"""Says where the time of training samples and of whole images goes, with libjpeg-turbo and with feedline, and draws it.

    benches/crops/run.sh FOLDER && python benches/crops/stages.py OUT.svg FOLDER...

A contestant's milliseconds are the shortest times of a run in which all take turns; a stage's part of them is its share
of the samples that `perf record` takes of the contestant alone. Needs `perf`. Prints tables and writes a picture.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "target/crops/release/feedline-crops"
ROUNDS = int(os.environ.get("ROUNDS", 9))
PLANS = int(os.environ.get("PLANS", 4))
SAMPLED_ROUNDS = 40  # so many that what happens once, ahead of the rounds, hardly counts

CONTESTANTS = [
    ("train-turbo", "sample, libjpeg-turbo"),
    ("train", "sample, feedline"),
    ("train-index", "sample, feedline, index"),
    ("whole-turbo", "whole image, libjpeg-turbo"),
    ("whole", "whole image, feedline"),
]
# The first stage that has a word in the symbol gets the sample.
STAGES = [
    ("entropy decoding", "#4063a8", ["decode_mcu", "bmi2", "decode_block", "bits", "huff", "d_derived_tbl", "fill_bit"]),
    ("rendering", "#5aa9a3", ["device::cpu"]),
    ("inverse DCT", "#d9843b", ["idct"]),
    ("upsampling", "#74a356", ["upsample"]),
    ("colour", "#b0549b", ["convert"]),
    ("rows and blocks", "#7da3d8", ["jpeg::", "decompress_onepass", "process_data"]),
    ("rest", "#9a9a9a", [""]),
]


def stage(symbol):
    return next(i for i, (_, _, words) in enumerate(STAGES) if any(word in symbol for word in words))


def is_foreign(symbol, contestant):
    """Whether only what comes ahead of the rounds can have run this: the other decoder."""
    if "turbo" in contestant:
        return "feedline::jpeg" in symbol
    return any(word in symbol for word in ("jsimd_", "decompress_onepass")) or symbol.startswith(("decode_mcu", "jpeg_"))


def shares(contestant, folder):
    with tempfile.TemporaryDirectory() as scratch:
        data = os.path.join(scratch, "perf.data")
        command = [PROGRAM, "--only", contestant, str(SAMPLED_ROUNDS), str(PLANS), folder]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["perf", "record", "-F", "4000", "-o", data, *command], check=True, **quiet)
        report = subprocess.run(
            ["perf", "report", "-i", data, "--no-children", "--stdio", "--sort", "sym", "--percent-limit", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True,
        )
    found = [0.0] * len(STAGES)
    for line in report.stdout.splitlines():
        percent, _, symbol = line.strip().partition("%")
        symbol = symbol.strip().removeprefix("[.] ")
        if symbol and not line.startswith("#") and not is_foreign(symbol, contestant):
            found[stage(symbol)] += float(percent)
    return [share / sum(found) for share in found]


def measured(folder):
    """Stage times of each contestant, in ms an image."""
    run = subprocess.run([PROGRAM, str(ROUNDS), str(PLANS), folder], stdout=subprocess.PIPE, check=True, text=True)
    result = json.loads(run.stdout.splitlines()[-1])
    shortest = {entry["contestant"]: entry["shortest_ms"] for entry in result["contestants"]}
    return [[share * shortest[name] for share in shares(name, folder)] for name, _ in CONTESTANTS]


def table(name, columns):
    print(f"| {name}, ms an image | " + " | ".join(label for _, label in CONTESTANTS) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for at, (stage_name, _, _) in enumerate(STAGES):
        print(f"| {stage_name} | " + " | ".join(f"{column[at]:.3f}" for column in columns) + " |")
    print("| all | " + " | ".join(f"{sum(column):.3f}" for column in columns) + " |\n", flush=True)


def picture(sets):
    """A bar a contestant, to the same scale within a set."""
    parts, y = [], 20
    for name, columns in sets:
        parts.append(f'<text x="20" y="{y + 14}" font-weight="bold">{name}</text>')
        y += 26
        scale = 520 / max(map(sum, columns))
        for (_, label), times in zip(CONTESTANTS, columns):
            x = 220.0
            parts.append(f'<text x="{x - 10}" y="{y + 16}" text-anchor="end">{label}</text>')
            for (_, color, _), time in zip(STAGES, times):
                parts.append(f'<rect x="{x:.1f}" y="{y}" width="{time * scale:.1f}" height="22" fill="{color}"/>')
                x += time * scale
            parts.append(f'<text x="{x + 6:.1f}" y="{y + 16}">{sum(times):.2f} ms</text>')
            y += 28
        y += 14
    x = 20
    for name, color, _ in STAGES:
        parts.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="{color}"/>')
        parts.append(f'<text x="{x + 20}" y="{y + 12}">{name}</text>')
        x += 36 + 8 * len(name)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="830" height="{y + 30}" font-family="sans-serif" font-size="14">'
    return "\n".join([head, f'<rect width="830" height="{y + 30}" fill="white"/>', *parts, "</svg>", ""])


def main():
    out, *folders = sys.argv[1:]
    sets = []
    for folder in folders:
        name = os.path.basename(folder.rstrip("/"))
        sets.append((name, measured(folder)))
        table(*sets[-1])
    with open(out, "w") as file:
        file.write(picture(sets))


if __name__ == "__main__":
    main()
