"""What limits a loader: told of loaders that are slow for a known reason."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest
from conftest import PHOTOS, ROOT

import feedline
from feedline import _doctor, _feedline, _options


class Images:
    """A data set whose samples take their time in one way."""

    def __init__(self, make):
        self.make = make

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return self.make(index)


class Batches:
    """What a DataLoader without workers does, without torch."""

    batch_size, num_workers = 4, 0

    def __init__(self, make):
        self.dataset = Images(make)

    def __len__(self):
        return len(self.dataset) // self.batch_size

    def __iter__(self):
        for first in range(0, len(self.dataset), self.batch_size):
            yield [self.dataset[index] for index in range(first, first + self.batch_size)]


def compute(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(100))


def decode(_):
    photo = next(PHOTOS.glob("*/*.jpg"))
    return feedline.decode(photo.read_bytes())


def step(seconds):
    return lambda batch: time.sleep(seconds)


@pytest.mark.parametrize(
    ("make", "verdict"),
    [
        (lambda index: time.sleep(0.02), "storage"),
        (lambda index: compute(0.02), "transforms"),
        (decode, "decode"),
    ],
    ids=["storage", "transforms", "decode"],
)
def test_the_longest_part_of_a_sample_is_told(make, verdict):
    found = feedline.doctor(Batches(make), step(0.0001), seconds=2)
    assert found.verdict == verdict, str(found)
    assert found.trainer_per_s > 2 * found.loader_per_s
    assert "the trainer waits for" in str(found)
    # Other work on the machine's cores makes the loader slower, but not the sample.
    assert 0 < found.sample.seconds < 1.5 / found.loader_per_s


def test_a_trainer_that_never_waits_needs_nothing():
    found = feedline.doctor(Batches(lambda index: time.sleep(0.001)), step(0.2), seconds=2)
    assert found.verdict == "trainer", str(found)
    assert "you do not need a faster loader" in str(found)
    assert found.trainer_per_s == pytest.approx(20, rel=0.1)


def test_loading_and_training_by_turns_are_told():
    found = feedline.doctor(Batches(lambda index: time.sleep(0.01)), step(0.04), seconds=2)
    assert found.verdict == "workers", str(found)
    assert found.together_per_s < 0.7 * found.trainer_per_s


def test_a_slow_start_without_workers_has_no_remedy():
    class Late(Batches):
        def __iter__(self):
            time.sleep(0.05)
            yield from super().__iter__()

    found = feedline.doctor(Late(lambda index: None), step(0.05), seconds=2)
    assert found.verdict == "trainer", str(found)


def test_short_epochs_are_not_measured_for_hours():
    class Short:
        started = 0

        def __iter__(self):
            self.started += 1
            assert self.started < 50, "half a second was to be measured"
            time.sleep(0.2)
            yield from ([1], [2])

    loader = Short()
    feedline.doctor(loader, seconds=1)
    assert loader.started <= 4


def test_feedline_is_measured_on_the_same_data():
    found = feedline.doctor(
        Batches(lambda index: compute(0.05)),
        lambda batch: compute(0.02),
        data=str(PHOTOS),
        seconds=3,
        decode_scale="fast",
    )
    assert found.feedline["images"] == sum(1 for _ in PHOTOS.glob("*/*.*"))
    assert found.feedline["trainer"]["samples"]["per_s"] == pytest.approx(found.trainer_per_s)
    # A trainer on the processor takes cores from the loader: 20 ms for four images.
    assert 0.0049 < found.feedline["trainer"]["cpu_seconds"] < 0.015
    gives = r"feedline  would give [\d.]+ images/s with the recipe imagenet-train, since none was named \(recipe=\)"
    assert re.search(gives, str(found)), str(found)
    found = feedline.doctor(Batches(lambda index: compute(0.05)), data=str(PHOTOS), recipe="imagenet-eval", seconds=3)
    assert found.recipe is None and re.search(r"images/s, [\d.]+ times as many", str(found)), str(found)


def test_a_loader_of_feedline_speaks_for_itself():
    loader = feedline.Loader(str(PHOTOS), recipe="imagenet-train", batch_size=8)
    found = feedline.doctor(loader, step(0.0001), seconds=1)
    assert found.verdict in ("source", "plan", "decode", "render")
    # Workers may go on with batches ahead, which changes the shares of their time.
    words = [re.sub(r"[\d.]+ %", "", each) for each in (found.explanation, loader.explain())]
    assert words[0] == words[1]


def test_a_loader_of_feedline_that_never_lets_the_trainer_wait_is_enough():
    loader = feedline.Loader(str(PHOTOS), recipe="imagenet-train", batch_size=4)
    found = feedline.doctor(loader, step(0.5), seconds=1)
    assert found.verdict == "trainer", str(found)
    assert "you do not need a faster loader" in found.explanation


def test_what_a_loader_did_before_does_not_count():
    def figures(source, decode, **of_map):
        seconds = {"source": source, "plan": 0.0, "decode": decode, "render": 0.1, **of_map}
        return {"seconds": seconds, "limiting_stage": "source", "explanation": "in the loader's words"}

    found = _doctor.Diagnosis("loader", 10.0, 100.0, 10.0, 4, 0.1, "")
    _doctor._judge_own(found, figures(50.0, 1.0), figures(50.5, 4.0))
    assert found.verdict == "decode" and found.explanation.startswith("the limit is decoding"), found.explanation
    _doctor._judge_own(found, figures(0.0, 0.0, map=90.0), figures(4.0, 1.0, map=93.0))
    assert (found.verdict, found.explanation) == ("source", "in the loader's words")
    _doctor._judge_own(found, figures(0.0, 0.0, map=90.0), figures(4.0, 1.0, map=95.0))
    assert found.verdict == "map" and "the function of Loader.map" in found.explanation


def test_functions_of_a_loader_and_what_stands_in_for_a_dataloader_are_feedline_s_own():
    loader = feedline.Loader(str(PHOTOS), recipe="imagenet-train", batch_size=8)
    found = feedline.doctor(loader.map(lambda batch: time.sleep(0.2)), step(0.0001), seconds=1)
    assert found.verdict == "map", str(found)

    class StandIn:
        num_workers = 0

        def __init__(self, loader):
            self.loader = loader

        def __iter__(self):
            return iter(self.loader)

    assert feedline.doctor(StandIn(loader), step(0.0001), seconds=1).verdict in _doctor._STAGES


def test_where_a_loader_of_feedline_stands_is_as_before():
    loader = feedline.Loader(str(PHOTOS), recipe="imagenet-train", batch_size=8, shuffle=True, framework="numpy")
    loader.set_epoch(3)
    rest = iter(loader)
    next(rest)
    index = list(next(rest)["index"])
    state, numbers = loader.state_dict(), random.getstate()
    for each in (loader, loader.map(lambda batch: random.random() and batch)):
        feedline.doctor(each, step(0.0001), seconds=1)
        assert (loader.epoch, loader.state_dict(), random.getstate()) == (3, state, numbers)
    assert index not in [list(batch["index"]) for batch in loader] and loader.epoch == 4


class Prepared(Batches):
    """Batches that are not made of the samples."""

    def __iter__(self):
        yield from ([0] * 4 for _ in range(16))


@pytest.mark.parametrize("error", [NotImplementedError(), KeyError("key"), RuntimeError("no file is open")])
def test_a_data_set_that_makes_no_samples_here_is_named(error):
    def refuse(index):
        raise error

    found = feedline.doctor(Prepared(refuse), seconds=1)
    assert (found.verdict, found.sample) == ("loader", None)
    assert f"Images made no sample in this process: {type(error).__name__}" in str(found)


def test_a_data_set_may_have_no_length():
    class Endless:
        def __len__(self):
            raise NotImplementedError

    loader = Prepared(None)
    loader.dataset = Endless()
    assert feedline.doctor(loader, seconds=1).verdict == "loader"


def test_only_a_folder_whose_images_are_listed_is_taken_for_the_data(tmp_path):
    loader = Batches(lambda index: None)
    assert _doctor._folder_of(loader) is None
    loader.dataset.root = str(PHOTOS)
    assert _doctor._folder_of(loader) is None, "a data set of its own may show anything"
    loader.dataset.samples = [("a.jpg", 0)]
    assert _doctor._folder_of(loader) == str(PHOTOS)
    loader.dataset.root, loader.dataset.split_folder = str(tmp_path), str(PHOTOS)
    assert _doctor._folder_of(loader) == str(PHOTOS), "ImageNet's"


def test_a_folder_that_was_only_guessed_may_be_no_data_of_feedline_s(tmp_path):
    (tmp_path / "a").mkdir()
    for number in range(4):
        (tmp_path / "a" / f"{number}.jpg").write_bytes(b"no image")
    loader = Batches(lambda index: time.sleep(0.002))
    loader.dataset.root, loader.dataset.samples = str(tmp_path), [("a.jpg", 0)]
    found = feedline.doctor(loader, seconds=1)
    assert found.verdict == "storage" and found.feedline is None
    assert f"feedline was not measured on {tmp_path}: " in str(found)


def test_a_signal_ends_the_measurement_of_feedline_within_seconds():
    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted

    before, began = signal.signal(signal.SIGALRM, interrupt), time.monotonic()
    told = _options.read({"recipe": "imagenet-train", "batch_size": 4})
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Interrupted):
            _feedline.doctor(str(PHOTOS), told, 60.0, None, None)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 20


def test_an_iterator_that_begins_anew_is_taken():
    class Again(Batches):
        """As DALI's: its own iterator, with a length."""

        def __init__(self):
            super().__init__(lambda index: time.sleep(0.002))
            self.batches = super().__iter__()

        def __iter__(self):
            self.batches = super().__iter__()
            return self

        def __next__(self):
            return next(self.batches)

    assert feedline.doctor(Again(), step(0.1), seconds=1).verdict == "trainer"


BUSY = """
import json, threading, time, feedline

class Batches:
    batch_size = 4
    def __iter__(self):
        return iter([[at] * 4 for at in range(1000)])

def step(batch):
    time.sleep(0.01)

def ends(batch):
    # The first batch is that of the step alone, and then one ahead of the measurement of both.
    step(batch)
    if batch[0] > 3:
        raise RuntimeError("enough")

found = feedline.doctor(Batches(), step, seconds=3)
try:
    feedline.doctor(Batches(), ends, seconds=1)
except RuntimeError:
    threads = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    print(json.dumps([found.verdict, found.gpus, found.notes, str(found), threads]))
"""


def doctor_on(gpus, library):
    """What the doctor finds on a machine with these GPUs, beside a trainer that never waits."""
    before = os.environ.get("LD_LIBRARY_PATH")
    path = str(library) if before is None else f"{library}:{before}"
    variables = {**os.environ, "FAKENVML": gpus, "LD_LIBRARY_PATH": path}
    ran = subprocess.run(
        [sys.executable, "-c", BUSY], env=variables, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0 and not ran.stderr, ran.stderr
    verdict, gpus, notes, said, threads = json.loads(ran.stdout)
    assert verdict == "trainer", said
    assert threads == [], "what looks at GPUs ends with the measurement, also where a step raises"
    return gpus, notes, said


@pytest.mark.skipif(sys.platform != "linux", reason="the simulated NVML is a library of Linux")
def test_how_busy_gpus_are_is_told(tmp_path):
    source = ROOT / "testdouble" / "nvml" / "nvml.cpp"
    library = tmp_path / "libnvidia-ml.so.1"
    subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library, source], check=True)
    gpus, notes, said = doctor_on("FAKE whole,busy=0/100,used=1024,total=2048;FAKE idle,busy=0", tmp_path)
    busy = gpus[0].pop("utilization")
    assert 0.3 < busy < 0.7, "the mean of several looks"
    assert gpus[0] == {"index": 0, "name": "FAKE whole", "memory": {"used": 1 << 30, "total": 2 << 30}}
    assert gpus[1] == {"index": 1, "name": "FAKE idle", "utilization": 0, "memory": None}
    line = f"gpu 0     FAKE whole was busy for {100 * busy:.0f} % of the time; 1024 of 2048 MiB taken\n"
    assert line in said, said
    assert len(notes) == 1 and notes[0].startswith(f"no GPU was busy for more than {100 * busy:.0f} % of the time, "), (
        notes
    )
    gpus, notes, said = doctor_on("FAKE screen,busy=15;FAKE divided", tmp_path)
    assert gpus[1] == {"index": 1, "name": "FAKE divided", "utilization": None, "memory": None}
    assert "gpu 1     FAKE divided does not tell how busy it is (one that is divided by MIG does not)\n" in said, said
    assert notes == [], "the one that does not tell may be the trainer's"
    gpus, notes, _ = doctor_on("FAKE busy,busy=99", tmp_path)
    assert gpus[0]["utilization"] == pytest.approx(0.99) and notes == []


def test_only_the_loader_is_measured_where_no_step_is_given():
    found = feedline.doctor(Batches(lambda index: time.sleep(0.01)), seconds=1)
    assert (found.verdict, found.trainer_per_s, found.together_per_s) == ("storage", None, found.loader_per_s)


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(ValueError, match="the loader has no batch"):
        feedline.doctor([])
    with pytest.raises(ValueError, match="at least 1 second"):
        feedline.doctor([[1]], seconds=0)
    with pytest.raises(TypeError, match="cannot be iterated"):
        feedline.doctor(3)
    for once in (iter([[1], [2]]), ([each] for each in range(9))):
        with pytest.raises(TypeError, match="can be iterated again"):
            feedline.doctor(once)


def test_a_loader_that_is_empty_the_second_time_is_refused():
    class Once:
        def __init__(self):
            self.batches = iter([[1], [2]])

        def __iter__(self):
            return self.batches

    with pytest.raises(ValueError, match="no batch the second time: .* can be iterated again"):
        feedline.doctor(Once(), step(0.001), seconds=1)


@pytest.mark.parametrize(
    ("told", "error", "words"),
    [
        ({"data": "no-such-folder"}, FileNotFoundError, "no-such-folder"),
        ({"data": str(PHOTOS), "recipe": "no-such-recipe"}, (ValueError, OSError), "no-such-recipe"),
        ({"data": str(PHOTOS), "decode_scael": "fast"}, TypeError, "decode_scale"),
        ({"data": str(PHOTOS), "subset": [1_000_000]}, ValueError, "subset"),
        ({"recipe": "no-such-recipe"}, (ValueError, OSError), "no-such-recipe"),
        ({"decode_scael": "fast"}, TypeError, "decode_scale"),
        ({"decode_scale": "fats"}, ValueError, "decode_scale"),
    ],
)
def test_what_is_wrong_of_feedline_is_said_ahead_of_all_measurements(told, error, words):
    class Untouched:
        def __iter__(self):
            raise AssertionError("it is measured")

    with pytest.raises(error, match=words):
        feedline.doctor(Untouched(), step(0.001), seconds=1, **told)
    with pytest.raises(error, match=words):
        loader = feedline.Loader(str(PHOTOS), recipe="imagenet-train", batch_size=8, shuffle=True)
        feedline.doctor(loader, step(0.001), seconds=1, **told)


def test_figures_for_prometheus():
    loader = feedline.Loader(str(PHOTOS), recipe="imagenet-train", batch_size=8)
    for _ in loader:
        pass
    stats = loader.stats()
    text = stats.prometheus(rank=0)
    assert f'feedline_samples_total{{rank="0"}} {stats["samples"]}' in text and stats["samples"] >= 24
    assert re.search(r'^feedline_stage_seconds_total\{rank="0",stage="decode"\} [\d.e-]+$', text, re.MULTILINE)
    with pytest.raises(ValueError, match="`stage` is no name for a label"):
        loader.stats().prometheus(stage="mine")
