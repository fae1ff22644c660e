"""Times the JPEG decoder against libjpeg-turbo (simplejpeg), one thread each, in turns.

    python tests/python/jpeg_speed.py DECODE_RAW ROUNDS FOLDER...

Both decode every file nine times from memory into a buffer that is there already, and the shortest time of each file
counts, so that a shared machine disturbs little. One round is ours, then theirs.
"""

import os
import subprocess
import sys
import time

import numpy as np
import simplejpeg


def theirs(files):
    total = 0.0
    for data, buffer in files:
        best = float("inf")
        for _ in range(9):
            start = time.perf_counter()
            simplejpeg.decode_jpeg(data, buffer=buffer)
            best = min(best, time.perf_counter() - start)
        total += best
    return total / len(files)


def main():
    program, rounds, *folders = sys.argv[1:]
    for folder in folders:
        paths = sorted(
            os.path.join(root, name) for root, _, names in os.walk(folder) for name in names
            if name.lower().endswith((".jpg", ".jpeg"))
        )
        files = []
        for path in paths:
            with open(path, "rb") as file:
                data = file.read()
            height, width, _, _ = simplejpeg.decode_jpeg_header(data)
            files.append((data, np.zeros(height * width * 3, np.uint8)))
        ours_ms, theirs_ms = [], []
        for _ in range(int(rounds)):
            ours = subprocess.run([program, "--time", *paths], stdout=subprocess.PIPE, check=True)
            ours_ms.append(float(ours.stdout) * 1e3)
            theirs_ms.append(theirs(files) * 1e3)
        ratios = sorted(b / a for a, b in zip(ours_ms, theirs_ms))
        print(
            f"{folder}: ours {min(ours_ms):.3f} ms, libjpeg-turbo {min(theirs_ms):.3f} ms an image, "
            f"{min(theirs_ms) / min(ours_ms):.2f}x; by round {' '.join(f'{ratio:.2f}' for ratio in ratios)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
