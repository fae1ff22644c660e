"""Threads, signals and forks: nothing leaks, nothing hangs."""

import gc
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import PHOTOS

import feedline

#: One batch that takes a machine about ten seconds, so that its consumer has to wait.
SLOW = f"""
import os, pathlib, signal, sys, threading, time
import feedline
# What a shell starts in the background ignores Ctrl-C, and so would this.
signal.signal(signal.SIGINT, signal.default_int_handler)
records = [file.read_bytes() for file in sorted(pathlib.Path({str(PHOTOS)!r}).glob("*/*.jpg"))] * 200
loader = feedline.Loader(records, len(records), transforms=[feedline.Resize([16, 16])], dtype="u8", num_workers=1)
"""


def threads():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("Threads:")))


def resident_mb():
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_a_thousand_loaders_leave_neither_memory_nor_threads():
    records = [
        (file.read_bytes(), 0) for file in sorted(PHOTOS.glob("*/*.jpg"), key=lambda file: file.stat().st_size)[:4]
    ]

    def cycle(leave_early):
        loader = feedline.Loader(records, 2, True, transforms=[feedline.RandomResizedCrop(64)], num_workers=2)
        for batch in loader:
            batch["image"].numpy()[0, 0, 0, 0] = 1
            if leave_early:
                break

    for at in range(200):
        cycle(at % 2 == 0)
    # NumPy, imported by then, has threads of its own; and other tests have left loaders in cycles.
    gc.collect()
    settled, before = resident_mb(), threads()
    for at in range(1000):
        cycle(at % 2 == 0)
    grown = resident_mb() - settled
    # A batch that stayed would be 98 kB, all of them 98 MB.
    assert grown < 10, f"{grown:.1f} MB more after 1000 loaders"
    assert threads() == before


def test_ctrl_c_ends_the_wait_for_a_batch_within_a_second():
    program = (
        SLOW
        + """
def interrupt():
    global sent
    time.sleep(0.5)
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    for batch in loader:
        sys.exit("the batch was there too early")
except KeyboardInterrupt:
    print(time.monotonic() - sent)
"""
    )
    began = time.monotonic()
    out = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
    assert float(out.stdout) < 1
    assert time.monotonic() - began < 30, "the process ended long after its signal"


def test_ctrl_c_ends_a_program_that_does_not_expect_it():
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW + "print('waiting', flush=True)\nfor batch in loader: pass"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.3)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert time.monotonic() - sent < 1.5
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors


def test_ctrl_c_within_an_epoch_ends_a_program_within_a_second():
    program = f"""
import signal
import feedline
signal.signal(signal.SIGINT, signal.default_int_handler)
loader = feedline.Loader({str(PHOTOS)!r}, 8, True, recipe="imagenet-train", num_workers=2)
steps = 0
while True:
    for batch in loader:
        steps += 1
        if steps == 3:
            print("training", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "training\n"
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert time.monotonic() - sent < 1
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors


def test_other_threads_run_while_a_batch_is_waited_for():
    program = (
        SLOW
        + """
ticks = 0
def tick():
    global ticks
    while True:
        time.sleep(0.01)
        ticks += 1
threading.Thread(target=tick, daemon=True).start()
threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    next(iter(loader))
except KeyboardInterrupt:
    print(ticks)
"""
    )
    out = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
    assert int(out.stdout) > 20


def test_a_batch_is_not_lost_to_a_signal_that_python_handles(make):
    handled = []
    before = signal.signal(signal.SIGALRM, lambda *_: handled.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        seen = [index for batch in make(shuffle=True) for index in batch["index"].numpy().tolist()]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled and sorted(seen) == list(range(43))


def in_child(work):
    """What `work` returns in a forked child, which then ends as a program does."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, pickle.dumps(work()))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pickle.loads(pipe.read())
    _, status = os.waitpid(child, 0)
    assert status == 0
    return said


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_is_told_to_make_its_own_loader(make):
    loader = make()
    batches = iter(loader)
    batch = next(batches)

    def child():
        def message(use):
            try:
                use()
            except RuntimeError as error:
                return str(error)

        uses = (lambda: next(batches), lambda: iter(loader), lambda: len(loader), loader.state_dict)
        said = [message(use) for use in uses]
        loader.close()
        # The copies of the parent's arrays can still be read, and are dropped without a wait.
        total = float(batch["image"].numpy().sum())
        batch.clear()
        return said, total

    said, total = in_child(child)
    assert all("make it in the process that uses it" in message for message in said), said
    assert total == float(batch["image"].numpy().sum())
    assert len(list(batches)) == len(loader) - 1, "the parent goes on"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dropping_everything_in_a_forked_child_does_not_hang(make):
    loader = make()
    things = {"batches": iter(loader)}
    things["batch"] = next(things["batches"])
    things["loader"] = loader
    del loader

    def child():
        things.clear()
        gc.collect()
        return "dropped"

    signal.alarm(30)
    assert in_child(child) == "dropped"
    signal.alarm(0)


def test_a_forked_child_ends_though_a_thread_of_a_function_held_its_lock():
    program = f"""
import os, signal, sys, threading
import feedline
batches = iter(feedline.Loader({str(PHOTOS)!r}, 4, transforms=[feedline.Resize([8, 8])]).map(len, workers=2))
next(batches)
locked, over = threading.Event(), threading.Event()
def hold():
    with batches._ahead._changed:
        locked.set()
        over.wait()
threading.Thread(target=hold, daemon=True).start()
locked.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    try:
        next(batches)
    except RuntimeError as error:
        assert "make it in the process that uses it" in str(error), error
        if "drop" in sys.argv:
            del batches
        sys.exit(0)
over.set()
print(os.waitpid(child, 0)[1], len(list(batches)))
"""
    for way in ("keep", "drop"):
        command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program, way]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60)
        assert out.stdout == "0 10\n"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_makes_its_own_loader(make):
    assert len(list(make())) == 6
    assert in_child(lambda: len(list(make()))) == 6


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_decodes_on_threads_of_its_own():
    files = sorted(PHOTOS.glob("cat/*.jpg"))
    sums = [int(each.sum()) for each in feedline.decode_batch(files, threads=3)]
    signal.alarm(60)
    assert in_child(lambda: [int(each.sum()) for each in feedline.decode_batch(files, threads=3)]) == sums
    assert in_child(lambda: [int(feedline.decode(file).sum()) for file in files]) == sums
    signal.alarm(0)


def test_decoding_leaves_neither_memory_nor_threads():
    small = min(PHOTOS.glob("*/*.jpg"), key=lambda file: file.stat().st_size)
    region = (0, 0, 64, 64)

    def cycle():
        feedline.decode(small, region)
        feedline.decode_batch([small, b"no image", small], region, threads=2, on_error="return")
        with pytest.raises(feedline.DecodeError):
            feedline.decode(b"no image")
        with pytest.raises(ValueError, match="empty"):
            feedline.decode(small, (0, 0, 0, 0))

    for _ in range(200):
        cycle()
    settled, before = resident_mb(), threads()
    for _ in range(2000):
        cycle()
    grown = resident_mb() - settled
    # An array that stayed would be 12 kB, all of them 74 MB; the bytes of the file are more.
    assert grown < 10, f"{grown:.1f} MB more after 2000 rounds"
    assert threads() == before


def test_a_loader_is_not_pickled(make):
    with pytest.raises(TypeError, match="make it in the process that uses it"):
        pickle.dumps(make())


def test_several_threads_may_take_batches_of_one_epoch(make):
    batches = iter(make(batch_size=1))
    seen, lock = [], threading.Lock()

    def take():
        for batch in batches:
            with lock:
                seen.extend(batch["index"].numpy().tolist())

    takers = [threading.Thread(target=take) for _ in range(4)]
    [taker.start() for taker in takers], [taker.join() for taker in takers]
    assert sorted(seen) == list(range(43))


SHARING = f"""
import os, pathlib, sys
import feedline
file = pathlib.Path(sys.argv[1])
def make():
    return feedline.Loader({str(PHOTOS)!r}, 8, transforms=[feedline.Resize([16, 16])], cache="ram", cache_file=file, cache_limit="64M")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has locks of open files")
def test_a_forked_child_leaves_the_cache_of_its_parent_alone_and_the_parents_end_removes_it(tmp_path):
    program = (
        SHARING
        + """
loader = make()
pixels = [batch["image"].numpy().copy() for batch in loader]
child = os.fork()
if not child:
    loader.close()
    del loader
    sys.exit()
assert os.waitpid(child, 0)[1] == 0 and file.exists()
again = [batch["image"].numpy() for batch in loader]
assert all((one == other).all() for one, other in zip(pixels, again))
io = loader.stats()["io"]
assert (io["shared_misses"], io["shared_hits"], io["shared_failures"]) == (43, 43, 0), io
# The loader is not closed: the interpreter's end has to do it.
"""
    )
    subprocess.run([sys.executable, "-c", program, tmp_path / "cache"], check=True, timeout=60)
    assert not (tmp_path / "cache").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has locks of open files")
def test_processes_that_are_started_share_one_cache(tmp_path):
    program = SHARING + "loader = make(); print(sum(len(batch['index']) for batch in loader), loader.stats()['io']['shared_misses'])"
    first = feedline.Loader(PHOTOS, 8, transforms=[feedline.Resize([16, 16])], cache="ram", cache_file=tmp_path / "cache", cache_limit="64M")
    list(first)
    out = subprocess.run([sys.executable, "-c", program, tmp_path / "cache"], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
    assert out.stdout.split() == ["43", "0"] and (tmp_path / "cache").exists()
    first.close()
    assert not (tmp_path / "cache").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has locks of open files")
def test_records_in_memory_are_told_which_cache_is_for_them():
    with pytest.raises(ValueError, match="lies in no file.*use byte_cache"):
        feedline.Loader([b"an image"], cache="ram")
