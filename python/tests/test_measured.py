"""What `feedline.doctor` measures of loaders and steps that are not feedline's own."""

import random
import sys
import time
from collections import UserDict
from types import SimpleNamespace

import numpy as np
import pytest

import feedline
from feedline import _doctor, _measured


class Workers:
    """A DataLoader with workers as one sees it from outside: the first batch is late, and then so many come at once."""

    persistent_workers, batch_size = False, 4

    def __init__(self, starting, each, batches, workers=1, sample_s=0.0):
        self.starting, self.each, self.batches, self.num_workers = starting, each, batches, workers
        self.dataset = Samples(sample_s)

    def __iter__(self):
        time.sleep(self.starting)
        for number in range(self.batches):
            if number >= self.num_workers:
                time.sleep(self.each)
            yield np.zeros((self.batch_size, 3, 2, 2))


class Known(Workers):
    """One that says how long its epochs are."""

    def __len__(self):
        return self.batches


class Samples:
    def __init__(self, sample_s):
        self.sample_s = sample_s

    def __len__(self):
        return 64

    def __getitem__(self, index):
        time.sleep(self.sample_s)
        return index


def step(seconds):
    return lambda batch: time.sleep(seconds)


def test_a_start_counts_as_much_as_its_part_of_an_epoch_with_the_trainer():
    assert feedline.doctor(Known(0.5, 0.001, 400), step(0.02), seconds=2).verdict == "trainer"
    found = feedline.doctor(Known(0.5, 0.001, 10), step(0.02), seconds=2)
    assert found.verdict == "start", str(found)
    # Without a trainer the loader itself is all there is.
    assert feedline.doctor(Known(0.5, 0.001, 400), seconds=2).verdict == "start"


def test_of_epochs_without_an_end_the_start_is_no_part():
    assert feedline.doctor(Workers(0.5, 0.001, 10**9), step(0.02), seconds=2).verdict == "trainer"


def test_batches_that_workers_made_ahead_are_no_rate():
    # Four workers, four batches, of which each takes its worker 0.4 s: all come at once.
    loader = Known(0.4, 0.0, 4, workers=4, sample_s=0.1)
    found = feedline.doctor(loader, step(0.001), seconds=2)
    assert found.verdict == "storage", str(found)
    assert found.loader_per_s == pytest.approx(40, rel=0.1)
    late = Known(0.4, 0.0, 4, workers=4, sample_s=0.001)
    assert feedline.doctor(late, step(0.001), seconds=2).verdict == "start"


def test_a_last_batch_that_is_not_full_counts_as_what_it_has():
    class Partial:
        batch_size = 64

        def __iter__(self):
            for size in (64, 1):
                time.sleep(0.02)
                yield np.zeros((size, 3, 2, 2))

    alone = _measured.loader_alone(Partial(), 0.2)
    assert (alone.size, alone.epoch_batches) == (64, 2)
    assert alone.per_s == pytest.approx(1 / 0.02, rel=0.3)


def test_loading_by_turns_is_told_of_data_without_samples_as_well():
    class Turns:
        num_workers, batch_size = 0, 4

        def __iter__(self):
            while True:
                time.sleep(0.02)
                yield np.zeros((4, 3, 2, 2))

    found = feedline.doctor(Turns(), step(0.02), seconds=2)
    assert (found.verdict, found.sample) == ("workers", None), str(found)


class Ended:
    """An iterator whose workers are ended, which takes its time."""

    def __init__(self, batches, takes=0.0):
        self.batches, self.takes, self.ended = iter(batches), takes, 0

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.batches)

    def _shutdown_workers(self):
        time.sleep(self.takes)
        self.ended += 1


class Shut:
    def __init__(self, takes=0.0):
        self.takes, self.epochs = takes, []

    def __iter__(self):
        self.epochs.append(Ended((np.zeros((4, 3, 2, 2)) for _ in range(10**6)), self.takes))
        return self.epochs[-1]


def test_the_end_of_workers_is_no_part_of_what_is_measured():
    loader = Shut(takes=0.5)
    assert feedline.doctor(loader, step(0.05), seconds=2).verdict == "trainer"
    assert [epoch.ended for epoch in loader.epochs] == [1, 1]


def test_workers_are_ended_where_a_step_fails():
    def fails_later(batch):
        if len(loader.epochs) == 2:
            raise RuntimeError("of the user's")

    loader = Shut()
    with pytest.raises(RuntimeError, match="of the user's"):
        feedline.doctor(loader, fails_later, seconds=1)
    assert [epoch.ended for epoch in loader.epochs] == [1, 1]


def test_steps_of_which_every_fourth_is_longer_have_their_mean():
    steps = []

    def accumulate(batch):
        steps.append(batch)
        time.sleep(0.04 if len(steps) % 4 == 0 else 0.01)

    taken = _measured.step_alone(accumulate, [1], 0.5)
    assert taken.seconds == pytest.approx(0.0175, rel=0.2)


def test_each_step_has_the_batch_whole():
    def takes_apart(batch):
        inner = batch.pop("inner")
        assert inner.pop() == 2 and batch["image"].shape == (4, 3, 2, 2)
        batch["image"] = None

    image = np.zeros((4, 3, 2, 2))
    batch = {"image": image, "inner": [1, 2], "pair": (1, [2])}
    for kind in (dict, UserDict):
        _measured.step_alone(takes_apart, kind(batch), 0.01)
    fresh = _measured._fresh(batch)
    assert fresh == batch and fresh["image"] is image and fresh["pair"][1] is not batch["pair"][1]


def image(rows):
    return np.zeros((rows, 3, 2, 2))


@pytest.mark.parametrize(
    ("batch", "told", "size"),
    [
        ([image(256), np.zeros(256)], 256, 256),
        ([[image(256), image(256)], np.zeros(256)], 256, 256),
        ([[image(256), image(256)], np.zeros(256)], None, 256),
        (({"image": image(256)}, np.zeros(256)), 256, 256),
        ({"inputs": {"pixels": image(256)}, "labels": np.zeros(256)}, None, 256),
        (UserDict(labels=np.zeros(256), pixels=image(256)), None, 256),
        ({"boxes": np.zeros((900, 4)), "image": image(16)}, 16, 16),
        ({"boxes": np.zeros((7, 4)), "image": image(16)}, None, 16),
        ([np.zeros((9, 8, 3)) for _ in range(5)], 5, 5),
        ([np.zeros((9, 8, 3)) for _ in range(5)], None, 5),
        (([np.zeros((3, 9, 8))] * 5, [{"boxes": np.zeros((2, 4))}] * 5), None, 5),
        (["a.jpg", "b.jpg"], None, 2),
        (np.zeros(3), 4, 3),
        (None, 4, 4),
        (None, None, 1),
    ],
)
def test_the_images_of_a_batch_are_counted_in_any_form(batch, told, size):
    assert _measured.Sizes(SimpleNamespace(batch_size=told), batch).of(batch) == size
    by_sampler = SimpleNamespace(batch_size=None, batch_sampler=SimpleNamespace(batch_size=told))
    assert _measured.Sizes(by_sampler, batch).of(batch) == size


def test_later_batches_are_counted_where_the_first_one_was():
    sizes = _measured.Sizes(SimpleNamespace(batch_size=16), {"boxes": np.zeros((9, 4)), "image": image(16)})
    assert sizes.of({"boxes": np.zeros((16, 4)), "image": image(3)}) == 3
    assert sizes.of(["of another form"]) == 16


def test_what_a_data_set_opens_to_make_samples_is_not_left_open():
    class Lazy:
        file = None

        def __len__(self):
            return 8

        def __getitem__(self, index):
            self.file = self.file or object()
            return index

    class Around:
        def __init__(self, dataset):
            self.dataset, self.datasets = dataset, [dataset]

        def __len__(self):
            return 8

        def __getitem__(self, index):
            return self.dataset[index], self.datasets[0][index]

    inner = Lazy()
    for dataset in (inner, Around(inner)):
        loader = Known(0.0, 0.02, 8)
        loader.dataset = dataset
        found = feedline.doctor(loader, step(0.001), seconds=1)
        assert found.sample is not None and inner.file is None


def test_random_numbers_go_on_as_if_nothing_had_been_measured():
    class Random(Known):
        def __iter__(self):
            random.random()
            np.random.random()
            return super().__iter__()

    before = random.getstate(), np.random.get_state()[1].tolist()
    feedline.doctor(Random(0.0, 0.001, 4), step(0.001), seconds=1)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_an_iterator_that_is_to_be_reset_is_reset_at_the_end_of_its_epochs():
    class Dali:
        """As DALI's iterators are: each its own one, which ends once and for all unless it is reset."""

        def __init__(self):
            self.at, self.resets = 0, 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.at == 3:
                raise StopIteration
            self.at += 1
            time.sleep(0.001)
            return [{"data": image(4)}]

        def reset(self):
            assert self.at == 3, "not while an epoch is under way"
            self.at, self.resets = 0, self.resets + 1

    loader = Dali()
    assert feedline.doctor(loader, step(0.05), seconds=1).verdict == "trainer"
    assert loader.resets > 2


def test_a_device_may_be_two_steps_behind_and_no_more(monkeypatch):
    said = []

    class Event:
        made = 0

        def record(self):
            Event.made += 1
            self.number = Event.made
            said.append(f"record {self.number}")

        def synchronize(self):
            said.append(f"wait for {self.number}")

    cuda = SimpleNamespace(
        Event=Event,
        is_available=lambda: True,
        is_initialized=lambda: True,
        synchronize=lambda: said.append("wait for all"),
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    pace = _measured._Pace()
    for _ in range(4):
        pace.follow()
    pace.finish()
    assert said == ["record 1", "record 2", "record 3", "wait for 1", "record 4", "wait for 2", "wait for all"]
    cuda.is_initialized = lambda: False
    pace.follow()
    assert len(said) == 7, "a device that nobody uses is not waited for"
    mps = SimpleNamespace(is_available=lambda: True, synchronize=lambda: said.append("wait for mps"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(mps=mps))
    pace.follow()
    assert said[-1] == "wait for mps"


def test_handing_over_counts_what_is_no_tensor():
    def handing_over(batch):
        return _doctor._hand_over_s(_measured.Alone(1.0, False, 1, batch, 0.0, None))

    assert handing_over([list(range(10**6))]) > 10 * handing_over([1])
    assert handing_over([lambda: None]) == 0.0
