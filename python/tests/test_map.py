"""Functions of Python's on batches: in order, in threads, and with the run's state."""

import gc
import threading
import time

import numpy as np
import pytest
from conftest import write_tar

import feedline


def rows(batch):
    return batch["index"].numpy().tolist()


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_batches_come_in_order_as_the_function_returns_them(make, workers):
    loader = make(batch_size=2, shuffle=True, seed=3)
    want = [rows(batch) for batch in make(batch_size=2, shuffle=True, seed=3)]

    def slow(batch):
        time.sleep(0.003 * (batch["index"].numpy()[0] % 3))
        return rows(batch)

    mapped = loader.map(slow, workers)
    assert len(mapped) == len(iter(mapped)) == 22
    mapped.set_epoch(0)
    assert list(mapped) == want
    assert list(mapped) != want and loader.epoch == 2, "each `for` is the next epoch"
    assert mapped.stats()["map"]["count"] >= 44 and mapped.batch_size == 2 and mapped.samples == 43


@pytest.mark.parametrize("workers", [0, 2])
def test_a_state_is_behind_the_last_batch_that_was_handed_out(make, workers):
    def run(loader):
        return loader.map(rows, workers)

    want = [rows(batch) for batch in make(shuffle=True)]
    mapped = run(make(shuffle=True))
    batches = iter(mapped)
    seen = [next(batches), next(batches)]
    time.sleep(0.2)  # Threads have taken more by now.
    state = mapped.state_dict()
    assert state["steps"] == 2
    other = run(make(shuffle=True))
    other.load_state_dict(state)
    assert seen + list(other) == want
    assert (list(batches), mapped.state_dict()["epoch"]) == (want[2:], 1)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_error_of_the_function_is_raised_where_its_batch_is_due(make, workers):
    def fail(batch):
        if 17 in rows(batch):
            raise KeyError("seventeen")
        return rows(batch)

    batches = iter(make().map(fail, workers))
    assert [next(batches), next(batches)] == [list(range(8)), list(range(8, 16))]
    with pytest.raises(KeyError, match="seventeen"):
        next(batches)


def test_a_bad_file_is_raised_as_without_a_function(make, tmp_path):
    (tmp_path / "0.jpg").write_text("no photograph")
    for workers in (0, 2):
        with pytest.raises(feedline.SampleError, match="0.jpg"):
            list(make(tmp_path, flat=True).map(len, workers))


def test_functions_follow_each_other(make):
    mapped = make().map(rows, workers=2).map(len).map(lambda count: -count, workers=1)
    assert list(mapped) == [-8] * 5 + [-3]
    stats = mapped.stats()
    assert stats["map"]["count"] == stats["map_2"]["count"] == stats["map_3"]["count"] == 6
    assert "Mapped by rows, 2 threads: <feedline.Loader" in repr(make().map(rows, 2))


def test_threads_end_with_what_they_are_for(make):
    others = threading.enumerate()

    def named():
        return [each for each in threading.enumerate() if each.name.startswith("feedline-map") and each not in others]

    mapped = make(batch_size=1).map(rows, workers=3)
    batches = iter(mapped)
    next(batches)
    assert len(named()) == 3
    next(iter(mapped))
    del batches, mapped
    gc.collect()
    for thread in named():
        thread.join(10)
    assert named() == []
    with make(batch_size=1).map(rows, workers=2) as mapped:
        next(iter(mapped))
    for thread in named():
        thread.join(10)
    assert named() == []


def test_the_epoch_is_that_of_the_batches_that_are_handed_out(make):
    mapped = make(batch_size=16).map(rows, workers=2)
    batches = iter(mapped)
    next(batches)
    assert mapped.epoch == mapped.state_dict()["epoch"] == 0
    assert len(list(batches)) == len(mapped) - 1 and mapped.epoch == 1
    next(iter(mapped))
    assert mapped.epoch == 1


def test_what_is_no_function_is_refused(make):
    with pytest.raises(TypeError, match="map takes a function of a batch"):
        make().map("rows")
    for workers in (-1, 65, True):
        with pytest.raises(ValueError, match="a number of threads from 0 to 64"):
            make().map(rows, workers)
    with pytest.raises(AttributeError):
        _ = make().map(rows).nothing


@pytest.fixture
def captions(tmp_path, photos):
    """Four photographs with lists of numbers of different lengths, and captions."""
    members = {}
    for at, photo in enumerate(sorted(photos.glob("cat/*.jpg"))[:4]):
        members.update({f"{at}.jpg": photo.read_bytes(), f"{at}.ids": str(list(range(at))).encode(), f"{at}.txt": b"a cat"})
    write_tar(tmp_path / "a.tar", members)
    return tmp_path / "a.tar"


def test_ragged_fields_are_collated_by_a_function(make, captions):
    def padded(lists):
        made = np.full((len(lists), 4), -1)
        for row, numbers in zip(made, lists):
            row[: len(numbers)] = numbers
        return made

    fields = {"ids": "integers", "caption": {"type": "text", "from": "txt"}}
    loader = make(captions, fields=fields, collate={"ids": padded, "caption": "|".join}, batch_size=4)
    batch = next(iter(loader))
    assert batch["ids"].tolist() == [[-1] * 4, [0, -1, -1, -1], [0, 1, -1, -1], [0, 1, 2, -1]]
    assert "ids_offsets" not in batch and batch["caption"] == "a cat|a cat|a cat|a cat"
    assert loader.stats()["collate"]["count"] == 1 and "collate" not in make().stats()
    with pytest.raises(TypeError, match="collate names fields"):
        make(captions, fields=fields, collate=padded)
    with pytest.raises(ValueError, match="collate names idz, and the batch has image"):
        next(iter(make(captions, fields=fields, collate={"idz": padded})))


def test_collated_fields_may_be_columns(make, captions):
    ids, image = next(iter(make(captions, fields={"ids": "integers"}, collate={"ids": len}, columns=("ids", "image"), batch_size=4)))
    assert ids == 4 and image.shape[0] == 4
