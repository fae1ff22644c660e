"""Whether feedline's decoder is as fast as it has to be: at least three times the fastest of nvJPEG, nvImageCodec and DALI.

On the main data set in batches of 256, of which all decoders get the same files: those that each of them is made for. Where it
is not fast enough, the profile of its time says why. Whole images of which nothing is known cost feedline's decoder the most
work, so they are what is compared.
"""

TIMES = 3
BATCH_SIZE = 256
# Decoders of `feedline bench` that are nvJPEG's, and the library that the peers' section measures from files to batches.
NVJPEG = ("nvjpeg-hardware", "nvjpeg", "nvjpeg-gpu", "nvjpeg-hybrid")
LIBRARY = "nvImageCodec, GPU decode"
# Without a figure of each of these, nothing is met.
WANTED = ("nvJPEG, hardware", "nvImageCodec")


def lines(results):
    """A line for decoding, one from files to batches, and what limits feedline's decoder where it falls short."""
    sections = results["sections"]
    if "decode" not in sections:
        return []
    data, ours = own_rows(sections["decode"])
    verdict = decoding(data, ours, sections["decode"])
    profile = [] if verdict.startswith("Decoding: met") else [why_not(ours)]
    return [verdict, *profile, whole_path(results)]


def own_rows(decode):
    """The main data set, and feedline's rows on it in batches of the size that counts: by what is wanted and known."""
    rows = decode.get("own", [])
    data = rows[0]["data"] if rows else None
    rows = [row for row in rows if row["data"] == data and row["batch_size"] == BATCH_SIZE and row["images_per_s"]]
    return data, {(row["wanted"], row["index"]): row for row in rows}


def verdict_of(rate, others, missing):
    """`met`, `NOT met`, or that nothing is decided, by the fastest of the others and by who was not measured."""
    name, fastest = max(others.items(), key=lambda other: other[1])
    found = f"{rate:,.0f} images/s, {rate / fastest:.1f} times {name} with {fastest:,.0f}"
    if rate < TIMES * fastest:
        return f"NOT met (at least {TIMES} times the fastest other one)", found
    if missing:
        return f"not decided ({', '.join(missing)} not measured)", found
    return f"met (at least {TIMES} times the fastest other one)", found


def decoding(data, ours, decode):
    """From files in the host's memory to pixels in the device's."""
    def is_compared(row):
        return row["data"] == data and row["batch_size"] == BATCH_SIZE and row.get("images_per_s")

    others = {}
    for row in filter(is_compared, decode.get("speed", [])):
        # The engines are measured in two ways, of which the faster one counts.
        name = f"nvJPEG, {row['backend']}"
        others[name] = max(others.get(name, 0), row["images_per_s"])
    others |= {row["library"]: row["images_per_s"] for row in filter(is_compared, decode.get("others", []))
               if row["library"] == "nvImageCodec"}
    whole, crop = ours.get(("whole", False)), ours.get(("crop", True))
    if not whole or not others:
        return "Decoding: not decided, no figures to compare."
    if whole["left_out"]:
        return f"Decoding: not decided, feedline's decoder has left out {whole['left_out']} files that the others had to decode."
    word, found = verdict_of(whole["images_per_s"], others, [name for name in WANTED if name not in others])
    fastest = max(others.values())
    crops = f"; crops by decode index {crop['images_per_s'] / fastest:.1f} times" if crop else ""
    return f"Decoding: {word}, {data} in batches of {BATCH_SIZE}: whole images with nothing known {found}{crops}."


def why_not(ours):
    """What its time goes to, where that was measured."""
    row = ours.get(("whole", False))
    if not row:
        return "No profile: feedline's decoder was not measured."
    rates = {"the host's part": row["images_per_s"], "copies": row["with_copies_per_s"], "kernels": row["decoded_per_s"]}
    # Each figure holds what the next one leaves out.
    limit = "kernels" if row["images_per_s"] > 0.8 * row["decoded_per_s"] else (
        "copies" if row["images_per_s"] > 0.8 * row["with_copies_per_s"] else "the host's part")
    each = sorted(row["kernels_us"].items(), key=lambda kernel: -(kernel[1] or 0))
    sum_us = sum(us or 0 for _, us in each) or 1
    kernels = ", ".join(f"{name} {100 * (us or 0) / sum_us:.0f} %" for name, us in each)
    return (f"Limited by {limit}: {', '.join(f'{name} {rate:,.0f} images/s' for name, rate in rates.items())}; of the kernels' "
            f"time {kernels}; {row['cpu_s_per_1000']:.3g} CPU-seconds per 1000; {row['settling']['unsettled_cuts']} cuts "
            f"unsettled, at most {row['settling']['largest']} rounds.")


def whole_path(results):
    """From files to batches, where DALI can be compared too: reading and rendering are in all of these figures."""
    sections = results["sections"]
    runs = sections.get("end_to_end", {}).get("runs", [])
    cores = max((run["cores"] for run in runs), default=None)
    runs = {run["decoder"]: run["images_per_s"] for run in runs if run["cores"] == cores and run["images_per_s"]}
    others = {name: runs[name] for name in NVJPEG if name in runs}
    others |= {run["contender"]: run["images_per_s"] for run in sections.get("peers", {}).get("runs", [])
               if run["mode"] == "alone" and run["contender"] == LIBRARY and run["images_per_s"]}
    dali = results.get("dali")
    others |= {dali["loader"]: dali["images_per_s"]} if dali else {}
    hint = "" if dali else " DALI: `gpu/dali.py FOLDER > OUT_DIR/dali.json`."
    if "feedline" not in runs or not others:
        return f"From files to batches: not decided, no figures to compare.{hint}"
    missing = [name for name in ("nvjpeg-hardware", LIBRARY) if name not in others] + ([] if dali else ["DALI"])
    word, found = verdict_of(runs["feedline"], others, missing)
    return f"From files to batches: {word}, on {cores} cores: {found}.{hint}"
