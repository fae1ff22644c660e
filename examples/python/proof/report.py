"""Writes the tables and plots of docs/proof.md from the figures that run.py has kept.

    python examples/python/proof/report.py out/proof

Replaces what stands between the page's marks, and docs/pictures/proof-*. Runs of one task that differ in settings, machine
or versions are refused, and so is a seed that only one of the loaders has. Needs matplotlib and Pillow.
"""

import argparse
import json
import math
import pathlib
import re
import statistics

import matplotlib
from PIL import Image, ImageDraw

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
STOCK = {"classifier": "torchvision", "detector": "ultralytics"}
#: What is measured of each task after each epoch, and how it is shown.
MEASURED = {"classifier": {"accuracy": "accuracy"}, "detector": {"map50": "mAP50", "map50_95": "mAP50-95"}}
#: Runs beside which other work took a larger part of the machine's CPU time don't count in the times.
OTHERS = 0.1
#: How the curves of the stock loader and of feedline are drawn.
COLOURS = ["#c44e52", "#2a6fbb"]
STYLES = {"-": "solid", "--": "dashed"}
#: Student's t for intervals of 95 %, by degrees of freedom from 1 on. It falls to 1.96; more than 30 have that of 30.
T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="that of run.py")
    parser.add_argument("--docs", type=pathlib.Path, default=DOCS, help="with proof.md and a folder pictures")
    args = parser.parse_args()
    page = args.docs / "proof.md"
    text = page.read_text()
    runs = [json.loads(path.read_text()) for path in sorted((args.folder / "runs").glob("*.json"))]
    short = []
    for task, stock in STOCK.items():
        pairs = paired([run for run in runs if run["task"] == task], task, stock)
        name = f"pictures/proof-{task}.svg"
        draw(pairs, stock, MEASURED[task], args.docs / name)
        tables = [
            learned(pairs, stock, MEASURED[task]),
            f"![{in_words(pairs, stock, MEASURED[task])}]({name})",
            costs(quiet(pairs), stock),
            settings(pairs),
        ]
        text = replaced(text, task, "\n\n".join(tables))
        short.append(in_short(pairs, stock, MEASURED[task], task))
    text = replaced(text, "in short", "\n".join(short))
    page.write_text(text)
    sheet(args.folder, args.docs / "pictures" / "proof-sets.jpg")


def paired(runs, task, stock):
    """The runs of both loaders by seed: {seed: (stock's, feedline's)}."""
    if not runs:
        raise SystemExit(f"no run of the {task} is there: run.py makes them")
    for name in ("settings", "machine"):
        kinds = {json.dumps(run[name], sort_keys=True) for run in runs}
        if len(kinds) > 1:
            raise SystemExit(f"the runs of the {task} differ in {name}, so they can't be compared: {', '.join(kinds)}")
    by_loader = [{run["seed"]: run for run in runs if run["loader"] == loader} for loader in (stock, "feedline")]
    if by_loader[0].keys() != by_loader[1].keys():
        raise SystemExit(
            f"the {task} has the seeds {[sorted(seeds) for seeds in by_loader]}: run.py makes what is missing"
        )
    return {seed: (by_loader[0][seed], by_loader[1][seed]) for seed in sorted(by_loader[0])}


def in_short(pairs, stock, measured, task):
    """The first figure's difference with what the seeds say of it, and the seconds, in a few sentences."""
    name, title = next(iter(measured.items()))
    both = [[pair[at][name][-1] for pair in pairs.values()] for at in (0, 1)]
    means = [statistics.mean(each) for each in both]
    judged = " of one seed, which tells nothing."
    if len(pairs) > 1:
        (low, high), spreads = interval(*both), [statistics.stdev(each) for each in both]
        judged = (
            f". Its 95 % interval is {low:+.3f} to {high:+.3f} with {len(pairs)} seeds: {left_open(low, high)}. "
            f"The standard deviation of the seeds is {spreads[0]:.3f} and {spreads[1]:.3f}."
        )
    taken = [statistics.median(s for pair in quiet(pairs).values() for s in pair[at]["seconds"]) for at in (0, 1)]
    return (
        f"* **The {task}**: {title} {means[0]:.3f} with {stock}, {means[1]:.3f} with feedline, a difference of "
        f"{means[1] - means[0]:+.3f}{judged} An epoch took {taken[0]:.1f} and {taken[1]:.1f} s."
    )


def interval(stock, feedline):
    """The 95 % interval of the mean difference, by Student's t; runs of one seed, with the same first weights, are pairs."""
    differences = [b - a for a, b in zip(stock, feedline)]
    mean, count = statistics.mean(differences), len(differences)
    half = T[min(count - 1, len(T)) - 1] * statistics.stdev(differences) / math.sqrt(count)
    return mean - half, mean + half


def left_open(low, high):
    """What an interval of the difference leaves open, in points, which are hundredths."""
    if low < 0 < high:
        return f"a loss of up to {-100 * low:.1f} points is not excluded, nor a gain of up to {100 * high:.1f}"
    least, most = sorted((abs(100 * low), abs(100 * high)))
    return f"feedline's is {'lower' if low < 0 else 'higher'} by {least:.1f} to {most:.1f} points"


def learned(pairs, stock, measured):
    """What each run had learned after its last epoch, and the difference of the means beside the spread of the seeds."""
    tables = []
    for name, title in measured.items():
        lines = [f"| {title} after the last epoch | {stock} | feedline | difference |", "|---|---:|---:|---:|"]
        ends = {seed: [run[name][-1] for run in pair] for seed, pair in pairs.items()}
        lines += [f"| seed {seed} | {a:.4f} | {b:.4f} | {b - a:+.4f} |" for seed, (a, b) in ends.items()]
        both = list(zip(*ends.values()))
        means = [statistics.mean(each) for each in both]
        lines.append(f"| mean | {means[0]:.4f} | {means[1]:.4f} | **{means[1] - means[0]:+.4f}** |")
        if len(pairs) > 1:
            spreads = [statistics.stdev(each) for each in both]
            differences = statistics.stdev(b - a for a, b in ends.values())
            lines.append(
                f"| standard deviation of the seeds | {spreads[0]:.4f} | {spreads[1]:.4f} | {differences:.4f} |"
            )
            low, high = interval(*both)
            lines.append(f"| 95 % interval of the mean difference | | | {low:+.4f} to {high:+.4f} |")
            ranges = [max(each) - min(each) for each in both]
            lines.append(f"| greatest less least | {ranges[0]:.4f} | {ranges[1]:.4f} | |")
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def quiet(pairs):
    """The pairs of whose time other work on the machine took little, or all if none: what others learned counts all the same."""
    calm = {seed: pair for seed, pair in pairs.items() if max(run["others_share"] for run in pair) <= OTHERS}
    return calm or pairs


def costs(pairs, stock):
    """Medians over all epochs of all seeds, with the least and the greatest; and of whole processes over the seeds."""
    lines = [f"| | {stock} | feedline | {stock} / feedline |", "|---|---:|---:|---:|"]
    rows = {
        "seconds of training, an epoch": "seconds",
        "CPU seconds of all processes, an epoch": "cpu_seconds",
        "seconds in which the loop waited for its loader, an epoch": "wait_seconds",
        "seconds of the whole process, start and validation included": "whole_seconds",
        "CPU seconds of the whole process": "whole_cpu_seconds",
    }
    for title, name in rows.items():
        cells, middles = [], []
        for runs in zip(*pairs.values()):
            figures = [figure for run in runs for figure in (run[name] if isinstance(run[name], list) else [run[name]])]
            middles.append(statistics.median(figures))
            cells.append(f"{middles[-1]:.1f} [{min(figures):.1f}..{max(figures):.1f}]")
        ratio = f"{middles[0] / middles[1]:.2f}" if name != "wait_seconds" else ""
        lines.append(f"| {title} | {' | '.join(cells)} | {ratio} |")
    return "\n".join(lines)


def settings(pairs):
    """Machine, versions and settings, and how quiet the machine was."""
    runs = [run for pair in pairs.values() for run in pair]
    about = dict(runs[0]["machine"])
    of_hardware = ("processor", "cores", "memory_gib", "gpu")
    hardware = {name: about.pop(name) for name in of_hardware if name in about}
    timed, beside = quiet(pairs), ""
    others = [run["others_share"] for pair in timed.values() for run in pair]
    if len(timed) < len(pairs):
        beside = (
            f"Times are those of the seeds {', '.join(map(str, timed))}: beside the others the machine had more to do. "
        )
    gpu = f", {hardware['gpu']}" if "gpu" in hardware else ""
    chosen = dict(runs[0]["settings"])
    if runs[0]["task"] == "detector" and chosen["device"] == "cpu":
        # Ultralytics makes it 0 on a CPU, and feedline's plug isn't told.
        del chosen["workers"]
    chosen = ", ".join(f"`--{name.replace('_', '-')} {value}`" for name, value in chosen.items())
    epoch, validation = runs[0]["images"], runs[0]["validation_images"]
    return (
        f"On {hardware['cores']} cores of {hardware['processor']} with {hardware['memory_gib']} GiB{gpu}; "
        f"{', '.join(f'{name} {version}' for name, version in about.items())}; {chosen}; {epoch} images an epoch, {validation} of "
        f"validation. {beside}Other work on the machine took {min(others):.0%} to {max(others):.0%} of its CPU time during a run."
    )


def draw(pairs, stock, measured, path):
    """Curves of all runs and of their means: what is measured, and the loss of training, epoch by epoch."""
    # Text stays text, and the same figures make the same file.
    plt.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "feedline", "font.size": 9, "font.family": "sans-serif"}
    )
    figure, axes = plt.subplots(1, len(measured) + 1, figsize=(3.6 * (len(measured) + 1), 2.8), layout="constrained")
    for at, (loader, colour, style) in enumerate(zip((stock, "feedline"), COLOURS, STYLES)):
        runs = [pair[at] for pair in pairs.values()]
        drawn = [*([run[name] for run in runs] for name in measured), [losses(run) for run in runs]]
        for axis, curves in zip(axes, drawn):
            epochs = range(1, len(curves[0]) + 1)
            for curve in curves:
                axis.plot(epochs, curve, style, color=colour, lw=0.7, alpha=0.35)
            mean = [statistics.mean(figures) for figures in zip(*curves)]
            axis.plot(epochs, mean, style, color=colour, lw=2, label=loader)
    for axis, title in zip(axes, [*measured.values(), "loss of training"]):
        axis.set(title=title, xlabel="epoch")
        axis.spines[["top", "right"]].set_visible(False)
        axis.set_ylim(bottom=0)
    axes[0].legend(frameon=False, handlelength=3)  # long enough to show what is dashed
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def in_words(pairs, stock, measured):
    """What the curves show, for those who don't see them."""
    name, title = next(iter(measured.items()))
    ends = [[pair[at][name][-1] for pair in pairs.values()] for at in (0, 1)]
    spans = [f"{min(each):.3f} to {max(each):.3f}" for each in ends]
    solid, dashed = STYLES.values()
    return (
        f"Curves of {', '.join(measured.values())} and loss by epoch, for each seed and on average, with {stock} ({solid}) and with "
        f"feedline ({dashed}): {title} ends at {spans[0]} and at {spans[1]}"
    )


def losses(run):
    """The mean loss of each epoch: of the classifier's steps, or the sum of the detector's parts."""
    if isinstance(run["loss"][0], dict):
        return [sum(parts.values()) for parts in run["loss"]]
    steps = len(run["loss"]) // len(run["seconds"])
    return [statistics.mean(run["loss"][at : at + steps]) for at in range(0, len(run["loss"]), steps)]


def sheet(folder, path):
    """An image of each class, and five of objects with their boxes."""
    objects = folder / "objects"
    shown = [(sorted(each.iterdir())[0], []) for each in sorted((folder / "classes" / "train").iterdir())]
    for name in sorted((objects / "images" / "train").iterdir())[:5]:
        shown.append((name, (objects / "labels" / "train" / f"{name.stem}.txt").read_text().splitlines()))
    paper = Image.new("RGB", (5 * 200, 3 * 150), "white")
    for at, (name, labels) in enumerate(shown):
        image = Image.open(name).convert("RGB")
        for line in labels:
            x, y, w, h = (float(part) * edge for part, edge in zip(line.split()[1:], 2 * image.size))
            ImageDraw.Draw(image).rectangle((x - w / 2, y - h / 2, x + w / 2, y + h / 2), outline="white", width=2)
        image.thumbnail((196, 146))
        paper.paste(image, (at % 5 * 200 + 2, at // 5 * 150 + 2))
    paper.save(path, quality=85)


def replaced(text, task, written):
    """The page with other text between the marks of a task."""
    marks = f"<!-- report: {task} -->", f"<!-- end: {task} -->"
    pattern = re.compile(f"{re.escape(marks[0])}.*?{re.escape(marks[1])}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f"the page needs {marks[0]} and {marks[1]}, once and in this order")
    return pattern.sub(lambda _: f"{marks[0]}\n{written}\n{marks[1]}", text)


if __name__ == "__main__":
    main()
