"""`feedline apply` on many cases, and the PNG files that it and other libraries read."""

import json
import subprocess

import numpy as np
from PIL import Image

TIMEOUT_S = 600


def write_images(folders, work):
    """Every image of the folders as {name: (PNG in `work`, its pixels)}, and three made ones.

    The made ones are noise, which meets every sextant of the hue, and images of one and of six pixels.
    """
    pictures = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix.lower() in {".jpg", ".jpeg", ".png"}:
                with Image.open(path) as image:
                    pictures[str(path.relative_to(folder))] = np.array(image.convert("RGB"))
    if not pictures:
        raise SystemExit("no image in the given folders")
    noise = np.random.default_rng(0)
    for height, width in ((256, 256), (1, 1), (3, 2)):
        pictures[f"noise {width}x{height}"] = noise.integers(0, 256, (height, width, 3), np.uint8)
    images = {}
    for number, (name, pixels) in enumerate(pictures.items()):
        path = work / f"{number}.png"
        Image.fromarray(pixels).save(path, compress_level=1)
        with Image.open(path) as back:
            images[name] = path, np.array(back)
    return images


def run(cases, feedline, batched, work):
    """Runs cases, each with `ops` and an `input`; returns [(output array or None, cause)].

    What a batch leaves out has failed.
    """
    outputs = [work / f"{number}.npy" for number in range(len(cases))]
    by = run_batch if batched else run_one_by_one
    causes = by(cases, outputs, feedline, work)
    results = [(None, cause) if cause else (np.load(out), "") for out, cause in zip(outputs, causes)]
    for out in outputs:
        out.unlink(missing_ok=True)
    return results


def run_batch(cases, outputs, feedline, work):
    """Runs all cases with one call; a cause for each, empty where it went well."""
    listing = work / "cases.jsonl"
    lines = [json.dumps({"ops": case.ops, "input": str(case.input), "out": str(out)})
             for case, out in zip(cases, outputs)]
    listing.write_text("\n".join(lines) + "\n")
    done = call([str(feedline), "apply", "--batch", str(listing)])
    missing = [not out.exists() for out in outputs]
    if done.returncode != 0 and not any(missing):
        return [said(done)] * len(cases)
    # Alone, a case can say more than the batch did; it has failed whatever comes of that.
    return [f"not in the batch's output; alone: {run_alone(case, feedline, out, work) or 'no error'}" if gone else ""
            for case, out, gone in zip(cases, outputs, missing)]


def run_one_by_one(cases, outputs, feedline, work):
    """Runs each case with a call of its own; a cause for each, empty where it went well."""
    return [run_alone(case, feedline, out, work) for case, out in zip(cases, outputs)]


def run_alone(case, feedline, out, work):
    """Runs one case by itself; returns what went wrong, or nothing."""
    ops = work / "ops.json"
    ops.write_text(json.dumps(case.ops))
    done = call([str(feedline), "apply", "--ops", str(ops), str(case.input), "--out", str(out)])
    return "" if done.returncode == 0 and out.exists() else said(done)


def said(done):
    """How a call ended."""
    return f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"


def call(command):
    """Runs a command and keeps what it says."""
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def knows_batches(feedline):
    """Whether `apply` takes many cases at once; older builds take one case a call."""
    try:
        return "--batch" in call([str(feedline), "apply", "--help"]).stdout
    except OSError as error:
        raise SystemExit(f"{feedline}: {error.strerror}; build it with `cargo build --release`") from error
