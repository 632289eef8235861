"""The summary of a study: its numbers are those of the tables, it fits its schema, and no null is without a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from jsonschema import Draft202012Validator
from made_up_studies import draw_study

from prasanga.report.study import Results
from prasanga.report.summary import study_summary, to_json

ROOT = Path(__file__).parents[3]
LAYOUT = json.loads((ROOT / "workflow/schemas/summary.schema.json").read_text(encoding="utf-8"))
CONFIG: dict[str, Any] = {
    "study": "small",
    "title": "A <b>small</b> study",
    "language": "bn",
    "preset": "recommended",
    "seed": 47,
    "models": {
        "bert": {"path": "hub/bert", "revision": "main", "kind": "auto", "dtype": "auto"},
        "gpt": {"path": "models/gpt", "kind": "auto", "dtype": "auto", "stages": ["embeddings"]},
        "tiny": {"train": {"hidden_size": 16, "seed": 3}, "kind": "decoder", "dtype": "float32"},
    },
    "static": {"vectors": {"w2v": {"train": {"method": "word2vec", "dimensions": 50}}, "own": {"path": "v.txt"}}},
}


@pytest.fixture
def summarized() -> Callable[..., dict[str, Any]]:
    """The summary of these results, read back from its text, after a look at layout and reasons."""

    def summarize(config: Mapping[str, Any] = CONFIG, records: Any = (), **results: Any) -> dict[str, Any]:
        made = {"stage": "report", "versions": '{"polars": "2.1.0"}'}
        text = to_json(study_summary(config=config, results=Results(**results), made_from=made, records=records))
        summary: dict[str, Any] = json.loads(text)
        require_layout(summary)
        return summary

    return summarize


def require_layout(summary: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(LAYOUT)
    problems = [f"{list(error.path)}: {error.message}" for error in Draft202012Validator(LAYOUT).iter_errors(summary)]
    assert problems == []
    for place, found in objects(summary):
        nulls = {key for key, value in found.items() if value is None}
        assert set(found.get("reasons", {})) == nulls, place


def objects(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict):
        yield place, value
        for key, part in value.items():
            yield from objects(part, f"{place}/{key}")
    if isinstance(value, list):
        for n, part in enumerate(value):
            yield from objects(part, f"{place}/{n}")


def test_numbers_are_those_of_the_table(small: pl.DataFrame, summarized: Callable[..., dict[str, Any]]) -> None:
    ceat = summarized(ceat=small)["methods"]["ceat"]

    primary = small.filter(segment_length="mean")
    effects = primary["effect_size"].drop_nulls().to_list()
    assert ceat["n_estimates"] == len(primary) == 6
    assert len(ceat["estimates"]) == len(small) == 18
    assert ceat["n_computed"] == len(effects) == 5
    assert ceat["not_computed"] == [{"reason": "weapons has 1 of 4 stimuli left, and a target set needs 2", "n": 1}]
    assert ceat["n_significant"] == sum(p < 0.05 for p in primary["p_association"] if p is not None)
    assert ceat["n_significant_holm"] == sum(p < 0.05 for p in primary["p_association_holm"] if p is not None)
    assert ceat["largest"]["effect_size"] == max(effects, key=abs) == pytest.approx(0.9)
    assert ceat["largest"]["segment_length"] == "mean"
    assert ceat["largest"]["ci_low"] == pytest.approx(0.9 - 0.54)
    single = next(row for row in ceat["estimates"] if row["segment_length"] == "9")
    assert single["reasons"]["p_association_holm"] == "single lengths are not tested"
    few = summarized(ceat=small.with_columns(n_x=pl.lit(7)))["methods"]["ceat"]
    assert few["largest"] is None
    assert few["reasons"]["largest"] == "every estimate rests on few words"
    assert ceat["categories"] == ["C1", "C4", "C10"]
    assert ceat["segment_lengths"] == ["9", ">75"]
    assert ceat["twin"] == {"n": 5, "median_size": 0.11, "largest_size": 0.11}
    assert ceat["conventions"]["std"] == ["union_ddof1"]
    assert ceat["n_tests"] is None  # this table does not have it


def test_a_control_or_interval_that_is_not_finite(
    table: Callable[..., pl.DataFrame], summarized: Callable[..., dict[str, Any]]
) -> None:
    changes = {"ci_low": float("-inf"), "ci_high": float("nan"), "twin_effect_size": float("nan")}

    ceat = summarized(ceat=table(("C1", "a", "9", "fixed", 0.5, changes)))["methods"]["ceat"]

    assert ceat["twin"] is None
    assert ceat["largest"]["reasons"] == {
        "ci_low": "not a finite number (-inf)",
        "ci_high": "not a finite number (nan)",
        "twin_effect_size": "not a finite number (nan)",
        "p_draws": "only CEAT at a single length has one",
    }


def test_every_key_stands_in_the_documentation() -> None:
    page = (ROOT / "docs/columns.md").read_text(encoding="utf-8")
    keys = {key for _, found in objects(LAYOUT) for key in found.get("properties", {})}

    assert len(keys) > 100
    assert sorted(key for key in keys if f"`{key}`" not in page) == []


@pytest.mark.parametrize("seed", [None, 0, 3, 11, 12, 28, 36, 86])
def test_every_study_fits_the_layout_and_has_a_reason_for_every_null(seed: int | None) -> None:
    results = Results() if seed is None else draw_study(seed)
    text = to_json(study_summary(config=CONFIG, results=results, made_from={}))
    require_layout(json.loads(text))
    assert text == to_json(study_summary(config=CONFIG, results=results, made_from={}))
