"""Says where the JPEG decoder spends its time, of two builds side by side, and draws it.

    python tests/python/jpeg_stages.py BEFORE AFTER ROUNDS OUT.svg FOLDER...

BEFORE and AFTER are builds of the example `decode_raw`. Each is timed in turns (`--time`: the mean over the files of the
shortest of nine decodes each) and sampled by `perf record`; a stage's time is its share of the samples times the
shortest time. Needs `perf`. Writes a table to the standard output and a picture to OUT.svg.
"""

import os
import subprocess
import sys
import tempfile

STAGES = [
    ("entropy decoding", "#4063a8", ["decode_bmi2", "decode_mcus", "decode_block", "long_code", "unstuff", "huffman"]),
    ("rows and blocks", "#7da3d8", ["Whole::", "pending", "strips", "stream", "units"]),
    ("inverse DCT", "#d9843b", ["idct"]),
    ("upsampling", "#74a356", ["upsample"]),
    ("colour", "#b0549b", ["convert"]),
    ("rest", "#9a9a9a", [""]),
]


def stage(symbol):
    return next(i for i, (_, _, words) in enumerate(STAGES) if any(word in symbol for word in words))


def time_ms(program, paths):
    run = subprocess.run([program, "--time", *paths], stdout=subprocess.PIPE, check=True)
    return float(run.stdout) * 1e3


def shares(program, paths):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(["perf", "record", "-F", "5000", "-o", data, program, "--time", *paths], check=True, **quiet)
        report = subprocess.run(
            ["perf", "report", "-i", data, "--no-children", "--stdio", "--sort", "sym", "--percent-limit", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
        )
    found = [0.0] * len(STAGES)
    for line in report.stdout.decode().splitlines():
        percent, _, symbol = line.strip().partition("%")
        if symbol and not line.startswith("#"):
            found[stage(symbol)] += float(percent)
    return [share / sum(found) for share in found]


def bars(rows):
    """One bar a row: (label, stage times in ms), all to the same scale within a folder."""
    parts, y = [], 30
    for at, (label, times) in enumerate(rows):
        scale = 560 / max(sum(t) for _, t in rows[at // 2 * 2 : at // 2 * 2 + 2])
        parts.append(f'<text x="170" y="{y + 19}" text-anchor="end">{label}</text>')
        x = 180.0
        for (_, color, _), time in zip(STAGES, times):
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{time * scale:.1f}" height="28" fill="{color}"/>')
            x += time * scale
        parts.append(f'<text x="{x + 6:.1f}" y="{y + 19}">{sum(times):.2f} ms</text>')
        y += 34 if at % 2 == 0 else 50
    x = 20
    for name, color, _ in STAGES:
        parts.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="{color}"/>')
        parts.append(f'<text x="{x + 20}" y="{y + 12}">{name}</text>')
        x += 40 + 8 * len(name)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="830" height="{y + 30}" font-family="sans-serif" font-size="14">'
    return "\n".join([head, f'<rect width="830" height="{y + 30}" fill="white"/>', *parts, "</svg>", ""])


def main():
    before, after, rounds, out, *folders = sys.argv[1:]
    rows = []
    for folder in folders:
        paths = sorted(
            os.path.join(root, name) for root, _, names in os.walk(folder) for name in names
            if name.lower().endswith((".jpg", ".jpeg"))
        )
        times = [[time_ms(program, paths) for program in (before, after)] for _ in range(int(rounds))]
        name = os.path.basename(folder.rstrip("/"))
        pair = []
        for program, label, shortest in zip((before, after), ("before", "after"), map(min, zip(*times))):
            pair.append((f"{name}, {label}", [share * shortest for share in shares(program, paths)]))
        rows += pair
        print(f"| {name}, ms an image | before | after |\n|---|---|---|")
        for (stage_name, _, _), old, new in zip(STAGES, pair[0][1], pair[1][1]):
            print(f"| {stage_name} | {old:.3f} | {new:.3f} |")
        print(f"| all | {sum(pair[0][1]):.3f} | {sum(pair[1][1]):.3f} |\n", flush=True)
    with open(out, "w") as file:
        file.write(bars(rows))


if __name__ == "__main__":
    main()
