"""What the sections share: where the kit lies, how its programs are run, and where results go.

A section is a script that measures one thing and writes one JSON file. It saves after every figure, so that a section
that runs out of time keeps what it has. On a simulated driver there are no figures: whatever is measured in seconds is
stored as null.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

KIT = Path(__file__).resolve().parent.parent
# What `gpu/run` unpacks beside the scripts; the data are packed by being JPEGs.
UNPACKED = KIT / "unpacked"
# Where the driver keeps kernels that it has translated: in many containers it could not write to $HOME.
TRANSLATED = UNPACKED / "translated"
BIN = UNPACKED / "bin"
LIB = UNPACKED / "lib"
SITE = UNPACKED / "site"
DATA = KIT / "data"
PHOTOS = "photos"
SUFFIXES = {".jpg", ".jpeg"}
TAIL_CHARACTERS = 2000
SEED = 1


class Section:
    """The command line and the result file of one section."""

    def __init__(self, name, doc):
        parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("out", type=Path, help="folder for NAME.json")
        parser.add_argument("--limit", type=float, default=600, help="seconds after which nothing new is begun")
        parser.add_argument("--simulated", type=Path, metavar="LIB",
                            help="folder of the simulated libraries: tiny sizes, no figures")
        args = parser.parse_args()
        self.out = args.out.resolve()
        self.path = self.out / f"{name}.json"
        self.simulated = args.simulated and args.simulated.resolve()
        self.ends = time.monotonic() + args.limit
        self.result = {"section": name, "left_out": []}

    def left_s(self):
        """Seconds that remain."""
        return self.ends - time.monotonic()

    def sized(self, real, tiny):
        """A size: `real` on a GPU, `tiny` on the simulated one, which is thousands of times slower."""
        return tiny if self.simulated else real

    def figure(self, value, digits=4):
        """A measured value, rounded; nothing where the device is simulated."""
        return None if self.simulated or value is None else float(f"{value:.{digits}g}")

    def put(self, key, value):
        """Keeps a value and saves all."""
        self.result[key] = value
        self.path.write_text(json.dumps(self.result, indent=1) + "\n")

    def add(self, key, row):
        """Appends to a list and saves all."""
        self.put(key, [*self.result.get(key, []), row])

    def leave_out(self, what, why):
        """A part that was not measured is named with its cause, never passed over."""
        self.put("left_out", [*self.result["left_out"], f"{what}: {why}"])

    def attempt(self, what, needs_s, action):
        """Does a part if its time is left; a failure is kept as its cause and does not stop the others."""
        if self.left_s() < needs_s:
            self.leave_out(what, f"needs {needs_s:g} s and {max(self.left_s(), 0):.0f} s were left")
            return None
        try:
            return action()
        except Exception as error:  # Whatever it is, the other parts are worth having.
            self.leave_out(what, f"{type(error).__name__}: {error}"[:TAIL_CHARACTERS])
            return None

    def share_s(self, parts, most, least=1.0, beside=0.0):
        """Seconds to measure for, when so many parts are to come and each takes so many seconds besides."""
        return max(min(self.left_s() / max(parts, 1) - beside, most), least)


def driver(simulated):
    """The CUDA driver's library."""
    return simulated / "libcuda.so.1" if simulated else Path("libcuda.so.1")


def nvjpeg(simulated):
    """nvJPEG's library: the kit's own on a GPU."""
    return (simulated or LIB) / "libnvjpeg.so.13"


def environment(simulated):
    """The environment of feedline's programs: the kit's nvJPEG on a GPU, or the simulated libraries.

    Only these programs get it: torch has its own nvJPEG, and must never meet a simulated driver.
    """
    variables = {**os.environ, "RUST_BACKTRACE": "0", "CUDA_CACHE_PATH": str(TRANSLATED)}
    if simulated:
        variables["LD_LIBRARY_PATH"] = str(simulated)
        variables["FAKENVJPEG_DECODER"] = str(simulated / "libfake_pixels.so")
        variables.setdefault("FAKECUDA", "mode=random,seed=1,report=0")
    if nvjpeg(simulated).exists():
        variables["FEEDLINE_NVJPEG"] = str(nvjpeg(simulated))
    return variables


def run(command, timeout_s, env=None, cwd=None):
    """Runs a command with everything it starts, and ends all of it at the limit. Returns status, output, errors."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, errors="replace", env=env, cwd=cwd)
    try:
        output, errors = process.communicate(timeout=max(timeout_s, 1))
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        end_with_children(process.pid)
        output, errors = process.communicate()
        return None, output, f"{errors}\nended after {timeout_s:.0f} s"


def end_with_children(pid):
    """Ends a process and all below it: what a killed section leaves running would disturb the next one."""
    import psutil  # not needed where everything ends by itself

    for process in [*psutil.Process(pid).children(recursive=True), psutil.Process(pid)]:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            pass


def tail(text):
    """The last lines of a program's output."""
    return text.strip()[-TAIL_CHARACTERS:]


def json_lines(output):
    """The JSON objects among a program's lines."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{") and line.endswith("}")]


def rows(section, arguments, part=None):
    """Runs `gpu_measure` and returns the JSON objects it printed, also those that came before a failure.

    A failure is left out by the command's name, behind that of the part that it belongs to.
    """
    command = [BIN / "gpu_measure", *arguments, *(["--simulated"] if section.simulated else [])]
    status, output, errors = run(command, section.left_s(), environment(section.simulated))
    if status != 0:
        name = f"gpu_measure {arguments[0]}"
        section.leave_out(f"{part}, {name}" if part else name, f"exit status {status}: {tail(errors)}")
    return json_lines(output)


def datasets():
    """The kit's data sets by name, in the order in which they were given when the kit was made; the bundled one last."""
    names = json.loads((KIT / "about.json").read_text())["data"]
    return {name: DATA / name for name in [*names, PHOTOS]}


def main_dataset():
    """The data set that speed is measured on: the first that was given, or else the bundled photographs."""
    return next(iter(datasets().values()))


def many(folder, least, links):
    """At least so many files of a folder, under as many names as that takes: links to them in the empty folder `links`."""
    files = files_of(folder)
    for number in range(max(least, len(files))):
        (links / f"{number:06}.jpg").symlink_to(files[number % len(files)])
    return links


def import_packages(section):
    """Makes feedline's Python package, and the peers' of this Python's version, importable, with the kit's nvJPEG."""
    for name, value in environment(section.simulated).items():
        os.environ[name] = value
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    sys.path[:0] = [str(SITE / "feedline"), str(SITE / tag)]


def files_of(folder):
    """Every JPEG below a folder, in an order that is always the same."""
    return sorted(str(path) for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)


def shuffled(items, count):
    """`count` items: whole shuffled rounds, one behind the other."""
    rng = random.Random(SEED)
    found = []
    while len(found) < count:
        found += rng.sample(items, len(items))
    return found[:count]
