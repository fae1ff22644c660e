"""What limits a loader: told of loaders that are slow for a known reason."""

import re
import time

import pytest
from conftest import PHOTOS

import feedline


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


def test_feedline_is_measured_on_the_same_data():
    found = feedline.doctor(
        Batches(lambda index: compute(0.05)), step(0.001), data=str(PHOTOS), seconds=3, decode_scale="fast"
    )
    assert found.feedline["images"] == sum(1 for _ in PHOTOS.glob("*/*.*"))
    assert found.feedline["trainer"]["samples"]["per_s"] == pytest.approx(found.trainer_per_s)
    assert re.search(r"feedline  would give [\d.]+ images/s", str(found)), str(found)


def test_a_loader_of_feedline_speaks_for_itself():
    loader = feedline.Loader(str(PHOTOS), recipe="imagenet-train", batch_size=8)
    found = feedline.doctor(loader, step(0.0001), seconds=1)
    assert found.verdict in ("source", "plan", "decode", "render")
    assert found.explanation == loader.explain()


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
    with pytest.raises(FileNotFoundError, match="no-such-folder"):
        feedline.doctor(Batches(lambda index: compute(0.01)), step(0.001), data="no-such-folder", seconds=1)


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
