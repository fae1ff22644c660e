"""What the Python face costs: images per CPU-second of the Python loader and of `feedline bench`, round by round.

    cargo build --release && pip install ./python
    python benches/python_overhead.py --data data/photos --feedline target/release/feedline

Both read the same list of files, with the same recipe, seed, batch size and workers. Each round runs the command, the
Python loader and the command once more; the two runs of the command against each other (A/A) show the noise, below
which no difference means anything. CPU seconds are those of the process from the loader's making to the end of the epoch,
in user and system mode, of all threads. Run it on a machine that does nothing else.
"""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

RECIPE = "imagenet-train"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("data/photos"))
    parser.add_argument("--feedline", type=pathlib.Path, default=pathlib.Path("target/release/feedline"))
    parser.add_argument("--images", type=int, default=4096)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--framework", choices=["none", "numpy", "torch"], default="none")
    parser.add_argument("--run-python", type=pathlib.Path, metavar="LIST", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run_python:
        print(json.dumps(run_python(args)))
        return
    with tempfile.TemporaryDirectory() as folder:
        listed = pathlib.Path(folder) / "list.txt"
        write_list(listed, args)
        compare(listed, args)


def write_list(listed, args):
    """The data set again and again, until there are as many images as are asked for."""
    files = sorted(file.resolve() for file in args.data.rglob("*") if file.suffix.lower() in (".jpg", ".jpeg"))
    if not files:
        sys.exit(f"no JPEG below {args.data}: name a folder with --data")
    listed.write_text("".join(f"{files[at % len(files)]}\t0\n" for at in range(args.images)))


def compare(listed, args):
    sides = {"command": run_command, "python": spawn_python, "command again": run_command}
    rates = {name: [] for name in sides}
    for number in range(args.rounds):
        for name, side in sides.items():
            rates[name].append(args.images / side(listed, args))
        print(f"round {number + 1}:", ", ".join(f"{name} {rates[name][-1]:.1f}" for name in sides), flush=True)
    ratios = [python / command for python, command in zip(rates["python"], rates["command"])]
    noise = [again / command for again, command in zip(rates["command again"], rates["command"])]
    report = {
        "unit": "images per CPU-second",
        "framework": args.framework,
        "median": {name: round(statistics.median(values), 2) for name, values in rates.items()},
        "python / command": spread(ratios),
        "command again / command (A/A)": spread(noise),
    }
    print(json.dumps(report, indent=2))


def spread(ratios):
    return {
        "median": round(statistics.median(ratios), 4),
        "least": round(min(ratios), 4),
        "most": round(max(ratios), 4),
    }


def run_command(listed, args):
    """CPU seconds of `feedline bench`."""
    command = [args.feedline, "bench", "--data", listed, "--source", "list", "--recipe", RECIPE, "--seed", "1"]
    command += ["--images", str(args.images), "--batch-size", str(args.batch_size), "--workers", str(args.workers)]
    command += ["--device", "cpu", "--json"]
    out = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)["cpu_s_per_1000"] * args.images / 1000


def spawn_python(listed, args):
    """CPU seconds of the Python loader, in a process of its own."""
    command = [sys.executable, __file__, "--run-python", listed, "--images", args.images, "--framework", args.framework]
    command += ["--batch-size", args.batch_size, "--workers", args.workers]
    out = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out)


def run_python(args):
    import feedline

    framework = None if args.framework == "none" else args.framework
    if framework:
        __import__(framework)
    before = cpu_seconds()
    loader = feedline.Loader(
        args.run_python,
        args.batch_size,
        recipe=RECIPE,
        seed=1,
        num_workers=args.workers,
        kind="list",
        framework=framework,
    )
    images = sum(len(batch["key"]) for batch in loader)
    assert images == args.images, f"{images} images of {args.images}"
    loader.close()
    return cpu_seconds() - before


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
