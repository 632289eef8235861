"""Single words on the page: the numbers of the figures, as text, against a slow count."""

from __future__ import annotations

import subprocess
import sys
from statistics import fmean, stdev

import polars as pl
from page_parts import lines_of

from prasanga.report.study import Results
from prasanga.report.word_views import carrying_words

FLOWERS = {"গোলাপ": 0.30, "শাপলা": 0.10, "জুঁই": 0.20}
INSECTS = {"মশা": -0.10, "মাছি": 0.05, "উকুন": -0.30}
CATEGORY = {
    "targets": [{"name": "flowers", "stimuli": list(FLOWERS)}, {"name": "in_sects", "stimuli": list(INSECTS)}],
    "attributes": [{"name": "pleasant", "stimuli": []}, {"name": "un_pleasant", "stimuli": []}],
}
CURVES = {"a": 1, "b": 3}
"""The power to which each model takes the associations."""


def lines_of_words(table: pl.DataFrame) -> list[list[str]]:
    results = Results(ceat_words=table, categories={"C1": CATEGORY, "glosses": {"গোলাপ": "rose"}})
    section = carrying_words(results, "C1", "category-C1")
    assert section is not None
    return lines_of(section.sheets[0])


def test_numbers_are_those_of_a_slow_oracle() -> None:
    sides = (("x", "flowers", FLOWERS), ("y", "in_sects", INSECTS))
    rows = [
        ("C1", model, "mean", role, name, word, value**power)
        for model, power in CURVES.items()
        for role, name, values in sides
        for word, value in values.items()
    ]
    names = ["category", "model", "segment_length", "role", "set", "stimulus", "association"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    expected: dict[str, dict[str, float]] = {}
    for model, power in CURVES.items():
        raw = {word: value**power for word, value in {**FLOWERS, **INSECTS}.items()}
        for word, value in raw.items():
            expected.setdefault(word, {})[model] = (value - fmean(raw.values())) / stdev(raw.values())
    ordered = [
        word for _, _, words in sides for word in sorted(words, key=lambda word: -fmean(expected[word].values()))
    ]
    lines = lines_of_words(table)
    assert [line[0] for line in lines] == ordered
    assert [line[3:] for line in lines] == [
        [f"{expected[word][model]:+.2f}".replace("-", "\N{MINUS SIGN}") for model in CURVES] for word in ordered
    ]
    assert lines[0][1:3] == ["flowers", "rose"]
    assert lines_of_words(table.sort("model", "association")) == lines


def test_the_page_needs_no_matplotlib() -> None:
    code = "import sys, prasanga.report.page; print([name for name in sys.modules if name.startswith('matplotlib')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
