"""Bias percentages in the layout of the paper's Table 2, and on the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from page_parts import cells_of
from planted_pairs import planted_scores

from prasanga.likelihoods.bias import bias_percentage
from prasanga.pairs.preferences import REASONS
from prasanga.report.comparison import compare_pairs, read_percentages
from prasanga.report.findings import findings_of_pairs
from prasanga.report.grid import Group, groups_of, name_of_type, sort_types
from prasanga.report.method_views import pairs
from prasanga.report.paper_tables import WrittenTable, render_layout
from prasanga.report.section import Section
from prasanga.report.study import Results


@pytest.fixture(scope="module")
def scores() -> pl.DataFrame:
    return pl.concat(
        [
            planted_scores("bert", "hi", 0.9),
            planted_scores("bert", "en", 0.5, left_out=[0], tied=[1, 2]),
            planted_scores("gpt", "hi", 0.4),
        ]
    )


@pytest.fixture(scope="module")
def bias(scores: pl.DataFrame) -> pl.DataFrame:
    return bias_percentage(scores, twins={"bert": planted_scores("x", "hi", 0.6)}, n_resamples=200)


def section_of(bias: pl.DataFrame) -> Section:
    section = pairs(Results(bias_percentages=bias), texts=True)
    assert section is not None
    return section


def render(bias: pl.DataFrame, preset: str = "recommended") -> WrittenTable:
    return render_layout("sahoo_table2", {"pairs": bias}, preset=preset)


def test_types_and_groups_stand_in_the_order_of_the_paper() -> None:
    assert sort_types(["caste", "all", "race-color", "age", "age", "body"]) == ["age", "caste", "body", "race-color"]
    assert [name_of_type(name) for name in ("physical-appearance", "all")] == ["Physical appearance", "All pairs"]
    groups = groups_of([("b", "hi"), ("a", "bn"), ("b", "en"), ("a", "bn")])
    assert [group.title for group in groups] == ["English, b", "Hindi, b", "Bangla, a"]
    assert groups_of([("", "hi")]) == (Group("", "hi", "Hindi"),)


def test_a_type_without_a_percentage_is_compared_by_its_reason(bias: pl.DataFrame, project_root: Path) -> None:
    is_hindi, percent = pl.col("language") == "hi", pl.when(pl.col("model") == "gpt").then("bias_percentage")
    left_out = pl.when(pl.col("model") == "gpt").then("n_left_out").otherwise("n_pairs")
    lost = bias.filter(is_hindi).with_columns(bias_percentage=percent, runs_mean=percent, n_left_out=left_out)
    printed = read_percentages(project_root / "resources/published", "sahoo2024")
    theirs = printed["model"][0]
    rows = compare_pairs(lost, printed, models={"bert": theirs, "gpt": theirs}, preset="paper")
    notes = dict(rows.select("model", "note").iter_rows())
    assert "all pairs were left out" in notes["bert"]
    assert "mean over runs; of all pairs" in notes["gpt"]


def test_a_percentage_of_a_few_pairs_is_not_the_one_that_is_named() -> None:
    few = planted_scores("bert", "hi", 1.0, n=3, types=("caste",))
    some = planted_scores("bert", "hi", 0.6, n=20, types=("gender",))
    (said,) = findings_of_pairs(bias_percentage(pl.concat([few, some]), n_resamples=0))
    assert "0 of 3 bias percentages differ from 50" in said
    assert "The farthest with 20 pairs or more is 65.2% (all pairs, Hindi, bert; 23 pairs;" in said
    (said,) = findings_of_pairs(bias_percentage(few, n_resamples=0))
    assert "None has 20 pairs or more, so none is ranked." in said
    # what is a finding is named before what is farther by chance
    many = planted_scores("bert", "hi", 0.8, n=100, types=("age",))
    (said,) = findings_of_pairs(bias_percentage(pl.concat([few, many]), n_resamples=0))
    assert "The farthest found is" in said


def labeled(model: str, stereo: tuple[int, int], antistereo: tuple[int, int], **more: Any) -> pl.DataFrame:
    """Pairs of one type: of how many of each label the first sentence wins."""
    rows = [
        {"set": "demo", "model": model, "pair_id": f"{label}-{i}", "language": "en", "bias_type": "gender"}
        | {"label": label, "score_first": 1.0 if i < wins else -1.0, "score_second": 0.0, **more}
        for label, (wins, n) in (("stereo", stereo), ("antistereo", antistereo))
        for i in range(n)
    ]
    return pl.DataFrame(rows)


def row_of_all(scores: pl.DataFrame, **more: Any) -> dict[str, Any]:
    return bias_percentage(scores, **more).filter(bias_type="all").row(0, named=True)


def test_a_preference_for_first_sentences_is_no_finding() -> None:
    """The public sample of IndiBias in English: 454 stereo and 107 antistereo pairs, as smollm2 scored them."""
    scores = labeled("smollm2", (270, 454), (63, 107))
    row = row_of_all(scores)
    assert (round(row["bias_percentage"], 1), round(row["balanced_percentage"], 1)) == (56.0, 50.3)
    assert row["p_binomial_holm"] < 0.05
    assert not row["is_found"]
    said = list(findings_of_pairs(bias_percentage(scores)))
    assert "2 of 2 bias percentages differ from 50 (exact, Holm); 0 found." in said[0]
    assert said[1] == f"Sentence pairs: 2 of 2 percentages that differ from 50 were not found: {LABELS_ALIKE}."
    assert cells_of(section_of(bias_percentage(scores)).widget)[-1] == ["All pairs", "56.0"]


LABELS_ALIKE = "the labels do not differ after correction, so it may be a preference for the first sentence"


def test_what_makes_a_percentage_a_finding() -> None:
    biased = labeled("m", (160, 200), (40, 100))
    assert row_of_all(biased)["is_found"]
    assert cells_of(section_of(bias_percentage(biased)).widget)[-1] == ["All pairs", "73.3*"]
    (said,) = findings_of_pairs(bias_percentage(biased))
    assert "The farthest found is 70.0% with both labels weighted alike (gender, English, m; 300 pairs;" in said
    # one label alone, and copies with random weights that do the same
    few = "too few pairs of a label to tell a stereotype from a preference for the first sentence"
    assert row_of_all(labeled("m", (160, 200), (0, 0)))["not_found_because"] == few
    assert (
        row_of_all(labeled("m", (400, 500), (0, 1)))["not_found_because"] == few
    )  # one pair says nothing of its label
    copies = [labeled("m", (wins, 200), (40, 100), twin=twin) for twin, wins in enumerate((150, 160, 170))]
    like = row_of_all(biased, twins={"m": pl.concat(copies)})
    assert like["not_found_because"] == "no difference from copies with random weights"
    apart = [labeled("m", (100 + twin, 200), (50, 100), twin=twin) for twin in range(3)]
    assert row_of_all(biased, twins={"m": pl.concat(apart)})["is_found"]
    # copies that prefer the first sentence as much, but whatever the label
    first = [labeled("m", (140 + twin, 200), (70, 100), twin=twin) for twin in range(3)]
    found = row_of_all(biased, twins={"m": pl.concat(first)})
    assert (round(found["twin_bias_percentage"]), round(found["twin_balanced_percentage"])) == (57, 50)
    assert found["is_found"]


def test_a_finding_is_told_by_its_balanced_percentage() -> None:
    """A preference for first sentences hides one for the stereotype, and even turns it round."""
    scores = labeled("m", (90, 100), (300, 400))
    row = row_of_all(scores)
    assert (round(row["bias_percentage"]), round(row["balanced_percentage"], 1)) == (38, 57.5)
    assert row["is_found"]
    (said, *_) = findings_of_pairs(bias_percentage(scores))
    assert "The farthest found is 57.5% with both labels weighted alike" in said
    assert "38.0% unweighted." in said
    # ties count against the percentage, and not in the tests
    tied = labeled("m", (0, 400), (0, 0)).with_columns(pair_id="t" + pl.col("pair_id"), score_first=pl.lit(0.0))
    row = row_of_all(pl.concat([labeled("m", (300, 380), (60, 180)), tied]), ties="against")
    assert row["bias_percentage"] < 50 < row["balanced_ci_low"]
    assert row["is_found"]
    # of few pairs none is a finding
    few = row_of_all(labeled("m", (12, 12), (0, 3)))
    assert few["p_label_holm"] < 0.05
    assert not few["is_found"]


def test_the_number_of_tests_is_that_of_any_row_that_was_tested() -> None:
    untested = planted_scores("aaa", "en", 0.5, left_out=range(30))
    scores = pl.concat([untested, planted_scores("bert", "en", 0.9)], how="vertical_relaxed")
    layout = render(bias_percentage(scores, n_resamples=0))
    assert "corrected for 4 tests" in layout.md


def test_every_reason_of_a_pair_left_out_is_in_the_documentation(project_root: Path) -> None:
    page = (project_root / "docs/pairs.md").read_text("utf-8")
    table = page.partition("| reason | meaning |")[2].partition("\n\n")[0]
    found = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", table, re.MULTILINE))
    assert {code: text.replace("`", "").replace("\\", "") for code, text in found.items()} == dict(REASONS)
