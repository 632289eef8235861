"""The snippet of docs/statistics.md runs as it stands there, and gives what the study's own code gives."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prasanga.associations import Estimand, TestSettings, measure_cosines

PAGE = Path(__file__).parents[3] / "docs" / "statistics.md"


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the snippet leaves behind."""
    section = PAGE.read_text(encoding="utf-8").split("## In a notebook")[1].split("\n## ")[0]
    (snippet,) = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    found: dict[str, Any] = {}
    exec(snippet, found)
    return found


def test_the_snippet_finds_the_effect_that_was_put_in(names: dict[str, Any]) -> None:
    assert 0.5 < names["effect"] < 2
    assert names["ends"].low < names["effect"] < names["ends"].high
    assert names["p_association"] < 0.05
    assert len(names["without"]) == 40
    assert all(abs(value - names["effect"]) < 0.3 for value in names["without"].values())


def test_the_snippet_says_what_a_study_would(names: dict[str, Any]) -> None:
    words = names["X"], names["Y"], names["A"], names["B"]
    estimand = Estimand("mine", words, names["units"], TestSettings(), 47)
    study = measure_cosines(names["cosines"], estimand, effect=names["effect"])
    ends = names["ends"].low, names["ends"].high
    assert (study.columns["ci_low"], study.columns["ci_high"]) == pytest.approx(ends, rel=1e-12)
    np.testing.assert_allclose(
        list(names["without"].values()), [row["effect_without"] for row in study.words], rtol=1e-12
    )
