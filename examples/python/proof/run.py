"""Runs the series behind docs/proof.md: both loaders by turns, with several seeds, as processes of their own.

    python examples/python/proof/run.py out/proof            # all of it; docs/proof.md says how long that takes
    python examples/python/proof/run.py out/proof --tiny     # whether everything runs: minutes, and nothing is learned

Draws the data sets into out/proof/classes and out/proof/objects, if they are not there, and writes the figures of each run into
out/proof/runs. What is there is not run again, so a series that was stopped goes on. Then: report.py. With --tiny all of this is
in out/proof/tiny, which is report.py's folder then.
"""

import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
#: Of each task the script, the stock loader, the set, and which figures a run has to have, one for each epoch.
TASKS = {
    "classifier": ("train_classifier.py", "torchvision", "classes", ["accuracy"]),
    "detector": ("train_detector.py", "ultralytics", "objects", ["map50", "map50_95"]),
}
TINY = {
    "classifier": ["--epochs", "1", "--batch-size", "8"],
    "detector": ["--epochs", "1", "--batch-size", "4", "--size", "64"],
}
TINY_SET = ["--train", "24", "--val", "8"]
TIMEOUT_S = 3600


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=3, help="runs of each loader")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--workers", type=int, default=2, help="as in the scripts that are run")
    parser.add_argument(
        "--device", choices=["cpu", "cuda"], default="cpu", help="where models learn and feedline works"
    )
    parser.add_argument("--tiny", action="store_true")
    args = parser.parse_args()
    folder = args.folder.resolve() / ("tiny" if args.tiny else "")
    for task in args.tasks:
        data_set(folder / TASKS[task][2], args.tiny)
    for seed in range(1 if args.tiny else args.seeds):
        for task in args.tasks:
            for loader in (TASKS[task][1], "feedline"):
                run(folder, task, loader, seed, args)


def data_set(folder, is_tiny):
    """Draws the set unless it is there, and reads it, so that the first run waits for the disk no more than the others."""
    if not folder.exists():
        subprocess.run(
            [sys.executable, HERE / "generate.py", folder.name, folder, *(TINY_SET if is_tiny else [])], check=True
        )
    for path in folder.rglob("*.jpg"):
        path.read_bytes()


def run(folder, task, loader, seed, args):
    """One run, unless its figures are there."""
    kept = folder / "runs" / f"{task}-{loader}-{seed}.json"
    if kept.exists():
        print(f"{kept.stem}: is there", flush=True)
        return
    script, _, data, wanted = TASKS[task]
    data = folder / data / ("data.yaml" if task == "detector" else "")
    command = [sys.executable, "-W", "ignore", HERE / script, "--data", data, "--loader", loader, "--seed", str(seed)]
    command += ["--device", args.device, "--workers", str(args.workers), *(TINY[task] if args.tiny else [])]
    if task == "classifier" and args.device == "cuda":
        command += ["--feedline-device", "cuda:0"]
    kept.parent.mkdir(parents=True, exist_ok=True)
    log = kept.with_suffix(".log")
    began, cpu = time.perf_counter(), ended_cpu_seconds()
    # Ultralytics fetches nothing, and keeps its settings in the folder.
    environment = {**os.environ, "YOLO_OFFLINE": "1", "YOLO_CONFIG_DIR": str(folder)}
    with log.open("w") as said:
        ended = subprocess.run(
            command, stdout=said, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, cwd=folder, env=environment
        )
    if ended.returncode:
        raise SystemExit(f"{kept.stem} failed: see {log}")
    result = json.loads(log.read_text().splitlines()[-1])
    result["whole_seconds"] = round(time.perf_counter() - began, 1)
    result["whole_cpu_seconds"] = round(ended_cpu_seconds() - cpu, 1)
    require(result, wanted, log)
    part = kept.with_suffix(".part")  # a file under its own name is whole
    part.write_text(json.dumps(result) + "\n")
    part.replace(kept)
    last = ", ".join(f"{name} {result[name][-1]:.3f}" for name in wanted)
    print(f"{kept.stem}: {last} after {result['whole_seconds']:.0f} s", flush=True)


def ended_cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def require(result, wanted, log):
    """A run that measured nothing is no run."""
    epochs = int(result["settings"]["epochs"])
    for name in [*wanted, "seconds", "cpu_seconds", "wait_seconds"]:
        figures = result.get(name, [])
        if len(figures) != epochs or not all(math.isfinite(figure) and figure >= 0 for figure in figures):
            raise SystemExit(
                f"{result['task']}: `{name}` of {result['loader']} is {figures}, not {epochs} numbers: see {log}"
            )


if __name__ == "__main__":
    main()
