"""Studies beside each other: what may be compared, ranks and their intervals, and summaries that others sent."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from page_parts import cells_of
from report_tables import SCHEMA, estimate
from typer.testing import CliRunner

from prasanga.base.errors import InputError
from prasanga.cli import app
from prasanga.extras.studies import (
    ComparedStudy,
    Number,
    compared,
    comparison_to_csv,
    read_studies,
    render_comparison,
    what_differs,
)
from prasanga.report.study import Results
from prasanga.report.summary import study_summary, to_json
from prasanga.schema import TABLES

WORDS = {
    name: {
        "targets": [{"gloss": "flowers", "stimuli": ["ফুল"]}, {"gloss": "insects", "stimuli": ["মশা"]}],
        "attributes": [{"gloss": "good", "stimuli": ["ভাল"]}, {"gloss": "bad", "stimuli": ["মন্দ"]}],
    }
    for name in ("C1", "C4", "C10")
}
Rows = list[tuple[Any, ...]]
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a study of such estimates of SEAT, and returns its folder."""

    def make(name: str, rows: Rows = [], *, language: str = "bn", folder: str = "", **results: Any) -> Path:  # noqa: B006
        cells = [estimate(*row[:2], "", "", row[2], **(row[3] if len(row) > 3 else {})) for row in rows]
        seat = pl.DataFrame(cells, schema=SCHEMA).drop("segment_length", "sample_mode") if rows else pl.DataFrame()
        config = {"study": name, "title": name, "language": language, "preset": "recommended", "seed": 1}
        models = {row[1]: {"path": f"hub/{row[1]}", "revision": "main"} for row in rows}
        summary = study_summary(
            config={**config, "models": models, "pairs": {"sets": {"mine": {"path": "pairs.csv"}}}},
            results=Results(**{"seat": seat, "categories": WORDS, **results}),
            made_from={},
            records=[{"inputs": json.dumps({"pairs.csv": "ab" * 32})}],
        )
        place = tmp_path / (folder or name) / "results/summary.json"
        place.parent.mkdir(parents=True)
        place.write_text(to_json(summary), encoding="utf-8")
        return place.parent.parent

    return make


def numbers(*folders: Path) -> tuple[list[ComparedStudy], list[Number]]:
    studies = read_studies(folders)
    return studies, compared(studies)


def test_estimates_of_two_studies_stand_in_one_block_the_farthest_from_no_bias_first(write: Write) -> None:
    first = write("first", [("C1", "small", 0.2), ("C1", "large", -0.9), ("C4", "small", 0.1)])
    second = write("second", [("C1", "small", 0.5)])

    _, found = numbers(first, second)

    assert [
        (n["category"], n["study"], n["model"], n["value"], n["block"], n["rank"], n["n_ranked"]) for n in found
    ] == [
        ("C1", "first", "large", -0.9, 1, 1, 3),
        ("C1", "second", "small", 0.5, 1, 2, 3),
        ("C1", "first", "small", 0.2, 1, 3, 3),
        ("C4", "first", "small", 0.1, 2, None, 0),
    ]
    assert (found[1]["ci_low"], found[1]["ci_high"]) == (pytest.approx(0.5 - 0.54), pytest.approx(0.5 + 0.54))
    assert found[1]["conventions"]["std"] == "union_ddof1"


def test_intervals_of_ranks_are_those_of_drawing_each_estimate_anew(write: Write) -> None:
    """Against loops, with another generator; the probabilities of the ranks lie far from .025 and .975."""
    intervals = {
        "a": (1.6, 0.3, 0.1),
        "b": (-1.1, 0.9, 0.1),
        "c": (0.4, 0.2, 0.2),
        "d": (0.35, 0.4, 0.4),
        "e": (0.0, 0.01, 0.01),
    }
    rows: Rows = [
        ("C1", name, value, {"ci_low": value - low, "ci_high": value + high})
        for name, (value, low, high) in intervals.items()
    ]
    _, found = numbers(write("one", rows))

    rng = np.random.default_rng(5)
    ranks: dict[str, list[int]] = {name: [] for name in intervals}
    for _ in range(8000):
        drawn = {}
        for name, (value, low, high) in intervals.items():
            z = rng.standard_normal()
            drawn[name] = abs(value + z * (low if z < 0 else high) / 1.96)
        for name, size in drawn.items():
            ranks[name].append(1 + sum(other > size for other in drawn.values()))
    for number in found:
        ordered = sorted(ranks[number["model"]])
        assert (number["rank_low"], number["rank_high"]) == (ordered[199], ordered[7799]), number["model"]
    assert {number["model"]: (number["rank_low"], number["rank_high"]) for number in found}["a"] == (1, 2)


def test_what_comes_out_does_not_depend_on_the_order_of_studies(write: Write) -> None:
    first = write("first", [("C1", "small", 0.2), ("C1", "large", -0.9)])
    second = write("second", [("C1", "small", 0.5)])
    assert comparison_to_csv(numbers(first, second)[1]) == comparison_to_csv(numbers(second, first)[1])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"std": "pooled"}, "SEAT: `std` is union_ddof1 in first; pooled in second. Such numbers are not comparable"),
        ({"alternative": "greater"}, "SEAT: `alternative` is two-sided in first; greater in second. Such numbers"),
    ],
)
def test_other_conventions_are_told_and_keep_numbers_apart(write: Write, changes: dict[str, Any], said: str) -> None:
    first = write("first", [("C1", "small", 0.2, {"alternative": "two-sided"})])
    second = write("second", [("C1", "small", 0.5, {"alternative": "two-sided", **changes})])

    studies, found = numbers(first, second)

    assert sorted(number["block"] for number in found) == [1, 2]
    assert {number["rank"] for number in found} == {None}
    assert what_differs(studies, found)[1].startswith(said)
    page = render_comparison(studies, found)
    name, value = next(iter(changes.items()))
    assert any(f"C1, Flowers and insects · Bangla · {name} {value}" in cell for row in cells_of(page) for cell in row)


def test_more_draws_are_told_and_forbid_nothing(write: Write) -> None:
    first = write("first", [("C1", "small", 0.2, {"n_samples": 100})])
    second = write("second", [("C1", "small", 0.5, {"n_samples": 9})])
    studies, found = numbers(first, second)
    assert [number["rank"] for number in found] == [1, 2]
    assert what_differs(studies, found) == [
        "SEAT: `n_samples` is 100 in first; 9 in second. This changes only their precision, and they are comparable."
    ]


def test_other_words_under_the_same_name_are_told_and_keep_numbers_apart(write: Write) -> None:
    targets = [{"gloss": "flowers", "stimuli": ["ফুল", "গোলাপ"]}, WORDS["C1"]["targets"][1]]
    other = {**WORDS, "C1": {**WORDS["C1"], "targets": targets}}
    first = write("first", [("C1", "small", 0.2), ("C4", "small", 0.2)])
    second = write("second", [("C1", "small", 0.5), ("C4", "small", 0.3)], categories=other)
    hindi = write("hindi", [("C1", "small", 0.5)], language="hi")

    studies, found = numbers(first, second, hindi)

    assert [(n["category"], n["language"], n["study"], n["block"]) for n in found] == [
        *(("C1", "bn", n["study"], n["block"]) for n in found[:2]),
        ("C1", "hi", "hindi", 3),
        ("C4", "bn", "second", 4),
        ("C4", "bn", "first", 4),
    ]
    assert {number["block"] for number in found[:2]} == {1, 2}
    assert what_differs(studies, found) == [
        "SEAT, Bangla, C1: different or unknown words or templates in first and second. Such numbers are not"
        " comparable, and have separate rows."
    ]


def test_a_number_without_an_interval_has_no_rank_and_says_why(write: Write) -> None:
    few = {"ci_low": None, "ci_high": None, "interval_note": "fewer than 8 words"}
    _, found = numbers(write("one", [("C1", "a", 0.2), ("C1", "b", 0.9, few), ("C1", "c", 0.4), ("C1", "d", None)]))
    by_model = {number["model"]: number for number in found}
    assert by_model["b"]["rank"] is None
    assert by_model["b"]["note"] == "no rank without an interval: fewer than 8 words"
    assert (by_model["c"]["rank"], by_model["a"]["rank"], by_model["a"]["n_ranked"]) == (1, 2, 2)
    assert by_model["d"]["value"] is None
    assert found[-1]["model"] == "d"


def test_p_is_corrected_for_all_tests_that_are_compared(write: Write) -> None:
    """By the definition of Holm's method: the i-th smallest of m is multiplied by m - i + 1."""
    p_values = [0.001, 0.02, 0.03, 0.5, 0.04]
    rows = [("C1", name, 0.2, {"p_association": p}) for name, p in zip("abcde", p_values, strict=True)]
    _, found = numbers(write("one", rows[:2]), write("two", rows[2:]))
    ordered, highest, expected = sorted(p_values), 0.0, {}
    for place, p in enumerate(ordered):
        highest = max(highest, min(p * (len(ordered) - place), 1.0))
        expected[p] = highest
    assert {number["p"]: number["p_holm"] for number in found} == pytest.approx(expected)


def percentage(language: str, model: str, value: float) -> dict[str, Any]:
    return {
        **dict.fromkeys(TABLES["bias_percentages"].names),
        **{"set": "mine", "language": language, "model": model, "bias_type": "all", "bias_percentage": value},
        **{"ci_low": value - 5, "ci_high": value + 5, "p_binomial": 0.01, "p_binomial_holm": 0.02},
        **{"n_pairs": 10, "n_scored": 10, "n_stereotypical": 6, "n_other": 4, "n_ties": 0, "n_left_out": 0},
        **{"left_out": "{}", "ties": "apart", "conventions": "", "twin_bias_percentage": 51.0, "kind": "encoder"},
    }


def test_percentages_of_both_languages_stand_in_one_table_ranked_by_their_distance_from_50(write: Write) -> None:
    bias = pl.DataFrame([percentage("en", "a", 60.0), percentage("en", "b", 30.0), percentage("hi", "a", 58.0)])
    studies, found = numbers(write("one", bias_percentages=bias))
    assert [(n["language"], n["model"], n["value"], n["rank"], n["rank_low"], n["rank_high"]) for n in found] == [
        ("en", "b", 30.0, 1, 1, 1),
        ("en", "a", 60.0, 2, 2, 2),
        ("hi", "a", 58.0, None, None, None),
    ]
    cells = cells_of(render_comparison(studies, found))
    assert ["All pairs · English", "b", "one", "30.0*", "25.0 to 35.0", ".030", "51.0", "1 of 2", "1"] in cells
    assert ["All pairs · Hindi", "58.0*53.0 to 63.0", "–"] in cells


def test_the_same_number_of_the_same_weights_is_ranked_once_and_languages_are_not_compared(write: Write) -> None:
    rows: Rows = [("C1", "small", 0.2), ("C1", "large", -0.9)]
    folders = [write(name, rows) for name in ("first", "second")]
    for file in (folder / "results/summary.json" for folder in folders):
        file.write_text(file.read_text("utf-8").replace('"sha256": null', '"sha256": "ab"'), "utf-8")
    studies, found = numbers(*folders)
    assert [(n["study"], n["model"], n["rank"], n["n_ranked"]) for n in found] == [
        ("first, second", "large", 1, 2),
        ("first, second", "small", 2, 2),
    ]
    cells = cells_of(render_comparison(studies, found))
    assert cells[:2] == [["Category", "first, second"], ["large", "small"]]
    assert what_differs(studies, found) == []
    assert what_differs(*numbers(folders[0], write("third", rows, language="hi"))) == [
        "No number of these studies is comparable with one of another study: they measure 2 languages."
    ]


def test_the_table_for_programs_has_a_row_for_each_number_and_no_formula(write: Write) -> None:
    _, found = numbers(write("=1+1", [("C1", "small", 0.2), ("C1", "large", -0.9)]))
    rows = list(csv.DictReader(io.StringIO(comparison_to_csv(found))))
    assert [(row["study"], row["model"], float(row["value"]), row["rank"]) for row in rows] == [
        ("'=1+1", "large", -0.9, "1"),
        ("'=1+1", "small", 0.2, "2"),
    ]
    assert json.loads(rows[0]["conventions"])["std"] == "union_ddof1"


def test_the_page_escapes_what_others_sent_and_loads_nothing(write: Write) -> None:
    studies, found = numbers(write("<script>alert(1)</script>", [("C1", "<img src=x>", 0.2)], folder="x"))
    page = render_comparison(studies, found)
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r'(src|href)="https?:', page)


def test_studies_of_one_name_are_told_apart_by_where_they_lie(write: Write) -> None:
    old, new = write("mine", [("C1", "a", 0.2)], folder="may"), write("mine", [("C1", "a", 0.3)], folder="june")
    assert [study.label for study in read_studies([old, new])] == [f"mine ({old})", f"mine ({new})"]
    with pytest.raises(InputError, match="the same summary as"):
        read_studies([old, old / "results/summary.json"])
    (old / "study.yaml").touch()
    assert {read_studies([old / name])[0].label for name in ("study.yaml", "results")} == {"mine"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[:-40], "not a readable summary of a study ("),
        (lambda _: "[1]", "not a summary of a study. Name a study's folder"),
        (lambda _: "{}", "not a summary of a study. Name a study's folder"),
        (lambda text: text.replace('"effect_size": 0.2', '"effect_size": 1e999'), "Out of range float values"),
        (lambda text: text.replace('"effect_size": 0.2', '"effect_size": "0.2"'), "damaged at `methods.seat`"),
        (lambda text: text.replace('"schema": 4', '"schema": 3'), "layout 3 of prasanga"),
        (lambda text: text.replace('"words": {', '"glosses": {'), "damaged at `the whole`"),
    ],
)
def test_a_summary_that_cannot_be_used_is_told_in_a_sentence(
    write: Write, change: Callable[[str], str], said: str
) -> None:
    file = write("one", [("C1", "small", 0.2)]) / "results/summary.json"
    text = file.read_text(encoding="utf-8")
    assert change(text) != text
    file.write_text(change(text), encoding="utf-8")
    with pytest.raises(InputError) as told:
        read_studies([file])
    assert said in str(told.value)
    assert str(told.value).startswith(f"{file}: ")
    assert "\n" not in str(told.value)


def test_keys_that_a_later_version_adds_are_passed_over(write: Write) -> None:
    file = write("one", [("C1", "small", 0.2)]) / "results/summary.json"
    text = file.read_text(encoding="utf-8").replace('"effect_size": 0.2', '"new": [], "effect_size": 0.2')
    file.write_text(text.replace('"words": {', '"more": 1, "words": {'), encoding="utf-8")
    assert [number["value"] for number in numbers(file)[1]] == [0.2]


def test_the_command_writes_page_and_table_and_says_what_differs(write: Write, tmp_path: Path) -> None:
    first, second = write("first", [("C1", "a", 0.2)]), write("second", [("C1", "a", 0.5, {"std": "pooled"})])
    to = tmp_path / "to"
    done = CliRunner().invoke(app, ["compare", str(first), str(second), "-d", str(to)])
    assert done.exit_code == 0, done.output
    assert "`std` is union_ddof1 in first; pooled in second." in done.output
    assert sorted(path.name for path in to.iterdir()) == ["comparison.csv", "index.html"]
    (first / "results/summary.json").unlink()
    failed = CliRunner().invoke(app, ["compare", str(first)])
    assert failed.exit_code == 2
    assert "not a readable summary of a study (" in failed.output
