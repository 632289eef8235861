"""Every file beside the page is offered once, under a name that says what it shows."""

from __future__ import annotations

import pytest

from prasanga.report.figures import shown_in


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("words_C1", "associations of single words, C1"),
        ("hexbins_tiny-wide", "prior and corrected scores by sentence structure, tiny-wide"),
        ("demo.oddities", "oddities of the pairs of demo"),
        ("something_new", "something new"),
    ],
)
def test_a_family_of_files_is_named_by_its_member(stem: str, name: str) -> None:
    assert shown_in(stem) == name
