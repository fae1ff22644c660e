#!/usr/bin/env python3
"""The plugs of trainers on a GPU: what each framework is given there, against the same batches of the CPU device.

Nothing is measured here: processes run beside each other.
"""

import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import kit
from plug_check import CHECKS

AT_ONCE = 5
LIMIT_S = 60


def main():
    """Writes plugs.json."""
    section = kit.Section("plugs", __doc__)
    with ThreadPoolExecutor(section.sized(AT_ONCE, 2)) as pool:
        for name, found in zip(CHECKS, pool.map(lambda name: check(section, name), CHECKS)):
            status, output, errors = found
            if status == 0:
                section.add("plugs", json.loads(output.splitlines()[-1]))
            elif "No module named" in errors and "No module named 'feedline" not in errors:
                section.leave_out("not installed", kit.tail(errors).splitlines()[-1])
            else:
                section.add("failed", {"plug": name, "status": status, "tail": kit.tail(errors)})
    failed = [row["plug"] for row in section.result.get("failed", [])]
    failed += [row["plug"] for row in section.result.get("plugs", []) if row["different"]]
    sys.exit(f"not as on the CPU: {', '.join(failed)}" if failed else 0)


def check(section, name):
    """One plug in a process of its own."""
    # JAX would take most of the GPU's memory for itself.
    variables = {**kit.environment(None), "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-B", kit.KIT / "gpu" / "plug_check.py", name, section.sized("cuda:0", "cpu")]
        limit_s = min(max(section.left_s(), 5), section.sized(LIMIT_S, 5 * LIMIT_S))
        return kit.run(command, limit_s, {**variables, "PLUG_OUT": os.path.join(out, "run")})


if __name__ == "__main__":
    main()
