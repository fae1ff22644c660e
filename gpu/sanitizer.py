#!/usr/bin/env python3
"""Our kernels under compute-sanitizer: the CPU decodes here, so that no other kernel runs."""

import shutil

import kit

PLANS = 8
TOOLS = ("memcheck", "racecheck", "initcheck")


def check(section, tool):
    """A short run of the kernels. In a dry run the same command runs, but without the sanitizer, which needs a GPU."""
    program = [kit.BIN / "gpu_measure", "render-parity", "--data", kit.DATA / kit.PHOTOS, "--plans",
               section.sized(PLANS, 1), "--seconds", section.sized(20, 1), "--batch-size", section.sized(16, 3)]
    if section.simulated:
        command = [*program, "--simulated"]
    elif shutil.which("compute-sanitizer"):
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *program]
    else:
        raise RuntimeError("compute-sanitizer is not installed")
    status, output, errors = kit.run(command, min(section.left_s(), 40), kit.environment(section.simulated))
    section.add("sanitizer", {"tool": tool, "status": status, "tail": kit.tail(output + errors)})


def main():
    """Writes sanitizer.json."""
    section = kit.Section("sanitizer", __doc__)
    for tool in section.sized(TOOLS, TOOLS[:1]):
        section.attempt(tool, 8, lambda tool=tool: check(section, tool))
    if section.simulated:
        section.put("not_simulated", TOOLS)


if __name__ == "__main__":
    main()
