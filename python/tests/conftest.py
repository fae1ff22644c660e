"""What the tests share: the bundled photographs, a small YOLO data set, and what needs torch or a trainer."""

import importlib
import io
import os
import pathlib
import shutil
import struct
import tarfile
import zlib

import pytest

import feedline

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHOTOS = ROOT / "data" / "photos"

#: Small, so that an epoch takes a moment.
SMALL = [feedline.RandomResizedCrop(32), feedline.RandomHorizontalFlip()]


#: Packages without which plugs are not tested.
missing = set()


def trainer(*names):
    """Skips the test where a package is not installed, and says so; with FEEDLINE_TEST_PLUGS=1 it has to be."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            if os.environ.get("FEEDLINE_TEST_PLUGS"):
                raise
            missing.add(name)
            pytest.skip(f"{name} is not installed")


def pytest_terminal_summary(terminalreporter):
    for name in sorted(missing):
        terminalreporter.write_line(f"NOTE: the plugs that need {name} are not tested: it is not installed")


@pytest.fixture(scope="session")
def sets(tmp_path_factory):
    """The data sets that the plugs are tried on."""
    trainer("numpy", "PIL")
    import data_sets

    folder = tmp_path_factory.mktemp("sets")
    data_sets.make(folder)
    return folder


def write_png(path, pixels):
    """Writes rows of grey levels or of RGB, as they are."""
    height, width = pixels.shape[:2]
    colour = 2 if pixels.ndim == 3 else 0

    def chunk(name, content):
        checksum = zlib.crc32(name + content)
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)

    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )


def write_tar(path, members):
    """Writes members by their names, in this order."""
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


@pytest.fixture
def photos():
    return PHOTOS


@pytest.fixture
def make():
    """Makes a loader of the photographs; what is not named is small."""

    def make(data=PHOTOS, **options):
        options.setdefault("batch_size", 8)
        if "recipe" not in options:
            options.setdefault("transforms", SMALL)
        return feedline.Loader(data, **options)

    return make


@pytest.fixture
def torch():
    """torch, where it is installed; FEEDLINE_TEST_TORCH=1 says that it has to be."""
    if os.environ.get("FEEDLINE_TEST_TORCH"):
        import torch

        return torch
    return pytest.importorskip("torch")


@pytest.fixture
def yolo(tmp_path):
    """Four photographs with boxes; the last one is background."""
    images, labels = tmp_path / "images", tmp_path / "labels"
    images.mkdir(), labels.mkdir()
    for at, photo in enumerate(sorted(PHOTOS.glob("cat/*.jpg"))[:4]):
        shutil.copy(photo, images / f"{at}.jpg")
        boxes = ["1 0.5 0.5 0.5 0.25", "0 0.25 0.25 0.125 0.125"][: 3 - at] if at < 3 else []
        (labels / f"{at}.txt").write_text("".join(f"{box}\n" for box in boxes))
    (tmp_path / "data.yaml").write_text("train: images\nnames: [cat, paw]\n")
    return tmp_path / "data.yaml"


@pytest.fixture
def poses(tmp_path):
    """One photograph of two objects with two keypoints each."""
    images, labels = tmp_path / "images", tmp_path / "labels"
    images.mkdir(), labels.mkdir()
    shutil.copy(sorted(PHOTOS.glob("cat/*.jpg"))[0], images / "0.jpg")
    (labels / "0.txt").write_text("0 0.5 0.5 0.5 0.5 0.25 0.25 2 0.75 0.75 1\n0 0.5 0.5 0.1 0.1 0.5 0.5 2 0 0 0\n")
    (tmp_path / "data.yaml").write_text("train: images\nnames: [cat]\nkpt_shape: [2, 3]\n")
    return tmp_path / "data.yaml"
