#!/usr/bin/env python3
"""Measures files of coefficients beside their JPEGs, and writes the figures as JSON, as Markdown tables and as a picture.

    python benches/peers/coefficients.py decode NAME=FOLDER... --write docs/benchmarks.md
    python benches/peers/coefficients.py storage NAME=FOLDER... --write docs/benchmarks.md --rule docs/coefficients.md

`decode` decodes whole images on one thread at each level of vectors, and sets the sizes of other layouts beside those of the
files. `storage` makes training crops of files that are read at 100, 300 and 1,000 MB/s. What is measured is in
`benches/coefficients.rs`, where the contenders take turns in one process; the pages are changed between their results markers.
Build it before: `cargo bench --bench coefficients --no-run`. Only the picture needs a package, matplotlib.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import run

LEVELS = (None, "avx2", "scalar")
FORMS = {"jpeg": "JPEG", "small": "`small`", "fast": "`fast`"}
# What a layout is called, whose bytes it has, whose time is taken for its own, and what was computed of it.
LAYOUTS = (
    ("JPEG", "jpeg", "jpeg", ""),
    ("WebDataset's tar", "tar", "jpeg", "size: an image and a class, each with a header and filled up to 512 bytes; time: the JPEG's"),
    ("FFCV, `jpg`", "jpeg", "jpeg", "size and time: the JPEG's, though FFCV encodes images anew, at quality 90 unless told otherwise"),
    ("`.fjc`, `small`", "small", "small", ""),
    ("`.fjc`, `fast`", "fast", "fast", ""),
    ("FFCV, `raw`, at most 500 pixels", "ffcv_raw", "raw", "size: 3 bytes a pixel, the longer edge shrunk to 500, and without tables; time: that of copying so many bytes"),
    ("raw u8", "raw", "raw", "size: 3 bytes a pixel; time: that of a copy"),
)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=("decode", "storage"))
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER", help="folders with JPEG files at any depth, and their names")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, default=run.HERE.parent / "results")
    parser.add_argument("--write", type=Path, help="page whose parts between the results markers are replaced")
    parser.add_argument("--rule", type=Path, help="page whose break-even is replaced")
    args = parser.parse_args()
    pairs = [pair.partition("=") for pair in args.folders]
    if not all(name and folder for name, _, folder in pairs):
        parser.error("say NAME=FOLDER")
    args.folders = {name: Path(folder).resolve() for name, _, folder in pairs}
    return args


def measured(args, folder, level=None):
    """One run of the program at a level of vectors, or at the machine's."""
    command = ["cargo", "bench", "--quiet", "--locked", "--bench", "coefficients", "--", args.work, str(folder), str(args.rounds)]
    environment = {**os.environ, **({"FEEDLINE_SIMD": level} if level else {})}
    done = subprocess.run(command, cwd=run.ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])


def measure(args):
    """All runs as {name: [one for each level]}."""
    results = {}
    for name, folder in args.folders.items():
        runs = {}
        for level in LEVELS if args.work == "decode" else LEVELS[:1]:
            one = measured(args, folder, level)
            # A machine may have no more than the level that was asked for.
            runs.setdefault(one["level"], one)
            print(f"{name} at {one['level']}: {one['files']} files, {one['refused']} refused", file=sys.stderr, flush=True)
        results[name] = list(runs.values())
    return results


def values(rounds, form, figure):
    """A figure of a form, round by round."""
    return [each[form][figure] for each in rounds]


def ratios(rounds, form, figure):
    """How many times the figure of a form that of the JPEG is."""
    return [each["jpeg"][figure] / each[form][figure] for each in rounds]


def head(report):
    """What all figures depend on."""
    box = report["machine"]
    return f"{report['rounds']} rounds on {box['cores']} cores of {box['cpu']}; median [smallest..largest]."


def decode_table(report):
    """Wall and CPU time of whole images at each level."""
    lines = [
        f"One thread, {head(report)}",
        "",
        "| files | vectors | form | times the JPEG's bytes | ms an image | CPU-ms an image | JPEG / form, ms | JPEG / form, CPU |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, runs in report["results"].items():
        for one in runs:
            rounds, sizes = one["rounds"], one["bytes"]
            for form, label in FORMS.items():
                compared = [run.spread(ratios(rounds, form, figure), 2) if form != "jpeg" else "" for figure in ("ms", "cpu_ms")]
                lines.append(
                    f"| `{name}` | {one['level']} | {label} | {sizes[form] / sizes['jpeg']:.2f} "
                    f"| {run.spread(values(rounds, form, 'ms'), 3)} | {run.spread(values(rounds, form, 'cpu_ms'), 3)} "
                    f"| {compared[0]} | {compared[1]} |")
    return "\n".join([*lines, "", *facts(report)])


def facts(report):
    """How many files there are, and how large they are."""
    for name, runs in report["results"].items():
        one = runs[0]
        refused = f", and {one['refused']} that are not converted" if one["refused"] else ""
        yield f"`{name}`: {one['files']} JPEGs of {one['bytes']['jpeg'] / 1000:.1f} KB{refused}."


def layouts(one):
    """Label, KB and CPU-ms of each layout, and what of it was computed."""
    times = {form: statistics.median(values(one["rounds"], form, "cpu_ms")) for form in (*FORMS, "raw")}
    for label, size, time, computed in LAYOUTS:
        share = one["bytes"][size] / one["bytes"]["raw"] if time == "raw" else 1
        yield label, one["bytes"][size] / 1000, times[time] * share, computed


def sizes_table(report, picture):
    """Size and time of each layout, at the machine's level."""
    results = {name: runs[0] for name, runs in report["results"].items()}
    columns = [f"`{name}`, KB | times the JPEG's | CPU-ms" for name in results]
    lines = [
        f"One image on one thread, medians of {report['rounds']} rounds on {report['machine']['cpu']}.",
        "",
        f"| layout | {' | '.join(columns)} | computed |",
        "|---" * (2 + 3 * len(results)) + "|",
    ]
    for number, (label, *_, computed) in enumerate(LAYOUTS):
        cells = []
        for one in results.values():
            _, size, time, _ = list(layouts(one))[number]
            cells.append(f"{size:.1f} | {1000 * size / one['bytes']['jpeg']:.2f} | {time:.3f}")
        lines.append(f"| {label} | {' | '.join(cells)} | {computed} |")
    return "\n".join([*lines, "", f"![Size of an image and CPU time for its pixels, by layout](../benches/results/{picture.name})"])


def plot(report, path):
    """A panel for each folder: size across, time upwards; hollow where either was computed."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker

    results = report["results"]
    figure, axes = pyplot.subplots(1, len(results), figsize=(4.5 * len(results), 4.5), squeeze=False)
    for axis, (name, runs) in zip(axes[0], results.items()):
        # What has the JPEG's size and time lies in rings around it.
        for (label, size, time, computed), marker, edge in zip(layouts(runs[0]), "oooDsv^", (6, 12, 9, 7, 7, 7, 7)):
            axis.plot(size, time, marker, markersize=edge, color="tab:orange" if "fjc" in label else "tab:gray",
                      fillstyle="none" if computed else "full", label=label.replace("`", ""))
        axis.set(xscale="log", yscale="log", title=name, xlabel="KB an image", ylabel="CPU-ms an image")
        axis.margins(0.15)
        for scale in (axis.xaxis, axis.yaxis):
            scale.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
            scale.set_major_formatter("{x:g}")
            scale.set_minor_formatter(ticker.NullFormatter())
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncol=4, frameon=False)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.savefig(path, dpi=120, metadata={"Software": None})


def rate_word(rate):
    """A column's first word."""
    return "memory's" if rate is None else f"{rate:.0f}"


def storage_table(report):
    """Images a second by storage and form, and the most that raw pixels could reach."""
    lines = [
        f"Recipe `imagenet-train`, batches of 64, two workers a core; {head(report)}",
        "",
        "| files | MB/s | JPEG, images/s | `small`, images/s | `fast`, images/s | raw u8, at most | `small` / JPEG | `fast` / JPEG |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, [one] in report["results"].items():
        for rate in dict.fromkeys(each["mb_per_s"] for each in one["runs"]):
            of = {each["files"]: [1000 / turn["ms"] for turn in each["rounds"]] for each in one["runs"] if each["mb_per_s"] == rate}
            raw = "" if rate is None else f"{rate * 1e6 / one['bytes']['raw']:.0f}"
            compared = [run.spread([a / b for a, b in zip(of[form], of["jpeg"])], 2) for form in ("small", "fast")]
            rates = " | ".join(run.spread(of[form], 0) for form in FORMS)
            lines.append(f"| `{name}` | {rate_word(rate)} | {rates} | {raw} | {compared[0]} | {compared[1]} |")
    return "\n".join([*lines, "", *facts(report)])


def break_even(one, form):
    """MB/s for each core: the bytes that a form reads in the CPU time that a JPEG takes."""
    runs = [each for each in one["runs"] if each["files"] == "jpeg" and each["mb_per_s"] is None]
    return one["bytes"][form] / 1e3 / statistics.median(turn["cpu_ms"] for turn in runs[0]["rounds"])


def rule(report):
    """Where JPEGs are faster, in a sentence for each folder."""
    return "\n".join(
        f"With `imagenet-train` on {report['machine']['cpu']}, the JPEGs of `{name}` ({one['bytes']['jpeg'] / 1000:.0f} KB each) are faster than "
        f"`small` where storage gives each core less than {break_even(one, 'small'):.0f} MB/s, and than `fast` below "
        f"{break_even(one, 'fast'):.0f} MB/s." for name, [one] in report["results"].items())


def main():
    """Measures, then writes every form of the results."""
    args = arguments()
    results = measure(args)
    report = {"work": args.work, "rounds": args.rounds, "machine": run.machine(), "results": results}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / f"coefficients-{args.work}.json").write_text(json.dumps(report, indent=1) + "\n")
    if args.work == "decode":
        picture = args.out / "coefficients-sizes.png"
        plot(report, picture)
        parts = {"coefficients-decode": decode_table(report), "coefficients-sizes": sizes_table(report, picture)}
    else:
        parts = {"coefficients-storage": storage_table(report), "break-even": rule(report)}
    for name, text in parts.items():
        page = args.rule if name == "break-even" else args.write
        if page:
            run.write_between_markers(page, name, text)
        print(text, end="\n\n")


if __name__ == "__main__":
    main()
