#!/usr/bin/env python3
"""The CUDA tests on the real driver, the hazards of a fast GPU, and short runs under compute-sanitizer."""

import re
import shutil

import kit

SANITIZER_PLANS = 8
SANITIZERS = ("memcheck", "racecheck")


def cuda_tests(section):
    """The test program that otherwise runs on the simulated driver; FEEDLINE_CUDA=real makes it take the GPU."""
    program = kit.BIN / "cuda_tests"
    environment = {**kit.environment(section.simulated), "FEEDLINE_CUDA": "real"}
    status, output, errors = kit.run([program], min(section.left_s(), 60), environment, cwd=kit.KIT)
    counted = re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", output)
    passed, failed, ignored = (sum(int(line[column]) for line in counted) for column in range(3))
    names = re.findall(r"^test (.+?) \.\.\. FAILED", output, re.MULTILINE)
    section.put("cuda_tests", {"status": status, "passed": passed, "failed": failed, "ignored": ignored,
                               "names_failed": names,
                               "tail": kit.tail(output if status is not None and not names else output + errors)})


def hazard(section):
    """Decoding into memory right behind its last reader, decoder by decoder and in whole batches.

    On Hopper the hardware decoder writes without waiting for earlier work on its stream, so this is what goes wrong
    first. The rows without the host's wait say whether this GPU is such a one; in the others nothing may differ.
    """
    for found in kit.rows(section, ["hazard", "--data", kit.main_dataset(),
                                    "--seconds", section.sized(16, 1), "--batch-size", section.sized(64, 4)]):
        section.add("hazard", found)


def sanitizer(section, tool):
    """A short run of the kernels under compute-sanitizer."""
    if not shutil.which("compute-sanitizer"):
        raise RuntimeError("compute-sanitizer is not installed")
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", kit.BIN / "gpu_measure", "render-parity",
               "--data", kit.DATA / "photos", "--plans", SANITIZER_PLANS]
    status, output, errors = kit.run(command, min(section.left_s(), 40), kit.environment(section.simulated))
    section.add("sanitizer", {"tool": tool, "status": status, "tail": kit.tail(output + errors)})


def main():
    """Writes tests.json."""
    section = kit.Section("tests", __doc__)
    section.attempt("CUDA tests", 10, lambda: cuda_tests(section))
    section.attempt("hazard", 5, lambda: hazard(section))
    for tool in SANITIZERS:
        section.attempt(tool, 15, lambda tool=tool: sanitizer(section, tool))


if __name__ == "__main__":
    main()
