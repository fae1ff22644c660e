"""Fields: captions, metadata and numbers beside the images, as Python's own values."""

import typing

import numpy as np
import pytest
from conftest import PHOTOS, SMALL, write_tar

import feedline

FIELDS = {
    "caption": {"type": "text", "from": "txt"},
    "json": "json",
    "raw": {"type": "bytes", "from": "txt"},
    "score": {"type": "float", "default": 0.5},
    "width": {"type": "integer", "from": "w", "default": -1},
}


@pytest.fixture
def archive(tmp_path):
    """Six photographs with captions, of which every second one has a score and a width."""
    members = {}
    for number, photo in enumerate(sorted(PHOTOS.glob("*/*.jpg"))[:6]):
        members[f"{number}.jpg"] = photo.read_bytes()
        members[f"{number}.txt"] = f"an ä {number}".encode()
        members[f"{number}.json"] = f'{{"number": {number}, "tags": ["a", null]}}'.encode()
        if number % 2:
            members[f"{number}.score"] = b"0.25\n"
            members[f"{number}.w"] = b"640"
    write_tar(tmp_path / "a.tar", members)
    return tmp_path / "a.tar"


def loader(data, fields=FIELDS, **options):
    return feedline.Loader(data, batch_size=4, transforms=SMALL, fields=fields, **options)


@pytest.mark.parametrize("framework", [None, "numpy"])
def test_each_row_has_the_values_of_its_sample(archive, framework):
    batches = list(loader(archive, shuffle=True, seed=1, framework=framework))
    assert [len(batch["caption"]) for batch in batches] == [4, 2]
    for batch in batches:
        numbers = np.asarray(batch["index"]).tolist()
        assert batch["caption"] == [f"an ä {number}" for number in numbers]
        assert batch["raw"] == [f"an ä {number}".encode() for number in numbers]
        assert batch["json"] == [{"number": number, "tags": ["a", None]} for number in numbers]
        scores, widths = np.asarray(batch["score"]), np.asarray(batch["width"])
        assert scores.dtype == np.float64 and widths.dtype == np.int64
        assert scores.tolist() == [0.25 if number % 2 else 0.5 for number in numbers]
        assert widths.tolist() == [640 if number % 2 else -1 for number in numbers]
        assert np.from_dlpack(batch["score"]).tolist() == scores.tolist()


def test_numbers_are_tensors_of_their_type(archive):
    batch = next(iter(loader(archive)))
    assert (batch["score"].dtype, batch["score"].shape) == ("float64", (4,))
    assert (batch["width"].dtype, batch["width"].shape) == ("int64", (4,))


def test_a_default_may_be_a_number_that_is_not_finite(archive):
    numbers = {"type": "float", "from": "score"}
    lists = {"type": "floats", "from": "score"}
    fields = {
        "nan": {**numbers, "default": float("nan")},
        "text": {**numbers, "default": "nan"},
        "low": {**numbers, "default": np.float32("-inf")},
        "pair": {**lists, "default": np.array([np.inf, 2.0])},
        "list": {**lists, "default": (float("nan"), 1)},
    }
    made = loader(archive, fields, framework="numpy")
    batch = next(iter(made))
    for name in ("nan", "text"):
        np.testing.assert_array_equal(batch[name], [np.nan, 0.25, np.nan, 0.25])
    np.testing.assert_array_equal(batch["low"], [-np.inf, 0.25, -np.inf, 0.25])
    np.testing.assert_array_equal(batch["pair"], [np.inf, 2, 0.25, np.inf, 2, 0.25])
    np.testing.assert_array_equal(batch["list"], [np.nan, 1, 0.25, np.nan, 1, 0.25])
    assert made.options["fields"]["nan"]["default"] == "nan" and made.options["fields"]["pair"]["default"] == ["inf", 2]
    mixed = loader(feedline.Mixture([{"path": archive, "fields": {"nan": fields["nan"]}}]), None)
    assert np.isnan(next(iter(mixed))["nan"].numpy()).tolist() == [True, False, True, False]


def test_torch_takes_numbers(torch, archive):
    batch = next(iter(loader(archive, framework="torch")))
    assert batch["score"].dtype == torch.float64 and batch["width"].dtype == torch.int64


def test_fields_and_images_stay_together_where_samples_are_bad(tmp_path):
    photo = next(PHOTOS.glob("cat/*.jpg")).read_bytes()
    members = {}
    for number in range(6):
        members[f"{number}.jpg"] = photo if number != 3 else photo[:100]
        members[f"{number}.txt"] = f"{number}".encode() if number != 1 else b"\xff"
    write_tar(tmp_path / "a.tar", members)
    skipping = loader(tmp_path / "a.tar", {"txt": "text"}, bad_sample="skip")
    rows = [(batch["index"].numpy().tolist(), batch["txt"]) for batch in skipping]
    assert rows == [([0, 2], ["0", "2"]), ([4, 5], ["4", "5"])]
    assert "the field `txt` is not UTF-8 at byte 0" in skipping.report()["files"][0]["cause"]
    for batch in loader(tmp_path / "a.tar", {"txt": "text"}, bad_sample="substitute"):
        assert batch["txt"] == [str(number) for number in batch["index"].numpy()]
        assert "substituted" in batch["status"] or 4 in batch["index"].numpy()
    with pytest.raises(feedline.SampleError, match="a.tar/1.jpg.*not UTF-8") as error:
        list(loader(tmp_path / "a.tar", {"txt": "text"}))
    assert error.value.index == 1


def test_a_list_has_fields_in_its_columns(tmp_path):
    photo = next(PHOTOS.glob("cat/*.jpg"))
    (tmp_path / "a.csv").write_text(f'path,caption,n\n{photo},"a cat, asleep",7\n{photo},another,8\n')
    batch = next(iter(loader(tmp_path / "a.csv", {"caption": "text", "n": "integer"})))
    assert batch["caption"] == ["a cat, asleep", "another"] and batch["n"].numpy().tolist() == [7, 8]


@pytest.mark.parametrize("name", [name for name in typing.get_type_hints(feedline.Batch)])
def test_a_field_cannot_take_the_name_of_an_array(archive, name):
    with pytest.raises(ValueError, match=f"the field `{name}` is called as an array.*give it another name"):
        loader(archive, {name: {"type": "text", "from": "txt"}})


def test_a_default_that_is_none_is_no_default(archive):
    fields = {"txt": "text", "some": {"type": "float", "from": "score", "default": None}}
    with pytest.raises(feedline.SampleError, match="`some`.*is missing"):
        list(loader(archive, fields))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"caption": "texts"}, "`caption`: no type is called `texts`: did you mean `text`"),
        ({"captoin": "text"}, r"no member with the ending is called `captoin` \(there are jpg, json, score, txt, w\)"),
        ({"txt": {"type": "text", "default": 3}}, "the default 3 is no text"),
        ({"txt": {"kind": "text"}}, "unknown field `kind`"),
        ({"json": {"type": "json", "default": {"a": float("nan")}}}, "give numbers that are finite"),
        (["txt"], "give names of fields, each with its type"),
    ],
)
def test_fields_that_cannot_be_are_refused(archive, fields, words):
    with pytest.raises(ValueError, match=words):
        loader(archive, fields)


def test_second_images_are_moved_as_their_images_are_and_lie_where_they_do():
    chain = [feedline.RandomResizedCrop(48), feedline.RandomHorizontalFlip()]
    fields = {"twin": {"type": "image", "from": str(PHOTOS)}}
    views = [feedline.View(48, chain), feedline.View(32, [feedline.RandomResizedCrop(32)])]
    for batch in feedline.Loader(PHOTOS, batch_size=4, transforms=chain, fields=fields, normalize="imagenet"):
        assert batch["twin"].shape == batch["image"].shape == (len(batch["label"]), 3, 48, 48)
        assert batch["twin"].dtype == "float32" and (batch["twin"].numpy() == batch["image"].numpy()).all()
    batch = next(iter(feedline.Loader(PHOTOS, batch_size=4, views=views, fields=fields)))
    for pixels, labels in zip(batch["views"], batch["view_labels"]):
        assert (labels["twin"].numpy() == pixels.numpy()).all()


def test_data_that_have_no_fields_refuse_them():
    with pytest.raises(ValueError, match="folders hold pictures alone: declare it as image or depth"):
        loader(PHOTOS, {"caption": "text"})
    with pytest.raises(ValueError, match="record 0: the field `caption` is missing: give it in the record"):
        loader([next(PHOTOS.glob("cat/*.jpg")).read_bytes()], {"caption": "text"})
