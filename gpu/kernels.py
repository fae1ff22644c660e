#!/usr/bin/env python3
"""How fast batches are rendered, beside the fastest that memory allows: a copy on the device, measured here too.

A shape is a batch of so many images of one size, cropped and resampled to one size. The bytes counted are those that
must be moved at least: the decoded pixels that are read once, and the batch that is written once.
"""

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


def main():
    """Writes kernels.json."""
    section = kit.Section("kernels", __doc__)
    section.attempt("copy", 2, lambda: [section.add("copy", row) for row in kit.rows(section, ["copy"])])
    for source, size, dtype, layout, batch in section.sized(SHAPES, (TINY,)):
        for recipe in ("crop", "colour"):
            arguments = ["render-speed", "--source", source, "--size", size, "--dtype", dtype, "--layout", layout,
                         "--batch-size", batch, "--recipe", recipe]
            section.attempt(f"{recipe} {source}", 2,
                            lambda arguments=arguments: [section.add("render", row)
                                                         for row in kit.rows(section, arguments)])


if __name__ == "__main__":
    main()
