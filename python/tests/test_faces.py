"""Every language gets the same bytes: what the example `epochs` prints here is what it prints in Rust."""

import subprocess
import sys

import pytest
from conftest import PHOTOS, ROOT


@pytest.mark.parametrize(("recipe", "seed"), [("imagenet-train", "42"), ("imagenet-randaugment", "7")])
def test_the_example_prints_what_the_one_in_rust_does(recipe, seed):
    arguments = [str(PHOTOS), recipe, seed]
    # As the tests in Rust have built it; the numbers are those of an optimised build.
    rust = printed(*"cargo run --quiet --locked --features remote --example epochs --".split(), *arguments)
    assert printed(sys.executable, "examples/python/epochs.py", *arguments) == rust
    assert rust.count("checksum") == 2 and "[8, 3, 224, 224]" in rust and "[3, 3, 224, 224]" in rust


def test_the_example_of_captions_prints_what_the_one_in_rust_does(tmp_path):
    archive = str(tmp_path / "captions.tar")
    here = printed(sys.executable, "examples/python/captions.py", archive)
    assert here.startswith("[4, 3, 224, 224]\n") and here.count(".jpg: a photo of a") == 6
    assert printed(*"cargo run --quiet --locked --features remote --example captions --".split(), archive) == here


def test_the_example_of_segmentation_prints_what_the_one_in_rust_does(tmp_path):
    folder = str(tmp_path / "drawn")
    here = printed(sys.executable, "examples/python/segmentation.py", folder)
    assert here.count("[4, 3, 64, 64] pixels by class: {0: ") == 1 and here.count("[2, 3, 64, 64]") == 1 and "255: " in here
    assert printed(*"cargo run --quiet --locked --features remote --example segmentation --".split(), folder) == here


def test_the_example_of_pairs_prints_what_the_one_in_rust_does(tmp_path):
    folder = str(tmp_path / "drawn")
    here = printed(sys.executable, "examples/python/pairs.py", folder)
    assert here.count("[2, 3, 24, 24] and [2, 3, 24, 24]: means ") == 2
    assert printed(*"cargo run --quiet --locked --features remote --example pairs --".split(), folder) == here


def test_the_example_of_instance_masks_prints_what_the_one_in_rust_does(tmp_path):
    annotations = str(tmp_path / "instances.json")
    here = printed(sys.executable, "examples/python/instance_masks.py", annotations)
    assert here.startswith("[4, 3, 200, 300]\n") and here.count(": class 0, ") == 6 == here.count(": class 1, ")
    rust = "cargo run --quiet --locked --features remote --example instance_masks --".split()
    assert printed(*rust, annotations, str(PHOTOS)) == here


def test_the_example_of_mixtures_prints_what_the_one_in_rust_does(tmp_path):
    folder = str(tmp_path / "mixture")
    here = printed(sys.executable, "examples/python/mixture.py", folder)
    assert here.startswith("16 samples of the classes cat, rocket, clock\n") and here.count("studio:") > 3
    assert printed(*"cargo run --quiet --locked --features remote --example mixture --".split(), folder) == here


def printed(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
