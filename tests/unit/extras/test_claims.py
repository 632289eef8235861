"""Claims of the papers: what their own tables say of each sentence, and a verdict of each kind on small made tables."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tables import read_table

from prasanga.extras.dossier import CLAIMS_SCHEMA, judge_claims
from prasanga.report.comparison import PAPERS, mode_of_printed, read_percentages, read_published
from prasanga.schema import TABLES

MEASURED = dict.fromkeys(("measured", "ci_low", "ci_high", "p_draws", "p_sentences"), pl.Float64)
MEASURED |= dict.fromkeys(("difference_q1", "difference_median", "difference_q3"), pl.Float64)

BY_HAND = read_table(__file__, "claims")


@pytest.fixture(scope="module")
def published(project_root: Path) -> Path:
    return project_root / "resources/published"


def printed_cells(published: Path, paper: str) -> pl.DataFrame:
    """Every printed number, and none of ours."""
    effects, percentages = read_published(published, paper), read_percentages(published, paper)
    rows = [
        effects.with_columns(published="effect_size"),
        percentages.with_columns(published="percentage", category="bias_type"),
    ]
    cells = pl.concat(rows, how="diagonal").rename({"model": "published_model"})
    ours = {name: pl.lit(None, kind) for name, kind in {"model": pl.String, **MEASURED}.items()}
    return cells.with_columns(mode_of_printed(), **ours)


@pytest.mark.parametrize("paper", PAPERS)
def test_what_the_papers_say_by_their_own_tables(published: Path, paper: str, tmp_path: Path) -> None:
    claims = judge_claims(published, paper, printed_cells(published, paper), tmp_path)
    assert claims.schema == CLAIMS_SCHEMA
    assert claims["id"].is_unique().all()
    assert len(claims) >= {"sadhu2024": 12, "sahoo2024": 10}[paper]
    assert set(claims["by_ours"]) == {"cannot be told"}  # nothing is measured
    found = {row["id"]: row for row in claims.iter_rows(named=True)}
    for name, verdict, numbers, _ in (row for of_paper, *row in BY_HAND if of_paper == paper):
        assert (name, found[name]["by_the_paper"]) == (name, verdict)
        assert found[name]["printed"].startswith(numbers)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_study_with_the_printed_numbers_comes_to_the_same_verdicts(
    published: Path, paper: str, tmp_path: Path
) -> None:
    number = pl.when(pl.col("bound").is_null()).then("published").otherwise(0.0)
    p = pl.when(pl.col("significant")).then(0.001).otherwise(0.9)
    cells = printed_cells(published, paper).with_columns(measured=number, ci_low=number, ci_high=number, p_draws=p)
    claims = judge_claims(published, paper, cells, tmp_path)
    told = claims.filter(pl.col("by_the_paper") != "cannot be told", ~pl.col("id").str.contains("corrected"))
    assert len(told) >= {"sadhu2024": 14, "sahoo2024": 28}[paper]
    assert told["by_ours"].to_list() == told["by_the_paper"].to_list()


def judge(
    folder: Path, claim: dict[str, Any], *measured: tuple[str, str, float | None, float, float]
) -> tuple[str, str]:
    """The verdict on a claim by cells of (model, category, number, interval), and its numbers."""
    whole = {"id": "a", "place": "section 1", "says": "It is so.", "right": 0, "is": "above", **claim}
    (folder / "claims.yaml").write_text(yaml.safe_dump({"sahoo2024": [whole]}), encoding="utf-8")
    rows = [
        {"method": "seat", "published_model": model, "model": f"my-{model}", "category": category, "alpha": 0.01}
        | {"language": "hi", "doubts": "", "significant": False, "published": 1.0}
        | ({} if number is None else {"measured": number, "ci_low": low, "ci_high": high})
        for model, category, number, low, high in measured
    ]
    schema = {**TABLES["comparison"].polars, "alpha": pl.Float64, "doubts": pl.String, "significant": pl.Boolean}
    cells = pl.DataFrame([dict.fromkeys(schema) | row for row in rows], schema=schema, orient="row")
    row = judge_claims(folder, "sahoo2024", cells, folder).row(0, named=True)
    return row["by_ours"], row["measured"]


A, B = ("one", "GR1", 0.5, 0.3, 0.8), ("two", "GR1", 0.4, -0.1, 0.9)
BELOW, GONE = ("three", "GR1", -0.5, -0.8, -0.3), ("four", "GR1", None, 0, 0)


def test_verdicts_by_the_intervals_of_cells(tmp_path: Path) -> None:
    two = judge(tmp_path, {}, A, B)
    assert two == ("cannot be told", "1 of 2 above, 0 not, 1 open, 2 needed; one 0.5 against 0.0; two 0.4 against 0.0")
    assert judge(tmp_path, {"for": "some"}, A, B, BELOW)[0] == "holds"
    assert judge(tmp_path, {"for": "most"}, A, A, BELOW)[0] == "holds"
    assert judge(tmp_path, {}, A, BELOW, GONE)[0] == "does not hold"  # whatever the fourth model does
    assert judge(tmp_path, {}, A, GONE)[0] == "cannot be told"
    assert judge(tmp_path, {"interval": False}, A, B)[0] == "holds"
    assert judge(tmp_path, {"where": {"model": ["five"]}}, A) == (
        "cannot be told",
        "0 of 1 above, 0 not, 1 open, 1 needed",
    )


def test_two_sides_are_compared_by_the_interval_of_their_difference(tmp_path: Path) -> None:
    sides: dict[str, Any] = {"left": {"model": ["one"]}, "right": {"model": "others"}}
    # .5 - .2 - sqrt((.5 - .3)^2 + (.3 - .2)^2) = .076
    assert judge(tmp_path, sides, A, ("two", "GR1", 0.2, 0.1, 0.3))[0] == "holds"
    assert judge(tmp_path, {**sides, "by": 0.08}, A, ("two", "GR1", 0.2, 0.1, 0.3))[0] == "cannot be told"
    # .5 - .2 + sqrt((.8 - .5)^2 + (.2 - .1)^2) = .616
    assert judge(tmp_path, {**sides, "by": 0.62}, A, ("two", "GR1", 0.2, 0.1, 0.3))[0] == "does not hold"
    assert judge(tmp_path, {**sides, "is": "below"}, BELOW, A, ("one", "GR1", -0.6, -0.7, -0.5))[0] == "does not hold"


@pytest.mark.parametrize("number", [(math.nan, 0.3, 0.8), (0.5, math.nan, 0.8), (math.nan,) * 3, (math.inf,) * 3])
@pytest.mark.parametrize("claim", [{}, {"is": "below"}, {"is": "within", "by": 1}])
def test_what_is_no_number_decides_nothing(tmp_path: Path, number: Any, claim: dict[str, Any]) -> None:
    assert judge(tmp_path, claim, ("one", "GR1", *number))[0] == "cannot be told"


def test_distances_and_summaries(tmp_path: Path) -> None:
    size: dict[str, Any] = {"from": 0, "right": 0.2}
    assert judge(tmp_path, size, BELOW)[0] == "holds"  # its size is .3 to .8
    assert judge(tmp_path, size, B)[0] == "cannot be told"  # 0 to .9
    for low, high in ((0.0, 0.8), (-0.8, 0.0)):  # 0 is in the interval, at its end
        number = ("one", "GR1", (low + high) / 2, low, high)
        assert judge(tmp_path, {**size, "right": 0.45}, number)[0] == "cannot be told"
        assert judge(tmp_path, {**size, "right": 0.81, "is": "below"}, number)[0] == "holds"
    cells = [A, ("one", "GR2", 0.1, 0.1, 0.1), ("two", "GR1", 0.5, 0.5, 0.5), ("two", "GR2", 0.3, 0.3, 0.3)]
    wider = {"steps": {"range": ["model"]}, "left": {"model": ["one"]}, "right": {"model": "others"}, "interval": False}
    assert judge(tmp_path, wider, *cells) == (
        "holds",
        "1 of 1 above, 0 not, 0 open, 1 needed; one 0.4 against two 0.2",
    )
    for lost in (None, math.nan):
        assert judge(tmp_path, wider, *cells, ("two", "GR3", lost, 0, 0))[0] == "cannot be told"


def test_claims_about_sentence_structures_use_the_tables_of_the_study(tmp_path: Path) -> None:
    claim: dict[str, Any] = {"table": "structures", "value": "doublings", "where": {"model": ["one"]}, "of": 2}
    claim |= {"left": {"structure": ["S2", "S3"]}, "right": {"structure": ["S1"]}}
    assert judge(tmp_path, claim, A) == ("cannot be told", "no such numbers")
    path = tmp_path / "results/likelihoods/structures.parquet"
    path.parent.mkdir(parents=True)
    rows = [
        {"model": "my-one", "structure": name, "probability_variance": variance}
        for name, variance in (("S1", 1.0), ("S2", 4.0), ("S3", 16.0))
    ]
    pl.DataFrame(rows[:2]).write_parquet(path)
    assert judge(tmp_path, claim, A)[0] == "cannot be told"  # one of two
    pl.DataFrame(rows).write_parquet(path)
    said = "2 of 2 above, 0 not, 0 open, 2 needed; S2 1.0 against S1 0.0; S3 2.0 against S1 0.0"
    assert judge(tmp_path, claim, A) == ("holds", said)
