#!/usr/bin/env python3
"""Our kernels under compute-sanitizer: those of the decoder, and those that render, where the CPU decodes. No other runs."""

import shutil

import kit

TOOLS = ("memcheck", "racecheck", "initcheck")
# Plans for the renderer, and files for the decoder.
PLANS, FILES = 8, 4


def programs(section):
    """What runs under it."""
    photos = kit.DATA / kit.PHOTOS
    return {
        "decoder": ["own-parity", "--data", photos, "--name", kit.PHOTOS, "--files", section.sized(FILES, 1), "--parts", 1],
        "renderer": ["render-parity", "--data", photos, "--plans", section.sized(PLANS, 1), "--seconds",
                     section.sized(10, 1), "--batch-size", section.sized(16, 3)],
    }


def check(section, tool, kernels, parts):
    """A short run of the kernels. In a dry run the same command runs, but without the sanitizer, which needs a GPU."""
    program = [kit.BIN / "gpu_measure", *programs(section)[kernels]]
    if section.simulated:
        command = [*program, "--simulated"]
    elif shutil.which("compute-sanitizer"):
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *program]
    else:
        raise RuntimeError("compute-sanitizer is not installed")
    status, output, errors = kit.run(command, section.share_s(parts, 40.0, 5.0), kit.environment(section.simulated))
    section.add("sanitizer", {"tool": tool, "kernels": kernels, "status": status, "tail": kit.tail(output + errors)})


def main():
    """Writes sanitizer.json."""
    section = kit.Section("sanitizer", __doc__)
    parts = [(tool, kernels) for tool in section.sized(TOOLS, TOOLS[:1]) for kernels in programs(section)]
    for number, (tool, kernels) in enumerate(parts):
        section.attempt(f"{tool}, {kernels}", 4, lambda tool=tool, kernels=kernels, left=len(parts) - number: check(
            section, tool, kernels, left))
    if section.simulated:
        section.put("not_simulated", TOOLS)


if __name__ == "__main__":
    main()
