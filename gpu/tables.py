"""Results as Markdown tables: printed where they are measured, and written into a page by `gpu/report`."""

import statistics

NO_FIGURE = "–"
# What a dry run may leave out.
NOT_SIMULATED = ("memcheck", "racecheck", "copy")


def is_sound(result):
    """Whether a section ended by itself and nothing in it was wrong; parts without time are no fault."""
    if result["ended"] != "done":
        return False
    if result["simulated"] and not all(part.startswith(NOT_SIMULATED) for part in result["left_out"]):
        return False
    wrong = [row for key in ("render", "region", "hazard") for row in result.get(key, [])
             if row.get("required", True) and row.get("different", 0)]
    tests = result.get("cuda_tests", {})
    failed = tests.get("failed", 0) or tests.get("status", 0)
    return not wrong and not failed and not any(run["status"] for run in result.get("sanitizer", []))


def text(results):
    """All tables, one behind the other."""
    if any(result["simulated"] for result in results.values()):
        return "DRY RUN on the simulated driver: nothing below is about a GPU.\n\n" + joined(results)
    return joined(results)


def joined(results):
    """The sections' parts."""
    return "\n\n".join(part for name, result in results.items() for part in section(name, result)) + "\n"


def section(name, result):
    """A section's heading, tables and what was left out."""
    parts = [f"### {TITLES[name]}", *MAKERS[name](result)]
    if result["ended"] != "done":
        parts.append(f"How it ended: {result['ended']}. {one_line(result.get('tail', ''))}")
    if result["left_out"]:
        parts.append("Left out:\n" + "\n".join(f"* {one_line(part)}" for part in result["left_out"]))
    return parts


def machine(result):
    """One line."""
    smi = result.get("nvidia_smi", {})
    libraries = ", ".join(f"{name} {state.split(':')[0]}" for name, state in result.get("libraries", {}).items())
    return [f"{result['gpu']}, driver {shown(result['driver'])}, nvJPEG {shown(result['nvjpeg'])}, "
            f"{shown(smi.get('memory.total'))}, {result['cores']} cores of {result['cpu']}; {libraries or 'simulated'}; "
            f"commit {result['commit']}."]


def tests(result):
    """What passed."""
    tests = result.get("cuda_tests")
    rows = [["CUDA tests", f"{tests['passed']} passed, {tests['failed']} failed, {tests['ignored']} ignored"]] if tests else []
    rows += [[f"overwriting: {row['what']}", f"{row['of']} {row['values']:,}, {row['different']:,} different"]
             for row in result.get("hazard", [])]
    rows += [[f"compute-sanitizer {run['tool']}", {0: "clean", None: "no result in time"}.get(run["status"], f"exit status {run['status']}")]
             for run in result.get("sanitizer", [])]
    return [table(["check", "result"], rows)]


def parity(result):
    """Equal, or by how much not."""
    equal = [[row["what"], f"{row['values']:,}", f"{row['different']:,}", shown(row["largest"])]
             for row in result.get("render", [])]
    decoded = [[row["name"], row["backend"], row["files"], NO_FIGURE if row["equal"] is None else f"{100 * row['equal']:.3f} %", shown(row["max"]),
                shown(row["mean"]), shown(row["p99"])] for row in result.get("decode", [])]
    parts = {}
    for row in result.get("region", []):
        parts.setdefault((row["kind"], row["backend"], row["values"]), {})[row["around"]] = row["different"]
    heads = list(dict.fromkeys(row["around"] for row in result.get("region", [])))
    region = [[kind, backend, f"{values:,}", *(f"{found.get(head, 0):,}" for head in heads)]
              for (kind, backend, values), found in parts.items()]
    return ["Rendering, the GPU against the CPU:", table(["of what", "values", "different", "largest"], equal),
            "Decoding, the GPU against the CPU:",
            table(["files", "decoder", "decoded by it", "equal", "largest difference", "mean", "99th percentile"],
                  decoded),
            "Parts decoded alone, against the same parts of whole images; values that differ, by what was decoded "
            "around the part:", table(["files", "decoder", "values", *heads], region)]


def kernels(result):
    """Rendering against a copy."""
    copies = [[f"copy of {row['mib']} MiB", shown(row["gb_per_s"])] for row in result.get("copy", [])]
    rows = [[f"{row['recipe']}, {row['batch_size']} of {row['source']} to {row['size']}", f"{row['dtype']} {row['layout']}",
             shown(row["us_per_image"]), shown(row["gb_per_s"]), percent(row["share_of_copy"])]
            for row in result.get("render", [])]
    return [table(["on the device", "GB/s, read and written"], copies),
            table(["batch", "output", "µs an image", "GB/s", "of the copy's speed"], rows)]


def decode(result):
    """Rates by decoder and batch."""
    rows = [[row["backend"], row["batch_size"], row["decoded_by"] or "nobody", shown(row.get("images_per_s")),
             shown(row.get("cpu_s_per_1000")), shown(row.get("megapixels_per_s"))] for row in result.get("speed", [])]
    return [f"Files: {result.get('data')}.",
            table(["decoder", "batch", "decoded by", "images/s", "CPU-s per 1000", "megapixels/s"], rows)]


def end_to_end(result):
    """Medians of the rounds."""
    rows = []
    for mode in ("alone", "training"):
        for name in contenders(result):
            runs = [run for run in result["runs"] if run["contender"] == name and run["mode"] == mode]
            if runs:
                rows.append([name, mode, spread(runs, "images_per_s"), spread(runs, "cpu_s_per_1000"),
                             percent(middle(runs, "gpu_idle"))])
    return [trained(result), table(["loader", "mode", "images/s", "CPU-s per 1000", "GPU idle"], rows)]


def cores(result):
    """One row a loader and number of cores."""
    rows = []
    for name in contenders(result):
        for count in sorted({run["cores"] for run in result["runs"]}):
            by_mode = {run["mode"]: run for run in result["runs"] if (run["contender"], run["cores"]) == (name, count)}
            alone, training = by_mode.get("alone", {}), by_mode.get("training", {})
            rows.append([name, count, shown(alone.get("images_per_s")), shown(alone.get("cpu_s_per_1000")),
                         shown(training.get("images_per_s")), percent(training.get("fed")),
                         percent(training.get("gpu_idle"))])
    return [trained(result), table(["loader", "cores", "images/s alone", "CPU-s per 1000 alone",
                                    "images/s with the step", "trainer fed", "GPU idle"], rows)]


def trained(result):
    """What the trainer alone does."""
    work = result.get("work")
    if not work:
        return "Nothing was measured."
    return (f"{work['data']}, batches of {work['batch_size']}, {work['recipe']} to {work['dtype']}; the training step "
            f"({work['model']}, {work['precision']}) alone takes "
            f"{shown(result.get('trainer_alone_images_per_s'))} images/s.")


def contenders(result):
    """Names in the order in which they ran."""
    return list(dict.fromkeys(run["contender"] for run in result.get("runs", [])))


def middle(runs, key):
    """The median of what was measured."""
    values = [run[key] for run in runs if run.get(key) is not None]
    return statistics.median(values) if values else None


def spread(runs, key):
    """Median [smallest..largest]."""
    values = [run[key] for run in runs if run.get(key) is not None]
    return f"{number(middle(runs, key))} [{number(min(values))}..{number(max(values))}]" if values else NO_FIGURE


def shown(value):
    """A value, or that there is none."""
    return NO_FIGURE if value is None else number(value) if isinstance(value, float) else str(value)


def number(value):
    """Four digits, or all of a whole number's."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def percent(share):
    """A share in percent."""
    return NO_FIGURE if share is None else f"{100 * share:.0f} %"


def one_line(words):
    """A cause may be long and hold line breaks."""
    return " ".join(words.split())[:300].replace("|", "\\|")


def table(heads, rows):
    """A Markdown table; without rows, that there is none."""
    if not rows:
        return f"No result for: {', '.join(heads)}."
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(one_line(str(cell)) for cell in line) + " |" for line in lines)


TITLES = {
    "machine": "Machine",
    "tests": "Tests on the real driver",
    "parity": "Parity",
    "kernels": "Rendering speed",
    "decode": "Decoding speed",
    "end_to_end": "End to end",
    "cores": "Cores needed to keep the GPU fed",
}
MAKERS = {"machine": machine, "tests": tests, "parity": parity, "kernels": kernels, "decode": decode,
          "end_to_end": end_to_end, "cores": cores}
