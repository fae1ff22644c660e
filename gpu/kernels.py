#!/usr/bin/env python3
"""What the hardware counts of our kernels, and how fast batches are rendered, beside the fastest that memory allows: a copy on the device, measured here too.

A shape is a batch of so many images of one size, cropped and resampled to one size. The bytes counted are those that
must be moved at least: the decoded pixels that are read once, and the batch that is written once.
"""

import csv
import io
import shutil
import statistics

import kit

SHAPES = (
    # source, output, dtype, layout, batch
    ("500x375", 224, "f16", "nchw", 256),
    ("500x375", 224, "f32", "nchw", 256),
    ("500x375", 224, "u8", "nhwc", 256),
    ("500x375", 224, "f16", "nhwc", 256),
    ("500x375", 224, "f16", "nchw", 32),
    ("1920x1080", 224, "f16", "nchw", 256),
    ("640x480", 640, "f16", "nchw", 64),
    ("256x256", 64, "f16", "nchw", 1024),
)
TINY = ("64x48", 32, "f16", "nchw", 2)
COPIES_MIB = (256, 4096)
COPIES = 20
# What ncu reads: time, the processors' and the memory's share of their limits, occupancy.
COUNTERS = ("gpu__time_duration.sum", "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            "dram__throughput.avg.pct_of_peak_sustained_elapsed", "sm__warps_active.avg.pct_of_peak_sustained_active")
COUNTED_LAUNCHES = 12
# Of feedline's decoder: kernels whose launches are counted together, how many, and what is decoded, so that all of them have work:
# whole images of which nothing is known, and their files of coefficients.
DECODER_KERNELS = (("entropy|inverse_dct|planes_to_rgb", 4, "whole"), ("synchronise", 4, "whole"), ("expand", 1, "whole-packed"))
DECODED = 256
COUNTERS_S = 15


def copies(section):
    """The fastest that bytes move from the device's memory to itself; counted twice, as read and as written."""
    import torch

    for mib in COPIES_MIB:
        source = torch.randint(256, (mib << 20,), dtype=torch.uint8, device="cuda")  # zeros may move faster
        target = torch.empty_like(source)
        times = []
        for _ in range(COPIES + 3):
            began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            began.record()
            target.copy_(source)
            ended.record()
            ended.synchronize()
            times.append(began.elapsed_time(ended))
        rate = 2 * source.numel() / 1e6 / statistics.median(times[3:])
        section.add("copy", {"mib": mib, "gb_per_s": section.figure(rate)})
        del source, target


def render(section, arguments):
    """One shape with one recipe."""
    fastest = max((row["gb_per_s"] for row in section.result.get("copy", []) if row["gb_per_s"]), default=None)
    for row in kit.rows(section, arguments):
        share = row["gb_per_s"] / fastest if row["gb_per_s"] and fastest else None
        section.add("render", {**row, "share_of_copy": section.figure(share)})


def counters(section, arguments, launches, kernels=None):
    """The hardware's counters of some launches; ncu leaves the clocks alone. A dry run runs the program alone."""
    program = [kit.BIN / "gpu_measure", *arguments, *(["--simulated"] if section.simulated else [])]
    ncu = ["ncu", "--clock-control", "none", "--csv", "--metrics", ",".join(COUNTERS), "--launch-count", launches,
           *(["--kernel-name", f"regex:^({kernels})$"] if kernels else [])]
    if not section.simulated and not shutil.which("ncu"):
        raise RuntimeError("ncu is not installed")
    command = program if section.simulated else [*ncu, *program]
    limit = section.sized(min(section.left_s(), COUNTERS_S), section.left_s())
    status, output, errors = kit.run(command, limit, kit.environment(section.simulated))
    if section.simulated and status == 0:
        raise RuntimeError("the simulated device has no counters")
    found = counted(output)
    if not found:
        section.leave_out("gpu_measure" if section.simulated else "ncu", f"exit status {status}: {kit.tail(output + errors)}")
    for row in found:
        section.add("counters", row)


def decoder_counters(section):
    """Those of feedline's decoder."""
    batch = section.sized(DECODED, 2)
    for kernels, launches, mode in DECODER_KERNELS:
        counters(section, ["own-speed", "--data", kit.main_dataset(), "--batch-sizes", batch, "--modes", mode, "--once"],
                 launches, kernels)


def counted(output):
    """ncu's rows, which stand behind its own messages: one value for each launch and counter."""
    lines = output.splitlines()
    first = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    return [{"kernel": row["Kernel Name"].split("(")[0], "counter": row["Metric Name"], "unit": row["Metric Unit"],
             "value": row["Metric Value"]} for row in csv.DictReader(io.StringIO("\n".join(lines[first:])))]


def arguments_of(shape, recipe):
    """How `gpu_measure` is told of a shape."""
    source, size, dtype, layout, batch = shape
    return ["render-speed", "--source", source, "--size", size, "--dtype", dtype, "--layout", layout,
            "--batch-size", batch, "--recipe", recipe]


def main():
    """Writes kernels.json."""
    section = kit.Section("kernels", __doc__)
    section.attempt("ncu of the decoder", 5, lambda: decoder_counters(section))
    if section.simulated:
        section.leave_out("copy", "torch never meets the simulated driver")
    else:
        section.attempt("copy", 5, lambda: copies(section))
    for shape in section.sized(SHAPES, (TINY,)):
        for recipe in ("crop", "colour"):
            section.attempt(f"{recipe} {shape[0]} to {shape[1]}", 2,
                            lambda shape=shape, recipe=recipe: render(section, arguments_of(shape, recipe)))
    section.attempt("ncu of the renderer", 5, lambda: counters(
        section, arguments_of(section.sized(SHAPES[0], TINY), "colour"), COUNTED_LAUNCHES))


if __name__ == "__main__":
    main()
