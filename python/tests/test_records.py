"""Data that Python has: records in memory, paths, and objects that are asked for one record after another."""

import gc
import os
import pathlib
import subprocess
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest
from conftest import PHOTOS

import feedline

RESIZE = [feedline.Resize([16, 16])]
FILES = sorted(PHOTOS.glob("*/*.jpg"))[:12]


class Asked:
    """A data set as people write one for torch, but of compressed images."""

    def __init__(self, records):
        self.records = records
        self.threads = set()

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        self.threads.add(threading.get_ident())
        return self.records[index]


def load(data, batch_size=4, **options):
    options = {"transforms": RESIZE, "framework": "numpy", **options}
    return feedline.Loader(data, batch_size, **options)


def joined(loader, name):
    return np.concatenate([batch[name] for batch in loader])


@pytest.mark.parametrize("kind", [list, Asked], ids=["list", "asked"])
@pytest.mark.parametrize("image", [pathlib.Path.read_bytes, lambda path: bytearray(path.read_bytes()), str, pathlib.Path],
                         ids=["bytes", "bytearray", "str", "path"])  # fmt: skip
def test_bytes_and_paths_give_the_pixels_of_the_folder(kind, image):
    want = next(iter(load(PHOTOS, len(FILES), subset=range(len(FILES)))))
    labels = want["label"].tolist()
    data = [(image(path), label) for path, label in zip(FILES, labels)]
    made = load(kind(data))
    np.testing.assert_array_equal(joined(made, "image"), want["image"])
    assert joined(made, "label").tolist() == labels
    assert [key for batch in made for key in batch["key"]] == [f"record {at}" for at in range(12)]


@pytest.mark.parametrize("kind", [list, Asked], ids=["list", "asked"])
def test_dicts_have_fields(kind):
    data = kind([
        {"image": path, "label": at % 3, "key": path.name, "caption": f"photo {at}", "score": at / 2, "ids": list(range(at)), "about": {"at": [at]}}
        for at, path in enumerate(FILES)
    ])  # fmt: skip
    # What is asked for one by one is known by its first record.
    declared = {"caption": "text", "score": "float", "ids": "integers", "about": "json"}
    batches = list(load(data, fields=declared if kind is Asked else None, shuffle=True, seed=1))
    rows = np.concatenate([batch["index"] for batch in batches]).tolist()
    assert [text for batch in batches for text in batch["caption"]] == [f"photo {at}" for at in rows]
    assert joined(batches, "score").tolist() == [at / 2 for at in rows]
    assert [about for batch in batches for about in batch["about"]] == [{"at": [at]} for at in rows]
    assert [key for batch in batches for key in batch["key"]] == [FILES[at].name for at in rows]
    first = batches[0]
    assert first["ids_offsets"].tolist() == np.cumsum([0, *rows[:4]]).tolist()


def test_fields_are_known_by_their_values():
    batch = next(iter(load([{"image": FILES[0], "a": 1, "b": 2.5, "c": b"x", "d": [1.5], "e": "t", "f": None}, {"image": FILES[1], "a": 2, "b": 3, "c": b"", "d": [2, 3], "e": "", "f": 1}],
                           fields={"a": "integer", "b": "float", "c": "bytes", "d": "floats", "e": "text", "f": {"type": "integer", "default": 7}})))  # fmt: skip
    assert batch["a"].tolist() == [1, 2] and batch["b"].tolist() == [2.5, 3.0] and batch["c"] == [b"x", b""]
    assert batch["d"].tolist() == [1.5, 2, 3] and batch["f"].tolist() == [7, 1]
    inferred = next(iter(load([{"image": FILES[0], "a": 1, "d": [1.5]}, {"image": FILES[1], "a": 2.5, "d": [1]}])))
    assert inferred["a"].tolist() == [1.0, 2.5] and inferred["d"].tolist() == [1.5, 1.0]
    with pytest.raises(TypeError, match="the field x of the records is object: give text"):
        load([{"image": FILES[0], "x": object()}])
    with pytest.raises(ValueError, match="record 1: the field `a` is missing: give it in the record"):
        load([{"image": FILES[0], "a": 1}, {"image": FILES[1]}])
    with pytest.raises(ValueError, match="the field `a` is integer, and the value is of another type"):
        load([{"image": FILES[0], "a": "x"}], fields={"a": "integer"})


def test_records_are_asked_for_on_the_loader_s_threads():
    data = Asked([(path, at) for at, path in enumerate(FILES)])
    loader = load(data, num_workers=3, shuffle=True)
    assert loader.dataset is data
    assert sorted(joined(loader, "label").tolist()) == list(range(12))
    assert threading.get_ident() in data.threads and len(data.threads) > 1
    stats = loader.stats()["python_source"]
    assert stats["count"] == 12 and 0 < stats["p50_seconds"] <= stats["p99_seconds"]
    assert "python_source" not in load([FILES[0]]).stats()


def test_labels_that_come_with_records_are_mixed_as_others_are():
    records = [(path, at % 3) for at, path in enumerate(FILES)]
    mix = {"transforms": [*RESIZE, feedline.MixUp()], "num_classes": 3, "shuffle": True, "seed": 4}
    np.testing.assert_array_equal(joined(load(Asked(records), **mix), "target"), joined(load(records, **mix), "target"))


def test_targets_are_known_ahead():
    data = Asked([path.read_bytes() for path in FILES])
    data.targets, data.classes = [at % 3 for at in range(12)], ["a", "b", "c"]
    loader = load(data)
    assert joined(loader, "label").tolist() == data.targets and loader.classes == ["a", "b", "c"]
    with pytest.raises(ValueError, match="num_classes = 2, and the data have 3 classes"):
        load(data, num_classes=2)


def test_a_run_goes_on_where_records_are_asked_for():
    data = Asked([(path, at) for at, path in enumerate(FILES)])
    loader = load(data, shuffle=True, seed=2)
    batches = iter(loader)
    seen = next(batches)["index"].tolist()
    # Other records were read ahead of the state than in another run.
    state = loader.state_dict()
    other = load(data, shuffle=True, seed=2)
    other.load_state_dict(state)
    assert sorted(seen + joined(other, "index").tolist()) == list(range(12))
    with pytest.raises(ValueError, match="its samples is 12, and this loader's is 11"):
        load(Asked(data.records[:11]), shuffle=True, seed=2).load_state_dict(state)


class Failing(Asked):
    def __getitem__(self, index):
        if index == 6:
            self.fail(index)
        return super().__getitem__(index)

    def fail(self, index):
        raise KeyError(f"nothing at {index}")


def test_an_error_names_the_record_and_has_python_s_traceback():
    loader = load(Failing(FILES))
    batches = iter(loader)
    next(batches)
    with pytest.raises(feedline.SampleError, match="its __getitem__ raised KeyError: 'nothing at 6'") as raised:
        next(batches)
    assert raised.value.index == 6 and raised.value.key == "record 6"
    cause = raised.value.__cause__
    assert isinstance(cause, KeyError)
    assert "in fail" in "".join(traceback.format_tb(cause.__traceback__))
    skipped = load(Failing(FILES), bad_sample="skip")
    assert [len(batch["key"]) for batch in skipped] == [4, 3, 4] and skipped.report()["failures"] == 1


def test_what_is_wrong_with_records_is_said_with_their_number():
    with pytest.raises(feedline.SampleError, match="record 3: No such file|record 3.*none.jpg: No such file"):
        list(load([*FILES[:3], "none.jpg"]))
    with pytest.raises(feedline.SampleError, match="is no file: give the path of an image"):
        list(load([PHOTOS]))
    with pytest.raises(TypeError, match="record 1 of the data has no image, only label"):
        load([FILES[0], {"label": 3}])
    with pytest.raises(TypeError, match="record 0 of the data is an image of PIL|record 0 of the data is pixels"):
        load(Asked([np.zeros((4, 4, 3), np.uint8)]))
    with pytest.raises(ValueError, match="of length 0"):
        load(Asked([]))
    with pytest.raises(feedline.SampleError, match="record 0 of the data cannot be had: ZeroDivisionError"):
        load(type("Bad", (Asked,), {"__getitem__": lambda self, index: 1 / 0})(FILES))
    with pytest.raises(feedline.SampleError, match="record 2.*record 2 of the data is int"):
        list(load(Asked([*FILES[:2], 3])))
    with pytest.raises(ValueError, match="split is for paths, but the data are records in memory"):
        load([FILES[0]], split="train")
    with pytest.raises(TypeError, match="give its records"):
        load(type("DataFrame", (Asked,), {})(FILES))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([3, 4.5], r"record 1 of the data is 4.5, a number, and that of record 0 is 3, .*: return float\(label\) of every record"),
        ([None, 4.5], r"record 1 of the data is 4.5, a number, and that of record 0 is None, .*: return float\(label\)"),
        ([None, "cat"], "record 1 of the data is 'cat': give the index of the class"),
    ],
)
def test_a_label_of_another_kind_than_an_object_s_first_one_is_named(labels, message):
    with pytest.raises(feedline.SampleError, match=message) as raised:
        list(load(Asked(list(zip(FILES, labels)))))
    assert raised.value.index == 1
    assert joined(load(Asked([(FILES[0], 3.0), (FILES[1], 4.5), (FILES[2], 5)])), "label").tolist() == [3, 4.5, 5]


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("text", {"a": 1}, "is dict, and its type is text: give a text, or ask for fields={'m': \"json\"}"),
        ("floats", [[1.5]], "is list of list, and its type is floats: give a list of numbers, or ask for"),
        ("integers", [1, None], "is list of NoneType, int, and its type is integers: give a list of whole numbers, or ask for"),
        ("bytes", {1}, "is set, and its type is bytes: give bytes$"),
        ("json", {"a": {1}}, r"is dict, which is not what JSON has \(Object of type set.*\): give dicts, lists, texts"),
    ],
)
def test_a_value_that_no_field_has_is_named_with_its_record(kind, value, message):
    known = {"text": "t", "floats": [1.5], "integers": [1], "bytes": b"b", "json": [1]}[kind]
    rows = [{"image": FILES[at], "m": each} for at, each in enumerate([known, value])]
    with pytest.raises(TypeError, match=f"^the field m of record 1 of the data {message}") as raised:
        load(rows, fields={"m": kind})
    assert "\n" not in str(raised.value)
    with pytest.raises(feedline.SampleError, match=f"the field m of record 1 of the data {message.rstrip('$')}") as raised:
        list(load(Asked(rows), fields={"m": kind}))
    assert raised.value.index == 1


def test_huge_files_are_refused_by_their_size():
    with pytest.raises(feedline.SampleError, match="above max_file_bytes = 100"):
        list(load([FILES[0]], max_file_bytes=100))


def test_hugging_face_s_undecoded_images_are_taken():
    rows = [{"image": {"bytes": FILES[0].read_bytes(), "path": None}, "label": 1}, {"image": {"bytes": None, "path": str(FILES[1])}, "label": 0}]
    assert next(iter(load(rows)))["label"].tolist() == [1, 0]


def test_images_that_hugging_face_decodes_are_answered_with_the_way_to_their_bytes():
    class Castable(Asked):
        def cast_column(self, name, kind):
            return Castable([{**record, name: kind(record[name])} for record in self.records])

    decoded = Castable([{"image": np.zeros((4, 4, 3), np.uint8), "label": 1}])
    with pytest.raises(TypeError, match=r'decoded already: .*data.cast_column\("image", datasets.Image\(decode=False\)\)'):
        load(decoded)
    undecoded = decoded.cast_column("image", lambda pixels: {"bytes": FILES[0].read_bytes(), "path": None})
    assert joined(load(undecoded), "label").tolist() == [1]


def test_a_source_of_python_s_goes_with_its_loader():
    data = Asked(FILES)
    loader = load(data, num_workers=2)
    next(iter(loader))
    gone = weakref.ref(data)
    del loader, data
    gc.collect()
    assert gone() is None


def test_a_program_ends_while_records_are_asked_for():
    program = f"""
import pathlib, time
import feedline
class Slow:
    def __len__(self): return 1000
    def __getitem__(self, index):
        time.sleep(0.01)
        return {str(FILES[0])!r}
loader = feedline.Loader(Slow(), 4, transforms=[feedline.Resize([8, 8])], num_workers=4)
batches = iter(loader)
next(batches)
mapped = iter(feedline.Loader(Slow(), 4, transforms=[feedline.Resize([8, 8])]).map(len, workers=2))
next(mapped)
print("ended")
"""
    for _ in range(3):
        out = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, env=os.environ)
        assert (out.returncode, out.stdout, out.stderr) == (0, "ended\n", "")


def test_values_that_nobody_asks_for_do_not_pile_up():
    program = f"""
import resource
import feedline
class Large:
    def __len__(self): return 400
    def __getitem__(self, index): return {{"image": {str(FILES[0])!r}, "blob": bytes(1 << 20)}}
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
chain = [feedline.RandomShortestSize([20, 30], max_size=64)]
# What is padded is planned ahead, so all records are read.
loader = feedline.Loader(Large(), 4, transforms=chain, size=64, pad_to_largest=True, fields={{"blob": "bytes"}})
print(peak() - before)
assert len(next(iter(loader))["blob"][0]) == 1 << 20
"""
    out = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=60, env=os.environ, check=True)
    assert int(out.stdout) < 200 << 10, "KiB, of 400 MiB"


class Changing:
    """A data set whose labels are others each time, or others than its targets."""

    def __init__(self, labels, targets=None):
        self.labels, self.asked = labels, 0
        if targets is not None:
            self.targets = targets

    def __len__(self):
        return 2

    def __getitem__(self, index):
        self.asked += 1
        return FILES[0], self.labels(self.asked, index)


def test_a_record_that_changes_is_a_bad_sample():
    loader = load(Changing(lambda asked, index: asked), batch_size=1, num_workers=1)
    with pytest.raises(feedline.SampleError, match="another label or key than when it was first read: return the same ones"):
        for _ in range(3):
            list(loader)


def test_targets_and_labels_must_agree():
    loader = load(Changing(lambda asked, index: index, targets=[0, 1]), batch_size=2)
    assert next(iter(loader))["label"].tolist() == [0, 1]
    with pytest.raises(feedline.SampleError, match="record 1.*not the one that `targets` of the data has"):
        list(load(Changing(lambda asked, index: index, targets=[0, 2]), batch_size=2))
    # Names of targets are no indices.
    loader = load(Changing(lambda asked, index: index, targets=["a", "b"]), batch_size=2)
    assert next(iter(loader))["label"].tolist() == [0, 1]


def test_fields_that_only_a_recipe_has_are_not_ignored():
    recipe = 'name = "mine"\n[[augment]]\nop = "RandomResizedCrop"\nsize = 32\n[output]\nsize = [32, 32]\n'
    recipe += '[data]\nfields = { score = "float" }\n'
    records = [{"image": FILES[0], "label": 0, "score": 3}]
    with pytest.raises(ValueError, match="give fields= to the Loader, too"):
        feedline.Loader(records, 1, False, recipe=recipe, framework="numpy")
    loader = feedline.Loader(records, 1, False, recipe=recipe, framework="numpy", fields={"score": "float"})
    assert next(iter(loader))["score"].tolist() == [3.0]
