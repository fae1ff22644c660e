#!/usr/bin/env python3
"""Runs feedline and its peers in turn, and writes the figures as JSON, as a Markdown table and as a plot.

    .venv-peers/bin/python benches/peers/run.py --data data/photos --write docs/benchmarks.md

The contenders take turns (A B C, A B C, ...), each in a fresh process, so that a slow minute of the machine hits all of
them; what is compared is therefore the ratio within a round. A contender that fails stays in the table with its cause.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FEEDLINE = "feedline"
# Without what it remembers of a file from the epochs before: what a single epoch costs.
NO_INDEX = "feedline, no index"
# Who does the work of which recipe, and what a plot calls it. Ultralytics is AGPL and in no requirements file: give
# `--python` an interpreter of an environment that has it.
RECIPES = {
    "imagenet-train": ("RandomResizedCrop 224, flip, normalise", {
        "simplejpeg-cv2": "simplejpeg_cv2.py",
        "opencv-threads": "opencv_threads.py",
        "dali-cpu": "dali_cpu.py",
        "tf-data": "tf_data.py",
        "torch-tvio": "torch_tvio.py",
        "torch-pil": "torch_pil.py",
        "opencv-reduced": "opencv_reduced.py",
        "pil-draft": "pil_draft.py",
    }),
    "imagenet-randaugment": ("RandomResizedCrop 224, flip, RandAugment, normalise", {
        "torch-tvio": "torch_tvio_randaugment.py",
    }),
    "dinov2": ("2 crops of 224 and 8 of 96 of each image, colours, blur", {
        "torch-dinov2": "torch_dinov2.py",
    }),
    "yolo-train": ("mosaic, perspective, HSV, flip, 640", {
        "ultralytics": "ultralytics_yolo.py",
    }),
}
# Large files may be decoded at a half or less, which changes pixels; so only those are compared that do so.
FAST = "feedline, fast"
REDUCED = ("opencv-reduced", "pil-draft")
# The same files as files of coefficients, which are made once.
PROFILES = {"feedline, small .fjc": "small", "feedline, fast .fjc": "fast"}
FIGURES = ("images_per_s", "cpu_s_per_1000", "peak_rss_mb", "first_batch_s")
CAUSE_LENGTH = 160


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with JPEG files at any depth")
    parser.add_argument("--name", help="name of the results; default: the folder's name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--images", type=int, default=6400, help="images a run")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--recipe", choices=RECIPES, default="imagenet-train")
    parser.add_argument("--peers", help="comma-separated; default: all of the recipe")
    parser.add_argument("--python", default=sys.executable, help="interpreter that runs the peers")
    parser.add_argument("--feedline", type=Path, default=ROOT / "target/release/feedline")
    parser.add_argument("--device", default="cpu", help="feedline's device")
    parser.add_argument("--coefficients", action="store_true", help="run feedline on the files as files of coefficients too")
    parser.add_argument("--timeout-s", type=float, default=600)
    parser.add_argument("--out", type=Path, default=HERE.parent / "results")
    parser.add_argument("--write", type=Path, help="page whose part between the results markers is replaced")
    args = parser.parse_args()
    args.name = args.name or args.data.resolve().name
    args.converted = {}
    if args.coefficients and args.recipe == "yolo-train":
        parser.error("--coefficients: the files have no labels of objects beside them")
    known = RECIPES[args.recipe][1]
    args.peers = [name for name in known if name not in REDUCED] if args.peers is None else [name for name in args.peers.split(",") if name]
    unknown = sorted(set(args.peers) - known.keys())
    if unknown:
        parser.error(f"no such peer of {args.recipe}: {', '.join(unknown)}; there are {', '.join(known)}")
    return args


def convert(args, folder):
    """The files of coefficients of the JPEGs, in a folder of each profile; what is not converted stays a JPEG."""
    for profile in PROFILES.values() if args.coefficients else ():
        for path in jpegs(args.data):
            out = folder / profile / path.relative_to(args.data)
            done = subprocess.run([args.feedline, "convert", path, f"{out}.fjc", "--profile", profile],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(f"stays a JPEG: {last_line(done.stderr)}", file=sys.stderr)
                out.parent.mkdir(parents=True, exist_ok=True)
                out.write_bytes(path.read_bytes())
        sizes = [path.stat().st_size for path in (folder / profile).rglob("*") if path.is_file()]
        args.converted[profile] = {"folder": folder / profile, "mean_kb": round(statistics.fmean(sizes) / 1000, 1)}


def commands(args):
    """The command of every contender, feedline first."""
    rest = ["--images", str(args.images), "--batch-size", str(args.batch_size), "--workers", str(args.workers)]
    work = ["--data", str(args.data), *rest]
    bench = [str(args.feedline), "bench", "--recipe", args.recipe, "--device", args.device, "--json"]
    feedline = [*bench, *work]
    converted = {name: [*bench, "--data", str(args.converted[profile]["folder"]), *rest]
                 for name, profile in PROFILES.items() if profile in args.converted}
    scripts = RECIPES[args.recipe][1]
    peers = {name: [args.python, str(HERE / scripts[name]), *work] for name in args.peers}
    if args.recipe == "yolo-train":
        # Whole images are decoded, which no index helps.
        return {FEEDLINE: feedline, **peers}
    fast = {FAST: [*feedline, "--decode-scale", "fast"]} if set(REDUCED) & set(args.peers) else {}
    return {FEEDLINE: feedline, NO_INDEX: [*feedline, "--decode-index", "off"], **converted, **fast, **peers}


def run_once(command, timeout_s):
    """One run's figures, or {"error": cause}."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"no result within {timeout_s:g} s"}
    except OSError as error:
        return {"error": f"{Path(command[0]).name}: {error.strerror}"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        return {"error": f"exit status {done.returncode}: {last_line(done.stderr or done.stdout)}"}
    figures = json.loads(lines[-1])
    missing = [figure for figure in FIGURES if figure not in figures]
    return {"error": f"no {', '.join(missing)} in its result"} if missing else figures


def last_line(text):
    """The last line that says something, shortened; that is where a traceback names its cause."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:CAUSE_LENGTH] if lines else "no message"


def run_rounds(args):
    """All rounds as a list of {contender: figures or error}."""
    rounds = []
    for number in range(args.rounds):
        results = {}
        for name, command in commands(args).items():
            load = os.getloadavg()[0]
            results[name] = {**run_once(command, args.timeout_s), "load_before": round(load, 2)}
            print(f"round {number + 1}/{args.rounds}  {name:16} {brief(results[name])}", file=sys.stderr, flush=True)
        rounds.append(results)
    return rounds


def brief(result):
    """One run for the progress line."""
    if "error" in result:
        return f"failed: {result['error']}"
    return f"{result['images_per_s']:8.1f} images/s  {result['cpu_s_per_1000']:.3f} CPU-s per 1000"


def machine():
    """What the figures depend on."""
    model = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory, 1),
            "system": f"{platform.system()} {platform.release()}", "python": platform.python_version()}


def jpegs(folder):
    """The JPEG files at any depth."""
    return [path for path in sorted(folder.rglob("*")) if path.suffix.lower() in {".jpg", ".jpeg"}]


def data_facts(folder):
    """How many files there are and how large they are."""
    sizes = [path.stat().st_size for path in jpegs(folder)]
    return {"files": len(sizes), "mean_kb": round(statistics.fmean(sizes) / 1000, 1) if sizes else 0}


def good(rounds, name, figure):
    """A figure of a contender in every round in which it succeeded."""
    return [results[name][figure] for results in rounds if "error" not in results[name]]


def ratios(rounds, name):
    """feedline's images per CPU-second over the peer's, round by round."""
    return [results[name]["cpu_s_per_1000"] / results[FEEDLINE]["cpu_s_per_1000"] for results in rounds
            if "error" not in results[name] and "error" not in results[FEEDLINE]]


def spread(values, digits):
    """Median [smallest..largest]."""
    return (f"{statistics.median(values):.{digits}f} "
            f"[{min(values):.{digits}f}..{max(values):.{digits}f}]")


def table(report):
    """The Markdown table with a line on how it came about."""
    rounds, facts, box = report["rounds"], report["data"], report["machine"]
    lines = [
        f"`{report['name']}`: {facts['files']} files of {facts['mean_kb']} KB{converted_sizes(facts)}, {report['images']} images a run, "
        f"{report['workers']} workers, batches of {report['batch_size']}, {len(rounds)} rounds on {box['cores']} cores "
        f"of {box['cpu']}.",
        "",
        "| contender | images/s | CPU-s per 1000 | peak RSS MB | first batch s | feedline / peer, images per CPU-s |",
        "|---|---|---|---|---|---|",
    ]
    lines += [row(rounds, name) for name in rounds[0]]
    return "\n".join(lines)


def converted_sizes(facts):
    """How large the files of coefficients are, where there are some."""
    sizes = [f"{facts[key]} KB as `{profile}`" for profile in PROFILES.values() if (key := f"mean_kb_{profile}") in facts]
    return f" ({', '.join(sizes)})" if sizes else ""


def row(rounds, name):
    """One contender's line; a failed one says why."""
    rates = good(rounds, name, "images_per_s")
    failures = [results[name]["error"] for results in rounds if "error" in results[name]]
    label = f"{name} ({len(failures)} of {len(rounds)} runs failed: {escaped(failures[0])})" if failures else name
    if not rates:
        return f"| {label} | failed | | | | |"
    compared = ratios(rounds, name)
    ratio = f"{statistics.median(compared):.2f}x" if compared and name != FEEDLINE else ""
    return (f"| {label} | {spread(rates, 0)} | {spread(good(rounds, name, 'cpu_s_per_1000'), 2)} "
            f"| {statistics.median(good(rounds, name, 'peak_rss_mb')):.0f} "
            f"| {statistics.median(good(rounds, name, 'first_batch_s')):.2f} | {ratio} |")


def escaped(text):
    """A cause may hold what would break a table."""
    return text.replace("|", "\\|")


def plot(report, path):
    """Two panels of bars: images per second and images per CPU-second, whiskers from the worst to the best round."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rounds = report["rounds"]
    names = [name for name in rounds[0] if good(rounds, name, "images_per_s")]
    panels = {
        "images per second": lambda name: good(rounds, name, "images_per_s"),
        "images per CPU-second": lambda name: [1000 / cpu for cpu in good(rounds, name, "cpu_s_per_1000")],
    }
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 0.5 * len(names) + 1.5), sharey=True)
    for axis, (title, values_of) in zip(axes, panels.items()):
        values = [values_of(name) for name in names]
        medians = [statistics.median(value) for value in values]
        whiskers = [[middle - min(value) for middle, value in zip(medians, values)],
                    [max(value) - middle for middle, value in zip(medians, values)]]
        colours = ["tab:orange" if name == FEEDLINE else "tab:gray" for name in names]
        axis.barh(names, medians, xerr=whiskers, color=colours, capsize=3)
        axis.set_title(title)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].invert_yaxis()
    work = RECIPES[report["recipe"]][0]
    figure.suptitle(f"{report['name']}: {work}; {report['workers']} workers, CPU")
    figure.tight_layout()
    figure.savefig(path, dpi=120, metadata={"Software": None})


def write_between_markers(page, name, text):
    """Replaces what stands between `<!-- results:NAME -->` and `<!-- /results:NAME -->`."""
    begin, end = f"<!-- results:{name} -->", f"<!-- /results:{name} -->"
    content = page.read_text()
    if content.count(begin) != 1 or content.count(end) != 1:
        raise SystemExit(f"{page} needs the lines {begin} and {end}, once each")
    head, rest = content.split(begin)
    tail = rest.split(end)[1]
    page.write_text(f"{head}{begin}\n{text}\n{end}{tail}")


def main():
    """Measures, then writes every form of the results."""
    args = arguments()
    facts = data_facts(args.data)
    if not facts["files"]:
        raise SystemExit(f"no JPEG file under {args.data}")
    with tempfile.TemporaryDirectory() as folder:
        convert(args, Path(folder))
        rounds = run_rounds(args)
    facts.update({f"mean_kb_{profile}": made["mean_kb"] for profile, made in args.converted.items()})
    report = {"name": args.name, "recipe": args.recipe, "device": args.device, "images": args.images,
              "batch_size": args.batch_size, "workers": args.workers, "machine": machine(), "data": facts,
              "rounds": rounds}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / f"{args.name}.json").write_text(json.dumps(report, indent=1) + "\n")
    text = table(report)
    (args.out / f"{args.name}.md").write_text(text + "\n")
    if any(good(report["rounds"], name, "images_per_s") for name in report["rounds"][0]):
        plot(report, args.out / f"{args.name}.png")
    if args.write:
        write_between_markers(args.write, args.name, text)
    print(text)


if __name__ == "__main__":
    main()
