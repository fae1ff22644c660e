#!/usr/bin/env python3
"""How fast batches are rendered, beside the fastest that memory allows: a copy on the device, measured here too.

A shape is a batch of so many images of one size, cropped and resampled to one size. The bytes counted are those that
must be moved at least: the decoded pixels that are read once, and the batch that is written once.
"""

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


def main():
    """Writes kernels.json."""
    section = kit.Section("kernels", __doc__)
    if section.simulated:
        section.leave_out("copy", "torch never meets the simulated driver")
    else:
        section.attempt("copy", 5, lambda: copies(section))
    for source, size, dtype, layout, batch in section.sized(SHAPES, (TINY,)):
        for recipe in ("crop", "colour"):
            arguments = ["render-speed", "--source", source, "--size", size, "--dtype", dtype, "--layout", layout,
                         "--batch-size", batch, "--recipe", recipe]
            section.attempt(f"{recipe} {source} to {size}", 2, lambda: render(section, arguments))


if __name__ == "__main__":
    main()
