"""Measures what a wheel costs, in an empty environment without Rust: python release/measure.py WHEEL

Prints the sizes of wheel and installed package, seconds to install it, milliseconds to import it (by `-X importtime`, median of
five processes after one that compiles the bytecode), and threads and resident memory after the import, with a loader, in its
first epoch, and once it is closed.
"""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ELSEWHERE = "/"  # no folder of Python files

#: Prints threads and resident MB by stage.
STAGES = f"""
import pathlib

def stage(name):
    text = pathlib.Path("/proc/self/status").read_text()
    fields = dict(line.split(":", 1) for line in text.splitlines())
    print(f"{{name}}: {{int(fields['Threads'])}} threads, {{int(fields['VmRSS'].split()[0]) / 1024:.1f}} MiB")

stage("without feedline")
import feedline
stage("imported")
loader = feedline.Loader({str(ROOT / "data" / "photos")!r}, 16, transforms=[feedline.RandomResizedCrop(224)])
stage("with a loader")
batches = iter(loader)
next(batches)
stage("in an epoch")
del batches
loader.close()
stage("closed")
"""


def main(wheel):
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": "/usr/bin:/bin", "HOME": folder}
        run([sys.executable, "-m", "venv", folder], environment)
        python = f"{folder}/bin/python"
        print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs")
        print(f"wheel: {pathlib.Path(wheel).stat().st_size:,} bytes")
        began = time.perf_counter()
        run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel], environment)
        print(f"pip install: {time.perf_counter() - began:.1f} s")
        site = next(pathlib.Path(folder, "lib").glob("python*/site-packages"))
        for part in ("feedline", "feedline/_feedline*.so", "feedline-*.dist-info"):
            for found in site.glob(part):
                files = [found] if found.is_file() else found.rglob("*")
                size = sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc")
                print(f"installed: {size:,} bytes in {found.relative_to(site)}")
        times = [import_ms(python, environment) for _ in range(6)][1:]
        print(f"import feedline: {statistics.median(times):.1f} ms [{min(times):.1f}..{max(times):.1f}]")
        print(run([python, "-c", STAGES], environment), end="")


def import_ms(python, environment):
    """Of the whole package, what it imports of Python's own library included."""
    report = run([python, "-X", "importtime", "-c", "import feedline"], environment)
    total = re.search(r"\|\s*(\d+) \| feedline$", report, re.MULTILINE)
    return int(total.group(1)) / 1000


def run(command, environment):
    done = subprocess.run(command, env=environment, cwd=ELSEWHERE, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__))
