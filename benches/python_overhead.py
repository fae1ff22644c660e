"""What the Python face costs: images per CPU-second of the Python loader and of `feedline bench`, round by round.

    cargo build --release && python3 -m venv out/venv && out/venv/bin/pip install ./python numpy
    out/venv/bin/python benches/python_overhead.py --data data/photos --feedline target/release/feedline

Both read the same list of files, with the same recipe, seed, batch size (64) and workers. Each of ten rounds runs the
command, the Python loader, the command and the Python loader (A B A B), each in a process of its own; the two runs of one
kind against each other (A/A, B/B) show the noise, below which no difference means anything. CPU seconds are those of the
process from the loader's making to the end of the epoch, in user and system mode, of all threads. Builds that are not
optimised are refused. Run it on a machine that does nothing else.
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
    check_builds(args)
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


def check_builds(args):
    """A build without optimisation would be measured as well as any other."""
    doctor = subprocess.run([args.feedline, "doctor", "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    if json.loads(doctor)["profile"] != "release":
        sys.exit(f"{args.feedline} is no release build: cargo build --release")
    from feedline import _feedline

    if not _feedline.OPTIMISED:
        sys.exit("the installed package feedline is no release build: pip install ./python")


def compare(listed, args):
    sides = {
        "command": run_command,
        "python": spawn_python,
        "command again": run_command,
        "python again": spawn_python,
    }
    rates = {name: [] for name in sides}
    for number in range(args.rounds):
        for name, side in sides.items():
            rates[name].append(args.images / side(listed, args))
        print(f"round {number + 1}:", ", ".join(f"{name} {rates[name][-1]:.1f}" for name in sides), flush=True)

    def ratio(one, other):
        return spread([a / b for a, b in zip(rates[one], rates[other])])

    report = {
        "unit": "images per CPU-second",
        "framework": args.framework,
        "median": {name: round(statistics.median(values), 2) for name, values in rates.items()},
        "python / command": ratio("python", "command"),
        "python again / command again": ratio("python again", "command again"),
        "command again / command (A/A)": ratio("command again", "command"),
        "python again / python (B/B)": ratio("python again", "python"),
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
