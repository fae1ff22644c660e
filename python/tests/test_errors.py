"""What goes wrong is an exception that names the file, the option or the cause, and what to do."""

import os
import shutil

import pytest
from conftest import PHOTOS

import feedline


@pytest.fixture
def damaged(tmp_path):
    """Ten photographs, of which number 3 is cut short and number 7 is text."""
    for at, photo in enumerate(sorted(PHOTOS.glob("*/*.jpg"))[:10]):
        shutil.copy(photo, tmp_path / f"{at}.jpg")
    (tmp_path / "3.jpg").write_bytes((tmp_path / "3.jpg").read_bytes()[:900])
    (tmp_path / "7.jpg").write_text("no photograph")
    return tmp_path


def test_a_bad_file_is_named_and_ends_the_epoch(make, damaged):
    loader = make(damaged, batch_size=2, flat=True)
    batches = iter(loader)
    next(batches)
    with pytest.raises(feedline.SampleError, match=r"sample 3 \(3\.jpg\)") as raised:
        next(batches)
    assert raised.value.key == "3.jpg" and raised.value.index == 3
    assert loader.state_dict()["steps"] == 1
    assert list(batches) == []
    files = loader.report()["files"]
    assert [(file["key"], file["stage"]) for file in files] == [("3.jpg", files[0]["stage"])]


def test_bad_files_are_skipped_or_replaced_on_request(make, damaged):
    loader = make(damaged, batch_size=5, flat=True, bad_sample="skip")
    assert [len(batch["key"]) for batch in loader] == [4, 4]
    report = loader.report()
    assert report["failures"] == 2
    assert {file["key"] for file in report["files"]} == {"3.jpg", "7.jpg"}
    assert all(file["cause"] for file in report["files"])
    batches = list(make(damaged, batch_size=5, flat=True, bad_sample="substitute"))
    assert [batch["status"].count("substituted") for batch in batches] == [1, 1]
    with pytest.raises(feedline.SampleError, match="max_failures is 1"):
        list(make(damaged, batch_size=5, flat=True, bad_sample="skip", max_failures=1))


def test_missing_data_are_a_file_error_with_the_path(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        feedline.Loader(tmp_path / "none")
    assert raised.value.filename == str(tmp_path / "none")


def test_data_of_no_kind_are_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no image"):
        feedline.Loader(tmp_path)
    with pytest.raises(TypeError, match="give a path"):
        feedline.Loader(b"abc")
    with pytest.raises(TypeError, match="give a path"):
        feedline.Loader(3)
    with pytest.raises(TypeError, match="record 1 of the data is int"):
        feedline.Loader([b"", 3])
    with pytest.raises(ValueError, match="split is for data of the kind yolo"):
        feedline.Loader(PHOTOS, split="val")
    with pytest.raises(ValueError, match="leave it out"):
        feedline.Loader([b"abc"], kind="folder")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": -1}, "option batch_size = -1: .*give a whole number"),
        ({"batch_size": 2.5}, "option batch_size = 2.5: .*give a whole number"),
        ({"dtype": "f33"}, "option dtype = 'f33': did you mean `f32`"),
        ({"layout": "chwn"}, "option layout = 'chwn': .*`nhwc`"),
        ({"normalize": "image_net"}, "option normalize = 'image_net': did you mean `imagenet`"),
        ({"normalize": ([0, 0, 0], [1, 1, 0])}, "every std greater than 0"),
        ({"dtype": "u8", "normalize": "imagenet"}, "u8 output"),
        ({"shuffle": "yes"}, "option shuffle = 'yes': give True or False"),
        ({"bad_sample": "ignore"}, "option bad_sample = 'ignore': give .*`skip`"),
        ({"drop_last": True, "last_batch": "pad"}, "give one of them"),
        ({"device": "gpu"}, 'option device = "gpu": .*`cuda:N`, or `auto`'),
        ({"device": "cuda:x"}, 'option device = "cuda:x": .*`cuda:N`, or `auto`'),
        ({"recipe": "imagenet-train", "transforms": []}, "give one of them"),
        ({"recipe": "imagenet-trian", "transforms": None}, "did you mean `imagenet-train`"),
        ({"transforms": [{"op": "RandomResizedCorp"}]}, "did you mean `RandomResizedCrop`"),
        ({"transforms": [feedline.RandomHorizontalFlip()]}, "size"),
        ({"num_workers": 513}, "workers must be in 1..=512"),
        ({"framework": "tf"}, "framework is 'tf'"),
        ({"weights": [1.0]}, "weights"),
        ({"subset": [100]}, "100"),
    ],
)
def test_what_means_nothing_is_refused(make, options, words):
    with pytest.raises(ValueError, match=words):
        make(**options)


def test_batches_that_there_is_no_memory_for_are_refused_with_their_sizes(make):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    rows = memory // 3 // 48_000_000 + 1
    with pytest.raises(ValueError, match=f"3 batches of {rows} samples of 48000000 bytes .*smaller batch_size"):
        make(batch_size=rows, prefetch_factor=1, dtype="u8", transforms=[feedline.CenterCrop(4000)])


def test_dataloader_s_other_options_say_what_to_do_instead(make):
    for option, remedy in [("collate_fn", "change the dict"), ("sampler", "subset="), ("batchsize", "`batch_size`")]:
        with pytest.raises(TypeError, match=remedy):
            make(**{option: None})
    with pytest.raises(TypeError, match="no transform of feedline"):
        make(transforms=[lambda image: image])


def test_a_missing_gpu_is_told_with_the_remedy(make):
    with pytest.raises(feedline.UnavailableError, match="CUDA device 4711 is not available: .*CPU device"):
        make(device="cuda:4711")
    assert next(iter(make(device="auto:4711")))["image"].device == "cpu"


def test_labels_without_a_column_are_refused(make):
    with pytest.raises(ValueError, match="class"):
        list(make(num_classes=2))


def test_images_beside_class_folders_are_told_of(tmp_path, make):
    (tmp_path / "a").mkdir()
    photo = next(PHOTOS.glob("cat/*.jpg"))
    shutil.copy(photo, tmp_path / "a" / "0.jpg"), shutil.copy(photo, tmp_path / "1.jpg")
    with pytest.warns(UserWarning, match="1 images directly in"):
        make(tmp_path, batch_size=1)
