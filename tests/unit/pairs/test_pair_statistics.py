"""The numbers of the paper's Table 6, for a set by hand and for the public sample of the paper's own."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from prasanga.pairs import read_pairs, statistics
from prasanga.pairs.preferences import OVERALL
from prasanga.pairs.reading import SCHEMA


def test_by_hand() -> None:
    pairs = pl.DataFrame(
        [
            ("1", "en", "age", "stereo", "a b c", "a b d", "inherited", None),
            ("2", "en", "age", "antistereo", "a b .", "a", "inherited", None),
            ("3", "en", "caste", "stereo", "a b c d", "a b c e", "tuples", None),
            ("1", "bn", "age", "stereo", "ক", "খ", None, None),
        ],
        schema=SCHEMA,
        orient="row",
    )
    found = {row[:4]: row[4:] for row in statistics(pairs).rows()}
    assert found["en", "all", "mean_words", "all"] == (18 / 6, 3)
    assert found["en", "inherited", "mean_words", "all"] == (10 / 4, 2)
    assert found["en", "tuples", "mean_words", "all"] == (4.0, 1)
    assert found["en", "all", "label_percentage", "stereo"] == (pytest.approx(200 / 3), 2)
    assert found["en", "inherited", "label_percentage", "antistereo"] == (50.0, 1)
    assert found["en", "tuples", "label_percentage", "antistereo"] == (0.0, 0)
    assert found["en", "all", "bias_type_percentage", "caste"] == (pytest.approx(100 / 3), 1)
    assert found["en", "inherited", "bias_type_percentage", "caste"] == (None, 0)
    assert found["bn", "all", "mean_words", "all"] == (1.0, 1)
    assert {key[1] for key in found if key[0] == "bn"} == {"all"}
    assert len(found) == 3 * 5 + 4


def test_no_pairs() -> None:
    assert statistics(pl.DataFrame(schema=SCHEMA)).is_empty()


def test_the_sample_is_near_table_6(shared: Path) -> None:
    """The public sample has 561 of 705 pairs; the paper's numbers are those of all of them."""
    table = statistics(read_pairs(shared / "reference/indibias/IndiBias_v1_sample.csv"))
    found = {row[:4]: row[4] for row in table.rows()}
    with (shared / "published/indibias_dataset_statistics.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    compared = 0
    for row in published:
        subset = {"Overall": OVERALL}.get(row["subset"], row["subset"].lower())
        category = row["category"].lower()
        if row["section"] == "Average word length":
            language = {"english": "en", "hindi": "hi"}[category.split()[-1]]
            assert abs(found[language, subset, "mean_words", "all"] - float(row["value"])) < 0.25
        elif row["section"].startswith("Stereo"):
            assert abs(found["en", subset, "label_percentage", category] - float(row["value"])) < 5
        elif row["value"]:
            assert abs(found["hi", subset, "bias_type_percentage", category] - float(row["value"])) < 0.3
        else:
            assert found["hi", subset, "bias_type_percentage", category] is None
        compared += 1
    assert compared == 33
