#!/usr/bin/env python3
"""Tests the tests of the CUDA path: puts known mistakes into the sources, one at a time, and expects a test to fail.

    testdouble/mutants.py                 all of mutants.toml
    testdouble/mutants.py --only slot     those whose file or reason holds the word
    testdouble/mutants.py --part 2/3      the second third of them
    testdouble/mutants.py --list          what there is, without running

A mutant is a file, a text that occurs in it once (with `everywhere` at least once), its replacement, the reason, and who
must notice. The work is done in a copy of the tree below target/mutants, so the sources stay as they are. Every mutant that
nobody notices is an error: a test is missing, or what was removed is not needed.
"""

import argparse
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
LIST = Path(__file__).with_name("mutants.toml")

# Who may notice: the environment, and the arguments of the test program.
WATCHERS = {
    "seeds": ({"FEEDLINE_SEEDS": "24"}, []),
    "asan": ({"FEEDLINE_TESTDOUBLE": "asan", "FEEDLINE_SEEDS": "0"}, []),
    "tsan": ({"FEEDLINE_TESTDOUBLE": "tsan", "FEEDLINE_SEEDS": "2"}, []),
    "sweep": ({}, ["--ignored"]),
    "ptx": ({"FEEDLINE_KERNELS": "ptx", "FEEDLINE_SEEDS": "0"}, []),
}
KEYS = {"file", "text", "with", "why", "noticed_by", "filter", "everywhere"}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--only", default="", help="a word in the mutant's file or reason")
    options.add_argument("--part", type=part, default=(1, 1), metavar="K/N", help="the K-th of N equal parts of them")
    options.add_argument("--list", action="store_true", help="show what there is")
    options = options.parse_args()
    mutants = [m for m in read_list() if options.only in m["file"] or options.only in m["why"]]
    k, n = options.part
    mutants = mutants[(k - 1) * len(mutants) // n : k * len(mutants) // n]
    if options.list:
        for mutant in mutants:
            print(f"{mutant['file']}: {mutant['why']} ({mutant['noticed_by']})")
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    with (WORK / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"another run works in {WORK}: wait for it, or end it")
        return try_all(mutants)


def part(text):
    k, n = map(int, text.split("/"))
    if not 1 <= k <= n:
        raise ValueError
    return k, n


def try_all(mutants):
    copy_tree()
    check_unchanged(mutants)
    survivors = [mutant for mutant in mutants if not try_mutant(mutant)]
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} mutants were noticed")
    return 1 if survivors else 0


def read_list():
    mutants = tomllib.loads(LIST.read_text())["mutant"]
    for mutant in mutants:
        missing, unknown = KEYS - {"filter", "everywhere"} - mutant.keys(), mutant.keys() - KEYS
        if missing or unknown or mutant["noticed_by"] not in WATCHERS:
            sys.exit(f"{LIST.name}: {mutant}: missing {missing}, unknown {unknown}, or nobody of that name notices")
        found = (ROOT / mutant["file"]).read_text().count(mutant["text"])
        if found != 1 and not (found and mutant.get("everywhere")):
            sys.exit(f"{LIST.name}: {mutant['why']}: its text is {found} times in {mutant['file']}, and not once")
    return mutants


def copy_tree():
    """Brings the copy up to date; files that did not change keep their times, so that little is compiled again."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    names = {name for name in names if name and (ROOT / name).is_file()}
    TREE.mkdir(parents=True, exist_ok=True)
    for path in list(TREE.rglob("*")):
        if path.is_file() and str(path.relative_to(TREE)) not in names:
            path.unlink()
    for name in names:
        write(TREE / name, (ROOT / name).read_bytes())
        shutil.copymode(ROOT / name, TREE / name)


def write(path, content):
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def check_unchanged(mutants):
    """What fails without a mistake notices nothing."""
    program = build()
    if program is None:
        sys.exit("the tree does not build as it is")
    for watcher, word in sorted({(mutant["noticed_by"], mutant.get("filter", "")) for mutant in mutants}):
        failed, said = run(program, watcher, word)
        if failed is not None:
            sys.exit(f"the tests fail as they are, with {watcher} and the word {word!r}; run them to see why:\n{said}")


def try_mutant(mutant):
    """Whether it was noticed."""
    began = time.monotonic()
    path = TREE / mutant["file"]
    sound = path.read_bytes()
    # The program of a mutant before this one must not be what notices.
    if is_source_of_kernel(mutant) and _mutated and build() is None:
        sys.exit("the tree does not build as it is")
    write(path, sound.decode().replace(mutant["text"], mutant["with"]).encode())
    try:
        noticed, verdict = judge(mutant)
    finally:
        write(path, sound)
    seconds = time.monotonic() - began
    print(f"{seconds:4.0f} s  {mutant['file']}: {mutant['why']}: {verdict} ({mutant['noticed_by']})", flush=True)
    return noticed


def is_source_of_kernel(mutant):
    """Only the simulated driver is built with it: cargo would find that the PTX does not belong to it."""
    return mutant["file"].startswith("kernels/") and not mutant["file"].endswith(".ptx")


def judge(mutant):
    """Whether it was noticed, and by which test."""
    program = _program if is_source_of_kernel(mutant) else build(mutated=True)
    if program is None or mutant["file"].startswith("kernels/") and not build_kernels(mutant["noticed_by"]):
        return False, "DOES NOT BUILD"
    failed, _ = run(program, mutant["noticed_by"], mutant.get("filter", ""))
    return (False, "NOT NOTICED") if failed is None else (True, f"noticed by `{failed}`")


_program, _mutated = None, False


def build(mutated=False):
    """The test program, built if the Rust sources or the PTX changed; none if they do not compile."""
    global _program, _mutated
    _mutated = mutated
    # One function changes between two builds, so that they are incremental whatever the caller prefers; with fewer units
    # of code than modules, a function that changes its size would move others from unit to unit.
    units = "profile.dev.package.feedline.codegen-units=4096"
    command = ["cargo", "test", "--config", units, "--locked", "--quiet", "--no-run", "--test", "cuda",
               "--message-format=json"]
    # Warnings are no errors here: what a mutant leaves unused is not what is looked for.
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(WORK / "target"), "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "1",
    }
    ran = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True)
    if ran.returncode != 0:
        print(ran.stdout if "error" not in ran.stderr else ran.stderr, file=sys.stderr)
        return None
    messages = (json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{"))
    _program = next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "cuda")
    return _program


def build_kernels(watcher):
    """Whether the kernels compile; the test program would do the same, but call it a failed test if not."""
    environment = WATCHERS[watcher][0]
    variant, kernels = environment.get("FEEDLINE_TESTDOUBLE", "plain"), environment.get("FEEDLINE_KERNELS", "source")
    out = WORK / "target" / "testdouble" / variant
    command = ["make", "--silent", "--jobs=2", f"--directory={TREE / 'testdouble'}", f"V={variant}",
               f"KERNELS={kernels}", f"OUT={out}"]
    return subprocess.run(command).returncode == 0


def run(program, watcher, word):
    """The first test that failed, if any, and what was said; the others are not waited for."""
    environment, arguments = WATCHERS[watcher]
    command = [program, *arguments, *([word] if word else [])]
    # A session of its own, so that the scenarios' processes can be ended with it.
    running = subprocess.Popen(
        command, cwd=TREE, env=os.environ | environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    said = []
    try:
        for line in running.stdout:
            said.append(line)
            # A filter that lets nothing through would notice nothing, for ever.
            if line.startswith("running 0 tests"):
                sys.exit(f"no test has the word {word!r} in its name")
            if line.rstrip().endswith("... FAILED"):
                return line.removeprefix("test simulated driver: ").rpartition("...")[0].strip(), "".join(said)
        return ("the test program" if running.wait() else None), "".join(said)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()


if __name__ == "__main__":
    sys.exit(main())
