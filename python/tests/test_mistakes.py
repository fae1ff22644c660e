"""Mistakes that newcomers make: each is answered in one line, with the remedy, in Python's words."""

import runpy

import pytest
from conftest import ROOT

import feedline

TABLE = runpy.run_path(str(ROOT / "python" / "mistakes.py"))

#: What only those know who write Rust.
RUST = ["Some(", "None)", "::", "usize", "u32", "u64", "i64", "panicked", "unknown variant", "invalid type", "invalid value", "os error", "[[", "expected struct"]


@pytest.fixture(autouse=True)
def folder():
    with TABLE["folder"]():
        yield


def test_there_are_more_than_thirty():
    assert len(TABLE["MISTAKES"]) > 60
    assert len({mistake.title for mistake in TABLE["MISTAKES"]}) == len(TABLE["MISTAKES"])


@pytest.mark.parametrize("mistake", TABLE["MISTAKES"], ids=lambda mistake: mistake.title)
def test_a_mistake_is_answered_in_one_line_with_the_remedy(mistake):
    kind, message = TABLE["answer"](mistake)
    assert kind == mistake.kind, message
    assert mistake.remedy in message
    assert "\n" not in message and len(message) < 1000
    assert not [word for word in RUST if word in message], message


def test_a_warning_has_a_category_of_its_own_and_the_line_that_is_to_blame():
    with pytest.warns(feedline.FeedlineWarning) as caught:
        feedline.Loader("flat", 4, transforms=[feedline.Resize([8, 8])])
    assert caught[0].filename == __file__


def test_what_is_meant_is_said_without_a_warning():
    crop = [feedline.RandomResizedCrop(16)]
    feedline.Loader("flat", 4, transforms=crop, flat=True)
    feedline.Loader("photos", 4, shuffle=False, transforms=[*crop, feedline.CutMix()], num_classes=12)
    feedline.Loader("photos", 4, recipe="train.toml", shuffle=False)
    feedline.Loader("photos", 4, transforms=crop, persistent_workers=True)


def test_the_page_shows_the_answers():
    assert TABLE["PAGE"].read_text() == TABLE["page"](), "run python/mistakes.py"
