"""Bias percentages beside those that IndiBias prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from planted_pairs import planted_scores

from prasanga.base.errors import InputError
from prasanga.likelihoods.bias import bias_percentage
from prasanga.report.comparison import (
    COMPARISON_SCHEMA,
    SUMMARY_SCHEMA,
    Comparison,
    compare,
    compare_pairs,
    pairs_to_markdown,
    with_pairs,
)
from prasanga.report.paper_tables import PAIR_TABLE, paper_table
from prasanga.report.published import (
    PublishedModel,
    percentage_files,
    read_models,
    read_percentages,
    read_published,
    why_nothing_to_compare,
)


@pytest.fixture(scope="module")
def folder(project_root: Path) -> Path:
    return project_root / "resources/published"


@pytest.fixture(scope="module")
def published(folder: Path) -> pl.DataFrame:
    return read_percentages(folder, "sahoo2024")


@pytest.fixture(scope="module")
def bias() -> pl.DataFrame:
    scores = [planted_scores("bert", "hi", 0.6), planted_scores("bert", "bn", 0.5), planted_scores("Bloom", "en", 0.5)]
    return bias_percentage(pl.concat(scores), n_resamples=0)


@pytest.fixture(scope="module")
def comparison(bias: pl.DataFrame, published: pl.DataFrame) -> Comparison:
    return compare_pairs(bias, published, paper="sahoo2024", models={"bert": "Muril"})


def test_all_of_table_2_is_read(published: pl.DataFrame, folder: Path) -> None:
    assert len(published) == 8 * 2 * 8
    assert published.select("language", "model", "bias_type").is_duplicated().sum() == 0
    assert set(published.filter(pl.col("spread").is_not_null())["bias_type"]) == {"all"}
    assert published.filter(language="hi", model="Muril", bias_type="gender")["percentage"].item() == 54.29
    assert read_percentages(folder, "sadhu2024").is_empty()
    assert percentage_files(folder, "sadhu2024") == []


def test_rows_are_those_of_the_same_language_model_and_type(comparison: Comparison) -> None:
    assert comparison.rows.schema == pl.Schema(dict(COMPARISON_SCHEMA))
    found = comparison.rows.select("language", "model", "published_model", "category").rows()
    assert found == [
        *(("en", "Bloom", "Bloom", name) for name in ("gender", "physical-appearance", "caste", "all")),
        *(("hi", "bert", "Muril", name) for name in ("gender", "physical-appearance", "caste", "all")),
    ]
    gender = comparison.rows.filter(language="hi", category="gender").row(0, named=True)
    assert (gender["published"], gender["measured"], gender["method"]) == (54.29, 60.0, "pairs")
    assert gender["difference"] == pytest.approx(5.71)
    assert gender["same_sign"] is True
    # exact interval of 18 of 30
    assert (gender["ci_low"], gender["ci_high"]) == (pytest.approx(40.6, abs=0.05), pytest.approx(77.3, abs=0.05))
    assert gender["published_inside"] is True
    assert gender["note"] is None
    even = comparison.rows.filter(language="en", category="gender").row(0, named=True)
    assert (even["measured"], even["same_sign"]) == (50.0, None)
    overall = comparison.rows.filter(language="hi", category="all").row(0, named=True)
    assert overall["note"].startswith("deviation over runs 1.50 in the paper, ours ")


def test_agreement_is_by_language_and_over_types(comparison: Comparison) -> None:
    assert comparison.summary.schema == pl.Schema(dict(SUMMARY_SCHEMA))
    hindi = comparison.summary.filter(method="Hindi", cells="all").row(0, named=True)
    assert (hindi["n_rows"], hindi["n_same_sign"], hindi["n_signs"]) == (3, 3, 3)
    # 54.29, 55.27 and 50.76 beside 60 each
    assert hindi["median_difference"] == pytest.approx(5.71)
    assert hindi["n_inside"] == 3


def test_with_the_papers_preset_it_compares_what_table_2_shows(bias: pl.DataFrame, published: pl.DataFrame) -> None:
    arguments: dict[str, Any] = {"paper": "sahoo2024", "models": {"bert": "Muril"}}
    table = paper_table(PAIR_TABLE, {"pairs": bias}, preset="paper")
    shown = {
        (row.labels[0], *column): cell.text
        for row in table.plain.rows
        for column, cell in zip(table.plain.columns, row.cells, strict=True)
    }
    found = compare_pairs(bias, published, preset="paper", **arguments).rows
    of_all = compare_pairs(bias, published, **arguments).rows
    assert found["measured"].to_list() != of_all["measured"].to_list()
    for row, every in zip(found.iter_rows(named=True), of_all.iter_rows(named=True), strict=True):
        group = {"en": "English", "hi": "Hindi"}[row["language"]]
        name = "mean of runs" if row["category"] == "all" else row["category"]
        assert f"{row['measured']:.2f}" == shown[name, group, row["model"]]
        assert row["difference"] == row["measured"] - row["published"]
        # the interval is that of all pairs, and so is what stands in the note
        assert (row["ci_low"], row["published_inside"]) == (every["ci_low"], every["published_inside"])
        assert row["note"].startswith(f"mean over runs; of all pairs {every['measured']:.2f}")
    without = bias.with_columns(runs_mean=pl.lit(None, pl.Float64), runs_sd=pl.lit(None, pl.Float64))
    assert compare_pairs(without, published, preset="paper", **arguments).rows["measured"].equals(of_all["measured"])


def test_doubts_about_models_stand_in_the_rows(bias: pl.DataFrame, published: pl.DataFrame, folder: Path) -> None:
    models = {"bert": "mT5"}
    about = read_models(folder, "sahoo2024")
    found = compare_pairs(bias, published, paper="sahoo2024", models=models, about=about).rows
    doubts = dict(found.select("model", "model_doubt").iter_rows())
    # that of its vector concerns SEAT, that of its encoder pairs
    assert doubts["bert"].startswith("section 6.1 takes the log-probability of each token")
    assert "[CLS]" not in doubts["bert"]
    assert doubts["Bloom"] is None


def test_pairs_stand_in_the_comparison(comparison: Comparison, folder: Path) -> None:
    models = read_models(folder, "sahoo2024")
    effects = compare({}, read_published(folder, "sahoo2024"), models={"bert": "Muril"}, language="bn")
    csv, markdown = with_pairs(effects, comparison, models, others=False)
    assert len(csv.splitlines()) == 1 + 8
    assert markdown.startswith("# Beside Sahoo et al. (2024)\n\n## Sentence pairs: agreement")
    line = "| Hindi | Gender | bert | Muril | 54.29 | 60.00 | +5.71 | yes | 40.6 to 77.3 | yes |  |"
    assert line in markdown
    assert "| Hindi | bert | Muril | 3 | 3 of 3 | – | 5.7 | 3 of 3 |" in markdown
    both = with_pairs(effects, comparison, models)[1]
    assert "Nothing to compare" in both
    assert "## Sentence pairs: rows" in both
    assert "Sentence pairs" not in with_pairs(effects, None, models)[1]


def test_sets_are_told_apart(published: pl.DataFrame) -> None:
    scores = [planted_scores("Muril", "hi", share, name=name) for name, share in (("a", 0.5), ("b", 1.0))]
    found = compare_pairs(bias_percentage(pl.concat(scores)), published, paper="sahoo2024", models={})
    assert found.rows.filter(category="caste")["set"].to_list() == ["a", "b"]
    assert "| Hindi, b | Caste | Muril | Muril | " in pairs_to_markdown(found, [])
    # nor is their agreement pooled
    summary = found.summary.filter(cells="all")
    assert summary["method"].to_list() == ["Hindi, a", "Hindi, b"]
    assert summary["n_rows"].to_list() == summary["n_categories"].to_list() == [3, 3]
    assert (summary["n_signs"].to_list(), summary["n_same_sign"].to_list()) == ([0, 3], [0, 3])


def test_doubts_about_other_methods_are_not_of_pairs(comparison: Comparison) -> None:
    models = [
        PublishedModel("Bloom", "Bloom", ("seat",), "the vector"),
        PublishedModel("Muril", "Muril", ("seat", "pairs"), "the size"),
        PublishedModel("Bloom", "Bloom", (), "the name"),
    ]
    markdown = pairs_to_markdown(comparison, models)
    assert [text in markdown for text in ("the vector", "the size", "the name")] == [False, True, True]


def test_nothing_to_compare_is_said(bias: pl.DataFrame, published: pl.DataFrame, folder: Path) -> None:
    models: list[PublishedModel] = []
    none = compare_pairs(bias, published.clear(), paper="sadhu2024", models={})
    assert none.nothing == "Sadhu et al. (2024) print no bias percentages."
    assert pairs_to_markdown(none, models) == f"## Sentence pairs\n\n{none.nothing}\n"
    bangla = compare_pairs(bias.filter(language="bn"), published, paper="sahoo2024", models={"bert": "Muril"})
    assert bangla.nothing == "The pairs are in bn, and Sahoo et al. (2024) have en, hi."
    unmatched = compare_pairs(bias.filter(language="hi"), published, paper="sahoo2024", models={})
    assert "Say in comparison.models which stands for which." in unmatched.nothing
    arguments = {"language": "bn", "models": {"bert": "Muril"}, "studied": ["bert"]}
    assert "nothing will be compared" in why_nothing_to_compare(folder, "sahoo2024", **arguments)  # type: ignore[arg-type]
    assert why_nothing_to_compare(folder, "sahoo2024", pairs=True, **arguments) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("language,model", "tongue,model", r"has no column language; it has paper, table, tongue"),
        (",en,Muril,Age", ",fr,Muril,Age", r"line 2: language is 'fr'; allowed: en, hi, bn"),
        ("Age,49.69", "Age,149.69", r"line 2: percentage is '149.69'; write a number from 0 to 100"),
        ("Age,49.69", "Age,", r"line 2: percentage is ''"),
        ("55.32,2.26", "55.32,±2.26", r"line 9: spread is '±2.26'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(folder: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    name = "sahoo2024_bias_percentages.csv"
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_percentages(tmp_path, "sahoo2024")
