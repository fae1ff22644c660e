"""Results as Markdown tables: printed where they are measured, and written into a page by `gpu/report`."""

import acceptance
import schedule

NO_FIGURE = "–"
# What is known of a JPEG; a file of coefficients has no decode index.
KNOWN = {True: "by decode index", False: "nothing known", None: "files of coefficients"}
# What a dry run may leave out.
NOT_SIMULATED = ("copy", "ncu of the decoder", "ncu of the renderer", "captures", "not installed")
# What no run may leave out: what was not compared is not equal.
NEVER_LEFT_OUT = "feedline's decoder"
# Files that the device should have decoded: where it has decoded none, nothing was compared.
NOT_DECODED = ("not settled", "no room")


def is_sound(results):
    """Whether all sections ended by themselves and nothing in them was wrong; parts without time are no fault."""
    return all(section_is_sound(result, results["simulated"]) for result in results["sections"].values())


def section_is_sound(result, simulated):
    """The same of one section; in a dry run every part must have been done."""
    if result["ended"] != "done":
        return False
    if simulated and not all(part.split(":")[0] in NOT_SIMULATED for part in result["left_out"]):
        return False
    if any(part.startswith(NEVER_LEFT_OUT) for part in result["left_out"]):
        return False
    wrong = [row for key in ("render", "region", "hazard") for row in result.get(key, [])
             if row.get("required", True) and row.get("different", 0)]
    wrong += [row for row in result.get("own", []) if "entry" in row and not is_equal(row)]
    wrong += [row for row in result.get("damage", []) if row["backend"] == "feedline" and not is_unimpressed(row)]
    return not wrong and not any(run["status"] for run in result.get("sanitizer", []))


def is_equal(row):
    """Whether feedline's decoder on the GPU has given what the CPU's gives: pixels, decode indexes and verdicts."""
    if row["different"] or row["indexes_different"] or row["wrong_verdicts"]:
        return False
    return row["files"] > 0 or not any(why in row["left_out"] for why in NOT_DECODED)


def is_unimpressed(row):
    """Whether a damaged file has done no harm to the files beside it and behind it."""
    unharmed = [row["sound_files_beside"], row["sound_files_after"]]
    return row["process"] == "goes on" and unharmed == ["as before"] * 2


def text(results):
    """All tables, one behind the other."""
    lines = [machine_line(results)]
    if results["simulated"]:
        lines.insert(0, "DRY RUN on the simulated driver: nothing below is about a GPU.")
    lines += [part for name, result in results["sections"].items() for part in section(name, result)]
    compared = [] if results["simulated"] else acceptance.lines(results)
    lines += ["### feedline's decoder beside the others", *compared] if compared else []
    return "\n\n".join(lines) + "\n"


def section(name, result):
    """A section's heading, tables and what was left out."""
    parts = [f"### {schedule.TITLES[name]}"]
    if "of" in result:
        parts.append(f"Of an earlier run: {machine_line(result['of'])}")
    parts += MAKERS[name](result)
    if result["ended"] != "done":
        parts.append(f"How it ended: {result['ended']}. {one_line(result.get('tail', ''))}")
    if result["left_out"]:
        parts.append("Left out:\n" + "\n".join(f"* {one_line(part)}" for part in result["left_out"]))
    return parts


def machine_line(results):
    """What it was measured on."""
    return (f"{results['gpu']}, driver {shown(results['driver'])}, nvJPEG {shown(results['nvjpeg'])}, "
            f"{results['cores']} cores of {results['cpu']}; commit {results['commit']}, built as {results['profile']}.")


def start(result):
    """Constants."""
    libraries = ", ".join(f"{name} {state.split(':')[0]}" for name, state in result.get("libraries", {}).items())
    rows = [[f"first batch, {'kernels cached' if row['kernels_cached'] else 'kernels translated'}", shown(row["s"]), "s"]
            for row in result.get("first_batch", [])]
    rows += [[f"translating `{name}`", shown(seconds), "s"] for name, seconds in result.get("translation_s", {}).items()]
    rows += [[f"copy {row['way']}, {row['mib']} MiB, pinned", shown(row["gb_per_s"]), "GB/s"]
             for row in result.get("copies", [])]
    rows += [[f"recording an event{' with timing' if row['timing'] else ''} (worst {shown(row['worst_us'])})",
              shown(row["us"]), "µs"] for row in result.get("events", [])]
    rows += [[f"{what} {row['mib']} MiB", shown(row[key]), "µs"] for row in result.get("allocations", [])
             for what, key in (("allocating", "allocate_us"), ("freeing", "free_us"))]
    load = result.get("free_under_load")
    rows += [[f"freeing 2 MiB with {shown(load['work_ms'])} ms of work queued", shown(load["free_ms"]), "ms"]] if load else []
    return [f"Libraries: {libraries or 'simulated'}.", table(["what", "figure", "unit"], rows)]


# What a row of the comparison says of files that only one of the two takes.
VERDICTS = ("found_damaged", "damaged_but_taken")


def parity(result):
    """Equal, or by how much not."""
    own = [[row["name"], row["entry"], row["of"], row["files"], f"{row['values']:,}", f"{row['different']:,}",
            f"{row['indexes'] - row['indexes_different']} of {row['indexes']}" if row["indexes"] else NO_FIGURE,
            row["wrong_verdicts"],
            counts(row["left_out"]), row["device_hash"]] for row in result.get("own", [])]
    wrong = [f"* {one_line(str({key: row[key] for key in ('name', 'entry', 'first', *VERDICTS)}))}"
             for row in result.get("own", []) if not is_equal(row)]
    equal = [[row["what"], f"{row['values']:,}", f"{row['different']:,}", shown(row["largest"])]
             for row in result.get("render", [])]
    decoded = [[row["name"], row["backend"], row["files"], NO_FIGURE if row["equal"] is None else f"{100 * row['equal']:.3f} %",
                shown(row["max"]), shown(row["mean"]), shown(row["p99"])] for row in result.get("decode", [])]
    parts = {}
    for row in result.get("region", []):
        parts.setdefault((row["kind"], row["backend"], row["values"]), {})[row["around"]] = row["different"]
    heads = list(dict.fromkeys(row["around"] for row in result.get("region", [])))
    region = [[kind, backend, f"{values:,}", *(f"{found.get(head, 0):,}" for head in heads)]
              for (kind, backend, values), found in parts.items()]
    overwritten = [[row["what"], f"{row['of']} {row['values']:,}", f"{row['different']:,}"]
                   for row in result.get("hazard", [])]
    return ["feedline's decoder on the GPU against the CPU's, every image:",
            table(["files", "entered by", "of each", "compared", "values", "different", "same decode index",
                   "wrong verdicts", "left to the CPU", "hash of the pixels"], own),
            *(["What differs:\n" + "\n".join(wrong)] if wrong else []),
            "Overwriting:", table(["what", "of", "different"], overwritten),
            "Rendering, and whole batches from files, the GPU against the CPU:", table(["of what", "values", "different", "largest"], equal),
            "nvJPEG's decoders against the CPU:",
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
    counters = [[row["kernel"], row["counter"], row["value"], row["unit"]] for row in result.get("counters", [])]
    return [table(["kernel", "counter", "value", "unit"], counters),
            table(["on the device", "GB/s, read and written"], copies),
            table(["batch", "output", "µs an image", "GB/s", "of the copy's speed"], rows)]


def support(result):
    """Who takes what, and what damage does."""
    taken = [[row["kind"], row["backend"], "part" if row["part"] else "whole", f"{row['taken']} of {row['files']}",
              row["by_others"], row["refused"], row["cause"] or ""] for row in result.get("support", [])]
    flags = [[row["backend"], row["flags"], ", ".join(row["whole"]) or "none", ", ".join(row["part"]) or "none",
              row["why"] or ""] for row in result.get("flags", [])]
    damage = [[row["file"], row["backend"], row["decoded_by"] or "nobody", row["sound_files_beside"] or NO_FIGURE,
               row["sound_files_after"] or NO_FIGURE, row["process"], row["cause"] or ""] for row in result.get("damage", [])]
    return ["Files that a decoder took when it was the one to be used:",
            table(["kind", "decoder", "asked for", "taken", "by others", "refused", "first cause"], taken),
            "What nvJPEG says that it supports:", table(["backend", "flags", "whole", "in part", "why not"], flags),
            "Damaged files, one by one:",
            table(["file", "decoder", "decoded by", "sound files beside it", "after it", "process", "cause"], damage)]


def decode(result):
    """Rates by decoder and batch: feedline's own, what its time and its bytes are, and the others."""
    common = [[row["data"], row["files"], row["compared"]] for row in result.get("common", [])]
    own = [[row["data"], wanted(row), row["batch_size"], row["taken"], row["left_out"], shown(row["images_per_s"]),
            shown(row["cpu_s_per_1000"]), shown(row["with_copies_per_s"]), shown(row["decoded_per_s"])]
           for row in result.get("own", [])]
    times = [[row["data"], wanted(row), row["batch_size"], shown(row["us_per_image"]),
              ", ".join(f"{name} {shown(us)}" for name, us in row["kernels_us"].items()), rounds(row["settling"]),
              row["bytes_to_device"], row["bytes_to_host"]] for row in result.get("own", [])]
    others = [[row["data"], row["library"], row["batch_size"], shown(row["images_per_s"]), shown(row["cpu_s_per_1000"])]
              for row in result.get("others", [])]
    rows = [[row["data"], row["backend"] + (", samplings in one call" if row["mixed"] else ""), row["batch_size"],
             row["decoded_by"] or "nobody", shown(row.get("images_per_s")), shown(row.get("cpu_s_per_1000")),
             shown(row.get("megapixels_per_s"))] for row in result.get("speed", [])]
    return ["Files that all decoders are made for, which all are given:", table(["files", "there are", "of these"], common),
            "feedline's decoder:",
            table(["files", "decoded", "batch", "by the device", "files left out", "images/s, from memory", "CPU-s per 1000",
                   "kernels and copies alone", "kernels alone"], own),
            "GPU time, in µs an image:",
            table(["files", "decoded", "batch", "all kernels", "each", "rounds of synchronisation",
                   "bytes an image to the device", "to the host"], times),
            "nvJPEG's decoders:",
            table(["files", "decoder", "batch", "decoded by", "images/s", "CPU-s per 1000", "megapixels/s"], rows),
            "Other libraries:", table(["files", "library", "batch", "images/s", "CPU-s per 1000"], others)]


def wanted(row):
    """What is decoded, and what was known of the files."""
    return f"{'crops' if row['wanted'] == 'crop' else 'whole'}, {KNOWN[row['index']]}"


def rounds(found):
    """After how many rounds the cuts of a file fit each other."""
    if not found["cut_pieces"]:
        return "no cuts"
    each = f"median {found['median']}, 90 % {found['p90']}, largest {found['largest']}"
    return f"{each}; {found['unsettled_cuts']} of {found['cuts']} cuts unsettled"


def end_to_end(result):
    """One row for each decoder and number of cores."""
    rows = [[run["decoder"], run["cores"], shown(run["images_per_s"]), shown(run["cpu_s_per_1000"]),
             shown(run["first_batch_s"]), counts(run["decoded_by"]), run["limiting_stage"] or NO_FIGURE, run["failures"]]
            for run in result.get("runs", [])]
    return [worked(result), table(["decoder", "cores", "images/s", "CPU-s per 1000", "first batch, s", "decoded by",
                                   "limited by", "bad samples"], rows)]


def counts(decoded_by):
    """How many images each decoder took."""
    return ", ".join(f"{name} {count}" for name, count in (decoded_by or {}).items()
                     if isinstance(count, int) and count) or NO_FIGURE


def plugs(result):
    """One row for each framework."""
    rows = [[row["plug"], row["images_on"], row["batches"], f"{row['values']:,}", f"{row['different']:,}"]
            for row in result.get("plugs", [])]
    failed = [f"* {row['plug']}: {one_line(row['tail'])}" for row in result.get("failed", [])]
    return [table(["given to", "images on", "batches", "values", "different"], rows),
            *(["What failed:\n" + "\n".join(failed)] if failed else [])]


def graphs(result):
    """One row for each place of the batch."""
    rows = [[row["what"], row.get("captures"), row.get("failed_captures"), row.get("refused"), f"{row.get('values', 0):,}",
             row.get("different"), row.get("ended") or row.get("loader") or row.get("first_failure") or ""]
            for row in result.get("graphs", [])]
    return [table(["while graphs are captured", "captures", "failed", "batches refused", "values", "different", "error"], rows)]


def training(result):
    """One row for each model, loader and number of cores."""
    rows = [[run["model"], run["contender"], run["cores"], shown(run["images_per_s"]), percent(run["fed"]),
             percent(run["gpu_idle"]), shown(run["cpu_s_per_1000"])] for run in result.get("runs", [])]
    alone = ", ".join(f"{model} {shown(rate)}" for model, rate in result.get("alone_images_per_s", {}).items())
    return [f"{worked(result)} Images/s with nothing to wait for: {alone or NO_FIGURE}.",
            table(["model", "loader", "cores", "images/s", "trainer fed", "GPU idle", "CPU-s per 1000"], rows)]


def peers(result):
    """One row for each loader and mode."""
    rows = [[run["contender"], run["mode"], shown(run["images_per_s"]), shown(run["cpu_s_per_1000"]),
             percent(run["gpu_idle"])] for run in result.get("runs", [])]
    return [worked(result), table(["loader", "mode", "images/s", "CPU-s per 1000", "GPU idle"], rows)]


def sanitizer(result):
    """What each tool found."""
    rows = [[run["kernels"], run["tool"] + (" (not run: simulated)" if "not_simulated" in result else ""),
             {0: "clean", None: "no result in time"}.get(run["status"], f"exit status {run['status']}")]
            for run in result.get("sanitizer", [])]
    return [table(["kernels", "compute-sanitizer", "result"], rows)]


def worked(result):
    """On what."""
    work = result.get("work")
    return f"{work['data']}, batches of {work['batch_size']}." if work else "Nothing was measured."


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


MAKERS = {"start": start, "parity": parity, "support": support, "decode": decode, "kernels": kernels,
          "end_to_end": end_to_end, "plugs": plugs, "graphs": graphs, "training": training, "peers": peers,
          "sanitizer": sanitizer}
