"""Fields that are lists of numbers, in a batch."""

import json

import numpy as np
import pytest

import feedline
from conftest import PHOTOS


def table(tmp_path, rows):
    photos = sorted(PHOTOS.glob("*/*.jpg"))
    lines = [json.dumps({"path": str(path), **row}) for path, row in zip(photos, rows)]
    path = tmp_path / "list.jsonl"
    path.write_text("\n".join(lines))
    return path


def batches(path, **keywords):
    loader = feedline.Loader(path, batch_size=2, transforms=[feedline.Resize([8, 8])], framework="numpy", **keywords)
    return list(loader)


def test_lists_of_one_length_are_an_array_and_others_have_offsets(tmp_path):
    rows = [{"ids": list(range(n)), "e": [n / 3, n * 1e300, -0.5]} for n in (3, 0, 2)]
    fields = {"ids": "integers", "e": {"type": "floats", "length": 3}}
    first, last = batches(table(tmp_path, rows), fields=fields)
    assert first["e"].dtype == np.float64 and first["ids"].dtype == np.int64 and first["ids_offsets"].dtype == np.int64
    np.testing.assert_array_equal(first["e"], [rows[0]["e"], rows[1]["e"]])
    np.testing.assert_array_equal(last["e"], [rows[2]["e"]])
    np.testing.assert_array_equal(first["ids"], [0, 1, 2])
    np.testing.assert_array_equal(first["ids_offsets"], [0, 3, 3])
    np.testing.assert_array_equal(last["ids_offsets"], [0, 2])
    assert "e_offsets" not in first


def test_a_list_of_another_length_is_a_bad_sample(tmp_path):
    rows = [{"e": [1, 2]}, {"e": [1]}]
    fields = {"e": {"type": "floats", "length": 2}}
    with pytest.raises(feedline.SampleError, match="has 1 numbers, and length = 2"):
        batches(table(tmp_path, rows), fields=fields)
    (batch,) = batches(table(tmp_path, rows), fields=fields, bad_sample="skip")
    np.testing.assert_array_equal(batch["e"], [[1.0, 2.0]])


def test_the_name_of_the_offsets_is_taken(tmp_path):
    fields = {"ids": "integers", "ids_offsets": "integer"}
    with pytest.raises(ValueError, match="as the offsets of `ids`"):
        batches(table(tmp_path, [{"ids": [], "ids_offsets": 1}]), fields=fields)
