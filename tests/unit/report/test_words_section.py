"""Single words on the page: the numbers of the figures, as text, with marks that stand where the numbers say."""

from __future__ import annotations

import math
import subprocess
import sys
from statistics import fmean, stdev
from typing import Any

import polars as pl
from page_parts import lines_of

from prasanga.report.sections.words import carrying_words
from prasanga.report.sheet import Sheet
from prasanga.report.study import Results

FLOWERS = {"গোলাপ": 0.30, "শাপলা": 0.10, "জুঁই": 0.20}
INSECTS = {"মশা": -0.10, "মাছি": 0.05, "উকুন": -0.30}
GLOSSES = {"গোলাপ": "rose", "শাপলা": "water  lily", "মশা": "mosquito"}
HOSTILE = "<script>alert('x')</script>"
COLUMNS = {
    **dict.fromkeys(("category", "model", "segment_length", "sample_mode", "role", "set", "stimulus"), pl.String),
    **dict.fromkeys(("association", "effect_without"), pl.Float64),
}


def lexicon(**changes: Any) -> dict[str, Any]:
    targets = [{"name": "flowers", "stimuli": list(FLOWERS)}, {"name": "in_sects", "stimuli": list(INSECTS)}]
    attributes = [
        {"name": "pleasant", "gloss": "pleasant words", "stimuli": []},
        {"name": "un_pleasant", "stimuli": []},
    ]
    category = {"title": "Flowers and insects", "targets": targets, "attributes": attributes, **changes}
    return {"C1": category, "glosses": GLOSSES}


def rows_of(
    model: str, length: str = "9", mode: str = "fixed", *, category: str = "C1", power: float = 1.0, scale: float = 1.0
) -> list[Any]:
    """Associations of all words, curved by `power`; the effect without each word is its place in its set."""
    return [
        (category, model, length, mode, role, name, stimulus, math.copysign(abs(value) ** power, value) * scale, place)
        for role, name, values in (("x", "flowers", FLOWERS), ("y", "in_sects", INSECTS))
        for place, (stimulus, value) in enumerate(values.items())
    ]


def table_of(rows: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def sheet_of_words(rows: list[Any], **changes: Any) -> Sheet:
    """The table of the only category."""
    results = Results(**{"ceat_words": table_of(rows), "categories": lexicon(), **changes})
    section = carrying_words(results, "C1", "category-C1")
    assert section is not None
    (sheet,) = section.sheets
    return sheet


def test_numbers_are_those_of_a_slow_oracle() -> None:
    models = {"a": 1.0, "b": 3.0}
    rows = [row for model, power in models.items() for row in rows_of(model, power=power)]
    expected: dict[str, dict[str, float]] = {}
    for model, power in models.items():
        raw = {w: math.copysign(abs(v) ** power, v) for w, v in {**FLOWERS, **INSECTS}.items()}
        for word, value in raw.items():
            expected.setdefault(word, {})[model] = (value - fmean(raw.values())) / stdev(raw.values())
    lines = lines_of(sheet_of_words(rows))
    ordered = [
        word for words in (FLOWERS, INSECTS) for word in sorted(words, key=lambda w: -fmean(expected[w].values()))
    ]
    assert [line[0] for line in lines] == ordered
    assert [line[3:] for line in lines] == [
        [f"{expected[word][model]:+.2f}".replace("-", "\N{MINUS SIGN}") for model in models] for word in ordered
    ]
    assert lines[0][1:3] == ["flowers", "rose"]
    assert lines_of(sheet_of_words(sorted(rows, key=lambda row: (row[1], row[7])))) == lines


def test_the_page_needs_no_matplotlib() -> None:
    code = "import sys, prasanga.report.page; print([name for name in sys.modules if name.startswith('matplotlib')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
