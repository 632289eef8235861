"""Single words of a category: their standardized associations, against a slow count."""

from __future__ import annotations

from statistics import fmean, stdev

import polars as pl
import pytest

from prasanga.report.grid import measured_words

FLOWERS = {"গোলাপ": 0.30, "শাপলা": 0.10, "জুঁই": 0.20}
INSECTS = {"মশা": -0.10, "মাছি": 0.05, "উকুন": -0.30}
CURVES = {"a": 1, "b": 3}
"""The power to which each model takes the associations."""


def test_numbers_are_those_of_a_slow_oracle() -> None:
    rows = [
        ("C1", model, "mean", role, word, value**power)
        for model, power in CURVES.items()
        for role, values in (("x", FLOWERS), ("y", INSECTS), ("a", {"শান্তি": 9.0}))
        for word, value in values.items()
    ]
    names = ["category", "model", "segment_length", "role", "stimulus", "association"]
    found = measured_words(pl.DataFrame(rows, schema=names, orient="row"), "C1")
    for model, power in CURVES.items():
        raw = {word: value**power for word, value in {**FLOWERS, **INSECTS}.items()}
        expected = {word: (value - fmean(raw.values())) / stdev(raw.values()) for word, value in raw.items()}
        assert dict(found.filter(model=model).select("stimulus", "value").iter_rows()) == pytest.approx(expected)
