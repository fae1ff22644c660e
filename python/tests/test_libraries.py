"""Where the package looks for nvJPEG: in the packages of the Python that runs it."""

import pytest

from feedline import _feedline


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A folder on this Python's path, with the files that NVIDIA's wheel and torchvision's bring."""
    monkeypatch.delenv("FEEDLINE_NVJPEG", raising=False)
    names = ["nvidia/cu13/lib/libnvjpeg.so.13", "torchvision.libs/libnvjpeg.0b8f1c2d.so.12"]
    files = [tmp_path / "site-packages" / name for name in names]
    for file in files:
        file.parent.mkdir(parents=True)
        file.touch()
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    return [str(file) for file in files]


def candidates():
    return [str(path) for path in _feedline.nvjpeg_candidates()]


def test_nvjpeg_is_looked_for_in_the_packages_of_this_python_first(packages, make):
    assert not set(packages) & set(candidates())
    make().close()
    found = candidates()
    assert [path for path in found if path in packages] == packages
    assert found.index(packages[1]) < found.index("libnvjpeg.so.13"), found


def test_a_library_that_is_named_is_the_only_one_looked_for(packages, make, monkeypatch):
    monkeypatch.setenv("FEEDLINE_NVJPEG", "/opt/libnvjpeg.so.13")
    make().close()
    assert candidates() == ["/opt/libnvjpeg.so.13"]


def test_entries_of_the_path_that_are_no_folders_are_passed_over(packages, make, monkeypatch):
    import sys

    monkeypatch.setattr(sys, "path", ["", "relative", 7, *sys.path])
    make().close()
    assert set(packages) < set(candidates())
