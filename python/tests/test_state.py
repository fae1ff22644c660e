"""Epochs, ranks, and where a run stands."""

import copy
import json
import pickle

import pytest


def stream(batches):
    return [(batch["index"].numpy().tolist(), batch["image"].numpy().tobytes()) for batch in batches]


def test_each_loop_is_another_epoch(make):
    loader = make(shuffle=True)
    assert loader.epoch == 0
    first, second = stream(loader), stream(loader)
    assert loader.epoch == 2
    assert first != second
    loader.set_epoch(0)
    assert stream(loader) == first
    assert stream(loader) == second


def test_a_loop_that_is_left_is_over(make):
    loader = make(shuffle=True)
    for _ in loader:
        assert loader.epoch == 0
        break
    other = make(shuffle=True)
    other.set_epoch(1)
    assert stream(loader) == stream(other)


def test_a_state_of_every_batch_goes_on_with_the_very_batches_that_were_left(make):
    loader, whole = make(shuffle=True, seed=5), make(shuffle=True, seed=5)
    following = [stream(whole), stream(whole)]
    states, batches = [loader.state_dict()], iter(loader)
    for _ in range(len(loader)):
        next(batches)
        states.append(loader.state_dict())
    for steps, state in enumerate(states):
        assert state["steps"] == steps and state["epoch"] == 0
        for form in (copy.deepcopy, lambda s: json.loads(json.dumps(s)), lambda s: pickle.loads(pickle.dumps(s))):
            resumed = make(shuffle=True, seed=5)
            resumed.load_state_dict(form(state))
            assert resumed.state_dict() == state
            assert resumed.epoch == 0
            assert stream(resumed) == following[0][steps:]
        assert stream(resumed) == following[1]


def test_behind_an_epoch_the_state_is_the_start_of_the_next(make):
    loader = make(shuffle=True)
    first = stream(loader)
    state = loader.state_dict()
    assert (state["epoch"], state["steps"]) == (1, 0)
    second = stream(loader)
    loader.load_state_dict(state)
    assert stream(loader) == second != first


def test_a_state_may_be_loaded_in_the_middle_of_another_epoch(make):
    loader = make(shuffle=True)
    batches = iter(loader)
    expected = stream([next(batches) for _ in range(2)] and batches)
    loader.set_epoch(0)
    batches = iter(loader)
    next(batches), next(batches)
    state = loader.state_dict()
    running = iter(loader)
    next(running)
    loader.load_state_dict(state)
    assert stream(loader) == expected
    with pytest.raises(ValueError, match="another one was started"):
        next(running)


def test_set_epoch_keeps_a_state_of_that_epoch_and_drops_any_other(make):
    loader = make(shuffle=True)
    whole = stream(loader)
    loader.set_epoch(0)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    loader.load_state_dict(state)
    loader.set_epoch(0)
    assert stream(loader) == whole[1:]
    loader.load_state_dict(state)
    loader.set_epoch(1)
    loader.set_epoch(0)
    assert stream(loader) == whole


def test_a_state_of_something_else_is_refused_by_name(make):
    state = make(seed=1).state_dict()
    for options, word in [
        ({"seed": 2}, "seed"),
        ({"seed": 1, "shuffle": True}, "shuffle"),
        ({"seed": 1, "subset": range(40)}, "samples"),
        ({"seed": 1, "dtype": "u8"}, "recipe"),
    ]:
        with pytest.raises(ValueError, match=f"its {word} is"):
            make(**options).load_state_dict(state)
    with pytest.raises(ValueError, match="its version is"):
        make(seed=1).load_state_dict({**state, "version": 99})
    with pytest.raises(ValueError, match="is of type None"):
        make(seed=1).load_state_dict({"epoch": 3})
    with pytest.raises(ValueError, match="the state cannot be read: it lacks `"):
        make(seed=1).load_state_dict({"type": "feedline.Loader", "epoch": 3})


def test_other_batches_show_the_samples_that_were_left(make):
    loader = make(shuffle=True)
    batches = iter(loader)
    seen = [index for _ in range(2) for index in next(batches)["index"].numpy().tolist()]
    resumed = make(shuffle=True, batch_size=5)
    resumed.load_state_dict(loader.state_dict())
    seen += [index for batch in resumed for index in batch["index"].numpy().tolist()]
    assert sorted(seen) == list(range(43))


def test_ranks_make_equal_steps_and_show_each_sample_once(make):
    loaders = [make(shuffle=True, rank=rank, world_size=2) for rank in range(2)]
    assert len(loaders[0]) == len(loaders[1]) == 3
    seen = []
    for one, other in zip(*map(list, loaders)):
        assert len(one["key"]) == len(other["key"])
        for batch in (one, other):
            rows = zip(batch["index"].numpy().tolist(), batch["status"])
            seen += [index for index, status in rows if status == "ok"]
    assert sorted(seen) == list(range(43))
    states = [loader.state_dict() for loader in loaders]
    assert states[0] == states[1]


def test_ranks_come_from_the_environment(make, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert stream(make(distributed="env")) == stream(make(rank=1, world_size=2))
    with pytest.raises(ValueError, match="leave them out"):
        make(distributed="env", rank=1, world_size=2)
    monkeypatch.delenv("WORLD_SIZE")
    with pytest.raises(ValueError, match="RANK but not WORLD_SIZE"):
        make(distributed="env")
    with pytest.raises(ValueError, match="belong together"):
        make(rank=1)


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({}, [8, 8, 8, 8, 8, 3]),
        ({"drop_last": False}, [8, 8, 8, 8, 8, 3]),
        ({"drop_last": True}, [8] * 5),
        ({"last_batch": "drop"}, [8] * 5),
        ({"last_batch": "pad"}, [8] * 6),
    ],
)
def test_the_last_batch_is_as_asked_for(make, options, rows):
    batches = list(make(**options))
    assert [len(batch["key"]) for batch in batches] == rows
    assert batches[-1]["status"].count("padded") == (5 if options.get("last_batch") == "pad" else 0)


@pytest.mark.filterwarnings("ignore:pin_memory=True has no effect")  # where there is no GPU
def test_no_result_depends_on_workers_or_prefetch(make):
    expected = stream(make(shuffle=True))
    for options in ({"num_workers": 1}, {"num_workers": 5, "prefetch_factor": 3}, {"num_workers": 0}):
        assert stream(make(shuffle=True, persistent_workers=True, pin_memory=True, **options)) == expected


def test_a_closed_loader_says_so_and_its_batches_stay(make):
    with make() as loader:
        batches = iter(loader)
        batch = next(batches)
        copy = batch["image"].numpy().copy()
    loader.close()
    for use in (lambda: next(batches), lambda: len(loader), lambda: iter(loader), loader.state_dict):
        with pytest.raises(RuntimeError, match="was closed"):
            use()
    assert (batch["image"].numpy() == copy).all()
