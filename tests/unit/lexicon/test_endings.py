"""The classes of endings, which decide the suffix groups of a word."""

from __future__ import annotations

import pytest
from tables import read_table

from prasanga.lexicon import ending_class
from prasanga.text import normalize


@pytest.mark.parametrize(("stem", "expected"), read_table(__file__, "endings"))
def test_ending_class(stem: str, expected: str) -> None:
    assert ending_class(normalize(stem)) == expected


def test_joiners_do_not_count() -> None:
    assert ending_class("মা\u200c") == "monosyllable"
