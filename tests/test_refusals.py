"""Refusals have one tone: one sentence that says what is wrong, where, and what to do."""

import re

import pytest
from refusals import refusals

ALL = list(refusals())


def test_there_are_many():
    assert len(ALL) > 200


@pytest.mark.parametrize(("place", "sentence"), ALL, ids=[place for place, _ in ALL])
def test_one_sentence(place, sentence):
    assert sentence.endswith((".", "?", "{}")), sentence
    assert "\n" not in sentence
    assert "  " not in sentence
    # A sentence begins with a capital, or with the name of an option, function or array.
    assert re.match(r"[A-Z{'\"-]|[a-z_]+[ =(\[]", sentence), sentence
    assert "please" not in sentence.lower()
    assert "!" not in sentence


def test_no_two_places_refuse_in_the_same_words():
    seen = {}
    for place, sentence in ALL:
        room = place.split("/")[0].split(":")[0]
        other = seen.setdefault(sentence, room)
        assert other == room, f"{sentence!r} stands in {other} and in {room}"
